/* within.c: blocks within an instance, before that is inlined: the functions of their instances, each for one kernel. */
#include "device.h"
#include "lanes.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

const rvm__device_within *rvm__device_within_of(const rvm__device_kernel *x, LLVMValueRef marker) {
    for (unsigned n = 0; n < x->nwithin; n++)
        if (x->within[n].marker == LLVMGetCalledValue(marker)) return &x->within[n];
    return NULL;
}

static LLVMValueRef function_of(const rvm__build *k, LLVMValueRef marker) {
    return rvm__instance_function(k, RVM__INSTANCE,
                                  (unsigned)strtoul(rvm__callee_name(marker) + strlen(RVM__NESTED), NULL, 10));
}

/* The function takes addresses of sums where the marker has sums; all else is the same. */
static unsigned sums_of(LLVMValueRef f, LLVMValueRef marker) {
    const unsigned taken = LLVMCountParams(f) - RVM__VECTORISED_SUMS;
    unsigned n = 0;
    while (n < taken &&
           LLVMTypeOf(LLVMGetOperand(marker, RVM__NESTED_SUMS + n)) != LLVMTypeOf(LLVMGetParam(f, RVM__VECTORISED_SUMS + n)))
        n++;
    return n;
}

/* A function becomes part of one kernel, and is changed for that. */
#define TAKEN_BY    "rvm-taken"
#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)

static void copy_attributes(LLVMValueRef from, LLVMValueRef to) {
    enum { MOST = 32 };
    LLVMAttributeRef a[MOST];
    for (unsigned p = 1; p <= LLVMCountParams(from); p++) {
        const unsigned n = LLVMGetAttributeCountAtIndex(from, p);
        if (n > MOST) continue;
        LLVMGetAttributesAtIndex(from, p, a);
        for (unsigned i = 0; i < n; i++) LLVMAddAttributeAtIndex(to, p, a[i]);
    }
}

/* Another one for another kernel, which for now calls it: LLVM's interface for C clones no functions, but inlines them. */
static LLVMValueRef copy_of(const rvm__build *k, LLVMValueRef f) {
    static const char noinline[] = "noinline", always[] = "alwaysinline";
    LLVMTypeRef type = LLVMGlobalGetValueType(f);
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS], to = LLVMAddFunction(k->module, "rvm.copy", type);
    copy_attributes(f, to);
    LLVMRemoveEnumAttributeAtIndex(f, OF_FUNCTION, LLVMGetEnumAttributeKindForName(noinline, sizeof noinline - 1));
    LLVMAddAttributeAtIndex(
        f, OF_FUNCTION, LLVMCreateEnumAttribute(k->context, LLVMGetEnumAttributeKindForName(always, sizeof always - 1), 0));
    LLVMGetParams(to, args);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, to, "entry"));
    LLVMSetCurrentDebugLocation2(k->b, NULL);
    LLVMBuildRet(k->b, LLVMBuildCall2(k->b, type, f, args, LLVMCountParams(to), ""));
    return to;
}

void rvm__device_find_within(const rvm__build *k, rvm__device_kernel *x, bool *copies) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->instance); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            const bool marks = LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), RVM__NESTED, strlen(RVM__NESTED));
            if (!marks || rvm__device_within_of(x, v)) continue;
            LLVMValueRef f = function_of(k, v);
            if (x->nwithin == RVM__MOST_WITHIN) {
                x->why = "it has too many blocks within";
                return;
            }
            if (LLVMGetStringAttributeAtIndex(f, OF_FUNCTION, TAKEN_BY, strlen(TAKEN_BY))) {
                f = copy_of(k, f);
                *copies = true;
            } else
                LLVMAddAttributeAtIndex(f, OF_FUNCTION,
                                        LLVMCreateStringAttribute(k->context, TAKEN_BY, strlen(TAKEN_BY), "", 0));
            x->within[x->nwithin++] =
                (rvm__device_within){.function = f, .marker = LLVMGetCalledValue(v), .sums = sums_of(f, v)};
        }
    if (!x->nwithin) x->why = "there is no block within that its threads could share";
}
