/* trail.c: the gradient of a program that overwrites: time against the primal, and memory for each value; and what a value
 * on the trail costs natively. */
#include "bench.h"

#include <stdlib.h>

#include "common.h"
#include "rvm_asm.h"
#include "rvm_jit.h"

typedef struct dot {
    const rvm_program *p;
    int64_t n;
    double *a, *b, *a_b, *b_b;
} dot;

typedef struct passes {
    double primal, gradient; /* seconds of processor time */
    double bytes;            /* at most, for each value overwritten */
} passes;

static rvm_status measure_passes(const dot *d, passes *out, rvm_error *e) {
    rvm_options off = rvm_options_default();
    rvm_machine *m[2] = {NULL, NULL};
    rvm_arg args[] = {rvm_arg_f64(0), rvm_arg_array_f64(d->a, 1, &d->n), rvm_arg_array_f64(d->b, 1, &d->n)};
    for (int k = 0; k < 3; k++) args[k].active = true;
    args[0].shadow.f = 1;
    args[1].shadow_data = d->a_b;
    args[2].shadow_data = d->b_b;
    off.trail = RVM_TRAIL_OFF;
    rvm_status status = rvm_machine_new(d->p, &off, &m[0], e);
    if (!status) status = rvm_machine_new(d->p, NULL, &m[1], e);
    const int runs = (int)(2000000 / d->n) + 1;
    double start = processor_seconds();
    for (int k = 0; k < runs && !status; k++) status = rvm_call(m[0], 0, args, 3, e);
    out->primal = (processor_seconds() - start) / runs;
    start = processor_seconds();
    for (int k = 0; k < runs && !status; k++) status = rvm_gradient(m[1], 0, args, 3, e);
    out->gradient = (processor_seconds() - start) / runs;
    rvm_stats stats = {0};
    if (!status) rvm_machine_stats(m[1], &stats);
    out->bytes = (double)stats.trail_peak / (double)(d->n + 1);
    for (int k = 0; k < 2; k++) rvm_machine_free(m[k]);
    return status;
}

static const struct length {
    int64_t n;
    const char *ratio, *time, *memory;
} lengths[] = {
    {1000, "1,000 values: gradient / primal", "1,000: gradient, each value", "1,000: trail, each value"},
    {10000, "10,000 values: gradient / primal", "10,000: gradient, each value", "10,000: trail, each value"},
    {100000, "100,000 values: gradient / primal", "100,000: gradient, each value", "100,000: trail, each value"},
    {1000000, "1,000,000 values: gradient / primal", "1,000,000: gradient, each value", "1,000,000: trail, each value"},
};

static rvm_status measure_length(table *t, const dot *d, const struct length *l, int repetitions, rvm_error *e) {
    static const char group[] = "(h) dot product that overwrites its sum: gradient by the trail";
    double ratio[MAX_REPETITIONS], each[MAX_REPETITIONS], bytes = 0;
    rvm_status status = RVM_OK;
    for (int k = 0; k < repetitions && !status; k++) {
        passes one = {0};
        status = measure_passes(d, &one, e);
        ratio[k] = one.gradient / one.primal;
        each[k] = one.gradient / (double)d->n * 1e9;
        bytes = one.bytes;
    }
    if (status) return status;
    figure *f = &table_row(t, group, l->ratio, "")->figures[CHECKED];
    figure_set(f, ratio, repetitions);
    figure_target(f, AT_MOST, 6);
    figure_set(&table_row(t, group, l->time, "ns")->figures[CHECKED], each, repetitions);
    f = &table_row(t, group, l->memory, "bytes")->figures[CHECKED];
    figure_set(f, &bytes, 1);
    figure_target(f, AT_MOST, 8.1);
    return RVM_OK;
}

/* ---- natively: a loop of one `set`, forward ---- */

enum { SETS = 20000000 };

static rvm_status open_native(native_machine *n, const rvm_program *p, rvm_trail trail, rvm_error *e) {
    rvm_options o = rvm_options_default();
    const rvm_jit_options jit = native_options();
    o.trail = trail;
    return native_open(n, p, &o, &jit, e);
}

static rvm_status run_sets(const native_machine *n, const rvm_program *p, double *seconds, rvm_error *e) {
    rvm_arg args[] = {rvm_arg_f64(1), rvm_arg_i64(SETS)};
    const double start = processor_seconds();
    const rvm_status status = rvm_call(n->m, rvm_program_find(p, "sets"), args, 2, e);
    *seconds = processor_seconds() - start;
    return status ? status : rvm_jit_reason(n->m, e);
}

static rvm_status measure_native(table *t, const rvm_program *p, int repetitions, rvm_error *e) {
    native_machine n[2] = {{NULL, NULL}, {NULL, NULL}};
    double seconds[2], each[MAX_REPETITIONS];
    rvm_status status = open_native(&n[0], p, RVM_TRAIL_OFF, e);
    if (!status) status = open_native(&n[1], p, RVM_TRAIL_KEEP, e);
    for (int k = -1; k < repetitions && !status; k++) { /* the first one compiles */
        for (int i = 0; i < 2 && !status; i++) status = run_sets(&n[i], p, &seconds[i], e);
        each[k < 0 ? 0 : k] = (seconds[1] - seconds[0]) / SETS * 1e9;
    }
    for (int i = 0; i < 2; i++) native_close(&n[i]);
    if (status) return status;
    figure *f =
        &table_row(t, "(h) 20 million sets, natively", "a value, beyond the run with the trail off", "ns")->figures[CHECKED];
    figure_set(f, each, repetitions);
    figure_target(f, AT_MOST, 3);
    return RVM_OK;
}

bool measure_trail(table *t, int repetitions) {
    rvm_program *p = NULL;
    rvm_error e = {0};
    const int64_t most = 1000000;
    double *block = calloc(4 * (size_t)most, sizeof *block);
    if (!block) {
        fprintf(stderr, "rvm_bench: out of memory\n");
        return false;
    }
    for (int64_t k = 0; k < 2 * most; k++) block[k] = 1.0 / (double)(k + 1);
    rvm_status status = rvm_assemble_file(BENCH_DIR "/trail.rasm", NULL, &p, &e, NULL, NULL);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths && !status; k++) {
        const dot d = {p, lengths[k].n, block, block + most, block + 2 * most, block + 3 * most};
        status = measure_length(t, &d, &lengths[k], repetitions, &e);
    }
    if (!status) status = measure_native(t, p, repetitions, &e);
    rvm_program_free(p);
    free(block);
    return !print_failure(status, &e);
}
