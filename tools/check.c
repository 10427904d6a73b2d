/* check.c: rows of the table that rvm check prints. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

row *check_add_row(check *c, const char *name, const char *format, const char *what) {
    row *r = &c->rows[c->n++];
    *r = (row){.check = name, .outcome = PASSED};
    snprintf(r->what, sizeof r->what, format, what);
    return r;
}

bool check_is_limit(rvm_status st) {
    return rvm_status_exit(st) == rvm_status_exit(RVM_ERR_LIMIT);
}

rvm_status check_run(check *c, row *r, rvm_status status, const rvm_error *e) {
    if (check_is_limit(status)) return c->t->err = *e, status;
    if (!status) return RVM_OK;
    r->outcome = FAILED;
    if (e->line)
        snprintf(r->note, sizeof r->note, "%.200s:%u: %.320s", e->file, e->line, e->message);
    else
        snprintf(r->note, sizeof r->note, "%.250s", e->message);
    return RVM_OK;
}

static bool has_single(const rvm_program *p, uint32_t fn) {
    rvm_variable_info v;
    for (uint32_t k = 0; rvm_program_variable(p, fn, k, &v); k++)
        if (v.type == RVM_F32) return true;
    return false;
}

bool check_find_single(check *c) {
    const rvm_program *p = c->t->program;
    const uint32_t n = rvm_program_function_count(p);
    uint32_t *reached = malloc(n * sizeof *reached), count = 0;
    bool *seen = calloc(n, sizeof *seen);
    if (reached && seen) {
        seen[c->t->fn] = true;
        reached[count++] = c->t->fn;
    }
    for (uint32_t k = 0; k < count; k++) {
        rvm_instruction in;
        c->single |= has_single(p, reached[k]);
        for (uint32_t pc = 0; rvm_program_instruction(p, reached[k], pc, &in); pc++) {
            if (in.callee < 0 || seen[in.callee]) continue;
            seen[in.callee] = true;
            reached[count++] = (uint32_t)in.callee;
        }
    }
    free(reached);
    free(seen);
    return count > 0;
}

/* The transpose of a function that computes in a coarser type than f64. */
double check_transpose_tolerance(const check *c) {
    double tolerance = c->single ? 1e-4 : 1e-9;
    for (uint32_t i = 0; i < c->t->v.n; i++) {
        const rvm_type type = c->t->v.info[i].type;
        if (c->active[i] && type != RVM_F64) tolerance = fmax(tolerance, type == RVM_F32 ? 1e-4 : 1e-6);
    }
    return tolerance;
}
