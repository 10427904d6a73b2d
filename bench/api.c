/* api.c: what the C interface costs beyond the work: derivatives of Rosenbrock's function in 1,000 dimensions that are asked
 * for by name, against the derived program called by hand, with native code. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

enum { DIMENSIONS = 1000, FEW = 10 }; /* FEW: of a Hessian whose every entry is asked for */

/* The first are derived programs called by hand, COLUMNS one for each column; with these the others are compared. */
enum way {
    GRAD,
    TAN,
    GRAD_TAN,
    BY_HAND,
    COLUMNS = BY_HAND,
    GRADIENT,
    BOTH,
    VJP,
    JACOBIAN,
    JVP,
    HVP,
    HESSIAN,
    PEER,
    INTERPRETED,
    WAYS
};

typedef struct hand {
    rvm_program *p;
    rvm_machine *m;
    uint32_t fn;
} hand;

typedef struct trial {
    rvm_program *p;
    rvm_jit *j;
    rvm_machine *m, *plain; /* plain: without native code */
    hand by[BY_HAND];
    int64_t fn;
    double x[DIMENSIONS], x_d[DIMENSIONS], x_b[DIMENSIONS], x_bd[DIMENSIONS], H[FEW * FEW], result;
    rvm_arg a[2];
} trial;

/* As one would write it. */
static double peer(int64_t n, const double *x, double *x_b) {
    double out = 0;
    for (int64_t i = 0; i < n - 1; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        out += 100 * (a * a) + b * b;
        x_b[i + 1] += 200 * a;
        x_b[i] += -400 * a * x[i] - 2 * b;
    }
    return out;
}

static rvm_status open_hand(const trial *t, const char *name, const rvm_options *o, hand *h, rvm_error *e) {
    rvm_options one_way = *o;
    one_way.trail = RVM_TRAIL_OFF;
    rvm_status st = rvm_program_derive(t->p, name, &h->p, &h->fn, e);
    if (!st) st = rvm_machine_new(h->p, &one_way, &h->m, e);
    return st ? st : rvm_jit_attach(t->j, h->m, e);
}

static rvm_status open_trial(trial *t, int setting, rvm_error *e) {
    static const char *const names[BY_HAND] = {
        [GRAD] = "rosenbrock'grad", [TAN] = "rosenbrock'tan", [GRAD_TAN] = "rosenbrock'grad'tan"};
    const int64_t n = DIMENSIONS;
    rvm_options o = rvm_options_default();
    rvm_jit_options jo = rvm_jit_options_default();
    jo.tiers = false;
    jo.threads = 0;
    o.unchecked = setting != CHECKED;
    o.trust = setting == TRUSTED;
    rvm_status st = rvm_assemble_file(BENCH_DIR "/rosenbrock.rasm", NULL, &t->p, e, NULL, NULL);
    if (!st) st = rvm_jit_new(&jo, &t->j, e);
    if (!st) st = rvm_machine_new(t->p, &o, &t->m, e);
    if (!st) st = rvm_machine_new(t->p, &o, &t->plain, e);
    if (!st) st = rvm_jit_attach(t->j, t->m, e);
    for (int k = 0; k < BY_HAND && !st; k++) st = open_hand(t, names[k], &o, &t->by[k], e);
    if (st) return st;
    t->fn = rvm_program_find(t->p, "rosenbrock");
    for (int i = 0; i < DIMENSIONS; i++) t->x[i] = 0.5 + 0.001 * i;
    memcpy(t->x_d, t->x, sizeof t->x);
    t->a[0] = rvm_arg_f64(0);
    t->a[1] = rvm_arg_array_f64(t->x, 1, &n);
    t->a[0].active = t->a[1].active = true;
    t->a[0].shadow.f = 1;
    t->a[1].shadow_data = t->x_b;
    return RVM_OK;
}

static void close_trial(trial *t) {
    for (int k = 0; k < BY_HAND; k++) {
        rvm_machine_free(t->by[k].m);
        rvm_program_free(t->by[k].p);
    }
    rvm_machine_free(t->m);
    rvm_machine_free(t->plain);
    rvm_jit_free(t->j);
    rvm_program_free(t->p);
}

/* out and x, each followed by what a tick adds: a shadow of every parameter so far. */
static rvm_status run_by_hand(trial *t, enum way w, int64_t n, rvm_error *e) {
    double *const planes[BY_HAND][4] = {
        [GRAD] = {t->x, t->x_b}, [TAN] = {t->x, t->x_d}, [GRAD_TAN] = {t->x, t->x_d, t->x_b, t->x_bd}};
    static const double seeds[BY_HAND][4] = {[GRAD] = {0, 1}, [GRAD_TAN] = {0, 0, 1, 0}};
    const uint32_t each = w == GRAD_TAN ? 4 : 2;
    rvm_arg b[8];
    for (uint32_t k = 0; k < each; k++) {
        b[k] = rvm_arg_f64(seeds[w][k]);
        b[each + k] = rvm_arg_array_f64(planes[w][k], 1, &n);
    }
    return rvm_call(t->by[w].m, t->by[w].fn, b, 2 * each, e);
}

