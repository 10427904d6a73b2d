/* borrow.c: regions whose compute part changes a place with a shadow that was there before it, and gives it back at `undo`.
 *
 * The adjoint of a region runs C again, B's adjoint, C's adjoint. What C makes appear has shadow 0 while C runs again, so
 * that C may run plainly; a borrowed place has a shadow that must go along, so that C must run as an adjoint. One pass: a
 * change of a place inside a compute part borrows if the place appeared before the part. */
#include "activity.h"
#include "builder.h"

typedef struct part { /* an open region */
    uint32_t compute;
    uint32_t oldest; /* birth of the oldest place changed in the present part of it */
} part;

typedef struct pass {
    const rvm_program *p;
    const rvm__activity *a;
    const rvm_function *f;
    uint32_t fn;
    uint32_t *births; /* instruction that made a register, then an array, appear; 0: a parameter */
    part *open;
    uint32_t depth;
    void (*found)(void *userdata, uint32_t compute, uint32_t undo);
    void *userdata;
} pass;

static uint32_t *birth_of(const pass *p, const rvm_place *q) {
    return &p->births[q->kind == RVM_PLACE_SLOT ? q->slot : p->f->nregs + p->f->nconsts + q->slot];
}

static void change(pass *p, const rvm_place *q) {
    if (!p->depth || !rvm__is_active(p->p, p->a, p->fn, q)) return;
    part *top = &p->open[p->depth - 1];
    if (*birth_of(p, q) < top->oldest) top->oldest = *birth_of(p, q);
}

static void visit_places(pass *p, const rvm_insn *in, const rvm_place *places) {
    if (rvm__is_call(in)) {
        const rvm_callee g = rvm__callee_of(p->p, in);
        for (uint32_t k = 0; k < g.nparams; k++)
            if (g.params[k].role != RVM_READ) change(p, &places[g.first + k]);
        return;
    }
    const char *operands = rvm__op_info[in->op].operands;
    if (in->op == RVM_OP_let || in->op == RVM_OP_recall || in->op == RVM_OP_new || in->op == RVM_OP_view ||
        in->op == RVM_OP_unview || in->op >> 1 == RVM_PAIR_like)
        return;
    for (int k = 0; k < in->nplaces && (operands || k == 0); k++) change(p, &places[k]);
}

static void visit(pass *p, uint32_t pc) {
    const rvm_insn *in = &p->f->code[pc];
    const rvm_place *places = rvm__places(p->f, in);
    visit_places(p, in, places);
    if (in->op == RVM_OP_let || in->op == RVM_OP_new || in->op == RVM_OP_like) *birth_of(p, &places[0]) = pc;
    for (int k = 2; in->op == RVM_OP_recall && k < in->nplaces; k++) *birth_of(p, &places[k]) = pc;
    if (in->op == RVM_OP_view) *birth_of(p, &places[0]) = *birth_of(p, &places[1]);
    if (in->op == RVM_OP_compute) p->open[p->depth++] = (part){pc, UINT32_MAX};
    if (in->op == RVM_OP_do) {
        part *top = &p->open[p->depth - 1];
        if (top->oldest < top->compute) p->found(p->userdata, top->compute, in->target);
        top->oldest = UINT32_MAX;
    }
    if (in->op == RVM_OP_undo) {
        const uint32_t oldest = p->open[--p->depth].oldest;
        if (p->depth && oldest < p->open[p->depth - 1].oldest) p->open[p->depth - 1].oldest = oldest;
    }
}

static size_t births(const rvm_function *f) {
    return (size_t)f->nregs + f->nconsts + f->narrays;
}

size_t rvm__borrow_scratch(const rvm_function *f) {
    size_t regions = 1;
    for (uint32_t pc = 0; pc < f->ncode; pc++) regions += f->code[pc].op == RVM_OP_compute;
    return regions * sizeof(part) + births(f) * sizeof(uint32_t);
}

void rvm__borrow_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch,
                      void (*found)(void *userdata, uint32_t compute, uint32_t undo), void *userdata) {
    const rvm_function *f = &p->functions[fn];
    pass s = {.p = p, .a = a, .f = f, .fn = fn, .found = found, .userdata = userdata};
    s.births = scratch;
    s.open = (part *)(s.births + births(f));
    for (uint32_t pc = 0; pc < f->ncode; pc++) visit(&s, pc);
}
