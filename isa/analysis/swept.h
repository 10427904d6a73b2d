/* swept.h: what holds shadows in adjoints that are derived for exact runs (RVM_FLAG_SWEPT): where instances of a block add
 * into it, what is lost is recorded apart, if at all. Not installed. */
#ifndef RVM_SWEPT_H
#define RVM_SWEPT_H

#include "program.h"

typedef struct rvm__swept {
    uint8_t *marks; /* by function, its registers, then arrays: something is added there that is of shadows */
    size_t *at;
} rvm__swept;

/* Bytes that the tables of p need, and the tables in a block of that size, zeroed and aligned as size_t is. p is verified.
 */
size_t rvm__swept_size(const rvm_program *p);
rvm__swept rvm__swept_find(const rvm_program *p, void *block);

/* A register, or an array that is no part of another. */
static inline bool rvm__is_swept(const rvm_program *p, const rvm__swept *s, uint32_t fn, bool array, uint16_t slot) {
    return s->marks[s->at[fn] + (array ? p->functions[fn].nregs : 0u) + slot];
}

#endif
