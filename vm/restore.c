/* restore.c: see restore.h. */
#include "restore.h"
#include "program.h"
#include "support.h"

#include <float.h>
#include <string.h>

#include "cells.h"
#include "memory.h"
#include "native.h"
#include "run.h"
#include "transform.h"

/* Elements from dimension d on, where they stand side by side; else -1. */
static int64_t side_by_side(const rvm_arg *a, int d) {
    int64_t n = 1;
    if (d >= RVM_MAX_DIMS) return 1;
    for (int k = a->ndim - 1; k >= d; n *= a->shape[k--])
        if (a->stride[k] != n) return -1;
    return n;
}

static int64_t count_of(const rvm_arg *a) {
    int64_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= a->shape[d];
    return n;
}

static const rvm_value *data_of(const rvm_arg *a) {
    return a->ndim ? a->data : (const rvm_value *)(const void *)&a->value;
}

/* ---- the comparison ---- */

/* The element that is farthest from what it must be, in units of what it may be off. */
typedef struct farthest {
    double excess;
    uint32_t param;
    int64_t element;
    rvm_value was, now;
} farthest;

/* By how much in units of what is allowed; size: the least that the tolerance is relative to. */
static double excess_of(rvm_type t, double tolerance, double size, rvm_value was, rvm_value now) {
    if (was.i == now.i) return 0;
    if (!rvm__is_floating(t)) return INFINITY;
    if (!isfinite(was.f) || was.f == now.f) return 0;
    const double off = fabs(now.f - was.f), allowed = tolerance * fmax(size, fabs(was.f));
    if (off <= allowed) return 0;
    return isnan(off) ? INFINITY : fmin(off / allowed, DBL_MAX); /* what is not a number is farther than any number */
}

/* Whether any of these reals is too far off; what is not finite counts as that, too. */
static bool any_far(const rvm_value *was, const rvm_value *now, int64_t n, double tolerance, double least) {
    int64_t far = 0;
    for (int64_t k = 0; k < n; k++) {
        const double size = fabs(was[k].f), off = fabs(now[k].f - was[k].f);
        far += !(off <= tolerance * (size > least ? size : least));
    }
    return far != 0;
}

typedef struct comparison {
    rvm_type type;
    double tolerance, size;
    const rvm_arg *was, *now;
    uint32_t param;
    farthest worst;
} comparison;

static void take_one(comparison *c, rvm_value was, rvm_value now, int64_t element) {
    const double excess = excess_of(c->type, c->tolerance, c->size, was, now);
    if (excess > c->worst.excess) c->worst = (farthest){excess, c->param, element, was, now};
}

/* Elements from dimension d on; first: the number of the first of them. Most often all agree, which is found in one go. */
static void take_from(comparison *c, int d, const rvm_value *was, const rvm_value *now, int64_t first) {
    const int64_t n = side_by_side(c->was, d), same = side_by_side(c->now, d);
    if (n >= 0 && n == same) {
        const size_t bytes = (size_t)n * sizeof *was;
        if (rvm__is_floating(c->type) ? !any_far(was, now, n, c->tolerance, c->size) : !n || !memcmp(was, now, bytes))
            return;
        for (int64_t k = 0; k < n; k++) take_one(c, was[k], now[k], first + k);
        return;
    }
    int64_t inner = 1;
    for (int k = d + 1; k < c->was->ndim; k++) inner *= c->was->shape[k];
    for (int64_t i = 0; i < c->was->shape[d]; i++)
        take_from(c, d + 1, was + i * c->was->stride[d], now + i * c->now->stride[d], first + i * inner);
}

static bool compared(const rvm_param *q, bool checked) {
    return q->role != RVM_READ && (rvm__is_floating((rvm_type)q->type) || !q->ndim || !checked);
}

static double tolerance_of(const rvm__restoring *r, rvm_type t) {
    return fmax(r->m->o.tolerance * (t == RVM_F32 ? 1e4 : 1), r->stated);
}

/* The widest tolerance that a release of the program states (`let s ~ 1e-3`): what it drops there comes back as far off. */
static double widest_stated(const rvm_program *p) {
    double widest = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn])
            if (x.in->flags & RVM_FLAG_TOL) widest = fmax(widest, x.f->consts[x.q[x.in->nplaces - 1].slot - x.f->nregs].f);
    return widest;
}

