/* keyframe.c: a bound run where it stands, on a tape.
 *
 *     core | frames | slots | shadows | magnitudes | descriptors of arrays | stack | chunks of the arena | outside |
 *     elements that the run may change | trail | exact | guards
 *
 * Local arrays stand elsewhere when they come back: descriptors and guards are shifted. The chunks of the arena come back as
 * one. */
#include "keyframe.h"
#include "cells.h"
#include "copied.h"
#include "copy.h"
#include "fresh.h"
#include "memory.h"
#include "native.h"
#include "program.h"
#include "run.h"
#include "support.h"

typedef struct core {
    enum rvm__where where;
    int course, dir, one_way;
    bool sweeping, sweep_begun, sweep_left, went_back, restoring;
    enum rvm__borrowing borrowing;
    int64_t at[2];
    uint32_t pc, by_rule, nframes, nstack, nguards, nchunks, nargs;
    size_t slots, arrays, outside, outside_arrays, arena;
} core;

/* Memory that arrays of the run may stand in. */
typedef struct span {
    uintptr_t from;
    size_t size;
} span;

struct rvm_keyframe {
    const rvm_machine *of;
    uint64_t bind; /* its number */
    rvm_run_position position;
    rvm__tape tape; /* its size is what it takes */
};

/* ---- arguments ---- */

static span span_of(const rvm_arg *a, bool shadow) {
    const int64_t *stride = shadow ? a->shadow_stride : a->stride;
    span s = {(uintptr_t)(shadow ? a->shadow_data : a->data), sizeof(rvm_value)};
    for (int d = 0; d < a->ndim; d++) {
        if (!a->shape[d]) return (span){0};
        s.size += (size_t)((a->shape[d] - 1) * stride[d]) * sizeof(rvm_value);
    }
    return s;
}

static bool has_shadow(const rvm_machine *m, const rvm_arg *a) {
    return m->bound.mode != RVM_PRIMAL && a->active;
}

/* Whether the run may change the elements, or their shadows. */
static bool changes(const rvm_machine *m, uint32_t k, bool shadow) {
    const uint8_t role = m->p->functions[m->bound.entry].params[k].role;
    const rvm_arg *a = &m->bound.args[k];
    if (!a->ndim) return false; /* they stand in the frame */
    if (!shadow) return role != RVM_READ;
    return has_shadow(m, a) && role != (m->bound.mode == RVM_TANGENT ? RVM_READ : RVM_ACC);
}

static void put_elements(const rvm_machine *m, rvm__tape *tape) {
    rvm__bring_home(m, m->bound.args, m->bound.nargs);
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        for (int shadow = 0; shadow < 2; shadow++) {
            const rvm_arg *a = &m->bound.args[k];
            if (!changes(m, k, shadow)) continue;
            rvm_value *to = rvm__tape_piece(tape, (size_t)rvm__cells(a) * sizeof *to);
            if (to) rvm__cells_take(a, shadow, to);
        }
}

static void get_elements(const rvm_machine *m, rvm__tape *tape) {
    rvm__bring_home(m, m->bound.args, m->bound.nargs);
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        for (int shadow = 0; shadow < 2; shadow++) {
            rvm_arg *a = &m->bound.args[k];
            if (changes(m, k, shadow))
                rvm__cells_give(a, shadow, rvm__tape_piece(tape, (size_t)rvm__cells(a) * sizeof(rvm_value)));
        }
}

/* Values, then shadows. */
static void put_spans(const rvm_machine *m, rvm__tape *tape) {
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k];
        const span s[2] = {a->ndim ? span_of(a, false) : (span){0},
                           a->ndim && has_shadow(m, a) ? span_of(a, true) : (span){0}};
        rvm__tape_put(tape, s, sizeof s);
    }
}

/* ---- local arrays ---- */

static uint32_t chunks_of(const rvm_machine *m) {
    uint32_t n = 0;
    for (const rvm__chunk *c = m->store.arena; c; c = c->below) n++;
    return n;
}

