/* measure_run.c: one run, several times over: on a machine that counts, then on one for each engine that is timed. */
#include "measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a run takes; arrays are its own. */
typedef struct work {
    measurement *m;
    const measured_task *task;
    bool gradient;
    uint32_t rows;
    int64_t fn;
    uint32_t n, y, env, env_b; /* how many; where the state, env and its gradient are */
    uint32_t out, end;         /* the last state, or the gradient (with env in its middle), is from `out` to before `end` */
    rvm_arg *arg;
} work;

static rvm_status add(work *w, const rvm_arg *like) {
    rvm_arg *a = &w->arg[w->n++];
    *a = (rvm_arg){.type = like->type, .ndim = like->ndim, .value = like->value};
    return like->ndim ? arg_allocate(a, like->shape, &w->m->t->err) : RVM_OK;
}

/* The parts of a state, or of its shadow, which has no integers. */
static rvm_status add_state(work *w, bool shadow) {
    rvm_status st = RVM_OK;
    for (uint32_t k = 0; k < w->m->parts && !st; k++) {
        const rvm_arg *part = &w->m->t->v.arg[k];
        if (!shadow || type_is_real(part->type)) st = add(w, part);
    }
    return st;
}

static rvm_status add_list(work *w) {
    const rvm_arg none = rvm_arg_i64(w->rows),
                  like = {.type = RVM_I64, .ndim = 2, .shape = {(int64_t)w->task->nmoves, MOVE_COLUMNS}};
    rvm_status st = add(w, &none);
    if (!st) st = add(w, &like);
    if (!st) scheduled_cells(w->task->moves, w->task->nmoves, w->arg[w->n - 1].data);
    return st;
}

/* march(y, env, steps), run(y1, y, env, rows, moves); of a gradient (y, g, env, env_b), and as before the steps, or the
 * list. */
static rvm_status open_work(work *w) {
    tool *t = w->m->t;
    const rvm_arg *env = &t->v.arg[w->m->parts], *steps = env + 1;
    const bool listed = w->task->moves;
    rvm_status st = RVM_OK;
    w->arg = calloc(2 * (size_t)w->m->parts + 4, sizeof *w->arg);
    if (!w->arg) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (listed && !w->gradient) st = add_state(w, false);
    w->y = w->n;
    if (!st) st = add_state(w, false);
    w->out = w->gradient ? w->n : 0;
    if (!st && w->gradient) st = add_state(w, true);
    w->env = w->n;
    w->end = w->m->parts;
    if (!st) st = add(w, env);
    w->env_b = w->n;
    if (!st && w->gradient) st = add(w, env);
    if (w->gradient) w->end = w->n;
    if (!st) st = listed ? add_list(w) : add(w, steps);
    w->fn = rvm_program_find(t->program, w->gradient ? listed ? MEASURED_GRADIENT : MEASURED_TRAIL
                                         : listed    ? MEASURED_RUN
                                                     : MEASURED_MARCH);
    return st;
}

static void copy(rvm_arg *to, const rvm_arg *from) {
    for (size_t k = 0, n = arg_count(from); k < n; k++) arg_set(to, k, arg_get(from, k));
}

static void set_all(rvm_arg *a, double x) {
    const rvm_scalar v = rvm_scalar_from_double(a->type, x);
    for (size_t k = 0, n = arg_count(a); k < n; k++) arg_set(a, k, v);
}

/* The start, in which y1 is 0; the gradient is that of the sum of the last state. */
static void restart(work *w) {
    const uint32_t parts = w->m->parts, end = w->gradient ? w->env : w->end;
    for (uint32_t k = 0; k < parts; k++) copy(&w->arg[w->y + k], &w->m->t->v.arg[k]);
    copy(&w->arg[w->env], &w->m->t->v.arg[parts]);
    for (uint32_t k = w->out; k < end && w->out != w->y; k++) set_all(&w->arg[k], w->gradient);
    if (w->gradient) set_all(&w->arg[w->env_b], 0);
}

static void close_work(work *w) {
    for (uint32_t k = 0; k < w->n; k++) arg_free(&w->arg[k]);
    free(w->arg);
}

/* ---- runs ---- */

static rvm_status make_machine(work *w, bool counts, bool native, rvm_machine **out) {
    tool *t = w->m->t;
    rvm_options o;
    rvm_status st = tool_options(t, &o);
    o.profile = counts;
    o.trail = w->task->trail ? RVM_TRAIL_KEEP : RVM_TRAIL_OFF;
    if (!st) st = rvm_machine_new(t->program, &o, out, &t->err);
    return !st && native ? native_attach(t, *out) : st;
}

