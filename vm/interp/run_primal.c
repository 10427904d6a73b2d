/* run_primal.c: values only. */
#define MODE_LEVEL 0
#define PROFILED   0
#define RUN        rvm__run_primal
#include "interp.inc"
