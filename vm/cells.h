/* cells.h: the elements of arguments, or their shadows, side by side: what a run saves, compares and gives back. */
#ifndef RVM_CELLS_H
#define RVM_CELLS_H

#include "machine.h"
#include "instruction.h"

/* Elements; 1 of a scalar; ~d, which is negative, where dimension d is, or there are more than RVM__MOST_CELLS by it. All
 * arguments of a run have no more together, so that their values and shadows can be added up, in bytes, too. */
#define RVM__MOST_CELLS (INT64_MAX / 64)
int64_t rvm__cells(const rvm_arg *a);
/* The first one. */
static inline const rvm_value *rvm__cells_at(const rvm_arg *a) {
    return a->ndim ? a->data : (const rvm_value *)(const void *)&a->value;
}
/* Elements from dimension d on where these strides make them neighbours in memory; else -1. */
int64_t rvm__neighbours(const rvm_arg *a, const int64_t *stride, int d);
/* Copies them, or of an active argument the shadows, in row-major order. */
void rvm__cells_take(const rvm_arg *a, bool shadow, rvm_value *to);
void rvm__cells_give(rvm_arg *a, bool shadow, const rvm_value *from);

#endif
