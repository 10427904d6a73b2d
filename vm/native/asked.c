/* asked.c: what derivatives that are asked for have in common (derived.c, marching.c): programs and their machines, which
 * are kept; arguments that are laid out, saved and given back. */
#include "asked.h"
#include "builder.h"
#include "program.h"
#include "reach.h"
#include "support.h"

#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "columns.h"
#include "fresh.h"
#include "kept.h"
#include "memory.h"
#include "native.h"
#include "rerun.h"
#include "run.h"
#include "traced.h"
#include "trail.h"
#include "transform.h"

enum { MOST_DERIVED = 32 };

/* ---- what is kept between calls ---- */

static void free_one(rvm_machine *m, rvm__derived *d) {
    rvm_machine_free(d->machine);
    rvm_program_free(d->program);
    rvm__origins_free(&d->origins);
    rvm__resize(m, d->zeros, d->cap_zeros * sizeof *d->zeros, 0);
    rvm__resize(m, d, sizeof *d + 3 * m->p->functions[d->of].nparams * sizeof *d->args, 0);
}

void rvm__derived_free(rvm_machine *m) {
    while (m->derived) {
        rvm__derived *d = m->derived;
        m->derived = d->next;
        free_one(m, d);
    }
}

static void drop_last(rvm_machine *m) {
    rvm__derived **last = &m->derived;
    int n = 0;
    for (; *last && ++n < MOST_DERIVED; last = &(*last)->next) continue;
    if (!*last) return;
    free_one(m, *last);
    *last = NULL;
}

/* First of the list from then on. NULL: out of memory. */
rvm__derived *rvm__derived_kept(rvm_machine *m, uint32_t fn, rvm_transform kind, enum rvm__derived_form form,
                                const uint8_t *wrt) {
    const uint32_t n = m->p->functions[fn].nparams;
    for (rvm__derived **at = &m->derived; *at; at = &(*at)->next) {
        rvm__derived *d = *at;
        if (d->of != fn || d->kind != kind || d->form != form || memcmp(d->wrt, wrt, n) != 0) continue;
        *at = d->next;
        d->next = m->derived;
        return m->derived = d;
    }
    drop_last(m);
    const size_t size = sizeof(rvm__derived) + 3 * n * sizeof(rvm_arg);
    rvm__derived *d = rvm__zeroed(m, size);
    if (!d) return NULL;
    d->of = fn;
    d->kind = kind;
    d->form = form;
    d->origins.al = m->al;
    memcpy(d->wrt, wrt, n);
    memcpy(d->active, wrt, n);
    d->next = m->derived;
    return m->derived = d;
}

/* ---- loops that run again from snapshots ---- */

uint32_t rvm__loops_taken(const rvm__loops *loops) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < loops->n; k++) n += !loops->loops[k].why;
    return n;
}

static size_t marching_bytes(const rvm_options *o) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    const size_t there = pages > 0 && size > 0 ? (size_t)pages / 4 * (size_t)size : (size_t)1 << 30;
    return o->trail_limit ? o->trail_limit : o->memory ? o->memory / 2 : there;
}

int64_t rvm__marching_cells(const rvm_options *o) {
    return (int64_t)(marching_bytes(o) / 4 * 3 / (sizeof(rvm_value) + 1));
}

static rvm_status outline(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    rvm__zone memory = {.al = &m->al};
    rvm__loops loops;
    uint32_t adjoint;
    rvm_status status = rvm__loops_find(m->p, d->of, &memory, &loops, err);
    d->loops = status ? 0 : rvm__loops_taken(&loops);
    const bool given = m->o.checkpoints && m->o.checkpoints != RVM_CHECKPOINTS_AUTO;
    const rvm__snapshots s = {given ? m->o.checkpoints : 0,
                              (int64_t)rvm__most((uint64_t)d->cells / (d->loops + !d->loops), 1)};
    if (!status) status = rvm__loops_outline(m->p, &loops, &s, d->program, err);
    rvm__zone_free(&memory);
    if (!status) status = rvm__transform_declare(d->program, d->of, RVM_ADJOINT, d->active, &adjoint, err);
    return status ? status : rvm__values_declare(d->program, d->of, adjoint, d->active, &d->values, err);
}

