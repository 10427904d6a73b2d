/* callgraph.c: strongly connected components by Tarjan's algorithm, with its recursion as a list: chains of calls may be
 * longer than the C stack. */
#include "callgraph.h"
#include "support.h"

#include <string.h>

enum { NONE = UINT32_MAX };

typedef struct node { /* a function */
    uint32_t number;  /* in the order in which they are found, from 1 on; 0: not yet */
    uint32_t low;     /* the least number of what is open that it leads to */
    uint32_t caller;  /* from which it was found, or NONE */
    uint32_t below;   /* on the stack of those that are open: their component is not complete; or NONE */
    uint32_t pc, at;  /* the callee that comes next */
    bool open;
} node;

typedef struct search {
    const rvm_program *p;
    bool by_types;
    rvm__callgraph *g;
    node *nodes;
    uint32_t found, done, top;
} search;

static uint32_t enter(search *s, uint32_t fn, uint32_t caller) {
    ++s->found;
    s->nodes[fn] = (node){.number = s->found, .low = s->found, .caller = caller, .below = s->top, .open = true};
    return s->top = fn;
}

/* Function fn and what is on the stack above it. */
static void close_component(search *s, uint32_t fn) {
    const uint32_t component = s->done;
    const bool several = s->top != fn;
    for (uint32_t k = NONE; k != fn;) {
        k = s->top;
        s->top = s->nodes[k].below;
        s->nodes[k].open = false;
        s->g->component[k] = component;
        s->g->recursive[k] |= several;
        s->g->order[s->done++] = k;
    }
}

static bool next_callee(const search *s, uint32_t fn, uint32_t *callee) {
    const rvm_function *f = &s->p->functions[fn];
    node *v = &s->nodes[fn];
    for (; v->pc < f->ncode; v->pc++, v->at = 0) {
        const rvm_insn *in = &f->code[v->pc];
        while (rvm__is_call(in) && (s->by_types ? rvm__next_callee_types : rvm__next_callee)(s->p, in, &v->at, callee))
            if (*callee < s->p->nfunctions) return true;
    }
    return false;
}

static void visit(search *s, uint32_t root) {
    for (uint32_t fn = enter(s, root, NONE), callee; fn != NONE;) {
        node *v = &s->nodes[fn];
        if (!next_callee(s, fn, &callee)) {
            if (v->low == v->number) close_component(s, fn);
            fn = v->caller;
            if (fn != NONE) s->nodes[fn].low = (uint32_t)rvm__least(s->nodes[fn].low, v->low);
        } else if (!s->nodes[callee].number) {
            fn = enter(s, callee, fn);
        } else {
            if (s->nodes[callee].open) v->low = (uint32_t)rvm__least(v->low, s->nodes[callee].number);
            s->g->recursive[fn] |= callee == fn;
        }
    }
}

bool rvm__callgraph_make(const rvm_program *p, bool by_types, rvm__callgraph *g) {
    const uint32_t n = p->nfunctions;
    const size_t size = (n + 1u) * sizeof(node);
    rvm__callgraph_free(&p->al, g);
    search s = {.p = p, .by_types = by_types, .g = g, .nodes = rvm__realloc(&p->al, NULL, 0, size), .top = NONE};
    g->order = s.nodes ? rvm__realloc(&p->al, NULL, 0, rvm__callgraph_size(n)) : NULL;
    if (g->order) {
        g->n = n;
        g->component = g->order + n;
        g->recursive = (uint8_t *)(g->component + n);
        memset(g->recursive, 0, n);
        memset(s.nodes, 0, size);
        for (uint32_t k = 0; k < n; k++)
            if (!s.nodes[k].number) visit(&s, k);
    }
    if (s.nodes) rvm__realloc(&p->al, s.nodes, size, 0);
    return g->order != NULL;
}
