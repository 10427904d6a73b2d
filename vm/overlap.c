#include "overlap.h"
#include "instruction.h"

bool rvm__array_extent(const rvm__array *a, rvm__extent *e) {
    *e = (rvm__extent){.data = a->data, .ndim = a->ndim};
    for (int d = 0; d < a->ndim; d++) {
        e->dim[d] = a->dim[d];
        e->stride[d] = a->stride[d];
        if (!a->dim[d]) return false;
    }
    return true;
}

const char *rvm__extent_last(const rvm__extent *e) {
    const char *p = e->data + sizeof(rvm_value) - 1;
    for (int d = 0; d < e->ndim; d++) p += (e->dim[d] - 1) * e->stride[d];
    return p;
}

/* Dimensions in the order of falling strides. */
static void by_stride(const rvm__extent *a, int order[RVM_MAX_DIMS]) {
    for (int d = 0; d < a->ndim && d < RVM_MAX_DIMS; d++) {
        int k = d;
        for (; k > 0 && a->stride[order[k - 1]] < a->stride[d]; k--) order[k] = order[k - 1];
        order[k] = d;
    }
}

/* Whether each stride is more than all smaller ones together can bridge. */
static bool nests(const rvm__extent *a, const int order[RVM_MAX_DIMS]) {
    int64_t bridged = 0;
    for (int k = a->ndim - 1; k >= 0; k--) {
        const int64_t stride = a->stride[order[k]];
        if (stride <= bridged) return false;
        bridged += (a->dim[order[k]] - 1) * stride;
    }
    return true;
}

/* Whether some element of a is `apart` bytes before one of b, from the k-th stride on. What the later dimensions can bridge
 * is less than this stride, so two quotients need a try. */
static bool touches(const rvm__extent *a, const rvm__extent *b, const int order[RVM_MAX_DIMS], int k, int64_t apart) {
    const int64_t size = sizeof(rvm_value);
    if (k >= a->ndim || k >= RVM_MAX_DIMS) return -size < apart && apart < size;
    const int d = order[k];
    int64_t q = apart / a->stride[d];
    if (apart % a->stride[d] < 0) q--;
    for (int64_t n = q; n <= q + 1; n++)
        if (-b->dim[d] < n && n < a->dim[d] && touches(a, b, order, k + 1, apart - n * a->stride[d])) return true;
    return false;
}

/* What a dimension of one element strides says nothing: it takes the other's stride, and disappears if both have but one.
 * False: strides differ. */
static bool align(rvm__extent *a, rvm__extent *b) {
    int n = 0;
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++) {
        const int64_t stride = a->dim[d] > 1 ? a->stride[d] : b->stride[d];
        if (a->dim[d] == 1 && b->dim[d] == 1) continue;
        if (b->dim[d] > 1 && b->stride[d] != stride) return false;
        a->dim[n] = a->dim[d], b->dim[n] = b->dim[d];
        a->stride[n] = b->stride[n] = stride;
        n++;
    }
    a->ndim = b->ndim = n;
    return true;
}

bool rvm__overlap(const rvm__extent *x, const rvm__extent *y) {
    int order[RVM_MAX_DIMS] = {0};
    rvm__extent a = *x, b = *y;
    if (rvm__extent_last(&a) < b.data || rvm__extent_last(&b) < a.data) return false;
    if (!align(&a, &b)) return true;
    by_stride(&a, order);
    if (!nests(&a, order) || !nests(&b, order)) return true;
    return touches(&a, &b, order, 0, b.data - a.data);
}
