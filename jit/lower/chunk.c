/* chunk.c: chunks of parallel blocks as functions of their own, which threads call (vm/native/team.c).
 *
 * Where a block is entered its plan says whether it may run so, and what its body uses of the surroundings. The caller
 * writes that down, registers and views of arrays, and passes it as a job; a chunk's function reads it at its start. For
 * LLVM arrays that do not overlap are parameters of it. The same body, walked in the other direction, takes a chunk back.
 *
 * What several instances add into in an array goes into a copy that each chunk has: where elements gain chunk by chunk, with
 * fast math and on i64 everywhere. Of an array
 * that is only read, and has few elements for what there is to do, each helper reads a copy. What instances change for
 * themselves, and discard what going back would need, is saved while a chunk runs. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"
#include "accesses.h"
#include "aside.h"
#include "plan.h"

#include <stddef.h>
#include <stdio.h>

/* Instructions that a block must have to go in chunks: one by one; in lanes, which take less than a quarter of the time; and
 * where chunks keep what they change, before which it would have been done in lanes. Whether helpers are asked then depends
 * on how long it takes (team.c). */
enum { WORTH = 1 << 16, WORTH_IN_LANES = 1 << 20, WORTH_SAVED = 1 << 22 };
enum { MOST_READ = 1 << 16 };   /* elements: they stay in the cache of a core */
enum { MOST_SUMMED = 1 << 21 }; /* elements: 16 MB a chunk */

/* Parameters of a chunk's function behind the fixed ones. */
enum { AT_REGISTERS = RVM__COUNTS_PARAM, AT_VIEWS, AT_FIRST, AT_LAST, AT_SUMS, AT_DATA };

/* ---- the function of a chunk ---- */

static bool is_base(const rvm__plan *p, uint16_t array) {
    return p->base[array] == array;
}

/* Whether nothing that is not part of the array shares its memory. */
static bool is_apart(const rvm__emit *e, uint16_t array) {
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array) return rvm__is_apart(&e->f->params[k], e->apart);
    return true;
}

/* Registers of the surroundings that are added into begin with a magnitude of 0, which whoever runs the block joins. */
static void begin_registers(rvm__emit *e) {
    for (uint32_t k = 0; k < e->block.plan->nregs; k++) {
        const uint16_t r = e->block.plan->regs[k];
        LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)e->f->reg_type[r]);
        LLVMValueRef from = rvm__member(e, LLVMGetParam(e->function, AT_REGISTERS), k * sizeof(rvm_value));
        rvm__put_at(e, rvm__get(e, t, from), e->frame.reg[r]);
    }
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (e->frame.held[k]) rvm__put_at(e, LLVMConstReal(e->k->f64, 0), e->frame.held[k]);
}

static LLVMValueRef view_field(rvm__emit *e, uint32_t at, size_t offset, LLVMTypeRef t) {
    return rvm__get(e, t, rvm__member(e, LLVMGetParam(e->function, AT_VIEWS), at * sizeof(rvm__native_view) + offset));
}

/* Of a part: its base's address, and how far behind it it begins. */
static LLVMValueRef data_of(rvm__emit *e, uint32_t at, const LLVMValueRef *given) {
    const uint16_t array = e->block.plan->arrays[at], base = e->block.plan->base[array];
    if (base == array) return given[array];
    LLVMValueRef from = view_field(e, rvm__plan_index(e->block.plan, base), offsetof(rvm__native_view, data), e->k->i64);
    LLVMValueRef way = LLVMBuildSub(e->k->b, view_field(e, at, offsetof(rvm__native_view, data), e->k->i64), from, "");
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, given[base], &way, 1, "");
}

/* Arrays whose largest magnitude follows what instances do. */
static bool is_marked(const rvm__emit *e, const rvm__plan *p, uint16_t array) {
    return e->frame.array[array].magnitude && rvm__is_floating((rvm_type)e->f->arrays[array].type) &&
           (p->bits[p->base[array]] & RVM__BITS_ACC);
}

