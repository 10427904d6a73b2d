/* strips.c: loops and blocks poll every so many trips, a strip. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"

#include <stddef.h>

static rvm__strip strip_of(rvm__emit *e, uint32_t pc) {
    rvm__strip *s = &e->control.strips[pc];
    if (!s->left) *s = (rvm__strip){rvm__local(e, e->k->i64, "left"), rvm__local(e, e->k->i64, "stop")};
    return *s;
}

void rvm__begin_strip(rvm__emit *e, uint32_t pc, uint64_t most, LLVMValueRef at, LLVMValueRef step, LLVMValueRef left) {
    LLVMBuilderRef b = e->k->b;
    const rvm__strip strip = strip_of(e, pc);
    LLVMValueRef one = rvm__build_int(e->k, 1), all = rvm__build_int(e->k, (int64_t)most);
    LLVMValueRef fuel = rvm__get(e, e->k->i64, rvm__member(e, e->frame.native, offsetof(rvm__native, fuel)));
    LLVMValueRef then = LLVMBuildAdd(b, rvm__get(e, e->k->i64, e->count.charged), rvm__build_int(e->k, RVM__STRIP), "");
    all = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLE, then, fuel, ""), all, one, ""); /* little is left: trip by trip */
    LLVMValueRef n = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, left, all, ""), left, all, "");
    rvm__put_at(e, LLVMBuildSub(b, left, n, ""), strip.left);
    LLVMValueRef way = LLVMBuildMul(b, LLVMBuildSub(b, n, one, ""), step, "");
    rvm__put_at(e, LLVMBuildAdd(b, at, way, ""), strip.stop);
}

LLVMValueRef rvm__strip_end(rvm__emit *e, uint32_t pc) {
    return rvm__get(e, e->k->i64, strip_of(e, pc).stop);
}

void rvm__set_strip_end(rvm__emit *e, uint32_t pc, LLVMValueRef end) {
    rvm__put_at(e, end, strip_of(e, pc).stop);
}

LLVMValueRef rvm__if_left(rvm__emit *e, uint32_t pc, LLVMBasicBlockRef more, LLVMBasicBlockRef out) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef left = rvm__get(e, e->k->i64, strip_of(e, pc).left);
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, left, rvm__build_int(e->k, 0), "");
    rvm__unlikely(e, LLVMBuildCondBr(b, some, more, out));
    return left;
}

/* ---- of blocks ---- */

uint64_t rvm__block_unseen(rvm__emit *e, uint32_t pc) {
    return rvm__goes_in_lanes(e, pc) ? 0 : rvm__trips_unseen(e, pc);
}

void rvm__next_strip(rvm__emit *e, const rvm__xinsn *x, uint32_t lower, uint64_t most, LLVMValueRef left) {
    LLVMValueRef step = rvm__build_int(e->k, rvm__is_ascending(e, x) ? 1 : -1);
    LLVMValueRef first = rvm__slot_value(e, x->to.i);
    rvm__begin_strip(e, lower, most, first, step, left);
    if (!rvm__may_turn(e, lower)) return;
    LLVMValueRef upward = rvm__is_upward(e, lower), last = rvm__strip_end(e, lower);
    rvm__set_slot(e, x->to.i, LLVMBuildSelect(e->k->b, upward, last, first, ""));
    rvm__set_strip_end(e, lower, LLVMBuildSelect(e->k->b, upward, first, last, ""));
}

void rvm__begin_strips(rvm__emit *e, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    const uint32_t lower = e->control.context->dir > 0 ? e->control.pc : e->f->code[e->control.pc].target;
    const uint64_t most = rvm__block_unseen(e, e->control.pc);
    if (!most) return;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), i = rvm__slot_value(e, x->to.i);
    LLVMValueRef down = LLVMBuildAdd(b, LLVMBuildSub(b, i, lo, ""), rvm__build_int(e->k, 1), "");
    rvm__next_strip(e, x, lower, most, rvm__is_ascending(e, x) ? LLVMBuildSub(b, hi, i, "") : down);
}
