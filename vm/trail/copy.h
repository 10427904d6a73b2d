/* copy.h: onto a tape and back: the trail, and the records of an exact run. get: false, out of memory. */
#ifndef RVM_TRAIL_COPY_H
#define RVM_TRAIL_COPY_H

#include "machine.h"
#include "out_of_line.h"
#include "tape.h"

void rvm__trail_put(const rvm_machine *m, rvm__tape *tape);
bool rvm__trail_get(rvm_machine *m, rvm__tape *tape);
void rvm__exact_put(const rvm_machine *m, rvm__tape *tape);
bool rvm__exact_get(rvm_machine *m, rvm__tape *tape);

/* trail.c: a level has so many stacks, a stack so many links, at least; false: out of memory. */
bool rvm__trail_stacks(rvm_machine *m, uint32_t level, size_t n);
bool rvm__trail_links(rvm_machine *m, rvm__trail_stack *t, uint32_t n);

#endif
