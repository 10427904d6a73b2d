/* nested.c: parallel blocks within an instance that several threads of a device run (jit/device/nested.c): one of them walks
 * the instance, and at such a block all of them run its instances. In an instance that is made for that the block is a call,
 *
 *     rvm.nested.N(first index, instances, whether they ascend, elements that gain by groups of eight, frame,
 *                  registers that they add into .., what instance N takes behind its sums ..)
 *
 * behind which rvm.nested_sum.T(k) is what the k-th of these registers holds then, and
 * rvm.nested_sum.i64(RVM__NESTED_CHARGED) what its instances have charged. Their other counts are those of the threads that
 * run them. */
#include "emit.h"
#include "accesses.h"
#include "analysis.h"
#include "aside.h"
#include "blocks.h"
#include "walk.h"

#include <stdio.h>
#include <string.h>

enum { LEAST = 8 }; /* instances, where their number is a constant: of fewer most of a warp would wait */

bool rvm__has_blocks_within(const rvm__emit *e, uint32_t pc) {
    uint32_t first, last;
    rvm__body_of(e, pc, &first, &last);
    RVM__EACH_INSN_IN(x, e->f, first, last + 1) {
        if (x.in->op == RVM_OP_par) return true;
        RVM__EACH_CALLEE(g, e->u->p, x.in)
            if (e->u->summaries[g].blocks) return true;
    }
    return false;
}

static const rvm__shared *shared_of(const rvm__emit *e, const rvm__xinsn *x, uint32_t k) {
    return &e->code->shared[(uint32_t)x->to.jump2 + k];
}

/* Sums of others may overflow; an element that a caller passed gains by RVM__ADD. */
static bool has_plain_sums(const rvm__emit *e, const rvm__xinsn *x) {
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = shared_of(e, x, k);
        if (s->type != RVM_F64 && s->type != RVM_I64) return false;
        if (e->block.added && e->block.added[s->slot]) return false;
    }
    return x->to.shared <= RVM__MOST_NESTED_SUMS;
}

static bool is_short(LLVMValueRef count) {
    return LLVMIsAConstantInt(count) && LLVMConstIntGetSExtValue(count) < LEAST;
}

/* Its instance's function: arrays that conflict are those of the instance around, too. False: it adds to elements of f32, or
 * takes too much. */
static bool declare(rvm__emit *e, rvm__instance *o) {
    uint8_t *around = e->block.conflicts;
    uint32_t first, last;
    bool any = false;
    uint8_t *meets = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    rvm__body_of(e, e->control.pc, &first, &last);
    bool good = meets && rvm__find_array_conflicts(e, first, last, o->x->to.i, &any);
    if (good) memcpy(meets, e->block.conflicts, e->f->narrays + 1u);
    o->meets = meets;
    for (uint32_t a = 0; good && around && a < e->f->narrays; a++) e->block.conflicts[a] |= around[a];
    good = good && rvm__pass_to_instance(o, LLVMConstNull(e->k->ptr), rvm__slot_value(e, o->x->to.lo)) &&
           rvm__declare_instance(o, e->control.pc);
    e->block.conflicts = around;
    return good;
}

