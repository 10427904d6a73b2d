/* origin.h: where the code of derived functions comes from: what an instruction of a derived function ran for, in the terms
 * of the function that it was derived from. Noted while functions are derived, where a program has a list for it; a profile
 * of native derivatives counts by it (vm/profile/traced.c).
 *
 * Such a program has no regions in adjoints, also where one would do (derive.c), so that what is swept is told from what is
 * only computed again. */
#ifndef RVM_ORIGIN_H
#define RVM_ORIGIN_H

#include "program.h"

/* An instruction of the source runs once each time that control passes emitted instructions from `from` up to, not
 * including, `to`, in either direction; or where there are none, from the one before to the one behind. */
typedef struct rvm__origin {
    uint32_t pc; /* of the source */
    uint32_t from, to;
    int8_t up, down; /* which way it runs where control passes up, and down: 1 up, -1 down; 0: it does not run then */
    bool swept;
} rvm__origin;

typedef struct rvm__origin_list {
    uint32_t n, cap;
    rvm__origin *of;
} rvm__origin_list;

struct rvm__origins { /* owned by who has the program note them */
    rvm_allocator al;
    uint32_t n, cap;
    rvm__origin_list *list; /* by function; empty: it was not derived, or is a gradient's */
};

void rvm__origins_free(rvm__origins *o); /* what it holds */
/* False: out of memory. */
bool rvm__origin_note(rvm__origins *o, uint32_t fn, rvm__origin x);
const rvm__origin_list *rvm__origins_of(const rvm__origins *o, uint32_t fn); /* NULL: none */
/* The instruction of the source that the emitted one stands for; NULL: none. */
const rvm__origin *rvm__origin_at(const rvm__origin_list *l, uint32_t pc);

#endif
