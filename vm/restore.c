/* restore.c: see restore.h. */
#include "restore.h"

#include <float.h>
#include <string.h>

#include "memory.h"
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

/* ---- finite ---- */

/* Numbers side by side: 0 times one that is not finite is NaN, and so is what that is added to. Four sums at once, since
 * each call looks at all its arguments. */
static bool all_finite(const rvm_value *p, int64_t n) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) s0 += 0 * p[k].f, s1 += 0 * p[k + 1].f, s2 += 0 * p[k + 2].f, s3 += 0 * p[k + 3].f;
    for (; k < n; k++) s0 += 0 * p[k].f;
    return s0 + s1 + s2 + s3 == 0;
}

static bool finite_from(const rvm_arg *a, int d, const rvm_value *p) {
    const int64_t n = side_by_side(a, d);
    if (n >= 0) return all_finite(p, n);
    for (int64_t i = 0; i < a->shape[d]; i++)
        if (!finite_from(a, d + 1, p + i * a->stride[d])) return false;
    return true;
}

static bool is_finite(const rvm_arg *a) {
    return finite_from(a, 0, data_of(a));
}

/* ---- the comparison ---- */

/* The element that is farthest from what it must be, in units of what it may be off. */
typedef struct farthest {
    double excess;
    uint32_t param;
    int64_t element;
    rvm_value was, now;
} farthest;

/* By how much in units of what is allowed. */
static double excess_of(rvm_type t, double tolerance, rvm_value was, rvm_value now) {
    if (was.i == now.i) return 0;
    if (!rvm__is_floating(t)) return INFINITY;
    if (!isfinite(was.f) || was.f == now.f) return 0;
    const double off = fabs(now.f - was.f), allowed = tolerance * fmax(1, fabs(was.f));
    if (off <= allowed) return 0;
    return isnan(off) ? INFINITY : fmin(off / allowed, DBL_MAX); /* what is not a number is farther than any number */
}

/* Whether any of these reals is too far off; what is not finite counts as that, too. */
static bool any_far(const rvm_value *was, const rvm_value *now, int64_t n, double tolerance) {
    int64_t far = 0;
    for (int64_t k = 0; k < n; k++) {
        const double size = fabs(was[k].f), off = fabs(now[k].f - was[k].f);
        far += !(off <= tolerance * (size > 1 ? size : 1));
    }
    return far != 0;
}

typedef struct comparison {
    rvm_type type;
    double tolerance;
    const rvm_arg *was, *now;
    uint32_t param;
    farthest worst;
} comparison;

static void take_one(comparison *c, rvm_value was, rvm_value now, int64_t element) {
    const double excess = excess_of(c->type, c->tolerance, was, now);
    if (excess > c->worst.excess) c->worst = (farthest){excess, c->param, element, was, now};
}

/* Elements from dimension d on; first: the number of the first of them. Most often all agree, which is found in one go. */
static void take_from(comparison *c, int d, const rvm_value *was, const rvm_value *now, int64_t first) {
    const int64_t n = side_by_side(c->was, d), same = side_by_side(c->now, d);
    if (n >= 0 && n == same) {
        const size_t bytes = (size_t)n * sizeof *was;
        if (rvm__is_floating(c->type) ? !any_far(was, now, n, c->tolerance) : !n || !memcmp(was, now, bytes)) return;
        for (int64_t k = 0; k < n; k++) take_one(c, was[k], now[k], first + k);
        return;
    }
    int64_t inner = 1;
    for (int k = d + 1; k < c->was->ndim; k++) inner *= c->was->shape[k];
    for (int64_t i = 0; i < c->was->shape[d]; i++)
        take_from(c, d + 1, was + i * c->was->stride[d], now + i * c->now->stride[d], first + i * inner);
}

/* What is only added to: the first element that is not finite. */
static void take_lost(comparison *c, int d, const rvm_value *now, int64_t first) {
    if (c->worst.excess == INFINITY) return;
    if (d >= c->now->ndim || d >= RVM_MAX_DIMS) {
        if (!isfinite(now->f)) c->worst = (farthest){INFINITY, c->param, first, {.f = 0}, *now};
        return;
    }
    int64_t inner = 1;
    for (int k = d + 1; k < c->now->ndim; k++) inner *= c->now->shape[k];
    for (int64_t i = 0; i < c->now->shape[d]; i++) take_lost(c, d + 1, now + i * c->now->stride[d], first + i * inner);
}

enum part { NOTHING, FINITE, EVERYTHING };

static enum part compared(const rvm_param *q, bool checked) {
    const bool floating = rvm__is_floating((rvm_type)q->type);
    switch (q->role) {
    case RVM_READ: return NOTHING;
    case RVM_ACC: return floating && (!q->ndim || checked) ? FINITE : NOTHING;
    case RVM_OWN: return floating || !q->ndim || !checked ? EVERYTHING : NOTHING;
    }
    return NOTHING;
}

int rvm__element_text(const char *name, const rvm_arg *a, int64_t element, char *text, size_t size) {
    char all[160];
    int64_t index[RVM_MAX_DIMS] = {0};
    int n = snprintf(all, sizeof all, "%.100s", name);
    for (int d = a->ndim - 1; d >= 0; d--) {
        index[d] = element % a->shape[d];
        element /= a->shape[d];
    }
    for (int d = 0; d < a->ndim && d < RVM_MAX_DIMS && (size_t)n < sizeof all; d++)
        n += snprintf(all + n, sizeof all - (size_t)n, "%s%lld%s", d ? ", " : "[", (long long)index[d],
                      d + 1 == a->ndim ? "]" : "");
    return snprintf(text, size, "%s", all);
}