/* The address of the chunk's own largest magnitude of the array, behind the sums; NULL where none is kept. */
static LLVMValueRef mark_of(rvm__emit *e, uint16_t array) {
    uint32_t n = e->code->x[e->block.chunk].to.shared;
    if (!is_marked(e, e->block.plan, array)) return LLVMConstNull(e->k->ptr);
    for (uint32_t k = 0; e->block.plan->arrays[k] != array; k++) n += is_marked(e, e->block.plan, e->block.plan->arrays[k]);
    LLVMValueRef mark = rvm__member(e, e->block.sums, n * sizeof(rvm__native_sum) + offsetof(rvm__native_sum, held));
    rvm__put_at(e, LLVMConstReal(e->k->f64, 0), mark);
    return mark;
}

static void begin_array(rvm__emit *e, uint32_t at, const LLVMValueRef *given) {
    const uint16_t array = e->block.plan->arrays[at];
    const rvm__array_ir *a = &e->frame.array[array];
    const int ndim = e->f->arrays[array].ndim;
    LLVMValueRef base = view_field(e, at, offsetof(rvm__native_view, base), e->k->i64);
    rvm__put_at(e, data_of(e, at, given), a->data);
    rvm__put_at(e, LLVMBuildTrunc(e->k->b, base, e->k->i16, ""), a->base);
    rvm__put_at(e, LLVMConstInt(e->k->i8, 1, false), a->present);
    if (a->magnitude) rvm__put_at(e, mark_of(e, array), a->magnitude);
    for (int d = 0; d < ndim; d++) {
        const size_t dim = offsetof(rvm__native_view, dim) + 8 * (size_t)d;
        const size_t stride = offsetof(rvm__native_view, stride) + 8 * (size_t)d;
        rvm__put_at(e, view_field(e, at, dim, e->k->i64), a->dim[d]);
        const bool innermost = d == ndim - 1; /* looked at before */
        rvm__put_at(e, innermost ? rvm__build_int(e->k, 8) : view_field(e, at, stride, e->k->i64), a->stride[d]);
    }
}

void rvm__begin_chunk(rvm__emit *e) {
    LLVMValueRef *given = rvm__unit_alloc(e->u, (e->f->narrays + 1u) * sizeof *given);
    unsigned at = AT_DATA;
    e->block.plan = rvm__plan_of(e, e->block.chunk);
    if (!e->block.plan || !given) return;
    e->block.last = LLVMGetParam(e->function, AT_LAST);
    e->block.sums = LLVMGetParam(e->function, AT_SUMS);
    begin_registers(e);
    for (uint32_t k = 0; k < e->block.plan->narrays; k++)
        if (is_base(e->block.plan, e->block.plan->arrays[k]))
            given[e->block.plan->arrays[k]] = LLVMGetParam(e->function, at++);
    for (uint32_t k = 0; k < e->block.plan->narrays; k++) begin_array(e, k, given);
    rvm__know_lengths(e);
}

void rvm__enter_chunk(rvm__emit *e) {
    const rvm__xinsn *x = &e->code->x[e->block.chunk];
    if (e->u->status) return;
    e->control.pc = e->block.chunk;
    LLVMValueRef first = LLVMGetParam(e->function, AT_FIRST), lo = rvm__slot_value(e, x->to.lo);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(e->k->b, lo, first, ""));
    rvm__begin_sums(e, x);
    rvm__aside_begin_chunk(e, x);
    rvm__to_instance(e, e->block.chunk, RVM__ENTERS);
}

/* ---- the specialisation of it, and what threads call ---- */

static LLVMTypeRef type_of(const rvm__emit *e, const rvm__plan *p) {
    rvm__build *k = e->k;
    LLVMTypeRef *t = rvm__unit_alloc(e->u, (AT_DATA + p->narrays) * sizeof *t);
    unsigned n = 0;
    if (!t) return NULL;
    t[n++] = k->ptr, t[n++] = k->ptr;
    for (int i = 0; i < 3; i++) t[n++] = k->i64;
    t[n++] = k->ptr, t[n++] = k->ptr, t[n++] = k->i64, t[n++] = k->i64, t[n++] = k->ptr;
    for (uint32_t i = 0; i < p->narrays; i++)
        if (is_base(p, p->arrays[i])) t[n++] = k->ptr;
    return LLVMFunctionType(k->i32, t, n, false);
}

