/* reverse.c: sweeping back over a chain with s snapshots, that of its first state included (A. Griewank, A. Walther).
 *
 * reverse(lo, n, s): march m steps from state lo, store state lo + m, reverse the n - m steps behind it with s - 1
 * snapshots, free it, reverse the m steps before it with s. With t sweeps, at most, over any step, C(s + t, s) steps can be
 * reversed.
 */
#include "schedule.h"

#include <stdlib.h>

/* n choose k, or `most` where it is more: products rise, so that this is seen early. most < 2^62. */
static uint64_t binomial(uint64_t n, uint64_t k, uint64_t most) {
    unsigned __int128 c = 1;
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    for (uint64_t i = 1; i <= k && c < most; i++) c = c * (n - k + i) / i;
    return c < most ? (uint64_t)c : most;
}

/* C(s + t, s): how long a chain may be, as far as `most`. 0 for t < 0. */
static uint64_t reach(uint64_t s, int64_t t, uint64_t most) {
    return t < 0 ? 0 : binomial(s + (uint64_t)t, s, most);
}

/* The least t with which `steps` are reversed. */
static uint32_t sweeps(uint64_t steps, uint64_t s) {
    uint32_t t = 0;
    if (s == 1) return (uint32_t)(steps - 1);
    while (reach(s, t, steps) < steps) t++;
    return t;
}

uint64_t rvm__revolve_cost(uint64_t steps, uint64_t s) {
    const uint64_t t = sweeps(steps, s);
    return t ? t * steps - binomial(s + t, t - 1, UINT64_C(1) << 62) : 0;
}

