/* math_sleef.c: the set of SLEEF. */
#define RVM__MATH sleef
#include "functions.h"

#if RVM_SLEEF
extern const struct rvm__math rvm__math_sleef;
#include "maths.inc"
#else
typedef int rvm__no_sleef; /* a file is not empty */
#endif