static double tolerance_of(const rvm__restoring *r, rvm_type t) {
    return r->tolerance * (t == RVM_F32 ? 1e4 : 1);
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
    const rvm_param *q = &r->p->functions[r->fn].params[w->param];
    const rvm_type t = (rvm_type)q->type;
    char name[160], was[48] = "a finite number", is[48], why[160];
    rvm__element_text(q->name, &now[w->param], w->element, name, sizeof name);
    if (q->role == RVM_OWN || !q->ndim) rvm__plain_text(t, w->was, was, sizeof was);
    rvm__plain_text(t, w->now, is, sizeof is);
    reason(r, t, w, why, sizeof why);
    return rvm__fail_at(err, RVM_ERR_NOT_RESTORABLE, r->p, r->fn, 0,
                        "`%s` cannot be restored: it went in as %s and came back as %s, since %s%s", name, was, is, why,
                        q->role == RVM_OWN ? "; what was computed there, such as a gradient, may be wrong by as much or more"
                                           : "");
}

/* An argument like that with its elements side by side in cells. */
static rvm_arg packed(const rvm_arg *like, rvm_value *cells) {
    rvm_arg a = {.type = like->type, .ndim = like->ndim};
    int64_t stride = 1;
    if (!a.ndim)
        a.value.i = cells->i;
    else
        a.data = cells;
    for (int d = a.ndim - 1; d >= 0; stride *= a.shape[d--]) a.shape[d] = like->shape[d], a.stride[d] = stride;
    return a;
}

rvm_status rvm__compare_restored(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, const bool *finite,
                                 rvm_error *err) {
    const rvm_function *f = &r->p->functions[r->fn];
    comparison c = {.worst = {.excess = 0}};
    for (uint32_t k = 0; k < f->nparams; k++) {
        const enum part part = r->only && !r->only[k] ? NOTHING : compared(&f->params[k], r->checked);
        if (part == NOTHING) continue;
        const rvm_arg before = packed(&now[k], was[k]);
        c.type = (rvm_type)f->params[k].type;
        c.tolerance = tolerance_of(r, c.type);
        c.was = &before, c.now = &now[k];
        c.param = k;
        if (part == EVERYTHING) take_from(&c, 0, data_of(c.was), data_of(c.now), 0);
        if (part != FINITE || is_finite(c.now) || !(finite ? finite[k] : is_finite(c.was))) continue;
        take_lost(&c, 0, data_of(c.now), 0);
        if (!c.now->ndim && c.worst.param == k) c.worst.was = *data_of(c.was);
    }
    return c.worst.excess > 0 ? tell(r, now, &c.worst, err) : RVM_OK;
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
    if (m->course < 0 || m->o.exact || m->o.tolerance == INFINITY) return false;
    if (m->compared_elsewhere && m->mode == RVM_PRIMAL) return false;
    return m->mode != RVM_PRIMAL || m->o.trail == RVM_TRAIL_KEEP || m->is_gradient;
}

static void ask_whether_gradient(rvm_machine *m) {
    if (m->asked == m->entry + 1) return;
    m->is_gradient = rvm__is_gradient(m->p, m->entry, m->is_value);
    m->asked = m->entry + 1;
}

rvm_status rvm__keep_inputs(rvm_machine *m, rvm_error *err) {
    const rvm_function *f = &m->p->functions[m->entry];
    size_t n = 0;
    ask_whether_gradient(m);
    m->compares = may_return(m);
    if (!m->compares) return RVM_OK;
    for (uint32_t k = 0; k < m->nargs; k++) {
        const enum part part = compared(&f->params[k], !m->o.unchecked);
        m->finite[k] = part == FINITE && is_finite(&m->args[k]);
        if (part == EVERYTHING || (part == FINITE && !m->args[k].ndim)) n += (size_t)count_of(&m->args[k]);
    }
    if (!rvm__reserve(m, (void **)&m->inputs, &m->cap_inputs, n, sizeof *m->inputs)) return rvm__no_memory(m, err);
    rvm_value *to = m->inputs;
    for (uint32_t k = 0; k < m->nargs; k++) {
        const enum part part = compared(&f->params[k], !m->o.unchecked);
        if (part == EVERYTHING || (part == FINITE && !m->args[k].ndim))
            to = copy_from(&m->args[k], 0, data_of(&m->args[k]), to);
    }
    return RVM_OK;
}

rvm_status rvm__compare_inputs(const rvm_machine *m, rvm_error *err) {
    const rvm_function *f = &m->p->functions[m->entry];
    rvm_value *was[RVM_MAX_PARAMS];
    const bool at_end = m->where == AT_END;
    const rvm__restoring r = {.p = m->p,
                              .fn = m->entry,
                              .tolerance = m->o.tolerance,
                              .checked = !m->o.unchecked,
                              .only = at_end ? m->is_value : NULL};
    rvm_value *from = m->inputs;
    if (!m->compares || (at_end && !m->is_gradient)) return RVM_OK;
    for (uint32_t k = 0; k < m->nargs; k++) {
        const rvm_arg *a = &m->args[k];
        const enum part part = compared(&f->params[k], r.checked);
        was[k] = from;
        if (part == NOTHING || (part == FINITE && a->ndim)) continue;
        from += count_of(a);
    }
    return rvm__compare_restored(&r, was, m->args, m->finite, err);
}

void rvm__inputs_free(rvm_machine *m) {
    rvm__resize(m, m->inputs, m->cap_inputs * sizeof *m->inputs, 0);
    m->inputs = NULL;
    m->cap_inputs = 0;
}
