/* restore.h: whether what came back is what went in.
 *
 * Going back divides where the run multiplied and subtracts where it added, so that what rounding lost may grow, and a sweep
 * works on what it finds. So whatever goes back to the start, on any engine, ends with this comparison, by the role of each
 * argument:
 *
 *   read         did not change
 *   own          each real came back within tolerance * max(1, |what went in|), of f32 10^4 times that; i64 and fix exactly,
 *                since they may depend on reals, and no assertion fails where all use the same wrong one
 *   accumulate   likewise, with the largest magnitude that its elements had at the end in place of 1: what it gained was
 *                computed from what had come back, so that what is left of it tells of places that are no arguments
 *
 * An element that went in infinite or NaN may be anything. Where a release of the program states a wider tolerance than the
 * machine's, that holds: what it drops comes back as far off.
 */
#ifndef RVM_RESTORE_H
#define RVM_RESTORE_H

#include "machine.h"
#include "instruction.h"

/* What a comparison needs to know beside the arguments. */
typedef struct rvm__restoring {
    rvm_machine *m; /* whose program and options they are */
    uint32_t fn;
    int64_t of;          /* f, which ran forward; the values of fn are its parameters */
    const uint8_t *only; /* by parameter: others are not compared; NULL: all are */
    double stated;       /* a tolerance that releases of the program state, where that is wider than the machine's */
    int kept;            /* as what they were kept, rvm__kept_for, plus 1, where a device may have some; 0: it has none */
    const bool *near;    /* by parameter: those that a device has found near: not compared; NULL: all are */
} rvm__restoring;

/* The element that is farthest from what it must be, in units of what it may be off; 0: none is too far off. */
typedef struct rvm__farthest {
    double excess;
    uint32_t param;
    int64_t element;
    rvm_value was, now;
} rvm__farthest;

/* Whether what comes back of such a parameter is compared. */
bool rvm__is_compared(const rvm_param *q);

/* was: what went in, for each parameter its elements side by side; now: what came back; sizes: by parameter, what the
 * tolerance is relative to where that is more than 1, NULL: it is nowhere. */
rvm__farthest rvm__farthest_off(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, const double *sizes);

/* Sets near[k] where a device has what the parameter was and is, and has found that near: whether any is. What was kept of
 * all else, and all of it for a comparison that goes on, has to be fetched. */
bool rvm__find_near(const rvm__restoring *r, const rvm_arg *now, bool *near);
rvm_status rvm__fetch_kept(const rvm__restoring *r, const bool *near, rvm_error *err);

/* NOT_RESTORABLE, and what helps. */
rvm_status rvm__tell_farthest(const rvm__restoring *r, const rvm_arg *now, const rvm__farthest *w, rvm_error *err);

/* f where fn is f'grad, with m->is_value telling which of its parameters are f's; else -1. From names, which is done once
 * for calls in a row of one function. */
int64_t rvm__known_gradient_of(rvm_machine *m, uint32_t fn);

/* For runs by a machine: copies what the comparison needs of its bound arguments, in memory that the machine keeps for the
 * next time (MEMORY), if the run may go back. */
rvm_status rvm__keep_inputs(rvm_machine *m, rvm_error *err);
void rvm__inputs_free(rvm_machine *m);

#endif
