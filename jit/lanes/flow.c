/* flow.c: an instance's blocks and values, in tables. Nothing of the instruction set is known here: only LLVM's
 * instructions. */
#include "flow.h"
#include "lanes.h"
#include "support.h"

#include <string.h>

static size_t hash(const void *v) {
    uint64_t x = (uintptr_t)v;
    x = (x >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(x >> 20);
}

static rvm__item *slot_of(const rvm__flow *w, LLVMValueRef v) {
    for (size_t k = hash(v);; k++) {
        rvm__item *i = &w->items[k & (w->cap_items - 1)];
        if (!i->v || i->v == v) return i;
    }
}

rvm__item *rvm__item_of(const rvm__flow *w, LLVMValueRef v) {
    rvm__item *i = slot_of(w, v);
    return i->v ? i : NULL;
}

bool rvm__is_varying(const rvm__flow *w, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(w, v);
    return i && i->varying;
}

bool rvm__any_varying(const rvm__flow *w, LLVMValueRef v) {
    const int n = LLVMGetNumOperands(v);
    for (int k = 0; k < n; k++)
        if (rvm__is_varying(w, LLVMGetOperand(v, (unsigned)k))) return true;
    return false;
}

uint8_t rvm__memory_of(const rvm__flow *w, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(w, v);
    if (i) return i->memory;
    return LLVMIsAGlobalVariable(v) ? RVM__SHARED : RVM__NOWHERE;
}

uint32_t rvm__node_of(const rvm__flow *w, LLVMBasicBlockRef b) {
    const rvm__item *i = rvm__item_of(w, LLVMBasicBlockAsValue(b));
    return i ? i->node : RVM__NO_NODE;
}

const char *rvm__callee_name(LLVMValueRef call) {
    LLVMValueRef f = LLVMGetCalledValue(call);
    size_t length;
    return LLVMIsAFunction(f) ? LLVMGetValueName2(f, &length) : "";
}

bool rvm__may_bail_out(LLVMValueRef v) {
    return LLVMIsACallInst(v) && !strcmp(rvm__callee_name(v), RVM__BAIL_OUT) && !LLVMIsNull(LLVMGetOperand(v, 0));
}

LLVMValueRef rvm__object_of(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address)) address = LLVMGetOperand(address, 0);
    return address;
}

bool rvm__makes_array(LLVMValueRef call) {
    return !strncmp(rvm__callee_name(call), "rvm__native_new", 15);
}

bool rvm__changes_shared(const rvm__flow *w, LLVMValueRef v) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMStore) return rvm__memory_of(w, LLVMGetOperand(v, 1)) == RVM__SHARED;
    return op == LLVMCall && !strncmp(rvm__callee_name(v), RVM__ADD, strlen(RVM__ADD)) && !rvm__item_of(w, v)->later;
}

static rvm__item *add_item(rvm__flow *w, LLVMValueRef v) {
    rvm__item *i = slot_of(w, v);
    i->v = v;
    return i;
}

bool rvm__flow_begin(rvm__flow *w) {
    uint32_t values = LLVMCountParams(w->function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->function); b; b = LLVMGetNextBasicBlock(b)) {
        w->n += !rvm__is_dead_end(b);
        values++;
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) values++;
    }
    if (!w->n) return rvm__no_flow(w, "an instance bails out in any case");
    for (w->cap_items = 64; w->cap_items < 2 * values; w->cap_items *= 2) {}
    w->items = rvm__realloc(w->al, NULL, 0, w->cap_items * sizeof *w->items);
    w->nodes = rvm__realloc(w->al, NULL, 0, w->n * sizeof *w->nodes);
    w->loops = rvm__realloc(w->al, NULL, 0, w->n * sizeof *w->loops);
    w->order = rvm__realloc(w->al, NULL, 0, w->n * sizeof *w->order);
    w->before = rvm__realloc(w->al, NULL, 0, 2 * (size_t)w->n * sizeof *w->before);
    if (!w->items || !w->nodes || !w->loops || !w->order || !w->before) return rvm__no_flow(w, "out of memory");
    memset(w->items, 0, w->cap_items * sizeof *w->items);
    memset(w->nodes, 0, w->n * sizeof *w->nodes);
    uint32_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->function); b; b = LLVMGetNextBasicBlock(b)) {
        if (!rvm__is_dead_end(b)) {
            add_item(w, LLVMBasicBlockAsValue(b))->node = n;
            w->nodes[n++].b = b;
        }
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) add_item(w, v);
    }
    for (unsigned k = 0; k < LLVMCountParams(w->function); k++) {
        LLVMValueRef v = LLVMGetParam(w->function, k);
        add_item(w, v);
        if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind) continue;
        const bool private = LLVMGetStringAttributeAtIndex(w->function, k + 1, RVM__PRIVATE, strlen(RVM__PRIVATE)) != NULL;
        rvm__item_of(w, v)->memory = private ? RVM__PRIVATE_MEMORY : RVM__SHARED;
    }
    rvm__item_of(w, LLVMGetParam(w->function, RVM__VECTORISED_INDEX))->varying = true;
    return true;
}

void rvm__flow_end(rvm__flow *w) {
    rvm__realloc(w->al, w->items, w->cap_items * sizeof *w->items, 0);
    rvm__realloc(w->al, w->nodes, w->n * sizeof *w->nodes, 0);
    rvm__realloc(w->al, w->loops, w->n * sizeof *w->loops, 0);
    rvm__realloc(w->al, w->order, w->n * sizeof *w->order, 0);
    rvm__realloc(w->al, w->before, 2 * (size_t)w->n * sizeof *w->before, 0);
}
