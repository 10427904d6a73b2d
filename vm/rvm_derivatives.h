/* rvm_derivatives.h: Jacobians, Hessians and products with them, by the modes of the machine. docs/derivatives.md says which
 * to ask for when, and what each costs.
 *
 *     rvm_part out = {0, -1}, in = {1, -1}; // all of parameter 0, by all of parameter 1
 *     rvm_derivative_spec q = {
 *         .fn = fn, .args = a, .nargs = 2, .outputs = &out, .noutputs = 1, .inputs = &in, .ninputs = 1};
 *     rvm_jacobian(m, &q, RVM_AUTO, J, NULL, &e); // J[rows * columns]
 *
 * With native code attached (rvm_jit.h) the runs are native, as those of rvm_gradient and rvm_tangent; the sweeps of
 * Hessians and rvm_nonsmooth_points are interpreted.
 *
 * Threads and memory: as the machine's (rvm.h); storage beside the results is taken from the machine's allocator, within its
 * limit; that of products and dense Jacobians is kept for the next one. Arguments come back as they were, on errors too;
 * their active, shadow, shadow_data and shadow_stride are neither read nor changed. Arguments that overlap count as separate
 * ones. Errors of all: those of a run (rvm.h); ARGUMENT (a part that does not exist, or is no real), SHAPE, MEMORY. Where a
 * part, a shape or a pattern is wrong, the position is that of the function.
 */
#ifndef RVM_DERIVATIVES_H
#define RVM_DERIVATIVES_H

#include "rvm.h"

