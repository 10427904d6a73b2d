/* engine.h: inside the module. See rvm__module for what these do. */
#ifndef RVM_JIT_ENGINE_H
#define RVM_JIT_ENGINE_H

#include "module.h"

rvm_status rvm__compiler_open(const rvm__compiler_options *o, rvm__compiler **out, const char **about, rvm_error *err);
void rvm__compiler_close(rvm__compiler *c);
rvm_status rvm__compiler_compile(rvm__compiler *c, const rvm__lowering *what, rvm__object *out, rvm_error *err);
rvm_status rvm__compiler_link(rvm__compiler *c, const rvm__object *object, rvm__compiled *out, rvm_error *err);
rvm_status rvm__compiler_print(rvm__compiler *c, const rvm__lowering *what, rvm_jit_form form, FILE *out, rvm_error *err);
rvm_status rvm__compiler_object(rvm__compiler *c, const rvm__lowering *what, const char *cpu, FILE *out, uint64_t *stack,
                                rvm_error *err);

#endif
