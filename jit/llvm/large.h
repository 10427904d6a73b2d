/* large.h: inside the module. Functions so large that most of LLVM's passes would take more than in proportion. */
#ifndef RVM_JIT_LARGE_H
#define RVM_JIT_LARGE_H

#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

#include "build.h"

/* Instructions of a function, but for those that read or write its locals, which are to become values. */
unsigned rvm__size_of(LLVMValueRef f);
/* Before anything is optimised: large functions, of more than RVM__LARGE blocks or many instructions, are, by few passes;
 * all others leave them alone until they are handed back, which they are to be in any case. */
LLVMErrorRef rvm__optimise_large(const rvm__build *k, LLVMTargetMachineRef machine);
void rvm__hand_back_large(const rvm__build *k);
/* Whether machine code of the module is to be made in the simplest way. */
bool rvm__is_emitted_simply(LLVMModuleRef module);

#endif
