/* group.c: what makes a group's values: vectors of all lanes, rows of such, masks, and bailing out. */
#include "group.h"

#include <string.h>

/* ---- vectors ---- */

unsigned rvm__width_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

LLVMTypeRef rvm__vector_of(const rvm__group *g, LLVMTypeRef t) {
    const unsigned width = rvm__width_of(t);
    return LLVMVectorType(width > 1 ? LLVMGetElementType(t) : t, width * g->lanes);
}

LLVMValueRef rvm__splat(rvm__group *g, LLVMValueRef scalar) {
    LLVMValueRef each[RVM__MOST_GROUP], first = LLVMConstInt(g->k->i32, 0, false);
    for (unsigned n = 0; n < g->lanes; n++) each[n] = scalar;
    if (LLVMIsConstant(scalar)) return LLVMConstVector(each, g->lanes);
    LLVMValueRef v = LLVMGetPoison(rvm__vector_of(g, LLVMTypeOf(scalar)));
    v = LLVMBuildInsertElement(g->k->b, v, scalar, first, "");
    return LLVMBuildShuffleVector(g->k->b, v, v, LLVMConstNull(rvm__vector_of(g, g->k->i32)), "");
}

LLVMValueRef rvm__steps(rvm__group *g, LLVMValueRef stride) {
    LLVMValueRef each[RVM__MOST_GROUP];
    for (unsigned n = 0; n < g->lanes; n++) each[n] = LLVMConstInt(g->k->i64, n, false);
    return LLVMBuildMul(g->k->b, rvm__splat(g, stride), LLVMConstVector(each, g->lanes), "");
}

LLVMValueRef rvm__row_of(rvm__group *g, LLVMValueRef rows, unsigned n) {
    LLVMTypeRef t = LLVMTypeOf(rows), types[2] = {LLVMVectorType(LLVMGetElementType(t), g->lanes), t};
    LLVMValueRef args[2] = {rows, LLVMConstInt(g->k->i64, n * g->lanes, false)};
    return rvm__build_overloaded(g->k, "llvm.vector.extract", 2, types, 2, args);
}

LLVMValueRef rvm__with_row(rvm__group *g, LLVMValueRef rows, LLVMValueRef row, unsigned n) {
    LLVMTypeRef types[2] = {LLVMTypeOf(rows), LLVMTypeOf(row)};
    LLVMValueRef args[3] = {rows, row, LLVMConstInt(g->k->i64, n * g->lanes, false)};
    return rvm__build_overloaded(g->k, "llvm.vector.insert", 2, types, 3, args);
}

static LLVMValueRef rows_in_all(rvm__group *g, LLVMValueRef one) {
    LLVMValueRef rows = LLVMGetPoison(rvm__vector_of(g, LLVMTypeOf(one)));
    for (unsigned n = 0; n < rvm__width_of(LLVMTypeOf(one)); n++) {
        LLVMValueRef x = LLVMBuildExtractElement(g->k->b, one, LLVMConstInt(g->k->i32, n, false), "");
        rows = rvm__with_row(g, rows, rvm__splat(g, x), n);
    }
    return rows;
}

LLVMValueRef rvm__one(rvm__group *g, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(&g->flow, v);
    return i ? i->one : v;
}

LLVMValueRef rvm__many(rvm__group *g, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(&g->flow, v);
    if (i && i->varying) return i->many;
    return (rvm__width_of(LLVMTypeOf(v)) > 1 ? rows_in_all : rvm__splat)(g, i ? i->one : v);
}

/* Lane n and the one that many behind it, until one is left. */
static LLVMValueRef tree_of(rvm__group *g, LLVMValueRef v) {
    LLVMBuilderRef b = g->k->b;
    for (unsigned n = g->lanes / 2; n > 0; n /= 2) {
        LLVMValueRef low[RVM__MOST_GROUP], high[RVM__MOST_GROUP];
        for (unsigned k = 0; k < n; k++) {
            low[k] = LLVMConstInt(g->k->i32, k, false);
            high[k] = LLVMConstInt(g->k->i32, k + n, false);
        }
        v = LLVMBuildFAdd(b, LLVMBuildShuffleVector(b, v, v, LLVMConstVector(low, n), ""),
                          LLVMBuildShuffleVector(b, v, v, LLVMConstVector(high, n), ""), "");
    }
    return rvm__lane_of(g, v, 0);
}

LLVMValueRef rvm__sum_of(rvm__group *g, LLVMValueRef v, bool real) {
    if (real && g->ordered) return tree_of(g, v);
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMValueRef args[2] = {LLVMConstReal(g->k->f64, -0.0), v};
    LLVMValueRef sum = real ? rvm__build_overloaded(g->k, "llvm.vector.reduce.fadd", 1, &t, 2, args)
                            : rvm__build_overloaded(g->k, "llvm.vector.reduce.add", 1, &t, 1, args + 1);
    if (real) LLVMSetFastMathFlags(sum, LLVMFastMathAllowReassoc | LLVMFastMathNoSignedZeros);
    return sum;
}

void rvm__add_to(rvm__group *g, LLVMValueRef where, LLVMValueRef v, bool real) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef was = LLVMBuildLoad2(b, LLVMTypeOf(v), where, "");
    LLVMBuildStore(b, real ? LLVMBuildFAdd(b, was, v, "") : LLVMBuildAdd(b, was, v, ""), where);
}

/* ---- blocks ---- */

LLVMBasicBlockRef rvm__group_block(rvm__group *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->k->context, g->to, name);
}

LLVMValueRef rvm__group_local(rvm__group *g, LLVMTypeRef t) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->k->b);
    LLVMValueRef first = LLVMGetFirstInstruction(g->entry);
    if (first)
        LLVMPositionBuilderBefore(g->k->b, first);
    else
        LLVMPositionBuilderAtEnd(g->k->b, g->entry);
    LLVMValueRef a = LLVMBuildAlloca(g->k->b, t, "");
    LLVMSetAlignment(a, 64);
    LLVMPositionBuilderAtEnd(g->k->b, here);
    return a;
}

/* ---- masks; NULL: all lanes ---- */

LLVMValueRef rvm__any(rvm__group *g, LLVMValueRef mask) {
    LLVMTypeRef t = LLVMIntTypeInContext(g->k->context, g->lanes);
    return LLVMBuildICmp(g->k->b, LLVMIntNE, LLVMBuildBitCast(g->k->b, mask, t, ""), LLVMConstNull(t), "");
}

/* By choice, not by arithmetic: what inactive lanes hold means nothing. */
LLVMValueRef rvm__both(rvm__group *g, LLVMValueRef mask, LLVMValueRef c) {
    return mask ? LLVMBuildSelect(g->k->b, mask, c, LLVMConstNull(LLVMTypeOf(c)), "") : c;
}

void rvm__bail_group_out(rvm__group *g, LLVMValueRef cond) {
    LLVMBasicBlockRef on = rvm__group_block(g, "ok");
    LLVMBuildCondBr(g->k->b, cond, g->bailed_out, on);
    LLVMPositionBuilderAtEnd(g->k->b, on);
}

void rvm__bail_out_where(rvm__group *g, LLVMValueRef cond, bool if_true, LLVMValueRef mask) {
    const bool varies = rvm__is_varying(&g->flow, cond);
    if (varies && g->traces) return;
    LLVMValueRef c = varies ? rvm__many(g, cond) : rvm__one(g, cond);
    if (!if_true) c = LLVMBuildNot(g->k->b, c, "");
    rvm__bail_group_out(g, varies ? rvm__any(g, rvm__both(g, mask, c)) : c);
}
