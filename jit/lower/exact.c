/* exact.c: updates of reals in runs that restore every bit, as vm/interp/exact_handlers.c has them: what rounding loses is
 * recorded, or taken back where the code restores. Most updates lose nothing (vm/trail/exact.h), which is found here; for all
 * else the machine is called, which holds the records. */
#include "emit.h"
#include "blocks.h"
#include "exact.h"
#include "out_of_line.h"
#include "walk.h"

#include <stddef.h>

static LLVMValueRef int32(rvm__emit *e, uint32_t n) {
    return LLVMConstInt(e->k->i32, n, false);
}

static LLVMValueRef failed(rvm__emit *e, LLVMValueRef status) {
    return LLVMBuildICmp(e->k->b, LLVMIntNE, status, int32(e, RVM_OK), "");
}

static void count(rvm__emit *e, unsigned updates) {
    LLVMValueRef now = rvm__get(e, e->k->i64, e->count.exact);
    rvm__put_at(e, LLVMBuildAdd(e->k->b, now, rvm__build_int(e->k, updates), ""), e->count.exact);
}

bool rvm__is_exact(const rvm__emit *e, rvm_type t) {
    return e->u->w->exact && rvm__is_floating(t);
}

static bool restores(const rvm__emit *e) {
    return e->control.context->restoring;
}

/* ---- one update ---- */

typedef struct update {
    rvm_type type;
    rvm_op op; /* that is recorded: what restores is its inverse */
    LLVMValueRef y, f, after;
} update;

static rvm__exact kind_of(rvm_op op) {
    const bool inverse = rvm__is_inverse(op);
    if (rvm__pair_of(op) == RVM_PAIR_add) return inverse ? RVM__EXACT_SUB : RVM__EXACT_ADD;
    return inverse ? RVM__EXACT_DIV : RVM__EXACT_MUL;
}

static LLVMValueRef by(rvm__emit *e, rvm_op op, LLVMValueRef y, LLVMValueRef f) {
    LLVMValueRef none = NULL;
    return rvm__build_update(e->k, op, RVM_F64, y, f, &none);
}

/* The neighbour of g in the order of bit patterns. */
static LLVMValueRef beside(rvm__emit *e, LLVMValueRef g, int64_t by) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef bits = LLVMBuildBitCast(b, g, e->k->i64, "");
    return LLVMBuildBitCast(b, LLVMBuildAdd(b, bits, rvm__build_int(e->k, by), ""), e->k->f64, "");
}

/* Whether it is a number other than 0: its bits without the sign are. */
static LLVMValueRef is_some(rvm__emit *e, LLVMValueRef y) {
    LLVMBuilderRef b = e->k->b;
    const int64_t infinite = INT64_C(0x7ff) << 53;
    LLVMValueRef bits = LLVMBuildBitCast(b, y, e->k->i64, ""), one = rvm__build_int(e->k, 1);
    LLVMValueRef size = LLVMBuildSub(b, LLVMBuildShl(b, bits, one, ""), one, "");
    return LLVMBuildICmp(b, LLVMIntULT, size, rvm__build_int(e->k, infinite - 1), "");
}

/* rvm__exact_alone: whether g, the guess, is the only value from which f leads to what is behind the update. */
static LLVMValueRef is_alone(rvm__emit *e, const update *u, LLVMValueRef g) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef leads = LLVMBuildFCmp(b, LLVMRealOEQ, by(e, u->op, g, u->f), u->after, "");
    LLVMValueRef up = LLVMBuildFCmp(b, LLVMRealUNE, by(e, u->op, beside(e, g, 1), u->f), u->after, "");
    LLVMValueRef down = LLVMBuildFCmp(b, LLVMRealUNE, by(e, u->op, beside(e, g, -1), u->f), u->after, "");
    LLVMValueRef some = LLVMBuildFCmp(b, LLVMRealUNE, g, LLVMConstNull(e->k->f64), "");
    LLVMValueRef all = LLVMBuildAnd(b, leads, LLVMBuildAnd(b, up, down, ""), "");
    return LLVMBuildAnd(b, all, LLVMBuildAnd(b, some, is_some(e, u->after), ""), "");
}

/* By the machine; what it was, where it restores, else NULL. */
static LLVMValueRef ask_machine(rvm__emit *e, const update *u, bool seldom) {
    LLVMValueRef args[6] = {e->frame.machine, int32(e, u->type), int32(e, kind_of(u->op)), u->y, u->f, u->after};
    LLVMValueRef was = restores(e) ? rvm__local(e, e->k->f64, "was") : NULL;
    if (was) args[3] = u->after, args[5] = was;
    const char *name = was ? "rvm__exact_back" : "rvm__exact_keep";
    LLVMValueRef status = seldom ? rvm__call_seldom(e, name, e->k->i32, 6, args)
                                 : rvm__call_runtime(e, name, e->k->i32, 6, args);
    rvm__exit_if(e, failed(e, status));
    return was ? rvm__get(e, e->k->f64, was) : NULL;
}

