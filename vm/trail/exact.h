/* exact.h: what rounding loses in an update of an f64, so that running backward restores every bit.
 *
 * y' = y + x rounded leaves a set P of values y that x takes to the same y'. Most often P is one value, which y' - x or a
 * neighbour of it gives: then nothing is kept. Else a bit says whether y was the first of these three that is in P, the
 * base; if not, the signed distance from it follows, in the order of the bit patterns (-0 just below 0), as Elias's delta
 * code. A y' that is not finite, or a P without any of the three, keeps y whole.
 *
 * The same holds for products and quotients, with y' / x and y' * x. Operands must have the same bits both ways; round to
 * nearest, no flushing of subnormals.
 */
#ifndef RVM_EXACT_H
#define RVM_EXACT_H

#include "instruction.h"

/* A stack of bits. Memory comes in halvings and doublings of one block. */
typedef struct rvm__bits {
    uint64_t *words;
    size_t n, cap;  /* bits held; words there are */
    uint64_t coded; /* in a compute part: updates since the last one that kept its value whole (exact_run.c) */
} rvm__bits;

/* The low `count` (at most 64) bits of v go on top; false: out of memory, nothing changed. al: of the block. */
bool rvm__bits_push(const rvm_allocator *al, rvm__bits *b, uint64_t v, unsigned count);
/* The top `count` bits as they were pushed; false: there are fewer, nothing changed. Until the next push, n may go back to
 * what it was before: the bits are still there. */
bool rvm__bits_pop(rvm__bits *b, unsigned count, uint64_t *v);
/* Room for `more` bits, so that pushing them cannot fail. */
bool rvm__bits_reserve(const rvm_allocator *al, rvm__bits *b, size_t more);
/* Memory that bits popped have left is given back. */
void rvm__bits_trim(const rvm_allocator *al, rvm__bits *b);
void rvm__bits_free(const rvm_allocator *al, rvm__bits *b);

typedef enum rvm__exact { RVM__EXACT_ADD, RVM__EXACT_SUB, RVM__EXACT_MUL, RVM__EXACT_DIV } rvm__exact;

static inline double rvm__exact_apply(rvm__exact op, double y, double x) {
    switch (op) {
    case RVM__EXACT_ADD: return y + x;
    case RVM__EXACT_SUB: return y - x;
    case RVM__EXACT_MUL: return y * x;
    case RVM__EXACT_DIV: return y / x;
    }
    return y;
}
static inline double rvm__exact_guess(rvm__exact op, double after, double x) {
    switch (op) {
    case RVM__EXACT_ADD: return after - x;
    case RVM__EXACT_SUB: return after + x;
    case RVM__EXACT_MUL: return after / x;
    case RVM__EXACT_DIV: return after * x;
    }
    return after;
}

/* Whether y can be had from y' and x alone; then *y is it. The fast path: one guess, three trials. */
static inline bool rvm__exact_alone(rvm__exact op, double after, double x, double *y) {
    const double g = rvm__exact_guess(op, after, x);
    rvm_value up = {.f = g}, down = {.f = g};
    up.u++; /* the neighbours away from 0 and towards it, if g is not 0, as is asked below; -0 wraps */
    down.u--;
    *y = g;
    return g != 0 && after != 0 && rvm__exact_apply(op, g, x) == after && rvm__exact_apply(op, up.f, x) != after &&
           rvm__exact_apply(op, down.f, x) != after && after - after == 0;
}

/* Whether what a release finds is what it must be: the same bits, but of a NaN, whose sign and payload depend on the order
 * of operands that an engine chooses. What a NaN was added to comes back whole. */
static inline bool rvm__exact_same(double y, double f) {
    return ((rvm_value){.f = y}).u == ((rvm_value){.f = f}).u || (y != y && f != f);
}

/* What y' = y op x loses goes onto b, at most RVM__EXACT_MOST bits (false: out of memory); and y comes back from y', x and b
 * (false: b holds less than that). Where they fail, nothing has changed. */
enum { RVM__EXACT_MOST = 80 };
bool rvm__exact_record(const rvm_allocator *al, rvm__bits *b, rvm__exact op, double y, double x, double after);
bool rvm__exact_restore(rvm__bits *b, rvm__exact op, double after, double x, double *y);
/* A whole value: for changes that have no such inverse. */
static inline bool rvm__exact_record_raw(const rvm_allocator *al, rvm__bits *b, double y) {
    return rvm__bits_push(al, b, ((rvm_value){.f = y}).u, 64);
}

#endif
