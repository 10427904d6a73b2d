/* graph_make.c: a schedule of a graph: by search where it is small, else by cuts, and shortened. */
#include "pebbling.h"
#include "schedule.h"

typedef struct way {
    const rvm_schedule_graph *g;
    const rvm_schedule_options *o;
    const rvm_allocator *al;
    rvm__turns turns;
} way;

static rvm_status too_few(uint64_t budget, uint64_t least, const char *how, rvm_error *err) {
    return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "this graph needs %s %llu pebbles, not %llu", how,
                     (unsigned long long)least, (unsigned long long)budget);
}

static rvm_status by_search(way *w, uint64_t budget, rvm_error *err) {
    const uint32_t n = w->g->n;
    bool found = false;
    if (budget > n) budget = n;
    RVM__TRY(rvm__graph_search(w->g, w->o, w->al, (uint32_t)budget, &w->turns, &found, err));
    for (uint32_t s = (uint32_t)budget + 1; !found; s++) {
        RVM__TRY(rvm__graph_search(w->g, w->o, w->al, s, &w->turns, &found, err));
        if (found) return too_few(budget, s, "at least", err);
    }
    return RVM_OK;
}

/* Cut with s states, and without what nothing needs. */
static rvm_status cut(way *w, const rvm__pebble_table *table, uint32_t s, uint32_t *rows, rvm_error *err) {
    RVM__TRY(rvm__graph_cut(w->g, w->o, w->al, table, s, &w->turns, err));
    return rvm__graph_shorten(w->g, w->al, 0, &w->turns, rows, err);
}

/* More states of a chain take fewer moves and more rows: the most that fit, by bisection between the least, which is cut by
 * halves, and where more make hardly a difference. */
static rvm_status best_cut(way *w, const rvm__pebble_table *table, uint32_t most_states, uint64_t budget, uint32_t *rows,
                           rvm_error *err) {
    uint32_t low = (uint32_t)rvm_schedule_least(RVM_SCHEDULE_PEBBLE, w->g->n), high = most_states;
    RVM__TRY(cut(w, table, low, rows, err));
    if (*rows > budget) return too_few(budget, *rows, "more; the least that was found is", err);
    while (low < high) {
        const uint32_t s = low + (high - low + 1) / 2;
        RVM__TRY(cut(w, table, s, rows, err));
        if (*rows <= budget)
            low = s;
        else
            high = s - 1;
    }
    return cut(w, table, low, rows, err);
}

enum { MOST_STATES = 64 };

static rvm_status by_cuts(way *w, uint64_t budget, rvm_error *err) {
    const uint32_t states = w->g->n < MOST_STATES ? w->g->n : MOST_STATES;
    rvm__pebble_table *table;
    uint32_t rows;
    RVM__TRY(rvm__pebble_table_new(w->al, w->g->n, states, &table, err));
    rvm_status st = best_cut(w, table, states, budget, &rows, err);
    if (!st) st = rvm__graph_shorten(w->g, w->al, budget, &w->turns, &rows, err);
    rvm__pebble_table_free(table);
    return st;
}

/* Turns become moves: rows as they become free. */
static rvm_status fill(rvm_schedule *s, const way *w, rvm_error *err) {
    const uint32_t n = w->g->n;
    uint32_t nfree = 0, rows = 0;
    const size_t size = 2 * (size_t)n * sizeof(uint32_t);
    uint32_t *row_of = rvm__realloc(s->al, NULL, 0, size), *free_rows = row_of + n;
    if (!row_of) return rvm__fail_memory(err);
    rvm_status st = RVM_OK;
    for (uint32_t v = 0; v < n; v++) row_of[v] = RVM__NO_ROW;
    for (uint32_t k = 0; k < w->turns.n && !st; k++) {
        const uint32_t v = w->turns.node[k];
        rvm_move move = {.kind = RVM_MOVE_FORWARD, .state = v};
        if (row_of[v] == RVM__NO_ROW)
            move.target = row_of[v] = nfree ? free_rows[--nfree] : rows++;
        else {
            move.kind = RVM_MOVE_UNCOMPUTE;
            move.target = free_rows[nfree++] = row_of[v];
            row_of[v] = RVM__NO_ROW;
        }
        st = rvm__append_move(s, move, w->turns.n, err);
    }
    rvm__realloc(s->al, row_of, size, 0);
    return st ? st : rvm_schedule_replay_graph(w->g, s->moves, s->n, rows, s->al, &s->counts, err);
}

rvm_status rvm_schedule_new_of_graph(const rvm_schedule_graph *g, uint64_t budget, const rvm_schedule_options *options,
                                     rvm_schedule **out, bool *optimal, rvm_error *err) {
    RVM__NEEDS(g, out);
    *out = NULL;
    RVM__TRY(rvm__schedule_begin(options, out, err));
    const bool searched = g->n <= RVM_SCHEDULE_SEARCHED;
    way w = {.g = g, .o = &(*out)->o, .al = (*out)->al};
    rvm_status st = searched ? by_search(&w, budget, err) : by_cuts(&w, budget, err);
    if (!st) st = fill(*out, &w, err);
    rvm__realloc(w.al, w.turns.node, (size_t)w.turns.cap * sizeof *w.turns.node, 0);
    if (optimal) *optimal = !st && searched;
    if (!st) return RVM_OK;
    rvm_schedule_free(*out);
    *out = NULL;
    return st;
}