/* An f64: g is the guess of what was before, which is right where it is the only one. */
static LLVMValueRef ask_if_several(rvm__emit *e, const update *u, LLVMValueRef g) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef several = rvm__block(e, "several"), on = rvm__block(e, "on"), from[2];
    rvm__settle_erased(e); /* before control parts: one side may exit */
    LLVMValueRef alone = is_alone(e, u, g);
    from[0] = LLVMGetInsertBlock(k->b);
    rvm__unlikely(e, LLVMBuildCondBr(k->b, LLVMBuildNot(k->b, alone, ""), several, on));
    rvm__at(e, several);
    LLVMValueRef was[2] = {g, ask_machine(e, u, true)};
    from[1] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    if (!was[1]) return NULL;
    LLVMValueRef phi = LLVMBuildPhi(k->b, k->f64, "");
    LLVMAddIncoming(phi, was, from, 2);
    return phi;
}

LLVMValueRef rvm__exact_update(rvm__emit *e, rvm_type t, rvm_op op, LLVMValueRef y, LLVMValueRef f, LLVMValueRef now) {
    const bool back = restores(e);
    const rvm_op recorded = back ? rvm__op_inverse(op) : op;
    const update u = {.type = t, .op = recorded, .y = y, .f = f, .after = back ? y : now};
    LLVMValueRef was;
    if (t == RVM_F64)
        was = ask_if_several(e, &u, back ? now : by(e, rvm__op_inverse(op), now, f));
    else
        was = ask_machine(e, &u, false);
    if (!back) count(e, 1);
    return back ? was : now;
}

/* ---- whole values ---- */

void rvm__exact_whole(rvm__emit *e, unsigned n, const LLVMValueRef *was, LLVMValueRef *now) {
    rvm__build *k = e->k;
    const bool back = restores(e);
    LLVMValueRef all = rvm__local(e, LLVMArrayType2(k->f64, n), "whole");
    LLVMValueRef args[3] = {e->frame.machine, int32(e, n), all};
    for (unsigned i = 0; i < n; i++) rvm__put_at(e, was[i], rvm__member(e, all, i * sizeof(rvm_value)));
    const char *name = back ? "rvm__exact_back_whole" : "rvm__exact_keep_whole";
    rvm__exit_if(e, failed(e, rvm__call_runtime(e, name, k->i32, 3, args)));
    if (!back) count(e, n);
    for (unsigned i = 0; i < n && back; i++) now[i] = rvm__get(e, k->f64, rvm__member(e, all, i * sizeof(rvm_value)));
}

/* ---- registers that instances of a block add into ---- */

LLVMValueRef rvm__exact_chunk(rvm__emit *e, unsigned n, const rvm__held_sums *sums, LLVMValueRef instances) {
    rvm__build *k = e->k;
    LLVMValueRef list = rvm__local(e, LLVMArrayType2(k->i64, n * sizeof(rvm__block_sums) / 8), "chunk");
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef at = rvm__member(e, list, i * sizeof(rvm__block_sums));
        rvm__put_at(e, sums[i].held, rvm__member(e, at, offsetof(rvm__block_sums, held)));
        rvm__put_at(e, rvm__build_int(k, sums[i].type), rvm__member(e, at, offsetof(rvm__block_sums, type)));
    }
    LLVMValueRef args[4] = {e->frame.machine, int32(e, n), list, instances};
    const char *name = restores(e) ? "rvm__block_recall" : "rvm__block_record";
    return failed(e, rvm__call_runtime(e, name, k->i32, 4, args));
}

/* ---- regions ---- */

static void set_restoring(rvm__emit *e, bool restoring) {
    rvm__put_at(e, LLVMConstInt(e->k->i8, restoring, false),
                rvm__member(e, e->frame.machine, offsetof(rvm_machine, exact.restoring)));
}

LLVMValueRef rvm__exact_enter(rvm__emit *e, const rvm__context *part) {
    rvm__build *k = e->k;
    LLVMValueRef course = rvm__get(e, k->i32, rvm__member(e, e->frame.machine, offsetof(rvm_machine, run.course)));
    LLVMValueRef began = rvm__get(e, k->i8, rvm__member(e, e->frame.machine, offsetof(rvm_machine, run.began_at_start)));
    LLVMValueRef down = LLVMBuildICmp(k->b, LLVMIntSLT, course, int32(e, 0), "");
    LLVMValueRef at_start = LLVMBuildICmp(k->b, LLVMIntNE, began, LLVMConstInt(k->i8, 0, false), "");
    LLVMValueRef differs = LLVMBuildICmp(k->b, part->parent->restoring ? LLVMIntNE : LLVMIntEQ, down, at_start, "");
    set_restoring(e, part->restoring);
    return LLVMBuildSelect(k->b, differs, rvm__build_int(k, RVM__REGION_RESTORES), rvm__build_int(k, 0), "");
}

void rvm__exact_leave(rvm__emit *e, const rvm__context *part) {
    set_restoring(e, part->parent->restoring);
}
