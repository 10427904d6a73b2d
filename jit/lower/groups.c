/* groups.c: where instances of a block run in groups of lanes.
 *
 * A group is a run of instances whose numbers within the block begin at a multiple of their count, 8 or 4, so that their
 * partial sums stand side by side. lanes.c makes of an instance (instance.c) what runs one: it takes the same, with the
 * index of the first lane. What is left at both ends runs instance after instance, or, in a block of constant length, as the
 * first lanes of a group; so does a group that bails out: where others take a side exit it takes back what it did and
 * returns 1. Then the single instances take theirs, if they still do, at the right place.
 *
 * In lanes go blocks without recursion, function values, the stack and trails that are kept. A check is a mask: where it
 * fails in some lane the group bails out, and the interpreter says of the instance that fails first what it says of any.
 * Additions to arrays that conflict are calls that lanes.c knows. Where the order of sums is free (k->fast), lanes are
 * summed first; else jit/lanes/order.c looks whether lanes can keep it, or additions wait for the group's end (later.c).
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "blocks.h"
#include "fresh_ir.h"
#include "analysis.h"
#include "lanes.h"

typedef struct grouping {
    rvm__instance *o;
    unsigned lanes;     /* of a group */
    char order;         /* in which elements gain, '+' or '-'; 0: it is free */
    LLVMValueRef asked; /* i32: 0 before it is known whether a group keeps the order, 1 if so, else 2 */
} grouping;

/* Instances that run as one: those from the lowest on, the last of them in the order of the run. */
typedef struct span {
    LLVMValueRef lowest, last, n;
    bool up, part; /* in which order; of a group */
} span;

static void say(rvm__build *k, LLVMValueRef f, const char *name, const char *letter) {
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(k->context, name, (unsigned)strlen(name), letter, 1));
}

/* Whether groups begin at multiples of their lanes: the block does. */
static bool is_aligned(const grouping *g) {
    LLVMValueRef lo = rvm__slot_value(g->o->outer, g->o->x->to.lo);
    return LLVMIsAConstantInt(lo) && LLVMConstIntGetSExtValue(lo) >= 0 && LLVMConstIntGetSExtValue(lo) % g->lanes == 0;
}

/* On the instance: how groups are to be made of it. */
static void say_how(const grouping *g, const span *s, LLVMValueRef f) {
    rvm__build *k = g->o->outer->k;
    say(k, f, RVM__LANES, &"48"[g->lanes > 4]);
    if (is_aligned(g)) say(k, f, RVM__ALIGNED, "1");
    if (!s->up) say(k, f, RVM__DOWN, "1");
    if (g->order) say(k, f, RVM__ORDERED, &g->order);
    if (!g->o->outer->u->w->unchecked) say(k, f, RVM__TAKES_BACK, "1");
}

/* What an instance counts, by lane. */
static uint64_t counts_of(const rvm__instance *o) {
    return RVM__VECTORISED_COUNTS + (uint64_t)o->x->to.shared;
}

/* What lane n has there. */
static LLVMValueRef of_lane(const grouping *g, LLVMTypeRef t, LLVMValueRef out, size_t which, size_t n) {
    rvm__emit *e = g->o->outer;
    return rvm__get(e, t, rvm__member(e, out, (which * g->lanes + n) * 8));
}

static LLVMValueRef reduced(const grouping *g, LLVMValueRef out, int which) {
    rvm__emit *e = g->o->outer;
    rvm__build *k = e->k;
    LLVMValueRef sum = NULL;
    for (size_t n = 0; n < g->lanes; n++) {
        LLVMValueRef v = of_lane(g, k->i64, out, (size_t)which, n);
        if (sum && which == RVM__VECTORISED_PEAK)
            sum = LLVMBuildSelect(k->b, LLVMBuildICmp(k->b, LLVMIntUGT, v, sum, ""), v, sum, "");
        else
            sum = sum ? LLVMBuildAdd(k->b, sum, v, "") : v;
    }
    return sum;
}

static void increase(rvm__emit *e, LLVMValueRef counter, LLVMValueRef by) {
    rvm__put_at(e, LLVMBuildAdd(e->k->b, rvm__get(e, e->k->i64, counter), by, ""), counter);
}

