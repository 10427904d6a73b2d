/* derivatives.c: adjoint against tangent against differences, and what activity leaves out.
 *
 *     y = f(x), every argument in-out, so x and y have the same places
 *     <w, J v> = <J^T w, v>        tangent run with v, sweep with w, both random
 *     <w, J v> = lim <w, f(x + h v) - f(x - h v)> / 2h
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

typedef rvm_status (*run_fn)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *);

/* Run `f` on a copy of `values`, whose shadows come along. False after a report; *out is to be freed in any case. */
static bool run_on(const subject *s, rvm_machine *m, const char *what, run_fn f, args *values, args *out) {
    rvm_error err = {0};
    *out = args_copy(values);
    return report_ok(s->rep, what, f(m, s->fn, out->a, out->n, &err), &err);
}

static bool has_reals(const args *a) {
    for (uint32_t i = 0; i < a->n; i++)
        if (a->a[i].active) return true;
    return false;
}

static bool has(const args *a, rvm_type t) {
    for (uint32_t i = 0; i < a->n; i++)
        if (a->a[i].type == t) return true;
    return false;
}

static bool close_to(report *r, const char *what, double a, double b, double tol, double scale) {
    r->checks++;
    if (fabs(a - b) <= tol * fmax(1e-3, scale)) return true;
    return report_fail(r, "%s: %.17g against %.17g (scale %.3g)", what, a, b, scale);
}

/* x + h v for the active reals of `in`, whose shadows are v. */
static args moved(args *in, double h) {
    args a = args_copy(in);
    for (uint32_t i = 0; i < a.n; i++)
        for (size_t k = 0; a.a[i].active && k < arg_count(&a.a[i]); k++) {
            rvm_type t = a.a[i].type;
            rvm_scalar *v = arg_value(&a.a[i], k);
            *v = arg_from_real(t, arg_real(t, *v) + h * arg_real(t, *arg_shadow(&in->a[i], k)));
        }
    return a;
}

/* <w, f(x + h v) - f(x - h v)> / 2h; NaN after a report. */
static double difference(const subject *s, rvm_machine *m, args *in, args *w, double h) {
    args x[2] = {moved(in, h), moved(in, -h)}, y[2] = {{0}, {0}};
    bool good = true;
    for (int k = 0; good && k < 2; k++) good = run_on(s, m, "differences", rvm_call, &x[k], &y[k]);
    double sum = good ? 0 : NAN;
    for (uint32_t i = 0; good && i < in->n; i++)
        for (size_t k = 0; in->a[i].active && k < arg_count(&in->a[i]); k++) {
            rvm_type t = in->a[i].type;
            sum += arg_real(t, *arg_shadow(&w->a[i], k)) *
                   (arg_real(t, *arg_value(&y[0].a[i], k)) - arg_real(t, *arg_value(&y[1].a[i], k)));
        }
    for (int k = 0; k < 2; k++) {
        args_free(&x[k]);
        args_free(&y[k]);
    }
    return sum / (2 * h);
}

static bool check_differences(const subject *s, rvm_machine *m, args *v, args *w, double jv, double scale) {
    if (s->no_differences) {
        if (*s->no_differences) report_skip(s->rep, "differences: %s", s->no_differences);
        return true;
    }
    const bool single = has(s->in, RVM_F32);
    const double h = single ? 0x1p-7 : 1e-3, tol = single ? 2e-3 : has(s->in, RVM_FIX) ? 1e-5 : 1e-6;
    const double coarse = difference(s, m, v, w, h), fine = difference(s, m, v, w, h / 2);
    return close_to(s->rep, "tangent against differences", jv, (4 * fine - coarse) / 3, tol, scale);
}

/* With a part of the parameters active, that part of the shadows comes out as if the others had been given zeros. */
static bool check_activity(const subject *s, rvm_machine *m, args *v, run_fn f, args *values) {
    bool *only = calloc(v->n + 1, sizeof *only), good = true;
    rng r = {v->n + 77};
    for (uint32_t i = 0; i < v->n; i++) only[i] = rng_below(&r, 2) && v->a[i].active;
    args full = args_copy(values), part = args_copy(values), a = {0}, b = {0};
    args_activate(&full, s->active);
    args_activate(&part, only);
    for (uint32_t i = 0; i < v->n; i++)
        for (size_t k = 0; only[i] && k < arg_count(&v->a[i]); k++)
            *arg_shadow(&full.a[i], k) = *arg_shadow(&part.a[i], k) = *arg_shadow(&v->a[i], k);
    if (has_reals(&part))
        good = run_on(s, m, "all active", f, &full, &a) && run_on(s, m, "some active", f, &part, &b) &&
               args_agree(s->rep, "some active: shadows", s->program, s->fn, &a, &b, COMPARE_SHADOWS, 1e-12) &&
               args_agree(s->rep, "some active: values", s->program, s->fn, &a, &b, COMPARE_BITS, 0);
    args_free(&full);
    args_free(&part);
    args_free(&a);
    args_free(&b);
    free(only);
    return good;
}

