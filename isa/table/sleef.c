/* sleef.c: SLEEF's set, one by one. At some extremes its functions are wrong: there the result is another one's, found by
 * the result that they give, so that the rest pays one comparison (functions.def).
 *
 * sinh and cosh overflow too early: with |x| = 1024 log 2 + t they are 2^1023 times exp(t), where t is small
 * and its first difference exact. pow does likewise: the square of the root, within 3 ulp. log1p, asinh and acosh are
 * infinite where the sum or the square in them overflows: there they are log(x), or log(x) + log 2. lgamma(x) is then
 * x (log(x) - 1). sinpi and cospi lose the sign of zeros, and everything beyond 2^27.
 */
#define RVM__MATH sleef
#include "functions.h"

#if RVM_SLEEF
#include <sleef.h>
#include <stdbool.h>
#include <string.h>

#define OURS(name) ours_##name
static double ours_sinpi(double x);
static double ours_cospi(double x);
static double ours_polygamma(int64_t n, double x);
#include "functions.inc"

/* ---- ours, one by one and in lanes ---- */

typedef double reals;
typedef bool which;
static inline reals of(double x) {
    return x;
}
static inline reals fused(reals a, reals b, reals c) {
    return fma(a, b, c);
}
static inline reals size_of(reals x) {
    return fabs(x);
}
static inline reals least(reals x, double limit) {
    return x > limit ? limit : x;
}
static inline reals scaled(reals x, reals n) {
    uint64_t bits, power;
    memcpy(&bits, &x, sizeof bits), memcpy(&power, &n, sizeof power);
    bits += power << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline which below(reals a, reals b) {
    return a < b;
}
static inline bool all(which is) {
    return is;
}
static inline reals chosen(which is, reals a, reals b) {
    return is ? a : b;
}
static inline reals signed_as(reals size, reals x) {
    return copysign(size, x);
}
#include "sleef_ours.inc"

/* ---- where SLEEF's does not serve: r is what it gives ---- */

static const double log_2 = 0x1.62e42fefa39efp-1, log_2_low = 0x1.abc9e3b39803fp-56;

/* exp(x) / 2^1023, for x not far from 1024 log 2, or large. */
static double exp_scaled(double x) {
    return 2 * ours_exp((x - 1024 * log_2) - 1024 * log_2_low);
}

static double other_sinh(double x, double r) {
    return copysign(exp_scaled(fabs(x)) * 0x1p1022, r);
}
static double other_cosh(double x, double r) {
    (void)r;
    return exp_scaled(fabs(x)) * 0x1p1022;
}
static double other_log1p(double x, double r) {
    return x > 0 ? MATH(log)(x) : r;
}
static double other_asinh(double x, double r) {
    return copysign(MATH(log)(fabs(x)) + log_2, r);
}
static double other_acosh(double x, double r) {
    return x > 0 ? MATH(log)(x) + log_2 : r;
}
static double other_lgamma(double x, double r) {
    return x > 0 && x < INFINITY ? x * (MATH(log)(x) - 1) : r;
}
static double other_pow(double x, double y, double r) {
    if (x == 0 || isinf(x) || isinf(y)) return r;
    const double root = Sleef_finz_powd1_u10purecfma(fabs(x), 0.5 * y);
    return copysign(root * root, r);
}
static double other_sinpi(double x, double r) {
    (void)r;
    return ours_sinpi(x);
}
static double other_cospi(double x, double r) {
    (void)r;
    return ours_cospi(x);
}

/* ---- the set ---- */

#define OTHER_REAL(name)  other_##name(x, r)
#define OTHER_REALS(name) other_##name(x, y, r)
#define IS_FINITE(r)      (fabs(r) != INFINITY)
#define IS_NONZERO(r)     ((r) != 0 && fabs(x) < 0x1p27)
#define ALWAYS(name, shape, error)                                                                                          \
    double MATH(name) RVM__PARAMS_##shape {                                                                                 \
        return Sleef_finz_##name##d1_##error##purecfma RVM__ARGS_##shape;                                                   \
    }
#define UNLESS(name, shape, error, serves)                                                                                  \
    double MATH(name) RVM__PARAMS_##shape {                                                                                 \
        const double r = Sleef_finz_##name##d1_##error##purecfma RVM__ARGS_##shape;                                         \
        return __builtin_expect(serves(r), true) ? r : OTHER_##shape(name);                                                 \
    }
#define FINITE(name, shape, error)  UNLESS(name, shape, error, IS_FINITE)
#define NONZERO(name, shape, error) UNLESS(name, shape, error, IS_NONZERO)
#undef OURS
#define OURS(name, shape, error)                                                                                            \
    double MATH(name) RVM__PARAMS_##shape {                                                                                 \
        return ours_##name RVM__ARGS_##shape;                                                                               \
    }
#define NEVER                                     OURS
#define FUNCTION(name, shape, who, error, serves) serves(name, shape, error)
#include "functions.def"
#else /* they are public, but never chosen */
#define FUNCTION(name, shape, who, error, serves)                                                                           \
    double MATH(name) RVM__PARAMS_##shape {                                                                                 \
        return rvm__libm_##name RVM__ARGS_##shape;                                                                          \
    }
#include "functions.def"
#endif
