/* graph.c: graphs of steps from text. Names are found by binary search among the sorted; steps get the order in which a
 * depth first search from the outputs leaves them, so that what is taken together stands together. */
#include "pebbling.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* A line while the text is read. */
typedef struct step {
    char *name, *sources; /* what stands before and behind the colon */
    uint32_t line, node;  /* node: RVM_NONE before it has a number */
    bool output, open;
} step;

enum { NONE = UINT32_MAX };

typedef struct reader {
    rvm_schedule_graph *g;
    const char *file;
    step *steps;
    uint32_t n, cap;
    char *outputs; /* the line `out:`, and where it stands */
    uint32_t outputs_line;
    rvm_error *err;
} reader;

static const char blanks[] = " \t\r";

static rvm_status wrong(const reader *r, rvm_status code, uint32_t line, const char *text, const char *name) {
    return rvm__fail(r->err, code, r->file, line, line > 0, text, name);
}

/* The next word at *at, ended by 0; NULL: none. */
static char *word(char **at) {
    char *begin = *at + strspn(*at, blanks);
    const size_t length = strcspn(begin, blanks);
    if (!length) return NULL;
    *at = begin + length;
    if (**at) *(*at)++ = 0;
    return begin;
}

static rvm_status read_line(reader *r, char *text, uint32_t line) {
    text[strcspn(text, "#")] = 0;
    if (!text[strspn(text, blanks)]) return RVM_OK;
    char *colon = strchr(text, ':');
    if (!colon) return wrong(r, RVM_ERR_SYNTAX, line, "a line is `step: what it takes`, not `%.80s`", text);
    *colon = 0;
    char *name = word(&text);
    if (!name || word(&text) || strchr(colon + 1, ':'))
        return wrong(r, RVM_ERR_SYNTAX, line, "a line names one step before one colon%s", "");
    if (strcmp(name, "out") == 0) {
        if (r->outputs) return wrong(r, RVM_ERR_NAME, line, "`%s` stands a second time", name);
        r->outputs = colon + 1;
        r->outputs_line = line;
        return RVM_OK;
    }
    if (!rvm__grow(r->g->al, (void **)&r->steps, &r->cap, r->n + 1, sizeof *r->steps)) return rvm__fail_memory(r->err);
    r->steps[r->n++] = (step){.name = name, .sources = colon + 1, .line = line, .node = NONE};
    return RVM_OK;
}

static rvm_status read_lines(reader *r) {
    uint32_t line = 1;
    for (char *at = r->g->text, *end; at; at = end, line++) {
        end = strchr(at, '\n');
        if (end) *end++ = 0;
        RVM__TRY(read_line(r, at, line));
    }
    return r->n ? RVM_OK : wrong(r, RVM_ERR_SYNTAX, 0, "there is no step%s", "");
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const step *)a)->name, ((const step *)b)->name);
}

static step *find(const reader *r, const char *name) {
    const step wanted = {.name = (char *)(uintptr_t)name};
    return bsearch(&wanted, r->steps, r->n, sizeof *r->steps, by_name);
}

static rvm_status sort_steps(reader *r) {
    qsort(r->steps, r->n, sizeof *r->steps, by_name);
    for (uint32_t k = 1; k < r->n; k++) {
        const uint32_t line = r->steps[k].line > r->steps[k - 1].line ? r->steps[k].line : r->steps[k - 1].line;
        if (by_name(&r->steps[k - 1], &r->steps[k]) == 0)
            return wrong(r, RVM_ERR_NAME, line, "step `%.80s` stands a second time", r->steps[k].name);
    }
    return RVM_OK;
}

/* One step on the way of the depth first search: its sources are steps, by their place among the sorted. */
typedef struct visit {
    uint32_t step, next;
} visit;

typedef struct walk {
    reader *r;
    uint32_t *first; /* of each step, in sources; r->n + 1 */
    uint32_t *sources, nsources, cap;
    visit *path;
    uint32_t depth, path_cap;
} walk;

