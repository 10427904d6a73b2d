/* columns.h: a function for several sets of values at once, a parallel block over them. Internal. */
#ifndef RVM_COLUMNS_H
#define RVM_COLUMNS_H

#include "program.h"

/* fn'columns: with the parameters of fn, which has code; where each[k], parameter k has one more dimension, the last, of one
 * length c for all, and instance i of c runs fn on what has index i there. Its roles are found when the program is resolved.
 * blocks: fn has parallel blocks, which sum in registers as they do outside; a scalar that is each's is one then.
 * Errors: UNSUPPORTED (more dimensions than an array may have, a function value), MEMORY. */
rvm_status rvm__columns_declare(rvm_program *p, uint32_t fn, const uint8_t *each, bool blocks, uint32_t *out,
                                rvm_error *err);

#endif
