/* traced.c: what a derivative counted as a program, in the terms of the function that it is of. See traced.h. */
#include "traced.h"
#include "support.h"
#include "transform.h"

#include <string.h>

/* ---- counts ---- */

typedef struct moving {
    rvm_machine *m;               /* the derivative's */
    uint64_t *sums;               /* room for those of two functions, by instruction 4 each */
    size_t room;                  /* of one */
    uint64_t ran, forward, swept; /* ran: instructions of the derivative */
} moving;

/* Counts of what was derived become those of what it was derived from. */
static void trace(const rvm__origin_list *l, const uint64_t *from, uint64_t *to) {
    for (uint32_t k = 0; k < l->n; k++) {
        const rvm__origin *x = &l->of[k];
        const size_t first = 4 * (size_t)x->from, last = 4 * (size_t)x->to - 4;
        const int swept = x->swept ? RVM__SWEPT_UP : RVM__UP;
        if (x->up) to[4 * (size_t)x->pc + (size_t)(swept + (x->up < 0))] += from[first + RVM__UP];
        if (x->up) to[4 * (size_t)x->pc + (size_t)(RVM__SWEPT_UP + (x->up < 0))] += from[first + RVM__SWEPT_UP];
        if (x->down && x->to) to[4 * (size_t)x->pc + (size_t)(swept + (x->down < 0))] += from[last + RVM__DOWN];
        if (x->down && x->to)
            to[4 * (size_t)x->pc + (size_t)(RVM__SWEPT_UP + (x->down < 0))] += from[last + RVM__SWEPT_DOWN];
    }
}

/* Those of the function as written; NULL: there is none. */
static const uint64_t *trace_path(moving *w, const rvm__path *path) {
    const rvm__profile_source *s = &w->m->profile->source;
    uint64_t *now = w->sums, *next = w->sums + 4 * w->room;
    rvm_transform kind;
    const uint8_t *active;
    uint32_t fn = path->fn;
    rvm__profile_sums(path, w->m->p->functions[fn].ncode, now);
    for (size_t k = 0; k < 4 * (size_t)w->m->p->functions[fn].ncode; k++) w->ran += now[k];
    while (fn >= s->of->p->nfunctions) {
        const rvm__origin_list *l = rvm__origins_of(s->origins, fn);
        if (!l || !rvm__transform_of(w->m->p, fn, &kind, &fn, &active)) return NULL;
        memset(next, 0, 4 * w->m->p->functions[fn].ncode * sizeof *next);
        trace(l, now, next);
        uint64_t *swap = now;
        now = next;
        next = swap;
    }
    return now;
}

static void add_at(rvm__tally *tallies, uint32_t pc, int which, int64_t n) {
    const bool down = which == RVM__DOWN || which == RVM__SWEPT_DOWN;
    tallies[pc + down].of[which] += n;
    tallies[pc + !down].of[which] -= n;
}

static void move_path(moving *w, const rvm__path *path) {
    rvm_machine *of = w->m->profile->source.of;
    const rvm__path *to = &of->profile->paths[path->origin];
    const uint64_t *n = trace_path(w, path);
    if (!n) return; /* of f'grad: its own instructions are of none */
    for (uint32_t pc = 0; pc < of->p->functions[to->fn].ncode; pc++, n += 4)
        for (int which = 0; which < 4; which++) {
            if (n[which]) add_at(to->tallies, pc, which, (int64_t)n[which]);
            *(which >= RVM__SWEPT_UP ? &w->swept : &w->forward) += n[which];
        }
}

static void move_calls(const rvm_machine *m, const rvm__path_edge *e) {
    rvm_machine *of = m->profile->source.of;
    const rvm__profile *p = m->profile;
    const bool entry = e->from >= p->npaths;
    uint32_t pc = e->pc;
    if (entry && rvm__profile_is_gradient(m, e->callee)) return;
    const bool first = entry || rvm__profile_is_gradient(m, p->paths[e->from].fn);
    if (!first && !rvm__profile_written_at(m, p->paths[e->from].fn, &pc)) return;
    const uint32_t to = rvm__profile_written(m, e->callee);
    rvm__path_edge *x =
        first ? rvm__profile_entry(of, to, p->source.tangents) : rvm__profile_edge(of, p->paths[e->from].origin, pc, to);
    if (x) x->calls += rvm__profile_calls(m, e);
}

/* ---- memory ---- */

/* The derivative's shadows are states of its own. */
static void move_memory(const moving *w, uint64_t before) {
    const rvm__profile *p = w->m->profile;
    const double share = w->ran ? (double)(w->forward + w->swept) / (double)w->ran : 0;
    rvm__profile_take_peak(w->m->profile->source.of, &p->peak);
    for (uint32_t k = 0; k < p->nsamples; k++) {
        rvm_profile_memory h = p->samples[k];
        h.instructions = before + (uint64_t)((double)h.instructions * share);
        rvm__profile_take_sample(w->m->profile->source.of, &h);
    }
}

/* ---- the whole ---- */

static uint32_t most_code(const rvm_program *p) {
    uint32_t most = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        if (p->functions[fn].ncode > most) most = p->functions[fn].ncode;
    return most;
}

bool rvm__profile_hand_over(rvm_machine *m, uint64_t *forward, uint64_t *swept) {
    rvm_machine *of = m->profile->source.of;
    moving w = {.m = m, .room = most_code(m->p)};
    const size_t size = 2 * 4 * w.room * sizeof *w.sums;
    const uint64_t before = of->stats.forward + of->stats.backward + of->stats.swept;
    w.sums = m->profile->source.lost ? NULL : rvm__zeroed(m, size);
    const bool good = w.sums;
    for (uint32_t k = 0; good && k < m->profile->npaths; k++) move_path(&w, &m->profile->paths[k]);
    for (uint32_t k = 0; good && k < m->profile->nedges; k++) move_calls(m, &m->profile->edges[k]);
    if (good) move_memory(&w, before);
    *forward += w.forward;
    *swept += w.swept;
    rvm__resize(m, w.sums, good ? size : 0, 0);
    rvm__profile_reset(m);
    return good;
}
