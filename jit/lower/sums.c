/* sums.c: registers that instances of a block add into: a partial sum for each instance modulo eight, put together at the
 * end of a chunk, as vm/interp/blocks.c has it. */
#include "emit.h"
#include "blocks.h"
#include "instruction.h"
#include "walk.h"

#include <stddef.h>

enum { PARTS = RVM__PARTS, CHUNK = RVM__CHUNK };

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

/* Address of partial sum n of a register, n no constant. */
static LLVMValueRef part_at(rvm__emit *e, LLVMValueRef *held, LLVMValueRef n) {
    LLVMValueRef at = LLVMBuildNSWMul(e->k->b, n, rvm__build_int(e->k, sizeof(rvm_value)), "");
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, held[1], &at, 1, "");
}

static LLVMValueRef part_number(rvm__emit *e, LLVMValueRef k) {
    return LLVMBuildAnd(e->k->b, k, rvm__build_int(e->k, PARTS - 1), "");
}

/* ---- in runs that restore every bit ---- */

static uint32_t pc_of(const rvm__emit *e, const rvm__xinsn *x) {
    return (uint32_t)(x - e->code->x);
}

/* In an adjoint values are taken back while sums of shadows are recorded, and the other way round. */
static bool is_taken_back(const rvm__emit *e, const rvm__xinsn *x, const rvm__shared *s) {
    if (!(s->how & SHARED_EXACTLY)) return false;
    return s->how & SHARED_SWEPT ? e->control.context->restoring : rvm__restores_at(e, pc_of(e, x));
}

static LLVMValueRef *held_of(const rvm__emit *e, const rvm__xinsn *x, uint32_t k) {
    return &e->frame.reg[x->to.hidden + RVM__SUMS * k];
}

/* What the chunk of instance k records, or takes back; an i1, whether that fails, or NULL. */
static LLVMValueRef exact_chunk(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, bool back) {
    LLVMBuilderRef b = e->k->b;
    rvm__held_sums *sums = rvm__unit_alloc(e->u, (x->to.shared + 1u) * sizeof *sums);
    unsigned n = 0;
    for (uint32_t i = 0; i < x->to.shared && sums; i++) {
        const rvm__shared *s = shared_of(e, x, i);
        const unsigned level = s->how & SHARED_SWEPT ? RVM__OF_SHADOWS : RVM__OF_VALUES;
        if (s->how & SHARED_EXACTLY && is_taken_back(e, x, s) == back)
            sums[n++] = (rvm__held_sums){(rvm_type)s->type, level, held_of(e, x, i)[0]};
    }
    if (!n) return NULL;
    LLVMValueRef all = LLVMBuildSub(b, rvm__slot_value(e, x->to.hi), rvm__slot_value(e, x->to.lo), "");
    LLVMValueRef first = LLVMBuildAnd(b, k, rvm__build_int(e->k, ~(int64_t)(CHUNK - 1)), "");
    return rvm__exact_chunk(e, n, sums, LLVMBuildSub(b, all, first, ""), back);
}

/* What was recorded stands in the parts: the register of instance k has its own. */
static void take_parts(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k) {
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef at = part_at(e, held_of(e, x, n), part_number(e, k));
        if (is_taken_back(e, x, s)) rvm__put_at(e, rvm__get(e, type_of(e, s), at), e->frame.reg[s->slot]);
    }
}

/* The block's end from which it is taken back: instance k is the first. It was charged, which an exit takes back. */
static void begin_taken_back(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k) {
    rvm__build *c = e->k;
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef now = rvm__get(e, type_of(e, s), e->frame.reg[s->slot]);
        if (is_taken_back(e, x, s)) rvm__put_at(e, now, held_of(e, x, n)[0]);
    }
    LLVMValueRef failed = exact_chunk(e, x, k, true);
    if (!failed) return;
    LLVMBasicBlockRef lacks = rvm__block(e, "lacks"), on = rvm__block(e, "on");
    rvm__unlikely(e, LLVMBuildCondBr(c->b, failed, lacks, on));
    rvm__at(e, lacks);
    LLVMValueRef charged = rvm__get(e, c->i64, e->count.charged);
    rvm__put_at(e, LLVMBuildSub(c->b, charged, rvm__build_int(c, 1), ""), e->count.charged);
    rvm__leave_guard(e, x);
    rvm__exit_now(e);
    rvm__at(e, on);
    take_parts(e, x, k);
}

/* ---- from instance to instance ---- */

void rvm__begin_sums(rvm__emit *e, const rvm__xinsn *x) {
    if (e->u->w->exact)
        begin_taken_back(e, x, LLVMBuildSub(e->k->b, rvm__slot_value(e, x->to.i), rvm__slot_value(e, x->to.lo), ""));
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = shared_of(e, x, k);
        LLVMValueRef *held = held_of(e, x, k), *place = &e->frame.reg[s->slot];
        if (is_taken_back(e, x, s)) continue;
        rvm__put_at(e, rvm__get(e, type_of(e, s), *place), held[0]);
        rvm__put_at(e, nothing(e, s), *place);
        fill(e, held, nothing(e, s));
    }
}

LLVMValueRef rvm__partial_sum(rvm__emit *e, const rvm__xinsn *x, uint32_t k, LLVMValueRef index) {
    LLVMValueRef n = LLVMBuildSub(e->k->b, index, rvm__slot_value(e, x->to.lo), "");
    return part_at(e, held_of(e, x, k), part_number(e, n));
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
    if (e->frame.held[s->slot]) rvm__track_held(e, &q, sum, false);
}

