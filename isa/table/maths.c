/* maths.c: which set of elementary functions there is here. */
#include "maths.h"

#include <string.h>

extern const rvm__math rvm__math_sleef; /* math_sleef.c */

const char *rvm__lacks_sleef(void) {
#if RVM_SLEEF
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? NULL : "the processor has no FMA, or no AVX2";
#else
    return "this was built without SLEEF (libsleef-dev)";
#endif
}

const rvm__math *rvm__math_of(rvm_math which) {
#if RVM_SLEEF
    if (which == RVM_MATH_SLEEF) return &rvm__math_sleef;
#endif
    (void)which;
    return &rvm__math_libm;
}

bool rvm__has_partial(rvm_row row, uint16_t kernel, int operand) {
    return rvm__math_libm.kernels[kernel].d[operand] && strcmp(rvm__row_info[row].partial[operand], "0") != 0;
}
