/* lower.c: what is lowered, and the entry.
 *
 * The functions that the call reaches are emitted as they are asked for, each in the directions and with the assumptions
 * that occur. The entry takes the arguments from frame 0 of the machine and puts scalars back. */
#include "emit.h"
#include "solver.h"
#include "support.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- memory of the unit ---- */

typedef struct rvm__block_of_memory {
    struct rvm__block_of_memory *next;
    size_t size;
    _Alignas(16) char bytes[];
} block_of_memory;

rvm_status rvm__out_of_memory(rvm__unit *u) {
    if (!u->status) u->status = rvm__fail(u->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory while compiling");
    return u->status;
}

void *rvm__unit_alloc(rvm__unit *u, size_t size) {
    const size_t whole = sizeof(block_of_memory) + size;
    block_of_memory *b = rvm__realloc(&rvm__libc_allocator, NULL, 0, whole);
    if (!b) {
        rvm__out_of_memory(u);
        return NULL;
    }
    memset(b, 0, whole);
    b->next = u->memory;
    b->size = whole;
    u->memory = b;
    return b->bytes;
}

static void free_memory(rvm__unit *u) {
    while (u->memory) {
        block_of_memory *b = u->memory;
        u->memory = b->next;
        rvm__realloc(&rvm__libc_allocator, b, b->size, 0);
    }
}

/* ---- runtime functions ---- */

LLVMValueRef rvm__runtime(rvm__unit *u, const char *name, LLVMTypeRef result, unsigned n, const LLVMTypeRef *params) {
    LLVMValueRef f = LLVMGetNamedFunction(u->k->module, name);
    LLVMTypeRef t[8];
    if (f) return f;
    for (unsigned k = 0; k < n && k < 8; k++) t[k] = params[k];
    f = LLVMAddFunction(u->k->module, name, LLVMFunctionType(result, t, n, false));
    rvm__attribute(u->k, f, -1, "nounwind", 0);
    rvm__attribute(u->k, f, -1, "willreturn", 0);
    return f;
}

LLVMValueRef rvm__call_runtime(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, const LLVMValueRef *args) {
    LLVMTypeRef t[8];
    LLVMValueRef v[8];
    for (unsigned k = 0; k < n && k < 8; k++) v[k] = args[k], t[k] = LLVMTypeOf(args[k]);
    LLVMValueRef f = rvm__runtime(e->u, name, result, n, t);
    return LLVMBuildCall2(e->k->b, LLVMGlobalGetValueType(f), f, v, n, "");
}

void rvm__attribute(rvm__build *k, LLVMValueRef f, int param, const char *name, uint64_t value) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    const LLVMAttributeIndex at =
        param < 0 ? (LLVMAttributeIndex)LLVMAttributeFunctionIndex : (LLVMAttributeIndex)(1 + param);
    LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(k->context, kind, value));
}

/* ---- local arrays that need no memory ---- */

enum { MOST_BYTES = 1024 };

/* Elements by what makes an array appear or disappear; 0: not a constant. */
static uint64_t constant_size(const rvm_function *f, const rvm_insn *in) {
    const rvm_place *q = rvm__places(f, in);
    uint64_t n = 1;
    if (in->op >> 1 != RVM_PAIR_new) return 0;
    for (int d = 0; d < f->arrays[q->slot].ndim; d++) {
        const uint16_t slot = q[1 + d].slot;
        const int64_t length = slot < f->nregs ? -1 : f->consts[slot - f->nregs].i;
        if (length <= 0 || length > MOST_BYTES) return 0;
        n *= (uint64_t)length;
        if (n > MOST_BYTES / sizeof(rvm_value)) return 0;
    }
    return n;
}

static bool makes(const rvm_insn *in, const rvm_place *q, uint16_t array) {
    const enum rvm_pair pair = (enum rvm_pair)(in->op >> 1);
    return (pair == RVM_PAIR_new || pair == RVM_PAIR_like) && q->slot == array;
}

