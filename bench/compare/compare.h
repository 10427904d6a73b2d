/* compare.h: the same task by several engines: checked against each other, then timed side by side.
 *
 *   suite.c     which problems, at which sizes            make.c      what their makers are built of
 *   engines.c   what can run a task: one entry each       samples.c   checks and times the engines of a task
 *   report.c    the table, as text or JSON
 *   ../problems data and arguments of each problem        ../peers    each by hand, in C
 *   ../taped    each for ADOL-C
 *
 * A new engine is an entry in engines.c; a new problem is a program, a maker in ../problems and a line in suite.c.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "peers.h"
#include "rvm.h"

enum { MAX_ARGS = 14, MAX_OUTPUTS = 6, MAX_TASKS = 3, MAX_OWNED = 40, MAX_ENGINES = 16 };

/* ---- problems ---- */

/* What computes a task, as the machine sees it. */
typedef enum way {
    BY_CALL,     /* the function itself */
    BY_ADJOINT,  /* f'adj, where that is the gradient: results are only added to, inputs only read, so any result will do */
    BY_GRADIENT, /* f'grad */
    BY_HESSIAN   /* `hessian`(H[p, rows, columns], x[rows, columns], ...), where `function` is (out, x, ...); the interpreter
                    takes its own */
} way;

/* Where a task leaves a result. Every engine leaves it there; before each run it is `start`, or 0 where that is NULL. */
typedef struct output {
    double *data;
    int64_t count;
    const double *start;
    int arg;        /* the scalar argument of a BY_CALL that it is, else -1 */
    bool state;     /* what a run changes on its way, and nobody compares */
    double *across; /* where programs leave it, transposed: not [count / width, width] but [width, count / width]; or NULL */
    int64_t width;
} output;

typedef struct task {
    const char *name; /* of the row: "primal" ... */
    const char *path, *function, *hessian;
    way way;
    rvm_arg args[MAX_ARGS]; /* of `function`; active ones with their shadows */
    uint32_t nargs;
    output outputs[MAX_OUTPUTS];
    int noutputs;
    double tolerance; /* of results, relative to the largest of an output */
    bool in_place;    /* a second run would not be the first: each starts from `start` */
    enum peer peer;   /* the same by hand */
    void *data;       /* for the peer and for ADOL-C */
    bool taped;       /* whether ADOL-C is to try it */
    int64_t work;     /* bytes that the peer works in */
} task;

typedef struct problem {
    char title[80];
    task tasks[MAX_TASKS];
    int ntasks;
    void *owned[MAX_OWNED];
    int nowned;
    int64_t work;
    bool failed; /* out of memory */
    uint64_t random;
} problem;

/* Makers fill *p; `size` is theirs to read. What is out of memory is told by p->failed. */
typedef void problem_maker(problem *p, const int64_t *size);
problem_maker make_gmm, make_bundle, make_hand, make_lstm, make_bessel, make_dot, make_product, make_embedding;
problem_maker make_leapfrog, make_quaternion, make_relaxation, make_orbits, make_embeddings, make_pairs, make_layouts,
    make_reprojection;
void problem_free(problem *p);

/* ---- what makers are built of ---- */

/* All return memory that the problem owns, of 0s; NULL sets p->failed. */
void *problem_memory(problem *p, int64_t count, size_t size);
double *problem_reals(problem *p, int64_t count);
int64_t *problem_integers(problem *p, int64_t count);
double *problem_work(problem *p, int64_t count); /* for peers to work in; counts as their memory */
double *problem_uniform(problem *p, int64_t count, double lo, double hi);
double *problem_normal(problem *p, int64_t count, double deviation);
double random_uniform(problem *p); /* in 0..1; the same numbers in every run */
int64_t random_below(problem *p, int64_t n);

task *problem_task(problem *p, const char *name, const char *path, const char *function, way how, enum peer peer,
                   void *data);
