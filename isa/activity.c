/* activity.c: which places depend on the active parameters. See activity.h. */
#include "activity.h"

#include <string.h>

typedef struct walk {
    const rvm_program *p;
    rvm__activity *a;
    bool changed;
} walk;

static uint8_t *mark_of(const walk *w, uint32_t fn, const rvm_place *q) {
    const rvm_function *f = &w->p->functions[fn];
    if (q->kind == RVM_PLACE_RANGE || rvm__place_type(f, q) == RVM_I64) return NULL;
    if (q->kind != RVM_PLACE_SLOT) return &w->a->arrays[w->a->array_at[fn] + q->slot];
    return q->slot < f->nregs ? &w->a->slots[w->a->slot_at[fn] + q->slot] : NULL;
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
    return strchr("tywpaXVdr", letter) != NULL;
}
static bool takes(char letter) {
    return strchr("tywXVdr", letter) != NULL;
}

/* What one instruction puts on the trail others of its site take from there. */
static uint8_t *mark_of_site(const walk *w, uint32_t fn, const rvm_insn *in) {
    const int64_t site = rvm__insn_site(&w->p->functions[fn], in);
    return site < 0 ? NULL : &w->a->at_site[rvm__sites_find(w->a->sites, w->a->nsites, site)];
}

static void visit_places(walk *w, uint32_t fn, const rvm_insn *in, const rvm_place *places) {
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    const bool stack = rvm__op_on_stack((rvm_op)in->op);
    uint8_t *site = mark_of_site(w, fn, in), any = stack ? w->a->stack : value_of(site);
    for (int k = 0; k < in->nplaces; k++)
        if (gives(letters[k])) any |= value_of(mark_of(w, fn, &places[k]));
    for (int k = 0; k < in->nplaces; k++)
        if (stack || takes(letters[k])) raise_mark(w, mark_of(w, fn, &places[k]), any);
    raise_mark(w, site, any);
    if (!stack || !any || w->a->stack) return;
    w->a->stack = true;
    w->changed = true;
}

static void visit_callee(walk *w, uint32_t fn, const rvm_place *args, uint32_t callee) {
    const rvm_function *g = &w->p->functions[callee];
    raise_mark(w, &w->a->reached[callee], 1);
    for (uint32_t k = 0; k < g->nparams; k++) {
        const rvm_param *param = &g->params[k];
        const rvm_place inside = {.kind = param->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = param->index};
        uint8_t *arg = mark_of(w, fn, &args[k]), *mark = mark_of(w, callee, &inside);
        raise_mark(w, mark, value_of(arg));
        if (param->ndim || param->role != RVM_READ) raise_mark(w, arg, value_of(mark));
    }
}

/* Through a function value: whatever it may be. */
static void visit_call(walk *w, uint32_t fn, const rvm_insn *in, const rvm_place *places) {
    const rvm_place *args = places + rvm__callee_of(w->p, in).first;
    uint32_t at = 0, callee;
    while (rvm__next_callee(w->p, in, &at, &callee)) visit_callee(w, fn, args, callee);
}

static void visit(walk *w, uint32_t fn) {
    const rvm_function *f = &w->p->functions[fn];
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const rvm_insn *in = &f->code[pc];
        const rvm_place *places = rvm__places(f, in);
        if (rvm__is_call(in))
            visit_call(w, fn, in, places);
        else
            visit_places(w, fn, in, places);
    }
}

size_t rvm__activity_size(const rvm_program *p) {
    size_t bytes = (size_t)p->nfunctions * (2 * sizeof(size_t) + 1) + 1 + rvm__sites_most(p) * (sizeof(uint32_t) + 1);
    for (uint32_t k = 0; k < p->nfunctions; k++)
        bytes += (size_t)p->functions[k].nregs + p->functions[k].nconsts + p->functions[k].narrays;
    return bytes;
}

rvm__activity rvm__activity_in(const rvm_program *p, void *block) {
    const uint32_t n = p->nfunctions;
    rvm__activity a = {.slot_at = block};
    size_t slots = 0, arrays = 0;
    a.array_at = a.slot_at + n;
    a.sites = (uint32_t *)(a.array_at + n);
    a.nsites = rvm__sites_collect(p, a.sites);
    a.slots = (uint8_t *)(a.sites + a.nsites);
    for (uint32_t k = 0; k < n; k++) {
        a.slot_at[k] = slots;
        a.array_at[k] = arrays;
        slots += (size_t)p->functions[k].nregs + p->functions[k].nconsts;
        arrays += p->functions[k].narrays;
    }
    a.arrays = a.slots + slots;
    a.reached = a.arrays + arrays;
    a.at_site = a.reached + n;
    return a;
}

void rvm__activity_find(const rvm_program *p, rvm__activity *a, uint32_t fn, const uint8_t *wrt, bool stack) {
    walk w = {p, a, true};
    const uint8_t *end = (const uint8_t *)a->slot_at + rvm__activity_size(p);
    memset(a->slots, 0, (size_t)(end - a->slots));
    a->stack = stack;
    a->reached[fn] = 1;
    const rvm_function *f = &p->functions[fn];
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_place q = {.kind = f->params[k].ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = f->params[k].index};
        raise_mark(&w, mark_of(&w, fn, &q), wrt[k]);
    }
    while (w.changed) {
        w.changed = false;
        for (uint32_t k = 0; k < p->nfunctions; k++)
            if (a->reached[k]) visit(&w, k);
    }
}
