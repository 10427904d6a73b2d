/* The words as C expressions on fix (fix.h); `overflow` is an int * in scope. */
#include "words_undef.h"
#define ADD(x, y)       rvm__fix_add(x, y, overflow)
#define SUB(x, y)       rvm__fix_sub(x, y, overflow)
#define MUL(x, y)       rvm__fix_mul(x, y, overflow)
#define DIV(x, y)       rvm__fix_div(x, y, overflow)
#define FMA(x, y, z)    rvm__fix_fma(x, y, z, overflow)
#define NEG(x)          rvm__fix_sub(0, x, overflow)
#define K(x)            ((int64_t)((double)(x)*RVM__FIX_ONE + ((x) < 0 ? -0.5 : 0.5)))
#define FN(name, x)     rvm__fix_of(MATH(name)(rvm__fix_real(x)), overflow)
#define FN2(name, x, y) rvm__fix_of(MATH(name)(rvm__fix_real(x), rvm__fix_real(y)), overflow)
#define FNI(name, n, x) rvm__fix_of(MATH(name)(n, rvm__fix_real(x)), overflow)
#include "words_compare.h"
