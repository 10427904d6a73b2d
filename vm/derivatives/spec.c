/* spec.c: parts and their names, the storage of an answer's runs, and the runs. */
#include "spec.h"
#include "program.h"
#include "support.h"

#include <string.h>

#include "cells.h"
#include "memory.h"
#include "reals.h"
#include "restore.h"

#define BAD(code, ...) return rvm__fail(err, code, NULL, 0, 0, __VA_ARGS__)

static int64_t size_of(const rvm_derivative_spec *q, const rvm_part *part, uint32_t n) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < n; k++) sum += part[k].element < 0 ? rvm__cells(&q->args[part[k].param]) : 1;
    return sum;
}

static rvm_status check_parts(const rvm_function *f, const rvm_derivative_spec *q, const rvm_part *part, uint32_t n,
                              rvm_error *err) {
    for (uint32_t k = 0; k < n; k++) {
        if (part[k].param >= q->nargs) BAD(RVM_ERR_ARGUMENT, "%s has no parameter %u", f->name, part[k].param);
        const char *name = f->params[part[k].param].name;
        if (f->params[part[k].param].type == RVM_I64) BAD(RVM_ERR_ARGUMENT, "`%s` is i64 and has no derivative", name);
        if (part[k].element >= rvm__cells(&q->args[part[k].param]))
            BAD(RVM_ERR_ARGUMENT, "`%s` has no element %lld: it has %lld", name, (long long)part[k].element,
                (long long)rvm__cells(&q->args[part[k].param]));
        for (uint32_t i = 0; i < k; i++)
            if (part[i].param == part[k].param &&
                (part[i].element < 0 || part[k].element < 0 || part[i].element == part[k].element))
                BAD(RVM_ERR_ARGUMENT, "`%s` is named twice", name);
    }
    return RVM_OK;
}

static rvm_status check(const rvm_machine *m, const rvm_derivative_spec *q, rvm_error *err) {
    RVM__NEEDS(m, q);
    if (q->nargs) RVM__NEEDS(q->args);
    if (q->noutputs) RVM__NEEDS(q->outputs);
    if (q->ninputs) RVM__NEEDS(q->inputs);
    if (q->fn < 0 || q->fn >= m->p->nfunctions) BAD(RVM_ERR_USAGE, "no function %lld", (long long)q->fn);
    const rvm_function *f = &m->p->functions[q->fn];
    if (q->nargs != f->nparams) BAD(RVM_ERR_ARGUMENT, "%s takes %u arguments, %u given", f->name, f->nparams, q->nargs);
    for (uint32_t k = 0; k < q->nargs; k++) {
        const rvm_arg *a = &q->args[k];
        const char *name = f->params[k].name;
        if (a->ndim != f->params[k].ndim)
            BAD(RVM_ERR_SHAPE, "argument `%s` of %s has %d dimensions, must have %d", name, f->name, a->ndim,
                f->params[k].ndim);
        const int64_t d = ~rvm__cells(a);
        if (d >= 0)
            BAD(RVM_ERR_SHAPE, "dimension %lld of argument `%s` of %s is %lld: no array can be so large", (long long)d + 1,
                name, f->name, (long long)a->shape[d]);
    }
    rvm_status status = check_parts(f, q, q->outputs, q->noutputs, err);
    return status ? status : check_parts(f, q, q->inputs, q->ninputs, err);
}

rvm_status rvm_derivative_size(const rvm_machine *m, const rvm_derivative_spec *q, int64_t *rows, int64_t *columns,
                               rvm_error *err) {
    RVM__NEEDS(rows, columns);
    rvm_status status = check(m, q, err);
    if (status == RVM_ERR_USAGE) return status;
    if (status) return rvm__fail_in(err, status, m->p, q->fn);
    *rows = size_of(q, q->outputs, q->noutputs);
    *columns = size_of(q, q->inputs, q->ninputs);
    return RVM_OK;
}

