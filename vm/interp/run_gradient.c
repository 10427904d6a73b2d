/* run_gradient.c: values, and adjoints while the sweep is on. */
#define MODE_LEVEL 1
#define PROFILED   0
#define RUN        rvm__run_gradient
#include "interp.inc"
