/* memory.c: what the run holds, over its instructions: peaks where something grows, samples at polls. The samples are a
 * bounded number: when they are full every second one goes, and polls come half as often. A derivative's machine, which
 * begins anew with each call, polls as often as the machine that asks keeps samples. */
#include "profile.h"
#include "run.h"

static uint64_t instructions(const rvm_machine *m) {
    return m->stats.forward + m->stats.backward + m->stats.swept + rvm__run_count(m);
}

static rvm_profile_memory held(const rvm_machine *m) {
    const rvm__frame *top = m->store.nframes ? &m->store.frames[m->store.nframes - 1] : NULL;
    const uint64_t slots = top && m->codes ? (top->slots + m->codes[top->fn].slots) * sizeof(rvm_value) : 0;
    const uint64_t shadows = m->profile->shadows;
    rvm_profile_memory h = {.trail = rvm__trail_bytes(m), .stack = m->store.nstack * sizeof(rvm__cell)};
    h.states = slots + m->store.arena_used - shadows;
    h.shadows = m->bound.mode == RVM_PRIMAL ? 0 : slots + shadows;
    return h;
}

static void raise(uint64_t *peak, uint64_t n) {
    if (n > *peak) *peak = n;
}

void rvm__profile_take_peak(rvm_machine *m, const rvm_profile_memory *h) {
    rvm_profile_memory *peak = &m->profile->peak;
    raise(&peak->states, h->states);
    raise(&peak->stack, h->stack);
    raise(&peak->shadows, h->shadows);
}

void rvm__profile_grown(rvm_machine *m) {
    const rvm_profile_memory h = held(m);
    rvm__profile_take_peak(m, &h);
}

static void thin(rvm__profile *p) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->nsamples; k += 2) p->samples[n++] = p->samples[k];
    p->nsamples = n;
    p->every *= 2;
}

/* Whether it is a while after the last. */
static bool is_due(const rvm__profile *p, uint64_t now) {
    return !p->nsamples || now >= p->samples[p->nsamples - 1].instructions + p->every;
}

void rvm__profile_take_sample(rvm_machine *m, const rvm_profile_memory *h) {
    rvm__profile *p = m->profile;
    if (!is_due(p, h->instructions)) return;
    if (p->nsamples == RVM__MOST_SAMPLES) thin(p);
    p->samples[p->nsamples++] = *h;
}

void rvm__profile_sample(rvm_machine *m) {
    rvm__profile_grown(m);
    const uint64_t now = instructions(m);
    if (!is_due(m->profile, now)) return;
    rvm_profile_memory h = held(m);
    h.instructions = now;
    rvm__profile_take_sample(m, &h);
}

void rvm__profile_forget_memory(rvm_machine *m) {
    const rvm_machine *asks = m->profile->source.of;
    m->profile->nsamples = 0;
    m->profile->every = asks ? asks->profile->every : RVM__FIRST_SAMPLES;
    m->profile->peak = (rvm_profile_memory){0};
}
