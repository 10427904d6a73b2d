/* exact.c: updates of reals in runs that restore every bit, as vm/interp/exact_handlers.c has them: what rounding loses is
 * recorded, or taken back where the code restores. Most updates lose nothing (vm/trail/exact.h), which is found here; for
 * all else the machine is called, which holds the records. */
#include "emit.h"
#include "exact_ir.h"
#include "out_of_line.h"
#include "walk.h"

#include <stddef.h>

static LLVMValueRef int32(rvm__emit *e, uint32_t n) {
    return LLVMConstInt(e->k->i32, n, false);
}

static LLVMValueRef failed(rvm__emit *e, LLVMValueRef status) {
    return LLVMBuildICmp(e->k->b, LLVMIntNE, status, int32(e, RVM_OK), "");
}

void rvm__exact_count(rvm__emit *e, unsigned updates) {
    LLVMValueRef now = rvm__get(e, e->k->i64, e->count.exact);
    rvm__put_at(e, LLVMBuildAdd(e->k->b, now, rvm__build_int(e->k, updates), ""), e->count.exact);
}

static unsigned level_at(const rvm__emit *e, uint32_t pc) {
    return rvm__is_of_shadows(&e->f->code[pc]) ? RVM__OF_SHADOWS : RVM__OF_VALUES;
}

static bool is_of_shadows(const rvm__emit *e) {
    return level_at(e, e->control.pc) == RVM__OF_SHADOWS;
}

bool rvm__is_exact(const rvm__emit *e, rvm_type t) {
    return e->u->w->exact && rvm__is_floating(t) && !(e->u->w->values_only && is_of_shadows(e));
}

bool rvm__tracks_shadows(const rvm__emit *e) {
    return e->u->releases_shadows && is_of_shadows(e);
}

bool rvm__restores_at(const rvm__emit *e, uint32_t pc) {
    const bool otherwise = rvm__restores_otherwise(&e->f->code[pc]);
    return e->u->w->exact && e->control.context->restoring != otherwise;
}

bool rvm__is_inside(const rvm__emit *e) {
    return e->u->w->exact && (e->control.context->inside || e->control.within[e->control.pc]);
}

static bool restores(const rvm__emit *e) {
    return rvm__restores_at(e, e->control.pc);
}

/* ---- one update ---- */

rvm__exact_ir rvm__exact_of(const rvm__emit *e, rvm_type t, rvm_op op, LLVMValueRef y, LLVMValueRef f, LLVMValueRef now) {
    const bool back = restores(e);
    return (rvm__exact_ir){.type = t, .op = back ? rvm__op_inverse(op) : op, .y = y, .f = f, .after = back ? y : now};
}

static rvm__exact kind_of(rvm_op op) {
    const bool inverse = rvm__is_inverse(op);
    if (rvm__pair_of(op) == RVM_PAIR_add) return inverse ? RVM__EXACT_SUB : RVM__EXACT_ADD;
    return inverse ? RVM__EXACT_DIV : RVM__EXACT_MUL;
}

static LLVMValueRef by(rvm__emit *e, rvm_op op, LLVMValueRef y, LLVMValueRef f) {
    LLVMValueRef none = NULL;
    return rvm__build_update(e->k, op, RVM_F64, y, f, &none);
}

/* ---- the fast path, rvm__exact_alone: one guess and three trials, side by side in a vector ---- */

enum { TRIALS = 4 }; /* the guess, its neighbours by their bits, 0 */

static LLVMValueRef insert(rvm__emit *e, LLVMValueRef into, LLVMValueRef x, unsigned n) {
    return LLVMBuildInsertElement(e->k->b, into, x, int32(e, n), "");
}

static LLVMValueRef each(rvm__emit *e, LLVMValueRef x) {
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(x), TRIALS);
    LLVMValueRef one = insert(e, LLVMGetPoison(t), x, 0), first = LLVMConstNull(LLVMVectorType(e->k->i32, TRIALS));
    return LLVMBuildShuffleVector(e->k->b, one, LLVMGetPoison(t), first, "");
}

static LLVMValueRef numbers(rvm__emit *e, int64_t v0, int64_t v1, int64_t v2, int64_t v3) {
    LLVMValueRef v[TRIALS] = {rvm__build_int(e->k, v0), rvm__build_int(e->k, v1), rvm__build_int(e->k, v2),
                              rvm__build_int(e->k, v3)};
    return LLVMConstVector(v, TRIALS);
}