static rvm_status run_columns(trial *t, rvm_error *e) {
    rvm_status st = RVM_OK;
    for (int k = 0; k < FEW && !st; k++) st = run_by_hand(t, GRAD_TAN, FEW, e);
    return st;
}

static rvm_status run_hessian(trial *t, rvm_derivative_spec q, rvm_error *e) {
    const int64_t n = FEW;
    rvm_arg a[2] = {t->a[0], rvm_arg_array_f64(t->x, 1, &n)};
    q.args = a;
    return rvm_hessian(t->m, &q, NULL, RVM_AUTO, t->H, NULL, e);
}

static rvm_status run(trial *t, enum way w, rvm_error *e) {
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = t->fn, .args = t->a, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    const double one = 1;
    t->a[0].value.f = 0;
    switch (w) {
    case GRAD:
    case TAN:
    case GRAD_TAN: return run_by_hand(t, w, DIMENSIONS, e);
    case COLUMNS: return run_columns(t, e);
    case GRADIENT: return rvm_gradient(t->m, t->fn, t->a, 2, e);
    case BOTH: return rvm_value_and_gradient(t->m, t->fn, t->a, 2, e);
    case VJP: return rvm_vjp(t->m, &q, &one, t->x_b, NULL, e);
    case JACOBIAN: return rvm_jacobian(t->m, &q, RVM_AUTO, t->x_b, NULL, e);
    case JVP: return rvm_jvp(t->m, &q, t->x_d, &t->result, NULL, e);
    case HVP: return rvm_hvp(t->m, &q, NULL, t->x_d, t->x_bd, NULL, e);
    case HESSIAN: return run_hessian(t, q, e);
    case PEER: t->result = peer(DIMENSIONS, t->x, t->x_b); return RVM_OK;
    case INTERPRETED: return rvm_gradient(t->plain, t->fn, t->a, 2, e);
    case WAYS: break;
    }
    return RVM_OK;
}

static rvm_status take(trial *t, enum way w, double *seconds, rvm_error *e) {
    const int times = w == INTERPRETED ? 20 : 500;
    rvm_status st = run(t, w, e); /* which compiles */
    const double start = processor_seconds();
    for (int k = 0; k < times && !st; k++) st = run(t, w, e);
    *seconds = (processor_seconds() - start) / times;
    return st;
}

static void add_rows(table *t, int setting, double s[WAYS][MAX_REPETITIONS], int n) {
    static const char group[] = "(i) Rosenbrock's function in 1,000 dimensions";
    static const struct {
        const char *label;
        enum way by;
        double most;
    } ratios[WAYS] = {[GRADIENT] = {"time of rvm_gradient / of f'grad by hand", GRAD, 1.3},
                      [BOTH] = {"time of rvm_value_and_gradient / of f'grad by hand", GRAD, 1.3},
                      [VJP] = {"time of rvm_vjp / of f'grad by hand", GRAD, 1.3},
                      [JACOBIAN] = {"time of rvm_jacobian / of f'grad by hand", GRAD, 1.3},
                      [JVP] = {"time of rvm_jvp / of f'tan by hand", TAN, 1.3},
                      [HVP] = {"time of rvm_hvp / of f'grad'tan by hand", GRAD_TAN, 1.3},
                      [HESSIAN] = {"time of rvm_hessian in 10 dimensions / of f'grad'tan by hand", COLUMNS, 0},
                      [PEER] = {"time of C by hand / of f'grad by hand", GRAD, 0},
                      [INTERPRETED] = {"time of rvm_gradient, interpreted / of f'grad by hand", GRAD, 0}};
    static row *rows[WAYS];
    for (enum way w = GRADIENT; w < WAYS; w++) {
        double v[MAX_REPETITIONS];
        if (setting == CHECKED) rows[w] = table_row(t, group, ratios[w].label, "");
        for (int i = 0; i < n; i++) v[i] = s[w][i] / s[ratios[w].by][i];
        figure_set(&rows[w]->figures[setting], v, n);
        if (ratios[w].most > 0) figure_target(&rows[w]->figures[setting], AT_MOST, ratios[w].most);
    }
}

bool measure_api(table *t, int repetitions) {
    static double s[WAYS][MAX_REPETITIONS];
    rvm_status st = RVM_OK;
    rvm_error e;
    for (int setting = CHECKED; setting < SETTINGS && !st; setting++) {
        trial *x = calloc(1, sizeof *x);
        if (!x) return false;
        st = open_trial(x, setting, &e);
        for (int i = 0; i < repetitions; i++)
            for (enum way w = 0; w < WAYS && !st; w++) st = take(x, w, &s[w][i], &e);
        if (!st) add_rows(t, setting, s, repetitions);
        close_trial(x);
        free(x);
    }
    if (st) fprintf(stderr, "rvm_bench: %s\n", e.message);
    return !st;
}
