/* walk.c: the instructions of a function in the order of control.
 *
 * A stretch is walked until it jumps; where it may be jumped to, a landing begins another stretch. Charges: every stretch
 * counts its instructions and charges them where control may part, so that at a look around and where the function is left
 * the count is the interpreter's. Looks around stand where a loop turns. Loops around code that is bounded (bound.c) look
 * around every so many trips, a strip; a loop that has no more than one strip, as most have, is walked apart from one that
 * has more. */
#include "emit.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { MOST_WALKED = 1 << 18 };

LLVMBasicBlockRef rvm__block(rvm__emit *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->k->context, e->function, name);
}

void rvm__at(rvm__emit *e, LLVMBasicBlockRef b) {
    LLVMPositionBuilderAtEnd(e->k->b, b);
}

/* ---- contexts and stretches ---- */

rvm__context *rvm__context_in(rvm__emit *e, rvm__context *parent, uint32_t compute, enum rvm__pass pass, int dir) {
    rvm__context *c = rvm__unit_alloc(e->u, sizeof *c);
    LLVMBasicBlockRef *landing = rvm__unit_alloc(e->u, e->f->ncode * sizeof *landing);
    if (!c || !landing) return NULL;
    *c = (rvm__context){
        .parent = parent, .compute = compute, .pass = pass, .dir = dir, .landing = landing, .next = e->contexts};
    c->told = parent && rvm__is_told(e, compute, e->f->code[compute].target);
    c->depth = parent ? parent->depth + !c->told : 0;
    c->gap = parent ? parent->gap : 0;
    c->head = parent ? parent->head : 0;
    e->contexts = c;
    return c;
}

rvm__context *rvm__context_copy(rvm__emit *e, const rvm__context *c) {
    rvm__context *s = rvm__unit_alloc(e->u, sizeof *s);
    LLVMBasicBlockRef *landing = rvm__unit_alloc(e->u, e->f->ncode * sizeof *landing);
    if (!s || !landing) return NULL;
    *s = *c;
    s->landing = landing;
    s->start = NULL;
    s->first = s->others = NULL;
    s->next = e->contexts;
    return e->contexts = s;
}

void rvm__walk_later(rvm__emit *e, LLVMBasicBlockRef block, uint32_t pc, rvm__context *c) {
    void *list = e->pending;
    if (!rvm__grow(&rvm__libc_allocator, &list, &e->cap_pending, e->npending + 1, sizeof *e->pending)) {
        rvm__out_of_memory(e->u);
        return;
    }
    e->pending = list;
    e->pending[e->npending++] = (rvm__pending){block, pc, c};
}

LLVMBasicBlockRef rvm__landing_of(rvm__emit *e, rvm__context *c, uint32_t pc) {
    if (c->gap) c = rvm__around_entry(e, c, pc);
    if (!c->landing[pc]) {
        c->landing[pc] = rvm__block(e, "at");
        rvm__walk_later(e, c->landing[pc], pc + (uint32_t)c->dir, c);
    }
    return c->landing[pc];
}

/* ---- charges ---- */

void rvm__charge(rvm__emit *e, uint32_t extra) {
    const uint32_t n = e->walked + extra;
    e->walked = 0;
    if (!n || e->u->w->standalone) return;
    LLVMValueRef now = rvm__get(e, e->k->i64, e->charged);
    rvm__put_at(e, LLVMBuildNSWAdd(e->k->b, now, rvm__build_int(e->k, n), ""), e->charged);
}

/* Seldom called, from loops that would be left with little in registers if a call changed them: a function in between that
 * keeps all but a few, where LLVM has a convention for that. */
