/* array.c: local arrays and views, as vm/interp/arrays.c has them. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"
#include "program.h"

typedef struct site {
    const rvm_place *places;
    uint32_t nplaces;
    const rvm_array_decl *decl;
    uint16_t array;
    bool like;
} site;

static site site_of(const rvm__emit *e, const rvm_insn *in) {
    site s = {rvm__places(e->f, in), in->nplaces, NULL, 0, rvm__pair_of(in->op) == RVM_PAIR_like};
    s.array = s.places[0].slot;
    s.decl = &e->f->arrays[s.array];
    return s;
}

static LLVMValueRef length(rvm__emit *e, const site *s, int d) {
    return s->like ? rvm__dimension(e, s->places[1].slot, d) : rvm__slot_value(e, s->places[1 + d].slot);
}

static LLVMValueRef value(rvm__emit *e, const site *s) {
    if (s->like) return LLVMConstNull(rvm__build_type(e->k, (rvm_type)s->decl->type));
    const rvm__operand o = rvm__operand_of(e, &s->places[s->nplaces - 1], UINT32_MAX);
    return rvm__load(e, &o);
}

static LLVMValueRef bits(rvm__emit *e, LLVMValueRef v) {
    return LLVMBuildBitCast(e->k->b, v, e->k->i64, "");
}

/* A side exit for negative lengths and those whose product is beyond an address. */
static LLVMValueRef count(rvm__emit *e, const site *s, LLVMValueRef *dim) {
    rvm__build *k = e->k;
    LLVMValueRef n = rvm__build_int(k, 1), most = rvm__build_int(k, INT64_C(1) << 56);
    for (int d = 0; d < s->decl->ndim; d++) {
        dim[d] = length(e, s, d);
        if (s->like) continue;
        LLVMValueRef limit = s->decl->ndim > 1 ? rvm__build_int(k, INT64_C(1) << 28) : most;
        rvm__exit_if(e, LLVMBuildICmp(k->b, LLVMIntUGE, dim[d], limit, ""));
    }
    for (int d = 0; d < s->decl->ndim; d++) {
        n = LLVMBuildMul(k->b, n, dim[d], "");
        if (d > 0 && !s->like) rvm__exit_if(e, LLVMBuildICmp(k->b, LLVMIntUGE, n, rvm__build_int(k, INT64_C(1) << 28), ""));
    }
    return n;
}

enum { FEWER = 2 * RVM__LINE };

/* A loop that clears n > 0 elements. */
static void clear_words(rvm__emit *e, LLVMValueRef first, uint64_t n) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b), word = rvm__block(e, "word"), on = rvm__block(e, "cleared");
    LLVMValueRef zero = rvm__build_int(k, 0);
    LLVMBuildBr(k->b, word);
    rvm__at(e, word);
    LLVMValueRef at = LLVMBuildPhi(k->b, k->i64, "");
    rvm__put_at(e, zero, LLVMBuildInBoundsGEP2(k->b, k->i64, first, &at, 1, ""));
    LLVMValueRef next = LLVMBuildAdd(k->b, at, rvm__build_int(k, 1), "");
    LLVMAddIncoming(at, &zero, &before, 1);
    LLVMAddIncoming(at, &next, &word, 1);
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntULT, next, rvm__build_int(k, (int64_t)n), ""), word, on);
    rvm__at(e, on);
}

/* The first so many bytes of its elements. */
static void clear(rvm__emit *e, const rvm__array_ir *a, uint64_t bytes) {
    LLVMValueRef first = rvm__member(e, a->memory, RVM__ARRAY_HEADER), n = rvm__build_int(e->k, (int64_t)bytes);
    if (e->k->target->words && bytes)
        clear_words(e, first, bytes / sizeof(rvm_value));
    else
        LLVMBuildMemSet(e->k->b, first, LLVMConstInt(e->k->i8, 0, false), n, RVM__ARRAY_HEADER);
}

/* An alloca of n elements, or more: where there are but a few, no others. */
static void clear_few(rvm__emit *e, const rvm__array_ir *a, LLVMValueRef n) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef less = rvm__block(e, "less"), more = rvm__block(e, "more"), on = rvm__block(e, "on");
    LLVMValueRef most = rvm__build_int(k, FEWER / (int64_t)sizeof(rvm_value));
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntULE, n, most, ""), less, more);
    rvm__at(e, less);
    clear(e, a, FEWER);
    LLVMBuildBr(k->b, on);
    rvm__at(e, more);
    clear(e, a, a->bytes - RVM__ARRAY_HEADER);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
}

