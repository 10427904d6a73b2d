/* rerun.c: the end of a comparison. What came back is compared by restore.c; where that is not conclusive, f runs forward
 * once more. Hence above what runs, and restore.c below. */
#include "rerun.h"
#include "program.h"
#include "support.h"

#include <float.h>
#include <string.h>

#include "cells.h"
#include "kept.h"
#include "memory.h"
#include "native.h"
#include "run.h"
#include "transform.h"

/* One run of f forward, on a machine beside. */
typedef struct again {
    const rvm__restoring *r;
    rvm_value *const *was;
    const rvm_arg *now;
    rvm_arg *args; /* of f */
    uint32_t nargs;
    rvm_value *cells; /* of what f changes */
} again;

static bool is_value(const again *a, uint32_t k) {
    return !a->r->only || a->r->only[k];
}

static const rvm_param *param_of(const again *a, uint32_t k) {
    return &a->r->m->p->functions[a->r->fn].params[k];
}

static bool make_room(again *a) {
    rvm_machine *m = a->r->m;
    const uint32_t n = m->p->functions[a->r->fn].nparams;
    size_t cells = 0;
    for (uint32_t k = 0; k < n; k++)
        if (is_value(a, k) && param_of(a, k)->role != RVM_READ) cells += (size_t)rvm__cells(&a->now[k]);
    a->args = rvm__room(m, RVM__AGAIN, n * sizeof *a->args + cells * sizeof *a->cells);
    a->cells = (rvm_value *)(void *)(a->args + n);
    return a->args;
}

/* An argument like that with its elements side by side in cells. */
static void pack(const rvm_arg *like, rvm_value *cells, rvm_arg *to) {
    int64_t stride = 1;
    if (to != like) *to = *like;
    to->active = false;
    if (!to->ndim)
        to->value.i = cells->i;
    else
        to->data = cells;
    for (int d = to->ndim - 1; d >= 0; stride *= to->shape[d--]) to->stride[d] = stride;
}

/* What f does not change is the caller's. */
static void lay_out(again *a) {
    const rvm_machine *m = a->r->m;
    rvm_value *to = a->cells;
    for (uint32_t k = 0; k < m->p->functions[a->r->fn].nparams; k++) {
        const rvm_param *q = param_of(a, k);
        if (!is_value(a, k)) continue;
        rvm_arg *arg = &a->args[a->nargs++];
        *arg = a->now[k];
        arg->active = arg->fresh = false;
        if (!rvm__is_compared(q)) continue;
        const size_t n = (size_t)rvm__cells(arg);
        memcpy(to, a->was[k], n * sizeof *to);
        pack(arg, to, arg);
        to += n;
    }
}

static rvm_status machine_beside(rvm_machine *m, rvm_error *err) {
    rvm_options o = m->o;
    o.print = NULL;
    o.trail = RVM_TRAIL_OFF;
    o.profile = false;
    const rvm_status status = m->bound.beside ? RVM_OK : rvm_machine_new(m->p, &o, &m->bound.beside, err);
    if (status) return status;
    m->bound.beside->run.cancelled = m->run.cancelled;
    m->bound.beside->bound.compared_elsewhere = true;
    m->bound.beside->run.shown = m->run.shown;
    return m->jit.engine ? m->jit.engine->adopt(m->jit.engine, m->bound.beside, err) : RVM_OK;
}

/* At least as many instructions as the run went forward, which may have been stopped on the way. */
static uint64_t went(const rvm_machine *m) {
    enum { SOME = 1 << 16 };
    return rvm__run_count(m) + m->stats.forward + m->stats.backward + SOME;
}

/* Like rvm_call, which is above this; as far as the run went. */
static rvm_status call_beside(again *a, rvm_error *err) {
    rvm_machine *m = a->r->m->bound.beside;
    const uint64_t far = went(a->r->m), most = a->r->m->o.fuel;
    m->o.fuel = most && most < far ? most : far;
    rvm_status status = rvm_machine_bind(m, a->r->of, a->args, a->nargs, RVM_PRIMAL, false, err);
    if (!status) status = rvm__move(m, 1, false, &m->stats.forward, err);
    const bool stopped = status == RVM_ERR_FUEL;
    if (stopped) rvm__write_back(m);
    rvm__unbind(m);
    return stopped ? RVM_OK : status;
}

static double largest(const rvm_arg *a) {
    const rvm_value *p = rvm__cells_at(a);
    double most = 0;
    for (int64_t n = rvm__cells(a), k = 0; k < n; k++)
        if (isfinite(p[k].f)) most = fmax(most, fabs(p[k].f));
    return most;
}

