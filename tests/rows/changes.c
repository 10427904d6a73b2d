/* changes.c: what inplace.def states against dual numbers of its formulas: inverses, maps of shadows, partials by operands;
 * the functions of each type and the second partials against both. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "maths.h"
#include "dual.h"
#include "dual_words.h"
#include "harness.h"
#include "second.h"

enum { POINTS = 30, INPUTS = RVM__CHANGE_INPUTS, FIRST_OPERAND = RVM_MAX_CHANGED };

/* Places, then operands from FIRST_OPERAND on. */
typedef void (*formulas)(const dual x[INPUTS], dual out[RVM_MAX_CHANGED]);

#undef A
#undef B
#define Y x[0]
#define Z x[1]
#define W x[2]
#define A x[FIRST_OPERAND]
#define B x[FIRST_OPERAND + 1]
#define BRACES(...)                                                                                                         \
    { __VA_ARGS__ }
#define OUT(...) (__VA_ARGS__)
#define IGNORE(...)
#define ITSELF
#define INVERSE(name, ...) (__VA_ARGS__) IGNORE
#define FUNCTION(name, way, places)                                                                                         \
    static void name##_##way(const dual x[INPUTS], dual out[RVM_MAX_CHANGED]) {                                             \
        const dual is[] = BRACES places;                                                                                    \
        memcpy(out, is, sizeof is);                                                                                         \
    }
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out, ...)                                             \
    FUNCTION(name, forward, out) FUNCTION(name, back, inverse out)
#include "inplace.def"
#undef CHANGE
static const formulas table[RVM_CHANGE_COUNT][2] = {
#define CHANGE(name, ...) [RVM_PAIR_##name - RVM__PAIRS_BEFORE_CHANGES] = {name##_forward, name##_back},
#include "inplace.def"
};

/* ---- one row at one point ---- */

typedef struct point {
    unsigned row;
    const rvm_change_info *info;
    const char *name;
    unsigned types;
    long double x[INPUTS], y[RVM_MAX_CHANGED]; /* before; the places afterwards */
    long double j[RVM_MAX_CHANGED][INPUTS];    /* partials of the formulas */
} point;

static bool in_domain(const point *s) {
    rvm_value v[RVM_MAX_CHANGED] = {{0}}, a[RVM_MAX_CHANGE_OPERANDS] = {{0}};
    int overflow = 0;
    for (int k = 0; k < s->info->places; k++) v[k].f = (double)s->x[k];
    for (int k = 0; k < s->info->operands; k++) a[k].f = (double)s->x[FIRST_OPERAND + k];
    return rvm__math_libm.changes[s->row][0][RVM_F64](v, a, &overflow);
}

static void differentiate(point *s) {
    dual out[RVM_MAX_CHANGED];
    for (int k = 0; k < INPUTS; k++) {
        dual x[INPUTS];
        for (int i = 0; i < INPUTS; i++) x[i] = (dual){s->x[i], i == k};
        table[s->row][0](x, out);
        for (int i = 0; i < s->info->places; i++) s->j[i][k] = out[i].d, s->y[i] = out[i].v;
    }
}

/* Anywhere, or where the operands are a cosine and a sine. */
static void place(point *s, rng *r) {
    const long double angle = rng_real(r, -3, 3);
    for (int k = 0; k < INPUTS; k++) s->x[k] = rng_real(r, -2.5, 2.5);
    if (!in_domain(s)) s->x[FIRST_OPERAND] = cosl(angle), s->x[FIRST_OPERAND + 1] = sinl(angle);
    cr_assert(in_domain(s), "%s", s->name);
    differentiate(s);
}

static void each(void (*check)(const point *s)) {
    for (unsigned row = 0; row < RVM_CHANGE_COUNT; row++) {
        const rvm_op_info *op = &rvm__op_info[2 * (RVM__PAIRS_BEFORE_CHANGES + row)];
        point s = {.row = row, .info = &rvm__change_info[row], .name = op->name, .types = op->types};
        rng r = {row + 5u};
        for (int n = 0; n < POINTS && op->types & RVM_TYPES_D; n++) {
            place(&s, &r);
            check(&s);
        }
    }
}

#define NEARLY(want, got, tolerance, what)                                                                                  \
    do {                                                                                                                    \
        const long double want_ = (want), got_ = (got);                                                                     \
        cr_assert(fabsl(want_ - got_) <= (tolerance)*fmaxl(1, fabsl(want_)), "%s, %s: expected %Lg, got %Lg", s->name,      \
                  what, want_, got_);                                                                                       \
    } while (0)

/* ---- what is stated ---- */

static void restores(const point *s) {
    dual x[INPUTS], out[RVM_MAX_CHANGED];
    for (int k = 0; k < INPUTS; k++) x[k] = (dual){k < s->info->places ? s->y[k] : s->x[k], 0};
    table[s->row][1](x, out);
    for (int k = 0; k < s->info->places; k++) NEARLY(s->x[k], out[k].v, 1e-15L, "inverse");
}
Test(changes, inverses_restore) {
    each(restores);
}

