/* rows.c: every partial derivative that a row states, against dual numbers; the rules at points without a derivative; and
 * that the check would notice a mistake. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "dual.h"
#include "harness.h"
#include "instruction.h"
#include "maths.h"

enum { POINTS = 40 };

static bool differentiable(rvm_row row) {
    rvm_sig sig = rvm__row_info[row].sig;
    return sig == RVM_SIG_NUM || sig == RVM_SIG_REAL || sig == RVM_SIG_SEL || sig == RVM_SIG_CONV || sig == RVM_SIG_POS ||
           sig == RVM_SIG_ORD;
}

/* A random point around which f is finite and tame; the first operand of a selection is 0 or 1. */
static bool point(const dual_row *table, rvm_row row, rng *r, long double x[3]) {
    for (int k = 0; k < 3; k++) x[k] = rng_real(r, -2.5, 2.5);
    if (rvm__row_first(row)) x[0] = rng_below(r, rvm__row_info[row].sig == RVM_SIG_SEL ? 2 : 4);
    dual_leave_poles(row, x);
    long double h = 0.12L;
    bool inside = true;
    for (int side = -1; side <= 1; side++) {
        dual f = table[row].f((dual){x[0] + side * h, 0}, (dual){x[1] + side * h, 0}, (dual){x[2] + side * h, 0});
        inside = inside && isfinite(f.v) && fabsl(f.v) < 10;
    }
    return inside;
}

static bool agrees(long double expected, long double got) {
    return isfinite(got) && fabsl(expected - got) <= 1e-10L * fmaxl(1, fabsl(expected));
}

/* How many of the row's partials disagree somewhere; `off` is added to each that is stated, as a mistake. */
static unsigned wrong_partials(const dual_row *table, rvm_row row, long double off, report *say) {
    unsigned wrong = 0;
    rng r = {row + 1u};
    for (int j = 0; j < rvm__row_info[row].arity; j++) {
        bool good = true;
        for (int tried = 0, n = 0; good && n < POINTS && tried < 50 * POINTS; tried++) {
            long double x[3];
            if (!point(table, row, &r, x)) continue;
            n++;
            long double want = dual_derivative(&table[row], x, j), got = dual_stated(&table[row], x, j) + off;
            good = agrees(want, got);
            if (!good && say)
                report_fail(say, "%s, partial %d at (%.17Lg, %.17Lg, %.17Lg): expected %.17Lg, got %.17Lg",
                            rvm__row_info[row].name, j, x[0], x[1], x[2], want, got);
        }
        wrong += !good;
    }
    return wrong;
}

Test(rows, partials_are_derivatives) {
    report rep = {.name = "rows"};
    for (int row = 0; row < RVM_ROW_COUNT; row++)
        if (differentiable((rvm_row)row)) wrong_partials(dual_rows, (rvm_row)row, 0, &rep);
    cr_assert(rep.failures == 0);
}

Test(rows, others_state_none) {
    long double x[3] = {3, 2, 1};
    for (int row = 0; row < RVM_ROW_COUNT; row++)
        for (int j = 0; !differentiable((rvm_row)row) && j < rvm__row_info[row].arity; j++)
            cr_assert(dual_stated(&dual_rows[row], x, j) == 0, "%s", rvm__row_info[row].name);
}

/* A partial that is off by a little is noticed, in every row. */
/* NaN for the operands that rvm__row_nan names, one at a time. */
Test(rows, nan_goes_through) {
    rng r = {5};
    for (int row = 0; row < RVM_ROW_COUNT; row++) {
        const rvm__function f = rvm__math_libm.kernels[rvm__kernel_index((rvm_row)row, RVM_F64, RVM_F64)].f;
        for (int n = 0; n < POINTS * 3 && f; n++) {
            rvm_value x[3];
            int overflow = 0;
            for (int k = 0; k < 3; k++) x[k].f = rng_real(&r, -2.5, 2.5);
            if (rvm__row_first((rvm_row)row)) x[0].i = rng_below(&r, 2);
            if (!(rvm__row_nan[row] >> n % 3 & 1)) continue;
            x[n % 3].f = NAN;
            cr_expect(isnan(f(x[0], x[1], x[2], &overflow).f), "%s, operand %d", rvm__row_info[row].name, n % 3);
        }
    }
    cr_expect(rvm__row_nan[RVM_ROW_mul] == 3 && rvm__row_nan[RVM_ROW_fma] == 7 && rvm__row_nan[RVM_ROW_abs] == 1);
    cr_expect(!rvm__row_nan[RVM_ROW_max] && !rvm__row_nan[RVM_ROW_pow] && !rvm__row_nan[RVM_ROW_select]);
}

Test(rows, small_mistakes_are_seen) {
    for (int row = 0; row < RVM_ROW_COUNT; row++)
        if (differentiable((rvm_row)row))
            cr_assert(wrong_partials(dual_rows, (rvm_row)row, 1e-7L, NULL) == rvm__row_info[row].arity, "%s",
                      rvm__row_info[row].name);
}

/* The word NEG in a text, which is not a negative number. */
static bool negates(const char *text) {
    const char *at = strstr(text, "(-");
    return at && ((at[2] < '0' || at[2] > '9') || negates(at + 2));
}

/* Where a partial's text negates something, forgetting that is noticed: a mistake in the text of the table itself. */
Test(rows, forgotten_sign_is_seen) {
    unsigned planted = 0;
    for (int row = 0; row < RVM_ROW_COUNT; row++) {
        unsigned negations = 0;
        for (int j = 0; j < rvm__row_info[row].arity; j++) negations += negates(rvm__row_info[row].partial[j]);
        planted += negations;
        cr_assert(wrong_partials(planted_rows, (rvm_row)row, 0, NULL) == negations, "%s", rvm__row_info[row].name);
    }
    cr_assert(planted >= 5);
}

typedef struct tie {
    const char *row;
    long double x[3], partial[3];
} tie;

/* What rows.def and the reference state for points without a derivative, or at an edge. */
static const tie ties[] = {
    {"sqrt", {0}, {0}},
    {"cbrt", {0}, {0}},
    {"hypot", {0, 0}, {0, 0}},
    {"atan2", {0, 0}, {0, 0}},
    {"abs", {0}, {-1}},
    {"min", {2, 2}, {0, 1}},
    {"max", {2, 2}, {0, 1}},
    {"min", {0, -0.0L}, {0, 1}},
    {"relu", {0}, {0}},
    {"floor", {2}, {0}},
    {"pow", {0, 1}, {1, 0}},
    {"pow", {0, 2}, {0, 0}},
    {"pow", {0, 0}, {0, 0}},
    {"pow", {0, 0.5}, {0, 0}},
    {"pow", {-2, 2}, {-4, 0}},
    {"pow", {2, 0}, {0, 0.69314718055994530942L}},
    {"select", {0, 5, 7}, {0, 0, 1}},
    {"select", {-3, 5, 7}, {0, 1, 0}},
};

Test(rows, ties) {
    for (size_t k = 0; k < sizeof ties / sizeof *ties; k++) {
        int row = rvm__row_find(ties[k].row, strlen(ties[k].row));
        cr_assert(row >= 0);
        for (int j = 0; j < rvm__row_info[row].arity; j++) {
            long double got = dual_stated(&dual_rows[row], ties[k].x, j);
            cr_assert(fabsl(got - ties[k].partial[j]) < 1e-15L, "%s, case %zu, partial %d: expected %Lg, got %Lg",
                      ties[k].row, k, j, ties[k].partial[j], got);
        }
    }
}
