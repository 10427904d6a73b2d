/* kernel_ir.c: a kernel around an instance. Threads take the instances of a launch 32 a warp, warp by warp, then the next
 * ones, till there are none:
 *
 *     for (i = number of the thread; i - lane < n; i += number of threads)
 *         if (i < n) the instance numbered first + i, whose index is lo + first + i
 *     what is counted, together
 *
 * Nested, a CTA takes an instance, its first thread walks it, and what others are to do meanwhile nested.c says:
 *
 *     for (i = number of the CTA; i < n; i += number of CTAs)
 *         do {
 *             if (first thread) the instance, up to a block within or its end
 *             all meet; the block's instances, if it is one
 *         } while (it is)
 *     what is counted, together
 *
 * There i is counted in the order in which instances run, so that each copy gains in that order.
 *
 * Parameters: those of the instance behind its sums that are not known, then those of an rvm__kernel_launch. */
#include "device.h"
#include "native.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    LO,
    FIRST,
    COUNT,
    LIMIT,
    CONTROL,
    TERMS,
    COPIES,
    STRIDE,
    ARENA,
    LOG,
    ADDRESSES,
    ADDITIONS,
    LOCALS,
    NCOPIES,
    EACH,
    ENTRIES,
    WIDTH,
    MET
};
_Static_assert(offsetof(rvm__kernel_launch, met) == 8 * MET && sizeof(rvm__kernel_launch) == 8 * (MET + 1),
               "parameters in the order of the launch");
_Static_assert(offsetof(rvm__kernel_control, charged) == 8 &&
                   offsetof(rvm__kernel_control, erased) == 8 * (1 + RVM__VECTORISED_ERASED),
               "counts in the order of an instance's");

typedef struct wrap {
    const rvm__build *k;
    rvm__device_kernel *x;
    LLVMBuilderRef b;
    LLVMTypeRef types[RVM__MOST_KERNEL_SUMS];
    LLVMValueRef lane, i, active, mask;                                      /* lane, active and mask: i32 */
    LLVMValueRef out, sums[RVM__MOST_KERNEL_SUMS], counts, arena, top, slot; /* the last three: NULL: none */
    LLVMValueRef row, entry, entered, most; /* entries: the instance's; how many it has, this thread; the most; NULL: none */
    unsigned own;                           /* parameters before those of the launch */
} wrap;

static LLVMValueRef number(const wrap *w, int64_t v) {
    return rvm__build_int(w->k, v);
}

static LLVMValueRef launch(const wrap *w, unsigned n) {
    return LLVMGetParam(w->x->kernel, w->own + n);
}

static LLVMValueRef behind(const wrap *w, LLVMValueRef p, LLVMValueRef bytes) {
    return LLVMBuildInBoundsGEP2(w->b, w->k->i8, p, &bytes, 1, "");
}

static LLVMValueRef word_at(const wrap *w, LLVMValueRef p, unsigned n) {
    return behind(w, p, number(w, 8 * (int64_t)n));
}

/* A register of the device; in a grid, a function. */
static LLVMValueRef special(const wrap *w, const char *what) {
    char name[60];
    snprintf(name, sizeof name, w->x->grid ? "rvm_grid_%s" : "llvm.nvvm.read.ptx.sreg.%s.x", what);
    LLVMTypeRef t = LLVMFunctionType(w->k->i32, NULL, 0, false);
    LLVMValueRef f = LLVMGetNamedFunction(w->k->module, name);
    if (!f) f = LLVMAddFunction(w->k->module, name, t);
    return LLVMBuildCall2(w->b, t, f, NULL, 0, "");
}

/* ---- the function ---- */

static LLVMTypeRef type_of(const wrap *w, unsigned n) {
    LLVMValueRef p = LLVMGetParam(w->x->instance, RVM__VECTORISED_SUMS + w->x->from->sums + n);
    return w->x->by_copies[n] ? w->k->i64 : LLVMTypeOf(p);
}

static void set_attribute(const wrap *w, unsigned at, const char *name) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(w->x->kernel, at, LLVMCreateEnumAttribute(w->k->context, kind, 0));
}