/* n elements, all v, in an alloca. */
static void fill_alloca(rvm__emit *e, const rvm__array_ir *a, LLVMValueRef n, LLVMValueRef v) {
    const bool zero = LLVMIsConstant(v) && LLVMIsNull(v);
    if (zero && a->bytes - RVM__ARRAY_HEADER > FEWER)
        clear_few(e, a, n);
    else if (zero)
        clear(e, a, a->bytes - RVM__ARRAY_HEADER);
    for (uint64_t at = RVM__ARRAY_HEADER; !zero && at < a->bytes; at += sizeof(rvm_value))
        rvm__put_at(e, v, rvm__member(e, a->memory, at));
}

static LLVMValueRef from_arena(rvm__emit *e, const site *s, LLVMValueRef n, LLVMValueRef v) {
    rvm__build *k = e->k;
    LLVMValueRef args[3] = {e->frame.machine, n, bits(e, v)};
    if (rvm__is_standalone(e)) return rvm__standalone_new(e, s->array, n, args[2]);
    LLVMValueRef p = rvm__call_runtime(e, "rvm__native_new", k->ptr, 3, args);
    rvm__exit_if(e, LLVMBuildIsNull(k->b, p, ""));
    return p;
}

/* here: an i1, whether it stands in its alloca. */
static void note_home(rvm__emit *e, const site *s, LLVMValueRef here) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[s->array];
    LLVMValueRef home = LLVMBuildShl(k->b, e->frame.number, rvm__build_int(k, 17), "");
    home = LLVMBuildOr(k->b, home, rvm__build_int(k, (int64_t)RVM__HOME(0, s->array)), "");
    rvm__put_at(e, LLVMBuildSelect(k->b, here, home, rvm__build_int(k, 0), ""), a->home);
    rvm__put_at(e, here, a->own);
}

/* Where the elements of an array that appears stand, behind a header; a side exit where there is no memory. */
static LLVMValueRef place_of(rvm__emit *e, const site *s, LLVMValueRef n, LLVMValueRef v) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[s->array];
    if (!a->memory) return from_arena(e, s, n, v);
    if (!a->few) {
        note_home(e, s, LLVMConstInt(k->i1, 1, false));
        fill_alloca(e, a, n, v);
        return a->memory;
    }
    LLVMBasicBlockRef here = rvm__block(e, "few"), there = rvm__block(e, "many"), on = rvm__block(e, "on"), from[2];
    LLVMValueRef few = LLVMBuildICmp(k->b, LLVMIntULE, n, rvm__build_int(k, RVM__FEW), ""), p[2] = {a->memory};
    LLVMBuildCondBr(k->b, few, here, there);
    rvm__at(e, here);
    fill_alloca(e, a, n, v);
    from[0] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, there);
    p[1] = from_arena(e, s, n, v);
    from[1] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    LLVMValueRef phi = LLVMBuildPhi(k->b, k->ptr, "");
    LLVMAddIncoming(phi, p, from, 2);
    note_home(e, s, few);
    return phi;
}

/* Whether the trail discards it wherever it is dropped for good. */
static bool is_erased(const rvm__emit *e, uint16_t array) {
    for (uint32_t pc = 0; pc < e->f->ncode && e->dir > 0; pc++)
        if (rvm__erases_array(e->u->outside, e->fn, pc, array) &&
            !(rvm__discards_at(e, pc) >> e->code->x[pc].trail.level & 1))
            return false;
    return e->dir > 0;
}

/* Whether a device may keep it for as long as it is there: it may be large, and only blocks use it. */
static bool may_live_there(const rvm__emit *e, uint16_t array) {
    const rvm__array_ir *a = &e->frame.array[array];
    if (!e->u->outside || e->vectorised || e->block.chunk || (a->memory && !a->few)) return false;
    return !rvm__outside_array(e->u->outside, e->fn, array, is_erased(e, array));
}

/* n elements appear, all v; NULL: it disappears. */
static void tell_device(rvm__emit *e, uint16_t array, LLVMValueRef n, LLVMValueRef v) {
    if (!may_live_there(e, array)) return;
    LLVMValueRef zero = rvm__build_int(e->k, 0), data = rvm__get(e, e->k->ptr, e->frame.array[array].data);
    LLVMValueRef args[4] = {e->frame.machine, data, n ? n : zero, v ? bits(e, v) : zero};
    rvm__call_runtime(e, "rvm__native_array", e->k->nothing, 4, args);
}

