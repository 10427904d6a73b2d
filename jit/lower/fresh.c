/* fresh.c: arrays whose contents are never read (vm/fresh.h), in the block that touches them first.
 *
 * Each instance of it has a part of its own of such an array: the elements at its index, of which there are few. One that
 * runs alone writes there what they count as before it begins, so that the machine finds them whole wherever it is left. In
 * lanes an instance works on a copy that is its own, from which LLVM makes registers where it can, and stores that at its
 * end: nothing is read, and what is larger than half of the largest cache goes past them. What no instance has is written
 * where the block is entered, by the machine. */
#include "fresh_ir.h"
#include "builder.h"
#include "lengths.h"

#include <string.h>

/* Of the array: the block that touches it first, or NULL. */
static const rvm__first_block *first_block(const rvm__emit *e, uint16_t array) {
    if (!e->fresh) return NULL;
    const rvm__first_block *b = &e->u->fresh[array].block;
    return b->par ? b : NULL;
}

static bool is_first_of(const rvm__emit *e, uint32_t array, uint32_t pc) {
    const rvm__first_block *b = first_block(e, (uint16_t)array);
    return b && b->par == pc && e->control.context->dir > 0 && !e->control.context->parent;
}

static LLVMValueRef nothing(const rvm__emit *e, uint16_t array) {
    const rvm_type t = (rvm_type)e->f->arrays[array].type;
    const rvm_value v = rvm__sum_start(t);
    return rvm__is_floating(t) ? LLVMConstReal(e->k->f64, v.f) : rvm__build_int(e->k, v.i);
}

static LLVMTypeRef element_type(const rvm__emit *e, uint16_t array) {
    return rvm__build_type(e->k, (rvm_type)e->f->arrays[array].type);
}

/* Of the dimension in which remainders of the index are. */
static LLVMValueRef length_within(rvm__emit *e, uint16_t array) {
    const int d = e->u->fresh[array].block.within;
    const uint64_t known = e->u->fresh[array].length[d];
    return known ? rvm__build_int(e->k, (int64_t)known) : rvm__dimension(e, array, d);
}

/* ---- the elements of a part, in order ---- */

static uint64_t elements_of(const rvm__emit *e, uint16_t array) {
    uint64_t n = 1;
    for (int d = 0; d < e->f->arrays[array].ndim; d++)
        if (rvm__is_within_part(&e->u->fresh[array].block, d)) n *= e->u->fresh[array].length[d];
    return n;
}

/* How far behind the array's address the part at an index begins. */
static LLVMValueRef part_at(rvm__emit *e, uint16_t array, LLVMValueRef index, const LLVMValueRef *stride) {
    const rvm__first_block *at = &e->u->fresh[array].block;
    LLVMBuilderRef b = e->k->b;
    if (at->within == RVM_MAX_DIMS) return LLVMBuildNSWMul(b, index, stride[at->dimension], "");
    LLVMValueRef n = length_within(e, array);
    LLVMValueRef q = LLVMBuildUDiv(b, index, n, ""), r = LLVMBuildURem(b, index, n, "");
    return LLVMBuildNSWAdd(b, LLVMBuildNSWMul(b, q, stride[at->dimension], ""),
                           LLVMBuildNSWMul(b, r, stride[at->within], ""), "");
}

/* The address of element n of the part at an index, by the array's address and strides. */
static LLVMValueRef element_at(rvm__emit *e, uint16_t array, uint64_t n, LLVMValueRef index, LLVMValueRef data,
                               const LLVMValueRef *stride) {
    const rvm__first_block *b = &e->u->fresh[array].block;
    LLVMValueRef at = part_at(e, array, index, stride);
    for (int d = e->f->arrays[array].ndim - 1; d >= 0; d--) {
        if (!rvm__is_within_part(b, d)) continue;
        const uint64_t length = e->u->fresh[array].length[d];
        LLVMValueRef way = LLVMBuildNSWMul(e->k->b, rvm__build_int(e->k, (int64_t)(n % length)), stride[d], "");
        at = LLVMBuildNSWAdd(e->k->b, at, way, "");
        n /= length;
    }
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, data, &at, 1, "");
}

