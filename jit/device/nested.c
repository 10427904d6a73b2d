/* nested.c: a kernel whose CTAs each have an instance (kernel_ir.c). The first thread walks it; at a block within all meet,
 * and each thread runs every so manieth of that block's instances:
 *
 *     first thread ──▶ says which block, and what it takes ──┐ meet ┌▶ for (k = own number; k < n; k += threads) instance k
 *         ▲                                                  └──────┘         │
 *         └───────────────────────── goes on behind it ◀────── meet ◀────────┘
 *
 * Each barrier stands where all threads come, whatever the instance does: the first one leaves its code there, and enters it
 * again behind (threads.c). Memory that all of them see is laid out in words
 *
 *     which block | one has failed | sums of registers, 8, and what was charged | their parts, 8 x 8 | terms .. |
 *     local arrays .. | what it takes .. | what the first thread keeps ..
 *
 * where terms are those of 256 instances of a block within, a chunk of semantics, section 9: what they add to a register is
 * summed as it says there. What several of them add to one element of the instance waits, in their order, behind its local
 * arrays; once a chunk is done, each thread adds what is for elements of its own, by groups of eight instances if these gain
 * so. */
#include "device.h"
#include "aside.h"
#include "lanes.h"
#include "support.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHICH, FAILED, SUMS, PARTS = SUMS + RVM__NESTED_CHARGED + 1, TERMS = PARTS + 8 * RVM__MOST_NESTED_SUMS };
enum { GROUP = 8, CHUNK = 256, MOST_SITES = 64, MOST_FRAME = 40 << 10, MOST_DEPTH = 8 };

typedef struct site {
    LLVMValueRef marker;
    const rvm__device_within *within; /* NULL: what all of them do by the element: a local array appears, or
                                         RVM__NESTED_ASIDE */
    LLVMBasicBlockRef inner, rest;    /* where all run its instances; where the first thread goes on */
    LLVMValueRef lo, count, slot, args[RVM__MOST_VECTORISED_ARGS]; /* there: what an instance takes */
    LLVMValueRef met;                                              /* there, where additions wait; or NULL; */
    LLVMValueRef summed;                                           /* there, what gains by groups, if anything may */
    unsigned taken;                                                /* words that are handed over */
} site;

typedef struct nesting {
    const rvm__build *k;
    rvm__device_kernel *x;
    site *sites;
    unsigned n;
} nesting;

static LLVMValueRef number(const nesting *w, int64_t v) {
    return rvm__build_int(w->k, v);
}

static LLVMValueRef behind(const nesting *w, LLVMValueRef p, LLVMValueRef bytes) {
    return LLVMBuildInBoundsGEP2(w->k->b, w->k->i8, p, &bytes, 1, "");
}

static LLVMValueRef word(const nesting *w, unsigned n) {
    return behind(w, w->x->cta.shared, number(w, 8 * (int64_t)n));
}

static LLVMValueRef call(const nesting *w, const char *name, unsigned n, LLVMValueRef *args) {
    LLVMValueRef f = LLVMGetNamedFunction(w->k->module, name);
    return LLVMBuildCall2(w->k->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* A loop for j = own number .. n in steps of the threads: what is built before it ends is its body. */
typedef struct share {
    LLVMValueRef j;
    LLVMBasicBlockRef head, done;
} share;

static LLVMBasicBlockRef block(const nesting *w, const char *name) {
    return LLVMAppendBasicBlockInContext(w->k->context, w->x->kernel, name);
}

static share share_begin(const nesting *w, LLVMValueRef n) {
    LLVMBuilderRef b = w->k->b;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), body = block(w, "one");
    share s = {.head = block(w, "each"), .done = block(w, "done")};
    LLVMBuildBr(b, s.head);
    LLVMPositionBuilderAtEnd(b, s.head);
    s.j = LLVMBuildPhi(b, w->k->i64, "");
    LLVMAddIncoming(s.j, (LLVMValueRef[]){w->x->cta.tid}, &here, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, s.j, n, ""), body, s.done);
    LLVMPositionBuilderAtEnd(b, body);
    return s;
}

static void share_end(const nesting *w, const share *s) {
    LLVMBuilderRef b = w->k->b;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMValueRef next = LLVMBuildAdd(b, s->j, w->x->cta.threads, "");
    LLVMBuildBr(b, s->head);
    LLVMAddIncoming(s->j, &next, &here, 1);
    LLVMPositionBuilderAtEnd(b, s->done);
}