static bool any(const rvm__emit *e, const rvm__xinsn *x, bool back) {
    for (uint32_t i = 0; i < x->to.shared; i++) {
        const rvm__shared *s = shared_of(e, x, i);
        if (s->how & SHARED_EXACTLY && is_taken_back(e, x, s) == back) return true;
    }
    return false;
}

/* The records of a chunk's end, and of the next chunk what is taken back: where that fails nothing has changed. */
static void end_exactly(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    const bool both = next && any(e, x, true) && any(e, x, false);
    LLVMValueRef failed = both ? rvm__exact_room(e, x->to.shared) : NULL;
    if (failed) rvm__exit_if(e, failed);
    if (next && (failed = exact_chunk(e, x, next, true))) rvm__exit_if(e, failed);
    if ((failed = exact_chunk(e, x, k, false))) rvm__exit_if(e, failed);
}

void rvm__end_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    LLVMValueRef *sum = rvm__unit_alloc(e->u, (x->to.shared + 1u) * sizeof *sum), overflow = NULL;
    LLVMValueRef at = part_number(e, k);
    const bool leaves = !next;
    if (!sum) return;
    for (uint32_t n = 0; n < x->to.shared;
         n++) { /* of sums all are known before any changes; what is put away is the same */
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = held_of(e, x, n);
        if (is_taken_back(e, x, s)) continue;
        rvm__put_at(e, rvm__get(e, type_of(e, s), e->frame.reg[s->slot]), part_at(e, held, at));
        sum[n] = total(e, s, held, &overflow);
    }
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    if (e->u->w->exact) end_exactly(e, x, k, next);
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = held_of(e, x, n), zero = LLVMConstNull(type_of(e, s));
        if (is_taken_back(e, x, s)) {
            if (!leaves) continue;
            sum[n] = rvm__get(e, type_of(e, s), held[0]);
        }
        note_magnitude(e, s, sum[n]);
        rvm__put_at(e, leaves ? zero : sum[n], held[0]);
        rvm__put_at(e, leaves ? sum[n] : nothing(e, s), e->frame.reg[s->slot]);
        fill(e, held, leaves ? zero : nothing(e, s));
    }
    if (!leaves) take_parts(e, x, next);
}

void rvm__leave_sums(rvm__emit *e, const rvm__xinsn *x) {
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = held_of(e, x, n), zero = LLVMConstNull(type_of(e, s));
        rvm__put_at(e, rvm__get(e, type_of(e, s), held[0]), e->frame.reg[s->slot]);
        rvm__put_at(e, zero, held[0]);
        fill(e, held, zero);
    }
}

void rvm__pass_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef to) {
    LLVMValueRef next = part_number(e, to), at = part_number(e, k);
    for (uint32_t n = 0; n < x->to.shared; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = held_of(e, x, n), place = e->frame.reg[s->slot];
        rvm__put_at(e, rvm__get(e, type_of(e, s), place), part_at(e, held, at));
        rvm__put_at(e, rvm__get(e, type_of(e, s), part_at(e, held, next)), place);
    }
}

void rvm__next_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    LLVMBuilderRef b = e->k->b;
    LLVMBasicBlockRef same = rvm__block(e, "same"), other = rvm__block(e, "chunk"), on = rvm__block(e, "on");
    LLVMValueRef crossed = LLVMBuildXor(b, k, next, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, crossed, rvm__build_int(e->k, CHUNK), ""), same, other);
    rvm__at(e, same);
    rvm__pass_sums(e, x, k, next);
    rvm__aside_next(e, x, k, next);
    LLVMBuildBr(b, on);
    rvm__at(e, other);
    rvm__end_sums(e, x, k, next);
    rvm__aside_next_chunk(e, x, k, next);
    LLVMBuildBr(b, on);
    rvm__at(e, on);
}

/* Totals of the chunk that this function runs: to whoever runs its block. */
void rvm__hand_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k) {
    LLVMValueRef *sum = rvm__unit_alloc(e->u, (x->to.shared + 1u) * sizeof *sum), overflow = NULL;
    LLVMValueRef at = part_number(e, k);
    for (uint32_t n = 0; n < x->to.shared && sum; n++) {
        const rvm__shared *s = shared_of(e, x, n);
        LLVMValueRef *held = held_of(e, x, n);
        rvm__put_at(e, rvm__get(e, type_of(e, s), e->frame.reg[s->slot]), part_at(e, held, at));
        sum[n] = tree(e, s, held, &overflow);
    }
    if (overflow && !(x->flags & X_UNCHECKED)) rvm__exit_if(e, overflow);
    for (uint32_t n = 0; n < x->to.shared && sum; n++) {
        const uint16_t slot = shared_of(e, x, n)->slot;
        LLVMValueRef to = rvm__member(e, e->block.sums, n * sizeof(rvm__native_sum));
        rvm__put_at(e, sum[n], rvm__member(e, to, offsetof(rvm__native_sum, value)));
        if (!e->frame.held[slot]) continue;
        rvm__put_at(e, rvm__get(e, e->k->f64, e->frame.held[slot]), rvm__member(e, to, offsetof(rvm__native_sum, held)));
    }
}
