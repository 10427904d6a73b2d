/* gpu.c: gradients and Jacobians on a CUDA device, with their arrays there, and on all that there are, where there are
 * several, with arrays there that are only read; beside native code on all processors. Results
 * are compared first: with one strict thread here. A time is that of a call, by the clock on the wall, the median of some in
 * a row, and of its kernels on the device. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common.h"
#include "compare.h"
#include "rvm_cuda.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

enum { ON_ONE, ON_ALL, DEVICE, DEVICE_FAST, DEVICES, DEVICES_FAST, WAYS };
static const char *const names[WAYS] = {"one thread",   "all threads, fast", "device",
                                        "device, fast", "devices",           "devices, fast"};

/* Those of several devices only where there are several. */
static int ways_here(void) {
    int n = 0;
    return !rvm_cuda_count(&n, NULL) && n > 1 ? WAYS : DEVICES;
}

static const struct gpu_entry {
    enum { CHECKED_ONLY, MEASURED, TAKES_LONG } kind; /* TAKES_LONG: in one thread, which is left out */
    problem_maker *make;
    const char *task;
    int64_t size[3];
} suite[] = {
    {CHECKED_ONLY, make_gmm, "gradient", {3, 4, 1050}},
    {CHECKED_ONLY, make_gmm, "gradient", {5, 12, 300}}, /* a CTA for each point (cuda.md) */
    {CHECKED_ONLY, make_bundle, "Jacobian", {5, 300, 1100}},
    {CHECKED_ONLY, make_reprojection, "gradient", {5, 300, 1100}},
    {CHECKED_ONLY, make_hand, "Jacobian", {20, 0}},
    {CHECKED_ONLY, make_bessel, "gradient", {1050}},
    {CHECKED_ONLY, make_embeddings, "gradient", {50}},
    {CHECKED_ONLY, make_orbits, "gradient", {40, 10}},
    {MEASURED, make_gmm, "primal", {10, 25, 1000}},
    {MEASURED, make_gmm, "gradient", {10, 25, 1000}},
    {MEASURED, make_gmm, "primal", {10, 25, 1000000}},
    {MEASURED, make_gmm, "gradient", {10, 25, 1000000}},
    {MEASURED, make_gmm, "gradient", {64, 25, 10000}},
    {MEASURED, make_gmm, "gradient", {128, 200, 10000}},
    {MEASURED, make_bundle, "Jacobian", {49, 7776, 31843}},
    {MEASURED, make_bundle, "primal", {1000, 250000, 1091386}},
    {MEASURED, make_bundle, "Jacobian", {1000, 250000, 1091386}},
    {MEASURED, make_bundle, "Jacobian", {13682, 4456117, 9130000}},
    {MEASURED, make_reprojection, "gradient", {1000, 250000, 1091386}},
    {MEASURED, make_reprojection, "gradient", {13682, 4456117, 9130000}},
    {MEASURED, make_hand, "Jacobian", {100000, 0}},
    {MEASURED, make_bessel, "gradient", {10000000}},
    {MEASURED, make_embeddings, "gradient", {1000000}},
    {TAKES_LONG, make_orbits, "gradient", {100000, 10000}},
};
enum { ENTRIES = sizeof suite / sizeof *suite, MOST_RUNS = 31 };

typedef struct measured {
    double seconds, kernels, megabytes; /* of a call; < 0: not measured */
    double difference;                  /* of the largest of an output */
    bool ran;
    uint64_t split, blocks; /* of all devices: blocks on several, of so many */
    int repeated;           /* runs from the beginning with the bits of the first */
    bool same;              /* bit for bit */
    bool nested;            /* a CTA for each instance, where there are blocks within */
    char why[160];
} measured;

typedef struct gpu_result {
    char problem[80];
    const char *task;
    measured ways[WAYS];
} gpu_result;

/* What runs a call in one way. */
typedef struct trial {
    rvm_jit *jit;
    rvm_machine *m;
    rvm_cuda *cuda;
    rvm_cuda_array *arrays[2 * MAX_ARGS];
    rvm_arg args[2 * MAX_ARGS];
} trial;

static size_t elements(const rvm_arg *a) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->shape[d];
    return n;
}

static void close_session(trial *s, uint32_t nargs) {
    rvm_machine_free(s->m);
    for (uint32_t k = 0; k < nargs; k++) rvm_cuda_array_free(s->arrays[k]);
    rvm_cuda_free(s->cuda);
    rvm_jit_free(s->jit);
}

/* Arrays of the call go to the device. */
static rvm_status place(trial *s, const call *c, rvm_error *e) {
    rvm_status st = RVM_OK;
    for (uint32_t k = 0; k < c->nargs && !st; k++) {
        s->args[k] = c->args[k];
        if (!s->cuda || !c->args[k].ndim) continue;
        const size_t n = elements(&c->args[k]);
        st = rvm_cuda_array_new(s->cuda, n, &s->arrays[k], e);
        if (!st) st = rvm_cuda_array_upload(s->arrays[k], 0, n, c->args[k].data, e);
        if (!st) s->args[k].data = rvm_cuda_array_data(s->arrays[k]);
    }
    return st;
}

