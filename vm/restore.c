/* restore.c: see restore.h. */
#include "restore.h"
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

/* ---- the comparison ---- */

/* fmax is a call, and these are compared at every run. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

/* By how much in units of what is allowed; size: the least that the tolerance is relative to. */
static double excess_of(rvm_type t, double tolerance, double size, rvm_value was, rvm_value now) {
    if (was.i == now.i) return 0;
    if (!rvm__is_floating(t)) return INFINITY;
    if (!isfinite(was.f) || was.f == now.f) return 0;
    const double off = fabs(now.f - was.f), allowed = tolerance * larger(size, fabs(was.f));
    if (off <= allowed) return 0;
    return isnan(off) ? INFINITY : fmin(off / allowed, DBL_MAX); /* what is not a number is farther than any number */
}

/* Whether any of these reals is too far off; what is not finite counts as that, too. */
static bool any_far(const rvm_value *was, const rvm_value *now, int64_t n, double tolerance, double least) {
    int64_t far = 0;
    for (int64_t k = 0; k < n; k++) far += !(fabs(now[k].f - was[k].f) <= tolerance * larger(fabs(was[k].f), least));
    return far != 0;
}

typedef struct comparison {
    rvm_type type;
    double tolerance, size;
    const rvm_value *was; /* elements side by side */
    const rvm_arg *now;
    uint32_t param;
    rvm__farthest worst;
} comparison;

static void take_one(comparison *c, rvm_value was, rvm_value now, int64_t element) {
    const double excess = excess_of(c->type, c->tolerance, c->size, was, now);
    if (excess > c->worst.excess) c->worst = (rvm__farthest){excess, c->param, element, was, now};
}

/* Elements from dimension d on; first: the number of the first of them. Most often all agree, which is found in one go. */
static void take_from(comparison *c, int d, const rvm_value *now, int64_t first) {
    const int64_t n = rvm__neighbours(c->now, c->now->stride, d);
    const rvm_value *was = c->was + first;
    if (n >= 0) {
        const size_t bytes = (size_t)n * sizeof *was;
        if (rvm__is_floating(c->type) ? !any_far(was, now, n, c->tolerance, c->size) : !n || !memcmp(was, now, bytes))
            return;
        for (int64_t k = 0; k < n; k++) take_one(c, was[k], now[k], first + k);
        return;
    }
    int64_t inner = 1;
    for (int k = d + 1; k < c->now->ndim; k++) inner *= c->now->shape[k];
    for (int64_t i = 0; i < c->now->shape[d]; i++) take_from(c, d + 1, now + i * c->now->stride[d], first + i * inner);
}

bool rvm__is_compared(const rvm_param *q) {
    return q->role != RVM_READ;
}

static double tolerance_of(const rvm__restoring *r, rvm_type t) {
    return larger(r->m->o.tolerance * (t == RVM_F32 ? 1e4 : 1), r->stated);
}

/* What does not take back: the adjoint of f, or one of what it calls, that is written by hand. False: none takes part. */
static bool rule_text(const rvm__restoring *r, char *text, size_t size) {
    const rvm_program *p = r->m->p;
    if (r->of < 0 || !rvm_program_by_hand(p, (uint32_t)r->of, RVM_ADJOINT)) return false;
    snprintf(text, size, "an adjoint written by hand");
    for (uint32_t k = 0; k < p->nrules; k++) {
        if (p->rules[k].kind != RVM_ADJOINT || p->rules[k].of != r->of) continue;
        const char *file;
        uint32_t line, column;
        rvm_program_position(p, p->rules[k].fn, 0, &file, &line, &column);
        snprintf(text, size, "`%.60s`, written by hand at line %u,", p->functions[p->rules[k].fn].name, line);
        break;
    }
    return true;
}

/* Why, and by how much where that is a number. */
static void reason(const rvm__restoring *r, rvm_type t, const rvm__farthest *w, char *text, size_t size) {
    const double allowed = tolerance_of(r, t);
    char rule[120];
    if (rule_text(r, rule, sizeof rule))
        snprintf(text, size, "%s does not take it back, or rounding grew on the way", rule);
    else if (!rvm__is_floating(t))
        snprintf(text, size, "rounding grew on the way back");
    else if (!isfinite(w->now.f))
        snprintf(text, size, "a value became infinite or NaN on the way");
    else
        snprintf(text, size, "rounding grew on the way back: a relative %.2g apart, and the tolerance is %.2g",
                 w->excess * allowed, allowed);
}