static LLVMValueRef looker(rvm__emit *e) {
    enum { PRESERVE_MOST = 14 };
    static const char name[] = "rvm.look";
    rvm__build *k = e->k;
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    if (f) return f;
    LLVMTypeRef params[2] = {k->ptr, k->ptr}, t = LLVMFunctionType(k->i32, params, 2, false);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    const char *triple = LLVMGetTarget(k->module);
    f = LLVMAddFunction(k->module, name, t);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    if (!strncmp(triple, "x86_64", 6) || !strncmp(triple, "aarch64", 7)) LLVMSetFunctionCallConv(f, PRESERVE_MOST);
    rvm__attribute(k, f, -1, "noinline", 0);
    rvm__attribute(k, f, -1, "cold", 0);
    rvm__attribute(k, f, -1, "nounwind", 0);
    rvm__at(e, LLVMAppendBasicBlockInContext(k->context, f, ""));
    LLVMValueRef args[2] = {LLVMGetParam(f, 0), LLVMGetParam(f, 1)};
    LLVMBuildRet(k->b, rvm__call_runtime(e, "rvm__native_look", k->i32, 2, args));
    rvm__at(e, here);
    return f;
}

void rvm__look_around(rvm__emit *e, uint32_t pc) {
    rvm__build *k = e->k;
    if (e->u->w->standalone) return;
    if (e->laned) {
        rvm__bound_instance(e, NULL);
        return;
    }
    LLVMBasicBlockRef look = rvm__block(e, "look"), on = rvm__block(e, "on");
    LLVMValueRef limit = rvm__get(e, k->i64, rvm__member(e, e->native, offsetof(rvm__native, limit)));
    LLVMValueRef charged = rvm__get(e, k->i64, e->charged);
    rvm__unlikely(e, LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntSGT, charged, limit, ""), look, on));
    rvm__at(e, look);
    rvm__put_at(e, charged, rvm__member(e, e->native, offsetof(rvm__native, charged)));
    LLVMValueRef args[2] = {e->machine, e->native};
    LLVMValueRef f = looker(e), ended = LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, args, 2, "");
    LLVMSetInstructionCallConv(ended, LLVMGetFunctionCallConv(f));
    rvm__native_site site = rvm__site_here(e);
    site.pc = pc;
    rvm__leave_at(e, LLVMBuildICmp(k->b, LLVMIntNE, ended, LLVMConstInt(k->i32, 0, false), ""), site, 0);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
}

void rvm__jump(rvm__emit *e, rvm__context *c, uint32_t pc, bool back) {
    if (back) rvm__look_around(e, pc + (uint32_t)c->dir);
    LLVMBuildBr(e->k->b, rvm__landing_of(e, c, pc));
}

static bool is_back(const rvm__context *c, uint32_t from, uint32_t to) {
    return c->dir > 0 ? to < from : to > from;
}

/* ---- jumps ---- */

static LLVMValueRef is_taken(rvm__emit *e, const rvm__xinsn *x, bool if_true) {
    return LLVMBuildICmp(e->k->b, if_true ? LLVMIntNE : LLVMIntEQ, rvm__slot_value(e, x->to.c), rvm__build_int(e->k, 0), "");
}

static void conditional_jump(rvm__emit *e, const rvm_insn *in, LLVMValueRef taken) {
    rvm__context *c = e->context;
    LLVMBasicBlockRef there = rvm__block(e, "jump"), next = rvm__block(e, "next");
    rvm__charge(e, 1);
    LLVMBuildCondBr(e->k->b, taken, there, next);
    rvm__at(e, there);
    rvm__jump(e, c, in->target, is_back(c, e->pc, in->target));
    rvm__at(e, next);
}

/* ---- counted loops ---- */

static LLVMValueRef select_of(rvm__emit *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(e->k->b, c, a, b, "");
}

/* max(0, ceil((hi - lo) / s)), s not 0. */
static LLVMValueRef trips_of(rvm__emit *e, LLVMValueRef lo, LLVMValueRef hi, LLVMValueRef s) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef zero = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1);
    if (LLVMIsAConstantInt(s) && LLVMConstIntGetSExtValue(s) == 1)
        return select_of(e, LLVMBuildICmp(b, LLVMIntSGT, hi, lo, ""), LLVMBuildSub(b, hi, lo, ""), zero);
    LLVMValueRef up = LLVMBuildICmp(b, LLVMIntSGT, s, zero, "");
    LLVMValueRef size = select_of(e, up, s, LLVMBuildNeg(b, s, ""));
    LLVMValueRef way = select_of(e, up, LLVMBuildSub(b, hi, lo, ""), LLVMBuildSub(b, lo, hi, ""));
    LLVMValueRef some = select_of(e, up, LLVMBuildICmp(b, LLVMIntSGT, hi, lo, ""), LLVMBuildICmp(b, LLVMIntSGT, lo, hi, ""));
    size = select_of(e, LLVMBuildICmp(b, LLVMIntEQ, size, zero, ""), one, size);
    LLVMValueRef n = LLVMBuildUDiv(b, LLVMBuildSub(b, way, one, ""), size, "");
    return select_of(e, some, LLVMBuildAdd(b, n, one, ""), zero);
}

