/* derived.c: derivatives, by the machine's modes or natively.
 *
 * Native code runs primal code only; a derivative runs natively as the program that computes it, on a machine of its own:
 *
 *     tangent              f'tan                     sweep      f'adj
 *     gradient             f'grad, which is f, then f'adj
 *     value and gradient   f, whose results are kept; f'adj; where f leaves something on the trail, the stack or the record
 *                          of an exact run, f'grad
 *
 * Their arguments are the caller's arrays and shadows. Nothing of them is ever taken back, so they keep no trail. What a
 * function is derived into is kept (rvm__derived), the last MOST_DERIVED of them.
 *
 * An engine with patience wants a derivative to be interpreted until there is native code for it, which is asked for after
 * so many instructions over all calls. The modes are several times faster than the program interpreted, so that never
 * runs; a run in progress when the code comes begins anew, if it has not turned yet. If a native run fails the arguments get
 * their values back and the interpreter runs, from the start, since its errors speak of f.
 */
#include "asked.h"
#include "builder.h"
#include "program.h"
#include "support.h"

#include <string.h>

#include "cells.h"
#include "memory.h"
#include "native.h"
#include "rerun.h"
#include "run.h"
#include "traced.h"
#include "transform.h"

static const rvm_transform kind_of[] = {[ASK_TANGENT] = RVM_TANGENT_OF,
                                        [ASK_SWEEP] = RVM_ADJOINT,
                                        [ASK_GRADIENT] = RVM_GRADIENT_OF,
                                        [ASK_VALUE_AND_GRADIENT] = RVM_ADJOINT};

static rvm__derived *find_for(const rvm__asked *q, rvm_transform kind) {
    return rvm__asked_find(q, kind, RVM__AS_DERIVED);
}

/* ---- by the interpreter ---- */

/* The results, which are values alone. */
static bool save_results(rvm__asked *q) {
    const bool shadows = q->shadows;
    q->shadows = false;
    const bool good = rvm__asked_save(q, RVM__RESULTS);
    q->shadows = shadows;
    return good;
}

/* The first half, or all of it. */
static rvm_status run_first(const rvm__asked *q, rvm_error *err) {
    return q->ask == ASK_SWEEP ? rvm_machine_sweep(q->m, err) : rvm_machine_forward(q->m, err);
}

static rvm_status run_second(rvm__asked *q, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    if (!rvm__asked_returns(q)) return RVM_OK;
    if (both && !save_results(q)) return rvm__no_memory(q->m, err);
    rvm_status status = rvm_machine_sweep(q->m, err);
    if (status || !both) return status;
    rvm__unbind(q->m);
    return rvm__asked_results(q, err);
}

/* Binding looks at the arguments, so that they can be saved. */
static rvm_status begin_interpreted(rvm__asked *q, rvm_error *err) {
    const rvm_status status = rvm__asked_bind(q, err);
    q->shadows = !rvm__asked_returns(q) || q->again;
    if (status) return status;
    q->saved = rvm__asked_save(q, RVM__INPUTS);
    return q->saved ? RVM_OK : rvm__no_memory(q->m, err);
}

/* Inputs that did not come back are given back. */
static rvm_status end_interpreted(rvm__asked *q, rvm_status status) {
    if (status != RVM_ERR_NOT_RESTORABLE) return status;
    q->m->run.where = UNBOUND;
    q->shadows = !rvm__asked_returns(q) || q->again;
    rvm__asked_give(q, RVM__INPUTS);
    return status;
}

static rvm_status interpret(rvm__asked *q, rvm_error *err) {
    rvm_status status = begin_interpreted(q, err);
    if (!status && (status = rvm__check_by_hand(q->m, q->ask != ASK_TANGENT, err))) rvm_machine_unbind(q->m);
    if (!status) status = run_first(q, err);
    if (!status) status = run_second(q, err);
    return end_interpreted(q, status);
}

/* ---- natively ---- */

rvm_status rvm__gradient_program(rvm_machine *m, uint32_t fn, const uint8_t *wrt, rvm__gradient *out, rvm_error *err) {
    rvm__derived *d = rvm__derived_kept(m, fn, RVM_GRADIENT_OF, RVM__AS_DERIVED, wrt);
    const rvm_status status = d ? rvm__derived_ready(m, d, err) : rvm__no_memory(m, err);
    if (!status) *out = (rvm__gradient){d->machine, d->fn, d->active};
    return status;
}

