/* kept.h: what arguments have, copied for later: to memory of the machine, or, of an array that is on a device, there. By
 * number: one for each value or shadow that the machine keeps at a time. */
#ifndef RVM_KEPT_H
#define RVM_KEPT_H

#include "machine.h"
#include "native.h"

/* Of a derivative that is asked for, before it ran and as it left them (asked.c); of a bound run (restore.c). */
enum rvm__kept_for { RVM__KEPT_INPUTS, RVM__KEPT_RESULTS, RVM__KEPT_BOUND };
static inline uint32_t rvm__kept_number(enum rvm__kept_for what, uint32_t k, bool shadow) {
    return 2 * RVM_MAX_PARAMS * (uint32_t)what + 2 * k + shadow;
}

/* Copies them; fresh: as what they count as, if they are. to: room for all elements, which is theirs until they are
 * forgotten. Errors: they are lost. */
rvm_status rvm__kept_take(rvm_machine *m, uint32_t number, const rvm_arg *a, bool shadow, bool fresh, rvm_value *to);
/* The argument has them again; what was fresh is 0. `from`: as `to` above. Errors: they are lost, and so is what it has. */
rvm_status rvm__kept_give(rvm_machine *m, uint32_t number, rvm_arg *a, bool shadow, bool fresh, const rvm_value *from);
/* Whether each element of a, a device has looked, is no farther from what was kept than tolerance times the larger of
 * `least` and that; what is no floating number: whether it is that. False: it does not know. */
bool rvm__kept_is_near(rvm_machine *m, uint32_t number, const rvm_arg *a, double tolerance, double least);
/* What was kept stands in `to`. Errors: it is lost. */
rvm_status rvm__kept_fetch(rvm_machine *m, uint32_t number);
void rvm__kept_forget(rvm_machine *m, enum rvm__kept_for what);
/* The machine is about to have no device: the bound run goes on without; where what it is to be compared with is lost, it is
 * not. */
void rvm__kept_leave(rvm_machine *m);
#endif
