/* aside.c: elements that the instances of a block add into chunk by chunk, as vm/aside.c has them, which does it. Standalone
 * code, and instances on a device, do so themselves: what the elements held is in memory of their own.
 *
 * With fast math sums of instances and groups are not kept apart: elements hold the chunk's. Else they are open while an
 * instance runs by itself. In a block that goes in lanes a local variable of the function tells whether they are, where it
 * knows; in others they always are. A chunk's function has copies of the arrays, which hold the chunk's sum: the machine
 * knows of the block from its first single instance on. */
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

bool rvm__is_summed(const rvm__emit *e, const rvm__xinsn *x, uint16_t array) {
    for (uint32_t k = 0; k < x->to.c; k++)
        if (summed_of(e, x, k)->of.array == array) return is_aside(e, x, k);
    return false;
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
static LLVMValueRef list_of(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef *whole) {
    const bool entered = e->at != 0;
    *whole = LLVMConstInt(e->k->i32, entered, false);
    return entered ? write_all(e, x) : memory_of(e, x, sizeof(rvm__native_aside));
}

static void call_machine(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step, LLVMValueRef next) {
    LLVMValueRef whole, list = list_of(e, x, &whole);
    LLVMValueRef args[6] = {e->frame.machine,           list,  rvm__build_int(e->k, count_of(e, x)),
                            rvm__build_int(e->k, step), whole, next ? next : rvm__build_int(e->k, 0)};
    rvm__call_runtime(e, "rvm__native_aside_step", e->k->nothing, 6, args);
}

static void call_to_turn(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    LLVMValueRef whole, list = list_of(e, x, &whole);
    LLVMValueRef args[6] = {e->frame.machine, list, rvm__build_int(e->k, count_of(e, x)), k, whole, next};
    rvm__call_runtime(e, "rvm__native_aside_turn", e->k->nothing, 6, args);
}

/* ---- standalone ---- */

enum { PARTS = RVM__PARTS, HELD = 0, SUM = 1, PART = 2, VALUES = PART + PARTS }; /* of an element, in planes of all */

/* A loop over the elements for each, which LLVM makes vectors of: with few planes it can tell that they are apart. */
enum what { SETS_ASIDE, OPENS, CLOSES, SAVES, CLEARS, ADDS_GROUP, ADDS_CHUNK, LEAVES };

typedef struct passing {
    const rvm__summed *s;
    enum what what;
    LLVMValueRef memory, all, part; /* all: elements; part: the plane of an instance, NULL where those are not kept apart */
} passing;

/* How many values are kept of an element. */
static LLVMValueRef values_of(rvm__emit *e, LLVMValueRef k) {
    return rvm__build_int(e->k, k ? VALUES : 1);
}

/* In plane n, of the element that stands at `of` in the first. */
static LLVMValueRef value_at(rvm__emit *e, const passing *p, LLVMValueRef of, LLVMValueRef n) {
    LLVMValueRef way = LLVMBuildNSWMul(e->k->b, n, p->all, "");
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i64, of, &way, 1, "");
}

static LLVMValueRef value_in(rvm__emit *e, const passing *p, LLVMValueRef of, unsigned n) {
    return value_at(e, p, of, rvm__build_int(e->k, n));
}

static void add_to(rvm__emit *e, rvm_type type, LLVMValueRef to, LLVMValueRef v) {
    LLVMValueRef was = rvm__get(e, rvm__build_type(e->k, type), to);
    rvm__put_at(e, rvm__build_update(e->k, RVM_OP_add, type, was, v, NULL), to);
}

/* The sum of its group. */
static LLVMValueRef tree_of(rvm__emit *e, const passing *p, LLVMValueRef of) {
    const rvm_type type = (rvm_type)p->s->type;
    LLVMTypeRef t = rvm__build_type(e->k, type);
    LLVMValueRef v[PARTS];
    for (unsigned j = 0; j < PARTS; j++) v[j] = rvm__get(e, t, value_in(e, p, of, PART + j));
    for (unsigned n = PARTS / 2; n > 0; n /= 2)
        for (unsigned j = 0; j < n; j++) v[j] = rvm__build_update(e->k, RVM_OP_add, type, v[j], v[j + n], NULL);
    return v[0];
}