rvm_status rvm__gradient_tangent(rvm_machine *m, uint32_t of, const rvm__gradient *g, rvm_arg *args, uint32_t nargs,
                                 rvm_error *err) {
    rvm_machine *d = g->machine;
    const rvm_status status = rvm_tangent(d, g->fn, args, nargs, err);
    const bool mode = d->stats.ran & RVM_RAN_TANGENTS, program = d->stats.ran & RVM_RAN_TANGENT;
    const uint32_t ran = (mode ? RVM_RAN_GRADIENT_TANGENTS : 0) | (program ? RVM_RAN_GRADIENT_TANGENT : 0);
    rvm__unbind(d);
    rvm__derived_count(m, d, ran, &m->stats.forward);
    if (m->jit.engine) m->jit.engine->derived(m->jit.engine, d, of, NULL, false);
    return status;
}

/* Places the derived function on the arguments as they are. A shadow is a parameter to it, which values may share as far as
 * roles go: the modes refuse that, and say why. */
static rvm_status bind_derived(const rvm__asked *q, rvm__derived *d, rvm_error *err) {
    if (!rvm__asked_lay_out(q, d)) return rvm__no_memory(q->m, err);
    const rvm_status status = rvm_machine_bind(d->machine, d->fn, d->args, d->nargs, RVM_PRIMAL, false, err);
    if (status || !rvm__value_meets_shadow(q->args, q->n)) return status;
    rvm__unbind(d->machine);
    return rvm__fail(err, RVM_ERR_ALIAS, NULL, 0, 0, "a value and a shadow overlap");
}

/* f alone, on the machine that is asked, which need not take it back; with a profile on the derivative's, since what it
 * counted is to be forgotten where the derivative fails. */
static rvm_machine *machine_of_primal(const rvm__asked *q, const rvm__derived *d) {
    return q->m->profile ? d->machine : q->m;
}

static rvm_status bind_primal(const rvm__asked *q, rvm__derived *d, rvm_error *err) {
    rvm_machine *m = machine_of_primal(q, d);
    rvm_arg *args = d->args + 2 * q->n;
    const rvm_trail trail = m->o.trail;
    for (uint32_t k = 0; k < q->n; k++) {
        args[k] = q->args[k];
        args[k].active = args[k].fresh_shadow = false;
    }
    if (m->o.unchecked) m->o.trail = RVM_TRAIL_OFF;
    const bool elsewhere = m->bound.compared_elsewhere;
    m->bound.compared_elsewhere = true;
    const rvm_status status = rvm_machine_bind(m, q->fn, args, q->n, RVM_PRIMAL, false, err);
    m->bound.compared_elsewhere = elsewhere;
    m->o.trail = trail;
    return status;
}

static rvm_status run_primal(const rvm__asked *q, const rvm__derived *d, rvm_error *err) {
    rvm_machine *m = machine_of_primal(q, d);
    uint64_t apart = 0;
    const rvm_arg *args = d->args + 2 * q->n;
    const rvm_options kept = m->o;
    const bool elsewhere = m->bound.compared_elsewhere;
    if (m->o.unchecked) m->o.trail = RVM_TRAIL_OFF;
    m->o.print = NULL;
    m->bound.compared_elsewhere = true;
    const rvm_status status = rvm_machine_forward(m, err);
    m->bound.compared_elsewhere = elsewhere;
    m->o = kept;
    m->run.where = UNBOUND;
    if (m != q->m) rvm__derived_count(q->m, m, RVM_RAN_FUNCTION, &apart);
    for (uint32_t k = 0; k < q->n && !status; k++)
        if (!args[k].ndim) q->args[k].value = args[k].value;
    return status;
}

static const char *const left = "with a profile f is not run twice, and it leaves something on the trail or the stack";

/* f, whose results are saved, and back to the start: by f'grad, again from there, if f left something on the trail or the
 * stack. */
static rvm_status run_both(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    rvm_status status = run_primal(q, d, err);
    if (!status && !save_results(q)) status = rvm__no_memory(q->m, err);
    if (!status && q->m->profile && d->machine->store.nstack)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "%s", left);
    if (!status && (d->levels || q->m->store.nstack || q->m->o.exact)) {
        rvm__asked_give(q, RVM__INPUTS);
        d = find_for(q, RVM_GRADIENT_OF);
        status = d ? rvm__derived_ready(q->m, d, err) : rvm__no_memory(q->m, err);
    }
    if (!status) status = bind_derived(q, d, err);
    return status ? status : rvm__asked_run(q, d, err);
}

/* Whether f'adj takes from a trail what is not kept there. */
static bool lacks_trail(const rvm__asked *q, const rvm__derived *d) {
    return d->levels && q->ask != ASK_TANGENT && !(rvm__asked_returns(q) && q->m->o.trail == RVM_TRAIL_KEEP);
}

static const char *const no_trail = "what it takes from the trail is not kept there";

