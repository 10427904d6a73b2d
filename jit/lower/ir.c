/* ir.c: blocks, memory and branches of the function that is emitted. */
#include "emit.h"

#include <string.h>

LLVMBasicBlockRef rvm__block(rvm__emit *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->k->context, e->function, name);
}

void rvm__at(rvm__emit *e, LLVMBasicBlockRef b) {
    LLVMPositionBuilderAtEnd(e->k->b, b);
}

LLVMValueRef rvm__get(rvm__emit *e, LLVMTypeRef t, LLVMValueRef address) {
    return LLVMBuildLoad2(e->k->b, t, address, "");
}

void rvm__put_at(rvm__emit *e, LLVMValueRef value, LLVMValueRef address) {
    LLVMBuildStore(e->k->b, value, address);
}

/* As LLVM's type-based alias analysis has it: types without members under one root. */
static LLVMValueRef of_kind(rvm__emit *e, enum rvm__memory kind, LLVMValueRef access) {
    static const char *const names[] = {"elements", "magnitudes", "state of trails", "cells of trails"};
    LLVMContextRef c = e->k->context;
    LLVMMetadataRef root = LLVMMDStringInContext2(c, "rvm", 3), zero = LLVMValueAsMetadata(rvm__build_int(e->k, 0));
    root = LLVMMDNodeInContext2(c, &root, 1);
    LLVMMetadataRef type[3] = {LLVMMDStringInContext2(c, names[kind], strlen(names[kind])), root, zero};
    LLVMMetadataRef node = LLVMMDNodeInContext2(c, type, 3), tag[3] = {node, node, zero};
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(c, "tbaa", 4), LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, tag, 3)));
    return access;
}

LLVMValueRef rvm__get_from(rvm__emit *e, enum rvm__memory kind, LLVMTypeRef t, LLVMValueRef address) {
    return of_kind(e, kind, LLVMBuildLoad2(e->k->b, t, address, ""));
}

void rvm__put_into(rvm__emit *e, enum rvm__memory kind, LLVMValueRef value, LLVMValueRef address) {
    of_kind(e, kind, LLVMBuildStore(e->k->b, value, address));
}

LLVMValueRef rvm__member(rvm__emit *e, LLVMValueRef address, size_t offset) {
    LLVMValueRef bytes = rvm__build_int(e->k, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, address, &bytes, 1, "");
}

/* In the entry block, whose terminator is added last. */
LLVMValueRef rvm__local(rvm__emit *e, LLVMTypeRef t, const char *name) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(e->k->b); /* which an instruction found there would change */
    LLVMValueRef first = LLVMGetFirstInstruction(e->frame.entry);
    if (first)
        LLVMPositionBuilderBefore(e->k->b, first);
    else
        rvm__at(e, e->frame.entry);
    LLVMValueRef a = LLVMBuildAlloca(e->k->b, t, name);
    rvm__at(e, here);
    LLVMSetCurrentDebugLocation2(e->k->b, line);
    return a;
}

void rvm__unlikely(rvm__emit *e, LLVMValueRef branch) {
    rvm__build_mostly(e->k, branch, 2, 1);
}

LLVMValueRef rvm__absolute(rvm__emit *e, LLVMValueRef x) {
    return rvm__build_intrinsic(e->k, "llvm.fabs", 1, &x);
}

/* ---- loops over elements ---- */

rvm__each rvm__each_begin(rvm__emit *e, LLVMValueRef n) {
    LLVMBuilderRef b = e->k->b;
    rvm__each l = {.at = rvm__local(e, e->k->i64, "at"), .head = rvm__block(e, "each"), .out = rvm__block(e, "out")};
    LLVMBasicBlockRef body = rvm__block(e, "element");
    rvm__put_at(e, rvm__build_int(e->k, 0), l.at);
    LLVMBuildBr(b, l.head);
    rvm__at(e, l.head);
    l.i = rvm__get(e, e->k->i64, l.at);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, l.i, n, ""), body, l.out);
    rvm__at(e, body);
    return l;
}

void rvm__each_end(rvm__emit *e, const rvm__each *l) {
    rvm__put_at(e, LLVMBuildNUWAdd(e->k->b, l->i, rvm__build_int(e->k, 1), ""), l->at);
    LLVMBuildBr(e->k->b, l->head);
    rvm__at(e, l->out);
}