static void pass_element(rvm__emit *e, const passing *p, LLVMValueRef at, LLVMValueRef number) {
    rvm__build *k = e->k;
    const rvm_type type = (rvm_type)p->s->type;
    LLVMTypeRef t = rvm__build_type(k, type);
    LLVMValueRef of = LLVMBuildInBoundsGEP2(k->b, k->i64, p->memory, &number, 1, "");
    LLVMValueRef nothing = LLVMConstReal(t, -0.0), held = value_in(e, p, of, HELD);
    LLVMValueRef sum = p->part ? value_in(e, p, of, SUM) : at;
    switch (p->what) {
    case SETS_ASIDE:
        rvm__put_at(e, rvm__get(e, t, at), held);
        rvm__put_at(e, nothing, at);
        for (unsigned j = SUM; p->part && j < VALUES; j++) rvm__put_at(e, nothing, value_in(e, p, of, j));
        break;
    case OPENS:
        rvm__put_at(e, rvm__get(e, t, at), value_in(e, p, of, SUM));
        rvm__put_at(e, nothing, at);
        for (unsigned j = PART; j < VALUES; j++) rvm__put_at(e, nothing, value_in(e, p, of, j));
        break;
    case CLOSES: rvm__put_at(e, rvm__get(e, t, value_in(e, p, of, SUM)), at); break;
    case SAVES:
        rvm__put_at(e, rvm__get(e, t, at), value_at(e, p, of, p->part));
        rvm__put_at(e, nothing, at);
        break;
    case CLEARS: rvm__put_at(e, nothing, value_at(e, p, of, p->part)); break;
    case ADDS_GROUP: add_to(e, type, sum, tree_of(e, p, of)); break;
    case ADDS_CHUNK:
        add_to(e, type, held, rvm__get(e, t, sum));
        rvm__put_at(e, nothing, sum);
        break;
    case LEAVES: add_to(e, type, held, rvm__get(e, t, sum)); rvm__put_at(e, rvm__get(e, t, held), at);
    }
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

static void pass_array(rvm__emit *e, passing p, enum what what) {
    p.what = what;
    pass_part(e, &p, 0, rvm__get(e, e->k->ptr, e->frame.array[p.s->array].data), rvm__build_int(e->k, 0));
}

/* Upward the last group may lack instances, whose planes are of the group before; downward the first, whose planes are
 * clear. */
static void clear_behind(rvm__emit *e, const rvm__xinsn *x, passing p) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef next = LLVMBuildNUWAdd(b, p.part, rvm__build_int(e->k, 1), "");
    if (!rvm__is_ascending(e, x)) return;
    const rvm__each l = rvm__each_begin(e, LLVMBuildSub(b, rvm__build_int(e->k, VALUES), next, ""));
    p.part = LLVMBuildNUWAdd(b, next, l.i, "");
    pass_array(e, p, CLEARS);
    rvm__each_end(e, &l);
}

/* k: the instance that ran, where they are kept apart. */
static void pass_steps(rvm__emit *e, const rvm__xinsn *x, passing p, enum rvm__aside_step step, LLVMValueRef k) {
    const bool begins = step == RVM__ASIDE_BEGIN, ends = step == RVM__ASIDE_END, saves = step == RVM__ASIDE_SAVE;
    LLVMValueRef number = k ? LLVMBuildAnd(e->k->b, k, rvm__build_int(e->k, PARTS - 1), "") : NULL;
    p.part = k ? LLVMBuildNUWAdd(e->k->b, number, rvm__build_int(e->k, PART), "") : NULL;
    if (begins) pass_array(e, p, SETS_ASIDE);
    if (k && !begins) pass_array(e, p, SAVES);
    if (k && ends) clear_behind(e, x, p);
    if (k && !begins && !saves) pass_array(e, p, ADDS_GROUP);
    if (step == RVM__ASIDE_CHUNK || ends) pass_array(e, p, ends ? LEAVES : ADDS_CHUNK);
}

