/* activity.h: which places depend on the active parameters of a function, and which regions borrow such places: what the
 * machine's shadowed modes and the transforms share. Not installed. */
#ifndef RVM_ACTIVITY_H
#define RVM_ACTIVITY_H

#include "program.h"

/* Bytes for each function, at its offset: by slot, array and web (program.h), whether it has a shadow; a slot or array,
 * whether any of its webs has. */
typedef struct rvm__activity {
    uint8_t *marks;
    uint8_t *shown; /* as marks: what is only there to be printed, which has no shadow; all 0 where nothing is */
    size_t *at;
    size_t size;      /* of the block that at begins */
    uint8_t *reached; /* by function: called, perhaps by others, from the one that is looked at */
    bool stack;       /* what push and pop move has shadows */
    bool one_code;    /* a function is the same for all its callers, so that all give it shadows of the same arrays */
    const rvm__callgraph *calls; /* of all that has code; begins as the program's own */
    uint32_t *sites, nsites;     /* of the trail, rising, */
    uint8_t *at_site;            /* and whether what they move has shadows */
} rvm__activity;

/* Bytes that the tables of p need, and the tables in a block of that size, aligned as size_t is; the caller owns it. They
 * serve as often as asked, for the functions that have code now. */
size_t rvm__activity_size(const rvm_program *p);
rvm__activity rvm__activity_in(const rvm_program *p, void *block);

/* Which places have a shadow when the parameters of fn that wrt marks are active, and the stack if `stack`: a fixed point
 * over the call graph, whose functions are verified. By web, otherwise without regard to order: what is ever active has a
 * shadow from where it appears to where it disappears. Real places only. */
void rvm__activity_find(const rvm_program *p, rvm__activity *a, uint32_t fn, const uint8_t *wrt, bool stack);

/* The smallest active set that contains `active` and is closed: parameters whose values depend on active ones, or on a stack
 * that holds such, join. Whether any did. Finds as above, for fn alone. */
bool rvm__activity_close(const rvm_program *p, rvm__activity *a, uint32_t fn, uint8_t *active, bool stack);

/* A place of the function's pool. */
static inline bool rvm__is_active(const rvm_program *p, const rvm__activity *a, uint32_t fn, const rvm_place *q) {
    return a->marks[a->at[fn] + rvm__web_of(&p->functions[fn], q)];
}

/* A slot or array, wherever it appears: for a parameter, that is once. */
static inline bool rvm__is_ever_active(const rvm_program *p, const rvm__activity *a, uint32_t fn, bool array,
                                       uint16_t slot) {
    const rvm_place q = {.kind = array ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = slot};
    return a->marks[a->at[fn] + rvm__slot_number(&p->functions[fn], &q)];
}
static inline bool rvm__is_param_active(const rvm_program *p, const rvm__activity *a, uint32_t fn, uint32_t k) {
    const rvm_param *param = &p->functions[fn].params[k];
    return rvm__is_ever_active(p, a, fn, param->ndim > 0, param->index);
}

/* Regions whose compute part changes an active place that was there before it, and gives it back at `undo` (elision.c),
 * where that may have a shadow other than 0 (gained.c): ways, by instruction and zeroed, says of each compute on which ways
 * of a sweep over the region. scratch: rvm__borrow_scratch(f) bytes, zeroed. */
enum rvm__borrows { RVM__BORROWS_DOWN = 1, RVM__BORROWS_UP = 2 };
size_t rvm__borrow_scratch(const rvm_function *f);
void rvm__borrow_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch, uint8_t *ways);

#endif
