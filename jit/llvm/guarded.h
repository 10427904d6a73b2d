/* guarded.h: inside the module. Calls of LLVM that may run out of memory, or crash. */
#ifndef RVM_JIT_GUARDED_H
#define RVM_JIT_GUARDED_H

#include "native.h"

/* What the call returns; MEMORY where it runs out of memory in LLVM, now or in an earlier call; UNSUPPORTED, and *crashed,
 * where LLVM has a fault. In both it is left where it is, with all that it holds. Any thread. */
rvm_status rvm__guarded(rvm_status (*call)(void *request, rvm_error *err), void *request, bool *crashed, rvm_error *err);
/* An allocator for use within such calls: it goes on to `al`, which may be C++ itself, and is not left by a jump. */
rvm_allocator rvm__unguarded(const rvm_allocator *al);
/* LLVM is not to be used any more, nor to be freed. */
bool rvm__llvm_out_of_memory(void);

#endif