static void appear(rvm__emit *e, const site *s) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[s->array];
    const bool floating = rvm__is_floating((rvm_type)s->decl->type);
    LLVMValueRef dim[RVM_MAX_DIMS], n = count(e, s, dim), v = value(e, s);
    LLVMValueRef p = place_of(e, s, n, v);
    rvm__put_at(e, rvm__member(e, p, RVM__ARRAY_HEADER), a->data);
    if (a->magnitude && floating) rvm__put_at(e, rvm__absolute(e, v), a->header ? a->header : p);
    if (a->magnitude) rvm__put_at(e, floating ? a->header ? a->header : p : LLVMConstNull(k->ptr), a->magnitude);
    LLVMValueRef stride = rvm__build_int(k, sizeof(rvm_value));
    for (int d = s->decl->ndim - 1; d >= 0; d--) {
        rvm__put_at(e, dim[d], a->dim[d]);
        rvm__put_at(e, stride, a->stride[d]);
        stride = LLVMBuildNSWMul(k->b, stride, dim[d], "");
    }
    rvm__put_at(e, rvm__build_int(k, 0), a->offset);
    rvm__put_at(e, LLVMConstInt(k->i16, s->array, false), a->base);
    rvm__put_at(e, LLVMConstInt(k->i8, 1, false), a->present);
    tell_device(e, s->array, n, v);
}

/* As registers. */
void rvm__array_gone(rvm__emit *e, uint16_t array) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[array];
    LLVMValueRef nothing = rvm__nothing(e, k->i64), nowhere = rvm__nothing(e, k->ptr);
    rvm__put_at(e, LLVMConstInt(k->i8, 0, false), a->present);
    rvm__put_at(e, rvm__build_int(k, 0), a->home);
    rvm__put_at(e, LLVMConstInt(k->i1, 0, false), a->own);
    rvm__forget_magnitude(e, array);
    rvm__put_at(e, nowhere, a->data);
    rvm__put_at(e, nothing, a->offset);
    if (a->magnitude) rvm__put_at(e, nowhere, a->magnitude);
    for (int d = 0; d < e->f->arrays[array].ndim; d++) {
        rvm__put_at(e, nothing, a->dim[d]);
        rvm__put_at(e, nothing, a->stride[d]);
    }
}

static void to_arena(rvm__emit *e, uint16_t array) {
    LLVMValueRef args[2] = {e->frame.machine, rvm__elements(e, array)};
    if (rvm__is_standalone(e))
        rvm__standalone_del(e, array);
    else
        rvm__call_runtime(e, "rvm__native_del", e->k->nothing, 2, args);
}

void rvm__drop_array(rvm__emit *e, uint16_t array) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[array];
    tell_device(e, array, NULL, NULL);
    if (a->memory && a->few) {
        LLVMBasicBlockRef there = rvm__block(e, "many"), on = rvm__block(e, "on");
        LLVMBuildCondBr(k->b, rvm__get(e, k->i1, a->own), on, there);
        rvm__at(e, there);
        to_arena(e, array);
        LLVMBuildBr(k->b, on);
        rvm__at(e, on);
    } else if (!a->memory)
        to_arena(e, array);
    rvm__array_gone(e, array);
}

static void disappear(rvm__emit *e, const site *s, const rvm__xinsn *x) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[s->array];
    LLVMValueRef n = rvm__build_int(k, 1);
    for (int d = 0; d < s->decl->ndim; d++) {
        LLVMValueRef is = rvm__dimension(e, s->array, d);
        rvm__exit_if(e, LLVMBuildICmp(k->b, LLVMIntNE, is, length(e, s, d), ""));
        n = LLVMBuildMul(k->b, n, is, "");
    }
    LLVMValueRef v = value(e, s);
    if (!(x->flags & X_UNCHECKED)) {
        rvm__join_magnitude(e, s->array);
        const rvm__released r = {.data = rvm__get(e, k->ptr, a->data),
                                 .n = n,
                                 .v = v,
                                 .held = a->magnitude ? rvm__get(e, k->ptr, a->magnitude) : NULL};
        LLVMValueRef agree = rvm__elements_agree(e, (rvm_type)s->decl->type, &r);
        rvm__exit_if(e, LLVMBuildNot(k->b, agree, ""));
    }
    rvm__drop_array(e, s->array);
}

