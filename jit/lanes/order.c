/* order.c: whether instances that add to elements they share may do so in lanes where the order of sums counts.
 *
 * A group adds what its lanes have at one addition, by the tree or lane by lane, before it comes to the next; that is the
 * order of docs/semantics.md, section 9, if an instance adds to each element but once. Where all lanes add at the same
 * address, and whoever comes there does, the addresses are those of every instance of the block. So a function of the same
 * parameters, run once before the block's first group, goes through what is uniform of an instance, without a store, and
 * asks of each address whether it is a new one (rvm__native_is_new). 0: all were; 1: not, or it cannot be told. Additions of
 * which it is known before that they are not all of that kind are not asked about: they are kept (later.c).
 */
#include <stddef.h>
#include <string.h>

#include "group.h"
#include "native.h"

static bool counts(const rvm__group *g, LLVMValueRef v) {
    return !rvm__item_of(&g->flow, v)->later && rvm__adds_in_order(&g->flow, v);
}

void rvm__order_begin(rvm__group *g) {
    g->seen = rvm__group_local(g, LLVMArrayType2(g->k->i64, sizeof(rvm__native_seen) / sizeof(uint64_t)));
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef at =
            LLVMConstInt(g->k->i64, k ? offsetof(rvm__native_seen, last) : offsetof(rvm__native_seen, n), false);
        LLVMBuildStore(g->k->b, LLVMConstNull(g->k->i64), LLVMBuildGEP2(g->k->b, g->k->i8, g->seen, &at, 1, ""));
    }
}

void rvm__order_add(rvm__group *g, LLVMValueRef call) {
    static const char name[] = "rvm__native_is_new";
    if (!counts(g, call)) return;
    LLVMTypeRef params[2] = {g->k->ptr, g->k->ptr}, t = LLVMFunctionType(g->k->i1, params, 2, false);
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, name), args[2] = {g->seen, rvm__one(g, LLVMGetOperand(call, 0))};
    if (!f) f = LLVMAddFunction(g->k->module, name, t);
    rvm__bail_group_out(g, LLVMBuildNot(g->k->b, LLVMBuildCall2(g->k->b, t, f, args, 2, ""), ""));
}

/* What an address is part of. */
static LLVMValueRef whole_of(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsAFreezeInst(address)) address = LLVMGetOperand(address, 0);
    return address;
}

/* ---- what is gone through ---- */

bool rvm__is_traced(const rvm__group *g, LLVMValueRef v) {
    if (rvm__is_varying(&g->flow, v)) return false;
    return LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind || rvm__memory_of(&g->flow, v) != RVM__PRIVATE_MEMORY;
}

static bool is_private(const rvm__group *g, LLVMValueRef v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind && rvm__memory_of(&g->flow, v) == RVM__PRIVATE_MEMORY;
}

static bool is_made(LLVMValueRef whole) {
    return LLVMIsNull(whole) || LLVMIsAAllocaInst(whole) || LLVMIsACallInst(whole) || LLVMIsAArgument(whole);
}

/* What is asked of private addresses: they are not NULL, and two local arrays are not one. More is not known. */
static bool asks_for_private(rvm__group *g, LLVMValueRef v) {
    bool any = false;
    for (int k = 0; k < LLVMGetNumOperands(v); k++) any |= is_private(g, LLVMGetOperand(v, (unsigned)k));
    if (!any) return false;
    const LLVMIntPredicate p = LLVMIsAICmpInst(v) ? LLVMGetICmpPredicate(v) : LLVMIntULT;
    LLVMValueRef x = whole_of(LLVMGetOperand(v, 0)), y = LLVMIsAICmpInst(v) ? whole_of(LLVMGetOperand(v, 1)) : x;
    if ((p == LLVMIntEQ || p == LLVMIntNE) && x != y && is_made(x) && is_made(y))
        rvm__item_of(&g->flow, v)->one = LLVMConstInt(g->k->i1, p == LLVMIntNE, false);
    else
        rvm__no_group(g, "what depends on where a local array is");
    return true;
}

bool rvm__leave_untraced(rvm__group *g, LLVMValueRef v) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMStore || op == LLVMAlloca) return true;
    if (op == LLVMCall) return false; /* it knows */
    return !rvm__is_traced(g, v) || asks_for_private(g, v);
}
