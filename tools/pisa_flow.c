/* pisa_flow.c: which functions a program for the Pendulum processor is made of, if it is: control is followed
 * forward through
 *
 *   a pair      two branches that name each other: what is taken at one goes on behind the other
 *   a call      a branch to a SWAPBR that is the end of a routine and, backward, its start: the routine begins behind
 *               it, and comes to it again from above; RBRA runs it backward
 *
 * What else changes the branch register (a SWAPBR on the way, RBRA within a pair) computes where to go, and is interpreted.
 */
#include "errors.h"
#include "pisa.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

typedef struct walk {
    const pisa_source *s;
    pisa_flow *flow;
    uint32_t f; /* the function that is followed */
    bool ended;
    struct arrival {
        uint32_t address;
        uint8_t how;
    } * stack; /* what is still to be followed; each comes once */
    size_t n;
    uint32_t *routine; /* of each SWAPBR that is called its function, or NOBODY */
} walk;

static void refuse(walk *w, uint32_t address, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void refuse(walk *w, uint32_t address, const char *format, ...) {
    va_list list;
    if (w->flow->line) return;
    w->flow->line = w->s->word[address].line;
    va_start(list, format);
    vsnprintf(w->flow->why, sizeof w->flow->why, format, list);
    va_end(list);
}

static bool is_unconditional(const pisa_source *s, uint32_t address) {
    return s->word[address].is->k == 7;
}

bool pisa_calls(const pisa_source *s, uint32_t address) {
    return pisa_kind_at(s, (int64_t)address + s->word[address].number) == PISA_SWAP;
}

/* Control comes to `to` from the instruction at `from`. */
static void arrive(walk *w, uint32_t from, int64_t to, uint8_t how) {
    if (pisa_kind_at(w->s, to) == PISA_DATA) {
        refuse(w, from, "control runs on to where there is no instruction");
        return;
    }
    uint32_t *owner = &w->flow->owner[to];
    if (*owner == NOBODY) *owner = w->f;
    if (*owner != w->f) {
        refuse(w, from, "control goes on in another routine, at line %u", w->s->word[to].line);
        return;
    }
    if (w->flow->arrives[to] & how) return;
    w->flow->arrives[to] |= how;
    w->stack[w->n++] = (struct arrival){(uint32_t)to, how};
}

static void go_on(walk *w, uint32_t address) {
    if (address + 1 == w->flow->function[w->f].entry)
        refuse(w, address, "control comes on into where a run begins");
    else
        arrive(w, address, (int64_t)address + 1, PISA_FALLS);
}

static void note_call(walk *w, uint32_t at) {
    if (w->routine[at] != NOBODY) return;
    w->routine[at] = w->flow->nfunctions;
    w->flow->function[w->flow->nfunctions++] = (pisa_function){.entry = at + 1, .exit = at};
}

static void follow_branch(walk *w, uint32_t address) {
    const pisa_source *s = w->s;
    const int64_t to = (int64_t)address + s->word[address].number;
    const bool turns = s->word[address].is->kind == PISA_TURN;
    if (pisa_calls(s, address)) {
        note_call(w, (uint32_t)to);
        go_on(w, address);
    } else if (turns)
        refuse(w, address, "RBRA to what is no routine");
    else if (to == address || pisa_kind_at(s, to) != PISA_BRANCH || to + s->word[to].number != address)
        refuse(w, address, "the branch goes to what is no branch back");
    else {
        arrive(w, address, to, PISA_LANDS);
        if (!is_unconditional(s, address)) go_on(w, address);
    }
}

static void follow(walk *w, struct arrival a) {
    pisa_function *f = &w->flow->function[w->f];
    if (a.how == PISA_LANDS) {
        go_on(w, a.address);
        return;
    }
    switch (w->s->word[a.address].is->kind) {
    case PISA_BRANCH:
    case PISA_TURN: follow_branch(w, a.address); break;
    case PISA_SWAP:
        if (a.address != f->exit) refuse(w, a.address, "SWAPBR computes where to go");
        w->ended = true;
        break;
    case PISA_FINISH:
        if (w->f) refuse(w, a.address, "FINISH in a routine");
        if (w->ended && a.address != f->exit) refuse(w, a.address, "a second FINISH");
        f->exit = a.address;
        w->ended = true;
        break;
    case PISA_ADD:
    case PISA_LOGIC:
    case PISA_EXCHANGE:
    case PISA_NEG:
    case PISA_ROTATE:
    case PISA_OUTPUT:
    case PISA_EMIT:
    case PISA_START: go_on(w, a.address); break;
    case PISA_DATA: break; /* arrive refuses it */
    }
}

static void follow_function(walk *w) {
    const pisa_function f = w->flow->function[w->f];
    w->ended = false;
    if (w->f && w->flow->owner[f.exit] != NOBODY) refuse(w, f.exit, "SWAPBR computes where to go");
    if (w->f) w->flow->owner[f.exit] = w->f;
    arrive(w, w->f ? f.exit : f.entry, f.entry, PISA_FALLS);
    while (w->n && !w->flow->line) follow(w, w->stack[--w->n]);
    if (!w->ended) refuse(w, w->f ? f.exit : f.entry, "what begins here does not come to its end");
}

static void find_bounds(const pisa_source *s, pisa_flow *flow) {
    for (uint32_t k = 0; k < flow->nfunctions; k++) flow->function[k].first = NOBODY;
    for (uint32_t a = 0; a < s->n; a++) {
        if (flow->owner[a] == NOBODY) continue;
        pisa_function *f = &flow->function[flow->owner[a]];
        if (f->first == NOBODY) f->first = a;
        f->last = a;
    }
}

rvm_status pisa_flow_find(const pisa_source *s, pisa_flow *flow, rvm_error *err) {
    walk w = {.s = s, .flow = flow};
    *flow = (pisa_flow){0};
    flow->function = calloc((size_t)s->n + 1, sizeof *flow->function);
    flow->owner = malloc(s->n * sizeof *flow->owner);
    flow->arrives = calloc(s->n, 1);
    w.routine = malloc(s->n * sizeof *w.routine);
    w.stack = malloc(((size_t)s->n * 2 + 2) * sizeof *w.stack);
    const bool there = flow->function && flow->owner && flow->arrives && w.routine && w.stack;
    if (there) {
        memset(flow->owner, 0xff, s->n * sizeof *flow->owner);
        memset(w.routine, 0xff, s->n * sizeof *w.routine);
        flow->nfunctions = 1;
        flow->function[0].entry = s->start;
        for (; w.f < flow->nfunctions && !flow->line; w.f++) follow_function(&w);
        find_bounds(s, flow);
    }
    free(w.routine);
    free(w.stack);
    return there ? RVM_OK : fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
}

void pisa_flow_free(pisa_flow *flow) {
    free(flow->function);
    free(flow->owner);
    free(flow->arrives);
    *flow = (pisa_flow){0};
}
