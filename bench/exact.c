/* exact.c: runs that restore every bit, beside those that do not: a million steps of nine bodies, there and back. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "rvm_asm.h"

enum { BODIES = 9, STEPS = 1000000 };

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

static void add(table *t, const char *label, const char *unit, double value, bound kind, double target) {
    figure *f =
        &table_row(t, "leapfrog, nine bodies, 1,000,000 steps and back, every bit restored", label, unit)->figures[0];
    figure_set(f, &value, 1);
    if (kind) figure_target(f, kind, target);
}

bool measure_exact(table *t) {
    rvm_program *p = NULL;
    rvm_error e = {0};
    double plain[2], exact[2];
    rvm_stats stats;
    bool same;
    rvm_status status = rvm_open(EXAMPLES_DIR "/leapfrog.rasm", NULL, &p, &e, NULL, NULL);
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
