/* exact.c: encoding and decoding of what an update of an f64 loses. See exact.h. */
#include "exact.h"
#include "instruction.h"
#include "support.h"

/* ---- bits ---- */

enum { FIRST_WORDS = 32 };

static bool resize(const rvm_allocator *al, rvm__bits *b, size_t cap) {
    uint64_t *words = rvm__realloc(al, b->words, b->cap * sizeof *words, cap * sizeof *words);
    if (!words) return false;
    b->words = words;
    b->cap = cap;
    return true;
}

void rvm__bits_free(const rvm_allocator *al, rvm__bits *b) {
    rvm__realloc(al, b->words, b->cap * sizeof *b->words, 0);
    *b = (rvm__bits){0};
}

static uint64_t low(uint64_t v, unsigned count) {
    return count < 64 ? v & ((UINT64_C(1) << count) - 1) : v;
}

bool rvm__bits_reserve(const rvm_allocator *al, rvm__bits *b, size_t more) {
    const size_t need = (b->n + more) / 64 + 2;
    size_t cap = b->cap ? b->cap : FIRST_WORDS;
    while (cap < need) cap *= 2;
    return cap == b->cap || resize(al, b, cap);
}

bool rvm__bits_push(const rvm_allocator *al, rvm__bits *b, uint64_t v, unsigned count) {
    const size_t word = b->n / 64;
    const unsigned at = (unsigned)(b->n % 64);
    if (word + 2 > b->cap && !rvm__bits_reserve(al, b, count)) return false;
    v = low(v, count);
    b->words[word] = at ? low(b->words[word], at) | v << at : v;
    if (at + count > 64) b->words[word + 1] = v >> (64 - at);
    b->n += count;
    return true;
}

bool rvm__bits_pop(rvm__bits *b, unsigned count, uint64_t *v) {
    if (b->n < count) return false;
    const size_t first = b->n - count, word = first / 64;
    const unsigned at = (unsigned)(first % 64);
    uint64_t x = count ? b->words[word] >> at : 0;
    if (at && at + count > 64) x |= b->words[word + 1] << (64 - at);
    *v = low(x, count);
    b->n = first;
    return true;
}

void rvm__bits_trim(const rvm_allocator *al, rvm__bits *b) {
    if (b->cap > FIRST_WORDS && b->n / 64 + 2 < b->cap / 4) resize(al, b, b->cap / 2); /* or it stays as it is */
}

/* ---- the order of the bit patterns ---- */

static int64_t rank(double y) {
    const int64_t i = ((rvm_value){.f = y}).i;
    return i ^ ((i >> 63) & INT64_MAX);
}

static double of_rank(int64_t r) {
    return ((rvm_value){.i = r ^ ((r >> 63) & INT64_MAX)}).f;
}

static bool same(double a, double b) {
    return ((rvm_value){.f = a}).u == ((rvm_value){.f = b}).u;
}

/* ---- candidates ---- */

typedef struct basis {
    int64_t rank; /* of the base */
    bool raw;     /* there is none */
    bool several; /* a neighbour would do as well */
} basis;

static bool leads(rvm__exact op, int64_t r, double x, double after) {
    return same(rvm__exact_apply(op, of_rank(r), x), after);
}

static basis find_basis(rvm__exact op, double after, double x) {
    const int64_t g = rank(rvm__exact_guess(op, after, x));
    basis b = {.rank = g};
    b.raw = after - after != 0 || g == INT64_MAX || g == INT64_MIN;
    if (b.raw) return b;
    if (!leads(op, g, x, after)) {
        b.rank = leads(op, g + 1, x, after) ? g + 1 : g - 1;
        if (b.rank == g - 1) b.raw = !leads(op, g - 1, x, after);
    }
    b.raw |= b.rank == INT64_MAX || b.rank == INT64_MIN;
    b.several = !b.raw && (leads(op, b.rank + 1, x, after) || leads(op, b.rank - 1, x, after));
    return b;
}

/* ---- distances: the sign, and Elias's delta code of the size; what is read first is pushed last ---- */

static unsigned width(uint64_t n) {
    return 64 - (unsigned)__builtin_clzll(n);
}

static bool push_distance(const rvm_allocator *al, rvm__bits *b, int64_t from, int64_t to) {
    const bool below = to < from;
    const uint64_t n = below ? (uint64_t)from - (uint64_t)to : (uint64_t)to - (uint64_t)from;
    const unsigned w = width(n), ww = width(w);
    return rvm__bits_push(al, b, n, w - 1) && rvm__bits_push(al, b, w, ww - 1) &&
           rvm__bits_push(al, b, 1, ww) && /* single bits come back from the top: ww - 1 zeros, then a one */
           rvm__bits_push(al, b, below, 1);
}

static bool pop_distance(rvm__bits *b, int64_t from, int64_t *to) {
    uint64_t below, bit = 0, w, n;
    unsigned ww = 0;
    if (!rvm__bits_pop(b, 1, &below)) return false;
    for (; !bit; ww++)
        if (ww == 7 || !rvm__bits_pop(b, 1, &bit)) return false;
    if (!rvm__bits_pop(b, ww - 1, &w)) return false;
    w |= UINT64_C(1) << (ww - 1);
    if (w > 64 || !rvm__bits_pop(b, (unsigned)w - 1, &n)) return false;
    n |= UINT64_C(1) << (w - 1);
    *to = (int64_t)(below ? (uint64_t)from - n : (uint64_t)from + n);
    return true;
}

/* ---- record and restore ---- */

bool rvm__exact_record(const rvm_allocator *al, rvm__bits *b, rvm__exact op, double y, double x, double after) {
    double alone;
    if (rvm__exact_alone(op, after, x, &alone)) return true;
    const basis at = find_basis(op, after, x);
    const size_t before = b->n;
    if (at.raw) return rvm__exact_record_raw(al, b, y);
    if (!at.several) return true;
    const int64_t r = rank(y);
    if (r == at.rank) return rvm__bits_push(al, b, 0, 1);
    if (push_distance(al, b, at.rank, r) && rvm__bits_push(al, b, 1, 1)) return true;
    b->n = before;
    return false;
}

bool rvm__exact_restore(rvm__bits *b, rvm__exact op, double after, double x, double *y) {
    if (rvm__exact_alone(op, after, x, y)) return true;
    const basis at = find_basis(op, after, x);
    const size_t before = b->n;
    int64_t r = at.rank;
    uint64_t bits;
    if (at.raw) {
        if (!rvm__bits_pop(b, 64, &bits)) return false;
        *y = ((rvm_value){.u = bits}).f;
        return true;
    }
    if (at.several) {
        if (!rvm__bits_pop(b, 1, &bits)) return false;
        if (bits && !pop_distance(b, at.rank, &r)) {
            b->n = before;
            return false;
        }
    }
    *y = of_rank(r);
    return true;
}
