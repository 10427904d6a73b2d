/* lower.c: what is lowered, and the entry.
 *
 * The functions that the call reaches are emitted as they are asked for, each in the directions and with the assumptions
 * that occur. The entry takes the arguments from frame 0 of the machine and puts scalars back. */
#include "emit.h"
#include "blocks.h"
#include "fresh_ir.h"
#include "analysis.h"
#include "prepare.h"
#include "solver.h"
#include "support.h"

#include <stddef.h>
#include <string.h>

/* ---- function summaries ---- */

static void add_callee(rvm__summary *f, const rvm__summary *g) {
    if (g->recursive) return; /* makes room by itself */
    f->need.slots = rvm__most(f->need.slots, g->need.slots);
    f->need.arrays = rvm__most(f->need.arrays, g->need.arrays);
    f->need.depth = rvm__most(f->need.depth, g->need.depth);
    f->need.bytes = rvm__most(f->need.bytes, g->need.bytes);
    f->size += g->size;
    f->by_value |= g->by_value;
    f->sums |= g->sums;
    f->blocks |= g->blocks;
    f->records |= g->records;
    f->functions |= g->functions;
}

static bool summarise(void *userdata, uint32_t fn) {
    rvm__unit *u = userdata;
    const rvm_function *f = &u->p->functions[fn];
    rvm__summary *summary = &u->summaries[fn];
    if (!summary->size) return false;
    RVM__EACH_INSN(x, f) {
        summary->by_value |= rvm__pair_of(x.in->op) == RVM_PAIR_calli;
        summary->blocks |= x.in->op == RVM_OP_par;
        summary->sums |= x.in->op == RVM_OP_par && u->m->codes[fn].x[x.pc].to.c;
        RVM__EACH_CALLEE(g, u->p, x.in) add_callee(summary, &u->summaries[g]);
    }
    summary->records |= summary->recursive || rvm__records(u, fn, 0, f->ncode);
    summary->functions = rvm__takes_functions(u, fn, 0, f->ncode);
    summary->work = rvm__work_between(u, fn, 0, f->ncode);
    summary->load = rvm__load_between(u, fn, 0, f->ncode);
    summary->most = summary->recursive ? RVM__UNBOUNDED : rvm__most_between(u, fn, 0, f->ncode, false);
    summary->unseen = summary->recursive ? RVM__UNBOUNDED : rvm__most_between(u, fn, 0, f->ncode, true);
    summary->need.slots += u->m->codes[fn].slots;
    summary->need.arrays += f->narrays;
    summary->need.depth++;
    for (uint32_t k = 0; k < f->narrays; k++) summary->need.bytes += rvm__local_bytes(u, fn, (uint16_t)k);
    return false;
}

/* What is reached, which is what was prepared, has a size. */
static void find_reached(rvm__unit *u) {
    for (uint32_t fn = 0; fn < u->p->nfunctions; fn++) {
        if (!u->m->codes[fn].ready) continue;
        u->summaries[fn].size = u->p->functions[fn].ncode;
        u->summaries[fn].recursive = u->p->calls.recursive[fn];
    }
}

static void summarise_functions(rvm__unit *u) {
    rvm__solve_calls(&u->p->calls, RVM__CALLEES_FIRST, summarise, u);
    for (uint32_t fn = 0; fn < u->p->nfunctions; fn++) u->recursive |= u->summaries[fn].recursive;
    u->k->recurses = u->recursive;
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

/* Scalars that are not only read go as the address of a copy, so that the interpreter finds them after a side exit
 *  as they were. */
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
    const size_t from[2] = {offsetof(rvm_machine, store.slots), offsetof(rvm_machine, store.magnitudes)};
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
static LLVMValueRef give_counts(rvm__build *k, LLVMValueRef native, LLVMValueRef tallies) {
    const size_t from[RVM__COUNTS] = {offsetof(rvm__native, charged), offsetof(rvm__native, calls)};
    LLVMValueRef counts = LLVMBuildAlloca(k->b, LLVMArrayType2(k->i64, RVM__COUNTS + (tallies != NULL)), "counts");
    for (size_t n = 0; n < 2; n++)
        LLVMBuildStore(k->b, LLVMBuildLoad2(k->b, k->i64, member(k, native, from[n]), ""), member(k, counts, 8 * n));
    if (tallies) LLVMBuildStore(k->b, tallies, member(k, counts, 8 * RVM__TALLIES_AT));
    return counts;
}

/* With a profile, of the frame that is entered. */
static LLVMValueRef tallies_of(rvm__unit *u, LLVMValueRef machine, LLVMValueRef frame) {
    const LLVMTypeRef t[2] = {u->k->ptr, u->k->i64};
    if (!u->w->profile) return NULL;
    LLVMValueRef f = rvm__runtime(u, "rvm__native_tallies", u->k->ptr, 2, t), args[2] = {machine, frame};
    return LLVMBuildCall2(u->k->b, LLVMGlobalGetValueType(f), f, args, 2, "");
}

static void take_counts(rvm__build *k, LLVMValueRef native, LLVMValueRef counts, LLVMValueRef frame) {
    const size_t to[RVM__COUNTS] = {offsetof(rvm__native, charged),    offsetof(rvm__native, calls),
                                    offsetof(rvm__native, peak),       offsetof(rvm__native, erased),
                                    offsetof(rvm__native, erased) + 8, offsetof(rvm__native, erased) + 16};
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
    const rvm__specialisation like = {.fn = u->w->fn,
                                      .dir = u->w->direction,
                                      .restoring = u->w->restoring,
                                      .inside = u->w->inside,
                                      .apart = u->w->contiguous,
                                      .discards = rvm__discards_that_matter(u, u->w->fn, u->w->discards),
                                      .at = u->w->at,
                                      .fresh = u->w->fresh != 0};
    const rvm__specialisation *v = rvm__declare_specialisation(u, &like);
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
    LLVMValueRef first_slot = args[2], counts = args[n++] = give_counts(k, native, tallies_of(u, machine, args[4]));
    LLVMValueRef slots = frame_at(k, machine, offsetof(rvm_machine, store.slots), first_slot, sizeof(rvm_value));
    LLVMValueRef arrays = frame_at(k, machine, offsetof(rvm_machine, store.arrays), args[3], sizeof(rvm__array));
    for (uint32_t i = 0; i < f->nparams; i++)
        n += f->params[i].ndim ? enter_array(u, &f->params[i], arrays, args + n)
                               : enter_scalar(u, &f->params[i], slots, copy[i], args + n);
    LLVMValueRef exited = LLVMBuildCall2(k->b, v->type, v->function, args, n, "");
    take_counts(k, native, counts, args[4]);
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(k->context, entry, "exited");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(k->context, entry, "done");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, exited, LLVMConstInt(k->i32, 0, false), ""), done, out);
    LLVMPositionBuilderAtEnd(k->b, out);
    LLVMBuildRet(k->b, exited);
    LLVMPositionBuilderAtEnd(k->b, done);
    give_back(u, machine, first_slot, copy);
    LLVMBuildRet(k->b, exited);
    return true;
}

