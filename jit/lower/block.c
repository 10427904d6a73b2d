/* block.c: parallel blocks, instance by instance; what instances add into goes by chunks, as vm/interp/blocks.c has it.
 * Blocks whose roles are enforced while they run are the interpreter's. */
#include "emit.h"
#include "instruction.h"

#include <stddef.h>

enum { PARTS = RVM__PARTS, CHUNK = RVM__CHUNK };

bool rvm__is_ascending(const rvm__emit *e, const rvm__xinsn *x) {
    return (e->context->dir > 0) != ((x->flags & X_REVERSED) != 0);
}

static const rvm__shared *shared_of(const rvm__emit *e, const rvm__xinsn *x, uint32_t k) {
    return &e->code->shared[(uint32_t)x->to.jump2 + k];
}

static LLVMTypeRef type_of(rvm__emit *e, const rvm__shared *s) {
    return rvm__build_type(e->k, (rvm_type)s->type);
}

/* What adding to changes nothing. */
static LLVMValueRef nothing(rvm__emit *e, const rvm__shared *s) {
    const rvm_type t = (rvm_type)s->type;
    return rvm__build_value(e->k, t, rvm__is_floating(t) ? (rvm_value){.f = -0.0} : (rvm_value){0});
}

static void fill(rvm__emit *e, LLVMValueRef *held, LLVMValueRef v) {
    for (int n = 1; n <= PARTS; n++) rvm__put_at(e, v, held[n]);
}

void rvm__begin_sums(rvm__emit *e, const rvm__xinsn *x) {
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = shared_of(e, x, k);
        LLVMValueRef *held = &e->reg[x->to.hidden + RVM__SUMS * k], *place = &e->reg[s->slot];
        rvm__put_at(e, rvm__get(e, type_of(e, s), *place), held[0]);
        rvm__put_at(e, nothing(e, s), *place);
        fill(e, held, nothing(e, s));
    }
}

/* Trips that go by without a poll; 0: each has one, as a group has. */
static uint64_t trips_unseen(rvm__emit *e, uint32_t pc) {
    return rvm__goes_in_lanes(e, pc) ? 0 : rvm__trips_unseen(e, pc);
}

static void next_strip(rvm__emit *e, const rvm__xinsn *x, uint32_t lower, uint64_t most, LLVMValueRef left) {
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
    const uint32_t lower = e->context->dir > 0 ? e->pc : e->f->code[e->pc].target;
    const uint64_t most = trips_unseen(e, e->pc);
    if (!most) return;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), i = rvm__slot_value(e, x->to.i);
    LLVMValueRef down = LLVMBuildAdd(b, LLVMBuildSub(b, i, lo, ""), rvm__build_int(e->k, 1), "");
    next_strip(e, x, lower, most, rvm__is_ascending(e, x) ? LLVMBuildSub(b, hi, i, "") : down);
}

void rvm__enter_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    if (x->flags & X_GUARD) {
        if (e->u->w->standalone) rvm__refuse(e, "roles in this block are only known while it runs");
        rvm__exit_now(e);
        return;
    }
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi);
    LLVMBasicBlockRef none = rvm__block(e, "none"), some = rvm__block(e, "some");
    rvm__charge(e, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGE, lo, hi, ""), none, some);
    rvm__at(e, none);
    rvm__jump(e, e->context, in->target, false);
    rvm__at(e, some);
    rvm__set_slot(e, x->to.i, rvm__is_ascending(e, x) ? lo : LLVMBuildSub(b, hi, rvm__build_int(e->k, 1), ""));
    rvm__begin_sums(e, x);
    if (e->u->w->threads && !e->block && !e->vectorised) rvm__run_chunks(e, in, x);
    rvm__begin_strips(e, x);
    rvm__to_instance(e, e->pc, false);
}

/* Address of partial sum n of a register, n no constant. */
static LLVMValueRef part_at(rvm__emit *e, LLVMValueRef *held, LLVMValueRef n) {
    LLVMValueRef at = LLVMBuildNSWMul(e->k->b, n, rvm__build_int(e->k, sizeof(rvm_value)), "");
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, held[1], &at, 1, "");
}

static LLVMValueRef plus(rvm__emit *e, const rvm__shared *s, LLVMValueRef x, LLVMValueRef y, LLVMValueRef *overflow) {
    return rvm__build_update(e->k, RVM_OP_add, (rvm_type)s->type, x, y, overflow);
}

