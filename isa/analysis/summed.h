/* summed.h: arrays whose elements the instances of a parallel block add into chunk by chunk (docs/semantics.md, section 9).
 * Not installed.
 *
 * Such are the arrays around the block, of floating point, that its instances only add into, at indices that do not depend
 * on the instance: they come from constants, registers around the block, lengths and counted loops over these. Which arrays
 * those are follows from the text alone, so that all engines agree. */
#ifndef RVM_SUMMED_H
#define RVM_SUMMED_H

#include "program.h"

/* The value of a register around the block (NONE: 0) and an offset. */
enum { RVM__SUMMED_NONE = UINT16_MAX, RVM__SUMMED_ANY = UINT16_MAX - 1 };
typedef struct rvm__edge {
    uint16_t base; /* ANY: not known */
    int64_t offset;
} rvm__edge;

/* The array, which may be part of another, and in each dimension between which indices the instances add, both included;
 * what is not known is an end of the dimension. */
typedef struct rvm__summed {
    uint16_t array;
    uint8_t type;
    rvm__edge lo[RVM_MAX_DIMS], hi[RVM_MAX_DIMS];
} rvm__summed;

/* Values that the block adds into; or the shadows that its adjoint does, of arrays that it only reads. */
enum rvm__summed_of { RVM__SUMMED_VALUES, RVM__SUMMED_ADJOINTS };

/* Those of the block at par of function fn, of a verified program, in the order of their numbers: to out, which has room for
 * all arrays of the function. Returns how many. scratch: as many bytes as rvm__summed_scratch says, a multiple of 8,
 * zeroed. */
size_t rvm__summed_scratch(const rvm_program *p);
uint32_t rvm__summed_find(const rvm_program *p, uint32_t fn, uint32_t par, enum rvm__summed_of what, void *scratch,
                          rvm__summed *out);

#endif
