/* stops.c: see stops.h. */
#include "stops.h"
#include "memory.h"
#include "program.h"
#include "support.h"

#include <string.h>

/* ---- tables ---- */

enum { NEXT_TO = 2, CHANGES = 10 }; /* instructions that are patched for a stop, and changes that each may need */

static uint32_t table_size(uint32_t n) {
    uint32_t size = 4;
    while (size < 2 * n) size *= 2;
    return size;
}

static uint32_t hash_place(const rvm__stops *s, uint32_t fn, uint32_t pc) {
    return (fn * UINT32_C(0x85ebca6b) ^ pc * UINT32_C(0x9e3779b1)) & (s->size_at - 1);
}

static uint32_t hash_insn(const rvm__stops *s, const rvm__xinsn *x) {
    return (uint32_t)((uintptr_t)x / sizeof *x * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->size_own - 1);
}

/* Where x is, or would be. */
static rvm__patch *own_of(const rvm__stops *s, const rvm__xinsn *x) {
    uint32_t k = hash_insn(s, x);
    while (s->own[k].x && s->own[k].x != x) k = (k + 1) & (s->size_own - 1);
    return &s->own[k];
}

uint16_t rvm__patched_handler(const rvm_machine *m, const rvm__xinsn *x) {
    return own_of(m->run.stops, x)->handler;
}

/* ---- patches ---- */

static void change(rvm__stops *s, rvm__xinsn *x, uint16_t handler) {
    if (x->handler == handler) return;
    s->changed[s->nchanged++] = (rvm__patch){x, x->handler};
    x->handler = handler;
}

/* A fused handler without its neighbour before or after (prepare.c). */
static uint16_t without(uint16_t handler, bool before) {
    if (handler < RVM__FUSED) return handler;
    const int at = handler - RVM__FUSED, here = at / 25, left = before ? 0 : at / 5 % 5, right = before ? at % 5 : 0;
    return (uint16_t)(RVM__FUSED + here * 25 + left * 5 + right);
}

/* Nothing runs instruction pc along with others. */
static void run_alone(rvm__stops *s, const rvm_function *f, rvm__xinsn *code, uint32_t pc) {
    for (uint32_t k = pc < 2 ? 0 : pc - 2; k <= pc; k++)
        if (f->code[k].op == RVM_OP_for && f->code[k].target == k + 2) {
            change(s, &code[k], rvm__alone(code[k].handler));
            change(s, &code[k + 2], rvm__alone(code[k + 2].handler));
        }
    change(s, &code[pc], rvm__alone(code[pc].handler));
    if (pc) change(s, &code[pc - 1], without(code[pc - 1].handler, false));
    if (pc + 1 < f->ncode) change(s, &code[pc + 1], without(code[pc + 1].handler, true));
}

/* Whether instruction pc may run up while the run goes back: in a compute part, which goes both ways, or in what is called
 * there or taken back by `uncall`. */
static bool may_oppose(const rvm_machine *m, uint32_t fn, uint32_t pc) {
    bool called = false, turns = false;
    if (m->p->nrules) return true; /* a sweep runs adjoints by hand forward */
    for (uint32_t g = 0; g < m->p->nfunctions; g++)
        RVM__EACH_INSN(x, &m->p->functions[g]) {
            if (rvm__class_of(x.in->op) == RVM_CLASS_CALL) {
                called |= x.in->target == fn || rvm__op_target((rvm_op)x.in->op) == 'S';
                turns |= rvm__is_inverse(x.in->op);
            }
            turns |= x.in->op == RVM_OP_compute;
            if (g == fn && x.in->op == RVM_OP_compute && x.pc <= pc && pc <= x.in->target) return true;
        }
    return called && turns;
}

/* All of them run alone before any is patched. */
static void patch(rvm_machine *m, rvm__stops *s, uint32_t fn, int64_t pc, bool alone) {
    const rvm_function *f = &m->p->functions[fn];
    rvm__xinsn *code = m->codes[fn].x;
    if (!code || pc < 0 || pc >= f->ncode) return;
    if (alone) {
        run_alone(s, f, code, (uint32_t)pc);
    } else if (code[pc].handler != H_patched) {
        *own_of(s, &code[pc]) = (rvm__patch){&code[pc], code[pc].handler};
        change(s, &code[pc], H_patched);
    }
}

static void patch_all(rvm_machine *m, rvm__stops *s, int course) {
    for (int alone = 1; alone >= 0; alone--)
        for (uint32_t k = 0; k < s->goal->nstops; k++) {
            const rvm_stop *stop = &s->goal->stops[k];
            if (course > 0) {
                patch(m, s, stop->fn, stop->pc, alone);
                continue;
            }
            patch(m, s, stop->fn, (int64_t)stop->pc - 1, alone);
            if (may_oppose(m, stop->fn, stop->pc)) patch(m, s, stop->fn, (int64_t)stop->pc + 1, alone);
        }
}

/* ---- a run's stops ---- */