static bool is_named(LLVMValueRef v, const char *prefix) {
    return LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), prefix, strlen(prefix));
}

/* ---- what a block takes ---- */

static bool is_of_wrapper(const rvm__device_kernel *x, LLVMValueRef v) {
    for (unsigned n = 0; n < RVM__CTA_BLOCKS; n++)
        if (x->cta.blocks[n] == LLVMGetInstructionParent(v)) return true;
    return false;
}

static bool is_simple(LLVMValueRef v) {
    if (LLVMIsAGetElementPtrInst(v) || LLVMIsACastInst(v) || LLVMIsAICmpInst(v) || LLVMIsASelectInst(v)) return true;
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    return op == LLVMAdd || op == LLVMSub || op == LLVMMul || op == LLVMShl;
}

/* Whether each thread can compute it: of parameters, and of what the kernel has before the instance. */
static bool is_known_to_all(const rvm__device_kernel *x, LLVMValueRef v, unsigned depth) {
    if (!LLVMIsAInstruction(v) || is_of_wrapper(x, v)) return true;
    if (depth == MOST_DEPTH || !is_simple(v)) return false;
    for (int o = 0; o < LLVMGetNumOperands(v); o++)
        if (!is_known_to_all(x, LLVMGetOperand(v, (unsigned)o), depth + 1)) return false;
    return true;
}

/* Once more, here. */
static LLVMValueRef again(const nesting *w, LLVMValueRef v) {
    if (!LLVMIsAInstruction(v) || is_of_wrapper(w->x, v)) return v;
    const int n = LLVMGetNumOperands(v);
    LLVMValueRef made = LLVMInstructionClone(v);
    for (int o = 0; o < n; o++) LLVMSetOperand(made, (unsigned)o, again(w, LLVMGetOperand(v, (unsigned)o)));
    LLVMInsertIntoBuilder(w->k->b, made);
    return made;
}

/* A value of the first thread, where all are at this block. */
static LLVMValueRef hand_over(const nesting *w, site *s, LLVMValueRef v) {
    LLVMBuilderRef b = w->k->b;
    if (is_known_to_all(w->x, v, 0)) {
        LLVMPositionBuilderAtEnd(b, s->inner);
        return again(w, v);
    }
    LLVMPositionBuilderBefore(b, s->marker);
    LLVMValueRef at = number(w, (int64_t)w->x->frame + 8 * (int64_t)s->taken++);
    LLVMBuildStore(b, v, behind(w, w->x->cta.shared, at));
    LLVMPositionBuilderAtEnd(b, s->inner);
    return LLVMBuildLoad2(b, LLVMTypeOf(v), behind(w, w->x->cta.shared, at), "");
}

/* What each instance charges, where that is known; else NULL. */
static LLVMValueRef charge_of(const site *s) {
    LLVMValueRef found = NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMGetParam(s->within->function, RVM__VECTORISED_OUT)); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef store = LLVMGetUser(u);
        if (LLVMIsAGetElementPtrInst(store)) continue; /* of another count */
        if (found || !LLVMIsAStoreInst(store) || !LLVMIsAConstantInt(LLVMGetOperand(store, 0))) return NULL;
        found = LLVMGetOperand(store, 0);
    }
    return found;
}
_Static_assert(RVM__VECTORISED_CHARGED == 0, "it stands first");

/* Of additions that are kept each instance has as many, used or not. */
static void reserve_slots(const nesting *w, site *s, LLVMValueRef count) {
    LLVMBuilderRef b = w->k->b;
    const rvm__device_cta *c = &w->x->cta;
    LLVMPositionBuilderBefore(b, s->marker);
    LLVMValueRef slot = LLVMBuildLoad2(b, w->k->i64, c->slot, "");
    LLVMBuildStore(b, LLVMBuildAdd(b, slot, LLVMBuildMul(b, count, c->each, ""), ""), c->slot);
    s->slot = hand_over(w, s, slot);
}

/* Of so many elements. */
static LLVMValueRef call_marker(const nesting *w, const char *name, LLVMTypeRef result, LLVMValueRef n) {
    LLVMTypeRef type = LLVMFunctionType(result, (LLVMTypeRef[]){w->k->i64}, 1, false);
    LLVMValueRef f = LLVMGetNamedFunction(w->k->module, name);
    if (!f) f = LLVMAddFunction(w->k->module, name, type);
    return LLVMBuildCall2(w->k->b, type, f, &n, 1, "");
}