static bool among(const uint32_t *list, uint32_t n, uint32_t x) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == x) return true;
    return false;
}

static rvm_status resolve(walk *w) {
    reader *r = w->r;
    for (uint32_t k = 0; k < r->n; k++) {
        char *at = r->steps[k].sources, *name;
        w->first[k] = w->nsources;
        while ((name = word(&at))) {
            const step *s = find(r, name);
            if (!s || among(w->sources + w->first[k], w->nsources - w->first[k], (uint32_t)(s - r->steps))) continue;
            if (!rvm__grow(r->g->al, (void **)&w->sources, &w->cap, w->nsources + 1, sizeof *w->sources))
                return rvm__fail_memory(r->err);
            w->sources[w->nsources++] = (uint32_t)(s - r->steps);
        }
    }
    w->first[r->n] = w->nsources;
    return RVM_OK;
}

/* Outputs as named, else what nothing takes. */
static rvm_status mark_outputs(walk *w) {
    reader *r = w->r;
    char *name;
    if (!r->outputs) {
        for (uint32_t k = 0; k < r->n; k++) r->steps[k].output = true;
        for (uint32_t k = 0; k < w->nsources; k++) r->steps[w->sources[k]].output = false;
        return RVM_OK;
    }
    bool any = false;
    for (; (name = word(&r->outputs)); any = true) {
        step *s = find(r, name);
        if (!s) return wrong(r, RVM_ERR_NAME, r->outputs_line, "output `%.80s` is no step", name);
        s->output = true;
    }
    return any ? RVM_OK : wrong(r, RVM_ERR_SYNTAX, r->outputs_line, "`out:` names no step%s", "");
}

static rvm_status leave(walk *w, uint32_t k) {
    reader *r = w->r;
    rvm_schedule_graph *g = r->g;
    const uint32_t n = w->first[k + 1] - w->first[k];
    if (!rvm__grow(g->al, (void **)&g->nodes, &g->cap, g->n + 1, sizeof *g->nodes) ||
        !rvm__grow(g->al, (void **)&g->sources, &g->sources_cap, g->nsources + n, sizeof *g->sources))
        return rvm__fail_memory(r->err);
    g->nodes[g->n] = (rvm__node){r->steps[k].name, r->steps[k].line, g->nsources, n, r->steps[k].output};
    for (uint32_t i = 0; i < n; i++) g->sources[g->nsources++] = r->steps[w->sources[w->first[k] + i]].node;
    r->steps[k].node = g->n++;
    r->steps[k].open = false;
    return RVM_OK;
}

static rvm_status enter(walk *w, uint32_t k) {
    step *s = &w->r->steps[k];
    if (s->node != NONE) return RVM_OK;
    if (s->open) return wrong(w->r, RVM_ERR_CHECK, s->line, "step `%.80s` takes itself, by way of others", s->name);
    if (!rvm__grow(w->r->g->al, (void **)&w->path, &w->path_cap, w->depth + 1, sizeof *w->path))
        return rvm__fail_memory(w->r->err);
    s->open = true;
    w->path[w->depth++] = (visit){k, w->first[k]};
    return RVM_OK;
}

static rvm_status search_from(walk *w, uint32_t k) {
    RVM__TRY(enter(w, k));
    while (w->depth) {
        visit *v = &w->path[w->depth - 1];
        if (v->next < w->first[v->step + 1]) {
            RVM__TRY(enter(w, w->sources[v->next++]));
            continue;
        }
        RVM__TRY(leave(w, v->step));
        w->depth--;
    }
    return RVM_OK;
}

static int by_line(const void *a, const void *b) {
    const step *const *s = a, *const *t = b;
    return ((*s)->line > (*t)->line) - ((*s)->line < (*t)->line);
}