/* Of few elements, a constant number, wherever it appears. Recursion, which may be deep, keeps its arrays in the arena. */
uint64_t rvm__alloca_bytes(const rvm__unit *u, uint32_t fn, uint16_t array) {
    const rvm_function *f = &u->p->functions[fn];
    uint64_t n = 0;
    RVM__EACH_INSN(x, f) {
        if (!makes(x.in, x.q, array)) continue;
        const uint64_t here = constant_size(f, x.in);
        if (!here || (n && n != here)) return 0;
        n = here;
    }
    return n && !u->recursive ? RVM__ARRAY_HEADER + n * sizeof(rvm_value) : 0;
}

bool rvm__appears(const rvm_function *f, uint16_t array) {
    RVM__EACH_INSN(x, f)
        if (makes(x.in, x.q, array)) return true;
    return false;
}

uint64_t rvm__local_bytes(const rvm__unit *u, uint32_t fn, uint16_t array) {
    const uint64_t always = rvm__alloca_bytes(u, fn, array);
    const bool few = !u->recursive && !u->w->standalone && rvm__appears(&u->p->functions[fn], array);
    return always || !few ? always : RVM__ARRAY_HEADER + RVM__FEW * sizeof(rvm_value);
}

/* ---- function summaries ---- */

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void add_callee(rvm__summary *f, const rvm__summary *g) {
    if (g->recursive) return; /* makes room by itself */
    f->need.slots = larger(f->need.slots, g->need.slots);
    f->need.arrays = larger(f->need.arrays, g->need.arrays);
    f->need.depth = larger(f->need.depth, g->need.depth);
    f->need.bytes = larger(f->need.bytes, g->need.bytes);
    f->size += g->size;
    f->by_value |= g->by_value;
}

uint64_t rvm__work_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to) {
    enum { LOOP = 8 };
    const uint64_t most = UINT64_C(1) << 40;
    uint64_t weight = 1, sum = 0;
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], from, to) {
        const bool loop = x.in->op >> 1 == RVM_PAIR_for;
        uint64_t work = 1;
        if (loop && x.in->target < x.pc) weight /= LOOP;
        RVM__EACH_CALLEE(g, u->p, x.in) work = larger(work, u->summaries[g].work);
        sum += weight * work < most ? weight * work : most;
        if (loop && x.in->target > x.pc) weight *= LOOP;
    }
    return sum < most ? sum : most;
}

static bool summarise(void *userdata, uint32_t fn) {
    rvm__unit *u = userdata;
    const rvm_function *f = &u->p->functions[fn];
    rvm__summary *summary = &u->summaries[fn];
    if (!summary->size) return false;
    RVM__EACH_INSN(x, f) {
        summary->by_value |= x.in->op >> 1 == RVM_PAIR_calli;
        RVM__EACH_CALLEE(g, u->p, x.in) add_callee(summary, &u->summaries[g]);
    }
    summary->work = rvm__work_between(u, fn, 0, f->ncode);
    summary->most = summary->recursive ? RVM__UNBOUNDED : rvm__most_between(u, fn, 0, f->ncode);
    summary->unseen = summary->recursive ? RVM__UNBOUNDED : rvm__most_unseen(u, fn);
    summary->need.slots += u->m->codes[fn].slots;
    summary->need.arrays += f->narrays;
    summary->need.depth++;
    for (uint32_t k = 0; k < f->narrays; k++) summary->need.bytes += rvm__local_bytes(u, fn, (uint16_t)k);
    return false;
}

/* What is reached has a size. */
static bool reach(rvm__unit *u, uint32_t fn) {
    rvm__summary *summary = &u->summaries[fn];
    if (summary->size) return false;
    summary->size = u->p->functions[fn].ncode;
    summary->recursive = u->p->calls.recursive[fn];
    return true;
}

static bool reach_callees(void *userdata, uint32_t fn) {
    rvm__unit *u = userdata;
    bool grew = false;
    if (!u->summaries[fn].size) return false;
    RVM__EACH_INSN(x, &u->p->functions[fn])
        RVM__EACH_CALLEE(g, u->p, x.in) grew |= reach(u, g);
    return grew;
}

