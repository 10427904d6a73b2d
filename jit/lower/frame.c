/* frame.c: registers and arrays of a function as allocas; at a side exit the interpreter finds them in its own frame
 * (deoptimisation). */
#include "emit.h"
#include "guarding.h"
#include "analysis.h"
#include "blocks.h"
#include "walk.h"

#include <stddef.h>

/* ---- the start ---- */

static bool has_magnitudes(const rvm__emit *e) {
    return !e->u->w->unchecked;
}

/* What is not present is 0 in the interpreter's frames. */
static LLVMValueRef absent(rvm__emit *e, LLVMValueRef address, rvm_type t) {
    rvm__put_at(e, LLVMConstNull(rvm__build_type(e->k, t)), address);
    return address;
}

/* Types of the slots: registers; hidden ones are i64, but for the partial sums of parallel blocks, which stand in one
 * alloca for each register. */
static void make_sums(rvm__emit *e, uint32_t pc) {
    const rvm__xinsn *x = &e->code->x[pc];
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)x->to.jump2 + k];
        LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)s->type);
        LLVMValueRef all = rvm__local(e, LLVMArrayType2(t, RVM__SUMS), "sums");
        for (unsigned n = 0; n < RVM__SUMS; n++)
            e->frame.reg[x->to.hidden + RVM__SUMS * k + n] =
                absent(e, rvm__member(e, all, n * sizeof(rvm_value)), (rvm_type)s->type);
    }
}

static void make_slots(rvm__emit *e) {
    const rvm_function *f = e->f;
    RVM__EACH_INSN(x, f)
        if (x.in->op == RVM_OP_par) make_sums(e, x.pc);
    for (uint32_t k = 0; k < e->code->slots; k++) {
        if (k >= f->nregs && k < f->nregs + f->nconsts) continue;
        const rvm_type t = k < f->nregs ? (rvm_type)f->reg_type[k] : RVM_I64;
        if (!e->frame.reg[k]) e->frame.reg[k] = absent(e, rvm__local(e, rvm__build_type(e->k, t), "r"), t);
        if (k < f->nregs && rvm__is_floating(t) && has_magnitudes(e)) e->frame.held[k] = rvm__local(e, e->k->f64, "held");
    }
}

static void make_arrays(rvm__emit *e) {
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        rvm__array_ir *a = &e->frame.array[k];
        a->data = rvm__local(e, e->k->ptr, "data");
        if (has_magnitudes(e)) a->magnitude = rvm__local(e, e->k->ptr, "magnitude");
        a->base = rvm__local(e, e->k->i16, "base");
        a->present = rvm__local(e, e->k->i8, "present");
        a->home = rvm__local(e, e->k->i64, "home");
        a->offset = rvm__local(e, e->k->i64, "offset");
        a->own = rvm__local(e, e->k->i1, "own");
        a->bytes = e->vectorised ? rvm__alloca_bytes(e->u, e->fn, (uint16_t)k) : rvm__local_bytes(e->u, e->fn, (uint16_t)k);
        a->few = a->bytes && (e->at || !rvm__alloca_bytes(e->u, e->fn, (uint16_t)k)); /* entered, it may be in the arena */
        if (a->bytes) {
            const uint64_t before = e->vectorised ? 0 : RVM__LINE - RVM__ARRAY_HEADER; /* so that elements fill lines */
            LLVMValueRef lines = rvm__local(e, LLVMArrayType2(e->k->i8, before + a->bytes), "array");
            LLVMSetAlignment(lines, RVM__LINE);
            a->memory = rvm__member(e, lines, before);
        }
        if (a->magnitude && e->vectorised && rvm__appears(e->f, (uint16_t)k)) a->header = rvm__local(e, e->k->f64, "held");
        if (!a->memory && rvm__is_standalone(e) && rvm__appears(e->f, (uint16_t)k)) {
            a->heap = rvm__local(e, e->k->ptr, "heap");
            rvm__put_at(e, LLVMConstNull(e->k->ptr), a->heap);
        }
        rvm__put_at(e, rvm__build_int(e->k, 0), a->home);
        rvm__put_at(e, rvm__build_int(e->k, 0), a->offset);
        rvm__put_at(e, LLVMConstInt(e->k->i1, 0, false), a->own);
        rvm__put_at(e, LLVMConstInt(e->k->i16, k, false), a->base);
        rvm__put_at(e, LLVMConstInt(e->k->i8, 0, false), a->present);
        for (int d = 0; d < e->f->arrays[k].ndim; d++) {
            a->dim[d] = rvm__local(e, e->k->i64, "dim");
            a->stride[d] = rvm__local(e, e->k->i64, "stride");
        }
    }
}