/* ---- deriving ---- */

/* What a run on d needs of the machine that asks: the limits are the same, f'grad is one call deeper, and nothing is taken
 * back. */
static rvm_status machine_for(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    enum { CALLS = 8, AT_ONCE = 300 }; /* more for each loop that is a function; in one another, at most (checkpoint.h) */
    rvm_options o = m->o;
    o.trail = RVM_TRAIL_OFF;
    o.print = NULL;
    if (d->form != RVM__MARCHES) o.checkpoint_dir = NULL;
    if (o.checkpoint_dir) o.trail_limit = marching_bytes(&m->o);
    uint64_t more = (d->kind == RVM_GRADIENT_OF) + (d->form == RVM__COLUMNS);
    if (d->form == RVM__MARCHES) more += AT_ONCE + CALLS * (uint64_t)d->loops;
    o.depth += (uint32_t)rvm__least(more, UINT32_MAX - o.depth);
    rvm_status status = rvm_machine_new(d->program, &o, &d->machine, err);
    if (status) return status == RVM_ERR_LIMIT ? RVM_ERR_UNSUPPORTED : status; /* the modes may do */
    if (m->profile)
        d->machine->profile->source =
            (rvm__profile_source){.of = m, .origins = &d->origins, .tangents = d->kind == RVM_TANGENT_OF};
    d->machine->run.cancelled = m->run.cancelled;
    d->machine->bound.compared_elsewhere = true;
    d->machine->exact.values_only = true;
    d->machine->run.shown = m->run.shown;
    if (!rvm__trail_pops(d->machine, d->fn, 1, &d->levels)) return rvm__no_memory(m, err);
    return RVM_OK;
}

static bool find_reach(const rvm_machine *m, const rvm__derived *d, rvm__reach *of) {
    rvm__zone memory = {.al = &m->al};
    rvm__reach *reach = rvm__zone_make(&memory, m->p->nfunctions, sizeof *reach);
    const bool found = reach && rvm__reach_find(m->p, reach);
    if (found) *of = reach[d->of];
    rvm__zone_free(&memory);
    return found;
}

/* In an exact run d's machine records values alone, which does not do where shadows are values of what is asked for. */
static rvm_status check_marks(const rvm_machine *m, const rvm__derived *d, rvm_error *err) {
    rvm__reach reach;
    if (!m->o.exact || m->exact.values_only) return RVM_OK;
    if (!find_reach(m, d, &reach)) return rvm__fail_memory(err);
    if (!reach.marked) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                     "'%s' calls adjoints, whose arithmetic of shadows is recorded, too (exact)",
                     m->p->functions[d->of].name);
}

/* On a device blocks within are for the threads of a direction; elsewhere functions with blocks go in lanes as they are. */
static bool takes_blocks(const rvm_machine *m) {
    return m->jit.device && !m->jit.device_least && m->o.unchecked;
}

/* What a run changes, and shadows, each direction has for itself. */
static rvm_status declare_columns(const rvm_machine *m, rvm__derived *d, rvm_error *err) {
    const rvm_function *f = &m->p->functions[d->of];
    uint8_t each[2 * RVM_MAX_PARAMS];
    uint32_t n = 0;
    rvm__reach reach;
    if (!find_reach(m, d, &reach)) return rvm__fail_memory(err);
    if (reach.blocks && !takes_blocks(m))
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "'%s' has parallel blocks", f->name);
    for (uint32_t k = 0; k < f->nparams; k++) {
        each[n++] = f->params[k].role != RVM_READ;
        if (d->active[k]) each[n++] = true;
    }
    d->blocks = reach.blocks;
    const rvm_status status = rvm__columns_declare(d->program, d->fn, each, reach.blocks, &d->fn, err);
    return status ? status : rvm__transform_resolve(d->program, err);
}

