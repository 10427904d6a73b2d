/* graph_search.c: the fewest moves on a small graph, by breadth first search over the sets of steps that are in rows. A set
 * is a word of bits; a byte of each says which step turned last on the shortest way to it. */
#include "pebbling.h"
#include "schedule.h"

typedef struct search {
    const rvm_schedule_options *o;
    const rvm_allocator *al;
    rvm_error *err;
    uint32_t n, most, goal;
    uint32_t needs[RVM_SCHEDULE_SEARCHED]; /* sets of sources */
    uint8_t *last;                         /* by set: 1 + the step that turned, 0: not reached */
    uint32_t *queue;
    uint32_t tail, cap;
} search;

enum { START = UINT8_MAX };

static bool reach(search *s, uint32_t set, uint8_t by) {
    if (s->last[set]) return true;
    if (!rvm__grow(s->al, (void **)&s->queue, &s->cap, s->tail + 1, sizeof *s->queue)) return false;
    s->last[set] = by;
    s->queue[s->tail++] = set;
    return true;
}

static bool turn_all(search *s, uint32_t set) {
    const bool full = (uint32_t)__builtin_popcount(set) >= s->most;
    for (uint32_t v = 0; v < s->n; v++) {
        const uint32_t bit = UINT32_C(1) << v;
        if ((s->needs[v] & ~set) || (full && !(set & bit))) continue;
        if (!reach(s, set ^ bit, (uint8_t)(v + 1))) return false;
    }
    return true;
}

static rvm_status run(search *s) {
    if (!reach(s, 0, START)) return rvm__fail_memory(s->err);
    for (uint32_t head = 0; head < s->tail && !s->last[s->goal]; head++) {
        if (!turn_all(s, s->queue[head])) return rvm__fail_memory(s->err);
        RVM__TRY(rvm__tell_moves(s->o, head + 1, UINT64_C(1) << s->n, s->err));
    }
    return RVM_OK;
}

static rvm_status trace(search *s, rvm__turns *out) {
    uint32_t n = 0;
    for (uint32_t set = s->goal; set; set ^= UINT32_C(1) << (s->last[set] - 1)) n++;
    if (!rvm__grow(s->al, (void **)&out->node, &out->cap, n + 1, sizeof *out->node)) return rvm__fail_memory(s->err);
    out->n = n;
    for (uint32_t set = s->goal; n--; set ^= UINT32_C(1) << out->node[n]) out->node[n] = (uint32_t)s->last[set] - 1;
    return RVM_OK;
}

rvm_status rvm__graph_search(const rvm_schedule_graph *g, const rvm_schedule_options *o, const rvm_allocator *al,
                             uint32_t most, rvm__turns *out, bool *found, rvm_error *err) {
    search s = {.o = o, .al = al, .err = err, .n = g->n, .most = most};
    const size_t sets = (size_t)1 << g->n;
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->nodes[v].output) s.goal |= UINT32_C(1) << v;
        for (uint32_t k = 0; k < g->nodes[v].n; k++) s.needs[v] |= UINT32_C(1) << g->sources[g->nodes[v].first + k];
    }
    s.last = rvm__realloc(al, NULL, 0, sets);
    if (!s.last) return rvm__fail_memory(err);
    for (size_t k = 0; k < sets; k++) s.last[k] = 0;
    rvm_status st = run(&s);
    *found = !st && s.last[s.goal];
    if (*found) st = trace(&s, out);
    rvm__realloc(al, s.last, sets, 0);
    rvm__realloc(al, s.queue, (size_t)s.cap * sizeof *s.queue, 0);
    return st;
}
