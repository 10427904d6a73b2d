/* samples.c: checks and times the engines of one task. In a round every engine takes one sample, so that all that is
 * compared was measured within the same moments; a slow engine takes part in fewer rounds. */
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "common.h"
#include "compare.h"

enum { ROUNDS = 9, FEWEST = 3 };
double cell_seconds = 1;
static const double sample_seconds = 0.01; /* at least, by as many runs as it takes */

typedef struct runner {
    const engine *g;
    void *state;
    double seconds; /* of one run */
    int rounds, taken;
    double samples[ROUNDS];
} runner;

/* ---- memory: of this process, in bytes; < 0 where the system does not tell ---- */

static double status_bytes(const char *key) {
    char line[128];
    double kilobytes = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key))) kilobytes = strtod(line + strlen(key), NULL);
    if (f) fclose(f);
    return 1024 * kilobytes;
}

/* Begins a measurement: the peak is from now on. */
static double memory_now(void) {
    malloc_trim(0);
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f) return -1;
    const bool reset = fputs("5", f) >= 0;
    return fclose(f) == 0 && reset ? status_bytes("VmRSS:") : -1;
}

/* ---- runs ---- */

static void start_over(const task *t, call *c) {
    for (int k = 0; k < t->noutputs; k++) {
        const output *o = &t->outputs[k];
        if (o->start)
            memcpy(o->data, o->start, (size_t)o->count * sizeof *o->data);
        else
            memset(o->data, 0, (size_t)o->count * sizeof *o->data);
        if (o->across) memset(o->across, 0, (size_t)o->count * sizeof *o->across);
        if (o->arg >= 0) c->args[o->arg].value.f = 0;
    }
}

static double seconds_now(const engine *g) {
    return g->wall ? now() : processor_seconds();
}

/* So many runs in a row; seconds of one. */
static rvm_status take(runner *r, const task *t, call *c, int runs, double *seconds, rvm_error *e) {
    rvm_status st = RVM_OK;
    start_over(t, c);
    const double start = seconds_now(r->g);
    for (int k = 0; k < runs && !st; k++) st = r->g->run(r->state, c, e);
    *seconds = (seconds_now(r->g) - start) / runs;
    return st;
}

/* ---- checks ---- */

/* Programs leave scalars in the call, and an output across there. */
static void fetch(const output *o, const call *c) {
    if (o->arg >= 0 && c->args[o->arg].value.f != 0) *o->data = c->args[o->arg].value.f;
    for (int64_t k = 0, rows = o->across ? o->count / o->width : 0; o->across && k < o->count; k++)
        if (o->across[k] != 0) o->data[k % rows * o->width + k / rows] = o->across[k];
}

typedef struct reference {
    const char *engine; /* NULL: none yet */
    double *values[MAX_OUTPUTS];
} reference;

static bool reference_take(reference *ref, const task *t, const char *name) {
    ref->engine = name;
    for (int k = 0; k < t->noutputs; k++) {
        const output *o = &t->outputs[k];
        ref->values[k] = new_array(o->count, sizeof(double));
        if (!ref->values[k]) return false;
        memcpy(ref->values[k], o->data, (size_t)o->count * sizeof *o->data);
    }
    return true;
}

static void reference_free(reference *ref) {
    for (int k = 0; k < MAX_OUTPUTS; k++) free(ref->values[k]);
}

/* The largest difference relative to the largest value. Infinite where a value is none, or there are none but 0s. */
static double difference(const double *a, const double *b, int64_t n) {
    double largest = 0, apart = 0;
    for (int64_t k = 0; k < n; k++) {
        if (!isfinite(a[k]) || !isfinite(b[k])) return INFINITY;
        largest = fmax(largest, fabs(b[k]));
        apart = fmax(apart, fabs(a[k] - b[k]));
    }
    return largest > 0 ? apart / largest : INFINITY;
}

static bool agrees(const problem *p, const task *t, const engine *g, const reference *ref) {
    bool ok = true;
    for (int k = 0; k < t->noutputs; k++) {
        if (t->outputs[k].state) continue;
        const double d = difference(t->outputs[k].data, ref->values[k], t->outputs[k].count);
        if (d <= t->tolerance) continue;
        fprintf(stderr, "rvm_bench: %s, %s: result %d of %s and of %s differ by %.3g of the largest; allowed %.3g\n",
                p->title, t->name, k + 1, g->name, ref->engine, d, t->tolerance);
        ok = false;
    }
    return ok;
}

