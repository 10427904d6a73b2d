/* aside.h: what elements held before the parallel block that runs now and adds into them (aside.c). */
#ifndef RVM_ASIDE_H
#define RVM_ASIDE_H

#include "machine.h"

/* Elements of an array of floating point, n in all, where they stand now. Native code fills such, too (jit/lower/aside.c):
 * all fields are 8 bytes. */
typedef struct rvm__aside {
    char *data;
    double *magnitude;                               /* the largest that the array held; NULL: none is kept */
    int64_t dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS]; /* in bytes */
    uint64_t type, ndim, n;
} rvm__aside;

/* Only elements between these indices, both included, which may lie beyond the array. */
void rvm__aside_within(rvm__aside *a, const int64_t *lo, const int64_t *hi);

/* A block is entered that adds into so many elements. False: out of memory. Nothing changes yet. */
bool rvm__aside_reserve(rvm_machine *m, size_t n);
/* It is entered, the innermost one from now on; how: is kept. */
void rvm__aside_enter(rvm_machine *m, unsigned how);
unsigned rvm__aside_how(const rvm_machine *m);
/* Its arrays, each in its turn, at each step the same ones: when it is entered; when a chunk ends and another begins; when
 * it is left. *at counts from 0. */
enum rvm__aside_step { RVM__ASIDE_BEGIN, RVM__ASIDE_TURN, RVM__ASIDE_END };
void rvm__aside_pass(rvm_machine *m, const rvm__aside *a, enum rvm__aside_step step, size_t *at);
/* The innermost block was left. */
void rvm__aside_leave(rvm_machine *m);
/* No block runs any more. */
void rvm__aside_clear(rvm_machine *m);
void rvm__aside_free(rvm_machine *m);

#endif