/* At least 1: what was gained and lost again left its rounding behind. */
static double largest_shadow(args *a) {
    double largest = 1;
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0; a->a[i].active && k < arg_count(&a->a[i]); k++)
            largest = fmax(largest, fabs(arg_real(a->a[i].type, *arg_shadow(&a->a[i], k))));
    return largest;
}

/* Forward again after the sweep takes it back: seeds w and outputs y; then the sweep gives the same once more. */
static bool check_taken_back(const subject *s, const engine *e, args *w, args *y, args *xb) {
    rvm_machine *m = NULL;
    rvm_error err = {0};
    rvm_options o = engine_options(s, e);
    o.keep_shadows = true;
    args a = args_copy(w), seeds = args_copy(w);
    for (uint32_t i = 0; i < seeds.n; i++)
        for (size_t k = 0; k < arg_count(&seeds.a[i]); k++) *arg_value(&seeds.a[i], k) = *arg_value(&y->a[i], k);
    const double tol = (has(w, RVM_F32) ? F32_COARSER / 10 : 10) * s->restore * largest_shadow(xb);
    const int how = COMPARE_SHADOWS | (has(w, RVM_F32) || has(w, RVM_F64) ? COMPARE_REAL_FIX : 0);
    bool good = report_ok(s->rep, "machine", rvm_machine_new(s->program, &o, &m, &err), &err) &&
                report_ok(s->rep, "bind", rvm_machine_bind(m, s->fn, a.a, a.n, RVM_GRADIENT, false, &err), &err) &&
                report_ok(s->rep, "forward", rvm_machine_forward(m, &err), &err);
    rvm_status st = good ? rvm_machine_sweep(m, &err) : RVM_OK;
    const bool by_hand = st == RVM_ERR_UNSUPPORTED && rvm_program_by_hand(s->program, s->fn, RVM_ADJOINT);
    if (by_hand) report_skip(s->rep, "sweep: %s", err.message);
    if (by_hand) goto done;
    good = good && report_ok(s->rep, "sweep", st, &err) &&
           args_agree(s->rep, "sweep by the mode: shadows", s->program, s->fn, xb, &a, how, tol);
    st = good ? rvm_machine_forward(m, &err) : RVM_OK;
    if (good && st == RVM_ERR_UNSUPPORTED) {
        report_skip(s->rep, "sweep taken back: %s", err.message);
        goto done;
    }
    good = good && report_ok(s->rep, "sweep taken back", st, &err) &&
           args_agree(s->rep, "sweep taken back", s->program, s->fn, &seeds, &a, e->exact ? COMPARE_BITS : 0, s->restore) &&
           args_agree(s->rep, "sweep taken back: shadows", s->program, s->fn, &seeds, &a, how, tol) &&
           report_ok(s->rep, "sweep again", rvm_machine_sweep(m, &err), &err) &&
           args_agree(s->rep, "sweep again: shadows", s->program, s->fn, xb, &a, how, tol);
done:
    rvm_machine_free(m);
    args_free(&a);
    args_free(&seeds);
    return good;
}

/* Back to the start in tangent mode, exactly: every bit of the values. */
static bool check_tangent_back(const subject *s, const engine *e, args *v) {
    rvm_machine *m = NULL;
    rvm_error err = {0};
    const rvm_options o = engine_options(s, e);
    args a = args_copy(v);
    bool good = report_ok(s->rep, "machine", rvm_machine_new(s->program, &o, &m, &err), &err) &&
                report_ok(s->rep, "bind", rvm_machine_bind(m, s->fn, a.a, a.n, RVM_TANGENT, false, &err), &err) &&
                report_ok(s->rep, "tangents forward", rvm_machine_forward(m, &err), &err);
    const rvm_status st = good ? rvm_machine_backward(m, &err) : RVM_OK;
    const bool by_hand = st == RVM_ERR_UNSUPPORTED && rvm_program_by_hand(s->program, s->fn, RVM_TANGENT_OF);
    if (by_hand)
        report_skip(s->rep, "tangents backward: %s", err.message);
    else
        good = good && report_ok(s->rep, "tangents backward", st, &err) &&
               args_agree(s->rep, "tangents backward", s->program, s->fn, s->in, &a, COMPARE_BITS, 0);
    rvm_machine_free(m);
    args_free(&a);
    return good;
}

