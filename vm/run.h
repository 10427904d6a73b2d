/* run.h: between the parts of the interface. */
#ifndef RVM_RUN_H
#define RVM_RUN_H

#include "machine.h"
#include "instruction.h"

/* machine.c: counting of a run's instructions. */
void rvm__run_begins(rvm_machine *m);
/* True: then what is interpreted next polls at once. The request stays for that poll. */
bool rvm__safepoint_if_cancelled(rvm_machine *m);
uint64_t rvm__run_count(const rvm_machine *m);

/* move.c: moves the bound call towards its end (course 1) or its start (-1), as far as m->run.steps and so on say; sweep: by
 * adjoints. *count gains the instructions. What comes back at an end is not compared yet. Errors: USAGE, UNSUPPORTED where
 * it cannot turn, those of instructions. */
rvm_status rvm__move(rvm_machine *m, int course, bool sweep, uint64_t *count, rvm_error *err);
/* Whether the run counts positions up (1) or down (-1): a sweep counts its own up. */
static inline int rvm__towards(const rvm_machine *m) {
    return m->run.sweep_begun ? -m->run.course : m->run.course;
}
/* Whether it can only go on: in an exact run, of a derivative by hand only the values could be taken back. */
static inline bool rvm__keeps_course(const rvm_machine *m) {
    return m->o.exact && m->run.by_rule && m->run.where == INSIDE;
}
/* Whether nothing is to stop the run but an end, an error and a limit. */
static inline bool rvm__runs_freely(const rvm_machine *m) {
    return !m->run.steps && !m->run.far && !m->run.stops;
}
/* Places a run that stands at an end before the first instruction that leads away from it. Where a derivative by hand is
 * run in place of the bound function: MEMORY, DEPTH; nothing has changed then. */
rvm_status rvm__step_in(rvm_machine *m, int course, rvm_error *err);
/* Whether it stands at the end that the leg leads to. */
bool rvm__at_far_end(const rvm_machine *m);
/* UNSUPPORTED where the bound call, which stands at an end, comes to a derivative by hand that its mode does not go through;
 * sweep: as one. */
rvm_status rvm__check_by_hand(rvm_machine *m, bool sweep, rvm_error *err);
/* USAGE where no call is bound. */
rvm_status rvm__check_bound(const rvm_machine *m, rvm_error *err);

/* run.c: UNSUPPORTED where it cannot go forward, since a sweep has dropped shadows. */
rvm_status rvm__refuse_after_sweep(const rvm_machine *m, rvm_error *err);

/* bind.c: arguments into the entry frame and back. */
void rvm__take_seeds(rvm_machine *m);
void rvm__write_back(rvm_machine *m);
/* What a bind says of them, but for lengths that are to be equal. */
rvm_status rvm__check_arguments(const rvm_machine *m, int64_t fn, const rvm_arg *args, uint32_t nargs, rvm_mode mode,
                                rvm_error *err);
/* Whether some array of values overlaps some shadow; of arguments that a call would take. */
bool rvm__value_meets_shadow(const rvm_arg *args, uint32_t nargs);

/* explain.c: a number as messages have it; nan has no sign. */
void rvm__plain_text(rvm_type t, rvm_value v, char *text, size_t size);
/* Fill err for a status met at m->pc in m->dir; returns the status. */
rvm_status rvm__explain(rvm_machine *m, rvm_status status, rvm_error *err);
/* bind.c: as rvm_machine_unbind, but that a run which has not begun leaves fresh arrays alone, on which another may be. */
void rvm__unbind(rvm_machine *m);

/* rvm_machine_stats_reset, without the profile. */
void rvm__stats_reset(rvm_machine *m);

#endif