static bool failed(const problem *p, const task *t, const engine *g, rvm_status st, const rvm_error *e) {
    if (!st) return false;
    fprintf(stderr, "rvm_bench: %s, %s, %s: ", p->title, t->name, g ? g->name : "its program");
    print_failure(st, e);
    return true;
}

/* ---- opening ---- */

/* Runs that make a sample. */
static int runs_of(const runner *r, const task *t) {
    return t->in_place || r->seconds > sample_seconds ? 1 : (int)(sample_seconds / (r->seconds + 1e-9)) + 1;
}

/* How long one run takes, after the first one, which compiles, perhaps in another thread: so many in a row as make a sample,
 * lest cold ones be taken for it. */
static rvm_status settle(runner *r, const task *t, call *c, rvm_error *e) {
    rvm_status st = RVM_OK;
    for (int runs = 1, before = 0; !st && r->seconds < 1 && runs > 2 * before; runs = runs_of(r, t)) {
        before = runs;
        st = take(r, t, c, runs, &r->seconds, e);
    }
    return st;
}

/* Opens the engine and runs it once, which also tells its memory; then as often as tells about how long it takes. */
static bool check(runner *r, const problem *p, const task *t, call *c, bool times, reference *ref, cell *out) {
    rvm_error e = {0};
    const double before = memory_now();
    rvm_status st = r->g->open(r->g, t, c, &r->state, &e);
    if (!st) st = take(r, t, c, 1, &r->seconds, &e);
    const double peak = status_bytes("VmHWM:");
    out->bytes = r->g->by_hand ? (double)t->work : before < 0 || peak < 0 ? -1 : peak - before;
    for (int k = 0; k < t->noutputs && !st; k++) fetch(&t->outputs[k], c);
    if (failed(p, t, r->g, st, &e)) return false;
    const bool ok = ref->engine ? agrees(p, t, r->g, ref) : reference_take(ref, t, r->g->name);
    return ok && !(times && failed(p, t, r->g, settle(r, t, c, &e), &e));
}

/* ---- the task ---- */

static bool take_rounds(runner *r, const problem *p, const task *t, call *c) {
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < nengines; k++) {
            if (round >= r[k].rounds) continue;
            rvm_error e = {0};
            rvm_status st = take(&r[k], t, c, runs_of(&r[k], t), &r[k].samples[r[k].taken++], &e);
            if (failed(p, t, r[k].g, st, &e)) return false;
        }
    return true;
}

static void summarise(runner *r, cell *out) {
    figure f = {0};
    if (!r->taken) return;
    figure_set(&f, r->samples, r->taken);
    out->seconds = f.value;
    out->spread = f.spread;
}

/* Why the engine does not take part; NULL: it does. */
static const char *absent(const engine *g, const task *t, level l, const char *wanted) {
    if (g->check_only && l != LEVEL_CHECK) return "only checked";
    if (wanted && !g->by_hand && !strstr(g->name, wanted)) return "not wanted";
    return g->missing(g, t);
}

bool task_compare(const problem *p, const task *t, level l, const char *by, result *out) {
    const double budget = l == LEVEL_FULL ? 10 * cell_seconds : cell_seconds;
    runner r[MAX_ENGINES] = {0};
    reference ref = {0};
    rvm_error e = {0};
    call c;
    rvm_status st = call_make(&c, t, &e);
    bool ok = !failed(p, t, NULL, st, &e);
    snprintf(out->problem, sizeof out->problem, "%s", p->title);
    out->task = t->name;
    for (int k = 0; k < nengines && !st; k++) {
        r[k].g = &engines[k];
        out->cells[k].missing = absent(r[k].g, t, l, by);
        if (out->cells[k].missing) continue;
        ok = check(&r[k], p, t, &c, l != LEVEL_CHECK, &ref, &out->cells[k]) && ok;
        r[k].rounds = l == LEVEL_CHECK ? 0 : (int)fmax(FEWEST, fmin(ROUNDS, budget / (r[k].seconds + 1e-9)));
    }
    if (ok) ok = take_rounds(r, p, t, &c);
    for (int k = 0; k < nengines && !st; k++) {
        summarise(&r[k], &out->cells[k]);
        if (r[k].state) r[k].g->close(r[k].state);
    }
    reference_free(&ref);
    call_free(&c);
    return ok;
}
