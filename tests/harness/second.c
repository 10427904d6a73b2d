/* second.c: the one-sweep Hessian of <w, f(x)> times a direction, against differences of gradients; and the Jacobian that
 * such a sweep finds, against that of tangents. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"

enum { MOST_COLUMNS = 80 };

typedef struct problem {
    const subject *s;
    rvm_part *parts;
    uint32_t n;
    int64_t size;
    double *w, *v; /* weights of the results, and a direction, over all elements */
} problem;

/* Every real, in and out. */
static void pose(problem *p, const subject *s) {
    rng r = {1234};
    *p = (problem){.s = s, .parts = calloc(s->in->n + 1, sizeof *p->parts)};
    for (uint32_t k = 0; k < s->in->n; k++) {
        if (s->in->a[k].type == RVM_I64) continue;
        p->parts[p->n++] = (rvm_part){k, -1};
        p->size += (int64_t)arg_count(&s->in->a[k]);
    }
    p->w = calloc((size_t)p->size + 1, sizeof *p->w);
    p->v = calloc((size_t)p->size + 1, sizeof *p->v);
    for (int64_t k = 0; k < p->size; k++) p->w[k] = rng_real(&r, -1, 1), p->v[k] = rng_real(&r, -1, 1);
}

static void dismiss(problem *p) {
    free(p->parts);
    free(p->w);
    free(p->v);
}

static rvm_derivative_spec spec_of(const problem *p, args *a) {
    return (rvm_derivative_spec){.fn = p->s->fn,
                                 .args = a->a,
                                 .nargs = a->n,
                                 .outputs = p->parts,
                                 .inputs = p->parts,
                                 .noutputs = p->n,
                                 .ninputs = p->n};
}

/* The gradient of <w, f> at x + h v; false where that does not run. */
static bool gradient_at(const problem *p, rvm_machine *m, double h, double *g) {
    args a = args_copy(p->s->in);
    rvm_error e;
    int64_t at = 0;
    for (uint32_t k = 0; k < p->n; k++) {
        rvm_arg *x = &a.a[p->parts[k].param];
        for (size_t i = 0; i < arg_count(x); i++, at++)
            *arg_value(x, i) = arg_from_real(x->type, arg_real(x->type, *arg_value(x, i)) + h * p->v[at]);
    }
    rvm_derivative_spec q = spec_of(p, &a);
    const bool good = rvm_vjp(m, &q, p->w, g, NULL, &e) == RVM_OK;
    args_free(&a);
    return good;
}

/* How far H v is from the difference with step h, in terms of its size; infinite where that does not run. */
static double distance(const problem *p, rvm_machine *m, const double *H, double h) {
    double *g = calloc(2 * (size_t)p->size + 1, sizeof *g), worst = 0, scale = 1e-3;
    bool good = gradient_at(p, m, h, g) && gradient_at(p, m, -h, g + p->size);
    for (int64_t i = 0; good && i < p->size; i++) {
        double sum = 0;
        for (int64_t j = 0; j < p->size; j++)
            sum += H[i * p->size + j] * p->v[j], scale = fmax(scale, fabs(H[i * p->size + j]));
        const double apart = fabs(sum - (g[i] - g[p->size + i]) / (2 * h));
        worst = isnan(apart) ? INFINITY : fmax(worst, apart);
    }
    free(g);
    return good ? worst / scale : INFINITY;
}

/* H v from the matrix against H v by the tangent of the gradient program. */
static bool check_product(const problem *p, rvm_machine *m, const rvm_derivative_spec *q, const double *H,
                          double tolerance) {
    const subject *s = p->s;
    double *hv = calloc((size_t)p->size + 1, sizeof *hv), scale = 1, worst = 0;
    int64_t where = 0;
    rvm_error e = {0};
    const rvm_status st = rvm_hvp(m, q, p->w, p->v, hv, NULL, &e);
    bool good = true;
    const bool limit = st && rvm_status_exit(st) == rvm_status_exit(RVM_ERR_FUEL); /* derived programs need more */
    if (st == RVM_ERR_UNSUPPORTED || limit)
        report_skip(s->rep, "product with the Hessian: %s", e.message);
    else
        good = report_ok(s->rep, "product with the Hessian", st, &e);
    for (int64_t i = 0; !st && i < p->size; i++) {
        double sum = 0;
        for (int64_t j = 0; j < p->size; j++) {
            sum += H[i * p->size + j] * p->v[j];
            scale = fmax(scale, fabs(H[i * p->size + j]));
        }
        const double apart = isnan(sum) && isnan(hv[i]) ? 0 : fabs(sum - hv[i]);
        if (!(apart <= worst)) worst = apart, where = i;
    }
    if (!st && !(worst <= tolerance * scale)) {
        char name[80];
        rvm_derivative_name(m, q, true, where, name, sizeof name);
        good = report_fail(s->rep, "H v by one sweep and by the gradient program: %g apart at %s", worst, name);
    }
    free(hv);
    return good;
}

/* J less the entries that were found: nothing may be left. */
static void take_off(double *J, const rvm_sparse *found) {
    for (int64_t i = 0; i < found->rows; i++)
        for (int64_t e = found->row_start[i]; e < found->row_start[i + 1]; e++) {
            double *v = &J[i * found->columns + found->column[e]];
            *v = *v == found->value[e] || (isnan(*v) && isnan(found->value[e])) ? 0 : *v - found->value[e];
        }
}