/* The top one first. */
static void put_arena(const rvm_machine *m, rvm__tape *tape) {
    for (const rvm__chunk *c = m->store.arena; c; c = c->below) {
        const span s = {(uintptr_t)c->bytes, c->used};
        rvm__tape_put(tape, &s, sizeof s);
    }
    for (const rvm__chunk *c = m->store.arena; c; c = c->below) rvm__tape_put(tape, c->bytes, c->used);
}

/* False: out of memory. */
static bool get_arena(rvm_machine *m, rvm__tape *tape, const core *c, rvm__shift *shift) {
    rvm__locals_clear(m);
    char *to = c->arena ? rvm__locals_push(m, c->arena) : NULL;
    if (c->arena && !to) return false;
    to += c->arena;
    for (uint32_t k = 0; k < c->nchunks; k++) {
        span s;
        rvm__tape_get(tape, &s, sizeof s);
        if (s.size) to -= s.size;
        shift[k] = (rvm__shift){s.from, s.size, to};
    }
    for (uint32_t k = 0; k < c->nchunks; k++) rvm__tape_get(tape, shift[k].to, shift[k].size);
    return true;
}

/* What native code kept elsewhere. */
static bool get_outside(rvm_machine *m, rvm__tape *tape, const core *c, rvm__shift *shift) {
    uintptr_t from;
    rvm__tape_get(tape, &from, sizeof from);
    if (!rvm__reserve(m, (void **)&m->store.outside, &m->store.cap_outside, c->outside, 1)) return false;
    rvm__tape_get(tape, m->store.outside, c->outside);
    *shift = (rvm__shift){from, c->outside, m->store.outside};
    m->store.outside_used = c->outside;
    m->store.outside_arrays = (uint32_t)c->outside_arrays;
    return true;
}

/* A view stays where it is in its array, also where it has no elements and so points to none. */
static void shift_view(rvm__array *a, const rvm__array *base, const rvm__shifts *shifts) {
    const ptrdiff_t at = a->data - base->data, shadow_at = a->shadow ? a->shadow - base->shadow : 0;
    a->data = rvm__shifted(shifts, base->data) + at;
    if (a->shadow) a->shadow = rvm__shifted(shifts, base->shadow) + shadow_at;
    a->magnitude = (double *)(void *)rvm__shifted(shifts, (char *)a->magnitude);
}

/* Views before what they are views of. */
static void shift_arrays(rvm_machine *m, const rvm__shifts *shifts) {
    for (uint32_t f = 0; f < m->store.nframes; f++) {
        rvm__array *a = rvm__arrays_from(m, m->store.frames[f].arrays);
        const uint32_t n = m->p->functions[m->store.frames[f].fn].narrays;
        for (int views = 1; views >= 0; views--)
            for (uint32_t k = 0; k < n; k++)
                if (a[k].present && (a[k].base != k) == views) shift_view(&a[k], &a[a[k].base], shifts);
    }
}

/* ---- the whole ---- */

static core core_of(const rvm_machine *m) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    core c = {.where = m->run.where,
              .course = m->run.course,
              .dir = m->run.dir,
              .one_way = m->run.one_way,
              .sweeping = m->run.sweeping,
              .sweep_begun = m->run.sweep_begun,
              .sweep_left = m->run.sweep_left,
              .went_back = m->run.went_back,
              .restoring = m->exact.restoring,
              .borrowing = m->exact.borrowing,
              .at = {m->run.at[0], m->run.at[1]},
              .by_rule = m->run.by_rule,
              .nframes = m->store.nframes,
              .nstack = m->store.nstack,
              .nguards = m->store.nguards,
              .nchunks = chunks_of(m),
              .nargs = m->bound.nargs,
              .outside = m->store.outside_used,
              .outside_arrays = m->store.outside_arrays,
              .arena = m->store.arena_used};
    c.slots = top->slots + m->codes[top->fn].slots;
    c.arrays = top->arrays + m->p->functions[top->fn].narrays;
    if (m->run.where == INSIDE) c.pc = (uint32_t)(m->run.pc - m->codes[top->fn].x);
    return c;
}

