/* checkpoint.h: loops whose adjoint runs them again from a few snapshots. Not installed.
 *
 * A loop that leaves something on the trail is made a function, X, whose adjoint keeps at most S states of what the loop
 * changes. All is bytecode, which every engine runs:
 *
 *   checkpoint_find.c    which loops, and what they read and change
 *   checkpoint_write.c   the functions of a loop, in a copy of the program; the loop becomes a call of X (outline.h)
 *   checkpoint_sweep.c   the code of X'adj, when it is derived (derive.c)
 *   checkpoint_values.c  f, then f'adj, and what f computed
 *
 * With `places` for the parameters that all share, which are what the loop uses of its surroundings:
 *
 *   X'step(places, i)                   the body, whose inner loops are functions, too
 *   X'run(places, i)                    the body as it is, for trips whose trail is forgotten; so are functions f'plain
 *   X'count(places, n, w, s)            n += trips, s += states that may be kept; w += 1 where they take less than the trail
 *   X'keep(places, pos, left)           a state moves onto the trail, with its number and how many more may be kept
 *   X'march(places, pos, left, n)       X'keep, and the state is the next one to be kept, of n in all
 *   X'rewind(places, pos, left, n)      the last snapshot comes back, and the state before state n is reached from there
 *   X(places)                           the loop: marches to the last trip, whose trail stays
 *
 * What is kept where is revolve (A. Griewank, A. Walther, ACM TOMS 26, 2000), as in std/checkpoint.rasm: forward, states
 * are kept as the first way down needs them, so that the values are computed once; then for each trip, the last first, the
 * last state that was kept is taken, and marches lead from it to the trip. Of `from` and `while` the end is not known:
 *
 *   X'head(places)                      the condition of the entry becomes that of a trip
 *   X'test(places, to)                  to += 1 if there is a trip
 *   X'walk(places, pos, goes, left, m)  X'keep, and m trips, if there are so many; goes -= 1 where there is none behind
 *   X'evict(places, deep)               the snapshot below so many others goes
 *   X(places)                           the loop: all trips are marched (checkpoint_online.c), then X'head
 *
 * In a compute part that changes what was there before it, shadows go along with the values, onto the trail, too: there the
 * adjoint of the inverse of X runs (derive.c). States have none. So where a shadow is not 0 it keeps the trail of all trips;
 * a number that comes behind all else tells the adjoint of X which of the two is there:
 *
 *   X'whole(places)                     the loop as it was
 *   checkpoint'note(k)                  k moves onto the trail: 0 for states, 1 for the trail of X'whole */
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
    uint32_t fn, pc, end;    /* for and next; of `from` and `while`, its come-froms (rvm__while) */
    bool whiles;             /* as long as a condition holds */
    bool turns;              /* gradients may run it by the adjoint of its inverse: in a compute part, or called backward */
    bool once;               /* what it leaves on the trail is of elements that it goes through once */
    const char *why;         /* it is not taken; NULL: it is */
    uint32_t cells;          /* that a trip leaves on the trail; 0: not known */
    rvm__loop_place *places; /* registers, then arrays */
    uint32_t nplaces;
} rvm__loop;

typedef struct rvm__loops {
    rvm__loop *loops; /* by function, as they stand in the text */
    uint32_t n;
} rvm__loops;

/* from P while Q, as it is assembled; c is P before the first trip, and Q behind the last:
 *
 *     pc: cff c, back ; unlet c <- P ; let c <- Q ; test: jf c, end ; unlet c <- Q ; body ; let c <- P ; back: jf c, pc ;
 * trap end: cff c, test
 */
typedef struct rvm__while {
    uint32_t test, back, end;
} rvm__while;
rvm__while rvm__while_at(const rvm_function *f, uint32_t pc); /* all 0: there is none */

/* Loops of fn and of what it calls that leave something on the trail: the outermost that can be taken, and those around it
 * that cannot, with the reason. In a loop that is taken, and in what it calls, nothing is looked for. p is verified. All in
 * `memory`. Errors: MEMORY. */
rvm_status rvm__loops_find(const rvm_program *p, uint32_t fn, rvm__zone *memory, rvm__loops *out, rvm_error *err);

/* How many states of a loop are kept; 0: as many as have so many cells in all. */
typedef struct rvm__snapshots {
    uint32_t states;
    int64_t cells;
} rvm__snapshots;

/* Makes the loops of p functions; copy is a copy of p, not verified. Errors: UNSUPPORTED (too many places), MEMORY; copy is
 * incomplete then. */
rvm_status rvm__loops_outline(const rvm_program *p, const rvm__loops *loops, const rvm__snapshots *snapshots,
                              rvm_program *copy, rvm_error *err);

/* Adds a function that is fn, then its adjoint, which is declared for these active parameters, and what fn computes besides:
 * parameters are those of the adjoint, and behind them, for each parameter of fn that is not only read, one that gains its
 * value. Errors: UNSUPPORTED (too many parameters), MEMORY. */
rvm_status rvm__values_declare(rvm_program *p, uint32_t fn, uint32_t adjoint, const uint8_t *active, uint32_t *out,
                               rvm_error *err);

#endif
