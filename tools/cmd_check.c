/* cmd_check.c: rvm check. Each check is a row of the table that is printed:
 *
 *   restore     forward, then backward: all arguments are as before
 *   release     every ancilla disappears with the tangent that its value has: that it agrees is no accident of the input
 *   transpose   <w, J v> by tangents equals <J'w, v> by the backward sweep, for two fixed random vectors
 *   entries     single entries of J by sweeps and by tangents, a sample
 *   tangent     J v along each parameter against differences of forward runs, every output
 *   gradient    entries of J'w against differences, some of each parameter
 *
 * Where a run that was moved a little fails, or is not a number, or where a row has no derivative at the point and
 * differences disagree with what is taken for it, there is nothing to compare with; the row says so and does not count as
 * failed. Below the table stand the places where a derivative ends by rule.
 */
#include "check.h"
#include "differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRADIENT_ENTRIES = 16 }; /* of a parameter, evenly spread */
static const double difference_tolerance = 1e-6, kink_tolerance = 1e-3;

/* ---- restore ---- */

static rvm_status check_restore(check *c) {
    tool *t = c->t;
    values back = {0};
    row *r = check_add_row(c, "restore", "forward, then backward%s", "");
    rvm_error e;
    rvm_status st = values_copy(&back, &t->v, &t->err);
    if (!st) st = rvm_machine_bind(t->machine, t->fn, back.arg, back.n, RVM_PRIMAL, false, &t->err);
    if (!st) st = rvm_machine_forward(t->machine, &t->err);
    if (!st) st = values_copy(&c->out, &back, &t->err);
    if (st) goto done; /* a program that does not run is an error of its own */
    if (rvm_machine_backward(t->machine, &e)) {
        char why[256];
        if ((st = check_run(c, r, e.code, &e))) goto done;
        growth_of_run(t, &t->v, why, sizeof why);
        const size_t at = strlen(r->note);
        if (*why) snprintf(r->note + at, sizeof r->note - at, "; %s", why);
        goto done;
    }
    difference d = values_compare(&t->v, &back, option_given(&t->o, tol) ? t->o.tol : rvm_options_default().tolerance);
    r->outcome = d.same ? PASSED : FAILED;
    if (d.error == 0 && d.same) goto done;
    values_element_name(&t->v, d.param, d.element, r->worst, sizeof r->worst);
    rvm_type type = t->v.info[d.param].type;
    r->expected = rvm_scalar_to_double(type, arg_get(&t->v.arg[d.param], d.element));
    r->got = rvm_scalar_to_double(type, arg_get(&back.arg[d.param], d.element));
done:
    rvm_machine_unbind(t->machine);
    values_free(&back);
    return st;
}

/* ---- transpose ---- */

/* A copy of the inputs whose active parameters have a random shadow; only >= 0: the others' are 0. */
static rvm_status seeded(check *c, values *v, uint32_t stream, int64_t only) {
    const values *in = &c->t->v;
    values_free(v);
    rvm_status st = values_copy(v, in, &c->t->err);
    for (uint32_t i = 0; !st && i < in->n; i++) {
        if (!c->active[i]) continue;
        st = arg_activate(&v->arg[i], &c->t->err);
        if (only >= 0 && i != (uint32_t)only) continue;
        for (size_t k = 0, n = st ? 0 : arg_count(&in->arg[i]); k < n; k++) {
            double x = noise(stream, i, k) * (stream == STREAM_V ? step_scale(&in->arg[i], k) : 1);
            arg_set_shadow(&v->arg[i], k, rvm_scalar_from_double(in->info[i].type, x));
        }
    }
    return st;
}

static double shadow(const values *v, uint32_t i, size_t k) {
    return rvm_scalar_to_double(v->info[i].type, arg_get_shadow(&v->arg[i], k));
}

/* <noise of a stream, shadows of v>; *magnitude gains the sum of the terms' sizes. */
static double product(const check *c, const values *v, uint32_t stream, double *magnitude) {
    double sum = 0;
    for (uint32_t i = 0; i < v->n; i++)
        for (size_t k = 0, n = c->active[i] ? arg_count(&v->arg[i]) : 0; k < n; k++) {
            double scale = stream == STREAM_V ? step_scale(&c->t->v.arg[i], k) : 1;
            double term = noise(stream, i, k) * scale * shadow(v, i, k);
            sum += term;
            *magnitude += fabs(term);
        }
    return sum;
}