/* cost: of a whole group. */
static void count(const grouping *g, const span *s, LLVMValueRef out, LLVMValueRef cost) {
    rvm__emit *e = g->o->outer;
    rvm__build *k = e->k;
    if (rvm__is_standalone(e)) return;
    LLVMValueRef turns = LLVMBuildSub(k->b, s->n, rvm__build_int(k, 1), "");
    LLVMValueRef charged = LLVMBuildAdd(k->b, reduced(g, out, RVM__VECTORISED_CHARGED), turns, "");
    LLVMValueRef frames = LLVMBuildAdd(k->b, e->frame.number, rvm__build_int(k, 1), ""),
                 was = rvm__get(e, k->i64, e->count.below);
    LLVMValueRef below = LLVMBuildSub(k->b, reduced(g, out, RVM__VECTORISED_PEAK), frames, "");
    if (!s->part) rvm__put_at(e, charged, cost);
    increase(e, e->count.charged, charged);
    increase(e, e->count.calls, reduced(g, out, RVM__VECTORISED_CALLS));
    for (int n = 0; n < RVM__ERASED; n++) increase(e, e->count.erased[n], reduced(g, out, RVM__VECTORISED_ERASED + n));
    rvm__put_at(e, LLVMBuildSelect(k->b, LLVMBuildICmp(k->b, LLVMIntUGT, below, was, ""), below, was, ""), e->count.below);
}

/* What registers that instances add into have held, whoever of the group. */
static void raise_held(const grouping *g, LLVMValueRef out) {
    rvm__emit *e = g->o->outer;
    for (uint32_t k = 0; k < g->o->x->to.shared; k++) {
        const uint16_t slot = e->code->shared[(uint32_t)g->o->x->to.jump2 + k].slot;
        const rvm_place q = {.kind = RVM_PLACE_SLOT, .slot = slot};
        for (size_t n = 0; n < g->lanes && e->frame.held[slot]; n++)
            rvm__track_held(e, &q, of_lane(g, e->k->f64, out, RVM__VECTORISED_COUNTS + k, n), false);
    }
}

/* Registers that instances add into, and their partial sums: the one of the instance with that index is in the register. */
static void move_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef index, bool out) {
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)x->to.jump2 + k];
        LLVMValueRef part = rvm__partial_sum(e, x, k, index), place = e->frame.reg[s->slot];
        rvm__put_at(e, rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), out ? place : part), out ? part : place);
    }
}

/* Whether a function of a chunk runs instances of it, by the end at pc. */
static bool is_of_chunk(const rvm__emit *e, uint32_t pc) {
    return e->block.chunk && e->block.chunk == pc;
}

/* For as much as the last group took. */
static LLVMValueRef has_fuel(const grouping *g, LLVMValueRef cost) {
    rvm__emit *e = g->o->outer;
    rvm__build *k = e->k;
    if (rvm__is_standalone(e)) return LLVMConstInt(k->i1, 1, false);
    LLVMValueRef fuel = rvm__get(e, k->i64, rvm__member(e, e->frame.native, offsetof(rvm__native, fuel)));
    LLVMValueRef then = LLVMBuildAdd(k->b, rvm__get(e, k->i64, e->count.charged), rvm__get(e, k->i64, cost), "");
    return LLVMBuildICmp(k->b, LLVMIntSLE, then, fuel, "");
}

/* Whether a whole group begins with the next instance, and there is fuel for it. */
static LLVMValueRef may_group(const grouping *g, uint32_t pc, bool up, LLVMValueRef cost) {
    rvm__emit *e = g->o->outer;
    const rvm__xinsn *x = g->o->x;
    rvm__build *k = e->k;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), at = rvm__slot_value(e, x->to.i);
    LLVMValueRef n = LLVMBuildSub(k->b, at, lo, ""), last = rvm__build_int(k, g->lanes - 1);
    LLVMValueRef part = LLVMBuildAnd(k->b, n, last, "");
    LLVMValueRef whole = LLVMBuildICmp(k->b, LLVMIntEQ, part, up ? rvm__build_int(k, 0) : last, "");
    LLVMValueRef behind = up ? LLVMBuildSub(k->b, hi, at, "") : LLVMBuildAdd(k->b, n, rvm__build_int(k, 1), "");
    if (is_of_chunk(e, pc)) /* the last one of the chunk has a number of its own */
        behind = LLVMBuildAdd(k->b, up ? LLVMBuildSub(k->b, e->block.last, n, "") : LLVMBuildSub(k->b, n, e->block.last, ""),
                              rvm__build_int(k, 1), "");
    whole = LLVMBuildAnd(k->b, whole, LLVMBuildICmp(k->b, LLVMIntUGT, behind, last, ""), "");
    return LLVMBuildAnd(k->b, whole, has_fuel(g, cost), "");
}

