/* functions.h: the functions of functions.def, as C calls them: rvm__libm_NAME. The words FN, FN2 and FNI become such calls.
 */
#ifndef RVM_FUNCTIONS_H
#define RVM_FUNCTIONS_H

#include <math.h>
#include <stdint.h>

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
#define RVM__DECLARE_OWN(name, shape) double rvm__libm_##name RVM__PARAMS_##shape;
#define FUNCTION(name, shape, who)    RVM__DECLARE_##who(name, shape)
double exp10(double x); /* of glibc, which shows it to _GNU_SOURCE alone */
#include "functions.def"
#undef FUNCTION

/* Exact ones. */
#define rvm__libm_sqrt  sqrt
#define rvm__libm_floor floor
#define rvm__libm_fabs  fabs

#endif
