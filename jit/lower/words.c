/* words.c: the LLVM vocabulary: the words of rows.def and families.def as calls of the builder.
 *
 * A word's bits are those of the C vocabulary (isa/table/words_*.h, isa/table/fix.h), on every type, infinities and ties
 * included; a NaN is a NaN. So nothing contracts or reassociates unless k->fast says so, and LLVM does not know the
 * functions of libm that round: they are calls without effects, of which equal ones merge and unused ones vanish, and which
 * are never folded. Both sides of a SELECT are computed. That is the same thing, since rows guard operands, and since no row
 * selects between values of which the one that is not taken could overflow.
 */
#include <string.h>

#include "build.h"
#include "kernels.h"
#include "instance.h"
#include "instruction.h"

typedef struct words { /* what the words need to know: the type they are on */
    rvm__build *k;
    rvm_type t;
    LLVMValueRef *overflow; /* NULL: nobody asks */
} words;

/* ---- constants, as the C words make them ---- */
#include "words_i64.h"
static rvm_value constant_i64(double x) {
    return (rvm_value){.i = K(x)};
}
#include "words_f64.h"
static rvm_value constant_f64(double x) {
    return (rvm_value){.f = K(x)};
}
#include "words_fix.h"
static rvm_value constant_fix(double x) {
    return (rvm_value){.i = K(x)};
}
#include "words_f32.h"
static rvm_value constant_f32(double x) {
    return (rvm_value){.f = K(x)};
}
#include "words_undef.h"

static LLVMValueRef constant(const words *w, double x) {
    static rvm_value (*const of_type[RVM_TYPE_COUNT])(double) = {
        [RVM_I64] = constant_i64, [RVM_F64] = constant_f64, [RVM_FIX] = constant_fix, [RVM_F32] = constant_f32};
    return rvm__build_value(w->k, w->t, of_type[w->t](x));
}

static LLVMValueRef whole(const words *w, int64_t x) {
    return rvm__build_value(w->k, RVM_I64, (rvm_value){.i = x});
}
static LLVMValueRef real(const words *w, double x) {
    return rvm__build_value(w->k, RVM_F64, (rvm_value){.f = x});
}

/* ---- instructions ---- */

/* 1 / y or -1 / y. */
static bool is_inverse(LLVMValueRef quotient) {
    LLVMValueRef x = LLVMGetOperand(quotient, 0);
    LLVMBool rounded;
    return LLVMIsAConstantFP(x) && fabs(LLVMConstRealGetDouble(x, &rounded)) == 1;
}

/* An operation on floating point, with the freedom that was given. Products stay as they stand: LLVM would make (x / y) z
 * (x z) / y, and a quotient that all trips or instances share one for each. Of what is added, and of 1 / y, it does so
 * all the same, so that may be a product with 1 / y again; x / y as it is written stays a quotient, since 1 / y may
 * overflow. */
static LLVMValueRef freed(const rvm__build *k, LLVMValueRef v) {
    LLVMFastMathFlags flags = LLVMFastMathAllowContract | LLVMFastMathNoSignedZeros;
    if (!k->fast || !LLVMIsAInstruction(v) || !LLVMCanValueUseFastMathFlags(v)) return v;
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op != LLVMFMul) flags |= LLVMFastMathAllowReassoc;
    if (op != LLVMFDiv || is_inverse(v)) flags |= LLVMFastMathAllowReciprocal;
    LLVMSetFastMathFlags(v, flags);
    return v;
}

static LLVMValueRef to_single(rvm__build *k, LLVMValueRef x) {
    return LLVMBuildFPTrunc(k->b, x, rvm__build_lanes(k, k->f32), "");
}
static LLVMValueRef to_double(rvm__build *k, LLVMValueRef x) {
    return LLVMBuildFPExt(k->b, x, rvm__build_lanes(k, k->f64), "");
}
static LLVMValueRef rounded(const words *w, LLVMValueRef x) {
    return w->t == RVM_F32 ? to_double(w->k, to_single(w->k, x)) : x;
}

