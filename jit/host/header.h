/* header.h: inside jit/, without LLVM. The C header of a function that is compiled ahead of time. */
#ifndef RVM_JIT_HEADER_H
#define RVM_JIT_HEADER_H

#include "module.h"

/* The C name of function fn: `wanted`, or if that is NULL the function's own with _ for what C has no use for. USAGE: it is
 * too long, no C name, or the C library's. name has room for RVM__C_NAME. */
rvm_status rvm__c_name(const rvm_program *p, uint32_t fn, const char *wanted, char *name, rvm_error *err);
void rvm__header_write(const rvm__lowering *what, uint64_t stack, FILE *out);

#endif
