/* args.c: numbers and arguments as callers have them. */
#include <math.h>
#include <stdlib.h>

#include "cells.h"
#include "digits.h"
#include "maths.h"
#include "reals.h"

/* ---- numbers ---- */

bool rvm_type_is_floating(rvm_type t) {
    return (unsigned)t < RVM_TYPE_COUNT && rvm__is_floating(t);
}

double rvm_scalar_to_double(rvm_type t, rvm_scalar v) {
    return rvm__real_of(t, (rvm_value){.i = v.i});
}

rvm_scalar rvm_scalar_from_double(rvm_type t, double x) {
    return (rvm_scalar){.i = rvm__of_real(t, x).i};
}

static int floating_text(double x, char *text, size_t size) {
    char digits[40];
    if (isnan(x)) return snprintf(text, size, "nan");
    if (isinf(x)) return snprintf(text, size, x < 0 ? "-inf" : "inf");
    rvm__shortest_digits(x, digits, sizeof digits);
    return snprintf(text, size, "%s", digits);
}

/* Steps of 2^-43 are further apart than 1e-13, so that 13 decimals tell them apart; long double holds all 63 bits. */
static int fix_text(int64_t raw, char *text, size_t size) {
    char digits[40];
    int n = snprintf(digits, sizeof digits, "%.13Lf", ldexpl((long double)raw, -RVM_FIX_FRACTION));
    while (digits[n - 1] == '0') n--;
    if (digits[n - 1] == '.') n--;
    return snprintf(text, size, "%.*s", n, digits);
}

int rvm_scalar_text(rvm_type t, rvm_scalar v, char *text, size_t size) {
    if (!text) size = 0;
    switch (t) {
    case RVM_I64: return snprintf(text, size, "%lld", (long long)v.i);
    case RVM_F64:
    case RVM_F32: return floating_text(v.f, text, size);
    case RVM_FIX: return fix_text(v.i, text, size);
    case RVM_TYPE_COUNT: break;
    }
    return snprintf(text, size, "?");
}

/* Those of machines that are not told otherwise. */
static const rvm__math *usual_math(void) {
    rvm_math math;
    rvm_math_choose(RVM_MATH_AUTO, &math, NULL);
    return rvm__math_of(math);
}

bool rvm__lns_text(const rvm__math *math, rvm_type t, rvm_scalar logarithm, char *text, size_t size) {
    const double l = rvm_scalar_to_double(t, logarithm), x = math->exp(l);
    if (!text) size = 0;
    if (x == 0 || !isfinite(x)) {
        snprintf(text, size, "exp(%.15g)", l);
        return false;
    }
    for (int digits = 1; digits <= 17; digits++) {
        char number[32];
        snprintf(number, sizeof number, "%.*g", digits, x);
        if (rvm_scalar_from_double(t, math->log(strtod(number, NULL))).i != logarithm.i) continue;
        snprintf(text, size, "%s", number);
        return true;
    }
    snprintf(text, size, "%.15g", x);
    return false;
}

bool rvm_lns_text(rvm_type t, rvm_scalar logarithm, char *text, size_t size) {
    return rvm__lns_text(usual_math(), t, logarithm, text, size);
}

/* ---- arguments ---- */

rvm_arg rvm_arg_i64(int64_t v) {
    return (rvm_arg){.type = RVM_I64, .value.i = v};
}
rvm_arg rvm_arg_fn(int64_t fn) {
    return rvm_arg_i64(fn);
}
rvm_arg rvm_arg_f64(double v) {
    return (rvm_arg){.type = RVM_F64, .value.f = v};
}
rvm_arg rvm_arg_lns(double v) {
    return rvm_arg_f64(usual_math()->log(v));
}
double rvm_arg_lns_value(const rvm_arg *a) {
    return a ? usual_math()->exp(a->value.f) : 0;
}
rvm_arg rvm_arg_f32(double v) {
    return (rvm_arg){.type = RVM_F32, .value.f = (float)v};
}
rvm_arg rvm_arg_fix(double v) {
    return (rvm_arg){.type = RVM_FIX, .value.i = rvm_fix_from_double(v)};
}

rvm_arg rvm_arg_array(rvm_type type, void *data, int ndim, const int64_t *shape) {
    rvm_arg a = {.type = type, .ndim = ndim, .data = data};
    int64_t n = 1;
    for (int d = ndim - 1; d >= 0 && ndim <= RVM_MAX_DIMS; d--) {
        a.shape[d] = shape ? shape[d] : -1; /* refused where it is bound, */
        a.stride[d] = a.shadow_stride[d] = n;
        if (a.shape[d] > 0 && __builtin_mul_overflow(n, a.shape[d], &n)) n = INT64_MAX; /* as this is */
    }
    return a;
}
rvm_arg rvm_arg_array_f64(double *data, int ndim, const int64_t *shape) {
    return rvm_arg_array(RVM_F64, data, ndim, shape);
}
rvm_arg rvm_arg_array_i64(int64_t *data, int ndim, const int64_t *shape) {
    return rvm_arg_array(RVM_I64, data, ndim, shape);
}

/* ---- elements ---- */

int64_t rvm_arg_count(const rvm_arg *a) {
    if (!a) return 0;
    const int64_t n = a->ndim < 0 || a->ndim > RVM_MAX_DIMS ? -1 : rvm__cells(a);
    return n < 0 ? -1 : n;
}

void rvm_arg_gather(const rvm_arg *a, bool shadow, rvm_scalar *to) {
    if (a && to) rvm__cells_take(a, shadow, (rvm_value *)(void *)to);
}

void rvm_arg_scatter(rvm_arg *a, bool shadow, const rvm_scalar *from) {
    if (a && from) rvm__cells_give(a, shadow, (const rvm_value *)(const void *)from);
}

int rvm_arg_element_text(const char *name, const rvm_arg *a, int64_t k, char *text, size_t size) {
    char all[160];
    int64_t index[RVM_MAX_DIMS] = {0};
    if (!text) size = 0;
    if (!name || k < 0 || k >= rvm_arg_count(a)) return snprintf(text, size, "?");
    int n = snprintf(all, sizeof all, "%.100s", name);
    for (int d = a->ndim - 1; d >= 0; d--) {
        index[d] = k % a->shape[d];
        k /= a->shape[d];
    }
    for (int d = 0; d < a->ndim && (size_t)n < sizeof all; d++)
        n += snprintf(all + n, sizeof all - (size_t)n, "%s%lld%s", d ? ", " : "[", (long long)index[d],
                      d + 1 == a->ndim ? "]" : "");
    return snprintf(text, size, "%s", all);
}