static rvm_status derive(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    rvm_status status = check_marks(m, d, err);
    if (!status) status = rvm_program_close_active(m->p, d->of, d->active, err);
    if (!status) status = rvm__program_copy(m->p, &m->al, &d->program, err);
    if (!status && m->profile) d->program->origins = &d->origins;
    if (!status) d->program->exact = m->o.exact; /* what it calls that was derived otherwise is refused */
    if (!status) d->program->apart = m->o.exact && !m->exact.values_only; /* else its tangents are taken back, too */
    if (!status && d->form == RVM__MARCHES) status = outline(m, d, err);
    if (!status) status = rvm__transform_declare(d->program, d->of, d->kind, d->active, &d->fn, err);
    if (!status) status = rvm__transform_resolve(d->program, err);
    if (!status && d->form == RVM__COLUMNS) status = declare_columns(m, d, err);
    if (!status) status = machine_for(m, d, err);
    return rvm__fail_in(err, status, m->p, d->of);
}

void rvm__derived_forget(rvm__derived *d) {
    rvm_machine_free(d->machine);
    rvm_program_free(d->program);
    rvm__origins_free(&d->origins);
    d->machine = NULL;
    d->program = NULL;
}

rvm_status rvm__derived_ready(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    if (!d->machine && !d->why.code) d->why.code = derive(m, d, &d->why);
    const rvm_status status = d->why.code;
    if (!status) return m->jit.engine ? m->jit.engine->adopt(m->jit.engine, d->machine, err) : RVM_OK;
    if (err) *err = d->why;
    rvm__derived_forget(d);
    if (status == RVM_ERR_MEMORY) d->why.code = RVM_OK; /* it may go better the next time */
    return status;
}

rvm__derived *rvm__asked_find(const rvm__asked *q, rvm_transform kind, enum rvm__derived_form form) {
    uint8_t wrt[RVM_MAX_PARAMS];
    for (uint32_t k = 0; k < q->n; k++) wrt[k] = q->args[k].active;
    return rvm__derived_kept(q->m, (uint32_t)q->fn, kind, form, wrt);
}

/* ---- values that are saved, and given back ---- */

/* Which shadows a run changes: of tangents, those of what f changes; of a sweep, any. */
static bool saves_shadow(const rvm__asked *q, uint32_t k) {
    const bool changes = q->ask != ASK_TANGENT || rvm__asked_function(q)->params[k].role != RVM_READ;
    return q->shadows && q->args[k].active && changes;
}

bool rvm__asked_value(const rvm__asked *q, uint32_t k) {
    return rvm__asked_function(q)->params[k].role != RVM_READ;
}

size_t rvm__asked_cells(const rvm__asked *q) {
    size_t n = 0;
    for (uint32_t k = 0; k < q->n; k++)
        n += (size_t)rvm__cells(&q->args[k]) * (size_t)(rvm__asked_value(q, k) + saves_shadow(q, k));
    return n;
}

/* Inputs that are fresh are not read; given back, they are 0. */
static rvm_status save_one(const rvm__asked *q, uint32_t k, bool shadow, enum rvm__keeps which, rvm_value *to) {
    const bool inputs = which == RVM__INPUTS;
    const enum rvm__kept_for what = inputs ? RVM__KEPT_INPUTS : RVM__KEPT_RESULTS;
    return rvm__kept_take(q->m, rvm__kept_number(what, k, shadow), &q->args[k], shadow, inputs, to);
}

static rvm_status give_one(const rvm__asked *q, uint32_t k, bool shadow, enum rvm__keeps which, const rvm_value *from) {
    const bool inputs = which == RVM__INPUTS;
    const enum rvm__kept_for what = inputs ? RVM__KEPT_INPUTS : RVM__KEPT_RESULTS;
    return rvm__kept_give(q->m, rvm__kept_number(what, k, shadow), &q->args[k], shadow, inputs, from);
}

/* Arguments that were bound once, so that their shapes are right. */
bool rvm__asked_save(const rvm__asked *q, enum rvm__keeps which) {
    const size_t need = rvm__asked_cells(q);
    rvm_value *to = rvm__room(q->m, which, need * sizeof *to);
    if (need && !to) return false;
    for (uint32_t k = 0; k < q->n; k++) {
        const size_t n = (size_t)rvm__cells(&q->args[k]);
        if (rvm__asked_value(q, k)) {
            if (save_one(q, k, false, which, to)) return false;
            to += n;
        }
        if (saves_shadow(q, k)) {
            if (save_one(q, k, true, which, to)) return false;
            to += n;
        }
    }
    return true;
}

