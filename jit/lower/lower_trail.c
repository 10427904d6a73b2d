/* lower_trail.c: the stack, `set` and segments, as vm/interp/stack_handlers.c and vm/interp/trail_handlers.c have them
 * without shadows. What is unusual is left to the interpreter before anything changes. */
#include "emit.h"
#include "analysis.h"
#include "walk.h"
#include "sites.h"
#include "trail_inline.h"

#include <stddef.h>

static LLVMValueRef negate(rvm__emit *e, LLVMValueRef c) {
    return LLVMBuildNot(e->k->b, c, "");
}

static LLVMValueRef bits_of(rvm__emit *e, LLVMValueRef v) {
    return LLVMBuildBitCast(e->k->b, v, e->k->i64, "");
}

static LLVMValueRef int32(rvm__emit *e, uint32_t n) {
    return LLVMConstInt(e->k->i32, n, false);
}

/* ---- the stack ---- */

static void push(rvm__emit *e, const rvm__xinsn *x, const rvm__operand *y, bool clears) {
    LLVMValueRef v = rvm__load(e, y), args[3] = {e->frame.machine, int32(e, x->type), bits_of(e, v)};
    rvm__exit_if(e, negate(e, rvm__call_runtime(e, "rvm__native_push", e->k->i1, 3, args)));
    if (clears) rvm__store(e, y, LLVMConstNull(LLVMTypeOf(v)));
}

/* Bits that are not all 0 may still be 0 as the type has it. */
static void exit_unless_empty(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, LLVMValueRef was) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, bits_of(e, was), rvm__build_int(e->k, 0), "");
    if (!rvm__is_floating((rvm_type)x->type)) {
        rvm__exit_if(e, some);
        return;
    }
    LLVMBasicBlockRef nearly = rvm__block(e, "nearly"), on = rvm__block(e, "on");
    rvm__settle_erased(e); /* before control parts: one side may exit */
    LLVMBuildCondBr(b, some, nearly, on);
    rvm__at(e, nearly);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(was));
    rvm__exit_if(e, negate(e, rvm__emit_agrees(e, x, q, was, zero)));
    LLVMBuildBr(b, on);
    rvm__at(e, on);
}

static void pop(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, const rvm__operand *y, bool copies) {
    rvm__build *k = e->k;
    LLVMValueRef was = rvm__load(e, y), args[2] = {e->frame.machine, int32(e, x->type)};
    LLVMValueRef top = rvm__call_runtime(e, "rvm__native_top", k->ptr, 2, args);
    rvm__exit_if(e, LLVMBuildIsNull(k->b, top, ""));
    LLVMValueRef v = rvm__get(e, LLVMTypeOf(was), top);
    if (!copies)
        exit_unless_empty(e, x, q, was);
    else if (!(x->flags & X_UNCHECKED))
        rvm__exit_if(e, negate(e, rvm__emit_agrees(e, x, q, was, v)));
    LLVMValueRef n = rvm__member(e, e->frame.machine, offsetof(rvm_machine, store.nstack));
    rvm__put_at(e, LLVMBuildSub(k->b, rvm__get(e, k->i32, n), int32(e, 1), ""), n);
    if (copies) return;
    rvm__store(e, y, v);
    if (x->flags & X_TRACK) rvm__track_held(e, q, v, false);
}

static void on_stack(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    const rvm__operand y = rvm__operand_of(e, q, 0);
    const bool copies = rvm__pair_of(op) == RVM_PAIR_pushc;
    if (rvm__is_inverse(op))
        pop(e, x, q, &y, copies);
    else
        push(e, x, &y, !copies);
}

/* ---- set: its operands may be its target ---- */

static void set(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, uint32_t site) {
    rvm__operands o;
    LLVMValueRef overflow = NULL;
    rvm__find_operands(e, in, x, &o);
    rvm__load_operands(e, x, &o);
    LLVMValueRef f = rvm__defined_row(e, in, x, &o, &overflow), old = rvm__load(e, &o.y);
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    if (rvm__is_discarded(e, 0))
        rvm__count_erased(e, RVM__ERASED_VALUES, rvm__site_bits_of(e, in));
    else
        rvm__trail_put(e, 0, site, bits_of(e, old));
    LLVMValueRef now = rvm__build_update(e->k, RVM_OP_set, (rvm_type)x->type, old, f, NULL);
    rvm__store(e, &o.y, now);
    if (x->flags & X_TRACK) rvm__track_held(e, rvm__places(e->f, in), now, x->flags & X_FRESH);
}

