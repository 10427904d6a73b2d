/* jacobian.c: products with a Jacobian, and all of it, by columns (a tangent run each) or by rows (a sweep each). */
#include "spec.h"
#include "support.h"

rvm_status rvm_jvp(rvm_machine *m, const rvm_derivative_spec *q, const double *v, double *jv, rvm_cost *cost,
                   rvm_error *err) {
    rvm__work w;
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    w.cost.method = "tangent";
    status = rvm__work_needs(v, w.columns, "v", err);
    if (!status) status = rvm__work_needs(jv, w.rows, "jv", err);
    rvm__work_reset(&w);
    if (!status) rvm__work_put(&w, true, v);
    if (!status) status = rvm__work_tangent(&w, err);
    if (!status) rvm__work_read(&w, false, jv, 1);
    rvm__work_end(&w, cost);
    return status;
}

rvm_status rvm_vjp(rvm_machine *m, const rvm_derivative_spec *q, const double *w, double *wj, rvm_cost *cost,
                   rvm_error *err) {
    rvm__work work;
    rvm_status status = rvm__work_begin(&work, m, q, err);
    if (status) return status;
    work.cost.method = "adjoint";
    status = rvm__work_needs(w, work.rows, "w", err);
    if (!status) status = rvm__work_needs(wj, work.columns, "wj", err);
    rvm__work_reset(&work);
    if (!status) rvm__work_put(&work, false, w);
    if (!status) status = rvm__work_adjoint(&work, err);
    if (!status) rvm__work_read(&work, true, wj, 1);
    rvm__work_end(&work, cost);
    return status;
}

/* ---- all of it ---- */

typedef struct lines { /* columns, by tangents, or rows */
    rvm__work *w;
    double *J;
    bool columns;
} lines;

static void set_line(void *of, int64_t k) {
    const lines *l = of;
    rvm__work_reset(l->w);
    rvm__work_set(l->w, l->columns, k, 1);
}

static rvm_status run_line(void *of, rvm_error *err) {
    const lines *l = of;
    return l->columns ? rvm__work_tangent(l->w, err) : rvm__work_adjoint(l->w, err);
}

static void get_line(void *of, int64_t k) {
    const lines *l = of;
    const int64_t n = l->w->columns;
    rvm__work_read(l->w, !l->columns, l->J + (l->columns ? k : k * n), l->columns ? n : 1);
}

rvm_status rvm_jacobian(rvm_machine *m, const rvm_derivative_spec *q, rvm_method method, double *J, rvm_cost *cost,
                        rvm_error *err) {
    rvm__work w;
    if ((unsigned)method > RVM_BY_ADJOINTS)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no method of a Jacobian has number %d", (int)method);
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    status = rvm__work_needs(J, w.rows && w.columns, "J", err);
    method = rvm__method_by_hand(w.p, (uint32_t)q->fn, method);
    const bool tangents = method == RVM_AUTO ? rvm__tangents_are_cheaper(w.columns, w.rows) : method == RVM_BY_TANGENTS;
    w.cost.method = tangents ? "tangent" : "adjoint";
    w.cost.other = tangents ? "adjoint" : "tangent";
    if (w.rows && w.columns) /* a sweep goes forward and back */
        w.other_share = tangents ? 2.0 * (double)w.rows / (double)w.columns : 0.5 * (double)w.columns / (double)w.rows;
    lines l = {&w, J, tangents};
    const rvm__directions all = {&l, tangents ? w.columns : w.rows, set_line, run_line, get_line};
    if (!status) status = rvm__work_each(&w, tangents, &all, err);
    rvm__work_end(&w, cost);
    return status;
}