static rvm_status open_session(trial *s, const call *c, int how, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = rvm_jit_options_default();
    rvm_cuda_options device = rvm_cuda_options_default();
    o.unchecked = o.trust = true;
    o.trail = RVM_TRAIL_OFF;
    jit.tiers = false;
    jit.fast_math = how == ON_ALL || how == DEVICE_FAST || how == DEVICES_FAST;
    jit.threads = how == ON_ALL ? RVM_JIT_ALL_THREADS : 0;
    device.least = 0;
    if (how >= DEVICES) device.ndevices = RVM_CUDA_ALL_DEVICES;
    rvm_status st = rvm_jit_new(&jit, &s->jit, e);
    if (!st) st = rvm_machine_new(c->p, &o, &s->m, e);
    if (!st) st = rvm_jit_attach(s->jit, s->m, e);
    if (!st && how >= DEVICE) st = rvm_cuda_new(&device, &s->cuda, e);
    if (!st && s->cuda) st = rvm_cuda_attach(s->cuda, s->m, e);
    return st ? st : place(s, c, e);
}

static rvm_status run_once(trial *s, const call *c, rvm_error *e) {
    return rvm_call(s->m, c->fn, s->args, c->nargs, e);
}

/* What the first run left, in the call's arrays. */
static rvm_status fetch(trial *s, const call *c, rvm_error *e) {
    rvm_status st = RVM_OK;
    for (uint32_t k = 0; k < c->nargs && !st; k++)
        if (s->arrays[k]) st = rvm_cuda_array_download(s->arrays[k], 0, elements(&c->args[k]), (void *)c->args[k].data, e);
    return st;
}

static double *data_of(const output *o) {
    return o->across ? o->across : o->data;
}

static void clear(const task *t) {
    for (int k = 0; k < t->noutputs; k++) memset(data_of(&t->outputs[k]), 0, (size_t)t->outputs[k].count * sizeof(double));
}

static bool take_reference(const task *t, double **reference) {
    for (int k = 0; k < t->noutputs; k++) {
        const size_t bytes = (size_t)t->outputs[k].count * sizeof(double);
        if (!reference[k] && !(reference[k] = malloc(bytes))) return false;
        memcpy(reference[k], data_of(&t->outputs[k]), bytes);
    }
    return true;
}

static void compare_outputs(const task *t, double *const *reference, measured *r) {
    r->same = true;
    for (int k = 0; k < t->noutputs; k++) {
        const double *a = data_of(&t->outputs[k]), *b = reference[k];
        double largest = 0, apart = 0;
        for (int64_t i = 0; i < t->outputs[k].count; i++) {
            r->same = r->same && !memcmp(&a[i], &b[i], sizeof a[i]);
            largest = fmax(largest, fabs(b[i]));
            apart = isfinite(a[i]) && isfinite(b[i]) ? fmax(apart, fabs(a[i] - b[i])) : INFINITY;
        }
        r->difference = fmax(r->difference, largest > 0 ? apart / largest : apart);
    }
}

int gpu_repeats = 100;

