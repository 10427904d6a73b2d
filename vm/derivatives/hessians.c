/* hessians.c: Hessians for the caller: by the one-sweep method (hessian.c), or a product for each column (products.c). */
#include <string.h>

#include "answers.h"
#include "entries.h"
#include "products.h"
#include "support.h"

static bool is_exact(const rvm_machine *m) {
    rvm_options o;
    rvm_machine_options(m, &o);
    return o.exact;
}

static rvm_status check(const rvm__work *w, const double *weights, rvm_error *err) {
    if (w->rows == 1 || weights) return RVM_OK;
    return rvm__fail_at(err, RVM_ERR_ARGUMENT, w->p, (uint32_t)w->q->fn, 0, "a Hessian is of one number, not of %lld",
                        (long long)w->rows);
}

/* ---- the sweep ---- */

/* Products of so many instructions in all run natively where an engine has no patience for them. Gradients then take a 17th
 * to a 26th of the interpreter's time (bench api); eight columns and more at once, with what a column costs besides, a ninth
 * (10) to a 42nd (100). */
static uint64_t gain_of_products(const rvm__work *w, uint64_t instructions) {
    return rvm__native_takes(w->m, instructions) ? 32 : 1;
}

/* A product takes the time of about four runs forward, and an update of an entry that of two instructions, as measured
 * (docs/derivatives.md). More than a product for each column takes is not worth it. */
static uint64_t most_updates(const rvm__work *w) {
    rvm_stats now;
    rvm_machine_stats(w->m, &now);
    const uint64_t products = 4 * (now.forward - w->before.forward) * (uint64_t)w->columns;
    return 1000 + products / 2 / gain_of_products(w, products);
}

/* The sweep takes a product's time even where it updates nothing. */
static rvm_method first_method(const rvm__work *w) {
    return (uint64_t)w->columns < gain_of_products(w, 0) ? RVM_BY_HVP : RVM_BY_SWEEP;
}

/* Forward, then the sweep that carries *h; limited: given up when products would have been cheaper. */
static rvm_status sweep(rvm__work *w, const double *weights, bool limited, rvm__hessian *h, rvm_error *err) {
    rvm_machine *m = w->m;
    rvm__native_tell_interpreted(m, (uint32_t)w->q->fn, "the sweep that carries a Hessian is the interpreter's");
    rvm__work_reset(w);
    rvm__work_weigh(w, weights);
    w->cost.adjoints++;
    rvm_status status = rvm_machine_bind(m, w->q->fn, w->args, w->q->nargs, RVM_GRADIENT, false, err);
    if (!status) status = rvm_machine_forward(m, err);
    h->most = limited ? most_updates(w) : 0;
    if (!status) status = rvm__hessian_sweep(m, h, err);
    w->cost.updates = h->h.updates;
    w->cost.entries = h->h.live_peak;
    return status;
}

typedef struct dense {
    double *H;
    int64_t n;
} dense;

static void to_dense(void *to, int64_t i, int64_t j, double v) {
    dense *d = to;
    d->H[i * d->n + j] = d->H[j * d->n + i] = v;
}

static bool is_finite(const double *H, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += 0 * H[k];
    return sum == 0;
}

/* Limited: UNSUPPORTED, too, where a product of partials overflowed, which products with H need not form. */
static rvm_status by_sweep(rvm__work *w, const double *weights, bool limited, double *H, rvm_error *err) {
    rvm__hessian h = {.most = 0};
    rvm__sym_init(&h.h, w->m);
    w->cost.method = "sweep";
    rvm_status status = sweep(w, weights, limited, &h, err);
    if (!status) {
        memset(H, 0, (size_t)(w->columns * w->columns) * sizeof *H);
        rvm__entries_label(w, &h, 0);
        rvm__hessian_each(&h, to_dense, &(dense){H, w->columns});
        if (limited && !is_finite(H, w->columns * w->columns)) status = RVM_ERR_UNSUPPORTED;
    }
    rvm__sym_free(&h.h);
    return status;
}

static rvm_status by_products(rvm__work *w, const double *weights, double *H, rvm_error *err) {
    rvm__product p;
    w->cost.method = "hvp";
    rvm_status status = rvm__product_begin(&p, w, err);
    return status ? status : rvm__product_each(&p, weights, H, err);
}

static rvm_status by_method(rvm__work *w, const double *weights, rvm_method method, bool limited, double *H,
                            rvm_error *err) {
    return method == RVM_BY_HVP ? by_products(w, weights, H, err) : by_sweep(w, weights, limited, H, err);
}

/* The cheaper one first; where a sweep was given up and there are no products, it is all there is. */
static rvm_status automatic(rvm__work *w, const double *weights, double *H, rvm_error *err) {
    const rvm_method first = first_method(w);
    rvm_status status = by_method(w, weights, first, true, H, err);
    if (status == RVM_ERR_UNSUPPORTED && first == RVM_BY_SWEEP) status = by_products(w, weights, H, err);
    return status == RVM_ERR_UNSUPPORTED ? by_sweep(w, weights, false, H, err) : status;
}