/* v, one operation on values of w->t. */
static LLVMValueRef marked(const words *w, LLVMValueRef v) {
    LLVMContextRef c = w->k->context;
    if (w->k->singles && w->t == RVM_F32 && LLVMIsAInstruction(v))
        LLVMSetMetadata(v, LLVMGetMDKindIDInContext(c, RVM__SINGLE_MARK, sizeof RVM__SINGLE_MARK - 1),
                        LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0)));
    return v;
}

static LLVMValueRef real_op(const words *w, LLVMOpcode op, LLVMValueRef x, LLVMValueRef y) {
    return freed(w->k, LLVMBuildBinOp(w->k->b, op, x, y, ""));
}

static LLVMValueRef compare(const words *w, LLVMRealPredicate real_is, LLVMIntPredicate whole_is, LLVMValueRef x,
                            LLVMValueRef y) {
    return rvm__is_floating(w->t) ? marked(w, LLVMBuildFCmp(w->k->b, real_is, x, y, ""))
                                  : LLVMBuildICmp(w->k->b, whole_is, x, y, "");
}

/* ---- fix ---- */

static void note_overflow(const words *w, LLVMValueRef here) {
    if (w->overflow) *w->overflow = *w->overflow ? LLVMBuildOr(w->k->b, *w->overflow, here, "") : here;
}

/* x + y or x - y, wrapping; on fix, overflow is noted. */
static LLVMValueRef whole_sum(const words *w, LLVMOpcode op, const char *checked, LLVMValueRef x, LLVMValueRef y) {
    if (w->t != RVM_FIX || !w->overflow) return LLVMBuildBinOp(w->k->b, op, x, y, "");
    LLVMValueRef both = rvm__build_intrinsic(w->k, checked, 2, (LLVMValueRef[]){x, y});
    note_overflow(w, LLVMBuildExtractValue(w->k->b, both, 1, ""));
    return LLVMBuildExtractValue(w->k->b, both, 0, "");
}

static LLVMValueRef widened(const words *w, LLVMValueRef x) {
    return LLVMBuildSExt(w->k->b, x, rvm__build_lanes(w->k, w->k->i128), "");
}
static LLVMValueRef narrowed(const words *w, LLVMValueRef x) {
    LLVMValueRef low = LLVMBuildTrunc(w->k->b, x, rvm__build_lanes(w->k, w->k->i64), "");
    if (w->overflow) note_overflow(w, LLVMBuildICmp(w->k->b, LLVMIntNE, widened(w, low), x, ""));
    return low;
}

/* x * y + z, rounded once to the nearest, ties up; z may be NULL. */
static LLVMValueRef fix_fma(const words *w, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef half = widened(w, whole(w, INT64_C(1) << (RVM_FIX_FRACTION - 1)));
    LLVMValueRef v = LLVMBuildAdd(b, LLVMBuildMul(b, widened(w, x), widened(w, y), ""), half, "");
    v = LLVMBuildAShr(b, v, widened(w, whole(w, RVM_FIX_FRACTION)), "");
    return narrowed(w, z ? LLVMBuildAdd(b, v, widened(w, z), "") : v);
}

/* x / y to the nearest, ties away from zero; by zero 0 and overflow. The remainder fits 64 bits, where it is found. */
static LLVMValueRef fix_div(const words *w, LLVMValueRef x, LLVMValueRef y) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, y, whole(w, 0), ""), no = LLVMConstNull(rvm__build_bool(w->k));
    LLVMValueRef d = LLVMBuildSelect(b, none, whole(w, 1), y, ""), shift = whole(w, RVM_FIX_FRACTION);
    LLVMValueRef q = LLVMBuildSDiv(b, LLVMBuildShl(b, widened(w, x), widened(w, shift), ""), widened(w, d), "");
    LLVMValueRef low = LLVMBuildTrunc(b, q, rvm__build_lanes(w->k, w->k->i64), "");
    LLVMValueRef rest = LLVMBuildSub(b, LLVMBuildShl(b, x, shift, ""), LLVMBuildMul(b, low, d, ""), "");
    LLVMValueRef r = rvm__build_intrinsic(w->k, "llvm.abs", 2, (LLVMValueRef[]){rest, LLVMConstNull(w->k->i1)});
    LLVMValueRef size = rvm__build_intrinsic(w->k, "llvm.abs", 2, (LLVMValueRef[]){d, LLVMConstNull(w->k->i1)});
    LLVMValueRef away = LLVMBuildICmp(b, LLVMIntUGE, r, LLVMBuildSub(b, size, r, ""), "");
    LLVMValueRef sign = LLVMBuildAShr(b, LLVMBuildXor(b, x, d, ""), whole(w, 63), "");
    LLVMValueRef step = LLVMBuildSelect(b, away, LLVMBuildOr(b, sign, whole(w, 1), ""), whole(w, 0), "");
    LLVMValueRef f = narrowed(w, LLVMBuildAdd(b, q, widened(w, step), ""));
    if (w->overflow) note_overflow(w, LLVMBuildSelect(b, none, LLVMConstAllOnes(rvm__build_bool(w->k)), no, ""));
    return LLVMBuildSelect(b, none, whole(w, 0), f, "");
}