static void summarise_functions(rvm__unit *u) {
    reach(u, u->w->fn);
    rvm__solve_calls(&u->p->calls, RVM__CALLERS_FIRST, reach_callees, u);
    rvm__solve_calls(&u->p->calls, RVM__CALLEES_FIRST, summarise, u);
    for (uint32_t fn = 0; fn < u->p->nfunctions; fn++) u->recursive |= u->summaries[fn].recursive;
    u->k->recurses = u->recursive;
}

/* ---- specialisations ---- */

/* Where it is called, once it is simplified itself: what is promised of its parameters is not lost then, as it is by
 * `alwaysinline`, which comes first. LLVM stops counting at a limit, though, and what it has counted by then does count;
 * the hint raises that limit. */
static void inline_always(rvm__build *k, LLVMValueRef f) {
    static const char name[] = "function-inline-cost";
    rvm__attribute(k, f, -1, "inlinehint", 0);
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(k->context, name, sizeof name - 1, "0", 1));
}

bool rvm__is_inlined(const rvm__unit *u, uint32_t fn) {
    return !u->summaries[fn].recursive && u->summaries[fn].size <= u->k->small;
}

static LLVMTypeRef type_of(rvm__unit *u, const rvm_function *f) {
    rvm__build *k = u->k;
    LLVMTypeRef *t = rvm__unit_alloc(u, (RVM__FIXED_PARAMS + f->nparams * (size_t)RVM__MOST_PARAMS) * sizeof *t);
    unsigned n = 0;
    if (!t) return NULL;
    t[n++] = k->ptr, t[n++] = k->ptr;
    for (int i = 0; i < 3; i++) t[n++] = k->i64;
    t[n++] = k->ptr;
    for (uint32_t i = 0; i < f->nparams; i++) {
        const rvm_param *p = &f->params[i];
        const bool magnitude = !u->w->unchecked && (p->ndim || (p->role != RVM_READ && rvm__is_floating((rvm_type)p->type)));
        t[n++] = p->ndim || p->role != RVM_READ ? k->ptr : rvm__build_type(k, (rvm_type)p->type);
        for (int d = 0; p->ndim && d < 2 * p->ndim + 2; d++) t[n++] = k->i64;
        if (magnitude) t[n++] = k->ptr;
    }
    return LLVMFunctionType(k->i32, t, n, false);
}

static void promise(rvm__unit *u, LLVMValueRef f, const rvm_function *g, bool apart) {
    int n = RVM__FIXED_PARAMS;
    rvm__attribute(u->k, f, 1, "noalias", 0);
    rvm__attribute(u->k, f, RVM__COUNTS_PARAM, "noalias", 0);
    for (uint32_t i = 0; i < g->nparams; i++) {
        const rvm_param *p = &g->params[i];
        const bool magnitude = !u->w->unchecked && (p->ndim || (p->role != RVM_READ && rvm__is_floating((rvm_type)p->type)));
        if (p->ndim ? rvm__is_apart(p, apart) : p->role != RVM_READ) rvm__attribute(u->k, f, n, "noalias", 0);
        n += p->ndim ? (int)rvm__array_params(p->ndim, magnitude) : 1 + magnitude;
    }
}

rvm__specialisation *rvm__find_specialisation(rvm__unit *u, rvm__specialisation like) {
    for (rvm__specialisation *v = u->specialisations[like.fn]; v; v = v->next)
        if (v->dir == like.dir && v->apart == like.apart && v->deep == like.deep && v->block == like.block &&
            v->at == like.at && v->vectorised == like.vectorised && v->conflicts == like.conflicts)
            return v;
    rvm__specialisation *v = rvm__unit_alloc(u, sizeof *v);
    if (!v) return NULL;
    *v = like;
    v->next = u->specialisations[like.fn];
    return u->specialisations[like.fn] = v;
}