static LLVMValueRef memory_at(rvm__emit *e, const rvm__xinsn *x, uint32_t n) {
    return rvm__member(e, memory_of(e, x, sizeof(void *)), n * sizeof(void *));
}

static passing passing_of(rvm__emit *e, const rvm__xinsn *x, uint32_t n) {
    const rvm__summed *s = &summed_of(e, x, n)->of;
    return (passing){.s = s, .memory = rvm__get(e, e->k->ptr, memory_at(e, x, n)), .all = rvm__elements(e, s->array)};
}

/* values: as many are to be kept of each element. */
static void take_memory(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef values) {
    for (uint32_t n = 0; n < x->to.c; n++) {
        LLVMValueRef all = LLVMBuildMul(e->k->b, rvm__elements(e, summed_of(e, x, n)->of.array), values, "");
        rvm__put_at(e, rvm__standalone_memory(e, all), memory_at(e, x, n));
    }
}

static void free_memory(rvm__emit *e, const rvm__xinsn *x) {
    for (uint32_t n = 0; n < x->to.c; n++) {
        LLVMValueRef place = memory_at(e, x, n), memory = rvm__get(e, e->k->ptr, place);
        rvm__call_runtime(e, "free", e->k->nothing, 1, &memory);
        rvm__put_at(e, LLVMConstNull(e->k->ptr), place);
    }
}

