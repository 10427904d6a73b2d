/* prepare.h: from verified instructions to what the interpreter runs, and which places have shadows. */
#ifndef RVM_PREPARE_H
#define RVM_PREPARE_H

#include "machine.h"

/* Which slots and arrays have a shadow when the parameters of fn that wrt marks are active: a fixed point over the call
 * graph. Fills m->active_*; they are allocated on the first call. False: out of memory. */
bool rvm__activity(rvm_machine *m, uint32_t fn, const uint8_t *wrt);

/* Prepare every function; shadow: for gradient and tangent mode, by m->active_*. Allocates *codes if NULL. */
rvm_status rvm__prepare(rvm_machine *m, bool shadow, rvm__code **codes);
void rvm__prepare_free(rvm_machine *m, rvm__code **codes);

/* borrow.c: set X_BORROWS on the compute and undo of regions that borrow active places. False: out of memory. */
bool rvm__mark_borrowing(rvm_machine *m, uint32_t fn, rvm__xinsn *x);

/* locals.c: for every array of every function, in order, whether it may be (part of) one that a function made. NULL: out of
 * memory. Scratch of the machine. */
uint8_t *rvm__local_arrays(rvm_machine *m);

#endif