static const rvm__specialisation *declare_specialisation(rvm__unit *u, const rvm__specialisation *like) {
    rvm__specialisation *v = rvm__find_specialisation(u, *like);
    const rvm_function *g = &u->p->functions[like->fn];
    char name[256];
    if (!v || v->function || !(v->type = type_of(u, g))) return v;
    snprintf(name, sizeof name, "%s%s%s%s%s%s", g->name, v->dir < 0 ? ".backward" : ".forward",
             v->apart ? "" : ".overlapping", v->deep ? ".deep" : "", v->vectorised ? ".laned" : "",
             v->at ? ".entered" : ""); /* a point keeps it apart from what is called, as C's sin */
    v->function = LLVMAddFunction(u->k->module, name, v->type);
    LLVMSetLinkage(v->function, LLVMInternalLinkage);
    rvm__attribute(u->k, v->function, -1, "nounwind", 0);
    if (v->vectorised)
        rvm__attribute(u->k, v->function, -1, "alwaysinline", 0); /* by rvm__simplify */
    else if (rvm__is_inlined(u, v->fn))
        inline_always(u->k, v->function);
    promise(u, v->function, g, v->apart);
    v->later = u->work;
    u->work = v;
    return v;
}

const rvm__specialisation *rvm__version_of(rvm__unit *u, uint32_t fn, int dir, bool apart, uint16_t deep) {
    const rvm__specialisation like = {.fn = fn, .dir = dir, .apart = apart, .deep = rvm__deep_specialisation(u, fn, deep)};
    return declare_specialisation(u, &like);
}

const rvm__specialisation *rvm__vectorised(rvm__unit *u, uint32_t fn, int dir, bool apart, uint16_t deep,
                                           uint64_t conflicts) {
    const rvm__specialisation like = {.fn = fn,
                                      .dir = dir,
                                      .apart = apart,
                                      .deep = rvm__deep_specialisation(u, fn, deep),
                                      .vectorised = true,
                                      .conflicts = conflicts};
    return declare_specialisation(u, &like);
}

/* ---- the entry ---- */

static LLVMValueRef member(rvm__build *k, LLVMValueRef p, size_t offset) {
    LLVMValueRef at = rvm__build_int(k, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(k->b, k->i8, p, &at, 1, "");
}

/* Where the frame that is entered begins in an array of the machine, which is a member of it. */
static LLVMValueRef frame_at(rvm__build *k, LLVMValueRef machine, size_t offset, LLVMValueRef first, size_t size) {
    LLVMValueRef all = LLVMBuildLoad2(k->b, k->ptr, member(k, machine, offset), "");
    LLVMValueRef bytes = LLVMBuildMul(k->b, first, rvm__build_int(k, (int64_t)size), "");
    return LLVMBuildInBoundsGEP2(k->b, k->i8, all, &bytes, 1, "");
}

static unsigned enter_array(rvm__unit *u, const rvm_param *p, LLVMValueRef arrays, LLVMValueRef *to) {
    rvm__build *k = u->k;
    const rvm_function *f = &u->p->functions[u->w->fn];
    LLVMValueRef a = member(k, arrays, p->index * sizeof(rvm__array)), dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS];
    unsigned n = 0;
    LLVMValueRef gap = rvm__build_int(k, sizeof(rvm_value));
    to[n++] = LLVMBuildLoad2(k->b, k->ptr, member(k, a, offsetof(rvm__array, data)), p->name);
    for (int d = p->ndim - 1; d >= 0; d--) {
        dim[d] = rvm__known_length(u, u->w->fn, p->dim[d]);
        if (!dim[d] && p->dim[d] >= f->nregs) dim[d] = rvm__build_int(k, f->consts[p->dim[d] - f->nregs].i);
        if (!dim[d]) /* else the bind, or who asked for these lengths, made sure */
            dim[d] = LLVMBuildLoad2(k->b, k->i64, member(k, a, offsetof(rvm__array, dim) + 8 * (size_t)d), "");
        stride[d] = LLVMBuildLoad2(k->b, k->i64, member(k, a, offsetof(rvm__array, stride) + 8 * (size_t)d), "");
        if (u->w->contiguous) stride[d] = gap, gap = LLVMBuildNSWMul(k->b, gap, dim[d], "");
    }
    for (int d = 0; d < p->ndim; d++) to[n++] = dim[d];
    for (int d = 0; d < p->ndim; d++) to[n++] = stride[d];
    for (int d = 0; d < 2; d++) to[n++] = rvm__build_int(k, 0); /* no home: it is in memory */
    if (!u->w->unchecked) to[n++] = LLVMBuildLoad2(k->b, k->ptr, member(k, a, offsetof(rvm__array, magnitude)), "");
    return n;
}

