/* graph_shorten.c: a pebbling without turns that it can do without.
 *
 * A stay is the time of a step in a row, from one turn to the next. Two things take two turns out, and the list stays legal:
 *   a stay that no turn of a step that takes it falls into, unless it is an output's last: both its turns;
 *   the time between two stays of a step, where there is room for one more row all along: the turns at its two ends.
 * The first makes room, the second leaves stays unused, so they alternate while there is something to gain. What lies
 * between two stays is closed shortest first: that holds a row for the least time.
 */
#include "pebbling.h"
#include "schedule.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

typedef struct gap {
    uint32_t begin, end; /* turns at its ends */
} gap;

typedef struct shortener {
    const rvm_schedule_graph *g;
    rvm__turns *t;
    uint32_t *latest;  /* by step: its latest turn on, or NONE */
    uint32_t *partner; /* by turn: the other end of its stay, or NONE of an output's last */
    uint32_t *uses;    /* by the turn on: turns that need the stay */
    uint32_t *first;   /* by turn: where the stays that it needs begin in needs; t->n + 1 */
    uint32_t *needs, needs_cap, nneeds;
    uint8_t *gone;  /* by turn */
    uint32_t *work; /* stays without a use */
    uint32_t nwork;
    gap *gaps;
    uint32_t ngaps;
    int32_t *high, *added; /* a segment tree over turns: the most rows below a node, and what was added to all of it */
} shortener;

/* ---- stays without a use ---- */

/* Links the turns: ends of stays, the stays that each needs. */
static bool link_turns(shortener *s, const rvm_allocator *al) {
    for (uint32_t v = 0; v < s->g->n; v++) s->latest[v] = NONE;
    s->nneeds = 0;
    for (uint32_t k = 0; k < s->t->n; k++) {
        const uint32_t v = s->t->node[k];
        const rvm__node *node = &s->g->nodes[v];
        s->first[k] = s->nneeds;
        if (!rvm__grow(al, (void **)&s->needs, &s->needs_cap, s->nneeds + node->n, sizeof *s->needs)) return false;
        for (uint32_t i = 0; i < node->n; i++) {
            const uint32_t stay = s->latest[s->g->sources[node->first + i]];
            s->needs[s->nneeds++] = stay;
            s->uses[stay]++;
        }
        s->gone[k] = 0;
        s->uses[k] = 0;
        s->partner[k] = s->latest[v];
        if (s->latest[v] != NONE) s->partner[s->latest[v]] = k;
        s->latest[v] = s->latest[v] == NONE ? k : NONE;
    }
    s->first[s->t->n] = s->nneeds;
    return true;
}

static bool is_on(const shortener *s, uint32_t k) {
    return s->partner[k] == NONE || s->partner[k] > k;
}

static void remove_turn(shortener *s, uint32_t k) {
    s->gone[k] = 1;
    for (uint32_t i = s->first[k]; i < s->first[k + 1]; i++) {
        const uint32_t stay = s->needs[i];
        if (--s->uses[stay] == 0 && s->partner[stay] != NONE) s->work[s->nwork++] = stay;
    }
}

/* How many turns go. Each stay comes to the work list once: when its last use goes, or at first. */
static uint32_t remove_unused(shortener *s) {
    uint32_t removed = 0;
    s->nwork = 0;
    for (uint32_t k = 0; k < s->t->n; k++)
        if (is_on(s, k) && s->partner[k] != NONE && !s->uses[k]) s->work[s->nwork++] = k;
    while (s->nwork) {
        const uint32_t stay = s->work[--s->nwork];
        remove_turn(s, stay);
        remove_turn(s, s->partner[stay]);
        removed += 2;
    }
    return removed;
}

static void compact(shortener *s) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->t->n; k++)
        if (!s->gone[k]) s->t->node[n++] = s->t->node[k];
    s->t->n = n;
}

/* ---- gaps between stays ---- */

static int by_length(const void *a, const void *b) {
    const gap *x = a, *y = b;
    const uint32_t m = x->end - x->begin, n = y->end - y->begin;
    return m != n ? (m > n) - (m < n) : (x->begin > y->begin) - (x->begin < y->begin);
}

