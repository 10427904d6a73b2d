/* c_function.h: inside jit/, on both sides of the module. What the C function made of a function of a program takes: its
 * parameters, in order, then each length that has a name, once.
 *
 *     a scalar that is only read                 its value: int64_t, double
 *     another scalar, an array (row-major)       its address
 */
#ifndef RVM_JIT_C_FUNCTION_H
#define RVM_JIT_C_FUNCTION_H

#include "program.h"

enum { RVM__C_NAME = 200 };       /* characters of the name of a C function, at most, with the 0 at its end */
#define RVM__C_MESSAGE "_message" /* behind it: the function that explains what it returns */

/* Registers that hold lengths, as they are met. */
typedef struct rvm__c_lengths {
    uint32_t n;
    uint16_t slot[RVM_MAX_PARAMS * RVM_MAX_DIMS];
} rvm__c_lengths;

static inline void rvm__c_lengths_find(const rvm_function *f, rvm__c_lengths *l) {
    l->n = 0;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++) {
            const uint16_t slot = f->params[k].dim[d];
            uint32_t at = 0;
            while (at < l->n && l->slot[at] != slot) at++;
            if (at == l->n && slot < f->nregs) l->slot[l->n++] = slot;
        }
}

static inline bool rvm__c_by_value(const rvm_param *p) {
    return !p->ndim && p->role == RVM_READ;
}

#endif
