/* blocks.c: registers that the instances of a parallel block add into (docs/semantics.md, section 9).
 *
 * Each has nine hidden slots in the frame: what it held before the block, and the eight partial sums of a chunk. While an
 * instance runs, the register itself holds the partial sum of that instance, so that its instructions need not know. A
 * shadow that instances add into lies likewise beside the same slots.
 *
 * Elements that they add into at indices that do not depend on the instance are set aside (aside.h), from instance to
 * instance.
 *
 * In runs that restore every bit, the end of a chunk records what was held before and the partial sums; a chunk that is
 * taken back begins with these and ends with -0 in all of them, so that nothing is added then.
 */
#include "aside.h"
#include "fix.h"
#include "memory.h"
#include "out_of_line.h"
#include "prepare.h"
#include "accesses.h"

#include <string.h>

enum { PARTS = RVM__PARTS, CHUNK = RVM__CHUNK, SLOTS = 1 + PARTS };

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

/* In exact runs. */
static unsigned recorded_of(const rvm_machine *m, uint32_t fn, bool array, uint16_t slot) {
    if (!rvm__is_swept(m->p, &m->swept, fn, array, slot)) return SHARED_EXACTLY;
    return m->exact.values_only ? 0 : SHARED_EXACTLY | SHARED_SWEPT;
}

static bool add_summed(rvm_machine *m, rvm__code *code, size_t n, const rvm__summed *list, uint32_t more, bool active,
                       enum rvm__sharing how, uint32_t fn) {
    void *all = code->summed;
    const bool good = rvm__reserve(m, &all, &code->cap_summed, n + more, sizeof *code->summed);
    code->summed = all;
    for (uint32_t k = 0; k < more && good; k++) {
        const bool shadows = active && rvm__is_ever_active(m->p, &m->bound.activity, fn, true, list[k].array);
        unsigned with = how == SHARED_VALUE && shadows ? SHARED_VALUE | SHARED_TANGENT : how;
        if (how == SHARED_VALUE && m->o.exact) with |= recorded_of(m, fn, true, list[k].array);
        code->summed[n + k] = (rvm__summing){list[k], (uint8_t)(shadows || how == SHARED_VALUE ? with : 0)};
    }
    return good;
}

/* Arrays whose elements are summed; *n so far, of the function. */
static bool prepare_elements(rvm_machine *m, uint32_t fn, uint32_t pc, bool shadow, size_t *n, rvm__code *code) {
    const rvm_function *f = &m->p->functions[fn];
    uint32_t of_fn = fn; /* lengths that are known change nothing (shaped.h) */
    while (m->p->copied && of_fn >= m->p->first_copy) of_fn = m->p->copied[of_fn - m->p->first_copy];
    const size_t before = *n, size = rvm__summed_scratch(m->p), room = size + f->narrays * sizeof(rvm__summed);
    char *scratch = rvm__resize(m, NULL, 0, room);
    bool good = scratch != NULL;
    for (int of = RVM__SUMMED_VALUES; good && of <= (shadow ? RVM__SUMMED_ADJOINTS : RVM__SUMMED_VALUES); of++) {
        rvm__summed *list = (rvm__summed *)(void *)(scratch + size);
        memset(scratch, 0, size);
        const uint32_t more = rvm__summed_find(m->p, of_fn, pc, (enum rvm__summed_of)of, scratch, list);
        good = add_summed(m, code, *n, list, more, shadow, of == RVM__SUMMED_VALUES ? SHARED_VALUE : SHARED_SWEEP, fn);
        *n += good ? more : 0;
    }
    rvm__resize(m, scratch, scratch ? room : 0, 0);
    rvm__xinsn *ends[] = {&code->x[pc], &code->x[f->code[pc].target]};
    for (int k = 0; k < 2; k++) {
        ends[k]->to.c = (uint16_t)(*n - before);
        ends[k]->to.step = (uint16_t)before;
        ends[k]->to.last = (uint16_t)(before >> 16);
    }
    return good;
}

