/* instructions.c: an instruction of an instance, in all lanes of a group. Nothing of the instruction set is known here: only
 * LLVM's instructions. */
#include "group.h"

#include <string.h>

static void copy_freedom(LLVMValueRef from, LLVMValueRef to) {
#if LLVM_VERSION_MAJOR >= 18
    if (LLVMIsAInstruction(to) && LLVMCanValueUseFastMathFlags(from) && LLVMCanValueUseFastMathFlags(to))
        LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
#else
    (void)from, (void)to;
#endif
}

static LLVMValueRef same_once(rvm__group *g, LLVMValueRef v) {
    LLVMValueRef copy = LLVMInstructionClone(v);
    for (int k = 0; k < LLVMGetNumOperands(v); k++) {
        LLVMValueRef o = LLVMGetOperand(v, (unsigned)k);
        if (rvm__item_of(&g->flow, o)) LLVMSetOperand(copy, (unsigned)k, rvm__one(g, o));
    }
    LLVMInsertIntoBuilder(g->k->b, copy);
    return copy;
}

/* A divisor of 1 in lanes that are not active, so that nothing traps. */
static LLVMValueRef divisor(rvm__group *g, LLVMValueRef v, LLVMValueRef mask) {
    LLVMValueRef one = rvm__splat(g, LLVMConstInt(LLVMGetElementType(LLVMTypeOf(v)), 1, false));
    return mask ? LLVMBuildSelect(g->k->b, mask, v, one, "") : v;
}

static LLVMValueRef binary(rvm__group *g, LLVMValueRef v, LLVMOpcode op, LLVMValueRef mask) {
    LLVMValueRef x = rvm__many(g, LLVMGetOperand(v, 0)), y = rvm__many(g, LLVMGetOperand(v, 1));
    const bool divides = op == LLVMSDiv || op == LLVMUDiv || op == LLVMSRem || op == LLVMURem;
    LLVMValueRef z = LLVMBuildBinOp(g->k->b, op, x, divides ? divisor(g, y, mask) : y, "");
    copy_freedom(v, z);
    return z;
}

/* A stride times, or shifted by, what is uniform. */
static LLVMValueRef scaled(rvm__group *g, LLVMOpcode op, LLVMValueRef stride, LLVMValueRef by) {
    return LLVMIsNull(stride) ? stride : LLVMBuildBinOp(g->k->b, op, stride, by, "");
}

static bool found(const rvm__group *g, rvm__item *to, uint64_t stride, uint8_t aligned) {
    to->stride = rvm__number(g, stride);
    to->aligned = stride ? aligned : RVM__NOT_ALIGNED;
    return true;
}

/* What an aligned line is divided by, shifted or masked by: lanes either keep their distance, or all have the same. False:
 * neither. */
static bool follow_aligned(const rvm__group *g, rvm__item *to, const rvm__item *x, LLVMOpcode op, LLVMValueRef by) {
    if (!x || !x->aligned || !LLVMIsAConstantInt(by)) return false;
    const bool number = x->aligned == RVM__ALIGNED_NUMBER;
    const uint64_t stride = LLVMConstIntGetZExtValue(x->stride), all = stride * g->lanes, n = LLVMConstIntGetZExtValue(by);
    const uint64_t differ = all - stride; /* the bits in which lanes do */
    if (!all) return false;
    switch (op) {
    case LLVMSDiv:
    case LLVMUDiv: return number && n && n <= INT64_MAX && n % all == 0 && found(g, to, 0, 0);
    case LLVMSRem:
    case LLVMURem: return number && n && n <= INT64_MAX && n % all == 0 && found(g, to, stride, RVM__ALIGNED_NUMBER);
    case LLVMAnd:
        if ((n & differ) == differ) return found(g, to, stride, RVM__ALIGNED_BITS);
        return !(n & differ) && found(g, to, 0, 0);
    case LLVMAShr:
    case LLVMLShr:
        if ((op == LLVMAShr && !number) || n > 63) return false;
        if (n <= (unsigned)__builtin_ctzll(stride)) return found(g, to, stride >> n, x->aligned);
        return n >= (unsigned)__builtin_ctzll(all) && found(g, to, 0, 0);
    default: return false;
    }
}

