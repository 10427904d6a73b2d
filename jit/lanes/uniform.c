/* uniform.c: which values of an instance differ between lanes, by a fixed point over the whole of it.
 *
 * The index does, what is read from private memory, and what is computed from such; at the post-dominator of a branch on
 * such a value, what is chosen there; and behind a loop that lanes leave at different trips, what it leaves.
 */
#include <string.h>

#include "group.h"
#include "support.h"

static bool set_varying(rvm__group *g, LLVMValueRef v) {
    rvm__item *i = rvm__item_of(g, v);
    if (!i || i->varying) return false;
    return i->varying = true;
}

static bool set_memory(rvm__group *g, LLVMValueRef v, uint8_t memory) {
    rvm__item *i = rvm__item_of(g, v);
    const uint8_t now = i->memory == RVM__NOWHERE || memory == RVM__NOWHERE ? i->memory | memory
                        : i->memory == memory                               ? memory
                                                                            : RVM__MIXED;
    if (now == i->memory) return false;
    i->memory = now;
    return true;
}

static bool any_operand(const rvm__group *g, LLVMValueRef v) {
    const int n = LLVMGetNumOperands(v);
    for (int k = 0; k < n; k++)
        if (rvm__is_varying(g, LLVMGetOperand(v, (unsigned)k))) return true;
    return false;
}

static bool any_incoming(const rvm__group *g, LLVMValueRef phi) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (rvm__is_varying(g, LLVMGetIncomingValue(phi, k))) return true;
    return false;
}

static bool reads_differently(const rvm__group *g, LLVMValueRef v) {
    LLVMValueRef from;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAlloca: return false;
    case LLVMPHI: return any_incoming(g, v);
    case LLVMLoad: from = LLVMGetOperand(v, 0); return rvm__memory_of(g, from) != RVM__SHARED || rvm__is_varying(g, from);
    default: return any_operand(g, v);
    }
}

static bool follow_memory(rvm__group *g, LLVMValueRef v) {
    bool changed = false;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind) return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAlloca: return set_memory(g, v, RVM__PRIVATE_MEMORY);
    case LLVMGetElementPtr:
    case LLVMFreeze: return set_memory(g, v, rvm__memory_of(g, LLVMGetOperand(v, 0)));
    case LLVMSelect:
        changed = set_memory(g, v, rvm__memory_of(g, LLVMGetOperand(v, 1)));
        return set_memory(g, v, rvm__memory_of(g, LLVMGetOperand(v, 2))) || changed;
    case LLVMPHI:
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            changed |= set_memory(g, v, rvm__memory_of(g, LLVMGetIncomingValue(v, k)));
        return changed;
    case LLVMCall:
        if (!strcmp(rvm__callee_name(v), "rvm__native_new")) return set_memory(g, v, RVM__PRIVATE_MEMORY);
        break;
    default: break;
    }
    return set_memory(g, v, RVM__MIXED);
}

static bool set_phis(rvm__group *g, uint32_t node) {
    bool changed = false;
    for (LLVMValueRef v = LLVMGetFirstInstruction(g->nodes[node].b); v && LLVMIsAPHINode(v); v = LLVMGetNextInstruction(v))
        changed |= set_varying(g, v);
    return changed;
}

/* The branch of node n diverges, and both successors stay in its loop. */
static bool part(rvm__group *g, uint32_t n) {
    const uint32_t join = g->nodes[n].join;
    bool changed = false;
    uint8_t *reached = rvm__realloc(&rvm__libc_allocator, NULL, 0, g->n);
    if (!reached) return rvm__no_group(g, "out of memory");
    memset(reached, 0, g->n);
    for (uint32_t s = 0; s < g->nodes[n].nout; s++) reached[g->nodes[n].out[s]] = 1;
    for (uint32_t k = g->n; k-- > 0;) {
        const uint32_t at = g->order[k];
        rvm__node *b = &g->nodes[at];
        if (!reached[at]) continue;
        if (b->nin > 1) changed |= set_phis(g, at);
        if (at == join) continue;
        if (!b->guarded) b->guarded = changed = true;
        for (uint32_t s = 0; s < b->nout; s++) reached[b->out[s]] = 1;
    }
    rvm__realloc(&rvm__libc_allocator, reached, g->n, 0);
    return changed;
}