static void promise(const rvm__emit *e, const rvm__plan *p, LLVMValueRef f) {
    const int apart[] = {1, AT_REGISTERS, AT_VIEWS, AT_SUMS};
    int n = AT_DATA;
    rvm__attribute(e->k, f, -1, "nounwind", 0);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) rvm__attribute(e->k, f, apart[i], "noalias", 0);
    for (uint32_t i = 0; i < p->narrays; i++) {
        if (!is_base(p, p->arrays[i])) continue;
        if (is_apart(e, p->arrays[i])) rvm__attribute(e->k, f, n, "noalias", 0);
        n++;
    }
}

/* From a job to the parameters of the chunk's function. */
static LLVMValueRef make_entry(rvm__emit *e, const rvm__plan *p, const rvm__specialisation *v) {
    rvm__build *k = e->k;
    LLVMTypeRef t[7] = {k->ptr, k->ptr, k->ptr, k->i64, k->i64, k->ptr, k->ptr};
    LLVMValueRef *args = rvm__unit_alloc(e->u, (AT_DATA + p->narrays) * sizeof *args);
    LLVMValueRef f = LLVMAddFunction(k->module, "chunk", LLVMFunctionType(k->i32, t, 7, false));
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(k->b);
    if (!args) return f;
    LLVMSetLinkage(f, LLVMInternalLinkage);
    rvm__attribute(k, f, -1, "nounwind", 0);
    rvm__at(e, LLVMAppendBasicBlockInContext(k->context, f, "entry"));
    LLVMSetCurrentDebugLocation2(k->b, NULL);
    LLVMValueRef o = LLVMGetParam(f, 2);
#define FIELD(type, name) rvm__get(e, k->type, rvm__member(e, o, offsetof(rvm__native_job, name)))
    LLVMValueRef views = FIELD(ptr, views);
    unsigned n = 0, copies = 0;
    args[n++] = LLVMGetParam(f, 0), args[n++] = LLVMGetParam(f, 1);
    args[n++] = FIELD(i64, slots), args[n++] = FIELD(i64, arrays), args[n++] = FIELD(i64, frame);
    args[n++] = FIELD(ptr, registers), args[n++] = views;
    for (unsigned i = 3; i < 6; i++) args[n++] = LLVMGetParam(f, i);
#undef FIELD
    for (uint32_t i = 0; i < p->narrays; i++) {
        if (!is_base(p, p->arrays[i])) continue;
        LLVMValueRef at = rvm__member(e, views, i * sizeof(rvm__native_view) + offsetof(rvm__native_view, data));
        if (p->bits[p->arrays[i]] & (RVM__COPIED | RVM__SHARED_READ))
            at = rvm__member(e, LLVMGetParam(f, 6), copies++ * sizeof(void *));
        args[n++] = rvm__get(e, k->ptr, at);
    }
    LLVMBuildRet(k->b, LLVMBuildCall2(k->b, v->type, v->function, args, n, ""));
    rvm__at(e, here);
    LLVMSetCurrentDebugLocation2(k->b, line);
    return f;
}

/* What threads call for the block entered at pc in that direction; NULL: noted. */
static LLVMValueRef entry_of(rvm__emit *e, const rvm__plan *p, uint32_t pc, int dir) {
    rvm__unit *u = e->u;
    rvm__specialisation *v = rvm__find_specialisation(u, (rvm__specialisation){.fn = e->fn,
                                                                               .dir = dir,
                                                                               .apart = e->apart,
                                                                               .whole = p->undone,
                                                                               .discards = e->discards,
                                                                               .block = pc,
                                                                               .fresh = e->fresh && dir > 0});
    char name[256];
    if (!v || v->entry || !(v->type = type_of(e, p))) return v ? v->entry : NULL;
    snprintf(name, sizeof name, "%s.block.%u.%s", e->f->name, (unsigned)p->par, dir < 0 ? "backward" : "forward");
    v->function = LLVMAddFunction(e->k->module, name, v->type);
    LLVMSetLinkage(v->function, LLVMInternalLinkage);
    promise(e, p, v->function);
    v->entry = make_entry(e, p, v);
    v->later = u->work;
    u->work = v;
    return v->entry;
}

/* ---- where the block is entered: whether, now ---- */

