/* derived.h: derivatives of a function as runs of programs (derived.c). */
#ifndef RVM_DERIVED_H
#define RVM_DERIVED_H

#include "machine.h"
#include "origin.h"
#include "program.h"

/* As it is; its loops run again from snapshots (option checkpoints); for several directions at once (columns.c). */
enum rvm__derived_form { RVM__AS_DERIVED, RVM__MARCHES, RVM__COLUMNS };

/* A function derived from one of the machine's, with a machine of its own, which shares what cancels a run. */
typedef struct rvm__derived {
    struct rvm__derived *next;
    uint32_t of, fn; /* fn: in `program`; of: in the machine's, and there too */
    rvm_transform kind;
    enum rvm__derived_form form;
    uint32_t values;      /* then: the function that is f, f'adj, and adds what f computes to places behind */
    uint32_t loops;       /* so many of them */
    int64_t cells;        /* of states that are kept at a time, where it is not said how many; 0: not known yet */
    rvm__origins origins; /* where its code comes from, with a profile */
    rvm_program *program; /* NULL: not derived yet, */
    rvm_machine *machine;
    rvm_error why;                                       /* or there is none, and why (code not 0) */
    bool refused;                                        /* native code does not take it */
    bool blocks;                                         /* of columns: what runs in their block has blocks itself */
    uint16_t levels;                                     /* of the trail that it takes from: what f left there */
    uint64_t ran, counted, asks;                         /* instructions that were interpreted for it; so many its engine
                                                            knows of; when it is asked next */
    bool noticed;                                        /* why it is interpreted was said */
    uint8_t wrt[RVM_MAX_PARAMS], active[RVM_MAX_PARAMS]; /* by parameter of f: asked for, and what depends on those, too */
    rvm_value *zeros;                                    /* shadows of what is active only so */
    size_t cap_zeros;
    uint32_t nargs; /* of the derived function; then those of f, without shadows */
    rvm_arg args[];
} rvm__derived;

void rvm__derived_free(rvm_machine *m); /* all of them */

#endif
