/* inner.c: counted loops whose body is one update of form e (y += a * b, y += a, on elements with proved indices) run
 * without dispatch: every place of the body moves by a constant stride. The order of operations and every bit stay the same.
 */
#include "kernels.h"
#include "out_of_line.h"

/* A place of the body and how far it moves from one trip to the next, in bytes: numbers rather than pointers, since behind
 * the last trip they may be anywhere. */
typedef struct moving {
    uintptr_t p, by;
} moving;

static moving place_of(const rvm__xplace *q, const rvm__inner *l, bool shadow) {
    if (q->kind == XSLOT) return (moving){(uintptr_t)((shadow ? l->shadows : l->slots) + q->slot), 0};
    const rvm__array *a = &l->arrays[q->slot];
    const int64_t *stride = shadow ? a->shadow_stride : a->stride;
    moving m = {(uintptr_t)(shadow ? a->shadow : a->data), 0};
    const uint16_t idx[2] = {q->i, q->j};
    for (int d = 0; d < (q->kind == XELEM2 ? 2 : 1); d++) {
        const int64_t at = idx[d] == l->index ? l->first : l->slots[idx[d]].i;
        m.p += (uintptr_t)at * (uintptr_t)stride[d];
        if (idx[d] == l->index) m.by += (uintptr_t)l->step * (uintptr_t)stride[d];
    }
    return m;
}

#define AT(m)         (*(double *)(m).p)
#define F(row)        f64_##row##_f(AT(a), AT(b), 0, &overflow)
#define D(row, which) f64_##row##_##which(AT(a), AT(b), 0, f, &overflow)

/* All trips. The target and its shadow are no operands, so where they stay in place they stay in registers, Y and Y_. */
#define TRIPS(shadowed, ...)                                                                                                \
    {                                                                                                                       \
        double Y = AT(y), Y_ = shadowed ? AT(y_) : 0;                                                                       \
        for (uint64_t k = 0; k < n; k++) {                                                                                  \
            if (!stays) Y = AT(y), Y_ = shadowed ? AT(y_) : 0;                                                              \
            const double f = __VA_ARGS__;                                                                                   \
            if (held && fabs(Y) > *held) *held = fabs(Y);                                                                   \
            if (!stays) AT(y) = Y;                                                                                          \
            if (!stays && shadowed) AT(y_) = Y_;                                                                            \
            y.p += y.by, a.p += a.by, b.p += b.by;                                                                          \
            if (shadowed) y_.p += y_.by, a_.p += a_.by, b_.p += b_.by;                                                      \
            (void)f;                                                                                                        \
        }                                                                                                                   \
        if (stays) AT(y) = Y;                                                                                               \
        if (stays && shadowed) AT(y_) = Y_;                                                                                 \
    }

/* One loop for each family and row; the formulas are the rows' and families'. */
#define PLAIN(fam, row) TRIPS(false, F(row); Y = f64_##fam##_value(Y, f, 0, 0, &overflow))
#define ADJOINT(fam, inv, row, gain_b)                                                                                      \
    TRIPS(true, F(row); const double seed = f64_##inv##_seed(Y, f, Y_, 0, &overflow);                                       \
          const double ga = D(row, d0) * seed, gb = D(row, d1) * seed; AT(a_) += ga; if (gain_b) AT(b_) += gb;              \
          Y_ = f64_##inv##_shadow_b(Y, f, Y_, 0, &overflow); Y = f64_##fam##_value(Y, f, 0, 0, &overflow))
#define TANGENT(fam, row, gain_b)                                                                                           \
    TRIPS(true, F(row); double d = 0 + D(row, d0) * AT(a_); if (gain_b) d = d + D(row, d1) * AT(b_);                        \
          Y_ = f64_##fam##_shadow_d(Y, f, Y_, d, &overflow); Y = f64_##fam##_value(Y, f, 0, 0, &overflow))

void rvm__inner_run(const rvm__inner *l, int level, uint64_t n) {
    const rvm__xinsn *x = l->body;
    const bool product = x->arity == 2;
    int overflow = 0;
    moving y = place_of(&x->p[0], l, false), a = place_of(&x->p[1], l, false);
    moving b = product ? place_of(&x->p[2], l, false) : a, y_ = y, a_ = a, b_ = b;
    if (level) {
        y_ = place_of(&x->p[0], l, true);
        a_ = place_of(&x->p[1], l, true);
        b_ = product ? place_of(&x->p[2], l, true) : a_;
    }
    const bool stays = y.by == 0 && y_.by == 0;
    double *held = x->p[0].kind == XSLOT ? NULL : l->arrays[x->p[0].slot].magnitude;
    switch (level * 4 + l->subtract * 2 + product) {
    case 0: PLAIN(add, id) break;
    case 1: PLAIN(add, mul) break;
    case 2: PLAIN(sub, id) break;
    case 3: PLAIN(sub, mul) break;
    case 4: ADJOINT(add, sub, id, false) break;
    case 5: ADJOINT(add, sub, mul, true) break;
    case 6: ADJOINT(sub, add, id, false) break;
    case 7: ADJOINT(sub, add, mul, true) break;
    case 8: TANGENT(add, id, false) break;
    case 9: TANGENT(add, mul, true) break;
    case 10: TANGENT(sub, id, false) break;
    case 11: TANGENT(sub, mul, true) break;
    }
}
