/* gained.h: regions that borrow nothing which has a gradient when a sweep comes to them. Not installed. */
#ifndef RVM_GAINED_H
#define RVM_GAINED_H

#include "activity.h"

/* Of function fn, ways: by instruction, of compute not 0 where its part changes an active place that was there before.
 * Leaves the ways on which such a place may have a shadow that is not 0 when the sweep comes to the region: enum
 * rvm__borrows. scratch: rvm__gained_scratch(f) bytes, zeroed, aligned as uint32_t is. */
size_t rvm__gained_scratch(const rvm_function *f);
void rvm__gained_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch, uint8_t *ways);

#endif