static LLVMValueRef smaller(const nesting *w, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(w->k->b, LLVMBuildICmp(w->k->b, LLVMIntULT, a, b, ""), a, b, "");
}

/* Room for what instances of a chunk add to elements at which they meet, of two words each. */
static void reserve_met(const nesting *w, site *s, LLVMValueRef count) {
    LLVMBuilderRef b = w->k->b;
    LLVMPositionBuilderBefore(b, s->marker);
    LLVMValueRef each = LLVMBuildShl(b, w->x->cta.most_met, number(w, 1), "");
    LLVMValueRef words = LLVMBuildMul(b, smaller(w, count, number(w, CHUNK)), each, "");
    LLVMValueRef p = call_marker(w, RVM__NESTED_NEW, w->k->ptr, words);
    s->met = hand_over(w, s, behind(w, p, number(w, RVM__ARRAY_HEADER)));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(s->rest));
    call_marker(w, RVM__NESTED_DEL, w->k->nothing, words);
}

/* Whether instances may add to elements that gain by groups of eight; then they mostly add alike. */
static bool is_alike(const site *s) {
    return s->met && !LLVMIsAConstantPointerNull(LLVMGetOperand(s->marker, RVM__NESTED_SUMMED));
}

static void hand_over_all(const nesting *w, site *s) {
    LLVMBuilderRef b = w->k->b;
    const unsigned sums = s->within->sums, n = LLVMCountParams(s->within->function);
    LLVMValueRef trips = w->x->cta.trips, count = LLVMGetOperand(s->marker, RVM__NESTED_COUNT);
    LLVMPositionBuilderBefore(b, s->marker);
    LLVMValueRef most = LLVMBuildLoad2(b, w->k->i64, trips, ""), more = LLVMBuildICmp(b, LLVMIntUGT, count, most, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, more, count, most, ""), trips);
    for (unsigned i = 0; i < sums; i++)
        LLVMBuildStore(b, LLVMGetOperand(s->marker, RVM__NESTED_SUMS + i), word(w, SUMS + i));
    LLVMValueRef each = charge_of(s), charged = each ? LLVMBuildMul(b, count, each, "") : number(w, 0);
    LLVMBuildStore(b, charged, word(w, SUMS + RVM__NESTED_CHARGED));
    s->lo = hand_over(w, s, LLVMGetOperand(s->marker, RVM__NESTED_LO));
    s->count = hand_over(w, s, count);
    if (s->within->adds) reserve_slots(w, s, count);
    if (s->within->meets) reserve_met(w, s, count);
    if (is_alike(s)) s->summed = hand_over(w, s, LLVMGetOperand(s->marker, RVM__NESTED_SUMMED));
    s->args[0] = LLVMConstNull(w->k->ptr);
    s->args[1] = hand_over(w, s, LLVMGetOperand(s->marker, RVM__NESTED_FRAME));
    s->args[RVM__VECTORISED_OUT] = w->x->cta.out;
    for (unsigned p = RVM__VECTORISED_SUMS + sums; p < n; p++)
        s->args[p] = hand_over(w, s, LLVMGetOperand(s->marker, RVM__NESTED_SUMS - RVM__VECTORISED_SUMS + p));
}

/* ---- its instances ---- */

static unsigned terms_of(const rvm__device_within *within) {
    unsigned n = 0;
    for (unsigned s = 0; s < within->sums; s++) n += (unsigned)within->terms[s];
    return n;
}

static LLVMTypeRef type_of_sum(const site *s, unsigned n) {
    return LLVMTypeOf(LLVMGetOperand(s->marker, RVM__NESTED_SUMS + n));
}

/* The terms of the j-th instance of a chunk, which add nothing yet. */
static void begin_terms(const nesting *w, site *s, LLVMValueRef j) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef at = behind(w, word(w, TERMS), LLVMBuildMul(b, j, number(w, 8 * (int64_t)terms_of(s->within)), ""));
    for (unsigned n = 0, t = 0; n < s->within->sums; n++) {
        s->args[RVM__VECTORISED_SUMS + n] = behind(w, at, number(w, 8 * (int64_t)t));
        LLVMValueRef none = type_of_sum(s, n) == w->k->f64 ? LLVMConstReal(w->k->f64, -0.0) : number(w, 0);
        for (const unsigned end = t + (unsigned)s->within->terms[n]; t < end; t++)
            LLVMBuildStore(b, none, behind(w, at, number(w, 8 * (int64_t)t)));
    }
}

