/* forget.c: compute parts that are forgotten, `compute` C `do` B `forget` (docs/semantics.md, section 5).
 *
 * A plain run passes C once and keeps nothing of what happens there but the places that C makes. What C overwrites is erased
 * at once, but for what C takes back itself (an f'grad in it, say), of which the rest is erased behind C. The places are
 * erased behind B. A sweep runs C again and takes it back, as ever, and does not come here.
 *
 * Within C, a run cannot go back step by step: where it turns around, all of C is gone. */
#include <string.h>

#include "memory.h"
#include "native.h"
#include "out_of_line.h"
#include "trail.h"

static size_t depth_in(const rvm__forgetting *part, uint32_t level) {
    return (size_t)part->deep + part->segments[level];
}

/* ---- the trail ---- */

/* The innermost part is another one, or the depth is. */
static void found(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    tr->forgotten = tr->nforgetting ? tr->forgetting[tr->nforgetting - 1].discards : 0;
    rvm__trail_deeper(m, 0);
}

/* Where the stacks stand at the depth of the part: of levels that are kept, something may be below. */
static void note_stacks(const rvm__trail *tr, rvm__forgetting *part) {
    for (uint32_t level = 0; level < RVM_MAX_ORDER; level++) {
        const size_t d = depth_in(part, level);
        const rvm__trail_stack *t = d < tr->nstacks[level] ? &tr->stacks[level][d] : NULL;
        const bool holds = t && t->n;
        part->top[level] = holds ? t->top : NULL;
        part->n[level] = holds ? t->n : 0;
        part->flags[level] = t ? t->flags : 0;
    }
}

rvm_status rvm__forget_begin(rvm_machine *m, uint16_t discards) {
    rvm__trail *tr = &m->trail;
    if (!rvm__reserve(m, (void **)&tr->forgetting, &tr->cap_forgetting, tr->nforgetting + 1, sizeof *tr->forgetting))
        return RVM_ERR_MEMORY;
    rvm__trail_deeper(m, 1);
    rvm__forgetting *part = &tr->forgetting[tr->nforgetting++];
    part->deep = tr->deep;
    part->discards = discards;
    part->position = rvm__position_now(m);
    memcpy(part->segments, tr->segments, sizeof part->segments);
    note_stacks(tr, part);
    found(m);
    rvm__exact_close(m); /* here nothing is recorded */
    return RVM_OK;
}

static bool stands_at(const rvm__trail_stack *t, const rvm__forgetting *part, uint32_t level) {
    const rvm__trail_chunk *top = t->n ? t->top : NULL;
    return top == part->top[level] && t->n == part->n[level] && t->flags == part->flags[level];
}

/* Entries of the level at the present depth, down to where the part began. */
static void erase_entries(rvm_machine *m, const rvm__forgetting *part, uint32_t level) {
    rvm__trail *tr = &m->trail;
    const size_t d = depth_in(part, level);
    const rvm__trail_stack *t = d < tr->nstacks[level] ? &tr->stacks[level][d] : NULL;
    while (t && t->last != RVM__TRAIL_BOTTOM && !stands_at(t, part, level)) {
        rvm__trail_entry entry;
        rvm__trail_cursor c = rvm__trail_begin(m, level);
        if (!rvm__trail_next(&c, &entry)) return; /* what is in a file that cannot be read is gone */
        tr->erased[level > 0] += rvm__site_bits(m, entry.site) + 64 * (uint64_t)(entry.n - 1);
        rvm__trail_pop(m, level);
    }
}

void rvm__forget_end(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    const rvm__forgetting *part = &tr->forgetting[tr->nforgetting - 1];
    for (uint32_t level = 0; level < RVM_MAX_ORDER; level++)
        if (!(part->discards >> level & 1)) erase_entries(m, part, level);
    rvm__exact_close(m);
    tr->nforgetting--;
    tr->deep--;
    found(m);
    rvm__exact_open(m);
}

/* ---- places ---- */

static size_t elements_of(const rvm__array *a) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->dim[d];
    return n;
}

static uint64_t shadow_bits(const rvm_value *shadow, size_t n) {
    uint64_t bits = 0;
    for (size_t k = 0; k < n; k++) bits += shadow[k].u ? 64 : 0;
    return bits;
}

static uint64_t forget_register(const rvm_machine *m, size_t slot) {
    if (m->bound.mode == RVM_PRIMAL) return 64;
    const uint64_t bits = shadow_bits(&m->store.shadows[slot], 1);
    m->store.shadows[slot].u = 0;
    return 64 + bits;
}

/* Of a view only the name goes. */
static uint64_t forget_array(rvm_machine *m, rvm__array *a, uint16_t number) {
    const size_t n = elements_of(a);
    const bool own = a->base == number;
    a->present = false;
    if (!own) return 0;
    if (a->outside)
        m->store.outside_arrays--;
    else
        rvm__locals_pop(m, RVM__ARRAY_HEADER + n * sizeof(rvm_value) * (a->shadow ? 2 : 1));
    const bool tangents = a->shadow && m->bound.mode == RVM_TANGENT;
    return 64 * (uint64_t)n + (tangents ? shadow_bits((const rvm_value *)(const void *)a->shadow, n) : 0);
}

