/* far_wanted.h: which arguments the caches that a processor has to itself need not hold. What groups of instances read there
 * at random they prefetch (jit/lanes/ahead.c). */
#ifndef RVM_JIT_FAR_WANTED_H
#define RVM_JIT_FAR_WANTED_H

#include "cells.h"
#include "machine.h"

/* Of the bound call, by bit; the first 64: where its arrays together are larger than a second cache, those that are larger
 * than a first one. */
static inline uint64_t rvm__far_arguments(const rvm_machine *m) {
    enum { FIRST = 32 << 10, SECOND = 1 << 20 }; /* bytes */
    uint64_t far = 0;
    int64_t all = 0;
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k];
        const int64_t n = a->ndim ? rvm__cells(a) : 0;
        all += n < SECOND ? n : SECOND;
        if (k < 64 && n > FIRST / (int64_t)sizeof(rvm_value)) far |= UINT64_C(1) << k;
    }
    return all > SECOND / (int64_t)sizeof(rvm_value) ? far : 0;
}

#endif