static void put(const rvm_machine *m, rvm__tape *tape) {
    const core c = core_of(m);
    const uintptr_t outside = (uintptr_t)m->store.outside;
    rvm__tape_put(tape, &c, sizeof c);
    put_spans(m, tape);
    put_arena(m, tape);
    rvm__tape_put(tape, &outside, sizeof outside);
    rvm__tape_put(tape, m->store.outside, c.outside);
    rvm__tape_put(tape, m->store.frames, c.nframes * sizeof *m->store.frames);
    rvm__tape_put(tape, m->store.slots, c.slots * sizeof *m->store.slots);
    if (m->bound.mode != RVM_PRIMAL) rvm__tape_put(tape, m->store.shadows, c.slots * sizeof *m->store.shadows);
    if (m->store.magnitudes) rvm__tape_put(tape, m->store.magnitudes, c.slots * sizeof *m->store.magnitudes);
    rvm__tape_put(tape, m->store.arrays, c.arrays * sizeof *m->store.arrays);
    rvm__tape_put(tape, m->store.stack, c.nstack * sizeof *m->store.stack);
    put_elements(m, tape);
    rvm__trail_put(m, tape);
    rvm__exact_put(m, tape);
    rvm__guards_put(m, tape);
    rvm__aside_put(m, tape);
}

/* Frames and what stands in them. Shadows of absent places are 0. */
static bool get_frames(rvm_machine *m, rvm__tape *tape, const core *c) {
    size_t frames = m->store.cap_frames, stack = m->store.cap_stack;
    if (!rvm__reserve_frame(m, c->slots, c->arrays)) return false;
    bool good = rvm__reserve(m, (void **)&m->store.frames, &frames, c->nframes, sizeof *m->store.frames);
    m->store.cap_frames = (uint32_t)frames;
    good = good && rvm__reserve(m, (void **)&m->store.stack, &stack, c->nstack, sizeof *m->store.stack);
    m->store.cap_stack = (uint32_t)stack;
    if (!good) return false;
    rvm__tape_get(tape, m->store.frames, c->nframes * sizeof *m->store.frames);
    rvm__tape_get(tape, m->store.slots, c->slots * sizeof *m->store.slots);
    if (m->bound.mode != RVM_PRIMAL) {
        rvm__tape_get(tape, m->store.shadows, c->slots * sizeof *m->store.shadows);
        memset(m->store.shadows + c->slots, 0, (m->store.cap_shadows - c->slots) * sizeof *m->store.shadows);
    }
    if (m->store.magnitudes) rvm__tape_get(tape, m->store.magnitudes, c->slots * sizeof *m->store.magnitudes);
    rvm__tape_get(tape, m->store.arrays, c->arrays * sizeof *m->store.arrays);
    rvm__tape_get(tape, m->store.stack, c->nstack * sizeof *m->store.stack);
    m->store.nframes = c->nframes;
    m->store.nstack = c->nstack;
    return true;
}

static void get_course(rvm_machine *m, const core *c) {
    m->run.where = c->where;
    m->run.course = c->course, m->run.dir = c->dir, m->run.one_way = c->one_way;
    m->run.sweeping = c->sweeping, m->run.sweep_begun = c->sweep_begun, m->run.sweep_left = c->sweep_left;
    m->run.by_rule = c->by_rule;
    m->run.went_back = c->went_back;
    m->exact.restoring = c->restoring;
    m->exact.borrowing = c->borrowing;
    m->run.at[0] = c->at[0], m->run.at[1] = c->at[1];
    m->run.pc = m->codes[m->store.frames[m->store.nframes - 1].fn].x + c->pc;
    m->jit.adrift = RVM_OK;
}