static bool prepare_block(rvm_machine *m, uint32_t fn, uint32_t pc, bool shadow, size_t *n, rvm__code *code) {
    const rvm_function *f = &m->p->functions[fn];
    const size_t first = *n;
    uint8_t *bits = rvm__scratch(m, SCRATCH_BLOCK, f->nregs);
    if (!bits) return false;
    rvm__block_registers(m->p, f, pc, bits);
    for (uint32_t k = 0; k < f->nregs; k++) {
        const uint16_t slot = (uint16_t)k;
        unsigned how = sharing_of(bits[k], shadow && rvm__is_ever_active(m->p, &m->bound.activity, fn, false, slot));
        const bool exact = m->o.exact && rvm__is_floating((rvm_type)f->reg_type[k]);
        if (how & SHARED_VALUE && exact) how |= recorded_of(m, fn, false, slot);
        if (how && !add_shared(m, code, (*n)++, (rvm__shared){slot, f->reg_type[k], (uint8_t)how})) return false;
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
    size_t n = 0, summed = 0;
    RVM__EACH_INSN(x, f) {
        if (x.in->op != RVM_OP_par) continue;
        if (code->slots <= UINT16_MAX && !prepare_block(m, fn, x.pc, shadow, &n, code)) return false;
        if (!prepare_elements(m, fn, x.pc, shadow, &summed, code)) return false;
    }
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

rvm_value rvm__block_plus(rvm_type t, rvm_value a, rvm_value b, int *overflow) {
    return plus(t, a, b, overflow);
}

/* The tree of a chunk's partial sums. */
static rvm_value tree(rvm_type t, const rvm_value *parts, int *overflow) {
    rvm_value v[PARTS];
    memcpy(v, parts, sizeof v);
    for (int n = PARTS / 2; n > 0; n /= 2)
        for (int k = 0; k < n; k++) v[k] = plus(t, v[k], v[k + n], overflow);
    return v[0];
}

/* What was before the chunk and its partial sums, of which part `at` is in the register. */
static rvm_value total(rvm_type t, rvm_value *held, rvm_value now, uint64_t at, int *overflow) {
    held[1 + at] = now;
    return plus(t, held[0], tree(t, held + 1, overflow), overflow);
}

/* ---- running ---- */

typedef struct sharing {
    const rvm__shared *first;
    uint32_t n;
    size_t slots; /* of the frame */
    rvm_value *values, *shadows, *held, *shadows_held;
} sharing;

static sharing sharing_at(const rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    sharing s = {.first = m->codes[top->fn].shared + x->to.jump2, .n = x->to.shared, .slots = top->slots};
    s.values = m->store.slots + top->slots;
    s.held = s.values + x->to.hidden;
    s.shadows = m->bound.mode == RVM_PRIMAL ? s.values : m->store.shadows + top->slots;
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

/* ---- running so that every bit comes back ---- */

static bool exactly(const rvm__shared *a, unsigned mask) {
    return (a->how & mask & SHARED_VALUE) && (a->how & SHARED_EXACTLY);
}

static unsigned level_of(const rvm__shared *a) {
    return a->how & SHARED_SWEPT ? RVM__OF_SHADOWS : RVM__OF_VALUES;
}

/* In an adjoint values are taken back while sums of shadows are recorded, and the other way round. */
static bool taken_back(const rvm_machine *m, const rvm__xinsn *x, const rvm__shared *a, unsigned mask) {
    const bool otherwise = x->flags & X_OTHERWISE && level_of(a) == RVM__OF_VALUES;
    return exactly(a, mask) && rvm__exact_restores(m, otherwise);
}

/* Of tangents in a compute part (exact_handlers.c). */
static bool tangents_exactly(const rvm_machine *m, const rvm__shared *a, unsigned mask) {
    return a->how & mask & SHARED_TANGENT && m->bound.mode == RVM_TANGENT && exactly(a, mask) && rvm__exact_depth(m);
}

static bool tangent_taken_back(const rvm_machine *m, const rvm__xinsn *x, const rvm__shared *a, unsigned mask) {
    return tangents_exactly(m, a, mask) && taken_back(m, x, a, mask);
}

/* Instances from the first one of the chunk of instance k on. */
static uint64_t instances_from(const sharing *s, const rvm__xinsn *x, uint64_t k) {
    return s->values[x->to.hi].u - s->values[x->to.lo].u - k / CHUNK * CHUNK;
}

bool rvm__block_record_room(rvm_machine *m, uint32_t n) {
    return !m->o.exact || rvm__exact_reserve(m, (size_t)n * (64 * PARTS + RVM__EXACT_MOST));
}

/* How many partial sums it has. */
static uint64_t parts_in(uint64_t instances) {
    return instances < PARTS ? instances : PARTS;
}

enum { WHOLE = 1 << 8 }; /* with the level, of tangents: what was before the chunk stands whole in the record */

/* held: before the chunk, and its sums. */
static void record(rvm_machine *m, unsigned level, rvm_type t, const rvm_value *held, uint64_t parts) {
    int none = 0;
    const rvm_value s = tree(t, held + 1, &none);
    m->exact.level = level & ~(unsigned)WHOLE;
    if (level & WHOLE)
        rvm__exact_keep_raw(m, held[0].f);
    else
        rvm__exact_keep(m, t, RVM__EXACT_ADD, held[0].f, s.f, plus(t, held[0], s, &none).f);
    for (uint64_t k = 0; k < parts; k++) rvm__exact_keep_raw(m, held[1 + k].f);
    m->exact.level = RVM__OF_VALUES;
    m->exact.updates += !(level & WHOLE);
}

/* held[0]: behind the chunk; becomes what record() was given. */
static rvm_status recall(rvm_machine *m, unsigned level, rvm_type t, rvm_value *held, uint64_t parts) {
    rvm_status status = RVM_OK;
    int none = 0;
    clear(held, nothing(t));
    m->exact.level = level & ~(unsigned)WHOLE;
    for (uint64_t k = parts; k-- > 0 && !status;) status = rvm__exact_take_raw(m, &held[1 + k].f);
    if (status) return status;
    if (level & WHOLE) return rvm__exact_take_raw(m, &held[0].f);
    return rvm__exact_take(m, t, RVM__EXACT_ADD, held[0].f, tree(t, held + 1, &none).f, &held[0].f);
}

rvm_status rvm__block_record(rvm_machine *m, uint32_t n, const rvm__block_sums *sums, uint64_t instances) {
    if (!rvm__block_record_room(m, n)) return RVM_ERR_MEMORY;
    for (uint32_t k = 0; k < n; k++)
        record(m, (unsigned)sums[k].level, (rvm_type)sums[k].type, sums[k].held, parts_in(instances));
    return RVM_OK;
}

rvm_status rvm__block_recall(rvm_machine *m, uint32_t n, const rvm__block_sums *sums, uint64_t instances) {
    const rvm__exact_mark before = rvm__exact_held(m);
    rvm_status status = RVM_OK;
    for (int really = 0; really < 2 && !status; really++) {
        rvm__exact_rewind(m, &before);
        for (uint32_t k = n; k-- > 0 && !status;) {
            rvm_value held[SLOTS];
            memcpy(held, sums[k].held, sizeof held);
            status = recall(m, (unsigned)sums[k].level, (rvm_type)sums[k].type, held, parts_in(instances));
            m->exact.level = RVM__OF_VALUES;
            if (!status && really) memcpy(sums[k].held, held, sizeof held);
        }
    }
    if (status)
        rvm__exact_rewind(m, &before);
    else
        rvm__exact_trim(m);
    return status;
}

/* The chunk of instance k is to be taken back, in all registers; first: it is the first one, so that they still hold what is
 * behind it. */
static rvm_status recall_all(rvm_machine *m, const rvm__xinsn *x, const sharing *s, unsigned mask, uint64_t k, bool first) {
    uint32_t n = 0;
    if (!m->o.exact || !s->n) return RVM_OK;
    rvm__block_sums *sums = rvm__scratch(m, SCRATCH_SUMS, 2 * s->n * sizeof *sums);
    if (!sums) return RVM_ERR_MEMORY;
    for (uint32_t j = 0; j < s->n; j++) {
        const rvm__shared *a = &s->first[j];
        if (!taken_back(m, x, a, mask)) continue;
        sums[n++] = (rvm__block_sums){s->held + j * SLOTS, a->type, level_of(a)};
        if (first) s->held[j * SLOTS] = s->values[a->slot];
        if (!tangents_exactly(m, a, mask)) continue;
        sums[n++] = (rvm__block_sums){s->shadows_held + j * SLOTS, a->type, level_of(a) | WHOLE};
        if (first) s->shadows_held[j * SLOTS] = s->shadows[a->slot];
    }
    const rvm_status status = rvm__block_recall(m, n, sums, instances_from(s, x, k));
    for (uint32_t j = 0; j < s->n && !status; j++) {
        const uint16_t slot = s->first[j].slot;
        const size_t part = j * SLOTS + 1 + k % PARTS;
        if (taken_back(m, x, &s->first[j], mask)) s->values[slot] = s->held[part];
        if (tangent_taken_back(m, x, &s->first[j], mask)) s->shadows[slot] = s->shadows_held[part];
    }
    return status;
}

/* ---- from instance to instance ---- */

static const rvm__summing *summed_at(const rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    return m->codes[top->fn].summed + (x->to.step + ((size_t)x->to.last << 16));
}

static int64_t edge(const rvm__edge *e, const rvm_value *slots, int64_t any) {
    if (e->base == RVM__SUMMED_ANY) return any;
    const uint64_t base = e->base == RVM__SUMMED_NONE ? 0 : slots[e->base].u;
    return (int64_t)(base + (uint64_t)e->offset);
}

/* Elements of the array, or of its shadow, that the block adds into. */
static rvm__aside aside_of(const rvm__array *a, const rvm__summed *s, const rvm_value *slots, bool shadow) {
    int64_t lo[RVM_MAX_DIMS], hi[RVM_MAX_DIMS];
    rvm__aside to = {.data = shadow ? a->shadow : a->data, .type = s->type, .ndim = a->ndim};
    if (!shadow) to.magnitude = a->magnitude;
    for (int d = 0; d < a->ndim; d++) {
        to.dim[d] = a->dim[d];
        to.stride[d] = shadow ? a->shadow_stride[d] : a->stride[d];
        lo[d] = edge(&s->lo[d], slots, 0);
        hi[d] = edge(&s->hi[d], slots, a->dim[d] - 1);
    }
    rvm__aside_within(&to, lo, hi);
    return to;
}

/* Array k of those that the block adds into: values, then the shadow, as far as they are meant. Runs that restore every bit
 * add to values themselves. False: not that. */
static bool find_aside(const rvm_machine *m, const rvm__xinsn *x, uint32_t k, unsigned how, rvm__aside *to) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm__summing *s = summed_at(m, x) + k / 2;
    const rvm__array *a = rvm__arrays_from(m, top->arrays) + s->of.array;
    const bool shadow = k % 2;
    if (shadow && m->bound.mode == RVM_TANGENT && s->how & SHARED_EXACTLY && rvm__exact_depth(m)) return false;
    if (!(s->how & how & (shadow ? SHARED_SHADOW : SHARED_VALUE)) || (shadow ? !a->shadow : s->how & SHARED_EXACTLY))
        return false;
    *to = aside_of(a, &s->of, m->store.slots + top->slots, shadow);
    return true;
}

/* next: the number of the instance that runs then. */
static void pass_elements(rvm_machine *m, const rvm__xinsn *x, enum rvm__aside_step step, uint64_t next) {
    size_t at = 0;
    rvm__aside one;
    for (uint32_t k = 0; k < 2u * x->to.c; k++)
        if (find_aside(m, x, k, rvm__aside_how(m), &one)) rvm__aside_pass(m, &one, step, &at);
    if (rvm__aside_passed(m, step, next)) pass_elements(m, x, RVM__ASIDE_LOAD, next);
    if (step == RVM__ASIDE_END) rvm__aside_leave(m);
}

static bool reserve_elements(rvm_machine *m, const rvm__xinsn *x, unsigned mask, size_t *n) {
    rvm__aside one;
    *n = 0;
    for (uint32_t k = 0; k < 2u * x->to.c; k++)
        if (find_aside(m, x, k, mask, &one) && __builtin_add_overflow(*n, one.n, n)) return false;
    return rvm__aside_reserve(m, *n);
}

static rvm_status open_registers(rvm_machine *m, const rvm__xinsn *x, unsigned mask) {
    const sharing s = sharing_at(m, x);
    const uint64_t k0 = s.values[x->to.i].u - s.values[x->to.lo].u;
    const rvm_status status = recall_all(m, x, &s, mask, k0, true);
    if (status) return status;
    for (uint32_t k = 0; k < s.n; k++) {
        const rvm__shared *a = &s.first[k];
        if ((a->how & mask & SHARED_VALUE) && !taken_back(m, x, a, mask))
            begin(s.held + k * SLOTS, &s.values[a->slot], (rvm_type)a->type);
        if (a->how & mask & SHARED_SHADOW && !tangent_taken_back(m, x, a, mask))
            begin(s.shadows_held + k * SLOTS, &s.shadows[a->slot], (rvm_type)a->type);
    }
    return RVM_OK;
}

rvm_status rvm__block_open(rvm_machine *m, const rvm__xinsn *x, unsigned mask) {
    size_t n = 0;
    if (x->to.c && !reserve_elements(m, x, mask, &n)) return RVM_ERR_MEMORY;
    const rvm_status status = open_registers(m, x, mask);
    if (status || !x->to.c) return status;
    const rvm_value *slots = m->store.slots + m->store.frames[m->store.nframes - 1].slots;
    rvm__aside_enter(m, mask, n);
    pass_elements(m, x, RVM__ASIDE_BEGIN, 0);
    pass_elements(m, x, RVM__ASIDE_OPEN, slots[x->to.i].u - slots[x->to.lo].u);
    return RVM_OK;
}

static bool fits(const sharing *s, unsigned mask, uint64_t at) {
    int overflow = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        const rvm__shared *a = &s->first[k];
        if (a->type != RVM_FIX) continue;
        if (a->how & mask & SHARED_VALUE) total(RVM_FIX, s->held + k * SLOTS, s->values[a->slot], at, &overflow);
        if (a->how & mask & SHARED_SHADOW) total(RVM_FIX, s->shadows_held + k * SLOTS, s->shadows[a->slot], at, &overflow);
    }
    return !overflow;
}

/* The chunk of part `at` ends with `sum`. */
static void merge(rvm_value *held, rvm_value *place, rvm_type t, rvm_value sum, bool leaves) {
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
    if (m->store.magnitudes) m->store.magnitudes[slot] = fmax(m->store.magnitudes[slot], fabs(sum.f));
}

/* Of all registers; one that is taken back begins the next chunk already. parts: how many sums the chunk has. */
static void end_chunk(rvm_machine *m, const rvm__xinsn *x, const sharing *s, unsigned mask, uint64_t at, uint64_t parts,
                      bool leaves) {
    int wraps = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        const rvm__shared *a = &s->first[j];
        const rvm_type t = (rvm_type)a->type;
        rvm_value *value = &s->values[a->slot], *shadow = &s->shadows[a->slot];
        rvm_value *held = s->held + j * SLOTS, *shadow_held = s->shadows_held + j * SLOTS;
        if (taken_back(m, x, a, mask)) {
            if (leaves) merge(held, value, t, held[0], true);
        } else if (a->how & mask & SHARED_VALUE) {
            const rvm_value sum = total(t, held, *value, at, &wraps);
            if (exactly(a, mask)) record(m, level_of(a), t, held, parts);
            merge(held, value, t, sum, leaves);
            if (rvm__is_floating(t)) note_magnitude(m, s->slots + a->slot, sum);
        }
        if (tangent_taken_back(m, x, a, mask)) {
            if (leaves) merge(shadow_held, shadow, t, shadow_held[0], true);
        } else if (a->how & mask & SHARED_SHADOW) {
            const rvm_value sum = total(t, shadow_held, *shadow, at, &wraps);
            if (tangents_exactly(m, a, mask)) record(m, level_of(a) | WHOLE, t, shadow_held, parts);
            merge(shadow_held, shadow, t, sum, leaves);
        }
    }
}

