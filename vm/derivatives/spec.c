/* spec.c: parts and their names, the storage of an answer's runs, and the runs. */
#include "spec.h"

#include <string.h>

#include "answers.h"
#include "support.h"

#define BAD(code, ...) return rvm__fail(err, code, NULL, 0, 0, __VA_ARGS__)

static int64_t size_of(const rvm_derivative_spec *q, const rvm_part *part, uint32_t n) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < n; k++) sum += part[k].element < 0 ? rvm_arg_count(&q->args[part[k].param]) : 1;
    return sum;
}

static const char *name_of(const rvm_program *p, const rvm_derivative_spec *q) {
    return rvm_program_function_name(p, (uint32_t)q->fn);
}

/* For messages. */
static const char *param_of(const rvm_program *p, const rvm_derivative_spec *q, const rvm_part *part) {
    rvm_param_info info;
    return rvm_program_param(p, (uint32_t)q->fn, part->param, &info) ? "?" : info.name;
}

static rvm_status check_parts(const rvm_program *p, const rvm_derivative_spec *q, const rvm_part *part, uint32_t n,
                              rvm_error *err) {
    for (uint32_t k = 0; k < n; k++) {
        if (part[k].param >= q->nargs) BAD(RVM_ERR_ARGUMENT, "%s has no parameter %u", name_of(p, q), part[k].param);
        const rvm_arg *a = &q->args[part[k].param];
        if (a->type == RVM_I64) BAD(RVM_ERR_ARGUMENT, "`%s` is i64 and has no derivative", param_of(p, q, &part[k]));
        if (part[k].element >= rvm_arg_count(a))
            BAD(RVM_ERR_ARGUMENT, "`%s` has no element %lld: it has %lld", param_of(p, q, &part[k]),
                (long long)part[k].element, (long long)rvm_arg_count(a));
        for (uint32_t i = 0; i < k; i++)
            if (part[i].param == part[k].param &&
                (part[i].element < 0 || part[k].element < 0 || part[i].element == part[k].element))
                BAD(RVM_ERR_ARGUMENT, "`%s` is named twice", param_of(p, q, &part[k]));
    }
    return RVM_OK;
}

/* The first dimension by which there cannot be so many elements. */
static int impossible(const rvm_arg *a) {
    rvm_arg part = *a;
    for (part.ndim = 1; part.ndim < a->ndim && rvm_arg_count(&part) >= 0;) part.ndim++;
    return part.ndim - 1;
}

static rvm_status check_shape(const rvm_program *p, const rvm_derivative_spec *q, const rvm_param_info *info,
                              const rvm_arg *a, rvm_error *err) {
    if (a->ndim != info->ndim)
        BAD(RVM_ERR_SHAPE, "argument `%s` of %s has %d dimensions, must have %d", info->name, name_of(p, q), a->ndim,
            info->ndim);
    if (rvm_arg_count(a) >= 0) return RVM_OK;
    const int d = impossible(a);
    BAD(RVM_ERR_SHAPE, "dimension %d of argument `%s` of %s is %lld: no array can be so large", d + 1, info->name,
        name_of(p, q), (long long)a->shape[d]);
}

/* What is wrong by itself. */
static rvm_status check_call(const rvm_machine *m, const rvm_derivative_spec *q, rvm_error *err) {
    RVM__NEEDS(m, q);
    if (q->nargs) RVM__NEEDS(q->args);
    if (q->noutputs) RVM__NEEDS(q->outputs);
    if (q->ninputs) RVM__NEEDS(q->inputs);
    const rvm_program *p = rvm_machine_program(m);
    if (q->fn < 0 || q->fn >= rvm_program_function_count(p)) BAD(RVM_ERR_USAGE, "no function %lld", (long long)q->fn);
    const uint32_t n = rvm_program_param_count(p, (uint32_t)q->fn);
    if (q->nargs == n) return RVM_OK;
    return rvm__fail_at(err, RVM_ERR_ARGUMENT, p, (uint32_t)q->fn, 0, "%s takes %u arguments, %u given", name_of(p, q), n,
                        q->nargs);
}