/* Why, and by how much where that is a number. */
static void reason(const rvm__restoring *r, rvm_type t, const farthest *w, char *text, size_t size) {
    const double allowed = tolerance_of(r, t);
    if (!rvm__is_floating(t))
        snprintf(text, size, "rounding grew on the way back");
    else if (!isfinite(w->now.f))
        snprintf(text, size, "a value became infinite or NaN on the way");
    else
        snprintf(text, size, "rounding grew on the way back: a relative %.2g apart, and the tolerance is %.2g",
                 w->excess * allowed, allowed);
}

static rvm_status tell(const rvm__restoring *r, const rvm_arg *now, const farthest *w, rvm_error *err) {
    const rvm_param *q = &r->m->p->functions[r->fn].params[w->param];
    const rvm_type t = (rvm_type)q->type;
    char name[160], was[48], is[48], why[160];
    rvm_arg_element_text(q->name, &now[w->param], w->element, name, sizeof name);
    rvm__plain_text(t, w->was, was, sizeof was);
    rvm__plain_text(t, w->now, is, sizeof is);
    reason(r, t, w, why, sizeof why);
    return rvm__fail_at(err, RVM_ERR_NOT_RESTORABLE, r->m->p, r->fn, 0,
                        "`%s` cannot be restored: it went in as %s and came back as %s, since %s; what was computed on the "
                        "way, such as a gradient, may be wrong by as much or more",
                        name, was, is, why);
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

/* sizes: by parameter, what the tolerance is relative to where that is more than 1; NULL: it is nowhere. */
static farthest compare(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, const double *sizes) {
    const rvm_function *f = &r->m->p->functions[r->fn];
    comparison c = {.worst = {.excess = 0}};
    for (uint32_t k = 0; k < f->nparams; k++) {
        if ((r->only && !r->only[k]) || !compared(&f->params[k], !r->m->o.unchecked)) continue;
        rvm_arg before;
        pack(&now[k], was[k], &before);
        c.type = (rvm_type)f->params[k].type;
        c.tolerance = tolerance_of(r, c.type);
        c.size = sizes ? fmax(1, sizes[k]) : 1;
        c.was = &before, c.now = &now[k];
        c.param = k;
        take_from(&c, 0, data_of(c.was), data_of(c.now), 0);
    }
    return c.worst;
}

/* ---- what is only added to: how large it became, which nobody kept ---- */

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

/* What f does not change is the caller's; what is not compared came back as it went in. */
static void lay_out(again *a) {
    const rvm_machine *m = a->r->m;
    rvm_value *to = a->cells;
    for (uint32_t k = 0; k < m->p->functions[a->r->fn].nparams; k++) {
        const rvm_param *q = param_of(a, k);
        if (!is_value(a, k)) continue;
        rvm_arg *arg = &a->args[a->nargs++];
        *arg = a->now[k];
        arg->active = false;
        if (q->role == RVM_READ) continue;
        const size_t n = (size_t)rvm__cells(arg);
        if (compared(q, !m->o.unchecked))
            memcpy(to, a->was[k], n * sizeof *to);
        else
            rvm__cells_take(arg, false, to);
        pack(arg, to, arg);
        to += n;
    }
}

static rvm_status machine_beside(rvm_machine *m, rvm_error *err) {
    rvm_options o = m->o;
    o.trail = RVM_TRAIL_OFF;
    o.profile = false;
    const rvm_status status = m->bound.beside ? RVM_OK : rvm_machine_new(m->p, &o, &m->bound.beside, err);
    if (status) return status;
    m->bound.beside->run.cancelled = m->run.cancelled;
    m->bound.beside->bound.compared_elsewhere = true;
    m->bound.beside->run.shown = m->run.shown;
    return m->jit.engine ? m->jit.engine->adopt(m->jit.engine, m->bound.beside, err) : RVM_OK;
}

static double largest(const rvm_arg *a) {
    const rvm_value *p = data_of(a);
    double most = 0;
    for (int64_t n = count_of(a), k = 0; k < n; k++)
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
    if (!status) status = rvm_call(r->m->bound.beside, r->of, a.args, a.nargs, err);
    if (r->m->bound.beside) rvm_machine_unbind(r->m->bound.beside);
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
static rvm_status compare_sums(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, farthest *worst,
                               rvm_error *err) {
    double *sizes = rvm__scratch(r->m, SCRATCH_SIZES, RVM_MAX_PARAMS * sizeof *sizes);
    if (!sizes) return rvm__no_memory(r->m, err);
    rvm_error why;
    const rvm_status status = any_size(r, sizes) ? RVM_OK : run_again(r, was, now, sizes, &why);
    if (!status) *worst = compare(r, was, now, sizes);
    if (status == RVM_ERR_CANCELLED && err) *err = why;
    return status == RVM_ERR_CANCELLED ? status : RVM_OK;
}

rvm_status rvm__compare_restored(const rvm__restoring *as_asked, rvm_value *const *was, const rvm_arg *now, rvm_error *err) {
    rvm__restoring wide = *as_asked;
    const rvm__restoring *r = &wide;
    const rvm_param *params = r->m->p->functions[r->fn].params;
    farthest worst = compare(r, was, now, NULL);
    if (worst.excess > 0 && (wide.stated = widest_stated(r->m->p)) > 0) worst = compare(r, was, now, NULL);
    if (worst.excess > 0 && worst.excess < DBL_MAX && params[worst.param].role == RVM_ACC) {
        const rvm_status status = compare_sums(r, was, now, &worst, err);
        if (status) return status;
    }
    return worst.excess > 0 ? tell(r, now, &worst, err) : RVM_OK;
}

/* ---- the inputs of a machine's run ---- */

/* In row-major order; returns behind the last. */
static rvm_value *copy_from(const rvm_arg *a, int d, const rvm_value *p, rvm_value *to) {
    const int64_t n = side_by_side(a, d);
    if (n > 0) memcpy(to, p, (size_t)n * sizeof *to);
    if (n >= 0) return to + n;
    for (int64_t i = 0; i < a->shape[d]; i++) to = copy_from(a, d + 1, p + i * a->stride[d], to);
    return to;
}

/* Whether the bound run may come back, or is one of a gradient program, which ends as it began. */
static bool may_return(const rvm_machine *m) {
    if (m->run.course < 0 || m->o.exact || m->o.tolerance == INFINITY) return false;
    if (m->bound.compared_elsewhere && m->bound.mode == RVM_PRIMAL) return false;
    return m->bound.mode != RVM_PRIMAL || m->o.trail == RVM_TRAIL_KEEP || m->bound.gradient_of >= 0;
}

int64_t rvm__known_gradient_of(rvm_machine *m, uint32_t fn) {
    if (m->bound.asked != fn + 1) m->bound.gradient_of = rvm__gradient_of(m->p, fn, m->bound.is_value);
    m->bound.asked = fn + 1;
    return m->bound.gradient_of;
}

rvm_status rvm__keep_inputs(rvm_machine *m, rvm_error *err) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    size_t n = 0;
    rvm__known_gradient_of(m, m->bound.entry);
    m->bound.compares = may_return(m);
    if (!m->bound.compares) return RVM_OK;
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        if (compared(&f->params[k], !m->o.unchecked)) n += (size_t)count_of(&m->bound.args[k]);
    if (!rvm__reserve(m, (void **)&m->bound.inputs, &m->bound.cap_inputs, n, sizeof *m->bound.inputs))
        return rvm__no_memory(m, err);
    rvm_value *to = m->bound.inputs;
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        if (compared(&f->params[k], !m->o.unchecked)) to = copy_from(&m->bound.args[k], 0, data_of(&m->bound.args[k]), to);
    return RVM_OK;
}

rvm_status rvm__compare_inputs(rvm_machine *m, rvm_error *err) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    rvm_value *was[RVM_MAX_PARAMS];
    const bool at_end = m->run.where == AT_END;
    const rvm__restoring r = {.m = m,
                              .fn = m->bound.entry,
                              .of = at_end ? m->bound.gradient_of : m->bound.entry,
                              .only = at_end ? m->bound.is_value : NULL};
    rvm_value *from = m->bound.inputs;
    if (!m->bound.compares || r.of < 0) return RVM_OK;
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        was[k] = from;
        if (compared(&f->params[k], !m->o.unchecked)) from += count_of(&m->bound.args[k]);
    }
    return rvm__compare_restored(&r, was, m->bound.args, err);
}

void rvm__inputs_free(rvm_machine *m) {
    rvm__resize(m, m->bound.inputs, m->bound.cap_inputs * sizeof *m->bound.inputs, 0);
    m->bound.inputs = NULL;
    m->bound.cap_inputs = 0;
}
