/* fresh_wanted.h: which fresh arguments (vm/fresh.h) code is to write itself. */
#ifndef RVM_JIT_FRESH_WANTED_H
#define RVM_JIT_FRESH_WANTED_H

#include "fresh.h"
#include "module.h"

/* Whether the bound call begins there, and nothing has written yet what its fresh arguments count as. */
static inline bool rvm__is_unwritten(const rvm_machine *m, const rvm__native_place *at) {
    return rvm__fresh_unwritten(m) && m->store.nframes == 1 && !at->pc && at->dir > 0 && !m->jit.device && !m->o.profile;
}
/* Of such a call: what->fresh and what->streams; its function and lengths are known. */
void rvm__want_fresh(const rvm_machine *m, const rvm__native_place *at, rvm__lowering *what);

#endif
