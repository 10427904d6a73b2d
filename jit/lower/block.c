/* block.c: parallel blocks, instance by instance. */
#include "emit.h"
#include "blocks.h"
#include "fresh_ir.h"
#include "analysis.h"
#include "aside.h"
#include "walk.h"

void rvm__enter_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    const bool guarded = x->flags & X_GUARD;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi);
    LLVMValueRef any = LLVMBuildICmp(b, LLVMIntSLT, lo, hi, "");
    rvm__aside_room(e, x);
    if (guarded && !rvm__enter_guard(e, x, any)) {
        if (e->u->w->standalone) rvm__refuse(e, "roles in this block are only known while it runs");
        rvm__exit_now(e);
        return;
    }
    rvm__fresh_check(e, any, lo, hi);
    rvm__charge(e, 1);
    LLVMBasicBlockRef none = rvm__block(e, "none"), some = rvm__block(e, "some");
    LLVMBuildCondBr(b, any, some, none);
    rvm__at(e, none);
    rvm__fresh_enter(e, rvm__build_int(e->k, 0), rvm__build_int(e->k, 0));
    rvm__jump(e, e->control.context, in->target, false);
    rvm__at(e, some);
    rvm__fresh_enter(e, lo, hi);
    rvm__set_slot(e, x->to.i, rvm__is_ascending(e, x) ? lo : LLVMBuildSub(b, hi, rvm__build_int(e->k, 1), ""));
    rvm__guard_instance_at(e, x);
    rvm__begin_sums(e, x);
    const bool elsewhere = (e->u->w->threads || e->u->w->device) && !e->block.chunk && !e->vectorised;
    if (elsewhere && !rvm__is_within_guard(e, e->control.pc)) rvm__run_chunks(e, in, x);
    if (rvm__nest(e, in, x)) return;
    rvm__pass_aside(e, x, RVM__ASIDE_BEGIN);
    rvm__begin_strips(e, x);
    rvm__to_instance(e, e->control.pc, RVM__ENTERS);
}

/* To the next one, numbered within the block as k is. */
static void go_on(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    if (x->to.shared | x->to.c) rvm__next_sums(e, x, k, next);
    rvm__charge(e, 1);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(e->k->b, rvm__slot_value(e, x->to.lo), next, ""));
    rvm__guard_instance_at(e, x);
}

/* The other end of a chunk's block. */
static void turn_chunk(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), at = rvm__slot_value(e, x->to.i), one = rvm__build_int(e->k, 1);
    LLVMValueRef k = LLVMBuildSub(b, at, lo, "");
    LLVMValueRef next = rvm__is_ascending(e, x) ? LLVMBuildAdd(b, k, one, "") : LLVMBuildSub(b, k, one, "");
    LLVMBasicBlockRef again = rvm__block(e, "again"), ended = rvm__block(e, "ended");
    const uint32_t walked = e->count.walked;
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, k, e->block.last, ""), ended, again);
    rvm__at(e, again);
    rvm__pass_sums(e, x, k, next);
    rvm__aside_next(e, x, k, next);
    rvm__charge(e, 1);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(b, lo, next, ""));
    rvm__to_instance(e, in->target, RVM__TURNS);
    rvm__at(e, ended);
    e->count.walked = walked;
    rvm__hand_sums(e, x, k);
    rvm__aside_hand(e, x);
    rvm__charge(e, 1);
    LLVMBuildBr(b, e->frame.done);
}

/* The next strip begins below the one that ended; the index is as if it had gone down. */
static void go_on_below(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, LLVMValueRef left) {
    LLVMValueRef last = LLVMBuildSub(e->k->b, left, rvm__build_int(e->k, 1), "");
    go_on(e, x, NULL, last);
    rvm__safepoint_between(e, in->target);
}

bool rvm__turn_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    if (e->block.chunk && in->target == e->block.chunk) return turn_chunk(e, in, x), false;
    LLVMBuilderRef b = e->k->b;
    const bool up = rvm__is_ascending(e, x);
    const uint32_t lower = e->control.pc < in->target ? e->control.pc : in->target;
    const uint64_t most = rvm__block_unseen(e, in->target);
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), at = rvm__slot_value(e, x->to.i);
    LLVMValueRef one = rvm__build_int(e->k, 1), last = up ? LLVMBuildSub(b, hi, one, "") : lo;
    LLVMValueRef k = LLVMBuildSub(b, at, lo, ""), next = up ? LLVMBuildAdd(b, k, one, "") : LLVMBuildSub(b, k, one, "");
    LLVMValueRef end = most ? rvm__strip_end(e, lower) : last;
    const bool turns = rvm__may_turn(e, lower);
    if (turns) next = LLVMBuildSelect(b, rvm__is_upward(e, lower), LLVMBuildAdd(b, k, one, ""), next, "");
    LLVMBasicBlockRef again = rvm__block(e, "again"), ended = rvm__block(e, "ended");
    const uint32_t walked = e->count.walked;
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, at, end, ""), ended, again);
    rvm__at(e, again);
    go_on(e, x, k, next);
    rvm__to_instance(e, in->target, most ? RVM__STEPS : RVM__TURNS);
    rvm__at(e, ended);
    if (most) {
        LLVMBasicBlockRef more = rvm__block(e, "more"), out = rvm__block(e, "out");
        LLVMValueRef left = rvm__if_left(e, lower, more, out);
        rvm__at(e, more);
        e->count.walked = walked;
        if (turns)
            go_on_below(e, in, x, left);
        else
            go_on(e, x, k, next);
        rvm__next_strip(e, x, lower, most, left);
        rvm__to_instance(e, in->target, turns ? RVM__STEPS : RVM__TURNS);
        rvm__at(e, out);
        if (turns) rvm__set_slot(e, x->to.i, lo);
    }
    e->count.walked = walked;
    if (x->to.shared) rvm__end_sums(e, x, k, NULL);
    rvm__pass_aside(e, x, RVM__ASIDE_END);
    rvm__leave_guard(e, x);
    rvm__charge(e, 1);
    return true;
}