static bool check_engine(const subject *s, const engine *e, args *v, args *w, bool first) {
    double s1 = 0, s2 = 0, jv, jtw, tol = has(s->in, RVM_F32) ? 1e-5 : has(s->in, RVM_FIX) ? 1e-6 : 1e-10;
    args y = {0}, yd = {0}, yw = {0}, xb = {0}, swept = {0};
    rvm_machine *m = NULL;
    rvm_error err = {0};
    const rvm_options o = engine_options(s, e);
    bool good = report_ok(s->rep, e->name, rvm_machine_new(s->program, &o, &m, &err), &err) &&
                run_on(s, m, "forward", rvm_call, s->in, &y);
    const bool left = good && left_behind(m);
    good = good && run_on(s, m, "tangent", rvm_tangent, v, &yd) && run_on(s, m, "gradient", rvm_gradient, w, &xb);
    good = good && args_agree(s->rep, "tangent mode: values", s->program, s->fn, &y, &yd, COMPARE_BITS, 0) &&
           args_agree(s->rep, "gradient mode: inputs not restored", s->program, s->fn, s->in, &xb,
                      e->exact ? COMPARE_BITS : 0, s->restore);
    good = good && (!e->exact || check_tangent_back(s, e, v));
    if (!good) goto done;
    jv = args_dot_shadows(w, &yd, &s1);
    jtw = args_dot_shadows(&xb, v, &s2);
    good = close_to(s->rep, "<w, Jv> against <J'w, v>", jv, jtw, tol, fmax(s1, s2));
    good = good && (!first || check_differences(s, m, v, w, jv, fmax(s1, s2)));

    yw = args_copy(w);
    for (uint32_t i = 0; i < yw.n; i++)
        for (size_t k = 0; k < arg_count(&yw.a[i]); k++) *arg_value(&yw.a[i], k) = *arg_value(&y.a[i], k);
    if (!left && !o.exact) /* else the outputs alone do not say where it began */
        good =
            good && run_on(s, m, "sweep", rvm_sweep, &yw, &swept) &&
            args_agree(s->rep, "sweep from the outputs", s->program, s->fn, &xb, &swept, COMPARE_SHADOWS | COMPARE_BITS, 0);
    good = good && check_taken_back(s, e, w, &y, &xb);
    good = good && check_activity(s, m, v, rvm_tangent, s->in) && check_activity(s, m, w, rvm_gradient, s->in);
done:
    rvm_machine_free(m);
    args_free(&y);
    args_free(&yd);
    args_free(&yw);
    args_free(&xb);
    args_free(&swept);
    return good;
}

/* Exact runs go through derivatives by hand, but for what docs/language.md lists. */
static bool goes_exactly(const subject *s, args *v) {
    const run_fn runs[] = {rvm_gradient, rvm_tangent};
    const rvm_transform kinds[] = {RVM_ADJOINT, RVM_TANGENT_OF};
    bool good = true;
    for (int k = 0; k < 2 && good; k++) {
        rvm_machine *m = NULL;
        rvm_error err = {0};
        const rvm_options o = engine_options(s, &exact_engine);
        args a = args_copy(v);
        if (rvm_program_by_hand(s->program, s->fn, kinds[k]) && !rvm_machine_new(s->program, &o, &m, &err))
            good = runs[k](m, s->fn, a.a, a.n, &err) != RVM_ERR_UNSUPPORTED;
        if (!good) report_skip(s->rep, "exact derivatives: %s", err.message);
        rvm_machine_free(m);
        args_free(&a);
    }
    return good;
}

bool check_derivatives(const subject *s) {
    bool good = true;
    rng r = {4711};
    if (s->no_derivatives) {
        report_skip(s->rep, "derivatives: %s", s->no_derivatives);
        return true;
    }
    args v = args_copy(s->in);
    args_activate(&v, s->active);
    args w = args_copy(&v);
    args_random_shadows(&v, &r);
    args_random_shadows(&w, &r);
    const bool by_modes = has_reals(&v) && !s->inverse, exact = !s->few || s->turn % 2;
    for (unsigned k = 0, first = s->few ? s->turn % engine_count : 0; by_modes && good && k < engine_count; k++)
        if (takes_part(s, k)) good = check_engine(s, &engines[k], &v, &w, k == first);
    if (good && by_modes && exact && runs_exactly(s) && goes_exactly(s, &w))
        good = check_engine(s, &exact_engine, &v, &w, false);
    good = good && (s->inverse || (check_checkpoints(s, &w) && check_hessian(s)));
    args_free(&v);
    args_free(&w);
    return good;
}
