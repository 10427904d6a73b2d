/* rerun.h: compares what came back, with one more run of f where that is needed. */
#ifndef RVM_RERUN_H
#define RVM_RERUN_H

#include "restore.h"

/* NOT_RESTORABLE with the element that is farthest off. was, now: as for rvm__farthest_off. Where a sum is off by more than
 * its magnitude at the start allows, f runs forward once more to learn that at the end (CANCELLED). */
rvm_status rvm__compare_restored(const rvm__restoring *r, rvm_value *const *was, const rvm_arg *now, rvm_error *err);

/* Of the bound run of a machine that compares (m->bound.compares) and stands at an end: with what rvm__keep_inputs copied.
 */
rvm_status rvm__compare_inputs(rvm_machine *m, rvm_error *err);

#endif