static LLVMValueRef at_most(rvm__emit *e, LLVMValueRef n, uint64_t most) {
    if (most >= RVM__UNBOUNDED) return n;
    LLVMValueRef all = rvm__build_int(e->k, (int64_t)most);
    return select_of(e, LLVMBuildICmp(e->k->b, LLVMIntULT, n, all, ""), n, all);
}

/* ---- strips ---- */

static rvm__strip strip_of(rvm__emit *e, uint32_t pc) {
    rvm__strip *s = &e->strips[pc];
    if (!s->left) *s = (rvm__strip){rvm__local(e, e->k->i64, "left"), rvm__local(e, e->k->i64, "stop")};
    return *s;
}

void rvm__begin_strip(rvm__emit *e, uint32_t pc, uint64_t most, LLVMValueRef at, LLVMValueRef step, LLVMValueRef left) {
    LLVMBuilderRef b = e->k->b;
    const rvm__strip strip = strip_of(e, pc);
    LLVMValueRef one = rvm__build_int(e->k, 1), all = rvm__build_int(e->k, (int64_t)most);
    LLVMValueRef fuel = rvm__get(e, e->k->i64, rvm__member(e, e->native, offsetof(rvm__native, fuel)));
    LLVMValueRef then = LLVMBuildAdd(b, rvm__get(e, e->k->i64, e->charged), rvm__build_int(e->k, RVM__STRIP), "");
    all = select_of(e, LLVMBuildICmp(b, LLVMIntSLE, then, fuel, ""), all, one); /* little is left: trip by trip */
    LLVMValueRef n = select_of(e, LLVMBuildICmp(b, LLVMIntULT, left, all, ""), left, all);
    rvm__put_at(e, LLVMBuildSub(b, left, n, ""), strip.left);
    LLVMValueRef way = LLVMBuildMul(b, LLVMBuildSub(b, n, one, ""), step, "");
    rvm__put_at(e, LLVMBuildAdd(b, at, way, ""), strip.stop);
}

LLVMValueRef rvm__strip_end(rvm__emit *e, uint32_t pc) {
    return rvm__get(e, e->k->i64, strip_of(e, pc).stop);
}

void rvm__set_strip_end(rvm__emit *e, uint32_t pc, LLVMValueRef end) {
    rvm__put_at(e, end, strip_of(e, pc).stop);
}

LLVMValueRef rvm__if_left(rvm__emit *e, uint32_t pc, LLVMBasicBlockRef more, LLVMBasicBlockRef out) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef left = rvm__get(e, e->k->i64, strip_of(e, pc).left);
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, left, rvm__build_int(e->k, 0), "");
    rvm__unlikely(e, LLVMBuildCondBr(b, some, more, out));
    return left;
}

/* Where the body of a loop is walked that goes in strips; all else is in c. */
static rvm__context *strips_in(rvm__emit *e, rvm__context *c, uint32_t pc) {
    rvm__context *s = rvm__context_copy(e, c);
    if (!s) return NULL;
    s->whole = c;
    s->strips = pc;
    return s;
}

static bool is_ascending(const rvm__emit *e, const rvm_insn *in) {
    return (e->context->dir > 0) != ((in->flags & RVM_FLAG_REVERSED) != 0);
}

static uint32_t lower_end(const rvm__emit *e, const rvm_insn *in) {
    return e->pc < in->target ? e->pc : in->target;
}

/* ---- loops that are charged ahead ---- */

/* Instructions of a trip of the loop with an end at pc, where all are charged when it is entered: all trips are alike and
 * nobody looks around; in unchecked code, where few ways lead out of them. 0: each charges its own. */