/* As often as it has the bits of the first run, from the same arrays. */
static rvm_status repeat(trial *s, const call *c, const task *t, measured *r, rvm_error *e) {
    double *first[MAX_OUTPUTS] = {0};
    measured same = {.same = true};
    rvm_status st = take_reference(t, first) ? RVM_OK : RVM_ERR_MEMORY;
    for (; r->repeated < gpu_repeats && !st && same.same; r->repeated += same.same) {
        clear(t);
        for (uint32_t k = 0; k < c->nargs && !st; k++)
            if (s->arrays[k]) st = rvm_cuda_array_upload(s->arrays[k], 0, elements(&c->args[k]), c->args[k].data, e);
        if (!st) st = run_once(s, c, e);
        if (!st) st = fetch(s, c, e);
        if (!st) compare_outputs(t, first, &same);
    }
    for (int k = 0; k < MAX_OUTPUTS; k++) free(first[k]);
    return st;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static rvm_status measure(trial *s, const call *c, measured *r, rvm_error *e) {
    const double budget = s->cuda ? 1 : 3;
    double samples[MOST_RUNS];
    rvm_cuda_totals before = {0}, after = {0};
    rvm_status st = run_once(s, c, e);
    int n = 0;
    rvm_cuda_stats(s->cuda, &before);
    for (double spent = 0; n < MOST_RUNS && !st && (n < 1 || spent < budget); n++) {
        const double begin = now();
        st = run_once(s, c, e);
        spent += samples[n] = now() - begin;
    }
    rvm_cuda_stats(s->cuda, &after);
    if (st) return st;
    qsort(samples, (size_t)n, sizeof *samples, by_size);
    r->seconds = samples[n / 2];
    r->kernels = (after.kernels - before.kernels) / n;
    r->megabytes = 1e-6 * (double)(after.uploaded - before.uploaded + after.downloaded - before.downloaded) / n;
    if (after.on_host > before.on_host) snprintf(r->why, sizeof r->why, "%.140s", after.why);
    return st;
}

static bool run_way(const problem *p, const task *t, const call *c, int how, bool check, double **reference, measured *r) {
    trial s = {0};
    rvm_error e = {0};
    rvm_cuda_totals totals = {0};
    r->seconds = -1;
    clear(t);
    rvm_status st = open_session(&s, c, how, &e);
    if (!st) st = run_once(&s, c, &e);
    if (!st) st = fetch(&s, c, &e);
    if (!st && !reference[0]) st = take_reference(t, reference) ? RVM_OK : RVM_ERR_MEMORY;
    if (!st) compare_outputs(t, reference, r);
    r->ran = !st;
    const bool good = st || r->difference <= t->tolerance;
    if (!good) fprintf(stderr, "rvm_bench: %s, %s: differs by %.3g of the largest\n", p->title, names[how], r->difference);
    if (!st && check && s.cuda) st = repeat(&s, c, t, r, &e);
    if (!st && !check) st = measure(&s, c, r, &e);
    if (st) snprintf(r->why, sizeof r->why, "%.140s", e.message);
    rvm_cuda_stats(s.cuda, &totals);
    r->nested = totals.nested;
    r->split = totals.split;
    r->blocks = totals.blocks;
    close_session(&s, c->nargs);
    return good && (!st || st == RVM_ERR_UNSUPPORTED || st == RVM_ERR_MEMORY);
}

static bool run_task(const problem *p, const task *t, int first, bool check, gpu_result *out) {
    double *reference[MAX_OUTPUTS] = {0};
    rvm_error e = {0};
    call c;
    bool good = !call_make(&c, t, &e);
    snprintf(out->problem, sizeof out->problem, "%s", p->title);
    out->task = t->name;
    if (!good) fprintf(stderr, "rvm_bench: %s: %s\n", p->title, e.message);
    for (int how = 0; how < first; how++) out->ways[how].seconds = -1;
    for (int how = first, ways = ways_here(); how < ways && good; how++)
        good = run_way(p, t, &c, how, check, reference, &out->ways[how]);
    for (int k = 0; k < MAX_OUTPUTS; k++) free(reference[k]);
    call_free(&c);
    return good;
}

static void print_text(const gpu_result *r) {
    printf("%s, %s\n", r->problem, r->task);
    for (int how = 0; how < WAYS; how++) {
        const measured *w = &r->ways[how];
        if (!w->ran && !*w->why) continue;
        printf("    %-18s", names[how]);
        if (w->seconds >= 0) printf(" %11.3f ms", 1e3 * w->seconds);
        if (w->seconds >= 0 && how >= DEVICE) printf("  kernels %9.3f ms  moved %8.3f MB", 1e3 * w->kernels, w->megabytes);
        if (w->ran) printf("  %s", w->same ? "same bits" : "");
        if (w->ran && !w->same) printf("differs by %.2g", w->difference);
        if (how >= DEVICES && w->ran) printf("  %" PRIu64 " of %" PRIu64 " blocks on several", w->split, w->blocks);
        if (w->nested) printf("  a CTA each");
        if (w->repeated) printf("  %d times the same bits", w->repeated);
        printf("%s%s\n", *w->why ? "  " : "", w->why);
    }
    fflush(stdout);
}

static void print_json(const gpu_result *r, bool first) {
    printf("%s{\"problem\": \"%s\", \"task\": \"%s\"", first ? "[" : ",\n ", r->problem, r->task);
    for (int how = 0, ways = ways_here(); how < ways; how++) {
        const measured *w = &r->ways[how];
        printf(", \"%s\": {\"seconds\": %.6g, \"kernels\": %.6g, \"megabytes\": %.6g, \"same\": %s, \"difference\": %.3g}",
               names[how], w->seconds, w->kernels, w->megabytes, w->same ? "true" : "false", w->difference);
    }
    printf("}");
}

bool bench_gpu(bool check, bool device, const char *only, bool json) {
    static problem p;
    bool good = true, first = true;
    for (int k = 0; k < ENTRIES; k++) {
        if ((suite[k].kind == CHECKED_ONLY) != check) continue;
        p = (problem){.random = 1};
        suite[k].make(&p, suite[k].size);
        for (int t = 0; t < p.ntasks && !p.failed; t++) {
            gpu_result r = {0};
            if (strcmp(p.tasks[t].name, suite[k].task) != 0 || (only && !strstr(p.title, only))) continue;
            good = run_task(&p, &p.tasks[t],
                            device                        ? DEVICE
                            : suite[k].kind == TAKES_LONG ? ON_ALL
                                                          : ON_ONE,
                            check, &r) &&
                   good;
            if (json)
                print_json(&r, first);
            else
                print_text(&r);
            first = false;
        }
        if (p.failed) fprintf(stderr, "rvm_bench: %s: out of memory\n", p.title), good = false;
        problem_free(&p);
    }
    if (json) printf("%s]\n", first ? "[" : "");
    return good;
}