static rvm_status check(const rvm_machine *m, const rvm_goal *goal, rvm_error *err) {
    for (uint32_t k = 0; k < goal->nstops; k++) {
        const rvm_stop *s = &goal->stops[k];
        if (s->fn >= m->p->nfunctions || s->pc >= m->p->functions[s->fn].ncode)
            return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "stop %u is at instruction %u of function %u, which is none", k,
                             s->pc, s->fn);
    }
    for (uint32_t k = 0; k < goal->nwatches; k++) {
        const rvm_watch *w = &goal->watches[k];
        if (!w->name || !w->height || w->nindices < 0 || w->nindices > RVM_MAX_DIMS)
            return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "watch %u has no name, no height or too many indices", k);
    }
    return RVM_OK;
}

static bool make_room(rvm_machine *m, rvm__stops *s) {
    const uint32_t n = s->goal->nstops, nwatches = s->goal->nwatches;
    s->size_at = table_size(n);
    s->size_own = table_size(NEXT_TO * n);
    const size_t at = s->size_at * sizeof *s->at, own = s->size_own * sizeof *s->own;
    const size_t changed = (size_t)n * NEXT_TO * CHANGES * sizeof *s->changed, watched = nwatches * sizeof *s->watched;
    char *room = rvm__room(m, RVM__STOPS, own + changed + watched + at);
    if (!room) return false;
    memset(room, 0, own + changed + watched + at);
    s->own = (rvm__patch *)(void *)room;
    s->changed = (rvm__patch *)(void *)(room + own);
    s->watched = (rvm__watched *)(void *)(room + own + changed);
    s->at = (rvm__stop_at *)(void *)(room + own + changed + watched);
    return true;
}

/* Those of one place in the order of the goal. */
static void enter(rvm__stops *s, uint32_t number) {
    const rvm_stop *stop = &s->goal->stops[number];
    uint32_t k = hash_place(s, stop->fn, stop->pc);
    while (s->at[k].number) k = (k + 1) & (s->size_at - 1);
    s->at[k] = (rvm__stop_at){stop->fn, stop->pc, number + 1};
}

rvm_status rvm__stops_set(rvm_machine *m, rvm__stops *s, const rvm_goal *goal, int course, rvm_error *err) {
    const rvm_status status = check(m, goal, err);
    *s = (rvm__stops){.goal = goal};
    if (status || (!goal->nstops && !goal->nwatches)) return status;
    if (!make_room(m, s)) return rvm__no_memory(m, err);
    for (uint32_t k = 0; k < goal->nstops; k++) enter(s, k);
    for (uint32_t k = 0; k < goal->nwatches; k++) rvm__look_at(m, &goal->watches[k], NULL, false, &s->watched[k]);
    patch_all(m, s, course);
    m->run.stops = s;
    m->run.watching = goal->nwatches > 0;
    return RVM_OK;
}

void rvm__stops_clear(rvm_machine *m) {
    rvm__stops *s = m->run.stops;
    while (s && s->nchanged) {
        const rvm__patch *p = &s->changed[--s->nchanged];
        p->x->handler = p->handler;
    }
    m->run.stops = NULL;
    m->run.watching = false;
}

/* ---- on the way ---- */

static bool arrive(rvm__stops *s, rvm_reached reached, uint32_t index) {
    s->arrived = true;
    s->arrival = (rvm_arrival){.reached = reached, .index = index};
    return true;
}

bool rvm__stops_at(rvm_machine *m, const rvm__xinsn *x) {
    rvm__stops *s = m->run.stops;
    const uint32_t fn = m->store.frames[m->store.nframes - 1].fn, here = (uint32_t)(x - m->codes[fn].x);
    const uint32_t pc = m->run.course > 0 ? here : here - (uint32_t)m->run.dir;
    if (!s || !s->goal->nstops) return false;
    for (uint32_t k = hash_place(s, fn, pc); s->at[k].number; k = (k + 1) & (s->size_at - 1)) {
        if (s->at[k].fn != fn || s->at[k].pc != pc) continue;
        const rvm_stop *stop = &s->goal->stops[s->at[k].number - 1];
        if (!stop->condition || stop->condition(stop->userdata, m)) return arrive(s, RVM_REACHED_STOP, s->at[k].number - 1);
    }
    return false;
}

/* Updates of registers leave elements alone. */
static bool is_quiet(const rvm_machine *m, const rvm__xinsn *x) {
    const uint32_t fn = m->store.frames[m->store.nframes - 1].fn;
    return !x->touches && rvm__op_is_update((rvm_op)m->p->functions[fn].code[x - m->codes[fn].x].op);
}

bool rvm__watch(rvm_machine *m, const rvm__xinsn *x) {
    rvm__stops *s = m->run.stops;
    bool changed = false;
    for (uint32_t k = 0; k < s->goal->nwatches; k++)
        if (rvm__look_at(m, &s->goal->watches[k], x, s->quiet, &s->watched[k]) && !changed)
            changed = arrive(s, RVM_REACHED_WATCH, k);
    s->quiet = is_quiet(m, x);
    return changed;
}
