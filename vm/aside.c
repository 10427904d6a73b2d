/* aside.c: elements that the instances of a parallel block add into chunk by chunk (docs/semantics.md, section 9).
 *
 * What they held before the block is set aside, and they begin as what adds nothing. While an instance runs by itself they
 * hold what that adds, and nothing that adds to them need know; what the other instances of its group have added, and the
 * sum of the chunk's groups before, are set aside, too. When the group ends its eight sums are put together by a tree, and
 * added to the chunk's sum; when the chunk ends that is added to what was held, and when the block is left that comes back.
 * Blocks within blocks, by calls, nest.
 *
 *     | values of a block: of its first array: held, sum, parts 0 .. 7; of its second .. | of the innermost block |
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
        uint64_t open, now;  /* now: the part of the instance that runs, */
        uint64_t there;      /* and those that have run, by bit: no others are defined */
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

enum { PARTS = RVM__PARTS, VALUES = 2 + PARTS, ALL = (1 << PARTS) - 1 };

/* A row of n elements, and what was set aside of them. */
typedef struct row {
    rvm_type type;
    char *e;
    int64_t stride; /* in bytes */
    rvm_value *held, *sum, *parts;
    size_t n, apart; /* apart: elements from one part to the next */
    uint64_t now;
} row;

static const rvm_value nothing = {.f = -0.0};

static inline rvm_value *element(const row *r, size_t k) {
    return (rvm_value *)(void *)(r->e + (int64_t)k * r->stride);
}

static bool is_plain(const row *r) {
    return r->type == RVM_F64 && r->stride == sizeof(double);
}

/* What the elements hold goes there. */
static void take(const row *r, rvm_value *to) {
    if (r->stride == sizeof *to) {
        memcpy(to, r->e, r->n * sizeof *to);
        for (size_t k = 0; k < r->n; k++) ((rvm_value *)(void *)r->e)[k] = nothing;
        return;
    }
    for (size_t k = 0; k < r->n; k++) {
        to[k] = *element(r, k);
        *element(r, k) = nothing;
    }
}

/* A function in as many versions as there are widths of vectors; the processor chooses as the library is loaded. */
#if defined(__x86_64__)
#define IN_ALL_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define IN_ALL_WIDTHS
#endif

IN_ALL_WIDTHS
static void add_trees_plainly(double *restrict sum, const double *restrict p, size_t apart, size_t n) {
#define P(j) p[(j)*apart + k]
    for (size_t k = 0; k < n; k++) sum[k] += ((P(0) + P(4)) + (P(2) + P(6))) + ((P(1) + P(5)) + (P(3) + P(7)));
#undef P
}

static rvm_value tree(const row *r, size_t k) {
    rvm_value v[PARTS];
    for (size_t j = 0; j < PARTS; j++) v[j] = r->parts[j * r->apart + k];
    for (int n = PARTS / 2; n > 0; n /= 2)
        for (int j = 0; j < n; j++) v[j] = rvm__sum(r->type, v[j], v[j + n]);
    return v[0];
}

/* The part of the instance that ran is what the elements hold. */
static void save(const row *r) {
    take(r, r->parts + r->now * r->apart);
}

static void close_group(const row *r) {
    save(r);
    if (is_plain(r))
        add_trees_plainly(&r->sum->f, &r->parts->f, r->apart, r->n);
    else
        for (size_t k = 0; k < r->n; k++) r->sum[k] = rvm__sum(r->type, r->sum[k], tree(r, k));
}

static void add_plainly(double *restrict to, double *restrict from, size_t n) {
    for (size_t k = 0; k < n; k++) {
        to[k] += from[k];
        from[k] = -0.0;
    }
}

/* sum: what the chunk adds, or NULL: the elements hold it. */
static void end_chunk(const row *r, rvm_value *sum, bool leaves) {
    if (is_plain(r)) {
        add_plainly(&r->held->f, sum ? &sum->f : &element(r, 0)->f, r->n);
        if (leaves) memcpy(r->e, r->held, r->n * sizeof(double));
        return;
    }
    for (size_t k = 0; k < r->n; k++) {
        rvm_value *e = element(r, k), *from = sum ? &sum[k] : e;
        r->held[k] = rvm__sum(r->type, r->held[k], *from);
        *from = nothing;
        *e = leaves ? r->held[k] : nothing;
    }
}

static void load(const row *r, const rvm_value *from) {
    for (size_t k = 0; k < r->n; k++) *element(r, k) = rvm__sum(r->type, *element(r, k), from[k]);
}

