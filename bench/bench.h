/* bench.h: what is measured, and the table it goes into.
 *
 *   jobs.c      the measured programs with their arguments       jobs_c.c   the same by hand
 *   measure.c   times a job's passes and fills its rows          other.c    memory, assembler, start of the command
 *   second.c    the one-sweep Hessian                            trail.c    gradients by the trail
 *   peaks.c     what this processor can do at most         checked.c    what checks cost natively
 *   exact.c     runs that restore every bit                jacobian.c   a sparse Jacobian
 *   derived.c   counts of derivative programs              layouts.c    results side by side, or not
 *   compile.c   until native code can be called            directions.c columns and rows at once
 *   api.c       what the C interface costs beyond the work       profile.c  what a profile costs
 *   native.c    machines with native code of their own
 *   pisa.c      steps a second of the Pendulum processor
 *   table.c     rows with their targets, as text or JSON         main.c     the command line
 *   compare/    engines side by side: a table of its own
 *   schedules.c real steps by all kinds of schedules, gpu.c a CUDA device: tables of their own, too
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bal.h"
#include "rvm.h"
#include "rvm_jit.h"

/* ---- the table ---- */

enum { CHECKED, UNCHECKED, TRUSTED, SETTINGS }; /* a column each; what has no such settings uses the first */
enum { MAX_ROWS = 64, MAX_REPETITIONS = 99 };

typedef enum bound { NO_TARGET, AT_LEAST, AT_MOST } bound;

typedef struct figure {
    bool present;
    double value, spread; /* median of the repetitions, and half the distance of their quartiles, relative to it */
    bound bound;          /* what is asked of the value, if anything */
    double target;
} figure;

typedef struct row {
    const char *group, *label, *unit;
    figure figures[SETTINGS];
} row;

typedef struct table {
    row rows[MAX_ROWS];
    int nrows;
} table;

row *table_row(table *t, const char *group, const char *label, const char *unit);
/* Sorts the samples, and sets the figure to their median. */
void figure_set(figure *f, double *samples, int n);
void figure_target(figure *f, bound kind, double target);
void table_print(const table *t, FILE *out);
void table_print_json(const table *t, FILE *out);

/* ---- jobs ---- */

typedef struct job {
    const char *name, *title, *path, *function;
    rvm_arg args[12];
    uint32_t nargs;
    void (*peer)(struct job *j); /* the same work in C, on arrays of its own */
    double multiply_adds;        /* of a forward pass; 0 where the figure means nothing */
    bool has_gradient;
    bal scene;
    int64_t integers[8];
    double *owned[12];
    int nowned;
    volatile double sink; /* keeps what the peer computed alive */
} job;

/* Fill *j, false when out of memory. Free with job_free either way. */
bool job_loop(job *j);
bool job_matvec(job *j);
bool job_bundle(job *j);
bool job_gmm(job *j);   /* it has no peer */
bool job_short(job *j); /* nor has that */
void job_free(job *j);

/* ---- measurements: each adds its rows; failures are told on stderr ---- */

/* Of this thread, so that what else the machine does delays nothing that is measured. */
double processor_seconds(void);
double process_seconds(void); /* of all threads: code is compiled in one of its own */
bool measure_job(table *t, job *j, int repetitions);
bool measure_derived(table *t, job *j); /* the derivatives of the job as programs */
bool measure_memory(table *t);
bool measure_exact(table *t, int repetitions);
bool measure_second(table *t, int repetitions);
bool measure_trail(table *t, int repetitions);
bool measure_assembler(table *t, int repetitions);
bool measure_start(table *t, int repetitions);
bool measure_compile(table *t, int repetitions);
bool measure_api(table *t, int repetitions);
bool measure_profile(table *t, int repetitions);
bool measure_pisa(table *t, int repetitions);
bool measure_peaks(table *t, int repetitions);
bool measure_checked(table *t, int repetitions);
bool measure_layouts(table *t, int repetitions);
bool measure_jacobian(table *t, int repetitions);
bool measure_directions(table *t, int repetitions);

/* ---- tables of their own ---- */

/* Every problem whose title holds `only` (NULL: all), on small sizes or whole. False: something fails, or gives a wrong
 * result, which is told on stderr. */
bool bench_schedules(bool small_ones, const char *only, bool json);
/* gpu.c: gradients on a CUDA device. check: small ones, which are compared only; device: nothing runs here. */
extern int gpu_repeats; /* of a check */
bool bench_gpu(bool check, bool device, const char *only, bool json);

/* ---- native.c ---- */

typedef struct native_machine {
    rvm_jit *j;
    rvm_machine *m;
} native_machine;
bool native_is_there(void);           /* if not, stderr has why */
rvm_jit_options native_options(void); /* compiled when it is first run, in no cache */
/* Close it with native_close either way; all 0 it may be closed, too. */
rvm_status native_open(native_machine *n, const rvm_program *p, const rvm_options *o, const rvm_jit_options *jit,
                       rvm_error *e);
void native_close(native_machine *n);

#endif
