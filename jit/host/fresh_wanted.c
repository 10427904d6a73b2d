/* fresh_wanted.c: see fresh_wanted.h. */
#include "fresh_wanted.h"

#include "cells.h"
#include "first_block.h"
#include "fresh.h"
#include "lengths.h"

/* Whether native code writes it itself: each instance of its first block a few elements, whose number is known. */
static bool writes_itself(const rvm_program *p, const rvm_function *f, uint32_t k, const rvm__lengths *lengths) {
    rvm__first_block b;
    uint64_t n = 1;
    if (!rvm__first_block_of(p, f, k, &b)) return false;
    for (int d = 0; d < f->params[k].ndim; d++) {
        if (rvm__is_within_part(&b, d)) n *= rvm__length_known(f, &f->params[k], d, lengths);
        if (n > RVM__MOST_FRESH) return false;
    }
    return n > 0;
}

/* Fresh arguments of the call. */
void rvm__want_fresh(const rvm_machine *m, const rvm__native_place *at, rvm__lowering *what) {
    const rvm_function *f = &m->p->functions[what->fn];
    for (uint32_t k = 0; rvm__is_unwritten(m, at) && k < f->nparams && k < 64; k++) {
        if (!m->bound.args[k].fresh || !writes_itself(m->p, f, k, &what->lengths)) continue;
        what->fresh |= UINT64_C(1) << k;
        if (rvm__passes_caches(rvm__cells(&m->bound.args[k]))) what->streams |= UINT64_C(1) << k;
    }
}
