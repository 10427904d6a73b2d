/* update.c: updates and changes in place, as vm/interp/updates.h has them without shadows: all that may fail is looked at
 * before anything changes, by a side exit. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"
#include "program.h"

#include <string.h>

static LLVMValueRef negate(rvm__emit *e, LLVMValueRef c) {
    return LLVMBuildNot(e->k->b, c, "");
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
    to->t = to->o[rvm__row_first((rvm_row)in->row)].type;
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
    const bool exact = rvm__is_exact(e, y_type);
    if (exact && rvm__is_foreign(in)) rvm__exit_if(e, LLVMConstInt(e->k->i1, 1, false)); /* which is refused */
    if (is_release(op) && (unchecked || rvm__numbering_agrees(e->u->numbering, in, exact))) {
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
    if (exact && rvm__op_rounds(op)) now = rvm__exact_update(e, y_type, op, old, f, now);
    rvm__store(e, &o.y, now);
    if (x->flags & X_TRACK) rvm__track_held(e, q, now, x->flags & X_FRESH);
}

/* ---- in place ---- */

static void track_place(rvm__emit *e, const rvm_place *q, LLVMValueRef now) {
    if (e->frame.held && (q->kind != RVM_PLACE_SLOT || e->frame.held[q->slot])) rvm__track_held(e, q, now, false);
}

/* What has come back in a compute part must lead to what is there. */
static void check_back(rvm__emit *e, const rvm_change_info *info, rvm_type t, rvm_op op, const LLVMValueRef *after,
                       const LLVMValueRef *a, const LLVMValueRef *was) {
    LLVMValueRef led[RVM_MAX_CHANGED], overflow = NULL;
    if (!rvm__is_inside(e) || !rvm__restores_at(e, e->control.pc) || rvm__is_of_shadows(&e->f->code[e->control.pc])) return;
    memcpy(led, was, info->places * sizeof *led);
    rvm__build_change(e->k, rvm__op_inverse(op), t, led, a, &overflow);
    rvm__exact_exit_unless_led(e, info->places, led, after, was);
}

static void exact_change(rvm__emit *e, const rvm_change_info *info, rvm_type t, rvm_op op, const LLVMValueRef *was,
                         const LLVMValueRef *a, LLVMValueRef *now) {
    const rvm_op sum = rvm__is_inverse(op) ? RVM_OP_sub : RVM_OP_add;
    if (info->exact == RVM_EXACTLY_WHOLE) {
        rvm__exact_whole(e, info->places, was, now);
        check_back(e, info, t, op, was, a, now);
    }
    if (info->exact == RVM_EXACTLY_SUM) now[0] = rvm__exact_update(e, t, sum, was[0], LLVMConstReal(e->k->f64, 1), now[0]);
}

/* Its places are the instruction's from `first` on. */
static void change(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, unsigned first, rvm_op op) {
    const rvm_change_info *info = &rvm__change_info[rvm__change_of(op)];
    const unsigned places = info->places, all = places + info->operands;
    rvm__operand o[RVM_MAX_CHANGED + RVM_MAX_CHANGE_OPERANDS];
    LLVMValueRef v[RVM_MAX_CHANGED] = {NULL}, was[RVM_MAX_CHANGED], a[RVM_MAX_CHANGE_OPERANDS], overflow = NULL;
    for (unsigned k = 0; k < all; k++) o[k] = rvm__operand_of(e, &q[first + k], first + k);
    for (unsigned k = 0; k < places && x->flags & X_ALIAS; k++)
        for (unsigned i = k + 1; i < all; i++) rvm__apart(e, &o[k], &o[i]);
    for (unsigned k = 0; k < all; k++) *(k < places ? &v[k] : &a[k - places]) = rvm__load(e, &o[k]);
    memcpy(was, v, sizeof was);
    LLVMValueRef good = rvm__build_change(e->k, op, o[0].type, v, a, &overflow);
    if (good) rvm__exit_if(e, negate(e, good));
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    if (rvm__is_exact(e, o[0].type)) exact_change(e, info, o[0].type, op, was, a, v);
    for (unsigned k = 0; k < places; k++) rvm__store(e, &o[k], v[k]);
    for (unsigned k = 0; k < places && x->flags & X_TRACK; k++) track_place(e, &q[first + k], v[k]);
}

void rvm__emit_in_place(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    if (!rvm__change_info[rvm__change_of(op)].conditional) {
        change(e, x, q, 0, op);
        return;
    }
    LLVMBasicBlockRef some = rvm__block(e, "change"), on = rvm__block(e, "on");
    LLVMValueRef c = LLVMBuildICmp(e->k->b, LLVMIntNE, rvm__slot_value(e, q[0].slot), rvm__build_int(e->k, 0), "");
    LLVMBuildCondBr(e->k->b, c, some, on);
    rvm__at(e, some);
    change(e, x, q, 1, op);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}