void rvm__forget_places(rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const uint16_t *made = m->codes[top->fn].made + x->to.lo + ((size_t)x->to.hi << 16);
    const uint16_t *regs = made + 2, *arrays = regs + made[0];
    uint64_t bits = 0;
    for (uint32_t k = 0; k < made[0]; k++) bits += forget_register(m, top->slots + regs[k]);
    for (uint32_t k = 0; k < made[1]; k++) bits += forget_array(m, &m->store.arrays[top->arrays + arrays[k]], arrays[k]);
    m->trail.erased[RVM__ERASED_PLACES] += bits;
}

/* ---- parts around, by the frames ---- */

enum { FORGETS = 8 }; /* control.inc, of the hidden slot */

/* The gap at which a frame stands. */
static uint32_t gap_of(const rvm_machine *m, uint32_t frame) {
    const rvm__frame *f = &m->store.frames[frame];
    if (frame + 1 < m->store.nframes) return m->store.frames[frame + 1].call_pc;
    return rvm__gap((uint32_t)(m->run.pc - m->codes[f->fn].x), m->run.dir);
}

static uint64_t region_bits(const rvm_machine *m, uint32_t frame, uint32_t compute) {
    const rvm__frame *f = &m->store.frames[frame];
    return m->store.slots[f->slots + m->codes[f->fn].x[compute].to.hidden].u;
}

/* Compute parts and segments around where a frame stands, the outermost first: *at becomes deeper by each. Stops at the
 * first part beyond `from` that is being forgotten, and returns its compute; 0: there is none more. */
static uint32_t next_forgetting(const rvm_machine *m, uint32_t frame, uint32_t from, rvm__forgetting *at) {
    const rvm__frame *top = &m->store.frames[frame];
    const rvm_function *f = &m->p->functions[top->fn];
    const uint32_t gap = gap_of(m, frame);
    RVM__EACH_INSN_IN(x, f, from, gap) {
        if (rvm__pair_of(x.in->op) == RVM_PAIR_segment) {
            const uint32_t level = m->codes[top->fn].x[x.pc].trail.level;
            for (uint32_t k = 0; k <= level; k++) at->segments[k] += rvm__is_inverse(x.in->op) ? -1u : 1u;
        }
        if (x.in->op != RVM_OP_compute || x.in->target < gap) continue;
        at->deep++;
        if (rvm__forgets(f, x.pc) && region_bits(m, frame, x.pc) & FORGETS) return x.pc;
    }
    return 0;
}

/* The record that was there of a part that deep; else nothing of it went onto a trail. */
static const rvm__forgetting *record_of(const rvm__trail *tr, size_t n, uint32_t deep) {
    for (size_t k = 0; k < n; k++)
        if (tr->forgetting[k].deep == deep) return &tr->forgetting[k];
    return NULL;
}

static bool add_part(rvm_machine *m, size_t before, const rvm__forgetting *at, uint16_t discards) {
    rvm__trail *tr = &m->trail;
    if (!rvm__reserve(m, (void **)&tr->forgetting, &tr->cap_forgetting, tr->nforgetting + 1, sizeof *tr->forgetting))
        return false;
    rvm__forgetting *part = &tr->forgetting[tr->nforgetting++];
    const rvm__forgetting *old = record_of(tr, before, at->deep);
    *part = old ? *old : *at;
    part->discards = discards;
    if (!old) note_stacks(tr, part), part->position = rvm__position_now(m);
    return true;
}

bool rvm__forget_rebuild(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    const size_t before = tr->nforgetting;
    rvm__forgetting at = {0};
    if (!tr->forgets) return true;
    for (uint32_t frame = 0; frame < m->store.nframes; frame++)
        for (uint32_t pc = 0; (pc = next_forgetting(m, frame, pc, &at)); pc++)
            if (!add_part(m, before, &at, m->codes[m->store.frames[frame].fn].x[pc].to.i)) return false;
    if (tr->nforgetting > before)
        memmove(tr->forgetting, tr->forgetting + before, (tr->nforgetting - before) * sizeof *tr->forgetting);
    tr->nforgetting -= before;
    found(m);
    return true;
}

/* ---- turning around ---- */

/* What frames above have made, and the part in this one: arrays are the topmost of the arena. */
static size_t arrays_of(rvm_machine *m, uint32_t frame, uint32_t from, uint32_t to) {
    const rvm__frame *top = &m->store.frames[frame];
    const rvm_function *f = &m->p->functions[top->fn];
    size_t bytes = 0;
    RVM__EACH_INSN_IN(x, f, from, to) {
        if (x.in->op != RVM_OP_new && x.in->op != RVM_OP_like && x.in->op != RVM_OP_view) continue;
        rvm__array *a = &m->store.arrays[top->arrays + x.q[0].slot];
        const bool arena = a->present && a->base == x.q[0].slot && !a->outside;
        m->store.outside_arrays -= a->present && a->outside && a->base == x.q[0].slot;
        if (arena) bytes += rvm__locals_size(RVM__ARRAY_HEADER + elements_of(a) * sizeof(rvm_value) * (a->shadow ? 2 : 1));
        a->present = false;
    }
    return bytes;
}

