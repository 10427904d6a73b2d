/* rvm_functions.h: elementary functions, of the rows of the same names (docs/isa.md): those that the C library has not, as
 * programs compute them with RVM_MATH_LIBM; and all as programs compute them with RVM_MATH_SLEEF. Object files of
 * rvm_jit_compile call them where their program does.
 *
 * Any thread; they keep nothing and change nothing, errno neither. What is not defined is NaN. */
#ifndef RVM_FUNCTIONS_H_PUBLIC
#define RVM_FUNCTIONS_H_PUBLIC

#include <stdint.h>

#include "rvm_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sine and cosine of pi x, within 1 ulp for any x. Of half the odd and of all whole numbers they are exact; NaN at
 * infinities.
 */
RVM_API double rvm_sinpi(double x);
RVM_API double rvm_cospi(double x);
/* Logarithm of the absolute value of the gamma function; infinity at 0, -1, -2, ... and at infinities. */
RVM_API double rvm_lgamma(double x);
/* Derivative n + 1 of rvm_lgamma at x. Within 5 ulp for x > 0; for x < 0, where it is a sum of terms of either sign, of the
 * largest of them. At 0, -1, -2, ... infinity for odd n; for even n of the sign that it has beside 0, on the side of x's
 * sign, else NaN. NaN for n < 0 and at -infinity. */
RVM_API double rvm_polygamma(int64_t n, double x);

/* SLEEF's deterministic functions: the same bits on every processor that has FMA and AVX2. They must not be called on
 * another (rvm_math_choose). In a library that was built without SLEEF they are the C library's. */
RVM_API double rvm_sleef_exp(double x);
RVM_API double rvm_sleef_exp2(double x);
RVM_API double rvm_sleef_exp10(double x);
RVM_API double rvm_sleef_expm1(double x);
RVM_API double rvm_sleef_log(double x);
RVM_API double rvm_sleef_log2(double x);
RVM_API double rvm_sleef_log10(double x);
RVM_API double rvm_sleef_log1p(double x);
RVM_API double rvm_sleef_pow(double x, double y);
RVM_API double rvm_sleef_cbrt(double x);
RVM_API double rvm_sleef_hypot(double x, double y);
RVM_API double rvm_sleef_sin(double x);
RVM_API double rvm_sleef_cos(double x);
RVM_API double rvm_sleef_tan(double x);
RVM_API double rvm_sleef_asin(double x);
RVM_API double rvm_sleef_acos(double x);
RVM_API double rvm_sleef_atan(double x);
RVM_API double rvm_sleef_atan2(double x, double y);
RVM_API double rvm_sleef_sinpi(double x);
RVM_API double rvm_sleef_cospi(double x);
RVM_API double rvm_sleef_sinh(double x);
RVM_API double rvm_sleef_cosh(double x);
RVM_API double rvm_sleef_tanh(double x);
RVM_API double rvm_sleef_asinh(double x);
RVM_API double rvm_sleef_acosh(double x);
RVM_API double rvm_sleef_atanh(double x);
RVM_API double rvm_sleef_erf(double x);
RVM_API double rvm_sleef_erfc(double x);
RVM_API double rvm_sleef_lgamma(double x);
RVM_API double rvm_sleef_polygamma(int64_t n, double x);

#ifdef __cplusplus
}
#endif

#endif
