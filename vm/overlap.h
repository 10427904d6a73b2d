/* overlap.h: whether two arrays, or parts of one, share an element. */
#ifndef RVM_OVERLAP_H
#define RVM_OVERLAP_H

#include "machine.h"

/* Elements of 8 bytes at data + sum of i[d] * stride[d], strides in bytes, lengths at least 1. ndim 0: one element. */
typedef struct rvm__extent {
    const char *data;
    int ndim;
    int64_t dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS];
} rvm__extent;

bool rvm__array_extent(const rvm__array *a, rvm__extent *e); /* false: it has no elements */
const char *rvm__extent_last(const rvm__extent *e);          /* its last byte */
/* Exact where both have the same strides and these nest; else true when the intervals of memory overlap. */
bool rvm__overlap(const rvm__extent *a, const rvm__extent *b);

#endif
