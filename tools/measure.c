/* measure.c: rvm schedule --measure: which runs there are, and what is printed of them. */
#include "measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which schedules ---- */

typedef struct wish {
    scheduled by[MEASURED_RUNS];
    int n;
    rvm_move *moves; /* of --list */
    uint64_t nmoves;
    rvm_schedule_counts list;
    bool gradients, reversible;
} wish;

static rvm_status ask(tool *t, wish *w, rvm_schedule_kind kind, uint64_t budget) {
    if (w->n + 4 > MEASURED_RUNS) return tool_fail(t, RVM_ERR_LIMIT, "more than %d runs", MEASURED_RUNS);
    w->by[w->n++] = (scheduled){kind, budget};
    return rvm_schedule_formula(kind, t->o.steps, budget, NULL, NULL, &t->err);
}

enum { BUDGETS_WITHOUT_RANGE = 4 };

/* A kind with the budgets of --budget. Without it four: sectors 2, 4, 8, 16; states as many as pebbles need, and doubled. */
static rvm_status ask_kind(tool *t, wish *w, rvm_schedule_kind kind) {
    const uint64_t n = t->o.steps;
    uint64_t low = rvm_schedule_least(kind == RVM_SCHEDULE_BENNETT ? kind : RVM_SCHEDULE_PEBBLE, n), high = n;
    rvm_status st = t->o.budget ? scheduled_range(t, kind, &low, &high) : RVM_OK;
    for (int k = 0; !st && low <= high && (t->o.budget || k < BUDGETS_WITHOUT_RANGE); k++) {
        st = ask(t, w, kind, low);
        low = t->o.budget ? scheduled_next(low) : 2 * low;
    }
    return st;
}

static rvm_status ask_item(tool *t, wish *w, const char *text, size_t length) {
    scheduled by;
    rvm_status st =
        memchr(text, ':', length) ? scheduled_read(t, text, length, &by) : scheduled_kind(t, text, length, &by.kind);
    if (st) return st;
    return memchr(text, ':', length) ? ask(t, w, by.kind, by.budget) : ask_kind(t, w, by.kind);
}

/* --by KIND[:NUMBER],..., --list, or all kinds. */
static rvm_status read_wish(tool *t, wish *w) {
    rvm_status st = RVM_OK;
    if (t->o.by && t->o.list) return tool_fail(t, RVM_ERR_USAGE, "--by and --list: one of them says which moves");
    if (t->o.list) return scheduled_list(t, t->o.steps, &w->moves, &w->nmoves, &w->list, &w->gradients);
    for (int kind = 0; !t->o.by && !st && kind < RVM_SCHEDULE_KIND_COUNT; kind++)
        st = ask_kind(t, w, (rvm_schedule_kind)kind);
    for (const char *at = t->o.by; at && !st && *at;) {
        const size_t length = strcspn(at, ",");
        st = ask_item(t, w, at, length);
        at += length + (at[length] == ',');
    }
    return st;
}

static void note_goals(const tool *t, wish *w) {
    w->reversible = t->o.list && !w->gradients;
    for (int k = 0; k < w->n; k++) {
        const bool gradient = rvm_schedule_is_gradient(w->by[k].kind);
        w->gradients = w->gradients || gradient;
        w->reversible = w->reversible || !gradient;
    }
}

/* ---- the runs ---- */

typedef struct ends {
    double *state, *gradient; /* the last state; the gradient by the first, env, the gradient by that */
} ends;

static rvm_status run_plain(measurement *m, const char *name, bool gradient, bool trail, double *end) {
    measured *r = &m->run[m->n];
    *r = (measured){.gradient = gradient};
    snprintf(r->name, sizeof r->name, "%s", name);
    const rvm_status st = measure_run(m, &(measured_task){.trail = trail, .end = end}, r);
    m->n += !st;
    return st;
}

static rvm_status run_list(measurement *m, const measured *is, const rvm_move *moves, uint64_t n, const ends *e) {
    measured *r = &m->run[m->n];
    *r = *is;
    const measured_task task = {
        .moves = moves, .nmoves = n, .trail = !r->gradient, .expected = r->gradient ? e->gradient : e->state};
    const rvm_status st = measure_run(m, &task, r);
    m->n += !st;
    return st;
}

static rvm_status run_schedule(measurement *m, scheduled by, const ends *e) {
    tool *t = m->t;
    rvm_schedule *s;
    rvm_schedule_options o = rvm_schedule_options_default();
    measured r = {.scheduled = true, .by = by, .gradient = rvm_schedule_is_gradient(by.kind)};
    uint64_t n;
    o.progress = scheduled_progress;
    o.userdata = &t->progress;
    progress_begin(&t->progress, NULL);
    rvm_status st = rvm_schedule_new(by.kind, m->steps, by.budget, &o, &s, &t->err);
    progress_end(&t->progress);
    if (st) return st;
    rvm_schedule_count(s, &r.list);
    snprintf(r.name, sizeof r.name, "%s:%" PRIu64, rvm_schedule_name(by.kind), by.budget);
    const rvm_move *moves = rvm_schedule_moves(s, &n);
    st = run_list(m, &r, moves, n, e);
    rvm_schedule_free(s);
    return st;
}

