/* update.c: updates and changes in place, as vm/interp/updates.inc has them without shadows: all that may fail is looked at
 * before anything changes, by a side exit. */
#include "emit.h"
#include "program.h"

static LLVMValueRef negate(rvm__emit *e, LLVMValueRef c) {
    return LLVMBuildNot(e->k->b, c, "");
}

LLVMValueRef rvm__emit_agrees(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, LLVMValueRef y, LLVMValueRef f) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef held = x->flags & X_TRACK ? rvm__magnitude(e, q) : NULL;
    if (!rvm__is_floating((rvm_type)x->type)) return LLVMBuildICmp(b, LLVMIntEQ, y, f, "");
    LLVMBasicBlockRef here, near = rvm__block(e, "near"), on = rvm__block(e, "on");
    LLVMValueRef equal = LLVMBuildFCmp(b, LLVMRealOEQ, y, f, "");
    here = LLVMGetInsertBlock(b);
    LLVMBuildCondBr(b, equal, on, near);
    rvm__at(e, near);
    LLVMValueRef args[6] = {e->frame.machine,
                            rvm__known_number(e),
                            LLVMConstInt(e->k->i32, e->control.pc, false),
                            y,
                            f,
                            held ? rvm__get(e, e->k->f64, held) : LLVMConstReal(e->k->f64, 0)};
    LLVMValueRef within = e->u->w->standalone ? rvm__standalone_agrees(e, y, f, args[5])
                                              : rvm__call_runtime(e, "rvm__native_agrees", e->k->i1, 6, args);
    LLVMBuildBr(b, on);
    rvm__at(e, on);
    LLVMValueRef phi = LLVMBuildPhi(b, e->k->i1, ""), values[2] = {LLVMConstInt(e->k->i1, 1, false), within};
    LLVMBasicBlockRef from[2] = {here, near};
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

/* What rows that are not defined everywhere want. */
static LLVMValueRef undefined(rvm__emit *e, rvm_type y, rvm_type t, const LLVMValueRef operand[3]) {
    if (y == RVM_I64) return LLVMBuildICmp(e->k->b, LLVMIntEQ, operand[1], rvm__build_int(e->k, 0), "");
    return negate(e, rvm__build_is_positive(e->k, t, operand[0]));
}

void rvm__find_operands(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm__operands *to) {
    const rvm_place *q = rvm__places(e->f, in);
    *to = (rvm__operands){.y = rvm__operand_of(e, &q[0], 0)};
    for (unsigned n = 0; n < x->arity; n++) to->o[n] = rvm__operand_of(e, &q[1 + n], 1 + n);
    for (unsigned n = 0; n < x->arity && x->flags & X_ALIAS; n++) rvm__apart(e, &to->y, &to->o[n]);
    to->t = to->o[rvm__row_info[in->row].sig == RVM_SIG_SEL ? 1 : 0].type;
}

void rvm__load_operands(rvm__emit *e, const rvm__xinsn *x, rvm__operands *to) {
    for (unsigned n = 0; n < x->arity; n++) to->value[n] = rvm__load(e, &to->o[n]);
}

LLVMValueRef rvm__defined_row(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, const rvm__operands *o,
                              LLVMValueRef *overflow) {
    const rvm_type y = (rvm_type)x->type;
    if (x->flags & X_DOMAIN) rvm__exit_if(e, undefined(e, y, o->t, o->value));
    return rvm__build_row(e->k, (rvm_row)in->row, y, o->t, o->value, overflow);
}

static bool is_release(rvm_op op) {
    return op == RVM_OP_unlet;
}

void rvm__emit_update(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    const bool unchecked = x->flags & X_UNCHECKED;
    const rvm_type y_type = (rvm_type)x->type;
    rvm__operands o;
    LLVMValueRef overflow = NULL;
    if (is_release(op) && unchecked) {
        if (q->kind == RVM_PLACE_SLOT) rvm__gone(e, q->slot);
        return;
    }
    rvm__find_operands(e, in, x, &o);
    rvm__load_operands(e, x, &o);
    LLVMValueRef f = rvm__defined_row(e, in, x, &o, &overflow);
    if (is_release(op)) {
        rvm__exit_if(e, negate(e, rvm__emit_agrees(e, x, q, rvm__load(e, &o.y), f)));
        if (q->kind == RVM_PLACE_SLOT) rvm__gone(e, q->slot);
        return;
    }
    if (rvm__pair_of(op) == RVM_PAIR_add && rvm__add_conflicting(e, q, &o.y, op, f)) return;
    LLVMValueRef old = op == RVM_OP_let ? LLVMGetUndef(LLVMTypeOf(f)) : rvm__load(e, &o.y);
    LLVMValueRef now = rvm__build_update(e->k, op, y_type, old, f, &overflow);
    if (rvm__pair_of(op) == RVM_PAIR_mul && rvm__is_floating(y_type))
        rvm__exit_if(e, negate(e, rvm__build_is_factor(e->k, f)));
    if (overflow && !unchecked) rvm__exit_if(e, overflow);
    rvm__store(e, &o.y, now);
    if (x->flags & X_TRACK) rvm__track_held(e, q, now, x->flags & X_FRESH);
}

/* ---- in place ---- */