/* Scalars that are not only read go as the address of a copy, so that what the function leaves to the interpreter finds
 * them as they were. */
static unsigned enter_scalar(rvm__unit *u, const rvm_param *p, LLVMValueRef slots, LLVMValueRef copy[2], LLVMValueRef *to) {
    rvm__build *k = u->k;
    LLVMTypeRef t = rvm__build_type(k, (rvm_type)p->type);
    LLVMValueRef v = LLVMBuildLoad2(k->b, t, member(k, slots, p->index * sizeof(rvm_value)), p->name);
    if (p->role == RVM_READ) return to[0] = v, 1;
    to[0] = copy[0] = LLVMBuildAlloca(k->b, t, "");
    LLVMBuildStore(k->b, v, copy[0]);
    if (u->w->unchecked || !rvm__is_floating((rvm_type)p->type)) return 1;
    to[1] = copy[1] = LLVMBuildAlloca(k->b, k->f64, "");
    return 2;
}

/* Values, and largest magnitudes, of the frame that is entered; recursion may have moved them. */
static void give_back(rvm__unit *u, LLVMValueRef machine, LLVMValueRef first, LLVMValueRef (*copy)[2]) {
    rvm__build *k = u->k;
    const rvm_function *f = &u->p->functions[u->w->fn];
    const size_t from[2] = {offsetof(rvm_machine, slots), offsetof(rvm_machine, magnitudes)};
    _Static_assert(sizeof(rvm_value) == sizeof(double), "one index, one offset");
    for (int which = 0; which < 2 - u->w->unchecked; which++) {
        LLVMValueRef frame = frame_at(k, machine, from[which], first, sizeof(rvm_value));
        for (uint32_t i = 0; i < f->nparams; i++) {
            LLVMTypeRef t = which ? k->f64 : rvm__build_type(k, (rvm_type)f->params[i].type);
            LLVMValueRef to = member(k, frame, f->params[i].index * sizeof(rvm_value));
            if (copy[i][which]) LLVMBuildStore(k->b, LLVMBuildLoad2(k->b, t, copy[i][which], ""), to);
        }
    }
}

/* Counts for the function, and what it counted. */
static LLVMValueRef give_counts(rvm__build *k, LLVMValueRef native) {
    const size_t from[RVM__COUNTS] = {offsetof(rvm__native, charged), offsetof(rvm__native, calls)};
    LLVMValueRef counts = LLVMBuildAlloca(k->b, LLVMArrayType2(k->i64, RVM__COUNTS), "counts");
    for (size_t n = 0; n < 2; n++)
        LLVMBuildStore(k->b, LLVMBuildLoad2(k->b, k->i64, member(k, native, from[n]), ""), member(k, counts, 8 * n));
    return counts;
}

static void take_counts(rvm__build *k, LLVMValueRef native, LLVMValueRef counts, LLVMValueRef frame) {
    const size_t to[RVM__COUNTS] = {offsetof(rvm__native, charged), offsetof(rvm__native, calls),
                                    offsetof(rvm__native, peak), offsetof(rvm__native, erased),
                                    offsetof(rvm__native, erased) + 8};
    LLVMValueRef v[RVM__COUNTS];
    for (size_t n = 0; n < RVM__COUNTS; n++) v[n] = LLVMBuildLoad2(k->b, k->i64, member(k, counts, 8 * n), "");
    LLVMValueRef peak = LLVMBuildLoad2(k->b, k->i64, member(k, native, to[2]), "");
    v[2] = LLVMBuildAdd(k->b, v[2], LLVMBuildAdd(k->b, frame, rvm__build_int(k, 1), ""), "");
    v[2] = LLVMBuildSelect(k->b, LLVMBuildICmp(k->b, LLVMIntUGT, v[2], peak, ""), v[2], peak, "");
    for (int n = 3; n < RVM__COUNTS; n++)
        v[n] = LLVMBuildAdd(k->b, v[n], LLVMBuildLoad2(k->b, k->i64, member(k, native, to[n]), ""), "");
    for (size_t n = 0; n < RVM__COUNTS; n++) LLVMBuildStore(k->b, v[n], member(k, native, to[n]));
}

