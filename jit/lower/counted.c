/* counted.c: counted loops. Those around code that is bounded (cost_bound.c) poll every so many trips, a strip; a
 * loop that has no more than one strip, as most have, is walked apart from one that has more. In unchecked code all trips
 * are charged when the loop is entered, where they are alike. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"
#include "instruction.h"

/* ---- trips ---- */

static LLVMValueRef select_of(rvm__emit *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(e->k->b, c, a, b, "");
}

static bool is_one(LLVMValueRef s) {
    return LLVMIsAConstantInt(s) && LLVMConstIntGetSExtValue(s) == 1;
}

/* max(0, ceil((hi - lo) / s)), s not 0. */
static LLVMValueRef trips_of(rvm__emit *e, LLVMValueRef lo, LLVMValueRef hi, LLVMValueRef s) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef zero = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1);
    if (is_one(s)) return select_of(e, LLVMBuildICmp(b, LLVMIntSGT, hi, lo, ""), LLVMBuildSub(b, hi, lo, ""), zero);
    LLVMValueRef up = LLVMBuildICmp(b, LLVMIntSGT, s, zero, "");
    LLVMValueRef size = select_of(e, up, s, LLVMBuildNeg(b, s, ""));
    LLVMValueRef way = select_of(e, up, LLVMBuildSub(b, hi, lo, ""), LLVMBuildSub(b, lo, hi, ""));
    LLVMValueRef some = select_of(e, up, LLVMBuildICmp(b, LLVMIntSGT, hi, lo, ""), LLVMBuildICmp(b, LLVMIntSGT, lo, hi, ""));
    size = select_of(e, LLVMBuildICmp(b, LLVMIntEQ, size, zero, ""), one, size);
    LLVMValueRef n = LLVMBuildUDiv(b, LLVMBuildSub(b, way, one, ""), size, "");
    return select_of(e, some, LLVMBuildAdd(b, n, one, ""), zero);
}

static LLVMValueRef no_more_than(rvm__emit *e, LLVMValueRef n, uint64_t most) {
    LLVMValueRef all = rvm__build_int(e->k, (int64_t)most);
    return select_of(e, LLVMBuildICmp(e->k->b, LLVMIntULT, n, all, ""), n, all);
}

static LLVMValueRef at_most(rvm__emit *e, LLVMValueRef n, uint64_t most) {
    return most >= RVM__UNBOUNDED - 1 ? n : no_more_than(e, n, most);
}

/* ---- strips ---- */

/* Where the body of a loop is walked that goes in strips; all else is in c. */
static rvm__context *strips_in(rvm__emit *e, rvm__context *c, uint32_t pc) {
    rvm__context *s = rvm__context_copy(e, c);
    if (!s) return NULL;
    s->whole = c;
    s->strips = pc;
    return s;
}

/* ---- loops that are charged ahead ---- */

/* What lanes charge is looked at once: a product that wraps would be little. */
static void charge_ahead(rvm__emit *e, LLVMValueRef trips) {
    const uint64_t for_ever = UINT64_C(1) << 48;
    LLVMBuilderRef b = e->k->b;
    const uint32_t each = rvm__ahead_at(e, e->control.context, e->control.pc);
    if (!each) return;
    if (e->vectorised) trips = no_more_than(e, trips, for_ever / each);
    LLVMValueRef all = LLVMBuildMul(b, trips, rvm__build_int(e->k, each), "");
    rvm__put_at(e, LLVMBuildAdd(b, rvm__get(e, e->k->i64, e->count.charged), all, ""), e->count.charged);
}

rvm__context *rvm__enter_strips(rvm__emit *e, rvm__context *c) {
    const uint64_t most = rvm__trips_unseen(e, e->control.pc);
    rvm__context *there = most ? strips_in(e, c, rvm__lower_end(e->f, e->control.pc)) : c;
    if (!most || !there) return there;
    LLVMValueRef by, left = rvm__trips_left(e, e->control.pc, &by), i = rvm__slot_value(e, e->code->x[e->control.pc].to.i);
    rvm__begin_strip(e, there->strips, most, i, by, left);
    return there;
}

/* More trips than one strip has go their own way: of long loops, which is not to count as cold. */
static void split_trips(rvm__emit *e, LLVMValueRef first, LLVMValueRef step, LLVMValueRef trips) {
    LLVMBuilderRef b = e->k->b;
    const uint64_t most = rvm__trips_unseen(e, e->control.pc);
    if (!most) return;
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntUGT, trips, rvm__build_int(e->k, (int64_t)most), "");
    if (LLVMIsAConstantInt(many) && !LLVMConstIntGetZExtValue(many)) return;
    rvm__context *there = strips_in(e, e->control.context, rvm__lower_end(e->f, e->control.pc));
    LLVMBasicBlockRef strips = rvm__block(e, "strips"), one = rvm__block(e, "one");
    if (!there) return;
    LLVMBuildCondBr(b, many, strips, one);
    rvm__at(e, strips);
    rvm__begin_strip(e, there->strips, most, first, step, trips);
    rvm__jump(e, there, e->control.pc, false);
    rvm__at(e, one);
}

