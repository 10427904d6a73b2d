/* solver.h: fixpoints: the one solver of all analyses. Not installed.
 *
 * Facts stand in the client's memory and form a lattice of finite height. The visit of a node, a function or an instruction,
 * joins what follows from the node into facts, its own or others', and says whether any grew. Nodes are visited in an order
 * along which facts flow, the strongly connected components of a graph one after the other, each in a ring until as many
 * visits in a row as it has nodes have made nothing grow: the least fixpoint, in any order.
 *
 * A lattice has no description of its own: bottom is zeroed memory and the join the union of bits, below, or of sets of
 * bits, in nearly all clients (fold.c and conflicts.c have chains of three), so that rows of functions would only stand
 * around what is one expression. What differs is the transfer, which is the visit; a client whose facts spread unchanged
 * has no visit either, but edges.
 */
#ifndef RVM_SOLVER_H
#define RVM_SOLVER_H

#include "callgraph.h"

typedef bool rvm__visit(void *userdata, uint32_t node);

/* Facts that are sets of bits. Whether *fact grew. */
static inline bool rvm__join8(uint8_t *fact, unsigned with) {
    const bool grows = with & ~(unsigned)*fact;
    *fact |= (uint8_t)with;
    return grows;
}
static inline bool rvm__join16(uint16_t *fact, unsigned with) {
    const bool grows = with & ~(unsigned)*fact;
    *fact |= (uint16_t)with;
    return grows;
}

/* Facts that are sets of bits, of nodes 0 to n - 1: each spreads along the edges from its node. Linear in the edges, for as
 * often as a fact can grow. scratch: 2 n, zeroed. */
typedef struct rvm__fact_edge {
    uint32_t from, to, next; /* next: the solver's */
} rvm__fact_edge;
void rvm__solve_edges(uint32_t n, rvm__fact_edge *edges, uint32_t nedges, uint8_t *facts, uint32_t *scratch);

/* Nodes 0 to n - 1, which may all depend on each other. */
void rvm__solve(uint32_t n, rvm__visit *visit, void *userdata);

/* Functions: facts flow from callees to callers, or from callers to callees; or both, then in passes each way. */
enum rvm__flow { RVM__CALLEES_FIRST = 1, RVM__CALLERS_FIRST = -1 };
void rvm__solve_calls(const rvm__callgraph *g, enum rvm__flow flow, rvm__visit *visit, void *userdata);
void rvm__solve_both_ways(const rvm__callgraph *g, rvm__visit *visit, void *userdata);

#endif
