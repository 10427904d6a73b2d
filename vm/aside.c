/* aside.c: elements that the instances of a parallel block add into chunk by chunk (docs/semantics.md, section 9).
 *
 * What they held before the block is set aside, and they begin as what adds nothing; so they hold the partial sums of the
 * chunk that runs, and nothing that adds to them need know. When the chunk ends its sums are added to what was set aside,
 * and when the block is left that comes back. Blocks within blocks, by calls, nest.
 *
 *     | values of a block: of its first array, of its second .. | of the innermost block |
 *
 * Where a side exit moves an array it is found again by its number, so addresses are given anew at each step. Arrays may
 * overlap: what the second one finds there then is what the first left, which adds nothing. */
#include "aside.h"
#include "memory.h"
#include "copied.h"
#include "out_of_line.h"

#include <math.h>
#include <string.h>

struct rvm__asides {
    rvm_value *values;
    struct block {
        uint64_t first, how; /* first: of its values */
    } * blocks;              /* the innermost last */
    size_t n, nblocks, cap, cap_blocks;
};

/* ---- which elements ---- */

/* Within bounds that both are included. */
static void narrow(rvm__aside *a, const int64_t *lo, const int64_t *hi) {
    for (int d = 0; d < (int)a->ndim; d++) {
        const int64_t from = lo[d] > 0 ? lo[d] : 0, last = hi[d] < a->dim[d] ? hi[d] : a->dim[d] - 1;
        a->data += a->dim[d] > 0 && from < a->dim[d] ? from * a->stride[d] : 0;
        a->dim[d] = last >= from ? last - from + 1 : 0;
    }
}

/* Dimensions that follow each other without a gap become one; the last one is the innermost. */
static void flatten(rvm__aside *a) {
    int to = 0;
    a->n = 1;
    for (int d = 0; d < (int)a->ndim; d++) a->n *= (uint64_t)a->dim[d];
    for (int d = 1; d < (int)a->ndim; d++) {
        if (a->stride[to] == a->dim[d] * a->stride[d])
            a->dim[to] *= a->dim[d];
        else
            a->dim[++to] = a->dim[d];
        a->stride[to] = a->stride[d];
    }
    a->ndim = (uint64_t)to + 1;
}

void rvm__aside_within(rvm__aside *a, const int64_t *lo, const int64_t *hi) {
    narrow(a, lo, hi);
    flatten(a);
}

/* ---- going through them ---- */

static double magnitude_in(const rvm_value *v, size_t n) {
    double most = 0;
    for (size_t k = 0; k < n; k++) most = fmax(most, fabs(v[k].f));
    return most;
}

/* A row of n elements, so many bytes apart, and what was set aside of them. */
static void row(rvm_type t, enum rvm__aside_step step, char *at, int64_t stride, rvm_value *held, size_t n) {
    const rvm_value nothing = {.f = -0.0};
    for (size_t k = 0; k < n; k++, at += stride) {
        rvm_value *e = (rvm_value *)(void *)at;
        held[k] = step == RVM__ASIDE_BEGIN ? *e : rvm__sum(t, held[k], *e);
        *e = step == RVM__ASIDE_END ? held[k] : nothing;
    }
}

/* The same where they are side by side, of f64. */
static void side_by_side(enum rvm__aside_step step, double *restrict e, rvm_value *restrict held, size_t n) {
    if (step == RVM__ASIDE_BEGIN)
        memcpy(held, e, n * sizeof *e);
    else
        for (size_t k = 0; k < n; k++) held[k].f += e[k];
    if (step == RVM__ASIDE_END)
        memcpy(e, held, n * sizeof *e);
    else
        for (size_t k = 0; k < n; k++) e[k] = -0.0;
}

/* The first element of a row, all but the innermost dimension counted through. */
static char *row_at(const rvm__aside *a, size_t number) {
    char *at = a->data;
    for (int d = (int)a->ndim - 2; d >= 0 && d < RVM_MAX_DIMS; d--) {
        at += (int64_t)(number % (size_t)a->dim[d]) * a->stride[d];
        number /= (size_t)a->dim[d];
    }
    return at;
}