/* A loop that goes down to a constant from where only the run tells, with no more trips than an array has elements: as one
 * with all these trips, of which the first may be passed over. Unrolled, each has an index that is known, and the array
 * becomes registers; as it does of itself where a loop goes up. False: it is none. */
static bool enter_from_top(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    rvm__context *c = e->control.context;
    LLVMBuilderRef b = e->k->b;
    const uint64_t most = rvm__trips_in_array(e->u, e->fn, e->control.pc);
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), s = rvm__slot_value(e, x->to.step);
    if (most > RVM__MOST_COPIES || rvm__loop_ascends(e, in) || e->at || e->vectorised ||
        !rvm__trips_unseen(e, e->control.pc))
        return false;
    if (!LLVMIsAConstantInt(lo) || !is_one(s)) return false;
    if (LLVMConstIntGetZExtValue(lo) >= most) return false;
    if (!c->passing && !(c->passing = rvm__unit_alloc(e->u, e->f->ncode * sizeof *c->passing))) return false;
    LLVMBasicBlockRef *begins = &c->passing[e->control.pc], *ends = &c->passing[in->target];
    const bool known = *begins; /* the loop is entered from several places */
    if (!known) *begins = rvm__block(e, "begins"), *ends = rvm__block(e, "ends");
    rvm__set_slot(e, x->to.i, rvm__build_int(e->k, (int64_t)most - 1));
    LLVMBuildBr(b, *begins);
    if (known) return true;
    rvm__at(e, *begins);
    LLVMValueRef passes = LLVMBuildICmp(b, LLVMIntSGT, rvm__slot_value(e, x->to.i), rvm__slot_value(e, x->to.last), "");
    LLVMBuildCondBr(b, passes, *ends, rvm__landing_of(e, c, e->control.pc));
    return true;
}

void rvm__enter_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    rvm__context *c = e->control.context;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef zero = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1);
    rvm__exit_if(e, LLVMBuildICmp(b, LLVMIntEQ, s, zero, ""));
    const uint64_t most = rvm__trips_in_array(e->u, e->fn, e->control.pc);
    LLVMValueRef trips = trips_of(e, lo, hi, s);
    LLVMBasicBlockRef none = rvm__block(e, "none"), some = rvm__block(e, "some");
    rvm__charge(e, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, trips, zero, ""), none, some);
    rvm__at(e, none);
    rvm__jump(e, c, in->target, false);
    rvm__at(e, some);
    /* Behind the first trip, where there is one: LLVM sees how many at most without what led here. */
    if (is_one(s)) trips = LLVMBuildSub(b, hi, lo, "");
    LLVMValueRef others = at_most(e, LLVMBuildSub(b, trips, one, ""), most - 1);
    LLVMValueRef last = LLVMBuildAdd(b, lo, LLVMBuildMul(b, others, s, ""), "");
    trips = LLVMBuildAdd(b, others, one, "");
    const bool up = rvm__loop_ascends(e, in);
    rvm__set_slot(e, x->to.i, up ? lo : last);
    rvm__set_slot(e, x->to.last, last);
    split_trips(e, up ? lo : last, up ? s : LLVMBuildNeg(b, s, ""), trips);
    charge_ahead(e, trips);
    const bool polls = e->vectorised && !e->u->w->standalone && !rvm__passes_unseen(e, e->control.pc);
    if (polls) rvm__safepoint_in_instance(e); /* all are charged already */
    if (!enter_from_top(e, in, x)) rvm__jump(e, c, e->control.pc, false);
}

static LLVMMetadataRef property(LLVMContextRef c, const char *name, LLVMValueRef value) {
    LLVMMetadataRef part[2] = {LLVMMDStringInContext2(c, name, strlen(name)), value ? LLVMValueAsMetadata(value) : NULL};
    return LLVMMDNodeInContext2(c, part, value ? 2 : 1);
}

/* Most loops have few trips, of which copies of the body would leave a rest: LLVM is to make none, but for vectors and of
 * loops that are elided, have two trips or at most a few, since what depends on a trip's number alone then moves out of the
 * loop around; and one vector at a time, unless sums may be taken apart. A loop in a loop, unrolled, looks to it like one
 * that is worth to be vectorised, however few. Of a few rows, unrolled for their number, it makes vectors across them: who
 * reads them row by row then waits, since of what is on its way to memory only parts of one store can be read. */
static void keep_whole(rvm__emit *e, LLVMValueRef branch, bool on_host) {
    LLVMContextRef c = e->k->context;
    LLVMMetadataRef none = LLVMTemporaryMDNode(c, NULL, 0), part[7] = {none};
    unsigned n = 1;
    part[n++] = property(c, "llvm.loop.unroll.runtime.disable", NULL);
    if (rvm__trips_in_array(e->u, e->fn, e->control.pc) <= RVM__MOST_COPIES || rvm__is_twice(e, e->control.pc))
        part[n++] = property(c, "llvm.loop.unroll.enable", NULL);
    if (rvm__shaped_at(&e->u->shaped, e->fn) && rvm__goes_by_rows(e, e->control.pc))
        part[n++] = property(c, "llvm.loop.unroll.disable", NULL);
    if (on_host) part[n++] = property(c, RVM__ON_HOST, NULL);
    if (!e->k->fast) part[n++] = property(c, "llvm.loop.interleave.count", LLVMConstInt(e->k->i32, 1, false));
    if (rvm__is_around_loops(e, e->control.pc))
        part[n++] = property(c, "llvm.loop.vectorize.enable", LLVMConstInt(e->k->i1, 0, false));
    LLVMMetadataRef loop = LLVMMDNodeInContext2(c, part, n);
    LLVMMetadataReplaceAllUsesWith(none, loop); /* a loop's node begins with itself */
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, loop));
}

