/* trail_inline.c: an entry that is one value goes onto the trail of level 0, or comes from it, in the generated code itself:
 * on the stack that the machine has at hand (rvm__trail.now), as the inline functions of vm/trail/trail.h have it. What is
 * more than that is left to the runtime: a chunk that is full, or of which the last cell is taken back, another site, one
 * that has not stood there before, a word of a link that is full or empty, a new peak, a level that discards (its stack has
 * no room and no links). */
#include "emit.h"
#include "trail_inline.h"

#include <stddef.h>

#define OF(struct, name)             _Generic(((struct *)0)->name, uint32_t : 4, uint64_t : 8, default : 0)
#define IS_READ(struct, name, bytes) _Static_assert(OF(struct, name) == (bytes), "as it is read here")
IS_READ(rvm__trail_stack, n, 4);
IS_READ(rvm__trail_stack, cap, 4);
IS_READ(rvm__trail_stack, last, 4);
IS_READ(rvm__trail_stack, flags, 8);
IS_READ(rvm__trail, held, 8);
IS_READ(rvm__trail, peak, 8);
IS_READ(rvm__trail_link, bits, 8);
_Static_assert(sizeof(rvm_value) == 8 && RVM__LINK_NEAR == 4, "as they are read here");
#undef IS_READ
#undef OF

static LLVMValueRef in_trail(rvm__emit *e, size_t offset) {
    return rvm__member(e, e->frame.machine, offsetof(rvm_machine, trail) + offset);
}

static LLVMValueRef state(rvm__emit *e, LLVMTypeRef t, LLVMValueRef address) {
    return rvm__get_from(e, RVM__TRAIL_STATE, t, address);
}

static void set_state(rvm__emit *e, LLVMValueRef v, LLVMValueRef address) {
    rvm__put_into(e, RVM__TRAIL_STATE, v, address);
}

static LLVMValueRef int32(rvm__emit *e, uint32_t n) {
    return LLVMConstInt(e->k->i32, n, false);
}

static LLVMValueRef equal(rvm__emit *e, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(e->k->b, LLVMIntEQ, a, b, "");
}

static LLVMValueRef stack_at_hand(rvm__emit *e) {
    return state(e, e->k->ptr, in_trail(e, offsetof(rvm__trail, now)));
}

#define STACK(name) rvm__member(e, stack, offsetof(rvm__trail_stack, name))
#define LINK(name)  rvm__member(e, link, offsetof(rvm__trail_link, name))

static LLVMValueRef element(rvm__emit *e, LLVMValueRef first, LLVMTypeRef type, LLVMValueRef n) {
    LLVMValueRef at = LLVMBuildZExt(e->k->b, n, e->k->i64, "");
    return LLVMBuildInBoundsGEP2(e->k->b, type, first, &at, 1, "");
}

static LLVMValueRef cell(rvm__emit *e, LLVMValueRef stack, LLVMValueRef n) {
    return element(e, state(e, e->k->ptr, STACK(cells)), e->k->i64, n);
}

/* On with the next block; a jump to `seldom` unless cond. */
static void go_on_if(rvm__emit *e, LLVMValueRef cond, LLVMBasicBlockRef seldom) {
    LLVMBasicBlockRef on = rvm__block(e, "inline");
    rvm__unlikely(e, LLVMBuildCondBr(e->k->b, LLVMBuildNot(e->k->b, cond, ""), seldom, on));
    rvm__at(e, on);
}

static void add_to(rvm__emit *e, LLVMValueRef address, LLVMTypeRef type, int64_t by) {
    LLVMValueRef n = LLVMConstInt(type, (uint64_t)by, true);
    set_state(e, LLVMBuildAdd(e->k->b, state(e, type, address), n, ""), address);
}

bool rvm__trail_is_inline(uint32_t level) {
    return !level;
}

/* Of a flag the kind that is 1; 0: the site has none. */
static uint32_t one_of(const rvm__emit *e, uint32_t site) {
    return e->u->m->trail.ones[site];
}

/* ---- links ---- */

static LLVMValueRef link_of(rvm__emit *e, LLVMValueRef links, LLVMValueRef kind) {
    rvm__build *k = e->k;
    LLVMValueRef at =
        LLVMBuildMul(k->b, LLVMBuildZExt(k->b, kind, k->i64, ""), rvm__build_int(k, sizeof(rvm__trail_link)), "");
    return LLVMBuildInBoundsGEP2(k->b, k->i8, links, &at, 1, "");
}

