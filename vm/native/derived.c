/* derived.c: derivatives, by the machine's modes or natively.
 *
 * Native code runs primal code only; a derivative runs natively as the program that computes it, on a machine of its own:
 *
 *     tangent              f'tan                     sweep      f'adj
 *     gradient             f'grad, which is f, then f'adj
 *     value and gradient   f, whose results are kept; f'adj; where f leaves something on the trail or the stack, f'grad
 *
 * Their arguments are the caller's arrays and shadows. Nothing of them is ever taken back, so they keep no trail. What a
 * function is derived into is kept (rvm__derived), the last MOST_DERIVED of them.
 *
 * An engine with patience wants a derivative to be interpreted until there is native code for it, which is asked for after
 * so many instructions over all calls. The modes are several times faster than the program interpreted, so that never
 * runs; a run in progress when the code comes begins anew, if it has not turned yet. If a native run fails the arguments get
 * their values back and the interpreter runs, from the start, since its errors speak of f.
 */
#include "derived.h"
#include "builder.h"
#include "program.h"
#include "support.h"

#include <string.h>

#include "cells.h"
#include "checkpoint.h"
#include "memory.h"
#include "native.h"
#include "rerun.h"
#include "run.h"
#include "transform.h"

enum { MOST_DERIVED = 16 };

enum ask { ASK_TANGENT, ASK_SWEEP, ASK_GRADIENT, ASK_VALUE_AND_GRADIENT };
static const rvm_transform kind_of[] = {[ASK_TANGENT] = RVM_TANGENT_OF,
                                        [ASK_SWEEP] = RVM_ADJOINT,
                                        [ASK_GRADIENT] = RVM_GRADIENT_OF,
                                        [ASK_VALUE_AND_GRADIENT] = RVM_ADJOINT};

/* One derivative that is asked for. */
typedef struct asked {
    rvm_machine *m;
    enum ask ask;
    int64_t fn;
    rvm_arg *args;
    uint32_t n;
    bool shadows; /* those that the run changes are saved, too */
    bool touched; /* the run has begun to change them */
    bool placed;  /* the program is bound to the arguments */
} asked;

static const rvm_function *function_of(const asked *q) {
    return &q->m->p->functions[q->fn];
}

/* ---- what is kept between calls ---- */