/* ---- around the block ---- */

/* Instances whose parts the array has. */
static LLVMValueRef instances_of(rvm__emit *e, uint16_t array) {
    const rvm__first_block *b = &e->u->fresh[array].block;
    LLVMValueRef n = rvm__dimension(e, array, b->dimension);
    return b->within == RVM_MAX_DIMS ? n : LLVMBuildMul(e->k->b, n, length_within(e, array), "");
}

void rvm__fresh_check(rvm__emit *e, LLVMValueRef any, LLVMValueRef lo, LLVMValueRef hi) {
    LLVMBuilderRef b = e->k->b;
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!is_first_of(e, k, e->control.pc)) continue;
        LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, lo, rvm__build_int(e->k, 0), "");
        LLVMValueRef above = LLVMBuildICmp(b, LLVMIntSGT, hi, instances_of(e, (uint16_t)k), "");
        rvm__exit_if(e, LLVMBuildAnd(b, any, LLVMBuildOr(b, below, above, ""), ""));
    }
}

void rvm__fresh_enter(rvm__emit *e, LLVMValueRef lo, LLVMValueRef hi) {
    for (uint32_t k = 0; k < e->f->nparams && k < 64; k++) {
        const uint16_t array = e->f->params[k].index;
        if (!e->f->params[k].ndim || !is_first_of(e, array, e->control.pc)) continue;
        LLVMValueRef args[5] = {e->frame.machine, rvm__build_int(e->k, k),
                                rvm__get(e, e->k->ptr, e->frame.array[array].data), lo, hi};
        rvm__call_seldom(e, "rvm__native_fresh", e->k->nothing, 5, args);
        rvm__attribute(e->k, LLVMGetNamedFunction(e->k->module, "rvm__native_fresh"), 2, "nocapture", 0);
    }
}

/* By parameter, the block that touches it first; NULL: out of memory, noted. */
static const rvm__first_block *first_blocks(rvm__emit *e) {
    if (e->block.first || !(e->block.first = rvm__unit_alloc(e->u, (e->f->nparams + 1u) * sizeof *e->block.first)))
        return e->block.first;
    for (uint32_t k = 0; k < e->f->nparams; k++) {
        rvm__first_block *b = &e->block.first[k];
        if (!e->f->params[k].ndim || !rvm__first_block_of(e->u->w->p, e->f, k, b)) b->par = 0;
    }
    return e->block.first;
}

/* Whether the block is the first that touches a local array of a caller, if that is what the parameter is: each instance the
 * elements at its index in the first dimension. */
static bool has_part_of(const rvm__first_block *b, uint32_t pc) {
    return b->par == pc && !b->dimension && b->within == RVM_MAX_DIMS;
}

/* Where nothing turns back, memory of such an array may be cleared part by part. */
void rvm__fresh_parts(rvm__emit *e, uint32_t pc) {
    const rvm__lowering *w = e->u->w;
    if (!w->lanes || w->standalone || e->control.context->dir < 0 || e->control.context->parent) return;
    const rvm__first_block *first = first_blocks(e);
    for (uint32_t k = 0; first && k < e->f->nparams; k++) {
        const uint16_t array = e->f->params[k].index;
        if (!has_part_of(&first[k], pc)) continue;
        rvm__comes_first(e, rvm__get(e, e->k->ptr, e->frame.array[array].data), rvm__slot_value(e, e->code->x[pc].to.i),
                         rvm__stride(e, array, 0), rvm__dimension(e, array, 0));
    }
}

void rvm__fresh_begin(rvm__emit *e, uint32_t pc) {
    for (uint32_t a = 0; a < e->f->narrays; a++) {
        const uint16_t array = (uint16_t)a;
        LLVMValueRef stride[RVM_MAX_DIMS];
        if (!is_first_of(e, array, pc)) continue;
        LLVMValueRef data = rvm__get(e, e->k->ptr, e->frame.array[array].data);
        LLVMValueRef index = rvm__slot_value(e, e->code->x[pc].to.i);
        for (int d = 0; d < e->f->arrays[array].ndim; d++) stride[d] = rvm__stride(e, array, d);
        for (uint64_t n = elements_of(e, array); n-- > 0;)
            rvm__put_into(e, RVM__ELEMENTS, nothing(e, array), element_at(e, array, n, index, data, stride));
    }
}