static LLVMValueRef tree(rvm__emit *e, const rvm__shared *s, LLVMValueRef *held, LLVMValueRef *overflow) {
    LLVMTypeRef t = type_of(e, s);
    LLVMValueRef v[PARTS];
    for (int n = 0; n < PARTS; n++) v[n] = rvm__get(e, t, held[1 + n]);
    for (int n = PARTS / 2; n > 0; n /= 2)
        for (int k = 0; k < n; k++) v[k] = plus(e, s, v[k], v[k + n], overflow);
    return v[0];
}

/* What was before the chunk, and the tree of its partial sums. */
static LLVMValueRef total(rvm__emit *e, const rvm__shared *s, LLVMValueRef *held, LLVMValueRef *overflow) {
    LLVMValueRef sum = tree(e, s, held, overflow);
    return plus(e, s, rvm__get(e, type_of(e, s), held[0]), sum, overflow);
}

static void note_magnitude(rvm__emit *e, const rvm__shared *s, LLVMValueRef sum) {
    const rvm_place q = {.kind = RVM_PLACE_SLOT, .slot = s->slot};
    if (e->held[s->slot]) rvm__track_held(e, &q, sum, false);
}

static void end_chunk(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef at, bool leaves) {
    LLVMValueRef *sum = rvm__unit_alloc(e->u, (x->to.shared + 1u) * sizeof *sum), overflow = NULL;
    if (!sum) return;
    for (uint32_t n = 0; n < x->to.shared;
         n++) { /* of sums all are known before any changes; what is put away is the same */
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = &e->reg[x->to.hidden + RVM__SUMS * n];
        rvm__put_at(e, rvm__get(e, type_of(e, s), e->reg[s->slot]), part_at(e, held, at));
        sum[n] = total(e, s, held, &overflow);
    }
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = &e->reg[x->to.hidden + RVM__SUMS * n], zero = LLVMConstNull(type_of(e, s));
        note_magnitude(e, s, sum[n]);
        rvm__put_at(e, leaves ? zero : sum[n], held[0]);
        rvm__put_at(e, leaves ? sum[n] : nothing(e, s), e->reg[s->slot]);
        fill(e, held, leaves ? zero : nothing(e, s));
    }
}

void rvm__leave_sums(rvm__emit *e, const rvm__xinsn *x) {
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = &e->reg[x->to.hidden + RVM__SUMS * n], zero = LLVMConstNull(type_of(e, s));
        rvm__put_at(e, rvm__get(e, type_of(e, s), held[0]), e->reg[s->slot]);
        rvm__put_at(e, zero, held[0]);
        fill(e, held, zero);
    }
}

static void pass_on(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef at, LLVMValueRef next) {
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = &e->reg[x->to.hidden + RVM__SUMS * n], place = e->reg[s->slot];
        rvm__put_at(e, rvm__get(e, type_of(e, s), place), part_at(e, held, at));
        rvm__put_at(e, rvm__get(e, type_of(e, s), part_at(e, held, next)), place);
    }
}

static LLVMValueRef part_number(rvm__emit *e, LLVMValueRef k) {
    return LLVMBuildAnd(e->k->b, k, rvm__build_int(e->k, PARTS - 1), "");
}

static void next_instance(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    LLVMBuilderRef b = e->k->b;
    LLVMBasicBlockRef same = rvm__block(e, "same"), other = rvm__block(e, "chunk"), on = rvm__block(e, "on");
    LLVMValueRef crossed = LLVMBuildXor(b, k, next, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, crossed, rvm__build_int(e->k, CHUNK), ""), same, other);
    rvm__at(e, same);
    pass_on(e, x, part_number(e, k), part_number(e, next));
    LLVMBuildBr(b, on);
    rvm__at(e, other);
    end_chunk(e, x, part_number(e, k), false);
    LLVMBuildBr(b, on);
    rvm__at(e, on);
}

/* To the next one, numbered within the block as k is. */
static void go_on(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    if (x->to.shared) next_instance(e, x, k, next);
    rvm__charge(e, 1);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(e->k->b, rvm__slot_value(e, x->to.lo), next, ""));
}

