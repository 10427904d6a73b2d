/* graph.c: the picture of every function of the programs given (tools/graph.h): its dots and boxes are the roles of the
 * operands, as the analyses see them (isa/analysis/accesses.h), each life ends where it should, and the SVG nests. */
#include "accesses.h"
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static unsigned long failures, marks;

#define CHECK(cond, g, ...)                                                                                                 \
    do {                                                                                                                    \
        if (!(cond)) {                                                                                                      \
            failures++;                                                                                                     \
            printf("%s: ", rvm_program_function_name((g)->p, (g)->fn)), printf(__VA_ARGS__), putchar('\n');                 \
        }                                                                                                                   \
    } while (0)

/* By column of a row: 1 a dot, 2 a box. */
static void expect(const graph *g, uint32_t pc, uint8_t *want) {
    const rvm_function *f = &g->p->functions[g->fn];
    RVM__EACH_ACCESS(a, g->p, f, &f->code[pc]) {
        for (uint32_t d = 0; d < rvm__nindices(a.q); d++)
            if (a.q->idx[d] < f->nregs) want[g->column[a.q->idx[d]]] |= 1;
        if (!a.reg && !a.array) continue;
        want[g->column[a.q->slot + (a.array ? f->nregs : 0)]] |= a.bits & ~(unsigned)RVM__BITS_READ ? 2 : 1;
    }
}

static void check_rows(const graph *g) {
    uint8_t *want = calloc(g->ncolumns + 1, 1), *got = calloc(g->ncolumns + 1, 1);
    for (uint32_t k = 0; k < g->nrows; k++) {
        const graph_row *r = &g->rows[k];
        if (r->undone != UINT32_MAX) continue;
        memset(want, 0, g->ncolumns), memset(got, 0, g->ncolumns);
        expect(g, r->pc, want);
        for (uint32_t j = r->marks; j < r->marks + r->nmarks; j++, marks++)
            got[g->marks[j].column] = g->marks[j].box ? 2 : 1;
        for (uint32_t c = 0; c < g->ncolumns; c++)
            CHECK((want[c] & 2 ? 2 : want[c]) == got[c], g, "instruction %u (%s), column %u: %d for %d", r->pc, r->label, c,
                  got[c], want[c]);
    }
    free(want), free(got);
}

/* Each mark stands on a life. */
static void check_lives(const graph *g) {
    for (uint32_t k = 0; k < g->nrows; k++)
        for (uint32_t j = g->rows[k].marks; j < g->rows[k].marks + g->rows[k].nmarks; j++) {
            bool there = false;
            for (uint32_t i = 0; i < g->nlives; i++)
                there |= g->lives[i].column == g->marks[j].column && g->lives[i].from <= k && k <= g->lives[i].to;
            CHECK(there, g, "row %u (%s): nothing is there in column %u", k, g->rows[k].label, g->marks[j].column);
        }
}

static unsigned long count(const char *text, const char *what) {
    unsigned long n = 0;
    for (; (text = strstr(text, what)); text++) n++;
    return n;
}

/* Tags nest, and text has no bare < or &. */
static bool nests(const char *text) {
    char stack[16][16];
    int depth = 0;
    while ((text = strpbrk(text, "<&"))) {
        if (*text == '&') {
            const size_t name = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz");
            if (!name || text[name + 1] != ';') return false;
            text++;
            continue;
        }
        const char *end = strchr(text, '>');
        if (!end || depth == 16) return false;
        const bool closes = text[1] == '/', empty = end[-1] == '/';
        const size_t n = strcspn(text + 1 + closes, " >/");
        if (n >= sizeof *stack) return false;
        if (closes && (!depth-- || strncmp(stack[depth], text + 2, n) || stack[depth][n])) return false;
        if (!closes && !empty) snprintf(stack[depth++], sizeof *stack, "%.*s", (int)n, text + 1);
        text = end;
    }
    return !depth;
}

static void check_picture(const graph *g) {
    char *text = NULL;
    size_t size;
    unsigned long boxes = 0;
    FILE *out = open_memstream(&text, &size);
    graph_svg(g, out);
    fclose(out);
    for (uint32_t k = 0; k < g->nmarks; k++) boxes += g->marks[k].box;
    CHECK(count(text, "<rect class=\"box\"") == boxes && count(text, "<circle class=\"dot\"") == g->nmarks - boxes, g,
          "the picture has other dots or boxes");
    CHECK(nests(text), g, "the SVG does not nest");
    free(text);
}

static void check_function(tool *t, uint32_t fn) {
    for (int statements = 0; statements < 2; statements++) {
        graph g;
        CHECK(!graph_make(t, fn, statements, &g), &g, "no graph");
        if (!statements) check_rows(&g);
        check_lives(&g);
        check_picture(&g);
        graph_free(&g);
    }
}

int main(int argc, char **argv) {
    unsigned programs = 0;
    for (int k = 1; k < argc; k++) {
        tool t = {.program = NULL};
        rvm_error e;
        if (rvm_open(argv[k], NULL, &t.program, &e, NULL, NULL)) continue; /* cases of errors */
        programs++;
        for (uint32_t fn = 0; fn < rvm_program_function_count(t.program); fn++) check_function(&t, fn);
        rvm_program_free(t.program);
    }
    printf("%u programs, %lu marks, %lu failures\n", programs, marks, failures);
    return failures || !marks;
}
