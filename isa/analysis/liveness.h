/* liveness.h: instructions of a run whose effect nobody observes. Not installed.
 *
 * What elision.h finds are regions; an adjoint has none: what uncomputes there stands between what gathers gradients. So
 * this looks at single instructions. A place is *live* at a point if something that is not dead may read what it holds then,
 * before it holds something else or disappears; what a run leaves in its parameters is live. An instruction is *dead* if
 * none of the places that it changes is live behind it, and it cannot fail. An element counts as its array; but
 * what one trip of a loop changes is not read by later trips if their indices, at constant offsets from the loop's, tell
 * that these are other elements.
 *
 * An engine that leaves dead instructions out has the same results. Of a whole run, it also goes on from any point as the
 * interpreter would; but not back from there, since what would be taken back was not done. Nor does that hold for exact
 * runs, of which each update records what it loses.
 */
#ifndef RVM_LIVENESS_H
#define RVM_LIVENESS_H

#include "reach.h"

typedef struct rvm__liveness rvm__liveness;
typedef struct rvm__liveness_run {
    uint32_t fn;
    bool backward; /* it is run from its end to its start */
    bool whole;    /* regions whose uncomputing is elided are not left out (elision.h), at least not where it is left */
    bool unchecked, trust;      /* as in rvm_options. What is not proved may fail, and is not dead then. */
    uint32_t discarded;         /* bit k: what is pushed onto trail k, outside of compute parts, is thrown away */
    const uint8_t *dead_params; /* by parameter: what the run leaves in it the caller does not read; NULL: all is live */
} rvm__liveness_run;

/* Of a run of p, which is verified, and of all that it calls: a function counts once for each direction, with what any of
 * its calls uses. The run leaves out the regions whose uncomputing is elided. *out refers to nothing of its arguments but p.
 * Errors: MEMORY. In a function that is too large nothing is dead. */
rvm_status rvm__liveness_new(const rvm_program *p, const rvm__liveness_run *run, rvm__liveness **out);
void rvm__liveness_free(rvm__liveness *s); /* NULL is allowed */

/* An instruction in that function, called forward or backward, when the counter passes it going up, or down. DEAD: it is an
 * update, a change in place, or makes registers appear or disappear, which then have no value; or, where the trail is
 * discarded, it pushes onto it, which still counts. */
enum rvm__liveness_answer { RVM__NEEDED, RVM__DEAD, RVM__NOT_PASSED };
enum rvm__liveness_answer rvm__liveness_at(const rvm__liveness *s, uint32_t fn, bool backward, uint32_t pc, bool down);
/* Whether nobody uses what the parameter holds when the function is through. */
bool rvm__dead_param(const rvm__liveness *s, uint32_t fn, bool backward, uint32_t param);

#endif