static uint32_t ahead_at(const rvm__emit *e, const rvm__context *c, uint32_t pc) {
    uint32_t lo = pc, hi = e->f->code[pc].target;
    if (lo > hi) lo = hi, hi = pc;
    if (e->u->w->standalone || !e->u->w->unchecked || (c->whole && c->strips == lo)) return 0;
    if (!e->laned && !rvm__trips_unseen(e, pc)) return 0;
    for (uint32_t k = lo + 1; k < hi; k++)
        if (!rvm__goes_on(&e->f->code[k])) return 0;
    return hi - lo;
}

static void charge_ahead(rvm__emit *e, LLVMValueRef trips) {
    LLVMBuilderRef b = e->k->b;
    const uint32_t each = ahead_at(e, e->context, e->pc);
    if (!each) return;
    LLVMValueRef all = LLVMBuildMul(b, trips, rvm__build_int(e->k, each), "");
    rvm__put_at(e, LLVMBuildAdd(b, rvm__get(e, e->k->i64, e->charged), all, ""), e->charged);
}

/* Trips from the one on that runs, of the loop with an end at pc; *by: from one index to the next. */
static LLVMValueRef trips_left(rvm__emit *e, uint32_t pc, LLVMValueRef *by) {
    LLVMBuilderRef b = e->k->b;
    const rvm__xinsn *x = &e->code->x[pc];
    const bool up = is_ascending(e, &e->f->code[pc]);
    LLVMValueRef i = rvm__slot_value(e, x->to.i), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef end = rvm__slot_value(e, up ? x->to.last : x->to.lo), back = LLVMBuildNeg(b, s, "");
    LLVMValueRef rises = LLVMBuildICmp(b, up ? LLVMIntSGT : LLVMIntSLT, s, rvm__build_int(e->k, 0), "");
    LLVMValueRef way = select_of(e, rises, LLVMBuildSub(b, end, i, ""), LLVMBuildSub(b, i, end, ""));
    *by = up ? s : back;
    return LLVMBuildAdd(b, LLVMBuildUDiv(b, way, select_of(e, rises, *by, up ? back : s), ""), rvm__build_int(e->k, 1), "");
}

LLVMValueRef rvm__charged_ahead(rvm__emit *e) {
    LLVMValueRef by, left = trips_left(e, e->ahead, &by);
    return LLVMBuildMul(e->k->b, left, rvm__build_int(e->k, ahead_at(e, e->context, e->ahead)), "");
}

rvm__context *rvm__enter_strips(rvm__emit *e, rvm__context *c) {
    const rvm_insn *in = &e->f->code[e->pc];
    const uint64_t most = rvm__trips_unseen(e, e->pc);
    rvm__context *there = most ? strips_in(e, c, lower_end(e, in)) : c;
    if (!most || !there) return there;
    LLVMValueRef by, left = trips_left(e, e->pc, &by), i = rvm__slot_value(e, e->code->x[e->pc].to.i);
    rvm__begin_strip(e, there->strips, most, i, by, left);
    return there;
}

/* More trips than one strip has go their own way. */
static void split_trips(rvm__emit *e, const rvm_insn *in, LLVMValueRef first, LLVMValueRef step, LLVMValueRef trips) {
    LLVMBuilderRef b = e->k->b;
    const uint64_t most = rvm__trips_unseen(e, e->pc);
    if (!most) return;
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntUGT, trips, rvm__build_int(e->k, (int64_t)most), "");
    if (LLVMIsAConstantInt(many) && !LLVMConstIntGetZExtValue(many)) return;
    rvm__context *there = strips_in(e, e->context, lower_end(e, in));
    LLVMBasicBlockRef strips = rvm__block(e, "strips"), one = rvm__block(e, "one");
    if (!there) return;
    rvm__unlikely(e, LLVMBuildCondBr(b, many, strips, one));
    rvm__at(e, strips);
    rvm__begin_strip(e, there->strips, most, first, step, trips);
    rvm__jump(e, there, e->pc, false);
    rvm__at(e, one);
}

