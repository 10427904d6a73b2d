/* singles.c: f32 as f32. The machine keeps an f32 as a double that a float holds and rounds after each operation, which
 * words.c marks. Of + - * / and the square root the double's result, rounded, is the float's (Figueroa 1995: 53 digits are
 * at least twice 24 and 2), denormals included; of comparisons and of floor any precision gives the same. So
 *
 *     fpext (fptrunc (fmul double x, y))    becomes    fpext (fmul float (fptrunc x), (fptrunc y))
 *
 * and LLVM drops what is extended to be truncated again, around loops, too. Memory still holds doubles.
 *
 * With fast math functions and rotations are a float's, too, which strictly are a double's, rounded once; and quotients and
 * square roots are the device's approximations, which are off by two units in the last place at most. */
#include "device.h"
#include "target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static LLVMValueRef single_of(const rvm__build *k, LLVMValueRef x) {
    return LLVMBuildFPTrunc(k->b, x, k->f32, "");
}

enum { MOST_OPERANDS = 2 };

/* Named as C has it: sinf of sin. NULL: it is no function of the program. */
static LLVMValueRef function_of(const rvm__build *k, LLVMValueRef callee, LLVMTypeRef type) {
    static const char *const attributes[] = {"memory", "nounwind", "willreturn"}; /* memory: none */
    size_t length;
    char name[40];
    const char *of = rvm__function_of(LLVMGetValueName2(callee, &length));
    if (!of) return NULL;
    snprintf(name, sizeof name, "%.30sf", of);
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    if (f) return f;
    f = LLVMAddFunction(k->module, name, type);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(k->context, kind, 0));
    }
    return f;
}

/* NULL: a function that stays one of doubles, whose result is rounded. */
static LLVMValueRef narrow_call(const rvm__build *k, LLVMValueRef v, bool functions) {
    LLVMValueRef args[MOST_OPERANDS], callee = LLVMGetCalledValue(v);
    LLVMTypeRef t[MOST_OPERANDS] = {k->f32, k->f32}, type;
    const unsigned n = LLVMGetNumArgOperands(v);
    if (!LLVMIsAFunction(callee) || n > MOST_OPERANDS) return NULL;
    const unsigned id = LLVMGetIntrinsicID(callee);
    if (id) {
        type = LLVMIntrinsicGetType(k->context, id, t, 1);
        callee = LLVMGetIntrinsicDeclaration(k->module, id, t, 1);
    } else {
        type = LLVMFunctionType(k->f32, t, n, false);
        if (!functions || !(callee = function_of(k, callee, type))) return NULL;
    }
    for (unsigned i = 0; i < n; i++) args[i] = single_of(k, LLVMGetOperand(v, i));
    return LLVMBuildCall2(k->b, type, callee, args, n, "");
}

/* NULL: it stays. */
static LLVMValueRef narrowed(const rvm__build *k, LLVMValueRef v, bool functions) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMCall) return narrow_call(k, v, functions);
    LLVMValueRef condition = op == LLVMSelect ? LLVMGetOperand(v, 0) : NULL;
    LLVMValueRef x = single_of(k, LLVMGetOperand(v, condition ? 1 : 0));
    if (op == LLVMFNeg) return LLVMBuildFNeg(k->b, x, "");
    LLVMValueRef y = single_of(k, LLVMGetOperand(v, condition ? 2 : 1));
    if (condition) return LLVMBuildSelect(k->b, condition, x, y, "");
    return op == LLVMFCmp ? LLVMBuildFCmp(k->b, LLVMGetFCmpPredicate(v), x, y, "") : LLVMBuildBinOp(k->b, op, x, y, "");
}

static void narrow(const rvm__build *k, LLVMValueRef v, bool functions) {
    LLVMPositionBuilderBefore(k->b, v); /* which sets its line, too */
    LLVMValueRef made = narrowed(k, v, functions);
    if (!made) return;
    if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(made)) LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(v));
    LLVMReplaceAllUsesWith(v, LLVMIsAFCmpInst(v) ? made : LLVMBuildFPExt(k->b, made, k->f64, ""));
    LLVMInstructionEraseFromParent(v);
}

void rvm__device_narrow(const rvm__build *k, bool functions) {
    const unsigned mark = LLVMGetMDKindIDInContext(k->context, RVM__SINGLE_MARK, sizeof RVM__SINGLE_MARK - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
                next = LLVMGetNextInstruction(v);
                if (LLVMGetMetadata(v, mark)) narrow(k, v, functions);
            }
}

/* ---- approximations ---- */

static bool divides(const rvm__build *k, LLVMValueRef v) {
    return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMFDiv && LLVMTypeOf(v) == k->f32;
}

/* Whether LLVM makes one 1 / y of it and of others. */
static bool shares_divisor(const rvm__build *k, LLVMValueRef v) {
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMGetOperand(v, 1)); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef other = LLVMGetUser(u);
        if (other != v && LLVMIsAInstruction(other) && LLVMGetInstructionParent(other) == LLVMGetInstructionParent(v) &&
            divides(k, other) && LLVMGetOperand(other, 1) == LLVMGetOperand(v, 1))
            return true;
    }
    return false;
}

/* But 1 / y, whose approximation is good for any y, and what is x (1 / y), with or without a constant y. */
static bool is_quotient(const rvm__build *k, LLVMValueRef v) {
    LLVMBool rounded;
    if (!divides(k, v)) return false;
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    if (LLVMIsAConstantFP(x) && LLVMConstRealGetDouble(x, &rounded) == 1) return false;
    if (!LLVMIsAConstantFP(y)) return !shares_divisor(k, v);
    const double size = fabs(LLVMConstRealGetDouble(y, &rounded));
    return !(size >= 0x1p-126 && size <= 0x1p126);
}

/* For any y: what LLVM makes of a quotient is 0 where y is beyond 2^126. */
static LLVMValueRef quotient(const rvm__build *k, LLVMValueRef x, LLVMValueRef y) {
    static const char text[] = "div.full.f32 $0, $1, $2;", constraints[] = "=f,f,f";
    LLVMTypeRef type = LLVMFunctionType(k->f32, (LLVMTypeRef[]){k->f32, k->f32}, 2, false);
    LLVMValueRef f = LLVMGetInlineAsm(type, text, sizeof text - 1, constraints, sizeof constraints - 1, false, false,
                                      LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(k->b, type, f, (LLVMValueRef[]){x, y}, 2, "");
}

static bool is_root(const rvm__build *k, LLVMValueRef v) {
    return LLVMIsACallInst(v) && LLVMTypeOf(v) == k->f32 && !strcmp(rvm__callee_name(v), "llvm.sqrt.f32");
}

static LLVMValueRef root(const rvm__build *k, LLVMValueRef x) {
    static const char name[] = "llvm.nvvm.sqrt.approx.f";
    LLVMTypeRef type = LLVMFunctionType(k->f32, (LLVMTypeRef[]){k->f32}, 1, false);
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    return LLVMBuildCall2(k->b, type, f ? f : LLVMAddFunction(k->module, name, type), &x, 1, "");
}

static void approximate(const rvm__build *k, LLVMValueRef v) {
    const bool is_one = is_quotient(k, v);
    if (!is_one && !is_root(k, v)) return;
    LLVMPositionBuilderBefore(k->b, v);
    LLVMValueRef x = LLVMGetOperand(v, 0);
    LLVMReplaceAllUsesWith(v, is_one ? quotient(k, x, LLVMGetOperand(v, 1)) : root(k, x));
    LLVMInstructionEraseFromParent(v);
}

void rvm__device_approximate(const rvm__build *k, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            approximate(k, v);
        }
}
