/* online.c: snapshots of a march whose end is not known (Q. Wang, P. Moin, G. Iaccarino, 2009).
 *
 * Each state is stored as it is reached, at level 0. Where no snapshot is free, one is given up that is dispensable: a later
 * one has a higher level. Where none is, the newest is overwritten and its level rises by one. State 0 stays. So what has
 * been marched can be reversed at any time with the least number of sweeps over a step, and the way back, whose length is
 * known by then, is revolve from each snapshot to the next, with the snapshots before it left alone.
 */
#include "schedule.h"

typedef struct snapshot {
    uint32_t state, level;
} snapshot;

typedef struct kept {
    const rvm_allocator *al;
    snapshot *at; /* in order */
    uint32_t n, cap, most;
} kept;

/* The last that is dispensable, or 0. */
static uint32_t dispensable(const kept *k) {
    uint32_t highest = 0;
    for (uint32_t i = k->n; i-- > 1;) {
        if (k->at[i].level < highest) return i;
        if (k->at[i].level > highest) highest = k->at[i].level;
    }
    return 0;
}

/* Room for a snapshot of `state`: *given_up is the one that it takes the place of, or 0. */
static bool keep(kept *k, uint32_t state, uint32_t *given_up) {
    uint32_t level = 0, at = k->n;
    *given_up = 0;
    if (k->n == k->most) {
        at = dispensable(k);
        if (!at) at = k->n - 1, level = k->at[at].level + 1;
        *given_up = k->at[at].state;
        for (k->n--; at < k->n; at++) k->at[at] = k->at[at + 1];
    }
    if (!rvm__grow(k->al, (void **)&k->at, &k->cap, k->n + 1, sizeof *k->at)) return false;
    k->at[k->n++] = (snapshot){state, level};
    return true;
}

static void kept_free(kept *k) {
    rvm__realloc(k->al, k->at, (size_t)k->cap * sizeof *k->at, 0);
}

static uint32_t stretch_end(const kept *k, uint32_t j, uint32_t steps) {
    return j + 1 < k->n ? k->at[j + 1].state : steps;
}

static rvm_status store(rvm__maker *m, kept *k, uint32_t state) {
    uint32_t given_up;
    if (state && k->most == 1) return RVM_OK;
    if (!keep(k, state, &given_up)) return rvm__fail_memory(m->err);
    if (given_up) RVM__TRY(rvm__add_move(m, RVM_MOVE_FREE, given_up));
    return state ? rvm__add_move(m, RVM_MOVE_STORE, state) : rvm__add_move(m, RVM_MOVE_RESTORE, 0);
}

static rvm_status make(rvm__maker *m, kept *k, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++) {
        RVM__TRY(store(m, k, i));
        RVM__TRY(rvm__add_move(m, RVM_MOVE_ADVANCE, i + 1));
    }
    for (uint32_t j = 0; j < k->n; j++) {
        const uint32_t lo = k->at[j].state;
        if (j) RVM__TRY(rvm__push_task(m, (rvm__task){.lo = lo, .discard = true}));
        RVM__TRY(rvm__push_task(m, (rvm__task){.lo = lo, .len = stretch_end(k, j, steps) - lo, .budget = k->most - j}));
    }
    return rvm__expand_tasks(m, rvm__revolve_expand, NULL);
}

rvm_status rvm__online_make(rvm__maker *m, uint32_t steps, uint32_t s) {
    kept k = {.al = m->s->al, .most = s};
    const rvm_status st = make(m, &k, steps);
    kept_free(&k);
    return st;
}

rvm_status rvm__online_cost(uint32_t steps, uint32_t s, uint64_t *advances, rvm_error *err) {
    kept k = {.al = &rvm__libc_allocator, .most = s};
    uint32_t given_up;
    bool good = true;
    *advances = steps;
    for (uint32_t i = 0; i < steps && good; i++)
        if (!i || s > 1) good = keep(&k, i, &given_up);
    for (uint32_t j = 0; j < k.n && good; j++)
        *advances += rvm__revolve_cost(stretch_end(&k, j, steps) - k.at[j].state, s - j);
    kept_free(&k);
    return good ? RVM_OK : rvm__fail_memory(err);
}
