/* inner.c: counted loops whose body is one update of form e (y += a * b, y += a, on elements with proved indices) run
 * without dispatch: every place of the body moves by a constant stride. The order of operations and every bit stay the same.
 */
#include "kernels.h"
#include "out_of_line.h"

/* A place of the body and how far it moves from one trip to the next, in bytes. */
typedef struct moving {
    char *p;
    ptrdiff_t by;
} moving;

static moving place_of(const rvm__xplace *q, const rvm__inner *l, bool shadow) {
    if (q->kind == XSLOT) return (moving){(char *)((shadow ? l->shadows : l->slots) + q->slot), 0};
    const rvm__array *a = &l->arrays[q->slot];
    const int64_t *stride = shadow ? a->shadow_stride : a->stride;
    moving m = {shadow ? a->shadow : a->data, 0};
    const uint16_t idx[2] = {q->i, q->j};
    for (int d = 0; d < (q->kind == XELEM2 ? 2 : 1); d++) {
        const int64_t at = idx[d] == l->index ? l->first : l->slots[idx[d]].i;
        m.p += at * stride[d];
        if (idx[d] == l->index) m.by += l->step * stride[d];
    }
    return m;
}

#define AT(m) (*(double *)(void *)(m).p)
#define TRIPS(...)                                                                                                          \
    for (uint64_t k = 0; k < n; k++) {                                                                                      \
        __VA_ARGS__;                                                                                                        \
        y.p += y.by, a.p += a.by, b.p += b.by;                                                                              \
    }
#define SHADOW_TRIPS(...)                                                                                                   \
    for (uint64_t k = 0; k < n; k++) {                                                                                      \
        __VA_ARGS__;                                                                                                        \
        y.p += y.by, a.p += a.by, b.p += b.by, y_.p += y_.by, a_.p += a_.by, b_.p += b_.by;                                 \
    }
#define F(row)        f64_##row##_f(AT(a), AT(b), 0, &overflow)
#define D(row, which) f64_##row##_##which(AT(a), AT(b), 0, &overflow)

/* One loop for each (family, row); the formulas are the rows' and families'. */
#define PLAIN(fam, row) TRIPS(AT(y) = f64_##fam##_value(AT(y), F(row), 0, 0, &overflow))
#define ADJOINT(fam, inv, row, gain_b)                                                                                      \
    SHADOW_TRIPS({                                                                                                          \
        const double f = F(row), seed = f64_##inv##_seed(AT(y), f, AT(y_), 0, &overflow);                                   \
        const double ga = D(row, d0) * seed, gb = D(row, d1) * seed;                                                        \
        AT(a_) += ga;                                                                                                       \
        if (gain_b) AT(b_) += gb;                                                                                           \
        AT(y_) = f64_##inv##_shadow_b(AT(y), f, AT(y_), 0, &overflow);                                                      \
        AT(y) = f64_##fam##_value(AT(y), f, 0, 0, &overflow);                                                               \
    })
#define TANGENT(fam, row, gain_b)                                                                                           \
    SHADOW_TRIPS({                                                                                                          \
        double d = 0 + D(row, d0) * AT(a_);                                                                                 \
        if (gain_b) d = d + D(row, d1) * AT(b_);                                                                            \
        AT(y_) = f64_##fam##_shadow_d(AT(y), F(row), AT(y_), d, &overflow);                                                 \
        AT(y) = f64_##fam##_value(AT(y), F(row), 0, 0, &overflow);                                                          \
    })

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