static void enter_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    rvm__context *c = e->context;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef zero = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1);
    rvm__leave_if(e, LLVMBuildICmp(b, LLVMIntEQ, s, zero, ""));
    LLVMValueRef trips = at_most(e, trips_of(e, lo, hi, s), rvm__trips_in_array(e->u, e->fn, e->pc));
    LLVMBasicBlockRef none = rvm__block(e, "none"), some = rvm__block(e, "some");
    if (e->laned) rvm__bound_instance(e, trips);
    rvm__charge(e, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, trips, zero, ""), none, some);
    rvm__at(e, none);
    rvm__jump(e, c, in->target, false);
    rvm__at(e, some);
    LLVMValueRef last = LLVMBuildAdd(b, lo, LLVMBuildMul(b, LLVMBuildSub(b, trips, one, ""), s, ""), "");
    const bool up = is_ascending(e, in);
    rvm__set_slot(e, x->to.i, up ? lo : last);
    rvm__set_slot(e, x->to.last, last);
    split_trips(e, in, up ? lo : last, up ? s : LLVMBuildNeg(b, s, ""), trips);
    charge_ahead(e, trips);
    rvm__jump(e, c, e->pc, false);
}

static LLVMMetadataRef property(LLVMContextRef c, const char *name, LLVMValueRef value) {
    LLVMMetadataRef part[2] = {LLVMMDStringInContext2(c, name, strlen(name)), value ? LLVMValueAsMetadata(value) : NULL};
    return LLVMMDNodeInContext2(c, part, value ? 2 : 1);
}

/* Most loops have few trips, of which copies of the body would leave a rest: LLVM is to make none, but for vectors and of
 * loops that vanish, have two trips or at most a few, since what depends on a trip's number alone then moves out of the loop
 * around; and one vector at a time, unless sums may be taken apart. A loop in a loop, unrolled, looks to it like
 * one that is worth to be vectorised, however few. Of a few rows, unrolled for their number, it makes vectors across them:
 * who reads them row by row then waits, since of what is on its way to memory only parts of one store can be read. */
static void keep_whole(rvm__emit *e, LLVMValueRef branch) {
    LLVMContextRef c = e->k->context;
    LLVMMetadataRef none = LLVMTemporaryMDNode(c, NULL, 0), part[6] = {none};
    unsigned n = 1;
    part[n++] = property(c, "llvm.loop.unroll.runtime.disable", NULL);
    if (rvm__trips_in_array(e->u, e->fn, e->pc) <= RVM__MOST_COPIES || rvm__is_twice(e, e->pc))
        part[n++] = property(c, "llvm.loop.unroll.enable", NULL);
    if (rvm__shaped_at(&e->u->shaped, e->fn) && rvm__goes_by_rows(e, e->pc))
        part[n++] = property(c, "llvm.loop.unroll.disable", NULL);
    if (!e->k->fast) part[n++] = property(c, "llvm.loop.interleave.count", LLVMConstInt(e->k->i32, 1, false));
    if (rvm__is_around_loops(e, e->pc))
        part[n++] = property(c, "llvm.loop.vectorize.enable", LLVMConstInt(e->k->i1, 0, false));
    LLVMMetadataRef loop = LLVMMDNodeInContext2(c, part, n);
    LLVMMetadataReplaceAllUsesWith(none, loop); /* a loop's node begins with itself */
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, loop));
}

/* False: the stretch ends. */
static bool turn_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    rvm__context *c = e->context;
    const uint32_t lower = lower_end(e, in);
    const uint64_t most = rvm__trips_unseen(e, e->pc);
    const bool up = is_ascending(e, in), strips = c->whole && c->strips == lower;
    LLVMValueRef i = rvm__slot_value(e, x->to.i), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef end = strips ? rvm__strip_end(e, lower) : rvm__slot_value(e, up ? x->to.last : x->to.lo);
    LLVMBasicBlockRef ended = rvm__block(e, "ended"),
                      again = most ? rvm__landing_of(e, c, in->target) : rvm__block(e, "again");
    if (!up) s = LLVMBuildNeg(b, s, "");
    if (e->ahead)
        e->ahead = e->walked = 0;
    else
        rvm__charge(e, 1);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(b, i, s, ""));
    LLVMValueRef turn =
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, i, end, ""), ended, again); /* with its test it ends */
    if (most) keep_whole(e, turn);
    if (!most) {
        rvm__at(e, again);
        rvm__jump(e, c, in->target, !e->laned);
    }
    rvm__at(e, ended);
    rvm__set_slot(e, x->to.i, i);
    if (!strips) return true;
    LLVMBasicBlockRef more = rvm__block(e, "more"), out = rvm__block(e, "out");
    LLVMValueRef left = rvm__if_left(e, lower, more, out);
    rvm__at(e, more);
    LLVMValueRef next = LLVMBuildAdd(b, i, s, "");
    rvm__set_slot(e, x->to.i, next);
    rvm__begin_strip(e, lower, most, next, s, left);
    rvm__jump(e, c, in->target, true);
    rvm__at(e, out);
    rvm__jump(e, c->whole, e->pc, false);
    return false;
}