static void annotate(const rvm__build *k, const rvm__device_kernel *x, const char *name, unsigned value) {
    LLVMMetadataRef m[3] = {LLVMValueAsMetadata(x->kernel), LLVMMDStringInContext2(k->context, name, strlen(name)),
                            LLVMValueAsMetadata(LLVMConstInt(k->i32, value, false))};
    LLVMAddNamedMetadataOperand(k->module, "nvvm.annotations",
                                LLVMMetadataAsValue(k->context, LLVMMDNodeInContext2(k->context, m, 3)));
}

/* So many threads of a CTA at most. Where each warp has a copy, so many CTAs on a multiprocessor, too, so that the 512 of
 * all copies are there at once on the 132 of today's cards: that decides how many registers a thread has. On an H200 the
 * gradient of the mixture (d = 10, 10^6 points) took 10.4 ms so, and 16.5 with twice as many. */
static void annotate_kernel(const rvm__build *k, const rvm__device_kernel *x) {
    annotate(k, x, "kernel", 1);
    annotate(k, x, "maxntidx", x->nested ? RVM__NESTED_CTA : RVM__KERNEL_CTA);
    if (!x->nested && (x->copied || x->logs)) annotate(k, x, "minctasm", RVM__KERNEL_RESIDENT);
}

static void declare(wrap *w) {
    const rvm__block_kernel *from = w->x->from;
    LLVMTypeRef t[RVM__MOST_VECTORISED_ARGS + RVM__KERNEL_LAUNCH];
    unsigned n = 0;
    for (unsigned a = 0; a < from->nargs; a++)
        if (!from->args[a].known) t[n++] = type_of(w, a);
    w->own = n;
    for (unsigned l = 0; l < RVM__KERNEL_LAUNCH; l++)
        t[n++] =
            l == CONTROL || l == TERMS || l == COPIES || l == LOG || l == ADDRESSES || l == ENTRIES ? w->k->ptr : w->k->i64;
    w->x->kernel = LLVMAddFunction(w->k->module, w->x->name, LLVMFunctionType(w->k->nothing, t, n, false));
    set_attribute(w, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    const unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
    for (unsigned a = 0, p = 0; a < from->nargs; a++) {
        const unsigned at = RVM__VECTORISED_SUMS + from->sums + a + 1;
        if (from->args[a].known) continue;
        p++;
        if (w->x->nested && !from->args[a].read) continue; /* other threads change it between two barriers */
        if (!w->x->by_copies[a] && LLVMGetEnumAttributeAtIndex(w->x->instance, at, noalias)) set_attribute(w, p, "noalias");
    }
    if (!w->x->grid) annotate_kernel(w->k, w->x);
}

/* ---- an instance ---- */

/* Of each register what adds nothing, in each of its terms. */
static void clear_sums(const wrap *w) {
    for (unsigned s = 0; s < w->x->from->sums; s++)
        for (unsigned t = 0; t < w->x->terms[s]; t++)
            LLVMBuildStore(w->b, w->types[s] == w->k->f64 ? LLVMConstReal(w->k->f64, -0.0) : number(w, 0),
                           word_at(w, w->sums[s], t));
}

static void keep_terms(const wrap *w) {
    unsigned row = 0;
    for (unsigned s = 0; s < w->x->from->sums; s++)
        for (unsigned t = 0; t < w->x->terms[s]; t++) {
            LLVMValueRef at = LLVMBuildMul(w->b, number(w, row++), launch(w, COUNT), "");
            LLVMValueRef bytes = LLVMBuildShl(w->b, LLVMBuildAdd(w->b, at, w->i, ""), number(w, 3), "");
            LLVMBuildStore(w->b, LLVMBuildLoad2(w->b, w->types[s], word_at(w, w->sums[s], t), ""),
                           behind(w, launch(w, TERMS), bytes));
        }
}

/* In the copy of this warp, or CTA. */
static LLVMValueRef in_copy(const wrap *w, LLVMValueRef offset) {
    LLVMValueRef own = LLVMBuildAdd(w->b, launch(w, FIRST), w->i, ""), warp = LLVMBuildLShr(w->b, own, number(w, 5), "");
    LLVMValueRef last = LLVMBuildSub(w->b, launch(w, NCOPIES), number(w, 1), "");
    LLVMValueRef copy =
        w->x->nested ? LLVMBuildAnd(w->b, own, last, "") : LLVMBuildAnd(w->b, warp, number(w, RVM__KERNEL_COPIES - 1), "");
    LLVMValueRef at = LLVMBuildAdd(w->b, LLVMBuildMul(w->b, copy, launch(w, STRIDE), ""), offset, "");
    return behind(w, launch(w, COPIES), at);
}
_Static_assert((RVM__KERNEL_COPIES & (RVM__KERNEL_COPIES - 1)) == 0 && RVM__WARP == 32, "powers of 2");

static LLVMValueRef runtime(const wrap *w, const char *name) {
    return LLVMGetNamedFunction(w->k->module, name);
}

static LLVMValueRef call_runtime(const wrap *w, const char *name, LLVMValueRef *args, unsigned n) {
    LLVMValueRef f = runtime(w, name);
    return LLVMBuildCall2(w->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

void rvm__device_bail_out(const rvm__build *k, LLVMValueRef c) {
    LLVMTypeRef type = LLVMFunctionType(k->nothing, (LLVMTypeRef[]){k->i1}, 1, false);
    LLVMValueRef f = LLVMGetNamedFunction(k->module, RVM__BAIL_OUT);
    LLVMBuildCall2(k->b, type, f ? f : LLVMAddFunction(k->module, RVM__BAIL_OUT, type), &c, 1, "");
}

/* How many additions an instance has: all have as many. */
static void tell_additions(const wrap *w) {
    LLVMValueRef n = LLVMBuildLoad2(w->b, w->k->i64, w->slot, "");
    LLVMValueRef args[3] = {launch(w, CONTROL), n, launch(w, ADDITIONS)};
    rvm__device_bail_out(w->k, call_runtime(w, "rvm.device.tell_additions", args, 3));
}

/* Those that the instance has room for and has not used are none. */
static void end_entries(const wrap *w) {
    LLVMValueRef n = LLVMBuildLoad2(w->b, w->k->i64, w->entry, ""), most = LLVMBuildLoad2(w->b, w->k->i64, w->most, "");
    LLVMValueRef more = LLVMBuildICmp(w->b, LLVMIntUGT, n, most, ""), width = launch(w, WIDTH);
    LLVMBuildStore(w->b, LLVMBuildSelect(w->b, more, n, most, ""), w->most);
    call_runtime(w, "rvm.device.no_entries", (LLVMValueRef[]){launch(w, ENTRIES), w->row, width, n, width}, 5);
    LLVMValueRef args[3] = {launch(w, CONTROL), n, width};
    rvm__device_bail_out(w->k, call_runtime(w, "rvm.device.lacks_entries", args, 3));
}

/* What the instance takes; how much. */
static unsigned pass(const wrap *w, LLVMValueRef *args) {
    const rvm__block_kernel *from = w->x->from;
    unsigned n = 0, p = 0;
    LLVMValueRef at = LLVMBuildAdd(w->b, LLVMBuildAdd(w->b, launch(w, LO), launch(w, FIRST), ""), w->i, "");
    LLVMValueRef fixed[RVM__VECTORISED_SUMS] = {LLVMConstNull(w->k->ptr), number(w, 0), w->out, at};
    for (; n < RVM__VECTORISED_SUMS; n++) args[n] = fixed[n];
    for (unsigned s = 0; s < from->sums; s++) args[n++] = w->sums[s];
    for (unsigned a = 0; a < from->nargs; a++) {
        LLVMValueRef v = from->args[a].known ? number(w, from->args[a].constant) : LLVMGetParam(w->x->kernel, p++);
        args[n++] = w->x->by_copies[a] ? in_copy(w, v) : v;
    }
    return n;
}

void rvm__device_add_counts(const rvm__build *k, LLVMValueRef out, LLVMValueRef counts, unsigned first) {
    for (unsigned c = first; c < RVM__VECTORISED_COUNTS; c++) {
        LLVMValueRef at = rvm__build_int(k, 8 * (int64_t)c);
        LLVMValueRef from = LLVMBuildInBoundsGEP2(k->b, k->i8, out, &at, 1, "");
        LLVMValueRef to = LLVMBuildInBoundsGEP2(k->b, k->i8, counts, &at, 1, "");
        LLVMValueRef now = LLVMBuildLoad2(k->b, k->i64, from, ""), was = LLVMBuildLoad2(k->b, k->i64, to, "");
        LLVMValueRef more = LLVMBuildICmp(k->b, LLVMIntUGT, now, was, "");
        LLVMBuildStore(
            k->b, c == RVM__VECTORISED_PEAK ? LLVMBuildSelect(k->b, more, now, was, "") : LLVMBuildAdd(k->b, was, now, ""),
            to);
    }
}

static void call_instance(const wrap *w, LLVMValueRef *args, unsigned n) {
    clear_sums(w);
    if (w->top) LLVMBuildStore(w->b, number(w, 0), w->top);
    if (w->slot) LLVMBuildStore(w->b, number(w, 0), w->slot);
    if (w->entry) LLVMBuildStore(w->b, number(w, 0), w->entry);
    LLVMBuildCall2(w->b, LLVMGlobalGetValueType(w->x->instance), w->x->instance, args, n, "");
    keep_terms(w);
    if (w->x->logs) tell_additions(w);
    if (w->x->enters) end_entries(w);
    rvm__device_add_counts(w->k, w->out, w->counts, 0);
}

/* ---- around it ---- */

static LLVMValueRef local(const wrap *w, uint64_t words, const char *name) {
    LLVMValueRef a = LLVMBuildAlloca(w->b, LLVMArrayType2(w->k->i64, words + !words), name);
    LLVMSetAlignment(a, 8);
    return a;
}

/* Nested, an instance counts all that it adds alike. */
static void make_entries(wrap *w) {
    if (!w->x->enters) return;
    w->entry = local(w, 1, "rvm.entry");
    w->entered = local(w, 1, "rvm.entered");
    w->most = local(w, 1, "most");
    LLVMBuildStore(w->b, number(w, 0), w->entered);
    LLVMBuildStore(w->b, number(w, 0), w->most);
    if (w->x->nested) w->slot = w->entry;
}

static void make_locals(wrap *w) {
    w->out = local(w, RVM__VECTORISED_COUNTS, "out");
    w->counts = local(w, RVM__VECTORISED_COUNTS, "counts");
    for (unsigned s = 0; s < w->x->from->sums; s++) w->sums[s] = local(w, w->x->terms[s], "sum");
    for (unsigned c = 0; c < RVM__VECTORISED_COUNTS; c++) LLVMBuildStore(w->b, number(w, 0), word_at(w, w->counts, c));
    if (w->x->logs) w->slot = local(w, 1, "rvm.slot");
    make_entries(w);
    if (!w->x->arena) return;
    w->top = local(w, 1, "rvm.top");
    if (w->x->nested) return;
    w->arena = LLVMBuildArrayAlloca(w->b, w->k->i8, launch(w, ARENA), "rvm.arena");
    LLVMSetAlignment(w->arena, 16);
}

/* Of all threads the sum, or the largest, into the control. */
static void tell(const wrap *w, LLVMValueRef from, size_t to, bool largest) {
    LLVMValueRef args[4] = {behind(w, launch(w, CONTROL), number(w, (int64_t)to)), LLVMBuildLoad2(w->b, w->k->i64, from, ""),
                            w->lane, LLVMConstInt(w->k->i1, largest, false)};
    call_runtime(w, "rvm.device.count", args, 4);
}

static void tell_counts(const wrap *w) {
    for (unsigned c = 0; c < RVM__VECTORISED_COUNTS; c++)
        tell(w, word_at(w, w->counts, c), 8 * (1 + c), c == RVM__VECTORISED_PEAK);
    if (w->x->enters) {
        tell(w, w->most, offsetof(rvm__kernel_control, widest), true);
        tell(w, w->entered, offsetof(rvm__kernel_control, entries), false);
    }
    LLVMBuildRetVoid(w->b);
}

static LLVMBasicBlockRef block(const wrap *w, const char *name) {
    return LLVMAppendBasicBlockInContext(w->k->context, w->x->kernel, name);
}

/* Of the warp, those threads that have an instance: the first `active`. */
static void find_active(wrap *w, LLVMValueRef first) {
    const rvm__build *k = w->k;
    LLVMValueRef left = LLVMBuildSub(w->b, launch(w, COUNT), first, ""), all = number(w, RVM__WARP);
    LLVMValueRef n = LLVMBuildSelect(w->b, LLVMBuildICmp(w->b, LLVMIntULT, left, all, ""), left, all, "");
    LLVMValueRef bits = LLVMBuildSub(w->b, LLVMBuildShl(w->b, number(w, 1), n, ""), number(w, 1), "");
    w->active = LLVMBuildTrunc(w->b, n, k->i32, "active");
    w->mask = LLVMBuildTrunc(w->b, bits, k->i32, "mask");
}

/* The number in the piece of the instance that runs as its j-th; and the other way round. */
static LLVMValueRef in_order(const wrap *w, LLVMValueRef j) {
    LLVMValueRef last = LLVMBuildSub(w->b, launch(w, COUNT), number(w, 1), "");
    return w->x->from->ascending ? LLVMBuildAdd(w->b, j, number(w, 0), "") : LLVMBuildSub(w->b, last, j, "");
}

static void emit(wrap *w) {
    const rvm__build *k = w->k;
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS];
    LLVMBasicBlockRef entry = block(w, "entry"), loop = block(w, "loop"), body = block(w, "body"), run = block(w, "run"),
                      next = block(w, "next"), end = block(w, "end");
    LLVMPositionBuilderAtEnd(w->b, entry);
    make_locals(w);
    LLVMValueRef tid = special(w, "tid"), cta = special(w, "ctaid");
    LLVMValueRef size = special(w, "ntid"), ctas = special(w, "nctaid");
    LLVMValueRef me = LLVMBuildZExt(w->b, LLVMBuildAdd(w->b, LLVMBuildMul(w->b, cta, size, ""), tid, ""), k->i64, "");
    LLVMValueRef all = LLVMBuildZExt(w->b, LLVMBuildMul(w->b, ctas, size, ""), k->i64, "");
    w->lane = LLVMBuildAnd(w->b, tid, LLVMConstInt(k->i32, RVM__WARP - 1, false), "lane");
    LLVMBuildBr(w->b, loop);
    LLVMPositionBuilderAtEnd(w->b, loop);
    w->i = LLVMBuildPhi(w->b, k->i64, "i");
    LLVMValueRef first = LLVMBuildSub(w->b, w->i, LLVMBuildZExt(w->b, w->lane, k->i64, ""), "");
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntULT, first, launch(w, COUNT), ""), body, end);
    LLVMPositionBuilderAtEnd(w->b, body);
    find_active(w, first);
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntULT, w->i, launch(w, COUNT), ""), run, next);
    LLVMPositionBuilderAtEnd(w->b, run);
    w->row = in_order(w, w->i);
    call_instance(w, args, pass(w, args));
    LLVMBuildBr(w->b, next);
    LLVMPositionBuilderAtEnd(w->b, next);
    LLVMValueRef then = LLVMBuildAdd(w->b, w->i, all, "");
    LLVMBuildBr(w->b, loop);
    LLVMAddIncoming(w->i, &me, &entry, 1);
    LLVMAddIncoming(w->i, &then, &next, 1);
    LLVMPositionBuilderAtEnd(w->b, end);
    tell_counts(w);
}

