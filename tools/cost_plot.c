/* cost_plot.c: pictures of costs: energy over a number that is swept, with the optimum and the irreversible run; energy
 * against memory, a line for each kind of schedule; bars by part. */
#include "cost.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 460, MARGIN = 130 };

/* Widens an axis to hold a value. */
static void hold(axis *a, double v) {
    if (!(v > 0) || isinf(v)) return;
    a->low = fmin(a->low, v);
    a->high = fmax(a->high, v);
}

/* Of an axis that held values, room around them; of one that held none, any. */
static void widen(axis *a) {
    if (a->low > a->high) a->low = a->high = 1;
    a->low /= 1.3;
    a->high *= 1.3;
}

/* A level across the plane, with its name above it: at the right end, or at the left one. */
static void level(const chart *plot, double y, const char *name, bool right) {
    const double x = right ? plot->right - 8 : plot->left + 8;
    svg_line(plot->out, "level", plot->left, chart_y(plot, y), plot->right, chart_y(plot, y));
    svg_text(plot->out, "text", right ? SVG_END : SVG_START, x, chart_y(plot, y) - 5, name);
}

/* The irreversible run by each of the machines that it is priced by, each once. */
static void levels(const cost *c, const chart *plot, bool right) {
    rvm_price p;
    char name[120];
    for (int k = 0; c->against.counts && k < c->nmodels; k++) {
        bool met = false;
        for (int i = 0; i < k; i++) met = met || !strcmp(rvm_model_name(c->other[i]), rvm_model_name(c->other[k]));
        if (met || cost_price_against(c, k, &p) || !(p.wall > 0)) continue;
        snprintf(name, sizeof name, "irreversible: %.60s, by %s", c->against.name, rvm_model_name(c->other[k]));
        level(plot, p.wall, name, right);
    }
}

static const char level_css[] = ".level{stroke:#888;stroke-width:1.5;stroke-dasharray:7 4}.best{fill:none;stroke-width:2}";

/* ---- over what is swept ---- */

static void draw_model(const cost *c, chart *plot, int k) {
    double x[COST_POINTS], y[COST_POINTS];
    char name[16], text[QUANTITY_TEXT];
    rvm_price p;
    int n = 0;
    for (int i = 0; i < COST_POINTS; i++) {
        if (cost_price(c, k, &c->run, i, &p) || !(p.wall > 0)) continue;
        x[n] = cost_point(&c->sweep, i);
        y[n++] = p.wall;
    }
    if (!n) return;
    chart_line(plot, k, x, y, n, rvm_model_name(c->model[k]));
    if (c->sweep.key != RVM_MODEL_CLOCK || cost_best(c, k, &c->run, &p) || !cost_best_is_inside(c, &p)) return;
    snprintf(name, sizeof name, "s%d", k);
    svg_ring(plot->out, name, chart_x(plot, p.clock), chart_y(plot, p.wall), 8);
    snprintf(name, sizeof name, "f%d", k);
    svg_text(plot->out, name, SVG_MIDDLE, chart_x(plot, p.clock), chart_y(plot, p.wall) + 24, quantity(p.clock, "Hz", text));
}

static void draw_sweep(FILE *out, const cost *c) {
    char title[400];
    rvm_price p;
    chart plot;
    snprintf(title, sizeof title, "%.200s: energy at the wall", c->run.name);
    const axis x = {rvm_model_key_name(c->sweep.key), c->sweep.low, c->sweep.high, true, rvm_model_key_unit(c->sweep.key)};
    axis y = {"energy", INFINITY, 0, true, "J"};
    for (int k = 0; k < c->nmodels; k++) {
        for (int i = 0; i < COST_POINTS; i++)
            if (!cost_price(c, k, &c->run, i, &p)) hold(&y, p.wall);
        if (c->against.counts && !cost_price_against(c, k, &p)) hold(&y, p.wall);
    }
    widen(&y);
    chart_begin(&plot, out, WIDTH, HEIGHT, MARGIN, title, x, y, NULL);
    svg_style(out, level_css);
    levels(c, &plot, false);
    for (int k = 0; k < c->nmodels; k++) draw_model(c, &plot, k);
    chart_end(&plot);
}

/* ---- against memory ---- */

