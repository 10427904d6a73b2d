/* affine.c: addresses, and numbers, as a sum of multiples of values. */
#include "group.h"

enum { MOST_STEPS = 64, MOST_TIMES = 1 << 20 };

bool rvm__is_outside(const rvm__flow *w, LLVMValueRef v, uint32_t loop) {
    if (!LLVMIsAInstruction(v)) return true;
    const uint32_t n = rvm__node_of(w, LLVMGetInstructionParent(v));
    return n != RVM__NO_NODE && !rvm__is_in_loop(w, n, loop);
}

/* Of a loop: whether it stands outside. */
static bool is_left_whole(const rvm__group *g, const rvm__affine *a, LLVMValueRef v) {
    return a->loop != RVM__NO_LOOP && rvm__is_outside(&g->flow, v, a->loop);
}

static bool is_number(LLVMValueRef v, int64_t *n) {
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64) return false;
    const int64_t x = *n = LLVMConstIntGetSExtValue(v);
    return x < MOST_TIMES && x > -MOST_TIMES;
}

static void add_term(rvm__affine *a, LLVMValueRef v, int64_t times) {
    unsigned k = 0;
    while (k < a->n && a->value[k] != v) k++;
    if (k == RVM__MOST_TERMS) {
        a->unknown = true;
        return;
    }
    if (k == a->n) a->value[a->n++] = v, a->times[k] = 0;
    a->times[k] += times;
}

/* What wraps around does so alike in all that differ by a constant. */
static void add_value(const rvm__group *g, rvm__affine *a, LLVMValueRef v, int64_t times) {
    const LLVMOpcode written = LLVMIsABinaryOperator(v) && !is_left_whole(g, a, v) ? LLVMGetInstructionOpcode(v) : LLVMRet;
    const LLVMOpcode op = written == LLVMOr && LLVMGetIsDisjoint(v) ? LLVMAdd : written;
    int64_t n;
    if (a->steps++ > MOST_STEPS || times > MOST_TIMES || times < -MOST_TIMES)
        a->unknown = true;
    else if (is_number(v, &n))
        a->offset += n * times;
    else if (op == LLVMAdd || op == LLVMSub) {
        add_value(g, a, LLVMGetOperand(v, 0), times);
        add_value(g, a, LLVMGetOperand(v, 1), op == LLVMAdd ? times : -times);
    } else if (op == LLVMMul && is_number(LLVMGetOperand(v, 1), &n))
        add_value(g, a, LLVMGetOperand(v, 0), times * n);
    else if (op == LLVMShl && is_number(LLVMGetOperand(v, 1), &n) && n >= 0 && n < 20)
        add_value(g, a, LLVMGetOperand(v, 0), times * (INT64_C(1) << n));
    else
        add_term(a, v, times);
}

rvm__affine rvm__affine_number(const rvm__group *g, LLVMValueRef number, uint32_t loop) {
    rvm__affine a = {.loop = loop};
    add_value(g, &a, number, 1);
    return a;
}

static rvm__affine affine(const rvm__group *g, LLVMValueRef address, uint32_t loop, bool within) {
    rvm__affine a = {.root = address, .loop = loop};
    while (!(within && rvm__is_outside(&g->flow, address, loop)) && LLVMIsAGetElementPtrInst(address) &&
           LLVMGetNumOperands(address) == 2 && LLVMTypeOf(LLVMGetOperand(address, 1)) == g->k->i64) {
        const uint64_t size = LLVMABISizeOfType(g->layout, LLVMGetGEPSourceElementType(address));
        add_value(g, &a, LLVMGetOperand(address, 1), size < MOST_TIMES ? (int64_t)size : 0);
        a.unknown |= size >= MOST_TIMES;
        a.root = address = LLVMGetOperand(address, 0);
    }
    return a;
}

rvm__affine rvm__affine_of(const rvm__group *g, LLVMValueRef address, uint32_t loop) {
    return affine(g, address, loop, false);
}

rvm__affine rvm__affine_within(const rvm__group *g, LLVMValueRef address, uint32_t loop) {
    return affine(g, address, loop, true);
}

bool rvm__are_parallel(const rvm__affine *x, const rvm__affine *y) {
    unsigned found = 0;
    if (x->unknown || y->unknown || x->root != y->root || x->n != y->n) return false;
    for (unsigned k = 0; k < x->n; k++)
        for (unsigned i = 0; i < y->n; i++) found += x->value[k] == y->value[i] && x->times[k] == y->times[i];
    return found == x->n;
}
