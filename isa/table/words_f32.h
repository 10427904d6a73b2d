/* The words as C expressions on f32, kept as a double that is rounded to float after every operation. For + - * / and sqrt
 * that equals the operation of float, since a double has more than twice its digits; fma is float's own. */
#include "words_undef.h"
#define RVM__SINGLE(x)  ((double)(float)(x))
#define ADD(x, y)       RVM__SINGLE((x) + (y))
#define SUB(x, y)       RVM__SINGLE((x) - (y))
#define MUL(x, y)       RVM__SINGLE((x) * (y))
#define DIV(x, y)       RVM__SINGLE((x) / (y))
#define FMA(x, y, z)    ((double)fmaf((float)(x), (float)(y), (float)(z)))
#define NEG(x)          (-(x))
#define K(x)            RVM__SINGLE(x)
#define FN(name, x)     RVM__SINGLE(MATH(name)(x))
#define FN2(name, x, y) RVM__SINGLE(MATH(name)(x, y))
#define FNI(name, n, x) RVM__SINGLE(MATH(name)(n, x))
#include "words_compare.h"