/* Leaves J'w in c->gradient; false when a mode does not run at all. */
static rvm_status check_transpose(check *c, bool *runs) {
    tool *t = c->t;
    rvm_error e;
    row *r = check_add_row(c, "release", "tangents of ancillas%s", "");
    rvm_status st = seeded(c, &c->tangent, STREAM_V, -1);
    if (!st) st = seeded(c, &c->gradient, STREAM_W, -1);
    if (st) return st;
    st = rvm_tangent(t->machine, t->fn, c->tangent.arg, c->tangent.n, &e);
    if (st == RVM_ERR_TANGENT) return check_run(c, r, st, &e);
    r = check_add_row(c, "transpose", "<w, J v> = <J'w, v>%s", "");
    if (!st) st = rvm_gradient(t->machine, t->fn, c->gradient.arg, c->gradient.n, &e);
    *runs = !st;
    if (st) return check_run(c, r, st, &e);
    double magnitude = 0;
    r->expected = product(c, &c->tangent, STREAM_W, &magnitude);
    r->got = product(c, &c->gradient, STREAM_V, &magnitude);
    double tolerance = check_transpose_tolerance(c);
    r->ratio = fabs(r->got - r->expected) / (tolerance * fmax(1, magnitude));
    r->outcome = r->ratio <= 1 ? PASSED : FAILED;
    return RVM_OK;
}

/* ---- differences ---- */

/* Takes a comparison into the row if it is worse than what the row has. Where the function is not smooth, one side suffices.
 */
static void compare(row *r, const char *name, double got, double central, const double side[2], double allowed) {
    double ratio = fabs(got - central) / allowed;
    if (!(ratio <= 1) && fabs(side[0] - side[1]) > 2 * kink_tolerance * fmax(fabs(side[0]), fabs(side[1])))
        for (int s = 0; s < 2; s++)
            if (fabs(got - side[s]) <= kink_tolerance * fmax(fabs(got), fabs(side[s])) + allowed) {
                snprintf(r->note, sizeof r->note, "%.60s is not smooth here: one side agrees", name);
                return;
            }
    if (isnan(ratio)) ratio = INFINITY;
    if (ratio < r->ratio || (ratio == r->ratio && r->worst[0])) return;
    snprintf(r->worst, sizeof r->worst, "%s", name);
    r->ratio = ratio;
    r->got = got;
    r->expected = central;
    r->outcome = ratio <= 1 ? PASSED : FAILED;
}

static double magnitude_of(const values *v) {
    double m = 1;
    for (uint32_t i = 0; i < v->n; i++)
        for (size_t k = 0, n = type_is_real(v->info[i].type) ? arg_count(&v->arg[i]) : 0; k < n; k++)
            m = fmax(m, fabs(rvm_scalar_to_double(v->info[i].type, arg_get(&v->arg[i], k))));
    return isfinite(m) ? m : 1;
}

static double tolerance_for(rvm_type t) {
    return t == RVM_FIX ? 1e-4 : t == RVM_F32 ? 1e-3 : difference_tolerance;
}

/* The one whose steps or values are rounded more; f32, if something between is. */
static rvm_type coarser(const check *c, rvm_type a, rvm_type b) {
    if (c->single) return RVM_F32;
    return tolerance_for(a) >= tolerance_for(b) ? a : b;
}

/* Every output against its slope along a parameter; false when some slope is not a number, so that nothing was learned. */
static bool compare_tangents(const check *c, const stencil *s, row *r, uint32_t param) {
    double magnitude = magnitude_of(&c->out);
    for (uint32_t i = 0; i < c->out.n; i++) {
        const rvm_type type = coarser(c, c->out.info[i].type, c->t->v.info[param].type);
        for (size_t k = 0, n = c->active[i] ? arg_count(&c->out.arg[i]) : 0; k < n; k++) {
            char name[80];
            double central = stencil_slope(s, i, k, 0), got = shadow(&c->tangent, i, k);
            if (!isfinite(central)) return false;
            values_element_name(&c->out, i, k, name, sizeof name);
            compare(r, name, got, central, (double[]){stencil_slope(s, i, k, 1), stencil_slope(s, i, k, -1)},
                    tolerance_for(type) * fmax(fabs(got), fabs(central)) + stencil_noise(s, type, magnitude));
        }
    }
    return true;
}