static bool emit_entry(rvm__unit *u) {
    rvm__build *k = u->k;
    const rvm_function *f = &u->p->functions[u->w->fn];
    LLVMTypeRef two[2] = {k->ptr, k->ptr};
    LLVMValueRef *args = rvm__unit_alloc(u, (RVM__FIXED_PARAMS + f->nparams * (size_t)RVM__MOST_PARAMS) * sizeof *args);
    LLVMValueRef(*copy)[2] = rvm__unit_alloc(u, (f->nparams + 1) * sizeof *copy);
    const rvm__specialisation like = {.fn = u->w->fn, .dir = u->w->direction, .apart = u->w->contiguous, .at = u->w->at};
    const rvm__specialisation *v = declare_specialisation(u, &like);
    if (!args || !copy || !v || !v->function) return false;
    LLVMValueRef entry = LLVMAddFunction(k->module, RVM__ENTRY, LLVMFunctionType(k->i32, two, 2, false));
    rvm__attribute(k, entry, -1, "nounwind", 0);
    rvm__lines_function(u, entry, u->w->fn, RVM__ENTRY);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, entry, "entry"));
    LLVMValueRef machine = LLVMGetParam(entry, 0), native = LLVMGetParam(entry, 1);
    const size_t where[3] = {offsetof(rvm__native, slots), offsetof(rvm__native, arrays), offsetof(rvm__native, frame)};
    unsigned n = 0;
    args[n++] = machine, args[n++] = native;
    for (int i = 0; i < 3; i++) args[n++] = LLVMBuildLoad2(k->b, k->i64, member(k, native, where[i]), "");
    LLVMValueRef first_slot = args[2], counts = args[n++] = give_counts(k, native);
    LLVMValueRef slots = frame_at(k, machine, offsetof(rvm_machine, slots), first_slot, sizeof(rvm_value));
    LLVMValueRef arrays = frame_at(k, machine, offsetof(rvm_machine, arrays), args[3], sizeof(rvm__array));
    for (uint32_t i = 0; i < f->nparams; i++)
        n += f->params[i].ndim ? enter_array(u, &f->params[i], arrays, args + n)
                               : enter_scalar(u, &f->params[i], slots, copy[i], args + n);
    LLVMValueRef left = LLVMBuildCall2(k->b, v->type, v->function, args, n, "");
    take_counts(k, native, counts, args[4]);
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(k->context, entry, "left");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(k->context, entry, "done");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, left, LLVMConstInt(k->i32, 0, false), ""), done, out);
    LLVMPositionBuilderAtEnd(k->b, out);
    LLVMBuildRet(k->b, left);
    LLVMPositionBuilderAtEnd(k->b, done);
    give_back(u, machine, first_slot, copy);
    LLVMBuildRet(k->b, left);
    return true;
}

