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

dual dual_order(long double (*f)(long double, long double), dual n, dual x) {
    return dual_fn2(f, dual_of(n.v), x);
}

/* Those that the C library has not, without what functions.c does for range and accuracy. */
long double sinpil(long double x) {
    return sinl(x * 3.14159265358979323846264338327950288L);
}
long double cospil(long double x) {
    return cosl(x * 3.14159265358979323846264338327950288L);
}

/* By the sum over 1 / (x + k)^(n + 1), and what is left of it from 40 on by the first terms of Euler's and Maclaurin's. */
long double polygammal(long double n, long double x) {
    long double sum = 0, factorial = 1, z = x;
    if (n < 0 || (z <= 0 && z == floorl(z))) return NAN;
    for (int k = 2; k <= n; k++) factorial *= k;
    for (; z < 40; z++) sum += 1 / powl(z, n + 1);
    const long double m = n + 1, tail = powl(z, -m) * (0.5L + m / z / 12 - m * (m + 1) * (m + 2) / (z * z * z) / 720 +
                                                       m * (m + 1) * (m + 2) * (m + 3) * (m + 4) / powl(z, 5) / 30240);
    const long double rest = n > 0 ? powl(z, -n) / n : -logl(z);
    const long double seventh = m * (m + 1) * (m + 2) * (m + 3) * (m + 4) * (m + 5) * (m + 6) / powl(z, 7) / 1209600;
    return (fmodl(n, 2) == 1 ? 1 : -1) * factorial * (sum + tail - seventh * powl(z, -m) + rest);
}

void dual_leave_poles(rvm_row row, long double x[3]) {
    if (row == RVM_ROW_lgamma) x[0] = fabsl(x[0]) + 0.3L;
    if (row == RVM_ROW_polygamma) x[1] = fabsl(x[1]) + 0.3L;
}

long double dual_derivative(const dual_row *row, const long double x[3], int j) {
    return row->f((dual){x[0], j == 0}, (dual){x[1], j == 1}, (dual){x[2], j == 2}).d;
}

long double dual_stated(const dual_row *row, const long double x[3], int j) {
    dual a = {x[0], 0}, b = {x[1], 0}, c = {x[2], 0};
    return row->partial[j](a, b, c, row->f(a, b, c)).v;
}