void rvm__aside_pass(rvm_machine *m, const rvm__aside *a, enum rvm__aside_step step, size_t *at) {
    struct rvm__asides *s = m->store.asides;
    const size_t n = (size_t)a->dim[a->ndim - 1];
    const int64_t stride = a->stride[a->ndim - 1];
    rvm_value *held = s->values + s->blocks[s->nblocks - 1].first + *at;
    *at += a->n;
    if (step == RVM__ASIDE_BEGIN) s->n += a->n;
    for (size_t k = 0; k * n < a->n; k++)
        if (a->type == RVM_F64 && stride == sizeof(double))
            side_by_side(step, (double *)(void *)row_at(a, k), held + k * n, n);
        else
            row((rvm_type)a->type, step, row_at(a, k), stride, held + k * n, n);
    if (a->magnitude && step != RVM__ASIDE_BEGIN) *a->magnitude = fmax(*a->magnitude, magnitude_in(held, a->n));
}

/* ---- blocks ---- */

static bool reserve(rvm_machine *m, size_t n, size_t blocks) {
    struct rvm__asides *s = m->store.asides;
    if (!s && !(s = m->store.asides = rvm__zeroed(m, sizeof *s))) return false;
    return n <= SIZE_MAX / 4 / sizeof *s->values &&
           rvm__reserve(m, (void **)&s->values, &s->cap, s->n + n, sizeof *s->values) &&
           rvm__reserve(m, (void **)&s->blocks, &s->cap_blocks, s->nblocks + blocks, sizeof *s->blocks);
}

bool rvm__aside_reserve(rvm_machine *m, size_t n) {
    return reserve(m, n, 1);
}

void rvm__aside_enter(rvm_machine *m, unsigned how) {
    struct rvm__asides *s = m->store.asides;
    s->blocks[s->nblocks++] = (struct block){s->n, how};
}

unsigned rvm__aside_how(const rvm_machine *m) {
    return (unsigned)m->store.asides->blocks[m->store.asides->nblocks - 1].how;
}

void rvm__aside_leave(rvm_machine *m) {
    struct rvm__asides *s = m->store.asides;
    s->n = s->blocks[--s->nblocks].first;
}

void rvm__aside_clear(rvm_machine *m) {
    if (m->store.asides) m->store.asides->n = m->store.asides->nblocks = 0;
}

void rvm__aside_free(rvm_machine *m) {
    struct rvm__asides *s = m->store.asides;
    if (!s) return;
    rvm__resize(m, s->values, s->cap * sizeof *s->values, 0);
    rvm__resize(m, s->blocks, s->cap_blocks * sizeof *s->blocks, 0);
    rvm__resize(m, s, sizeof *s, 0);
    m->store.asides = NULL;
}

/* ---- onto a tape and back ---- */

void rvm__aside_put(const rvm_machine *m, rvm__tape *tape) {
    const struct rvm__asides *s = m->store.asides;
    const uint64_t counts[2] = {s ? s->n : 0, s ? s->nblocks : 0};
    rvm__tape_put(tape, counts, sizeof counts);
    if (!counts[1]) return;
    rvm__tape_put(tape, s->values, s->n * sizeof *s->values);
    rvm__tape_put(tape, s->blocks, s->nblocks * sizeof *s->blocks);
}

bool rvm__aside_get(rvm_machine *m, rvm__tape *tape) {
    uint64_t counts[2];
    rvm__aside_clear(m);
    rvm__tape_get(tape, counts, sizeof counts);
    if (!counts[1]) return true;
    if (!reserve(m, counts[0], counts[1])) return false;
    struct rvm__asides *s = m->store.asides;
    s->n = counts[0], s->nblocks = counts[1];
    rvm__tape_get(tape, s->values, s->n * sizeof *s->values);
    rvm__tape_get(tape, s->blocks, s->nblocks * sizeof *s->blocks);
    return true;
}
