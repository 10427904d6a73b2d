/* instance.c: an instance of a parallel block as a function of IR.
 *
 *     rvm_instance.N(machine, frame, out, index, sums .., registers .., (data, lengths, strides) of arrays ..)
 *
 * It counts into out, and adds into partial sums of the registers that instances add into. Where others leave to the
 * interpreter it bails out; where instances may add to the same element (an array that is added into, but not only at the
 * block's index in one dimension) that array *conflicts*, and each addition is a call of RVM__ADD. Whoever runs instances
 * says what these calls do: groups.c makes groups of lanes of it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "accesses.h"

static void find_arrays(rvm__instance *o, uint32_t first, uint32_t last) {
    const rvm_function *f = o->outer->f;
    RVM__EACH_INSN_IN(x, f, first, last + 1)
        RVM__EACH_ACCESS(a, o->outer->u->p, f, x.in)
            if (a.array) o->array[a.q->slot] = 1;
    RVM__EACH_INSN_IN(x, f, first, last + 1)
        if (rvm__op_names_array((rvm_op)x.in->op)) o->array[x.q->slot] = 0;
}

static bool is_register(const rvm__instance *o, uint32_t k) {
    return o->bits[k] == RVM__BITS_READ && k != o->x->to.i;
}

static void add(rvm__instance *o, LLVMValueRef v) {
    if (o->n < RVM__MOST_VECTORISED_ARGS) o->args[o->n] = v;
    o->n++;
}

rvm__instance *rvm__instance_of(rvm__emit *e, uint32_t pc) {
    rvm__instance *o = rvm__unit_alloc(e->u, sizeof *o);
    uint32_t first, last;
    rvm__body_of(e, pc, &first, &last);
    if (!o) return NULL;
    *o = (rvm__instance){.outer = e, .x = &e->code->x[pc], .bits = rvm__unit_alloc(e->u, e->f->nregs + 1u)};
    o->array = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!o->bits || !o->array) return NULL;
    rvm__block_registers(e->u->p, e->f, first - 1, o->bits);
    find_arrays(o, first, last);
    return o;
}

static bool is_alone(const rvm__instance *o, uint16_t array) {
    const rvm__emit *e = o->outer;
    for (uint32_t k = 0; k < e->f->narrays; k++)
        if (o->array[k] && k != array && rvm__base_of(e, (uint16_t)k, e->control.pc) == array) return false;
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array) return rvm__is_apart(&e->f->params[k], e->apart);
    return false;
}

bool rvm__pass_to_instance(rvm__instance *o, LLVMValueRef out, LLVMValueRef index) {
    rvm__emit *e = o->outer;
    LLVMValueRef fixed[4] = {e->frame.machine, e->frame.number, out, index};
    for (int k = 0; k < 4; k++) add(o, fixed[k]);
    for (uint32_t k = 0; k < o->x->to.shared; k++) add(o, rvm__partial_sum(e, o->x, k, index));
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (is_register(o, k)) add(o, rvm__get(e, rvm__build_type(e->k, (rvm_type)e->f->reg_type[k]), e->frame.reg[k]));
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        if (o->n < RVM__MOST_VECTORISED_ARGS) o->apart[o->n] = is_alone(o, (uint16_t)k);
        add(o, rvm__get(e, e->k->ptr, e->frame.array[k].data));
        for (int d = 0; d < e->f->arrays[k].ndim; d++) add(o, rvm__dimension(e, (uint16_t)k, d));
        for (int d = 0; d < e->f->arrays[k].ndim; d++) add(o, rvm__stride(e, (uint16_t)k, d));
    }
    return o->n <= RVM__MOST_VECTORISED_ARGS;
}

static LLVMValueRef declare(rvm__instance *o) {
    rvm__build *k = o->outer->k;
    LLVMTypeRef t[RVM__MOST_VECTORISED_ARGS];
    char name[40];
    for (unsigned n = 0; n < o->n; n++) t[n] = LLVMTypeOf(o->args[n]);
    o->type = LLVMFunctionType(k->i32, t, o->n, false);
    snprintf(name, sizeof name, RVM__INSTANCE "%u", k->instances++);
    LLVMValueRef f = LLVMAddFunction(k->module, name, o->type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    rvm__attribute(k, f, -1, "nounwind", 0);
    rvm__attribute(k, f, -1, "noinline", 0);
    for (unsigned n = 0; n < o->x->to.shared + 1u; n++) {
        const unsigned at = n ? RVM__VECTORISED_SUMS + n - 1 : RVM__VECTORISED_OUT;
        LLVMAddAttributeAtIndex(f, 1 + at, LLVMCreateStringAttribute(k->context, RVM__PRIVATE, strlen(RVM__PRIVATE), "", 0));
    }
    for (unsigned n = 0; n < o->n; n++)
        if (o->apart[n]) rvm__attribute(k, f, (int)n, "noalias", 0);
    return f;
}

/* Registers and arrays of the instance have what was passed. */
static void bind(rvm__instance *o) {
    rvm__emit *e = &o->e;
    unsigned at = RVM__VECTORISED_SUMS;
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)o->x->to.jump2 + k];
        rvm__put_at(e, rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), LLVMGetParam(e->function, at++)),
                    e->frame.reg[s->slot]);
    }
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (is_register(o, k)) rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.reg[k]);
    rvm__put_at(e, LLVMGetParam(e->function, RVM__VECTORISED_INDEX), e->frame.reg[o->x->to.i]);
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].data);
        for (int d = 0; d < e->f->arrays[k].ndim; d++)
            rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].dim[d]);
        for (int d = 0; d < e->f->arrays[k].ndim; d++)
            rvm__put_at(e, LLVMGetParam(e->function, at++), e->frame.array[k].stride[d]);
        rvm__put_at(e, LLVMConstInt(e->k->i8, 1, false), e->frame.array[k].present);
    }
    rvm__know_lengths(e);
}