/* The tree's node for turns [lo, hi). */
static void build(shortener *s, uint32_t node, uint32_t lo, uint32_t hi, const uint32_t *rows) {
    s->added[node] = 0;
    if (hi - lo == 1) {
        s->high[node] = (int32_t)rows[lo];
        return;
    }
    const uint32_t middle = lo + (hi - lo) / 2;
    build(s, 2 * node, lo, middle, rows);
    build(s, 2 * node + 1, middle, hi, rows);
    s->high[node] = s->high[2 * node] > s->high[2 * node + 1] ? s->high[2 * node] : s->high[2 * node + 1];
}

/* The most rows at any of the turns [a, b), to which `add` are added. */
static int32_t highest(shortener *s, uint32_t node, uint32_t lo, uint32_t hi, uint32_t a, uint32_t b, int32_t add) {
    if (b <= lo || hi <= a) return INT32_MIN;
    if (a <= lo && hi <= b) {
        s->added[node] += add;
        return s->high[node] += add;
    }
    const uint32_t middle = lo + (hi - lo) / 2;
    const int32_t low = highest(s, 2 * node, lo, middle, a, b, add);
    const int32_t high = highest(s, 2 * node + 1, middle, hi, a, b, add);
    const int32_t both = s->high[2 * node] > s->high[2 * node + 1] ? s->high[2 * node] : s->high[2 * node + 1];
    s->high[node] = both + s->added[node];
    return (low > high ? low : high) + s->added[node];
}

static void find_gaps(shortener *s) {
    s->ngaps = 0;
    for (uint32_t v = 0; v < s->g->n; v++) s->latest[v] = NONE;
    for (uint32_t k = 0; k < s->t->n; k++) {
        const uint32_t v = s->t->node[k];
        if (is_on(s, k) && s->latest[v] != NONE) s->gaps[s->ngaps++] = (gap){s->latest[v], k};
        s->latest[v] = k;
    }
    qsort(s->gaps, s->ngaps, sizeof *s->gaps, by_length);
}

/* Rows after each turn; the most there are. */
static uint32_t count_rows(const shortener *s, uint32_t *rows) {
    uint32_t now = 0, most = 0;
    for (uint32_t k = 0; k < s->t->n; k++) {
        now = is_on(s, k) ? now + 1 : now - 1;
        if (now > most) most = now;
        if (rows) rows[k] = now;
    }
    return most;
}

static uint32_t close_gaps(shortener *s, uint64_t most) {
    uint32_t closed = 0;
    count_rows(s, s->work);
    build(s, 1, 0, s->t->n, s->work);
    find_gaps(s);
    for (uint32_t k = 0; k < s->ngaps; k++) {
        const gap *x = &s->gaps[k];
        if (highest(s, 1, 0, s->t->n, x->begin, x->end, 0) >= (int64_t)most) continue;
        highest(s, 1, 0, s->t->n, x->begin, x->end, 1);
        s->gone[x->begin] = s->gone[x->end] = 1;
        closed++;
    }
    return closed;
}

/* ---- both ---- */

static rvm_status shorten(shortener *s, const rvm_allocator *al, uint64_t most, uint32_t *rows, rvm_error *err) {
    for (;;) {
        if (!link_turns(s, al)) return rvm__fail_memory(err);
        if (remove_unused(s)) {
            compact(s);
            if (!link_turns(s, al)) return rvm__fail_memory(err);
        }
        if (!most || !s->t->n || !close_gaps(s, most)) break;
        compact(s);
    }
    *rows = count_rows(s, NULL);
    return RVM_OK;
}

/* One block for all that is as long as the turns are at first. */
rvm_status rvm__graph_shorten(const rvm_schedule_graph *g, const rvm_allocator *al, uint64_t most, rvm__turns *t,
                              uint32_t *rows, rvm_error *err) {
    const size_t n = (size_t)t->n + 1, words = g->n + 14 * n, size = words * sizeof(uint32_t) + n;
    uint32_t *block = rvm__realloc(al, NULL, 0, size);
    if (!block) return rvm__fail_memory(err);
    shortener s = {.g = g, .t = t, .latest = block};
    s.partner = block + g->n, s.uses = s.partner + n, s.first = s.uses + n, s.work = s.first + n;
    s.gaps = (gap *)(s.work + n);
    s.high = (int32_t *)(s.gaps + n), s.added = s.high + 4 * n;
    s.gone = (uint8_t *)(s.added + 4 * n);
    const rvm_status st = shorten(&s, al, most, rows, err);
    rvm__realloc(al, s.needs, (size_t)s.needs_cap * sizeof *s.needs, 0);
    rvm__realloc(al, block, size, 0);
    return st;
}
