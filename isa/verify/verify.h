/* verify.h: the verifier's parts. Internal to isa/verify/.
 *
 *   verify.c         memory, the order of the passes, lengths of parameters
 *   wellformed.c     declarations, names, positions, symbols: what bytecode can say
 *   verify_shape.c   each instruction by itself: kinds and types of its places; pairing and nesting of jumps, loops, regions
 *   verify_flow.c    what is present where, along all paths; which array a view is part of; how parameters are accessed
 *   verify_roles.c   roles of parameters over the call graph
 *   verify_alias.c   places of one instruction, or arguments of a call, that overlap
 *   verify_rules.c   what must not change: lengths, loop bounds, what compute used
 *   verify_par.c     what the instances of a parallel block share; verify_forms.c: indices as functions of the instance
 *   verify_facts.c   indices that are in bounds
 *
 * A pass may rely on what the ones above it proved. Nothing here recurses, and time and memory are linear in the program
 * but for nesting, which is limited, and the snapshots of verify_flow.c, which are limited too.
 */
#ifndef RVM_VERIFY_H
#define RVM_VERIFY_H

#include "accesses.h"
#include "flowgraph.h"
#include "solver.h"
#include "support.h"

enum {
    RVM__MAX_SITE = INT32_MAX, /* sites are below it */
    RVM__MAX_WORDS = 64 << 20, /* of all snapshots: 256 MiB */
    RVM__NAME_SIZE = 64,       /* text of a place in a message */
    RVM__NO_SNAPSHOT = 0,      /* offset in `words` */
};

/* Where a function's entries begin in the tables that serve the whole program. */
typedef struct rvm__fn_base {
    size_t params, code;
    uint32_t nscalars; /* scalar parameters: the first registers */
} rvm__fn_base;

typedef struct rvm__verifier {
    rvm_program *p;
    rvm_error *err;
    uint32_t fn; /* the function being looked at */
    const rvm_function *f;
    const rvm__fn_base *at;
    rvm__fn_base *base; /* of each function, and one more */
    uint8_t *bits;      /* by parameter of the program: rvm__access_bits; behind them by function, not 0: uses the stack */
    uint32_t *snapshot; /* by instruction: offset in words (verify_flow.c) */
    uint32_t *words;    /* snapshots: registers, arrays, their numbers (verify_flow.c) */
    rvm__fact_edge *edges; /* a call hands the caller's parameter `to` on as the callee's `from`: indices into bits */
    uint32_t nwords, cap_words, nedges, cap_edges;
    uint32_t max_regs, max_arrays, max_code; /* of any function */
    rvm__zone memory;
    uint32_t *scope; /* of the present function, by instruction: the loop or region part it stands in (verify_shape.c) */
    char target[RVM_OP_LIMIT]; /* rvm__op_target */
    uint8_t *is_length;        /* of the present function, by register */
    const uint8_t *skip;       /* by function: it, or one that it calls, has no code yet; NULL: none */
} rvm__verifier;

/* Prove what skip leaves of a program in the making. v holds what was found until rvm__verify_release. */
rvm_status rvm__verify_part(rvm__verifier *v, rvm_program *p, const uint8_t *skip, rvm_error *err);
void rvm__verify_release(rvm__verifier *v);

/* Zeroed memory until the verifier ends; NULL when there is none. */
static inline void *rvm__verify_make(rvm__verifier *v, size_t count, size_t size) {
    return rvm__zone_make(&v->memory, count, size);
}
rvm_status rvm__verify_no_memory(rvm__verifier *v);
/* Of all that was made. */
static inline rvm_status rvm__verify_has_memory(rvm__verifier *v) {
    return v->memory.failed ? rvm__verify_no_memory(v) : RVM_OK;
}
/* The present function is each of those to be proved, one after the other. */
bool rvm__verify_next(rvm__verifier *v, uint32_t *fn); /* *fn: the first that may be the next */
#define RVM__EACH_FUNCTION(v) for (uint32_t fn_ = 0; rvm__verify_next(v, &fn_);)