/* A member with its earlier name. */
#define RVM__RENAMED(type, now, before)                                                                                     \
    union {                                                                                                                 \
        type now;                                                                                                           \
        type before RVM_DEPRECATED("it is " #now);                                                                          \
    }

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter, all its elements in row-major order (element < 0), or one of them. */
typedef struct rvm_part {
    uint32_t param;
    int64_t element;
} rvm_part;

/* What is differentiated by what, and where. Rows of a Jacobian number the elements of the outputs in the order of the
 * parts, columns those of the inputs. Inputs are the values of args when the function begins, outputs those when it ends; a
 * parameter may be both. */
typedef struct rvm_derivative_spec {
    int64_t fn;
    rvm_arg *args; /* one for each parameter, as for rvm_call */
    uint32_t nargs;
    RVM__RENAMED(const rvm_part *, outputs, of);
    RVM__RENAMED(const rvm_part *, inputs, by);
    RVM__RENAMED(uint32_t, noutputs, nof);
    RVM__RENAMED(uint32_t, ninputs, nby);
} rvm_derivative_spec;

/* rows: elements of the outputs; columns: of the inputs. */
RVM_API rvm_status rvm_derivative_size(const rvm_machine *m, const rvm_derivative_spec *q, int64_t *rows, int64_t *columns,
                                       rvm_error *err);
/* Text of row or column k, as "y[3]"; cut to size. Returns the length it has uncut. */
RVM_API int rvm_derivative_name(const rvm_machine *m, const rvm_derivative_spec *q, bool column, int64_t k, char *text,
                                size_t size);

/* What an answer cost. */
typedef struct rvm_cost {
    const char *method;          /* "tangent", "adjoint", "sweep", "hvp"; a static string */
    uint64_t tangents, adjoints; /* runs: forward with tangents; forward and back as a sweep */
    uint64_t instructions;
    int64_t colours;           /* with a pattern: groups of columns, or of rows */
    uint64_t updates, entries; /* of a one-sweep Hessian: entries changed, and held at most */
    const char *other;         /* the other method, and the instructions that it takes: counted, or estimated from this */
    uint64_t otherwise, other_updates;
    bool estimated;
} rvm_cost;

typedef enum rvm_method {
    RVM_AUTO,
    RVM_BY_TANGENTS, /* Jacobian: a run for each column, or colour of columns */
    RVM_BY_ADJOINTS, /* Jacobian: a run for each row, or colour of rows; it takes about two of the former */
    RVM_BY_SWEEP,    /* Hessian: one backward sweep that carries it */
    RVM_BY_HVP       /* Hessian: a product for each column */
} rvm_method;

/* J v: v[columns], jv[rows], by one tangent run; w J: w[rows], wj[columns], by one sweep. cost may be NULL, here and below.
 */
RVM_API rvm_status rvm_jvp(rvm_machine *m, const rvm_derivative_spec *q, const double *v, double *jv, rvm_cost *cost,
                           rvm_error *err);
RVM_API rvm_status rvm_vjp(rvm_machine *m, const rvm_derivative_spec *q, const double *w, double *wj, rvm_cost *cost,
                           rvm_error *err);
/* J[rows * columns], row by row. Natively eight columns (rows) or more are taken at once, in lanes, strictly with the bits
 * of one by one (docs/derivatives.md). RVM_AUTO takes the method that costs less, or the one for which a derivative is
 * written by hand, where one takes part and none for the other. */
RVM_API rvm_status rvm_jacobian(rvm_machine *m, const rvm_derivative_spec *q, rvm_method method, double *J, rvm_cost *cost,
                                rvm_error *err);

/* A sparse matrix by rows: the columns of row i are column[row_start[i] .. row_start[i + 1]), each once, in any order; value
 * alike. */
typedef struct rvm_sparse {
    int64_t rows, columns;
    int64_t *row_start, *column; /* rows + 1; row_start[rows] */
    double *value;               /* NULL in a pattern */
} rvm_sparse;

/* The entries of J that the pattern has, in its order. Columns that share no row are taken in one run (greedy colouring), or
 * rows that share no column, whichever needs less, or as the method says, which rvm_jacobian has (A. R. Curtis, M. J. D.
 * Powell, J. K. Reid, 1974); then the whole is compared with one product in another direction, so that a pattern which
 * misses an entry that is not 0 is found: ARGUMENT, naming the entry. value[row_start[rows]]. */
RVM_API rvm_status rvm_jacobian_sparse(rvm_machine *m, const rvm_derivative_spec *q, rvm_method method,
                                       const rvm_sparse *pattern, double *value, rvm_cost *cost, rvm_error *err);

/* The same where the pattern is not known: all entries by which an output depends on an input in this run, some of which may
 * be 0, rows in order and columns ascending, in *out, which is freed with rvm_sparse_free on the same machine. One backward
 * sweep carries them all, as that of rvm_hessian_sparse does: the interpreter's, and as long as its instructions, times the
 * outputs that depend on the places they change. As a pattern it holds wherever the program takes the same branches and the
 * same elements; rvm_jacobian_sparse finds what is missing elsewhere. Errors: UNSUPPORTED (something on a trail that the
 * sweep cannot follow), MEMORY. */
RVM_API rvm_status rvm_jacobian_entries(rvm_machine *m, const rvm_derivative_spec *q, rvm_sparse *out, rvm_cost *cost,
                                        rvm_error *err);

/* Hessian by the columns of the sum of w[i] times row i (w NULL: of the one row there is): dense, H[columns * columns], row
 * by row; or its entries that are not 0, rows in order and columns ascending, in *out, which is freed with rvm_sparse_free
 * on the same machine. The sweep is the edge pushing of R. M. Gower and M. P. Mello (2012); RVM_AUTO takes it, unless it
 * turns out dearer than products while it runs, overflows, or does not go through the program. Products run natively, the
 * sweep does not: with native code at hand (rvm_jit_options.tiers off, or where tiers have come to it) fewer than 16 columns
 * are products at once, and others are sooner. */
RVM_API rvm_status rvm_hessian(rvm_machine *m, const rvm_derivative_spec *q, const double *w, rvm_method method, double *H,
                               rvm_cost *cost, rvm_error *err);
RVM_API rvm_status rvm_hessian_sparse(rvm_machine *m, const rvm_derivative_spec *q, const double *w, rvm_sparse *out,
                                      rvm_cost *cost, rvm_error *err);
/* H v, v[columns] and hv[columns]: the tangent of the gradient program, which is derived on the first call and kept by the
 * machine, with a machine of its own of the same options. With option exact, where such a run does not go through that
 * program (fn calls adjoints itself), it takes the Hessian itself by the sweep, as rvm_hessian_sparse, and with n columns up
 * to n times as long. Errors: UNSUPPORTED, with the reason, where there is no such program. */
RVM_API rvm_status rvm_hvp(rvm_machine *m, const rvm_derivative_spec *q, const double *w, const double *v, double *hv,
                           rvm_cost *cost, rvm_error *err);
/* Of what rvm_hessian_sparse or rvm_jacobian_entries gave, also when it failed; *s is then empty. */
RVM_API void rvm_sparse_free(rvm_machine *m, rvm_sparse *s);

/* Where a derivative ends: an instruction that takes `place`, which depends on the inputs, and whose result has no
 * derivative by it: a comparison, a conversion to an integer, floor; or has none there: sqrt or abs of 0, a tie of min. */
typedef struct rvm_nonsmooth_point {
    uint32_t fn, pc;
    const char *function, *file, *row; /* row: "lt", "conv", "floor", "sqrt"; the program's own strings */
    double taken;                      /* what is taken for the derivative, by its rule; mostly 0 */
    uint32_t line, column;
    char place[80]; /* as in the source where it has a name there */
    bool corner;    /* the row has a derivative elsewhere, and none there */
} rvm_nonsmooth_point;
/* Those met in a run along direction v (by columns), each line, row and place once, in the order met: the first `room` in
 * points, and how many there are in *n. The run is a tangent run: it ends with TANGENT where an ancilla's release is an
 * accident of the input. */
RVM_API rvm_status rvm_nonsmooth_points(rvm_machine *m, const rvm_derivative_spec *q, const double *v,
                                        rvm_nonsmooth_point *points, uint32_t room, uint32_t *n, rvm_error *err);

/* Only the corners, in the first `most` instructions of a run, one by one, along no direction; *all: those were all there
 * are. Where no instruction that depends on the inputs can have one, nothing is run. Neither gradients nor products look for
 * them, on any engine: ask this beside them. */
RVM_API rvm_status rvm_nonsmooth_corners(rvm_machine *m, const rvm_derivative_spec *q, uint64_t most,
                                         rvm_nonsmooth_point *points, uint32_t room, uint32_t *n, bool *all, rvm_error *err);

/* ---- earlier names, for one version more ---- */
typedef rvm_derivative_spec rvm_question RVM_DEPRECATED("it is rvm_derivative_spec");
typedef rvm_nonsmooth_point rvm_cut RVM_DEPRECATED("it is rvm_nonsmooth_point");
#define rvm_question_size      rvm_derivative_size
#define rvm_question_name      rvm_derivative_name
#define rvm_derivative_cuts    rvm_nonsmooth_points
#define rvm_derivative_corners rvm_nonsmooth_corners

#ifdef __cplusplus
}
#endif
#endif
