/* api.c: what the C interface costs beyond the work: derivatives of Rosenbrock's function in 1,000 dimensions that are asked
 * for by name, against f'grad called by hand, with native code. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

enum { DIMENSIONS = 1000 };
enum way { DERIVED, GRADIENT, BOTH, VJP, JVP, PEER, INTERPRETED, WAYS };

typedef struct trial {
    rvm_program *p, *derived;
    rvm_jit *j;
    rvm_machine *m, *hand, *plain; /* hand: of the derived program; plain: without native code */
    uint32_t grad;
    int64_t fn;
    double x[DIMENSIONS], x_b[DIMENSIONS], result;
    rvm_arg a[2], b[4];
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

static rvm_status open_trial(trial *t, int setting, rvm_error *e) {
    const int64_t n = DIMENSIONS;
    rvm_options o = rvm_options_default(), one_way;
    rvm_jit_options jo = rvm_jit_options_default();
    jo.tiers = false;
    o.unchecked = setting != CHECKED;
    o.trust = setting == TRUSTED;
    one_way = o;
    one_way.trail = RVM_TRAIL_OFF;
    rvm_status st = rvm_assemble_file(BENCH_DIR "/rosenbrock.rasm", NULL, &t->p, e, NULL, NULL);
    if (!st) st = rvm_program_derive(t->p, "rosenbrock'grad", &t->derived, &t->grad, e);
    if (!st) st = rvm_jit_new(&jo, &t->j, e);
    if (!st) st = rvm_machine_new(t->p, &o, &t->m, e);
    if (!st) st = rvm_machine_new(t->p, &o, &t->plain, e);
    if (!st) st = rvm_machine_new(t->derived, &one_way, &t->hand, e);
    if (!st) st = rvm_jit_attach(t->j, t->m, e);
    if (!st) st = rvm_jit_attach(t->j, t->hand, e);
    if (st) return st;
    t->fn = rvm_program_find(t->p, "rosenbrock");
    for (int i = 0; i < DIMENSIONS; i++) t->x[i] = 0.5 + 0.001 * i;
    t->a[0] = t->b[0] = rvm_arg_f64(0);
    t->a[1] = t->b[2] = rvm_arg_array_f64(t->x, 1, &n);
    t->b[1] = rvm_arg_f64(1);
    t->b[3] = rvm_arg_array_f64(t->x_b, 1, &n);
    t->a[0].active = t->a[1].active = true;
    t->a[0].shadow.f = 1;
    t->a[1].shadow_data = t->x_b;
    return RVM_OK;
}

static void close_trial(trial *t) {
    rvm_machine_free(t->m);
    rvm_machine_free(t->plain);
    rvm_machine_free(t->hand);
    rvm_jit_free(t->j);
    rvm_program_free(t->derived);
    rvm_program_free(t->p);
}

static rvm_status run(trial *t, enum way w, rvm_error *e) {
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_question q = {.fn = t->fn, .args = t->a, .nargs = 2, .of = &of, .nof = 1, .by = &by, .nby = 1};
    const double one = 1;
    t->a[0].value.f = t->b[0].value.f = 0;
    switch (w) {
    case DERIVED: return rvm_call(t->hand, t->grad, t->b, 4, e);
    case GRADIENT: return rvm_gradient(t->m, t->fn, t->a, 2, e);
    case BOTH: return rvm_value_and_gradient(t->m, t->fn, t->a, 2, e);
    case VJP: return rvm_vjp(t->m, &q, &one, t->x_b, NULL, e);
    case JVP: return rvm_jvp(t->m, &q, t->x, &t->result, NULL, e);
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
    static const char *const labels[WAYS] = {[GRADIENT] = "time of rvm_gradient / of f'grad by hand",
                                             [BOTH] = "time of rvm_value_and_gradient / of f'grad by hand",
                                             [VJP] = "time of rvm_vjp / of f'grad by hand",
                                             [JVP] = "time of rvm_jvp / of f'grad by hand",
                                             [PEER] = "time of C by hand / of f'grad by hand",
                                             [INTERPRETED] = "time of rvm_gradient, interpreted / of f'grad by hand"};
    static row *rows[WAYS];
    for (enum way w = GRADIENT; w < WAYS; w++) {
        double v[MAX_REPETITIONS];
        if (setting == CHECKED) rows[w] = table_row(t, group, labels[w], "");
        for (int i = 0; i < n; i++) v[i] = s[w][i] / s[DERIVED][i];
        figure_set(&rows[w]->figures[setting], v, n);
        if (w < JVP) figure_target(&rows[w]->figures[setting], AT_MOST, 1.3);
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
            for (enum way w = DERIVED; w < WAYS && !st; w++) st = take(x, w, &s[w][i], &e);
        if (!st) add_rows(t, setting, s, repetitions);
        close_trial(x);
        free(x);
    }
    if (st) fprintf(stderr, "rvm_bench: %s\n", e.message);
    return !st;
}
