/* activity.c: which places depend on the active parameters. By place of the program, without regard to order: a place that
 * is ever active has a shadow throughout. Real places only. */
#include "memory.h"
#include "prepare.h"

#include <string.h>

typedef struct walk {
    rvm_machine *m;
    bool changed;
} walk;

static uint8_t *mark_of(const rvm_machine *m, uint32_t fn, const rvm_place *q) {
    const rvm_function *f = &m->p->functions[fn];
    if (q->kind == RVM_PLACE_RANGE || rvm__place_type(f, q) == RVM_I64) return NULL;
    if (q->kind != RVM_PLACE_SLOT) return &m->active_arrays[m->active_array_at[fn] + q->slot];
    return q->slot < f->nregs ? &m->active_slots[m->active_slot_at[fn] + q->slot] : NULL;
}

static void raise_mark(walk *w, uint8_t *mark, uint8_t to) {
    if (mark && to && !*mark) {
        *mark = 1;
        w->changed = true;
    }
}

static uint8_t value_of(const uint8_t *mark) {
    return mark ? *mark : 0;
}

/* A place by its letter (rvm__place_letters): does it give activity, does it take it? */
static bool gives(char letter) {
    return strchr("typaXV", letter) != NULL;
}
static bool takes(char letter) {
    return strchr("tyXV", letter) != NULL;
}

static void visit_places(walk *w, uint32_t fn, const rvm_insn *in, const rvm_place *places) {
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    const bool stack = (in->op | 1) == RVM_OP_pop || (in->op | 1) == RVM_OP_popc;
    uint8_t any = stack ? w->m->active_stack : 0;
    for (int k = 0; k < in->nplaces; k++)
        if (gives(letters[k])) any |= value_of(mark_of(w->m, fn, &places[k]));
    for (int k = 0; k < in->nplaces; k++)
        if (stack || takes(letters[k])) raise_mark(w, mark_of(w->m, fn, &places[k]), any);
    if (!stack || !any || w->m->active_stack) return;
    w->m->active_stack = true;
    w->changed = true;
}

static void visit_call(walk *w, uint32_t fn, const rvm_insn *in, const rvm_place *places) {
    const rvm_function *g = &w->m->p->functions[in->target];
    for (uint32_t k = 0; k < g->nparams; k++) {
        const rvm_param *param = &g->params[k];
        const rvm_place inside = {.kind = param->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = param->index};
        uint8_t *arg = mark_of(w->m, fn, &places[k]), *mark = mark_of(w->m, in->target, &inside);
        raise_mark(w, mark, value_of(arg));
        if (param->ndim || param->role != RVM_READ) raise_mark(w, arg, value_of(mark));
    }
}

static void visit(walk *w, uint32_t fn) {
    const rvm_function *f = &w->m->p->functions[fn];
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const rvm_insn *in = &f->code[pc];
        const rvm_place *places = rvm__places(f, in);
        if (in->op == RVM_OP_call || in->op == RVM_OP_uncall)
            visit_call(w, fn, in, places);
        else
            visit_places(w, fn, in, places);
    }
}

static bool allocate(rvm_machine *m) {
    const uint32_t n = m->p->nfunctions;
    if (m->active_slot_at) return true;
    size_t *at = rvm__resize(m, NULL, 0, 2 * (size_t)n * sizeof *at + 1);
    if (!at) return false;
    size_t slots = 1, arrays = 1;
    for (uint32_t k = 0; k < n; k++) {
        const rvm_function *f = &m->p->functions[k];
        at[k] = slots;
        at[n + k] = arrays;
        slots += f->nregs + f->nconsts;
        arrays += f->narrays;
    }
    m->active_slots = rvm__resize(m, NULL, 0, slots);
    m->active_arrays = m->active_slots ? rvm__resize(m, NULL, 0, arrays) : NULL;
    if (!m->active_arrays) { /* all of it or nothing */
        rvm__resize(m, m->active_slots, slots, 0);
        rvm__resize(m, at, 2 * (size_t)n * sizeof *at + 1, 0);
        m->active_slots = NULL;
        return false;
    }
    m->nactive_slots = slots;
    m->nactive_arrays = arrays;
    m->active_slot_at = at;
    m->active_array_at = at + n;
    return true;
}

bool rvm__activity(rvm_machine *m, uint32_t fn, const uint8_t *wrt) {
    walk w = {m, true};
    if (!allocate(m)) return false;
    memset(m->active_slots, 0, m->nactive_slots);
    memset(m->active_arrays, 0, m->nactive_arrays);
    m->active_stack = false;
    const rvm_function *f = &m->p->functions[fn];
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_place q = {.kind = f->params[k].ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = f->params[k].index};
        raise_mark(&w, mark_of(m, fn, &q), wrt[k]);
    }
    while (w.changed) {
        w.changed = false;
        for (uint32_t k = 0; k < m->p->nfunctions; k++) visit(&w, k);
    }
    return true;
}
