#include "chart.h"

#include <math.h>
#include <string.h>

static double position(const axis *a, double v) {
    return a->log ? log10(v / a->low) / log10(a->high / a->low) : (v - a->low) / (a->high - a->low);
}

double chart_x(const chart *c, double x) {
    return c->left + (c->right - c->left) * position(&c->x, x);
}

double chart_y(const chart *c, double y) {
    return c->bottom - (c->bottom - c->top) * position(&c->y, y);
}

void chart_number(double x, char text[24]) {
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t u = 0;
    while (fabs(x) >= 1000 && u + 1 < sizeof units / sizeof *units) x /= 1000, u++;
    snprintf(text, 24, "%.3g%s", x, units[u]);
}

const char *quantity(double x, const char *unit, char text[QUANTITY_TEXT]) {
    static const char prefixes[] = "zafpnum\0kMGTPE";
    int k = x != 0 && isfinite(x) ? (int)floor(log10(fabs(x)) / 3 + 1e-9) : 0;
    if (fabs(x) / pow(1000, k) >= 999.5) k++; /* what rounds up */
    k = k < -7 ? -7 : k > 6 ? 6 : k;
    snprintf(text, QUANTITY_TEXT, "%.3g %.1s%s", x / pow(1000, k), &prefixes[k + 7], unit);
    return text;
}

/* ---- ticks ---- */

/* 1, 2 or 5 times a power of ten: at most `most` of them fit. */
static double round_step(double range, int most) {
    const double power = pow(10, floor(log10(range / most)));
    for (int k = 0; k < 3; k++) {
        const double step = power * (k == 0 ? 1 : k == 1 ? 2 : 5);
        if (range / step <= most) return step;
    }
    return 10 * power;
}

/* The k-th tick of an axis that has room for `most`, or NAN past the last. Of a logarithmic one powers of ten, every second
 * or so where they are many, and 2 and 5 times them where they are few. */
static double tick(const axis *a, int most, int k) {
    if (!a->log) {
        const double step = round_step(a->high - a->low, most),
                     v = (ceil(a->low / step - 1e-9) + k) * step + 0.0; /* not -0 */
        return v <= a->high * (1 + 1e-12) + 1e-12 ? v : NAN;
    }
    const double decades = log10(a->high / a->low), first = floor(log10(a->low));
    const int each = (int)ceil(decades / most), fine = decades * 3 <= most;
    int seen = -1;
    for (int n = 0;; n++) {
        const int decade = n / 3;
        const double v = fine ? pow(10, first + decade) * (n % 3 == 0 ? 1 : n % 3 == 1 ? 2 : 5) : pow(10, first + n * each);
        if (v > a->high * (1 + 1e-9)) return NAN;
        if (v >= a->low * (1 - 1e-9) && ++seen == k) return v;
    }
}

static const char *tick_text(const axis *a, double v, char text[QUANTITY_TEXT]) {
    if (a->unit) return quantity(v, a->unit, text);
    chart_number(v, text);
    return text;
}

static void x_ticks(chart *c) {
    double v;
    char text[QUANTITY_TEXT];
    for (int k = 0; !isnan(v = tick(&c->x, (int)((c->right - c->left) / 60), k)); k++) {
        const double x = chart_x(c, v);
        svg_line(c->out, "grid", x, c->top, x, c->bottom);
        svg_line(c->out, "axis", x, c->bottom, x, c->bottom + 4);
        svg_text(c->out, "text", SVG_MIDDLE, x, c->bottom + 17, tick_text(&c->x, v, text));
    }
}

static void y_tick(chart *c, double v, const char *text) {
    const double y = chart_y(c, v);
    svg_line(c->out, "grid", c->left, y, c->right, y);
    svg_line(c->out, "axis", c->left - 4, y, c->left, y);
    svg_text(c->out, "text", SVG_END, c->left - 7, y + 4, text);
}