static LLVMValueRef real_of_whole(const words *w, LLVMValueRef x) {
    return LLVMBuildSIToFP(w->k->b, x, rvm__build_lanes(w->k, w->k->f64), "");
}
static LLVMValueRef real_of_fix(const words *w, LLVMValueRef x) {
    return LLVMBuildFDiv(w->k->b, real_of_whole(w, x), real(w, RVM__FIX_ONE), "");
}

/* Towards zero, saturating, NaN to 0. */
static LLVMValueRef whole_of_real(const words *w, LLVMValueRef x) {
    LLVMTypeRef types[] = {rvm__build_lanes(w->k, w->k->i64), LLVMTypeOf(x)};
    return rvm__build_overloaded(w->k, "llvm.fptosi.sat", 2, types, 1, &x);
}

/* The nearest fix, ties to even, saturating. */
static LLVMValueRef fix_of_real(const words *w, LLVMValueRef x) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef low = LLVMBuildFCmp(b, LLVMRealOGE, x, real(w, -1048576.0), "");
    LLVMValueRef high = LLVMBuildFCmp(b, LLVMRealOLT, x, real(w, 1048576.0), "");
    if (w->overflow) note_overflow(w, LLVMBuildNot(b, LLVMBuildAnd(b, low, high, ""), ""));
    LLVMValueRef scaled = LLVMBuildFMul(b, x, real(w, RVM__FIX_ONE), "");
    return whole_of_real(w, rvm__build_call(w->k, "nearbyint", 1, &scaled));
}

/* ---- functions ---- */

/* Those of libm that are exact or correctly rounded: whoever computes them, the bits are the same. */
static const char *const exact[][2] = {{"sqrt", "llvm.sqrt"}, {"floor", "llvm.floor"},
                                       {"fabs", "llvm.fabs"}, {"nearbyint", "llvm.nearbyint"},
                                       {"fma", "llvm.fma"},   {"copysign", "llvm.copysign"}};

static LLVMValueRef declared(rvm__build *k, const char *name, LLVMTypeRef type) {
    static const char *const attributes[] = {"memory", "nounwind", "willreturn", "nobuiltin"};
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    if (f) return f;
    f = LLVMAddFunction(k->module, name, type);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes - k->fast; i++) { /* fast: LLVM may know it */
        const unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(k->context, kind, 0)); /* memory: none */
    }
    return f;
}

static LLVMValueRef call_scalar(rvm__build *k, const char *name, unsigned n, LLVMValueRef *x) {
    LLVMTypeRef params[3] = {NULL};
    for (unsigned j = 0; j < n; j++) params[j] = LLVMTypeOf(x[j]);
    LLVMTypeRef type = LLVMFunctionType(k->f64, params, n, false);
    return freed(k,
                 LLVMBuildCall2(k->b, type, declared(k, k->target->function(name, k->sleef && !k->fast), type), x, n, ""));
}

