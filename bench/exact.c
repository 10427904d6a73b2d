/* exact.c: runs that restore every bit, beside those that do not: a million steps of nine bodies, there and back,
 * interpreted; natively, against checked code without lanes, that, a dot product and the log-posterior of a mixture. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "compare.h"
#include "rvm_asm.h"
#include "rvm_jit.h"

enum { BODIES = 9, STEPS = 1000000, STEPS_NATIVELY = 100000, NUMBERS = 1000000 };

typedef struct sky {
    double q[3 * BODIES], v[3 * BODIES], mass[BODIES];
} sky;

/* A star and eight planets on rings, each a little out of the plane. */
static void make_sky(sky *s) {
    memset(s, 0, sizeof *s);
    s->mass[0] = 1;
    for (int k = 1; k < BODIES; k++) {
        const double r = 0.4 * k, speed = 6.28 / (0.5 + 0.35 * k);
        s->mass[k] = 1e-5 / k;
        s->q[3 * k + k % 2] = r;
        s->q[3 * k + 2] = 0.01 * k;
        s->v[3 * k + 1 - k % 2] = speed;
    }
}

static rvm_status fly(const rvm_program *p, bool exact, double seconds[2], rvm_stats *stats, bool *same, rvm_error *e) {
    const int64_t shape[] = {BODIES, 3};
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    sky at, start;
    make_sky(&at);
    start = at;
    o.exact = exact;
    rvm_arg args[] = {rvm_arg_array_f64(at.q, 2, shape), rvm_arg_array_f64(at.v, 2, shape),
                      rvm_arg_array_f64(at.mass, 1, shape), rvm_arg_f64(1e-4), rvm_arg_i64(STEPS)};
    rvm_status status = rvm_machine_new(p, &o, &m, e);
    if (!status) status = rvm_machine_bind(m, rvm_program_find(p, "leapfrog"), args, 5, RVM_PRIMAL, false, e);
    double before = processor_seconds();
    if (!status) status = rvm_machine_forward(m, e);
    seconds[0] = processor_seconds() - before;
    before += seconds[0];
    if (!status) status = rvm_machine_backward(m, e);
    seconds[1] = processor_seconds() - before;
    if (m) rvm_machine_stats(m, stats);
    *same = !memcmp(&at, &start, sizeof at);
    rvm_machine_free(m);
    return status;
}

static void add(table *t, const char *label, const char *unit, double value, bound most, double target) {
    figure *f =
        &table_row(t, "leapfrog, nine bodies, 1,000,000 steps and back, every bit restored", label, unit)->figures[0];
    figure_set(f, &value, 1);
    if (most) figure_target(f, most, target);
}

/* ---- natively ---- */

enum { PLAIN, EXACT_SIDE, SIDES, FORWARD = 0, BACKWARD, GRADIENT, TANGENT, SWEEP, WAYS };

typedef struct side {
    native_machine n;
    double samples[WAYS][MAX_REPETITIONS];
} side;

typedef struct subject {
    const char *title;
    const rvm_program *p;
    int64_t fn;
    const rvm_arg *args;
    uint32_t n;
} subject;

static rvm_status open_side(side *s, const subject *of, bool exact, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = native_options();
    o.exact = exact;
    jit.no_lanes = true;
    return native_open(&s->n, of->p, &o, &jit, e);
}

static rvm_status there_and_back(side *s, const subject *of, int n, rvm_error *e) {
    rvm_arg args[MAX_ARGS];
    memcpy(args, of->args, of->n * sizeof *args);
    rvm_status status = rvm_machine_bind(s->n.m, of->fn, args, of->n, RVM_PRIMAL, false, e);
    for (int to = FORWARD; to <= BACKWARD && !status; to++) {
        const double before = processor_seconds();
        status = (to == FORWARD ? rvm_machine_forward : rvm_machine_backward)(s->n.m, e);
        s->samples[to][n] = processor_seconds() - before;
    }
    rvm_machine_unbind(s->n.m);
    return status ? status : rvm_jit_reason(s->n.m, e);
}

static size_t elements_of(const rvm_arg *a) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->shape[d];
    return n;
}

/* All that is real active, and the shadows ones, in *room. */
static void activate(rvm_arg *args, uint32_t n, double *room) {
    for (uint32_t k = 0; k < n; k++) {
        if (args[k].type == RVM_I64) continue;
        args[k].active = true;
        args[k].shadow.f = 1;
        if (!args[k].ndim) continue;
        args[k].shadow_data = room;
        memcpy(args[k].shadow_stride, args[k].stride, sizeof args[k].stride);
        for (size_t i = elements_of(&args[k]); i-- > 0;) *room++ = 1;
    }
}

/* The sweep starts where the tangents have ended, and so ends where all began, but for rounding. */
static rvm_status derivatives(side *s, const subject *of, int n, double *room, rvm_error *e) {
    static rvm_status (*const ask[WAYS])(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *) = {
        [GRADIENT] = rvm_gradient, [TANGENT] = rvm_tangent, [SWEEP] = rvm_sweep};
    rvm_arg args[MAX_ARGS];
    rvm_status status = RVM_OK;
    memcpy(args, of->args, of->n * sizeof *args);
    for (int to = GRADIENT; to < WAYS && !status; to++) {
        activate(args, of->n, room);
        const double before = processor_seconds();
        status = ask[to](s->n.m, of->fn, args, of->n, e);
        s->samples[to][n] = processor_seconds() - before;
        rvm_machine_unbind(s->n.m);
        if (!status) status = rvm_jit_reason(s->n.m, e);
    }
    return status;
}

