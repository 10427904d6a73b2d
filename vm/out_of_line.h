/* out_of_line.h: what handlers call rather than inline. x is the instruction the machine stands on. */
#ifndef RVM_OUT_OF_LINE_H
#define RVM_OUT_OF_LINE_H

#include "handlers.h"
#include "machine.h"

/* run_*.c: run until an end, a failure, or after one instruction if m->single. m->pc, m->dir, m->where tell where it
 * stopped. */
rvm_status rvm__run_primal(rvm_machine *m);
rvm_status rvm__run_gradient(rvm_machine *m);
rvm_status rvm__run_tangent(rvm_machine *m);

/* Budget spent: look at fuel, the cancel flag and the caller's progress function; grant the next slice. */
rvm_status rvm__look(rvm_machine *m);
void rvm__count_op(rvm_machine *m, const rvm__xinsn *x, ptrdiff_t step);

/* The handler that runs one instruction alone, where x's may run its neighbours or a whole loop too. */
static inline uint16_t rvm__alone(uint16_t handler) {
    if (handler >= RVM__FUSED) return (uint16_t)(RVM__FUSED + (handler - RVM__FUSED) / 25 * 25);
    const bool inner = handler >= H_inner_for_up + RVM__PLAIN && handler <= H_inner_next_down + RVM__PLAIN;
    return inner ? (uint16_t)(handler - H_inner_for_up + H_for_up) : handler;
}

/* inner.c: run n trips of a loop around one update, the first at index `first`. level as in updates.inc. */
typedef struct rvm__inner {
    const rvm__xinsn *body;
    rvm_value *slots, *shadows;
    const rvm__array *arrays;
    uint16_t index;
    bool subtract; /* the update in its effective direction */
    int64_t first, step;
} rvm__inner;
void rvm__inner_run(const rvm__inner *loop, int level, uint64_t n);

/* arrays.c: the element of a place of kind ELEM, or its shadow; NULL where an index is out of bounds. */
rvm_value *rvm__element_at(const rvm__array *a, const rvm_place *q, const rvm_value *slots, bool shadow);
/* checks.c: of arrays of three and four dimensions, from prepared code. */
rvm_value *rvm__element(const rvm_machine *m, const rvm__xplace *q);
rvm_value *rvm__element_shadow(const rvm_machine *m, const rvm__xplace *q);

/* checks.c: tolerance of releases. agrees also records the residue. track keeps the largest magnitude of the target. */
bool rvm__agrees(rvm_machine *m, const rvm__xinsn *x, double y, double f);
bool rvm__tangent_agrees(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected);
void rvm__track(rvm_machine *m, const rvm__xinsn *x, double y);
void rvm__track_pair(rvm_machine *m, const rvm__xinsn *x, double y, double z);
double rvm__tolerance(const rvm_machine *m, const rvm__xinsn *x);
void rvm__record_residue(rvm_machine *m, const rvm__xinsn *x, double residue);

/* fixops.c: shadows of conversions and fix. ..._fits: whether the sums stay in range (always so when unchecked). */
rvm_value rvm__conv_tangent(const rvm__xinsn *x, rvm_value shadow, int *overflow);
bool rvm__conv_fits(const rvm__xinsn *x, const rvm_value *shadow, rvm_value gain);
void rvm__conv_gain(const rvm__xinsn *x, rvm_value *shadow, rvm_value gain);
bool rvm__gain_fits(const rvm__xinsn *x, const rvm_value *sa, int64_t g0, const rvm_value *sb, int64_t g1,
                    const rvm_value *sc, int64_t g2);
/* level and the order of shadow operations as in updates.inc. False on overflow, with nothing changed. */
bool rvm__fix_rotate(const rvm__xinsn *x, int level, bool inverse, rvm_value *a, rvm_value *b, const rvm_value *t,
                     rvm_value *a_, rvm_value *b_, rvm_value *t_);
bool rvm__fix_hadamard(const rvm__xinsn *x, int level, bool inverse, rvm_value *a, rvm_value *b, rvm_value *a_,
                       rvm_value *b_);

/* stack.c */
rvm_status rvm__push(rvm_machine *m, rvm_type type, rvm_value value, rvm_value shadow);
const rvm__cell *rvm__top(const rvm_machine *m, rvm_type type); /* NULL: empty or of another type */
bool rvm__popc_agrees(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y, const rvm__cell *top);
void rvm__popc_gain(const rvm__xinsn *x, rvm_value *shadow, const rvm__cell *top);

/* frames.c: direction is the callee's, 1 or -1. leave sets m->where when it leaves the entry. */
rvm_status rvm__enter(rvm_machine *m, const rvm__xinsn *x, int direction);
rvm_status rvm__leave(rvm_machine *m);

/* arrays.c: semantics.md, section 6; the inverse of each by the direction of the counter. */
rvm_status rvm__new(rvm_machine *m, const rvm__xinsn *x);
rvm_status rvm__del(rvm_machine *m, const rvm__xinsn *x);
rvm_status rvm__view(rvm_machine *m, const rvm__xinsn *x);
rvm_status rvm__unview(rvm_machine *m, const rvm__xinsn *x);

#endif