LLVMValueRef rvm__build_call(rvm__build *k, const char *name, unsigned n, const LLVMValueRef *x) {
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(name, exact[i][0])) return freed(k, rvm__build_intrinsic(k, exact[i][1], n, x));
    if (k->lanes == 1) return call_scalar(k, name, n, (LLVMValueRef[]){x[0], n > 1 ? x[1] : NULL, n > 2 ? x[2] : NULL});
    LLVMValueRef all = LLVMGetPoison(rvm__build_type(k, RVM_F64));
    for (unsigned lane = 0; lane < k->lanes; lane++) {
        LLVMValueRef at = LLVMConstInt(k->i32, lane, false), one[3];
        for (unsigned j = 0; j < n; j++) one[j] = LLVMBuildExtractElement(k->b, x[j], at, "");
        all = LLVMBuildInsertElement(k->b, all, call_scalar(k, name, n, one), at, "");
    }
    return all;
}

/* ---- the words ---- */

static LLVMValueRef word_add(const words *w, LLVMValueRef x, LLVMValueRef y) {
    if (rvm__is_floating(w->t)) return rounded(w, marked(w, real_op(w, LLVMFAdd, x, y)));
    return whole_sum(w, LLVMAdd, "llvm.sadd.with.overflow", x, y);
}

static LLVMValueRef word_sub(const words *w, LLVMValueRef x, LLVMValueRef y) {
    if (rvm__is_floating(w->t)) return rounded(w, marked(w, real_op(w, LLVMFSub, x, y)));
    return whole_sum(w, LLVMSub, "llvm.ssub.with.overflow", x, y);
}

static LLVMValueRef word_mul(const words *w, LLVMValueRef x, LLVMValueRef y) {
    if (rvm__is_floating(w->t)) return rounded(w, marked(w, real_op(w, LLVMFMul, x, y)));
    return w->t == RVM_FIX ? fix_fma(w, x, y, NULL) : LLVMBuildMul(w->k->b, x, y, "");
}

/* rvm__odd_inverse: Newton's iteration. */
static LLVMValueRef odd_inverse(const words *w, LLVMValueRef x) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef v = LLVMBuildXor(b, LLVMBuildMul(b, whole(w, 3), x, ""), whole(w, 2), "");
    for (int n = 0; n < 4; n++) v = LLVMBuildMul(b, v, LLVMBuildSub(b, whole(w, 2), LLVMBuildMul(b, x, v, ""), ""), "");
    return v;
}

static LLVMValueRef word_div(const words *w, LLVMValueRef x, LLVMValueRef y) {
    if (rvm__is_floating(w->t)) return rounded(w, marked(w, real_op(w, LLVMFDiv, x, y)));
    return w->t == RVM_FIX ? fix_div(w, x, y) : LLVMBuildMul(w->k->b, x, odd_inverse(w, y), "");
}

static LLVMValueRef word_fma(const words *w, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    rvm__build *k = w->k;
    switch (w->t) {
    case RVM_F64: return rvm__build_call(k, "fma", 3, (LLVMValueRef[]){x, y, z});
    case RVM_F32: /* float's own: a double's, rounded again, would round twice */
        return to_double(k,
                         rvm__build_call(k, "fma", 3, (LLVMValueRef[]){to_single(k, x), to_single(k, y), to_single(k, z)}));
    case RVM_FIX: return fix_fma(w, x, y, z);
    case RVM_I64:
    case RVM_TYPE_COUNT: break;
    }
    return word_add(w, word_mul(w, x, y), z);
}

static LLVMValueRef word_neg(const words *w, LLVMValueRef x) {
    return rvm__is_floating(w->t) ? marked(w, LLVMBuildFNeg(w->k->b, x, "")) : word_sub(w, whole(w, 0), x);
}

static LLVMValueRef word_call(const words *w, const char *name, unsigned n, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef args[2] = {x, y};
    if (w->t != RVM_FIX) return rounded(w, marked(w, rvm__build_call(w->k, name, n, args)));
    for (unsigned j = 0; j < n; j++) args[j] = real_of_fix(w, args[j]);
    return fix_of_real(w, rvm__build_call(w->k, name, n, args));
}