static void free_one(rvm_machine *m, rvm__derived *d) {
    rvm_machine_free(d->machine);
    rvm_program_free(d->program);
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
static rvm__derived *find(rvm_machine *m, uint32_t fn, rvm_transform kind, bool marches, const uint8_t *wrt) {
    const uint32_t n = m->p->functions[fn].nparams;
    for (rvm__derived **at = &m->derived; *at; at = &(*at)->next) {
        rvm__derived *d = *at;
        if (d->of != fn || d->kind != kind || d->marches != marches || memcmp(d->wrt, wrt, n) != 0) continue;
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
    d->marches = marches;
    memcpy(d->wrt, wrt, n);
    memcpy(d->active, wrt, n);
    d->next = m->derived;
    return m->derived = d;
}

/* ---- deriving ---- */

/* What a run on d needs of the machine that asks: the limits are the same, f'grad is one call deeper, and nothing is taken
 * back. */
static rvm_status machine_for(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    enum { CALLS = 4 }; /* from the function of a loop to its body, through those that rewind and march */
    rvm_options o = m->o;
    o.trail = RVM_TRAIL_OFF;
    const uint32_t more = (d->kind == RVM_GRADIENT_OF) + (d->marches ? CALLS : 0);
    o.depth += (uint32_t)rvm__least(more, UINT32_MAX - o.depth);
    rvm_status status = rvm_machine_new(d->program, &o, &d->machine, err);
    if (status) return status == RVM_ERR_LIMIT ? RVM_ERR_UNSUPPORTED : status; /* the modes may do */
    d->machine->run.cancelled = m->run.cancelled;
    d->machine->bound.compared_elsewhere = true;
    d->machine->run.shown = m->run.shown;
    if (!rvm__trail_pops(d->machine, d->fn, 1, &d->levels)) return rvm__no_memory(m, err);
    return RVM_OK;
}

/* Loops of f, and of what it calls, that can be run again from snapshots become functions. */
static rvm_status outline(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    rvm__zone memory = {.al = &m->al};
    rvm__loops loops;
    uint32_t adjoint;
    rvm_status status = rvm__loops_find(m->p, d->of, &memory, &loops, err);
    if (!status) status = rvm__loops_outline(m->p, &loops, &(rvm__snapshots){.states = m->o.checkpoints}, d->program, err);
    rvm__zone_free(&memory);
    if (!status) status = rvm__transform_declare(d->program, d->of, RVM_ADJOINT, d->active, &adjoint, err);
    return status ? status : rvm__values_declare(d->program, d->of, adjoint, d->active, &d->values, err);
}

static rvm_status derive(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    rvm_status status = rvm_program_close_active(m->p, d->of, d->active, err);
    if (!status) status = rvm__program_copy(m->p, &m->al, &d->program, err);
    if (!status && d->marches) status = outline(m, d, err);
    if (!status) status = rvm__transform_declare(d->program, d->of, d->kind, d->active, &d->fn, err);
    if (!status) status = rvm__transform_resolve(d->program, err);
    if (!status) status = machine_for(m, d, err);
    return rvm__fail_in(err, status, m->p, d->of);
}

static void forget_program(rvm__derived *d) {
    rvm_machine_free(d->machine);
    rvm_program_free(d->program);
    d->machine = NULL;
    d->program = NULL;
}

static rvm_status ready(rvm_machine *m, rvm__derived *d, rvm_error *err) {
    if (!d->machine && !d->why.code) d->why.code = derive(m, d, &d->why);
    const rvm_status status = d->why.code;
    if (!status) return m->jit.engine ? m->jit.engine->adopt(m->jit.engine, d->machine, err) : RVM_OK;
    if (err) *err = d->why;
    forget_program(d);
    if (status == RVM_ERR_MEMORY) d->why.code = RVM_OK; /* it may go better the next time */
    return status;
}

static rvm__derived *find_marching(const asked *q, rvm_transform kind, bool marches) {
    uint8_t wrt[RVM_MAX_PARAMS];
    for (uint32_t k = 0; k < q->n; k++) wrt[k] = q->args[k].active;
    return find(q->m, (uint32_t)q->fn, kind, marches, wrt);
}

static rvm__derived *find_for(const asked *q, rvm_transform kind) {
    return find_marching(q, kind, false);
}

/* ---- values that are saved, and given back ---- */

/* Which shadows a run changes: of tangents, those of what f changes; of a sweep, any. */
static bool saves_shadow(const asked *q, uint32_t k) {
    const bool changes = q->ask != ASK_TANGENT || function_of(q)->params[k].role != RVM_READ;
    return q->shadows && q->args[k].active && changes;
}

static bool saves_value(const asked *q, uint32_t k) {
    return function_of(q)->params[k].role != RVM_READ;
}

static size_t saved_cells(const asked *q) {
    size_t n = 0;
    for (uint32_t k = 0; k < q->n; k++)
        n += (size_t)rvm__cells(&q->args[k]) * (size_t)(saves_value(q, k) + saves_shadow(q, k));
    return n;
}

/* Arguments that were bound once, so that their shapes are right. */
static bool save(const asked *q, enum rvm__keeps which) {
    const size_t need = saved_cells(q);
    rvm_value *to = rvm__room(q->m, which, need * sizeof *to);
    if (need && !to) return false;
    for (uint32_t k = 0; k < q->n; k++) {
        const size_t n = (size_t)rvm__cells(&q->args[k]);
        if (saves_value(q, k)) rvm__cells_take(&q->args[k], false, to), to += n;
        if (saves_shadow(q, k)) rvm__cells_take(&q->args[k], true, to), to += n;
    }
    return true;
}

static void give(const asked *q, enum rvm__keeps which) {
    const rvm_value *from = q->m->store.kept[which];
    for (uint32_t k = 0; k < q->n; k++) {
        const size_t n = (size_t)rvm__cells(&q->args[k]);
        if (saves_value(q, k)) rvm__cells_give(&q->args[k], false, from), from += n;
        if (saves_shadow(q, k)) rvm__cells_give(&q->args[k], true, from), from += n;
    }
}

/* ---- by the interpreter ---- */

static bool goes_back(const asked *q) {
    return q->ask == ASK_GRADIENT || q->ask == ASK_VALUE_AND_GRADIENT;
}

/* Whether the values that were saved came back with a run to the start, or with one of f'grad, which ends as it began. */
static rvm_status check_came_back(const asked *q, rvm_error *err) {
    rvm_machine *m = q->m;
    rvm_value *before = m->store.kept[RVM__INPUTS];
    rvm_value *was[RVM_MAX_PARAMS];
    const bool back = goes_back(q);
    rvm__restoring r = {.m = m, .fn = (uint32_t)q->fn, .of = q->fn, .only = back ? NULL : m->bound.is_value};
    if (m->o.tolerance == INFINITY || q->ask == ASK_SWEEP) return RVM_OK;
    if (!back && (r.of = rvm__known_gradient_of(m, r.fn)) < 0) return RVM_OK;
    for (uint32_t k = 0; k < q->n; k++) {
        was[k] = before;
        before += rvm__cells(&q->args[k]) * (saves_value(q, k) + saves_shadow(q, k));
    }
    return rvm__compare_restored(&r, was, q->args, err);
}

/* The results, which are values alone. */
static bool save_results(asked *q) {
    const bool shadows = q->shadows;
    q->shadows = false;
    const bool good = save(q, RVM__RESULTS);
    q->shadows = shadows;
    return good;
}

static void give_results(asked *q) {
    q->shadows = false;
    give(q, RVM__RESULTS);
}

static rvm_status bind(const asked *q, rvm_error *err) {
    const rvm_mode mode = q->ask == ASK_TANGENT ? RVM_TANGENT : RVM_GRADIENT;
    return rvm_machine_bind(q->m, q->fn, q->args, q->n, mode, q->ask == ASK_SWEEP, err);
}

/* The first half, or all of it. */
static rvm_status run_first(const asked *q, rvm_error *err) {
    return q->ask == ASK_SWEEP ? rvm_machine_sweep(q->m, err) : rvm_machine_forward(q->m, err);
}

static rvm_status run_second(asked *q, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    if (!goes_back(q)) return RVM_OK;
    if (both && !save_results(q)) return rvm__no_memory(q->m, err);
    rvm_status status = rvm_machine_sweep(q->m, err);
    if (status || !both) return status;
    rvm_machine_unbind(q->m);
    give_results(q);
    return RVM_OK;
}

/* Binding looks at the arguments, so that they can be saved. */
static rvm_status begin_interpreted(asked *q, rvm_error *err) {
    const rvm_status status = bind(q, err);
    q->shadows = !goes_back(q);
    return status || save(q, RVM__INPUTS) ? status : rvm__no_memory(q->m, err);
}

/* Inputs that did not come back are given back. */
static rvm_status end_interpreted(asked *q, rvm_status status) {
    if (status != RVM_ERR_NOT_RESTORABLE) return status;
    q->m->run.where = UNBOUND;
    q->shadows = !goes_back(q);
    give(q, RVM__INPUTS);
    return status;
}

static rvm_status interpret(asked *q, rvm_error *err) {
    rvm_status status = begin_interpreted(q, err);
    if (!status) status = run_first(q, err);
    if (!status) status = run_second(q, err);
    return end_interpreted(q, status);
}

/* ---- natively ---- */

/* Zeros that are shadows of what is active only because it depends on what is. */
static bool make_zeros(const asked *q, rvm__derived *d) {
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
    to->data = zeros ? zeros : a->shadow_data;
    for (int d = a->ndim - 1; d >= 0; stride *= a->shape[d--]) to->stride[d] = zeros ? stride : a->shadow_stride[d];
}

/* Arguments of the derived function: each of f's, and behind it the shadow where it is active. */
static bool lay_out(const asked *q, rvm__derived *d) {
    if (!make_zeros(q, d)) return false;
    rvm_value *zeros = d->zeros;
    d->nargs = 0;
    for (uint32_t k = 0; k < q->n; k++) {
        rvm_arg *a = &d->args[d->nargs++];
        *a = q->args[k];
        a->active = false;
        if (!d->active[k]) continue;
        take_shadow(a, q->args[k].active ? NULL : zeros, &d->args[d->nargs++]);
        if (!q->args[k].active) zeros += rvm__cells(a);
    }
    return true;
}

/* What it left in scalars. */
static void take_scalars(const asked *q, const rvm__derived *d) {
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
static void derived_count(rvm_machine *m, rvm_machine *d, uint32_t ran, uint64_t *to) {
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
    if (s.ancilla_peak > m->stats.ancilla_peak) m->stats.ancilla_peak = s.ancilla_peak;
    if (s.depth_peak > m->stats.depth_peak) m->stats.depth_peak = s.depth_peak;
    if (s.trail_peak > m->trail.peak) m->trail.peak = s.trail_peak;
    rvm_machine_stats_reset(d);
}

/* As of a run of that mode. */
static void add_stats(rvm_machine *m, rvm__derived *d) {
    uint64_t *to = d->kind == RVM_TANGENT_OF ? &m->stats.forward : &m->stats.swept;
    derived_count(m, d->machine, ran_of(d->kind), to);
}

rvm_status rvm__gradient_program(rvm_machine *m, uint32_t fn, const uint8_t *wrt, rvm__gradient *out, rvm_error *err) {
    rvm__derived *d = find(m, fn, RVM_GRADIENT_OF, false, wrt);
    const rvm_status status = d ? ready(m, d, err) : rvm__no_memory(m, err);
    if (!status) *out = (rvm__gradient){d->machine, d->fn, d->active};
    return status;
}

rvm_status rvm__gradient_tangent(rvm_machine *m, uint32_t of, const rvm__gradient *g, rvm_arg *args, uint32_t nargs,
                                 rvm_error *err) {
    rvm_machine *d = g->machine;
    const rvm_status status = rvm_tangent(d, g->fn, args, nargs, err);
    const bool mode = d->stats.ran & RVM_RAN_TANGENTS, program = d->stats.ran & RVM_RAN_TANGENT;
    const uint32_t ran = (mode ? RVM_RAN_GRADIENT_TANGENTS : 0) | (program ? RVM_RAN_GRADIENT_TANGENT : 0);
    rvm_machine_unbind(d);
    derived_count(m, d, ran, &m->stats.forward);
    if (m->jit.engine) m->jit.engine->derived(m->jit.engine, d, of, NULL, false);
    return status;
}

/* Places the derived function on the arguments as they are. */
static rvm_status bind_derived(const asked *q, rvm__derived *d, rvm_error *err) {
    if (!lay_out(q, d)) return rvm__no_memory(q->m, err);
    return rvm_machine_bind(d->machine, d->fn, d->args, d->nargs, RVM_PRIMAL, false, err);
}

static rvm_status run_derived(asked *q, rvm__derived *d, rvm_error *err) {
    rvm_machine *m = d->machine;
    q->touched = true;
    const rvm_status status = rvm_machine_forward(m, err);
    add_stats(q->m, d);
    if (!status) take_scalars(q, d);
    return status;
}

/* f alone, on the machine that is asked, which need not take it back. */
static rvm_status bind_primal(const asked *q, rvm__derived *d, rvm_error *err) {
    rvm_machine *m = q->m;
    rvm_arg *args = d->args + 2 * q->n;
    const rvm_trail trail = m->o.trail;
    for (uint32_t k = 0; k < q->n; k++) {
        args[k] = q->args[k];
        args[k].active = false;
    }
    if (m->o.unchecked) m->o.trail = RVM_TRAIL_OFF;
    m->bound.compared_elsewhere = true;
    const rvm_status status = rvm_machine_bind(m, q->fn, args, q->n, RVM_PRIMAL, false, err);
    m->bound.compared_elsewhere = false;
    m->o.trail = trail;
    return status;
}

static rvm_status run_primal(const asked *q, const rvm__derived *d, rvm_error *err) {
    rvm_machine *m = q->m;
    const rvm_arg *args = d->args + 2 * q->n;
    const rvm_trail trail = m->o.trail;
    if (m->o.unchecked) m->o.trail = RVM_TRAIL_OFF;
    const rvm_status status = rvm_machine_forward(m, err);
    m->o.trail = trail;
    m->run.where = UNBOUND;
    for (uint32_t k = 0; k < q->n && !status; k++)
        if (!args[k].ndim) q->args[k].value = args[k].value;
    return status;
}

/* f, whose results are saved, and back to the start: by f'grad, again from there, if f left something on the trail or the
 * stack. */
static rvm_status run_both(asked *q, rvm__derived *d, rvm_error *err) {
    rvm_status status = run_primal(q, d, err);
    if (!status && !save_results(q)) status = rvm__no_memory(q->m, err);
    if (!status && (d->levels || q->m->store.nstack)) {
        give(q, RVM__INPUTS);
        d = find_for(q, RVM_GRADIENT_OF);
        status = d ? ready(q->m, d, err) : rvm__no_memory(q->m, err);
    }
    if (!status) status = bind_derived(q, d, err);
    return status ? status : run_derived(q, d, err);
}

/* Whether f'adj takes from a trail what is not kept there. */
static bool lacks_trail(const asked *q, const rvm__derived *d) {
    return d->levels && q->ask != ASK_TANGENT && !(goes_back(q) && q->m->o.trail == RVM_TRAIL_KEEP);
}

static const char *const no_trail = "what it takes from the trail is not kept there";

static rvm_status begin(asked *q, rvm__derived *d, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    rvm_status status = ready(q->m, d, err);
    if (!status && lacks_trail(q, d)) status = rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "%s", no_trail);
    if (!status && !q->placed && (!both || q->shadows)) status = bind_derived(q, d, err);
    if (!status && both) status = bind_primal(q, d, err);
    if (!status && !save(q, RVM__INPUTS)) status = rvm__no_memory(q->m, err);
    return status;
}

static rvm_status run_natively(asked *q, rvm__derived *d, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    if (!both) q->m->run.where = UNBOUND;
    rvm_status status = both ? run_both(q, d, err) : run_derived(q, d, err);
    if (!status) status = check_came_back(q, err);
    if (!status && both) give_results(q);
    if (status) give(q, RVM__INPUTS);
    return status;
}

static void tell(const asked *q, rvm__derived *d, const rvm_error *why) {
    rvm__engine *e = q->m->jit.engine;
    if (e) e->derived(e, d->machine, q->fn, why, why && !d->noticed);
    if (why) d->noticed = true;
}

/* Whether native code never will run: then the machine's modes are the faster way. */
static void note_refused(rvm__derived *d, const rvm__engine *e) {
    rvm_error why;
    d->refused = e && !e->lacks && e->reason(e, &why) == RVM_ERR_UNSUPPORTED;
    if (d->refused) memcpy(d->why.message, why.message, sizeof why.message);
}

static void note_engine(const asked *q, rvm__derived *d) {
    note_refused(d, d->machine->jit.engine);
    tell(q, d, NULL);
}

/* Limits are of the program that runs: f'adj may pass them where f does not. Then shadows begin anew, too. */
static bool has_limits(const rvm_options *o) {
    return o->fuel || o->memory || o->trail_limit;
}

static rvm_status natively(asked *q, rvm__derived *d, rvm_error *err) {
    rvm_error why; /* field by field, as take_shadow */
    why.code = RVM_OK;
    why.line = why.column = why.pc = 0;
    why.file[0] = why.message[0] = 0;
    q->shadows = q->ask == ASK_TANGENT || has_limits(&q->m->o);
    rvm_status status = begin(q, d, &why);
    if (!status) status = run_natively(q, d, &why);
    if (!status) return note_engine(q, d), RVM_OK;
    if (status == RVM_ERR_CANCELLED || status == RVM_ERR_NOT_RESTORABLE) { /* which interpreted it would be, too */
        if (err) *err = why;
        return status;
    }
    tell(q, d, &why);
    const bool anew = !q->touched || q->shadows;
    if (status == RVM_ERR_MEMORY) rvm__derived_free(q->m); /* the interpreter may have to do with what it took */
    const rvm_status again = interpret(q, err);
    if (again == RVM_ERR_MEMORY && status == again && err && !err->line) *err = why; /* it has not begun: where that was */
    if (again || anew) return again;
    if (err) *err = why;
    return status;
}

/* ---- interpreted until there is native code ---- */

/* The program that goes back to the start. */
static rvm__derived *backward_program(const asked *q, rvm__derived *d) {
    if (q->ask != ASK_VALUE_AND_GRADIENT || !d->levels) return d;
    rvm__derived *back = find_for(q, RVM_GRADIENT_OF);
    if (!back || ready(q->m, back, NULL)) return NULL;
    if (back->ran < d->ran) back->ran = d->ran;
    return back;
}

/* Whether there is code for the program as it is bound. What was interpreted in its place counts as its own. */
static bool ask_engine(rvm__derived *d) {
    rvm__engine *e = d->machine->jit.engine;
    e->ran(e, d->machine, d->ran - d->counted);
    d->counted = d->ran;
    if (rvm__native_is_there(d->machine)) return true;
    note_refused(d, e);
    if (e->lacks != RVM__LACKS_CODE) d->asks = 2 * d->ran;
    return false;
}

/* Whether there is native code for these arguments. Until some was asked for, and is being compiled, it is asked for when
 * twice as much was interpreted, since asking takes time. */
static bool is_there(asked *q, rvm__derived *d) {
    const uint64_t patience = q->m->jit.engine->patience;
    if (d->ran < patience || d->ran < d->asks || ready(q->m, d, NULL)) return false;
    rvm__derived *back = backward_program(q, d);
    if (!back || back->machine->jit.engine->awaits(back->machine->jit.engine)) return false;
    if (lacks_trail(q, d) || bind_derived(q, back, NULL)) return false;
    q->placed = ask_engine(back);
    d->asks = back->asks;
    return q->placed;
}

typedef struct race {
    asked *q;
    rvm__derived *d;
    uint64_t before; /* instructions interpreted for d */
    bool lost;       /* by the interpreter */
} race;

static bool overtaken(void *by) {
    race *r = by;
    r->d->ran = r->before + r->q->m->run.counted;
    return r->lost = is_there(r->q, r->d);
}

/* The first half, until there is native code: r->lost, and nothing has changed. */
static rvm_status try_first(race *r, rvm_error *err) {
    asked *q = r->q;
    rvm_machine *m = q->m;
    const rvm_stats before = m->stats;
    m->run.overtaken = overtaken;
    m->run.overtaker = r;
    const rvm_status status = run_first(q, err);
    m->run.overtaken = NULL;
    if (!r->lost) return status;
    m->run.where = UNBOUND;
    m->stats = before;
    give(q, RVM__INPUTS);
    return status;
}

static rvm_status interpret_until(race *r, rvm_error *err) {
    const rvm_stats *s = &r->q->m->stats;
    const uint64_t before = s->forward + s->swept;
    rvm_status status = begin_interpreted(r->q, err);
    if (!status) status = try_first(r, err);
    if (!status) status = run_second(r->q, err);
    if (!r->lost) r->d->ran = r->before + s->forward + s->swept - before;
    return end_interpreted(r->q, status);
}

/* What its program lacks, if there is one yet. */
static void tell_lacking(const asked *q, rvm__derived *d) {
    rvm_error why = {.code = RVM_ERR_UNSUPPORTED};
    rvm__engine *e = q->m->jit.engine;
    snprintf(why.message, sizeof why.message, "%s", rvm__native_lacks(RVM__LACKS_USE));
    e->derived(e, d->machine, (uint32_t)q->fn, d->machine ? NULL : &why, false);
}

static rvm_status in_tiers(asked *q, rvm__derived *d, rvm_error *err) {
    race r = {.q = q, .d = d, .before = d->ran};
    const rvm_status status = interpret_until(&r, err);
    if (r.lost) return natively(q, d, err);
    tell_lacking(q, d);
    return status;
}

/* ---- both ---- */

/* Why it is interpreted for good, or NULL. */
static const char *refused(const asked *q, const rvm__derived *d) {
    if (d->refused || (!d->program && d->why.code)) return d->why.message;
    if (q->m->o.keep_shadows && (q->ask == ASK_GRADIENT || q->ask == ASK_SWEEP))
        return "native code does not go forward again after a sweep (keep_shadows)";
    if (d->machine && lacks_trail(q, d)) return no_trail;
    if (q->m->o.profile) return "derivatives are counted in the machine's modes (profile)";
    return rvm__native_refuses(&q->m->o);
}

static void tell_refused(const asked *q, rvm__derived *d, const char *reason) {
    rvm_error why;
    rvm__fail(&why, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "its derivative: %s", reason);
    tell(q, d, &why);
}

static bool is_sound(const asked *q) {
    return q->fn >= 0 && q->fn < q->m->p->nfunctions && q->n == function_of(q)->nparams && (!q->n || q->args);
}

/* ---- by programs whose loops run again from snapshots, on any engine ---- */

/* Options that ask for what these programs do not do. */
static const char *stands_against(const rvm_options *o) {
    return o->exact ? "exact" : o->keep_shadows ? "keep_shadows" : o->profile ? "profile" : NULL;
}

/* What f computes goes into the room for results, place after place. */
static bool lay_out_results(const asked *q, rvm__derived *d) {
    const size_t room = saved_cells(q) * sizeof(rvm_value);
    rvm_value *to = rvm__room(q->m, RVM__RESULTS, room);
    if (room && !to) return false;
    for (uint32_t k = 0; k < q->n; k++) {
        if (!saves_value(q, k)) continue;
        rvm_arg *a = &d->args[d->nargs++];
        const int64_t n = rvm__cells(&q->args[k]);
        int64_t stride = 1;
        *a = q->args[k];
        a->active = false;
        a->data = to;
        for (int dim = a->ndim - 1; dim >= 0; stride *= a->shape[dim--]) a->stride[dim] = stride;
        for (int64_t j = 0; j < n; j++) to[j] = rvm__sum_start(a->type);
        a->value.i = rvm__sum_start(a->type).i;
        to += n;
    }
    return true;
}

/* Results that are scalars, into the room where arrays are. */
static void keep_scalars(const asked *q, const rvm__derived *d) {
    rvm_value *to = q->m->store.kept[RVM__RESULTS];
    const rvm_arg *from = d->args + d->nargs;
    for (uint32_t k = q->n; k-- > 0;) from -= saves_value(q, k);
    for (uint32_t k = 0; k < q->n; k++) {
        if (!saves_value(q, k)) continue;
        if (!q->args[k].ndim) to->i = from->value.i;
        to += rvm__cells(&q->args[k]);
        from++;
    }
}

static rvm_status run_marching(asked *q, rvm__derived *d, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    rvm_status status = lay_out(q, d) && (!both || lay_out_results(q, d)) ? RVM_OK : rvm__no_memory(q->m, err);
    const uint32_t fn = both ? d->values : d->fn;
    if (!status) status = rvm_machine_bind(d->machine, fn, d->args, d->nargs, RVM_PRIMAL, false, err);
    if (!status) status = run_derived(q, d, err);
    if (!status && both) keep_scalars(q, d);
    return status ? status : check_came_back(q, err);
}

/* Shapes and the like are looked at as for any run. */
static rvm_status marching(asked *q, rvm__derived *d, rvm_error *err) {
    rvm_status status = bind(q, err);
    rvm_machine_unbind(q->m);
    if (!status) status = ready(q->m, d, err);
    if (!status && !save(q, RVM__INPUTS)) status = rvm__no_memory(q->m, err);
    if (status) return status;
    q->m->run.where = UNBOUND;
    status = run_marching(q, d, err);
    if (!status && q->ask == ASK_VALUE_AND_GRADIENT) give_results(q);
    if (status) give(q, RVM__INPUTS);
    return status;
}

static rvm_status ask_marching(asked *q, rvm_error *err) {
    const char *against = stands_against(&q->m->o);
    if (against)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "gradients by checkpoints do not go with the option %s",
                         against);
    rvm__derived *d = find_marching(q, RVM_GRADIENT_OF, true);
    return d ? marching(q, d, err) : rvm__no_memory(q->m, err);
}

/* ---- any derivative ---- */

static bool has_engine(const asked *q) {
    return q->m->jit.engine && is_sound(q);
}

static rvm_status derivative(asked *q, rvm_error *err) {
    if (q->m->o.checkpoints && goes_back(q) && is_sound(q)) return ask_marching(q, err);
    rvm__derived *d = has_engine(q) ? find_for(q, kind_of[q->ask]) : NULL; /* else the interpreter says what is wrong */
    if (!d) return interpret(q, err);
    const char *why = refused(q, d);
    if (!why && (!q->m->jit.engine->patience || is_there(q, d))) return natively(q, d, err);
    if (!why) why = refused(q, d); /* since it was asked for */
    if (!why) return in_tiers(q, d, err);
    tell_refused(q, d, why);
    return interpret(q, err);
}

static rvm_status ask(rvm_machine *m, enum ask what, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    RVM__NEEDS(m);
    asked q = {.m = m, .ask = what, .fn = fn, .args = args, .n = nargs};
    return derivative(&q, err);
}

rvm_status rvm_gradient(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    return ask(m, ASK_GRADIENT, fn, args, nargs, err);
}

rvm_status rvm_value_and_gradient(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    return ask(m, ASK_VALUE_AND_GRADIENT, fn, args, nargs, err);
}

rvm_status rvm_sweep(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    return ask(m, ASK_SWEEP, fn, args, nargs, err);
}

rvm_status rvm_tangent(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    return ask(m, ASK_TANGENT, fn, args, nargs, err);
}
