/* dual.h: the dual vocabulary: rows as arithmetic on dual numbers x + d e, e^2 = 0, in long double.
 *
 * What the library's functions are differentiated by is a central difference of eighth order, so that nothing here knows
 * a derivative that a row states. Comparisons and integer words give numbers without a derivative; SELECT takes the
 * derivative of the side that it takes.
 */
#ifndef RVM_TEST_DUAL_H
#define RVM_TEST_DUAL_H

#include "instruction.h"

typedef struct dual {
    long double v, d;
} dual;

static inline dual dual_of(long double v) {
    return (dual){v, 0};
}
static inline dual dual_neg(dual a) {
    return (dual){-a.v, -a.d};
}
static inline dual dual_add(dual a, dual b) {
    return (dual){a.v + b.v, a.d + b.d};
}
static inline dual dual_mul(dual a, dual b) {
    return (dual){a.v * b.v, a.v * b.d + a.d * b.v};
}
static inline dual dual_div(dual a, dual b) {
    return (dual){a.v / b.v, (a.d - a.v / b.v * b.d) / b.v};
}
static inline dual dual_select(dual c, dual a, dual b) {
    return c.v != 0 ? a : b;
}
static inline int64_t bits(dual a) {
    return (int64_t)a.v;
}

typedef dual (*dual_f)(dual a, dual b, dual c);
typedef dual (*dual_partial)(dual a, dual b, dual c, dual r);
typedef struct dual_row {
    dual_f f;
    dual_partial partial[3];
} dual_row;

extern const dual_row dual_rows[RVM_ROW_COUNT];
extern const dual_row planted_rows[RVM_ROW_COUNT]; /* the same, but NEG is forgotten in the partials */

/* Moves x to where differences serve: not beside poles. */
void dual_leave_poles(rvm_row row, long double x[3]);
/* Derivative of row k by operand j at x, from its formula alone. */
long double dual_derivative(const dual_row *row, const long double x[3], int j);
/* What the row states. */
long double dual_stated(const dual_row *row, const long double x[3], int j);

dual dual_fn(long double (*f)(long double), dual a);
/* Of an order, which has no derivative. */
dual dual_order(long double (*f)(long double, long double), dual n, dual x);
long double exp10l(long double x); /* of glibc, which shows it to _GNU_SOURCE alone */
long double sinpil(long double x);
long double cospil(long double x);
long double polygammal(long double n, long double x);
dual dual_fn2(long double (*f)(long double, long double), dual a, dual b);

#endif