/* In the order in which the block's instances run. */
static LLVMValueRef begin_slots(const nesting *w, const site *s) {
    LLVMBuilderRef b = w->k->b;
    const bool up = LLVMConstIntGetZExtValue(LLVMGetOperand(s->marker, RVM__NESTED_UP));
    LLVMValueRef k = LLVMBuildSub(b, s->args[RVM__VECTORISED_INDEX], s->lo, "");
    if (!up) k = LLVMBuildSub(b, LLVMBuildSub(b, s->count, number(w, 1), ""), k, "");
    LLVMValueRef slot = LLVMBuildAdd(b, s->slot, LLVMBuildMul(b, k, w->x->cta.each, ""), "");
    LLVMBuildStore(b, slot, w->x->cta.slot_within);
    return slot;
}

/* If there were too few, another try has more. */
static void end_slots(const nesting *w, LLVMValueRef slot) {
    const rvm__device_cta *c = &w->x->cta;
    LLVMValueRef used = LLVMBuildSub(w->k->b, LLVMBuildLoad2(w->k->b, w->k->i64, c->slot_within, ""), slot, "");
    if (w->x->enters) {
        LLVMValueRef from = LLVMBuildLoad2(w->k->b, w->k->i64, c->slot_within, "");
        LLVMValueRef to = LLVMBuildAdd(w->k->b, slot, c->each, "");
        call(w, "rvm.device.no_entries", 5, (LLVMValueRef[]){c->entries, c->row, c->width, from, to});
    }
    rvm__device_bail_out(w->k, call(w, "rvm.device.lacks_slots", 3, (LLVMValueRef[]){c->control, used, c->each}));
}

/* Of the j-th of m instances of a chunk: in their order; where it begins. */
static LLVMValueRef begin_met(const nesting *w, const site *s, LLVMValueRef j, LLVMValueRef m) {
    LLVMBuilderRef b = w->k->b;
    const rvm__device_cta *c = &w->x->cta;
    if (!LLVMConstIntGetZExtValue(LLVMGetOperand(s->marker, RVM__NESTED_UP)))
        j = LLVMBuildSub(b, LLVMBuildSub(b, m, number(w, 1), ""), j, "");
    LLVMValueRef slot = LLVMBuildMul(b, j, c->most_met, "");
    LLVMBuildStore(b, s->met, c->met);
    LLVMBuildStore(b, slot, c->slot_met);
    LLVMBuildStore(b, LLVMBuildAdd(b, slot, c->most_met, ""), c->met_end);
    return slot;
}

static void end_met(const nesting *w, const site *s, LLVMValueRef slot) {
    LLVMBuilderRef b = w->k->b;
    const rvm__device_cta *c = &w->x->cta;
    LLVMValueRef from = LLVMBuildLoad2(b, w->k->i64, c->slot_met, ""), used = LLVMBuildSub(b, from, slot, "");
    LLVMValueRef to = LLVMBuildAdd(b, slot, c->most_met, "");
    call(w, "rvm.device.no_entries", 5, (LLVMValueRef[]){s->met, number(w, 0), to, from, to});
    rvm__device_bail_out(w->k, call(w, "rvm.device.lacks_met", 3, (LLVMValueRef[]){c->control, used, c->most_met}));
}

static void add_to(const nesting *w, LLVMValueRef at, LLVMValueRef v) {
    LLVMBuildStore(w->k->b, LLVMBuildAdd(w->k->b, LLVMBuildLoad2(w->k->b, w->k->i64, at, ""), v, ""), at);
}