/* LLVM writes a sum of numbers that have no bit in common so. */
static bool is_sum_of_bits(LLVMValueRef v, LLVMOpcode op) {
#if LLVM_VERSION_MAJOR >= 18
    return op == LLVMOr && LLVMGetIsDisjoint(v);
#else
    (void)v, (void)op;
    return false;
#endif
}

/* Sums, differences and multiples of what is linear, and parts of what is aligned. */
static void follow_line(rvm__group *g, LLVMValueRef v, LLVMOpcode op) {
    LLVMBuilderRef b = g->k->b;
    rvm__item *to = rvm__item_of(&g->flow, v);
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1), zero = LLVMConstNull(g->k->i64);
    const rvm__item *i = rvm__item_of(&g->flow, x), *j = rvm__item_of(&g->flow, y);
    if (LLVMTypeOf(v) != g->k->i64 || (i && i->varying && !i->stride) || (j && j->varying && !j->stride)) return;
    const bool moves_x = i && i->varying, moves_y = j && j->varying;
    LLVMValueRef s = moves_x ? i->stride : zero, t = moves_y ? j->stride : zero, one_x = rvm__one(g, x),
                 one_y = rvm__one(g, y);
    if (is_sum_of_bits(v, op)) op = LLVMAdd;
    if (op == LLVMAdd || op == LLVMSub)
        to->stride = LLVMBuildBinOp(b, op, s, t, "");
    else if ((op == LLVMMul && !(moves_x && moves_y)) || (op == LLVMShl && !moves_y))
        to->stride = moves_x ? scaled(g, op, s, one_y) : scaled(g, LLVMMul, t, one_x);
    else if (moves_y || !follow_aligned(g, to, i, op, y))
        return;
    if (op == LLVMShl && i && i->aligned && LLVMIsAConstantInt(to->stride)) to->aligned = RVM__ALIGNED_BITS;
    to->one = LLVMBuildBinOp(b, op, one_x, one_y, "");
    to->many = LLVMBuildAdd(b, rvm__splat(g, to->one), rvm__steps(g, to->stride), "");
}

static LLVMValueRef choose(rvm__group *g, LLVMValueRef v) {
    LLVMValueRef c = LLVMGetOperand(v, 0), x = rvm__many(g, LLVMGetOperand(v, 1)), y = rvm__many(g, LLVMGetOperand(v, 2));
    return LLVMBuildSelect(g->k->b, rvm__is_varying(&g->flow, c) ? rvm__many(g, c) : rvm__one(g, c), x, y, "");
}

/* An i64 as a double. Where the target converts one at a time only: its halves as the low bits of 2^52
 * and of 2^84 + 2^63, both exact; their sum, less the two, is rounded once. */
static LLVMValueRef real_of(rvm__group *g, LLVMValueRef v) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef real = rvm__vector_of(g, g->k->f64);
    if (g->k->target->converts) return LLVMBuildSIToFP(b, v, real, "");
#define NUMBER(bits) rvm__splat(g, LLVMConstInt(g->k->i64, UINT64_C(bits), false))
    LLVMValueRef low = LLVMBuildOr(b, LLVMBuildAnd(b, v, NUMBER(0xffffffff), ""), NUMBER(0x4330000000000000), "");
    LLVMValueRef high = LLVMBuildXor(b, LLVMBuildLShr(b, v, NUMBER(32), ""), NUMBER(0x4530000080000000), "");
    LLVMValueRef both_bits = LLVMBuildBitCast(b, NUMBER(0x4530000080100000), real, "");
#undef NUMBER
    high = LLVMBuildFSub(b, LLVMBuildBitCast(b, high, real, ""), both_bits, "");
    return LLVMBuildFAdd(b, high, LLVMBuildBitCast(b, low, real, ""), "");
}