/* Behind that, shapes and parts; params: room for those of the function, or NULL. */
static rvm_status check_args(const rvm_program *p, const rvm_derivative_spec *q, rvm_param_info *params, rvm_error *err) {
    rvm_status status = RVM_OK;
    for (uint32_t k = 0; !status && k < q->nargs; k++) {
        rvm_param_info one, *info = params ? &params[k] : &one;
        rvm_program_param(p, (uint32_t)q->fn, k, info);
        status = check_shape(p, q, info, &q->args[k], err);
    }
    if (!status) status = check_parts(p, q, q->outputs, q->noutputs, err);
    if (!status) status = check_parts(p, q, q->inputs, q->ninputs, err);
    return rvm__fail_in(err, status, p, q->fn);
}

static rvm_status check(const rvm_machine *m, const rvm_derivative_spec *q, rvm_error *err) {
    const rvm_status status = check_call(m, q, err);
    return status ? status : check_args(rvm_machine_program(m), q, NULL, err);
}

rvm_status rvm_derivative_size(const rvm_machine *m, const rvm_derivative_spec *q, int64_t *rows, int64_t *columns,
                               rvm_error *err) {
    RVM__NEEDS(rows, columns);
    const rvm_status status = check(m, q, err);
    if (status) return status;
    *rows = size_of(q, q->outputs, q->noutputs);
    *columns = size_of(q, q->inputs, q->ninputs);
    return RVM_OK;
}

