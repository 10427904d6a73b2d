/* standalone.c: code that needs no machine: C functions in an object file.
 *
 * What fails ends the call, with a number that says which instruction it was and why; all such ends of the unit stand in a
 * table of texts. No fuel is charged. Local arrays are on the stack where they are small and their lengths constant, else
 * malloc's; a side exit frees those that are there. Trails are not kept: what goes onto one is discarded, and a program
 * that takes something back is refused, as one that uses the stack is. */
#include "c_function.h"
#include "emit.h"
#include "out_of_line.h"
#include "program.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* ---- ends ---- */

uint32_t rvm__end_number(rvm__unit *u, uint32_t fn, uint32_t pc, enum rvm__end_reason reason) {
    for (uint32_t k = u->nends; k-- > 0;)
        if (u->ends[k].fn == fn && u->ends[k].pc == pc && u->ends[k].reason == reason) return k + 1;
    void *list = u->ends;
    if (!rvm__grow(&rvm__libc_allocator, &list, &u->cap_ends, u->nends + 1, sizeof *u->ends)) {
        rvm__out_of_memory(u);
        return 1;
    }
    u->ends = list;
    u->ends[u->nends++] = (rvm__end){fn, pc, reason};
    return u->nends;
}

static LLVMValueRef end_here(rvm__emit *e, enum rvm__end_reason reason) {
    return LLVMConstInt(e->k->i32, rvm__end_number(e->u, e->fn, e->pc, reason), false);
}

void rvm__refuse(rvm__emit *e, const char *why) {
    if (e->u->status) return;
    e->u->status = rvm__fail_at(e->u->err, RVM_ERR_UNSUPPORTED, e->u->p, e->fn, e->pc, "`%s` cannot be a C function: %s",
                                e->f->name, why);
}

void rvm__standalone_exit(rvm__emit *e) {
    rvm__at(e, e->exits);
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!e->array[k].heap) continue;
        LLVMValueRef p = rvm__get(e, e->k->ptr, e->array[k].heap);
        rvm__call_runtime(e, "free", e->k->nothing, 1, &p);
    }
    LLVMBuildRet(e->k->b, rvm__get(e, e->k->i32, e->site));
}

/* Where the C stack ends now, as an i64. */
static LLVMValueRef stack_here(rvm__build *k) {
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
    LLVMValueRef full = LLVMBuildICmp(e->k->b, LLVMIntULT, stack_here(e->k), e->first_slot, "");
    rvm__exit_with(e, full, end_here(e, RVM__END_STACK));
}

/* ---- loops over elements ---- */

typedef struct each {
    LLVMValueRef at, i; /* an alloca; the index in the body */
    LLVMBasicBlockRef head, out;
} each;

static each each_begin(rvm__emit *e, LLVMValueRef n) {
    LLVMBuilderRef b = e->k->b;
    each l = {.at = rvm__local(e, e->k->i64, "at"), .head = rvm__block(e, "each"), .out = rvm__block(e, "out")};
    LLVMBasicBlockRef body = rvm__block(e, "element");
    rvm__put_at(e, rvm__build_int(e->k, 0), l.at);
    LLVMBuildBr(b, l.head);
    rvm__at(e, l.head);
    l.i = rvm__get(e, e->k->i64, l.at);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, l.i, n, ""), body, l.out);
    rvm__at(e, body);
    return l;
}

static void each_end(rvm__emit *e, const each *l) {
    rvm__put_at(e, LLVMBuildNUWAdd(e->k->b, l->i, rvm__build_int(e->k, 1), ""), l->at);
    LLVMBuildBr(e->k->b, l->head);
    rvm__at(e, l->out);
}

static LLVMValueRef indexed(rvm__emit *e, LLVMValueRef data, LLVMValueRef i, LLVMValueRef stride) {
    LLVMValueRef at = LLVMBuildNSWMul(e->k->b, i, stride, "");
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, data, &at, 1, "");
}

/* ---- releases: vm/checks.c, vm/interp/arrays.c ---- */

static double tolerance_here(const rvm__emit *e) {
    return rvm__tolerance_at(e->u->m, e->fn, &e->code->x[e->pc]);
}

static LLVMValueRef larger(rvm__emit *e, LLVMValueRef x, LLVMValueRef other) { /* `other` if x is NaN */
    return LLVMBuildSelect(e->k->b, LLVMBuildFCmp(e->k->b, LLVMRealOGT, x, other, ""), x, other, "");
}

static LLVMValueRef bound_of(rvm__emit *e, LLVMValueRef held) {
    LLVMValueRef one = LLVMConstReal(e->k->f64, 1), size = held ? larger(e, held, one) : one;
    return LLVMBuildFMul(e->k->b, LLVMConstReal(e->k->f64, tolerance_here(e)), size, "");
}