/* Totals of the chunk that this function runs: to whoever runs its block. */
static void hand_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef at) {
    LLVMValueRef *sum = rvm__unit_alloc(e->u, (x->to.shared + 1u) * sizeof *sum), overflow = NULL;
    for (uint32_t n = 0; n < x->to.shared && sum; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = &e->reg[x->to.hidden + RVM__SUMS * n];
        rvm__put_at(e, rvm__get(e, type_of(e, s), e->reg[s->slot]), part_at(e, held, at));
        sum[n] = tree(e, s, held, &overflow);
    }
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    for (uint32_t n = 0; n < x->to.shared && sum; n++) {
        const uint16_t slot = shared_of(e, x, n)->slot;
        LLVMValueRef to = rvm__member(e, e->sums, n * sizeof(rvm__native_sum));
        rvm__put_at(e, sum[n], rvm__member(e, to, offsetof(rvm__native_sum, value)));
        if (!e->held[slot]) continue;
        rvm__put_at(e, rvm__get(e, e->k->f64, e->held[slot]), rvm__member(e, to, offsetof(rvm__native_sum, held)));
    }
}

/* The other end of a chunk's block. */
static void turn_chunk(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), at = rvm__slot_value(e, x->to.i), one = rvm__build_int(e->k, 1);
    LLVMValueRef k = LLVMBuildSub(b, at, lo, "");
    LLVMValueRef next = rvm__is_ascending(e, x) ? LLVMBuildAdd(b, k, one, "") : LLVMBuildSub(b, k, one, "");
    LLVMBasicBlockRef again = rvm__block(e, "again"), ended = rvm__block(e, "ended");
    const uint32_t walked = e->walked;
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, k, e->last, ""), ended, again);
    rvm__at(e, again);
    pass_on(e, x, part_number(e, k), part_number(e, next));
    rvm__charge(e, 1);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(b, lo, next, ""));
    rvm__to_instance(e, in->target, true);
    rvm__at(e, ended);
    e->walked = walked;
    hand_sums(e, x, part_number(e, k));
    rvm__charge(e, 1);
    LLVMBuildBr(b, e->done);
}

/* The next strip begins below the one that ended; the index is as if it had gone down. */
static void go_on_below(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, LLVMValueRef left) {
    LLVMValueRef last = LLVMBuildSub(e->k->b, left, rvm__build_int(e->k, 1), "");
    go_on(e, x, NULL, last);
    rvm__safepoint_between(e, in->target);
}

bool rvm__turn_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    if (e->block && in->target == e->block) return turn_chunk(e, in, x), false;
    LLVMBuilderRef b = e->k->b;
    const bool up = rvm__is_ascending(e, x);
    const uint32_t lower = e->pc < in->target ? e->pc : in->target;
    const uint64_t most = trips_unseen(e, in->target);
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), at = rvm__slot_value(e, x->to.i);
    LLVMValueRef one = rvm__build_int(e->k, 1), last = up ? LLVMBuildSub(b, hi, one, "") : lo;
    LLVMValueRef k = LLVMBuildSub(b, at, lo, ""), next = up ? LLVMBuildAdd(b, k, one, "") : LLVMBuildSub(b, k, one, "");
    LLVMValueRef end = most ? rvm__strip_end(e, lower) : last;
    const bool turns = rvm__may_turn(e, lower);
    if (turns) next = LLVMBuildSelect(b, rvm__is_upward(e, lower), LLVMBuildAdd(b, k, one, ""), next, "");
    LLVMBasicBlockRef again = rvm__block(e, "again"), ended = rvm__block(e, "ended");
    const uint32_t walked = e->walked;
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, at, end, ""), ended, again);
    rvm__at(e, again);
    go_on(e, x, k, next);
    rvm__to_instance(e, in->target, !most);
    rvm__at(e, ended);
    if (most) {
        LLVMBasicBlockRef more = rvm__block(e, "more"), out = rvm__block(e, "out");
        LLVMValueRef left = rvm__if_left(e, lower, more, out);
        rvm__at(e, more);
        e->walked = walked;
        if (turns)
            go_on_below(e, in, x, left);
        else
            go_on(e, x, k, next);
        next_strip(e, x, lower, most, left);
        rvm__to_instance(e, in->target, !turns);
        rvm__at(e, out);
        if (turns) rvm__set_slot(e, x->to.i, lo);
    }
    e->walked = walked;
    if (x->to.shared) end_chunk(e, x, part_number(e, k), true);
    rvm__charge(e, 1);
    return true;
}