/* Of an i64 and a real. */
static LLVMValueRef word_order(const words *w, const char *name, LLVMValueRef n, LLVMValueRef x) {
    LLVMValueRef args[2] = {n, w->t == RVM_FIX ? real_of_fix(w, x) : x}, f = rvm__build_call(w->k, name, 2, args);
    return w->t == RVM_FIX ? fix_of_real(w, f) : rounded(w, f);
}

static LLVMValueRef word_select(const words *w, LLVMValueRef c, LLVMValueRef x, LLVMValueRef y) {
    return marked(w, LLVMBuildSelect(w->k->b, c, x, y, ""));
}

/* By -1, where the quotient may not fit, the negative; 0 and -1 are never divided by, so that nothing traps. */
static LLVMValueRef divide(const words *w, LLVMOpcode op, LLVMValueRef x, LLVMValueRef y, LLVMValueRef by_minus_one) {
    LLVMBuilderRef b = w->k->b;
    LLVMValueRef minus = LLVMBuildICmp(b, LLVMIntEQ, y, whole(w, -1), "");
    LLVMValueRef never = LLVMBuildOr(b, minus, LLVMBuildICmp(b, LLVMIntEQ, y, whole(w, 0), ""), "");
    LLVMValueRef q = LLVMBuildBinOp(b, op, x, LLVMBuildSelect(b, never, whole(w, 1), y, ""), "");
    return LLVMBuildSelect(b, minus, by_minus_one, q, "");
}

static LLVMValueRef shift(const words *w, LLVMOpcode op, LLVMValueRef x, LLVMValueRef n) {
    return LLVMBuildBinOp(w->k->b, op, x, LLVMBuildAnd(w->k->b, n, whole(w, 63), ""), "");
}

/* x, of type w->t, as a `to`: the conversions of isa/table/kernels.c. */
static LLVMValueRef convert(const words *w, rvm_type to, LLVMValueRef x) {
    LLVMBuilderRef b = w->k->b;
    const words result = {w->k, to, w->overflow};
    const bool from_real = rvm__is_floating(w->t);
    LLVMValueRef unit = whole(w, INT64_C(1) << RVM_FIX_FRACTION);
    switch (to) {
    case RVM_I64: return from_real ? whole_of_real(w, x) : LLVMBuildSDiv(b, x, unit, "");
    case RVM_FIX:
        return from_real ? fix_of_real(w, x) : narrowed(&result, LLVMBuildMul(b, widened(w, x), widened(w, unit), ""));
    case RVM_F64: return from_real ? x : w->t == RVM_FIX ? real_of_fix(w, x) : real_of_whole(w, x);
    case RVM_F32: /* rounded once, from all of the 64 bits; powers of 2 are exact */
        if (from_real) return rounded(&result, x);
        x = to_double(w->k, LLVMBuildSIToFP(b, x, rvm__build_lanes(w->k, w->k->f32), ""));
        return w->t == RVM_FIX ? LLVMBuildFDiv(b, x, real(w, RVM__FIX_ONE), "") : x;
    case RVM_TYPE_COUNT: break;
    }
    return x;
}

#define ADD(x, y)       word_add(w, x, y)
#define SUB(x, y)       word_sub(w, x, y)
#define MUL(x, y)       word_mul(w, x, y)
#define DIV(x, y)       word_div(w, x, y)
#define FMA(x, y, z)    word_fma(w, x, y, z)
#define NEG(x)          word_neg(w, x)
#define K(x)            constant(w, x)
#define FN(name, x)     word_call(w, #name, 1, x, NULL)
#define FN2(name, x, y) word_call(w, #name, 2, x, y)
#define FNI(name, n, x) word_order(w, #name, n, x)
#define CONVERT(x)      convert(w, target, x)
#define IDIV(x, y)      divide(w, LLVMSDiv, x, y, NEG(x))
#define IREM(x, y)      divide(w, LLVMSRem, x, y, K(0))
#define AND(x, y)       LLVMBuildAnd(w->k->b, x, y, "")
#define OR(x, y)        LLVMBuildOr(w->k->b, x, y, "")
#define XOR(x, y)       LLVMBuildXor(w->k->b, x, y, "")
#define NOT(x)          LLVMBuildNot(w->k->b, x, "")
#define SHL(x, y)       shift(w, LLVMShl, x, y)
#define SHR(x, y)       shift(w, LLVMAShr, x, y)
#define LSHR(x, y)      shift(w, LLVMLShr, x, y)
#define SELECT(c, x, y) word_select(w, c, x, y)
#define NONZERO(x)      LLVMBuildICmp(w->k->b, LLVMIntNE, x, whole(w, 0), "")
#define LT(x, y)        compare(w, LLVMRealOLT, LLVMIntSLT, x, y)
#define LE(x, y)        compare(w, LLVMRealOLE, LLVMIntSLE, x, y)
#define GT(x, y)        compare(w, LLVMRealOGT, LLVMIntSGT, x, y)
#define GE(x, y)        compare(w, LLVMRealOGE, LLVMIntSGE, x, y)
#define EQ(x, y)        compare(w, LLVMRealOEQ, LLVMIntEQ, x, y)
#define NE(x, y)        compare(w, LLVMRealUNE, LLVMIntNE, x, y)

