/* run_primal_profiled.c: values only, with a profile. */
#define MODE_LEVEL 0
#define PROFILED   1
#define RUN        rvm__run_primal_profiled
#include "interp.inc"
