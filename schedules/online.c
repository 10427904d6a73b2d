/* online.c: snapshots of a march whose end is not known (Q. Wang, P. Moin, G. Iaccarino, 2009).
 *
 * Each state is stored as it is reached, at level 0. Where no snapshot is free, one is evicted that is dispensable: a later
 * one has a higher level. Where none is, the newest is overwritten and its level rises by one. State 0 stays. So what has
 * been marched can be reversed at any time with the least number of sweeps over a step, and the way back, whose length is
 * known by then, is revolve from each snapshot to the next, with the snapshots before it left alone.
 */
#include "schedule.h"

typedef struct snapshot {
    uint32_t state, level, before, after; /* the latter two: in order of states; NONE at the ends */
} snapshot;

/* A snapshot is dispensable if the next one has a higher level: the last of these is the last of all that are. They are a
 * stack, the last on top, so that a step takes constant time whatever s is. */
typedef struct kept {
    const rvm_allocator *al;
    snapshot *at;
    uint32_t *rises; /* those whose next one has a higher level */
    uint32_t n, cap, most, nrises, rises_cap, first, last;
} kept;

enum { NONE = UINT32_MAX };

static bool note_rise(kept *k, uint32_t i) {
    if (i == NONE || i == k->first || k->at[i].level >= k->at[k->at[i].after].level) return true;
    if (k->nrises && k->rises[k->nrises - 1] == i) return true;
    if (!rvm__grow(k->al, (void **)&k->rises, &k->rises_cap, k->nrises + 1, sizeof *k->rises)) return false;
    k->rises[k->nrises++] = i;
    return true;
}

/* Takes the dispensable one out of the order. */
static bool evict(kept *k, uint32_t *place) {
    *place = k->rises[--k->nrises];
    const snapshot gone = k->at[*place];
    k->at[gone.before].after = gone.after;
    k->at[gone.after].before = gone.before;
    return note_rise(k, gone.before);
}

static void append(kept *k, uint32_t place, uint32_t state) {
    k->at[place] = (snapshot){state, 0, k->last, NONE};
    if (k->last != NONE)
        k->at[k->last].after = place;
    else
        k->first = place;
    k->last = place;
}

/* Room for a snapshot of `state`: *given_up is the one that it takes the place of, or 0. */
static bool keep(kept *k, uint32_t state, uint32_t *given_up) {
    uint32_t place = k->n;
    *given_up = 0;
    if (k->n < k->most) {
        if (!rvm__grow(k->al, (void **)&k->at, &k->cap, k->n + 1, sizeof *k->at)) return false;
        append(k, k->n++, state);
        return true;
    }
    if (k->nrises) {
        if (!evict(k, &place)) return false;
        *given_up = k->at[place].state;
        append(k, place, state);
        return true;
    }
    snapshot *newest = &k->at[k->last];
    *given_up = newest->state;
    newest->state = state;
    newest->level++;
    return note_rise(k, newest->before);
}

static kept kept_begin(const rvm_allocator *al, uint32_t most) {
    return (kept){.al = al, .most = most, .first = NONE, .last = NONE};
}

static void kept_free(kept *k) {
    rvm__realloc(k->al, k->at, (size_t)k->cap * sizeof *k->at, 0);
    rvm__realloc(k->al, k->rises, (size_t)k->rises_cap * sizeof *k->rises, 0);
}

/* Where what is reversed from snapshot i ends. */
static uint32_t stretch_end(const kept *k, uint32_t i, uint32_t steps) {
    return k->at[i].after != NONE ? k->at[k->at[i].after].state : steps;
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
    uint32_t before = 0;
    for (uint32_t i = k->first; i != NONE; i = k->at[i].after, before++) {
        const uint32_t lo = k->at[i].state;
        if (before) RVM__TRY(rvm__push_task(m, (rvm__task){.lo = lo, .discard = true}));
        const rvm__task stretch = {.lo = lo, .len = stretch_end(k, i, steps) - lo, .budget = k->most - before};
        RVM__TRY(rvm__push_task(m, stretch));
    }
    return rvm__expand_tasks(m, rvm__revolve_expand, NULL);
}

rvm_status rvm__online_make(rvm__maker *m, uint32_t steps, uint32_t s) {
    kept k = kept_begin(m->s->al, s);
    const rvm_status st = make(m, &k, steps);
    kept_free(&k);
    return st;
}

rvm_status rvm__online_cost(uint32_t steps, uint32_t s, uint64_t *advances, rvm_error *err) {
    kept k = kept_begin(&rvm__libc_allocator, s);
    uint32_t given_up, before = 0;
    bool good = true;
    *advances = steps;
    for (uint32_t i = 0; i < steps && good; i++)
        if (!i || s > 1) good = keep(&k, i, &given_up);
    for (uint32_t i = k.first; i != NONE && good; i = k.at[i].after, before++)
        *advances += rvm__revolve_cost(stretch_end(&k, i, steps) - k.at[i].state, s - before);
    kept_free(&k);
    return good ? RVM_OK : rvm__fail_memory(err);
}