/* Where lent arrays stood, and stand now. */
static void get_spans(const rvm_machine *m, rvm__tape *tape, rvm__shift *shift) {
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        span s[2];
        rvm__tape_get(tape, s, sizeof s);
        shift[2 * k] = (rvm__shift){s[0].from, s[0].size, m->bound.args[k].data};
        shift[2 * k + 1] = (rvm__shift){s[1].from, s[1].size, m->bound.args[k].shadow_data};
    }
}

static bool get(rvm_machine *m, rvm__tape *tape, const core *c, rvm__shift *shift) {
    const rvm__shifts shifts = {shift, 2 * (size_t)c->nargs + c->nchunks + 1};
    get_spans(m, tape, shift);
    if (!get_arena(m, tape, c, shift + 2 * c->nargs)) return false;
    if (!get_outside(m, tape, c, shift + 2 * c->nargs + c->nchunks)) return false;
    if (!get_frames(m, tape, c)) return false;
    shift_arrays(m, &shifts);
    get_elements(m, tape);
    return rvm__trail_get(m, tape) && rvm__exact_get(m, tape) && rvm__guards_get(m, tape, c->nguards, &shifts) &&
           rvm__aside_get(m, tape);
}

rvm_status rvm__keyframe_load(const rvm_keyframe *k, rvm_machine *m, rvm_error *err) {
    rvm__tape tape = {k->tape.at, 0};
    core c;
    rvm__fresh_show(m); /* what it holds comes behind */
    rvm__tape_get(&tape, &c, sizeof c);
    const size_t bytes = (2 * (size_t)c.nargs + c.nchunks + 1) * sizeof(rvm__shift);
    rvm__shift *shift = rvm__resize(m, NULL, 0, bytes);
    const bool good = shift && get(m, &tape, &c, shift);
    rvm__resize(m, shift, shift ? bytes : 0, 0);
    m->run.where = UNBOUND;
    if (!good) return rvm__no_memory(m, err);
    get_course(m, &c);
    rvm__write_back(m);
    return RVM_OK;
}

/* ---- the interface ---- */

static rvm_status refuse(const rvm_machine *m, rvm_error *err) {
    const rvm_status status = rvm__check_bound(m, err);
    const char *why = m->profile                   ? "a run that is profiled goes its way"
                      : m->hessian || m->run.sweep ? "a sweep carries a Hessian"
                      : m->jit.adrift              ? "the run can go neither on nor back"
                                                   : NULL;
    if (status || !why) return status;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "there is no keyframe: %s", why);
}

rvm_status rvm_keyframe_new(rvm_machine *m, rvm_keyframe **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(m);
    const rvm_status status = refuse(m, err);
    if (status) return status;
    rvm__tape tape = {NULL, 0};
    rvm__fresh_show(m);
    put(m, &tape);
    const size_t size = sizeof(rvm_keyframe) + tape.size;
    rvm_keyframe *k = rvm__resize(m, NULL, 0, size);
    if (!k) return rvm__no_memory(m, err);
    *k = (rvm_keyframe){m, m->bound.number, rvm_machine_position(m), {(char *)(k + 1), 0}};
    put(m, &k->tape);
    return *out = k, RVM_OK;
}

void rvm_keyframe_free(rvm_keyframe *k) {
    if (k) rvm__resize((rvm_machine *)(uintptr_t)k->of, k, rvm_keyframe_size(k), 0);
}

rvm_run_position rvm_keyframe_position(const rvm_keyframe *k) {
    return k ? k->position : (rvm_run_position){0};
}

size_t rvm_keyframe_size(const rvm_keyframe *k) {
    return k ? sizeof *k + k->tape.size : 0;
}

rvm_status rvm_keyframe_restore(const rvm_keyframe *k, rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(k);
    RVM__NEEDS(m);
    if (k->of != m || k->bind != m->bound.number || m->run.where == UNBOUND)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the keyframe is not of the call that is bound");
    return rvm__keyframe_load(k, m, err);
}
