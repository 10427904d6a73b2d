/* blocks.c: registers that the instances of a parallel block add into (docs/semantics.md, section 9).
 *
 * Each has nine hidden slots in the frame: what it held before the block, and the eight partial sums of a chunk. While an
 * instance runs, the register itself holds the partial sum of that instance, so that its instructions need not know. A
 * shadow that instances add into lies likewise beside the same slots.
 */
#include "fix.h"
#include "memory.h"
#include "out_of_line.h"
#include "prepare.h"

#include <string.h>

enum { PARTS = 8, CHUNK = 1024, SLOTS = 1 + PARTS };

/* ---- preparing ---- */

static bool add_shared(rvm_machine *m, rvm__code *code, size_t at, rvm__shared s) {
    void *list = code->shared;
    const bool good = rvm__reserve(m, &list, &code->cap_shared, at + 1, sizeof s);
    code->shared = list;
    if (good) code->shared[at] = s;
    return good;
}

static unsigned sharing_of(unsigned bits, bool active) {
    if (bits == RVM__BITS_ACC) return active ? SHARED_VALUE | SHARED_TANGENT : SHARED_VALUE;
    return bits == RVM__BITS_READ && active ? SHARED_SWEEP : 0;
}

static bool prepare_block(rvm_machine *m, uint32_t fn, uint32_t pc, bool shadow, size_t *n, rvm__code *code) {
    const rvm_function *f = &m->p->functions[fn];
    const size_t first = *n;
    uint8_t *bits = rvm__scratch(m, SCRATCH_BLOCK, f->nregs);
    if (!bits) return false;
    rvm__block_registers(m->p, f, pc, bits);
    for (uint32_t k = 0; k < f->nregs; k++) {
        const rvm_place q = {.kind = RVM_PLACE_SLOT, .slot = (uint16_t)k};
        const unsigned how = sharing_of(bits[k], shadow && rvm__is_active(m->p, &m->activity, fn, &q));
        if (how && !add_shared(m, code, (*n)++, (rvm__shared){q.slot, f->reg_type[k], (uint8_t)how})) return false;
    }
    rvm__xinsn *ends[] = {&code->x[pc], &code->x[f->code[pc].target]};
    for (int k = 0; k < 2; k++) {
        ends[k]->to.hidden = (uint16_t)code->slots;
        ends[k]->to.shared = (uint16_t)(*n - first);
        ends[k]->to.jump2 = (int32_t)first;
    }
    code->slots += (uint32_t)(*n - first) * SLOTS;
    return true;
}

bool rvm__prepare_blocks(rvm_machine *m, uint32_t fn, bool shadow, rvm__code *code) {
    const rvm_function *f = &m->p->functions[fn];
    size_t n = 0;
    for (uint32_t pc = 0; pc < f->ncode && code->slots <= UINT16_MAX; pc++)
        if (f->code[pc].op == RVM_OP_par && !prepare_block(m, fn, pc, shadow, &n, code)) return false;
    return true;
}

/* ---- sums ---- */

/* What adding to changes nothing: for floating numbers that is -0. */
static rvm_value nothing(rvm_type t) {
    return rvm__is_floating(t) ? (rvm_value){.f = -0.0} : (rvm_value){0};
}

static rvm_value plus(rvm_type t, rvm_value a, rvm_value b, int *overflow) {
    return t == RVM_FIX ? (rvm_value){.i = rvm__fix_add(a.i, b.i, overflow)} : rvm__sum(t, a, b);
}

/* What was before the chunk and the tree of its partial sums, of which part `at` is in the register. */
static rvm_value total(rvm_type t, const rvm_value *held, rvm_value now, uint64_t at, int *overflow) {
    rvm_value v[PARTS];
    memcpy(v, held + 1, sizeof v);
    v[at] = now;
    for (int n = PARTS / 2; n > 0; n /= 2)
        for (int k = 0; k < n; k++) v[k] = plus(t, v[k], v[k + n], overflow);
    return plus(t, held[0], v[0], overflow);
}

/* ---- running ---- */

typedef struct sharing {
    const rvm__shared *first;
    uint32_t n;
    size_t slots; /* of the frame */
    rvm_value *values, *shadows, *held, *shadows_held;
} sharing;