/* This thread's of m instances, from that index on. */
static void run_instances(const nesting *w, site *s, LLVMValueRef first, LLVMValueRef m) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef f = s->within->function;
    const rvm__device_cta *c = &w->x->cta;
    const bool charges = !charge_of(s);
    if (charges) LLVMBuildStore(b, number(w, 0), c->charged);
    const share all = share_begin(w, m);
    s->args[RVM__VECTORISED_INDEX] = LLVMBuildAdd(b, first, all.j, "");
    begin_terms(w, s, all.j);
    LLVMValueRef slot = s->within->adds ? begin_slots(w, s) : NULL;
    LLVMValueRef met = s->met ? begin_met(w, s, all.j, m) : NULL;
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(s->marker)); /* whose lines come to stand there */
    LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, s->args, LLVMCountParams(f), "");
    LLVMSetCurrentDebugLocation2(b, NULL);
    if (slot) end_slots(w, slot);
    if (met) end_met(w, s, met);
    rvm__device_add_counts(w->k, c->out, c->counts, RVM__VECTORISED_CHARGED + 1);
    if (charges) add_to(w, c->charged, LLVMBuildLoad2(b, w->k->i64, c->out, ""));
    share_end(w, &all);
    if (!charges) return;
    LLVMValueRef charged = LLVMBuildLoad2(b, w->k->i64, c->charged, "");
    call(w, "rvm.device.add_together", 3, (LLVMValueRef[]){word(w, SUMS + RVM__NESTED_CHARGED), charged, c->lane});
}

static void meet(const nesting *w) {
    rvm__device_cta *c = &w->x->cta;
    call(w, "rvm.device.meet", 2, (LLVMValueRef[]){c->shared, LLVMConstInt(w->k->i32, c->places++, false)});
}

static void add_all_met(const nesting *w, const site *s, LLVMValueRef m) {
    const rvm__device_cta *c = &w->x->cta;
    LLVMValueRef all = LLVMBuildMul(w->k->b, m, c->most_met, "");
    call(w, "rvm.device.add_all_met", 4, (LLVMValueRef[]){s->met, all, c->tid, c->threads});
}

/* Where nothing else is between two chunks. */
static LLVMValueRef differs_at(const nesting *w) {
    return word(w, PARTS);
}

/* The same, where all m > 1 instances add to the same elements in the same order: then addition by addition, which takes no
 * look at what is for others. */
static void add_alike(const nesting *w, const site *s, LLVMValueRef m) {
    LLVMBuilderRef b = w->k->b;
    const rvm__device_cta *c = &w->x->cta;
    LLVMBasicBlockRef alike = block(w, "alike"), others = block(w, "others"), on = block(w, "on");
    const bool up = LLVMConstIntGetZExtValue(LLVMGetOperand(s->marker, RVM__NESTED_UP));
    LLVMValueRef lacking = LLVMBuildAnd(b, LLVMBuildNeg(b, m, ""), number(w, GROUP - 1), "");
    LLVMValueRef args[] = {s->met, m, c->most_met, up ? number(w, 0) : lacking, s->summed, c->tid, c->threads};
    call(w, "rvm.device.look_alike", 6, (LLVMValueRef[]){s->met, m, c->most_met, c->tid, c->threads, differs_at(w)});
    meet(w);
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildLoad2(b, w->k->i64, differs_at(w), ""), number(w, 0), "");
    LLVMValueRef several = LLVMBuildICmp(b, LLVMIntUGT, m, number(w, 1), "");
    LLVMBuildCondBr(b, LLVMBuildAnd(b, same, several, ""), alike, others);
    LLVMPositionBuilderAtEnd(b, alike);
    call(w, "rvm.device.link_same", 4, (LLVMValueRef[]){s->met, c->most_met, c->tid, c->threads});
    meet(w);
    call(w, "rvm.device.add_alike", 7, args);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, others);
    call(w, "rvm.device.sum_groups", 7, args);
    meet(w);
    add_all_met(w, s, m);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, on);
}

/* What waits of a chunk of m instances. */
static void add_met(const nesting *w, const site *s, LLVMValueRef m) {
    (is_alike(s) ? add_alike : add_all_met)(w, s, m);
    meet(w);
}