static void y_ticks(chart *c, const char *const *names) {
    double v;
    char text[QUANTITY_TEXT];
    for (int k = 0; names && names[k]; k++) y_tick(c, c->y.low + 0.5 + k, names[k]);
    for (int k = 0; !names && !isnan(v = tick(&c->y, (int)((c->bottom - c->top) / 35), k)); k++)
        y_tick(c, v, tick_text(&c->y, v, text));
}

/* ---- the whole ---- */

/* Room for the names of rows, within bounds. */
static double left_of(const char *const *names) {
    size_t longest = 0;
    for (int k = 0; names && names[k]; k++) longest = strlen(names[k]) > longest ? strlen(names[k]) : longest;
    return fmin(fmax(70, 30 + 7 * (double)longest), 250);
}

void chart_begin(chart *c, FILE *out, double width, double height, double right_margin, const char *title, axis x, axis y,
                 const char *const *names) {
    *c = (chart){
        .out = out, .x = x, .y = y, .left = left_of(names), .top = 58, .right = width - right_margin, .bottom = height - 48};
    svg_begin(out, width, height, title);
    svg_text(out, "title", SVG_START, 12, 22, title);
    x_ticks(c);
    y_ticks(c, names);
    svg_line(out, "axis", c->left, c->bottom, c->right, c->bottom);
    svg_line(out, "axis", c->left, c->top, c->left, c->bottom);
    svg_text(out, "text", SVG_MIDDLE, (c->left + c->right) / 2, height - 12, x.label);
    svg_text_upward(out, "text", 18, (c->top + c->bottom) / 2, y.label);
}

void chart_legend(chart *c, const char *class_name, bool filled, const char *text) {
    const double x = c->left + c->legends, y = 42;
    if (filled)
        svg_rect(c->out, class_name, x, y - 9, 22, 8);
    else
        svg_line(c->out, class_name, x, y - 5, x + 22, y - 5);
    svg_text(c->out, "text", SVG_START, x + 28, y, text);
    c->legends += 50 + 7 * (int)strlen(text);
}

void chart_line(chart *c, int series, const double *x, const double *y, int n, const char *name) {
    char class_name[8];
    snprintf(class_name, sizeof class_name, "s%d", series);
    svg_path_begin(c->out, class_name);
    for (int k = 0; k < n; k++) svg_path_point(c->out, k == 0, chart_x(c, x[k]), chart_y(c, y[k]));
    svg_path_end(c->out);
    for (int k = 0; k < n; k++) svg_mark(c->out, series, chart_x(c, x[k]), chart_y(c, y[k]));
    if (n && c->nlabels < CHART_LABELS) c->labels[c->nlabels++] = (struct chart_label){name, series, chart_y(c, y[n - 1])};
}

/* In order of height, each at least a line below the one above it; then, from the lowest, pushed up to stay on the page. */
static void spread(chart *c) {
    const double line = 15;
    for (int i = 1; i < c->nlabels; i++)
        for (int k = i; k > 0 && c->labels[k].y < c->labels[k - 1].y; k--) {
            const struct chart_label other = c->labels[k];
            c->labels[k] = c->labels[k - 1];
            c->labels[k - 1] = other;
        }
    for (int k = 1; k < c->nlabels; k++) c->labels[k].y = fmax(c->labels[k].y, c->labels[k - 1].y + line);
    for (int k = c->nlabels; k-- > 0;)
        c->labels[k].y = fmin(c->labels[k].y, k + 1 < c->nlabels ? c->labels[k + 1].y - line : c->bottom);
}

void chart_end(chart *c) {
    char class_name[8];
    spread(c);
    for (int k = 0; k < c->nlabels; k++) {
        snprintf(class_name, sizeof class_name, "f%d", c->labels[k].series);
        svg_mark(c->out, c->labels[k].series, c->right + 14, c->labels[k].y);
        svg_text(c->out, class_name, SVG_START, c->right + 24, c->labels[k].y + 4, c->labels[k].text);
    }
    svg_end(c->out);
}
