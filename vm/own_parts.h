/* own_parts.h: the elements of an array that instances of a parallel block have for themselves
 * (isa/analysis/first_block.h). */
#ifndef RVM_OWN_PARTS_H
#define RVM_OWN_PARTS_H

#include "first_block.h"
#include "rvm.h"

/* Of the instances from index lo up to hi, what there is: to out, arrays of the same memory. How many. */
enum { RVM__MOST_PARTS = 3 };
unsigned rvm__parts(const rvm_arg *a, const rvm__first_block *b, int64_t lo, int64_t hi, rvm_arg out[RVM__MOST_PARTS]);
/* Instances whose elements there are. */
int64_t rvm__parts_count(const rvm_arg *a, const rvm__first_block *b);

#endif
