/* cells.c: see cells.h. Elements that are neighbours in memory go at once. */
#include "cells.h"
#include "instruction.h"

#include <string.h>

int64_t rvm__cells(const rvm_arg *a) {
    int64_t n = 1;
    for (int d = 0; d < a->ndim && d < RVM_MAX_DIMS; d++)
        if (a->shape[d] < 0 || __builtin_mul_overflow(n, a->shape[d], &n) || n > INT64_MAX / 64) return ~(int64_t)d;
    return n;
}

typedef struct walk {
    const rvm_arg *a;
    const int64_t *stride;
    rvm_value *cells;
    bool (*visit)(const struct walk *w, rvm_value *at, rvm_value *cells, size_t n); /* false: that is enough */
} walk;

/* Elements from dimension d on, if they are neighbours; else -1. */
static int64_t run_from(const walk *w, int d) {
    int64_t n = 1;
    for (int k = w->a->ndim - 1; k >= d && k < RVM_MAX_DIMS; n *= w->a->shape[k--])
        if (w->a->shape[k] > 1 && w->stride[k] != n) return -1;
    return n;
}

static bool go(walk *w, int d, rvm_value *at) {
    const int64_t n = run_from(w, d);
    if (n >= 0) {
        const bool more = n == 0 || w->visit(w, at, w->cells, (size_t)n);
        w->cells += n;
        return more;
    }
    for (int64_t i = 0; d < RVM_MAX_DIMS && i < w->a->shape[d]; i++)
        if (!go(w, d + 1, at + i * w->stride[d])) return false;
    return true;
}

static bool copy_out(const walk *w, rvm_value *at, rvm_value *cells, size_t n) {
    (void)w;
    memcpy(cells, at, n * sizeof *at);
    return true;
}

static bool copy_in(const walk *w, rvm_value *at, rvm_value *cells, size_t n) {
    (void)w;
    memcpy(at, cells, n * sizeof *at);
    return true;
}

static bool each(const rvm_arg *a, bool shadow, rvm_value *cells,
                 bool (*visit)(const walk *w, rvm_value *at, rvm_value *cells, size_t n)) {
    walk w = {a, shadow ? a->shadow_stride : a->stride, cells, visit};
    const rvm_scalar *scalar = shadow ? &a->shadow : &a->value;
    void *at = a->ndim ? (shadow ? a->shadow_data : a->data) : (void *)(uintptr_t)scalar;
    return go(&w, 0, at);
}

void rvm__cells_take(const rvm_arg *a, bool shadow, rvm_value *to) {
    each(a, shadow, to, copy_out);
}

void rvm__cells_give(rvm_arg *a, bool shadow, const rvm_value *from) {
    each(a, shadow, (rvm_value *)(uintptr_t)from, copy_in);
}
