/* singles.c: f32 as f32. The machine keeps an f32 as a double that a float holds and rounds after each operation, which
 * words.c marks. Of + - * / and the square root the double's result, rounded, is the float's (Figueroa 1995: 53 digits are
 * at least twice 24 and 2), denormals included; of comparisons and of floor any precision gives the same. So
 *
 *     fpext (fptrunc (fmul double x, y))    becomes    fpext (fmul float (fptrunc x), (fptrunc y))
 *
 * and LLVM drops what is extended to be truncated again, around loops, too. Memory still holds doubles. */
#include "device.h"

static LLVMValueRef single_of(const rvm__build *k, LLVMValueRef x) {
    return LLVMBuildFPTrunc(k->b, x, k->f32, "");
}

/* NULL: a function, which is one of doubles, whose result is rounded. */
static LLVMValueRef narrow_call(const rvm__build *k, LLVMValueRef v) {
    LLVMValueRef args[2], callee = LLVMGetCalledValue(v);
    const unsigned id = LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0, n = LLVMGetNumArgOperands(v);
    if (!id || n > 2) return NULL;
    for (unsigned i = 0; i < n; i++) args[i] = single_of(k, LLVMGetOperand(v, i));
    LLVMTypeRef t = k->f32;
    return LLVMBuildCall2(k->b, LLVMIntrinsicGetType(k->context, id, &t, 1),
                          LLVMGetIntrinsicDeclaration(k->module, id, &t, 1), args, n, "");
}

static void narrow(const rvm__build *k, LLVMValueRef v) {
    LLVMValueRef made;
    LLVMPositionBuilderBefore(k->b, v); /* which sets its line, too */
    if (LLVMIsACallInst(v)) {
        made = narrow_call(k, v);
        if (!made) return;
    } else {
        LLVMValueRef x = single_of(k, LLVMGetOperand(v, 0)), y = single_of(k, LLVMGetOperand(v, 1));
        made = LLVMIsAFCmpInst(v) ? LLVMBuildFCmp(k->b, LLVMGetFCmpPredicate(v), x, y, "")
                                  : LLVMBuildBinOp(k->b, LLVMGetInstructionOpcode(v), x, y, "");
    }
    LLVMReplaceAllUsesWith(v, LLVMIsAFCmpInst(v) ? made : LLVMBuildFPExt(k->b, made, k->f64, ""));
    LLVMInstructionEraseFromParent(v);
}

void rvm__device_narrow(const rvm__build *k) {
    const unsigned mark = LLVMGetMDKindIDInContext(k->context, RVM__SINGLE_MARK, sizeof RVM__SINGLE_MARK - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
                next = LLVMGetNextInstruction(v);
                if (LLVMGetMetadata(v, mark)) narrow(k, v);
            }
}
