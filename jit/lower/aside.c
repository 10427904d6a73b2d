/* aside.c: elements that the instances of a block add into chunk by chunk, as vm/aside.c has them, which does it. Standalone
 * code, and instances on a device, do so themselves: what the elements held is in memory of their own. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "aside.h"
#include "native.h"

#include <stddef.h>

enum { AT_LO = offsetof(rvm__native_aside, lo), AT_HI = offsetof(rvm__native_aside, hi) };

static const rvm__summing *summed_of(const rvm__emit *e, const rvm__xinsn *x, uint32_t k) {
    return &e->code->summed[(x->to.step | (uint32_t)x->to.last << 16) + k];
}

/* ---- by the machine ---- */

static LLVMValueRef edge(rvm__emit *e, const rvm__edge *at, LLVMValueRef any) {
    LLVMValueRef offset = rvm__build_int(e->k, at->offset);
    if (at->base == RVM__SUMMED_ANY) return any;
    return at->base == RVM__SUMMED_NONE ? offset : LLVMBuildAdd(e->k->b, rvm__slot_value(e, at->base), offset, "");
}

/* In dimension d, from where on so many indices are added at; 0: none. */
static LLVMValueRef range_of(rvm__emit *e, const rvm__summed *s, int d, LLVMValueRef *from) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef none = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1), n = rvm__dimension(e, s->array, d);
    LLVMValueRef end = LLVMBuildSub(b, n, one, ""), lo = edge(e, &s->lo[d], none), hi = edge(e, &s->hi[d], end);
    lo = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSGT, lo, none, ""), lo, none, "");
    hi = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, hi, end, ""), hi, end, "");
    LLVMValueRef any = LLVMBuildICmp(b, LLVMIntSGE, hi, lo, "");
    *from = LLVMBuildSelect(b, any, lo, none, "");
    return LLVMBuildSelect(b, any, LLVMBuildAdd(b, LLVMBuildSub(b, hi, lo, ""), one, ""), none, "");
}

static void write_one(rvm__emit *e, const rvm__summed *s, LLVMValueRef to) {
    const rvm__array_ir *a = &e->frame.array[s->array];
    const int ndim = e->f->arrays[s->array].ndim;
#define PUT(name, value) rvm__put_at(e, value, rvm__member(e, to, offsetof(rvm__native_aside, of.name)))
    PUT(data, rvm__get(e, e->k->ptr, a->data));
    PUT(magnitude, a->magnitude ? rvm__get(e, e->k->ptr, a->magnitude) : LLVMConstNull(e->k->ptr));
    PUT(type, rvm__build_int(e->k, s->type));
    PUT(ndim, rvm__build_int(e->k, ndim));
    for (int d = 0; d < ndim; d++) {
        LLVMValueRef n = rvm__dimension(e, s->array, d), last = LLVMBuildSub(e->k->b, n, rvm__build_int(e->k, 1), "");
        PUT(dim[d], n);
        PUT(stride[d], rvm__stride(e, s->array, d));
        rvm__put_at(e, edge(e, &s->lo[d], rvm__build_int(e->k, 0)), rvm__member(e, to, AT_LO + 8 * (size_t)d));
        rvm__put_at(e, edge(e, &s->hi[d], last), rvm__member(e, to, AT_HI + 8 * (size_t)d));
    }
#undef PUT
}

/* The block's own memory in the frame, 0 at first: so many bytes for each of its arrays. */
static LLVMValueRef memory_of(rvm__emit *e, const rvm__xinsn *x, uint64_t each) {
    rvm__build *k = e->k;
    const uint32_t pc = rvm__lower_end(e->f, (uint32_t)(x - e->code->x));
    if (!e->block.asides) e->block.asides = rvm__unit_alloc(e->u, e->f->ncode * sizeof *e->block.asides);
    if (!e->block.asides) return LLVMGetUndef(k->ptr);
    if (e->block.asides[pc]) return e->block.asides[pc];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    LLVMTypeRef t = LLVMArrayType2(k->i64, x->to.c * each / 8);
    e->block.asides[pc] = rvm__local(e, t, "asides");
    if (!e->u->w->standalone) return e->block.asides[pc];
    rvm__at(e, e->frame.entry);
    rvm__put_at(e, LLVMConstNull(t), e->block.asides[pc]);
    rvm__at(e, here);
    return e->block.asides[pc];
}

/* Whether array k is put aside; in runs that restore every bit values are added to as they stand. */
static bool is_aside(const rvm__emit *e, const rvm__xinsn *x, uint32_t k) {
    return !(summed_of(e, x, k)->how & SHARED_EXACTLY);
}

static uint32_t count_of(const rvm__emit *e, const rvm__xinsn *x) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->to.c; k++) n += is_aside(e, x, k);
    return n;
}

