/* graph_svg.c: the picture. Columns go down, rows across; colours of Okabe and Ito, with others where the reader's scheme is
 * dark. */
#include "graph.h"
#include "svg.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LABELS = 300, PITCH = 58, ROW = 28, TOP = 48, LEFT = 16, LETTER = 7 };

static const char style[] =
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#222}\n"
    ".line,.at{fill:#777}.name{text-anchor:middle;font-weight:bold;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".in{text-anchor:middle}.value{fill:#0072b2;font-size:9px}\n"
    ".life,.wire{stroke:#555;stroke-width:1}.array{stroke:#555;stroke-width:3}.inside{stroke:#fff;stroke-width:1}\n"
    ".wire{stroke:#222}.dot{fill:#222}.box{fill:#fff3d6;stroke:#222}.loop,.parallel,.branch,.compute{rx:3px}\n"
    ".loop{fill:#0072b2;fill-opacity:.1}.parallel{fill:#009e73;fill-opacity:.14}.branch{fill:#e69f00;fill-opacity:.08}\n"
    ".compute{fill:none;stroke:#cc79a7;stroke-width:1.5;stroke-dasharray:5 3}.part{fill:#b0558a;font-weight:bold}\n"
    "@media(prefers-color-scheme:dark){\n"
    "text{fill:#e6e6e6}.line,.at{fill:#9a9a9a}.value{fill:#56b4e9}\n"
    ".life,.array{stroke:#aaa}.inside,.name{stroke:#16181c}.wire{stroke:#e6e6e6}.dot{fill:#e6e6e6}\n"
    ".box{fill:#3a3320;stroke:#e6e6e6}.loop{fill:#56b4e9;fill-opacity:.16}.part{fill:#e6a3cb}}\n";

static int x_of(uint32_t column) {
    return LEFT + LABELS + (int)column * PITCH + PITCH / 2;
}
static int y_of(uint32_t row) {
    return TOP + (int)row * ROW + ROW / 2;
}

static void part(const graph_region *r, const char *what, int x, int y, FILE *out) {
    char text[16];
    snprintf(text, sizeof text, "%s%u", what, r->number);
    svg_label(out, "part", x + 3, y + 10, text, SIZE_MAX, false);
}

static void region(const graph *g, const graph_region *r, FILE *out) {
    static const char *const kinds[] = {"loop", "parallel", "branch", "compute"};
    if (r->low > r->high || r->from >= g->nrows || r->to < r->from || r->to == UINT32_MAX) return;
    const int inset = 2 * (int)(r->depth < 8 ? r->depth : 8);
    const int x = x_of(r->low) - PITCH / 2 + inset, y = y_of(r->from) - ROW / 2 + 1;
    const int width = (int)(r->high - r->low + 1) * PITCH - 2 * inset;
    svg_rect(out, kinds[r->kind], x, y, width, (int)(r->to - r->from + 1) * ROW - 2);
    if (r->kind != GRAPH_COMPUTE) return;
    part(r, "X", x, y, out);
    if (r->undone == UINT32_MAX) return;
    const int again = y_of(r->undone) - ROW / 2 + 1;
    svg_rect(out, "compute", x, again, width, ROW - 2);
    part(r, "~X", x, again, out);
}

static void life(const graph *g, const graph_life *l, FILE *out) {
    const int x = x_of(l->column), from = l->param ? TOP - 8 : y_of(l->from),
              to = l->to < g->nrows ? y_of(l->to) : y_of(g->nrows);
    if (l->array) svg_line(out, "array", x, from, x, to);
    svg_line(out, l->array ? "inside" : "life", x, from, x, to);
}

static void name(const graph_life *l, FILE *out) {
    const int y = l->param ? TOP - 14 : y_of(l->from) - 10; /* between the box and one above */
    svg_label(out, "name", x_of(l->column), y, l->name, 9, true);
}

static int width_of(const graph_mark *m) {
    const int wide = (int)strlen(m->text) * LETTER + 6;
    return wide < 16 ? 16 : wide > PITCH - 4 ? PITCH - 4 : wide;
}

static void mark(const graph_mark *m, int y, FILE *out) {
    const int x = x_of(m->column), w = width_of(m), half = w / 2;
    if (!m->box) {
        svg_disc(out, "dot", x, y, 3);
        return;
    }
    svg_box(out, "box", x - half, y - 8, w, 16, m->place);
    if (*m->text) svg_label(out, "in", x, y + 4, m->text, (size_t)(w - 2) / (LETTER - 1), false);
    if (*m->value) svg_label(out, "value", x + half + 2, y - 2, m->value, 23, false);
}

static void row(const graph *g, uint32_t k, FILE *out) {
    const graph_row *r = &g->rows[k];
    const int y = y_of(k);
    uint32_t low = UINT32_MAX, high = 0;
    char line[16];
    snprintf(line, sizeof line, "%u", r->line);
    if (r->line) svg_label(out, "line", LEFT, y + 4, line, SIZE_MAX, false);
    svg_label(out, "label", LEFT + 36, y + 4, r->label, (LABELS - 44) / LETTER, true);
    for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++) {
        const uint32_t at = g->marks[j].column;
        if (at < low) low = at;
        if (at > high) high = at;
    }
    if (low < high) svg_line(out, "wire", x_of(low), y, x_of(high), y);
    for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++) mark(&g->marks[j], y, out);
}

/* Room on the right, for a value beside the last column. */
static int right_of(const graph *g) {
    for (uint32_t k = 0; k < g->nmarks; k++)
        if (*g->marks[k].value) return PITCH;
    return LEFT;
}

rvm_status graph_svg(const graph *g, FILE *out) {
    const int width = LEFT + LABELS + (int)g->ncolumns * PITCH + right_of(g), height = y_of(g->nrows) + ROW;
    svg_begin(out, width, height, rvm_program_function_name(g->p, g->fn));
    svg_style(out, style);
    for (uint32_t k = 0; k < g->nregions; k++) region(g, &g->regions[k], out);
    for (uint32_t k = 0; k < g->nlives; k++) life(g, &g->lives[k], out);
    for (uint32_t k = 0; k < g->nrows; k++) row(g, k, out);
    for (uint32_t k = 0; k < g->nlives; k++) name(&g->lives[k], out);
    svg_end(out);
    return ferror(out) ? RVM_ERR_IO : RVM_OK;
}