/* Row or column k as parameter and element; false past the last. */
static bool locate(const rvm_derivative_spec *q, bool column, int64_t k, uint32_t *param, int64_t *element) {
    const rvm_part *part = column ? q->inputs : q->outputs;
    for (uint32_t i = 0; i < (column ? q->ninputs : q->noutputs); i++) {
        const int64_t n = part[i].element < 0 ? rvm_arg_count(&q->args[part[i].param]) : 1;
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
    const char *name = param_of(rvm_machine_program(m), q, &(rvm_part){param, element});
    return rvm_arg_element_text(name, &q->args[param], element, text, size);
}

/* ---- storage ---- */

/* What the function changes. */
static void for_inputs(rvm__work *w, bool gives) {
    for (uint32_t k = 0; k < w->q->nargs; k++) {
        if (w->params[k].role == RVM_READ) continue;
        if (gives)
            rvm_arg_scatter(&w->args[k], false, w->saved + w->at[k]);
        else
            rvm_arg_gather(&w->args[k], false, w->saved + w->at[k]);
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

/* One block: the arguments, where the elements of each begin, the parameters, the elements twice. */
static bool allocate(rvm__work *w) {
    const uint32_t n = w->q->nargs;
    size_t cells = 0;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t count = rvm_arg_count(&w->q->args[k]);
        cells += count < 0 ? 0 : (size_t)count; /* refused below */
    }
    const size_t head = n * sizeof *w->args, places = (n + 1) * sizeof *w->at, params = n * sizeof *w->params;
    char *block = rvm__room(w->m, RVM__SPEC, head + places + params + 2 * cells * sizeof *w->saved);
    if (!block) return false;
    w->args = (rvm_arg *)(void *)block;
    w->at = (size_t *)(void *)(block + head);
    w->params = (rvm_param_info *)(void *)(block + head + places);
    w->saved = (rvm_scalar *)(void *)(block + head + places + params);
    w->shadows = w->saved + cells;
    return true;
}

static bool is_without_gaps(const rvm_arg *a) {
    int64_t n = 1;
    for (int d = a->ndim - 1; d >= 0; n *= a->shape[d--])
        if (a->stride[d] != n) return false;
    return true;
}

/* What all runs only read goes to a device once. */
static void hold(const rvm__work *w) {
    for (uint32_t k = 0; k < w->q->nargs; k++) {
        const rvm_arg *a = &w->q->args[k];
        if (a->ndim && w->params[k].role == RVM_READ && is_without_gaps(a))
            rvm__hold(w->m, a->data, (uint64_t)rvm_arg_count(a));
    }
}

rvm_status rvm__work_begin(rvm__work *w, rvm_machine *m, const rvm_derivative_spec *q, rvm_error *err) {
    *w = (rvm__work){.m = m, .p = rvm_machine_program(m), .q = q};
    rvm_status status = check_call(m, q, err);
    if (!status && !allocate(w)) return rvm__no_memory(m, err);
    if (!status) status = check_args(w->p, q, w->params, err);
    if (status) return status;
    w->rows = size_of(q, q->outputs, q->noutputs);
    w->columns = size_of(q, q->inputs, q->ninputs);
    w->at[0] = 0;
    if (q->nargs) memcpy(w->args, q->args, q->nargs * sizeof *w->args);
    for (uint32_t k = 0; k < q->nargs; k++) {
        w->args[k].active = w->args[k].fresh_shadow = false;
        w->at[k + 1] = w->at[k] + (size_t)rvm_arg_count(&q->args[k]);
    }
    mark(w, q->outputs, q->noutputs);
    mark(w, q->inputs, q->ninputs);
    for_inputs(w, false);
    hold(w);
    rvm_machine_stats(m, &w->before);
    return RVM_OK;
}

void rvm__work_end(rvm__work *w, rvm_cost *cost) {
    if (!w->args) return;
    rvm_stats now;
    rvm__let_go(w->m);
    if (rvm_machine_bound(w->m) == w->args) rvm_machine_unbind(w->m); /* what was bound before is left alone */
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

rvm_scalar *rvm__work_shadow(const rvm__work *w, bool column, int64_t k, uint32_t *param) {
    int64_t element;
    if (!locate(w->q, column, k, param, &element)) return NULL;
    rvm_arg *a = &w->args[*param];
    return a->ndim ? (rvm_scalar *)a->shadow_data + element : &a->shadow;
}

double rvm__work_get(const rvm__work *w, bool column, int64_t k) {
    uint32_t param;
    const rvm_scalar *v = rvm__work_shadow(w, column, k, &param);
    return v ? rvm_scalar_to_double(w->params[param].type, *v) : 0;
}

void rvm__work_set(rvm__work *w, bool column, int64_t k, double x) {
    uint32_t param;
    rvm_scalar *v = rvm__work_shadow(w, column, k, &param);
    if (v) *v = rvm_scalar_from_double(w->params[param].type, x);
}

/* All shadows of a part, in memory, by number. */
static rvm_scalar *shadows_of(const rvm__work *w, const rvm_part *part, rvm_type *type, int64_t *n) {
    rvm_arg *a = &w->args[part->param];
    *type = w->params[part->param].type;
    *n = size_of(w->q, part, 1);
    return a->ndim ? (rvm_scalar *)a->shadow_data + (part->element < 0 ? 0 : part->element) : &a->shadow;
}

static void put_part(const rvm__work *w, const rvm_part *part, const double *v) {
    rvm_type t;
    int64_t n;
    rvm_scalar *to = shadows_of(w, part, &t, &n);
    if (t == RVM_F64 && n) memcpy(to, v, (size_t)n * sizeof *v); /* as they are */
    for (int64_t k = 0; k < n && t != RVM_F64; k++) to[k] = rvm_scalar_from_double(t, v[k]);
}

static void read_part(const rvm__work *w, const rvm_part *part, double *v, int64_t stride) {
    rvm_type t;
    int64_t n;
    const rvm_scalar *from = shadows_of(w, part, &t, &n);
    if (t == RVM_F64 && stride == 1) {
        if (n) memcpy(v, from, (size_t)n * sizeof *v);
        return;
    }
    for (int64_t k = 0; k < n; k++) v[k * stride] = t == RVM_F64 ? from[k].f : rvm_scalar_to_double(t, from[k]);
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

rvm_status rvm__work_each(rvm__work *w, bool tangents, const rvm__directions *x, rvm_error *err) {
    uint64_t *runs = tangents ? &w->cost.tangents : &w->cost.adjoints;
    const uint64_t before = *runs;
    const rvm_status status =
        rvm__each_direction(w->m, w->m, tangents ? RVM_TANGENT : RVM_GRADIENT, w->q->fn, w->args, w->q->nargs, x, err);
    if (!status) *runs = before + (uint64_t)x->n;
    return status;
}

rvm_status rvm__work_adjoint(rvm__work *w, rvm_error *err) {
    w->cost.adjoints++;
    return rvm_gradient(w->m, w->q->fn, w->args, w->q->nargs, err);
}
