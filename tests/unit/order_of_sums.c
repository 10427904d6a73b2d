/* order_of_sums.c: the order in which elements gain chunk by chunk (docs/semantics.md, section 9), against sums that are
 * made here: by each engine, in threads, by limits of the processor, there and back, and in runs that stop at polls. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { M = 13, CHUNK = 256, GROUP = 8, MOST = 60000, MOST_TERMS = 64 };
static rvm_error e;

/* What one instance adds, in its order. */
typedef struct term {
    int to;
    double v;
} term;

static int of_once(const double *a, term *t) {
    for (int j = 0; j < M; j++) t[j] = (term){j, a[j]};
    return M;
}
static int of_loop(const double *a, term *t) {
    for (int j = 0; j < M; j++) t[j] = (term){1, a[j]};
    return M;
}
static int of_twice(const double *a, term *t) {
    const term all[] = {{3, a[0]}, {2, a[1]}, {3, -a[2]}};
    memcpy(t, all, sizeof all);
    return 3;
}
static int of_cond(const double *a, term *t) {
    int n = 0;
    for (int j = 0; j < M; j++)
        if (a[j] > 0) t[n++] = (term){j, a[j]}, t[n++] = (term){2, a[j] * a[j]};
    return n;
}
static int of_steps(const double *a, term *t) {
    int n = 0;
    for (int s = 0; s < 4; s++)
        for (int j = 0; j < M; j++) t[n++] = (term){j, a[j] * s};
    return n;
}
static int of_named(const double *a, term *t) {
    t[0] = (term){1, a[0]}, t[1] = (term){1, a[1]}, t[2] = (term){3, a[2]};
    return 3;
}
static int of_called(const double *a, term *t) {
    int n = 0;
    for (int s = 0; s < 3; s++)
        for (int j = 1; j < M; j++) t[n++] = (term){j, a[s] * a[j]};
    return n;
}

static const struct {
    const char *name, *body;
    int (*terms)(const double *a, term *t);
} rows[] = {
    {"once", "for j in 0..m\ng[j] += a[i, j]\nend\n", of_once},
    {"in a loop", "for j in 0..m\ng[1] += a[i, j]\nend\n", of_loop},
    {"twice", "g[3] += a[i, 0]\ng[2] += a[i, 1]\ng[3] -= a[i, 2]\n", of_twice},
    {"under conditions", "for j in 0..m\nif a[i, j] > 0\ng[j] += a[i, j]\ng[2] += a[i, j] * a[i, j]\nend\nend\n", of_cond},
    {"over steps", "for s in 0..4\nfor j in 0..m\ng[j] += a[i, j] * s\nend\nend\n", of_steps},
    {"by two names", "call first(g[1..m], a[i, 0])\ng[1] += a[i, 1]\ncall first(g[3..m], a[i, 2])\n", of_named},
    {"in what is called", "for s in 0..3\ncall all(g[1..m], a[i, 1..m], a[i, s])\nend\n", of_called},
};
static const char called[] = "fn first(h: real[n], w: real)\nh[0] += w\nend\n"
                             "fn all(h: real[n], b: real[n], w: real)\nfor j in 0..n\nh[j] += w * b[j]\nend\nend\n";

static double rounded(bool single, double v) {
    return single ? (double)(float)v : v;
}

typedef struct order {
    bool down, single;
    int row;
} order;

static void plus(const order *o, double *to, const double *v) {
    for (int k = 0; k < M; k++) to[k] = rounded(o->single, to[k] + v[k]);
}

static void nothing(double *to) {
    for (int k = 0; k < M; k++) to[k] = -0.0;
}

/* What elements gain of an instance. */
static void of_instance(const order *o, const double *a, double *sum) {
    term t[MOST_TERMS];
    const int n = rows[o->row].terms(a, t);
    nothing(sum);
    for (int k = 0; k < n; k++) {
        const term *x = &t[o->down ? n - 1 - k : k];
        const double v = rounded(o->single, x->v);
        sum[x->to] = rounded(o->single, sum[x->to] + (o->down ? -v : v));
    }
}

static void of_group(const order *o, const double *a, int64_t first, int64_t n, double *sum) {
    double p[GROUP][M];
    for (int k = 0; k < GROUP; k++) {
        nothing(p[k]);
        if (first + k < n) of_instance(o, a + (first + k) * M, p[k]);
    }
    for (int half = GROUP / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) plus(o, p[k], p[k + half]);
    plus(o, sum, p[0]);
}

/* From what they held on. */
static void gain(const order *o, const double *a, int64_t n, double *held) {
    const int64_t chunks = (n + CHUNK - 1) / CHUNK, groups = CHUNK / GROUP;
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t begin = (o->down ? chunks - 1 - c : c) * CHUNK;
        double sum[M];
        nothing(sum);
        for (int64_t g = 0; g < groups; g++) {
            const int64_t first = begin + (o->down ? groups - 1 - g : g) * GROUP;
            if (first < n) of_group(o, a, first, n, sum);
        }
        plus(o, held, sum);
    }
}

/* ---- runs ---- */

