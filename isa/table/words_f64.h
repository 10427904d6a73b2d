/* The words as C expressions on double. */
#include "words_undef.h"
#define ADD(x, y)       ((x) + (y))
#define SUB(x, y)       ((x) - (y))
#define MUL(x, y)       ((x) * (y))
#define DIV(x, y)       ((x) / (y))
#define FMA(x, y, z)    fma(x, y, z)
#define NEG(x)          (-(x))
#define K(x)            ((double)(x))
#define FN(name, x)     MATH(name)(x)
#define FN2(name, x, y) MATH(name)(x, y)
#define FNI(name, n, x) MATH(name)(n, x)
#include "words_compare.h"
