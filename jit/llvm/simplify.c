/* simplify.c: what LLVM does before groups are made, and before its own order of passes: what is called is inlined, memory
 * becomes values, loops are left by what is the same in all their trips.
 *
 * A function of doubles has no effect, so that it can be computed before a loop even if the loop calls it under a condition
 * only: once too often at worst, and once for all trips otherwise. LLVM is told so (`speculatable`) only while it moves out
 * of loops and merges what is equal. Else it would call them on both sides of a branch, where they seem cheap to it.
 */
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "large.h"

#include <llvm-c/Transforms/PassBuilder.h>

#if LLVM_VERSION_MAJOR >= 18
#define COMBINE "instcombine<no-verify-fixpoint>"
#else
#define COMBINE "instcombine"
#endif
#define LOOPS "loop-simplify,lcssa"
#define OUT   LOOPS ",loop-mssa(licm)"

/* Loops of few trips; at O3 twice as much may come of one as else. */
#define UNROLL "loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound>,"

#define VALUES "function(sroa,early-cse<memssa>," COMBINE ",simplifycfg)"
/* What is called is simple before LLVM looks what it costs to inline it; and what asks whether a length is known
 * (jit/lower/groups.c) is told, so that a part of a group that is never called changes nothing else. Little code is left to
 * emit, too, where nothing more is done. */
static const char prepares[] = "function(sroa,early-cse,lower-constant-intrinsics)";
static const char inlines[] = "cgscc(inline," VALUES "),ipsccp," VALUES;
/* What is the same in all trips goes before loops are unrolled, so that it is there once. Few loads and stores are left when
 * they are moved: LLVM looks at so many of a loop only. Nor may a value that is loaded once have come to be one that each
 * trip hands to the next. */
#define UNROLLS                                                                                                             \
    "function(simplifycfg,early-cse<memssa>," LOOPS ",loop(loop-rotate),loop(loop-deletion)," OUT "," UNROLL                \
    "sroa,early-cse<memssa>," COMBINE
#define NUMBERS "gvn<no-pre;no-load-pre>,dse," OUT ")"
static const char moves[] = UNROLLS "," NUMBERS, moves_first[] = UNROLLS ")", moves_then[] = "function(" NUMBERS;
static const char cleans[] = "function(" COMBINE ",sroa,dse,adce,simplifycfg," OUT ")";
/* Loops as lanes.c wants them; in LLVM 16 a pass has another name. */
#define STRAIGHTEN(switches) "function(" switches "," LOOPS ",unify-loop-exits," LOOPS ")"
static const char straightens[] = STRAIGHTEN("lower-switch"), straightens_16[] = STRAIGHTEN("lowerswitch");
static const char unrolls[] = "function(" UNROLL COMBINE ",simplifycfg," LOOPS ",unify-loop-exits," LOOPS ")";

static unsigned kind_of(const char *attribute) {
    return LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
}

static void set(const rvm__build *k, LLVMValueRef f, const char *attribute) {
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(k->context, kind_of(attribute), 0));
}

static LLVMAttributeRef attribute_of(LLVMValueRef f, const char *name) {
    return LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind_of(name));
}

/* Calls that LLVM has shown never to bail out: they would keep it from moving what is behind them. */
static void drop_never(LLVMModuleRef module) {
    LLVMValueRef f = LLVMGetNamedFunction(module, RVM__BAIL_OUT);
    for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL, next; u; u = next) {
        LLVMValueRef call = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        if (LLVMIsACallInst(call) && LLVMIsNull(LLVMGetOperand(call, 0))) LLVMInstructionEraseFromParent(call);
    }
}

/* Where both values of a release have turned out to be one it agrees but for NaN. A branch to where it does not, and that is
 * all, is none then, once LLVM has simplified it. */
static void join_disagreeing(rvm__build *k, LLVMValueRef call) {
    LLVMBasicBlockRef here = LLVMGetInstructionParent(call), first = LLVMGetFirstBasicBlock(LLVMGetBasicBlockParent(here));
    LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(here));
    LLVMValueRef from = u ? LLVMGetUser(u) : NULL, end = LLVMGetBasicBlockTerminator(here);
    if (here == first || !from || LLVMGetNextUse(u) || !LLVMIsABranchInst(from) || !LLVMIsConditional(from)) return;
    const bool if_true = LLVMGetSuccessor(from, 0) == here;
    if (LLVMGetNumSuccessors(end) != 1 || LLVMGetSuccessor(from, if_true) != LLVMGetSuccessor(end, 0)) return;
    LLVMValueRef cond = LLVMGetCondition(from), f = LLVMGetCalledValue(call);
    LLVMPositionBuilderBefore(k->b, from);
    LLVMValueRef bad = if_true ? cond : LLVMBuildNot(k->b, cond, "");
    LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, &bad, 1, "");
    LLVMSetCondition(from, LLVMConstInt(k->i1, !if_true, false));
}

