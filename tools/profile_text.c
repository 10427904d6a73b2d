/* profile_text.c: a profile as text: totals by mode, functions, kinds of instructions, the source with counts beside it. */
#include "profiled.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = 20, NEAR = 2 }; /* NEAR: lines shown around one that has a count */

static double percent(uint64_t n, uint64_t all) {
    return all ? 100 * (double)n / (double)all : 0;
}

/* Modes that anything ran in. */
static int modes_of(const profiled *p, int modes[RVM_PROFILE_MODES]) {
    rvm_profile_counts total;
    int n = 0;
    rvm_profile_total(p->f, &total);
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        if (profile_of_mode(&total, mode)) modes[n++] = mode;
    return n;
}

static void print_switching(const profiled *p) {
    rvm_switching sum = {{0}, {0}}, s;
    for (uint32_t k = 0; rvm_profile_kind_switching(p->f, k, &s); k++) switching_add(&sum, &s);
    if (!p->t->o.activity) return;
    fprintf(p->out, "switched: of %llu bits written to registers %.3g, of %llu to memory %.3g\n",
            (unsigned long long)sum.bits[0], switched_share(&sum, 0), (unsigned long long)sum.bits[1],
            switched_share(&sum, 1));
}

static void print_total(const profiled *p, uint64_t all) {
    int modes[RVM_PROFILE_MODES];
    rvm_profile_counts total;
    rvm_profile_memory h;
    rvm_stats s;
    rvm_profile_total(p->f, &total);
    rvm_machine_stats(p->t->machine, &s);
    fprintf(p->out, "%s: %llu instructions", p->of, (unsigned long long)all);
    for (int k = 0, n = modes_of(p, modes); k < n; k++)
        fprintf(p->out, "%s %llu %s", k ? "," : ":", (unsigned long long)profile_of_mode(&total, modes[k]),
                rvm_profile_mode_name((rvm_profile_mode)modes[k]));
    rvm_profile_memory_peak(p->f, &h);
    fprintf(p->out, "\nmemory at most: states %llu bytes, trail %llu, stack %llu, shadows %llu",
            (unsigned long long)h.states, (unsigned long long)h.trail, (unsigned long long)h.stack,
            (unsigned long long)h.shadows);
    fputc('\n', p->out);
    output_erased(p->out, &s);
    print_switching(p);
}

/* ---- functions ---- */

typedef struct called {
    uint32_t fn;
    uint64_t own;
    rvm_profile_function is;
} called;

static int by_own(const void *a, const void *b) {
    const called *x = a, *y = b;
    if (x->own != y->own) return x->own < y->own ? 1 : -1;
    return (x->fn > y->fn) - (x->fn < y->fn);
}

static void print_functions(const profiled *p, uint64_t all) {
    const uint32_t n = rvm_program_function_count(p->t->program);
    called *list = calloc(n + 1, sizeof *list);
    uint32_t ran = 0;
    for (uint32_t fn = 0; list && fn < n; fn++) {
        called *c = &list[ran];
        c->fn = fn;
        rvm_profile_function_at(p->f, fn, &c->is);
        c->own = rvm_profile_sum(&c->is.own);
        ran += c->is.total > 0;
    }
    if (list) qsort(list, ran, sizeof *list, by_own);
    fputs("\n     own          instructions    with callees         calls  function\n", p->out);
    for (uint32_t k = 0; list && k < ran; k++)
        fprintf(p->out, "%7.2f %%  %18llu  %14llu  %12llu  %s\n", percent(list[k].own, all), (unsigned long long)list[k].own,
                (unsigned long long)list[k].is.total, (unsigned long long)list[k].is.calls,
                rvm_program_function_name(p->t->program, list[k].fn));
    free(list);
}

/* ---- kinds ---- */

static void print_kinds(const profiled *p, uint64_t all) {
    rvm_profile_kind_count k;
    uint64_t rest = 0, shown = 0;
    fputs("\n                instructions  mode      counter  type  places  kind\n", p->out);
    for (uint32_t i = 0; rvm_profile_kind(p->f, i, &k); i++) {
        if (i >= MOST_KINDS) {
            rest += k.count, shown++;
            continue;
        }
        fprintf(p->out, "%7.2f %%  %18llu  %-8s  %-7s  %-4s  %-6s  %s%s%s%s%s\n", percent(k.count, all),
                (unsigned long long)k.count, rvm_profile_mode_name(k.mode), k.direction > 0 ? "up" : "down",
                rvm_type_name(k.type), k.places, k.mnemonic, k.row ? "." : "", k.row ? k.row : "",
                k.operands != k.type ? " of " : "", k.operands != k.type ? rvm_type_name(k.operands) : "");
    }
    if (shown)
        fprintf(p->out, "%7.2f %%  %18llu  of %llu more kinds: --format csv has them\n", percent(rest, all),
                (unsigned long long)rest, (unsigned long long)shown);
}

