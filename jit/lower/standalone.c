/* standalone.c: what code does itself that needs no machine.
 *
 * What fails ends the call, with a number that says which instruction it was and why; all such ends of the unit stand in a
 * table of texts. No fuel is charged. Local arrays are on the stack where they are small and their lengths constant, else
 * malloc's; a side exit frees those that are there. Of blocks that go in lanes groups call what jit/llvm/no_machine.c has,
 * and are not made where they need more of a machine. Trails are not kept: what goes onto one is discarded, and a program
 * that takes something back is refused, as one that uses the stack is. */
#include "emit.h"
#include "program.h"

#include <string.h>

/* ---- ends ---- */

static LLVMValueRef end_here(rvm__emit *e, enum rvm__end_reason reason) {
    return LLVMConstInt(e->k->i32, rvm__end_number(e->u, e->fn, e->control.pc, reason), false);
}

void rvm__standalone_exit(rvm__emit *e) {
    rvm__at(e, e->frame.exits);
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!e->frame.array[k].heap) continue;
        LLVMValueRef p = rvm__get(e, e->k->ptr, e->frame.array[k].heap);
        rvm__call_runtime(e, "free", e->k->nothing, 1, &p);
    }
    LLVMBuildRet(e->k->b, rvm__get(e, e->k->i32, e->frame.site));
}

/* Where the C stack ends now, as an i64. */
LLVMValueRef rvm__stack_here(rvm__build *k) {
    static const char name[] = "llvm.stacksave";
    const unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1), ntypes = LLVMIntrinsicIsOverloaded(id);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(k->module, id, &k->ptr, ntypes);
    LLVMTypeRef t = LLVMIntrinsicGetType(k->context, id, &k->ptr, ntypes);
    return LLVMBuildPtrToInt(k->b, LLVMBuildCall2(k->b, t, f, NULL, 0, ""), k->i64, "");
}

void rvm__standalone_depth(rvm__emit *e, LLVMValueRef frame) {
    LLVMValueRef most = rvm__build_int(e->k, e->u->w->depth);
    rvm__exit_with(e, LLVMBuildICmp(e->k->b, LLVMIntUGE, frame, most, ""), end_here(e, RVM__END_DEPTH));
    if (!e->u->w->stack) return;
    LLVMValueRef full = LLVMBuildICmp(e->k->b, LLVMIntULT, rvm__stack_here(e->k), e->frame.first_slot, "");
    rvm__exit_with(e, full, end_here(e, RVM__END_STACK));
}

/* ---- loops over elements ---- */

static LLVMValueRef indexed(rvm__emit *e, LLVMValueRef data, LLVMValueRef i, LLVMValueRef stride) {
    LLVMValueRef at = LLVMBuildNSWMul(e->k->b, i, stride, "");
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, data, &at, 1, "");
}

/* ---- local arrays ---- */

LLVMValueRef rvm__standalone_memory(rvm__emit *e, LLVMValueRef n) {
    rvm__build *k = e->k;
    LLVMValueRef size = LLVMBuildMul(k->b, n, rvm__build_int(k, sizeof(rvm_value)), "");
    size = LLVMBuildAdd(k->b, size, rvm__build_int(k, 1), "");
    LLVMValueRef p = rvm__call_runtime(e, "malloc", k->ptr, 1, &size);
    rvm__exit_with(e, LLVMBuildIsNull(k->b, p, ""), end_here(e, RVM__END_MEMORY));
    return p;
}

LLVMValueRef rvm__standalone_new(rvm__emit *e, uint16_t array, LLVMValueRef n, LLVMValueRef bits) {
    rvm__build *k = e->k;
    const bool zero = LLVMIsConstant(bits) && LLVMIsNull(bits);
    LLVMValueRef size = LLVMBuildMul(k->b, n, rvm__build_int(k, sizeof(rvm_value)), ""), one = rvm__build_int(k, 1);
    size = LLVMBuildAdd(k->b, size, rvm__build_int(k, RVM__ARRAY_HEADER), "");
    LLVMValueRef args[2] = {one, size};
    LLVMValueRef p =
        zero ? rvm__call_runtime(e, "calloc", k->ptr, 2, args) : rvm__call_runtime(e, "malloc", k->ptr, 1, &size);
    rvm__exit_with(e, LLVMBuildIsNull(k->b, p, ""), end_here(e, RVM__END_MEMORY));
    rvm__put_at(e, p, e->frame.array[array].heap);
    if (zero) return p;
    rvm__put_at(e, LLVMConstNull(k->f64), p);
    const rvm__each l = rvm__each_begin(e, n);
    rvm__put_at(e, bits, indexed(e, rvm__member(e, p, RVM__ARRAY_HEADER), l.i, rvm__build_int(k, sizeof(rvm_value))));
    rvm__each_end(e, &l);
    return p;
}

void rvm__standalone_del(rvm__emit *e, uint16_t array) {
    LLVMValueRef heap = e->frame.array[array].heap, p = rvm__get(e, e->k->ptr, heap);
    rvm__call_runtime(e, "free", e->k->nothing, 1, &p);
    rvm__put_at(e, LLVMConstNull(e->k->ptr), heap);
}

/* ---- trails ---- */

static void clear_array(rvm__emit *e, uint16_t array, int d, LLVMValueRef data) {
    const rvm__each l = rvm__each_begin(e, rvm__dimension(e, array, d));
    LLVMValueRef part = indexed(e, data, l.i, rvm__stride(e, array, d));
    if (d + 1 < e->f->arrays[array].ndim)
        clear_array(e, array, d + 1, part);
    else
        rvm__put_at(e, rvm__build_int(e->k, 0), part);
    rvm__each_end(e, &l);
}

static void clear(rvm__emit *e, const rvm_place *q, unsigned k) {
    if (q->kind == RVM_PLACE_ARRAY) {
        clear_array(e, q->slot, 0, rvm__get(e, e->k->ptr, e->frame.array[q->slot].data));
        return;
    }
    const rvm__operand o = rvm__operand_of(e, q, k);
    rvm__store(e, &o, LLVMConstNull(rvm__build_type(e->k, o.type)));
}

void rvm__emit_discarded(rvm__emit *e, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    if (rvm__pair_of(op) == RVM_PAIR_segment) return;
    if (op == RVM_OP_drop || op == RVM_OP_shed) {
        for (unsigned k = (unsigned)strcspn(rvm__op_info[op].operands, "m") + 1; k < in->nplaces; k++)
            op == RVM_OP_drop ? clear(e, &q[k], k) : rvm__gone(e, q[k].slot);
    } else
        rvm__refuse(e, rvm__op_on_stack(op) ? "this uses the stack" : "this takes a value back from the trail");
}
