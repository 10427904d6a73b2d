/* rest.c: what vectors leave over, in vectors again.
 *
 * LLVM makes a loop go through several vectors at once where that pays for long loops, and leaves the rest, which is all of
 * a short one, to single elements. Such a rest is given back to it as a loop of its own, to be done by one vector at a time.
 * Not with fast math, where products and sums are one instruction and a single element costs too little.
 */
#include <string.h>

#include "target.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { MOST_PARTS = 16 };

static LLVMMetadataRef text(LLVMContextRef c, const char *s) {
    return LLVMMDStringInContext2(c, s, strlen(s));
}

/* Operands of a node; 0: it is none, or has too many. */
static unsigned parts_of(LLVMValueRef node, LLVMValueRef part[MOST_PARTS]) {
    const unsigned n = node && LLVMIsAMDNode(node) ? LLVMGetMDNodeNumOperands(node) : 0;
    if (n > MOST_PARTS) return 0;
    if (n) LLVMGetMDNodeOperands(node, part);
    return n;
}

/* Whether a loop's metadata, which begin with themselves, say so. */
static bool says(LLVMValueRef loop, const char *what) {
    LLVMValueRef part[MOST_PARTS], each[MOST_PARTS];
    unsigned length;
    for (unsigned n = parts_of(loop, part); n > 1; n--) {
        const char *s = parts_of(part[n - 1], each) && LLVMIsAMDString(each[0]) ? LLVMGetMDString(each[0], &length) : NULL;
        if (s && length == strlen(what) && !memcmp(s, what, length)) return true;
    }
    return false;
}

static bool is_scalar(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) != LLVMVectorTypeKind;
}

/* No vectors, nor sums, which would be put together once more. */
static bool is_plain(LLVMBasicBlockRef b) {
    for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
        bool plain =
            is_scalar(LLVMTypeOf(v)) && !(LLVMIsAPHINode(v) && LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMDoubleTypeKind);
        for (int k = 0; k < LLVMGetNumOperands(v); k++) plain &= is_scalar(LLVMTypeOf(LLVMGetOperand(v, (unsigned)k)));
        if (!plain) return false;
    }
    return true;
}

static bool is_loop(LLVMBasicBlockRef b) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        if (LLVMGetSuccessor(end, s) == b) return true;
    return false;
}

/* One vector at a time, and what is left of that not unrolled. */
static void ask_again(LLVMContextRef c, LLVMValueRef end, unsigned kind) {
    LLVMMetadataRef itself = LLVMTemporaryMDNode(c, NULL, 0), name = text(c, "llvm.loop.unroll.runtime.disable");
    LLVMMetadataRef count[2] = {text(c, "llvm.loop.interleave.count"),
                                LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(c), 1, false))};
    LLVMMetadataRef part[3] = {itself, LLVMMDNodeInContext2(c, &name, 1), LLVMMDNodeInContext2(c, count, 2)};
    LLVMMetadataRef loop = LLVMMDNodeInContext2(c, part, 3);
    LLVMMetadataReplaceAllUsesWith(itself, loop);
    LLVMSetMetadata(end, kind, LLVMMetadataAsValue(c, loop));
}

static bool ask_in(LLVMContextRef c, LLVMValueRef f) {
    const unsigned kind = LLVMGetMDKindIDInContext(c, "llvm.loop", 9);
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!is_loop(b) || !says(LLVMGetMetadata(end, kind), "llvm.loop.isvectorized") || !is_plain(b)) continue;
        ask_again(c, end, kind);
        any = true;
    }
    return any;
}

rvm_status rvm__target_rest(const rvm__target *t, LLVMModuleRef module, rvm_error *err) {
    static const char passes[] = "function(loop-simplify,lcssa,loop-vectorize,instcombine,simplifycfg)";
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f && t->level >= 2; f = LLVMGetNextFunction(f))
        any |= ask_in(LLVMGetModuleContext(module), f);
    if (!any) return RVM_OK;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(module, passes, t->machine, options);
    LLVMDisposePassBuilderOptions(options);
    return rvm__target_fail(e, "optimises", "", err);
}
