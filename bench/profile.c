/* profile.c: runs that count what they run, beside those that do not: forward, and the sweep of their gradient. */
#include "bench.h"

#include <string.h>

#include "common.h"
#include "rvm_asm.h"

enum { FORWARD, SWEEP, PASSES };

typedef struct pair { /* of machines: without a profile, with one */
    rvm_machine *m[2];
    double ratio[PASSES][MAX_REPETITIONS];
} pair;

static rvm_status time_passes(rvm_machine *m, int64_t fn, const job *j, double seconds[PASSES], rvm_error *e) {
    rvm_arg args[12];
    memcpy(args, j->args, sizeof args);
    const rvm_mode mode = j->has_gradient ? RVM_GRADIENT : RVM_PRIMAL;
    rvm_status status = rvm_machine_bind(m, fn, args, j->nargs, mode, false, e);
    for (int pass = 0; pass < (j->has_gradient ? PASSES : 1) && !status; pass++) {
        const double start = processor_seconds();
        status = pass == SWEEP ? rvm_machine_sweep(m, e) : rvm_machine_forward(m, e);
        seconds[pass] = processor_seconds() - start;
    }
    rvm_machine_unbind(m);
    return status;
}

static rvm_status take_ratios(const rvm_program *p, const job *j, pair *x, int repetitions, rvm_error *e) {
    rvm_status status = RVM_OK;
    for (int k = 0; k < 2 && !status; k++) {
        rvm_options o = rvm_options_default();
        o.profile = k == 1;
        status = rvm_machine_new(p, &o, &x->m[k], e);
    }
    const int64_t fn = rvm_program_find(p, j->function);
    for (int n = 0; n < repetitions && !status; n++) {
        double seconds[2][PASSES] = {{0}};
        for (int k = 0; k < 2 && !status; k++) status = time_passes(x->m[k], fn, j, seconds[k], e);
        for (int pass = 0; pass < PASSES; pass++) x->ratio[pass][n] = seconds[1][pass] / seconds[0][pass];
    }
    return status;
}

static bool measure_ratios(table *t, bool (*make)(job *), double most, int repetitions) {
    static job j;
    static pair x;
    rvm_program *p = NULL;
    rvm_error e = {0};
    memset(&x, 0, sizeof x);
    bool ok = make(&j);
    if (!ok) fprintf(stderr, "rvm_bench: out of memory\n");
    ok = ok && !print_failure(rvm_open(j.path, NULL, &p, &e, NULL, NULL), &e);
    ok = ok && !print_failure(take_ratios(p, &j, &x, repetitions, &e), &e);
    static const char *const labels[] = {"forward", "gradient sweep"};
    for (int pass = 0; ok && pass < (j.has_gradient ? PASSES : 1); pass++) {
        figure *f = &table_row(t, "time with a profile / without", j.title, labels[pass])->figures[CHECKED];
        figure_set(f, x.ratio[pass], repetitions);
        figure_target(f, AT_MOST, most);
    }
    for (int k = 0; k < 2; k++) rvm_machine_free(x.m[k]);
    rvm_program_free(p);
    job_free(&j);
    return ok;
}

bool measure_profile(table *t, int repetitions) {
    const bool short_loop = measure_ratios(t, job_short, 1.3, repetitions);
    const bool bundle = measure_ratios(t, job_bundle, 1.15, repetitions);
    return measure_ratios(t, job_gmm, 1.15, repetitions) && short_loop && bundle;
}