/* ---- a CTA to each instance ---- */

static void meet(const wrap *w) {
    rvm__device_cta *c = &w->x->cta;
    call_runtime(w, "rvm.device.meet", (LLVMValueRef[]){c->shared, LLVMConstInt(w->k->i32, c->places++, false)}, 2);
}

/* In a grid, a function. */
static LLVMValueRef shared_memory(const wrap *w) {
    LLVMTypeRef t = LLVMFunctionType(w->k->ptr, NULL, 0, false), words = LLVMArrayType2(w->k->i64, 0);
    static const char grid[] = "rvm_grid_shared", name[] = "rvm_shared";
    if (w->x->grid) {
        LLVMValueRef f = LLVMGetNamedFunction(w->k->module, grid);
        return LLVMBuildCall2(w->b, t, f ? f : LLVMAddFunction(w->k->module, grid, t), NULL, 0, "");
    }
    LLVMValueRef g = LLVMGetNamedGlobal(w->k->module, name);
    if (!g) LLVMSetAlignment(g = LLVMAddGlobalInAddressSpace(w->k->module, words, name, 3), 16);
    return LLVMConstAddrSpaceCast(g, w->k->ptr);
}

/* Local arrays of the instance: behind all else in shared memory, or the CTA's part of others. */
static LLVMValueRef place_arena(wrap *w, LLVMValueRef cta) {
    LLVMTypeRef t = LLVMFunctionType(w->k->i64, NULL, 0, false);
    LLVMValueRef f = LLVMGetNamedFunction(w->k->module, RVM__FRAME);
    if (!f) f = LLVMAddFunction(w->k->module, RVM__FRAME, t);
    w->x->cta.frame = LLVMBuildCall2(w->b, t, f, NULL, 0, "");
    LLVMValueRef inside = behind(w, w->x->cta.shared, w->x->cta.frame), none = number(w, 0);
    LLVMValueRef part = LLVMBuildAdd(w->b, launch(w, LOCALS), LLVMBuildMul(w->b, cta, launch(w, ARENA), ""), "");
    return LLVMBuildSelect(w->b, LLVMBuildICmp(w->b, LLVMIntEQ, launch(w, LOCALS), none, ""), inside,
                           LLVMBuildIntToPtr(w->b, part, w->k->ptr, ""), "rvm.arena");
}

