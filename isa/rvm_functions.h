/* rvm_functions.h: elementary functions that the C library has not: those of the rows of the same names (docs/isa.md), as
 * programs compute them with `libm`. Object files of rvm_jit_compile call them where their program does.
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

#ifdef __cplusplus
}
#endif

#endif