/* The bits of what comes back. *is_inline: whether it may be popped inline. */
static LLVMValueRef top_of_trail(rvm__emit *e, uint32_t site, LLVMValueRef *is_inline) {
    rvm__build *k = e->k;
    LLVMValueRef args[3] = {e->frame.machine, int32(e, 0), int32(e, site)}, top[2], address;
    LLVMValueRef flag[2] = {LLVMConstInt(k->i1, 1, false), LLVMConstInt(k->i1, 0, false)};
    LLVMBasicBlockRef from[2], seldom = rvm__block(e, "top"), on = rvm__block(e, "on");
    rvm__settle_erased(e); /* before control parts: one side may exit */
    top[0] = rvm__trail_top_inline(e, site, seldom);
    from[0] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, seldom);
    address = rvm__call_seldom(e, "rvm__trail_top", k->ptr, 3, args);
    rvm__exit_if(e, LLVMBuildIsNull(k->b, address, ""));
    top[1] = rvm__get_from(e, RVM__TRAIL_CELLS, k->i64, address);
    from[1] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    LLVMValueRef bits = LLVMBuildPhi(k->b, k->i64, "");
    *is_inline = LLVMBuildPhi(k->b, k->i1, "");
    LLVMAddIncoming(bits, top, from, 2);
    LLVMAddIncoming(*is_inline, flag, from, 2);
    return bits;
}

static void pop_trail(rvm__emit *e, uint32_t site, LLVMValueRef is_inline) {
    LLVMBasicBlockRef often = rvm__block(e, "pop"), seldom = rvm__block(e, "drop"), on = rvm__block(e, "on");
    LLVMValueRef args[2] = {e->frame.machine, int32(e, 0)};
    LLVMBuildCondBr(e->k->b, is_inline, often, seldom);
    rvm__at(e, often);
    rvm__trail_pop_inline(e, site);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, seldom);
    rvm__call_seldom(e, "rvm__trail_pop", e->k->nothing, 2, args);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}

/* What comes back must make what stood there: the target has it while the operands are looked at. */
static void unset(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, uint32_t site) {
    const rvm_place *q = rvm__places(e->f, in);
    rvm__operands o;
    LLVMValueRef is_inline;
    rvm__find_operands(e, in, x, &o);
    LLVMValueRef top = top_of_trail(e, site, &is_inline), was = rvm__load(e, &o.y);
    LLVMValueRef old = LLVMBuildBitCast(e->k->b, top, LLVMTypeOf(was), "");
    if (!(x->flags & X_UNCHECKED)) {
        rvm__store(e, &o.y, old);
        rvm__load_operands(e, x, &o);
        rvm__store(e, &o.y, was);
        LLVMValueRef f = rvm__defined_row(e, in, x, &o, NULL);
        rvm__exit_if(e, negate(e, rvm__emit_agrees(e, x, q, was, f)));
    }
    rvm__store(e, &o.y, old);
    pop_trail(e, site, is_inline);
    if (x->flags & X_TRACK) rvm__track_held(e, q, old, x->flags & X_FRESH);
}

static void segment(rvm__emit *e, const rvm__xinsn *x, bool out) {
    LLVMValueRef args[3] = {e->frame.machine, int32(e, x->trail.level), int32(e, out ? UINT32_MAX : 1)};
    if (!e->control.tracked[e->control.pc]) return;
    rvm__window_give(e);
    rvm__call_runtime(e, "rvm__trail_segment", e->k->nothing, 3, args);
    rvm__window_take(e);
}

void rvm__emit_trail(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const enum rvm_pair pair = rvm__pair_of(op);
    const uint32_t site = rvm__trail_site(e->u->m, rvm__insn_site(e->f, in));
    if (pair == RVM_PAIR_push || pair == RVM_PAIR_pushc)
        on_stack(e, in, x, op);
    else if (pair == RVM_PAIR_segment)
        segment(e, x, rvm__is_inverse(op));
    else if (pair == RVM_PAIR_set)
        rvm__is_inverse(op) ? unset(e, in, x, site) : set(e, in, x, site);
    else
        rvm__emit_slots(e, in, x, op);
}