/* Arguments are added in the order of the parameters. shadow not NULL: active, and the shadow is there. */
void task_real(task *t, double v);
void task_seeded(task *t, double v, double seed); /* an active real, the result of a BY_ADJOINT or BY_GRADIENT */
void task_integer(task *t, int64_t v);
void task_reals(task *t, double *data, double *shadow, int ndim, int64_t rows, int64_t columns, int64_t depth);
void task_tensor(task *t, double *data, double *shadow, int ndim, const int64_t *shape);
void task_integers(task *t, int64_t *data, int64_t count);
void task_fresh(task *t); /* the argument added last is not read: it is as if cleared before */
/* Results. A scalar: the argument added last. */
void task_output(task *t, double *data, int64_t count, const double *start);
void task_output_scalar(task *t, double *data);
void task_state(task *t, double *data, int64_t count, const double *start);
/* Like an output that starts as 0; programs leave [width, count / width] in `across`. */
void task_output_across(task *t, double *data, double *across, int64_t count, int64_t width);

/* ---- engines ---- */

/* What every engine can run: a plain call, of the function or of its derivative program. Scalars come back in args. */
typedef struct call {
    rvm_program *p;
    int64_t fn;
    rvm_arg args[2 * MAX_ARGS];
    uint32_t nargs;
} call;

typedef enum kind { STRICT, SCALAR, FAST, KINDS } kind; /* arithmetic; SCALAR: strict, and no vectors; FAST: -ffast-math */

typedef struct engine engine;
struct engine {
    const char *name;
    int variant;     /* for engines that share functions */
    bool by_hand;    /* a C peer: of each kind the faster compiler has the column */
    kind kind;       /* what it is compared with: the C of this kind, or the strict one for a peer */
    bool wall;       /* timed by the clock on the wall, since it uses threads; else by the processor's seconds of this one */
    bool check_only; /* takes part in checks, but is not timed */
    const char *(*missing)(const engine *g, const task *t); /* NULL: it runs the task; else why not, in a few words */
    rvm_status (*open)(const engine *g, const task *t, const call *c, void **state, rvm_error *e); /* not timed */
    rvm_status (*run)(void *state, call *c, rvm_error *e);
    void (*close)(void *state); /* takes NULL */
};
extern double cell_seconds;     /* that a cell of the table takes, about; set first */
extern bool native_any_lengths; /* native code is made for arrays of any lengths, not those of the task; set first */
extern rvm_math machine_math;   /* whose elementary functions machines have; set first */
extern unsigned native_level;   /* of optimisation */
extern const char *native_cpu;  /* rvm_jit_options.cpu; set first */
extern const engine engines[];
extern const int nengines;

/* The call that computes the task; its arguments borrow the task's arrays. Free with call_free, also after a failure. */
rvm_status call_make(call *c, const task *t, rvm_error *e);
void call_free(call *c);

/* ---- measurements ---- */

typedef enum level { LEVEL_CHECK, LEVEL_QUICK, LEVEL_FULL } level;

typedef struct cell {
    const char *missing; /* why there is no figure, or NULL */
    double seconds, spread;
    double bytes; /* at most, beside arguments and results; < 0: unknown */
} cell;

typedef struct result {
    char problem[80];
    const char *task;
    cell cells[MAX_ENGINES];
} result;

/* Runs every engine that is wanted once and compares what they leave, then times them unless the level is LEVEL_CHECK.
 * Failures and disagreements are told on stderr. */
bool task_compare(const problem *p, const task *t, level l, const char *by, result *out);

void report_text(const result *r, int n, FILE *out);
void report_json(const result *r, int n, FILE *out);

/* The whole comparison, to stdout; only problems whose title has `only` in it, if not NULL; by
 * hand and by engines whose name has `by` in it, if not NULL. False when something failed. */
bool compare_peers(level l, const char *only, const char *by, bool json);

#endif