static void pass_itself(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step, LLVMValueRef k) {
    for (uint32_t n = 0; n < x->to.c; n++) pass_steps(e, x, passing_of(e, x, n), step, k);
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

static void pass_by_one(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step, LLVMValueRef memory, LLVMValueRef k) {
    for (uint32_t n = 0; n < x->to.c; n++) {
        const rvm__summed *s = &summed_of(e, x, n)->of;
        if (is_shared(e, s->array)) continue;
        const passing p = {.s = s, .memory = memory, .all = rvm__elements(e, s->array)};
        LLVMValueRef all = LLVMBuildMul(e->k->b, p.all, values_of(e, k), "");
        pass_steps(e, x, p, step, k);
        memory = LLVMBuildInBoundsGEP2(e->k->b, e->k->i64, memory, &all, 1, "");
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

/* What is kept of the arrays stands one behind the other, as a local array. k: NULL where several threads run instances of
 * the block, and keep them apart. */
static void pass_in_instance(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step, LLVMValueRef k) {
    LLVMValueRef at = memory_of(e, x, sizeof(void *)), values = values_of(e, k);
    LLVMValueRef n = LLVMBuildMul(e->k->b, elements_of_all(e, x), values, "");
    LLVMValueRef args[3] = {e->frame.machine, n, rvm__build_int(e->k, 0)};
    if (step == RVM__ASIDE_BEGIN) {
        LLVMValueRef p = rvm__call_runtime(e, "rvm__native_new", e->k->ptr, 3, args);
        rvm__exit_if(e, LLVMBuildIsNull(e->k->b, p, ""));
        rvm__put_at(e, rvm__member(e, p, RVM__ARRAY_HEADER), at);
    }
    LLVMValueRef memory = rvm__get(e, e->k->ptr, at);
    if (k || !e->nested || !pass_by_all(e, x, step, memory)) pass_by_one(e, x, step, memory, k);
    if (step == RVM__ASIDE_END) rvm__call_runtime(e, "rvm__native_del", e->k->nothing, 2, args);
}

typedef struct dimension {
    LLVMValueRef stride, last;
} dimension;

static void order(rvm__emit *e, dimension *a, dimension *b) {
    LLVMBuilderRef at = e->k->b;
    const dimension was = *a;
    LLVMValueRef less = LLVMBuildICmp(at, LLVMIntULT, a->stride, b->stride, "");
    a->stride = LLVMBuildSelect(at, less, b->stride, a->stride, "");
    a->last = LLVMBuildSelect(at, less, b->last, a->last, "");
    b->stride = LLVMBuildSelect(at, less, was.stride, b->stride, "");
    b->last = LLVMBuildSelect(at, less, was.last, b->last, "");
}

/* Of an array without elements: where none stands. */
static void write_range(rvm__emit *e, const rvm__summed *s, LLVMValueRef to) {
    LLVMBuilderRef b = e->k->b;
    const int ndim = e->f->arrays[s->array].ndim;
    LLVMValueRef none = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1), from, empty = LLVMConstNull(e->k->i1);
    LLVMValueRef at = LLVMBuildPtrToInt(b, rvm__get(e, e->k->ptr, e->frame.array[s->array].data), e->k->i64, "");
    dimension all[RVM_MAX_DIMS];
    for (int d = 0; d < ndim; d++) {
        LLVMValueRef n = range_of(e, s, d, &from);
        all[d] = (dimension){rvm__stride(e, s->array, d), LLVMBuildSub(b, n, one, "")};
        at = LLVMBuildAdd(b, at, LLVMBuildMul(b, from, all[d].stride, ""), "");
        empty = LLVMBuildOr(b, empty, LLVMBuildICmp(b, LLVMIntEQ, n, none, ""), "");
    }
    for (int d = 0; d < ndim; d++)
        for (int c = d + 1; c < ndim; c++) order(e, &all[d], &all[c]);
    rvm__put_at(e, LLVMBuildSelect(b, empty, one, at, ""), to);
    rvm__put_at(e, rvm__build_int(e->k, ndim), rvm__member(e, to, 8));
    for (int d = 0; d < ndim; d++) {
        rvm__put_at(e, all[d].stride, rvm__member(e, to, 16 + 16 * (size_t)d));
        rvm__put_at(e, all[d].last, rvm__member(e, to, 24 + 16 * (size_t)d));
    }
}

LLVMValueRef rvm__aside_ranges(rvm__emit *e, const rvm__xinsn *x) {
    enum { WORDS = 2 + 2 * RVM_MAX_DIMS };
    const uint32_t all = e->k->fast ? 0 : x->to.c;
    LLVMValueRef list = rvm__local(e, LLVMArrayType2(e->k->i64, 1 + WORDS * (uint64_t)all), "ranges");
    size_t n = 0;
    for (uint32_t k = 0; k < all; k++)
        if (!is_shared(e, summed_of(e, x, k)->of.array))
            write_range(e, &summed_of(e, x, k)->of, rvm__member(e, list, 8 + 8 * WORDS * n++));
    rvm__put_at(e, rvm__build_int(e->k, (int64_t)n), list);
    return list;
}

/* ---- where the block is ---- */

void rvm__aside_room(rvm__emit *e, const rvm__xinsn *x) {
    if (!x->to.c || e->u->w->standalone || e->vectorised) return;
    LLVMValueRef args[3] = {e->frame.machine, write_all(e, x), rvm__build_int(e->k, count_of(e, x))};
    LLVMValueRef good = rvm__call_runtime(e, "rvm__native_aside_room", e->k->i1, 3, args);
    rvm__exit_if(e, LLVMBuildNot(e->k->b, good, ""));
}

/* Whether the machine keeps what is set aside. */
static bool is_in_machine(const rvm__emit *e) {
    return !e->vectorised && !e->u->w->standalone;
}

/* Whether single instances have sums of their own. */
static bool keeps_apart(const rvm__emit *e, const rvm__xinsn *x) {
    return count_of(e, x) && !e->k->fast;
}

static LLVMValueRef number_of(rvm__emit *e, const rvm__xinsn *x) {
    return LLVMBuildSub(e->k->b, rvm__slot_value(e, x->to.i), rvm__slot_value(e, x->to.lo), "");
}

static const rvm_insn *insn_of(const rvm__emit *e, const rvm__xinsn *x) {
    return &e->f->code[x - e->code->x];
}

/* The block's end by which it is entered in this direction. */
static bool goes_in_lanes(rvm__emit *e, const rvm__xinsn *x) {
    const uint32_t here = (uint32_t)(x - e->code->x), other = insn_of(e, x)->target;
    return rvm__goes_in_lanes(e, (e->control.context->dir > 0) == (here < other) ? here : other);
}

/* An i1 of a block that goes in lanes: they are open. */
static LLVMValueRef state_of(rvm__emit *e, const rvm__xinsn *x) {
    const uint32_t pc = rvm__lower_end(e->f, (uint32_t)(x - e->code->x));
    if (!e->block.opened) e->block.opened = rvm__unit_alloc(e->u, e->f->ncode * sizeof *e->block.opened);
    if (!e->block.opened) return LLVMGetUndef(e->k->ptr);
    if (e->block.opened[pc]) return e->block.opened[pc];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
    LLVMValueRef state = e->block.opened[pc] = rvm__local(e, e->k->i1, "open");
    rvm__at(e, e->frame.entry); /* the function may have been entered behind the block's begin */
    rvm__put_at(e, LLVMConstInt(e->k->i1, !e->block.chunk, false), state);
    rvm__at(e, here);
    return state;
}

static void set_state(rvm__emit *e, const rvm__xinsn *x, bool open) {
    rvm__put_at(e, LLVMConstInt(e->k->i1, open, false), state_of(e, x));
}

/* Behind which what follows is done only if that is so; to be ended by rejoin(). */
static LLVMBasicBlockRef only_if(rvm__emit *e, const rvm__xinsn *x, bool open) {
    LLVMBasicBlockRef then = rvm__block(e, "then"), on = rvm__block(e, "on");
    LLVMValueRef is = rvm__get(e, e->k->i1, state_of(e, x));
    LLVMBuildCondBr(e->k->b, is, open ? then : on, open ? on : then);
    rvm__at(e, then);
    return on;
}

static void rejoin(rvm__emit *e, LLVMBasicBlockRef on) {
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}

/* Of a chunk the machine may not know yet, and may have no memory for it. */
static void open_in_machine(rvm__emit *e, const rvm__xinsn *x) {
    LLVMValueRef k = number_of(e, x), whole, list = list_of(e, x, &whole);
    if (!e->block.chunk) {
        call_machine(e, x, RVM__ASIDE_OPEN, k);
        return;
    }
    LLVMValueRef args[4] = {e->frame.machine, list, rvm__build_int(e->k, count_of(e, x)), k};
    LLVMValueRef good = rvm__call_runtime(e, "rvm__native_aside_open", e->k->i1, 4, args);
    rvm__native_site site = rvm__site_here(e);
    site.pc = e->block.chunk + (uint32_t)e->control.context->dir;
    rvm__exit_at(e, LLVMBuildNot(e->k->b, good, ""), site, 0);
}

static void open_all(rvm__emit *e, const rvm__xinsn *x) {
    if (is_in_machine(e))
        open_in_machine(e, x);
    else
        for (uint32_t n = 0; n < x->to.c; n++) pass_array(e, passing_of(e, x, n), OPENS);
}

static void close_all(rvm__emit *e, const rvm__xinsn *x) {
    if (is_in_machine(e))
        call_machine(e, x, RVM__ASIDE_CLOSE, NULL);
    else
        for (uint32_t n = 0; n < x->to.c; n++) pass_array(e, passing_of(e, x, n), CLOSES);
}

void rvm__aside_single(rvm__emit *e, const rvm__xinsn *x, bool anew) {
    if (e->vectorised || !keeps_apart(e, x)) return;
    if (!goes_in_lanes(e, x)) {
        if (anew && is_in_machine(e)) open_all(e, x);
        return;
    }
    LLVMBasicBlockRef on = only_if(e, x, false);
    open_all(e, x);
    set_state(e, x, true);
    rejoin(e, on);
}

void rvm__aside_group(rvm__emit *e, const rvm__xinsn *x) {
    if (e->vectorised || !keeps_apart(e, x)) return;
    LLVMBasicBlockRef on = only_if(e, x, true);
    close_all(e, x);
    set_state(e, x, false);
    rejoin(e, on);
}

/* Each instance of a block that goes in lanes may have been the last of a group that ran as one. */
static LLVMBasicBlockRef only_if_single(rvm__emit *e, const rvm__xinsn *x) {
    return goes_in_lanes(e, x) ? only_if(e, x, true) : NULL;
}

static void turn_by_itself(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    LLVMBuilderRef b = e->k->b;
    LLVMBasicBlockRef same = rvm__block(e, "same"), other = rvm__block(e, "group"), on = rvm__block(e, "on");
    LLVMValueRef crossed = LLVMBuildXor(b, k, next, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, crossed, rvm__build_int(e->k, PARTS), ""), same, other);
    rvm__at(e, same);
    rvm__pass_aside(e, x, RVM__ASIDE_SAVE);
    LLVMBuildBr(b, on);
    rvm__at(e, other);
    rvm__pass_aside(e, x, RVM__ASIDE_GROUP);
    rejoin(e, on);
}

void rvm__aside_next(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    if (!keeps_apart(e, x)) return;
    LLVMBasicBlockRef on = e->vectorised ? NULL : only_if_single(e, x);
    (is_in_machine(e) ? call_to_turn : turn_by_itself)(e, x, k, next);
    if (on) rejoin(e, on);
}

void rvm__aside_next_chunk(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next) {
    if (!x->to.c) return;
    if (is_in_machine(e))
        call_to_turn(e, x, k, next);
    else
        rvm__pass_aside(e, x, RVM__ASIDE_CHUNK);
}

void rvm__aside_begin_chunk(rvm__emit *e, const rvm__xinsn *x) {
    if (keeps_apart(e, x)) write_all(e, x);
}

void rvm__aside_hand(rvm__emit *e, const rvm__xinsn *x) {
    if (!keeps_apart(e, x)) return;
    LLVMValueRef whole, args[3] = {e->frame.machine, list_of(e, x, &whole), rvm__build_int(e->k, count_of(e, x))};
    rvm__call_runtime(e, "rvm__native_aside_hand", e->k->nothing, 3, args);
}

/* Standalone, of a block that goes in lanes: where the chunk or the block ends elements hold the chunk's sum, or are open.
 */
static void end_by_itself(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step) {
    LLVMBasicBlockRef open = rvm__block(e, "open"), shut = rvm__block(e, "shut"), on = rvm__block(e, "on");
    LLVMBuildCondBr(e->k->b, rvm__get(e, e->k->i1, state_of(e, x)), open, shut);
    rvm__at(e, open);
    pass_itself(e, x, step, number_of(e, x));
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, shut);
    pass_itself(e, x, step, NULL);
    rejoin(e, on);
}

