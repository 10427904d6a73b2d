#include "elements.h"
#include "errors.h"

#include <stdlib.h>
#include <string.h>

static size_t offset(const rvm_arg *a, const int64_t *stride, size_t k) {
    size_t at = 0;
    for (int d = a->ndim - 1; d >= 0; d--) {
        size_t length = (size_t)a->shape[d];
        at += k % length * (size_t)stride[d];
        k /= length;
    }
    return at;
}

size_t arg_count(const rvm_arg *a) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->shape[d];
    return n;
}

rvm_scalar arg_get(const rvm_arg *a, size_t k) {
    return a->ndim ? ((const rvm_scalar *)a->data)[offset(a, a->stride, k)] : a->value;
}

void arg_set(rvm_arg *a, size_t k, rvm_scalar v) {
    if (a->ndim)
        ((rvm_scalar *)a->data)[offset(a, a->stride, k)] = v;
    else
        a->value = v;
}

rvm_scalar arg_get_shadow(const rvm_arg *a, size_t k) {
    return a->ndim ? ((const rvm_scalar *)a->shadow_data)[offset(a, a->shadow_stride, k)] : a->shadow;
}

void arg_set_shadow(rvm_arg *a, size_t k, rvm_scalar v) {
    if (a->ndim)
        ((rvm_scalar *)a->shadow_data)[offset(a, a->shadow_stride, k)] = v;
    else
        a->shadow = v;
}

bool shape_count(int ndim, const int64_t *shape, size_t *n) {
    size_t bytes = sizeof(rvm_scalar);
    *n = 0;
    for (int d = 0; d < ndim; d++)
        if (!shape[d]) return true;
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(bytes, (size_t)shape[d], &bytes)) return false;
    *n = bytes / sizeof(rvm_scalar);
    return bytes <= PTRDIFF_MAX;
}

static rvm_status zeros(int ndim, const int64_t *shape, void **out, rvm_error *err) {
    size_t n = 0;
    *out = NULL;
    if (!shape_count(ndim, shape, &n))
        return fail(err, RVM_ERR_SHAPE, NULL, "an array of %lld by %lld%s has more elements than memory has addresses for",
                    (long long)shape[0], ndim > 1 ? (long long)shape[1] : 1LL, ndim > 2 ? " by ..." : "");
    *out = calloc(n ? n : 1, sizeof(rvm_scalar));
    if (*out) return RVM_OK;
    return fail(err, RVM_ERR_MEMORY, NULL, "no memory for an array of %zu elements", n);
}

rvm_status arg_allocate(rvm_arg *a, const int64_t *shape, rvm_error *err) {
    void *data;
    rvm_status st = zeros(a->ndim, shape, &data, err);
    if (!st) *a = rvm_arg_array(a->type, data, a->ndim, shape);
    return st;
}

void arg_free(rvm_arg *a) {
    free(a->data);
    free(a->shadow_data);
    a->data = a->shadow_data = NULL;
}

rvm_status arg_activate(rvm_arg *a, rvm_error *err) {
    a->active = true;
    a->shadow = (rvm_scalar){0};
    if (!a->ndim) return RVM_OK;
    if (a->shadow_data) {
        arg_clear_shadow(a);
        return RVM_OK;
    }
    int64_t stride = 1;
    for (int d = a->ndim - 1; d >= 0; d--) {
        a->shadow_stride[d] = stride;
        stride *= a->shape[d];
    }
    return zeros(a->ndim, a->shape, &a->shadow_data, err);
}

void arg_clear_shadow(rvm_arg *a) {
    a->shadow = (rvm_scalar){0};
    if (a->shadow_data) memset(a->shadow_data, 0, arg_count(a) * sizeof(rvm_scalar));
}
