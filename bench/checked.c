/* checked.c: what checks cost natively: the same derivative program, checked and not, with the same options otherwise, run
 * by turns. Trails are off, since a derivative is not taken back. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common.h"
#include "compare.h"
#include "rvm_jit.h"

enum { PAIR = 2 }; /* checked, unchecked */

typedef struct side {
    native_machine n;
    double samples[MAX_REPETITIONS];
} side;

typedef struct setting {
    const char *name;
    bool fast;
    uint32_t threads;
} setting;

static const setting settings[] = {{"strict", false, 1}, {"fast math", true, 1}, {"fast math, 2 threads", true, 2}};

static rvm_status open_side(side *s, const setting *how, const task *t, const rvm_program *p, bool unchecked, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = native_options();
    o.unchecked = unchecked;
    o.trail = RVM_TRAIL_OFF;
    if (t->tolerance > o.tolerance) o.tolerance = t->tolerance;
    jit.fast_math = how->fast;
    jit.threads = how->threads;
    return native_open(&s->n, p, &o, &jit, e);
}

/* What several threads do at once takes its time by the clock on the wall. */
static double seconds_of(const setting *how) {
    return how->threads > 1 ? now() : processor_seconds();
}

/* Scalars come back in the arguments, so that each run has its own. */
static rvm_status run(side *s, const setting *how, const call *c, double *seconds, rvm_error *e) {
    rvm_arg args[2 * MAX_ARGS];
    memcpy(args, c->args, sizeof args);
    const double before = seconds_of(how);
    const rvm_status status = rvm_call(s->n.m, c->fn, args, c->nargs, e);
    *seconds = seconds_of(how) - before;
    return status ? status : rvm_jit_reason(s->n.m, e);
}

static rvm_status run_by_turns(side s[PAIR], const setting *how, const call *c, int repetitions, rvm_error *e) {
    rvm_status status = RVM_OK;
    for (int n = -1; n < repetitions && !status; n++) /* the first one compiles */
        for (int k = 0; k < PAIR && !status; k++) status = run(&s[k], how, c, &s[k].samples[n < 0 ? 0 : n], e);
    return status;
}

static void add_rows(table *t, const char *group, const setting *how, side s[PAIR], int repetitions) {
    double ratios[MAX_REPETITIONS];
    for (int n = 0; n < repetitions; n++) {
        ratios[n] = s[CHECKED].samples[n] / s[UNCHECKED].samples[n];
        for (int k = 0; k < PAIR; k++) s[k].samples[n] *= 1e3;
    }
    row *times = table_row(t, group, how->name, "ms"), *ratio = table_row(t, group, "checked / unchecked", "x");
    for (int k = 0; k < PAIR; k++) figure_set(&times->figures[k], s[k].samples, repetitions);
    figure_set(&ratio->figures[CHECKED], ratios, repetitions);
    figure_target(&ratio->figures[CHECKED], AT_MOST, 3);
}

static rvm_status measure_setting(table *t, const char *group, const task *of, const setting *how, int repetitions,
                                  rvm_error *e) {
    static side s[PAIR];
    call c;
    memset(s, 0, sizeof s);
    rvm_status status = call_make(&c, of, e);
    for (int k = 0; k < PAIR && !status; k++) status = open_side(&s[k], how, of, c.p, k != CHECKED, e);
    if (!status) status = run_by_turns(s, how, &c, repetitions, e);
    if (!status) add_rows(t, group, how, s, repetitions);
    for (int k = 0; k < PAIR; k++) native_close(&s[k].n);
    call_free(&c);
    return status;
}

bool measure_checked(table *t, int repetitions) {
    static const struct {
        problem_maker *make;
        const char *title;
        int64_t size[3];
    } measured[] = {{make_gmm, "mixture d = 10, K = 25, 1,000 points: gradient", {10, 25, 1000}},
                    {make_gmm, "mixture d = 10, K = 25, 10,000 points: gradient", {10, 25, 10000}},
                    {make_bundle, "bundle adjustment, 31,843 observations: Jacobian", {49, 7776, 31843}},
                    {make_lstm, "LSTM, 2 layers, 1,024 characters: gradient", {2, 1024}},
                    {make_pairs, "plane rotations of 10,000 pairs, by index: roles are enforced", {10000}}};
    static problem p;
    rvm_error e = {0};
    rvm_status status = RVM_OK;
    for (size_t k = 0; k < sizeof measured / sizeof *measured && !status; k++) {
        p = (problem){.random = 1};
        measured[k].make(&p, measured[k].size);
        if (p.failed) status = e.code = RVM_ERR_MEMORY;
        const task *derivative = &p.tasks[p.ntasks - 1];
        for (size_t n = 0; n < sizeof settings / sizeof *settings && !status; n++)
            status = measure_setting(t, measured[k].title, derivative, &settings[n], repetitions, &e);
        problem_free(&p);
    }
    return !print_failure(status, &e);
}