/* ---- regions: which way on, semantics.md, section 5 ---- */

static void trail_deeper(rvm__emit *e, const rvm__context *part, int by) {
    LLVMValueRef args[2] = {e->machine, LLVMConstInt(e->k->i32, (uint64_t)(int64_t)by, true)};
    if (part->told && !e->u->w->standalone) rvm__call_runtime(e, "rvm__trail_deeper", e->k->nothing, 2, args);
}

/* Whether the second run of the compute part is left out: not in the region in which the code was entered, of whose first
 * run nobody knows what it charged. */
static bool vanishes(const rvm__emit *e, uint32_t compute) {
    const uint32_t gap = e->context->gap, undo = e->f->code[e->f->code[compute].target].target;
    return e->vanish[compute] && !(compute < gap && gap <= undo);
}

/* Into the compute part at `compute`; its hidden slot says whether it turns around at the end. */
static bool enter_part(rvm__emit *e, uint32_t compute, enum rvm__pass pass) {
    const int dir = pass == PASS_FIRST || pass == PASS_AGAIN ? 1 : -1;
    const bool turns = pass == PASS_UNDO || pass == PASS_AGAIN;
    rvm__context *inner = rvm__context_in(e, e->context, compute, pass, dir);
    if (!inner) return false;
    trail_deeper(e, inner, 1);
    rvm__set_slot(e, e->code->x[compute].to.hidden, rvm__build_int(e->k, turns));
    e->context = inner;
    if (!vanishes(e, compute) || dir < 0) return true;
    rvm__charge(e, 0);
    rvm__put_at(e, rvm__get(e, e->k->i64, e->charged), e->before[compute]);
    return true;
}

/* Out of it again; what its first run charged, one end of the part included, is kept for the uncomputing that is left out.
 */
static void leave_part(rvm__emit *e) {
    const rvm__context *c = e->context;
    LLVMValueRef before = e->before[c->compute];
    trail_deeper(e, c, -1);
    e->context = c->parent;
    rvm__set_slot(e, e->code->x[c->compute].to.hidden, rvm__build_int(e->k, 0));
    if (!vanishes(e, c->compute) || c->dir < 0) return;
    rvm__charge(e, 0);
    LLVMValueRef now = rvm__get(e, e->k->i64, e->charged);
    rvm__put_at(e, LLVMBuildSub(e->k->b, now, rvm__get(e, e->k->i64, before), ""), before);
}

/* The uncomputing of a region that nobody observes: its charge, and its locals are gone. */
static void skip_part(rvm__emit *e, uint32_t compute) {
    LLVMValueRef now = rvm__get(e, e->k->i64, e->charged), cost = rvm__get(e, e->k->i64, e->before[compute]);
    rvm__put_at(e, LLVMBuildAdd(e->k->b, now, cost, ""), e->charged);
    rvm__forget_locals(e, compute);
}