static void call(rvm__emit *e, const rvm__instance *o, LLVMValueRef first, LLVMValueRef count, LLVMValueRef summed) {
    LLVMValueRef args[RVM__NESTED_SUMS + RVM__MOST_VECTORISED_ARGS] = {
        first, count, rvm__build_int(e->k, rvm__is_ascending(e, o->x)), summed, e->frame.number};
    LLVMTypeRef t[RVM__NESTED_SUMS + RVM__MOST_VECTORISED_ARGS];
    unsigned n = RVM__NESTED_SUMS;
    char name[40];
    size_t length;
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = shared_of(e, o->x, k);
        args[n++] = rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), e->frame.reg[o->x->to.hidden + RVM__SUMS * k]);
    }
    for (unsigned a = RVM__VECTORISED_SUMS + o->x->to.shared; a < o->n; a++) args[n++] = o->args[a];
    for (unsigned a = 0; a < n; a++) t[a] = LLVMTypeOf(args[a]);
    snprintf(name, sizeof name, RVM__NESTED "%s", LLVMGetValueName2(o->function, &length) + strlen(RVM__INSTANCE));
    LLVMValueRef f = LLVMGetNamedFunction(e->k->module, name);
    if (!f) {
        f = LLVMAddFunction(e->k->module, name, LLVMFunctionType(e->k->nothing, t, n, false));
        rvm__attribute(e->k, f, -1, "nounwind", 0);
        rvm__attribute(e->k, f, -1, "convergent", 0);
    }
    LLVMBuildCall2(e->k->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

static LLVMValueRef sum(rvm__emit *e, rvm_type type, uint32_t k) {
    const char *name = type == RVM_F64 ? RVM__NESTED_SUM "f64" : RVM__NESTED_SUM "i64";
    LLVMValueRef f = LLVMGetNamedFunction(e->k->module, name), n = rvm__build_int(e->k, k);
    LLVMTypeRef t = LLVMFunctionType(rvm__build_type(e->k, type), (LLVMTypeRef[]){e->k->i64}, 1, false);
    if (!f) {
        f = LLVMAddFunction(e->k->module, name, t);
        rvm__attribute(e->k, f, -1, "nounwind", 0);
    }
    return LLVMBuildCall2(e->k->b, t, f, &n, 1, "");
}

/* All of so many instances, from that index on; what they leave in registers, and charge. */
static void run(rvm__emit *e, const rvm__instance *o, LLVMValueRef first, LLVMValueRef count, LLVMValueRef summed) {
    LLVMBuilderRef b = e->k->b;
    call(e, o, first, count, summed);
    for (uint32_t k = 0; k < o->x->to.shared; k++)
        rvm__put_at(e, sum(e, (rvm_type)shared_of(e, o->x, k)->type, k), e->frame.reg[o->x->to.hidden + RVM__SUMS * k]);
    count = LLVMBuildAdd(b, count, sum(e, RVM_I64, RVM__NESTED_CHARGED), "");
    rvm__put_at(e, LLVMBuildAdd(b, rvm__get(e, e->k->i64, e->count.charged), count, ""), e->count.charged);
}

/* Chunk by chunk: behind each, what it has added to elements is added to what these held. */
static void run_chunks(rvm__emit *e, const rvm__instance *o, LLVMValueRef lo, LLVMValueRef count) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef size = rvm__build_int(e->k, RVM__CHUNK), one = rvm__build_int(e->k, 1);
    LLVMValueRef chunks = LLVMBuildUDiv(b, LLVMBuildAdd(b, count, LLVMBuildSub(b, size, one, ""), ""), size, "");
    LLVMValueRef summed = rvm__aside_ranges(e, o->x);
    rvm__pass_aside_by_chunks(e, o->x, RVM__ASIDE_BEGIN);
    const rvm__each l = rvm__each_begin(e, chunks);
    LLVMValueRef down = LLVMBuildSub(b, LLVMBuildSub(b, chunks, one, ""), l.i, "");
    LLVMValueRef before = LLVMBuildMul(b, rvm__is_ascending(e, o->x) ? l.i : down, size, "");
    LLVMValueRef left = LLVMBuildSub(b, count, before, ""), whole = LLVMBuildICmp(b, LLVMIntUGT, left, size, "");
    run(e, o, LLVMBuildAdd(b, lo, before, ""), LLVMBuildSelect(b, whole, size, left, ""), summed);
    rvm__pass_aside_by_chunks(e, o->x, RVM__ASIDE_CHUNK);
    rvm__each_end(e, &l);
    rvm__pass_aside_by_chunks(e, o->x, RVM__ASIDE_END);
}

bool rvm__nest(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    LLVMBuilderRef b = e->k->b;
    if (!e->nested || x->flags & X_GUARD || !has_plain_sums(e, x) || rvm__why_not_in_lanes(e, e->control.pc)) return false;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), one = rvm__build_int(e->k, 1);
    LLVMValueRef count = LLVMBuildSub(b, hi, lo, "");
    rvm__instance *o = is_short(count) ? NULL : rvm__instance_of(e, e->control.pc);
    if (!o || !declare(e, o)) return false;
    if (x->to.c)
        run_chunks(e, o, lo, count);
    else
        run(e, o, lo, count, LLVMConstNull(e->k->ptr));
    rvm__set_slot(e, x->to.i, rvm__is_ascending(e, x) ? LLVMBuildSub(b, hi, one, "") : lo);
    rvm__leave_sums(e, x);
    rvm__jump(e, e->control.context, in->target, false);
    return true;
}
