/* additions.c: what the instances of a kernel add to registers and to elements.
 *
 * To a register an instance adds one term after the other, each rounded into a partial sum; a kernel has no such sum at
 * hand, so terms are kept. An element to which all instances of a warp add, with none left out, gains what they add
 * together. Where the order counts, additions are kept: to such elements addition by addition, to others with the element's
 * address; all to one array alike, since they are one sum. */
#include "device.h"

#include <stdio.h>
#include <string.h>

/* ---- registers ---- */

typedef struct chain {
    LLVMValueRef load, store;
    LLVMValueRef first[8]; /* additions to what was loaded, on some way */
    unsigned nfirst;
} chain;
enum { MOST_WAYS = 4, MOST_DEPTH = 64, MOST_FIRST = 8 };

/* The load and the store of the parameter; false: there are others. */
static bool find_ends(LLVMValueRef parameter, chain *c) {
    for (LLVMUseRef u = LLVMGetFirstUse(parameter); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef v = LLVMGetUser(u);
        LLVMValueRef *end = LLVMIsALoadInst(v) ? &c->load : LLVMIsAStoreInst(v) ? &c->store : NULL;
        if (!end || *end) return false;
        *end = v;
    }
    return c->load && c->store;
}

typedef struct terms {
    LLVMValueRef v[RVM__MOST_TERMS];
    unsigned n;
} terms;

static bool follow(const rvm__build *k, chain *c, LLVMValueRef v, terms *t, unsigned depth);

static bool is_first(const chain *c, LLVMValueRef v) {
    for (unsigned n = 0; n < c->nfirst; n++)
        if (c->first[n] == v) return true;
    return false;
}

static bool note_first(chain *c, LLVMValueRef v) {
    if (is_first(c, v)) return true;
    if (c->nfirst == MOST_FIRST) return false;
    c->first[c->nfirst++] = v;
    return true;
}

/* Where ways meet: each must have as many terms. */
static bool follow_ways(const rvm__build *k, chain *c, LLVMValueRef phi, terms *t, unsigned depth) {
    const unsigned n = LLVMCountIncoming(phi);
    terms way[MOST_WAYS];
    if (n > MOST_WAYS) return false;
    for (unsigned w = 0; w < n; w++)
        if (!follow(k, c, LLVMGetIncomingValue(phi, w), &way[w], depth) || way[w].n != way[0].n) return false;
    t->n = way[0].n;
    LLVMPositionBuilderBefore(k->b, phi);
    for (unsigned i = 0; i < t->n; i++) {
        t->v[i] = LLVMBuildPhi(k->b, k->f64, "");
        for (unsigned w = 0; w < n; w++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, w);
            LLVMAddIncoming(t->v[i], &way[w].v[i], &from, 1);
        }
    }
    return true;
}

/* Whether v is what was loaded and then some terms, in their order. */
static bool follow(const rvm__build *k, chain *c, LLVMValueRef v, terms *t, unsigned depth) {
    t->n = 0;
    if (v == c->load) return true;
    if (!LLVMIsAInstruction(v) || !depth) return false;
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMPHI) return follow_ways(k, c, v, t, depth - 1);
    if (op != LLVMFAdd && op != LLVMFSub) return false;
    for (unsigned o = 0; o < (op == LLVMFAdd ? 2u : 1u); o++) {
        if (!follow(k, c, LLVMGetOperand(v, o), t, depth - 1) || t->n == RVM__MOST_TERMS) continue;
        if (!t->n && LLVMGetOperand(v, o) == c->load && !note_first(c, v)) return false;
        LLVMValueRef term = LLVMGetOperand(v, 1 - o);
        LLVMPositionBuilderBefore(k->b, v);
        t->v[t->n++] = op == LLVMFSub ? LLVMBuildFNeg(k->b, term, "") : term;
        return true;
    }
    return false;
}

/* What was loaded goes into these additions, and nowhere else. */
static bool is_used_so(const chain *c) {
    for (LLVMUseRef u = LLVMGetFirstUse(c->load); u; u = LLVMGetNextUse(u))
        if (!is_first(c, LLVMGetUser(u))) return false;
    return true;
}

