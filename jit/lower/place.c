/* place.c: operands and targets. */
#include "emit.h"
#include "program.h"

/* Indices are compared with lengths in order, as the interpreter does. */
static LLVMValueRef element(rvm__emit *e, const rvm_place *q, bool proved) {
    const rvm_insn *in = &e->f->code[e->control.pc];
    const uint32_t k = (uint32_t)(q - rvm__places(e->f, in));
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef offset = NULL;
    for (int d = 0; d < q->nidx; d++) {
        LLVMValueRef i = rvm__slot_value(e, q->idx[d]);
        const bool passed = proved || rvm__numbering_inbounds(e->u->numbering, in, k, d);
        if (!passed) rvm__exit_if(e, LLVMBuildICmp(b, LLVMIntUGE, i, rvm__dimension(e, q->slot, d), ""));
        LLVMValueRef part = LLVMBuildNSWMul(b, i, rvm__stride(e, q->slot, d), "");
        offset = offset ? LLVMBuildNSWAdd(b, offset, part, "") : part;
    }
    LLVMValueRef data = rvm__get(e, e->k->ptr, e->frame.array[q->slot].data);
    return LLVMBuildInBoundsGEP2(b, e->k->i8, data, &offset, 1, "");
}

rvm__operand rvm__operand_of(rvm__emit *e, const rvm_place *q, unsigned k) {
    rvm__operand o = {.type = rvm__place_type(e->f, q)};
    if (q->kind == RVM_PLACE_ELEM) {
        const uint8_t facts = e->f->code[e->control.pc].facts;
        const bool proved = e->u->w->trust || (k < 4 && facts >> k & RVM_FACT_INBOUNDS0);
        o.address = o.element = element(e, q, proved);
    } else if (q->slot < e->f->nregs)
        o.address = e->frame.reg[q->slot];
    else
        o.value = rvm__slot_constant(e, q->slot);
    return o;
}

LLVMValueRef rvm__load(rvm__emit *e, const rvm__operand *o) {
    if (o->element) return rvm__get_from(e, RVM__ELEMENTS, rvm__build_type(e->k, o->type), o->element);
    return o->address ? rvm__get(e, rvm__build_type(e->k, o->type), o->address) : o->value;
}

void rvm__store(rvm__emit *e, const rvm__operand *o, LLVMValueRef v) {
    if (o->element)
        rvm__put_into(e, RVM__ELEMENTS, v, o->element);
    else
        rvm__put_at(e, v, o->address);
}

void rvm__apart(rvm__emit *e, const rvm__operand *a, const rvm__operand *b) {
    if (a->element && b->element) rvm__exit_if(e, LLVMBuildICmp(e->k->b, LLVMIntEQ, a->element, b->element, ""));
}
