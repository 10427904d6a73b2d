/* limits.c: which instances become groups: every instruction is one that lanes know, and there is enough to gain. */
#include "group.h"

#include <string.h>

static bool is_plain_type(LLVMTypeRef t) {
    const LLVMTypeKind kind = LLVMGetTypeKind(t);
    return kind == LLVMDoubleTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 64);
}

static bool check_access(rvm__group *g, LLVMValueRef address, LLVMTypeRef t) {
    const uint8_t memory = rvm__memory_of(&g->flow, address);
    if (memory != RVM__SHARED && memory != RVM__PRIVATE_MEMORY) return rvm__no_group(g, "memory of an unknown kind");
    return is_plain_type(rvm__width_of(t) > 1 ? LLVMGetElementType(t) : t) ||
           rvm__no_group(g, "memory of another type than numbers");
}

static bool check_call(rvm__group *g, LLVMValueRef v) {
    const char *name = rvm__callee_name(v);
    if (!strncmp(name, "llvm.memset.", 12))
        return (rvm__memory_of(&g->flow, LLVMGetOperand(v, 0)) == RVM__PRIVATE_MEMORY && !rvm__any_varying(&g->flow, v)) ||
               rvm__no_group(g, "an array of a length of its own");
    if (!strncmp(name, "rvm__native_new", 15) || !strncmp(name, "rvm__native_del", 15))
        return !rvm__any_varying(&g->flow, v) || rvm__no_group(g, "a local array of a length of its own");
    if (!strcmp(name, RVM__RAISE))
        return rvm__can_raise(g, v) || rvm__no_group(g, "arrays that are one here and another there");
    if (!*name) return rvm__no_group(g, "a call of another kind");
    if (!LLVMIsDeclaration(LLVMGetCalledValue(v))) return rvm__no_group(g, "a call that stays one");
    if (!strncmp(name, "rvm__", 5)) return rvm__no_group(g, "a call of the machine");
    if (!strncmp(name, "llvm.memcpy", 11) || !strncmp(name, "llvm.memmove", 12))
        return rvm__no_group(g, "a call of another kind");
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVoidTypeKind || !rvm__is_varying(&g->flow, v)) return true;
    return rvm__is_group_function(v) || rvm__no_group(g, "a function that is not known in lanes");
}

static bool check_pointer(rvm__group *g, LLVMValueRef v) {
    for (int k = 0; k < LLVMGetNumOperands(v); k++) {
        if (rvm__memory_of(&g->flow, LLVMGetOperand(v, (unsigned)k)) == RVM__MIXED)
            return rvm__no_group(g, "a number that is an address");
    }
    return true;
}

static bool check(rvm__group *g, LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMLoad: return check_access(g, LLVMGetOperand(v, 0), t);
    case LLVMStore: return check_access(g, LLVMGetOperand(v, 1), LLVMTypeOf(LLVMGetOperand(v, 0)));
    case LLVMCall: return check_call(g, v);
    case LLVMAlloca: return LLVMIsConstant(LLVMGetOperand(v, 0)) || rvm__no_group(g, "memory of a length of its own");
    case LLVMPtrToInt: return check_pointer(g, v);
    case LLVMGetElementPtr: return LLVMGetTypeKind(t) == LLVMPointerTypeKind || rvm__no_group(g, "a vector");
    case LLVMExtractValue:
    case LLVMInsertValue: return !rvm__any_varying(&g->flow, v) || rvm__no_group(g, "an aggregate");
    case LLVMExtractElement: return LLVMIsAConstantInt(LLVMGetOperand(v, 1)) || rvm__no_group(g, "a vector");
    case LLVMInsertElement: return LLVMIsAConstantInt(LLVMGetOperand(v, 2)) || rvm__no_group(g, "a vector");
    default: return LLVMGetTypeKind(t) != LLVMVectorTypeKind || rvm__no_group(g, "a vector");
    }
}

bool rvm__can_group(rvm__group *g) {
    for (uint32_t k = 0; k < g->flow.n; k++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[k].b); v && !g->flow.why; v = LLVMGetNextInstruction(v))
            check(g, v);
    return !g->flow.why;
}

/* Functions that are called lane by lane cost more than in one instance: what is in vectors is put away around each call.
 * The rest must save that, by as many instructions as there are other lanes. A loop counts as eight trips. */
bool rvm__is_worth_it(rvm__group *g) {
    enum { AROUND_CALL = 12, TRIPS = 8, MOST = 1 << 24 };
    double won = 0, lost = 0;
    for (uint32_t n = 0; n < g->flow.n; n++) {
        double times = 1;
        for (uint32_t l = g->flow.nodes[n].loop; l != RVM__NO_LOOP && times < MOST; l = g->flow.loops[l].parent)
            times *= TRIPS;
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b); v; v = LLVMGetNextInstruction(v))
            if (rvm__is_varying(&g->flow, v)) *(rvm__is_lane_by_lane(g, v) ? &lost : &won) += times;
    }
    return lost * AROUND_CALL * g->lanes <= won * (g->lanes - 1) ||
           rvm__no_group(g, "functions that are called for one instance after the other");
}