static void pass_on(const sharing *s, unsigned mask, uint64_t at, uint64_t next) {
    for (uint32_t j = 0; j < s->n; j++) {
        const rvm__shared *a = &s->first[j];
        if (a->how & mask & SHARED_VALUE) hand_over(s->held + j * SLOTS, &s->values[a->slot], at, next);
        if (a->how & mask & SHARED_SHADOW) hand_over(s->shadows_held + j * SLOTS, &s->shadows[a->slot], at, next);
    }
}

rvm_status rvm__block_turn(rvm_machine *m, const rvm__xinsn *x, unsigned mask, uint64_t k, uint64_t next, bool leaves) {
    const sharing s = sharing_at(m, x);
    const uint64_t at = k % PARTS;
    const enum rvm__aside_step step = leaves ? RVM__ASIDE_END : rvm__aside_turn(k, next);
    if (!leaves && k / CHUNK == next / CHUNK) {
        pass_on(&s, mask, at, next % PARTS);
        if (x->to.c) pass_elements(m, x, step, next);
        return RVM_OK;
    }
    if (!(x->flags & X_UNCHECKED) && !fits(&s, mask, at)) return RVM_ERR_OVERFLOW;
    if (!rvm__block_record_room(m, 2 * s.n)) return RVM_ERR_MEMORY;
    const rvm_status status = leaves ? RVM_OK : recall_all(m, x, &s, mask, next, false);
    if (status) return status;
    end_chunk(m, x, &s, mask, at, parts_in(instances_from(&s, x, k)), leaves);
    if (x->to.c) pass_elements(m, x, step, next);
    return RVM_OK;
}