static void track_two(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, LLVMValueRef a, LLVMValueRef b) {
    if (!(x->flags & X_TRACK)) return;
    if (e->frame.held && (q[0].kind != RVM_PLACE_SLOT || e->frame.held[q[0].slot])) rvm__track_held(e, &q[0], a, false);
    if (e->frame.held && (q[1].kind != RVM_PLACE_SLOT || e->frame.held[q[1].slot])) rvm__track_held(e, &q[1], b, false);
}

static void exchange(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, unsigned first) {
    const rvm__operand y = rvm__operand_of(e, &q[0], first), z = rvm__operand_of(e, &q[1], first + 1);
    if (x->flags & X_ALIAS) rvm__apart(e, &y, &z);
    LLVMValueRef a = rvm__load(e, &y), b = rvm__load(e, &z);
    rvm__store(e, &y, b);
    rvm__store(e, &z, a);
    track_two(e, x, q, b, a);
}

static void conditional_exchange(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q) {
    LLVMBasicBlockRef some = rvm__block(e, "exchange"), on = rvm__block(e, "on");
    LLVMValueRef c = LLVMBuildICmp(e->k->b, LLVMIntNE, rvm__slot_value(e, q[0].slot), rvm__build_int(e->k, 0), "");
    LLVMBuildCondBr(e->k->b, c, some, on);
    rvm__at(e, some);
    exchange(e, x, q + 1, 1);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}

/* Of two places by an angle, or by the Hadamard transform. */
static void turn(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, rvm_op op) {
    const bool rotates = rvm__pair_of(op) == RVM_PAIR_rot, back = rvm__is_inverse(op);
    const rvm__operand y = rvm__operand_of(e, &q[0], 0), z = rvm__operand_of(e, &q[1], 1);
    rvm__operand angle = {0};
    LLVMValueRef overflow = NULL;
    if (x->flags & X_ALIAS) rvm__apart(e, &y, &z);
    if (rotates) angle = rvm__operand_of(e, &q[2], 2);
    if (rotates && x->flags & X_ALIAS) rvm__apart(e, &angle, &y), rvm__apart(e, &angle, &z);
    LLVMValueRef a = rvm__load(e, &y), b = rvm__load(e, &z);
    if (rotates)
        rvm__build_rotate(e->k, y.type, back, &a, &b, rvm__load(e, &angle), &overflow);
    else
        rvm__build_hadamard(e->k, y.type, back, &a, &b, &overflow);
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    rvm__store(e, &y, a);
    rvm__store(e, &z, b);
    track_two(e, x, q, a, b);
}

static void change_one(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, rvm_op op) {
    const rvm__operand y = rvm__operand_of(e, &q[0], 0);
    const bool unchecked = x->flags & X_UNCHECKED;
    LLVMValueRef was = rvm__load(e, &y), now = NULL, overflow = NULL;
    if (rvm__pair_of(op) == RVM_PAIR_neg) now = rvm__build_negated(e->k, y.type, was, &overflow);
    if (rvm__pair_of(op) == RVM_PAIR_not) now = LLVMBuildNot(e->k->b, was, "");
    if (rvm__pair_of(op) == RVM_PAIR_inv) {
        now = rvm__build_inverted(e->k, y.type, was);
        rvm__exit_if(e, negate(e, rvm__build_is_factor(e->k, now)));
    }
    if (rvm__pair_of(op) == RVM_PAIR_inc) {
        const rvm_value one = rvm__is_floating(y.type) ? (rvm_value){.f = 1}
                              : y.type == RVM_FIX      ? (rvm_value){.i = INT64_C(1) << RVM_FIX_FRACTION}
                                                       : (rvm_value){.i = 1};
        const rvm_op family = rvm__is_inverse(op) ? RVM_OP_sub : RVM_OP_add;
        now = rvm__build_update(e->k, family, y.type, was, rvm__build_value(e->k, y.type, one), &overflow);
    }
    if (overflow && !unchecked) rvm__exit_if(e, overflow);
    rvm__store(e, &y, now);
    if (x->flags & X_TRACK && rvm__pair_of(op) != RVM_PAIR_neg) rvm__track_held(e, q, now, false);
}

static void rotate_bits(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, rvm_op op) {
    const rvm__operand y = rvm__operand_of(e, &q[0], 0), by = rvm__operand_of(e, &q[1], 1);
    if (x->flags & X_ALIAS) rvm__apart(e, &y, &by);
    LLVMValueRef n = rvm__load(e, &by);
    if (rvm__is_inverse(op)) n = LLVMBuildNeg(e->k->b, n, "");
    rvm__store(e, &y, rvm__build_rol(e->k, rvm__load(e, &y), n));
}

void rvm__emit_in_place(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    const enum rvm_pair pair = rvm__pair_of(op);
    if (pair == RVM_PAIR_swap)
        exchange(e, x, q, 0);
    else if (pair == RVM_PAIR_cswap)
        conditional_exchange(e, x, q);
    else if (pair == RVM_PAIR_rot || pair == RVM_PAIR_hadamard)
        turn(e, x, q, op);
    else if (pair == RVM_PAIR_rol)
        rotate_bits(e, x, q, op);
    else
        change_one(e, x, q, op);
}