/* From the outputs in the order of their lines; then what none of them needs. */
static rvm_status order(walk *w) {
    reader *r = w->r;
    const size_t size = r->n * sizeof(step *);
    step **lines = rvm__realloc(r->g->al, NULL, 0, size);
    if (!lines) return rvm__fail_memory(r->err);
    rvm_status st = RVM_OK;
    for (uint32_t k = 0; k < r->n; k++) lines[k] = &r->steps[k];
    qsort(lines, r->n, sizeof *lines, by_line);
    for (int output = 1; output >= 0; output--)
        for (uint32_t k = 0; k < r->n && !st; k++)
            if (lines[k]->output == output) st = search_from(w, (uint32_t)(lines[k] - r->steps));
    rvm__realloc(r->g->al, lines, size, 0);
    return st;
}

static rvm_status link_steps(reader *r) {
    const rvm_allocator *al = r->g->al;
    walk w = {.r = r};
    const size_t size = ((size_t)r->n + 1) * sizeof *w.first;
    w.first = rvm__realloc(al, NULL, 0, size);
    rvm_status st = w.first ? resolve(&w) : rvm__fail_memory(r->err);
    if (!st) st = mark_outputs(&w);
    if (!st) st = order(&w);
    rvm__realloc(al, w.first, size, 0);
    rvm__realloc(al, w.sources, (size_t)w.cap * sizeof *w.sources, 0);
    rvm__realloc(al, w.path, (size_t)w.path_cap * sizeof *w.path, 0);
    return st;
}

rvm_status rvm_schedule_graph_parse(const char *text, size_t size, const char *name, const rvm_allocator *al,
                                    rvm_schedule_graph **out, rvm_error *err) {
    RVM__NEEDS(text, out);
    *out = NULL;
    if (!al) al = &rvm__libc_allocator;
    rvm_schedule_graph *g = rvm__realloc(al, NULL, 0, sizeof *g);
    if (!g) return rvm__fail_memory(err);
    *g = (rvm_schedule_graph){.al = al, .text_size = size + 1};
    reader r = {.g = g, .file = name, .err = err};
    g->text = rvm__realloc(al, NULL, 0, g->text_size);
    rvm_status st = g->text ? RVM_OK : rvm__fail_memory(err);
    if (!st) {
        memcpy(g->text, text, size);
        g->text[size] = 0;
        st = memchr(text, 0, size) ? wrong(&r, RVM_ERR_SYNTAX, 0, "a byte 0 is no text%s", "") : read_lines(&r);
    }
    if (!st) st = sort_steps(&r);
    if (!st) st = link_steps(&r);
    rvm__realloc(al, r.steps, (size_t)r.cap * sizeof *r.steps, 0);
    if (!st) {
        *out = g;
        return RVM_OK;
    }
    rvm_schedule_graph_free(g);
    return st;
}

void rvm_schedule_graph_free(rvm_schedule_graph *g) {
    if (!g) return;
    rvm__realloc(g->al, g->text, g->text_size, 0);
    rvm__realloc(g->al, g->nodes, (size_t)g->cap * sizeof *g->nodes, 0);
    rvm__realloc(g->al, g->sources, (size_t)g->sources_cap * sizeof *g->sources, 0);
    rvm__realloc(g->al, g, sizeof *g, 0);
}

uint32_t rvm_schedule_graph_size(const rvm_schedule_graph *g) {
    return g ? g->n : 0;
}

const char *rvm_schedule_graph_name(const rvm_schedule_graph *g, uint32_t k, bool *output) {
    const bool there = g && k < g->n;
    if (output) *output = there && g->nodes[k].output;
    return there ? g->nodes[k].name : NULL;
}

const uint32_t *rvm_schedule_graph_sources(const rvm_schedule_graph *g, uint32_t k, uint32_t *n) {
    const bool there = g && k < g->n;
    if (n) *n = there ? g->nodes[k].n : 0;
    return there ? g->sources + g->nodes[k].first : NULL;
}
