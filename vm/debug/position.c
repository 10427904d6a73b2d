/* position.c: where a run is, as a number; also while it runs. */
#include "out_of_line.h"
#include "run.h"
#include "rvm_debug.h"

int64_t rvm__position_now(const rvm_machine *m) {
    const int64_t count = m->run.running ? (int64_t)rvm__run_count(m) : 0;
    return m->run.at[m->run.sweep_begun] + rvm__towards(m) * count;
}

rvm_run_position rvm_machine_position(const rvm_machine *m) {
    if (!m || m->run.where == UNBOUND) return (rvm_run_position){0};
    return (rvm_run_position){m->run.sweep_begun, rvm__position_now(m)};
}
