/* check_entries.c: rows of rvm check that ask for single entries, and where derivatives end. */
#include "check.h"
#include "differences.h"

#include <math.h>
#include <stdlib.h>

enum { OUTPUTS = 8, INPUTS = 16 };

/* Evenly spread elements of the marked parameters. */
static uint32_t sample(const check *c, const bool *set, bool written, uint32_t most, rvm_part *part) {
    size_t all = 0, seen = 0;
    uint32_t n = 0;
    const values *v = &c->t->v;
    for (uint32_t i = 0; i < v->n; i++)
        if (set[i] && (!written || v->info[i].role != RVM_READ)) all += arg_count(&v->arg[i]);
    const size_t step = all / most + 1;
    for (uint32_t i = 0; i < v->n; i++)
        for (size_t k = 0; set[i] && (!written || v->info[i].role != RVM_READ) && k < arg_count(&v->arg[i]); k++, seen++)
            if (seen % step == 0 && n < most) part[n++] = (rvm_part){i, (int64_t)k};
    return n;
}

static void compare_entries(const check *c, const rvm_derivative_spec *q, const double *a, const double *b, row *r) {
    double size = 0;
    for (uint32_t k = 0; k < q->noutputs * q->ninputs; k++) size = fmax(size, fabs(b[k]));
    for (uint32_t i = 0; i < q->noutputs; i++)
        for (uint32_t j = 0; j < q->ninputs; j++) {
            const double got = a[i * q->ninputs + j], want = b[i * q->ninputs + j];
            double ratio = fabs(got - want) / (check_transpose_tolerance(c) * fmax(fmax(1, size), fabs(want)));
            if (isnan(got) && isnan(want)) continue;
            if (isnan(ratio)) ratio = INFINITY;
            if (r->worst[0] && ratio <= r->ratio) continue;
            char of[80], by[80];
            rvm_derivative_name(c->t->machine, q, false, i, of, sizeof of);
            rvm_derivative_name(c->t->machine, q, true, j, by, sizeof by);
            snprintf(r->worst, sizeof r->worst, "d %s / d %s", of, by);
            r->ratio = ratio, r->got = got, r->expected = want;
            r->outcome = ratio <= 1 ? PASSED : FAILED;
        }
}

rvm_status check_entries(check *c) {
    tool *t = c->t;
    rvm_part of[OUTPUTS], by[INPUTS];
    double J[2][OUTPUTS * INPUTS];
    rvm_error e;
    rvm_derivative_spec q = {.fn = t->fn, .args = t->v.arg, .nargs = t->v.n, .outputs = of, .inputs = by};
    q.noutputs = sample(c, c->active, true, OUTPUTS, of);
    q.ninputs = sample(c, c->wrt, false, INPUTS, by);
    if (!q.noutputs || !q.ninputs) return RVM_OK;
    row *r = check_add_row(c, "entries", "of J, sweep and tangent%s", "");
    rvm_status st = rvm_jacobian(t->machine, &q, RVM_BY_ADJOINTS, J[0], NULL, &e);
    if (!st) st = rvm_jacobian(t->machine, &q, RVM_BY_TANGENTS, J[1], NULL, &e);
    if (!st) compare_entries(c, &q, J[0], J[1], r);
    return check_run(c, r, st, &e);
}

rvm_status check_cuts(check *c) {
    tool *t = c->t;
    rvm_part by[RVM_MAX_PARAMS + 1];
    rvm_derivative_spec q = {.fn = t->fn, .args = t->v.arg, .nargs = t->v.n, .inputs = by};
    size_t n = 0;
    for (uint32_t i = 0; i < t->v.n; i++)
        if (c->wrt[i]) by[q.ninputs++] = (rvm_part){i, -1}, n += arg_count(&t->v.arg[i]);
    double *v = calloc(n + 1, sizeof *v);
    if (!v) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    n = 0;
    for (uint32_t i = 0; i < t->v.n; i++)
        for (size_t k = 0; c->wrt[i] && k < arg_count(&t->v.arg[i]); k++)
            v[n++] = noise(STREAM_V, i, k) * step_scale(&t->v.arg[i], k);
    const rvm_status st = rvm_nonsmooth_points(t->machine, &q, v, c->points, MAX_POINTS, &c->npoints, &t->err);
    if (st) c->npoints = 0; /* the table tells why */
    free(v);
    return check_is_limit(st) ? st : RVM_OK;
}

bool check_meets_corner(const check *c, uint32_t param) {
    const rvm_part by = {param, -1};
    const rvm_derivative_spec q = {.fn = c->t->fn, .args = c->t->v.arg, .nargs = c->t->v.n, .inputs = &by, .ninputs = 1};
    rvm_error e;
    uint32_t n = 0;
    bool all;
    return !rvm_nonsmooth_corners(c->t->machine, &q, UINT64_MAX, NULL, 0, &n, &all, &e) && n > 0;
}
