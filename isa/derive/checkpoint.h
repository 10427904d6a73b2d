/* checkpoint.h: loops whose adjoint runs them again from a few snapshots. Not installed.
 *
 * A loop that leaves something on the trail is made a function, X, whose adjoint keeps at most S states of what the loop
 * changes. All is bytecode, which every engine runs:
 *
 *   checkpoint_find.c    which loops, and what they read and change
 *   checkpoint_write.c   the functions of a loop, in a copy of the program; the loop becomes a call of X
 *   checkpoint_sweep.c   the code of X'adj, when it is derived (derive.c)
 *
 * With `places` for the parameters that all share, which are what the loop uses of its surroundings:
 *
 *   X'step(places, i)                   the body
 *   X'count(places, n, w)               n += trips; w += 1 where snapshots take less than the trail
 *   X'keep(places, pos, left)           a state moves onto the trail, with its number and how many more may be kept
 *   X'march(places, pos, left, n)       X'keep, and the state is the next one to be kept, of n in all
 *   X'rewind(places, pos, left, n)      the last snapshot comes back, and the state before state n is reached from there
 *   X(places)                           the loop: marches to the last trip, whose trail stays
 *
 * What is kept where is revolve (A. Griewank, A. Walther, ACM TOMS 26, 2000), as in std/checkpoint.rasm: forward, states
 * are kept as the first way down needs them, so that the values are computed once; then for each trip, the last first, the
 * last state that was kept is taken, and marches lead from it to the trip. */
#ifndef RVM_CHECKPOINT_H
#define RVM_CHECKPOINT_H

#include "program.h"
#include "support.h"

enum rvm__loop_use { RVM__LOOP_READS, RVM__LOOP_ADDS, RVM__LOOP_CHANGES };
typedef struct rvm__loop_place { /* of the function that the loop stands in, from outside of the loop */
    bool array;
    uint8_t use;
    uint16_t index;
} rvm__loop_place;

typedef struct rvm__loop {
    uint32_t fn, pc, end;    /* for and next */
    const char *why;         /* it is not taken; NULL: it is */
    uint32_t cells;          /* that a trip leaves on the trail; 0: not known */
    rvm__loop_place *places; /* registers, then arrays */
    uint32_t nplaces;
} rvm__loop;

typedef struct rvm__loops {
    rvm__loop *loops; /* by function, as they stand in the text */
    uint32_t n;
} rvm__loops;

/* Loops of fn and of what it calls that leave something on the trail: the outermost that can be taken, and those around it
 * that cannot, with the reason. In a loop that is taken, and in what it calls, nothing is looked for. p is verified. All in
 * `memory`. Errors: MEMORY. */
rvm_status rvm__loops_find(const rvm_program *p, uint32_t fn, rvm__zone *memory, rvm__loops *out, rvm_error *err);

/* Makes the loops of p functions; copy is a copy of p, not verified. states: at most so many are kept. Errors: UNSUPPORTED
 * (too many places), MEMORY; copy is incomplete then. */
rvm_status rvm__loops_outline(const rvm_program *p, const rvm__loops *loops, uint32_t states, rvm_program *copy,
                              rvm_error *err);

/* Adds a function that is fn, then its adjoint, which is declared for these active parameters, and what fn computes besides:
 * parameters are those of the adjoint, and behind them, for each parameter of fn that is not only read, one that gains its
 * value. Errors: UNSUPPORTED (too many parameters), MEMORY. */
rvm_status rvm__values_declare(rvm_program *p, uint32_t fn, uint32_t adjoint, const uint8_t *active, uint32_t *out,
                               rvm_error *err);

#endif