LLVMValueRef rvm__standalone_agrees(rvm__emit *e, LLVMValueRef y, LLVMValueRef f, LLVMValueRef held) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef size = rvm__absolute(e, y), most = held ? larger(e, held, size) : size;
    LLVMValueRef residue = rvm__absolute(e, LLVMBuildFSub(b, y, f, ""));
    return LLVMBuildFCmp(b, LLVMRealOLE, residue, bound_of(e, most), "");
}

LLVMValueRef rvm__standalone_agree_all(rvm__emit *e, rvm_type t, LLVMValueRef data, LLVMValueRef n, LLVMValueRef v,
                                       LLVMValueRef held) {
    LLVMBuilderRef b = e->k->b;
    const bool floating = rvm__is_floating(t);
    LLVMValueRef all = rvm__local(e, e->k->i1, "all");
    LLVMValueRef bound = floating ? bound_of(e, rvm__get(e, e->k->f64, held)) : NULL;
    rvm__put_at(e, LLVMConstInt(e->k->i1, 1, false), all);
    const each l = each_begin(e, n);
    LLVMValueRef is = rvm__get(e, rvm__build_type(e->k, t), indexed(e, data, l.i, rvm__build_int(e->k, 8))), good;
    if (floating) {
        LLVMValueRef residue = rvm__absolute(e, LLVMBuildFSub(b, is, v, ""));
        LLVMValueRef near = LLVMBuildFCmp(b, LLVMRealOLE, residue, bound, "");
        good = LLVMBuildOr(b, LLVMBuildFCmp(b, LLVMRealOEQ, is, v, ""), near, "");
    } else
        good = LLVMBuildICmp(b, LLVMIntEQ, is, v, "");
    rvm__put_at(e, LLVMBuildAnd(b, rvm__get(e, e->k->i1, all), good, ""), all);
    each_end(e, &l);
    return rvm__get(e, e->k->i1, all);
}

/* ---- local arrays ---- */

LLVMValueRef rvm__standalone_new(rvm__emit *e, uint16_t array, LLVMValueRef n, LLVMValueRef bits) {
    rvm__build *k = e->k;
    const bool zero = LLVMIsConstant(bits) && LLVMIsNull(bits);
    LLVMValueRef size = LLVMBuildMul(k->b, n, rvm__build_int(k, sizeof(rvm_value)), ""), one = rvm__build_int(k, 1);
    size = LLVMBuildAdd(k->b, size, rvm__build_int(k, RVM__ARRAY_HEADER), "");
    LLVMValueRef args[2] = {one, size};
    LLVMValueRef p =
        zero ? rvm__call_runtime(e, "calloc", k->ptr, 2, args) : rvm__call_runtime(e, "malloc", k->ptr, 1, &size);
    rvm__exit_with(e, LLVMBuildIsNull(k->b, p, ""), end_here(e, RVM__END_MEMORY));
    rvm__put_at(e, p, e->array[array].heap);
    if (zero) return p;
    rvm__put_at(e, LLVMConstNull(k->f64), p);
    const each l = each_begin(e, n);
    rvm__put_at(e, bits, indexed(e, rvm__member(e, p, RVM__ARRAY_HEADER), l.i, rvm__build_int(k, sizeof(rvm_value))));
    each_end(e, &l);
    return p;
}

void rvm__standalone_del(rvm__emit *e, uint16_t array) {
    LLVMValueRef heap = e->array[array].heap, p = rvm__get(e, e->k->ptr, heap);
    rvm__call_runtime(e, "free", e->k->nothing, 1, &p);
    rvm__put_at(e, LLVMConstNull(e->k->ptr), heap);
}

/* ---- trails ---- */

static void clear_array(rvm__emit *e, uint16_t array, int d, LLVMValueRef data) {
    const each l = each_begin(e, rvm__dimension(e, array, d));
    LLVMValueRef part = indexed(e, data, l.i, rvm__stride(e, array, d));
    if (d + 1 < e->f->arrays[array].ndim)
        clear_array(e, array, d + 1, part);
    else
        rvm__put_at(e, rvm__build_int(e->k, 0), part);
    each_end(e, &l);
}

static void clear(rvm__emit *e, const rvm_place *q, unsigned k) {
    if (q->kind == RVM_PLACE_ARRAY) {
        clear_array(e, q->slot, 0, rvm__get(e, e->k->ptr, e->array[q->slot].data));
        return;
    }
    const rvm__operand o = rvm__operand_of(e, q, k);
    rvm__store(e, &o, LLVMConstNull(rvm__build_type(e->k, o.type)));
}