/* ---- the source ---- */

typedef struct page { /* of one file: its counted lines are [from, to) of the profile's */
    const profiled *p;
    const char *file, *text;
    uint32_t from, to;
    int modes[RVM_PROFILE_MODES], nmodes;
    uint64_t all;
} page;

static void print_counts(const page *g, const rvm_profile_counts *c) {
    const uint64_t n = rvm_profile_sum(c);
    if (n)
        fprintf(g->p->out, "%7.2f %%", percent(n, g->all));
    else
        fprintf(g->p->out, "%9s", "");
    for (int k = 0; k < g->nmodes; k++) {
        const uint64_t of = profile_of_mode(c, g->modes[k]);
        if (of)
            fprintf(g->p->out, "  %12llu", (unsigned long long)of);
        else
            fprintf(g->p->out, "  %12s", n ? "." : "");
    }
}

static void print_line(const page *g, uint32_t number, const char *text, const rvm_profile_counts *c) {
    print_counts(g, c);
    fprintf(g->p->out, "  %5u | %.*s\n", number, text ? (int)strcspn(text, "\r\n") : 0, text ? text : "");
}

/* Line `number` is shown: one with a count is near. *k: the first counted line that is not far above. */
static bool is_near(const page *g, uint32_t number, uint32_t *k) {
    rvm_profile_line line = {0};
    while (*k < g->to && rvm_profile_line_at(g->p->f, *k, &line) && line.line + NEAR < number) ++*k;
    return *k < g->to && line.line <= number + NEAR;
}

static rvm_profile_counts counts_at(const page *g, uint32_t number) {
    rvm_profile_line line;
    for (uint32_t k = g->from; k < g->to; k++)
        if (rvm_profile_line_at(g->p->f, k, &line) && line.line == number) return line.own;
    return (rvm_profile_counts){0};
}

static void print_text(const page *g) {
    bool gap = false, any = false;
    uint32_t number = 1, k = g->from;
    for (const char *s = g->text; *s; number++) {
        const size_t length = strcspn(s, "\n");
        if (is_near(g, number, &k)) {
            const rvm_profile_counts c = counts_at(g, number);
            if (gap && any) fprintf(g->p->out, "%*s ...\n", 9 + 14 * g->nmodes + 6, "");
            print_line(g, number, s, &c);
            gap = false, any = true;
        } else
            gap = true;
        s += length + (s[length] == '\n');
    }
}

static void print_numbers(const page *g) {
    rvm_profile_line line;
    for (uint32_t k = g->from; k < g->to; k++)
        if (rvm_profile_line_at(g->p->f, k, &line)) print_line(g, line.line, NULL, &line.own);
}

static void print_page(page *g) {
    char *text = NULL;
    size_t size;
    fprintf(g->p->out, "\n%9s", "");
    for (int k = 0; k < g->nmodes; k++) fprintf(g->p->out, "  %12s", rvm_profile_mode_name((rvm_profile_mode)g->modes[k]));
    fprintf(g->p->out, "   line | %s\n", g->file ? g->file : "(no source)");
    report_source(g->p->t, g->file, &text, &size);
    g->text = text;
    if (text)
        print_text(g);
    else
        print_numbers(g);
    free(text);
}

static bool same(const char *a, const char *b) {
    return a && b ? !strcmp(a, b) : a == b;
}

void profile_text(const profiled *p) {
    rvm_profile_counts total;
    rvm_profile_line line, next;
    rvm_profile_total(p->f, &total);
    page g = {.p = p, .all = rvm_profile_sum(&total)};
    g.nmodes = modes_of(p, g.modes);
    print_total(p, g.all);
    print_functions(p, g.all);
    print_kinds(p, g.all);
    for (uint32_t k = 0; rvm_profile_line_at(p->f, k, &line); k = g.to) {
        g.from = k;
        g.to = k + 1;
        g.file = line.file;
        while (rvm_profile_line_at(p->f, g.to, &next) && same(next.file, line.file)) g.to++;
        print_page(&g);
    }
}