static unsigned number_of(LLVMValueRef v, unsigned operand) {
    return (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(v, operand));
}

static LLVMValueRef vector(rvm__group *g, LLVMValueRef v, LLVMOpcode op, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef z = NULL;
    if (LLVMIsABinaryOperator(v)) return binary(g, v, op, mask);
    if (op == LLVMSIToFP && LLVMTypeOf(LLVMGetOperand(v, 0)) == g->k->i64 && LLVMTypeOf(v) == g->k->f64)
        return real_of(g, rvm__many(g, LLVMGetOperand(v, 0)));
    if (LLVMIsACastInst(v))
        return LLVMBuildCast(b, op, rvm__many(g, LLVMGetOperand(v, 0)), rvm__vector_of(g, LLVMTypeOf(v)), "");
    switch (op) {
    case LLVMFNeg: z = LLVMBuildFNeg(b, rvm__many(g, LLVMGetOperand(v, 0)), ""); break;
    case LLVMSelect: return choose(g, v);
    case LLVMExtractElement: return rvm__row_of(g, rvm__many(g, LLVMGetOperand(v, 0)), number_of(v, 1));
    case LLVMInsertElement:
        return rvm__with_row(g, rvm__many(g, LLVMGetOperand(v, 0)), rvm__many(g, LLVMGetOperand(v, 1)), number_of(v, 2));
    case LLVMFreeze: return LLVMBuildFreeze(b, rvm__many(g, LLVMGetOperand(v, 0)), "");
    case LLVMICmp:
        return LLVMBuildICmp(b, LLVMGetICmpPredicate(v), rvm__many(g, LLVMGetOperand(v, 0)),
                             rvm__many(g, LLVMGetOperand(v, 1)), "");
    case LLVMFCmp:
        z = LLVMBuildFCmp(b, LLVMGetFCmpPredicate(v), rvm__many(g, LLVMGetOperand(v, 0)), rvm__many(g, LLVMGetOperand(v, 1)),
                          "");
        break;
    default: rvm__no_group(g, "an instruction of another kind"); return LLVMGetUndef(rvm__vector_of(g, LLVMTypeOf(v)));
    }
    copy_freedom(v, z);
    return z;
}

/* Memory of n elements becomes memory for those of each lane, with room for a header of as many bytes as before, at the
 * beginning of a line of the cache: rows of lanes then cross none. */
static void call_new(rvm__group *g, LLVMValueRef v, bool appears) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef args[3], f = LLVMGetCalledValue(v), i64 = LLVMConstNull(g->k->i64),
                          line = LLVMConstInt(g->k->i64, 63, false);
    const unsigned n = LLVMGetNumArgOperands(v);
    for (unsigned k = 0; k < n; k++) args[k] = rvm__one(g, LLVMGetOperand(v, k));
    args[1] = LLVMBuildMul(b, args[1], LLVMConstInt(g->k->i64, g->lanes, false), "");
    args[1] = LLVMBuildAdd(b, args[1], LLVMConstInt(g->k->i64, 2 * (g->lanes - 1) + 7, false), "");
    LLVMValueRef p = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, n, "");
    if (!appears) return;
    LLVMValueRef before = LLVMBuildAnd(b, LLVMBuildSub(b, i64, LLVMBuildPtrToInt(b, p, g->k->i64, ""), ""), line, "");
    rvm__item_of(&g->flow, v)->one = LLVMBuildGEP2(b, g->k->i8, p, &before, 1, "");
}

static void change_memory(rvm__group *g, LLVMValueRef v, const char *name) {
    if (g->traces) return;
    if (name[0] == 'l')
        rvm__group_memset(g, v);
    else
        call_new(g, v, name[12] == 'n');
}

