/* plan.h: inside jit/. What a parallel block uses of its surroundings. */
#ifndef RVM_JIT_PLAN_H
#define RVM_JIT_PLAN_H

#include "emit.h"
#include "first_block.h"

/* By array, beside the bits of accesses.h: it is of the surroundings and used; has a copy for each chunk; is only read;
 * gains chunk by chunk in any case (isa/analysis/summed.h); several instances may add into an element of it; each instance
 * has a part of its own, which is kept while a chunk runs. */
enum { RVM__TOUCHED = 4, RVM__COPIED = 8, RVM__SHARED_READ = 16, RVM__SUMMED = 32, RVM__MEETS = 64, RVM__SAVED = 128 };

typedef struct rvm__plan {
    const char *why;         /* it may run neither in threads nor on a device; NULL: it may, where instances do not meet */
    const char *serial;      /* it may not run in threads; NULL: it may, where they do not */
    uint32_t par;            /* the lower end */
    uint16_t *regs, *arrays; /* of the surroundings, those that are read or touched */
    uint32_t nregs, narrays;
    uint8_t *bits;         /* by array: how it, and what is part of it, is used */
    uint16_t *base;        /* by array of the surroundings that is touched: what it is part of */
    rvm__first_block *own; /* by array of RVM__SAVED: its parts */
    bool undone;           /* instances change what is left when a chunk is taken back */
    bool lost;             /* what they overwrite is discarded */
    bool guarded;          /* roles are enforced while it runs; of this and the next see rvm__why_not_apart */
    bool meets;            /* several instances may add into an element of an array that they do not only add into */
    uint64_t work, load;   /* of an instance (analysis.h) */
} rvm__plan;

/* ---- plan.c ---- */
/* Of the block with an end at pc; NULL: out of memory, noted. */
const rvm__plan *rvm__plan_of(const rvm__emit *e, uint32_t pc);
/* Of an array of the plan: where it stands in p->arrays. */
uint32_t rvm__plan_index(const rvm__plan *p, uint16_t array);

#endif