static void join_disagreeing_blocks(rvm__build *k) {
    LLVMValueRef f = LLVMGetNamedFunction(k->module, RVM__DISAGREES);
    for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL, next; u; u = next) {
        LLVMValueRef call = LLVMGetUser(u), cond = LLVMIsACallInst(call) ? LLVMGetOperand(call, 0) : NULL;
        next = LLVMGetNextUse(u);
        if (cond && LLVMIsAConstantInt(cond) && LLVMConstIntGetZExtValue(cond)) join_disagreeing(k, call);
    }
}

/* Where the largest magnitude is a local array's it is a value of the instance's, once this is no call. */
static void raise_here(rvm__build *k, LLVMValueRef call) {
    LLVMValueRef held = LLVMGetOperand(call, 0), size = LLVMGetOperand(call, 1);
    LLVMPositionBuilderBefore(k->b, call);
    LLVMValueRef was = LLVMBuildLoad2(k->b, k->f64, held, "");
    LLVMValueRef more = LLVMBuildFCmp(k->b, LLVMRealOGT, size, was, "");
    LLVMBuildStore(k->b, LLVMBuildSelect(k->b, more, size, was, ""), held);
    LLVMInstructionEraseFromParent(call);
}

static void raise_locals(rvm__build *k) {
    LLVMValueRef f = LLVMGetNamedFunction(k->module, RVM__RAISE);
    for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL, next; u; u = next) {
        LLVMValueRef call = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        if (LLVMIsACallInst(call) && LLVMIsAAllocaInst(LLVMGetOperand(call, 0))) raise_here(k, call);
    }
}

LLVMValueRef rvm__instance_function(const rvm__build *k, const char *prefix, unsigned n) {
    char name[40];
    snprintf(name, sizeof name, "%s%u", prefix, n);
    return LLVMGetNamedFunction(k->module, name);
}

bool rvm__is_instance_function(LLVMValueRef f) {
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    return !strncmp(name, RVM__INSTANCE, strlen(RVM__INSTANCE)) || !strncmp(name, RVM__ORDER, strlen(RVM__ORDER));
}

bool rvm__is_dead_end(LLVMBasicBlockRef b) {
    return LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(b)) == LLVMUnreachable;
}

/* What branches to where all bail out bails out itself, if so: it is no end of a loop then. */
static void cut_dead_end(rvm__build *k, LLVMBasicBlockRef b, LLVMValueRef bails) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end)) return;
    for (unsigned s = 0; s < 2; s++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, s), other = LLVMGetSuccessor(end, 1 - s);
        if (!rvm__is_dead_end(to) || rvm__is_dead_end(other) || LLVMIsAPHINode(LLVMGetFirstInstruction(to))) continue;
        LLVMPositionBuilderBefore(k->b, end);
        LLVMValueRef cond = s ? LLVMBuildNot(k->b, LLVMGetCondition(end), "") : LLVMGetCondition(end);
        LLVMBuildCall2(k->b, LLVMGlobalGetValueType(bails), bails, &cond, 1, "");
        LLVMBuildBr(k->b, other);
        LLVMInstructionEraseFromParent(end);
        return;
    }
}

static void cut_dead_ends(rvm__build *k) {
    LLVMValueRef bails = LLVMGetNamedFunction(k->module, RVM__BAIL_OUT);
    for (unsigned n = 0; n < k->instances && bails; n++) {
        LLVMValueRef f = rvm__instance_function(k, RVM__INSTANCE, n);
        LLVMBasicBlockRef b = f ? LLVMGetFirstBasicBlock(f) : NULL;
        for (; b; b = LLVMGetNextBasicBlock(b)) cut_dead_end(k, b, bails);
    }
}

/* Declared, no function of LLVM's own, and it returns, and that is all. */
static bool has_no_effect(LLVMValueRef f) {
    LLVMAttributeRef memory = attribute_of(f, "memory");
    return LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f) && memory && !LLVMGetEnumAttributeValue(memory) &&
           attribute_of(f, "willreturn");
}

bool rvm__calls_functions(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (has_no_effect(f)) return true;
    return false;
}

static void allow_speculation(const rvm__build *k, bool allowed) {
    static const char speculatable[] = "speculatable";
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) {
        if (!has_no_effect(f)) continue;
        if (allowed)
            set(k, f, speculatable);
        else
            LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind_of(speculatable));
    }
}

/* ---- between functions ---- */

/* The index that a group's call passes is its lowest instance's: the others have others, so that nothing that LLVM finds out
 * about it from calls may go into the instance. */
#define HIDDEN "rvm.index"

static void hide_index(rvm__build *k, LLVMValueRef hides, LLVMValueRef call) {
    LLVMValueRef index = LLVMGetOperand(call, RVM__VECTORISED_INDEX);
    LLVMPositionBuilderBefore(k->b, call);
    index = LLVMBuildCall2(k->b, LLVMGlobalGetValueType(hides), hides, &index, 1, "");
    LLVMSetOperand(call, RVM__VECTORISED_INDEX, index);
}