static LLVMValueRef byte_of(rvm__emit *e, LLVMValueRef address, LLVMTypeRef type) {
    return LLVMBuildZExt(e->k->b, state(e, e->k->i8, address), type, "");
}

/* Which of the kinds seen below is `last`, as bits: one or none. */
static LLVMValueRef seen_below(rvm__emit *e, LLVMValueRef link, LLVMValueRef last) {
    rvm__build *k = e->k;
    LLVMTypeRef four = LLVMVectorType(k->i32, RVM__LINK_NEAR);
    LLVMValueRef below = state(e, four, LINK(below)), none = LLVMGetUndef(four);
    LLVMSetAlignment(below, 4);
    LLVMValueRef all = LLVMBuildInsertElement(k->b, none, last, int32(e, 0), "");
    all = LLVMBuildShuffleVector(k->b, all, none, LLVMConstNull(four), "");
    return LLVMBuildBitCast(k->b, equal(e, below, all), LLVMIntTypeInContext(k->context, RVM__LINK_NEAR), "");
}

/* rvm__trail_on */
static void put_on_link(rvm__emit *e, LLVMValueRef stack, LLVMValueRef links, LLVMValueRef kind, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    LLVMValueRef link = link_of(e, links, kind), seen = seen_below(e, link, state(e, k->i32, STACK(last)));
    LLVMValueRef mask = LLVMBuildTrunc(k->b, state(e, k->i8, LINK(mask)), LLVMTypeOf(seen), "");
    LLVMValueRef at = LLVMBuildAnd(k->b, seen, mask, ""), bits = state(e, k->i64, LINK(bits));
    LLVMValueRef has = LLVMBuildICmp(k->b, LLVMIntNE, at, LLVMConstNull(LLVMTypeOf(at)), "");
    LLVMValueRef free = LLVMBuildICmp(k->b, LLVMIntULT, bits, rvm__build_int(k, INT64_C(1) << 62), "");
    go_on_if(e, LLVMBuildAnd(k->b, has, free, ""), seldom);
    LLVMValueRef args[2] = {LLVMBuildZExt(k->b, at, k->i64, ""), LLVMConstInt(k->i1, 1, false)};
    LLVMValueRef number = rvm__build_intrinsic(e->k, "llvm.cttz", 2, args);
    LLVMValueRef moved = LLVMBuildShl(k->b, bits, byte_of(e, LINK(width), k->i64), "");
    set_state(e, LLVMBuildOr(k->b, moved, number, ""), LINK(bits));
    set_state(e, kind, STACK(last));
}

/* rvm__trail_comes_off, but for what is on top */
static LLVMValueRef comes_off(rvm__emit *e, LLVMValueRef link) {
    rvm__build *k = e->k;
    LLVMValueRef bits = state(e, k->i64, LINK(bits)), mask = state(e, k->i8, LINK(mask));
    LLVMValueRef some = LLVMBuildICmp(k->b, LLVMIntNE, bits, rvm__build_int(k, RVM__LINK_EMPTY), "");
    return LLVMBuildAnd(k->b, some, LLVMBuildICmp(k->b, LLVMIntNE, mask, LLVMConstInt(k->i8, 0, false), ""), "");
}

/* rvm__trail_off */
static void take_from_link(rvm__emit *e, LLVMValueRef stack, LLVMValueRef link) {
    rvm__build *k = e->k;
    LLVMValueRef bits = state(e, k->i64, LINK(bits)), width = byte_of(e, LINK(width), k->i64), one = rvm__build_int(k, 1);
    LLVMValueRef low = LLVMBuildSub(k->b, LLVMBuildShl(k->b, one, width, ""), one, "");
    LLVMValueRef number = LLVMBuildAnd(k->b, bits, low, "");
    LLVMValueRef below = LLVMBuildInBoundsGEP2(k->b, k->i32, LINK(below), &number, 1, "");
    set_state(e, state(e, k->i32, below), STACK(last));
    set_state(e, LLVMBuildLShr(k->b, bits, width, ""), LINK(bits));
}

static LLVMValueRef links_of(rvm__emit *e, LLVMValueRef stack) {
    return state(e, e->k->ptr, STACK(links));
}

/* ---- flags: without a cell ---- */