static LLVMValueRef wide(const wrap *w, const char *what) {
    return LLVMBuildZExt(w->b, special(w, what), w->k->i64, "");
}

static void begin_cta(wrap *w) {
    rvm__device_cta *c = &w->x->cta;
    make_locals(w);
    c->shared = shared_memory(w);
    c->counts = w->counts;
    c->out = local(w, RVM__VECTORISED_COUNTS, "within");
    c->state = local(w, 1, "state");
    c->trips = local(w, 1, "trips");
    c->charged = local(w, 1, "charged");
    c->slot = w->slot;
    c->slot_within = local(w, 1, "rvm.slot_within");
    c->each = launch(w, EACH);
    c->control = launch(w, CONTROL);
    c->entries = launch(w, ENTRIES);
    c->width = launch(w, WIDTH);
    c->most_met = launch(w, MET);
    c->met = local(w, 1, "rvm.met");
    c->met_end = local(w, 1, "rvm.met_end");
    c->slot_met = local(w, 1, "rvm.slot_met");
    LLVMBuildStore(w->b, number(w, 0), c->trips);
    c->tid = wide(w, "tid");
    c->threads = wide(w, "ntid");
    c->lane = w->lane = LLVMBuildAnd(w->b, special(w, "tid"), LLVMConstInt(w->k->i32, RVM__WARP - 1, false), "lane");
    call_runtime(w, "rvm.device.begin", (LLVMValueRef[]){c->shared, c->tid}, 2);
}

