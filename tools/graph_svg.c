/* graph_svg.c: the picture. Columns go down, rows across; colours of Okabe and Ito, with others where the reader's scheme is
 * dark. */
#include "graph.h"

#include <string.h>

enum { LABELS = 300, PITCH = 58, ROW = 24, TOP = 48, LEFT = 16, LETTER = 7 };

static const char style[] =
    "<style>\n"
    ".paper{fill:#fff}svg{font:11px ui-monospace,Menlo,Consolas,monospace}\n"
    "text{fill:#222}.line,.at{fill:#777}.name{text-anchor:middle;font-weight:bold}.in{text-anchor:middle}"
    ".value{fill:#0072b2;font-size:9px}\n"
    ".life,.wire{stroke:#555;stroke-width:1;fill:none}.array{stroke:#555;stroke-width:3}.inside{stroke:#fff;stroke-width:1}"
    "\n"
    ".wire{stroke:#222}.dot{fill:#222}.box{fill:#fff3d6;stroke:#222}.loop{fill:#0072b2;fill-opacity:.1}\n"
    ".parallel{fill:#009e73;fill-opacity:.14}.branch{fill:#e69f00;fill-opacity:.08}\n"
    ".compute{fill:none;stroke:#cc79a7;stroke-width:1.5;stroke-dasharray:5 3}.part{fill:#b0558a;font-weight:bold}\n"
    "@media "
    "(prefers-color-scheme:dark){.paper{fill:#16181d}text{fill:#e6e6e6}.line,.at{fill:#9a9a9a}.value{fill:#56b4e9}\n"
    ".life,.array{stroke:#aaa}.inside{stroke:#16181d}.wire{stroke:#e6e6e6}.dot{fill:#e6e6e6}.box{fill:#3a3320;stroke:#"
    "e6e6e6}\n"
    ".loop{fill:#56b4e9;fill-opacity:.16}.part{fill:#e6a3cb}}\n"
    "</style>\n";

static void escape(FILE *out, const char *text, int most) {
    for (int n = 0; *text && n < most; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80) n++; /* not within a character of UTF-8 */
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    }
}

static int x_of(uint32_t column) {
    return LEFT + LABELS + (int)column * PITCH + PITCH / 2;
}
static int y_of(uint32_t row) {
    return TOP + (int)row * ROW + ROW / 2;
}

static void region(const graph *g, const graph_region *r, FILE *out) {
    static const char *const kinds[] = {"loop", "parallel", "branch", "compute"};
    if (r->low > r->high || r->from >= g->nrows || r->to < r->from || r->to == UINT32_MAX) return;
    const int inset = 2 * (int)(r->depth < 8 ? r->depth : 8);
    const int x = x_of(r->low) - PITCH / 2 + inset, y = y_of(r->from) - ROW / 2 + 1;
    fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>\n", kinds[r->kind], x, y,
            (int)(r->high - r->low + 1) * PITCH - 2 * inset, (int)(r->to - r->from + 1) * ROW - 2);
    if (r->kind != GRAPH_COMPUTE) return;
    fprintf(out, "<text class=\"part\" x=\"%d\" y=\"%d\">X%u</text>\n", x + 3, y + 10, r->number);
    if (r->undone == UINT32_MAX) return;
    const int again = y_of(r->undone) - ROW / 2 + 1;
    fprintf(out, "<rect class=\"compute\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>\n", x, again,
            (int)(r->high - r->low + 1) * PITCH - 2 * inset, ROW - 2);
    fprintf(out, "<text class=\"part\" x=\"%d\" y=\"%d\">~X%u</text>\n", x + 3, again + 10, r->number);
}

static void life(const graph *g, const graph_life *l, FILE *out) {
    const int x = x_of(l->column), from = l->param ? TOP - 8 : y_of(l->from),
              to = l->to < g->nrows ? y_of(l->to) : y_of(g->nrows);
    if (l->array) fprintf(out, "<path class=\"array\" d=\"M%d %dV%d\"/>\n", x, from, to);
    fprintf(out, "<path class=\"%s\" d=\"M%d %dV%d\"/>\n", l->array ? "inside" : "life", x, from, to);
}

static void name(const graph_life *l, FILE *out) {
    const int y = l->param ? TOP - 14 : y_of(l->from) - ROW / 2;
    fprintf(out, "<text class=\"name\" x=\"%d\" y=\"%d\"><title>", x_of(l->column), y);
    escape(out, l->name, 100);
    fputs("</title>", out);
    escape(out, l->name, 9);
    fputs("</text>\n", out);
}

static int width_of(const graph_mark *m) {
    const int wide = (int)strlen(m->text) * LETTER + 6;
    return wide < 16 ? 16 : wide > PITCH - 4 ? PITCH - 4 : wide;
}

static void mark(const graph_mark *m, int y, FILE *out) {
    const int x = x_of(m->column), w = width_of(m);
    if (!m->box) {
        fprintf(out, "<circle class=\"dot\" cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", x, y);
        return;
    }
    fprintf(out, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">", x - w / 2, y - 8, w, 16);
    if (*m->place) fputs("<title>", out), escape(out, m->place, 100), fputs("</title>", out);
    fputs("</rect>\n", out);
    if (*m->text) {
        fprintf(out, "<text class=\"in\" x=\"%d\" y=\"%d\">", x, y + 4);
        escape(out, m->text, (w - 2) / (LETTER - 1));
        fputs("</text>\n", out);
    }
    if (*m->value) {
        fprintf(out, "<text class=\"value\" x=\"%d\" y=\"%d\">", x + w / 2 + 2, y - 2);
        escape(out, m->value, 23);
        fputs("</text>\n", out);
    }
}

static void row(const graph *g, uint32_t k, FILE *out) {
    const graph_row *r = &g->rows[k];
    const int y = y_of(k);
    uint32_t low = UINT32_MAX, high = 0;
    if (r->line) fprintf(out, "<text class=\"line\" x=\"%d\" y=\"%d\">%u</text>\n", LEFT, y + 4, r->line);
    fprintf(out, "<text x=\"%d\" y=\"%d\"><title>", LEFT + 36, y + 4);
    escape(out, r->label, 1000);
    fputs("</title>", out);
    escape(out, r->label, (LABELS - 44) / LETTER);
    fputs("</text>\n", out);
    for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++) {
        const uint32_t at = g->marks[j].column;
        if (at < low) low = at;
        if (at > high) high = at;
    }
    if (low < high) fprintf(out, "<path class=\"wire\" d=\"M%d %dH%d\"/>\n", x_of(low), y, x_of(high));
    for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++) mark(&g->marks[j], y, out);
}

rvm_status graph_svg(const graph *g, FILE *out) {
    const int width = LEFT + LABELS + (int)g->ncolumns * PITCH + LEFT, height = y_of(g->nrows) + ROW;
    const char *title = rvm_program_function_name(g->p, g->fn);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
            width, height, width, height);
    escape(out, title, 200);
    fprintf(out, "</title>\n%s<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", style, width, height);
    for (uint32_t k = 0; k < g->nregions; k++) region(g, &g->regions[k], out);
    for (uint32_t k = 0; k < g->nlives; k++) life(g, &g->lives[k], out);
    for (uint32_t k = 0; k < g->nrows; k++) row(g, k, out);
    for (uint32_t k = 0; k < g->nlives; k++) name(&g->lives[k], out);
    fputs("</svg>\n", out);
    return ferror(out) ? RVM_ERR_IO : RVM_OK;
}