/* Whether node n is passed by some of the lanes that are in the loop only. */
static bool is_partly(const rvm__group *g, uint32_t n, uint32_t loop) {
    return g->nodes[n].guarded && !g->nodes[g->loops[loop].header].guarded;
}

static bool look_at_end(rvm__group *g, uint32_t n) {
    const rvm__node *b = &g->nodes[n];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->b);
    const bool varies = b->nsucc == 2 && rvm__is_varying(g, LLVMGetCondition(end));
    bool leaves = false;
    for (uint32_t s = 0; s < b->nsucc; s++) leaves |= b->loop != RVM__NO_LOOP && !rvm__is_in_loop(g, b->succ[s], b->loop);
    if (!leaves) return varies && b->nout == 2 && part(g, n);
    rvm__loop *l = &g->loops[b->loop];
    if (is_partly(g, n, b->loop)) return rvm__no_group(g, "a loop that is left under a condition");
    if (l->divergent || !varies) return false;
    l->divergent = true;
    set_phis(g, l->exit);
    return true;
}

/* ---- what can be done in lanes ---- */

static bool is_plain_type(LLVMTypeRef t) {
    const LLVMTypeKind kind = LLVMGetTypeKind(t);
    return kind == LLVMDoubleTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 64);
}

static bool check_access(rvm__group *g, LLVMValueRef address, LLVMTypeRef t) {
    const uint8_t memory = rvm__memory_of(g, address);
    if (memory != RVM__SHARED && memory != RVM__PRIVATE_MEMORY) return rvm__no_group(g, "memory of an unknown kind");
    return is_plain_type(rvm__width_of(t) > 1 ? LLVMGetElementType(t) : t) ||
           rvm__no_group(g, "memory of another type than numbers");
}

static bool check_call(rvm__group *g, LLVMValueRef v) {
    const char *name = rvm__callee_name(v);
    if (!strncmp(name, "llvm.memset.", 12))
        return (rvm__memory_of(g, LLVMGetOperand(v, 0)) == RVM__PRIVATE_MEMORY && !any_operand(g, v)) ||
               rvm__no_group(g, "an array of a length of its own");
    if (!strncmp(name, "rvm__native_new", 15) || !strncmp(name, "rvm__native_del", 15))
        return !any_operand(g, v) || rvm__no_group(g, "a local array of a length of its own");
    if (!*name) return rvm__no_group(g, "a call of another kind");
    if (!LLVMIsDeclaration(LLVMGetCalledValue(v))) return rvm__no_group(g, "a call that stays one");
    if (!strncmp(name, "rvm__", 5)) return rvm__no_group(g, "a call of the machine");
    if (!strncmp(name, "llvm.memcpy", 11) || !strncmp(name, "llvm.memmove", 12))
        return rvm__no_group(g, "a call of another kind");
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVoidTypeKind || !rvm__is_varying(g, v)) return true;
    return rvm__is_group_function(v) || rvm__no_group(g, "a function that is not known in lanes");
}

static bool check_pointer(rvm__group *g, LLVMValueRef v) {
    for (int k = 0; k < LLVMGetNumOperands(v); k++) {
        if (rvm__memory_of(g, LLVMGetOperand(v, (unsigned)k)) == RVM__MIXED)
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
    case LLVMInsertValue: return !any_operand(g, v) || rvm__no_group(g, "an aggregate");
    case LLVMExtractElement: return LLVMIsAConstantInt(LLVMGetOperand(v, 1)) || rvm__no_group(g, "a vector");
    case LLVMInsertElement: return LLVMIsAConstantInt(LLVMGetOperand(v, 2)) || rvm__no_group(g, "a vector");
    default: return LLVMGetTypeKind(t) != LLVMVectorTypeKind || rvm__no_group(g, "a vector");
    }
}

bool rvm__uniform_find(rvm__group *g) {
    for (bool changed = true; changed && !g->why;) {
        changed = false;
        for (uint32_t k = g->n; k-- > 0;) {
            LLVMBasicBlockRef b = g->nodes[g->order[k]].b;
            for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
                changed |= follow_memory(g, v);
                if (!rvm__is_varying(g, v) && reads_differently(g, v)) changed |= set_varying(g, v);
            }
            changed |= look_at_end(g, g->order[k]);
        }
    }
    for (uint32_t k = 0; k < g->n; k++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->nodes[k].b); v && !g->why; v = LLVMGetNextInstruction(v))
            check(g, v);
    return !g->why;
}