static void pass_alone(rvm__emit *e, const rvm__xinsn *x, enum rvm__aside_step step) {
    const bool apart = keeps_apart(e, x), lanes = apart && goes_in_lanes(e, x);
    const bool begins = step == RVM__ASIDE_BEGIN, ends = step == RVM__ASIDE_END;
    LLVMValueRef k = apart ? number_of(e, x) : NULL;
    if (begins) take_memory(e, x, values_of(e, k));
    if (lanes && begins) set_state(e, x, false);
    if (lanes && (ends || step == RVM__ASIDE_CHUNK))
        end_by_itself(e, x, step);
    else
        pass_itself(e, x, step, lanes && begins ? NULL : k);
    if (ends) free_memory(e, x);
}

void rvm__pass_aside(rvm__emit *e, const rvm__xinsn *x, int step) {
    if (!x->to.c) return;
    if (e->vectorised)
        pass_in_instance(e, x, (enum rvm__aside_step)step, e->k->fast ? NULL : number_of(e, x));
    else if (!is_in_machine(e))
        pass_alone(e, x, (enum rvm__aside_step)step);
    else {
        call_machine(e, x, (enum rvm__aside_step)step, NULL);
        if (step == RVM__ASIDE_BEGIN && keeps_apart(e, x) && goes_in_lanes(e, x)) set_state(e, x, false);
    }
}

void rvm__pass_aside_by_chunks(rvm__emit *e, const rvm__xinsn *x, int step) {
    if (x->to.c) pass_in_instance(e, x, (enum rvm__aside_step)step, NULL);
}
