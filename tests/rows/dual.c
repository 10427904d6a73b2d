#define TABLE dual_rows
#include "dual_table.h"

/* Central difference of eighth order around x; the step shrinks with |x|, so that it stays inside domains that end at 0. */
static long double step_at(long double x) {
    long double m = fabsl(x);
    return ldexpl(1, -9) * (m > 0 && m < 1 ? m : 1);
}

#define STENCIL(at)                                                                                                         \
    ((4.0L / 5 * (at(h) - at(-h)) - 1.0L / 5 * (at(2 * h) - at(-2 * h)) + 4.0L / 105 * (at(3 * h) - at(-3 * h)) -           \
      1.0L / 280 * (at(4 * h) - at(-4 * h))) /                                                                              \
     h)

dual dual_fn(long double (*f)(long double), dual a) {
    long double h = step_at(a.v);
#define AT(dx) f(a.v + (dx))
    return (dual){f(a.v), a.d == 0 ? 0 : STENCIL(AT) * a.d};
#undef AT
}

dual dual_fn2(long double (*f)(long double, long double), dual a, dual b) {
    dual r = {f(a.v, b.v), 0};
    long double h = step_at(a.v);
#define AT(dx) f(a.v + (dx), b.v)
    if (a.d != 0) r.d += STENCIL(AT) * a.d;
#undef AT
    h = step_at(b.v);
#define AT(dx) f(a.v, b.v + (dx))
    if (b.d != 0) r.d += STENCIL(AT) * b.d;
#undef AT
    return r;
}

long double dual_derivative(const dual_row *row, const long double x[3], int j) {
    return row->f((dual){x[0], j == 0}, (dual){x[1], j == 1}, (dual){x[2], j == 2}).d;
}

long double dual_stated(const dual_row *row, const long double x[3], int j) {
    dual a = {x[0], 0}, b = {x[1], 0}, c = {x[2], 0};
    return row->partial[j](a, b, c, row->f(a, b, c)).v;
}
