/* asked.h: a derivative that is asked for (derived.c), and what marching.c needs for those whose loops run again from
 * snapshots. */
#ifndef RVM_ASKED_H
#define RVM_ASKED_H

#include "checkpoint.h"
#include "derived.h"
#include "memory.h"

enum ask { ASK_TANGENT, ASK_SWEEP, ASK_GRADIENT, ASK_VALUE_AND_GRADIENT };

/* One derivative that is asked for. */
typedef struct rvm__asked {
    rvm_machine *m;
    enum ask ask;
    int64_t fn;
    rvm_arg *args;
    uint32_t n;
    bool shadows; /* those that the run changes are saved, too */
    bool touched; /* the run has begun to change them */
    bool placed;  /* the program is bound to the arguments */
    bool again;   /* where the trail's limit is passed, it is tried with snapshots: for that all is saved, */
    bool saved;   /* and was */
} rvm__asked;

static inline const rvm_function *rvm__asked_function(const rvm__asked *q) {
    return &q->m->p->functions[q->fn];
}

/* ---- asked.c ---- */
/* The program of this kind, by what is active; it is kept. NULL: out of memory. */
rvm__derived *rvm__derived_kept(rvm_machine *m, uint32_t fn, rvm_transform kind, enum rvm__derived_form form,
                                const uint8_t *wrt);
rvm__derived *rvm__asked_find(const rvm__asked *q, rvm_transform kind, enum rvm__derived_form form);
/* Derived, with a machine; or why not. forget: both go, to be derived anew. */
rvm_status rvm__derived_ready(rvm_machine *m, rvm__derived *d, rvm_error *err);
void rvm__derived_forget(rvm__derived *d);

/* How many cells states may have in all, where it is not said how many are kept; how many loops can be run again. */
int64_t rvm__marching_cells(const rvm_options *o);
uint32_t rvm__loops_taken(const rvm__loops *loops);

/* Whether there is code for the program as it is bound. What was interpreted in its place counts as its own. */
bool rvm__derived_is_native(rvm__derived *d);
/* What machine d did counts for m. */
void rvm__derived_count(rvm_machine *m, rvm_machine *d, uint32_t ran, uint64_t *to);
/* Looks at shapes and the like, as for any run, and binds. */
rvm_status rvm__asked_bind(const rvm__asked *q, rvm_error *err);
bool rvm__asked_lay_out(const rvm__asked *q, rvm__derived *d); /* arguments of d; false: out of memory */
rvm_status rvm__asked_run(rvm__asked *q, rvm__derived *d, rvm_error *err);
bool rvm__asked_returns(const rvm__asked *q); /* the run ends where it began */

/* What a run changes, saved and given back; of which parameters the values are, and how many cells there are. */
bool rvm__asked_value(const rvm__asked *q, uint32_t k);
size_t rvm__asked_cells(const rvm__asked *q);
bool rvm__asked_save(const rvm__asked *q, enum rvm__keeps which);       /* false: out of memory */
rvm_status rvm__asked_give(const rvm__asked *q, enum rvm__keeps which); /* errors: what is on a device is lost */
rvm_status rvm__asked_results(rvm__asked *q, rvm_error *err);
void rvm__asked_forget(const rvm__asked *q);    /* what was saved on a device is needed no longer */
void rvm__asked_hand_back(const rvm__asked *q); /* values that are fresh, where a gradient has come back to its start */
/* Whether what was saved came back. */
rvm_status rvm__asked_compare(const rvm__asked *q, rvm_error *err);

/* ---- marching.c ---- */
/* A gradient by a program whose loops run again from snapshots; with option checkpoints, or since what it asked for passed
 * the limit of the trail: then inputs and shadows are as they were. */
rvm_status rvm__ask_marching(rvm__asked *q, rvm_error *err);
/* Whether, where the trail's limit is passed, a gradient is to be tried so. */
bool rvm__marches_at_limit(const rvm__asked *q);
#endif
