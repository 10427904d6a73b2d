/* elision.h: uncomputing that nobody observes, for engines that leave out what has no effect. Not installed.
 *
 * A region runs its compute part C twice: C, B, C backward; the second time only so that what C changed is as it was and
 * what C made appear disappears. Where C changes nothing else than what it makes appear, the second run may be left out:
 * those places are gone behind it, whatever they hold. What C pushed onto trails lies in segments of its own. That also
 * leaves out its assertions, so that they must be dropped anyway; other checks (indices, domains, steps of loops) passed in
 * the first run, on the same values but for rounding. An engine still gives back the local arrays that C made.
 */
#ifndef RVM_ELISION_H
#define RVM_ELISION_H

#include "reach.h"
#include "program.h"

typedef struct rvm__elision {
    uint32_t compute, undo;
    bool trails; /* C pushes onto trails: leaving it out, an engine empties the segments that C has of its own */
} rvm__elision;

/* Calls found(userdata, region) for each region of the function whose second run of C has no effect that can be observed,
 * whichever way the region is passed: at `undo` control may go on behind it, and at `do`, met from B that ran backward,
 * before `compute`. reach: of every function of p, which is verified. unchecked: the whole run is; else only what the
 * program has unchecked drops its assertions. Not for exact runs, where C backward takes up what C recorded. scratch:
 * rvm__vanish_scratch(f) bytes, zeroed. Linear in the function. */
size_t rvm__elision_scratch(const rvm_function *f);
void rvm__elision_find(const rvm_program *p, const rvm__reach *reach, uint32_t fn, bool unchecked, void *scratch,
                       void (*found)(void *userdata, const rvm__elision *region), void *userdata);

#endif