static rvm_status begin(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    rvm_status status = rvm__derived_ready(q->m, d, err);
    if (!status && both && q->m->profile && d->levels) status = rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "%s", left);
    if (!status && lacks_trail(q, d)) status = rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "%s", no_trail);
    if (!status && !q->placed && (!both || q->shadows)) status = bind_derived(q, d, err);
    if (!status && both) status = bind_primal(q, d, err);
    if (!status && !rvm__asked_save(q, RVM__INPUTS)) status = rvm__no_memory(q->m, err);
    return status;
}

/* What ran was counted, and becomes what f did; nothing does where it failed, since it is run again then. */
static rvm_status hand_over(const rvm__asked *q, rvm__derived *d, rvm_status status, rvm_error *err) {
    if (status) return rvm__profile_reset(d->machine), status;
    if (rvm__profile_hand_over(d->machine, &q->m->stats.forward, &q->m->stats.swept)) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "its code does not tell what it ran for (profile)");
}

static rvm_status run_natively(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    if (!both) q->m->run.where = UNBOUND;
    rvm_status status = both ? run_both(q, d, err) : rvm__asked_run(q, d, err);
    if (q->m->profile) status = hand_over(q, d, status, err);
    if (!status) status = rvm__asked_compare(q, err);
    if (!status && both) status = rvm__asked_results(q, err);
    if (!status && q->ask == ASK_GRADIENT) rvm__asked_hand_back(q);
    if (status) rvm__asked_give(q, RVM__INPUTS);
    return status;
}