static LLVMValueRef both(rvm__emit *e, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildAnd(e->k->b, a, b, "");
}

static LLVMValueRef is_equal(rvm__emit *e, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(e->k->b, LLVMIntEQ, a, b, "");
}

/* Whether the array's *n elements have no gaps between them. */
static LLVMValueRef is_dense(rvm__emit *e, uint16_t array, LLVMValueRef *n) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef gap = rvm__build_int(e->k, 8), good = LLVMConstInt(e->k->i1, 1, false);
    *n = rvm__build_int(e->k, 1);
    for (int d = e->f->arrays[array].ndim - 1; d >= 0; d--) {
        good = both(e, good, is_equal(e, rvm__stride(e, array, d), gap));
        gap = LLVMBuildMul(b, gap, rvm__dimension(e, array, d), "");
        *n = LLVMBuildMul(b, *n, rvm__dimension(e, array, d), "");
    }
    return good;
}

/* Elements of arrays that threads copy: that gain chunk by chunk anyway, and others; of one instance, that chunks save; or
 * NULL. */
typedef struct copied {
    LLVMValueRef summed, others, saved;
} copied;

/* An array whose innermost elements are neighbours; which is copied: without gaps, adding to *elements. */
static LLVMValueRef is_simple(rvm__emit *e, const rvm__plan *p, uint16_t array, copied *elements) {
    if (!(p->bits[array] & RVM__COPIED))
        return is_equal(e, rvm__stride(e, array, e->f->arrays[array].ndim - 1), rvm__build_int(e->k, 8));
    LLVMValueRef n, good = is_dense(e, array, &n),
                    *to = p->bits[array] & RVM__SUMMED ? &elements->summed : &elements->others;
    *to = *to ? LLVMBuildAdd(e->k->b, *to, n, "") : n;
    return good;
}

static LLVMValueRef elements_of_part(rvm__emit *e, const rvm__plan *p, uint16_t array) {
    LLVMValueRef n = rvm__build_int(e->k, 1);
    for (int d = 0; d < e->f->arrays[array].ndim; d++)
        if (rvm__is_within_part(&p->own[array], d)) n = LLVMBuildMul(e->k->b, n, rvm__dimension(e, array, d), "");
    return n;
}

static LLVMValueRef at_most(rvm__emit *e, LLVMValueRef good, LLVMValueRef n, uint64_t most) {
    return n ? both(e, good, LLVMBuildICmp(e->k->b, LLVMIntULE, n, rvm__build_int(e->k, (int64_t)most), "")) : good;
}

static bool saves(const rvm__plan *p) {
    for (uint32_t k = 0; k < p->narrays; k++)
        if (p->bits[p->arrays[k]] & RVM__SAVED) return true;
    return false;
}

/* More instances than this pay in threads. */
static uint64_t least_of(rvm__emit *e, const rvm__plan *p) {
    const uint64_t worth = saves(p) ? WORTH_SAVED : rvm__goes_in_lanes(e, e->control.pc) ? WORTH_IN_LANES : WORTH;
    return worth / p->load > RVM__CHUNK ? worth / p->load : RVM__CHUNK;
}

/* Whether it is known now that the block has too few instances for threads. */
static bool is_short(rvm__emit *e, const rvm__plan *p, const rvm__xinsn *x) {
    int64_t first, behind;
    if (!rvm__fixed_number(e->u, e->fn, x->to.lo, &first) || !rvm__fixed_number(e->u, e->fn, x->to.hi, &behind))
        return false;
    return first >= behind || (uint64_t)behind - (uint64_t)first <= least_of(e, p);
}

/* In threads: copies may cost what a sixteenth of a chunk's work does; of what gains chunk by chunk, memory. */
static LLVMValueRef pays(rvm__emit *e, const rvm__plan *p, LLVMValueRef count, const copied *elements) {
    rvm__build *k = e->k;
    const uint64_t least = least_of(e, p);
    LLVMValueRef good = LLVMBuildICmp(k->b, LLVMIntUGT, count, rvm__build_int(k, (int64_t)least), "");
    good = at_most(e, good, elements->others, p->work * (RVM__CHUNK / 16));
    good = at_most(e, good, elements->saved, p->work < MOST_SUMMED / RVM__CHUNK ? p->work : MOST_SUMMED / RVM__CHUNK);
    return at_most(e, good, elements->summed, MOST_SUMMED);
}