rvm_status rvm__asked_give(const rvm__asked *q, enum rvm__keeps which) {
    const rvm_value *from = q->m->store.kept[which];
    rvm_status lost = RVM_OK;
    for (uint32_t k = 0; k < q->n; k++) {
        const size_t n = (size_t)rvm__cells(&q->args[k]);
        rvm_status one = RVM_OK;
        if (rvm__asked_value(q, k)) one = give_one(q, k, false, which, from), from += n;
        if (one) lost = one;
        if (saves_shadow(q, k)) one = give_one(q, k, true, which, from), from += n;
        if (one) lost = one;
    }
    return lost;
}

void rvm__asked_forget(const rvm__asked *q) {
    rvm__kept_forget(q->m, RVM__KEPT_INPUTS);
    rvm__kept_forget(q->m, RVM__KEPT_RESULTS);
}

/* ---- running ---- */

bool rvm__asked_returns(const rvm__asked *q) {
    return q->ask == ASK_GRADIENT || q->ask == ASK_VALUE_AND_GRADIENT;
}

/* Whether the values that were saved came back with a run to the start, or with one of f'grad, which ends as it began. */
rvm_status rvm__asked_compare(const rvm__asked *q, rvm_error *err) {
    rvm_machine *m = q->m;
    rvm_value *before = m->store.kept[RVM__INPUTS];
    rvm_value *was[RVM_MAX_PARAMS];
    const bool back = rvm__asked_returns(q);
    rvm__restoring r = {.m = m, .fn = (uint32_t)q->fn, .of = q->fn, .only = back ? NULL : m->bound.is_value};
    if (m->o.tolerance == INFINITY || q->ask == ASK_SWEEP) return RVM_OK;
    if (!back && (r.of = rvm__known_gradient_of(m, r.fn)) < 0) return RVM_OK;
    r.kept = RVM__KEPT_INPUTS + 1;
    for (uint32_t k = 0; k < q->n; k++) {
        was[k] = before;
        before += rvm__cells(&q->args[k]) * (rvm__asked_value(q, k) + saves_shadow(q, k));
    }
    return rvm__compare_restored(&r, was, q->args, err);
}

rvm_status rvm__asked_results(rvm__asked *q, rvm_error *err) {
    q->shadows = false;
    const rvm_status lost = rvm__asked_give(q, RVM__RESULTS);
    return lost ? rvm__fail(err, lost, NULL, 0, 0, "results on a device are lost") : RVM_OK;
}

void rvm__asked_hand_back(const rvm__asked *q) {
    for (uint32_t k = 0; k < q->n; k++) {
        rvm_arg *a = &q->args[k];
        if (!rvm__is_fresh(a, false) || rvm__fresh_fill_there(q->m, a, false, (rvm_value){0})) continue;
        if (!rvm__bring_home(q->m, a, 1)) rvm__fresh_clear(a, false);
    }
}

rvm_status rvm__asked_bind(const rvm__asked *q, rvm_error *err) {
    const rvm_mode mode = q->ask == ASK_TANGENT ? RVM_TANGENT : RVM_GRADIENT;
    return rvm_machine_bind(q->m, q->fn, q->args, q->n, mode, q->ask == ASK_SWEEP, err);
}

/* Zeros that are shadows of what is active only because it depends on what is. */
static bool make_zeros(const rvm__asked *q, rvm__derived *d) {
    size_t need = 0;
    for (uint32_t k = 0; k < q->n; k++)
        if (d->active[k] && !q->args[k].active) need += (size_t)rvm__cells(&q->args[k]);
    if (!need) return true;
    if (!rvm__reserve(q->m, (void **)&d->zeros, &d->cap_zeros, need, sizeof *d->zeros)) return false;
    memset(d->zeros, 0, need * sizeof *d->zeros);
    return true;
}

/* The shadow of a, as an argument of its own; zeros: in place of one. Copied, since compilers clear a structure by an
 * instruction that starts slowly. */