/* Row or column k as parameter and element; false past the last. */
static bool locate(const rvm_derivative_spec *q, bool column, int64_t k, uint32_t *param, int64_t *element) {
    const rvm_part *part = column ? q->inputs : q->outputs;
    for (uint32_t i = 0; i < (column ? q->ninputs : q->noutputs); i++) {
        const int64_t n = part[i].element < 0 ? rvm__cells(&q->args[part[i].param]) : 1;
        if (k < n) {
            *param = part[i].param;
            *element = part[i].element < 0 ? k : part[i].element;
            return true;
        }
        k -= n;
    }
    return false;
}

int rvm_derivative_name(const rvm_machine *m, const rvm_derivative_spec *q, bool column, int64_t k, char *text,
                        size_t size) {
    uint32_t param;
    int64_t element;
    if (!text) size = 0;
    if (check(m, q, NULL) || k < 0 || !locate(q, column, k, &param, &element)) return snprintf(text, size, "?");
    return rvm_arg_element_text(m->p->functions[q->fn].params[param].name, &q->args[param], element, text, size);
}

/* ---- storage ---- */

/* What the function changes. */
static void for_inputs(rvm__work *w, bool gives) {
    for (uint32_t k = 0; k < w->q->nargs; k++) {
        if (w->f->params[k].role == RVM_READ) continue;
        if (gives)
            rvm__cells_give(&w->args[k], false, w->saved + w->at[k]);
        else
            rvm__cells_take(&w->args[k], false, w->saved + w->at[k]);
    }
}

static void mark(rvm__work *w, const rvm_part *part, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        rvm_arg *a = &w->args[part[k].param];
        int64_t stride = 1;
        a->active = true;
        a->shadow_data = w->shadows + w->at[part[k].param];
        for (int d = a->ndim - 1; d >= 0; d--) {
            a->shadow_stride[d] = stride;
            stride *= a->shape[d];
        }
    }
}

rvm_status rvm__work_needs(const double *numbers, int64_t n, const char *name, rvm_error *err) {
    return numbers || !n ? RVM_OK : rvm__fail_null(err, name, 0);
}

rvm_status rvm__work_begin(rvm__work *w, rvm_machine *m, const rvm_derivative_spec *q, rvm_error *err) {
    *w = (rvm__work){.m = m, .q = q};
    rvm_status status = rvm_derivative_size(m, q, &w->rows, &w->columns, err);
    if (status) return status;
    w->f = &m->p->functions[q->fn];
    size_t cells = 0;
    for (uint32_t k = 0; k < q->nargs; k++) cells += (size_t)rvm__cells(&q->args[k]);
    const size_t head = q->nargs * sizeof *w->args, places = (q->nargs + 1) * sizeof *w->at;
    char *block = rvm__room(m, RVM__SPEC, head + places + 2 * cells * sizeof *w->saved);
    if (!block) return rvm__no_memory(m, err);
    w->args = (rvm_arg *)(void *)block;
    w->at = (size_t *)(void *)(block + head);
    w->saved = (rvm_value *)(void *)(block + head + places);
    w->shadows = w->saved + cells;
    if (q->nargs) memcpy(w->args, q->args, head);
    w->at[0] = 0;
    for (uint32_t k = 0; k < q->nargs; k++) w->at[k + 1] = w->at[k] + (size_t)rvm__cells(&q->args[k]);
    for (uint32_t k = 0; k < q->nargs; k++) w->args[k].active = false;
    mark(w, q->outputs, q->noutputs);
    mark(w, q->inputs, q->ninputs);
    for_inputs(w, false);
    rvm_machine_stats(m, &w->before);
    return RVM_OK;
}

void rvm__work_end(rvm__work *w, rvm_cost *cost) {
    if (!w->args) return;
    rvm_stats now;
    if (w->m->args == w->args) w->m->where = UNBOUND; /* a call bound before may be gone by now: leave it alone */
    for_inputs(w, true);
    rvm_machine_stats(w->m, &now);
    w->cost.instructions += now.forward + now.swept - w->before.forward - w->before.swept;
    w->cost.otherwise = (uint64_t)((double)w->cost.instructions * w->other_share);
    w->cost.estimated = w->cost.otherwise != 0;
    if (cost) *cost = w->cost;
    w->args = NULL;
}

