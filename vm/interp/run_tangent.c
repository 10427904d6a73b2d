/* run_tangent.c: values with tangents. */
#define MODE_LEVEL 2
#define RUN        rvm__run_tangent
#include "interp.inc"