static unsigned stops; /* polls that end the run */
static bool stop(void *userdata, uint64_t instructions) {
    (void)userdata, (void)instructions;
    return stops > 0 && stops-- > 0;
}

static unsigned grouped;
static void note(void *userdata, const rvm_jit_notice *n) {
    (void)userdata;
    grouped += n->grouped;
}

static double drawn(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 33) / (1 << 30) - .9;
}

/* Products, whose last bits differ: in any other order sums have others. */
static double *values(bool single) {
    static double all[2][MOST * M], *a;
    uint64_t seed = 1;
    a = all[single];
    for (int k = 0; a[MOST * M - 1] == 0 && k < MOST * M; k++) a[k] = rounded(single, drawn(&seed) * drawn(&seed));
    return a;
}

typedef struct way {
    const char *name, *cpu;
    bool native, no_lanes, checked, stops;
    unsigned threads;
} way;
static const way ways[] = {
    {.name = "interpreted", .checked = true},
    {.name = "interpreted, with stops", .stops = true},
    {.name = "single", .native = true, .no_lanes = true},
    {.name = "single, checked", .native = true, .no_lanes = true, .checked = true},
    {.name = "lanes", .native = true},
    {.name = "lanes, checked, with stops", .native = true, .checked = true, .stops = true},
    {.name = "lanes of four", .native = true, .cpu = "x86-64-v3"},
    {.name = "three threads", .native = true, .threads = 3},
    {.name = "three threads, single", .native = true, .threads = 3, .no_lanes = true},
};

static void check(const rvm_program *p, rvm_machine *m, const order *o, int64_t n, const way *w) {
    double *a = values(o->single), g[M], expected[M];
    const int64_t all = M, shape[2] = {n, M};
    for (int k = 0; k < M; k++) expected[k] = g[k] = rounded(o->single, .1 * k);
    rvm_arg bound[] = {rvm_arg_array_f64(g, 1, &all), rvm_arg_array_f64(a, 2, shape)};
    rvm_status st;
    if (o->single) bound[0].type = bound[1].type = RVM_F32;
    cr_assert(!rvm_machine_bind(m, rvm_program_find(p, "f"), bound, 2, RVM_PRIMAL, o->down, &e), "%s", e.message);
    stops = w->stops ? 3 : 0;
    if (w->stops) rvm_machine_cancel(m); /* at the first poll */
    do st = o->down ? rvm_machine_backward(m, &e) : rvm_machine_forward(m, &e);
    while (st == RVM_ERR_CANCELLED);
    cr_assert(!st && (!w->native || !rvm_jit_reason(m, &e)), "%s, %s: %s", rows[o->row].name, w->name, e.message);
    gain(o, a, n, expected);
    for (int k = 0; k < M; k++)
        cr_expect(g[k] == expected[k], "%s, %s%s%s, %d instances: element %d: %.17g for %.17g", rows[o->row].name, w->name,
                  o->down ? ", down" : "", o->single ? ", f32" : "", (int)n, k, g[k], expected[k]);
}

static void check_way(const rvm_program *p, order o, const way *w) {
    static const int64_t all[] = {1, 7, 8, 13, 256, 301, 1003};
    rvm_options options = rvm_options_default();
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_machine *m;
    rvm_jit *j = NULL;
    options.unchecked = options.trust = !w->checked;
    options.progress = stop;
    jo.tiers = false;
    jo.no_lanes = w->no_lanes;
    jo.cpu = w->cpu;
    jo.threads = w->threads ? w->threads : 1;
    jo.any_lengths = true, jo.cache = "", jo.level = 0, jo.notice = note;
    grouped = 0;
    cr_assert(!rvm_machine_new(p, &options, &m, &e), "%s", e.message);
    if (w->native) cr_assert(!rvm_jit_new(&jo, &j, &e) && !rvm_jit_attach(j, m, &e), "%s", e.message);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(p, m, &o, all[k], w);
    if (w->threads || w->stops) check(p, m, &o, (w->no_lanes || !w->native ? 9001 : MOST) / TRY_ONE_IN, w);
    cr_expect(!(w->native && !w->no_lanes && !o.single) || grouped, "%s, %s: no group", rows[o.row].name, w->name);
    rvm_machine_free(m);
    rvm_jit_free(j);
}

static void check_ways(bool single, bool down) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char text[1500];
        rvm_program *p;
        snprintf(text, sizeof text, "%sfn f(g: real[m], a: real[n, m])\nparallel i in 0..n\n%send\nend\n", called,
                 rows[r].body);
        for (char *at = text; single && (at = strstr(at, "real"));) memcpy(at, "f32 ", 4);
        cr_assert(!rvm_assemble(text, strlen(text), rows[r].name, NULL, &p, &e, NULL, NULL), "%s", e.message);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            if (!single || !ways[w].threads) check_way(p, (order){.row = (int)r, .down = down, .single = single}, &ways[w]);
        rvm_program_free(p);
    }
}

Test(order_of_sums, up) {
    check_ways(false, false);
}

Test(order_of_sums, down) {
    check_ways(false, true);
}

Test(order_of_sums, single_precision) {
    check_ways(true, false);
}
