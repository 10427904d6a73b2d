/* reverse.c: sweeping back over a chain with s snapshots, that of its first state included (A. Griewank, A. Walther).
 *
 * reverse(lo, n, s): march m steps from state lo, store state lo + m, reverse the n - m steps behind it with s - 1
 * snapshots, free it, reverse the m steps before it with s. With t sweeps, at most, over any step, C(s + t, s) steps can be
 * reversed.
 */
#include "schedule.h"

/* n choose k; UINT64_MAX where it is more than 2^62. */
uint64_t rvm__binomial(uint64_t n, uint64_t k) {
    unsigned __int128 c = 1;
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    for (uint64_t i = 1; i <= k; i++) {
        c = c * (n - k + i) / i;
        if (c >> 62) return UINT64_MAX;
    }
    return (uint64_t)c;
}

/* C(s + t, s): how long a chain may be. 0 for t < 0. */
static uint64_t reach(uint64_t s, int64_t t) {
    return t < 0 ? 0 : rvm__binomial(s + (uint64_t)t, s);
}

/* The least t with which `steps` are reversed. */
static uint32_t sweeps(uint64_t steps, uint64_t s) {
    uint32_t t = 0;
    if (s == 1) return (uint32_t)(steps - 1);
    while (reach(s, t) < steps) t++;
    return t;
}

uint64_t rvm__revolve_cost(uint64_t steps, uint64_t s) {
    const uint64_t t = sweeps(steps, s);
    return t ? t * steps - rvm__binomial(s + t, t - 1) : 0;
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
    return (uint32_t)least(reach(s, t - 1), above(steps, reach(s - 1, t - 1)));
}

/* In proportion, and so that t sweeps stay enough. */
static uint32_t treeverse_split(rvm__task t) {
    const uint64_t share = ((uint64_t)t.sweeps * t.len + t.budget + t.sweeps - 1) / (t.budget + t.sweeps);
    const uint64_t low = most(1, above(t.len, reach(t.budget - 1, t.sweeps)));
    const uint64_t high = least(t.len - 1, reach(t.budget, (int64_t)t.sweeps - 1));
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

/* What each split marches, over a stack as that of a maker. */
static rvm_status add_splits(rvm__maker *m, const void *sum, rvm__task t) {
    if (t.len == 1) return RVM_OK;
    const uint32_t split = treeverse_split(t);
    **(uint64_t *const *)sum += split;
    RVM__TRY(rvm__push_task(m, (rvm__task){.len = split, .budget = t.budget, .sweeps = t.sweeps - 1}));
    return rvm__push_task(m, (rvm__task){.len = t.len - split, .budget = t.budget - 1, .sweeps = t.sweeps});
}

rvm_status rvm__treeverse_cost(uint32_t steps, uint32_t s, uint64_t *advances, rvm_error *err) {
    rvm_schedule scratch = {.al = &rvm__libc_allocator};
    rvm__maker m;
    *advances = 0;
    RVM__TRY(rvm__maker_begin(&m, &scratch, 1, 0, err));
    rvm_status st = rvm__push_task(&m, whole(steps, s));
    if (!st) st = rvm__expand_tasks(&m, add_splits, &advances);
    rvm__maker_end(&m);
    return st;
}