void rvm__know_lengths(rvm__emit *e) {
    for (uint32_t k = 0; k < e->f->nparams; k++) {
        const rvm_param *param = &e->f->params[k];
        for (int d = 0; d < param->ndim; d++) {
            LLVMValueRef length = rvm__known_length(e->u, e->fn, param->dim[d]);
            if (!length) continue;
            rvm__put_at(e, length, e->frame.array[param->index].dim[d]);
            rvm__put_at(e, length, e->frame.reg[param->dim[d]]);
        }
    }
}

/* ---- parameters ---- */

static void take_array(rvm__emit *e, const rvm_param *param, unsigned *at) {
    rvm__array_ir *a = &e->frame.array[param->index];
    rvm__put_at(e, LLVMGetParam(e->function, (*at)++), a->data);
    for (int d = 0; d < param->ndim; d++) {
        LLVMValueRef length = LLVMGetParam(e->function, (*at)++);
        rvm__put_at(e, length, a->dim[d]);
        if (param->dim[d] < e->f->nregs) rvm__put_at(e, length, e->frame.reg[param->dim[d]]);
    }
    for (int d = 0; d < param->ndim; d++) rvm__put_at(e, LLVMGetParam(e->function, (*at)++), a->stride[d]);
    rvm__put_at(e, LLVMGetParam(e->function, (*at)++), a->home);
    rvm__put_at(e, LLVMGetParam(e->function, (*at)++), a->offset);
    if (a->magnitude) rvm__put_at(e, LLVMGetParam(e->function, (*at)++), a->magnitude);
    rvm__put_at(e, LLVMConstInt(e->k->i8, 1, false), a->present);
}

static bool gives_back(const rvm_param *param) {
    return !param->ndim && param->role != RVM_READ;
}

static void take_scalar(rvm__emit *e, uint32_t n, unsigned *at) {
    const rvm_param *param = &e->f->params[n];
    LLVMValueRef given = LLVMGetParam(e->function, (*at)++);
    if (rvm__takes_conflict(e->block.passed, e->f, n)) {
        *at += has_magnitudes(e) && rvm__is_floating((rvm_type)param->type);
        e->block.added[param->index] = given;
        return;
    }
    if (gives_back(param)) {
        given = rvm__get(e, rvm__build_type(e->k, (rvm_type)param->type), given);
        *at += has_magnitudes(e) && rvm__is_floating((rvm_type)param->type);
    }
    rvm__put_at(e, given, e->frame.reg[param->index]);
    if (e->frame.held[param->index]) rvm__put_at(e, rvm__absolute(e, given), e->frame.held[param->index]);
}

/* Parameters that are to be given back, and largest magnitudes with them. */
static void give_back(rvm__emit *e) {
    unsigned at = RVM__FIXED_PARAMS;
    for (uint32_t k = 0; k < e->f->nparams; k++) {
        const rvm_param *param = &e->f->params[k];
        if (param->ndim) {
            at += rvm__array_params(param->ndim, has_magnitudes(e));
            continue;
        }
        LLVMValueRef to = LLVMGetParam(e->function, at++);
        if (!gives_back(param)) continue;
        if (rvm__takes_conflict(e->block.passed, e->f, k)) {
            at += has_magnitudes(e) && rvm__is_floating((rvm_type)param->type);
            continue;
        }
        LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)param->type);
        rvm__put_at(e, rvm__get(e, t, e->frame.reg[param->index]), to);
        if (e->frame.held[param->index])
            rvm__put_at(e, rvm__get(e, t, e->frame.held[param->index]), LLVMGetParam(e->function, at++));
    }
}

static bool allocate(rvm__emit *e) {
    const rvm_function *f = e->f;
    rvm__unit *u = e->u;
    e->frame.reg = rvm__unit_alloc(u, (e->code->slots + 1) * sizeof *e->frame.reg);
    e->frame.held = rvm__unit_alloc(u, (e->code->slots + 1) * sizeof *e->frame.held);
    e->frame.array = rvm__unit_alloc(u, (f->narrays + 1u) * sizeof *e->frame.array);
    e->control.elided = rvm__unit_alloc(u, f->ncode);
    e->count.before = rvm__unit_alloc(u, f->ncode * sizeof *e->count.before);
    e->control.strips = rvm__unit_alloc(u, f->ncode * sizeof *e->control.strips);
    return e->frame.reg && e->frame.held && e->frame.array && e->control.elided && e->count.before && e->control.strips;
}