static void take_shadow(const rvm_arg *a, rvm_value *zeros, rvm_arg *to) {
    int64_t stride = 1;
    *to = *a;
    to->value.i = zeros ? 0 : a->shadow.i;
    to->active = to->fresh_shadow = false;
    to->fresh = !zeros && a->fresh_shadow;
    to->data = zeros ? zeros : a->shadow_data;
    for (int d = a->ndim - 1; d >= 0; stride *= a->shape[d--]) to->stride[d] = zeros ? stride : a->shadow_stride[d];
}

/* Arguments of the derived function: each of f's, and behind it the shadow where it is active. */
bool rvm__asked_lay_out(const rvm__asked *q, rvm__derived *d) {
    if (!make_zeros(q, d)) return false;
    rvm_value *zeros = d->zeros;
    d->nargs = 0;
    for (uint32_t k = 0; k < q->n; k++) {
        rvm_arg *a = &d->args[d->nargs++];
        *a = q->args[k];
        a->active = a->fresh_shadow = false;
        a->fresh = a->fresh && !(q->ask == ASK_VALUE_AND_GRADIENT && d->kind == RVM_ADJOINT); /* it has what f made of it */
        if (!d->active[k]) continue;
        take_shadow(&q->args[k], q->args[k].active ? NULL : zeros, &d->args[d->nargs++]);
        if (!q->args[k].active) zeros += rvm__cells(a);
    }
    return true;
}

/* What it left in scalars. */
static void take_scalars(const rvm__asked *q, const rvm__derived *d) {
    const rvm_arg *from = d->args;
    for (uint32_t k = 0; k < q->n; k++, from++) {
        if (!q->args[k].ndim) q->args[k].value = from->value;
        if (!d->active[k]) continue;
        from++;
        if (!q->args[k].ndim && q->args[k].active) q->args[k].shadow = from->value;
    }
}

static uint32_t ran_of(rvm_transform kind) {
    return kind == RVM_ADJOINT ? RVM_RAN_ADJOINT : kind == RVM_GRADIENT_OF ? RVM_RAN_GRADIENT : RVM_RAN_TANGENT;
}

/* What runs on d counted becomes m's: instructions in *to, and what ran. */
void rvm__derived_count(rvm_machine *m, rvm_machine *d, uint32_t ran, uint64_t *to) {
    rvm_stats s;
    rvm_machine_stats(d, &s);
    *to += s.forward;
    m->stats.calls += s.calls;
    m->stats.ran |= ran;
    m->trail.erased[RVM__ERASED_VALUES] += s.bits_trail;
    m->trail.erased[RVM__ERASED_GRADIENTS] += s.bits_shadows;
    m->trail.erased[RVM__ERASED_PLACES] += s.bits_forgotten;
    m->store.stack_lost += s.bits_stack / 64;
    if (m->memory + s.memory_peak > m->stats.memory_peak) m->stats.memory_peak = m->memory + s.memory_peak;
    m->exact.updates += d->exact.updates;
    m->exact.recorded += d->exact.recorded;
    m->exact.peak = rvm__most(m->exact.peak, d->exact.peak);
    if (s.ancilla_peak > m->stats.ancilla_peak) m->stats.ancilla_peak = s.ancilla_peak;
    if (s.depth_peak > m->stats.depth_peak) m->stats.depth_peak = s.depth_peak;
    m->trail.peak = rvm__most(m->trail.peak, s.trail_peak / RVM__TRAIL_CELL);
    rvm__stats_reset(d);
}

/* As of a run of that mode. With a profile instructions are counted when it is handed over. */
static void add_stats(rvm_machine *m, rvm__derived *d) {
    uint64_t apart = 0, *to = d->kind == RVM_TANGENT_OF ? &m->stats.forward : &m->stats.swept;
    rvm__derived_count(m, d->machine, ran_of(d->kind), m->profile ? &apart : to);
}

rvm_status rvm__asked_run(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    rvm_machine *m = d->machine;
    q->touched = true;
    const rvm_status status = rvm_machine_forward(m, err);
    add_stats(q->m, d);
    if (!status) take_scalars(q, d);
    return status;
}
