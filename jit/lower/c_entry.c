/* c_entry.c: the C function made of a function of the program (c_function.h says what it takes), and the one that explains
 * what it returns. */
#include "c_function.h"
#include "emit.h"
#include "program.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* ---- what groups of lanes have for a machine ---- */

static LLVMValueRef begin_memory(const rvm__unit *u) {
    rvm__build *k = u->k;
    LLVMTypeRef t = LLVMArrayType2(k->i64, sizeof(rvm__no_machine) / sizeof(uint64_t));
    LLVMValueRef m = LLVMBuildAlloca(k->b, t, "");
    LLVMBuildStore(k->b, LLVMConstNull(t), m);
    return m;
}

static void end_memory(const rvm__unit *u, LLVMValueRef m) {
    rvm__build *k = u->k;
    LLVMTypeRef t = LLVMFunctionType(k->nothing, &k->ptr, 1, false);
    LLVMValueRef at = rvm__build_int(k, offsetof(rvm__no_machine, log)), f = LLVMGetNamedFunction(k->module, "free");
    if (!f) f = LLVMAddFunction(k->module, "free", t);
    LLVMValueRef log = LLVMBuildLoad2(k->b, k->ptr, LLVMBuildInBoundsGEP2(k->b, k->i8, m, &at, 1, ""), "");
    LLVMBuildCall2(k->b, t, f, &log, 1, "");
}

bool rvm__standalone_entry(rvm__unit *u) {
    rvm__build *k = u->k;
    const rvm_function *f = &u->p->functions[u->w->fn];
    const rvm__specialisation *v = rvm__version_of(u, u->w->fn, u->w->direction, true, u->w->discards);
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
    LLVMValueRef memory = u->w->lanes ? begin_memory(u) : LLVMConstNull(k->ptr);
    args[n++] = memory, args[n++] = LLVMConstNull(k->ptr);
    const bool limited = u->recursive && u->w->stack;
    args[n++] =
        limited ? LLVMBuildSub(k->b, rvm__stack_here(k), rvm__build_int(k, (int64_t)u->w->stack), "") : rvm__build_int(k, 0);
    for (int i = 0; i < 2; i++) args[n++] = rvm__build_int(k, 0);
    args[n++] = LLVMConstNull(k->ptr);
    for (uint32_t i = 0; i < f->nparams; i++)
        n += f->params[i].ndim ? give_array(u, entry, i, lengths, args + n) : give_scalar(u, entry, i, args + n);
    LLVMValueRef status = LLVMBuildCall2(k->b, v->type, v->function, args, n, "");
    if (u->w->lanes) end_memory(u, memory);
    LLVMBuildRet(k->b, status);
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