/* Where all threads meet, and what they do there. */
static void emit_meeting(const wrap *w, LLVMBasicBlockRef next) {
    rvm__device_cta *c = &w->x->cta;
    LLVMPositionBuilderAtEnd(w->b, c->turn);
    LLVMBasicBlockRef serial = block(w, "serial"), start = block(w, "start");
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntEQ, c->tid, number(w, 0), ""), serial, c->meet);
    LLVMPositionBuilderAtEnd(w->b, serial);
    c->resume = LLVMBuildSwitch(w->b, LLVMBuildLoad2(w->b, w->k->i64, c->state, ""), start, RVM__MOST_WITHIN);
    LLVMPositionBuilderAtEnd(w->b, c->meet);
    meet(w);
    LLVMValueRef what = LLVMBuildLoad2(w->b, w->k->i64, c->shared, "");
    LLVMBuildStore(w->b, what, c->state);
    c->choose = LLVMBuildSwitch(w->b, what, next, RVM__MOST_WITHIN);
    c->blocks[6] = serial;
    LLVMPositionBuilderAtEnd(w->b, start);
}

static void emit_cta(wrap *w) {
    rvm__device_cta *c = &w->x->cta;
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS];
    LLVMBasicBlockRef entry = block(w, "entry"), loop = block(w, "loop"), body = block(w, "body"), next = block(w, "next"),
                      end = block(w, "end");
    c->turn = block(w, "turn"), c->meet = block(w, "meet");
    LLVMPositionBuilderAtEnd(w->b, entry);
    begin_cta(w);
    LLVMValueRef cta = wide(w, "ctaid"), ctas = wide(w, "nctaid");
    if (w->x->arena) w->arena = place_arena(w, cta);
    LLVMBuildBr(w->b, loop);
    LLVMPositionBuilderAtEnd(w->b, loop);
    LLVMValueRef j = LLVMBuildPhi(w->b, w->k->i64, "");
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntULT, j, launch(w, COUNT), ""), body, end);
    LLVMPositionBuilderAtEnd(w->b, body);
    w->i = in_order(w, j);
    w->row = c->row = LLVMBuildAdd(w->b, j, number(w, 0), "");
    const unsigned n = pass(w, args);
    LLVMBuildStore(w->b, number(w, 0), c->state);
    LLVMBuildBr(w->b, c->turn);
    emit_meeting(w, next);
    call_instance(w, args, n);
    LLVMBuildStore(w->b, number(w, 0), c->shared);
    LLVMBuildBr(w->b, c->meet);
    LLVMPositionBuilderAtEnd(w->b, next);
    meet(w); /* before anyone is told anything else */
    LLVMValueRef then = LLVMBuildAdd(w->b, j, ctas, "");
    LLVMBuildBr(w->b, loop);
    LLVMAddIncoming(j, &cta, &entry, 1);
    LLVMAddIncoming(j, &then, &next, 1);
    LLVMPositionBuilderAtEnd(w->b, end);
    LLVMBasicBlockRef own[] = {entry, loop, body, next, end, c->turn, c->blocks[6], c->meet};
    memcpy(c->blocks, own, sizeof own);
    tell(w, c->trips, offsetof(rvm__kernel_control, trips), true);
    tell_counts(w);
}