/* Where control goes on from compute, do or undo at e->pc; false: nowhere, out of memory. */
static bool pass_region(rvm__emit *e, const rvm_insn *in, uint32_t *next) {
    const uint32_t pc = e->pc;
    const enum rvm__pass pass = e->context->pass;
    const bool up = e->context->dir > 0;
    e->walked++;
    if (in->op == RVM_OP_compute) {
        const uint32_t undo = e->f->code[in->target].target;
        if (up) return *next = pc + 1, enter_part(e, pc, PASS_FIRST);
        leave_part(e);
        *next = pass == PASS_UNDO ? undo + 1 : pc - 1;
        return true;
    }
    if (in->op == RVM_OP_do) {
        const uint32_t compute = e->f->code[in->target].target;
        if (up) {
            leave_part(e);
            *next = pass == PASS_AGAIN ? in->target - 1 : pc + 1;
            return true;
        }
        if (vanishes(e, compute)) return *next = compute - 1, skip_part(e, compute), true;
        return *next = pc - 1, enter_part(e, compute, PASS_LAST);
    }
    const uint32_t compute = in->target, does = e->f->code[compute].target;
    if (!up) return *next = compute + 1, enter_part(e, compute, PASS_AGAIN);
    if (vanishes(e, compute)) return *next = pc + 1, skip_part(e, compute), true;
    return *next = does - 1, enter_part(e, compute, PASS_UNDO);
}

/* ---- one instruction; false: the stretch ends ---- */

static bool step(rvm__emit *e, uint32_t *next) {
    const rvm_insn *in = &e->f->code[e->pc];
    const rvm__xinsn *x = &e->code->x[e->pc];
    const rvm_op op = e->context->dir > 0 ? (rvm_op)in->op : rvm__op_inverse((rvm_op)in->op);
    const bool unchecked = x->flags & X_UNCHECKED;
    *next = e->pc + (uint32_t)e->context->dir;
    if (e->ends && e->pc == e->ends) {
        rvm__charge(e, 0);
        LLVMBuildBr(e->k->b, e->done);
        return false;
    }
    if (rvm__leave_out(e, in, op)) return e->walked++, true;
    switch ((enum rvm_pair)(in->op >> 1)) {
    case RVM_PAIR_start:
        rvm__charge(e, 1);
        LLVMBuildBr(e->k->b, e->done);
        return false;
    case RVM_PAIR_jmp:
        if (op == RVM_OP_cf) return rvm__leave_now(e), false;
        rvm__charge(e, 1);
        rvm__jump(e, e->context, in->target, is_back(e->context, e->pc, in->target));
        return false;
    case RVM_PAIR_jt:
    case RVM_PAIR_jf: {
        LLVMValueRef taken = is_taken(e, x, in->op >> 1 == RVM_PAIR_jt);
        if (!(op & 1)) return conditional_jump(e, in, taken), true;
        if (!unchecked) rvm__leave_if(e, taken);
        rvm__charge(e, 1);
        rvm__jump(e, e->context, e->pc, false);
        return false;
    }
    case RVM_PAIR_for:
        if (op == RVM_OP_for) return enter_loop(e, in, x), false;
        return turn_loop(e, in, x);
    case RVM_PAIR_par:
        if (op == RVM_OP_par) return rvm__enter_block(e, in, x), false;
        return rvm__turn_block(e, in, x);
    case RVM_PAIR_compute:
    case RVM_PAIR_do:
    case RVM_PAIR_undo: return pass_region(e, in, next);
    case RVM_PAIR_trap: return rvm__leave_now(e), false;
    case RVM_PAIR_assert:
        if (!unchecked) rvm__leave_if(e, is_taken(e, x, false));
        break;
    case RVM_PAIR_addr:
        if (op == RVM_OP_addr)
            rvm__set_slot(e, x->to.i, rvm__build_int(e->k, x->to.jump));
        else {
            LLVMValueRef is = rvm__build_int(e->k, x->to.jump);
            if (!unchecked) rvm__leave_if(e, LLVMBuildICmp(e->k->b, LLVMIntNE, rvm__slot_value(e, x->to.i), is, ""));
            rvm__gone(e, x->to.i);
        }
        break;
    case RVM_PAIR_call:
    case RVM_PAIR_calli: rvm__emit_call(e, in, x, op); return true; /* which charges by itself */
    case RVM_PAIR_new:
    case RVM_PAIR_like:
    case RVM_PAIR_view: rvm__emit_array(e, in, x, op); break;
    case RVM_PAIR_swap:
    case RVM_PAIR_neg:
    case RVM_PAIR_not:
    case RVM_PAIR_inc:
    case RVM_PAIR_rot:
    case RVM_PAIR_hadamard:
    case RVM_PAIR_inv:
    case RVM_PAIR_rol:
    case RVM_PAIR_cswap: rvm__emit_in_place(e, in, x, op); break;
    case RVM_PAIR_push:
    case RVM_PAIR_pushc:
    case RVM_PAIR_set:
    case RVM_PAIR_drop:
    case RVM_PAIR_recall:
    case RVM_PAIR_stow:
    case RVM_PAIR_segment: (e->u->w->standalone ? rvm__emit_discarded : rvm__emit_stored)(e, in, x, op); break;
    case RVM_PAIR_add:
    case RVM_PAIR_xor:
    case RVM_PAIR_mul:
    case RVM_PAIR_let: rvm__emit_update(e, in, x, op); break;
    case RVM_PAIR_COUNT: return false;
    }
    e->walked++;
    return true;
}

