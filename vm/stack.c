/* stack.c: the typed stack of push and pop. */
#include "memory.h"
#include "out_of_line.h"

rvm_status rvm__push(rvm_machine *m, rvm_type type, rvm_value value, rvm_value shadow) {
    size_t cap = m->cap_stack;
    if (!rvm__reserve(m, (void **)&m->stack, &cap, (size_t)m->nstack + 1, sizeof *m->stack)) return RVM_ERR_MEMORY;
    m->cap_stack = (uint32_t)cap;
    m->stack[m->nstack++] = (rvm__cell){value, shadow, (uint8_t)type, 0, 0};
    return RVM_OK;
}

const rvm__cell *rvm__top(const rvm_machine *m, rvm_type type) {
    const rvm__cell *top = m->nstack ? &m->stack[m->nstack - 1] : NULL;
    return top && top->type == type && !top->extra ? top : NULL;
}

/* y, whose bits are not all 0, is 0 as far as its type can tell. */
bool rvm__pop_empty(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y) {
    return rvm__is_floating((rvm_type)x->type) && (y->f == 0 || rvm__agrees(m, x, y->f, 0));
}

bool rvm__popc_agrees(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y, const rvm__cell *top) {
    if (x->flags & X_UNCHECKED) return true;
    if (!rvm__is_floating((rvm_type)x->type)) return y->i == top->value.i;
    return y->f == top->value.f || rvm__agrees(m, x, y->f, top->value.f);
}

void rvm__popc_gain(const rvm__xinsn *x, rvm_value *shadow, const rvm__cell *top, bool lose) {
    const rvm_type t = (rvm_type)x->type;
    const rvm_value gain = !lose                 ? top->shadow
                           : rvm__is_floating(t) ? (rvm_value){.f = -top->shadow.f}
                                                 : (rvm_value){.u = -top->shadow.u};
    *shadow = rvm__sum(t, *shadow, gain);
}