/* What is added to the function's parameter becomes *n terms, one behind the other. False: not in an order that is known. */
static bool take_apart(const rvm__build *k, LLVMValueRef to, rvm_type type, uint64_t *n) {
    chain c = {0};
    *n = 1;
    if (!rvm__is_floating(type) || !LLVMGetFirstUse(to)) return true; /* of i64 and fix any order will do */
    terms t = {.n = 0};
    const bool plain = find_ends(to, &c) && type == RVM_F64;
    if (plain && LLVMGetOperand(c.store, 0) == c.load) { /* nothing; the term stays what adds nothing */
        LLVMInstructionEraseFromParent(c.store);
        return !LLVMGetFirstUse(c.load);
    }
    if (!plain || !follow(k, &c, LLVMGetOperand(c.store, 0), &t, MOST_DEPTH) || !is_used_so(&c) || !t.n) return false;
    LLVMPositionBuilderBefore(k->b, c.store);
    for (unsigned i = 0; i < t.n; i++) {
        LLVMValueRef at = LLVMConstInt(k->i64, i, false);
        LLVMBuildStore(k->b, t.v[i], LLVMBuildInBoundsGEP2(k->b, k->f64, to, &at, 1, ""));
    }
    LLVMInstructionEraseFromParent(c.store);
    *n = t.n;
    return true;
}

/* With fast math an instance has one term, whatever its order. */
static void look_at_sum(const rvm__build *k, rvm__device_kernel *x, LLVMValueRef f, unsigned n, rvm_type type,
                        uint64_t *to) {
    if (take_apart(k, LLVMGetParam(f, RVM__VECTORISED_SUMS + n), type, to) || k->fast) return;
    x->why = "it adds to a register under a condition, in a loop or in f32, in an order of its own unless math is fast";
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

static bool is_real(LLVMValueRef call) {
    return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, 1))) == LLVMDoubleTypeKind;
}

/* Of all that is in the same array, or of all. */
static void mark(const rvm__device_kernel *x, bool *marks, int origin, bool to) {
    for (unsigned a = 0; a < x->from->nargs; a++)
        if (origin < 0 || x->from->args[a].root == x->from->args[origin].root) marks[a] = to;
}

static bool is_summed(const rvm__device_kernel *x, int origin) {
    return origin >= 0 && x->from->args[origin].summed;
}

/* Whether there may be an array that is not only added into: what is added there may be used by the same instance. */
static bool may_be_used(const rvm__device_kernel *x, int origin) {
    for (unsigned a = 0; a < x->from->nargs; a++)
        if (x->from->args[a].shared && x->from->args[a].own && (origin < 0 || (unsigned)origin == a)) return true;
    return false;
}

static const char used[] =
    "it adds to elements of an array that it does not only add to, in an order of its own unless math is fast";
static const char unknown[] = "it adds to what may be several instances' or one's own";

/* Whether all instances of a warp add there, to one element. */
static bool is_of_warp(const rvm__flow *w, LLVMValueRef call) {
    return is_real(call) && !w->why && is_common(w, LLVMGetInstructionParent(call)) &&
           !rvm__is_varying(w, LLVMGetOperand(call, 0));
}

static void look_at(const rvm__build *k, rvm__device_kernel *x, const rvm__flow *w, LLVMValueRef call) {
    const bool warp = is_of_warp(w, call), ordered = is_real(call) && !k->fast;
    const int from = rvm__device_origin(x, NULL, LLVMGetOperand(call, 0));
    if (from == RVM__FROM_INSTANCE) return;
    if (from == RVM__FROM_ANYWHERE) x->why = unknown;
    if (ordered && may_be_used(x, from)) x->why = used;
    if (ordered && (!warp || !is_summed(x, from))) mark(x, x->by_entries, from, true);
    if (from < 0 || !warp || !k->fast) mark(x, x->by_copies, from, false);
}