/* STAY is the identity; MOVE and LINEAR are linear and orthogonal; SCALE is what it states. */
static void maps(const point *s) {
    const int n = s->info->places;
    const rvm_value one = {.f = 1}, before = {.f = (double)s->x[0]}, behind = {.f = (double)s->y[0]};
    if (s->info->shadows == RVM_SHADOWS_SCALE) {
        const rvm__scale scale = rvm__math_libm.scales[s->row][RVM_F64];
        NEARLY(s->j[0][0], scale(behind, one, false, false).f, 1e-12L, "tangent");
        NEARLY(s->j[0][0], scale(before, one, true, true).f, 1e-12L, "adjoint");
        NEARLY(1 / s->j[0][0], scale(before, one, true, false).f, 1e-12L, "tangent of the inverse");
        NEARLY(1 / s->j[0][0], scale(behind, one, false, true).f, 1e-12L, "adjoint of the inverse");
        return;
    }
    for (int i = 0; i < n; i++) {
        long double value = 0;
        for (int k = 0; k < n; k++) {
            long double product = 0;
            value += s->j[i][k] * s->x[k];
            for (int l = 0; l < n; l++) product += s->j[l][i] * s->j[l][k];
            NEARLY(i == k, s->info->shadows == RVM_SHADOWS_STAY ? s->j[i][k] : product, 1e-12L, "map of shadows");
        }
        if (s->info->shadows != RVM_SHADOWS_STAY) NEARLY(s->y[i], value, 1e-12L, "linear");
    }
}
Test(changes, shadows_follow) {
    each(maps);
}

static void partials(const point *s) {
    for (int operand = 0; operand < s->info->operands; operand++)
        for (int k = 0; k < s->info->places; k++) {
            const rvm_term t = s->info->partials.by[operand][k];
            NEARLY(s->j[k][FIRST_OPERAND + operand], t.sign * (s->info->partials.before ? s->x : s->y)[t.place], 1e-12L,
                   "partial");
        }
}
Test(changes, partials_are_derivatives) {
    each(partials);
}

/* ---- what is made of it ---- */

static long double number(rvm_type t, rvm_value v) {
    return t == RVM_I64 ? (long double)v.i : arg_real(t, (rvm_scalar){.i = v.i});
}

static void functions(const point *s) {
    static const long double tolerance[RVM_TYPE_COUNT] = {[RVM_F64] = 1e-14L, [RVM_FIX] = 1e-11L, [RVM_F32] = 1e-5L};
    for (rvm_type t = RVM_F64; t < RVM_TYPE_COUNT; t++) {
        rvm_value v[RVM_MAX_CHANGED] = {{0}}, a[RVM_MAX_CHANGE_OPERANDS] = {{0}};
        int overflow = 0;
        if (!(s->types >> t & 1)) continue;
        for (int k = 0; k < s->info->places; k++) v[k].i = arg_from_real(t, (double)s->x[k]).i;
        for (int k = 0; k < s->info->operands; k++) a[k].i = arg_from_real(t, (double)s->x[FIRST_OPERAND + k]).i;
        cr_assert(rvm__math_libm.changes[s->row][0][t](v, a, &overflow) && !overflow, "%s", s->name);
        for (int k = 0; k < s->info->places; k++) NEARLY(s->y[k], number(t, v[k]), tolerance[t], rvm_type_name(t));
        rvm__math_libm.changes[s->row][1][t](v, a, &overflow);
        for (int k = 0; k < s->info->places; k++) NEARLY(s->x[k], number(t, v[k]), tolerance[t], rvm_type_name(t));
    }
}
Test(changes, functions_agree) {
    each(functions);
}

static void jets(const point *s) {
    const int n = s->info->places, all = n + s->info->operands;
    const long double h = 1e-5L;
    rvm__change_jet f[RVM_MAX_CHANGED];
    double x[INPUTS] = {0};
    for (int k = 0; k < all; k++) x[k] = (double)s->x[k < n ? k : FIRST_OPERAND + k - n];
    rvm__change_jets(&rvm__math_libm, (rvm_op)(2 * (RVM__PAIRS_BEFORE_CHANGES + s->row)), x, f);
    for (int j = 0; j < all; j++) {
        const int at = j < n ? j : FIRST_OPERAND + j - n;
        point low = *s, high = *s;
        low.x[at] -= h, high.x[at] += h;
        differentiate(&low), differentiate(&high);
        for (int i = 0; i < n; i++) {
            NEARLY(s->j[i][at], f[i].d[j], 1e-12L, "jet");
            for (int k = 0; k <= j; k++) {
                const int by = k < n ? k : FIRST_OPERAND + k - n;
                NEARLY((high.j[i][by] - low.j[i][by]) / (2 * h), f[i].dd[j][k], 1e-5L, "second partial");
            }
        }
    }
}
Test(changes, second_partials) {
    each(jets);
}
