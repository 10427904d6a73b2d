/* shared.c: local arrays of the first thread of a CTA (nested.c) that all its threads come to: in memory that they share. */
#include "device.h"

#include <llvm-c/Target.h>
#include <string.h>

enum { MOST_STEPS = 16 };

static bool is_named(LLVMValueRef v, const char *prefix) {
    return LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), prefix, strlen(prefix));
}

/* Whether an address gets, by some way, to a block within, or into memory. */
static bool is_handed_over(LLVMValueRef v, unsigned depth) {
    if (depth == MOST_STEPS) return true;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (is_named(user, RVM__NESTED) || is_named(user, RVM__NESTED_ASIDE) ||
            (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v))
            return true;
        const bool passes = LLVMIsAGetElementPtrInst(user) || LLVMIsAPHINode(user) || LLVMIsASelectInst(user);
        if (passes && is_handed_over(user, depth + 1)) return true;
    }
    return false;
}

static bool is_own(const rvm__device_kernel *x, LLVMValueRef alloca) {
    const rvm__device_cta *c = &x->cta;
    return alloca == c->out || alloca == c->counts || alloca == c->state || alloca == c->trips || alloca == c->charged;
}

static void drop_lifetimes(const rvm__device_kernel *x) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), "llvm.lifetime.", 14)) LLVMInstructionEraseFromParent(v);
        }
}

void rvm__device_share_locals(const rvm__build *k, rvm__device_kernel *x) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(k->module);
    drop_lifetimes(x);
    for (LLVMValueRef v = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->kernel)), next; v; v = next) {
        next = LLVMGetNextInstruction(v);
        if (!LLVMIsAAllocaInst(v) || is_own(x, v) || !is_handed_over(v, 0)) continue;
        LLVMPositionBuilderBefore(k->b, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(x->kernel)));
        LLVMValueRef at = rvm__build_int(k, (int64_t)x->frame);
        LLVMReplaceAllUsesWith(v, LLVMBuildInBoundsGEP2(k->b, k->i8, x->cta.shared, &at, 1, ""));
        x->frame += (LLVMABISizeOfType(layout, LLVMGetAllocatedType(v)) + 15) / 16 * 16;
        LLVMInstructionEraseFromParent(v);
    }
}
