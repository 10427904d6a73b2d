/* second.c: the second partials that come from the rows, against differences in long double of the partials they state; and
 * those of the families. */
#include <criterion/criterion.h>
#include <math.h>

#include "dual.h"
#include "harness.h"
#include "second.h"
#include "instruction.h"

enum { POINTS = 30 };

static bool tame(rvm_row row, const long double x[3]) {
    for (int side = -1; side <= 1; side++) {
        const dual f =
            dual_rows[row].f((dual){x[0] + side * 0.12L, 0}, (dual){x[1] + side * 0.12L, 0}, (dual){x[2] + side * 0.12L, 0});
        if (!isfinite(f.v) || fabsl(f.v) > 10) return false;
    }
    return true;
}

/* d (partial j) / d operand k, by the dual numbers of the tests. */
static long double expected(rvm_row row, const long double x[3], int j, int k) {
    const dual a = {x[0], k == 0}, b = {x[1], k == 1}, c = {x[2], k == 2};
    return dual_rows[row].partial[j](a, b, c, dual_rows[row].f(a, b, c)).d;
}

static void check_row(rvm_row row) {
    const rvm_row_info *info = &rvm__row_info[row];
    rng r = {row + 77u};
    for (int tried = 0, n = 0; n < POINTS && tried < 50 * POINTS; tried++) {
        long double x[3];
        double y[3];
        rvm__second got;
        for (int k = 0; k < 3; k++) x[k] = y[k] = rng_real(&r, -2.5, 2.5);
        if (rvm__row_first(row)) x[0] = y[0] = rng_below(&r, info->sig == RVM_SIG_SEL ? 2 : 4);
        dual_leave_poles(row, x);
        for (int k = 0; k < 3; k++) x[k] = y[k] = (double)x[k];
        if (!tame(row, x)) continue;
        n++;
        cr_assert(rvm__row_second(&rvm__math_libm, row, y, &got), "%s", info->name);
        for (int j = 0; j < info->arity; j++)
            for (int k = 0; k <= j; k++) {
                const long double want = expected(row, x, j, k);
                cr_assert(fabsl(got.dd[j][k] - want) <= 1e-9L * fmaxl(1, fabsl(want)),
                          "%s, %d %d at (%g, %g, %g): %g, not %Lg", info->name, j, k, y[0], y[1], y[2], got.dd[j][k], want);
            }
    }
}

Test(second, partials_of_rows) {
    for (int row = 0; row < RVM_ROW_COUNT; row++) {
        const rvm_sig sig = rvm__row_info[row].sig;
        rvm__second none;
        if (sig == RVM_SIG_NUM || sig == RVM_SIG_REAL || sig == RVM_SIG_SEL || sig == RVM_SIG_POS || sig == RVM_SIG_ORD)
            check_row((rvm_row)row);
        else if (sig != RVM_SIG_CONV)
            cr_assert(!rvm__row_second(&rvm__math_libm, (rvm_row)row, (double[3]){1, 2, 3}, &none), "%s",
                      rvm__row_info[row].name);
    }
}

Test(second, points_without_a_derivative) {
    rvm__second s;
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_sqrt, (double[3]){0}, &s) && s.d[0] == 0 && s.dd[0][0] == 0);
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_abs, (double[3]){0}, &s) && s.d[0] == -1 && s.dd[0][0] == 0);
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_hypot, (double[3]){0, 0}, &s) && s.d[0] == 0 && s.d[1] == 0);
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_pow, (double[3]){0, 2}, &s) && s.d[0] == 0 && s.dd[0][0] == 2 &&
              s.dd[0][1] == 0);
    cr_assert(!s.corner[0] && rvm__row_second(&rvm__math_libm, RVM_ROW_pow, (double[3]){0, 1}, &s) && s.d[0] == 1 &&
              !s.corner[0]);
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_pow, (double[3]){0, 0.5}, &s) && s.d[0] == 0 && s.dd[0][0] == 0 &&
              s.corner[0]);
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_pow, (double[3]){4, 0.5}, &s) && s.d[0] == 0.25 &&
              s.dd[0][0] == -0.03125);
    cr_assert(rvm__row_second(&rvm__math_libm, RVM_ROW_pow, (double[3]){-3, 2}, &s) && s.d[0] == -6 && s.dd[0][0] == 2);
}

Test(second, families) {
    const rvm__family_second add = rvm__family_partials(RVM_OP_add, 3, 4), sub = rvm__family_partials(RVM_OP_sub, 3, 4);
    cr_assert(add.y == 1 && add.f == 1 && add.yy == 0 && add.yf == 0 && add.ff == 0);
    cr_assert(sub.y == 1 && sub.f == -1 && sub.yy == 0 && sub.yf == 0 && sub.ff == 0);
    const rvm__family_second mul = rvm__family_partials(RVM_OP_mul, 3, 4), div = rvm__family_partials(RVM_OP_div, 3, 4);
    cr_assert(mul.y == 4 && mul.f == 3 && mul.yy == 0 && mul.yf == 1 && mul.ff == 0);
    cr_assert(div.y == 0.25 && div.f == -3.0 / 16 && div.yy == 0 && div.yf == -1.0 / 16 && div.ff == 6.0 / 64);
    const rvm__family_second let = rvm__family_partials(RVM_OP_let, 3, 4), unlet = rvm__family_partials(RVM_OP_unlet, 3, 4);
    cr_assert(let.y == 0 && let.f == 1 && let.ff == 0 && unlet.y == 0 && unlet.f == 0);
}