/* The guess, if what is behind the update is finite; else a NaN, which leads nowhere. One fused operation, where there are
 * such: 0 times what is finite is 0. */
static LLVMValueRef if_finite(rvm__emit *e, LLVMValueRef g, LLVMValueRef after) {
    LLVMTypeRef t = LLVMTypeOf(g);
    LLVMValueRef args[3] = {after, LLVMConstNull(t), g};
    return rvm__build_overloaded(e->k, "llvm.fmuladd", 1, &t, 3, args);
}

static LLVMValueRef bits_of(rvm__emit *e, LLVMValueRef v, unsigned n) {
    return LLVMBuildBitCast(e->k->b, v, LLVMVectorType(e->k->i64, n), "");
}

static LLVMValueRef reals_of(rvm__emit *e, LLVMValueRef bits, unsigned n) {
    return LLVMBuildBitCast(e->k->b, bits, LLVMVectorType(e->k->f64, n), "");
}

/* Whether lanes are as the mask has them. */
static LLVMValueRef are(rvm__emit *e, LLVMValueRef lanes, unsigned n, uint64_t mask) {
    LLVMTypeRef t = LLVMIntTypeInContext(e->k->context, n);
    return LLVMBuildICmp(e->k->b, LLVMIntEQ, LLVMBuildBitCast(e->k->b, lanes, t, ""), LLVMConstInt(t, mask, false), "");
}

/* Whether g, the guess, is the only value from which f leads to what is behind the update: the guess does, its neighbours do
 * not. Nor does 0, or the guess may be one, whose neighbours are others. Where what is behind is 0, and all this holds,
 * nothing is recorded either. */
static LLVMValueRef is_alone(rvm__emit *e, const rvm__exact_ir *u, LLVMValueRef g) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef bits = each(e, LLVMBuildBitCast(b, if_finite(e, g, u->after), e->k->i64, ""));
    bits = LLVMBuildAnd(b, LLVMBuildAdd(b, bits, numbers(e, 0, 1, -1, 0), ""), numbers(e, -1, -1, -1, 0), "");
    LLVMValueRef led = by(e, u->op, reals_of(e, bits, TRIALS), each(e, u->f));
    return are(e, LLVMBuildFCmp(b, LLVMRealOEQ, led, each(e, u->after), ""), TRIALS, 1);
}

/* A difference is a sum with -f. */
LLVMValueRef rvm__exact_are_alone(rvm__emit *e, unsigned n, const rvm__exact_ir *u) {
    LLVMBuilderRef b = e->k->b;
    unsigned lanes = 2;
    while (lanes < n) lanes *= 2;
    LLVMValueRef one[RVM__EXACT_ROW], minus[RVM__EXACT_ROW], from_4[RVM__EXACT_ROW],
        to_1[RVM__EXACT_ROW]; /* 4 - 3 is 1, and is alone: for lanes without an update */
    for (unsigned k = 0; k < lanes; k++) {
        one[k] = rvm__build_int(e->k, 1), minus[k] = rvm__build_int(e->k, -1);
        from_4[k] = LLVMConstReal(e->k->f64, -3), to_1[k] = LLVMConstReal(e->k->f64, 1);
    }
    LLVMValueRef f = LLVMConstVector(from_4, lanes), after = LLVMConstVector(to_1, lanes);
    for (unsigned k = 0; k < n; k++) {
        f = insert(e, f, rvm__is_inverse(u[k].op) ? LLVMBuildFNeg(b, u[k].f, "") : u[k].f, k);
        after = insert(e, after, u[k].after, k);
    }
    LLVMValueRef g = if_finite(e, LLVMBuildFSub(b, after, f, ""), after), bits = bits_of(e, g, lanes);
    LLVMValueRef up = reals_of(e, LLVMBuildAdd(b, bits, LLVMConstVector(one, lanes), ""), lanes);
    LLVMValueRef down = reals_of(e, LLVMBuildAdd(b, bits, LLVMConstVector(minus, lanes), ""), lanes);
    LLVMValueRef good = LLVMBuildFCmp(b, LLVMRealOEQ, LLVMBuildFAdd(b, g, f, ""), after, "");
    const LLVMValueRef others[] = {LLVMBuildFAdd(b, up, f, ""), LLVMBuildFAdd(b, down, f, ""), f};
    for (unsigned k = 0; k < sizeof others / sizeof *others; k++)
        good = LLVMBuildAnd(b, good, LLVMBuildFCmp(b, LLVMRealUNE, others[k], after, ""), "");
    return are(e, good, lanes, (UINT64_C(1) << lanes) - 1);
}

