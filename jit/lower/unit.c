/* unit.c: what all functions of a unit share: memory, functions of the runtime, attributes, constants. */
#include "emit.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* ---- memory ---- */

rvm_status rvm__out_of_memory(rvm__unit *u) {
    if (!u->status) u->status = rvm__fail(u->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory while compiling");
    return u->status;
}

void *rvm__unit_alloc(rvm__unit *u, size_t size) {
    void *p = rvm__zone_make(&u->memory, 1, size);
    if (!p) rvm__out_of_memory(u);
    return p;
}

/* ---- functions and constants ---- */

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

/* Upper halves of registers, which the function has saved and LLVM leaves as they are there (target.c): the library's code
 * takes longer by far where they are not 0. */
static void clear_upper_halves(rvm__build *k) {
    const LLVMValueRef none[1] = {NULL};
    if (k->target->cold_features && k->target->width > 2)
        rvm__build_overloaded(k, "llvm.x86.avx.vzeroupper", 0, NULL, 0, none);
}

/* A function in between that keeps all registers but a few, where the target has a convention for that: else calls would
 * leave little in registers around them. */
static LLVMValueRef between(rvm__emit *e, unsigned convention, const char *name, LLVMTypeRef result, unsigned n,
                            const LLVMValueRef *args) {
    rvm__build *k = e->k;
    char own[80];
    snprintf(own, sizeof own, "rvm.seldom.%s", name);
    LLVMValueRef f = LLVMGetNamedFunction(k->module, own), passed[8];
    if (f) return f;
    LLVMTypeRef t[8];
    for (unsigned i = 0; i < n; i++) t[i] = LLVMTypeOf(args[i]);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    f = LLVMAddFunction(k->module, own, LLVMFunctionType(result, t, n, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(f, convention);
    if (k->target->cold_features) LLVMAddTargetDependentFunctionAttr(f, "target-features", k->target->cold_features);
    rvm__attribute(k, f, -1, "noinline", 0);
    rvm__attribute(k, f, -1, "cold", 0);
    rvm__attribute(k, f, -1, "nounwind", 0);
    rvm__at(e, LLVMAppendBasicBlockInContext(k->context, f, ""));
    for (unsigned i = 0; i < n; i++) passed[i] = LLVMGetParam(f, i);
    clear_upper_halves(k);
    LLVMValueRef v = rvm__call_runtime(e, name, result, n, passed);
    result == k->nothing ? LLVMBuildRetVoid(k->b) : LLVMBuildRet(k->b, v);
    rvm__at(e, here);
    return f;
}

static LLVMValueRef call_by(rvm__emit *e, unsigned convention, const char *name, LLVMTypeRef result, unsigned n,
                            LLVMValueRef *args) {
    if (!convention) return rvm__call_runtime(e, name, result, n, args);
    LLVMValueRef f = between(e, convention, name, result, n, args);
    LLVMValueRef call = LLVMBuildCall2(e->k->b, LLVMGlobalGetValueType(f), f, args, n, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(f));
    return call;
}

LLVMValueRef rvm__call_seldom(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args) {
    return call_by(e, e->k->target->cold, name, result, n, args);
}

LLVMValueRef rvm__call_to_poll(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args) {
    return call_by(e, e->k->target->poll, name, result, n, args);
}

void rvm__attribute(rvm__build *k, LLVMValueRef f, int param, const char *name, uint64_t value) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    const LLVMAttributeIndex at =
        param < 0 ? (LLVMAttributeIndex)LLVMAttributeFunctionIndex : (LLVMAttributeIndex)(1 + param);
    LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(k->context, kind, value));
}

LLVMValueRef rvm__need_constant(rvm__unit *u, uint32_t fn) {
    rvm__build *k = u->k;
    const rvm__native_need *need = &u->summaries[fn].need;
    LLVMValueRef v[7] = {rvm__build_int(k, (int64_t)need->slots),
                         rvm__build_int(k, (int64_t)need->arrays),
                         rvm__build_int(k, (int64_t)need->depth),
                         rvm__build_int(k, (int64_t)need->bytes),
                         rvm__build_int(k, (int64_t)u->dead_found),
                         rvm__build_int(k, 0),
                         rvm__build_int(k, 0)};
    LLVMValueRef g = LLVMAddGlobal(k->module, LLVMArrayType2(k->i64, 7), "need");
    LLVMSetInitializer(g, LLVMConstArray2(k->i64, v, 7));
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}