/* Of a chunk of m instances. */
static void add_sums(const nesting *w, const site *s, LLVMValueRef m) {
    LLVMValueRef stride = number(w, terms_of(s->within)), up = LLVMGetOperand(s->marker, RVM__NESTED_UP);
    for (unsigned n = 0, t = 0; n < s->within->sums; t += (unsigned)s->within->terms[n++]) {
        const bool real = type_of_sum(s, n) == w->k->f64;
        call(w, real ? "rvm.device.sum_parts.f64" : "rvm.device.sum_parts.i64", 7,
             (LLVMValueRef[]){word(w, TERMS + t), m, stride, number(w, (int64_t)s->within->terms[n]), up, w->x->cta.tid,
                              word(w, PARTS + 8 * n)});
    }
    meet(w);
    for (unsigned n = 0; n < s->within->sums; n++)
        call(w, type_of_sum(s, n) == w->k->f64 ? "rvm.device.sum_tree.f64" : "rvm.device.sum_tree.i64", 3,
             (LLVMValueRef[]){word(w, PARTS + 8 * n), word(w, SUMS + n), w->x->cta.tid});
}

/* Chunk by chunk, in their order. */
static void run_chunks(const nesting *w, site *s) {
    LLVMBuilderRef b = w->k->b;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), head = block(w, "chunk"), body = block(w, "instances"),
                      done = block(w, "summed");
    LLVMValueRef one = number(w, 1), bits = number(w, 8);
    LLVMValueRef chunks = LLVMBuildLShr(b, LLVMBuildAdd(b, s->count, number(w, CHUNK - 1), ""), bits, "");
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef c = LLVMBuildPhi(b, w->k->i64, ""), last = LLVMBuildSub(b, chunks, one, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, c, chunks, ""), body, done);
    LLVMPositionBuilderAtEnd(b, body);
    const bool up = LLVMConstIntGetZExtValue(LLVMGetOperand(s->marker, RVM__NESTED_UP));
    LLVMValueRef begin = LLVMBuildShl(b, up ? c : LLVMBuildSub(b, last, c, ""), bits, "");
    LLVMValueRef m = smaller(w, LLVMBuildSub(b, s->count, begin, ""), number(w, CHUNK));
    if (is_alike(s)) call(w, "rvm.device.may_be_alike", 2, (LLVMValueRef[]){differs_at(w), w->x->cta.tid});
    run_instances(w, s, LLVMBuildAdd(b, s->lo, begin, ""), m);
    meet(w);
    if (s->met) add_met(w, s, m);
    if (s->within->sums) add_sums(w, s, m);
    LLVMValueRef next = LLVMBuildAdd(b, c, one, "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, head);
    LLVMAddIncoming(c, (LLVMValueRef[]){number(w, 0)}, &here, 1);
    LLVMAddIncoming(c, &next, &end, 1);
    LLVMPositionBuilderAtEnd(b, done);
}
_Static_assert(CHUNK == 1 << 8, "bits");

static void run(const nesting *w, site *s) {
    hand_over_all(w, s);
    LLVMPositionBuilderAtEnd(w->k->b, s->inner);
    if (s->within->sums || s->met) {
        run_chunks(w, s);
        return;
    }
    run_instances(w, s, s->lo, s->count);
    meet(w);
}

/* The elements of an array that the first thread has found room for. */
static void fill(const nesting *w, site *s) {
    LLVMBuilderRef b = w->k->b;
    LLVMPositionBuilderBefore(b, s->marker);
    LLVMValueRef n = LLVMGetOperand(s->marker, 1), at = number(w, RVM__ARRAY_HEADER);
    LLVMValueRef p = call_marker(w, RVM__NESTED_NEW, w->k->ptr, n);
    LLVMReplaceAllUsesWith(s->marker, p);
    p = hand_over(w, s, p);
    n = hand_over(w, s, n);
    LLVMValueRef bits = hand_over(w, s, LLVMGetOperand(s->marker, 2));
    const share all = share_begin(w, n);
    LLVMBuildStore(b, bits, LLVMBuildInBoundsGEP2(b, w->k->i64, behind(w, p, at), (LLVMValueRef[]){all.j}, 1, ""));
    share_end(w, &all);
    meet(w);
}

typedef struct part { /* of an array, by dimension */
    unsigned ndim;
    LLVMValueRef data, *dim, *stride;
} part;

static LLVMValueRef element_at(const nesting *w, const part *a, LLVMValueRef j) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef at = a->data;
    for (unsigned d = a->ndim; d-- > 0;) {
        LLVMValueRef i = d ? LLVMBuildURem(b, j, a->dim[d], "") : j;
        if (d) j = LLVMBuildUDiv(b, j, a->dim[d], "");
        at = behind(w, at, LLVMBuildMul(b, i, a->stride[d], ""));
    }
    return at;
}