/* ---- else ---- */

/* A number and the level of the record, as vm/native/native.c takes them apart. */
static LLVMValueRef on_level(rvm__emit *e, unsigned n) {
    return int32(e, n | level_at(e, e->control.pc) << RVM__NATIVE_LEVEL);
}

/* By the machine; what it was, where it restores, else NULL. */
static LLVMValueRef ask_machine(rvm__emit *e, const rvm__exact_ir *u, bool seldom) {
    rvm__window_give(e);
    LLVMValueRef args[6] = {e->frame.machine, on_level(e, u->type), int32(e, kind_of(u->op)), u->y, u->f, u->after};
    LLVMValueRef was = restores(e) ? rvm__local(e, e->k->f64, "was") : NULL;
    if (was) args[3] = u->after, args[5] = was;
    const char *name = was ? "rvm__native_back" : "rvm__native_keep";
    LLVMValueRef status =
        seldom ? rvm__call_seldom(e, name, e->k->i32, 6, args) : rvm__call_runtime(e, name, e->k->i32, 6, args);
    rvm__window_take(e);
    rvm__exit_if(e, failed(e, status));
    return was ? rvm__get(e, e->k->f64, was) : NULL;
}

/* An f64: g is the guess of what was before, which is right where it is the only one. */
static LLVMValueRef ask_if_several(rvm__emit *e, const rvm__exact_ir *u, LLVMValueRef g) {
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

/* ---- in a compute part: values whole, on the machine's memory as long as that has room for them ---- */

static LLVMValueRef on_top(rvm__emit *e, int64_t by) {
    LLVMValueRef at = rvm__build_int(e->k, by), top = rvm__get(e, e->k->ptr, e->frame.window[RVM__WINDOW_TOP]);
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->f64, top, &at, 1, "");
}

static void move_top(rvm__emit *e, LLVMValueRef to) {
    rvm__put_at(e, to, e->frame.window[RVM__WINDOW_TOP]);
}

/* An update that is coded, of which there are others before it: counted here, if the guess is the only one. *from: where
 * that goes on; else control goes to `machine`. What restores leaves the first one to the machine. */
static void count_coded(rvm__emit *e, const rvm__exact_ir *u, LLVMValueRef g, LLVMBasicBlockRef machine,
                        LLVMBasicBlockRef on, LLVMBasicBlockRef *from) {
    rvm__build *k = e->k;
    const bool back = restores(e);
    LLVMValueRef count = rvm__get(e, k->ptr, rvm__member(e, e->frame.machine, offsetof(rvm_machine, exact.coded)));
    LLVMBasicBlockRef some = rvm__block(e, "coded"), alone = rvm__block(e, "alone");
    LLVMBuildCondBr(k->b, LLVMBuildIsNull(k->b, count, ""), machine, some);
    rvm__at(e, some);
    LLVMValueRef n = rvm__get(e, k->i64, count), good = is_alone(e, u, g), one = rvm__build_int(k, 1);
    if (back) good = LLVMBuildAnd(k->b, good, LLVMBuildICmp(k->b, LLVMIntUGT, n, one, ""), "");
    LLVMBuildCondBr(k->b, good, alone, machine);
    rvm__at(e, alone);
    rvm__put_at(e, back ? LLVMBuildSub(k->b, n, one, "") : LLVMBuildAdd(k->b, n, one, ""), count);
    *from = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
}

static LLVMValueRef differ(rvm__emit *e, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef bits = e->k->i64;
    return LLVMBuildICmp(e->k->b, LLVMIntNE, LLVMBuildBitCast(e->k->b, x, bits, ""), LLVMBuildBitCast(e->k->b, y, bits, ""),
                         "");
}

