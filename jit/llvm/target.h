/* target.h: inside the module. What code is made for, as LLVM sees it: what it can do, passes, machine code. */
#ifndef RVM_JIT_TARGET_H
#define RVM_JIT_TARGET_H

#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

#include "build.h"
#include "module.h"

typedef struct rvm__target {
    char *triple, *cpu, *features; /* which one */
    unsigned level;                /* of optimisation */
    rvm__traits traits;
    LLVMTargetMachineRef machine;
    char *layout, *cold_features;
} rvm__target;

/* What a function of functions.def is called on a host, any other as it is; and back: NULL, it is none of these. */
const char *rvm__host_function(const char *name, bool sleef);
const char *rvm__function_of(const char *symbol);

/* Any target that LLVM has been made to know, by its triple, processor and features, as LLVM writes them. UNSUPPORTED: why
 * LLVM has no code for it. Close it also after an error. */
rvm_status rvm__target_open(rvm__target *t, const char *triple, const char *cpu, const char *features, unsigned level,
                            rvm_error *err);
/* This host, with everything that its processor can do, or with what another of processors.def can; `here`: without what
 * this one cannot. Likewise. */
rvm_status rvm__target_open_host(rvm__target *t, const char *cpu, bool here, unsigned level, rvm_error *err);
void rvm__target_close(rvm__target *t);
/* Before anything is built in the module: sizes and alignments. */
void rvm__target_prepare(const rvm__target *t, LLVMModuleRef module);
/* Before it is optimised: what was built is checked, INTERNAL, and simplified, if there are instances of parallel blocks,
 * which become groups (lanes.h) if lanes are wanted, or if unchecked code calls elementary functions, which move out of
 * loops.
 */
rvm_status rvm__target_group(const rvm__target *t, rvm__build *k, const rvm__lowering *what, rvm_error *err);
/* Checks what was built, INTERNAL if it is not well formed, and optimises it. What tests its indices (checked) is not at the
 * highest level: that makes a loop apart for each test that a loop does not change (unswitching), and loops in loops many
 * times as much code, which takes more than a minute. plain: without LLVM's
 * vectorizers. */
rvm_status rvm__target_optimise(const rvm__target *t, const rvm__build *k, bool checked, bool plain, rvm_error *err);
/* Object code or assembly; to be disposed of. */
rvm_status rvm__target_emit(const rvm__target *t, LLVMModuleRef module, LLVMCodeGenFileType form, LLVMMemoryBufferRef *out,
                            rvm_error *err);
/* An error of LLVM, consumed; RVM_OK if there is none. more: what LLVM said besides, or "". */
rvm_status rvm__target_fail(LLVMErrorRef e, const char *doing, const char *more, rvm_error *err);

#endif
