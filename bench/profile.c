/* profile.c: runs that count what they run, beside those that do not: forward, and the sweep of their gradient; natively
 * forward, and the gradient as a whole. */
#include "bench.h"

#include <string.h>

#include "common.h"
#include "rvm_asm.h"
#include "rvm_jit.h"

enum { FORWARD, SWEEP, PASSES };

typedef struct pair { /* of machines: without a profile, with one */
    rvm_machine *m[2];
    double ratio[PASSES][MAX_REPETITIONS];
} pair;

static rvm_status time_passes(rvm_machine *m, int64_t fn, const job *j, int passes, double seconds[PASSES], rvm_error *e) {
    rvm_arg args[12];
    memcpy(args, j->args, sizeof args);
    const rvm_mode mode = passes > 1 ? RVM_GRADIENT : RVM_PRIMAL;
    rvm_status status = rvm_machine_bind(m, fn, args, j->nargs, mode, false, e);
    for (int pass = 0; pass < passes && !status; pass++) {
        const double start = processor_seconds();
        status = pass == SWEEP ? rvm_machine_sweep(m, e) : rvm_machine_forward(m, e);
        seconds[pass] = processor_seconds() - start;
    }
    rvm_machine_unbind(m);
    return status;
}

/* The same where derivatives are programs. */
static rvm_status time_natively(rvm_machine *m, int64_t fn, const job *j, int passes, double seconds[PASSES], rvm_error *e) {
    rvm_status status = time_passes(m, fn, j, 1, seconds, e);
    if (status || passes == 1) return status;
    rvm_arg args[12];
    memcpy(args, j->args, sizeof args);
    const double start = processor_seconds();
    status = rvm_gradient(m, fn, args, j->nargs, e);
    seconds[SWEEP] = processor_seconds() - start;
    return status;
}

static rvm_status take_ratios(const rvm_program *p, const job *j, pair *x, int repetitions, rvm_jit *native, rvm_error *e) {
    const int passes = j->has_gradient ? PASSES : 1;
    rvm_status (*const time)(rvm_machine *, int64_t, const job *, int, double *, rvm_error *) =
        native ? time_natively : time_passes;
    rvm_status status = RVM_OK;
    for (int k = 0; k < 2 && !status; k++) {
        rvm_options o = rvm_options_default();
        o.profile = k == 1;
        status = rvm_machine_new(p, &o, &x->m[k], e);
        if (!status && native) status = rvm_jit_attach(native, x->m[k], e);
        double compiles[PASSES];
        if (!status && native) status = time(x->m[k], rvm_program_find(p, j->function), j, passes, compiles, e);
    }
    const int64_t fn = rvm_program_find(p, j->function);
    for (int n = 0; n < repetitions && !status; n++) {
        double seconds[2][PASSES] = {{0}};
        for (int k = 0; k < 2 && !status; k++) status = time(x->m[k], fn, j, passes, seconds[k], e);
        for (int pass = 0; pass < PASSES; pass++) x->ratio[pass][n] = seconds[1][pass] / seconds[0][pass];
    }
    return status;
}

static bool measure_ratios(table *t, bool (*make)(job *), double most, int repetitions, rvm_jit *native) {
    static job j;
    static pair x;
    rvm_program *p = NULL;
    rvm_error e = {0};
    memset(&x, 0, sizeof x);
    bool ok = make(&j);
    if (!ok) fprintf(stderr, "rvm_bench: out of memory\n");
    ok = ok && !print_failure(rvm_open(j.path, NULL, &p, &e, NULL, NULL), &e);
    ok = ok && !print_failure(take_ratios(p, &j, &x, repetitions, native, &e), &e);
    static const char *const labels[2][PASSES] = {{"forward", "gradient sweep"}, {"natively", "gradient, natively"}};
    for (int pass = 0; ok && pass < (j.has_gradient ? PASSES : 1); pass++) {
        figure *f = &table_row(t, "time with a profile / without", j.title, labels[native != NULL][pass])->figures[CHECKED];
        figure_set(f, x.ratio[pass], repetitions);
        figure_target(f, AT_MOST, most);
    }
    for (int k = 0; k < 2; k++) rvm_machine_free(x.m[k]);
    rvm_program_free(p);
    job_free(&j);
    return ok;
}

static bool measure_all(table *t, int repetitions, rvm_jit *native) {
    const bool short_loop = measure_ratios(t, job_short, 1.3, repetitions, native);
    const bool bundle = measure_ratios(t, job_bundle, 1.15, repetitions, native);
    return measure_ratios(t, job_gmm, 1.15, repetitions, native) && short_loop && bundle;
}

bool measure_profile(table *t, int repetitions) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *native = NULL;
    o.cache = "", o.tiers = false;
    o.threads = 0;
    const bool interpreted = measure_all(t, repetitions, NULL);
    const bool natively = rvm_jit_new(&o, &native, NULL) || measure_all(t, repetitions, native);
    rvm_jit_free(native);
    return interpreted && natively;
}
