/* additions.c: what the instances of a kernel add to registers and to elements.
 *
 * To a register an instance adds one term after the other, each rounded into a partial sum; a kernel has no such sum at hand,
 * so terms are kept. An element to which all instances of a warp add, with none left out, gains what they add together. */
#include "device.h"

#include <stdio.h>
#include <string.h>

/* ---- registers ---- */

typedef struct chain {
    LLVMValueRef load, store, terms[RVM__MOST_TERMS];
    unsigned n;
} chain;

/* The load and the store of the parameter; false: there are others. */
static bool find_ends(LLVMValueRef parameter, chain *c) {
    for (LLVMUseRef u = LLVMGetFirstUse(parameter); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef v = LLVMGetUser(u);
        LLVMValueRef *end = LLVMIsALoadInst(v) ? &c->load : LLVMIsAStoreInst(v) ? &c->store : NULL;
        if (!end || *end) return false;
        *end = v;
    }
    return c->store;
}

/* Whether v is what was loaded and then some terms, the first of which come first. */
static bool follow(chain *c, LLVMValueRef v, LLVMBuilderRef b) {
    if (v == c->load) return true;
    const LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : (LLVMOpcode)0;
    if ((op != LLVMFAdd && op != LLVMFSub) || c->n == RVM__MOST_TERMS) return false;
    const unsigned before = c->n;
    for (unsigned k = 0; k < (op == LLVMFAdd ? 2u : 1u); k++) {
        c->n = before;
        if (!follow(c, LLVMGetOperand(v, k), b) || c->n == RVM__MOST_TERMS) continue;
        LLVMValueRef term = LLVMGetOperand(v, 1 - k);
        LLVMPositionBuilderBefore(b, c->store);
        c->terms[c->n++] = op == LLVMFSub ? LLVMBuildFNeg(b, term, "") : term;
        return true;
    }
    return false;
}

static bool has_one_use(LLVMValueRef v) {
    LLVMUseRef u = LLVMGetFirstUse(v);
    return u && !LLVMGetNextUse(u);
}

static void take_apart(const rvm__build *k, rvm__device_kernel *x, unsigned n) {
    LLVMValueRef to = LLVMGetParam(x->instance, RVM__VECTORISED_SUMS + n);
    const rvm_type type = (rvm_type)x->from->sum_types[n];
    chain c = {0};
    x->terms[n] = 1;
    if (!rvm__is_floating(type) || !LLVMGetFirstUse(to)) return; /* of i64 and fix any order will do */
    const bool plain = find_ends(to, &c) && c.load && has_one_use(c.load) && type == RVM_F64;
    if (!plain || !follow(&c, LLVMGetOperand(c.store, 0), k->b) || !c.n) {
        if (!k->fast)
            x->why = "it adds to a register under a condition, in a loop or in f32, in an order of its own unless math is fast";
        return;
    }
    LLVMPositionBuilderBefore(k->b, c.store);
    for (unsigned t = 0; t < c.n; t++) {
        LLVMValueRef at = LLVMConstInt(k->i64, t, false);
        LLVMBuildStore(k->b, c.terms[t], LLVMBuildInBoundsGEP2(k->b, k->f64, to, &at, 1, ""));
    }
    LLVMInstructionEraseFromParent(c.store);
    x->terms[n] = c.n;
}

/* ---- elements ---- */

/* Whether all instances come here that begin, at once. */
static bool is_common(const rvm__flow *w, LLVMBasicBlockRef b) {
    const uint32_t n = rvm__node_of(w, b);
    if (n == RVM__NO_NODE || w->nodes[n].guarded) return false;
    for (uint32_t l = w->nodes[n].loop; l != RVM__NO_LOOP; l = w->loops[l].parent)
        if (w->loops[l].divergent || w->nodes[w->loops[l].header].guarded) return false;
    return true;
}

/* The argument of the kernel that an address is in; none of them: the last one and one more. */
static unsigned argument_of(const rvm__device_kernel *x, LLVMValueRef p) {
    while (LLVMIsAGetElementPtrInst(p)) p = LLVMGetOperand(p, 0);
    for (unsigned n = 0; n < x->from->nargs; n++)
        if (LLVMGetParam(x->instance, RVM__VECTORISED_SUMS + x->from->sums + n) == p) return n;
    return x->from->nargs;
}

static void call_in_place(const rvm__build *k, LLVMValueRef call, const char *prefix) {
    LLVMValueRef args[2] = {LLVMGetOperand(call, 0), LLVMGetOperand(call, 1)};
    LLVMTypeRef t[2] = {k->ptr, LLVMTypeOf(args[1])}, type = LLVMFunctionType(k->nothing, t, 2, false);
    char name[40];
    snprintf(name, sizeof name, "%s%s", prefix, rvm__callee_name(call) + strlen(RVM__ADD));
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    if (!f) f = LLVMAddFunction(k->module, name, type);
    LLVMPositionBuilderBefore(k->b, call);
    LLVMBuildCall2(k->b, type, f, args, 2, "");
    LLVMInstructionEraseFromParent(call);
}

static bool is_addition(LLVMValueRef v) {
    return LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), RVM__ADD, strlen(RVM__ADD));
}

static void no_copies(rvm__device_kernel *x, int32_t root, bool all) {
    for (unsigned n = 0; n < x->from->nargs; n++)
        if (all || x->from->args[n].root == root) x->by_copies[n] = false;
}

static void look_at(const rvm__build *k, rvm__device_kernel *x, const rvm__flow *w, LLVMValueRef call) {
    LLVMValueRef p = LLVMGetOperand(call, 0);
    const bool real = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, 1))) == LLVMDoubleTypeKind;
    const bool warp = real && !w->why && is_common(w, LLVMGetInstructionParent(call)) && !rvm__is_varying(w, p);
    const unsigned n = argument_of(x, p);
    if (real && !k->fast && !warp)
        x->why = "its instances add into elements that differ, in their order unless math is fast";
    x->logs |= real && !k->fast;
    if (n == x->from->nargs || !warp || !k->fast) no_copies(x, n == x->from->nargs ? 0 : x->from->args[n].root, n == x->from->nargs);
    call_in_place(k, call, warp ? RVM__ADD_WARP : RVM__ADD_EACH);
}

static void look_at_elements(const rvm__build *k, rvm__device_kernel *x) {
    rvm__flow w = {.function = x->instance, .al = k->al};
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->instance); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) any |= is_addition(v);
    for (unsigned n = 0; n < x->from->nargs; n++) x->by_copies[n] = any && x->from->args[n].shared;
    if (!any) return;
    if (rvm__flow_begin(&w) && rvm__graph_find(&w)) rvm__uniform_find(&w);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->instance); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (is_addition(v)) look_at(k, x, &w, v);
        }
    rvm__flow_end(&w);
    for (unsigned n = 0; n < x->from->nargs; n++) x->copied |= x->by_copies[n];
}

/* Whether it asks for memory while it runs. */
static bool makes_arrays(LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (LLVMIsACallInst(v) && !strcmp(rvm__callee_name(v), "rvm__native_new")) return true;
    return false;
}

void rvm__device_additions(const rvm__build *k, rvm__device_kernel *x) {
    x->arena = makes_arrays(x->instance);
    for (unsigned n = 0; n < x->from->sums && !x->why; n++) take_apart(k, x, n);
    if (!x->why) look_at_elements(k, x);
}
