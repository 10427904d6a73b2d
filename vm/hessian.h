/* hessian.h: the backward sweep to second order. While a machine has m->hessian, rvm_machine_sweep goes instruction by
 * instruction and carries, besides values and adjoints, the Hessian of the seeded result in the places at hand
 * (symmetric.h). At the start of the function those are its parameters. */
#ifndef RVM_HESSIAN_H
#define RVM_HESSIAN_H

#include "symmetric.h"

typedef struct rvm__hessian {
    rvm__sym h;
    uint64_t most;  /* entries that may be changed; 0: no limit */
    uint64_t steps; /* instructions swept one by one */
    bool gave_up;   /* `most` was reached: the sweep ended with RVM_ERR_UNSUPPORTED */
} rvm__hessian;

/* For vm/derivatives/: rvm_machine_sweep of the bound call that carries *h, which is initialised, with `most`. */
rvm_status rvm__hessian_sweep(rvm_machine *m, rvm__hessian *h, rvm_error *err);
/* After it: the number that a row has in each_entry, by a scalar parameter of the function, or by the shadow of an element.
 */
void rvm__hessian_label(const rvm_machine *m, const rvm__hessian *h, uint32_t param, const rvm_scalar *element,
                        int64_t label);
/* Before it: a number for an output, whose Jacobian is carried, too, and is labelled by it afterwards; n of them. False: out
 * of memory. */
bool rvm__hessian_seed(const rvm_machine *m, rvm__hessian *h, uint32_t param, const rvm_scalar *element, int64_t number);
void rvm__hessian_label_seeds(const rvm__hessian *h, int64_t n);
/* Every entry both of whose ends have a label, once. */
void rvm__hessian_each(const rvm__hessian *h, void (*visit)(void *to, int64_t i, int64_t j, double v), void *to);

/* frames.c, in a sweep: scalar argument k of a call whose parameter stands at `slot`. place NULL: a constant or an inactive
 * place. again: another argument of the call shares the place. False: out of memory. */
bool rvm__hessian_pass(rvm_machine *m, rvm__key place, size_t slot, bool again, rvm_role role);
bool rvm__hessian_return(rvm_machine *m, rvm__key place, size_t slot, bool again, rvm_role role);

/* Keys: a register's shadow by its number, since the stack of slots moves when it grows; an element's by its address. */
static inline rvm__key rvm__slot_key(size_t slot) {
    return (rvm__key)slot << 3 | 1;
}
static inline rvm__key rvm__cell_key(size_t cell) {
    return (rvm__key)cell << 3 | 2;
}
static inline rvm__key rvm__temporary_key(int k) {
    return (rvm__key)k << 3 | 3;
}
static inline rvm__key rvm__element_key(const void *shadow) {
    return (rvm__key)(uintptr_t)shadow;
}

#endif