/* As a kernel: there are as many instructions as are asked for; or it pays in threads. */
static LLVMValueRef pays_elsewhere(rvm__emit *e, const rvm__plan *p, LLVMValueRef count, LLVMValueRef in_threads) {
    rvm__build *k = e->k;
    LLVMValueRef least = rvm__get(e, k->i64, rvm__member(e, e->frame.native, offsetof(rvm__native, least)));
    LLVMValueRef instances = LLVMBuildUDiv(k->b, least, rvm__build_int(k, (int64_t)p->work), "");
    LLVMValueRef pays = LLVMBuildICmp(k->b, LLVMIntUGE, count, instances, "");
    return in_threads ? LLVMBuildOr(k->b, pays, in_threads, "") : pays;
}

/* Whether whoever runs the job can. */
static LLVMValueRef may_run(rvm__emit *e, const rvm__plan *p, copied *elements) {
    rvm__build *k = e->k;
    LLVMValueRef threads = rvm__get(e, k->i64, rvm__member(e, e->frame.native, offsetof(rvm__native, threads)));
    LLVMValueRef good = LLVMBuildICmp(k->b, LLVMIntNE, threads, rvm__build_int(k, 0), "");
    *elements = (copied){NULL, NULL, NULL};
    for (uint32_t n = 0; n < p->narrays; n++) {
        good = both(e, good, is_simple(e, p, p->arrays[n], elements));
        if (!(p->bits[p->arrays[n]] & RVM__SAVED)) continue;
        LLVMValueRef one = elements_of_part(e, p, p->arrays[n]);
        elements->saved = elements->saved ? LLVMBuildAdd(k->b, elements->saved, one, "") : one;
    }
    return good;
}

/* ---- the job ---- */

static LLVMValueRef list(rvm__emit *e, size_t n, size_t size, const char *name) {
    LLVMValueRef a = rvm__local(e, LLVMArrayType2(e->k->i64, (n + !n) * size / 8), name);
    LLVMSetAlignment(a, 16);
    return a;
}

static LLVMValueRef write_registers(rvm__emit *e, const rvm__plan *p) {
    LLVMValueRef to = list(e, p->nregs, sizeof(rvm_value), "registers");
    for (uint32_t k = 0; k < p->nregs; k++) {
        LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)e->f->reg_type[p->regs[k]]);
        rvm__put_at(e, rvm__get(e, t, e->frame.reg[p->regs[k]]), rvm__member(e, to, k * sizeof(rvm_value)));
    }
    return to;
}

static LLVMValueRef write_views(rvm__emit *e, const rvm__plan *p) {
    LLVMValueRef to = list(e, p->narrays, sizeof(rvm__native_view), "views");
    for (uint32_t k = 0; k < p->narrays; k++) {
        const uint16_t array = p->arrays[k];
        const rvm__array_ir *a = &e->frame.array[array];
        LLVMValueRef view = rvm__member(e, to, k * sizeof(rvm__native_view));
        LLVMValueRef base = LLVMBuildZExt(e->k->b, rvm__get(e, e->k->i16, a->base), e->k->i64, "");
        rvm__put_at(e, rvm__get(e, e->k->ptr, a->data), rvm__member(e, view, offsetof(rvm__native_view, data)));
        rvm__put_at(e, base, rvm__member(e, view, offsetof(rvm__native_view, base)));
        for (int d = 0; d < e->f->arrays[array].ndim; d++) {
            const size_t dim = offsetof(rvm__native_view, dim) + 8 * (size_t)d;
            const size_t stride = offsetof(rvm__native_view, stride) + 8 * (size_t)d;
            rvm__put_at(e, rvm__dimension(e, array, d), rvm__member(e, view, dim));
            rvm__put_at(e, rvm__stride(e, array, d), rvm__member(e, view, stride));
        }
    }
    return to;
}