static LLVMValueRef keep_whole(rvm__emit *e, const rvm__exact_ir *u, LLVMValueRef g) {
    rvm__build *k = e->k;
    const bool back = restores(e);
    LLVMBasicBlockRef none = rvm__block(e, "none"), often = rvm__block(e, "whole"), machine = rvm__block(e, "machine"),
                      on = rvm__block(e, "on"), from[3];
    rvm__settle_erased(e); /* before control parts: one side may exit */
    LLVMValueRef limit = rvm__get(e, k->ptr, e->frame.window[back ? RVM__WINDOW_BOTTOM : RVM__WINDOW_END]), was[3];
    rvm__unlikely(e, LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, on_top(e, 0), limit, ""), none, often));
    rvm__at(e, often);
    if (back) {
        LLVMValueRef at = on_top(e, -1);
        was[0] = rvm__get_from(e, RVM__TRAIL_CELLS, k->f64, at);
        rvm__exit_if(e, differ(e, by(e, u->op, was[0], u->f), u->after)); /* the machine says why, if it is no NaN */
        move_top(e, at);
    } else {
        rvm__put_into(e, RVM__TRAIL_CELLS, u->y, on_top(e, 0));
        move_top(e, on_top(e, 1));
    }
    from[0] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, none);
    count_coded(e, u, g, machine, on, &from[1]);
    was[1] = g;
    rvm__at(e, machine);
    was[2] = ask_machine(e, u, true);
    from[2] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    if (!back) return NULL;
    LLVMValueRef phi = LLVMBuildPhi(k->b, k->f64, "");
    LLVMAddIncoming(phi, was, from, 3);
    return phi;
}

static size_t const window[RVM__WINDOWS] = {[RVM__WINDOW_TOP] = offsetof(rvm_machine, exact.top),
                                            [RVM__WINDOW_BOTTOM] = offsetof(rvm_machine, exact.bottom),
                                            [RVM__WINDOW_END] = offsetof(rvm_machine, exact.end)};

void rvm__window_take(rvm__emit *e) {
    for (int k = 0; k < RVM__WINDOWS && e->frame.window[k]; k++)
        rvm__put_at(e, rvm__get(e, e->k->ptr, rvm__member(e, e->frame.machine, window[k])), e->frame.window[k]);
}

void rvm__window_give(rvm__emit *e) {
    if (!e->frame.window[RVM__WINDOW_TOP]) return;
    rvm__put_at(e, on_top(e, 0), rvm__member(e, e->frame.machine, window[RVM__WINDOW_TOP]));
}

static bool has_parts(const rvm_function *f) {
    RVM__EACH_INSN(x, f)
        if (x.in->op == RVM_OP_compute || x.in->op == RVM_OP_segment) return true;
    return false;
}

void rvm__window_make(rvm__emit *e) {
    for (int k = 0; k < RVM__WINDOWS && (e->inside || has_parts(e->f)); k++)
        e->frame.window[k] = rvm__local(e, e->k->ptr, "window");
}

/* ---- updates ---- */

LLVMValueRef rvm__exact_update(rvm__emit *e, rvm_type t, rvm_op op, LLVMValueRef y, LLVMValueRef f, LLVMValueRef now) {
    const bool back = restores(e);
    const rvm__exact_ir u = rvm__exact_of(e, t, op, y, f, now);
    LLVMValueRef was;
    if (t == RVM_F64)
        was = (rvm__is_inside(e) && !is_of_shadows(e) ? keep_whole : ask_if_several)(
            e, &u, back ? now : by(e, rvm__op_inverse(op), now, f));
    else
        was = ask_machine(e, &u, false);
    if (!back) rvm__exact_count(e, 1);
    return back ? was : now;
}

/* ---- whole values ---- */

void rvm__exact_whole(rvm__emit *e, unsigned n, const LLVMValueRef *was, LLVMValueRef *now) {
    rvm__build *k = e->k;
    const bool back = restores(e);
    LLVMValueRef all = rvm__local(e, LLVMArrayType2(k->f64, n), "whole");
    LLVMValueRef args[3] = {e->frame.machine, on_level(e, n), all};
    for (unsigned i = 0; i < n; i++) rvm__put_at(e, was[i], rvm__member(e, all, i * sizeof(rvm_value)));
    rvm__window_give(e);
    LLVMValueRef status = rvm__call_runtime(e, back ? "rvm__native_back_whole" : "rvm__native_keep_whole", k->i32, 3, args);
    rvm__window_take(e);
    rvm__exit_if(e, failed(e, status));
    if (!back) rvm__exact_count(e, n);
    for (unsigned i = 0; i < n && back; i++) now[i] = rvm__get(e, k->f64, rvm__member(e, all, i * sizeof(rvm_value)));
}

