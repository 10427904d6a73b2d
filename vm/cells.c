/* cells.c: see cells.h. Elements that are neighbours in memory go at once. */
#include "cells.h"
#include "instruction.h"

#include <string.h>

int64_t rvm__cells(const rvm_arg *a) {
    int64_t n = 1, bad = 0;
    bool empty = false;
    for (int d = 0; d < a->ndim && d < RVM_MAX_DIMS; d++) {
        if (a->shape[d] < 0) return ~(int64_t)d;
        empty |= !a->shape[d];
        if (!bad && (__builtin_mul_overflow(n, a->shape[d], &n) || n > RVM__MOST_CELLS)) bad = ~(int64_t)d;
    }
    return empty ? 0 : bad ? bad : n;
}

int64_t rvm__neighbours(const rvm_arg *a, const int64_t *stride, int d) {
    int64_t n = 1;
    for (int k = a->ndim - 1; k >= d && k < RVM_MAX_DIMS; n *= a->shape[k--])
        if (a->shape[k] > 1 && stride[k] != n) return -1;
    return n;
}

typedef struct copying {
    const rvm_arg *a;
    const int64_t *stride;
    rvm_value *cells; /* the next */
    bool out;
} copying;

static void copy_from(copying *c, int d, rvm_value *at) {
    const int64_t n = rvm__neighbours(c->a, c->stride, d);
    if (n > 0) {
        memcpy(c->out ? c->cells : at, c->out ? at : c->cells, (size_t)n * sizeof *at);
        c->cells += n;
    }
    if (n >= 0) return;
    for (int64_t i = 0; d < RVM_MAX_DIMS && i < c->a->shape[d]; i++) copy_from(c, d + 1, at + i * c->stride[d]);
}

static void copy_array(const rvm_arg *a, bool shadow, rvm_value *cells, bool out) {
    copying c = {a, shadow ? a->shadow_stride : a->stride, cells, out};
    copy_from(&c, 0, shadow ? a->shadow_data : a->data);
}

void rvm__cells_take(const rvm_arg *a, bool shadow, rvm_value *to) {
    if (a->ndim)
        copy_array(a, shadow, to, true);
    else
        to->i = shadow ? a->shadow.i : a->value.i;
}

void rvm__cells_give(rvm_arg *a, bool shadow, const rvm_value *from) {
    if (a->ndim)
        copy_array(a, shadow, (rvm_value *)(uintptr_t)from, false);
    else if (shadow)
        a->shadow.i = from->i;
    else
        a->value.i = from->i;
}
