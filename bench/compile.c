/* compile.c: what it takes until native code can be called: compiled by LLVM, and from the cache. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "common.h"
#include "rvm_asm.h"
#include "rvm_jit.h"

/* A call of a function whose lengths are constants: its reals are what the sine of their number is. */
typedef struct trial {
    rvm_program *p;
    uint32_t fn, nargs;
    rvm_arg args[12];
    double data[12][32];
} trial;

static rvm_status fill_arguments(trial *x) {
    rvm_status status = RVM_OK;
    x->nargs = rvm_program_param_count(x->p, x->fn);
    if (x->nargs > sizeof x->args / sizeof *x->args) return RVM_ERR_LIMIT;
    for (uint32_t k = 0; k < x->nargs && !status; k++) {
        rvm_param_info info;
        status = rvm_program_param(x->p, x->fn, k, &info);
        for (int i = 0; i < 32; i++) x->data[k][i] = sin(32.0 * k + i);
        x->args[k] = info.ndim ? rvm_arg_array_f64(x->data[k], info.ndim, info.dim_value) : rvm_arg_f64(x->data[k][0]);
    }
    return status;
}

typedef struct times {
    double request, passes, emission; /* milliseconds, of all threads, since LLVM has its own; the latter by the clock */
    double size;                      /* KiB */
    bool cached;
} times;

/* From the request, with nothing there, to the end of the first call, less what the second one takes. */
static rvm_status time_request(trial *x, const rvm_options *o, const char *cache, times *t, rvm_error *e) {
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_jit_totals totals;
    rvm_jit *j = NULL;
    rvm_machine *m = NULL;
    jo.cache = cache;
    jo.tiers = false;
    jo.threads = 0; /* of blocks as one thread meets them */
    const double begin = process_seconds();
    rvm_status status = rvm_jit_new(&jo, &j, e);
    if (!status) status = rvm_machine_new(x->p, o, &m, e);
    if (!status) status = rvm_jit_attach(j, m, e);
    if (!status) status = rvm_call(m, x->fn, x->args, x->nargs, e);
    const double first = process_seconds() - begin;
    if (!status) status = rvm_call(m, x->fn, x->args, x->nargs, e);
    if (!status) {
        rvm_jit_stats(j, &totals);
        *t = (times){.request = 1e3 * (2 * first - (process_seconds() - begin)),
                     .passes = 1e3 * totals.seconds[RVM_JIT_OPTIMISE],
                     .emission = 1e3 * totals.seconds[RVM_JIT_EMIT],
                     .size = (double)totals.code_size / 1024,
                     .cached = totals.cached};
    }
    rvm_machine_free(m);
    rvm_jit_free(j);
    return status;
}

enum { REQUEST, PASSES, EMISSION, CACHED, SIZE, ROWS };

static bool measure_setting(row *const rows[ROWS], trial *x, int setting, const char *cache, int repetitions) {
    double compile[MAX_REPETITIONS], passes[MAX_REPETITIONS], emission[MAX_REPETITIONS], load[MAX_REPETITIONS], size = 0;
    rvm_options o = rvm_options_default();
    rvm_error e = {0};
    times now = {0};
    o.unchecked = setting >= UNCHECKED;
    o.trust = setting >= TRUSTED;
    o.trail = RVM_TRAIL_OFF;
    rvm_status status = time_request(x, &o, cache, &now, &e); /* which fills the cache */
    if (status == RVM_ERR_UNSUPPORTED) return fprintf(stderr, "rvm_bench: %s\n", e.message), true;
    for (int k = 0; k < repetitions && !status; k++) {
        status = time_request(x, &o, "", &now, &e);
        compile[k] = now.request, passes[k] = now.passes, emission[k] = now.emission, size = now.size;
        if (!status) status = time_request(x, &o, cache, &now, &e);
        load[k] = now.request;
        if (!status && !now.cached) return fprintf(stderr, "rvm_bench: the cache does not keep code\n"), false;
    }
    if (print_failure(status, &e)) return false;
    figure_set(&rows[REQUEST]->figures[setting], compile, repetitions);
    figure_target(&rows[REQUEST]->figures[setting], AT_MOST, 100);
    figure_set(&rows[PASSES]->figures[setting], passes, repetitions);
    figure_set(&rows[EMISSION]->figures[setting], emission, repetitions);
    figure_set(&rows[CACHED]->figures[setting], load, repetitions);
    figure_target(&rows[CACHED]->figures[setting], AT_MOST, 5);
    figure_set(&rows[SIZE]->figures[setting], &size, 1);
    return true;
}

