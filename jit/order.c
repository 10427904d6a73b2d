/* order.c: whether instances that add to elements they share may do so in lanes where the order of sums counts.
 *
 * Each element gains in the order of instances. A group adds what its lanes have at one addition, lane by lane, before it
 * comes to the next; that is the same order if an instance adds to each element but once. Where all lanes add at the same
 * address, and whoever comes there does, the addresses are those of every instance of the block. So a function of the same
 * parameters, run once before the block's first group, goes through what is uniform of an instance, without a store, and
 * keeps the lowest and the highest address of each array: a new one must be below or above. 0: that was so; 1: not, or it
 * cannot be told.
 */
#include <string.h>

#include "group.h"

static bool adds_reals(const rvm__group *g, LLVMValueRef v) {
    return LLVMGetInstructionOpcode(v) == LLVMCall && !strcmp(rvm__callee_name(v), RVM__ADD "f64") &&
           rvm__memory_of(g, LLVMGetOperand(v, 0)) == RVM__SHARED;
}

/* What an address is part of. */
static LLVMValueRef whole_of(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsAFreezeInst(address)) address = LLVMGetOperand(address, 0);
    return address;
}

/* The number of the parameter that an address is part of; more than there are: it cannot be told. */
static unsigned root_of(const rvm__group *g, LLVMValueRef address) {
    const unsigned n = LLVMCountParams(g->from);
    address = whole_of(address);
    for (unsigned k = 0; k < n; k++)
        if (LLVMGetParam(g->from, k) == address) return k;
    return n;
}

/* Whether not all instances come to the node equally often. */
static bool is_partly(const rvm__group *g, uint32_t n) {
    bool partly = g->nodes[n].guarded;
    for (uint32_t l = g->nodes[n].loop; l != RVM__NO_LOOP; l = g->loops[l].parent) partly |= g->loops[l].divergent;
    return partly;
}

static bool find_roots(rvm__group *g) {
    for (uint32_t n = 0; n < g->n; n++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->nodes[n].b); v; v = LLVMGetNextInstruction(v)) {
            if (!adds_reals(g, v)) continue;
            LLVMValueRef to = LLVMGetOperand(v, 0);
            const unsigned root = root_of(g, to);
            if (is_partly(g, n) || rvm__is_varying(g, to) || root == LLVMCountParams(g->from))
                return rvm__no_group(g, "additions to the same element, in an order that counts");
            g->bounds[root].used = true;
        }
    return true;
}

static void make_bounds(rvm__group *g) {
    for (unsigned k = 0; k < LLVMCountParams(g->from); k++) {
        rvm__bounds *r = &g->bounds[k];
        if (!r->used) continue;
        r->low = rvm__group_local(g, g->k->i64);
        r->high = rvm__group_local(g, g->k->i64);
        LLVMBuildStore(g->k->b, LLVMConstAllOnes(g->k->i64), r->low);
        LLVMBuildStore(g->k->b, LLVMConstNull(g->k->i64), r->high);
    }
}

bool rvm__order_begin(rvm__group *g) {
    if (!find_roots(g)) return false;
    make_bounds(g);
    return true;
}

void rvm__order_add(rvm__group *g, LLVMValueRef call) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef t = g->k->i64;
    if (!adds_reals(g, call)) return;
    const rvm__bounds *r = &g->bounds[root_of(g, LLVMGetOperand(call, 0))];
    LLVMValueRef at = LLVMBuildPtrToInt(b, rvm__one(g, LLVMGetOperand(call, 0)), t, "");
    LLVMValueRef low = LLVMBuildLoad2(b, t, r->low, ""), high = LLVMBuildLoad2(b, t, r->high, "");
    LLVMValueRef below = LLVMBuildICmp(b, LLVMIntULT, at, low, ""), above = LLVMBuildICmp(b, LLVMIntUGT, at, high, "");
    rvm__give_group_up(g, LLVMBuildNot(b, LLVMBuildOr(b, below, above, ""), ""));
    LLVMBuildStore(b, LLVMBuildSelect(b, below, at, low, ""), r->low);
    LLVMBuildStore(b, LLVMBuildSelect(b, above, at, high, ""), r->high);
}

/* Of two arrays none may lie within the bounds of the other. */
void rvm__order_end(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef t = g->k->i64;
    const unsigned n = LLVMCountParams(g->from);
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < k; i++) {
            const rvm__bounds *x = &g->bounds[i], *y = &g->bounds[k];
            if (!x->used || !y->used) continue;
            LLVMValueRef below =
                LLVMBuildICmp(b, LLVMIntULT, LLVMBuildLoad2(b, t, x->high, ""), LLVMBuildLoad2(b, t, y->low, ""), "");
            LLVMValueRef above =
                LLVMBuildICmp(b, LLVMIntULT, LLVMBuildLoad2(b, t, y->high, ""), LLVMBuildLoad2(b, t, x->low, ""), "");
            rvm__give_group_up(g, LLVMBuildNot(b, LLVMBuildOr(b, below, above, ""), ""));
        }
}

/* ---- what is gone through ---- */

bool rvm__is_traced(const rvm__group *g, LLVMValueRef v) {
    if (rvm__is_varying(g, v)) return false;
    return LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind || rvm__memory_of(g, v) != RVM__PRIVATE_MEMORY;
}

static bool is_private(const rvm__group *g, LLVMValueRef v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind && rvm__memory_of(g, v) == RVM__PRIVATE_MEMORY;
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
        rvm__item_of(g, v)->one = LLVMConstInt(g->k->i1, p == LLVMIntNE, false);
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