/* One entry of J'w against the slope of <w, outputs>. */
static bool compare_gradient(const check *c, const stencil *s, row *r, uint32_t param, size_t element) {
    const rvm_arg *a = &c->t->v.arg[param];
    rvm_type type = a->type;
    double slope[3] = {0}, weight = 0, got = shadow(&c->gradient, param, element) * step_scale(a, element);
    char name[80];
    for (uint32_t i = 0; i < c->out.n; i++)
        for (size_t k = 0, n = c->active[i] ? arg_count(&c->out.arg[i]) : 0; k < n; k++) {
            double w = noise(STREAM_W, i, k);
            for (int side = -1; side <= 1; side++) slope[side + 1] += w * stencil_slope(s, i, k, side);
            weight += fabs(w);
            type = coarser(c, type, c->out.info[i].type);
        }
    if (!isfinite(slope[1])) return false;
    values_element_name(&c->t->v, param, element, name, sizeof name);
    double allowed = tolerance_for(type) * fmax(fabs(got), fabs(slope[1])) +
                     stencil_noise(s, type, magnitude_of(&c->out)) * fmax(1, sqrt(weight));
    compare(r, name, got, slope[1], (double[]){slope[0], slope[2]}, allowed);
    return true;
}

/* One direction with shorter and shorter steps, until the row passes. The row keeps the best attempt. */
static rvm_status attempt(check *c, stencil *s, row *r, uint32_t param, ptrdiff_t element) {
    static const double steps[] = {1e-3, 1e-5, 1e-7, 1e-4}, singles[] = {1e-2, 1e-1, 1e-3, 1e-4};
    row best = *r;
    bool learned = false, single = c->single || c->t->v.info[param].type == RVM_F32;
    char why[200] = "the function is not a number nearby";
    for (size_t h = 0; h < sizeof steps / sizeof *steps; h++) {
        row now = *r;
        const rvm_status st = stencil_run(s, param, element, (single ? singles : steps)[h]);
        if (check_is_limit(st)) return st;
        if (st) {
            snprintf(why, sizeof why, "%.190s", c->t->err.message);
            continue;
        }
        if (!(element == WHOLE ? compare_tangents(c, s, &now, param) : compare_gradient(c, s, &now, param, (size_t)element)))
            continue;
        if (!learned || now.ratio < best.ratio) best = now;
        learned = true;
        if (best.outcome == PASSED) break;
    }
    const bool corner = best.outcome == FAILED && r->outcome != FAILED && check_meets_corner(c, param);
    if (corner)
        snprintf(why, sizeof why, "`%.60s` is at a point without a derivative", c->t->v.info[param].name);
    else
        *r = best;
    if (!corner && (learned || r->outcome == FAILED)) return RVM_OK;
    r->outcome = SKIPPED;
    snprintf(r->note, sizeof r->note, "nothing to compare with: %.200s", why);
    return RVM_OK;
}

static rvm_status check_tangent(check *c, stencil *s, uint32_t param) {
    tool *t = c->t;
    rvm_error e;
    row *r = check_add_row(c, "tangent", "along %.60s", t->v.info[param].name);
    rvm_status st = seeded(c, &c->tangent, STREAM_V, param);
    if (st) return st;
    st = rvm_tangent(t->machine, t->fn, c->tangent.arg, c->tangent.n, &e);
    return st ? check_run(c, r, st, &e) : attempt(c, s, r, param, WHOLE);
}

static rvm_status check_gradient(check *c, stencil *s, uint32_t param) {
    row *r = check_add_row(c, "gradient", "by %.60s", c->t->v.info[param].name);
    size_t n = arg_count(&c->t->v.arg[param]), entries = n < GRADIENT_ENTRIES ? n : GRADIENT_ENTRIES;
    rvm_status st = RVM_OK;
    for (size_t e = 0; !st && e < entries && r->outcome != FAILED; e++) {
        enum outcome before = r->outcome;
        st = attempt(c, s, r, param, (ptrdiff_t)(e * n / entries));
        if (e && before == PASSED && r->outcome == SKIPPED) r->outcome = PASSED; /* the note stays */
    }
    return st;
}

static rvm_status check_differences(check *c) {
    stencil s;
    rvm_status st = stencil_new(&s, c->t, &c->t->v, &c->out);
    for (uint32_t i = 0; !st && i < c->out.n; i++) {
        if (!c->wrt[i] || !arg_count(&c->out.arg[i])) continue;
        st = check_tangent(c, &s, i);
        if (!st) st = check_gradient(c, &s, i);
    }
    stencil_free(&s);
    return st;
}

/* ---- output ---- */

static const char *const outcome_text[] = {[FAILED] = "FAILED", [PASSED] = "ok", [SKIPPED] = "skipped"};

static size_t count(const check *c, enum outcome o) {
    size_t n = 0;
    for (size_t k = 0; k < c->n; k++) n += c->rows[k].outcome == o;
    return n;
}

