/* measure_plot.c: time against space: of each schedule what was measured, and its formula; runs with a trail; the
 * irreversible run. A formula counts evaluations and states: a state is its numbers, an evaluation a step of the
 * irreversible run, a sweep of a gradient one of the trail's. */
#include "chart.h"
#include "measure.h"

#include <inttypes.h>
#include <math.h>

enum { WIDTH = 860, HEIGHT = 500, MARGIN = 130, FORMULA_POINTS = 200 };

static const char css[] =
    ".formula{fill:none;stroke-width:1.2;stroke-dasharray:1.5 3.5;stroke-linejoin:round;opacity:.85}"
    ".plain{fill:none;stroke:#888;stroke-width:2}.level{stroke:#888;stroke-width:1.2;stroke-dasharray:7 4}";

/* Widens both axes to hold a point. */
static void hold(axis *x, axis *y, double at, double v) {
    x->low = fmin(x->low, at), x->high = fmax(x->high, at);
    y->low = fmin(y->low, v), y->high = fmax(y->high, v);
}

/* By the formula of a kind: bytes and instructions. False: there is none for so small a budget. */
static bool formula(const measurement *m, scheduled by, double *bytes, double *instructions) {
    uint64_t evaluations, states;
    rvm_error unused;
    if (rvm_schedule_formula(by.kind, m->steps, by.budget, &evaluations, &states, &unused)) return false;
    const int trail = rvm_schedule_is_gradient(by.kind) ? measured_trail(m, true) : -1;
    *bytes = (double)states * (double)m->numbers * sizeof(double);
    *instructions = (double)evaluations * (double)m->run[0].instructions / (double)m->steps +
                    (trail < 0 ? 0 : (double)m->run[trail].instructions);
    return *bytes > 0 && *instructions > 0;
}

/* Of the runs by a kind, the least budget and the largest. */
static bool budgets(const measurement *m, rvm_schedule_kind kind, uint64_t *low, uint64_t *high) {
    *low = UINT64_MAX, *high = 0;
    for (int k = 0; k < m->n; k++) {
        if (!m->run[k].scheduled || m->run[k].by.kind != kind) continue;
        if (m->run[k].by.budget < *low) *low = m->run[k].by.budget;
        if (m->run[k].by.budget > *high) *high = m->run[k].by.budget;
    }
    return *high;
}

static void draw_formula(const measurement *m, const chart *c, rvm_schedule_kind kind) {
    char class_name[sizeof "s-2147483648 formula"];
    uint64_t low, high;
    double x, y;
    if (!budgets(m, kind, &low, &high) || low == high) return;
    const uint64_t step = (high - low) / FORMULA_POINTS + 1;
    snprintf(class_name, sizeof class_name, "s%d formula", (int)kind);
    svg_path_begin(c->out, class_name);
    for (uint64_t b = low; b <= high; b += step)
        if (formula(m, (scheduled){kind, b}, &x, &y)) svg_path_point(c->out, b == low, chart_x(c, x), chart_y(c, y));
    svg_path_end(c->out);
}

static void draw_kind(const measurement *m, chart *c, rvm_schedule_kind kind) {
    double x[MEASURED_RUNS], y[MEASURED_RUNS];
    int n = 0;
    for (int k = 0; k < m->n; k++) {
        if (!m->run[k].scheduled || m->run[k].by.kind != kind) continue;
        x[n] = (double)m->run[k].bytes;
        y[n++] = (double)m->run[k].instructions;
    }
    if (n) chart_line(c, (int)kind, x, y, n, rvm_schedule_name(kind));
}
_Static_assert((int)RVM_SCHEDULE_KIND_COUNT <= (int)SVG_SERIES, "a series for each kind");

/* A run without a schedule, or by a list: a ring with its name, on the side that has room. */
static void draw_plain(const chart *c, const measured *r) {
    const double x = chart_x(c, (double)r->bytes), y = chart_y(c, (double)r->instructions);
    const bool left = x > (c->left + c->right) / 2;
    svg_ring(c->out, "plain", x, y, 6);
    svg_text(c->out, "text", left ? SVG_END : SVG_START, left ? x - 11 : x + 11, y + 4, r->name);
}

bool measured_plot(FILE *out, const void *what) {
    const measurement *m = what;
    axis x = {"memory at most", INFINITY, 0, true, "B"}, y = {"instructions", INFINITY, 0, true, NULL};
    char title[200];
    chart c;
    for (int k = 0; k < m->n; k++) {
        const measured *r = &m->run[k];
        double bytes, instructions;
        hold(&x, &y, fmax(1, (double)r->bytes), (double)r->instructions);
        if (r->scheduled && formula(m, r->by, &bytes, &instructions)) hold(&x, &y, bytes, instructions);
    }
    x.low /= 1.3, x.high *= 1.3, y.low /= 1.3, y.high *= 1.3;
    snprintf(title, sizeof title, "%.80s, %" PRIu64 " steps: time against space", m->step, m->steps);
    chart_begin(&c, out, WIDTH, HEIGHT, MARGIN, title, x, y, NULL);
    svg_style(out, css);
    chart_legend(&c, "s4 solid", false, "measured");
    chart_legend(&c, "s4 formula", false, "by formula");
    for (int kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++) draw_formula(m, &c, (rvm_schedule_kind)kind);
    for (int kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++) draw_kind(m, &c, (rvm_schedule_kind)kind);
    for (int k = 0; k < m->n; k++)
        if (!m->run[k].scheduled) draw_plain(&c, &m->run[k]);
    chart_end(&c);
    return !ferror(out);
}
