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

/* trail.c: an empty stack gets these cells with their bytes, in one chunk, and words. */
bool rvm__trail_fill(rvm_machine *m, rvm__trail_stack *t, const rvm_value *cells, const uint8_t *bytes, uint64_t ncells,
                     const uint32_t *words, uint64_t nwords, uint32_t last);

#endif