static LLVMValueRef write_copies(rvm__emit *e, const rvm__plan *p, uint64_t *n) {
    LLVMValueRef to = list(e, p->narrays, sizeof(rvm__native_copy), "copies");
    *n = 0;
    for (uint32_t k = 0; k < p->narrays; k++) {
        const uint16_t array = p->arrays[k];
        if (!(p->bits[array] & (RVM__COPIED | RVM__SHARED_READ))) continue;
        LLVMValueRef copy = rvm__member(e, to, (*n)++ * sizeof(rvm__native_copy)), elements;
        LLVMValueRef good = is_dense(e, array, &elements);
        if (p->bits[array] & RVM__SHARED_READ) {
            const uint64_t most = p->work * (RVM__CHUNK / 64);
            LLVMValueRef limit = rvm__build_int(e->k, (int64_t)(most < MOST_READ ? most : MOST_READ));
            good = both(e, good, LLVMBuildICmp(e->k->b, LLVMIntULE, elements, limit, ""));
            elements = LLVMBuildSelect(e->k->b, good, elements, rvm__build_int(e->k, 0), "");
        }
        LLVMValueRef read = rvm__build_int(e->k, (p->bits[array] & RVM__SHARED_READ) != 0);
        rvm__put_at(e, read, rvm__member(e, copy, offsetof(rvm__native_copy, read)));
        rvm__put_at(e, rvm__get(e, e->k->ptr, e->frame.array[array].data),
                    rvm__member(e, copy, offsetof(rvm__native_copy, to)));
        rvm__put_at(e, elements, rvm__member(e, copy, offsetof(rvm__native_copy, n)));
        LLVMValueRef held =
            is_marked(e, p, array) ? rvm__get(e, e->k->ptr, e->frame.array[array].magnitude) : LLVMConstNull(e->k->ptr);
        rvm__put_at(e, held, rvm__member(e, copy, offsetof(rvm__native_copy, held)));
        LLVMValueRef type = rvm__build_int(e->k, e->f->arrays[array].type);
        rvm__put_at(e, type, rvm__member(e, copy, offsetof(rvm__native_copy, type)));
    }
    return to;
}

static LLVMValueRef write_saves(rvm__emit *e, const rvm__plan *p, uint64_t *n) {
    LLVMValueRef to = list(e, p->narrays, sizeof(rvm__native_save), "saves");
    *n = 0;
    for (uint32_t k = 0; k < p->narrays; k++) {
        const rvm__first_block *own = &p->own[p->arrays[k]];
        if (!(p->bits[p->arrays[k]] & RVM__SAVED)) continue;
        LLVMValueRef save = rvm__member(e, to, (*n)++ * sizeof(rvm__native_save));
        const int64_t is[4] = {k, e->f->arrays[p->arrays[k]].ndim, own->dimension, own->within};
        const size_t at[4] = {offsetof(rvm__native_save, view), offsetof(rvm__native_save, ndim),
                              offsetof(rvm__native_save, dimension), offsetof(rvm__native_save, within)};
        for (int i = 0; i < 4; i++) rvm__put_at(e, rvm__build_int(e->k, is[i]), rvm__member(e, save, at[i]));
    }
    return to;
}

static LLVMValueRef write_marks(rvm__emit *e, const rvm__plan *p, uint64_t *n) {
    LLVMValueRef to = list(e, p->narrays, sizeof(double *), "marks");
    *n = 0;
    for (uint32_t k = 0; k < p->narrays; k++) {
        if (!is_marked(e, p, p->arrays[k])) continue;
        LLVMValueRef mark = rvm__get(e, e->k->ptr, e->frame.array[p->arrays[k]].magnitude);
        rvm__put_at(e, mark, rvm__member(e, to, (*n)++ * sizeof(double *)));
    }
    return to;
}

/* What stood in the register before the block, in the first of its hidden slots, and what it has held. */
static void pass_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef list_of_sums, bool back) {
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)x->to.jump2 + k];
        LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)s->type);
        LLVMValueRef sum = rvm__member(e, list_of_sums, k * sizeof(rvm__native_sum));
        LLVMValueRef value = rvm__member(e, sum, offsetof(rvm__native_sum, value));
        LLVMValueRef held = rvm__member(e, sum, offsetof(rvm__native_sum, held));
        LLVMValueRef before = e->frame.reg[x->to.hidden + RVM__SUMS * k], largest = e->frame.held[s->slot];
        rvm__put_at(e, rvm__get(e, t, back ? value : before), back ? before : value);
        if (largest) rvm__put_at(e, rvm__get(e, e->k->f64, back ? held : largest), back ? largest : held);
        if (back) continue;
        if (!largest) rvm__put_at(e, LLVMConstReal(e->k->f64, 0), held);
        rvm__put_at(e, rvm__build_int(e->k, s->type), rvm__member(e, sum, offsetof(rvm__native_sum, type)));
    }
}

