/* load.h: inside rvm_jit. Puts a relocatable object file into the process, without LLVM. */
#ifndef RVM_JIT_LOAD_H
#define RVM_JIT_LOAD_H

#include <stddef.h>

#include "rvm.h"

typedef struct rvm__loaded {
    void *base; /* of all its memory; NULL: nothing is loaded */
    size_t size;
    void *entry;      /* its one global function */
    const void *need; /* its one global object, of need_size bytes */
    size_t need_size;
    size_t code_size; /* of machine code, bytes */
} rvm__loaded;

/* The object may be damaged in any way: nothing outside of it and of what is made of it is read or written. What it calls is
 * looked for in rvm__native_symbols, then in libm and in what that needs, then in libmvec. `al` is for the time of the call;
 * NULL: the C library's. Any thread. Errors: UNSUPPORTED (why it cannot be loaded: it is damaged, for another processor, or
 * has or calls what this does not know), MEMORY. *out is empty then. */
rvm_status rvm__object_load(const void *object, size_t size, const rvm_allocator *al, rvm__loaded *out, rvm_error *err);
void rvm__object_unload(rvm__loaded *l); /* also of nothing */

#endif