/* ---- rows and families ---- */

#define A operand[0]
#define B operand[1]
#define C operand[2]
static LLVMValueRef row_f(const words *w, rvm_row row, rvm_type target, const LLVMValueRef operand[3]) {
    switch (row) {
#define ROW1(name, sig, f, da, doc)                                                                                         \
    case RVM_ROW_##name:                                                                                                    \
        return f;
#define ROW2(name, sig, f, da, db, doc)     ROW1(name, sig, f, da, doc)
#define ROW3(name, sig, f, da, db, dc, doc) ROW1(name, sig, f, da, doc)
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
    case RVM_ROW_COUNT: break;
    }
    return NULL;
}
#undef A
#undef B
#undef C

LLVMValueRef rvm__build_row(rvm__build *k, rvm_row row, rvm_type y, rvm_type t, const LLVMValueRef operand[3],
                            LLVMValueRef *overflow) {
    const words w = {k, t, overflow};
    LLVMValueRef f = row_f(&w, row, y, operand);
    return rvm__row_info[row].sig == RVM_SIG_CMP ? LLVMBuildZExt(k->b, f, rvm__build_type(k, RVM_I64), "") : f;
}

#define Y y
#define F f
LLVMValueRef rvm__build_update(rvm__build *k, rvm_op op, rvm_type t, LLVMValueRef y, LLVMValueRef f,
                               LLVMValueRef *overflow) {
    const words here = {k, t, overflow}, *w = &here;
    switch (op) {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc)                                                        \
    case RVM_OP_##name:                                                                                                     \
        return value;
#define INVERSE FAMILY
#define PAIR(name, inverse, class, operands, types, doc)                                                                    \
    case RVM_OP_##name:                                                                                                     \
    case RVM_OP_##inverse:
#define SELF(name, class, operands, types, doc) case RVM_OP_##name:
#include "families.def"
#include "ops.def"
#undef FAMILY
#undef INVERSE
#undef PAIR
#undef SELF
#define ITSELF
#define INVERSE(name, ...) case RVM_OP_##name:
#define CHANGE(name, inverse, ...)                                                                                          \
    case RVM_OP_##name:                                                                                                     \
        inverse
#include "inplace.def"
#undef ITSELF
#undef INVERSE
#undef CHANGE
        break;
    }
    return NULL;
}
#undef Y
#undef F

LLVMValueRef rvm__build_negated(rvm__build *k, rvm_type t, LLVMValueRef x, LLVMValueRef *overflow) {
    return word_neg(&(words){k, t, overflow}, x);
}

/* ---- domains ---- */

/* By their bits: fewer instructions than two comparisons, which LLVM takes for a test of classes of numbers (is_fpclass). */
LLVMValueRef rvm__build_is_factor(rvm__build *k, LLVMValueRef x) {
    const words w = {k, RVM_F64, NULL};
    const rvm_value infinite = {.f = INFINITY};
    LLVMValueRef bits = LLVMBuildBitCast(k->b, x, rvm__build_type(k, RVM_I64), ""), one = whole(&w, 1);
    LLVMValueRef size = LLVMBuildShl(k->b, bits, one, ""); /* without its sign */
    return LLVMBuildICmp(k->b, LLVMIntULT, LLVMBuildSub(k->b, size, one, ""), whole(&w, (int64_t)(infinite.u * 2 - 1)), "");
}

