/* run_tangent.c: values with tangents; also with a profile. */
#define MODE_LEVEL 2
#define PROFILED   1
#define RUN        rvm__run_tangent
#include "interp.inc"