static rvm_status run_all(measurement *m, const wish *w, const ends *e) {
    rvm_status st = run_plain(m, "irreversible", false, false, e->state);
    if (!st && w->reversible) st = run_plain(m, "trail", false, true, NULL);
    if (!st && w->gradients) st = run_plain(m, "gradient by trail", true, false, e->gradient);
    for (int k = 0; !st && k < w->n; k++) st = run_schedule(m, w->by[k], e);
    if (st || !w->moves) return st;
    measured r = {.listed = true, .gradient = w->gradients, .list = w->list};
    snprintf(r.name, sizeof r.name, "%.79s", m->t->o.list);
    return run_list(m, &r, w->moves, w->nmoves, e);
}

/* ---- the command ---- */

static rvm_status choose_engines(measurement *m) {
    tool *t = m->t;
    const char *engine = t->o.engine;
    rvm_error why;
    m->engines[INTERPRETED] = !engine || !strcmp(engine, "interp");
    m->engines[NATIVELY] = !engine || !strcmp(engine, "jit");
    if (!m->engines[INTERPRETED] && !m->engines[NATIVELY])
        return tool_fail(t, RVM_ERR_USAGE, "--engine of --measure is interp or jit, not `%s`; both without it", engine);
    if (!m->engines[NATIVELY]) return RVM_OK;
    t->o.threads = 1; /* the processor's time is measured, of which threads that wait take some */
    const rvm_status st = native_jit(t, false, &why);
    if (st && engine) t->err = why;
    if (st) m->engines[NATIVELY] = false, m->engines[INTERPRETED] = true;
    return engine ? st : RVM_OK;
}

static rvm_status check(tool *t) {
    const options *o = &t->o;
    if (t->nwords < 2) return tool_fail(t, RVM_ERR_USAGE, "--measure PROG STEP name=value ...: which step is to be run?");
    if (!option_given(o, steps)) return tool_fail(t, RVM_ERR_USAGE, "-n says how many steps");
    if (!o->steps || o->steps > RVM_SCHEDULE_MOST_STEPS)
        return tool_fail(t, RVM_ERR_ARGUMENT, "a schedule is of 1 to %d steps, not of %" PRIu64, RVM_SCHEDULE_MOST_STEPS,
                         o->steps);
    if (o->graph || o->moves) return tool_fail(t, RVM_ERR_USAGE, "--graph and --moves do not go with --measure");
    return RVM_OK;
}

enum format { TEXT, JSON, CSV, FORMATS };

static rvm_status choose_format(tool *t, enum format *format) {
    static const char *const names[FORMATS] = {"text", "json", "csv"};
    const char *name = t->o.format ? t->o.format : t->o.json ? "json" : "text";
    int k = 0;
    while (k < FORMATS && strcmp(name, names[k]) != 0) k++;
    *format = (enum format)k;
    if (k == FORMATS) return tool_fail(t, RVM_ERR_USAGE, "--format is text, json or csv, not `%s`", name);
    t->o.json = k == JSON;
    return RVM_OK;
}

static bool print_object(FILE *out, const void *what) {
    const measurement *m = what;
    json j = {.out = out};
    if (out == stdout)
        tool_json_begin(&j, m->t, RVM_OK);
    else
        json_open(&j, '{'), json_key(&j, "ok"), json_bool(&j, true);
    measured_json(&j, m);
    tool_json_end(&j);
    return !ferror(out);
}

static rvm_status print(const measurement *m, enum format format) {
    static printer *const printers[FORMATS] = {measured_text, print_object, measured_csv};
    tool *t = m->t;
    rvm_status st = t->o.svg ? write_printed(t, t->o.svg, measured_plot, m) : RVM_OK;
    if (!st && t->o.output) return write_printed(t, t->o.output, printers[format], m);
    if (!st) printers[format](stdout, m);
    return st;
}

rvm_status measure_command(tool *t) {
    measurement *m = calloc(1, sizeof *m);
    wish *w = calloc(1, sizeof *w);
    enum format format;
    ends e = {0};
    rvm_status st = m && w ? check(t) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st) *m = (measurement){.t = t, .steps = t->o.steps};
    if (!st) st = choose_format(t, &format);
    if (!st) st = read_wish(t, w);
    if (!st) note_goals(t, w);
    if (!st) st = choose_engines(m);
    if (!st) st = measure_open(m, w->gradients);
    if (!st) {
        const size_t n = m->numbers + 2 * arg_count(&t->v.arg[m->parts]) + 1; /* env and its gradient, too */
        e = (ends){calloc(n, sizeof(double)), calloc(n, sizeof(double))};
    }
    if (!st && (!e.state || !e.gradient)) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st) st = run_all(m, w, &e);
    if (!st) st = print(m, format);
    free(e.state), free(e.gradient);
    if (w) free(w->moves);
    free(w), free(m);
    return st;
}
