/* graph_dot.c: the data-flow graph: a node for each operation, an edge from what made a value to what uses it, in
 * the order of the text, each loop once. */
#include "graph.h"

#include <stdlib.h>

static void quoted(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* By column the row that changed it last, or UINT32_MAX: as it came. */
static void edges(const graph *g, uint32_t k, const uint32_t *changed, const char *const *names, FILE *out) {
    const graph_row *r = &g->rows[k];
    for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++) {
        const uint32_t c = g->marks[j].column;
        if (changed[c] == k) continue; /* it appears here */
        if (changed[c] != UINT32_MAX)
            fprintf(out, "  r%u -> r%u [label=", changed[c], k);
        else
            fprintf(out, "  c%u -> r%u [label=", c, k);
        quoted(out, names[c] ? names[c] : "");
        fputs("];\n", out);
    }
}

static void write_rows(const graph *g, uint32_t *changed, const char **names, FILE *out) {
    for (uint32_t c = 0; c < g->ncolumns; c++) changed[c] = UINT32_MAX;
    for (uint32_t k = 0, life = 0; k < g->nrows; k++) {
        for (; life < g->nlives && g->lives[life].from <= k; life++) {
            const graph_life *l = &g->lives[life];
            names[l->column] = l->name;
            if (l->param) fprintf(out, "  c%u [shape=ellipse, label=", l->column), quoted(out, l->name), fputs("];\n", out);
            if (!l->param) changed[l->column] = k;
        }
        fprintf(out, "  r%u [label=", k);
        quoted(out, g->rows[k].label);
        fputs("];\n", out);
        edges(g, k, changed, names, out);
        for (uint32_t j = g->rows[k].marks; j < g->rows[k].marks + g->rows[k].nmarks; j++)
            if (g->marks[j].box) changed[g->marks[j].column] = k;
    }
}

rvm_status graph_dot(const graph *g, FILE *out) {
    uint32_t *changed = malloc((g->ncolumns + 1) * sizeof *changed);
    const char **names = calloc(g->ncolumns + 1, sizeof *names);
    if (changed && names) {
        fputs("digraph ", out);
        quoted(out, rvm_program_function_name(g->p, g->fn));
        fputs(" {\n  node [shape=box, fontname=monospace];\n", out);
        write_rows(g, changed, names, out);
        fputs("}\n", out);
    }
    const bool whole = changed && names;
    free(changed), free(names);
    return !whole ? RVM_ERR_MEMORY : ferror(out) ? RVM_ERR_IO : RVM_OK;
}