static void hide_indices(rvm__build *k) {
    LLVMValueRef hides = LLVMAddFunction(k->module, HIDDEN, LLVMFunctionType(k->i64, &k->i64, 1, false));
    set(k, hides, "nounwind");
    set(k, hides, "memory"); /* it touches none */
    for (unsigned n = 0; n < k->instances; n++) {
        LLVMValueRef f = rvm__instance_function(k, RVM__INSTANCE, n);
        for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL; u; u = LLVMGetNextUse(u)) hide_index(k, hides, LLVMGetUser(u));
    }
}

static void show_indices(rvm__build *k) {
    LLVMValueRef hides = LLVMGetNamedFunction(k->module, HIDDEN);
    for (LLVMUseRef u = LLVMGetFirstUse(hides), next; u; u = next) {
        LLVMValueRef call = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(hides);
}

/* ---- loops of instances ---- */

/* Passes leave alone functions that have it. */
static const char optnone[] = "optnone";

static void drop(LLVMValueRef f, const char *attribute) {
    LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind_of(attribute));
}

/* What leaves the loops of others is together already (jit/lower/exits.c), and to make one end of all ends of a loop takes
 * the square of its size. */
static void keep_others(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !rvm__is_instance_function(f)) set(k, f, optnone);
}

static void keep_none(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) drop(f, optnone);
}

static void let_callees(LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            LLVMValueRef callee = LLVMIsACallInst(in) ? LLVMIsAFunction(LLVMGetCalledValue(in)) : NULL;
            if (!callee || !attribute_of(callee, optnone)) continue;
            drop(callee, optnone);
            let_callees(callee);
        }
}

static void keep_all_but_callees(const rvm__build *k) {
    keep_others(k);
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (rvm__is_instance_function(f)) let_callees(f);
}

static LLVMErrorRef simplify_instances(rvm__build *k, LLVMTargetMachineRef machine, bool device,
                                       LLVMPassBuilderOptionsRef options) {
    keep_others(k);
    LLVMErrorRef e = LLVMRunPasses(k->module, straightens, machine, options);
    if (e) {
        LLVMConsumeError(e);
        e = LLVMRunPasses(k->module, straightens_16, machine, options);
    }
    const enum rvm__unrolled first = device ? RVM__OF_KERNELS : RVM__OF_GROUPS, last = device ? first : RVM__LEFT_OVER;
    for (enum rvm__unrolled which = first; which <= last && !e; which++) {
        bool any = false;
        for (unsigned n = 0; n < k->instances; n++) {
            LLVMValueRef f = rvm__instance_function(k, RVM__INSTANCE, n);
            any |= f && rvm__mark_unrolled(k, f, which);
        }
        if (any) e = LLVMRunPasses(k->module, unrolls, machine, options);
    }
    keep_none(k);
    return e;
}

/* Whether some function is so large that it may come to be too large for value numbering when its loops are unrolled: for
 * each load that looks through the blocks before it. */
static bool may_grow(const rvm__build *k) {
    enum { PRODUCT = 1 << 23 };
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if ((uint64_t)rvm__size_of(f) * LLVMCountBasicBlocks(f) > PRODUCT) return true;
    return false;
}

static LLVMErrorRef move_out(rvm__build *k, LLVMTargetMachineRef machine, bool all, LLVMPassBuilderOptionsRef options) {
    if (!all || !may_grow(k)) return LLVMRunPasses(k->module, moves, machine, options);
    enum { MOST_NUMBERED = 1 << 11 }; /* blocks */
    LLVMErrorRef e = LLVMRunPasses(k->module, moves_first, machine, options);
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f) > MOST_NUMBERED) set(k, f, optnone);
    if (!e) e = LLVMRunPasses(k->module, moves_then, machine, options);
    keep_none(k);
    return e;
}

static LLVMErrorRef simplify(rvm__build *k, LLVMTargetMachineRef machine, bool all, bool device) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    hide_indices(k);
    LLVMErrorRef e = LLVMRunPasses(k->module, prepares, machine, options);
    if (!all) keep_all_but_callees(k);
    if (!e) e = LLVMRunPasses(k->module, inlines, machine, options);
    show_indices(k);
    drop_never(k->module);
    raise_locals(k);
    if (!e) cut_dead_ends(k);
    allow_speculation(k, true);
    if (!e) e = move_out(k, machine, all, options);
    allow_speculation(k, false);
    join_disagreeing_blocks(k);
    if (!e) e = LLVMRunPasses(k->module, cleans, machine, options);
    keep_none(k);
    if (!e && k->instances) e = simplify_instances(k, machine, device, options);
    LLVMDisposePassBuilderOptions(options);
    return e;
}

LLVMErrorRef rvm__simplify_for_device(rvm__build *k, LLVMTargetMachineRef machine) {
    rvm__drop_parts(k);
    return simplify(k, machine, true, true);
}

LLVMErrorRef rvm__simplify(rvm__build *k, LLVMTargetMachineRef machine, bool all) {
    LLVMErrorRef e = simplify(k, machine, all, false);
    return e || !k->instances ? e : rvm__find_pairs(k, machine);
}
