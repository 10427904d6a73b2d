/* run_unsweep.c: gradient mode forward again after a sweep, which gives back what the sweep gained. */
#define MODE_LEVEL 3
#define RUN        rvm__run_unsweep
#include "interp.inc"
