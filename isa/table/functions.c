/* functions.c: the C library's set: what it has not is functions.inc's; and rvm_functions.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* lgamma_r */
#endif
#include "functions.h"
#include "rvm_functions.h"

#define OURS(name) rvm__libm_##name
#include "functions.inc"

/* Not lgamma, which sets a global. */
double MATH(lgamma)(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* ---- rvm_functions.h ---- */

#define OWN(name, shape)                                                                                                    \
    double rvm_##name RVM__PARAMS_##shape {                                                                                 \
        return MATH(name) RVM__ARGS_##shape;                                                                                \
    }
#define LIBM(name, shape)
#define FUNCTION(name, shape, who, error, serves) who(name, shape)
#include "functions.def"
