/* first_block.h: where the elements of an array that a function is given are first touched. Not installed. */
#ifndef RVM_FIRST_BLOCK_H
#define RVM_FIRST_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

/* A parallel block outside of all loops, branches and regions, so that control passes it once, before which nothing of
 * the array is touched. In it elements and views of the array are at the block's index in this dimension, so that each
 * instance has a part of its own; what is left of the array the block does not touch. */
typedef struct rvm__first_block {
    uint32_t par;
    uint8_t dimension;
} rvm__first_block;

/* Of parameter k of a verified function, going up the text; false: there is no such block. */
bool rvm__first_block_of(const rvm_program *p, const rvm_function *f, uint32_t k, rvm__first_block *out);

#endif