/* The arrays as they stand now. */
static LLVMValueRef write_all(rvm__emit *e, const rvm__xinsn *x) {
    LLVMValueRef list = memory_of(e, x, sizeof(rvm__native_aside));
    for (uint32_t k = 0, n = 0; k < x->to.c; k++)
        if (is_aside(e, x, k)) write_one(e, &summed_of(e, x, k)->of, rvm__member(e, list, n++ * sizeof(rvm__native_aside)));
    return list;
}

/* The list is that of the block's entry, but where the code may have been entered behind that. */
static void call_machine(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step) {
    const bool entered = e->at != 0;
    LLVMValueRef list = entered ? write_all(e, x) : memory_of(e, x, sizeof(rvm__native_aside));
    LLVMValueRef args[5] = {e->frame.machine, list, rvm__build_int(e->k, count_of(e, x)), rvm__build_int(e->k, step),
                            LLVMConstInt(e->k->i32, entered, false)};
    rvm__call_runtime(e, "rvm__native_aside_step", e->k->nothing, 5, args);
}

/* ---- standalone ---- */

typedef struct passing {
    const rvm__summed *s;
    enum rvm__aside_step step;
    LLVMValueRef held;
} passing;

static void pass_element(rvm__emit *e, const passing *p, LLVMValueRef at, LLVMValueRef number) {
    rvm__build *k = e->k;
    const rvm_type type = (rvm_type)p->s->type;
    LLVMTypeRef t = rvm__build_type(k, type);
    LLVMValueRef held = LLVMBuildInBoundsGEP2(k->b, k->i64, p->held, &number, 1, ""), now = rvm__get(e, t, at);
    LLVMValueRef nothing = LLVMConstReal(t, -0.0);
    if (p->step != RVM__ASIDE_BEGIN) now = rvm__build_update(k, RVM_OP_add, type, rvm__get(e, t, held), now, NULL);
    rvm__put_at(e, now, held);
    rvm__put_at(e, p->step == RVM__ASIDE_END ? now : nothing, at);
}

static void pass_part(rvm__emit *e, const passing *p, int d, LLVMValueRef at, LLVMValueRef before) {
    LLVMValueRef from, n = range_of(e, p->s, d, &from);
    const rvm__each l = rvm__each_begin(e, n);
    LLVMValueRef way = LLVMBuildNSWMul(e->k->b, LLVMBuildAdd(e->k->b, from, l.i, ""), rvm__stride(e, p->s->array, d), "");
    LLVMValueRef part = LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, at, &way, 1, "");
    LLVMValueRef number = LLVMBuildAdd(e->k->b, LLVMBuildMul(e->k->b, before, n, ""), l.i, "");
    if (d + 1 < e->f->arrays[p->s->array].ndim)
        pass_part(e, p, d + 1, part, number);
    else
        pass_element(e, p, part, number);
    rvm__each_end(e, &l);
}

static void pass_itself(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step) {
    for (uint32_t k = 0; k < x->to.c; k++) {
        const rvm__summed *s = &summed_of(e, x, k)->of;
        LLVMValueRef held = rvm__member(e, memory_of(e, x, sizeof(void *)), k * sizeof(void *));
        if (step == RVM__ASIDE_BEGIN) rvm__put_at(e, rvm__standalone_memory(e, rvm__elements(e, s->array)), held);
        const passing p = {.s = s, .step = step, .held = rvm__get(e, e->k->ptr, held)};
        pass_part(e, &p, 0, rvm__get(e, e->k->ptr, e->frame.array[s->array].data), rvm__build_int(e->k, 0));
        if (step != RVM__ASIDE_END) continue;
        rvm__call_runtime(e, "free", e->k->nothing, 1, &p.held);
        rvm__put_at(e, LLVMConstNull(e->k->ptr), held);
    }
}

void rvm__aside_free_all(rvm__emit *e) {
    for (uint32_t pc = 0; e->block.asides && pc < e->f->ncode; pc++)
        for (uint32_t k = 0; e->block.asides[pc] && k < e->code->x[pc].to.c; k++) {
            LLVMValueRef held = rvm__get(e, e->k->ptr, rvm__member(e, e->block.asides[pc], k * sizeof(void *)));
            rvm__call_runtime(e, "free", e->k->nothing, 1, &held);
        }
}

/* ---- in an instance, on a device ---- */

/* With fast math instances may share what a block in what they call adds into: that has an order of its own. */
static bool is_shared(const rvm__emit *e, uint16_t array) {
    return e->vectorised && e->block.conflicts && e->block.conflicts[array];
}