static LLVMValueRef asked_before(rvm__emit *e) {
    return rvm__member(e, e->frame.native, offsetof(rvm__native, asked));
}

/* Nothing is known yet; of a chunk, what another one of the block found. */
static void forget_order(rvm__emit *e, uint32_t pc, LLVMValueRef asked) {
    LLVMValueRef none = LLVMConstNull(e->k->i32);
    if (is_of_chunk(e, pc)) none = LLVMBuildTrunc(e->k->b, rvm__get(e, e->k->i64, asked_before(e)), e->k->i32, "");
    rvm__put_at(e, none, asked);
}

/* A function of the instance's number. */
static LLVMValueRef function_beside(const grouping *g, const char *prefix, LLVMTypeRef type) {
    rvm__build *k = g->o->outer->k;
    char name[40];
    size_t length;
    snprintf(name, sizeof name, "%s%s", prefix, LLVMGetValueName2(g->o->function, &length) + strlen(RVM__INSTANCE));
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    return f ? f : LLVMAddFunction(k->module, name, type);
}

/* Before the first group of a block: whether lanes keep the order of sums. */
static void ask_for_order(grouping *g, uint32_t pc, LLVMBasicBlockRef single) {
    rvm__emit *e = g->o->outer;
    rvm__build *k = e->k;
    LLVMValueRef one = LLVMConstInt(k->i32, 1, false), zero = LLVMConstNull(k->i32);
    LLVMValueRef f = function_beside(g, RVM__ORDER, g->o->type);
    LLVMBasicBlockRef ask = rvm__block(e, "ask"), known = rvm__block(e, "known"), go = rvm__block(e, "go");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, rvm__get(e, k->i32, g->asked), zero, ""), ask, known);
    rvm__at(e, ask);
    LLVMValueRef differs = LLVMBuildCall2(k->b, g->o->type, f, g->o->args, g->o->n, "");
    LLVMValueRef answer = LLVMBuildAdd(k->b, differs, one, "");
    rvm__put_at(e, answer, g->asked);
    if (is_of_chunk(e, pc)) rvm__put_at(e, LLVMBuildZExt(k->b, answer, k->i64, ""), asked_before(e));
    LLVMBuildBr(k->b, known);
    rvm__at(e, known);
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, rvm__get(e, k->i32, g->asked), one, ""), go, single);
    rvm__at(e, go);
}

/* The run ends in the middle of a group. */
static void end_adrift(rvm__emit *e, uint32_t pc, LLVMBasicBlockRef never) {
    LLVMValueRef args[2] = {e->frame.machine, e->frame.native};
    rvm__native_site site = rvm__site_here(e);
    rvm__call_runtime(e, "rvm__native_adrift", e->k->nothing, 2, args);
    site.pc = pc + (uint32_t)e->control.context->dir;
    rvm__exit_at(e, LLVMConstInt(e->k->i1, 1, false), site, 0);
    LLVMBuildBr(e->k->b, never);
}

