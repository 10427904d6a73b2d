/* functions.h: the functions of functions.def, as C calls them, in two sets: rvm__libm_NAME, the C library's, and
 * rvm_sleef_NAME, SLEEF's deterministic ones, which have the same bits on every processor that has FMA, one by one or in
 * lanes. The words FN, FN2 and FNI become calls of the set that RVM__MATH names, libm unless a file says otherwise before.
 *
 * RVM_SLEEF: whether this was built with SLEEF.
 */
#ifndef RVM_FUNCTIONS_H
#define RVM_FUNCTIONS_H

#include <math.h>
#include <stdint.h>

#include "rvm_functions.h"

#ifndef RVM__MATH
#define RVM__MATH libm
#endif
#define RVM__OF_libm(name)      rvm__libm_##name
#define RVM__OF_sleef(name)     rvm_sleef_##name
#define RVM__OF_SET_(set, name) RVM__OF_##set(name)
#define RVM__OF_SET(set, name)  RVM__OF_SET_(set, name)
#define MATH(name)              RVM__OF_SET(RVM__MATH, name)

#define RVM__PARAMS_REAL  (double x)
#define RVM__PARAMS_REALS (double x, double y)
#define RVM__PARAMS_ORDER (int64_t n, double x)

/* Those of the C library are called as they are. */
#define RVM__ARGS_REAL  (x)
#define RVM__ARGS_REALS (x, y)
#define RVM__ARGS_ORDER (n, x)
#define RVM__DECLARE_LIBM(name, shape)                                                                                      \
    static inline __attribute__((unused, always_inline)) double rvm__libm_##name RVM__PARAMS_##shape {                      \
        return name RVM__ARGS_##shape;                                                                                      \
    }
#define RVM__DECLARE_OWN(name, shape)             double rvm__libm_##name RVM__PARAMS_##shape;
#define FUNCTION(name, shape, who, error, serves) RVM__DECLARE_##who(name, shape)
double exp10(double x); /* of glibc, which shows it to _GNU_SOURCE alone */
#include "functions.def"
#undef FUNCTION

/* How SLEEF's set serves: functions.def's words. */
enum { RVM__ALWAYS, RVM__FINITE, RVM__NONZERO, RVM__OURS, RVM__NEVER };

/* What is said of a function that SLEEF's set has in lanes, too. */
#define RVM__IN_LANES(serves, ...) RVM__IN_LANES_##serves(__VA_ARGS__)
#define RVM__IN_LANES_ALWAYS(...)  __VA_ARGS__
#define RVM__IN_LANES_FINITE(...)  __VA_ARGS__
#define RVM__IN_LANES_NONZERO(...) __VA_ARGS__
#define RVM__IN_LANES_OURS(...)    __VA_ARGS__
#define RVM__IN_LANES_NEVER(...)

/* Exact ones. */
#define rvm__libm_sqrt  sqrt
#define rvm__libm_floor floor
#define rvm__libm_fabs  fabs
#define rvm_sleef_sqrt  sqrt
#define rvm_sleef_floor floor
#define rvm_sleef_fabs  fabs

/* The set of SLEEF on 4 and 8 numbers at once: rvm__sleef4_NAME, rvm__sleef8_NAME, bit for bit as one by one, but for those
 * that it NEVER serves. The processor must have AVX2 and FMA, or AVX-512. They are called by native code only, object files
 * of rvm_jit_compile among it. */
#if RVM_SLEEF
typedef double rvm__4_reals __attribute__((vector_size(32)));
typedef double rvm__8_reals __attribute__((vector_size(64)));
#define RVM__LANES_REAL(t)  (t x)
#define RVM__LANES_REALS(t) (t x, t y)
#define RVM__DECLARE_LANES(name, shape)                                                                                     \
    RVM_API rvm__4_reals rvm__sleef4_##name RVM__LANES_##shape(rvm__4_reals);                                               \
    RVM_API rvm__8_reals rvm__sleef8_##name RVM__LANES_##shape(rvm__8_reals);
#define FUNCTION(name, shape, who, error, serves) RVM__IN_LANES(serves, RVM__DECLARE_LANES(name, shape))
#include "functions.def"
#undef FUNCTION
#endif

#endif
