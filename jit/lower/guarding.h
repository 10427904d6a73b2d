/* guarding.h: inside jit/. Parallel blocks that enforce roles while they run. */
#ifndef RVM_JIT_GUARDING_H
#define RVM_JIT_GUARDING_H

#include "emit.h"
#include "accesses.h"
#include "analysis.h"

typedef struct rvm__inspection { /* inspector.c */
    bool known, may;
    uint8_t *needed; /* by register: it says which elements are used */
} rvm__inspection;
typedef struct rvm__guarding {
    uint32_t par; /* the lower end */
    const struct rvm__plan *plan;
    rvm__inspection inspection[2]; /* where it goes down, up */
    LLVMValueRef clean, alone;     /* allocas of inspector.c, or NULL */
    struct rvm__guarding *next;
} rvm__guarding;

/* The direction in which code is walked, and what an instruction does in it. */
static inline int rvm__dir_of(const rvm__emit *e) {
    return e->control.context->dir;
}
static inline rvm_op rvm__op_now(const rvm__emit *e, const rvm_insn *in) {
    return rvm__dir_of(e) > 0 ? (rvm_op)in->op : rvm__op_inverse((rvm_op)in->op);
}
/* Instructions of the body, by pc, in the order in which they run now. */
#define RVM__EACH_NOW(e, g, pc)                                                                                             \
    for (uint32_t pc = rvm__dir_of(e) > 0 ? (g)->par + 1 : (e)->f->code[(g)->par].target - 1;                               \
         pc > (g)->par && pc < (e)->f->code[(g)->par].target; pc += (uint32_t)rvm__dir_of(e))

/* ---- guarding.c ---- */
/* Whether the block with an end at pc does; not in a function of chunks of it, which threads run only if it
 * rvm__is_alone. */
bool rvm__enforces(const rvm__emit *e, uint32_t pc);
/* Which of a function that is emitted go natively; false: out of memory, noted. */
bool rvm__find_guards(rvm__emit *e);
/* The block with an end at pc; NULL: it does not enforce roles, or this is not the function around it. */
rvm__guarding *rvm__guarding_at(const rvm__emit *e, uint32_t pc);
/* Whether instances use the array of the surroundings, with all that is part of it, in more than one way. */
bool rvm__is_asked(const struct rvm__plan *p, uint16_t root);
/* Whether the machine is asked before this access, of the block's text. */
bool rvm__asks_for(const rvm__emit *e, const rvm__guarding *g, const rvm__accesses *a);
/* Whether the block that is entered at pc is looked through before it runs in the direction in which code is walked. */
bool rvm__is_inspected(rvm__emit *e, uint32_t pc);
/* Whether the instruction updates a register that is needed for that. */
bool rvm__is_to_needed(const rvm__emit *e, const rvm_insn *in, const uint8_t *needed);

#endif
