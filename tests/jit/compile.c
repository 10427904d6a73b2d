/* compile.c: see compile.h. */
#include "compile.h"
#include "target.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>

const rvm__traits plain = {.group = 4, .width = 2, .function = rvm__host_function};

static bool failed(compiled *c, const char *doing, const char *why) {
    snprintf(c->why, sizeof c->why, "%s: %s", doing, why);
    return false;
}

static bool passed(compiled *c, const char *doing, LLVMErrorRef e) {
    if (!e) return true;
    char *why = LLVMGetErrorMessage(e);
    failed(c, doing, why);
    LLVMDisposeErrorMessage(why);
    return false;
}

static LLVMTargetMachineRef target_machine(compiled *c, bool oldest) {
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures(),
         *why = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef tm = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &why))
        failed(c, "target", why);
    else
        tm = LLVMCreateTargetMachine(target, triple, oldest ? "" : cpu, oldest ? "" : features, LLVMCodeGenLevelDefault,
                                     LLVMRelocPIC, LLVMCodeModelSmall);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    LLVMDisposeMessage(why);
    return tm;
}

static bool optimise(compiled *c, rvm__build *k, LLVMTargetMachineRef tm, int level) {
    char wanted[] = "default<O0>";
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
    LLVMSetModuleDataLayout(k->module, layout);
    char *triple = LLVMGetTargetMachineTriple(tm);
    wanted[9] = (char)('0' + level);
    LLVMSetTarget(k->module, triple);
    const bool good = passed(c, "passes", LLVMRunPasses(k->module, wanted, tm, options));
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    LLVMDisposePassBuilderOptions(options);
    return good;
}

static bool link_object(compiled *c, LLVMMemoryBufferRef object) {
    LLVMOrcDefinitionGeneratorRef process = NULL;
    if (!passed(c, "linker", LLVMOrcCreateLLJIT(&c->jit, NULL))) {
        LLVMDisposeMemoryBuffer(object);
        return false;
    }
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(c->jit);
    if (!passed(c, "object", LLVMOrcLLJITAddObjectFile(c->jit, library, object))) return false;
    if (!passed(
            c, "process",
            LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(c->jit), NULL, NULL)))
        return false;
    LLVMOrcJITDylibAddGenerator(library, process);
    return true;
}

bool compile(compiled *c, rvm__build *k, bool oldest, int level) {
    LLVMMemoryBufferRef object = NULL;
    char *why = NULL;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMTargetMachineRef tm = target_machine(c, oldest);
    if (!tm) return false;
    bool good =
        LLVMVerifyModule(k->module, LLVMReturnStatusAction, &why) ? failed(c, "verifier", why) : optimise(c, k, tm, level);
    LLVMDisposeMessage(why);
    why = NULL;
    if (good && LLVMTargetMachineEmitToMemoryBuffer(tm, k->module, LLVMObjectFile, &why, &object))
        good = failed(c, "object code", why);
    LLVMDisposeMessage(why);
    LLVMDisposeTargetMachine(tm);
    return good && link_object(c, object);
}

void *compiled_function(compiled *c, const char *name) {
    LLVMOrcExecutorAddress at = 0;
    return passed(c, name, LLVMOrcLLJITLookup(c->jit, &at, name)) ? (void *)(uintptr_t)at : NULL;
}

void compiled_end(compiled *c) {
    if (c->jit) LLVMConsumeError(LLVMOrcDisposeLLJIT(c->jit));
    c->jit = NULL;
}
