/* answers.h: what vm/derivatives/ needs of the machine that no caller of it may have: memory that counts as the machine's,
 * the gradient program that it keeps, a look at the instruction that runs next. hessian.h has the sweep that carries a
 * Hessian. All else there is on the public headers. */
#ifndef RVM_ANSWERS_H
#define RVM_ANSWERS_H

#include "rvm_derivatives.h"

/* ---- memory (memory.c) ---- */

/* What is kept for the next time: arguments as they were before a run, and as it left them (derived.c); storage of answers
 * (spec.c, products.c); of directions at once, and of one (directions.c); arguments of one more run (rerun.c); stops of a
 * run (stops.c); what a clone is bound to (clone.c); a line that is shown (print.c). */
enum rvm__keeps {
    RVM__INPUTS,
    RVM__RESULTS,
    RVM__SPEC,
    RVM__PRODUCT,
    RVM__DIRECTIONS,
    RVM__DIRECTION,
    RVM__AGAIN,
    RVM__STOPS,
    RVM__CLONED,
    RVM__PRINTED,
    RVM__KEEPS
};
/* At least `size` bytes, until more are asked for; freed with the machine. NULL: out of memory. */
void *rvm__room(rvm_machine *m, enum rvm__keeps which, size_t size);
/* realloc through the machine's allocator within options.memory; NULL leaves the block as it was. */
void *rvm__resize(rvm_machine *m, void *p, size_t old_size, size_t new_size);
/* A new block of it, all bytes 0. */
void *rvm__zeroed(rvm_machine *m, size_t size);
/* MEMORY, and the limit where there is one. */
rvm_status rvm__no_memory(const rvm_machine *m, rvm_error *err);

/* ---- the gradient program (derived.c) ---- */

/* f'grad by the parameters marked in wrt, which the machine keeps for the next time, with a machine of its own that runs
 * natively if this one does. Errors: UNSUPPORTED (there is none, and why), MEMORY. */
typedef struct rvm__gradient {
    rvm_machine *machine;
    uint32_t fn;
    const uint8_t *active; /* by parameter of f: wrt, and what depends on those, too */
} rvm__gradient;
rvm_status rvm__gradient_program(rvm_machine *m, uint32_t fn, const uint8_t *wrt, rvm__gradient *out, rvm_error *err);
/* rvm_tangent of it, counted as a run of m, whose f is `of`; args are free again. */
rvm_status rvm__gradient_tangent(rvm_machine *m, uint32_t of, const rvm__gradient *g, rvm_arg *args, uint32_t nargs,
                                 rvm_error *err);

/* ---- tangents along several directions, gradients of several results (directions.c) ---- */

typedef struct rvm__directions {
    void *of;
    int64_t n;
    void (*set)(void *of, int64_t k);            /* inputs, the same for all, and direction k into arguments and shadows */
    rvm_status (*run)(void *of, rvm_error *err); /* its tangent, or gradient */
    void (*get)(void *of, int64_t k);            /* what it left in shadows */
} rvm__directions;
/* All of them, of fn on m, in tangent or gradient mode: as by set, run and get for each in order, or natively by some in one
 * run, which sets all before it gets any, and may do some again. What ran is told by the statistics of `counts`: m, or the
 * machine that m is the gradient program's of. The error of `run`, or MEMORY, CANCELLED. */
rvm_status rvm__each_direction(rvm_machine *m, rvm_machine *counts, rvm_mode mode, int64_t fn, rvm_arg *args, uint32_t nargs,
                               const rvm__directions *x, rvm_error *err);

/* ---- native code (native.c) ---- */

/* Whether derivatives of so many instructions run natively. */
bool rvm__native_takes(const rvm_machine *m, uint64_t instructions);
/* A derivative of fn is interpreted, for this reason (static). */
void rvm__native_tell_interpreted(rvm_machine *m, uint32_t fn, const char *why);
/* n elements of an argument that runs only read until all such are let go: a device keeps them. */
void rvm__hold(rvm_machine *m, const void *data, uint64_t n);
void rvm__let_go(rvm_machine *m);

/* ---- points without a derivative (corners.c) ---- */

/* Of a bound run with tangents: the operands of the instruction that runs next by which it has no derivative there, where
 * they are active; how many. corners: only those by which it has one elsewhere. */
int rvm__nonsmooth_here(const rvm_machine *m, bool corners, rvm_nonsmooth_point out[3]);
/* Whether some active operand of the program may have a corner. */
bool rvm__may_meet_corner(const rvm_machine *m);

#endif