void rvm__work_reset(rvm__work *w) {
    for_inputs(w, true);
    if (w->at[w->q->nargs]) memset(w->shadows, 0, w->at[w->q->nargs] * sizeof *w->shadows);
    for (uint32_t k = 0; k < w->q->nargs; k++) w->args[k].shadow.i = 0;
}

/* ---- runs ---- */

rvm_value *rvm__work_shadow(const rvm__work *w, bool column, int64_t k, rvm_type *type) {
    uint32_t param;
    int64_t element;
    if (!locate(w->q, column, k, &param, &element)) return NULL;
    *type = (rvm_type)w->f->params[param].type;
    rvm_arg *a = &w->args[param];
    return a->ndim ? (rvm_value *)a->shadow_data + element : (rvm_value *)(void *)&a->shadow;
}

double rvm__work_get(const rvm__work *w, bool column, int64_t k) {
    rvm_type t;
    const rvm_value *v = rvm__work_shadow(w, column, k, &t);
    return v ? rvm__real_of(t, *v) : 0;
}

void rvm__work_set(rvm__work *w, bool column, int64_t k, double x) {
    rvm_type t;
    rvm_value *v = rvm__work_shadow(w, column, k, &t);
    if (v) *v = rvm__of_real(t, x);
}

/* All shadows of a part, in memory, by number. */
static rvm_value *shadows_of(const rvm__work *w, const rvm_part *part, rvm_type *type, int64_t *n) {
    rvm_arg *a = &w->args[part->param];
    *type = (rvm_type)w->f->params[part->param].type;
    *n = size_of(w->q, part, 1);
    return a->ndim ? (rvm_value *)a->shadow_data + (part->element < 0 ? 0 : part->element) : (rvm_value *)(void *)&a->shadow;
}

static void put_part(const rvm__work *w, const rvm_part *part, const double *v) {
    rvm_type t;
    int64_t n;
    rvm_value *to = shadows_of(w, part, &t, &n);
    if (t == RVM_F64 && n) memcpy(to, v, (size_t)n * sizeof *v); /* as they are */
    for (int64_t k = 0; k < n && t != RVM_F64; k++) to[k] = rvm__of_real(t, v[k]);
}

static void read_part(const rvm__work *w, const rvm_part *part, double *v, int64_t stride) {
    rvm_type t;
    int64_t n;
    const rvm_value *from = shadows_of(w, part, &t, &n);
    const bool as_they_are = t == RVM_F64 && stride == 1;
    if (as_they_are && n) memcpy(v, from, (size_t)n * sizeof *v);
    for (int64_t k = 0; k < n && !as_they_are; k++) v[k * stride] = rvm__real_of(t, from[k]);
}

void rvm__work_put(const rvm__work *w, bool column, const double *v) {
    const rvm_part *part = column ? w->q->inputs : w->q->outputs;
    for (uint32_t k = 0; k < (column ? w->q->ninputs : w->q->noutputs); v += size_of(w->q, &part[k], 1), k++)
        put_part(w, &part[k], v);
}

void rvm__work_read(const rvm__work *w, bool column, double *v, int64_t stride) {
    const rvm_part *part = column ? w->q->inputs : w->q->outputs;
    for (uint32_t k = 0; k < (column ? w->q->ninputs : w->q->noutputs); v += size_of(w->q, &part[k], 1) * stride, k++)
        read_part(w, &part[k], v, stride);
}

void rvm__work_weigh(rvm__work *w, const double *weights) {
    if (weights) rvm__work_put(w, false, weights);
    for (int64_t k = 0; k < w->rows && !weights; k++) rvm__work_set(w, false, k, 1);
}

rvm_status rvm__work_tangent(rvm__work *w, rvm_error *err) {
    w->cost.tangents++;
    return rvm_tangent(w->m, w->q->fn, w->args, w->q->nargs, err);
}

rvm_status rvm__work_adjoint(rvm__work *w, rvm_error *err) {
    w->cost.adjoints++;
    return rvm_gradient(w->m, w->q->fn, w->args, w->q->nargs, err);
}