void rvm__emit_discarded(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    if (op >> 1 == RVM_PAIR_segment) return;
    if (op == RVM_OP_set)
        rvm__emit_update(e, in, x, op);
    else if (op == RVM_OP_drop || op == RVM_OP_shed) {
        for (unsigned k = (unsigned)strcspn(rvm__op_info[op].operands, "m") + 1; k < in->nplaces; k++)
            op == RVM_OP_drop ? clear(e, &q[k], k) : rvm__gone(e, q[k].slot);
    } else
        rvm__refuse(e, rvm__op_on_stack(op) ? "this uses the stack" : "this takes a value back from the trail");
}

/* ---- the C function: c_function.h says what it takes ---- */

static LLVMTypeRef c_type(rvm__unit *u, const rvm_function *f, const rvm__c_lengths *lengths) {
    LLVMTypeRef *t = rvm__unit_alloc(u, (f->nparams + lengths->n + 1) * sizeof *t);
    uint32_t n = 0;
    if (!t) return NULL;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *p = &f->params[k];
        t[n++] = rvm__c_by_value(p) ? rvm__build_type(u->k, (rvm_type)p->type) : u->k->ptr;
    }
    for (uint32_t k = 0; k < lengths->n; k++) t[n++] = u->k->i64;
    return LLVMFunctionType(u->k->i32, t, n, false);
}

/* What a length register or constant is in the C function. */
static LLVMValueRef length_of(rvm__unit *u, LLVMValueRef entry, const rvm_function *f, const rvm__c_lengths *l,
                              uint16_t slot) {
    for (uint32_t k = 0; k < l->n; k++)
        if (l->slot[k] == slot) return LLVMGetParam(entry, f->nparams + k);
    return rvm__build_int(u->k, f->consts[slot - f->nregs].i);
}

static unsigned give_array(rvm__unit *u, LLVMValueRef entry, uint32_t number, const rvm__c_lengths *l, LLVMValueRef *to) {
    const rvm_function *f = &u->p->functions[u->w->fn];
    const rvm_param *p = &f->params[number];
    LLVMValueRef gap = rvm__build_int(u->k, sizeof(rvm_value));
    unsigned n = 0;
    to[n++] = LLVMGetParam(entry, number);
    for (int d = 0; d < p->ndim; d++) to[n++] = length_of(u, entry, f, l, p->dim[d]);
    for (int d = p->ndim; d-- > 0;) {
        to[n + (unsigned)d] = gap;
        gap = LLVMBuildNSWMul(u->k->b, gap, to[1 + d], "");
    }
    n += p->ndim;
    for (int d = 0; d < 2; d++) to[n++] = rvm__build_int(u->k, 0); /* no home */
    if (!u->w->unchecked) to[n++] = LLVMConstNull(u->k->ptr);      /* no largest magnitude */
    return n;
}

static unsigned give_scalar(rvm__unit *u, LLVMValueRef entry, uint32_t number, LLVMValueRef *to) {
    const rvm_param *p = &u->p->functions[u->w->fn].params[number];
    to[0] = LLVMGetParam(entry, number);
    if (rvm__c_by_value(p) || u->w->unchecked || !rvm__is_floating((rvm_type)p->type)) return 1;
    to[1] = LLVMBuildAlloca(u->k->b, u->k->f64, "");
    return 2;
}

static void refuse_negative(rvm__unit *u, LLVMValueRef entry, const rvm_function *f, const rvm__c_lengths *l) {
    rvm__build *k = u->k;
    LLVMValueRef bad = LLVMConstInt(k->i1, 0, false);
    for (uint32_t n = 0; n < l->n; n++) {
        LLVMValueRef length = LLVMGetParam(entry, f->nparams + n);
        bad = LLVMBuildOr(k->b, bad, LLVMBuildICmp(k->b, LLVMIntSLT, length, rvm__build_int(k, 0), ""), "");
    }
    LLVMBasicBlockRef negative = LLVMAppendBasicBlockInContext(k->context, entry, "negative");
    LLVMBasicBlockRef good = LLVMAppendBasicBlockInContext(k->context, entry, "good");
    LLVMBuildCondBr(k->b, bad, negative, good);
    LLVMPositionBuilderAtEnd(k->b, negative);
    LLVMBuildRet(k->b, LLVMConstInt(k->i32, rvm__end_number(u, u->w->fn, 0, RVM__END_LENGTH), false));
    LLVMPositionBuilderAtEnd(k->b, good);
}

