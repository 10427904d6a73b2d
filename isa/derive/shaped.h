/* shaped.h: a program with functions for arrays of given lengths, for engines that compile (fold.c). Not installed.
 *
 * A copy has the frame of the function that it is a copy of: the same registers and arrays, its instructions under the same
 * numbers; only that what it reads may be a constant instead of a register that holds this value. So a run that stands in
 * the copy stands likewise in the function. Its constants are others, so that hidden slots have other numbers.
 */
#ifndef RVM_SHAPED_H
#define RVM_SHAPED_H

#include "program.h"
#include "support.h"

typedef struct rvm__shaped_copy {
    uint32_t of;    /* the function */
    uint32_t nregs; /* its registers, */
    int64_t *value; /* by number: what it is known to hold, as bits of an i64; -1: unknown, or that */
} rvm__shaped_copy;

typedef struct rvm__shaped {
    rvm_program *p; /* the functions of the program, under their numbers, and the copies behind */
    uint32_t fn;    /* the copy that was asked for */
    uint32_t first, ncopies;
    rvm__shaped_copy *copies; /* by number from `first` on */
    rvm__zone memory;
} rvm__shaped;

/* Function fn of p, verified, for lengths by register: -1 where nothing is given; and copies of what it calls with them.
 * *out is the caller's, to be freed by rvm__shaped_free, nothing on failure. Errors: what the verifier finds wrong with
 * these lengths (two elements are the same), MEMORY. */
rvm_status rvm__shaped_make(const rvm_program *p, uint32_t fn, const int64_t *lengths, rvm__shaped *out, rvm_error *err);
void rvm__shaped_free(rvm__shaped *s); /* nothing is allowed */

/* The registers that hold lengths of the function's parameters, each once, in the order in which these name them; at most so
 * many. */
uint32_t rvm__length_registers(const rvm_function *f, uint16_t *to, uint32_t most);

/* The copy that function fn is, or NULL: one of the program's own. */
const rvm__shaped_copy *rvm__shaped_at(const rvm__shaped *s, uint32_t fn);

#endif
