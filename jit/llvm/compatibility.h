/* compatibility.h: inside the module. What the C API of an older LLVM lacks. */
#ifndef RVM_JIT_COMPATIBILITY_H
#define RVM_JIT_COMPATIBILITY_H

#include <llvm-c/Core.h>
#include <llvm/Config/llvm-config.h>
#include <stdbool.h>

#if LLVM_VERSION_MAJOR < 17
#define LLVMArrayType2(type, n)         LLVMArrayType(type, (unsigned)(n))
#define LLVMConstArray2(type, value, n) LLVMConstArray(type, value, (unsigned)(n))
#endif
#if LLVM_VERSION_MAJOR < 18 /* fast code is strict, which it may be */
typedef unsigned LLVMFastMathFlags;
enum { LLVMFastMathAllowReassoc, LLVMFastMathAllowContract, LLVMFastMathNoSignedZeros, LLVMFastMathAllowReciprocal };
#define LLVMCanValueUseFastMathFlags(v) false
#define LLVMSetFastMathFlags(v, flags)  ((void)(v))
#endif

#endif