/* A value that lives until all are released, so many times. */
static rvm_status open_lets(trial *x, int lets, rvm_error *e) {
    enum { LINE = 60 };
    const rvm_asm_options o = {.real = RVM_F64};
    const size_t size = LINE * (size_t)(lets + 4);
    char *text = malloc(size);
    if (!text) return RVM_ERR_MEMORY;
    size_t n = (size_t)snprintf(text, size, "fn f(x: real, y: real)\n    let t0: real = x * 0.5\n");
    for (int k = 1; k < lets; k++)
        n += (size_t)snprintf(text + n, size - n, "    let t%d: real = t%d * 0.99 + %d.0\n", k, k - 1, k % 7);
    n += (size_t)snprintf(text + n, size - n, "    y += t%d * x\nend\n", lets - 1);
    rvm_status status = rvm_assemble(text, n, "lets.rasm", &o, &x->p, e, NULL, NULL);
    free(text);
    x->fn = 0;
    return status ? status : fill_arguments(x);
}

static bool measure_growth(table *t, int repetitions) {
    static const char group[] = "a function of lets, as large as that: until native code can be called";
    static const int lets[] = {400, 1600, 6400};
    static const char *const labels[] = {"400", "1,600", "6,400"};
    double compile[MAX_REPETITIONS];
    rvm_options o = rvm_options_default();
    rvm_error e = {0};
    times now = {0};
    static trial x;
    for (size_t n = 0; n < sizeof lets / sizeof *lets; n++) {
        rvm_status status = open_lets(&x, lets[n], &e);
        for (int k = 0; k < repetitions && !status; k++) {
            status = time_request(&x, &o, "", &now, &e);
            compile[k] = now.request;
        }
        rvm_program_free(x.p);
        x.p = NULL;
        if (status == RVM_ERR_UNSUPPORTED) return fprintf(stderr, "rvm_bench: %s\n", e.message), true;
        if (print_failure(status, &e)) return false;
        figure_set(&table_row(t, group, labels[n], "ms")->figures[CHECKED], compile, repetitions);
    }
    return true;
}

bool measure_compile(table *t, int repetitions) {
    static const char group[] = "bundle adjustment (ADBench), adjoint of an observation: until native code can be called";
    static const char *const labels[ROWS] = {"compiled", "of that, passes, by the clock",
                                             "of that, machine code, by the clock", "from the cache", "size of the code"};
    row *rows[ROWS];
    char cache[] = "/tmp/rvm-bench-XXXXXX", command[80];
    rvm_program *source = NULL;
    rvm_error e = {0};
    static trial x;
    const char *path = EXAMPLES_DIR "/bundle_adjustment/adbench.rasm";
    if (!mkdtemp(cache)) return fprintf(stderr, "rvm_bench: no temporary folder\n"), false;
    rvm_status status = rvm_open(path, NULL, &source, &e, NULL, NULL);
    if (!status) status = rvm_program_derive(source, "residual11'adj", &x.p, &x.fn, &e);
    if (!status) status = fill_arguments(&x);
    bool ok = !print_failure(status, &e);
    for (int k = 0; k < ROWS && ok; k++) rows[k] = table_row(t, group, labels[k], k == SIZE ? "KiB" : "ms");
    for (int k = 0; k < SETTINGS && ok; k++) ok = measure_setting(rows, &x, k, cache, repetitions);
    rvm_program_free(x.p);
    rvm_program_free(source);
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command) == 0 && ok && measure_growth(t, repetitions);
}