rvm_status rvm_hessian(rvm_machine *m, const rvm_derivative_spec *q, const double *weights, rvm_method method, double *H,
                       rvm_cost *cost, rvm_error *err) {
    rvm__work w;
    if (method != RVM_AUTO && method != RVM_BY_SWEEP && method != RVM_BY_HVP)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no method of a Hessian has number %d", (int)method);
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    status = check(&w, weights, err);
    if (!status) status = rvm__work_needs(H, w.columns, "H", err);
    if (rvm_program_by_hand(w.p, (uint32_t)q->fn, RVM_ADJOINT)) method = RVM_BY_HVP;
    if (!status)
        status = method == RVM_AUTO ? automatic(&w, weights, H, err) : by_method(&w, weights, method, false, H, err);
    rvm__work_end(&w, cost);
    return status;
}

/* Where an exact run does not go through f'grad'tan: the entries of one sweep, times v. */
static rvm_status product_by_sweep(rvm_machine *m, const rvm_derivative_spec *q, const double *weights, const double *v,
                                   double *hv, rvm_cost *cost, rvm_error *err) {
    rvm_sparse h;
    rvm_status status = rvm_hessian_sparse(m, q, weights, &h, cost, err);
    for (int64_t i = 0; i < h.rows && !status; i++) {
        hv[i] = 0;
        for (int64_t e = h.row_start[i]; e < h.row_start[i + 1]; e++) hv[i] += h.value[e] * v[h.column[e]];
    }
    rvm_sparse_free(m, &h);
    return status;
}

rvm_status rvm_hvp(rvm_machine *m, const rvm_derivative_spec *q, const double *weights, const double *v, double *hv,
                   rvm_cost *cost, rvm_error *err) {
    rvm__work w;
    rvm__product p = {.args = NULL};
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    w.cost.method = "hvp";
    status = check(&w, weights, err);
    if (!status) status = rvm__work_needs(v, w.columns, "v", err);
    if (!status) status = rvm__work_needs(hv, w.columns, "hv", err);
    if (!status) status = rvm__product_begin(&p, &w, err);
    rvm__work_reset(&w);
    if (!status) rvm__work_put(&w, true, v);
    if (!status) status = rvm__product_run(&p, weights, err);
    if (!status) rvm__work_read(&w, true, hv, 1);
    const bool sweeps = status == RVM_ERR_UNSUPPORTED && is_exact(m);
    rvm__work_end(&w, sweeps ? NULL : cost);
    return sweeps ? product_by_sweep(m, q, weights, v, hv, cost, err) : status;
}

/* ---- sparse ---- */

/* The entries of a dense one. */
static rvm_status sparse_by_products(rvm__work *w, const double *weights, rvm_sparse *out, rvm_error *err) {
    const int64_t n = w->columns;
    int64_t entries = 0;
    const size_t size = (size_t)n * (size_t)n * sizeof(double);
    double *H = n < INT64_C(1) << 28 ? rvm__zeroed(w->m, size) : NULL;
    if (!H) return rvm__no_memory(w->m, err);
    rvm_status status = by_products(w, weights, H, err);
    for (int64_t k = 0; k < n * n; k++) entries += H[k] != 0;
    if (!status && !rvm__entries_room(w->m, out, n, n, entries)) status = rvm__no_memory(w->m, err);
    for (int64_t i = 0, at = 0; i < n && !status; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (H[i * n + j] == 0) continue;
            out->column[at] = j;
            out->value[at++] = H[i * n + j];
        }
        out->row_start[i + 1] = at;
    }
    rvm__resize(w->m, H, size, 0);
    return status;
}

rvm_status rvm_hessian_sparse(rvm_machine *m, const rvm_derivative_spec *q, const double *weights, rvm_sparse *out,
                              rvm_cost *cost, rvm_error *err) {
    rvm__work w;
    rvm__hessian h = {.most = 0};
    RVM__NEEDS(out);
    *out = (rvm_sparse){0};
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    if (rvm_program_by_hand(w.p, (uint32_t)q->fn, RVM_ADJOINT)) {
        status = check(&w, weights, err);
        if (!status) status = sparse_by_products(&w, weights, out, err);
        rvm__work_end(&w, cost);
        return status;
    }
    rvm__sym_init(&h.h, m);
    w.cost.method = "sweep";
    status = check(&w, weights, err);
    if (!status) status = sweep(&w, weights, false, &h, err);
    if (!status) {
        rvm__entries_label(&w, &h, 0);
        status = rvm__entries_of_hessian(&w, &h, out, err);
    }
    rvm__sym_free(&h.h);
    rvm__work_end(&w, cost);
    return status;
}