/* To some digits; a NaN has no sign. */
static const char *short_text(int digits, double x, char text[32]) {
    snprintf(text, 32, "%.*g", digits, isnan(x) ? (double)NAN : x);
    return text;
}

static void print_row(const row *r) {
    char got[32], expected[32], apart[32];
    printf("%-10s %-24s %s", r->check, r->what, outcome_text[r->outcome]);
    if (r->worst[0] || r->got != 0 || r->expected != 0)
        printf("  %s%s%s against %s, %s apart", r->worst, r->worst[0] ? ": " : "", short_text(12, r->got, got),
               short_text(12, r->expected, expected), short_text(2, fabs(r->got - r->expected), apart));
    if (r->note[0]) printf(" (%s)", r->note);
    putchar('\n');
}

static void print_text(const check *c) {
    size_t failed = count(c, FAILED), skipped = count(c, SKIPPED);
    for (size_t k = 0; k < c->n; k++) print_row(&c->rows[k]);
    printf("%zu of %zu check%s passed", count(c, PASSED), c->n, c->n == 1 ? "" : "s");
    if (failed) printf(", %zu FAILED", failed);
    if (skipped) printf(", %zu skipped", skipped);
    putchar('\n');
    for (uint32_t k = 0; k < c->npoints && k < MAX_POINTS; k++) {
        char text[512];
        points_text(&c->points[k], text, sizeof text);
        puts(text);
    }
    if (c->npoints > MAX_POINTS) printf("and at %u more places\n", c->npoints - MAX_POINTS);
    output_stats(c->t);
}

static void json_cuts(json *j, const check *c) {
    json_key(j, "cuts");
    json_open(j, '[');
    for (uint32_t k = 0; k < c->npoints && k < MAX_POINTS; k++) {
        json_open(j, '{');
        json_key(j, "place"), json_text(j, c->points[k].place);
        json_key(j, "row"), json_text(j, c->points[k].row);
        json_key(j, "function"), json_text(j, c->points[k].function);
        json_key(j, "file"), json_text(j, c->points[k].file);
        json_key(j, "line"), json_uint(j, c->points[k].line);
        json_key(j, "taken"), json_f64(j, c->points[k].taken);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void print_json(const check *c) {
    json j;
    const size_t failed = count(c, FAILED);
    tool_json_begin(&j, c->t, failed ? tool_fail(c->t, RVM_ERR_CHECK, "%zu of %zu checks failed", failed, c->n) : RVM_OK);
    json_key(&j, "checks");
    json_open(&j, '[');
    for (size_t k = 0; k < c->n; k++) {
        const row *r = &c->rows[k];
        json_open(&j, '{');
        json_key(&j, "check"), json_text(&j, r->check);
        json_key(&j, "what"), json_text(&j, r->what);
        json_key(&j, "result"), json_text(&j, outcome_text[r->outcome]);
        json_key(&j, "worst"), json_text(&j, r->worst[0] ? r->worst : NULL);
        json_key(&j, "got"), json_f64(&j, r->got);
        json_key(&j, "expected"), json_f64(&j, r->expected);
        json_key(&j, "note"), json_text(&j, r->note[0] ? r->note : NULL);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_cuts(&j, c);
    output_json_stats(&j, c->t);
    tool_json_end(&j);
}

rvm_status command_CHECK(tool *t) {
    bool runs = false, any = false;
    rvm_status st = RVM_ERR_MEMORY;
    check *c = calloc(1, sizeof *c);
    if (!c) return tool_fail(t, st, "out of memory");
    c->t = t;
    st = tool_prepare(t);
    if (!st) st = values_select(&t->v, t->o.wrt, c->wrt, &t->err);
    for (uint32_t i = 0; !st && i < t->v.n; i++) {
        any |= c->wrt[i];
        c->active[i] = c->wrt[i] || (type_is_real(t->v.info[i].type) && t->v.info[i].role != RVM_READ);
    }
    if (!st && !check_find_single(c)) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (st) goto done;
    progress_begin(&t->progress, t->machine);
    st = check_restore(c);
    if (!st && any) st = check_transpose(c, &runs);
    if (!st && runs) st = check_entries(c);
    if (!st && runs) st = check_differences(c);
    if (!st && runs) st = check_cuts(c);
    progress_end(&t->progress);
    native_tell(t);
    if (st) goto done;
    if (t->o.json)
        print_json(c);
    else
        print_text(c);
    if (count(c, FAILED)) st = RVM_ERR_CHECK;
done:
    values_free(&c->out);
    values_free(&c->tangent);
    values_free(&c->gradient);
    free(c);
    return st;
}