void rvm__exact_exit_unless_led(rvm__emit *e, unsigned n, const LLVMValueRef *led, const LLVMValueRef *after,
                                const LLVMValueRef *was) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef other = rvm__block(e, "disturbed"), on = rvm__block(e, "on");
    LLVMValueRef any = LLVMConstInt(k->i1, 0, false), all = rvm__local(e, LLVMArrayType2(k->f64, n), "whole");
    for (unsigned i = 0; i < n; i++) any = LLVMBuildOr(k->b, any, differ(e, led[i], after[i]), "");
    rvm__settle_erased(e); /* before control parts: one side may exit */
    rvm__unlikely(e, LLVMBuildCondBr(k->b, any, other, on));
    rvm__at(e, other);
    LLVMValueRef args[3] = {e->frame.machine, on_level(e, n), all};
    for (unsigned i = 0; i < n; i++) rvm__put_at(e, was[i], rvm__member(e, all, i * sizeof(rvm_value)));
    rvm__window_give(e);
    rvm__call_runtime(e, "rvm__native_return_whole", k->i32, 3, args); /* there is room: they have just been taken */
    rvm__window_take(e);
    rvm__exit_now(e);
    rvm__at(e, on);
}

/* ---- registers that instances of a block add into ---- */

LLVMValueRef rvm__exact_chunk(rvm__emit *e, unsigned n, const rvm__held_sums *sums, LLVMValueRef instances, bool back) {
    rvm__build *k = e->k;
    LLVMValueRef list = rvm__local(e, LLVMArrayType2(k->i64, n * sizeof(rvm__block_sums) / 8), "chunk");
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef at = rvm__member(e, list, i * sizeof(rvm__block_sums));
        rvm__put_at(e, sums[i].held, rvm__member(e, at, offsetof(rvm__block_sums, held)));
        rvm__put_at(e, rvm__build_int(k, sums[i].type), rvm__member(e, at, offsetof(rvm__block_sums, type)));
        rvm__put_at(e, rvm__build_int(k, sums[i].level), rvm__member(e, at, offsetof(rvm__block_sums, level)));
    }
    LLVMValueRef args[4] = {e->frame.machine, int32(e, n), list, instances};
    rvm__window_give(e);
    LLVMValueRef status = rvm__call_runtime(e, back ? "rvm__native_recall" : "rvm__native_record", k->i32, 4, args);
    rvm__window_take(e);
    return failed(e, status);
}

LLVMValueRef rvm__exact_room(rvm__emit *e, unsigned n) {
    LLVMValueRef args[2] = {e->frame.machine, int32(e, n)};
    rvm__window_give(e);
    LLVMValueRef status = rvm__call_runtime(e, "rvm__native_record_room", e->k->i32, 2, args);
    rvm__window_take(e);
    return failed(e, status);
}

/* ---- regions ---- */

/* Of their hidden slots, vm/interp/control.inc: whether the surroundings restore, but for the course of the run. */
void rvm__exact_begin(rvm__emit *e) {
    rvm__build *k = e->k;
    LLVMValueRef course = rvm__get(e, k->i32, rvm__member(e, e->frame.machine, offsetof(rvm_machine, run.course)));
    LLVMValueRef began = rvm__get(e, k->i8, rvm__member(e, e->frame.machine, offsetof(rvm_machine, run.began_at_start)));
    LLVMValueRef down = LLVMBuildICmp(k->b, LLVMIntSLT, course, int32(e, 0), "");
    LLVMValueRef at_start = LLVMBuildICmp(k->b, LLVMIntNE, began, LLVMConstInt(k->i8, 0, false), "");
    LLVMValueRef restores = LLVMBuildICmp(k->b, LLVMIntEQ, down, at_start, ""); /* rvm__course_restores */
    LLVMValueRef bit = rvm__build_int(k, RVM__REGION_RESTORES), none = rvm__build_int(k, 0);
    e->frame.surroundings[false] = LLVMBuildSelect(k->b, restores, bit, none, "");
    e->frame.surroundings[true] = LLVMBuildSelect(k->b, restores, none, bit, "");
}