/* Where f is g'grad its sums end as they began, and what they were between is not seen: they must be numbers. */
static bool any_size(const rvm__restoring *r, double *sizes) {
    uint8_t values[RVM_MAX_PARAMS];
    if (rvm__gradient_of(r->m->p, (uint32_t)r->of, values) < 0) return false;
    const rvm_function *f = &r->m->p->functions[r->fn];
    for (uint32_t k = 0; k < f->nparams; k++) sizes[k] = f->params[k].role == RVM_ACC ? DBL_MAX : 0;
    return true;
}

static rvm_status run_again(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, double *sizes,
                            rvm_error *err) {
    again a = {.r = r, .was = was, .now = now};
    if (!make_room(&a)) return rvm__no_memory(r->m, err);
    lay_out(&a);
    rvm_status status = machine_beside(r->m, err);
    if (!status) status = call_beside(&a, err);
    for (uint32_t k = 0, j = 0; !status && j < a.nargs; k++) {
        if (!is_value(&a, k)) continue;
        const rvm_param *q = param_of(&a, k);
        sizes[k] = q->role == RVM_ACC && rvm__is_floating((rvm_type)q->type) ? largest(&a.args[j]) : 0;
        j++;
    }
    return status;
}

/* A sum may round by what it became, which is known only to a run forward: made where the sum came back as too far off from
 * what went in, and only then. */
static rvm_status compare_sums(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, rvm__farthest *worst,
                               rvm_error *err) {
    double *sizes = rvm__scratch(r->m, SCRATCH_SIZES, RVM_MAX_PARAMS * sizeof *sizes);
    if (!sizes) return rvm__no_memory(r->m, err);
    rvm_error why;
    const rvm_status status = any_size(r, sizes) ? RVM_OK : run_again(r, was, now, sizes, &why);
    if (!status) *worst = rvm__farthest_off(r, was, now, sizes);
    if (status == RVM_ERR_CANCELLED && err) *err = why;
    return status == RVM_ERR_CANCELLED ? status : RVM_OK;
}

/* The widest tolerance that a release of the program states (`let s ~ 1e-3`): what it drops there comes back as far off. */
static double widest_stated(const rvm_program *p) {
    double widest = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn])
            if (x.in->flags & RVM_FLAG_TOL) widest = fmax(widest, x.f->consts[x.q[x.in->nplaces - 1].slot - x.f->nregs].f);
    return widest;
}

/* Those that a device finds near stay there; if others are too far off all are fetched, since one more run takes them. */
static rvm_status compare_there(rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, bool *near_enough,
                                rvm_error *err) {
    bool near[RVM_MAX_PARAMS];
    const bool any = rvm__find_near(r, now, near);
    rvm_status status = rvm__fetch_kept(r, near, err);
    if (status || !any) return status;
    r->near = near;
    *near_enough = rvm__farthest_off(r, was, now, NULL).excess == 0;
    r->near = NULL;
    return *near_enough ? RVM_OK : rvm__fetch_kept(r, NULL, err);
}

rvm_status rvm__compare_restored(const rvm__restoring *as_asked, rvm_value *const *was, const rvm_arg *now, rvm_error *err) {
    rvm__restoring wide = *as_asked;
    const rvm__restoring *r = &wide;
    const rvm_param *params = r->m->p->functions[r->fn].params;
    bool near_enough = false;
    const rvm_status lost = r->kept && r->m->jit.device ? compare_there(&wide, was, now, &near_enough, err) : RVM_OK;
    if (lost || near_enough) return lost;
    rvm__farthest worst = rvm__farthest_off(r, was, now, NULL);
    if (worst.excess > 0 && (wide.stated = widest_stated(r->m->p)) > 0) worst = rvm__farthest_off(r, was, now, NULL);
    if (worst.excess > 0 && worst.excess < DBL_MAX && params[worst.param].role == RVM_ACC) {
        const rvm_status status = compare_sums(r, was, now, &worst, err);
        if (status) return status;
    }
    return worst.excess > 0 ? rvm__tell_farthest(r, now, &worst, err) : RVM_OK;
}

rvm_status rvm__compare_inputs(rvm_machine *m, rvm_error *err) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    rvm_value *was[RVM_MAX_PARAMS];
    const bool at_end = m->run.where == AT_END;
    const rvm__restoring r = {.m = m,
                              .fn = m->bound.entry,
                              .of = at_end ? m->bound.gradient_of : m->bound.entry,
                              .only = at_end ? m->bound.is_value : NULL,
                              .kept = RVM__KEPT_BOUND + 1};
    rvm_value *from = m->bound.inputs;
    if (r.of < 0) return RVM_OK;
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        was[k] = from;
        if (rvm__is_compared(&f->params[k])) from += rvm__cells(&m->bound.args[k]);
    }
    return rvm__compare_restored(&r, was, m->bound.args, err);
}
