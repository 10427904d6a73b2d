/* layouts.c: one Jacobian in three layouts, natively, strict and with fast math: what lanes store side by side, or not. */
#include "bench.h"
#include "common.h"
#include "compare.h"
#include "rvm_jit.h"

static rvm_status measure_one(const task *of, bool fast, double *samples, int repetitions, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = native_options();
    native_machine n = {0};
    call c;
    o.unchecked = o.trust = true;
    o.trail = RVM_TRAIL_OFF;
    jit.fast_math = fast;
    rvm_status status = call_make(&c, of, e);
    if (!status) status = native_open(&n, c.p, &o, &jit, e);
    for (int k = -1; k < repetitions && !status; k++) { /* the first one compiles */
        const double before = process_seconds();
        status = rvm_call(n.m, c.fn, c.args, c.nargs, e);
        samples[k < 0 ? 0 : k] = (process_seconds() - before) * 1e3;
        if (!status) status = rvm_jit_reason(n.m, e);
    }
    native_close(&n);
    call_free(&c);
    return status;
}

bool measure_layouts(table *t, int repetitions) {
    static const int64_t sizes[][3] = {{49, 7776, 31843}, {1000, 200000, 1091386}};
    static const char *const titles[][2] = {{"[30, n]: an entry of all observations together", "[30, n], fast math"},
                                            {"[n, 30]: those of an observation", "[n, 30], fast math"},
                                            {"[n/8, 30, 8]: in blocks of lanes", "[n/8, 30, 8], fast math"}};
    static const char *const groups[] = {"Jacobian of bundle adjustment, 31,843 observations", "the same, 1,091,386"};
    static problem p;
    rvm_error e = {0};
    rvm_status status = RVM_OK;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !status; k++) {
        p = (problem){.random = 1};
        make_layouts(&p, sizes[k]);
        if (p.failed) status = e.code = RVM_ERR_MEMORY;
        for (int n = 0; n < p.ntasks && !status; n++)
            for (int fast = 0; fast < 2 && !status; fast++) {
                double samples[MAX_REPETITIONS];
                row *r = table_row(t, groups[k], titles[n][fast], "ms");
                status = measure_one(&p.tasks[n], fast, samples, repetitions, &e);
                if (!status) figure_set(&r->figures[TRUSTED], samples, repetitions);
            }
        problem_free(&p);
    }
    return !print_failure(status, &e);
}
