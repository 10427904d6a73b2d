/* graph_cut.c: few rows on a graph of any size: its order is cut as Knill's optimum cuts a chain of that length.
 *
 * An interval of the order goes from the set X of its steps that are in rows to the set Y in two parts: the first one makes
 * what the second one needs, the second one goes to its part of Y, the first one to its own. What turns in a part are the
 * steps in which X and Y differ there, and what they take that is not in a row. On a chain that is the optimum; elsewhere a
 * cut has more than one state to keep, so that fewer cuts fit: how many states a chain would have is a parameter.
 */
#include "pebbling.h"
#include "schedule.h"

typedef struct cutter {
    const rvm_schedule_graph *g;
    const rvm_schedule_options *o;
    const rvm_allocator *al;
    rvm_error *err;
    rvm__turns *out;
    const rvm__pebble_table *table;
    uint8_t *on;   /* by step: in a row */
    uint8_t *sets; /* a stack of sets of intervals, for the parts that are under way */
    uint32_t nsets, sets_cap;
    uint8_t *moves; /* by step: turns, in the second part at hand */
} cutter;

static rvm_status turn(cutter *h, uint32_t v) {
    if (h->out->n >= h->o->most_moves)
        return rvm__fail(h->err, RVM_ERR_LIMIT, NULL, 0, 0, "the list is longer than %llu moves, the limit",
                         (unsigned long long)h->o->most_moves);
    if (!rvm__grow(h->al, (void **)&h->out->node, &h->out->cap, h->out->n + 1, sizeof *h->out->node))
        return rvm__fail_memory(h->err);
    h->out->node[h->out->n++] = v;
    h->on[v] ^= 1;
    return rvm__tell_moves(h->o, h->out->n, 0, h->err);
}

/* What turns in [middle, hi) to reach goal, and into `first`, the set of [lo, middle), what of that part it takes. */
static bool mark(cutter *h, uint32_t lo, uint32_t middle, uint32_t hi, uint32_t goal, uint32_t first) {
    bool any = false;
    for (uint32_t v = middle; v < hi; v++) h->moves[v] = h->on[v] != h->sets[goal + v - lo];
    for (uint32_t v = hi; v-- > middle;) {
        if (!h->moves[v]) continue;
        any = true;
        const rvm__node *node = &h->g->nodes[v];
        for (uint32_t k = 0; k < node->n; k++) {
            const uint32_t u = h->g->sources[node->first + k];
            if (u >= middle)
                h->moves[u] |= !h->on[u];
            else if (u >= lo)
                h->sets[first + u - lo] = 1;
        }
    }
    return any;
}

/* The last of [lo, hi) that is to turn, or hi. */
static uint32_t last_to_turn(const cutter *h, uint32_t lo, uint32_t hi, uint32_t goal) {
    for (uint32_t v = hi; v-- > lo;)
        if (h->on[v] != h->sets[goal + v - lo]) return v;
    return hi;
}

/* goal: where the set of [lo, hi) begins in h->sets; s: states that a chain would have. Recursion is as deep as s, and as
 * cuts of one part after the other go. */
static rvm_status go(cutter *h, uint32_t lo, uint32_t hi, uint32_t s, uint32_t goal) {
    const uint32_t last = last_to_turn(h, lo, hi, goal), first = h->nsets;
    if (last == hi) return RVM_OK;
    if (hi - lo == 1) return turn(h, lo);
    const bool back = h->on[last];
    const uint32_t front = rvm__pebble_split(h->table, hi - lo, s), middle = lo + front;
    if (!rvm__grow(h->al, (void **)&h->sets, &h->sets_cap, first + front, 1)) return rvm__fail_memory(h->err);
    h->nsets += front;
    for (uint32_t v = lo; v < middle; v++) h->sets[first + v - lo] = h->on[v] | h->sets[goal + v - lo];
    if (mark(h, lo, middle, hi, goal, first)) {
        RVM__TRY(go(h, lo, middle, back ? s - 1 : s, first));
        RVM__TRY(go(h, middle, hi, s - 1, goal + front));
    }
    h->nsets = first;
    return go(h, lo, middle, back ? s : s - 1, goal);
}

rvm_status rvm__graph_cut(const rvm_schedule_graph *g, const rvm_schedule_options *o, const rvm_allocator *al,
                          const rvm__pebble_table *table, uint32_t s, rvm__turns *out, rvm_error *err) {
    cutter h = {.g = g, .o = o, .al = al, .err = err, .out = out, .table = table};
    rvm_status st = RVM_OK;
    out->n = 0;
    h.on = rvm__realloc(al, NULL, 0, (size_t)g->n * 2);
    if (!h.on || !rvm__grow(al, (void **)&h.sets, &h.sets_cap, g->n * 2, 1)) st = rvm__fail_memory(err);
    if (!st) {
        h.moves = h.on + g->n;
        h.nsets = g->n;
        for (uint32_t v = 0; v < g->n; v++) h.on[v] = 0, h.sets[v] = g->nodes[v].output;
        st = go(&h, 0, g->n, s, 0);
    }
    rvm__realloc(al, h.on, (size_t)g->n * 2, 0);
    rvm__realloc(al, h.sets, h.sets_cap, 0);
    return st;
}
