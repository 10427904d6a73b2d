/* run_gradient_profiled.c: values, and adjoints while the sweep is on, with a profile. */
#define MODE_LEVEL 1
#define PROFILED   1
#define RUN        rvm__run_gradient_profiled
#include "interp.inc"
