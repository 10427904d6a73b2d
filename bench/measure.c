#include "bench.h"

#include <string.h>
#include <time.h>

#include "common.h"
#include "rvm_asm.h"

/* A repetition runs, on one machine a setting: forward and backward as they are; then, in gradient mode, forward again and
 * the sweep. The C peer follows, so that all that is compared was measured within the same moments. */
enum { FORWARD, BACKWARD, AGAIN, SWEEP, PASSES };

typedef struct samples {
    double seconds[SETTINGS][PASSES][MAX_REPETITIONS], peer[MAX_REPETITIONS];
    double instructions[PASSES];
    int n;
} samples;

static rvm_status run_pass(rvm_machine *m, int pass, rvm_error *e) {
    switch (pass) {
    case BACKWARD: return rvm_machine_backward(m, e);
    case SWEEP: return rvm_machine_sweep(m, e);
    default: return rvm_machine_forward(m, e);
    }
}

static double seconds_by(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double processor_seconds(void) {
    return seconds_by(CLOCK_THREAD_CPUTIME_ID);
}

double process_seconds(void) {
    return seconds_by(CLOCK_PROCESS_CPUTIME_ID);
}

static double executed(const rvm_machine *m) {
    rvm_stats stats;
    rvm_machine_stats(m, &stats);
    return (double)(stats.forward + stats.backward + stats.swept);
}

/* One pass after the other: seconds[pass][at] is how long each took, instructions[pass] what it executed. */
static rvm_status run_passes(rvm_machine *m, int64_t fn, job *j, double seconds[][MAX_REPETITIONS], int at,
                             double *instructions, rvm_error *e) {
    rvm_status status = RVM_OK;
    rvm_arg args[12];
    memcpy(args, j->args, sizeof args);
    for (int pass = 0; pass < PASSES && !status; pass++) {
        bool starts = pass == FORWARD || pass == AGAIN;
        if (starts) status = rvm_machine_bind(m, fn, args, j->nargs, pass == AGAIN ? RVM_GRADIENT : RVM_PRIMAL, false, e);
        rvm_machine_stats_reset(m);
        double start = processor_seconds();
        if (!status) status = run_pass(m, pass, e);
        seconds[pass][at] = processor_seconds() - start;
        instructions[pass] = executed(m);
        if (!starts || status) rvm_machine_unbind(m);
    }
    return status;
}

static rvm_status make_machines(const rvm_program *p, rvm_machine *m[SETTINGS], rvm_error *e) {
    rvm_status status = RVM_OK;
    for (int k = 0; k < SETTINGS && !status; k++) {
        rvm_options o = rvm_options_default();
        o.unchecked = k != CHECKED;
        o.trust = k == TRUSTED;
        status = rvm_machine_new(p, &o, &m[k], e);
    }
    return status;
}

static bool take_samples(job *j, samples *s, int repetitions) {
    rvm_program *p = NULL;
    rvm_machine *m[SETTINGS] = {0};
    rvm_error e = {0};
    rvm_status status = rvm_open(j->path, NULL, &p, &e, NULL, NULL);
    if (!status) status = make_machines(p, m, &e);
    if (status) goto end;
    int64_t fn = rvm_program_find(p, j->function);
    for (s->n = 0; s->n < repetitions && !status; s->n++) {
        for (int k = 0; k < SETTINGS && !status; k++)
            status = run_passes(m[k], fn, j, s->seconds[k], s->n, s->instructions, &e);
        double start = processor_seconds();
        j->peer(j);
        s->peer[s->n] = processor_seconds() - start;
    }
end:
    for (int k = 0; k < SETTINGS; k++) rvm_machine_free(m[k]);
    rvm_program_free(p);
    return print_failure(status, &e) == 0;
}

/* ---- from samples to rows ---- */

static void speed_row(table *t, const job *j, samples *s, int pass, const char *label) {
    row *r = table_row(t, j->title, label, "million instructions/s");
    for (int k = 0; k < SETTINGS; k++) {
        double v[MAX_REPETITIONS];
        for (int i = 0; i < s->n; i++) v[i] = s->instructions[pass] / s->seconds[k][pass][i] * 1e-6;
        figure_set(&r->figures[k], v, s->n);
    }
}

static row *work_row(table *t, const job *j, samples *s) {
    row *r = table_row(t, j->title, "forward", "million multiply-adds/s");
    for (int k = 0; k < SETTINGS; k++) {
        double v[MAX_REPETITIONS];
        for (int i = 0; i < s->n; i++) v[i] = j->multiply_adds / s->seconds[k][FORWARD][i] * 1e-6;
        figure_set(&r->figures[k], v, s->n);
    }
    return r;
}

/* A ratio is taken within each repetition: (a + b) / c, where b may be absent (-1) and c the peer (-1). */
static row *ratio_row(table *t, const job *j, samples *s, const char *label, int a, int b, int c) {
    row *r = table_row(t, j->title, label, "");
    for (int k = 0; k < SETTINGS; k++) {
        double v[MAX_REPETITIONS];
        for (int i = 0; i < s->n; i++) {
            double over = c < 0 ? s->peer[i] : s->seconds[k][c][i];
            v[i] = (s->seconds[k][a][i] + (b < 0 ? 0 : s->seconds[k][b][i])) / over;
        }
        figure_set(&r->figures[k], v, s->n);
    }
    return r;
}

static void targets(row *r, bound kind, double target) {
    for (int k = 0; k < SETTINGS; k++) figure_target(&r->figures[k], kind, target);
}

static void add_rows(table *t, const job *j, samples *s) {
    int first = t->nrows;
    speed_row(t, j, s, FORWARD, "forward");
    speed_row(t, j, s, BACKWARD, "backward");
    speed_row(t, j, s, SWEEP, "gradient sweep");
    if (!strcmp(j->name, "loop")) {
        figure_target(&t->rows[first].figures[CHECKED], AT_LEAST, 700);
        figure_target(&t->rows[first].figures[TRUSTED], AT_LEAST, 1000);
    }
    if (j->multiply_adds > 0) figure_target(&work_row(t, j, s)->figures[UNCHECKED], AT_LEAST, 200);
    targets(ratio_row(t, j, s, "time of backward / forward", BACKWARD, -1, FORWARD), AT_MOST, 1.1);
    row *sweep = ratio_row(t, j, s, "time of sweep / forward", SWEEP, -1, FORWARD);
    row *both = ratio_row(t, j, s, "time of (forward + sweep) / forward", AGAIN, SWEEP, FORWARD);
    if (j->has_gradient) {
        targets(sweep, AT_MOST, 4);
        targets(both, AT_MOST, 5);
    }
    ratio_row(t, j, s, "time of forward / forward in C", FORWARD, -1, -1);
}

bool measure_job(table *t, job *j, int repetitions) {
    static samples s; /* some 10 kB: off the stack */
    if (!take_samples(j, &s, repetitions)) return false;
    add_rows(t, j, &s);
    return true;
}