/* What it held goes to memory, and it begins as -0; that is added to what is there; it gets that. */
static void pass_element(const nesting *w, LLVMValueRef at, LLVMValueRef held, enum rvm__aside_step step) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef now = LLVMBuildLoad2(b, w->k->f64, at, ""), nothing = LLVMConstReal(w->k->f64, -0.0);
    if (step != RVM__ASIDE_BEGIN) now = LLVMBuildFAdd(b, LLVMBuildLoad2(b, w->k->f64, held, ""), now, "");
    if (step != RVM__ASIDE_END) LLVMBuildStore(b, now, held);
    LLVMBuildStore(b, step == RVM__ASIDE_END ? now : nothing, at);
}

/* One array after the other, since they may overlap. */
static void pass_aside(const nesting *w, site *s) {
    LLVMBuilderRef b = w->k->b;
    const unsigned nargs = (unsigned)LLVMGetNumArgOperands(s->marker);
    const uint64_t step = LLVMConstIntGetZExtValue(LLVMGetOperand(s->marker, 0));
    for (unsigned n = 1; n < nargs; n++) s->args[n] = hand_over(w, s, LLVMGetOperand(s->marker, n));
    LLVMPositionBuilderAtEnd(b, s->inner);
    LLVMValueRef memory = s->args[1];
    for (unsigned n = 2; n < nargs;) {
        const unsigned ndim = (unsigned)LLVMConstIntGetZExtValue(s->args[n]);
        const part a = {ndim, s->args[n + 1], s->args + n + 2, s->args + n + 2 + ndim};
        LLVMValueRef all = number(w, 1);
        for (unsigned d = 0; d < ndim; d++) all = LLVMBuildMul(b, all, a.dim[d], "");
        const share each = share_begin(w, all);
        LLVMValueRef held = LLVMBuildInBoundsGEP2(b, w->k->i64, memory, (LLVMValueRef[]){each.j}, 1, "");
        pass_element(w, element_at(w, &a, each.j), held, (enum rvm__aside_step)step);
        share_end(w, &each);
        meet(w);
        memory = LLVMBuildInBoundsGEP2(b, w->k->i64, memory, &all, 1, "");
        n += 2 + 2 * ndim;
    }
}

static void build(const nesting *w, site *s, unsigned which) {
    s->inner = block(w, "within");
    LLVMPositionBuilderBefore(w->k->b, s->marker);
    LLVMBuildStore(w->k->b, number(w, which), word(w, WHICH));
    if (s->within)
        run(w, s);
    else if (is_named(s->marker, RVM__NESTED_ASIDE))
        pass_aside(w, s);
    else
        fill(w, s);
    LLVMBuildBr(w->k->b, w->x->cta.turn);
}
/* ---- all ---- */

static LLVMValueRef next_call(LLVMValueRef kernel, LLVMValueRef behind_it, const char *prefix) {
    LLVMBasicBlockRef b = behind_it ? LLVMGetInstructionParent(behind_it) : LLVMGetFirstBasicBlock(kernel);
    LLVMValueRef v = behind_it ? LLVMGetNextInstruction(behind_it) : LLVMGetFirstInstruction(b);
    for (;; v = LLVMGetNextInstruction(v)) {
        while (!v && (b = LLVMGetNextBasicBlock(b))) v = LLVMGetFirstInstruction(b);
        if (!v || (LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), prefix, strlen(prefix)))) return v;
    }
}

static bool find_sites(nesting *w) {
    bool any = false;
    for (LLVMValueRef v = NULL; (v = next_call(w->x->kernel, v, RVM__NESTED)); any = true) {
        if (w->n == MOST_SITES) return false;
        w->sites[w->n++] = (site){.marker = v, .within = rvm__device_within_of(w->x, v)};
    }
    static const char *const others[] = {"rvm__native_new", RVM__NESTED_ASIDE};
    for (int k = 0; k < 2; k++)
        for (LLVMValueRef v = NULL; (v = next_call(w->x->kernel, v, others[k]));) {
            if (w->n == MOST_SITES) return false;
            w->sites[w->n++] = (site){.marker = v};
        }
    return any;
}

