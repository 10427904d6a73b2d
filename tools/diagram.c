/* diagram.c: time counts runs of the step, forward, back and as a sweep; copies take none. What is marched is a line of its
 * own, broken where a state is restored; a sweep goes down from one state to the one before it.
 */
#include "diagram.h"
#include "chart.h"

#include <math.h>
#include <stdlib.h>

enum { NAMED = 40 }; /* so many steps of a graph have their names at the axis */

typedef struct row {
    uint32_t state;
    bool full;
    double since;
} row;

typedef struct drawing {
    chart c;
    const rvm_move *moves;
    uint64_t n;
    row *rows;
    uint32_t nrows, working; /* working: its number, or nrows where there is none */
    double now;
} drawing;

static bool takes_time(rvm_move_kind kind) {
    return kind == RVM_MOVE_FORWARD || kind == RVM_MOVE_UNCOMPUTE || kind == RVM_MOVE_ADVANCE || kind == RVM_MOVE_SWEEP;
}

static void bar(drawing *d, const row *r) {
    const double lane = fabs(chart_y(&d->c, 1) - chart_y(&d->c, 0)), height = fmin(fmax(lane * 0.7, 1), 14);
    const double left = chart_x(&d->c, r->since), right = chart_x(&d->c, d->now);
    const double y = chart_y(&d->c, r->state);
    svg_rect(d->c.out, "f0 held", left, y - height / 2, fmax(right - left, 0.5), height);
}

static void set_row(drawing *d, uint32_t k, bool full, uint32_t state) {
    row *r = &d->rows[k];
    if (r->full && k != d->working) bar(d, r);
    *r = (row){state, full, d->now};
}

/* The bars, in the order in which they end. */
static void bars(drawing *d, bool graph) {
    d->now = 0;
    if (!graph) d->rows[0] = (row){.full = true};
    for (uint64_t k = 0; k < d->n; k++) {
        const rvm_move *m = &d->moves[k];
        d->now += takes_time(m->kind);
        if (m->kind == RVM_MOVE_FORWARD || m->kind == RVM_MOVE_STORE)
            set_row(d, m->target, true, m->state);
        else if (m->kind == RVM_MOVE_UNCOMPUTE || m->kind == RVM_MOVE_FREE)
            set_row(d, m->target, false, 0);
    }
    for (uint32_t k = 0; k < d->nrows; k++) set_row(d, k, false, 0);
}

/* What one kind of move does to the line of the working row. */
static void line(drawing *d, rvm_move_kind kind, const char *class_name) {
    bool open = false, begun = false;
    d->now = 0;
    for (uint64_t k = 0; k < d->n; k++) {
        const rvm_move *m = &d->moves[k];
        const double from = kind == RVM_MOVE_SWEEP ? m->state : m->state - 1.0;
        const double to = kind == RVM_MOVE_SWEEP ? m->state - 1.0 : m->state;
        if (m->kind == kind) {
            if (!begun) svg_path_begin(d->c.out, class_name);
            begun = true;
            if (!open) svg_path_point(d->c.out, true, chart_x(&d->c, d->now), chart_y(&d->c, from));
            svg_path_point(d->c.out, false, chart_x(&d->c, d->now + 1), chart_y(&d->c, to));
        }
        open = m->kind == kind || (open && m->kind == RVM_MOVE_STORE);
        d->now += takes_time(m->kind);
    }
    if (begun) svg_path_end(d->c.out);
}

/* The names of a small graph's steps, or NULL. */
static const char **names_of(const rvm_schedule_graph *g) {
    const uint32_t n = rvm_schedule_graph_size(g);
    const char **names = n && n <= NAMED ? calloc(n + 1, sizeof *names) : NULL;
    for (uint32_t k = 0; names && k < n; k++) names[k] = rvm_schedule_graph_name(g, k, NULL);
    return names;
}

bool diagram_draw(FILE *out, const char *title, const rvm_move *moves, uint64_t n, const rvm_schedule_counts *c,
                  uint32_t steps, const rvm_schedule_graph *g) {
    const double states = g ? rvm_schedule_graph_size(g) : steps + 1.0, time = (double)(c->evaluations + c->swept);
    const axis x = {"time: runs of the step", 0, time, false, NULL},
               y = {g ? "step of the graph" : "state", -0.5, states - 0.5, false, NULL};
    drawing d = {.moves = moves, .n = n, .nrows = c->rows};
    d.working = c->swept ? c->rows - 1 : c->rows;
    d.rows = calloc(c->rows, sizeof *d.rows);
    if (!d.rows) return false;
    const char **names = names_of(g);
    chart_begin(&d.c, out, 900, fmin(fmax(140 + 14 * states, 260), 620), 24, title, x, y, names);
    chart_legend(&d.c, "f0 held", true, "held in a row");
    if (c->advanced) chart_legend(&d.c, "s1 solid", false, "marched");
    if (c->swept) chart_legend(&d.c, "s2 solid", false, "swept");
    bars(&d, g != NULL);
    line(&d, RVM_MOVE_ADVANCE, "s1 solid");
    line(&d, RVM_MOVE_SWEEP, "s2 solid");
    chart_end(&d.c);
    free(names);
    free(d.rows);
    return true;
}