static void call(rvm__group *g, LLVMValueRef v, LLVMValueRef mask) {
    const char *name = rvm__callee_name(v);
    rvm__item *to = rvm__item_of(&g->flow, v);
    if (!strcmp(name, RVM__BAIL_OUT))
        rvm__bail_out_where(g, LLVMGetOperand(v, 0), true, mask);
    else if (!strcmp(name, RVM__SAFEPOINT))
        rvm__group_safepoint(g, v, mask);
    else if (!strcmp(name, RVM__DISAGREES))
        rvm__group_disagrees(g, v, mask);
    else if (!strcmp(name, RVM__RESIDUE))
        rvm__group_residue(g, v, mask);
    else if (!strcmp(name, RVM__RAISE))
        rvm__group_raise(g, v, mask);
    else if (!strncmp(name, RVM__ADD, strlen(RVM__ADD)))
        (g->traces ? rvm__order_add(g, v) : rvm__group_add(g, v, mask));
    else if (!strncmp(name, "llvm.memset.", 12) || rvm__makes_array(v) || !strcmp(name, "rvm__native_del"))
        change_memory(g, v, name);
    else if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVoidTypeKind)
        return; /* says something to LLVM */
    else if (g->traces && !rvm__is_traced(g, v))
        return;
    else if (!strcmp(name, RVM__RESULT))
        to->one = LLVMConstInt(g->k->i32, 0, false);
    else if (!to->varying)
        to->one = same_once(g, v);
    else if (!(to->many = rvm__near_function(g, v)))
        to->many = rvm__group_function(g, v);
}

static void alloca_of(rvm__group *g, LLVMValueRef v) {
    const uint64_t n = LLVMConstIntGetZExtValue(LLVMGetOperand(v, 0));
    const uint64_t bytes = LLVMABISizeOfType(g->layout, LLVMGetAllocatedType(v)) * n;
    rvm__item_of(&g->flow, v)->one = rvm__group_local(g, LLVMArrayType2(g->k->i8, (bytes + 7) / 8 * 8 * g->lanes));
}

/* A private address as a number: distances are those of one lane, and it is none of shared memory. */
static LLVMValueRef private_number(rvm__group *g, LLVMValueRef address, LLVMTypeRef t) {
    LLVMBuilderRef b = g->k->b;
    const bool many = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
    LLVMValueRef shift = LLVMConstInt(g->k->i64, g->lanes == 8 ? 3 : 2, false),
                 bit = LLVMConstInt(g->k->i64, UINT64_C(1) << 62, false);
    LLVMValueRef n = LLVMBuildPtrToInt(b, address, t, "");
    n = LLVMBuildLShr(b, n, many ? rvm__splat(g, shift) : shift, "");
    return LLVMBuildOr(b, n, many ? rvm__splat(g, bit) : bit, "");
}

void rvm__group_instruction(rvm__group *g, LLVMValueRef v, LLVMValueRef mask) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    rvm__item *to = rvm__item_of(&g->flow, v);
    to->one = to->stride = to->many = NULL; /* a join may be emitted once for each edge */
    if (g->traces && rvm__leave_untraced(g, v)) return;
    switch (op) {
    case LLVMAlloca: alloca_of(g, v); return;
    case LLVMLoad: rvm__group_load(g, v, mask); return;
    case LLVMStore: rvm__group_store(g, v, mask); return;
    case LLVMGetElementPtr: rvm__group_address(g, v); return;
    case LLVMCall: call(g, v, mask); return;
    default: break;
    }
    if (op == LLVMPtrToInt && rvm__memory_of(&g->flow, LLVMGetOperand(v, 0)) == RVM__PRIVATE_MEMORY) {
        LLVMValueRef from = LLVMGetOperand(v, 0);
        if (to->varying)
            to->many = private_number(g, rvm__many(g, from), rvm__vector_of(g, g->k->i64));
        else
            to->one = private_number(g, rvm__one(g, from), g->k->i64);
        return;
    }
    if (!to->varying) {
        to->one = same_once(g, v);
        return;
    }
    if (LLVMIsABinaryOperator(v)) follow_line(g, v, op);
    if (!to->many) to->many = vector(g, v, op, mask);
}
