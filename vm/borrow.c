/* borrow.c: regions whose compute part changes a place with a shadow that was there before it, and gives it back at `undo`.
 *
 * The adjoint of a region runs C again, B's adjoint, C's adjoint. What C makes appear has shadow 0 while C runs again, so
 * that C may run plainly; a borrowed place has a shadow that must go along, so that C must run as an adjoint. One pass: a
 * change of a place inside a compute part borrows if the place appeared before the part. */
#include "memory.h"
#include "prepare.h"

typedef struct part { /* an open region */
    uint32_t compute;
    uint32_t oldest; /* birth of the oldest place changed in the present part of it */
} part;

typedef struct pass {
    const rvm_machine *m;
    const rvm_function *f;
    uint32_t fn;
    uint32_t *births; /* instruction that made a register, then an array, appear; 0: a parameter */
    part *open;
    uint32_t depth;
} pass;

static bool is_active(const pass *p, const rvm_place *q) {
    if (q->kind == RVM_PLACE_RANGE || rvm__place_type(p->f, q) == RVM_I64) return false;
    if (q->kind == RVM_PLACE_SLOT) return p->m->active_slots[p->m->active_slot_at[p->fn] + q->slot];
    return p->m->active_arrays[p->m->active_array_at[p->fn] + q->slot];
}

static uint32_t *birth_of(const pass *p, const rvm_place *q) {
    return &p->births[q->kind == RVM_PLACE_SLOT ? q->slot : p->f->nregs + p->f->nconsts + q->slot];
}

static void change(pass *p, const rvm_place *q) {
    if (!p->depth || !is_active(p, q)) return;
    part *top = &p->open[p->depth - 1];
    if (*birth_of(p, q) < top->oldest) top->oldest = *birth_of(p, q);
}

static void visit_places(pass *p, const rvm_insn *in, const rvm_place *places) {
    if (in->op == RVM_OP_call || in->op == RVM_OP_uncall) {
        for (int k = 0; k < in->nplaces; k++)
            if (p->m->p->functions[in->target].params[k].role != RVM_READ) change(p, &places[k]);
        return;
    }
    const char *operands = rvm__op_info[in->op].operands;
    for (int k = 0; k < in->nplaces && (operands || k == 0); k++)
        if (in->op != RVM_OP_let && in->op != RVM_OP_new && in->op != RVM_OP_view && in->op != RVM_OP_unview)
            change(p, &places[k]);
}

static void visit(pass *p, uint32_t pc, rvm__xinsn *x) {
    const rvm_insn *in = &p->f->code[pc];
    const rvm_place *places = rvm__places(p->f, in);
    visit_places(p, in, places);
    if (in->op == RVM_OP_let || in->op == RVM_OP_new) *birth_of(p, &places[0]) = pc;
    if (in->op == RVM_OP_view) *birth_of(p, &places[0]) = *birth_of(p, &places[1]);
    if (in->op == RVM_OP_compute) p->open[p->depth++] = (part){pc, UINT32_MAX};
    if (in->op == RVM_OP_do) {
        part *top = &p->open[p->depth - 1];
        if (top->oldest < top->compute) {
            x[top->compute].flags |= X_BORROWS;
            x[in->target].flags |= X_BORROWS;
        }
        top->oldest = UINT32_MAX;
    }
    if (in->op == RVM_OP_undo) {
        const uint32_t oldest = p->open[--p->depth].oldest;
        if (p->depth && oldest < p->open[p->depth - 1].oldest) p->open[p->depth - 1].oldest = oldest;
    }
}

bool rvm__mark_borrowing(rvm_machine *m, uint32_t fn, rvm__xinsn *x) {
    const rvm_function *f = &m->p->functions[fn];
    pass p = {.m = m, .f = f, .fn = fn};
    uint32_t regions = 1;
    for (uint32_t pc = 0; pc < f->ncode; pc++) regions += f->code[pc].op == RVM_OP_compute;
    if (regions == 1) return true;
    p.open = rvm__scratch(m, SCRATCH_OPEN, regions * sizeof *p.open);
    p.births = rvm__scratch(m, SCRATCH_BIRTHS, ((size_t)f->nregs + f->nconsts + f->narrays) * sizeof *p.births);
    if (!p.open || !p.births) return false;
    for (uint32_t pc = 0; pc < f->ncode; pc++) visit(&p, pc, x);
    return true;
}
