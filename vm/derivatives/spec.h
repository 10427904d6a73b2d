/* spec.h: the runs by which a derivative that is specified is computed: the caller's arguments with shadows of our own. */
#ifndef RVM_SPEC_H
#define RVM_SPEC_H

#include "answers.h"

typedef struct rvm__work {
    rvm_machine *m;
    const rvm_program *p;
    const rvm_derivative_spec *q;
    int64_t rows, columns;
    rvm_param_info *params;
    rvm_arg *args;               /* the caller's, shadows replaced */
    rvm_scalar *saved, *shadows; /* of all elements of all arguments, argument after argument */
    size_t *at;                  /* first of each argument in them; at[nargs] the number of all */
    rvm_stats before;
    rvm_cost cost;
    double other_share; /* of a run's instructions that the other method takes; 0: unknown */
} rvm__work;

/* Checks the specification and saves the inputs; rvm__work_end hands them back and fills *cost (may be NULL). */
rvm_status rvm__work_begin(rvm__work *w, rvm_machine *m, const rvm_derivative_spec *q, rvm_error *err);
/* USAGE where n numbers are needed, named for the message, and the pointer to them is NULL. */
rvm_status rvm__work_needs(const double *numbers, int64_t n, const char *name, rvm_error *err);
void rvm__work_end(rvm__work *w, rvm_cost *cost);

/* Inputs as they were and shadows 0: what each run starts from. */
void rvm__work_reset(rvm__work *w);
/* The shadow of row or column k, and the parameter that it is of; NULL: there is none. */
rvm_scalar *rvm__work_shadow(const rvm__work *w, bool column, int64_t k, uint32_t *param);
double rvm__work_get(const rvm__work *w, bool column, int64_t k);
void rvm__work_set(rvm__work *w, bool column, int64_t k, double v);
/* Those of all rows or columns, in order; number k is read into v[k * stride]. */
void rvm__work_put(const rvm__work *w, bool column, const double *v);
void rvm__work_read(const rvm__work *w, bool column, double *v, int64_t stride);
/* Weights of all rows; NULL: 1 each. */
void rvm__work_weigh(rvm__work *w, const double *weights);
/* A run on what the shadows hold. */
rvm_status rvm__work_tangent(rvm__work *w, rvm_error *err);
rvm_status rvm__work_adjoint(rvm__work *w, rvm_error *err);
/* Tangents along all these directions, or gradients of all these results. */
rvm_status rvm__work_each(rvm__work *w, bool tangents, const rvm__directions *x, rvm_error *err);

/* RVM_AUTO, where a derivative is written by hand for sweeps or for tangents alone: that way, since the other one does not
 * know it. */
static inline rvm_method rvm__method_by_hand(const rvm_program *p, uint32_t fn, rvm_method asked) {
    const bool sweeps = rvm_program_by_hand(p, fn, RVM_ADJOINT), tangents = rvm_program_by_hand(p, fn, RVM_TANGENT_OF);
    if (asked != RVM_AUTO || sweeps == tangents) return asked;
    return sweeps ? RVM_BY_ADJOINTS : RVM_BY_TANGENTS;
}

/* Whether forward runs, one for each of n columns, are cheaper than sweeps for each of m rows: an adjoint runs the program
 * forward and, dearer, back (docs/derivatives.md has the measured ratios). */
static inline bool rvm__tangents_are_cheaper(int64_t n, int64_t m) {
    return n <= 2 * m;
}

#endif
