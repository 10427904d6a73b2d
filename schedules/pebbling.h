/* pebbling.h: a graph of steps, and pebblings of it as sequences of steps: each turns between in a row and not. Not
 * installed.
 */
#ifndef RVM__SCHEDULE_PEBBLING_H
#define RVM__SCHEDULE_PEBBLING_H

#include "schedule.h"

typedef struct rvm__node {
    const char *name;
    uint32_t line;
    uint32_t first, n; /* of its sources */
    bool output;
} rvm__node;

/* Nodes in an order in which each comes behind its sources, and near those that it is taken with. */
struct rvm_schedule_graph {
    const rvm_allocator *al;
    char *text; /* names point into it */
    size_t text_size;
    rvm__node *nodes;
    uint32_t n, cap;
    uint32_t *sources;
    uint32_t nsources, sources_cap;
};

/* Steps in the order in which they turn. */
typedef struct rvm__turns {
    uint32_t *node;
    uint32_t n, cap;
} rvm__turns;

/* ---- graph_search.c: of RVM_SCHEDULE_SEARCHED nodes at most ---- */
/* The fewest turns with so many in rows at a time; *found false: there are none. */
rvm_status rvm__graph_search(const rvm_schedule_graph *g, const rvm_schedule_options *o, const rvm_allocator *al,
                             uint32_t most, rvm__turns *out, bool *found, rvm_error *err);
/* ---- graph_cut.c: of any ---- */
/* Turns by the cuts of a chain of that length with s states, by the table. */
rvm_status rvm__graph_cut(const rvm_schedule_graph *g, const rvm_schedule_options *o, const rvm_allocator *al,
                          const rvm__pebble_table *table, uint32_t s, rvm__turns *out, rvm_error *err);
/* ---- graph_shorten.c ---- */
/* Takes out turns, in place: what nothing needs, and, where there is room for it among `most`, what is taken back and made
 * again. most 0: only the former. *rows: in rows at a time. */
rvm_status rvm__graph_shorten(const rvm_schedule_graph *g, const rvm_allocator *al, uint64_t most, rvm__turns *t,
                              uint32_t *rows, rvm_error *err);

#endif