/* Behind a block the first thread reads what its registers are. */
static void read_sums(const nesting *w) {
    for (LLVMValueRef v; (v = next_call(w->x->kernel, NULL, RVM__NESTED_SUM));) {
        LLVMPositionBuilderBefore(w->k->b, v);
        const unsigned n = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(v, 0));
        LLVMReplaceAllUsesWith(v, LLVMBuildLoad2(w->k->b, LLVMTypeOf(v), word(w, SUMS + n), ""));
        LLVMInstructionEraseFromParent(v);
    }
}

/* The first thread's code, but for what the kernel begins with; NULL: out of memory. */
static LLVMBasicBlockRef *serial_blocks(const nesting *w, unsigned *n, size_t *size) {
    LLVMBasicBlockRef *all;
    *size = LLVMCountBasicBlocks(w->x->kernel) * sizeof *all;
    if (!(all = rvm__realloc(w->k->al, NULL, 0, *size))) return NULL;
    *n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->x->kernel); b; b = LLVMGetNextBasicBlock(b))
        if (!is_of_wrapper(w->x, LLVMGetFirstInstruction(b))) all[(*n)++] = b;
    return all;
}

/* The first thread leaves its code at a block within, and enters it behind. */
static void connect(const nesting *w) {
    const rvm__device_cta *c = &w->x->cta;
    for (unsigned n = 0; n < w->n; n++) {
        const site *s = &w->sites[n];
        LLVMBasicBlockRef here = LLVMGetInstructionParent(s->marker);
        LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(here));
        LLVMInstructionEraseFromParent(s->marker);
        LLVMPositionBuilderAtEnd(w->k->b, here);
        LLVMBuildBr(w->k->b, c->meet);
        LLVMAddCase(c->resume, number(w, n + 1), s->rest);
        LLVMAddCase(c->choose, number(w, n + 1), s->inner);
    }
}

static bool keep(const nesting *w, LLVMValueRef before) {
    rvm__device_pause pauses[MOST_SITES];
    for (unsigned n = 0; n < w->n; n++) pauses[n] = (rvm__device_pause){w->sites[n].marker, w->sites[n].rest, 0};
    return rvm__device_keep(w->k, w->x, pauses, w->n, before, MOST_FRAME);
}

static bool make(nesting *w) {
    LLVMBasicBlockRef *blocks;
    size_t size;
    unsigned nblocks, terms = 0, taken = 0;
    if (!find_sites(w)) return w->x->why = "it has no block within that its threads could share, or too many", false;
    for (unsigned n = 0; n < w->n; n++)
        if (w->sites[n].within && terms_of(w->sites[n].within) > terms) terms = terms_of(w->sites[n].within);
    w->x->frame = 8 * (uint64_t)(TERMS + terms * CHUNK);
    rvm__device_share_locals(w->k, w->x);
    for (unsigned n = 0; n < w->n; n++) w->sites[n].rest = rvm__split_behind(w->k, w->sites[n].marker);
    if (!(blocks = serial_blocks(w, &nblocks, &size))) return w->x->why = "memory runs out", false;
    read_sums(w);
    for (unsigned n = 0; n < w->n; n++) {
        build(w, &w->sites[n], n + 1);
        if (w->sites[n].taken > taken) taken = w->sites[n].taken;
    }
    LLVMValueRef before = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(w->x->kernel));
    rvm__demote(w->k, w->x->kernel, blocks, nblocks);
    rvm__realloc(w->k->al, blocks, size, 0);
    w->x->frame += 8 * (uint64_t)taken;
    if (!keep(w, before)) return w->x->why = "memory runs out", false;
    connect(w);
    w->x->frame = (w->x->frame + 15) / 16 * 16;
    if (w->x->frame > MOST_FRAME) w->x->why = "what its threads share takes too much memory";
    return true;
}

void rvm__device_nest(const rvm__build *k, rvm__device_kernel *x) {
    nesting w = {.k = k, .x = x, .sites = rvm__realloc(k->al, NULL, 0, MOST_SITES * sizeof *w.sites)};
    LLVMSetCurrentDebugLocation2(k->b, NULL);
    if (!w.sites)
        x->why = "memory runs out";
    else
        make(&w);
    rvm__realloc(k->al, w.sites, MOST_SITES * sizeof *w.sites, 0);
    if (!x->cta.frame || x->why) return;
    LLVMReplaceAllUsesWith(x->cta.frame, rvm__build_int(k, (int64_t)x->frame));
    LLVMInstructionEraseFromParent(x->cta.frame);
}
