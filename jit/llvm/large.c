/* large.c: functions so large that LLVM would take long: some of its passes take the square of a function's size, as those
 * that ask at each branch what is known there of a value from far above (correlated propagation, jump threading), and
 * instruction combination where many branches test one value. Large functions get a short list of passes instead, in which
 * none of these is; all others leave them alone.
 *
 * Machine code is made block by block (fast register allocation, no coalescing, no sinking) where a function is larger
 * still, and where the registers of a large one stay in memory (jit/lower/home.c), since there is little to allocate. */
#include "large.h"
#include "instance.h"

#include <string.h>

#include <llvm-c/Transforms/PassBuilder.h>

/* Blocks of a function before it is optimised. Of 1,600 branches, which are below, code takes four times as long where it is
 * made block by block. */
enum { VERY_LARGE = 24 << 10 };
enum { MANY = 1 << 15 }; /* instructions, whatever its blocks */

static const char few[] =
    "function(sroa,early-cse<memssa>,simplifycfg,instsimplify,sccp,loop-simplify,lcssa,loop-mssa(licm),"
    "gvn<no-pre;no-load-pre>,simplifycfg,adce)";

static const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static unsigned optnone(void) {
    return LLVMGetEnumAttributeKindForName("optnone", 7);
}

static bool is_of_local(LLVMValueRef in) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(in);
    return (op == LLVMLoad && LLVMIsAAllocaInst(LLVMGetOperand(in, 0))) ||
           (op == LLVMStore && LLVMIsAAllocaInst(LLVMGetOperand(in, 1))) || op == LLVMAlloca;
}

unsigned rvm__size_of(LLVMValueRef f) {
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) n += !is_of_local(in);
    return n;
}

static bool is_large(LLVMValueRef f) {
    return LLVMCountBasicBlocks(f) > RVM__LARGE || rvm__size_of(f) > MANY;
}

static bool has_large(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (is_large(f)) return true;
    return false;
}

static void mark_simple(LLVMValueRef f) {
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    LLVMAddAttributeAtIndex(f, whole, LLVMCreateStringAttribute(c, RVM__SIMPLE, strlen(RVM__SIMPLE), "", 0));
}

/* Of those that are not set aside already. */
static void set_aside_small(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_large(f))
            LLVMAddAttributeAtIndex(f, whole, LLVMCreateEnumAttribute(k->context, optnone(), 0));
}

/* Those that were optimised are set aside in place of all others. They may be smaller by now. */
static void set_aside_optimised(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        if (LLVMGetEnumAttributeAtIndex(f, whole, optnone()))
            LLVMRemoveEnumAttributeAtIndex(f, whole, optnone());
        else
            LLVMAddAttributeAtIndex(f, whole, LLVMCreateEnumAttribute(k->context, optnone(), 0));
    }
}

LLVMErrorRef rvm__optimise_large(const rvm__build *k, LLVMTargetMachineRef machine) {
    if (!has_large(k->module)) return NULL;
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f) > VERY_LARGE) mark_simple(f);
    set_aside_small(k);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(k->module, few, machine, options);
    LLVMDisposePassBuilderOptions(options);
    set_aside_optimised(k);
    return e;
}

void rvm__hand_back_large(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMRemoveEnumAttributeAtIndex(f, whole, optnone());
}

bool rvm__is_emitted_simply(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (LLVMGetStringAttributeAtIndex(f, whole, RVM__SIMPLE, strlen(RVM__SIMPLE))) return true;
    return false;
}
