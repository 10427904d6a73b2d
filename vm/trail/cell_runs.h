/* cell_runs.h: entries of one site that follow each other on the trail, moved at once: what snapshots are made of. */
#ifndef RVM_CELL_RUNS_H
#define RVM_CELL_RUNS_H

#include "trail.h"

/* So many entries of one site at once, each a value alone, that of v[n - 1] on top. push: with nothing changed, or all. pop:
 * USAGE where they are not all there, with nothing changed; IO, FORMAT. reach: so many cells are in memory. */
rvm_status rvm__trail_push_run(rvm_machine *m, uint32_t level, uint32_t site, const rvm_value *v, size_t n);
rvm_status rvm__trail_pop_run(rvm_machine *m, uint32_t level, uint32_t site, rvm_value *v, size_t n);
rvm_status rvm__trail_reach(rvm_machine *m, uint32_t level, size_t n);
#endif
