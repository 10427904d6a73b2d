/* derivatives.c: rvm_derivatives.h. */
#include "nulls.h"
#include "rvm_derivatives.h"

static const rvm_part of = {0, -1}, by = {1, -1};
static rvm_derivative_spec q;

static void shapes_of_specs(void) {
    int64_t rows, columns;
    char text[8] = "";
    q = (rvm_derivative_spec){
        .fn = fn, .args = args, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    rvm_derivative_spec without = q;
    REFUSED(rvm_derivative_size, m, NULL, &q, &rows, &columns, &e);
    REFUSED(rvm_derivative_size, q, m, NULL, &rows, &columns, &e);
    REFUSED(rvm_derivative_size, rows, m, &q, NULL, &columns, &e);
    REFUSED(rvm_derivative_size, columns, m, &q, &rows, NULL, &e);
    UNTOLD(rvm_derivative_size, NULL, &q, &rows, &columns, NULL);
    without.args = NULL;
    HARMLESS(rvm_derivative_size, q, rvm_derivative_size(m, &without, &rows, &columns, &e) == RVM_ERR_USAGE);
    without = q, without.outputs = NULL;
    HARMLESS(rvm_derivative_size, q, rvm_derivative_size(m, &without, &rows, &columns, &e) == RVM_ERR_USAGE);
    without = q, without.inputs = NULL;
    HARMLESS(rvm_derivative_size, q, rvm_derivative_size(m, &without, &rows, &columns, &e) == RVM_ERR_USAGE);
    HARMLESS(rvm_derivative_name, m, rvm_derivative_name(NULL, &q, true, 0, text, sizeof text) == 1);
    HARMLESS(rvm_derivative_name, q, rvm_derivative_name(m, NULL, true, 0, text, sizeof text) == 1);
    HARMLESS(rvm_derivative_name, text, rvm_derivative_name(m, &q, true, 0, NULL, 100) == 4);
}

static void products(void) {
    double v[2] = {1, 1}, w[2] = {1, 1}, H[4];
    REFUSED(rvm_jvp, m, NULL, &q, v, w, NULL, &e);
    REFUSED(rvm_jvp, q, m, NULL, v, w, NULL, &e);
    REFUSED(rvm_jvp, v, m, &q, NULL, w, NULL, &e);
    REFUSED(rvm_jvp, jv, m, &q, v, NULL, NULL, &e);
    ALLOWED(rvm_jvp, cost, m, &q, v, w, NULL, &e);
    UNTOLD(rvm_jvp, NULL, &q, v, w, NULL, NULL);
    REFUSED(rvm_vjp, m, NULL, &q, w, v, NULL, &e);
    REFUSED(rvm_vjp, q, m, NULL, w, v, NULL, &e);
    REFUSED(rvm_vjp, w, m, &q, NULL, v, NULL, &e);
    REFUSED(rvm_vjp, wj, m, &q, w, NULL, NULL, &e);
    ALLOWED(rvm_vjp, cost, m, &q, w, v, NULL, &e);
    UNTOLD(rvm_vjp, NULL, &q, w, v, NULL, NULL);
    REFUSED(rvm_hvp, m, NULL, &q, NULL, v, w, NULL, &e);
    REFUSED(rvm_hvp, q, m, NULL, NULL, v, w, NULL, &e);
    REFUSED(rvm_hvp, v, m, &q, NULL, NULL, w, NULL, &e);
    REFUSED(rvm_hvp, hv, m, &q, NULL, v, NULL, NULL, &e);
    ALLOWED(rvm_hvp, w, m, &q, NULL, v, w, NULL, &e);
    ALLOWED(rvm_hvp, cost, m, &q, NULL, v, w, NULL, &e);
    UNTOLD(rvm_hvp, NULL, &q, NULL, v, w, NULL, NULL);
    REFUSED(rvm_jacobian, m, NULL, &q, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_jacobian, q, m, NULL, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_jacobian, J, m, &q, RVM_AUTO, NULL, NULL, &e);
    NO_KIND(rvm_jacobian, method, m, &q, (rvm_method)99, H, NULL, &e);
    HARMLESS(rvm_jacobian, method, rvm_jacobian(m, &q, RVM_BY_SWEEP, H, NULL, &e) == RVM_ERR_USAGE);
    ALLOWED(rvm_jacobian, cost, m, &q, RVM_AUTO, H, NULL, &e);
    UNTOLD(rvm_jacobian, NULL, &q, RVM_AUTO, H, NULL, NULL);
    REFUSED(rvm_hessian, m, NULL, &q, NULL, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_hessian, q, m, NULL, NULL, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_hessian, H, m, &q, NULL, RVM_AUTO, NULL, NULL, &e);
    NO_KIND(rvm_hessian, method, m, &q, NULL, (rvm_method)99, H, NULL, &e);
    HARMLESS(rvm_hessian, method, rvm_hessian(m, &q, NULL, RVM_BY_TANGENTS, H, NULL, &e) == RVM_ERR_USAGE);
    ALLOWED(rvm_hessian, w, m, &q, NULL, RVM_AUTO, H, NULL, &e);
    ALLOWED(rvm_hessian, cost, m, &q, NULL, RVM_AUTO, H, NULL, &e);
    UNTOLD(rvm_hessian, NULL, &q, NULL, RVM_AUTO, H, NULL, NULL);
}

static void sparse(void) {
    int64_t start[] = {0, 2}, column[] = {0, 1};
    double value[2];
    const rvm_sparse pattern = {1, 2, start, column, NULL};
    rvm_sparse H;
    REFUSED(rvm_jacobian_entries, m, NULL, &q, &H, NULL, &e);
    REFUSED(rvm_jacobian_entries, q, m, NULL, &H, NULL, &e);
    REFUSED(rvm_jacobian_entries, out, m, &q, NULL, NULL, &e);
    ALLOWED(rvm_jacobian_entries, cost, m, &q, &H, NULL, &e);
    rvm_sparse_free(m, &H);
    UNTOLD(rvm_jacobian_entries, NULL, &q, &H, NULL, NULL);
    REFUSED(rvm_jacobian_sparse, m, NULL, &q, RVM_AUTO, &pattern, value, NULL, &e);
    REFUSED(rvm_jacobian_sparse, q, m, NULL, RVM_AUTO, &pattern, value, NULL, &e);
    REFUSED(rvm_jacobian_sparse, pattern, m, &q, RVM_AUTO, NULL, value, NULL, &e);
    REFUSED(rvm_jacobian_sparse, value, m, &q, RVM_AUTO, &pattern, NULL, NULL, &e);
    NO_KIND(rvm_jacobian_sparse, method, m, &q, (rvm_method)99, &pattern, value, NULL, &e);
    ALLOWED(rvm_jacobian_sparse, cost, m, &q, RVM_AUTO, &pattern, value, NULL, &e);
    UNTOLD(rvm_jacobian_sparse, NULL, &q, RVM_AUTO, &pattern, value, NULL, NULL);
    const rvm_sparse no_start = {1, 2, NULL, column, NULL}, no_column = {1, 2, start, NULL, NULL};
    HARMLESS(rvm_jacobian_sparse, pattern,
             rvm_jacobian_sparse(m, &q, RVM_AUTO, &no_start, value, NULL, &e) == RVM_ERR_USAGE);
    HARMLESS(rvm_jacobian_sparse, pattern,
             rvm_jacobian_sparse(m, &q, RVM_AUTO, &no_column, value, NULL, &e) == RVM_ERR_USAGE);
    REFUSED(rvm_hessian_sparse, m, NULL, &q, NULL, &H, NULL, &e);
    REFUSED(rvm_hessian_sparse, q, m, NULL, NULL, &H, NULL, &e);
    REFUSED(rvm_hessian_sparse, out, m, &q, NULL, NULL, NULL, &e);
    ALLOWED(rvm_hessian_sparse, w, m, &q, NULL, &H, NULL, &e);
    HARMLESS(rvm_sparse_free, m, (rvm_sparse_free(NULL, &H), H.row_start != NULL));
    HARMLESS(rvm_sparse_free, s, (rvm_sparse_free(m, NULL), true));
    rvm_sparse_free(m, &H);
    ALLOWED(rvm_hessian_sparse, cost, m, &q, NULL, &H, NULL, &e);
    rvm_sparse_free(m, &H);
    UNTOLD(rvm_hessian_sparse, NULL, &q, NULL, &H, NULL, NULL);
}

static void nonsmooth(void) {
    const double v[2] = {1, 1};
    rvm_nonsmooth_point point;
    uint32_t n;
    REFUSED(rvm_nonsmooth_points, m, NULL, &q, v, &point, 1, &n, &e);
    REFUSED(rvm_nonsmooth_points, q, m, NULL, v, &point, 1, &n, &e);
    REFUSED(rvm_nonsmooth_points, v, m, &q, NULL, &point, 1, &n, &e);
    REFUSED(rvm_nonsmooth_points, points, m, &q, v, NULL, 1, &n, &e);
    ALLOWED(rvm_nonsmooth_points, points, m, &q, v, NULL, 0, &n, &e);
    REFUSED(rvm_nonsmooth_points, n, m, &q, v, &point, 1, NULL, &e);
    UNTOLD(rvm_nonsmooth_points, NULL, &q, v, &point, 1, &n, NULL);
    bool all;
    REFUSED(rvm_nonsmooth_corners, m, NULL, &q, 1, &point, 1, &n, &all, &e);
    REFUSED(rvm_nonsmooth_corners, q, m, NULL, 1, &point, 1, &n, &all, &e);
    REFUSED(rvm_nonsmooth_corners, points, m, &q, 1, NULL, 1, &n, &all, &e);
    ALLOWED(rvm_nonsmooth_corners, points, m, &q, 1, NULL, 0, &n, &all, &e);
    REFUSED(rvm_nonsmooth_corners, n, m, &q, 1, &point, 1, NULL, &all, &e);
    REFUSED(rvm_nonsmooth_corners, all, m, &q, 1, &point, 1, &n, NULL, &e);
    UNTOLD(rvm_nonsmooth_corners, NULL, &q, 1, &point, 1, &n, &all, NULL);
}

void try_derivatives(void) {
    shapes_of_specs();
    products();
    sparse();
    nonsmooth();
}
