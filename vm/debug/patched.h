/* patched.h: what the interpreter asks of stops (stops.h): apart, so that it is not compiled again for the rest. */
#ifndef RVM_PATCHED_H
#define RVM_PATCHED_H

#include "handlers.h"
#include "machine.h"
#include "out_of_line.h"

/* Before x, where the machine stands: whether a stop applies, which is noted. */
bool rvm__stops_at(rvm_machine *m, const rvm__xinsn *x);
/* Before x, with run.watching: whether what is watched has changed. */
bool rvm__watch(rvm_machine *m, const rvm__xinsn *x);

uint16_t rvm__patched_handler(const rvm_machine *m, const rvm__xinsn *x);
/* The handler that runs x alone, patched or not. */
static inline uint16_t rvm__own_handler(const rvm_machine *m, const rvm__xinsn *x) {
    return rvm__alone(x->handler == H_patched ? rvm__patched_handler(m, x) : x->handler);
}

#endif
