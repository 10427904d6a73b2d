/* functions.c: those of functions.def that the C library has not, over those that it has.
 *
 * sinpi, cospi: x less the nearest even number, then less the nearest multiple of 1/2, both exact; pi times what is left,
 * with its rounding error, goes to sin and cos.
 *
 * polygamma(n, x), the derivative n + 1 of lgamma: for x > 0 and n > 0
 *
 *     (-1)^(n+1) n! Z(n + 1, x),   Z(m, x) = sum of (x + k)^-m over k >= 0, Hurwitz's zeta function,
 *
 * is summed term by term up to z = x + k >= n + 12 or until no term counts, and goes on by Euler's and Maclaurin's series in
 * 1/z^2. n! / x^(n+1) is taken as a whole, so that neither overflows alone. n = 0, digamma, goes up by 1/x to 10, or down to
 * [1, 2], where a polynomial times x less the root is accurate to the last bits around the root, too. For x < 0 terms of
 * either sign are summed apart. Relative error for x > 0: 5 ulp; for x < 0 so much of the largest of two or three terms,
 * which cancel near zeros. At poles: lgamma is infinite; polygamma of odd order +infinity, of even order the limit at 0 from
 * the side of its sign, and NaN at -1, -2, ..., where sides differ. Of a negative order, and at -infinity, NaN.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* lgamma_r */
#endif
#include "functions.h"
#include "rvm_functions.h"

#include <stdbool.h>

#define MATH(name) rvm__libm_##name

static const double pi = 3.141592653589793, pi_low = 1.2246467991473532e-16;

/* ---- sine and cosine of pi x ---- */

/* x = 2 j + q / 2 + t, |t| <= 1/4; q is 0 to 3. */
static double reduced(double x, int *q) {
    const double r = x - 2 * floor(0.5 * x), quarter = nearbyint(2 * r);
    *q = (int)quarter & 3;
    return r - 0.5 * quarter;
}

static double sin_of_pi(double t) {
    const double p = pi * t;
    return MATH(sin)(p) + (fma(pi, t, -p) + pi_low * t) * MATH(cos)(p);
}

static double cos_of_pi(double t) {
    const double p = pi * t;
    return MATH(cos)(p) - (fma(pi, t, -p) + pi_low * t) * MATH(sin)(p);
}

double MATH(sinpi)(double x) {
    int q;
    if (!isfinite(x)) return NAN;
    const double t = reduced(fabs(x), &q), s = q & 1 ? cos_of_pi(t) : sin_of_pi(t);
    if (s == 0) return copysign(0, x);
    return (q & 2) != (x < 0 ? 2 : 0) ? -s : s;
}

double MATH(cospi)(double x) {
    int q;
    if (!isfinite(x)) return NAN;
    const double t = reduced(fabs(x), &q), s = q & 1 ? -sin_of_pi(t) : cos_of_pi(t);
    return (q & 2 ? -s : s) + 0.0; /* no -0 */
}

/* ---- logarithm of |gamma| ---- */