/* Who may run it, and how that is asked for. */
typedef struct ways {
    bool threads;
    LLVMValueRef pays; /* in threads, now */
    const rvm__block_kernel *kernel;
    LLVMValueRef params; /* of it */
} ways;

/* The job; NULL: noted. */
static LLVMValueRef write_job(rvm__emit *e, const rvm__plan *p, const rvm_insn *in, const rvm__xinsn *x, LLVMValueRef count,
                              LLVMValueRef sums, const ways *w) {
    rvm__build *k = e->k;
    const int dir = e->control.context->dir;
    LLVMValueRef none = LLVMConstNull(k->ptr), back = none;
    LLVMValueRef there = w->threads ? entry_of(e, p, e->control.pc, dir) : none;
    LLVMValueRef job = list(e, 1, sizeof(rvm__native_job), "job");
    uint64_t ncopies, nmarks, nsaves;
    if (w->threads && p->undone) back = entry_of(e, p, in->target, -dir);
    if (!there || !back) return NULL;
#define PUT(name, value) rvm__put_at(e, value, rvm__member(e, job, offsetof(rvm__native_job, name)))
    PUT(there, LLVMBuildSelect(k->b, w->pays, there, none, ""));
    PUT(back, back);
    PUT(kernel, w->kernel ? w->kernel->record : none);
    PUT(params, w->kernel ? w->params : none);
    PUT(need, rvm__need_constant(e->u, e->fn));
    PUT(slots, e->frame.first_slot);
    PUT(arrays, e->frame.first_array);
    PUT(frame, e->frame.number);
    PUT(fn, rvm__build_int(k, rvm__known_as(e->u, e->fn)));
    PUT(pc, rvm__build_int(k, e->control.pc));
    PUT(ascending, rvm__build_int(k, rvm__is_ascending(e, x)));
    PUT(lo, rvm__slot_value(e, x->to.lo));
    PUT(count, count);
    PUT(checked, rvm__build_int(k, !(x->flags & X_UNCHECKED)));
    PUT(within, rvm__build_int(k, e->u->outside && rvm__inside_block(e->u->outside, e->fn, p->par)));
    PUT(nsums, rvm__build_int(k, x->to.shared));
    PUT(sums, sums);
    PUT(copies, write_copies(e, p, &ncopies));
    PUT(ncopies, rvm__build_int(k, (int64_t)ncopies));
    PUT(saves, write_saves(e, p, &nsaves));
    PUT(nsaves, rvm__build_int(k, (int64_t)nsaves));
    PUT(marks, write_marks(e, p, &nmarks));
    PUT(nmarks, rvm__build_int(k, (int64_t)nmarks));
    PUT(registers, write_registers(e, p));
    PUT(views, write_views(e, p));
#undef PUT
    return job;
}

/* All instances are done, or the rest is done here. */
static void go_on(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, LLVMValueRef done, LLVMValueRef count) {
    LLVMBuilderRef b = e->k->b;
    LLVMBasicBlockRef all = rvm__block(e, "all"), rest = rvm__block(e, "rest");
    LLVMValueRef one = rvm__build_int(e->k, 1), i = rvm__slot_value(e, x->to.i); /* the first one's */
    const bool up = rvm__is_ascending(e, x);
    LLVMBuildCondBr(b, is_equal(e, done, count), all, rest);
    rvm__at(e, all);
    LLVMValueRef last = LLVMBuildSub(b, count, one, "");
    rvm__set_slot(e, x->to.i, up ? LLVMBuildAdd(b, i, last, "") : LLVMBuildSub(b, i, last, ""));
    rvm__leave_sums(e, x);
    rvm__leave_guard(e, x);
    rvm__jump(e, e->control.context, in->target, false);
    rvm__at(e, rest);
    rvm__set_slot(e, x->to.i, up ? LLVMBuildAdd(b, i, done, "") : LLVMBuildSub(b, i, done, ""));
    rvm__guard_instance_at(e, x);
    rvm__pass_aside(e, x, RVM__ASIDE_BEGIN);
    rvm__begin_strips(e, x);
    rvm__to_instance(e, e->control.pc, RVM__RESUMES);
}

