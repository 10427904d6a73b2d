/* copies.h: what a chunk of a parallel block has of arrays beside the arrays themselves: copies that it adds into, which are
 * added when its turn comes; what it changes in place, kept so that it is given back where the chunk is taken back. */
#ifndef RVM_COPIES_H
#define RVM_COPIES_H

#include "native.h"

/* A copy that instances add into: what adds nothing, on floating numbers -0; all that the job has, from these addresses. */
void rvm__copy_begin(rvm_value *to, const rvm__native_copy *c);
void rvm__copies_add(const rvm__native_job *job, rvm_value *const *from);

/* Elements that a chunk of the job changes in place and keeps, at most. UINT64_MAX: too many. */
uint64_t rvm__saved_room(const rvm__native_job *job);
/* Those of the instances numbered first to last, in either order: to, or from, memory of so many. */
void rvm__saved_take(const rvm__native_job *job, uint64_t first, uint64_t last, rvm_value *to);
void rvm__saved_give(const rvm__native_job *job, uint64_t first, uint64_t last, const rvm_value *from);

/* Of a copy that begins with a line of the cache and ends with one: elements of what is added into, */
static inline uint64_t rvm__copy_room(const rvm__native_copy *c) {
    const uint64_t line = RVM__LINE / sizeof(rvm_value);
    return c->read ? 0 : (c->n + line - 1) / line * line;
}

/* bytes of what is only read. */
static inline size_t rvm__read_room(const rvm__native_copy *c) {
    return c->read ? (c->n * sizeof *c->to + RVM__LINE - 1) / RVM__LINE * RVM__LINE : 0;
}

#endif
