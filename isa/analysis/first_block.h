/* first_block.h: where the elements of an array that a function is given are first touched. Not installed. */
#ifndef RVM_FIRST_BLOCK_H
#define RVM_FIRST_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

/* A parallel block outside of all loops, branches and regions, so that control passes it once, before which nothing of
 * the array is touched. In it elements and views of the array are at the block's index in this dimension; or at the quotient
 * of the index by the length of dimension `within`, and there at the remainder. So each instance has a part of its own; what
 * is left of the array the block does not touch. */
typedef struct rvm__first_block {
    uint32_t par;
    uint8_t dimension, within; /* within: RVM_MAX_DIMS where there is none */
} rvm__first_block;

/* Whether elements of one instance may differ in dimension d. */
static inline bool rvm__is_within_part(const rvm__first_block *b, int d) {
    return d != b->dimension && d != b->within;
}

/* Of parameter k of a verified function and the block at par, whether or not it is the first: of elements and views that the
 * block touches. False: each instance has no such part, or the block does not touch it. */
bool rvm__own_parts_of(const rvm_program *p, const rvm_function *f, uint32_t k, uint32_t par, rvm__first_block *out);
/* Of parameter k of a verified function, going up the text; false: there is no such block. */
bool rvm__first_block_of(const rvm_program *p, const rvm_function *f, uint32_t k, rvm__first_block *out);

#endif