static LLVMValueRef is_finite(rvm__build *k, LLVMValueRef x) {
    const words w = {k, RVM_F64, NULL};
    const rvm_value infinite = {.f = INFINITY};
    LLVMValueRef bits = LLVMBuildBitCast(k->b, x, rvm__build_type(k, RVM_I64), ""), one = whole(&w, 1);
    return LLVMBuildICmp(k->b, LLVMIntULT, LLVMBuildShl(k->b, bits, one, ""), whole(&w, (int64_t)(infinite.u * 2)), "");
}

LLVMValueRef rvm__build_is_positive(rvm__build *k, rvm_type t, LLVMValueRef x) {
    const words w = {k, t, NULL};
    LLVMValueRef positive = compare(&w, LLVMRealOGT, LLVMIntSGT, x, LLVMConstNull(LLVMTypeOf(x)));
    if (!rvm__is_floating(t)) return positive;
    return LLVMBuildAnd(k->b, positive, LLVMBuildFCmp(k->b, LLVMRealOLT, x, real(&w, INFINITY), ""), "");
}

/* ---- rotations ---- */

/* In double, but that fast math has a device round it, too. */
static LLVMValueRef step(const words *w, LLVMValueRef v) {
    return w->k->fast ? marked(w, v) : v;
}
static LLVMValueRef step_op(const words *w, LLVMOpcode op, LLVMValueRef x, LLVMValueRef y) {
    return step(w, real_op(w, op, x, y));
}

/* Products and their sum, then rounded to the type. */
static void rotate_real(const words *w, bool back, LLVMValueRef *a, LLVMValueRef *b, LLVMValueRef angle) {
    LLVMValueRef c = step(w, rvm__build_call(w->k, "cos", 1, &angle)), s = step(w, rvm__build_call(w->k, "sin", 1, &angle));
    if (back) s = LLVMBuildFNeg(w->k->b, s, "");
    LLVMValueRef ac = step_op(w, LLVMFMul, *a, c), as = step_op(w, LLVMFMul, *a, s);
    LLVMValueRef bc = step_op(w, LLVMFMul, *b, c), bs = step_op(w, LLVMFMul, *b, s);
    *a = rounded(w, step_op(w, LLVMFSub, ac, bs));
    *b = rounded(w, step_op(w, LLVMFAdd, as, bc));
}

/* One shear: *a gains or loses p b. */
static void shear(const words *w, bool back, LLVMValueRef *a, LLVMValueRef p, LLVMValueRef b) {
    LLVMValueRef d = fix_fma(w, p, b, NULL);
    *a = back ? word_sub(w, *a, d) : word_add(w, *a, d);
}

static void shears(const words *w, bool back, LLVMValueRef *a, LLVMValueRef *b, LLVMValueRef p, LLVMValueRef q) {
    shear(w, back, a, p, *b);
    shear(w, back, b, q, *a);
    shear(w, back, a, p, *b);
}

/* -x where it is to turn by half; overflow counts only there. */
static LLVMValueRef turned(const words *w, LLVMValueRef half, LLVMValueRef x) {
    LLVMValueRef over = NULL, v = word_neg(&(words){w->k, w->t, &over}, x);
    if (w->overflow) note_overflow(w, LLVMBuildAnd(w->k->b, half, over, ""));
    return LLVMBuildSelect(w->k->b, half, v, x, "");
}