static sharing sharing_at(const rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->frames[m->nframes - 1];
    sharing s = {.first = m->codes[top->fn].shared + x->to.jump2, .n = x->to.shared, .slots = top->slots};
    s.values = m->slots + top->slots;
    s.held = s.values + x->to.hidden;
    s.shadows = m->mode == RVM_PRIMAL ? s.values : m->shadows + top->slots;
    s.shadows_held = s.shadows + x->to.hidden;
    return s;
}

static void clear(rvm_value *held, rvm_value v) {
    for (int k = 1; k < SLOTS; k++) held[k] = v;
}

static void begin(rvm_value *held, rvm_value *place, rvm_type t) {
    held[0] = *place;
    *place = nothing(t);
    clear(held, *place);
}

void rvm__block_open(rvm_machine *m, const rvm__xinsn *x, unsigned mask) {
    const sharing s = sharing_at(m, x);
    for (uint32_t k = 0; k < s.n; k++) {
        const rvm__shared *a = &s.first[k];
        if (a->how & mask & SHARED_VALUE) begin(s.held + k * SLOTS, &s.values[a->slot], (rvm_type)a->type);
        if (a->how & mask & ~SHARED_VALUE) begin(s.shadows_held + k * SLOTS, &s.shadows[a->slot], (rvm_type)a->type);
    }
}

static bool fits(const sharing *s, unsigned mask, uint64_t at) {
    int overflow = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        const rvm__shared *a = &s->first[k];
        if (a->type != RVM_FIX) continue;
        if (a->how & mask & SHARED_VALUE) total(RVM_FIX, s->held + k * SLOTS, s->values[a->slot], at, &overflow);
        if (a->how & mask & ~SHARED_VALUE) total(RVM_FIX, s->shadows_held + k * SLOTS, s->shadows[a->slot], at, &overflow);
    }
    return !overflow;
}

/* The chunk of part `at` ends. */
static void merge(rvm_value *held, rvm_value *place, rvm_type t, uint64_t at, bool leaves) {
    int wraps = 0;
    const rvm_value sum = total(t, held, *place, at, &wraps);
    held[0] = leaves ? (rvm_value){0} : sum; /* beyond the block the slots are others', whose shadows must be 0 */
    *place = leaves ? sum : nothing(t);
    clear(held, leaves ? (rvm_value){0} : *place);
}

static void hand_over(rvm_value *held, rvm_value *place, uint64_t at, uint64_t next) {
    held[1 + at] = *place;
    *place = held[1 + next];
}

/* The largest magnitude held, which releases of the register go by. */
static void note_magnitude(rvm_machine *m, size_t slot, rvm_value sum) {
    if (m->magnitudes) m->magnitudes[slot] = fmax(m->magnitudes[slot], fabs(sum.f));
}

rvm_status rvm__block_turn(rvm_machine *m, const rvm__xinsn *x, unsigned mask, uint64_t k, uint64_t next, bool leaves) {
    const sharing s = sharing_at(m, x);
    const uint64_t at = k % PARTS;
    const bool ends = leaves || k / CHUNK != next / CHUNK;
    if (ends && !(x->flags & X_UNCHECKED) && !fits(&s, mask, at)) return RVM_ERR_OVERFLOW;
    for (uint32_t j = 0; j < s.n; j++) {
        const rvm__shared *a = &s.first[j];
        const unsigned how = a->how & mask;
        rvm_value *value = &s.values[a->slot], *shadow = &s.shadows[a->slot];
        rvm_value *held = s.held + j * SLOTS, *shadow_held = s.shadows_held + j * SLOTS;
        if (!ends) {
            if (how & SHARED_VALUE) hand_over(held, value, at, next % PARTS);
            if (how & ~SHARED_VALUE) hand_over(shadow_held, shadow, at, next % PARTS);
            continue;
        }
        if (how & SHARED_VALUE) merge(held, value, (rvm_type)a->type, at, leaves);
        if (how & ~SHARED_VALUE) merge(shadow_held, shadow, (rvm_type)a->type, at, leaves);
        if ((how & SHARED_VALUE) && rvm__is_floating((rvm_type)a->type)) {
            const rvm_value now = leaves ? *value : held[0];
            note_magnitude(m, s.slots + a->slot, now);
        }
    }
    return RVM_OK;
}
