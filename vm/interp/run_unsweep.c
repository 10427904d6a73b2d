/* run_unsweep.c: gradient mode forward again after a sweep, which gives back what the sweep gained; also with a profile. */
#define MODE_LEVEL 3
#define PROFILED   1
#define RUN        rvm__run_unsweep
#include "interp.inc"