/* What all instances of the group return; or those of a part of it, whose counts the others leave 0. */
static LLVMValueRef call_group(const grouping *g, const span *s, LLVMValueRef out) {
    rvm__build *k = g->o->outer->k;
    const unsigned n = g->o->n;
    LLVMTypeRef types[RVM__MOST_VECTORISED_ARGS + 1];
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS + 1];
    if (!s->part) return LLVMBuildCall2(k->b, g->o->type, g->o->function, g->o->args, n, "");
    LLVMGetParamTypes(g->o->type, types);
    memcpy(args, g->o->args, n * sizeof *args);
    types[n] = k->i64;
    args[n] = s->n;
    LLVMTypeRef type = LLVMFunctionType(k->i32, types, n + 1, false);
    LLVMBuildMemSet(k->b, out, LLVMConstNull(k->i8), rvm__build_int(k, counts_of(g->o) * g->lanes * 8), 8);
    return LLVMBuildCall2(k->b, type, function_beside(g, RVM__PART, type), args, n + 1, "");
}

/* Where a whole group comes next, what is to be prefetched for it is (jit/lanes/ahead.c). */
static void look_ahead(const grouping *g, const span *s) {
    enum { INACCESSIBLE = 3 << 2 }; /* of LLVM's memory(): so that what is in registers may stay there */
    rvm__emit *e = g->o->outer;
    rvm__build *k = e->k;
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS], lanes = rvm__build_int(k, g->lanes);
    bool far = false;
    for (unsigned n = 0; n < g->o->n; n++) far |= g->o->far[n];
    if (!far || s->part) return;
    LLVMBasicBlockRef ahead = rvm__block(e, "ahead"), on = rvm__block(e, "on");
    LLVMValueRef next = s->up ? LLVMBuildAdd(k->b, s->lowest, lanes, "") : LLVMBuildSub(k->b, s->lowest, lanes, "");
    LLVMValueRef left = s->up ? LLVMBuildSub(k->b, rvm__slot_value(e, g->o->x->to.hi), next, "")
                              : LLVMBuildSub(k->b, s->lowest, rvm__slot_value(e, g->o->x->to.lo), "");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntUGE, left, lanes, ""), ahead, on);
    rvm__at(e, ahead);
    LLVMValueRef f = function_beside(g, RVM__AHEAD, g->o->type);
    rvm__attribute(k, f, -1, "memory", INACCESSIBLE);
    rvm__attribute(k, f, -1, "nounwind", 0);
    memcpy(args, g->o->args, g->o->n * sizeof *args);
    args[RVM__VECTORISED_INDEX] = next;
    for (unsigned n = RVM__VECTORISED_OUT; n < RVM__VECTORISED_SUMS + (unsigned)g->o->x->to.shared; n++)
        if (n != RVM__VECTORISED_INDEX) args[n] = LLVMConstNull(LLVMTypeOf(args[n]));
    LLVMBuildCall2(k->b, g->o->type, f, args, g->o->n, "");
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
}

/* By what the group returned; what is built next is behind a group that is done. */
static void go_on(const grouping *g, uint32_t pc, LLVMValueRef returned, LLVMBasicBlockRef single) {
    rvm__emit *e = g->o->outer;
    rvm__build *k = e->k;
    const bool polls = !rvm__is_standalone(e);
    LLVMBasicBlockRef done = rvm__block(e, "group.done"), adrift = polls ? rvm__block(e, "adrift") : NULL;
    LLVMValueRef choice = LLVMBuildSwitch(k->b, returned, single, 1u + polls);
    LLVMAddCase(choice, LLVMConstInt(k->i32, RVM__GROUP_DONE, false), done);
    if (polls) LLVMAddCase(choice, LLVMConstInt(k->i32, RVM__GROUP_ADRIFT, false), adrift);
    rvm__build_mostly(k, choice, 2u + polls, 1); /* done */
    if (polls) {
        rvm__at(e, adrift);
        rvm__aside_single(e, g->o->x, false);
        end_adrift(e, pc, single);
    }
    rvm__at(e, done);
}

