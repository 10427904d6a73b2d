/* build.c: a module of IR; types and constants, on scalars and in lanes. */
#include "build.h"
#include "instruction.h"
#include "support.h"

#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

bool rvm__build_begin(rvm__build *k, const rvm__traits *target, const char *name) {
    LLVMContextRef c = LLVMContextCreate();
    memset(k, 0, sizeof *k);
    k->target = target;
    k->lanes = 1;
    if (!c) return false;
    k->context = c;
    k->module = LLVMModuleCreateWithNameInContext(name, c);
    k->b = LLVMCreateBuilderInContext(c);
    k->i1 = LLVMInt1TypeInContext(c);
    k->i8 = LLVMInt8TypeInContext(c);
    k->i16 = LLVMInt16TypeInContext(c);
    k->i32 = LLVMInt32TypeInContext(c);
    k->i64 = LLVMInt64TypeInContext(c);
    k->i128 = LLVMInt128TypeInContext(c);
    k->f64 = LLVMDoubleTypeInContext(c);
    k->f32 = LLVMFloatTypeInContext(c);
    k->ptr = LLVMPointerTypeInContext(c, 0);
    k->nothing = LLVMVoidTypeInContext(c);
    return k->module && k->b;
}

void rvm__build_end(rvm__build *k) {
    while (k->kernels) {
        rvm__block_kernel *one = k->kernels;
        k->kernels = one->next;
        rvm__realloc(k->al, one, one->size, 0);
    }
    if (k->b) LLVMDisposeBuilder(k->b);
    if (k->module) LLVMDisposeModule(k->module);
    if (k->context) LLVMContextDispose(k->context);
    memset(k, 0, sizeof *k);
}

LLVMTypeRef rvm__build_lanes(const rvm__build *k, LLVMTypeRef scalar) {
    return k->lanes > 1 ? LLVMVectorType(scalar, k->lanes) : scalar;
}

LLVMTypeRef rvm__build_type(const rvm__build *k, rvm_type t) {
    return rvm__build_lanes(k, rvm__is_floating(t) ? k->f64 : k->i64);
}

LLVMTypeRef rvm__build_bool(const rvm__build *k) {
    return rvm__build_lanes(k, k->i1);
}

LLVMValueRef rvm__build_int(const rvm__build *k, int64_t v) {
    return LLVMConstInt(k->i64, (unsigned long long)v, true);
}

LLVMValueRef rvm__build_splat(const rvm__build *k, LLVMValueRef constant) {
    LLVMValueRef each[RVM__MAX_LANES];
    if (k->lanes == 1) return constant;
    for (unsigned n = 0; n < k->lanes; n++) each[n] = constant;
    return LLVMConstVector(each, k->lanes);
}

/* A double by its bits: what LLVMConstReal makes of a NaN is not said. */
LLVMValueRef rvm__build_value(const rvm__build *k, rvm_type t, rvm_value v) {
    LLVMValueRef bits = rvm__build_int(k, v.i);
    return rvm__build_splat(k, rvm__is_floating(t) ? LLVMConstBitCast(bits, k->f64) : bits);
}

void rvm__build_vectors(const rvm__build *k, LLVMValueRef f, bool allowed) {
    static const char forbids[] = "noimplicitfloat";
    const unsigned kind = LLVMGetEnumAttributeKindForName(forbids, sizeof forbids - 1);
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    if (allowed)
        LLVMRemoveEnumAttributeAtIndex(f, whole, kind);
    else
        LLVMAddAttributeAtIndex(f, whole, LLVMCreateEnumAttribute(k->context, kind, 0));
}

LLVMValueRef rvm__build_overloaded(const rvm__build *k, const char *name, unsigned ntypes, LLVMTypeRef *types, unsigned n,
                                   const LLVMValueRef *x) {
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef args[RVM__MOST_INTRINSIC], f = LLVMGetIntrinsicDeclaration(k->module, id, types, ntypes);
    memcpy(args, x, n * sizeof *x);
    return LLVMBuildCall2(k->b, LLVMIntrinsicGetType(k->context, id, types, ntypes), f, args, n, "");
}

LLVMValueRef rvm__build_intrinsic(const rvm__build *k, const char *name, unsigned n, const LLVMValueRef *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);
    return rvm__build_overloaded(k, name, 1, &t, n, x);
}

void rvm__build_mostly(const rvm__build *k, LLVMValueRef branch, unsigned n, unsigned which) {
    LLVMMetadataRef part[1 + RVM__MOST_WAYS] = {LLVMMDStringInContext2(k->context, "branch_weights", 14)};
    for (unsigned way = 0; way < n; way++)
        part[1 + way] = LLVMValueAsMetadata(LLVMConstInt(k->i32, way == which ? 1 << 20 : 1, false));
    LLVMValueRef weights = LLVMMetadataAsValue(k->context, LLVMMDNodeInContext2(k->context, part, 1 + n));
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(k->context, "prof", 4), weights);
}

bool rvm__build_link(const rvm__build *k, const char *ir) {
    char *why = NULL;
    LLVMModuleRef module;
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "runtime");
    const LLVMBool nameless = LLVMContextShouldDiscardValueNames(k->context);
    LLVMContextSetDiscardValueNames(k->context, false);                         /* as LLVM wants of text */
    const bool refused = LLVMParseIRInContext(k->context, text, &module, &why); /* which takes the text */
    LLVMContextSetDiscardValueNames(k->context, nameless);
    if (refused) {
        LLVMDisposeMessage(why);
        return false;
    }
    LLVMSetTarget(module, LLVMGetTarget(k->module));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(k->module));
    return !LLVMLinkModules2(k->module, module);
}

void rvm__stays_on_host(rvm__build *k, uint32_t line, const char *why) {
    const size_t n = strlen(k->on_host);
    char one[160];
    snprintf(one, sizeof one, "line %u: %.130s", (unsigned)line, why);
    if (!strstr(k->on_host, one)) snprintf(k->on_host + n, sizeof k->on_host - n, "%s%s", n ? "; " : "", one);
}
