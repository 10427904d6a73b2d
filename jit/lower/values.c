/* values.c: registers, constants and lengths as values. */
#include "emit.h"

LLVMValueRef rvm__slot_constant(const rvm__emit *e, uint16_t slot) {
    const uint32_t n = (uint32_t)slot - e->f->nregs;
    return rvm__build_value(e->k, (rvm_type)e->f->const_type[n], e->f->consts[n]);
}

LLVMValueRef rvm__slot_value(rvm__emit *e, uint16_t slot) {
    const uint32_t behind = e->f->nregs + e->f->nconsts;
    if (slot >= e->f->nregs && slot < behind) return rvm__slot_constant(e, slot);
    return rvm__get(e, e->k->i64, e->frame.reg[slot]);
}

void rvm__set_slot(rvm__emit *e, uint16_t slot, LLVMValueRef v) {
    rvm__put_at(e, v, e->frame.reg[slot]);
}

/* 0 rather than undefined, which may be any value that LLVM has: it would keep one for where the code is left. Checked code
 * is left in so many places that telling them apart costs more. */
LLVMValueRef rvm__nothing(const rvm__emit *e, LLVMTypeRef t) {
    return e->u->w->unchecked ? LLVMConstNull(t) : LLVMGetUndef(t);
}

void rvm__gone(rvm__emit *e, uint16_t slot) {
    rvm__put_at(e, rvm__nothing(e, rvm__build_type(e->k, (rvm_type)e->f->reg_type[slot])), e->frame.reg[slot]);
}

LLVMValueRef rvm__dimension(rvm__emit *e, uint16_t array, int d) {
    return rvm__get(e, e->k->i64, e->frame.array[array].dim[d]);
}

LLVMValueRef rvm__elements(rvm__emit *e, uint16_t array) {
    LLVMValueRef n = rvm__build_int(e->k, 1);
    for (int d = 0; d < e->f->arrays[array].ndim; d++) n = LLVMBuildMul(e->k->b, n, rvm__dimension(e, array, d), "");
    return n;
}

LLVMValueRef rvm__stride(rvm__emit *e, uint16_t array, int d) {
    return rvm__get(e, e->k->i64, e->frame.array[array].stride[d]);
}
