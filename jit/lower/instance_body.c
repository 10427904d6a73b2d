/* instance_body.c: the body of an instance of a parallel block, whose function instance.c declared. */
#include <stddef.h>

#include "emit.h"
#include "blocks.h"
#include "fresh_ir.h"
#include "walk.h"
#include "accesses.h"

/* Registers and arrays of the instance have what was passed. */
static void bind(rvm__instance *o) {
    rvm__emit *e = &o->body;
    unsigned at = RVM__VECTORISED_SUMS;
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)o->x->to.jump2 + k];
        rvm__put_at(e, rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), LLVMGetParam(e->function, at++)),
                    e->frame.reg[s->slot]);
        if (e->frame.held[s->slot]) rvm__put_at(e, LLVMConstNull(e->k->f64), e->frame.held[s->slot]);
    }
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (rvm__takes_register(o, k)) rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.reg[k]);
    rvm__put_at(e, LLVMGetParam(e->function, RVM__VECTORISED_INDEX), e->frame.reg[o->x->to.i]);
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].data);
        for (int d = 0; d < e->f->arrays[k].ndim; d++)
            rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].dim[d]);
        for (int d = 0; d < e->f->arrays[k].ndim; d++)
            rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].stride[d]);
        if (e->frame.array[k].magnitude) rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].magnitude);
        rvm__put_at(e, LLVMConstInt(e->k->i8, 1, false), e->frame.array[k].present);
    }
    rvm__know_lengths(e);
}

static const size_t counted[] = {offsetof(rvm__native, charged),    offsetof(rvm__native, calls),
                                 offsetof(rvm__native, peak),       offsetof(rvm__native, erased),
                                 offsetof(rvm__native, erased) + 8, offsetof(rvm__native, erased) + 16};
_Static_assert(sizeof counted / sizeof *counted == RVM__VECTORISED_COUNTS, "each count has its place");

static void make_native(rvm__emit *e) {
    LLVMValueRef n = rvm__local(e, LLVMArrayType2(e->k->i64, sizeof(rvm__native) / 8), "native");
    e->frame.native = n;
    for (int k = 0; k < RVM__VECTORISED_COUNTS; k++) rvm__put_at(e, rvm__build_int(e->k, 0), rvm__member(e, n, counted[k]));
    rvm__begin_counts(e);
}

static LLVMValueRef out_at(rvm__emit *e, uint32_t k) {
    return rvm__member(e, LLVMGetParam(e->function, RVM__VECTORISED_OUT), k * sizeof(int64_t));
}

static void finish(rvm__instance *o) {
    rvm__emit *e = &o->body;
    rvm__at(e, e->frame.done);
    rvm__fresh_copies_end(o);
    rvm__end_counts(e);
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)o->x->to.jump2 + k];
        LLVMValueRef v = rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), e->frame.reg[s->slot]);
        rvm__put_at(e, v, LLVMGetParam(e->function, RVM__VECTORISED_SUMS + k));
        if (e->frame.held[s->slot])
            rvm__put_at(e, rvm__get(e, e->k->f64, e->frame.held[s->slot]), out_at(e, RVM__VECTORISED_COUNTS + k));
    }
    for (uint32_t k = 0; k < RVM__VECTORISED_COUNTS; k++)
        rvm__put_at(e, rvm__get(e, e->k->i64, rvm__member(e, e->frame.native, counted[k])), out_at(e, k));
    LLVMTypeRef none = LLVMFunctionType(e->k->i32, NULL, 0, false);
    LLVMValueRef f = LLVMGetNamedFunction(e->k->module, RVM__RESULT);
    if (!f) f = LLVMAddFunction(e->k->module, RVM__RESULT, none);
    LLVMBuildRet(e->k->b, LLVMBuildCall2(e->k->b, none, f, NULL, 0, ""));
    rvm__frame_close(e);
}

void rvm__emit_instance(rvm__instance *o) {
    rvm__emit *e = &o->body;
    e->frame.machine = LLVMGetParam(e->function, 0);
    e->frame.number = LLVMGetParam(e->function, 1);
    e->frame.first_slot = e->frame.first_array = rvm__build_int(e->k, 0);
    if (!rvm__frame_make(e)) return;
    make_native(e);
    bind(o);
    rvm__fresh_copies(o, o->first - 1); /* up, which they are for */
    LLVMBasicBlockRef first = rvm__block(e, "first");
    LLVMBuildBr(e->k->b, first);
    rvm__walk_from(e, first, o->first, o->dir);
    if (!e->u->status) finish(o); /* else blocks were left open */
}