double MATH(lgamma)(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* ---- digamma ---- */

static const double near_root[] = {/* digamma(x) / (x - root) on [1, 2], in x - 1.5, highest power first */
                                   0.00011881232908510335,  -0.0001782188548855923, 9.653646261410062e-05,
                                   -0.00014480643368061614, 0.00032395945401345196, -0.00048595039220036254,
                                   0.0006909255761282986,   -0.0010364584817312839, 0.0015633696313653504,
                                   -0.0023454947397380833,  0.003518106563802472,   -0.005279937255532708,
                                   0.007927021796868154,    -0.011908220105959716,  0.017907248317313294,
                                   -0.026975796659787055,   0.040760833940846085,   -0.06192213327548831,
                                   0.09498872445289039,     -0.14840492305388092,   0.24054248424078697,
                                   -0.4236274212814606,     0.9510558760318328};
static const double bernoulli_digamma[] = {/* B_2k / 2k */
                                           0.08333333333333333,   -0.008333333333333333, 0.003968253968253968,
                                           -0.004166666666666667, 0.007575757575757576,  -0.021092796092796094,
                                           0.08333333333333333,   -0.4432598039215686,   3.0539543302701198,
                                           -26.456212121212122,   281.46014492753625,    -3607.5105463980462};
enum { NEAR_ROOT = sizeof near_root / sizeof *near_root };
enum { DIGAMMA_TERMS = sizeof bernoulli_digamma / sizeof *bernoulli_digamma };

static double digamma_from_1_to_2(double x) {
    static const double root = 1.4616321449683622, root_low = 9.549995429965697e-17;
    double p = near_root[0];
    for (int k = 1; k < NEAR_ROOT; k++) p = p * (x - 1.5) + near_root[k];
    return ((x - root) - root_low) * p;
}

static double digamma_from_10(double x) {
    const double y = 1 / (x * x);
    double sum = 0;
    for (int k = DIGAMMA_TERMS - 1; k >= 0; k--) sum = (sum + bernoulli_digamma[k]) * y;
    return MATH(log)(x) - 0.5 / x - sum;
}

static double digamma_positive(double x) {
    double sum = 0;
    if (x >= 10) return digamma_from_10(x);
    if (x < 1) return digamma_from_1_to_2(1 + x) - 1 / x;
    for (; x > 2; sum += 1 / x) x -= 1;
    return digamma_from_1_to_2(x) + sum;
}

static double digamma(double x) {
    if (x > 0) return digamma_positive(x);
    return digamma_positive(1 - x) - pi * MATH(cospi)(x) / MATH(sinpi)(x);
}

/* ---- n! / x^(n + 1) ---- */

static const double factorials[] = {1.0,
                                    1.0,
                                    2.0,
                                    6.0,
                                    24.0,
                                    120.0,
                                    720.0,
                                    5040.0,
                                    40320.0,
                                    362880.0,
                                    3628800.0,
                                    39916800.0,
                                    479001600.0,
                                    6227020800.0,
                                    87178291200.0,
                                    1307674368000.0,
                                    20922789888000.0,
                                    355687428096000.0,
                                    6402373705728000.0,
                                    1.21645100408832e+17,
                                    2.43290200817664e+18,
                                    5.109094217170944e+19,
                                    1.1240007277776077e+21,
                                    2.585201673888498e+22,
                                    6.204484017332394e+23,
                                    1.5511210043330986e+25,
                                    4.0329146112660565e+26,
                                    1.0888869450418352e+28,
                                    3.0488834461171387e+29,
                                    8.841761993739702e+30,
                                    2.6525285981219107e+32,
                                    8.222838654177922e+33};
enum { FACTORIALS = sizeof factorials / sizeof *factorials };

/* By Stirling's series: sqrt(2 pi n) (n / (e x))^n exp(1 / 12 n - ...) / x, the quotient with its rounding error. */
static double large_factorial_over_power(double n, double x) {
    static const double inverse_e = 0.36787944117144233, inverse_e_low = -1.2428753672788363e-17;
    const double ratio = n / x;
    if (!(ratio < 1e300)) return INFINITY;
    if (ratio < 1e-300) return 0;
    const double ratio_low = fma(-ratio, x, n) / x, q = ratio * inverse_e;
    const double q_low = fma(ratio, inverse_e, -q) + (ratio * inverse_e_low + ratio_low * inverse_e), i = 1 / n, i2 = i * i;
    const double series = i * (1.0 / 12 - i2 * (1.0 / 360 - i2 * (1.0 / 1260 - i2 / 1680)));
    const double half = MATH(pow)(q, 0.5 * n), rest = sqrt(2 * pi * n) / x * MATH(exp)(n * (q_low / q) + series);
    return half * rest * half;
}

static double factorial_over_power(double n, double x) {
    int exponent;
    if (n >= FACTORIALS) return large_factorial_over_power(n, x);
    const double m = frexp(x, &exponent);
    return ldexp(factorials[(int)n] * MATH(pow)(m, -(n + 1)), -exponent * ((int)n + 1));
}

/* ---- polygamma ---- */

static const double bernoulli_zeta[] = {/* B_2k / (2k)! */
                                        0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
                                        -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
                                        1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
                                        -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19,
                                        3.534707039629467e-21,  -8.953517427037546e-23};
enum { ZETA_TERMS = sizeof bernoulli_zeta / sizeof *bernoulli_zeta };

/* z^m Z(m, z), m = n + 1. */
static double zeta_from(double n, double z) {
    double factor = (n + 1) / z, sum = 0;
    for (int k = 0; k < ZETA_TERMS; k++) {
        sum += bernoulli_zeta[k] * factor;
        factor *= (n + 2 * k + 2) / z * ((n + 2 * k + 3) / z);
    }
    return z / n + (0.5 + sum);
}

/* (x / (x + k))^m, where x + k is rounded and the quotient, too, and m may be large. */
static double power_of_ratio(double x, double k, double m) {
    const double z = x + k, moved = z - x, z_low = (x - (z - moved)) + (k - moved), ratio = x / z;
    const double power = MATH(pow)(ratio, m);
    return power > 0 ? power * MATH(exp)(m * ((fma(-ratio, z, x) - ratio * z_low) / x)) : 0;
}

/* |polygamma(n, x)| for n > 0, x > 0. */
static double polygamma_positive(double n, double x) {
    const double enough = n + 12, m = n + 1;
    if (isinf(x)) return 0;
    if (x >= enough) return factorial_over_power(n - 1, x) * (zeta_from(n, x) / x * n);
    double sum = 1;
    for (double k = 1;; k++) {
        const double z = x + k, term = power_of_ratio(x, k, m);
        if (z >= enough) return factorial_over_power(n, x) * (sum + term * zeta_from(n, z));
        sum += term;
        if (term * (1 + z / n) < 0x1p-58 * sum) return factorial_over_power(n, x) * sum;
    }
}

static double at_pole(bool odd, double x) {
    if (odd) return INFINITY;
    return x == 0 ? copysign(INFINITY, -x) : NAN;
}

/* The terms (x + k)^-(n+1) with x + k > 0, and those with x + k < 0, of which infinitely many more are summed and taken off.
 * Where both are too large, those from the nearer pole are larger. */
static double polygamma_negative(double n, bool odd, double x) {
    const double up = x - floor(x), down = ceil(x) - x, above = polygamma_positive(n, up),
                 more = polygamma_positive(n, 1 - x);
    const double all = polygamma_positive(n, down), below = isinf(all) ? all : all - more;
    if (odd) return above + below;
    if (isinf(above) && isinf(below)) return up == down ? -more : copysign(INFINITY, up - down);
    return below - above;
}

double MATH(polygamma)(int64_t n, double x) {
    const bool odd = n & 1;
    if (n < 0 || isnan(x) || x == -INFINITY) return NAN;
    if (x <= 0 && x == floor(x)) return at_pole(odd, x);
    if (n == 0) return digamma(x);
    if (x < 0) return polygamma_negative((double)n, odd, x);
    const double size = polygamma_positive((double)n, x);
    return odd ? size : -size;
}

/* ---- rvm_functions.h ---- */

#define OWN(name, shape)                                                                                                    \
    double rvm_##name RVM__PARAMS_##shape {                                                                                 \
        return MATH(name) RVM__ARGS_##shape;                                                                                \
    }
#define LIBM(name, shape)
#define FUNCTION(name, shape, who) who(name, shape)
#include "functions.def"
