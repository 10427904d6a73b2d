/* activity.h: which places depend on the active parameters of a function, and which regions borrow such places: what the
 * machine's shadowed modes and the transforms share. Not installed. */
#ifndef RVM_ACTIVITY_H
#define RVM_ACTIVITY_H

#include "isa.h"

/* A byte for each slot and each array of each function, at the function's offset: whether it has a shadow. */
typedef struct rvm__activity {
    uint8_t *slots, *arrays;
    size_t *slot_at, *array_at;
    uint8_t *reached;        /* by function: called, perhaps by others, from the one that is looked at */
    bool stack;              /* what push and pop move has shadows */
    uint32_t *sites, nsites; /* of the trail, rising, */
    uint8_t *at_site;        /* and whether what they move has shadows */
} rvm__activity;

/* Bytes that the tables of p need, and the tables in a block of that size, aligned as size_t is; the caller owns it. */
size_t rvm__activity_size(const rvm_program *p);
rvm__activity rvm__activity_in(const rvm_program *p, void *block);

/* Which places have a shadow when the parameters of fn that wrt marks are active, and the stack if `stack`: a fixed point
 * over the call graph. By place, without regard to order: a place that is ever active has a shadow throughout. Real places
 * only. */
void rvm__activity_find(const rvm_program *p, rvm__activity *a, uint32_t fn, const uint8_t *wrt, bool stack);

static inline bool rvm__is_active(const rvm_program *p, const rvm__activity *a, uint32_t fn, const rvm_place *q) {
    const rvm_function *f = &p->functions[fn];
    if (q->kind == RVM_PLACE_RANGE || rvm__place_type(f, q) == RVM_I64) return false;
    if (q->kind == RVM_PLACE_SLOT) return a->slots[a->slot_at[fn] + q->slot];
    return a->arrays[a->array_at[fn] + q->slot];
}

/* Regions whose compute part changes an active place that was there before it, and gives it back at `undo` (borrow.c): calls
 * found(userdata, compute, undo) for each. scratch: rvm__borrow_scratch(f) bytes, zeroed. */
size_t rvm__borrow_scratch(const rvm_function *f);
void rvm__borrow_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch,
                      void (*found)(void *userdata, uint32_t compute, uint32_t undo), void *userdata);

#endif
