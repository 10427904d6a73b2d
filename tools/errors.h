/* errors.h: what is wrong, for who called. */
#ifndef RVM_TOOLS_ERRORS_H
#define RVM_TOOLS_ERRORS_H

#include "rvm_program.h"

/* Fills *err (may be NULL) and returns the code. file: what it is about, or NULL. */
rvm_status fail(rvm_error *err, rvm_status code, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
