/* check.c: rows of the table that rvm check prints. */
#include "check.h"

#include <math.h>

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

/* The transpose of a function that computes in a coarser type than f64. */
double check_transpose_tolerance(const check *c) {
    double tolerance = 1e-9;
    for (uint32_t i = 0; i < c->t->v.n; i++) {
        const rvm_type type = c->t->v.info[i].type;
        if (c->active[i] && type != RVM_F64) tolerance = fmax(tolerance, type == RVM_F32 ? 1e-4 : 1e-6);
    }
    return tolerance;
}