LLVMValueRef rvm__need_constant(rvm__unit *u, uint32_t fn) {
    rvm__build *k = u->k;
    const rvm__native_need *need = &u->summaries[fn].need;
    LLVMValueRef v[6] = {rvm__build_int(k, (int64_t)need->slots),   rvm__build_int(k, (int64_t)need->arrays),
                         rvm__build_int(k, (int64_t)need->depth),   rvm__build_int(k, (int64_t)need->bytes),
                         rvm__build_int(k, (int64_t)u->dead_found), rvm__build_int(k, 0)};
    LLVMValueRef g = LLVMAddGlobal(k->module, LLVMArrayType2(k->i64, 6), "need");
    LLVMSetInitializer(g, LLVMConstArray2(k->i64, v, 6));
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static void emit_need(rvm__unit *u) {
    LLVMValueRef g = rvm__need_constant(u, u->w->fn);
    LLVMSetValueName2(g, RVM__NEED, strlen(RVM__NEED));
    LLVMSetLinkage(g, LLVMExternalLinkage);
}
_Static_assert(sizeof(rvm__native_need) == 48, "six numbers");

/* A machine whose prepared code says how the interpreter lays out frames; it never runs. */
static bool prepare(rvm__unit *u) {
    rvm_options o = rvm_options_default();
    o.unchecked = u->w->unchecked;
    o.trust = u->w->trust;
    o.tolerance = u->w->tolerance;
    if ((u->status = rvm_machine_new(u->p, &o, &u->m, u->err))) return false;
    u->m->codes = u->m->primal_codes;
    return true;
}

/* What of the run is dead: where it does not turn back, not even with chunks of threads. Where the code is left or was
 * entered within a region the compute part runs backward, though elsewhere it is elided; so that is looked at, too. */
static bool find_dead(rvm__unit *u) {
    const rvm__lowering *w = u->w;
    const rvm__liveness_run run = {.fn = w->fn,
                                   .backward = w->direction < 0,
                                   .whole = !w->standalone,
                                   .unchecked = w->unchecked,
                                   .trust = w->trust,
                                   .discarded = w->standalone ? UINT32_MAX : w->discards};
    if (!w->one_way || (w->threads && rvm__takes_chunks_back(u))) return true;
    if (rvm__liveness_new(u->p, &run, &u->liveness)) rvm__out_of_memory(u);
    return !u->status;
}

/* Functions for the lengths that are known; w is of these then. Where the verifier finds fault with them, which a run may
 * find, too, or not, it is not done. */
static void shape(rvm__unit *u, rvm__lowering *w) {
    static const rvm__lengths any = {{0}};
    const rvm_function *f = &w->p->functions[w->fn];
    uint16_t registers[RVM__MOST_LENGTHS];
    if (memcmp(&w->lengths, &any, sizeof any) == 0) return;
    int64_t *lengths = rvm__unit_alloc(u, (f->nregs + 1u) * sizeof *lengths);
    if (!lengths) return;
    for (uint32_t k = 0; k < f->nregs; k++) lengths[k] = -1;
    for (uint32_t n = rvm__length_registers(f, registers, RVM__MOST_LENGTHS); n-- > 0;)
        if (w->lengths.is[n]) lengths[registers[n]] = w->lengths.is[n];
    if (rvm__shaped_make(w->p, w->fn, lengths, &u->shaped, NULL)) return;
    w->p = u->p = u->shaped.p;
    w->fn = u->shaped.fn;
}

rvm_status rvm__lower(rvm__build *k, const rvm__lowering *asked, rvm_error *err) {
    rvm__lowering own = *asked;
    const rvm__lowering *what = &own;
    rvm__unit u = {.k = k, .w = what, .p = what->p, .err = err};
    if (what->fn >= what->p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function %u", what->fn);
    shape(&u, &own);
    const uint32_t n = u.p->nfunctions;
    if (u.status || !prepare(&u)) goto done;
    u.summaries = rvm__unit_alloc(&u, n * sizeof *u.summaries);
    u.reach = rvm__unit_alloc(&u, n * sizeof *u.reach);
    u.specialisations = rvm__unit_alloc(&u, n * sizeof *u.specialisations);
    if (!u.status && !rvm__reach_find(u.p, u.reach)) rvm__out_of_memory(&u);
    if (u.status) goto done;
    rvm__find_depths(&u);
    summarise_functions(&u);
    if (!find_dead(&u) || !rvm__lines_begin(&u)) goto done;
    if (!(what->standalone ? rvm__standalone_entry : emit_entry)(&u)) goto done;
    while (u.work && !u.status) {
        const rvm__specialisation *v = u.work;
        u.work = v->later;
        rvm__emit_function(&u, v);
    }
    rvm__settle_unit(&u);
    rvm__lines_none(&u);
    if (what->standalone)
        rvm__standalone_texts(&u);
    else
        emit_need(&u);
done:
    rvm__lines_end(&u);
    rvm__liveness_free(u.liveness);
    rvm__realloc(&rvm__libc_allocator, u.ends, u.cap_ends * sizeof *u.ends, 0);
    rvm_machine_free(u.m);
    rvm__shaped_free(&u.shaped);
    free_memory(&u);
    return u.status;
}