static void count(rvm__emit *e, const rvm__plan *p, const char *serial) {
    rvm__build *k = e->k;
    if (!e->u->w->threads) return;
    k->blocks++;
    k->in_threads += !serial;
    if (serial && !k->serial[0]) snprintf(k->serial, sizeof k->serial, "line %u: %s", e->f->positions[p->par].line, serial);
}

/* Where code for a device runs the block itself, what this uses may be there, from blocks before. */
static void bring_home(rvm__emit *e, const rvm__plan *p) {
    rvm__build *k = e->k;
    uint64_t n = 0;
    if (!e->u->w->device || e->block.chunk || e->vectorised) return;
    LLVMValueRef uses = list(e, p->narrays, sizeof(rvm__native_use), "uses");
    for (uint32_t i = 0; i < p->narrays; i++) {
        if (!is_base(p, p->arrays[i])) continue;
        const unsigned bits = p->bits[p->arrays[i]] & RVM__BITS_OWN;
        LLVMValueRef to = rvm__member(e, uses, n++ * sizeof(rvm__native_use));
        rvm__put_at(e, rvm__get(e, k->ptr, e->frame.array[p->arrays[i]].data),
                    rvm__member(e, to, offsetof(rvm__native_use, data)));
        rvm__put_at(e, rvm__build_int(k, bits != RVM__BITS_READ), rvm__member(e, to, offsetof(rvm__native_use, changes)));
    }
    if (!n) return;
    LLVMValueRef args[4] = {e->frame.machine, e->frame.native, uses, rvm__build_int(k, (int64_t)n)};
    rvm__call_runtime(e, "rvm__native_home", k->nothing, 4, args);
}

void rvm__run_chunks(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x) {
    rvm__build *k = e->k;
    const rvm__plan *p = rvm__plan_of(e, e->control.pc);
    if (!p) return;
    const char *serial = p->serial ? p->serial : rvm__why_not_apart(e, p);
    if (!serial && is_short(e, p, x)) serial = "it has few instances";
    ways w = {.threads = e->u->w->threads && !serial};
    count(e, p, serial);
    if (e->u->w->device) w.kernel = rvm__kernel_of(e, p, &w.params);
    if (!w.kernel) bring_home(e, p);
    if (!w.threads && !w.kernel) return;
    LLVMBasicBlockRef threads = rvm__block(e, "threads"), here = rvm__block(e, "here");
    LLVMValueRef count = LLVMBuildSub(k->b, rvm__slot_value(e, x->to.hi), rvm__slot_value(e, x->to.lo), "");
    copied elements;
    LLVMValueRef good = may_run(e, p, &elements), alone = rvm__is_alone(e, e->control.pc);
    if (alone) good = both(e, good, alone);
    w.pays = pays(e, p, count, &elements);
    good = both(e, good, w.kernel ? pays_elsewhere(e, p, count, w.threads ? w.pays : NULL) : w.pays);
    LLVMBuildCondBr(k->b, good, threads, here);
    rvm__at(e, threads);
    LLVMValueRef sums = list(e, x->to.shared, sizeof(rvm__native_sum), "sums");
    LLVMValueRef job = write_job(e, p, in, x, count, sums, &w);
    if (!job) return;
    pass_sums(e, x, sums, false);
    rvm__hand_counts(e);
    LLVMValueRef args[3] = {e->frame.machine, e->frame.native, job};
    LLVMValueRef done = rvm__call_runtime(e, "rvm__native_chunks", k->i64, 3, args);
    rvm__take_counts(e);
    pass_sums(e, x, sums, true);
    go_on(e, in, x, done, count);
    rvm__at(e, here);
    if (w.kernel) bring_home(e, p);
}