static rvm_status measure_natively(table *t, const subject *of, int repetitions, rvm_error *e) {
    static const char *const names[WAYS] = {"forward, exact / checked", "backward, exact / checked",
                                            "gradient, exact / checked", "tangents, exact / checked",
                                            "sweep from outputs, exact / checked"};
    static side s[SIDES];
    double ratios[MAX_REPETITIONS];
    size_t reals = 0;
    memset(s, 0, sizeof s);
    for (uint32_t k = 0; k < of->n; k++) reals += elements_of(&of->args[k]);
    double *shadows = malloc(reals * sizeof *shadows);
    if (!shadows) return e->code = RVM_ERR_MEMORY;
    rvm_status status = open_side(&s[PLAIN], of, false, e);
    if (!status) status = open_side(&s[EXACT_SIDE], of, true, e);
    for (int n = -1; n < repetitions && !status; n++) /* the first one compiles */
        for (int k = 0; k < SIDES && !status; k++) {
            status = there_and_back(&s[k], of, n < 0 ? 0 : n, e);
            if (!status) status = derivatives(&s[k], of, n < 0 ? 0 : n, shadows, e);
        }
    for (int to = 0; to < WAYS && !status; to++) {
        for (int n = 0; n < repetitions; n++) ratios[n] = s[EXACT_SIDE].samples[to][n] / s[PLAIN].samples[to][n];
        figure *f = &table_row(t, of->title, names[to], "x")->figures[0];
        figure_set(f, ratios, repetitions);
        if (to <= GRADIENT) figure_target(f, AT_MOST, 2.5);
    }
    for (int k = 0; k < SIDES; k++) { native_close(&s[k].n); }
    free(shadows);
    return status;
}

static rvm_status natively_leapfrog(table *t, int repetitions, rvm_error *e) {
    const int64_t shape[] = {BODIES, 3};
    rvm_program *p = NULL;
    sky at;
    make_sky(&at);
    const rvm_arg args[] = {rvm_arg_array_f64(at.q, 2, shape), rvm_arg_array_f64(at.v, 2, shape),
                            rvm_arg_array_f64(at.mass, 1, shape), rvm_arg_f64(1e-4), rvm_arg_i64(STEPS_NATIVELY)};
    rvm_status status = rvm_open(EXAMPLES_DIR "/leapfrog.rasm", NULL, &p, e, NULL, NULL);
    const subject s = {"natively: leapfrog, nine bodies, 100,000 steps", p, p ? rvm_program_find(p, "leapfrog") : -1, args,
                       5};
    if (!status) status = measure_natively(t, &s, repetitions, e);
    rvm_program_free(p);
    return status;
}

static rvm_status natively_dot(table *t, int repetitions, rvm_error *e) {
    static const char text[] = "fn dot(s: real, a: real[n], b: real[n])\n"
                               "    for i in 0..n\n"
                               "        s += a[i] * b[i]\n"
                               "    end\n"
                               "end\n";
    static problem drawn;
    const int64_t shape[] = {NUMBERS};
    rvm_program *p = NULL;
    drawn = (problem){.random = 1};
    double *x = problem_normal(&drawn, 2 * NUMBERS, 1);
    if (drawn.failed) return e->code = RVM_ERR_MEMORY;
    const rvm_arg args[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, shape), rvm_arg_array_f64(x + NUMBERS, 1, shape)};
    rvm_status status = rvm_assemble(text, sizeof text - 1, "dot.rasm", NULL, &p, e, NULL, NULL);
    const subject s = {"natively: dot product, 1,000,000 numbers", p, p ? rvm_program_find(p, "dot") : -1, args, 3};
    if (!status) status = measure_natively(t, &s, repetitions, e);
    rvm_program_free(p);
    problem_free(&drawn);
    return status;
}

static rvm_status natively_mixture(table *t, int repetitions, rvm_error *e) {
    static const int64_t size[3] = {10, 25, 1000};
    static problem p;
    call c;
    p = (problem){.random = 1};
    make_gmm(&p, size);
    if (p.failed) return e->code = RVM_ERR_MEMORY;
    rvm_status status = call_make(&c, &p.tasks[0], e);
    const subject s = {"natively: mixture d = 10, K = 25, 1,000 points", c.p, c.fn, c.args, c.nargs};
    if (!status) status = measure_natively(t, &s, repetitions, e);
    call_free(&c);
    problem_free(&p);
    return status;
}

bool measure_exact(table *t, int repetitions) {
    rvm_program *p = NULL;
    rvm_error e = {0};
    double plain[2], exact[2];
    rvm_stats stats;
    bool same;
    rvm_status status = RVM_OK;
    if (native_is_there()) {
        status = natively_leapfrog(t, repetitions, &e);
        if (!status) status = natively_dot(t, repetitions, &e);
        if (!status) status = natively_mixture(t, repetitions, &e);
    }
    if (!status) status = rvm_open(EXAMPLES_DIR "/leapfrog.rasm", NULL, &p, &e, NULL, NULL);
    if (!status) status = fly(p, false, plain, &stats, &same, &e);
    if (!status) status = fly(p, true, exact, &stats, &same, &e);
    rvm_program_free(p);
    if (print_failure(status, &e)) return false;
    add(t, "places that are not the same, bit for bit", "", !same, AT_MOST, 0);
    add(t, "bits kept at most, an update", "", (double)stats.exact_peak / (double)stats.exact_updates, AT_MOST, 0.01);
    add(t, "bits recorded, an update", "", (double)stats.exact_bits / (double)stats.exact_updates, NO_TARGET, 0);
    add(t, "forward, exact / not", "x", exact[0] / plain[0], AT_MOST, 4);
    add(t, "backward, exact / not", "x", exact[1] / plain[1], AT_MOST, 4);
    return true;
}