/* What markers need, by name (markers.c), where the kernel has it. */
static void name_values(const wrap *w) {
    const struct {
        LLVMValueRef v;
        const char *name;
    } named[] = {{w->lane, "rvm.lane"},
                 {w->i, "rvm.i"},
                 {w->active, "rvm.active"},
                 {w->mask, "rvm.mask"},
                 {w->row, "rvm.row"},
                 {launch(w, ENTRIES), "rvm.entries"},
                 {launch(w, WIDTH), "rvm.width"},
                 {launch(w, CONTROL), "rvm.control"},
                 {launch(w, FIRST), "rvm.first"},
                 {launch(w, LIMIT), "rvm.limit"},
                 {launch(w, ARENA), "rvm.size"},
                 {launch(w, LOG), "rvm.log"},
                 {launch(w, ADDRESSES), "rvm.addresses"},
                 {launch(w, COUNT), "rvm.n"},
                 {launch(w, ADDITIONS), "rvm.additions"}};
    for (size_t n = 0; n < sizeof named / sizeof *named; n++)
        if (named[n].v) LLVMSetValueName2(named[n].v, named[n].name, strlen(named[n].name));
}

void rvm__device_wrap(const rvm__build *k, rvm__device_kernel *x) {
    wrap w = {.k = k, .x = x, .b = k->b};
    for (unsigned s = 0; s < x->from->sums; s++) w.types[s] = rvm__build_type(k, (rvm_type)x->from->sum_types[s]);
    declare(&w);
    LLVMSetCurrentDebugLocation2(k->b, NULL); /* of whatever was looked at before */
    (x->nested ? emit_cta : emit)(&w);
    name_values(&w);
}