static bool check_entries(const problem *p, rvm_machine *m, const rvm_derivative_spec *q, double tolerance) {
    const subject *s = p->s;
    const int64_t n = p->size;
    double *J = calloc((size_t)(n * n) + 1, sizeof *J), scale = 1;
    rvm_sparse found = {0};
    rvm_error e = {0};
    const rvm_status st = rvm_jacobian_entries(m, q, &found, NULL, &e);
    bool good = true;
    if (st == RVM_ERR_UNSUPPORTED)
        report_skip(s->rep, "entries of the Jacobian: %s", e.message);
    else
        good = report_ok(s->rep, "entries of the Jacobian", st, &e);
    if (!st && !rvm_jacobian(m, q, RVM_BY_TANGENTS, J, NULL, &e)) { /* whose releases may be accidents of the input */
        for (int64_t k = 0; k < n * n; k++) scale = isfinite(J[k]) ? fmax(scale, fabs(J[k])) : scale;
        take_off(J, &found);
        for (int64_t k = 0; k < n * n && good; k++)
            if (!(fabs(J[k]) <= tolerance * scale))
                good = report_fail(s->rep, "entries of the Jacobian: (%d, %d) is %g off, or missing", (int)(k / n),
                                   (int)(k % n), J[k]);
    }
    rvm_sparse_free(m, &found);
    free(J);
    return good;
}

bool check_hessian(const subject *s) {
    enum { STEPS = 4 };
    static const double steps[STEPS] = {1e-3, 1e-4, 1e-5, 1e-6};
    double apart[STEPS] = {0};
    problem p;
    rvm_machine *m = NULL;
    rvm_error e = {0};
    double *H = NULL, best = INFINITY;
    pose(&p, s);
    bool rough = false, good = true;
    for (uint32_t k = 0; k < p.n; k++) rough |= s->in->a[p.parts[k].param].type != RVM_F64;
    if (!p.n || !p.size || p.size > MOST_COLUMNS) goto done;
    rvm_derivative_spec q = spec_of(&p, s->in);
    H = calloc((size_t)(p.size * p.size), sizeof *H);
    good = report_ok(s->rep, "machine", rvm_machine_new(s->program, &s->options, &m, &e), &e);
    const rvm_status st = good ? rvm_hessian(m, &q, p.w, RVM_BY_SWEEP, H, NULL, &e) : RVM_OK;
    if (st == RVM_ERR_UNSUPPORTED) {
        report_skip(s->rep, "one-sweep Hessian: %s", e.message);
        goto done;
    }
    good = good && report_ok(s->rep, "one-sweep Hessian", st, &e) && check_entries(&p, m, &q, rough ? 1e-3 : 1e-8);
    if (s->no_products && good) report_skip(s->rep, "products with the Hessian: %s", s->no_products);
    good = good && (s->no_products || check_product(&p, m, &q, H, rough ? 1e-3 : 1e-8));
    for (size_t k = 0; good && !rough && !s->no_differences && best > 1e-6 && k < STEPS; k++)
        best = fmin(best, apart[k] = distance(&p, m, H, steps[k]));
    const bool kink = apart[3] > 50 * apart[1]; /* the gradient jumps: the difference grows as the step shrinks */
    if (good && !rough && !s->no_differences && best > 1e-6 && isfinite(best) && !kink)
        good =
            report_fail(s->rep, "one-sweep Hessian against differences of gradients: %g apart, relative to its size", best);
done:
    rvm_machine_free(m);
    free(H);
    dismiss(&p);
    return good;
}

/* Shadows of a, all reals one after the other, out or in. */
static void move_shadows(const problem *p, args *a, double *v, bool out) {
    for (uint32_t k = 0, at = 0; k < p->n; k++) {
        rvm_arg *x = &a->a[p->parts[k].param];
        for (size_t i = 0; i < arg_count(x); i++, at++)
            if (out)
                v[at] = arg_real(x->type, *arg_shadow(x, i));
            else
                *arg_shadow(x, i) = arg_from_real(x->type, v[at]);
    }
}

bool hessian_times(const subject *s, rvm_method method, args *seed, args *along, args *got) {
    problem p;
    rvm_machine *m = NULL;
    rvm_error e = {0};
    pose(&p, s);
    rvm_derivative_spec q = spec_of(&p, s->in);
    double *H = calloc((size_t)(p.size * p.size) + 1, sizeof *H), *r = calloc((size_t)p.size + 1, sizeof *r);
    move_shadows(&p, seed, p.w, true);
    move_shadows(&p, along, p.v, true);
    bool good = report_ok(s->rep, "machine", rvm_machine_new(s->program, &s->options, &m, &e), &e) &&
                report_ok(s->rep, "Hessian", rvm_hessian(m, &q, p.w, method, H, NULL, &e), &e);
    for (int64_t i = 0; good && i < p.size; i++)
        for (int64_t j = 0; j < p.size; j++) r[i] += H[i * p.size + j] * p.v[j];
    if (good) move_shadows(&p, got, r, false);
    rvm_machine_free(m);
    free(H);
    free(r);
    dismiss(&p);
    return good;
}