/* Bits that each trip of the loop erased that turns, which are counted where it ends; 0 if they are counted already. */
static void erased_by_all(rvm__emit *e, const rvm__xinsn *x, uint64_t bits[RVM__ERASED]) {
    if (!e->count.ahead || e->count.settled || e->at || !is_one(rvm__slot_value(e, x->to.step))) rvm__settle_erased(e);
    for (int k = 0; k < RVM__ERASED; k++) bits[k] = e->count.erasing[k], e->count.erasing[k] = 0;
}

static void count_erased(rvm__emit *e, const rvm__xinsn *x, const uint64_t bits[RVM__ERASED]) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef others = LLVMBuildSub(b, rvm__slot_value(e, x->to.last), rvm__slot_value(e, x->to.lo), "");
    LLVMValueRef trips = LLVMBuildAdd(b, others, rvm__build_int(e->k, 1), "");
    for (uint32_t k = 0; k < RVM__ERASED; k++)
        if (bits[k])
            rvm__count_erased(e, (enum rvm__erasing)k, LLVMBuildMul(b, trips, rvm__build_int(e->k, (int64_t)bits[k]), ""));
}

/* Behind a strip of the loop: the next one, if trips are left; else on, where all around the loop is. */
static void leave_strip(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, LLVMValueRef i, LLVMValueRef step) {
    const uint32_t lower = rvm__lower_end(e->f, e->control.pc);
    rvm__context *c = e->control.context;
    LLVMBasicBlockRef more = rvm__block(e, "more"), out = rvm__block(e, "out");
    LLVMValueRef left = rvm__if_left(e, lower, more, out);
    rvm__at(e, more);
    LLVMValueRef next = LLVMBuildAdd(e->k->b, i, step, "");
    rvm__set_slot(e, x->to.i, next);
    rvm__begin_strip(e, lower, rvm__trips_unseen(e, e->control.pc), next, step, left);
    rvm__jump(e, c, in->target, true);
    rvm__at(e, out);
    rvm__jump(e, c->whole, e->control.pc, false);
}

/* Charges the trip that ends; whether the loop polls where it turns. */
static bool end_trip(rvm__emit *e) {
    const bool ahead = e->count.ahead;
    if (ahead)
        e->count.ahead = e->count.walked = 0;
    else
        rvm__charge(e, 1);
    return !ahead && !(e->vectorised && rvm__passes_unseen(e, e->control.pc));
}

bool rvm__turn_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    rvm__context *c = e->control.context;
    const uint32_t lower = rvm__lower_end(e->f, e->control.pc);
    const bool up = rvm__loop_ascends(e, in), strips = c->whole && c->strips == lower;
    const bool unseen = rvm__trips_unseen(e, e->control.pc) > 0;
    LLVMBasicBlockRef ends = c->passing ? c->passing[e->control.pc] : NULL, again = ends ? c->passing[in->target] : NULL;
    uint64_t erased[RVM__ERASED];
    erased_by_all(e, x, erased);
    const bool polls = end_trip(e);
    rvm__share_trip(e, x, up);
    if (ends) {
        LLVMBuildBr(b, ends);
        rvm__at(e, ends);
    }
    LLVMValueRef i = rvm__slot_value(e, x->to.i), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef end = strips ? rvm__strip_end(e, lower) : rvm__slot_value(e, up ? x->to.last : x->to.lo);
    LLVMBasicBlockRef ended = rvm__block(e, "ended");
    if (!again) again = unseen ? rvm__landing_of(e, c, in->target) : rvm__block(e, "again");
    if (!up) s = LLVMBuildNeg(b, s, "");
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(b, i, s, ""));
    LLVMValueRef is_last = LLVMBuildICmp(b, LLVMIntEQ, i, end, "");
    LLVMValueRef turn = LLVMBuildCondBr(b, is_last, ended, again); /* with its test it ends */
    if (unseen) keep_whole(e, turn, false);
    if (!unseen) {
        rvm__at(e, again);
        rvm__jump(e, c, in->target, polls);
        LLVMValueRef back = LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(b));
        /* Of two long trips of an instance, two copies: what is its own becomes registers. */
        if (e->vectorised && back && rvm__is_twice(e, e->control.pc)) keep_whole(e, back, true);
    }
    rvm__at(e, ended);
    rvm__set_slot(e, x->to.i, i);
    if (erased[0] || erased[1] || erased[2]) count_erased(e, x, erased);
    if (strips) leave_strip(e, in, x, i, s);
    return !strips;
}
