/* near.c: functions of SLEEF's set that are ours (isa/table/sleef_near.inc), as instructions of all lanes: no call, before
 * which vectors leave their registers, and for LLVM to order among others. The bits are those of the calls, but where 4 ulp
 * are allowed.
 */
#include <string.h>

#include "functions.h"
#include "group.h"

enum { MOST_INLINED = 32 }; /* in a group, whose code grows by 25 to 45 operations with each */

typedef LLVMValueRef reals, which;

static LLVMValueRef number_in_all(const rvm__group *g, double x) {
    LLVMValueRef each[RVM__MOST_GROUP];
    for (unsigned lane = 0; lane < g->lanes; lane++) each[lane] = LLVMConstReal(g->k->f64, x);
    return LLVMConstVector(each, g->lanes);
}

static LLVMValueRef bits_of(const rvm__group *g, LLVMValueRef x) {
    return LLVMBuildBitCast(g->k->b, x, LLVMVectorType(g->k->i64, g->lanes), "");
}
static LLVMValueRef reals_of(const rvm__group *g, LLVMValueRef bits) {
    return LLVMBuildBitCast(g->k->b, bits, LLVMVectorType(g->k->f64, g->lanes), "");
}

/* ---- the words of sleef_near.inc ---- */

#define HERE             const rvm__group *g,
#define AT               g,
#define plus(x, y)       LLVMBuildFAdd(g->k->b, x, y, "")
#define minus(x, y)      LLVMBuildFSub(g->k->b, x, y, "")
#define times(x, y)      LLVMBuildFMul(g->k->b, x, y, "")
#define over(x, y)       LLVMBuildFDiv(g->k->b, x, y, "")
#define of(x)            number_in_all(g, x)
#define fused(x, y, z)   rvm__build_intrinsic(g->k, "llvm.fma", 3, (LLVMValueRef[]){x, y, z})
#define size_of(x)       rvm__build_intrinsic(g->k, "llvm.fabs", 1, (LLVMValueRef[]){x})
#define below(x, y)      LLVMBuildFCmp(g->k->b, LLVMRealOLT, x, y, "")
#define chosen(is, x, y) LLVMBuildSelect(g->k->b, is, x, y, "")
#define least(x, limit)  least_of(g, x, of(limit))
#define scaled(x, n)     scaled_by(g, x, n)
#define signed_as(s, x)  signed_like(g, s, x)

static LLVMValueRef least_of(const rvm__group *g, LLVMValueRef x, LLVMValueRef limit) {
    return chosen(below(limit, x), limit, x);
}

static LLVMValueRef scaled_by(const rvm__group *g, LLVMValueRef x, LLVMValueRef n) {
    LLVMValueRef exponent = bits_of(g, of(0x1p-1022)); /* 2^52 in each */
    LLVMValueRef power = LLVMBuildMul(g->k->b, bits_of(g, n), exponent, "");
    return reals_of(g, LLVMBuildAdd(g->k->b, bits_of(g, x), power, ""));
}

static LLVMValueRef signed_like(const rvm__group *g, LLVMValueRef size, LLVMValueRef x) {
    LLVMValueRef sign = LLVMBuildAnd(g->k->b, bits_of(g, x), bits_of(g, of(-0.0)), "");
    return reals_of(g, LLVMBuildOr(g->k->b, bits_of(g, size), sign, ""));
}

#include "sleef_near.inc"

/* ---- the functions ---- */

/* Where all lanes are near, which those that do not run may not be: then the call serves them, too. */
static LLVMValueRef near_exp(rvm__group *g, LLVMValueRef x, LLVMValueRef call) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef truths = LLVMIntTypeInContext(g->k->context, g->lanes);
    x = LLVMBuildFreeze(b, x, "");
    LLVMValueRef near = exp_near(g, x), is = LLVMBuildBitCast(b, is_near(g, x), truths, "");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), far = rvm__group_block(g, "far"), on = rvm__group_block(g, "on");
    LLVMValueRef all = LLVMBuildICmp(b, LLVMIntEQ, is, LLVMConstAllOnes(truths), "");
    rvm__build_mostly(g->k, LLVMBuildCondBr(b, all, on, far), 2, 0);
    LLVMPositionBuilderAtEnd(b, far);
    LLVMValueRef other = rvm__group_function(g, call);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, on);
    LLVMValueRef r = LLVMBuildPhi(b, LLVMTypeOf(x), "");
    LLVMAddIncoming(r, (LLVMValueRef[]){near, other}, (LLVMBasicBlockRef[]){here, from}, 2);
    return r;
}

static LLVMValueRef near_tanh(rvm__group *g, LLVMValueRef x, LLVMValueRef call) {
    (void)call;
    return g->vector_math ? quick_tanh(g, x) : ours_tanh(g, x);
}

LLVMValueRef rvm__near_function(rvm__group *g, LLVMValueRef call) {
    static const struct {
        const char *name;
        LLVMValueRef (*made)(rvm__group *g, LLVMValueRef x, LLVMValueRef call);
    } all[] = {
#define OURS(name) {#name, near_##name},
#define ALWAYS(name)
#define FINITE(name)
#define NONZERO(name)
#define NEVER(name)
#define FUNCTION(name, shape, who, error, serves) serves(name)
#include "functions.def"
#undef FUNCTION
    };
    const char *function = g->inlines && g->inlined < MOST_INLINED ? rvm__of_ours(g, call) : NULL;
    for (size_t k = 0; function && k < sizeof all / sizeof *all; k++)
        if (!strcmp(function, all[k].name)) return g->inlined++, all[k].made(g, rvm__many(g, LLVMGetOperand(call, 0)), call);
    return NULL;
}