static void pass_row(const row *r, const struct block *b, enum rvm__aside_step step) {
    switch (step) {
    case RVM__ASIDE_BEGIN: take(r, r->held); break;
    case RVM__ASIDE_OPEN:
        if (!b->open) take(r, r->sum);
        break;
    case RVM__ASIDE_CLOSE:
        if (b->open) close_group(r), load(r, r->sum);
        break;
    case RVM__ASIDE_SAVE:
    case RVM__ASIDE_GROUP:
        if (!b->open)
            take(r, r->sum);
        else
            (step == RVM__ASIDE_SAVE ? save : close_group)(r);
        break;
    case RVM__ASIDE_LOAD: load(r, r->parts + r->now * r->apart); break;
    case RVM__ASIDE_CHUNK:
    case RVM__ASIDE_END:
        if (b->open) close_group(r);
        end_chunk(r, b->open ? r->sum : NULL, step == RVM__ASIDE_END);
    }
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

/* Whether all instances of the group have run, with the one that runs. */
static bool is_whole(const struct block *b) {
    return (b->there | UINT64_C(1) << b->now) == ALL;
}

/* Those of the group that have not run add nothing. */
static void fill(const struct block *b, rvm_value *parts, size_t n) {
    for (unsigned j = 0; j < PARTS; j++)
        for (size_t k = 0; k < n && !(b->there >> j & 1); k++) parts[j * n + k] = nothing;
}

static bool ends_group(const struct block *b, enum rvm__aside_step step) {
    return b->open && step != RVM__ASIDE_OPEN && step != RVM__ASIDE_SAVE && step != RVM__ASIDE_LOAD;
}

static void pass(const struct block *b, const rvm__aside *a, enum rvm__aside_step step, rvm_value *held) {
    const size_t n = (size_t)a->dim[a->ndim - 1];
    if (ends_group(b, step) && !is_whole(b)) fill(b, held + 2 * a->n, a->n);
    row r = {.type = (rvm_type)a->type, .stride = a->stride[a->ndim - 1], .n = n, .apart = a->n, .now = b->now};
    for (size_t k = 0; k * n < a->n; k++) {
        r.e = row_at(a, k);
        r.held = held + k * n;
        r.sum = r.held + a->n;
        r.parts = r.sum + a->n;
        pass_row(&r, b, step);
    }
    if (a->magnitude && (step == RVM__ASIDE_CHUNK || step == RVM__ASIDE_END))
        *a->magnitude = fmax(*a->magnitude, magnitude_in(held, a->n));
}

static struct block *innermost(const rvm_machine *m) {
    return &m->store.asides->blocks[m->store.asides->nblocks - 1];
}

void rvm__aside_pass(rvm_machine *m, const rvm__aside *a, enum rvm__aside_step step, size_t *at) {
    const struct block *b = innermost(m);
    pass(b, a, step, m->store.asides->values + b->first + VALUES * *at);
    *at += a->n;
}

/* What is one row of f64 without gaps, from instance to instance: the same as pass(). */
static bool is_plain_row(const rvm__aside *a) {
    return a->ndim == 1 && a->type == RVM_F64 && a->stride[0] == sizeof(double);
}

IN_ALL_WIDTHS
static void save_plainly(double *restrict e, double *restrict part, size_t n) {
    for (size_t k = 0; k < n; k++) {
        part[k] = e[k];
        e[k] = -0.0;
    }
}

static void pass_plainly(const struct block *b, const rvm__aside *a, double *held, bool group) {
    double *parts = held + 2 * a->n;
    save_plainly((double *)(void *)a->data, parts + b->now * a->n, a->n);
    if (group) add_trees_plainly(held + a->n, parts, a->n, a->n);
}

static void pass_all(const rvm_machine *m, const rvm__aside *a, size_t apart, size_t n, enum rvm__aside_step step) {
    const struct block *b = innermost(m);
    rvm_value *values = m->store.asides->values + b->first;
    const bool group = step == RVM__ASIDE_GROUP && is_whole(b);
    const bool plainly = b->open && (step == RVM__ASIDE_SAVE || group);
    for (size_t k = 0; k < n; k++) {
        if (plainly && is_plain_row(a))
            pass_plainly(b, a, &values->f, group);
        else
            pass(b, a, step, values);
        values += VALUES * a->n;
        a = (const rvm__aside *)(const void *)((const char *)a + apart);
    }
}

bool rvm__aside_passed(rvm_machine *m, enum rvm__aside_step step, uint64_t next) {
    struct block *b = innermost(m);
    const bool was_open = b->open;
    const uint64_t now = next % PARTS;
    if (step == RVM__ASIDE_LOAD || (was_open && step == RVM__ASIDE_OPEN)) return false;
    if (step == RVM__ASIDE_BEGIN || step == RVM__ASIDE_END || step == RVM__ASIDE_CLOSE) {
        b->open = false;
        return false;
    }
    b->open |= step != RVM__ASIDE_CHUNK;
    b->there = was_open && step == RVM__ASIDE_SAVE ? b->there | UINT64_C(1) << b->now : 0;
    b->now = now;
    return step == RVM__ASIDE_SAVE && b->there >> now & 1;
}

void rvm__aside_pass_all(rvm_machine *m, const rvm__aside *first, size_t apart, size_t n, enum rvm__aside_step step,
                         uint64_t next) {
    pass_all(m, first, apart, n, step);
    if (rvm__aside_passed(m, step, next)) pass_all(m, first, apart, n, RVM__ASIDE_LOAD);
}

enum rvm__aside_step rvm__aside_turn(uint64_t k, uint64_t next) {
    const uint64_t crossed = k ^ next;
    return crossed >= RVM__CHUNK ? RVM__ASIDE_CHUNK : crossed >= PARTS ? RVM__ASIDE_GROUP : RVM__ASIDE_SAVE;
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
    return n <= SIZE_MAX / VALUES && reserve(m, VALUES * n, 1);
}

void rvm__aside_enter(rvm_machine *m, unsigned how, size_t n) {
    struct rvm__asides *s = m->store.asides;
    s->blocks[s->nblocks++] = (struct block){.first = s->n, .how = how};
    s->n += VALUES * n;
}

unsigned rvm__aside_how(const rvm_machine *m) {
    return (unsigned)m->store.asides->blocks[m->store.asides->nblocks - 1].how;
}

void rvm__aside_leave(rvm_machine *m) {
    struct rvm__asides *s = m->store.asides;
    s->n = s->blocks[--s->nblocks].first;
}

bool rvm__aside_any(const rvm_machine *m) {
    return m->store.asides && m->store.asides->nblocks > 0;
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
