/* trail_inline.c: an entry of one cell goes onto the trail of level 0, or comes from it, in the generated code itself: on
 * the stack that the machine has at hand (rvm__trail.now). Whatever is more than to write or to read a cell is left to the
 * runtime: a chunk that is full, or of which the last cell is taken back, another site, a new peak, a level that discards
 * (its stack has no room). */
#include "emit.h"
#include "trail_inline.h"

#include <stddef.h>

#define OF(struct, name) _Generic(((struct *)0)->name, uint32_t : 4, uint64_t : 8, default : 0)
_Static_assert(OF(rvm__trail_stack, n) == 4 && OF(rvm__trail_stack, cap) == 4 && OF(rvm__trail, cells) == 8 &&
                   OF(rvm__trail, words) == 8 && OF(rvm__trail, peak) == 8 && sizeof(rvm_value) == 8,
               "as they are read here");
#undef OF

static LLVMValueRef in_trail(rvm__emit *e, size_t offset) {
    return rvm__member(e, e->frame.machine, offsetof(rvm_machine, trail) + offset);
}

static LLVMValueRef state(rvm__emit *e, LLVMTypeRef t, LLVMValueRef address) {
    return rvm__get_from(e, RVM__TRAIL_STATE, t, address);
}

static LLVMValueRef stack_at_hand(rvm__emit *e) {
    return state(e, e->k->ptr, in_trail(e, offsetof(rvm__trail, now)));
}

/* Cell n of those that stand at that offset of the stack, a type each. */
static LLVMValueRef cell(rvm__emit *e, LLVMValueRef stack, size_t offset, LLVMTypeRef type, LLVMValueRef n) {
    LLVMValueRef at = LLVMBuildZExt(e->k->b, n, e->k->i64, "");
    LLVMValueRef first = state(e, e->k->ptr, rvm__member(e, stack, offset));
    return LLVMBuildInBoundsGEP2(e->k->b, type, first, &at, 1, "");
}

/* On with the next block; a jump to `seldom` unless cond. */
static void go_on_if(rvm__emit *e, LLVMValueRef cond, LLVMBasicBlockRef seldom) {
    LLVMBasicBlockRef on = rvm__block(e, "inline");
    rvm__unlikely(e, LLVMBuildCondBr(e->k->b, LLVMBuildNot(e->k->b, cond, ""), seldom, on));
    rvm__at(e, on);
}

static void count_cells(rvm__emit *e, int64_t by) {
    LLVMValueRef cells = in_trail(e, offsetof(rvm__trail, cells));
    LLVMValueRef now = LLVMBuildAdd(e->k->b, state(e, e->k->i64, cells), rvm__build_int(e->k, by), "");
    rvm__put_into(e, RVM__TRAIL_STATE, now, cells);
}

bool rvm__trail_is_inline(uint32_t level, uint32_t site) {
    return !level && site < TRAIL_PLAIN;
}

void rvm__trail_put_inline(rvm__emit *e, uint32_t site, LLVMValueRef bits, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    LLVMValueRef stack = stack_at_hand(e), at = rvm__member(e, stack, offsetof(rvm__trail_stack, n));
    LLVMValueRef n = state(e, k->i32, at), cap = state(e, k->i32, rvm__member(e, stack, offsetof(rvm__trail_stack, cap)));
    go_on_if(e, LLVMBuildICmp(k->b, LLVMIntNE, n, cap, ""), seldom);
    LLVMValueRef to = cell(e, stack, offsetof(rvm__trail_stack, cells), k->i64, n);
    rvm__put_into(e, RVM__TRAIL_CELLS, bits, to);
    to = cell(e, stack, offsetof(rvm__trail_stack, bytes), k->i8, n);
    rvm__put_into(e, RVM__TRAIL_CELLS, LLVMConstInt(k->i8, site, false), to);
    rvm__put_into(e, RVM__TRAIL_STATE, LLVMBuildAdd(k->b, n, LLVMConstInt(k->i32, 1, false), ""), at);
    count_cells(e, 1);
}

/* As rvm__trail_pop notes them. */
static LLVMValueRef is_no_peak(rvm__emit *e) {
    rvm__build *k = e->k;
    LLVMValueRef cells = state(e, k->i64, in_trail(e, offsetof(rvm__trail, cells)));
    LLVMValueRef words = state(e, k->i64, in_trail(e, offsetof(rvm__trail, words)));
    LLVMValueRef bytes = LLVMBuildAdd(k->b, LLVMBuildMul(k->b, cells, rvm__build_int(k, RVM__TRAIL_CELL), ""),
                                      LLVMBuildMul(k->b, words, rvm__build_int(k, RVM__TRAIL_WORD), ""), "");
    return LLVMBuildICmp(k->b, LLVMIntULE, bytes, state(e, k->i64, in_trail(e, offsetof(rvm__trail, peak))), "");
}

LLVMValueRef rvm__trail_top_inline(rvm__emit *e, uint32_t site, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    LLVMValueRef stack = stack_at_hand(e), one = LLVMConstInt(k->i32, 1, false);
    LLVMValueRef n = state(e, k->i32, rvm__member(e, stack, offsetof(rvm__trail_stack, n)));
    go_on_if(e, LLVMBuildICmp(k->b, LLVMIntUGT, n, one, ""), seldom);
    LLVMValueRef at = LLVMBuildSub(k->b, n, one, "");
    LLVMValueRef byte = cell(e, stack, offsetof(rvm__trail_stack, bytes), k->i8, at);
    byte = rvm__get_from(e, RVM__TRAIL_CELLS, k->i8, byte);
    LLVMValueRef same = LLVMBuildICmp(k->b, LLVMIntEQ, byte, LLVMConstInt(k->i8, site, false), "");
    go_on_if(e, LLVMBuildAnd(k->b, same, is_no_peak(e), ""), seldom);
    return cell(e, stack, offsetof(rvm__trail_stack, cells), k->i64, at);
}

void rvm__trail_pop_inline(rvm__emit *e) {
    LLVMValueRef n = rvm__member(e, stack_at_hand(e), offsetof(rvm__trail_stack, n));
    LLVMValueRef now = LLVMBuildSub(e->k->b, state(e, e->k->i32, n), LLVMConstInt(e->k->i32, 1, false), "");
    rvm__put_into(e, RVM__TRAIL_STATE, now, n);
    count_cells(e, -1);
}

void rvm__trail_put(rvm__emit *e, uint32_t level, uint32_t site, LLVMValueRef bits) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef seldom = rvm__block(e, "put"), on = rvm__block(e, "on");
    LLVMValueRef args[4] = {e->frame.machine, LLVMConstInt(k->i32, level, false), LLVMConstInt(k->i32, site, false), bits};
    const bool is_inline = rvm__trail_is_inline(level, site);
    rvm__settle_erased(e); /* before control parts: one side may exit */
    if (is_inline) rvm__trail_put_inline(e, site, bits, seldom);
    LLVMBuildBr(k->b, is_inline ? on : seldom);
    rvm__at(e, seldom);
    LLVMValueRef put = is_inline ? rvm__call_seldom(e, "rvm__native_put", k->i1, 4, args)
                                 : rvm__call_runtime(e, "rvm__native_put", k->i1, 4, args);
    rvm__exit_if(e, LLVMBuildNot(k->b, put, ""));
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
}
