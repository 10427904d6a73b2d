/* lower.h: inside jit/. From a verified program to IR. */
#ifndef RVM_JIT_LOWER_H
#define RVM_JIT_LOWER_H

#include "build.h"
#include "module.h"

/* Adds to k's module the function RVM__ENTRY of type rvm__native_entry (vm/native/native.h), and a constant RVM__NEED, an
 * rvm__native_need. Errors: UNSUPPORTED with the reason, MEMORY. */
#define RVM__ENTRY "rvm_entry"
#define RVM__NEED  "rvm_need"
rvm_status rvm__lower(rvm__build *k, const rvm__lowering *what, rvm_error *err);

#endif