bool rvm__frame_make(rvm__emit *e) {
    rvm__build *k = e->k;
    if (!allocate(e) || !rvm__find_segments(e)) return false;
    e->frame.entry = rvm__block(e, "entry");
    LLVMBasicBlockRef begin = rvm__block(e, "begin");
    e->frame.exits = rvm__block(e, "exits");
    e->frame.done = rvm__block(e, "done");
    rvm__at(e, begin);
    rvm__lines_function(e->u, e->function, e->fn, e->f->name);
    e->count.charged = rvm__local(e, k->i64, "charged");
    e->count.calls = rvm__local(e, k->i64, "calls");
    e->count.below = rvm__local(e, k->i64, "below");
    if (e->u->w->exact) e->count.exact = rvm__local(e, k->i64, "exact");
    e->frame.site = rvm__local(e, k->i32, "site");
    for (int n = 0; n < RVM__ERASED; n++) e->count.erased[n] = rvm__local(e, k->i64, "erased");
    if (e->u->w->exact) rvm__exact_begin(e), rvm__window_make(e);
    make_slots(e);
    make_arrays(e);
    rvm__make_magnitudes(e);
    rvm__find_elisions(e);
    return e->vectorised || e->u->w->standalone || rvm__find_guards(e);
}

bool rvm__frame_begin(rvm__emit *e) {
    e->frame.machine = LLVMGetParam(e->function, 0);
    e->frame.native = LLVMGetParam(e->function, 1);
    e->frame.first_slot = LLVMGetParam(e->function, 2);
    e->frame.first_array = LLVMGetParam(e->function, 3);
    e->frame.number = LLVMGetParam(e->function, 4);
    if (!e->block.chunk) e->count.counts = LLVMGetParam(e->function, RVM__COUNTS_PARAM);
    if (!rvm__frame_make(e)) return false;
    rvm__begin_counts(e);
    rvm__window_take(e);
    return true;
}

void rvm__take_parameters(rvm__emit *e) {
    unsigned at = RVM__FIXED_PARAMS;
    for (uint32_t n = 0; n < e->f->nparams; n++)
        e->f->params[n].ndim ? take_array(e, &e->f->params[n], &at) : take_scalar(e, n, &at);
    rvm__know_lengths(e);
}

/* ---- side exits ---- */

/* Of an array in an alloca, where it is there: its elements go to the machine. */
static LLVMValueRef take_out(rvm__emit *e, const rvm__array_ir *a) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef some = rvm__block(e, "outside"), on = rvm__block(e, "on"), here = LLVMGetInsertBlock(k->b);
    LLVMValueRef bytes = rvm__build_int(k, (int64_t)a->bytes);
    LLVMBuildCondBr(k->b, rvm__get(e, k->i1, a->own), some, on);
    rvm__at(e, some);
    LLVMValueRef args[2] = {e->frame.machine, bytes}, to = rvm__call_runtime(e, "rvm__native_outside", k->ptr, 2, args);
    LLVMBuildMemCpy(k->b, to, sizeof(rvm_value), a->memory, RVM__ARRAY_HEADER, bytes);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    LLVMValueRef phi = LLVMBuildPhi(k->b, k->ptr, ""), values[2] = {LLVMConstNull(k->ptr), to};
    LLVMBasicBlockRef from[2] = {here, some};
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

