/* solver.c: see solver.h. */
#include "solver.h"

/* nodes[0], nodes[step] and so on; NULL: as numbered. */
static void settle(const uint32_t *nodes, int step, uint32_t n, rvm__visit *visit, void *userdata) {
    for (uint32_t k = 0, quiet = 0; quiet < n; k = k + 1 < n ? k + 1 : 0)
        quiet = visit(userdata, nodes ? nodes[step * (int64_t)k] : k) ? 0 : quiet + 1;
}

void rvm__solve(uint32_t n, rvm__visit *visit, void *userdata) {
    settle(NULL, 1, n, visit, userdata);
}

void rvm__solve_calls(const rvm__callgraph *g, enum rvm__flow flow, rvm__visit *visit, void *userdata) {
    for (uint32_t first = 0, n; first < g->n; first += n) {
        const uint32_t *at = g->order + (flow == RVM__CALLEES_FIRST ? first : g->n - 1 - first);
        for (n = 1; first + n < g->n && g->component[at[(int64_t)flow * n]] == g->component[*at]; n++) {}
        settle(at, flow, n, visit, userdata);
    }
}

void rvm__solve_both_ways(const rvm__callgraph *g, rvm__visit *visit, void *userdata) {
    for (bool grew = true, up = false; grew; up = !up) {
        grew = false;
        for (uint32_t k = 0; k < g->n; k++) grew |= visit(userdata, g->order[up ? k : g->n - 1 - k]);
    }
}

void rvm__solve_edges(uint32_t n, rvm__fact_edge *edges, uint32_t nedges, uint8_t *facts, uint32_t *scratch) {
    uint32_t *first = scratch, *below = scratch + n,
             top = UINT32_MAX; /* below: on the stack of what is to be spread; or 0 */
    for (uint32_t k = 0; k < nedges; k++) {
        edges[k].next = first[edges[k].from];
        first[edges[k].from] = k + 1;
    }
    for (uint32_t k = 0; k < n; k++)
        if (facts[k]) below[k] = top, top = k + 1;
    while (top != UINT32_MAX) {
        const uint32_t from = top - 1;
        top = below[from];
        below[from] = 0;
        for (uint32_t e = first[from]; e; e = edges[e - 1].next) {
            const uint32_t to = edges[e - 1].to;
            if (rvm__join8(&facts[to], facts[from]) && !below[to]) below[to] = top, top = to + 1;
        }
    }
}