/* ---- in lanes ---- */

/* The array becomes the copy: there all elements at the block's index, whatever that is, are the same. */
static void begin_copy(rvm__instance *o, uint16_t array) {
    rvm__emit *e = &o->body;
    rvm__array_ir *a = &e->frame.array[array];
    rvm__fresh_copy *c = &o->copies[array];
    int64_t gap = sizeof(rvm_value);
    const uint64_t n = elements_of(e, array);
    c->memory = rvm__local(e, LLVMArrayType2(element_type(e, array), n + !n), "fresh");
    LLVMSetAlignment(c->memory, RVM__LINE);
    c->data = rvm__get(e, e->k->ptr, a->data);
    rvm__put_at(e, c->memory, a->data);
    for (int d = e->f->arrays[array].ndim - 1; d >= 0; d--) {
        const bool varies = rvm__is_within_part(&e->u->fresh[array].block, d);
        c->stride[d] = rvm__stride(e, array, d);
        rvm__put_at(e, rvm__build_int(e->k, varies ? gap : 0), a->stride[d]);
        if (varies) gap *= (int64_t)e->u->fresh[array].length[d];
    }
    for (uint64_t k = 0; k < n; k++)
        rvm__put_into(e, RVM__ELEMENTS, nothing(e, array), rvm__member(e, c->memory, k * sizeof(rvm_value)));
}

void rvm__fresh_copies(rvm__instance *o, uint32_t par) {
    rvm__emit *e = &o->body;
    if (!e->fresh || !(o->copies = rvm__unit_alloc(e->u, (e->f->narrays + 1u) * sizeof *o->copies))) return;
    for (uint32_t a = 0; a < e->f->narrays; a++) {
        const rvm__first_block *b = first_block(e, (uint16_t)a);
        if (b && b->par == par && o->array[a]) begin_copy(o, (uint16_t)a);
    }
}

/* Past the caches; for vectors of all lanes that is, too (jit/lanes/memory.c). */
static void stream(rvm__emit *e, LLVMValueRef store) {
    LLVMContextRef c = e->k->context;
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(e->k->i32, 1, false));
    static const char kind[] = "nontemporal";
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(c, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, &one, 1)));
}

static void end_copy(rvm__instance *o, uint16_t array) {
    rvm__emit *e = &o->body;
    const rvm__fresh_copy *c = &o->copies[array];
    LLVMTypeRef t = element_type(e, array);
    LLVMValueRef index = rvm__slot_value(e, o->x->to.i);
    const uint64_t n = elements_of(e, array);
    for (uint64_t k = 0; k < n; k++) {
        LLVMValueRef v = rvm__get_from(e, RVM__ELEMENTS, t, rvm__member(e, c->memory, k * sizeof(rvm_value)));
        rvm__put_into(e, RVM__ELEMENTS, v, element_at(e, array, k, index, c->data, c->stride));
        LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
        if (e->u->fresh[array].streams) stream(e, LLVMGetLastInstruction(here));
    }
}

void rvm__fresh_copies_end(rvm__instance *o) {
    for (uint32_t a = 0; o->copies && a < o->body.f->narrays; a++)
        if (o->copies[a].memory) end_copy(o, (uint16_t)a);
}

/* ---- of the unit ---- */

void rvm__fresh_find(rvm__unit *u, const rvm__lowering *asked) {
    const rvm_function *f = &asked->p->functions[asked->fn];
    u->fresh = rvm__unit_alloc(u, (f->narrays + 1u) * sizeof *u->fresh);
    for (uint32_t k = 0; u->fresh && k < f->nparams && k < 64; k++) {
        if (!(asked->fresh >> k & 1)) continue;
        rvm__fresh_array *a = &u->fresh[f->params[k].index];
        rvm__first_block_of(asked->p, f, k, &a->block);
        a->streams = asked->streams >> k & 1;
        for (int d = 0; d < f->params[k].ndim; d++) a->length[d] = rvm__length_known(f, &f->params[k], d, &asked->lengths);
    }
}