static void write_array(rvm__emit *e, LLVMValueRef arrays, uint32_t n) {
    const rvm_array_decl *decl = &e->f->arrays[n];
    const rvm__array_ir *a = &e->frame.array[n];
    rvm__build *k = e->k;
    LLVMValueRef to = rvm__member(e, arrays, n * sizeof(rvm__array)), null = LLVMConstNull(k->ptr);
    LLVMValueRef out = a->memory ? take_out(e, a) : NULL, home = rvm__get(e, k->i64, a->home);
    LLVMValueRef in_place = LLVMBuildICmp(k->b, LLVMIntEQ, home, rvm__build_int(k, 0), "");
    LLVMValueRef offset = LLVMBuildIntToPtr(k->b, rvm__get(e, k->i64, a->offset), k->ptr, "");
    LLVMValueRef data = LLVMBuildSelect(k->b, in_place, rvm__get(e, k->ptr, a->data), offset, ""), magnitude = null;
    if (a->magnitude) magnitude = LLVMBuildSelect(k->b, in_place, rvm__get(e, k->ptr, a->magnitude), null, "");
    LLVMValueRef own = out ? rvm__get(e, k->i1, a->own) : LLVMConstInt(k->i1, 0, false);
    if (out) {
        data = LLVMBuildSelect(k->b, own, rvm__member(e, out, RVM__ARRAY_HEADER), data, "");
        home = LLVMBuildSelect(k->b, own, rvm__build_int(k, 0), home, "");
        if (a->magnitude && rvm__is_floating((rvm_type)decl->type))
            magnitude = LLVMBuildSelect(k->b, own, out, magnitude, "");
    }
#define FIELD(name) rvm__member(e, to, offsetof(rvm__array, name))
    rvm__put_at(e, data, FIELD(data));
    rvm__put_at(e, LLVMBuildIntToPtr(k->b, home, k->ptr, ""), FIELD(shadow));
    rvm__put_at(e, magnitude, FIELD(magnitude));
    rvm__put_at(e, LLVMBuildZExt(k->b, own, k->i8, ""), FIELD(outside));
    rvm__put_at(e, LLVMConstInt(k->i16, decl->ndim, false), FIELD(ndim));
    rvm__put_at(e, rvm__get(e, k->i16, a->base), FIELD(base));
    rvm__put_at(e, LLVMConstInt(k->i8, decl->type, false), FIELD(type));
    rvm__put_at(e, rvm__get(e, k->i8, a->present), FIELD(present));
    for (int d = 0; d < decl->ndim; d++) {
        rvm__put_at(e, rvm__get(e, k->i64, a->dim[d]), rvm__member(e, to, offsetof(rvm__array, dim) + 8 * (size_t)d));
        rvm__put_at(e, rvm__get(e, k->i64, a->stride[d]), rvm__member(e, to, offsetof(rvm__array, stride) + 8 * (size_t)d));
    }
#undef FIELD
}

static LLVMValueRef sites_constant(rvm__emit *e) {
    rvm__build *k = e->k;
    LLVMTypeRef field[9] = {k->i32, k->i32, k->i8, k->i8, k->i8, k->i8, k->i8, k->i8, k->i16},
                t = LLVMStructTypeInContext(k->context, field, 9, false);
    LLVMValueRef *all = rvm__unit_alloc(e->u, (e->frame.nsites + 1) * sizeof *all);
    if (!all) return LLVMConstNull(k->ptr);
    for (uint32_t n = 0; n < e->frame.nsites; n++) {
        const rvm__native_site *s = &e->frame.sites[n];
        LLVMValueRef v[9] = {LLVMConstInt(k->i32, s->fn, false),          LLVMConstInt(k->i32, s->pc, false),
                             LLVMConstInt(k->i8, (uint8_t)s->dir, false), LLVMConstInt(k->i8, s->deeper, false),
                             LLVMConstInt(k->i8, s->calling, false),      LLVMConstInt(k->i8, s->against, false),
                             LLVMConstInt(k->i8, s->restoring, false),    LLVMConstInt(k->i8, s->guards, false),
                             LLVMConstInt(k->i16, s->segments, false)};
        all[n] = LLVMConstStructInContext(k->context, v, 9, false);
    }
    LLVMValueRef g = LLVMAddGlobal(k->module, LLVMArrayType2(t, e->frame.nsites), "sites");
    LLVMSetInitializer(g, LLVMConstArray2(t, all, e->frame.nsites));
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(g, true);
    return g;
}
_Static_assert(sizeof(rvm__native_site) == 16 && offsetof(rvm__native_site, dir) == 8, "as in IR");

static enum rvm__homed homed(const rvm__emit *e, uint32_t reg) {
    return e->frame.homed ? (enum rvm__homed)e->frame.homed[reg] : RVM__HOMELESS;
}