/* The end by which a loop was entered whose body begins there, if it is charged ahead; else 0. */
static uint32_t begins_ahead(const rvm__emit *e, const rvm__pending *p) {
    const uint32_t pc = p->pc - (uint32_t)p->context->dir;
    const rvm_insn *in = &e->f->code[pc];
    const rvm_op op = p->context->dir > 0 ? (rvm_op)in->op : rvm__op_inverse((rvm_op)in->op);
    return op == RVM_OP_for && ahead_at(e, p->context, pc) ? pc : 0;
}

static void walk(rvm__emit *e, const rvm__pending *p) {
    rvm__at(e, p->block);
    e->context = p->context;
    e->walked = 0;
    e->ahead = begins_ahead(e, p);
    for (uint32_t pc = p->pc, next; !e->u->status; pc = next) {
        e->pc = pc;
        if (++e->emitted > MOST_WALKED) {
            e->u->status = rvm__fail_at(e->u->err, RVM_ERR_UNSUPPORTED, e->u->p, e->fn, pc,
                                        "`%s` is too large for native code: regions within regions are copied", e->f->name);
            return;
        }
        rvm__lines_at(e);
        if (!step(e, &next)) return;
    }
}

void rvm__walk_pending(rvm__emit *e) {
    while (e->npending && !e->u->status) {
        const rvm__pending p = e->pending[--e->npending];
        walk(e, &p);
    }
    rvm__realloc(&rvm__libc_allocator, e->pending, e->cap_pending * sizeof *e->pending, 0);
    e->pending = NULL;
    e->cap_pending = e->npending = 0;
}

void rvm__walk_from(rvm__emit *e, LLVMBasicBlockRef first, uint32_t pc, int dir) {
    rvm__context *whole = rvm__context_in(e, NULL, 0, PASS_WHOLE, dir);
    if (whole) rvm__walk_later(e, first, pc, whole);
    rvm__walk_pending(e);
}

void rvm__emit_function(rvm__unit *u, const rvm__version *v) {
    rvm__emit e = {.u = u,
                   .k = u->k,
                   .f = &u->p->functions[v->fn],
                   .code = &u->m->codes[v->fn],
                   .fn = v->fn,
                   .dir = v->dir,
                   .apart = v->apart,
                   .deep = v->deep,
                   .block = v->block,
                   .at = v->at,
                   .laned = v->laned,
                   .function = v->function};
    if (!rvm__frame_begin(&e)) return;
    if (e.laned) rvm__find_loose(&e, v->loose);
    LLVMBasicBlockRef first = rvm__block(&e, "first");
    LLVMBuildBr(u->k->b, first);
    if (v->block) {
        if (!(e.context = rvm__context_in(&e, NULL, 0, PASS_WHOLE, v->dir))) return;
        rvm__at(&e, first);
        rvm__enter_chunk(&e);
        rvm__walk_pending(&e);
    } else if (v->at) {
        rvm__at(&e, first);
        rvm__enter_middle(&e);
        rvm__walk_pending(&e);
    } else
        rvm__walk_from(&e, first, v->dir > 0 ? 1 : e.f->ncode - 2, v->dir);
    rvm__frame_end(&e);
    rvm__settle_function(&e);
    rvm__realloc(&rvm__libc_allocator, e.sites, e.cap_sites * sizeof *e.sites, 0);
}
