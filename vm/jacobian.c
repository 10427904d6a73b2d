/* jacobian.c: products with a Jacobian, and all of it, by columns (a tangent run each) or by rows (a sweep each). */
#include "question.h"

static void seed(rvm__work *w, bool column, int64_t n, const double *v) {
    for (int64_t k = 0; k < n; k++) rvm__work_set(w, column, k, v[k]);
}

static void read(const rvm__work *w, bool column, int64_t n, double *v) {
    for (int64_t k = 0; k < n; k++) v[k] = rvm__work_get(w, column, k);
}

rvm_status rvm_jvp(rvm_machine *m, const rvm_question *q, const double *v, double *jv, rvm_cost *cost, rvm_error *err) {
    rvm__work w;
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    w.cost.method = "tangent";
    rvm__work_reset(&w);
    seed(&w, true, w.columns, v);
    status = rvm__work_tangent(&w, err);
    if (!status) read(&w, false, w.rows, jv);
    rvm__work_end(&w, cost);
    return status;
}

rvm_status rvm_vjp(rvm_machine *m, const rvm_question *q, const double *x, double *wj, rvm_cost *cost, rvm_error *err) {
    rvm__work w;
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    w.cost.method = "adjoint";
    rvm__work_reset(&w);
    seed(&w, false, w.rows, x);
    status = rvm__work_adjoint(&w, err);
    if (!status) read(&w, true, w.columns, wj);
    rvm__work_end(&w, cost);
    return status;
}

rvm_status rvm_jacobian(rvm_machine *m, const rvm_question *q, rvm_method method, double *J, rvm_cost *cost,
                        rvm_error *err) {
    rvm__work w;
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    const bool tangents = method == RVM_AUTO ? rvm__tangents_are_cheaper(w.columns, w.rows) : method == RVM_BY_TANGENTS;
    w.cost.method = tangents ? "tangent" : "adjoint";
    w.cost.other = tangents ? "adjoint" : "tangent";
    if (w.rows && w.columns) /* a sweep goes forward and back */
        w.other_share = tangents ? 2.0 * (double)w.rows / (double)w.columns : 0.5 * (double)w.columns / (double)w.rows;
    for (int64_t k = 0; k < (tangents ? w.columns : w.rows) && !status; k++) {
        rvm__work_reset(&w);
        rvm__work_set(&w, tangents, k, 1);
        status = tangents ? rvm__work_tangent(&w, err) : rvm__work_adjoint(&w, err);
        for (int64_t i = 0; i < (tangents ? w.rows : w.columns) && !status; i++)
            J[tangents ? i * w.columns + k : k * w.columns + i] = rvm__work_get(&w, !tangents, i);
    }
    rvm__work_end(&w, cost);
    return status;
}
