/* stops.h: where a run is to stop on its way (rvm_debug.h).
 *
 * While a run goes that has stops, the prepared instructions next to them have the handler `patched`, which asks whether one
 * applies and else dispatches the instruction's own handler: what is not next to a stop runs as ever. What would run such an
 * instruction along with others, a pair that is fused or a loop in one piece, runs one by one meanwhile. Behind the run all
 * handlers are as before.
 *
 * A run stops between two instructions. Where instruction pc is next towards the end, that is before pc; a run towards the
 * start comes there when it is about to run the instruction on the other side, pc - 1 going down, pc + 1 going up.
 */
#ifndef RVM_STOPS_H
#define RVM_STOPS_H

#include "patched.h"
#include "rvm_debug.h"

typedef struct rvm__patch {
    rvm__xinsn *x;
    uint16_t handler;
} rvm__patch;
typedef struct rvm__stop_at {
    uint32_t fn, pc, number; /* number: of the stop, + 1; 0: empty */
} rvm__stop_at;

/* A watched place as it was last looked at, and the symbol that names it while the frame's function is fn and stands at
 * first to last. */
typedef struct rvm__watched {
    bool present;
    uint64_t digest;
    uint32_t fn, first, last, symbol; /* fn, symbol: + 1; 0: none */
} rvm__watched;

typedef struct rvm__stops {
    const rvm_goal *goal;
    rvm__stop_at *at;    /* by place, open addressing */
    rvm__patch *own;     /* own handlers of what is patched, likewise */
    rvm__patch *changed; /* all changes, in order */
    rvm__watched *watched;
    uint32_t size_at, size_own, nchanged; /* sizes: powers of two */
    bool quiet;                           /* the instruction in between changes no element of an array */
    bool arrived;                         /* at a stop or a watch: */
    rvm_arrival arrival;
} rvm__stops;

/* For a run in that course, from where it stands. Errors: USAGE, MEMORY. */
rvm_status rvm__stops_set(rvm_machine *m, rvm__stops *s, const rvm_goal *goal, int course, rvm_error *err);
void rvm__stops_clear(rvm_machine *m);

/* watches.c: before x, or NULL, where the machine stands; true: it differs from what was seen. quiet: elements of arrays do
 * not. */
bool rvm__look_at(const rvm_machine *m, const rvm_watch *w, const rvm__xinsn *x, bool quiet, rvm__watched *seen);

#endif