#define RVM__REJECT(v, pc, ...)  rvm__fail_at((v)->err, RVM_ERR_VERIFY, (v)->p, (v)->fn, (pc), __VA_ARGS__)
#define RVM__OVERLAP(v, pc, ...) rvm__fail_at((v)->err, RVM_ERR_ALIAS, (v)->p, (v)->fn, (pc), __VA_ARGS__)
/* Names of places for messages; each valid to the end of the full expression. */
#define RVM__NAME(v, pc, place)       rvm__verify_name(v, pc, place, (char[RVM__NAME_SIZE]){0})
#define RVM__REG_NAME(v, pc, reg)     RVM__NAME(v, pc, (&(rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(reg)}))
#define RVM__ARRAY_NAME(v, pc, array) RVM__NAME(v, pc, (&(rvm_place){.kind = RVM_PLACE_ARRAY, .slot = (uint16_t)(array)}))
const char *rvm__verify_name(const rvm__verifier *v, uint32_t pc, const rvm_place *place, char *text);

/* ---- what an instruction does with its places ---- */
/* The first of its places that appear or disappear; their number if none does. Of an update only its target may. */
static inline uint32_t rvm__first_toggle(const rvm_insn *in, const char *letters) {
    const bool update = rvm__op_is_update((rvm_op)in->op);
    uint32_t k = 0;
    while (k < in->nplaces && !rvm__letter_toggles(letters[k])) k = update ? in->nplaces : k + 1;
    return k;
}
static inline bool rvm__is_register(const rvm_function *f, const rvm_place *q) {
    return q->kind == RVM_PLACE_SLOT && q->slot < f->nregs;
}
static inline bool rvm__is_const(const rvm_function *f, uint16_t slot) {
    return slot >= f->nregs;
}
static inline rvm_value rvm__const_value(const rvm_function *f, uint16_t slot) {
    return f->consts[slot - f->nregs];
}
/* Whether a function, or one that it calls, pushes or pops: index into bits. Spreads as the roles of parameters do. */
static inline size_t rvm__uses_stack(const rvm__verifier *v, uint32_t fn) {
    return v->base[v->p->nfunctions].params + fn;
}
/* The same of what an instruction calls. Behind the functions stand those of a shape, then the derived ones of a variant. */
static inline size_t rvm__calls_stack(const rvm__verifier *v, const rvm_insn *in) {
    const rvm_program *p = v->p;
    if (v->target[in->op] == 'F') return rvm__uses_stack(v, in->target);
    const rvm_variant *variant = p->variants + in->target;
    const bool itself = variant->parent == in->target;
    return rvm__uses_stack(v, p->nfunctions + (itself ? p->signatures[variant->of].shape : p->nsignatures + in->target));
}
static inline size_t rvm__nbits(const rvm__verifier *v) {
    return rvm__uses_stack(v, v->p->nfunctions + v->p->nsignatures + v->p->nvariants);
}
/* Registers that are present throughout: scalar parameters and lengths. */
static inline bool rvm__is_fixed(const rvm__verifier *v, uint32_t reg) {
    return reg < v->at->nscalars || v->is_length[reg];
}
static inline uint32_t rvm__array_params(const rvm__verifier *v) {
    return v->f->nparams - v->at->nscalars; /* the first arrays */
}

/* ---- passes ---- */
rvm_status rvm__verify_shape(rvm__verifier *v);
rvm_status rvm__verify_flow(rvm__verifier *v);
rvm_status rvm__verify_roles(rvm__verifier *v);
rvm_status rvm__verify_alias(rvm__verifier *v);
rvm_status rvm__verify_rules(rvm__verifier *v);
rvm_status rvm__verify_par(rvm__verifier *v);
rvm_status rvm__verify_facts(rvm__verifier *v);

#endif
