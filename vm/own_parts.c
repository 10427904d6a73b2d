/* own_parts.c: see own_parts.h. */
#include "own_parts.h"

#include "machine.h"

int64_t rvm__parts_count(const rvm_arg *a, const rvm__first_block *b) {
    return a->shape[b->dimension] * (b->within < RVM_MAX_DIMS ? a->shape[b->within] : 1);
}

/* Elements of which that index lies from lo up to hi. */
static rvm_arg slices(const rvm_arg *a, unsigned dimension, int64_t lo, int64_t hi) {
    rvm_arg part = *a;
    part.shape[dimension] = hi - lo;
    part.data = (rvm_value *)a->data + lo * a->stride[dimension];
    return part;
}

/* Of the row q of so many instances, those from lo up to hi. */
static rvm_arg row(const rvm_arg *a, const rvm__first_block *b, int64_t q, int64_t lo, int64_t hi) {
    const rvm_arg one = slices(a, b->dimension, q, q + 1);
    return slices(&one, b->within, lo, hi);
}

unsigned rvm__parts(const rvm_arg *a, const rvm__first_block *b, int64_t lo, int64_t hi, rvm_arg out[RVM__MOST_PARTS]) {
    const int64_t all = rvm__parts_count(a, b), n = b->within < RVM_MAX_DIMS ? a->shape[b->within] : 1;
    unsigned parts = 0;
    if (lo < 0) lo = 0;
    if (hi > all) hi = all;
    if (lo >= hi) return 0;
    int64_t first = lo / n, last = hi / n;
    if (first == last) {
        out[0] = row(a, b, first, lo % n, hi % n);
        return 1;
    }
    if (lo % n) out[parts++] = row(a, b, first++, lo % n, n);
    if (first < last) out[parts++] = slices(a, b->dimension, first, last);
    if (hi % n) out[parts++] = row(a, b, last, 0, hi % n);
    return parts;
}