static LLVMValueRef elements_of_all(rvm__emit *e, const rvm__xinsn *x) {
    LLVMValueRef n = rvm__build_int(e->k, 0);
    for (uint32_t k = 0; k < x->to.c; k++) {
        const uint16_t array = summed_of(e, x, k)->of.array;
        if (!is_shared(e, array)) n = LLVMBuildAdd(e->k->b, n, rvm__elements(e, array), "");
    }
    return n;
}

static void pass_by_one(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step, LLVMValueRef memory) {
    for (uint32_t k = 0; k < x->to.c; k++) {
        const rvm__summed *s = &summed_of(e, x, k)->of;
        if (is_shared(e, s->array)) continue;
        const passing p = {.s = s, .step = step, .held = memory};
        LLVMValueRef n = rvm__elements(e, s->array);
        pass_part(e, &p, 0, rvm__get(e, e->k->ptr, e->frame.array[s->array].data), rvm__build_int(e->k, 0));
        memory = LLVMBuildInBoundsGEP2(e->k->b, e->k->i64, memory, &n, 1, "");
    }
}

/* Where several threads have the instance, they share that. False: it is too much, or of another type. */
static bool pass_by_all(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step, LLVMValueRef memory) {
    enum { EACH = 2 + 2 * RVM_MAX_DIMS };
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS] = {rvm__build_int(e->k, step), memory};
    LLVMTypeRef t[RVM__MOST_VECTORISED_ARGS];
    unsigned n = 2;
    for (uint32_t k = 0; k < x->to.c; k++) {
        const rvm__summed *s = &summed_of(e, x, k)->of;
        const int ndim = e->f->arrays[s->array].ndim;
        if (is_shared(e, s->array)) continue;
        if (s->type != RVM_F64 || n + EACH > RVM__MOST_VECTORISED_ARGS) return false;
        args[n++] = rvm__build_int(e->k, ndim);
        LLVMValueRef from, *data = &args[n++];
        *data = rvm__get(e, e->k->ptr, e->frame.array[s->array].data);
        for (int d = 0; d < ndim; d++) {
            args[n++] = range_of(e, s, d, &from);
            LLVMValueRef way = LLVMBuildMul(e->k->b, from, rvm__stride(e, s->array, d), "");
            *data = LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, *data, &way, 1, "");
        }
        for (int d = 0; d < ndim; d++) args[n++] = rvm__stride(e, s->array, d);
    }
    for (unsigned k = 0; k < n; k++) t[k] = LLVMTypeOf(args[k]);
    LLVMValueRef f = LLVMAddFunction(e->k->module, RVM__NESTED_ASIDE, LLVMFunctionType(e->k->nothing, t, n, false));
    rvm__attribute(e->k, f, -1, "nounwind", 0);
    rvm__attribute(e->k, f, -1, "convergent", 0);
    LLVMBuildCall2(e->k->b, LLVMGlobalGetValueType(f), f, args, n, "");
    return true;
}

/* What the arrays held stands one behind the other, as a local array. */
static void pass_in_instance(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step) {
    LLVMValueRef at = memory_of(e, x, sizeof(void *)), n = elements_of_all(e, x);
    LLVMValueRef args[3] = {e->frame.machine, n, rvm__build_int(e->k, 0)};
    if (step == RVM__ASIDE_BEGIN) {
        LLVMValueRef p = rvm__call_runtime(e, "rvm__native_new", e->k->ptr, 3, args);
        rvm__exit_if(e, LLVMBuildIsNull(e->k->b, p, ""));
        rvm__put_at(e, rvm__member(e, p, RVM__ARRAY_HEADER), at);
    }
    LLVMValueRef memory = rvm__get(e, e->k->ptr, at);
    if (!e->nested || !pass_by_all(e, x, step, memory)) pass_by_one(e, x, step, memory);
    if (step == RVM__ASIDE_END) rvm__call_runtime(e, "rvm__native_del", e->k->nothing, 2, args);
}

/* ---- where the block is ---- */

void rvm__aside_room(rvm__emit *e, const rvm__xinsn *x) {
    if (!x->to.c || e->u->w->standalone || e->vectorised) return;
    LLVMValueRef args[3] = {e->frame.machine, write_all(e, x), rvm__build_int(e->k, count_of(e, x))};
    LLVMValueRef good = rvm__call_runtime(e, "rvm__native_aside_room", e->k->i1, 3, args);
    rvm__exit_if(e, LLVMBuildNot(e->k->b, good, ""));
}

void rvm__pass_aside(rvm__emit *e, const rvm__xinsn *x, int step) {
    if (!x->to.c) return;
    (e->vectorised ? pass_in_instance : e->u->w->standalone ? pass_itself : call_machine)(e, x, (enum rvm__aside_step)step);
}
