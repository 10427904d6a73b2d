/* marching.c: gradients by programs whose loops run again from snapshots (derive/checkpoint.h), on any engine.
 *
 * How many states are kept is an option, or follows from the memory that they may take: trail_limit, else half of what
 * option memory allows, else a quarter of what the computer has. Each loop that may be run again has an equal part of three
 * quarters of that; where a run passes the limit all the same, since a loop stands in another or is reached several times,
 * it begins anew with a quarter of it, until one state of each is kept. */
#include <string.h>

#include "asked.h"
#include "builder.h"
#include "program.h"
#include "support.h"

#include "cells.h"
#include "checkpoint.h"
#include "kept.h"
#include "run.h"
#include "trail.h"

/* What f computes goes into the room for results, place after place. */
static bool lay_out_results(const rvm__asked *q, rvm__derived *d) {
    const size_t room = rvm__asked_cells(q) * sizeof(rvm_value);
    rvm_value *to = rvm__room(q->m, RVM__RESULTS, room);
    if (room && !to) return false;
    rvm__kept_forget(q->m, RVM__KEPT_RESULTS); /* of a run that was given up: these are the machine's */
    for (uint32_t k = 0; k < q->n; k++) {
        if (!rvm__asked_value(q, k)) continue;
        rvm_arg *a = &d->args[d->nargs++];
        const int64_t n = rvm__cells(&q->args[k]);
        int64_t stride = 1;
        *a = q->args[k];
        a->active = a->fresh = false;
        a->data = to;
        for (int dim = a->ndim - 1; dim >= 0; stride *= a->shape[dim--]) a->stride[dim] = stride;
        for (int64_t j = 0; j < n; j++) to[j] = rvm__sum_start(a->type);
        a->value.i = rvm__sum_start(a->type).i;
        to += n;
    }
    return true;
}

/* Results that are scalars, into the room where arrays are. */
static void keep_scalars(const rvm__asked *q, const rvm__derived *d) {
    rvm_value *to = q->m->store.kept[RVM__RESULTS];
    const rvm_arg *from = d->args + d->nargs;
    for (uint32_t k = q->n; k-- > 0;) from -= rvm__asked_value(q, k);
    for (uint32_t k = 0; k < q->n; k++) {
        if (!rvm__asked_value(q, k)) continue;
        if (!q->args[k].ndim) to->i = from->value.i;
        to += rvm__cells(&q->args[k]);
        from++;
    }
}

static rvm_status place(const rvm__asked *q, rvm__derived *d, rvm_error *err) {
    const bool both = q->ask == ASK_VALUE_AND_GRADIENT;
    if (!rvm__asked_lay_out(q, d) || (both && !lay_out_results(q, d))) return rvm__no_memory(q->m, err);
    return rvm_machine_bind(d->machine, both ? d->values : d->fn, d->args, d->nargs, RVM_PRIMAL, false, err);
}

static rvm_status run_marching(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    rvm_status status = place(q, d, err);
    if (!status) status = rvm__asked_run(q, d, err);
    if (!status && q->ask == ASK_VALUE_AND_GRADIENT) keep_scalars(q, d);
    return status ? status : rvm__asked_compare(q, err);
}

/* Shapes and the like are looked at as for any run. */
static rvm_status marching(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    rvm_status status = rvm__asked_bind(q, err);
    rvm__unbind(q->m);
    if (!status) status = rvm__derived_ready(q->m, d, err);
    q->shadows = true;
    if (!status && !rvm__asked_save(q, RVM__INPUTS)) status = rvm__no_memory(q->m, err);
    if (status) return status;
    q->m->run.where = UNBOUND;
    status = run_marching(q, d, err);
    if (status) rvm__asked_give(q, RVM__INPUTS);
    if (!status && q->ask == ASK_VALUE_AND_GRADIENT) status = rvm__asked_results(q, err);
    if (!status && q->ask == ASK_GRADIENT) rvm__asked_hand_back(q);
    if (q->m->o.checkpoint_dir) rvm__trail_clear(d->machine); /* no files are left */
    q->m->stats.marched = !status;
    return status;
}

/* As few states as the limit allows. */
static rvm_status marching_within(rvm__asked *q, rvm__derived *d, rvm_error *err) {
    if (!d->cells) d->cells = rvm__marching_cells(&q->m->o);
    rvm_status status = marching(q, d, err);
    while ((status == RVM_ERR_LIMIT || status == RVM_ERR_MEMORY) && d->cells > 1 && d->loops) {
        d->cells /= 4;
        rvm__derived_forget(d);
        status = marching(q, d, err);
    }
    return status;
}

/* ---- the least limit ---- */

/* Bytes of the trail where the limit is far: the least with which the run ends. *whole: false where it was not run to its
 * end, not to take much longer, or much more memory, than what has failed; it may need more. Inputs are given back. */
static uint64_t bytes_needed(const rvm__asked *q, rvm__derived *d, bool *whole) {
    enum { INSTRUCTIONS = 50000000, BYTES = 64 << 20 };
    rvm_machine *m = d->machine;
    const rvm_options kept = m->o;
    const uint64_t most = INSTRUCTIONS + 2 * q->m->stats.swept;
    rvm_stats s;
    m->o.trail_limit = rvm__most(2 * kept.trail_limit, BYTES);
    m->o.fuel = kept.fuel ? rvm__least(kept.fuel, most) : most;
    rvm__stats_reset(m);
    rvm_status status = place(q, d, NULL);
    if (!status) status = rvm_machine_forward(m, NULL);
    *whole = !status;
    rvm_machine_stats(m, &s);
    rvm__stats_reset(m);
    m->o = kept;
    rvm__asked_give(q, RVM__INPUTS);
    return s.trail_peak;
}

static void name_least(const rvm__asked *q, rvm__derived *d, rvm_error *err) {
    const size_t at = strlen(err->message);
    bool whole;
    const uint64_t bytes = bytes_needed(q, d, &whole);
    if (bytes <= q->m->o.trail_limit) return;
    snprintf(err->message + at, sizeof err->message - at, whole ? "; %llu would do" : "; it takes no less than %llu",
             (unsigned long long)bytes);
}

/* ---- asking ---- */

/* Options that ask for what these programs do not do. */
static const char *stands_against(const rvm_options *o) {
    return o->exact ? "exact" : o->keep_shadows ? "keep_shadows" : o->profile ? "profile" : NULL;
}

rvm_status rvm__ask_marching(rvm__asked *q, rvm_error *err) {
    const rvm_options *o = &q->m->o;
    const char *against = stands_against(o);
    if (against)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "gradients by checkpoints do not go with the option %s",
                         against);
    rvm__derived *d = rvm__asked_find(q, RVM_GRADIENT_OF, RVM__MARCHES);
    if (!d) return rvm__no_memory(q->m, err);
    const bool given = o->checkpoints && o->checkpoints != RVM_CHECKPOINTS_AUTO;
    const rvm_status status = given ? marching(q, d, err) : marching_within(q, d, err);
    if (status == RVM_ERR_LIMIT && err && q->touched && d->machine) name_least(q, d, err);
    return status;
}

bool rvm__marches_at_limit(const rvm__asked *q) {
    const rvm_options *o = &q->m->o;
    rvm__zone memory = {.al = &q->m->al};
    rvm__loops loops;
    if (!o->trail_limit || o->checkpoints || o->trail != RVM_TRAIL_KEEP || stands_against(o)) return false;
    const bool any = !rvm__loops_find(q->m->p, (uint32_t)q->fn, &memory, &loops, NULL) && rvm__loops_taken(&loops);
    rvm__zone_free(&memory);
    return any;
}