static void tell(const rvm__asked *q, rvm__derived *d, const rvm_error *why) {
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

static void note_engine(const rvm__asked *q, rvm__derived *d) {
    note_refused(d, d->machine->jit.engine);
    tell(q, d, NULL);
}

/* Limits are of the program that runs: f'adj may pass them where f does not. Then shadows begin anew, too; and in exact
 * runs, where f'adj has less than the modes. */
static bool has_limits(const rvm_options *o) {
    return o->fuel || o->memory || o->trail_limit;
}

static rvm_status natively(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    rvm_error why; /* field by field, as take_shadow */
    why.code = RVM_OK;
    why.line = why.column = why.pc = 0;
    why.file[0] = why.message[0] = 0;
    q->shadows = q->ask == ASK_TANGENT || has_limits(&q->m->o) || q->m->profile || q->m->o.exact;
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
static rvm__derived *backward_program(const rvm__asked *q, rvm__derived *d) {
    if (q->ask != ASK_VALUE_AND_GRADIENT || !(d->levels || q->m->o.exact)) return d;
    rvm__derived *back = find_for(q, RVM_GRADIENT_OF);
    if (!back || rvm__derived_ready(q->m, back, NULL)) return NULL;
    if (back->ran < d->ran) back->ran = d->ran;
    return back;
}

bool rvm__derived_is_native(rvm__derived *d) {
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
static bool is_there(rvm__asked *q, rvm__derived *d) {
    const uint64_t patience = q->m->jit.engine->patience;
    if (d->ran < patience || d->ran < d->asks || rvm__derived_ready(q->m, d, NULL)) return false;
    rvm__derived *back = backward_program(q, d);
    if (!back || back->machine->jit.engine->awaits(back->machine->jit.engine)) return false;
    if (lacks_trail(q, d) || bind_derived(q, back, NULL)) return false;
    q->placed = rvm__derived_is_native(back);
    d->asks = back->asks;
    return q->placed;
}

typedef struct race {
    rvm__asked *q;
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
    rvm__asked *q = r->q;
    rvm_machine *m = q->m;
    const rvm_stats before = m->stats;
    m->run.overtaken = m->profile ? NULL : overtaken; /* counts are not taken back */
    m->run.overtaker = r;
    const rvm_status status = run_first(q, err);
    m->run.overtaken = NULL;
    if (!r->lost) return status;
    m->run.where = UNBOUND;
    m->stats = before;
    rvm__asked_give(q, RVM__INPUTS);
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
static void tell_lacking(const rvm__asked *q, rvm__derived *d) {
    rvm_error why = {.code = RVM_ERR_UNSUPPORTED};
    rvm__engine *e = q->m->jit.engine;
    snprintf(why.message, sizeof why.message, "%s", rvm__native_lacks(RVM__LACKS_USE));
    e->derived(e, d->machine, (uint32_t)q->fn, d->machine ? NULL : &why, false);
}

static rvm_status in_tiers(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    race r = {.q = q, .d = d, .before = d->ran};
    const rvm_status status = interpret_until(&r, err);
    if (r.lost) return natively(q, d, err);
    tell_lacking(q, d);
    return status;
}

/* ---- both ---- */

/* Why it is interpreted for good, or NULL. */
static const char *refused(const rvm__asked *q, const rvm__derived *d) {
    if (d->refused || (!d->program && d->why.code)) return d->why.message;
    if (q->m->o.keep_shadows && (q->ask == ASK_GRADIENT || q->ask == ASK_SWEEP))
        return "native code does not go forward again after a sweep (keep_shadows)";
    if (d->machine && lacks_trail(q, d)) return no_trail;
    return q->m->o.activity ? "what writes change is measured by single steps (activity)" : NULL;
}

static void tell_refused(const rvm__asked *q, rvm__derived *d, const char *reason) {
    rvm_error why;
    rvm__fail(&why, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "its derivative: %s", reason);
    tell(q, d, &why);
}

static bool is_sound(const rvm__asked *q) {
    return q->fn >= 0 && q->fn < q->m->p->nfunctions && q->n == rvm__asked_function(q)->nparams && (!q->n || q->args);
}

/* ---- any derivative ---- */

static bool has_engine(const rvm__asked *q) {
    return q->m->jit.engine && is_sound(q);
}

/* What the modes offer and programs do not. In exact runs tangents by hand come back from compute parts by programs alone,
 * where there is one. */
static bool takes_modes(const rvm__asked *q, rvm__derived *d) {
    const rvm_options *o = &q->m->o;
    const bool exactly = o->exact && (q->ask != ASK_TANGENT || rvm__derived_ready(q->m, d, NULL));
    return exactly || o->keep_shadows || o->profile || o->activity;
}

/* Whether there is native code or not. */
static rvm_status by_program(rvm__asked *q, rvm_error *err) {
    rvm_machine *m = q->m;
    rvm__derived *d = find_for(q, kind_of[q->ask]);
    if (!d) return rvm__no_memory(m, err);
    rvm_status status = rvm__asked_bind(q, err); /* which looks at the arguments */
    rvm__unbind(m);
    m->run.where = UNBOUND;
    q->shadows = true;
    if (!status) status = begin(q, d, err);
    if (!status) status = run_natively(q, d, err);
    if (!status) note_engine(q, d);
    return status;
}

/* Some derivative on the way is written by hand: programs call it. */
static rvm_status by_rules(rvm__asked *q, rvm_error *err) {
    rvm__derived *d = find_for(q, kind_of[q->ask]);
    if (!d) return rvm__no_memory(q->m, err);
    if (!takes_modes(q, d)) return by_program(q, err);
    tell_refused(q, d, "one is written by hand, with exact, keep_shadows, profile or activity");
    return interpret(q, err);
}

/* The tangent of f'grad in an exact run: tangents come back by what was recorded of them, which the mode does not. */
static bool takes_tangents_back(const rvm__asked *q) {
    return q->m->o.exact && q->m->exact.values_only && q->ask == ASK_TANGENT;
}

static rvm_status by_trail(rvm__asked *q, rvm_error *err) {
    if (is_sound(q) && rvm_program_by_hand(q->m->p, (uint32_t)q->fn, q->ask == ASK_TANGENT ? RVM_TANGENT_OF : RVM_ADJOINT))
        return by_rules(q, err);
    if (is_sound(q) && takes_tangents_back(q)) return by_program(q, err);
    rvm__derived *d = has_engine(q) ? find_for(q, kind_of[q->ask]) : NULL; /* else the interpreter says what is wrong */
    if (!d) return interpret(q, err);
    const char *why = refused(q, d);
    if (!why && (!q->m->jit.engine->patience || is_there(q, d))) return natively(q, d, err);
    if (!why) why = refused(q, d); /* since it was asked for */
    if (!why) return in_tiers(q, d, err);
    tell_refused(q, d, why);
    return interpret(q, err);
}

/* Where the trail passes its limit, inputs and shadows are given back, and loops run again from snapshots. */
static rvm_status derivative(rvm__asked *q, rvm_error *err) {
    rvm_machine *m = q->m;
    const uint32_t asks = m->o.checkpoints;
    const bool returns = rvm__asked_returns(q) && is_sound(q);
    m->stats.marched = false;
    if (returns && asks && asks != RVM_CHECKPOINTS_NEVER) return rvm__ask_marching(q, err);
    q->again = returns && rvm__marches_at_limit(q);
    const rvm_status status = by_trail(q, err);
    if (status != RVM_ERR_LIMIT || !q->again || !q->saved) return status;
    m->run.where = UNBOUND;
    rvm__asked_give(q, RVM__INPUTS);
    rvm_error why;
    const rvm_status again = rvm__ask_marching(q, &why);
    if (again && again != RVM_ERR_LIMIT && err) *err = why;
    if (again == RVM_ERR_LIMIT && err) memcpy(err->message, why.message, sizeof err->message); /* the least limit */
    return again;
}

static rvm_status ask(rvm_machine *m, enum ask what, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    RVM__NEEDS(m);
    rvm__asked q = {.m = m, .ask = what, .fn = fn, .args = args, .n = nargs};
    const rvm_status status = derivative(&q, err);
    rvm__asked_forget(&q);
    return status;
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
