/* kept.c: what the first thread of a CTA keeps while all of them run a block within (nested.c). All blocks within begin and
 * end at one place, so that in registers, of all threads, it would be kept across each of them: it goes there through memory
 * that the threads share. */
#include "device.h"
#include "support.h"

#include <llvm-c/Target.h>

/* The first load or store of the memory in b; NULL: there is none. */
static LLVMValueRef first_access(LLVMValueRef memory, LLVMBasicBlockRef b) {
    for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
        if ((LLVMIsALoadInst(v) && LLVMGetOperand(v, 0) == memory) ||
            (LLVMIsAStoreInst(v) && LLVMGetOperand(v, 1) == memory))
            return v;
    return NULL;
}

static void reach(LLVMBasicBlockRef b, LLVMBasicBlockRef *found, unsigned *n) {
    for (unsigned k = 0; k < *n; k++)
        if (found[k] == b) return;
    found[(*n)++] = b;
}

/* Blocks into which the memory is live, *found: room for all of the kernel's. */
static unsigned find_live(LLVMValueRef memory, LLVMBasicBlockRef *found) {
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(memory); u; u = LLVMGetNextUse(u)) {
        LLVMBasicBlockRef b = LLVMGetInstructionParent(LLVMGetUser(u));
        if (LLVMIsALoadInst(first_access(memory, b))) reach(b, found, &n);
    }
    for (unsigned k = 0; k < n; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(found[k])); u; u = LLVMGetNextUse(u)) {
            if (!LLVMIsATerminatorInst(LLVMGetUser(u))) continue;
            LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(u));
            if (!first_access(memory, from)) reach(from, found, &n);
        }
    return n;
}

/* Into a word that the threads share, and back behind the block. */
static void save(const rvm__build *k, const rvm__device_kernel *x, const rvm__device_pause *p, LLVMValueRef memory,
                 uint64_t word) {
    LLVMBuilderRef b = k->b;
    LLVMTypeRef t = LLVMGetAllocatedType(memory), whole = k->i64;
    const bool widens = LLVMGetTypeKind(t) == LLVMIntegerTypeKind && t != whole;
    LLVMPositionBuilderBefore(b, p->marker);
    LLVMValueRef v = LLVMBuildLoad2(b, t, memory, ""), at = rvm__build_int(k, (int64_t)word);
    LLVMBuildStore(b, widens ? LLVMBuildZExt(b, v, whole, "") : v,
                   LLVMBuildInBoundsGEP2(b, whole, x->cta.shared, &at, 1, ""));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(p->rest));
    v = LLVMBuildLoad2(b, widens ? whole : t, LLVMBuildInBoundsGEP2(b, whole, x->cta.shared, &at, 1, ""), "");
    LLVMBuildStore(b, widens ? LLVMBuildTrunc(b, v, t, "") : v, memory);
}

static bool fits_word(const rvm__build *k, LLVMValueRef memory) {
    return LLVMABISizeOfType(LLVMGetModuleDataLayout(k->module), LLVMGetAllocatedType(memory)) <= 8;
}

bool rvm__device_keep(const rvm__build *k, rvm__device_kernel *x, rvm__device_pause *pauses, unsigned n, LLVMValueRef before,
                      uint64_t most) {
    unsigned more = 0;
    const uint64_t from = x->frame / 8;
    const size_t size = LLVMCountBasicBlocks(x->kernel) * sizeof(LLVMBasicBlockRef);
    LLVMBasicBlockRef *live = rvm__realloc(k->al, NULL, 0, size);
    if (!live) return false;
    LLVMValueRef memory = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(x->kernel));
    for (; memory != before; memory = LLVMGetNextInstruction(memory)) {
        const unsigned nlive = fits_word(k, memory) ? find_live(memory, live) : 0;
        for (rvm__device_pause *p = pauses; p < pauses + n; p++)
            for (unsigned i = 0; i < nlive && 8 * (from + p->kept) < most; i++)
                if (live[i] == p->rest) save(k, x, p, memory, from + p->kept++);
    }
    for (unsigned i = 0; i < n; i++)
        if (pauses[i].kept > more) more = pauses[i].kept;
    x->frame += 8 * (uint64_t)more;
    rvm__realloc(k->al, live, size, 0);
    return true;
}
