/* elision.h: regions whose compute part runs once: those that end by `forget`, and uncomputing that nobody observes, which
 * engines leave out. Not installed.
 *
 * A region runs its compute part C twice: C, B, C backward; the second time only so that what C changed is as it was and
 * what C made appear disappears. Where C changes nothing else than what it makes appear, the second run may be left out:
 * those places are gone behind it, whatever they hold. What C pushed onto trails lies in segments of its own. That also
 * leaves out its assertions, so that they must be dropped anyway; other checks (indices, domains, steps of loops) passed in
 * the first run, on the same values but for rounding. An engine still gives back the local arrays that C made.
 *
 * Of a region that ends by `forget` the same is the meaning: the verifier demands that C changes nothing else, and no engine
 * has a second run to leave out.
 */
#ifndef RVM_ELISION_H
#define RVM_ELISION_H

#include "reach.h"
#include "program.h"

/* How often a region runs C. */
enum rvm__elision {
    RVM__RUNS_TWICE,
    RVM__ELIDED,           /* the second run has no effect that can be observed */
    RVM__ELIDED_ON_TRAILS, /* and C pushes onto trails: an engine empties the segments that C has of its own */
    RVM__FORGETS           /* it ends by `forget`: whatever the run is */
};

/* Why the compute part of a region that ends by `forget` cannot: the instruction at pc, which is in it. */
enum rvm__unforgettable { RVM__FORGETTABLE, RVM__CHANGES_OLDER, RVM__MOVES_STACK, RVM__JUMPS };
typedef struct rvm__keeping {
    uint32_t compute, pc;
    enum rvm__unforgettable why;
} rvm__keeping;

/* Fills regions (NULL is allowed), by instruction, zeroed, at each compute of the function: whichever way the region is
 * passed: at `undo` control may go on behind it, and at `do`, met from B that ran backward, before `compute`. reach: of
 * every function of p, which is verified. unchecked: the whole run is; else only what the program has unchecked drops its
 * assertions. keeps, for the verifier, zeroed, or NULL: the first region that cannot forget; places have roots, roles are
 * known. Not for exact runs, where C backward takes up what C recorded. False: out of memory. Linear in the function. */
bool rvm__elision_find(const rvm_program *p, const rvm__reach *reach, uint32_t fn, bool unchecked, uint8_t *regions,
                       rvm__keeping *keeps);

/* What the compute part makes appear that is there at its end: registers, and arrays, the last one first, each in its
 * order, by the text. The verifier holds that against what control makes of it. made: room for rvm__made_most(f). */
typedef struct rvm__made {
    uint32_t nregs, narrays;
    uint16_t *regs, *arrays;
} rvm__made;
static inline size_t rvm__made_most(const rvm_function *f) {
    return 2 * ((size_t)f->nregs + f->narrays) + 1; /* and marks */
}
rvm__made rvm__made_find(const rvm_function *f, uint32_t compute, uint16_t *room);

#endif
