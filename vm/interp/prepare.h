/* prepare.h: from verified instructions to what the interpreter runs. */
#ifndef RVM_PREPARE_H
#define RVM_PREPARE_H

#include "machine.h"

/* Prepare what fn may come to run, as far as that is not done; shadow: for gradient and tangent mode, by m->activity.
 * Allocates *codes if NULL. MEMORY; LIMIT: a function is too large. */
rvm_status rvm__prepare(rvm_machine *m, uint32_t fn, bool shadow, rvm__code **codes);
static inline bool rvm__is_prepared(const rvm__code *codes, uint32_t fn) {
    return codes && codes[fn].ready;
}
/* Nothing is done: all is prepared anew, in the same memory. codes may be NULL. */
void rvm__unprepare(const rvm_machine *m, rvm__code *codes);
/* What that, or what comes with it, failed by, as an error. */
rvm_status rvm__tell_unprepared(const rvm_machine *m, rvm_status status, rvm_error *err);
void rvm__prepare_free(rvm_machine *m, rvm__code **codes);

/* locals.c: for every array of every function, in order, whether it may be (part of) one that a function made. NULL: out of
 * memory. Scratch of the machine. */
uint8_t *rvm__local_arrays(rvm_machine *m);

/* blocks.c: registers that the instances of each parallel block of a function add into, and slots of the frame for that,
 * behind code->slots. False: out of memory. */
bool rvm__prepare_blocks(rvm_machine *m, uint32_t fn, bool shadow, rvm__code *code);

#endif
