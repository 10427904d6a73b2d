/* outside.h: which parameters that are arrays a function accesses outside of its parallel blocks. Not installed. */
#ifndef RVM_OUTSIDE_H
#define RVM_OUTSIDE_H

#include "rvm_program.h"

/* of[k]: whether elements of parameter k of fn are accessed there, by it or by what it calls outside of its blocks. Views
 * and lengths are no accesses. What is called through a function value accesses all that it is given. False: out of memory.
 */
bool rvm__outside_find(const rvm_program *p, uint32_t fn, uint8_t of[RVM_MAX_PARAMS]);

#endif
