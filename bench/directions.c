/* directions.c: columns and rows of dense Jacobians and Hessians: asked for at once, against one by one. */
#include <stdlib.h>

#include "bench.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"

enum { MOST_N = 100 };
enum line { COLUMNS, ROWS, PRODUCTS, LINES };
static const char *const labels[LINES] = {"Jacobian by columns / rvm_jvp for each", "Jacobian by rows / rvm_vjp for each",
                                          "Hessian by products / rvm_hvp for each"};

typedef struct trial {
    rvm_program *p;
    rvm_jit *j;
    rvm_machine *m;
    double x[MOST_N], y[MOST_N], v[MOST_N], line[MOST_N], all[MOST_N * MOST_N];
} trial;

static rvm_status open_trial(trial *t, int setting, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jo = rvm_jit_options_default();
    jo.tiers = false;
    jo.threads = 0;
    o.unchecked = setting != CHECKED;
    o.trust = setting == TRUSTED;
    for (int i = 0; i < MOST_N; i++) t->x[i] = 0.5 + 0.001 * i;
    rvm_status st = rvm_assemble_file(BENCH_DIR "/directions.rasm", NULL, &t->p, e, NULL, NULL);
    if (!st) st = rvm_jit_new(&jo, &t->j, e);
    if (!st) st = rvm_machine_new(t->p, &o, &t->m, e);
    return st ? st : rvm_jit_attach(t->j, t->m, e);
}

static void close_trial(trial *t) {
    rvm_machine_free(t->m);
    rvm_jit_free(t->j);
    rvm_program_free(t->p);
}

static rvm_status at_once(trial *t, const rvm_derivative_spec *q, enum line l, rvm_error *e) {
    if (l == PRODUCTS) return rvm_hessian(t->m, q, NULL, RVM_BY_HVP, t->all, NULL, e);
    return rvm_jacobian(t->m, q, l == COLUMNS ? RVM_BY_TANGENTS : RVM_BY_ADJOINTS, t->all, NULL, e);
}

static rvm_status one_by_one(trial *t, const rvm_derivative_spec *q, enum line l, int64_t n, rvm_error *e) {
    rvm_status st = RVM_OK;
    for (int64_t k = 0; k < n && !st; k++) {
        t->v[k] = 1;
        st = l == COLUMNS ? rvm_jvp(t->m, q, t->v, t->line, NULL, e)
             : l == ROWS  ? rvm_vjp(t->m, q, t->v, t->line, NULL, e)
                          : rvm_hvp(t->m, q, NULL, t->v, t->line, NULL, e);
        t->v[k] = 0;
    }
    return st;
}

/* Seconds of one, at once and one by one. */
static rvm_status take(trial *t, enum line l, int64_t n, double seconds[2], rvm_error *e) {
    const rvm_part of = {0, -1}, by = {1, -1};
    rvm_arg a[2] = {l == PRODUCTS ? rvm_arg_f64(0) : rvm_arg_array_f64(t->y, 1, &n), rvm_arg_array_f64(t->x, 1, &n)};
    const rvm_derivative_spec q = {.fn = rvm_program_find(t->p, l == PRODUCTS ? "rosenbrock" : "sums"),
                                   .args = a,
                                   .nargs = 2,
                                   .outputs = &of,
                                   .noutputs = 1,
                                   .inputs = &by,
                                   .ninputs = 1};
    const int times = l == PRODUCTS || n < MOST_N ? 100 : 2;
    rvm_status st = at_once(t, &q, l, e); /* which compiles */
    if (!st) st = one_by_one(t, &q, l, n, e);
    for (int way = 0; way < 2 && !st; way++) {
        const double start = processor_seconds();
        for (int k = 0; k < times && !st; k++) st = way ? one_by_one(t, &q, l, n, e) : at_once(t, &q, l, e);
        seconds[way] = (processor_seconds() - start) / times;
    }
    return st;
}

static rvm_status measure_line(table *t, trial *x, enum line l, int size, int setting, int repetitions, row *rows[2][LINES],
                               rvm_error *e) {
    static const int64_t sizes[2] = {10, MOST_N};
    static const char *const groups[2] = {"(k) 10 columns or rows, time at once / one by one", "the same of 100"};
    double v[MAX_REPETITIONS], s[2];
    rvm_status st = RVM_OK;
    for (int i = 0; i < repetitions && !st; i++) {
        st = take(x, l, sizes[size], s, e);
        v[i] = st ? 0 : s[0] / s[1];
    }
    if (st) return st;
    if (setting == CHECKED) rows[size][l] = table_row(t, groups[size], labels[l], "");
    figure_set(&rows[size][l]->figures[setting], v, repetitions);
    return RVM_OK;
}

bool measure_directions(table *t, int repetitions) {
    static row *rows[2][LINES];
    rvm_status st = RVM_OK;
    rvm_error e;
    for (int setting = CHECKED; setting < SETTINGS && !st; setting++) {
        trial *x = calloc(1, sizeof *x);
        if (!x) return false;
        st = open_trial(x, setting, &e);
        for (int size = 0; size < 2; size++)
            for (enum line l = 0; l < LINES && !st; l++) st = measure_line(t, x, l, size, setting, repetitions, rows, &e);
        close_trial(x);
        free(x);
    }
    if (st) fprintf(stderr, "rvm_bench: %s\n", e.message);
    return !st;
}
