/* uniform.c: which values of an instance differ between lanes, by a fixed point over the whole of it.
 *
 * The index does, what is read from private memory, and what is computed from such; at the post-dominator of a branch on
 * such a value, what is chosen there; and behind a loop that lanes leave at different trips, what it leaves.
 */
#include <string.h>

#include "flow.h"
#include "support.h"

static bool set_varying(rvm__flow *w, LLVMValueRef v) {
    rvm__item *i = rvm__item_of(w, v);
    if (!i || i->varying) return false;
    return i->varying = true;
}

static bool set_memory(rvm__flow *w, LLVMValueRef v, uint8_t memory) {
    rvm__item *i = rvm__item_of(w, v);
    const uint8_t now = i->memory == RVM__NOWHERE || memory == RVM__NOWHERE ? i->memory | memory
                        : i->memory == memory                               ? memory
                                                                            : RVM__MIXED;
    if (now == i->memory) return false;
    i->memory = now;
    return true;
}

static bool any_incoming(const rvm__flow *w, LLVMValueRef phi) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (rvm__is_varying(w, LLVMGetIncomingValue(phi, k))) return true;
    return false;
}

static bool reads_differently(const rvm__flow *w, LLVMValueRef v) {
    LLVMValueRef from;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAlloca: return false;
    case LLVMPHI: return any_incoming(w, v);
    case LLVMLoad: from = LLVMGetOperand(v, 0); return rvm__memory_of(w, from) != RVM__SHARED || rvm__is_varying(w, from);
    default: return rvm__any_varying(w, v);
    }
}

static bool follow_memory(rvm__flow *w, LLVMValueRef v) {
    bool changed = false;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind) return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAlloca: return set_memory(w, v, RVM__PRIVATE_MEMORY);
    case LLVMGetElementPtr:
    case LLVMFreeze: return set_memory(w, v, rvm__memory_of(w, LLVMGetOperand(v, 0)));
    case LLVMSelect:
        changed = set_memory(w, v, rvm__memory_of(w, LLVMGetOperand(v, 1)));
        return set_memory(w, v, rvm__memory_of(w, LLVMGetOperand(v, 2))) || changed;
    case LLVMPHI:
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            changed |= set_memory(w, v, rvm__memory_of(w, LLVMGetIncomingValue(v, k)));
        return changed;
    case LLVMCall:
        if (rvm__makes_array(v)) return set_memory(w, v, RVM__PRIVATE_MEMORY);
        break;
    default: break;
    }
    return set_memory(w, v, RVM__MIXED);
}

static bool set_phis(rvm__flow *w, uint32_t node) {
    bool changed = false;
    for (LLVMValueRef v = LLVMGetFirstInstruction(w->nodes[node].b); v && LLVMIsAPHINode(v); v = LLVMGetNextInstruction(v))
        changed |= set_varying(w, v);
    return changed;
}

/* The branch of node n diverges, and both successors stay in its loop. */
static bool part(rvm__flow *w, uint32_t n) {
    const uint32_t join = w->nodes[n].join;
    bool changed = false;
    uint8_t *reached = rvm__realloc(w->al, NULL, 0, w->n);
    if (!reached) return rvm__no_flow(w, "out of memory");
    memset(reached, 0, w->n);
    for (uint32_t s = 0; s < w->nodes[n].nout; s++) reached[w->nodes[n].out[s]] = 1;
    for (uint32_t k = w->n; k-- > 0;) {
        const uint32_t at = w->order[k];
        rvm__node *b = &w->nodes[at];
        if (!reached[at]) continue;
        if (b->nin > 1) changed |= set_phis(w, at);
        if (at == join) continue;
        if (!b->guarded) b->guarded = changed = true;
        if (!b->parted && b->loop != RVM__NO_LOOP && rvm__is_in_loop(w, n, b->loop)) b->parted = changed = true;
        for (uint32_t s = 0; s < b->nout; s++) reached[b->out[s]] = 1;
    }
    rvm__realloc(w->al, reached, w->n, 0);
    return changed;
}

static bool look_at_end(rvm__flow *w, uint32_t n) {
    const rvm__node *b = &w->nodes[n];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->b);
    const bool varies = b->nsucc == 2 && rvm__is_varying(w, LLVMGetCondition(end));
    bool leaves = false;
    for (uint32_t s = 0; s < b->nsucc; s++) leaves |= b->loop != RVM__NO_LOOP && !rvm__is_in_loop(w, b->succ[s], b->loop);
    if (!leaves) return varies && b->nout == 2 && part(w, n);
    rvm__loop *l = &w->loops[b->loop];
    if (b->parted) return rvm__no_flow(w, "a loop that is left under a condition");
    if (l->divergent || !varies) return false;
    l->divergent = true;
    set_phis(w, l->exit);
    return true;
}

bool rvm__uniform_find(rvm__flow *w) {
    for (bool changed = true; changed && !w->why;) {
        changed = false;
        for (uint32_t k = w->n; k-- > 0;) {
            LLVMBasicBlockRef b = w->nodes[w->order[k]].b;
            for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
                changed |= follow_memory(w, v);
                if (!rvm__is_varying(w, v) && reads_differently(w, v)) changed |= set_varying(w, v);
            }
            changed |= look_at_end(w, w->order[k]);
        }
    }
    return !w->why;
}