/* Of the processor, by all threads: what else it does delays nothing that is measured. */
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static rvm_status go(work *w, rvm_machine *m, double *seconds) {
    tool *t = w->m->t;
    restart(w);
    progress_begin(&t->progress, m);
    const double start = processor_seconds();
    const rvm_status st = rvm_call(m, w->fn, w->arg, w->n, &t->err);
    *seconds = processor_seconds() - start;
    progress_end(&t->progress);
    return st;
}

static void take_counts(const rvm_machine *m, const rvm_profile *f, measured *r) {
    rvm_profile_kind_count k;
    rvm_profile_memory h;
    rvm_stats s;
    for (uint32_t i = 0; rvm_profile_kind(f, i, &k); i++) {
        r->instructions += k.count;
        r->classes[k.about] += k.count;
    }
    rvm_profile_memory_peak(f, &h);
    rvm_machine_stats(m, &s);
    if (h.states < s.ancilla_peak) h.states = s.ancilla_peak; /* of native runs polls do not see all */
    r->bytes = h.states + h.trail + h.stack + h.shadows;
    r->erased = s.bits_erased;
}

/* Interpreted where that is measured: peaks are then exact. */
static rvm_status count(work *w, measured *r) {
    rvm_machine *m = NULL;
    rvm_profile *f = NULL;
    double seconds;
    rvm_status st = make_machine(w, true, !w->m->engines[INTERPRETED], &m);
    if (!st) st = go(w, m, &seconds);
    if (!st) st = rvm_profile_new(m, &f, &w->m->t->err);
    if (!st) take_counts(m, f, r);
    rvm_profile_free(f);
    rvm_machine_free(m);
    return st;
}

/* Natively a first run compiles. */
static rvm_status measure_time(work *w, int engine, measured *r) {
    rvm_machine *m = NULL;
    r->seconds[engine] = NAN;
    if (!w->m->engines[engine]) return RVM_OK;
    rvm_status st = make_machine(w, false, engine == NATIVELY, &m);
    for (int k = 0; !st && k <= (engine == NATIVELY); k++) st = go(w, m, &r->seconds[engine]);
    if (!st && engine == NATIVELY && rvm_jit_reason(m, &w->m->t->err)) r->seconds[engine] = NAN;
    rvm_machine_free(m);
    return st;
}

static double apart(double x, double y) {
    const double d = fabs(x - y) / fmax(1, fabs(y));
    return x == y || (isnan(x) && isnan(y)) ? 0 : isnan(d) ? INFINITY : d;
}

/* Of every run, on each engine: the first sets what the others are compared with, where nothing else does. */
static void take_end(const work *w, bool first, measured *r) {
    const double *expected = w->task->expected ? w->task->expected : w->task->end;
    size_t at = 0;
    for (const rvm_arg *a = w->arg + w->out; a < w->arg + w->end; a++)
        for (size_t k = 0, n = arg_count(a); k < n; k++, at++) {
            const double x = rvm_scalar_to_double(a->type, arg_get(a, k));
            if (first && w->task->end) w->task->end[at] = x;
            if (expected) r->off = fmax(r->off, apart(x, expected[at]));
        }
}

rvm_status measure_run(measurement *m, const measured_task *task, measured *r) {
    work w = {.m = m, .task = task, .gradient = r->gradient, .rows = r->list.rows};
    rvm_status st = open_work(&w);
    if (!st) st = count(&w, r);
    if (!st) take_end(&w, true, r);
    for (int engine = 0; !st && engine < MEASURED_ENGINES; engine++) {
        st = measure_time(&w, engine, r);
        if (!st) take_end(&w, false, r);
    }
    close_work(&w);
    return st;
}

/* ---- what follows from runs ---- */

int measured_trail(const measurement *m, bool gradient) {
    for (int k = 1; k < m->n; k++)
        if (!m->run[k].scheduled && !m->run[k].listed && m->run[k].gradient == gradient) return k;
    return -1;
}

double measured_times(const measurement *m, const measured *r) {
    return (double)r->instructions / (double)m->run[0].instructions;
}

double measured_level(const measurement *m, const measured *r) {
    return m->steps > 1 ? log(measured_times(m, r)) / log((double)m->steps) : NAN;
}