static const size_t counted[RVM__VECTORISED_COUNTS] = {
    offsetof(rvm__native, charged), offsetof(rvm__native, calls),      offsetof(rvm__native, peak),
    offsetof(rvm__native, erased),  offsetof(rvm__native, erased) + 8, offsetof(rvm__native, erased) + 16};

static void make_native(rvm__emit *e) {
    LLVMValueRef n = rvm__local(e, LLVMArrayType2(e->k->i64, sizeof(rvm__native) / 8), "native");
    e->frame.native = n;
    for (int k = 0; k < RVM__VECTORISED_COUNTS; k++) rvm__put_at(e, rvm__build_int(e->k, 0), rvm__member(e, n, counted[k]));
    rvm__begin_counts(e);
}

static void finish(rvm__instance *o) {
    rvm__emit *e = &o->e;
    rvm__at(e, e->frame.done);
    rvm__end_counts(e);
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)o->x->to.jump2 + k];
        LLVMValueRef v = rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), e->frame.reg[s->slot]);
        rvm__put_at(e, v, LLVMGetParam(e->function, RVM__VECTORISED_SUMS + k));
    }
    for (size_t k = 0; k < RVM__VECTORISED_COUNTS; k++)
        rvm__put_at(e, rvm__get(e, e->k->i64, rvm__member(e, e->frame.native, counted[k])),
                    rvm__member(e, LLVMGetParam(e->function, RVM__VECTORISED_OUT), k * sizeof(int64_t)));
    LLVMTypeRef none = LLVMFunctionType(e->k->i32, NULL, 0, false);
    LLVMValueRef f = LLVMGetNamedFunction(e->k->module, RVM__RESULT);
    if (!f) f = LLVMAddFunction(e->k->module, RVM__RESULT, none);
    LLVMBuildRet(e->k->b, LLVMBuildCall2(e->k->b, none, f, NULL, 0, ""));
    rvm__frame_close(e);
}

/* One function serves all copies of the block that run in the same direction. */
void rvm__emit_instance(rvm__instance *o, uint32_t pc) {
    rvm__emit *outer = o->outer, *e = &o->e;
    if (!outer->block.instances &&
        !(outer->block.instances = rvm__unit_alloc(outer->u, outer->f->ncode * sizeof *outer->block.instances)))
        return;
    if ((e->function = outer->block.instances[pc])) {
        o->type = LLVMGlobalGetValueType(e->function);
        return;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(outer->k->b);
    *e = (rvm__emit){.u = outer->u,
                     .k = outer->k,
                     .f = outer->f,
                     .code = outer->code,
                     .fn = outer->fn,
                     .dir = outer->dir,
                     .apart = outer->apart,
                     .discards = outer->discards,
                     .vectorised = true,
                     .block.ends = outer->f->code[pc].target,
                     .block.conflicts = outer->block.conflicts,
                     .function = declare(o)};
    e->frame.machine = LLVMGetParam(e->function, 0);
    e->frame.number = LLVMGetParam(e->function, 1);
    e->frame.first_slot = e->frame.first_array = rvm__build_int(e->k, 0);
    if (rvm__frame_make(e)) {
        make_native(e);
        bind(o);
        LLVMBasicBlockRef first = rvm__block(e, "first");
        LLVMBuildBr(e->k->b, first);
        rvm__walk_from(e, first, pc + (uint32_t)outer->control.context->dir, outer->control.context->dir);
        if (!e->u->status) finish(o); /* else blocks were left open */
    }
    outer->block.instances[pc] = e->function;
    rvm__at(outer, here);
}
