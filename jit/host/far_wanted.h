/* far_wanted.h: which arguments are larger than the caches that a processor has to itself. What groups of instances read
 * there at random they prefetch (jit/lanes/ahead.c). */
#ifndef RVM_JIT_FAR_WANTED_H
#define RVM_JIT_FAR_WANTED_H

#include "cells.h"
#include "machine.h"

/* Of the bound call, by bit; the first 64. */
static inline uint64_t rvm__far_arguments(const rvm_machine *m) {
    enum { NEAR = 1 << 20 }; /* bytes of a second cache */
    uint64_t far = 0;
    for (uint32_t k = 0; k < m->bound.nargs && k < 64; k++)
        if (m->bound.args[k].ndim && rvm__cells(&m->bound.args[k]) > NEAR / (int64_t)sizeof(rvm_value))
            far |= UINT64_C(1) << k;
    return far;
}

#endif
