/* debug.c: rvm_debug.h. */
#include "nulls.h"
#include "rvm_debug.h"

static bool bind(void) {
    set_arguments();
    return !rvm_machine_bind(m, fn, args, 2, RVM_PRIMAL, false, &e);
}

static bool is_start(rvm_run_position at) {
    return !at.swept && !at.at;
}

static void try_run_to(void) {
    const rvm_goal goal = {.to = {.at = 2}}, stops = {.nstops = 1}, watches = {.nwatches = 1};
    if (!bind()) failures++;
    HARMLESS(rvm_machine_position, m, is_start(rvm_machine_position(NULL)));
    REFUSED(rvm_machine_run_to, m, NULL, &goal, NULL, &e);
    REFUSED(rvm_machine_run_to, goal, m, NULL, NULL, &e);
    ALLOWED(rvm_machine_run_to, out, m, &goal, NULL, &e);
    UNTOLD(rvm_machine_run_to, m, &stops, NULL, NULL);
    if (rvm_machine_run_to(m, &watches, NULL, &e) != RVM_ERR_USAGE) failures++;
}

static void try_keyframes(void) {
    rvm_keyframe *k = (rvm_keyframe *)&e, *none = k;
    rvm_machine *clone = (rvm_machine *)&e;
    if (!bind()) failures++;
    REFUSED(rvm_keyframe_new, m, NULL, &none, &e);
    REFUSED(rvm_keyframe_new, out, m, NULL, &e);
    UNTOLD(rvm_keyframe_new, NULL, &none, NULL);
    if (none || rvm_keyframe_new(m, &k, &e)) failures++;
    HARMLESS(rvm_keyframe_position, k, is_start(rvm_keyframe_position(NULL)));
    HARMLESS(rvm_keyframe_size, k, !rvm_keyframe_size(NULL));
    REFUSED(rvm_keyframe_restore, k, NULL, m, &e);
    REFUSED(rvm_keyframe_restore, m, k, NULL, &e);
    UNTOLD(rvm_keyframe_restore, NULL, m, NULL);
    rvm_keyframe_free(k);
    HARMLESS(rvm_keyframe_free, k, (rvm_keyframe_free(NULL), true));
    REFUSED(rvm_machine_clone, m, NULL, NULL, &clone, &e);
    REFUSED(rvm_machine_clone, out, m, NULL, NULL, &e);
    UNTOLD(rvm_machine_clone, NULL, NULL, &clone, NULL);
    ALLOWED(rvm_machine_clone, args, m, NULL, &clone, &e);
    rvm_machine_free(clone);
}

static void try_timelines(void) {
    rvm_timeline *t = (rvm_timeline *)&e, *none = t;
    const rvm_goal goal = {.to = {.at = 2}};
    if (!bind()) failures++;
    REFUSED(rvm_timeline_new, m, NULL, 0, &none, &e);
    REFUSED(rvm_timeline_new, out, m, 0, NULL, &e);
    UNTOLD(rvm_timeline_new, NULL, 0, &none, NULL);
    if (none || rvm_timeline_new(m, 0, &t, &e)) failures++;
    REFUSED(rvm_timeline_run_to, t, NULL, &goal, NULL, &e);
    REFUSED(rvm_timeline_run_to, goal, t, NULL, NULL, &e);
    ALLOWED(rvm_timeline_run_to, out, t, &goal, NULL, &e);
    UNTOLD(rvm_timeline_run_to, NULL, &goal, NULL, NULL);
    REFUSED(rvm_timeline_seek, t, NULL, goal.to, NULL, &e);
    ALLOWED(rvm_timeline_seek, out, t, goal.to, NULL, &e);
    UNTOLD(rvm_timeline_seek, NULL, goal.to, NULL, NULL);
    HARMLESS(rvm_timeline_keyframes, t, !rvm_timeline_keyframes(NULL) && rvm_timeline_keyframes(t) == 1);
    rvm_timeline_free(t);
    HARMLESS(rvm_timeline_free, t, (rvm_timeline_free(NULL), true));
}

void try_debug(void) {
    try_run_to();
    try_keyframes();
    try_timelines();
    rvm_machine_unbind(m);
}
