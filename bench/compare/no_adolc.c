/* no_adolc.c: stands for ADOL-C where it is not installed. */
#include <stddef.h>

#include "taped.h"

#ifndef HAVE_ADOLC
bool adolc_present(void) {
    return false;
}

void *adolc_open(enum peer task, void *data) {
    (void)task;
    (void)data;
    return NULL;
}

bool adolc_run(void *state) {
    (void)state;
    return false;
}

void adolc_close(void *state) {
    (void)state;
}
#endif