bool rvm__standalone_entry(rvm__unit *u) {
    rvm__build *k = u->k;
    const rvm_function *f = &u->p->functions[u->w->fn];
    const rvm__specialisation *v = rvm__version_of(u, u->w->fn, u->w->direction, true, 0);
    LLVMValueRef *args = rvm__unit_alloc(u, (RVM__FIXED_PARAMS + f->nparams * (size_t)RVM__MOST_PARAMS) * sizeof *args);
    rvm__c_lengths *lengths = rvm__unit_alloc(u, sizeof *lengths);
    if (!args || !lengths || !v || !v->function) return false;
    rvm__c_lengths_find(f, lengths);
    LLVMTypeRef type = c_type(u, f, lengths);
    if (!type) return false;
    LLVMValueRef entry = LLVMAddFunction(k->module, u->w->standalone, type);
    rvm__attribute(k, entry, -1, "nounwind", 0);
    rvm__lines_function(u, entry, u->w->fn, u->w->standalone);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, entry, "entry"));
    if (!u->w->trust && lengths->n) refuse_negative(u, entry, f, lengths);
    unsigned n = 0;
    args[n++] = LLVMConstNull(k->ptr), args[n++] = LLVMConstNull(k->ptr);
    const bool limited = u->recursive && u->w->stack;
    args[n++] =
        limited ? LLVMBuildSub(k->b, stack_here(k), rvm__build_int(k, (int64_t)u->w->stack), "") : rvm__build_int(k, 0);
    for (int i = 0; i < 2; i++) args[n++] = rvm__build_int(k, 0);
    args[n++] = LLVMConstNull(k->ptr);
    for (uint32_t i = 0; i < f->nparams; i++)
        n += f->params[i].ndim ? give_array(u, entry, i, lengths, args + n) : give_scalar(u, entry, i, args + n);
    LLVMBuildRet(k->b, LLVMBuildCall2(k->b, v->type, v->function, args, n, ""));
    return true;
}

/* ---- the texts ---- */

static void write_reason(const rvm__unit *u, const rvm__end *end, char *text, size_t size) {
    const char *name = u->p->functions[end->fn].name, *file;
    uint32_t line, column;
    char insn[160];
    rvm_program_position(u->p, end->fn, end->pc, &file, &line, &column);
    int n = file && line ? snprintf(text, size, "%.200s:%u:%u: ", file, line, column) : 0;
    text += n, size -= (size_t)n;
    rvm_program_instruction_text(u->p, end->fn, end->pc, insn, sizeof insn);
    switch (end->reason) {
    case RVM__END_CHECK: snprintf(text, size, "a check fails in `%.100s`, at %s", name, insn); return;
    case RVM__END_MEMORY: snprintf(text, size, "out of memory in `%.100s`, at %s", name, insn); return;
    case RVM__END_DEPTH: snprintf(text, size, "`%.100s` calls more than %u deep", name, u->w->depth); return;
    case RVM__END_STACK:
        snprintf(text, size, "`%.100s` calls deeper than %zu bytes of stack allow", name, u->w->stack);
        return;
    case RVM__END_LENGTH: snprintf(text, size, "a length given to `%.100s` is negative", name); return;
    }
}

static LLVMValueRef text_constant(rvm__unit *u, const char *text) {
    rvm__build *k = u->k;
    const size_t n = strlen(text);
    LLVMValueRef g = LLVMAddGlobal(k->module, LLVMArrayType2(k->i8, n + 1), "text");
    LLVMSetInitializer(g, LLVMConstStringInContext(k->context, text, (unsigned)n, false));
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(g, true);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

void rvm__standalone_texts(rvm__unit *u) {
    rvm__build *k = u->k;
    char name[RVM__C_NAME + sizeof RVM__C_MESSAGE], text[800];
    LLVMValueRef *all = rvm__unit_alloc(u, (u->nends + 2) * sizeof *all);
    if (!all) return;
    all[0] = text_constant(u, "done");
    for (uint32_t n = 0; n < u->nends; n++) {
        write_reason(u, &u->ends[n], text, sizeof text);
        all[1 + n] = text_constant(u, text);
    }
    all[1 + u->nends] = text_constant(u, "no such status");
    LLVMValueRef table = LLVMAddGlobal(k->module, LLVMArrayType2(k->ptr, u->nends + 2), "texts");
    LLVMSetInitializer(table, LLVMConstArray2(k->ptr, all, u->nends + 2));
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(table, true);
    snprintf(name, sizeof name, "%s" RVM__C_MESSAGE, u->w->standalone);
    LLVMValueRef f = LLVMAddFunction(k->module, name, LLVMFunctionType(k->ptr, &k->i32, 1, false));
    rvm__attribute(k, f, -1, "nounwind", 0);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, f, "entry"));
    LLVMValueRef status = LLVMGetParam(f, 0), none = LLVMConstInt(k->i32, u->nends + 1, false);
    LLVMValueRef known = LLVMBuildICmp(k->b, LLVMIntULT, status, none, "");
    LLVMValueRef at = LLVMBuildZExt(k->b, LLVMBuildSelect(k->b, known, status, none, ""), k->i64, "");
    LLVMValueRef place = LLVMBuildInBoundsGEP2(k->b, k->ptr, table, &at, 1, "");
    LLVMBuildRet(k->b, LLVMBuildLoad2(k->b, k->ptr, place, ""));
}
