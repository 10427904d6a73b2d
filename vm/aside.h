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
/* It is entered, the innermost one from now on, with that many elements; how: is kept. */
void rvm__aside_enter(rvm_machine *m, unsigned how, size_t n);
unsigned rvm__aside_how(const rvm_machine *m);
/* What comes next in the block. Between OPEN and CLOSE elements hold the sum of the instance that runs; else that of the
 * chunk, to which whole groups may be added. */
enum rvm__aside_step {
    RVM__ASIDE_BEGIN, /* the block is entered */
    RVM__ASIDE_OPEN,  /* an instance is to run by itself; nothing where they are open */
    RVM__ASIDE_CLOSE, /* a group is to run as one, before its first instance; nothing where they are closed */
    RVM__ASIDE_SAVE,  /* an instance has run, and another one of its group is to; */
    RVM__ASIDE_LOAD,  /* then that one had run before */
    RVM__ASIDE_GROUP, /* likewise, of another group, */
    RVM__ASIDE_CHUNK, /* or of another chunk; also behind a group that ran as one */
    RVM__ASIDE_END    /* the block is left */
};
/* From instance k, by number, to the next one: SAVE, GROUP or CHUNK. */
enum rvm__aside_step rvm__aside_turn(uint64_t k, uint64_t next);
/* The block's arrays, each in its turn, at each step the same ones; *at counts from 0. */
void rvm__aside_pass(rvm_machine *m, const rvm__aside *a, enum rvm__aside_step step, size_t *at);
/* All are through; next: the number of the instance that runs then. Whether LOAD is to follow. */
bool rvm__aside_passed(rvm_machine *m, enum rvm__aside_step step, uint64_t next);
/* Both, of n arrays that lie so many bytes apart. */
void rvm__aside_pass_all(rvm_machine *m, const rvm__aside *first, size_t apart, size_t n, enum rvm__aside_step step,
                         uint64_t next);
/* The innermost block was left. */
void rvm__aside_leave(rvm_machine *m);
/* Whether a block runs. */
bool rvm__aside_any(const rvm_machine *m);
/* No block runs any more. */
void rvm__aside_clear(rvm_machine *m);
void rvm__aside_free(rvm_machine *m);

#endif