static void put_flag(rvm__emit *e, uint32_t site, LLVMValueRef bits, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    LLVMValueRef stack = stack_at_hand(e), links = links_of(e, stack), one = rvm__build_int(k, 1);
    LLVMValueRef there = LLVMBuildNot(k->b, LLVMBuildIsNull(k->b, links, ""), "");
    go_on_if(e, LLVMBuildAnd(k->b, there, LLVMBuildICmp(k->b, LLVMIntULE, bits, one, ""), ""), seldom);
    LLVMValueRef kind = LLVMBuildSelect(k->b, equal(e, bits, one), int32(e, one_of(e, site)), int32(e, site), "");
    put_on_link(e, stack, links, kind, seldom);
    add_to(e, STACK(flags), k->i64, 1);
}

static LLVMValueRef top_flag(rvm__emit *e, uint32_t site, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    LLVMValueRef stack = stack_at_hand(e), last = state(e, k->i32, STACK(last));
    LLVMValueRef is_one = equal(e, last, int32(e, one_of(e, site)));
    go_on_if(e, LLVMBuildOr(k->b, is_one, equal(e, last, int32(e, site)), ""), seldom);
    go_on_if(e, comes_off(e, link_of(e, links_of(e, stack), last)), seldom);
    return LLVMBuildZExt(k->b, is_one, k->i64, "");
}

static void pop_flag(rvm__emit *e) {
    LLVMValueRef stack = stack_at_hand(e);
    take_from_link(e, stack, link_of(e, links_of(e, stack), state(e, e->k->i32, STACK(last))));
    add_to(e, STACK(flags), e->k->i64, -1);
}

/* ---- values ---- */

void rvm__trail_put_inline(rvm__emit *e, uint32_t site, LLVMValueRef bits, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    if (one_of(e, site)) {
        put_flag(e, site, bits, seldom);
        return;
    }
    LLVMValueRef stack = stack_at_hand(e), n = state(e, k->i32, STACK(n)), cap = state(e, k->i32, STACK(cap));
    go_on_if(e, LLVMBuildICmp(k->b, LLVMIntNE, n, cap, ""), seldom);
    put_on_link(e, stack, links_of(e, stack), int32(e, site), seldom);
    rvm__put_into(e, RVM__TRAIL_CELLS, bits, cell(e, stack, n));
    set_state(e, LLVMBuildAdd(k->b, n, int32(e, 1), ""), STACK(n));
    add_to(e, in_trail(e, offsetof(rvm__trail, held)), k->i64, 1);
}

/* As rvm__trail_note_peak notes them. */
static LLVMValueRef is_no_peak(rvm__emit *e) {
    LLVMValueRef held = state(e, e->k->i64, in_trail(e, offsetof(rvm__trail, held)));
    LLVMValueRef peak = state(e, e->k->i64, in_trail(e, offsetof(rvm__trail, peak)));
    return LLVMBuildICmp(e->k->b, LLVMIntULE, held, peak, "");
}

LLVMValueRef rvm__trail_top_inline(rvm__emit *e, uint32_t site, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    if (one_of(e, site)) return top_flag(e, site, seldom);
    LLVMValueRef stack = stack_at_hand(e), n = state(e, k->i32, STACK(n));
    LLVMValueRef several = LLVMBuildICmp(k->b, LLVMIntUGT, n, int32(e, 1), "");
    LLVMValueRef same = equal(e, state(e, k->i32, STACK(last)), int32(e, site));
    go_on_if(e, LLVMBuildAnd(k->b, LLVMBuildAnd(k->b, several, same, ""), is_no_peak(e), ""), seldom);
    go_on_if(e, comes_off(e, link_of(e, links_of(e, stack), int32(e, site))), seldom);
    return rvm__get_from(e, RVM__TRAIL_CELLS, k->i64, cell(e, stack, LLVMBuildSub(k->b, n, int32(e, 1), "")));
}

void rvm__trail_pop_inline(rvm__emit *e, uint32_t site) {
    if (one_of(e, site)) {
        pop_flag(e);
        return;
    }
    LLVMValueRef stack = stack_at_hand(e);
    take_from_link(e, stack, link_of(e, links_of(e, stack), int32(e, site)));
    add_to(e, STACK(n), e->k->i32, -1);
    add_to(e, in_trail(e, offsetof(rvm__trail, held)), e->k->i64, -1);
}

void rvm__trail_put(rvm__emit *e, uint32_t level, uint32_t site, LLVMValueRef bits) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef seldom = rvm__block(e, "put"), on = rvm__block(e, "on");
    LLVMValueRef args[4] = {e->frame.machine, int32(e, level), int32(e, site), bits};
    const bool is_inline = rvm__trail_is_inline(level);
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