static void write_magnitudes(rvm__emit *e) {
    LLVMValueRef args[2] = {e->frame.machine, e->frame.first_slot};
    LLVMValueRef held = rvm__call_runtime(e, "rvm__native_magnitudes", e->k->ptr, 2, args);
    for (uint32_t n = 0; n < e->f->nregs; n++) {
        if (!e->frame.held[n] || homed(e, n) == RVM__HOMED) continue;
        LLVMValueRef at = homed(e, n) ? rvm__member(e, e->frame.home, n * sizeof(rvm_value)) : e->frame.held[n];
        LLVMValueRef v = rvm__get(e, e->k->f64, at);
        rvm__put_at(e, homed(e, n) ? rvm__absolute(e, v) : v,
                    rvm__member(e, held, rvm__machine_slot(e, n) * sizeof(double)));
    }
}

/* LLVM would try long to make vectors of what is stored side by side, and of all that it depends on. */
static void keep_apart(LLVMBasicBlockRef b) {
    for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
        if (LLVMIsAStoreInst(in)) LLVMSetVolatile(in, true);
}

/* All frames are written: the callee's before the caller's. */
static void write_frame(rvm__emit *e) {
    rvm__build *k = e->k;
    rvm__at(e, e->frame.exits);
    rvm__join_magnitudes(e);
    rvm__window_give(e);
    LLVMBasicBlockRef joined = LLVMGetInsertBlock(k->b);
    LLVMValueRef index = LLVMBuildZExt(k->b, rvm__get(e, k->i32, e->frame.site), k->i64, "");
    LLVMValueRef at = LLVMBuildMul(k->b, index, rvm__build_int(k, sizeof(rvm__native_site)), "");
    LLVMValueRef site = LLVMBuildInBoundsGEP2(k->b, k->i8, sites_constant(e), &at, 1, "");
    LLVMValueRef args[6] = {e->frame.machine,    site,
                            e->frame.first_slot, e->frame.first_array,
                            e->frame.number,     e->frame.home ? e->frame.home : LLVMConstNull(k->ptr)};
    LLVMValueRef slots = rvm__call_runtime(e, "rvm__native_exit", k->ptr, 6, args);
    if (e->u->w->profile) rvm__tally_exit_path(e);
    rvm__attribute(k, LLVMGetNamedFunction(k->module, "rvm__native_exit"), 5, "nocapture",
                   0); /* reads a home, and may write it */
    for (uint32_t n = 0; n < e->code->slots; n++) {
        if (!e->frame.reg[n] || (n < e->f->nregs && homed(e, n))) continue;
        const rvm_type t = n < e->f->nregs ? (rvm_type)e->f->reg_type[n] : RVM_I64;
        rvm__put_at(e, rvm__get(e, rvm__build_type(k, t), e->frame.reg[n]),
                    rvm__member(e, slots, rvm__machine_slot(e, n) * sizeof(rvm_value)));
    }
    if (has_magnitudes(e)) write_magnitudes(e);
    LLVMValueRef arrays_args[2] = {e->frame.machine, e->frame.first_array};
    LLVMValueRef arrays = rvm__call_runtime(e, "rvm__native_arrays", k->ptr, 2, arrays_args);
    for (uint32_t n = 0; n < e->f->narrays; n++) write_array(e, arrays, n);
    keep_apart(joined); /* but counts, which are values of the caller's where this is inlined */
    rvm__end_counts(e);
    LLVMBuildRet(k->b, LLVMConstInt(k->i32, 1, false));
}

void rvm__frame_end(rvm__emit *e) {
    rvm__build *k = e->k;
    rvm__at(e, e->frame.done);
    rvm__join_parameters(e);
    rvm__window_give(e);
    rvm__end_counts(e);
    rvm__share_end(e);
    if (!e->block.chunk) give_back(e);
    LLVMBuildRet(k->b, LLVMConstInt(k->i32, 0, false));
    rvm__frame_close(e);
}

void rvm__frame_close(rvm__emit *e) {
    rvm__build *k = e->k;
    rvm__join_exits(e);
    if (e->frame.nsites && e->u->w->standalone) {
        rvm__at(e, e->frame.exits);
        rvm__aside_free_all(e);
        rvm__standalone_exit(e);
    } else if (e->frame.nsites) {
        rvm__make_homes(e);
        write_frame(e);
    } else {
        rvm__at(e, e->frame.exits);
        LLVMBuildUnreachable(k->b);
    }
    rvm__keep_counts(e);
    rvm__at(e, e->frame.entry);
    LLVMBuildBr(k->b, LLVMGetNextBasicBlock(e->frame.entry));
}
