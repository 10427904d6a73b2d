/* outside.h: which arrays functions access outside of their parallel blocks, and what runs in blocks. Not installed.
 *
 * Views and lengths are no accesses, nor is that an array appears or disappears. What is called through a function value
 * accesses all that it is given. */
#ifndef RVM_OUTSIDE_H
#define RVM_OUTSIDE_H

#include "rvm_program.h"

typedef struct rvm__outside rvm__outside;
/* Of all functions. False: out of memory. */
bool rvm__outside_new(const rvm_program *p, rvm__outside **out);
void rvm__outside_free(rvm__outside *o); /* NULL is allowed */
/* of[k]: whether elements of parameter k of fn are accessed there, by it or by what it calls outside of its blocks. */
void rvm__outside_params(const rvm__outside *o, uint32_t fn, uint8_t of[RVM_MAX_PARAMS]);
/* Whether those of an array of fn are, that appears there; erased: what drops it where it is about to disappear puts it on
 * no trail, and so does not look at it. */
bool rvm__outside_array(const rvm__outside *o, uint32_t fn, uint16_t array, bool erased);
/* Whether what stands at pc of fn drops that array alone, which then disappears before anything looks at it. */
bool rvm__erases_array(const rvm__outside *o, uint32_t fn, uint32_t pc, uint16_t array);
/* Whether instances of a block may run what stands at pc of fn: it is in one there, or fn, or who calls that, is called in
 * one; for an end of a block, in another one. */
bool rvm__inside_block(const rvm__outside *o, uint32_t fn, uint32_t pc);

#endif
