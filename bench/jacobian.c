/* jacobian.c: a sparse Jacobian, that of bundle adjustment: its entries found by one interpreted sweep, and taken natively
 * in the colours of the pattern that this found. */
#include <stdlib.h>

#include "bench.h"
#include "common.h"
#include "compare.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

enum path { FOUND, COLOURED, WAYS };
static const char *const labels[WAYS] = {"entries found by one sweep", "by their pattern, in colours"};

typedef struct sparse_job {
    rvm_program *p;
    rvm_jit *j;
    rvm_machine *m;
    rvm_part of, by[3];
    rvm_derivative_spec q;
    rvm_sparse pattern;
    double *value;
} sparse_job;

static rvm_status open_job(sparse_job *s, const task *t, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = rvm_jit_options_default();
    o.unchecked = true;
    jit.tiers = false;
    jit.threads = 0;
    jit.cache = "";
    rvm_status status = rvm_open(t->path, NULL, &s->p, e, NULL, NULL);
    if (!status) status = rvm_machine_new(s->p, &o, &s->m, e);
    if (!status && !rvm_jit_new(&jit, &s->j, NULL)) status = rvm_jit_attach(s->j, s->m, e); /* else it is interpreted */
    if (status) return status;
    s->of = (rvm_part){0, -1};
    for (int k = 0; k < 3; k++) s->by[k] = (rvm_part){2 + k, -1};
    s->q = (rvm_derivative_spec){.fn = rvm_program_find(s->p, t->function),
                                 .args = (rvm_arg *)t->args,
                                 .nargs = t->nargs,
                                 .outputs = &s->of,
                                 .noutputs = 1,
                                 .inputs = s->by,
                                 .ninputs = 3};
    return RVM_OK;
}

static rvm_status take(sparse_job *s, enum path path, double *seconds, rvm_error *e) {
    rvm_cost cost = {0};
    const double start = processor_seconds();
    rvm_status status = RVM_OK;
    if (path == FOUND) {
        rvm_sparse_free(s->m, &s->pattern);
        status = rvm_jacobian_entries(s->m, &s->q, &s->pattern, &cost, e);
    } else {
        status = rvm_jacobian_sparse(s->m, &s->q, RVM_AUTO, &s->pattern, s->value, &cost, e);
    }
    *seconds = processor_seconds() - start;
    return status;
}

static rvm_status measure_ways(table *t, sparse_job *s, int repetitions, rvm_error *e) {
    double samples[WAYS][MAX_REPETITIONS], first;
    rvm_status status = take(s, FOUND, &first, e);
    const int64_t entries = status ? 0 : s->pattern.row_start[s->pattern.rows];
    if (!status && !(s->value = malloc((size_t)(entries ? entries : 1) * sizeof *s->value)))
        status = e->code = RVM_ERR_MEMORY;
    if (!status) status = take(s, COLOURED, &first, e); /* compiles */
    for (int n = 0; n < repetitions && !status; n++)
        for (int path = 0; path < WAYS && !status; path++) {
            status = take(s, (enum path)path, &samples[path][n], e);
            samples[path][n] *= 1e3;
        }
    for (int path = 0; path < WAYS && !status; path++)
        figure_set(&table_row(t, "sparse Jacobian, 31,843 observations", labels[path], "ms")->figures[UNCHECKED],
                   samples[path], repetitions);
    return status;
}

bool measure_jacobian(table *t, int repetitions) {
    static problem p;
    sparse_job s = {0};
    rvm_error e = {0};
    p = (problem){.random = 1};
    make_bundle(&p, (int64_t[]){49, 7776, 31843});
    rvm_status status = p.failed ? (e.code = RVM_ERR_MEMORY) : open_job(&s, &p.tasks[0], &e);
    if (!status) status = measure_ways(t, &s, repetitions, &e);
    rvm_sparse_free(s.m, &s.pattern);
    free(s.value);
    rvm_machine_free(s.m);
    rvm_jit_free(s.j);
    rvm_program_free(s.p);
    problem_free(&p);
    return !print_failure(status, &e);
}
