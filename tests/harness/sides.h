/* sides.h: one run by the interpreter and one natively, side by side. */
#ifndef RVM_TEST_SIDES_H
#define RVM_TEST_SIDES_H

#include "harness.h"

enum { INTERPRETED, NATIVE, SIDES };
typedef struct side {
    rvm_machine *m;
    args a;
    rvm_status status;
    rvm_error e;
} side;

/* A machine, with native code from j unless that is NULL; a failure is reported. */
bool side_open(const subject *s, const rvm_options *o, side *y, rvm_jit *j);
void sides_close(side *x); /* both */
/* Both ended with one status, at one place and with one message; what differs is reported. */
bool sides_end_alike(report *r, const char *what, const side *x);

#endif