rvm_status rvm__tell_farthest(const rvm__restoring *r, const rvm_arg *now, const rvm__farthest *w, rvm_error *err) {
    const rvm_param *q = &r->m->p->functions[r->fn].params[w->param];
    const rvm_type t = (rvm_type)q->type;
    char name[160], was[48], is[48], why[180];
    rvm_arg_element_text(q->name, &now[w->param], w->element, name, sizeof name);
    const bool is_zero = rvm__is_floating(t) && w->was.f == 0; /* -0 where it was left out */
    rvm__plain_text(t, is_zero ? (rvm_value){0} : w->was, was, sizeof was);
    rvm__plain_text(t, w->now, is, sizeof is);
    reason(r, t, w, why, sizeof why);
    return rvm__fail_at(err, RVM_ERR_NOT_RESTORABLE, r->m->p, r->fn, 0,
                        "`%s` cannot be restored: it went in as %s and came back as %s, since %s; what was computed on the "
                        "way, such as a gradient, may be wrong by as much or more",
                        name, was, is, why);
}

static bool is_asked(const rvm__restoring *r, uint32_t k) {
    return (!r->only || r->only[k]) && rvm__is_compared(&r->m->p->functions[r->fn].params[k]);
}

rvm__farthest rvm__farthest_off(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, const double *sizes) {
    const rvm_function *f = &r->m->p->functions[r->fn];
    comparison c = {.worst = {.excess = 0}};
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (!is_asked(r, k) || (r->near && r->near[k])) continue;
        if (rvm__bring_home(r->m, &now[k], 1)) continue; /* it is lost, which the run has told */
        c.type = (rvm_type)f->params[k].type;
        c.tolerance = tolerance_of(r, c.type);
        c.size = sizes ? larger(1, sizes[k]) : 1;
        c.was = was[k], c.now = &now[k];
        c.param = k;
        take_from(&c, 0, rvm__cells_at(c.now), 0);
    }
    return c.worst;
}

bool rvm__find_near(const rvm__restoring *r, const rvm_arg *now, bool *near) {
    const rvm_function *f = &r->m->p->functions[r->fn];
    bool any = false;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const uint32_t number = rvm__kept_number((enum rvm__kept_for)(r->kept - 1), k, false);
        near[k] =
            is_asked(r, k) && rvm__kept_is_near(r->m, number, &now[k], tolerance_of(r, (rvm_type)f->params[k].type), 1);
        any |= near[k];
    }
    return any;
}

rvm_status rvm__fetch_kept(const rvm__restoring *r, const bool *near, rvm_error *err) {
    rvm_status lost = RVM_OK;
    for (uint32_t k = 0; k < r->m->p->functions[r->fn].nparams && !lost; k++)
        if (!near || !near[k]) lost = rvm__kept_fetch(r->m, rvm__kept_number((enum rvm__kept_for)(r->kept - 1), k, false));
    return lost ? rvm__fail(err, lost, NULL, 0, 0, "an array of a device cannot be read") : RVM_OK;
}

/* ---- the inputs of a machine's run ---- */

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
    const rvm_param *params = m->p->functions[m->bound.entry].params;
    size_t n = 0;
    rvm__known_gradient_of(m, m->bound.entry);
    m->bound.compares = may_return(m);
    rvm__kept_forget(m, RVM__KEPT_BOUND);
    if (!m->bound.compares) return RVM_OK;
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        if (rvm__is_compared(&params[k])) n += (size_t)rvm__cells(&m->bound.args[k]);
    if (!rvm__reserve(m, (void **)&m->bound.inputs, &m->bound.cap_inputs, n, sizeof *m->bound.inputs))
        return rvm__no_memory(m, err);
    rvm_value *to = m->bound.inputs;
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        if (rvm__is_compared(&params[k])) {
            const rvm_status lost =
                rvm__kept_take(m, rvm__kept_number(RVM__KEPT_BOUND, k, false), &m->bound.args[k], false, true, to);
            if (lost) return rvm__fail(err, lost, NULL, 0, 0, "an array of a device cannot be read");
            to += rvm__cells(&m->bound.args[k]);
        }
    return RVM_OK;
}

void rvm__inputs_free(rvm_machine *m) {
    rvm__resize(m, m->bound.inputs, m->bound.cap_inputs * sizeof *m->bound.inputs, 0);
    m->bound.inputs = NULL;
    m->bound.cap_inputs = 0;
}