static void change(const rvm__build *k, rvm__device_kernel *x, const rvm__flow *w, LLVMValueRef call) {
    const int from = rvm__device_origin(x, NULL, LLVMGetOperand(call, 0));
    if (from == RVM__FROM_INSTANCE) {
        rvm__device_add_plainly(k, call);
        return;
    }
    const bool ordered = is_real(call) && !k->fast, entered = ordered && (from < 0 || x->by_entries[from]);
    x->enters |= entered;
    x->logs |= ordered && !entered;
    call_in_place(k, call, entered ? RVM__ADD_ENTRY : is_of_warp(w, call) ? RVM__ADD_WARP : RVM__ADD_EACH);
}

typedef void looking(const rvm__build *k, rvm__device_kernel *x, const rvm__flow *w, LLVMValueRef call);

static bool each_addition(const rvm__build *k, rvm__device_kernel *x, const rvm__flow *w, looking *look) {
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->instance); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (!is_addition(v)) continue;
            if (look) look(k, x, w, v);
            any = true;
        }
    return any;
}

static void look_at_elements(const rvm__build *k, rvm__device_kernel *x) {
    rvm__flow w = {.function = x->instance, .al = k->al};
    if (!each_addition(k, x, &w, NULL)) return;
    for (unsigned n = 0; n < x->from->nargs; n++) x->by_copies[n] = x->from->args[n].shared;
    if (rvm__flow_begin(&w) && rvm__graph_find(&w)) rvm__uniform_find(&w);
    each_addition(k, x, &w, look_at);
    each_addition(k, x, &w, change);
    rvm__flow_end(&w);
    for (unsigned n = 0; n < x->from->nargs; n++) x->copied |= x->by_copies[n];
}

/* ---- of a CTA to each instance ---- */

/* Whether the order counts in which several instances add. */
static bool is_ordered(const rvm__build *k, int from, LLVMValueRef call) {
    return is_real(call) && !k->fast && (from >= 0 || from == RVM__FROM_SEVERAL);
}

/* In what is the instance's, or its copy, threads that run a block within have elements of their own, unless its instances
 * meet there. */
static void change_shared(const rvm__build *k, rvm__device_kernel *x, rvm__device_within *within, LLVMValueRef call) {
    const int from = rvm__device_origin(x, within, LLVMGetOperand(call, 0));
    const bool meets = within && rvm__device_meets(x, within, LLVMGetOperand(call, 0));
    const bool own = from == RVM__FROM_INSTANCE, copy = from >= 0 && x->by_copies[from];
    if (from == RVM__FROM_THREAD || (own && !meets))
        rvm__device_add_plainly(k, call);
    else if (is_ordered(k, from, call))
        call_in_place(k, call, within ? RVM__ADD_WITHIN : x->enters ? RVM__ADD_ENTRY : RVM__ADD_WARP);
    else if (meets && (own || copy)) {
        within->meets |= is_real(call);
        call_in_place(k, call, RVM__ADD_MET);
    } else
        call_in_place(k, call, copy ? RVM__ADD_OWN : RVM__ADD_EACH);
}

/* Which arrays have copies, and whether additions are kept. */
static void look_at_shared(const rvm__build *k, rvm__device_kernel *x, rvm__device_within *within, LLVMValueRef call) {
    const int from = rvm__device_origin(x, within, LLVMGetOperand(call, 0));
    if (from == RVM__FROM_ANYWHERE) x->why = unknown;
    if (is_ordered(k, from, call) && may_be_used(x, from)) x->why = used;
    x->logs |= is_ordered(k, from, call);
    if (within) within->adds |= is_ordered(k, from, call);
    if (from == RVM__FROM_SEVERAL || (from >= 0 && (!is_real(call) || !is_summed(x, from))))
        mark(x, x->by_copies, from, false);
}

typedef void sharing(const rvm__build *k, rvm__device_kernel *x, rvm__device_within *within, LLVMValueRef call);

