/* borrow.c: regions whose compute part changes a place with a shadow that was there before it, and gives it back at `undo`.
 *
 * The adjoint of a region runs C again, B's adjoint, C's adjoint. What C makes appear has shadow 0 while C runs again, so
 * that C may run plainly; a borrowed place has a shadow that must go along, so that C must run as an adjoint. One pass: a
 * change of a place inside a compute part borrows if the place appeared before the part. */
#include "activity.h"
#include "accesses.h"

typedef struct part { /* an open region */
    uint32_t compute;
    uint32_t oldest; /* birth of the oldest place changed in the present part of it */
} part;

typedef struct pass {
    const rvm_program *p;
    const rvm__activity *a;
    const rvm_function *f;
    uint32_t fn;
    uint32_t *births; /* instruction that made a register, then an array that is no view, appear; 0: a parameter */
    part *open;
    uint32_t depth;
    void (*found)(void *userdata, uint32_t compute, uint32_t undo);
    void *userdata;
} pass;

static uint32_t *birth_of(const pass *p, const rvm_place *q) {
    return &p->births[q->kind == RVM_PLACE_SLOT ? q->slot : p->f->nregs + p->f->nconsts + rvm__root_of(p->f, q)];
}

static void change(pass *p, const rvm_place *q) {
    if (!p->depth || !rvm__is_active(p->p, p->a, p->fn, q)) return;
    part *top = &p->open[p->depth - 1];
    if (*birth_of(p, q) < top->oldest) top->oldest = *birth_of(p, q);
}

/* Names and empty arrays come and go without a change; a copy on the stack takes the shadow along. */
static bool changes(const rvm__accesses *a) {
    const enum rvm_pair pair = rvm__pair_of(a->in->op);
    if (a->appears || pair == RVM_PAIR_view || pair == RVM_PAIR_like) return false;
    return a->bits & RVM__BITS_ACC || pair == RVM_PAIR_pushc;
}

static void visit(pass *p, uint32_t pc, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, p->p, p->f, in) {
        if (changes(&a)) change(p, a.q);
        if (a.appears && in->op != RVM_OP_view) *birth_of(p, a.q) = pc;
    }
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
    return (1 + (size_t)rvm__ops_in(f, RVM_OP_compute)) * sizeof(part) + births(f) * sizeof(uint32_t);
}

void rvm__borrow_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch,
                      void (*found)(void *userdata, uint32_t compute, uint32_t undo), void *userdata) {
    const rvm_function *f = &p->functions[fn];
    pass s = {.p = p, .a = a, .f = f, .fn = fn, .found = found, .userdata = userdata};
    s.births = scratch;
    s.open = (part *)(s.births + births(f));
    RVM__EACH_INSN(x, f) visit(&s, x.pc, x.in);
}