static void emit_need(rvm__unit *u) {
    LLVMValueRef g = rvm__need_constant(u, u->w->fn);
    LLVMSetValueName2(g, RVM__NEED, strlen(RVM__NEED));
    LLVMSetLinkage(g, LLVMExternalLinkage);
}
_Static_assert(sizeof(rvm__native_need) == 56, "seven numbers");

/* A machine whose prepared code says how the interpreter lays out frames; it never runs. */
static bool prepare(rvm__unit *u) {
    rvm_options o = rvm_options_default();
    o.allocator = u->k->al;
    o.unchecked = u->w->unchecked;
    o.trust = u->w->trust;
    o.tolerance = u->w->tolerance;
    o.exact = u->w->exact;
    if ((u->status = rvm_machine_new(u->p, &o, &u->m, u->err))) return false;
    u->m->exact.values_only = u->w->values_only;
    u->status = rvm__prepare(u->m, u->w->fn, false, &u->m->primal_codes);
    if (u->status) rvm__tell_unprepared(u->m, u->status, u->err);
    u->m->codes = u->m->primal_codes;
    return !u->status;
}

/* What of the run is dead, where it does not turn back. Where a side exit is taken or the code was entered within a region
 * the compute part runs backward, though elsewhere it is elided; so that is looked at, too. */
static bool find_dead(rvm__unit *u) {
    const rvm__lowering *w = u->w;
    const rvm__liveness_run run = {.fn = w->fn,
                                   .backward = w->direction < 0,
                                   .whole = !w->standalone,
                                   .unchecked = w->unchecked,
                                   .trust = w->trust,
                                   .discarded = w->standalone ? UINT32_MAX : w->discards};
    if (!w->one_way) return true;
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

/* All that is declared, and what is declared meanwhile. */
static void emit_all(rvm__unit *u) {
    while (!u->status && (u->instances || u->work)) {
        rvm__instance *o = u->instances;
        const rvm__specialisation *v = u->work;
        if (o) {
            u->instances = o->later;
            rvm__emit_instance(o);
        } else {
            u->work = v->later;
            rvm__emit_function(u, v);
        }
    }
}

rvm_status rvm__lower(rvm__build *k, const rvm__lowering *asked, rvm_error *err) {
    rvm__lowering own = *asked;
    const rvm__lowering *what = &own;
    rvm__unit u = {.k = k, .w = what, .p = what->p, .err = err, .memory = {.al = k->al}};
    if (what->fn >= what->p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function %u", what->fn);
    rvm__fresh_find(&u, asked);
    shape(&u, &own);
    const uint32_t n = u.p->nfunctions;
    if (u.status || !prepare(&u)) goto done;
    u.summaries = rvm__unit_alloc(&u, n * sizeof *u.summaries);
    u.reach = rvm__unit_alloc(&u, n * sizeof *u.reach);
    u.specialisations = rvm__unit_alloc(&u, n * sizeof *u.specialisations);
    if (!u.status && !rvm__reach_find(u.p, u.reach)) rvm__out_of_memory(&u);
    if (!u.status && !(u.numbering = rvm__numbering_new(&u.memory, u.p))) rvm__out_of_memory(&u);
    if (u.status) goto done;
    if (what->device && !rvm__outside_new(u.p, &u.outside)) rvm__out_of_memory(&u);
    if (u.status) goto done;
    find_reached(&u);
    rvm__find_depths(&u);
    summarise_functions(&u);
    u.releases_shadows = rvm__releases_shadows(&u);
    if (!find_dead(&u) || !rvm__lines_begin(&u)) goto done;
    if (!(what->standalone ? rvm__standalone_entry : emit_entry)(&u)) goto done;
    emit_all(&u);
    rvm__settle_unit(&u);
    rvm__lines_none(&u);
    if (what->standalone)
        rvm__standalone_texts(&u);
    else
        emit_need(&u);
done:
    rvm__lines_end(&u);
    rvm__liveness_free(u.liveness);
    rvm__outside_free(u.outside);
    rvm__realloc(k->al, u.ends, u.cap_ends * sizeof *u.ends, 0);
    rvm_machine_free(u.m);
    rvm__shaped_free(&u.shaped);
    rvm__zone_free(&u.memory);
    return u.status;
}