static void each_shared(const rvm__build *k, rvm__device_kernel *x, sharing *look) {
    for (unsigned n = 0; n <= x->nwithin; n++) {
        rvm__device_within *within = n ? &x->within[n - 1] : NULL;
        LLVMValueRef f = within ? within->function : x->instance;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
                next = LLVMGetNextInstruction(v);
                if (is_addition(v)) look(k, x, within, v);
            }
    }
}

/* ---- the same, strictly: where all instances add to the same elements, in the same order, addition by addition; else all
 * additions are kept with their elements ---- */

static bool has_order(const rvm__build *k, const rvm__device_kernel *x, const rvm__flow *w,
                      const rvm__device_within *within) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            if (!is_addition(v)) continue;
            const int from = rvm__device_origin(x, within, LLVMGetOperand(v, 0));
            if (!is_ordered(k, from, v)) continue;
            if (!is_summed(x, from) || w->why || !is_common(w, b) || rvm__is_varying(w, LLVMGetOperand(v, 0))) return false;
        }
    return true;
}

/* Sums of blocks within may differ, which is not seen of the marker. */
static bool begin_flow(rvm__flow *w) {
    if (!rvm__flow_begin(w) || !rvm__graph_find(w)) return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), RVM__NESTED_SUM, strlen(RVM__NESTED_SUM)))
                rvm__item_of(w, v)->varying = true;
    return true;
}

/* What an instance of a block within takes differs where it does in the instance around; its index does not. */
static bool hand_down(const rvm__flow *around, rvm__flow *w, const rvm__device_within *within, LLVMValueRef marker) {
    const bool same = is_common(around, LLVMGetInstructionParent(marker)) &&
                      !rvm__is_varying(around, LLVMGetOperand(marker, RVM__NESTED_LO)) &&
                      !rvm__is_varying(around, LLVMGetOperand(marker, RVM__NESTED_COUNT));
    for (unsigned p = RVM__VECTORISED_SUMS + within->sums; p < LLVMCountParams(w->function); p++) {
        LLVMValueRef v = LLVMGetOperand(marker, RVM__NESTED_SUMS - RVM__VECTORISED_SUMS + p);
        rvm__item *i = rvm__item_of(w, LLVMGetParam(w->function, p));
        i->varying |= rvm__is_varying(around, v);
        if (i->memory && rvm__memory_of(around, v) != RVM__SHARED) i->memory = RVM__PRIVATE_MEMORY;
    }
    return same;
}

static bool has_order_within(const rvm__build *k, const rvm__device_kernel *x, const rvm__flow *around,
                             rvm__device_within *within) {
    rvm__flow w = {.function = within->function, .al = k->al};
    if (!within->adds) return true;
    bool good = rvm__flow_begin(&w) && rvm__graph_find(&w);
    if (good) rvm__item_of(&w, LLVMGetParam(w.function, RVM__VECTORISED_INDEX))->varying = false;
    for (LLVMUseRef u = LLVMGetFirstUse(within->marker); u && good; u = LLVMGetNextUse(u))
        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(LLVMGetUser(u))) == x->instance)
            good = hand_down(around, &w, within, LLVMGetUser(u));
    good = good && rvm__uniform_find(&w) && has_order(k, x, &w, within);
    rvm__flow_end(&w);
    return good;
}

static void look_at_order(const rvm__build *k, rvm__device_kernel *x) {
    rvm__flow w = {.function = x->instance, .al = k->al};
    bool good = begin_flow(&w) && rvm__uniform_find(&w) && has_order(k, x, &w, NULL);
    for (unsigned n = 0; n < x->nwithin && good; n++) good = has_order_within(k, x, &w, &x->within[n]);
    rvm__flow_end(&w);
    x->logs = good;
    x->enters = !good;
    if (x->enters) mark(x, x->by_entries, RVM__FROM_SEVERAL, true);
}

static void look_at_all_shared(const rvm__build *k, rvm__device_kernel *x) {
    for (unsigned n = 0; n < x->from->nargs; n++) x->by_copies[n] = k->fast && x->from->args[n].shared;
    each_shared(k, x, look_at_shared);
    if (x->why) return;
    if (x->logs) look_at_order(k, x);
    each_shared(k, x, change_shared);
    for (unsigned n = 0; n < x->nwithin; n++) x->arena |= x->within[n].meets;
    for (unsigned n = 0; n < x->from->nargs; n++) x->copied |= x->by_copies[n];
}