/* ---- views ---- */

typedef struct part {
    LLVMValueRef data, offset, dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS];
    int ndim;
} part;

/* One dimension: a range keeps it, an index does not. */
static void cut(rvm__emit *e, const rvm_place *q, LLVMValueRef whole, LLVMValueRef *lo, LLVMValueRef *length_kept) {
    LLVMBuilderRef b = e->k->b;
    const bool range = q->kind == RVM_PLACE_RANGE;
    *lo = rvm__slot_value(e, q->slot);
    LLVMValueRef hi = range ? rvm__slot_value(e, q->idx[0]) : NULL;
    if (!e->u->w->trust) {
        if (range) {
            rvm__exit_if(e, LLVMBuildICmp(b, LLVMIntUGT, hi, whole, ""));
            rvm__exit_if(e, LLVMBuildICmp(b, LLVMIntUGT, *lo, hi, ""));
        } else
            rvm__exit_if(e, LLVMBuildICmp(b, LLVMIntUGE, *lo, whole, ""));
    }
    *length_kept = range ? LLVMBuildSub(b, hi, *lo, "") : NULL;
}

static part part_of(rvm__emit *e, const site *s) {
    LLVMBuilderRef b = e->k->b;
    const uint16_t whole = s->places[1].slot;
    part p = {.data = rvm__get(e, e->k->ptr, e->frame.array[whole].data),
              .offset = rvm__get(e, e->k->i64, e->frame.array[whole].offset)};
    for (int d = 0; d < e->f->arrays[whole].ndim; d++) {
        LLVMValueRef lo = NULL, n = rvm__dimension(e, whole, d), stride = rvm__stride(e, whole, d);
        if (2 + (uint32_t)d < s->nplaces) cut(e, &s->places[2 + d], n, &lo, &n);
        if (lo) {
            LLVMValueRef offset = LLVMBuildNSWMul(b, lo, stride, "");
            p.data = LLVMBuildInBoundsGEP2(b, e->k->i8, p.data, &offset, 1, "");
            p.offset = LLVMBuildAdd(b, p.offset, offset, "");
        }
        if (!n) continue;
        p.dim[p.ndim] = n;
        p.stride[p.ndim++] = stride;
    }
    return p;
}

static void view(rvm__emit *e, const site *s) {
    const rvm__array_ir *a = &e->frame.array[s->array], *whole = &e->frame.array[s->places[1].slot];
    const part p = part_of(e, s);
    rvm__put_at(e, p.data, a->data);
    rvm__put_at(e, p.offset, a->offset);
    rvm__put_at(e, rvm__get(e, e->k->i64, whole->home), a->home);
    for (int d = 0; d < p.ndim; d++) {
        rvm__put_at(e, p.dim[d], a->dim[d]);
        rvm__put_at(e, p.stride[d], a->stride[d]);
    }
    if (a->magnitude) rvm__put_at(e, rvm__get(e, e->k->ptr, whole->magnitude), a->magnitude);
    rvm__put_at(e, rvm__get(e, e->k->i16, whole->base), a->base);
    rvm__put_at(e, LLVMConstInt(e->k->i8, 1, false), a->present);
    if (rvm__is_packed(e, e->control.pc)) rvm__pack(e, s->array);
}

static void unview(rvm__emit *e, const site *s) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[s->array];
    rvm__join_magnitude(e, s->array);
    if (rvm__is_packed(e, e->control.pc))
        rvm__unpack(e, s->array);
    else if (!e->u->w->trust) {
        const part p = part_of(e, s);
        rvm__exit_if(e, LLVMBuildICmp(k->b, LLVMIntNE, p.data, rvm__get(e, k->ptr, a->data), ""));
        for (int d = 0; d < p.ndim; d++)
            rvm__exit_if(e, LLVMBuildICmp(k->b, LLVMIntNE, p.dim[d], rvm__get(e, k->i64, a->dim[d]), ""));
    }
    rvm__array_gone(e, s->array);
}

void rvm__emit_array(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const site s = site_of(e, in);
    if (op == RVM_OP_view)
        view(e, &s);
    else if (op == RVM_OP_unview)
        unview(e, &s);
    else if (rvm__is_inverse(op))
        disappear(e, &s, x);
    else
        appear(e, &s);
}
