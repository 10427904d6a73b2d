/* threads.c: code that one thread leaves in the middle, where others wait for it, and enters there again. Its values go
 * through memory, of which LLVM makes values again (sroa), as the ways now are. */
#include "device.h"

/* ---- a block in two ---- */

/* What came from one block to a phi comes from another. */
static void come_from(const rvm__build *k, LLVMValueRef phi, LLVMBasicBlockRef was, LLVMBasicBlockRef is) {
    LLVMPositionBuilderBefore(k->b, phi);
    LLVMValueRef made = LLVMBuildPhi(k->b, LLVMTypeOf(phi), "");
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, n);
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, n);
        if (from == was) from = is;
        LLVMAddIncoming(made, &v, &from, 1);
    }
    LLVMReplaceAllUsesWith(phi, made);
    LLVMInstructionEraseFromParent(phi);
}

LLVMBasicBlockRef rvm__split_behind(const rvm__build *k, LLVMValueRef v) {
    LLVMBasicBlockRef here = LLVMGetInstructionParent(v);
    LLVMBasicBlockRef rest = LLVMAppendBasicBlockInContext(k->context, LLVMGetBasicBlockParent(here), "rest");
    LLVMValueRef end = LLVMGetBasicBlockTerminator(here);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        for (LLVMValueRef p = LLVMGetFirstInstruction(LLVMGetSuccessor(end, s)), next; p && LLVMIsAPHINode(p); p = next) {
            next = LLVMGetNextInstruction(p);
            come_from(k, p, here, rest);
        }
    LLVMSetCurrentDebugLocation2(k->b, NULL); /* else what is moved would get it */
    for (LLVMValueRef one = LLVMGetNextInstruction(v), next; one; one = next) {
        next = LLVMGetNextInstruction(one);
        LLVMInstructionRemoveFromParent(one);
        LLVMPositionBuilderAtEnd(k->b, rest);
        LLVMInsertIntoBuilder(k->b, one);
    }
    LLVMPositionBuilderAtEnd(k->b, here);
    LLVMBuildBr(k->b, rest);
    return rest;
}

/* ---- values through memory ---- */

static LLVMValueRef memory_for(const rvm__build *k, LLVMValueRef f, LLVMTypeRef t) {
    LLVMPositionBuilderBefore(k->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
    return LLVMBuildAlloca(k->b, t, "");
}

static void demote_phi(const rvm__build *k, LLVMValueRef f, LLVMValueRef phi) {
    LLVMValueRef at = memory_for(k, f, LLVMTypeOf(phi));
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
        LLVMPositionBuilderBefore(k->b, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, n)));
        LLVMBuildStore(k->b, LLVMGetIncomingValue(phi, n), at);
    }
    LLVMValueRef behind = phi;
    while (LLVMIsAPHINode(behind)) behind = LLVMGetNextInstruction(behind);
    LLVMPositionBuilderBefore(k->b, behind);
    LLVMReplaceAllUsesWith(phi, LLVMBuildLoad2(k->b, LLVMTypeOf(phi), at, ""));
    LLVMInstructionEraseFromParent(phi);
}

static bool is_used_elsewhere(LLVMValueRef v) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
        if (LLVMGetInstructionParent(LLVMGetUser(u)) != LLVMGetInstructionParent(v)) return true;
    return false;
}

static void load_again(const rvm__build *k, LLVMValueRef user, LLVMValueRef v, LLVMValueRef at) {
    LLVMPositionBuilderBefore(k->b, user);
    LLVMValueRef loaded = LLVMBuildLoad2(k->b, LLVMTypeOf(v), at, "");
    for (int o = 0; o < LLVMGetNumOperands(user); o++)
        if (LLVMGetOperand(user, (unsigned)o) == v) LLVMSetOperand(user, (unsigned)o, loaded);
}

static void demote_value(const rvm__build *k, LLVMValueRef f, LLVMValueRef v) {
    LLVMBasicBlockRef here = LLVMGetInstructionParent(v);
    LLVMValueRef at = memory_for(k, f, LLVMTypeOf(v));
    for (bool any = true; any;) { /* uses change meanwhile */
        any = false;
        for (LLVMUseRef u = LLVMGetFirstUse(v); u && !any; u = LLVMGetNextUse(u))
            if ((any = LLVMGetInstructionParent(LLVMGetUser(u)) != here)) load_again(k, LLVMGetUser(u), v, at);
    }
    LLVMPositionBuilderBefore(k->b, LLVMGetNextInstruction(v));
    LLVMBuildStore(k->b, v, at);
}

void rvm__demote(const rvm__build *k, LLVMValueRef f, const LLVMBasicBlockRef *blocks, unsigned n) {
    LLVMSetCurrentDebugLocation2(k->b, NULL);
    for (unsigned b = 0; b < n; b++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(blocks[b]); v && LLVMIsAPHINode(v);
             v = LLVMGetFirstInstruction(blocks[b]))
            demote_phi(k, f, v);
    for (unsigned b = 0; b < n; b++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(blocks[b]), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (is_used_elsewhere(v)) demote_value(k, f, v);
        }
}