/* False: there is none; it goes on with a single instance. */
static bool run_group(rvm__emit *e, grouping *g, uint32_t pc, const span *s, LLVMBasicBlockRef single, LLVMValueRef out,
                      LLVMValueRef cost) {
    rvm__build *k = e->k;
    const rvm__xinsn *x = g->o->x;
    move_sums(e, x, rvm__slot_value(e, x->to.i), true);
    if (!rvm__pass_to_instance(g->o, out, s->lowest)) {
        LLVMBuildBr(k->b, single);
        return false;
    }
    if (!rvm__declare_instance(g->o, pc)) return false;
    say_how(g, s, g->o->function);
    if (g->order) ask_for_order(g, pc, single);
    rvm__aside_group(e, x);
    look_ahead(g, s);
    go_on(g, pc, call_group(g, s, out), single);
    count(g, s, out, cost);
    raise_held(g, out);
    move_sums(e, x, s->last, false);
    rvm__set_slot(e, x->to.i, s->last);
    rvm__jump(e, e->control.context, e->f->code[pc].target - (uint32_t)e->control.context->dir, false);
    return true;
}

static bool run_whole(rvm__emit *e, grouping *g, uint32_t pc, bool up, LLVMBasicBlockRef single, LLVMValueRef out,
                      LLVMValueRef cost) {
    rvm__build *k = e->k;
    LLVMValueRef at = rvm__slot_value(e, g->o->x->to.i), others = rvm__build_int(k, g->lanes - 1);
    LLVMValueRef last = up ? LLVMBuildAdd(k->b, at, others, "") : LLVMBuildSub(k->b, at, others, "");
    return run_group(e, g, pc, &(span){up ? at : last, last, rvm__build_int(k, g->lanes), up, false}, single, out, cost);
}

/* What whole groups leave at the block's end, if LLVM knows how many that are: else a part of a group would be made for
 * nearly every block. */
static void run_rest(rvm__emit *e, const grouping *whole, uint32_t pc, bool up, LLVMBasicBlockRef single, LLVMValueRef out,
                     LLVMValueRef cost) {
    rvm__build *k = e->k;
    grouping g = *whole;
    const rvm__xinsn *x = g.o->x;
    const unsigned few = g.lanes * 5 / 8; /* instances of little work take half the time one by one */
    LLVMBasicBlockRef known = rvm__block(e, "known"), some = rvm__block(e, "part");
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), at = rvm__slot_value(e, x->to.i);
    LLVMValueRef all = LLVMBuildSub(k->b, hi, lo, ""), n = LLVMBuildAnd(k->b, all, rvm__build_int(k, g.lanes - 1), "");
    LLVMValueRef lowest = LLVMBuildSub(k->b, hi, n, ""), highest = LLVMBuildSub(k->b, hi, rvm__build_int(k, 1), "");
    LLVMValueRef is_known = rvm__build_intrinsic(e->k, "llvm.is.constant", 1, &all);
    LLVMValueRef many = LLVMBuildICmp(k->b, LLVMIntUGT, n, rvm__build_int(k, few), "");
    LLVMBuildCondBr(k->b, LLVMBuildAnd(k->b, is_known, many, ""), known, single);
    rvm__at(e, known);
    LLVMValueRef begins = LLVMBuildICmp(k->b, LLVMIntEQ, at, up ? lowest : highest, "");
    LLVMBuildCondBr(k->b, LLVMBuildAnd(k->b, begins, has_fuel(&g, cost), ""), some, single);
    rvm__at(e, some);
    if ((g.o = rvm__instance_of(e, pc)))
        run_group(e, &g, pc, &(span){lowest, up ? highest : lowest, n, up, true}, single, out, cost);
}

/* Where roles are enforced, instances run together only if it is known that they keep them. */
static void only_if_clean(rvm__emit *e, uint32_t pc, LLVMBasicBlockRef single) {
    LLVMValueRef clean = rvm__is_clean(e, pc);
    if (!clean) return;
    LLVMBasicBlockRef on = rvm__block(e, "clean");
    LLVMBuildCondBr(e->k->b, clean, on, single);
    rvm__at(e, on);
}

/* Whether groups are of eight lanes where registers have fewer: there are fewer sums over them, and two vectors of an
 * elementary function at a time take less than twice as long as one; unless the block is known to be shorter. */
static bool is_wide(const rvm__emit *e, const rvm__xinsn *x, uint32_t first, uint32_t last, bool conflicts) {
    LLVMValueRef n = rvm__known_length(e->u, e->fn, x->to.hi);
    if (conflicts || e->k->target->width < 4) return conflicts;
    return (!n || LLVMConstIntGetZExtValue(n) >= RVM__MOST_GROUP) && rvm__takes_functions(e->u, e->fn, first, last + 1);
}