void rvm__device_make_call(const rvm__build *k, rvm__device_kernel *x) {
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS + RVM__KERNEL_LAUNCH], body = x->kernel;
    const unsigned n = LLVMCountParams(body);
    char name[60];
    LLVMSetValueName2(body, "body", 4);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    x->kernel = LLVMAddFunction(k->module, x->name, LLVMFunctionType(k->nothing, (LLVMTypeRef[]){k->ptr}, 1, false));
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, x->kernel, "entry"));
    for (unsigned p = 0; p < n; p++) {
        LLVMValueRef at = rvm__build_int(k, 8 * (int64_t)p);
        LLVMValueRef from = LLVMBuildInBoundsGEP2(k->b, k->i8, LLVMGetParam(x->kernel, 0), &at, 1, "");
        args[p] = LLVMBuildLoad2(k->b, LLVMTypeOf(LLVMGetParam(body, p)), from, "");
    }
    LLVMBuildCall2(k->b, LLVMGlobalGetValueType(body), body, args, n, "");
    LLVMBuildRetVoid(k->b);
    snprintf(name, sizeof name, "%s_params", x->name);
    LLVMValueRef count = LLVMAddGlobal(k->module, k->i64, name);
    LLVMSetInitializer(count, rvm__build_int(k, n));
    LLVMSetGlobalConstant(count, true);
}