static uint64_t most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t above(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* Any m will do for which what is behind is reversed with t sweeps and not with t - 2, what is before with t - 1 and not
 * with t - 3: the cost rises by t for each step from C(s + t - 1, s) to C(s + t, s). The largest stores the fewest states.
 */
static uint32_t revolve_split(uint32_t steps, uint32_t s) {
    const int64_t t = sweeps(steps, s);
    return (uint32_t)least(reach(s, t - 1, steps), above(steps, reach(s - 1, t - 1, steps)));
}

/* In proportion, and so that t sweeps stay enough. */
static uint32_t treeverse_split(rvm__task t) {
    const uint64_t share = ((uint64_t)t.sweeps * t.len + t.budget + t.sweeps - 1) / (t.budget + t.sweeps);
    const uint64_t low = most(1, above(t.len, reach(t.budget - 1, t.sweeps, t.len)));
    const uint64_t high = least(t.len - 1, reach(t.budget, (int64_t)t.sweeps - 1, t.len));
    return (uint32_t)least(most(share, low), high);
}

/* Marches in the working row from state lo to state lo + m. */
static rvm_status march(rvm__maker *m, uint32_t lo, uint32_t count) {
    if (m->marched != lo) RVM__TRY(rvm__add_move(m, RVM_MOVE_RESTORE, lo));
    for (uint32_t i = 1; i <= count; i++) RVM__TRY(rvm__add_move(m, RVM_MOVE_ADVANCE, lo + i));
    return RVM_OK;
}

/* A state that is swept from at once is not stored. */
static rvm_status expand(rvm__maker *m, rvm__task t, uint32_t split) {
    const rvm__task before = {.lo = t.lo, .len = split, .budget = t.budget, .sweeps = t.sweeps - 1};
    const rvm__task behind = {.lo = t.lo + split, .len = t.len - split, .budget = t.budget - 1, .sweeps = t.sweeps};
    RVM__TRY(march(m, t.lo, split));
    RVM__TRY(rvm__push_task(m, before));
    if (behind.len > 1) {
        RVM__TRY(rvm__add_move(m, RVM_MOVE_STORE, behind.lo));
        RVM__TRY(rvm__push_task(m, (rvm__task){.lo = behind.lo, .discard = true}));
    }
    return rvm__push_task(m, behind);
}

static rvm_status sweep(rvm__maker *m, rvm__task t) {
    RVM__TRY(march(m, t.lo, 0));
    return rvm__add_move(m, RVM_MOVE_SWEEP, t.lo + 1);
}

rvm_status rvm__revolve_expand(rvm__maker *m, const void *how, rvm__task t) {
    (void)how;
    if (t.discard) return rvm__add_move(m, RVM_MOVE_FREE, t.lo);
    return t.len == 1 ? sweep(m, t) : expand(m, t, revolve_split(t.len, t.budget));
}

static rvm_status treeverse_expand(rvm__maker *m, const void *how, rvm__task t) {
    (void)how;
    if (t.discard) return rvm__add_move(m, RVM_MOVE_FREE, t.lo);
    return t.len == 1 ? sweep(m, t) : expand(m, t, treeverse_split(t));
}

static rvm__task whole(uint32_t steps, uint32_t s) {
    return (rvm__task){.len = steps, .budget = s, .sweeps = sweeps(steps, s)};
}

rvm_status rvm__revolve_make(rvm__maker *m, uint32_t steps, uint32_t s) {
    RVM__TRY(rvm__push_task(m, whole(steps, s)));
    return rvm__expand_tasks(m, rvm__revolve_expand, NULL);
}

rvm_status rvm__treeverse_make(rvm__maker *m, uint32_t steps, uint32_t s) {
    RVM__TRY(rvm__push_task(m, whole(steps, s)));
    return rvm__expand_tasks(m, treeverse_expand, NULL);
}

/* ---- what treeverse costs ----
 * Parts of one length, snapshots and sweeps are split alike, and both parts of a split have one snapshot or one sweep less:
 * so generation after generation has a few kinds of parts, which are counted. */
typedef struct part {
    uint32_t len, s;
    uint64_t count;
} part;

typedef struct generation {
    part *parts;
    uint32_t n, cap;
} generation;

static int by_kind(const void *a, const void *b) {
    const part *p = a, *q = b;
    return p->s != q->s ? (p->s > q->s) - (p->s < q->s) : (p->len > q->len) - (p->len < q->len);
}

static bool add(generation *g, part p) {
    if (p.len == 1) return true;
    if (!rvm__grow(&rvm__libc_allocator, (void **)&g->parts, &g->cap, g->n + 1, sizeof *g->parts)) return false;
    g->parts[g->n++] = p;
    return true;
}

static void merge_alike(generation *g) {
    uint32_t n = 0;
    qsort(g->parts, g->n, sizeof *g->parts, by_kind);
    for (uint32_t k = 0; k < g->n; k++)
        if (n && by_kind(&g->parts[n - 1], &g->parts[k]) == 0)
            g->parts[n - 1].count += g->parts[k].count;
        else
            g->parts[n++] = g->parts[k];
    g->n = n;
}

/* both: snapshots and sweeps of each part together. */
static bool split_all(const generation *g, uint32_t both, generation *next, uint64_t *advances) {
    next->n = 0;
    for (uint32_t k = 0; k < g->n; k++) {
        const part p = g->parts[k];
        const uint32_t m = treeverse_split((rvm__task){.len = p.len, .budget = p.s, .sweeps = both - p.s});
        *advances += m * p.count;
        if (!add(next, (part){p.len - m, p.s - 1, p.count}) || !add(next, (part){m, p.s, p.count})) return false;
    }
    if (next->n) merge_alike(next);
    return true;
}

rvm_status rvm__treeverse_cost(uint32_t steps, uint32_t s, uint64_t *advances, rvm_error *err) {
    generation of[2] = {{0}};
    *advances = s == 1 ? rvm__revolve_cost(steps, s) : 0; /* there is one way then */
    bool good = s == 1 || add(&of[0], (part){steps, s, 1});
    for (uint32_t both = s + sweeps(steps, s); good && (of[0].n || of[1].n); both--) {
        generation *now = of[0].n ? &of[0] : &of[1];
        good = split_all(now, both, now == of ? &of[1] : &of[0], advances);
        now->n = 0;
    }
    for (int k = 0; k < 2; k++) rvm__realloc(&rvm__libc_allocator, of[k].parts, of[k].cap * sizeof(part), 0);
    return good ? RVM_OK : rvm__fail_memory(err);
}