static void draw_kind(const cost *c, chart *plot, rvm_schedule_kind kind) {
    double x[COST_RUNS], y[COST_RUNS];
    rvm_counts_sums s;
    rvm_price p;
    int n = 0;
    for (int r = 0; r < c->n; r++) {
        if (c->list[r].kind != kind || cost_price(c, 0, &c->list[r], -1, &p) || !(p.wall > 0)) continue;
        rvm_counts_total(c->list[r].counts, &s);
        x[n] = (double)s.peak;
        y[n++] = p.wall;
    }
    if (n) chart_line(plot, (int)kind, x, y, n, rvm_schedule_name(kind));
}
_Static_assert((int)RVM_SCHEDULE_KIND_COUNT <= (int)SVG_SERIES && (int)COST_MODELS <= (int)SVG_SERIES, "a series for each");

static void draw_memory(FILE *out, const cost *c) {
    char title[200];
    axis x = {"memory at most", INFINITY, 0, true, "B"}, y = {"energy", INFINITY, 0, true, "J"};
    rvm_counts_sums s;
    rvm_price p;
    chart plot;
    for (int r = 0; r < c->n; r++) {
        rvm_counts_total(c->list[r].counts, &s);
        hold(&x, (double)s.peak);
        if (!cost_price(c, 0, &c->list[r], -1, &p)) hold(&y, p.wall);
    }
    if (c->against.counts && !cost_price_against(c, 0, &p)) hold(&y, p.wall);
    widen(&x), widen(&y);
    snprintf(title, sizeof title, "%" PRIu64 " steps by %s: energy against memory", c->t->o.steps,
             rvm_model_name(c->model[0]));
    chart_begin(&plot, out, WIDTH, HEIGHT, MARGIN, title, x, y, NULL);
    svg_style(out, level_css);
    cost one = *c;
    one.nmodels = 1;
    levels(&one, &plot, true);
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++) draw_kind(c, &plot, kind);
    chart_end(&plot);
}

/* ---- by part ---- */

/* Parts beyond the five series have colours of their own: sand and sky. */
static const char part_css[] = ".part{stroke-width:1}.p5{fill:#c9a400}.p6{fill:#4db3c8}"
                               "@media(prefers-color-scheme:dark){.p5{fill:#ffe066}.p6{fill:#9be7f5}}";
static const char *const part_class[COST_PART_COUNT] = {"f0", "f1", "f2", "f3", "f4", "p5", "p6"};

static void draw_bar(chart *plot, int row, const rvm_price *p) {
    char text[QUANTITY_TEXT], tip[120];
    const double y = chart_y(plot, row + .5);
    double sum = 0;
    for (int part = 0; part < COST_PART_COUNT && p->energy > 0; part++) {
        const double share = 100 * cost_part(p, part) / p->energy;
        if (!(share > 0)) continue;
        const double x = chart_x(plot, sum), width = chart_x(plot, sum + share) - x;
        snprintf(tip, sizeof tip, "%s: %s, %.1f %%", cost_part_name(part), quantity(cost_part(p, part), "J", text), share);
        svg_box(plot->out, part_class[part], x, y - 9, width > 1 ? width - 1 : width, 18, tip);
        sum += share;
    }
    svg_text(plot->out, "text", SVG_START, plot->right + 10, y + 4, quantity(p->wall, "J", text));
}

enum { BARS = 2 * COST_MODELS };

static void draw_parts(FILE *out, const cost *c) {
    char name[BARS][80], title[400];
    const char *names[BARS + 1] = {0};
    rvm_price p[BARS];
    chart plot;
    int n = 0;
    for (int k = c->nmodels; k-- > 0;) { /* upward */
        if (c->against.counts && !cost_price(c, k, &c->against, -1, &p[n]))
            snprintf(name[n], sizeof name[n], "%.20s, irreversible", rvm_model_name(c->model[k])), n++;
        if (!cost_price(c, k, &c->run, -1, &p[n]))
            snprintf(name[n], sizeof name[n], "%.40s", rvm_model_name(c->model[k])), n++;
    }
    for (int k = 0; k < n; k++) names[k] = name[k];
    snprintf(title, sizeof title, "%.200s: where the energy goes", c->run.name);
    chart_begin(&plot, out, WIDTH + 100, 120 + 34 * n, MARGIN, title, (axis){"%, and at the wall", 0, 100, false, NULL},
                (axis){"model", 0, n, false, NULL}, names);
    svg_style(out, part_css);
    for (int k = 0; k < n; k++) draw_bar(&plot, k, &p[k]);
    plot.left = 12;
    for (int part = 0; part < COST_PART_COUNT; part++) chart_legend(&plot, part_class[part], true, cost_part_name(part));
    chart_end(&plot);
}

bool cost_plot(FILE *out, const void *what) {
    const cost *c = what;
    if (c->n)
        draw_memory(out, c);
    else if (c->sweep.key != RVM_MODEL_KEYS)
        draw_sweep(out, c);
    else
        draw_parts(out, c);
    return !ferror(out);
}