static uint32_t guards_of(const rvm_machine *m, uint32_t frame, uint32_t from) {
    const uint32_t fn = m->store.frames[frame].fn, gap = gap_of(m, frame);
    uint32_t n = 0;
    RVM__EACH_INSN_IN(x, &m->p->functions[fn], from, gap)
        n += x.in->op == RVM_OP_par && x.in->target >= gap && m->codes[fn].x[x.pc].flags & X_GUARD;
    return n;
}

static void forget_shadows(rvm_machine *m, uint32_t frame, uint32_t from, uint32_t to) {
    const rvm__frame *top = &m->store.frames[frame];
    char buffer[256];
    if (m->bound.mode == RVM_PRIMAL) return;
    RVM__EACH_INSN_IN(x, &m->p->functions[top->fn], from, to) {
        const char *letters = rvm__place_letters(x.in, buffer);
        for (uint32_t k = 0; k < x.in->nplaces; k++)
            if (rvm__letter_toggles(letters[k]) && x.q[k].kind == RVM_PLACE_SLOT)
                m->store.shadows[top->slots + x.q[k].slot].u = 0;
    }
}

/* The trails, as they stood when the part began. */
static void unwind_trails(rvm_machine *m, const rvm__forgetting *part) {
    rvm__trail *tr = &m->trail;
    tr->nforgetting = 0;
    found(m);
    for (uint32_t level = 0; level < RVM_MAX_ORDER; level++)
        for (size_t d = tr->nstacks[level]; d-- > depth_in(part, level);) {
            rvm__forgetting here = {.discards = 0, .deep = (uint32_t)d};
            const bool at = d == depth_in(part, level);
            here.top[level] = at ? part->top[level] : NULL;
            here.n[level] = at ? part->n[level] : 0;
            here.flags[level] = at ? part->flags[level] : 0;
            tr->deep = (uint32_t)d;
            memset(tr->segments, 0, sizeof tr->segments);
            erase_entries(m, &here, level);
        }
    /* Of values; shadows have no arithmetic in what is forgotten, and what they have deeper stays. */
    for (size_t d = RVM__EXACT_LEVELS * ((size_t)part->deep + part->segments[0] + 1) + RVM__OF_VALUES; d < m->exact.nbits;
         d += RVM__EXACT_LEVELS) {
        m->exact.held -= m->exact.bits[d].n;
        m->exact.bits[d].n = 0;
        m->exact.bits[d].coded = 0;
    }
    memcpy(tr->segments, part->segments, sizeof tr->segments);
    tr->deep = part->deep - 1;
    found(m);
}

/* Where the outermost part is that is being forgotten: its frame; *compute. */
static uint32_t outermost(const rvm_machine *m, uint32_t *compute) {
    rvm__forgetting at = {0};
    for (uint32_t frame = 0; frame < m->store.nframes; frame++)
        if ((*compute = next_forgetting(m, frame, 0, &at))) return frame;
    return 0;
}

void rvm__forget_unwind(rvm_machine *m, int course) {
    const rvm__forgetting part = m->trail.forgetting[0];
    uint32_t compute = 0;
    const uint32_t frame = outermost(m, &compute);
    uint32_t guards = guards_of(m, frame, compute);
    const rvm__frame *f = &m->store.frames[frame];
    const rvm_insn *code = m->p->functions[f->fn].code;
    const uint32_t begin = code[compute].target, end = code[begin].target;
    size_t bytes = arrays_of(m, frame, compute, begin);
    for (uint32_t k = frame + 1; k < m->store.nframes; k++) {
        guards += guards_of(m, k, 0);
        bytes += arrays_of(m, k, 0, m->p->functions[m->store.frames[k].fn].ncode);
        if (m->store.frames[k].by_rule) bytes += rvm__rule_lent(m, k);
    }
    for (; guards; guards--) rvm__guard_close(m);
    rvm__locals_release(m, m->store.arena_used - bytes);
    forget_shadows(m, frame, compute, begin);
    const uint64_t bits = region_bits(m, frame, compute);
    m->store.slots[f->slots + m->codes[f->fn].x[compute].to.hidden].u = 0;
    m->store.nframes = frame + 1;
    if (m->run.by_rule > m->store.nframes) m->run.by_rule = 0;
    unwind_trails(m, &part);
    m->run.at[m->run.sweep_begun] = part.position;
    m->run.course = course;
    const bool again = bits & RVM__REGION_AGAIN;
    m->exact.restoring = !!(bits & RVM__REGION_RESTORES) != rvm__course_restores(m);
    m->run.dir = again ? 1 : -1;
    m->run.pc = m->codes[f->fn].x + (again ? end + 1 : compute - 1);
}
