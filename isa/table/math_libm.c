/* math_libm.c: the set of the C library. */
#include "maths.inc"