/* A block that goes on with a group, if it can, or with one instance. */
static LLVMBasicBlockRef start_block(rvm__emit *e, uint32_t pc) {
    rvm__build *k = e->k;
    grouping group = {.o = rvm__instance_of(e, pc)}, *g = &group;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b), start = rvm__block(e, "start");
    LLVMBasicBlockRef single = rvm__block(e, "single");
    uint32_t first, last;
    bool conflicts = false;
    rvm__body_of(e, pc, &first, &last);
    rvm__at(e, start);
    if (!g->o) return start;
    const bool known = rvm__find_array_conflicts(e, first, last, g->o->x->to.i, &conflicts);
    const bool up = (e->control.context->dir > 0) != ((g->o->x->flags & X_REVERSED) != 0);
    g->lanes = is_wide(e, g->o->x, first, last, conflicts) ? RVM__MOST_GROUP : k->target->group;
    g->order = !conflicts || k->fast ? 0 : up ? '+' : '-';
    if (!known)
        LLVMBuildBr(k->b, single);
    else {
        g->asked = e->block.asked[pc] = rvm__local(e, k->i32, "asked");
        LLVMValueRef out = rvm__local(e, LLVMArrayType2(k->i64, counts_of(g->o) * RVM__MOST_GROUP), "counted");
        LLVMValueRef cost = rvm__local(e, k->i64, "cost");
        rvm__at(e, e->frame.entry);
        rvm__put_at(e, rvm__build_int(k, 0), cost);
        forget_order(e, pc, g->asked); /* the block may have been entered by on-stack replacement */
        rvm__at(e, start);
        only_if_clean(e, pc, single);
        LLVMBasicBlockRef some = rvm__block(e, "group"), rest = is_of_chunk(e, pc) ? single : rvm__block(e, "rest");
        LLVMBuildCondBr(k->b, may_group(g, pc, up, cost), some, rest);
        rvm__at(e, some);
        const bool runs = run_whole(e, g, pc, up, single, out, cost);
        if (rest != single) rvm__at(e, rest);
        if (rest != single && !runs) LLVMBuildBr(k->b, single);
        if (rest != single && runs) run_rest(e, g, pc, up, single, out, cost);
    }
    e->block.conflicts = NULL;
    rvm__at(e, single);
    rvm__aside_single(e, g->o->x, false);
    rvm__fresh_begin(e, pc);
    rvm__jump(e, e->control.context, pc, false);
    rvm__at(e, here);
    return start;
}

/* A block that is entered. */
static void note_single(rvm__emit *e, uint32_t pc) {
    const rvm__lowering *w = e->u->w;
    const char *why = w->lanes && !w->lines && !e->vectorised ? rvm__why_not_in_lanes(e, pc) : NULL;
    if (!why) return;
    e->k->single++;
    snprintf(e->k->why, sizeof e->k->why, "%s", why);
}

void rvm__to_instance(rvm__emit *e, uint32_t pc, rvm__arrival how) {
    rvm__context *c = e->control.context;
    const bool polls = how == RVM__RESUMES || how == RVM__TURNS, anew = how == RVM__ENTERS || how == RVM__RESUMES;
    if (!rvm__goes_in_lanes(e, pc)) {
        if (how == RVM__ENTERS) note_single(e, pc);
        if (anew) rvm__aside_single(e, &e->code->x[pc], true);
        rvm__fresh_begin(e, pc);
        rvm__jump(e, c, pc, polls);
        return;
    }
    if (!c->start && !(c->start = rvm__unit_alloc(e->u, e->f->ncode * sizeof *c->start))) return;
    if (polls) rvm__safepoint_of_block(e, pc);
    if (!e->block.asked && !(e->block.asked = rvm__unit_alloc(e->u, e->f->ncode * sizeof *e->block.asked))) return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
    if (!c->start[pc]) c->start[pc] = start_block(e, pc);
    rvm__at(e, here);
    if (anew && e->block.asked[pc]) forget_order(e, pc, e->block.asked[pc]);
    LLVMBuildBr(e->k->b, c->start[pc]);
}