static bool calls(LLVMValueRef v, const char *name) {
    return LLVMIsACallInst(v) && !strcmp(rvm__callee_name(v), name);
}

/* Whether it asks for memory while it runs. */
static bool makes_arrays(LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (calls(v, "rvm__native_new")) return true;
    return false;
}

enum { MOST_LOCAL = 16 << 10 }; /* bytes of a thread, of which a device has hundreds of thousands at once */

/* Of all arrays that it asks memory for; UINT64_MAX: not known. */
static uint64_t bytes_of_arrays(LLVMValueRef f) {
    uint64_t bytes = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            if (!calls(v, "rvm__native_new")) continue;
            LLVMValueRef n = LLVMGetOperand(v, 1);
            if (!LLVMIsAConstantInt(n) || LLVMConstIntGetZExtValue(n) > MOST_LOCAL) return UINT64_MAX;
            bytes += RVM__ARRAY_HEADER + 8 * LLVMConstIntGetZExtValue(n);
        }
    return bytes;
}

static LLVMValueRef local_array(const rvm__build *k, LLVMValueRef f, LLVMValueRef n) {
    const uint64_t words = RVM__ARRAY_HEADER / 8 + LLVMConstIntGetZExtValue(n);
    LLVMPositionBuilderBefore(k->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
    LLVMValueRef p = LLVMBuildAlloca(k->b, LLVMArrayType2(k->i64, words), "");
    LLVMSetAlignment(p, RVM__ARRAY_HEADER);
    return p;
}

/* What makes such an array, which is there but once at a time, becomes a thread's own memory. */
static void place_arrays(const rvm__build *k, LLVMValueRef f) {
    LLVMValueRef fill = LLVMGetNamedFunction(k->module, "rvm.device.fill");
    LLVMSetCurrentDebugLocation2(k->b, NULL);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            const bool makes = calls(v, "rvm__native_new");
            if (makes) {
                LLVMValueRef args[3] = {local_array(k, f, LLVMGetOperand(v, 1)), LLVMGetOperand(v, 1), LLVMGetOperand(v, 2)};
                LLVMPositionBuilderBefore(k->b, v);
                LLVMBuildCall2(k->b, LLVMGlobalGetValueType(fill), fill, args, 3, "");
                LLVMReplaceAllUsesWith(v, args[0]);
            }
            if (makes || calls(v, "rvm__native_del")) LLVMInstructionEraseFromParent(v);
        }
}

static void look_within(const rvm__build *k, rvm__device_kernel *x) {
    for (unsigned n = 0; n < x->nwithin && !x->why; n++) {
        rvm__device_within *one = &x->within[n];
        const uint64_t bytes = bytes_of_arrays(one->function);
        if (bytes == UINT64_MAX) x->why = "a block within has local arrays of a length that is known when it runs";
        if (bytes != UINT64_MAX && bytes > MOST_LOCAL) x->why = "a block within has local arrays that take too much memory";
        if (bytes && !x->why) place_arrays(k, one->function);
        for (unsigned s = 0; s < one->sums && !x->why; s++) {
            const bool real = LLVMTypeOf(LLVMGetParam(one->marker, RVM__NESTED_SUMS + s)) == k->f64;
            look_at_sum(k, x, one->function, s, real ? RVM_F64 : RVM_I64, &one->terms[s]);
        }
    }
    if (!x->why) look_at_all_shared(k, x);
}

void rvm__device_additions(const rvm__build *k, rvm__device_kernel *x) {
    x->arena = makes_arrays(x->instance);
    for (unsigned n = 0; n < x->from->sums && !x->why; n++)
        look_at_sum(k, x, x->instance, n, (rvm_type)x->from->sum_types[n], &x->terms[n]);
    if (x->why) return;
    if (x->nested)
        look_within(k, x);
    else
        look_at_elements(k, x);
}