/* By three shears of at most a quarter turn, and a half turn where there is more: as vm/interp/fixops.c, which see. */
static void rotate_fix(const words *w, bool back, LLVMValueRef *a, LLVMValueRef *b, LLVMValueRef angle) {
    rvm__build *k = w->k;
    LLVMBuilderRef lb = k->b;
    LLVMValueRef t = rvm__build_call(k, "remainder", 2, (LLVMValueRef[]){real_of_fix(w, angle), real(w, 2 * M_PI)});
    LLVMValueRef half = LLVMBuildFCmp(lb, LLVMRealOGT, rvm__build_call(k, "fabs", 1, &t), real(w, M_PI_2), "");
    LLVMValueRef turn = rvm__build_call(k, "copysign", 2, (LLVMValueRef[]){real(w, M_PI), t});
    t = LLVMBuildSelect(lb, half, LLVMBuildFSub(lb, t, turn, ""), t, "");
    LLVMValueRef t_half = LLVMBuildFMul(lb, t, real(w, 0.5), "");
    LLVMValueRef p = fix_of_real(w, LLVMBuildFNeg(lb, rvm__build_call(k, "tan", 1, &t_half), ""));
    LLVMValueRef q = fix_of_real(w, rvm__build_call(k, "sin", 1, &t));
    if (!back) *a = turned(w, half, *a), *b = turned(w, half, *b);
    shears(w, back, a, b, p, q);
    if (back) *a = turned(w, half, *a), *b = turned(w, half, *b);
}

static void hadamard_real(const words *w, LLVMValueRef *a, LLVMValueRef *b) {
    LLVMValueRef sum = step_op(w, LLVMFAdd, *a, *b), difference = step_op(w, LLVMFSub, *a, *b);
    *a = rounded(w, step_op(w, LLVMFMul, sum, real(w, M_SQRT1_2)));
    *b = rounded(w, step_op(w, LLVMFMul, difference, real(w, M_SQRT1_2)));
}

/* A mirror, then an eighth of a turn. */
static void hadamard_fix(const words *w, bool back, LLVMValueRef *a, LLVMValueRef *b) {
    int never = 0;
    LLVMValueRef p = whole(w, rvm__fix_of(-tan(M_PI_4 / 2), &never)), q = whole(w, rvm__fix_of(sin(M_PI_4), &never));
    if (!back) *b = word_neg(w, *b);
    shears(w, back, a, b, p, q);
    if (back) *b = word_neg(w, *b);
}

/* ---- changes in place ---- */

#define VALUE_WORDS(places)                                                                                                 \
    do {                                                                                                                    \
        LLVMValueRef is[] = BRACES places;                                                                                  \
        memcpy(v, is, sizeof is);                                                                                           \
    } while (0)
#define VALUE_rotate(places)   (w->t == RVM_FIX ? rotate_fix : rotate_real)(w, back, &v[0], &v[1], a[0])
#define VALUE_hadamard(places) (w->t == RVM_FIX ? hadamard_fix(w, back, &v[0], &v[1]) : hadamard_real(w, &v[0], &v[1]))
#define BRACES(...)                                                                                                         \
    { __VA_ARGS__ }
#define OUT(...) (__VA_ARGS__)
#define ITSELF
#define INVERSE(name, ...) (__VA_ARGS__) IGNORE
#define IGNORE(...)
#define Y          v[0]
#define Z          v[1]
#define W          v[2]
#define A          a[0]
#define B          a[1]
#define FACTOR(x)  rvm__build_is_factor(w->k, x)
#define FINITE(x)  is_finite(w->k, x)
#define NEAR(x, y) LE(FN(fabs, SUB(x, y)), K(w->t == RVM_F32 ? 1e-4 : 1e-8))
#define ALWAYS     NULL
#define WHERE(x)   x
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out, partials, where, doc)                            \
    case RVM_PAIR_##name:                                                                                                   \
        if (back)                                                                                                           \
            VALUE_##value(inverse out);                                                                                     \
        else                                                                                                                \
            VALUE_##value(out);                                                                                             \
        return where;

LLVMValueRef rvm__build_change(rvm__build *k, rvm_op op, rvm_type t, LLVMValueRef v[RVM_MAX_CHANGED],
                               const LLVMValueRef a[RVM_MAX_CHANGE_OPERANDS], LLVMValueRef *overflow) {
    const words here = {k, t, overflow}, *w = &here;
    const bool back = rvm__is_inverse(op);
    switch ((int)rvm__pair_of(op)) {
#include "inplace.def"
    }
    return NULL;
}
