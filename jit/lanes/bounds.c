/* bounds.c: upper bounds of integers that are not negative, and of the trips of loops, as the text of an instance tells:
 * constants, induction variables, and sums over loops of what their trips add. */
#include "flow.h"
#include "support.h"

#include <string.h>

enum { MOST_DEEP = 40, MOST_STEPS = 20000 };

typedef struct bounds {
    const rvm__flow *g;
    uint32_t steps; /* so far */
} bounds;

static uint64_t most_value(bounds *w, LLVMValueRef v, unsigned deep);
static uint64_t most_trips(bounds *w, uint32_t loop, unsigned deep);

/* a * b + c */
static uint64_t product(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t n;
    if (a == RVM__NO_BOUND || b == RVM__NO_BOUND || c == RVM__NO_BOUND) return RVM__NO_BOUND;
    return __builtin_mul_overflow(a, b, &n) || __builtin_add_overflow(n, c, &n) ? RVM__NO_BOUND : n;
}

static LLVMValueRef constant(LLVMValueRef v) {
    return LLVMIsAConstantInt(v) ? v : NULL;
}

static bool gives_up(bounds *w, unsigned deep) {
    return !deep || w->steps++ > MOST_STEPS;
}

/* The values of which v is one, by where control comes from or by a condition: so many; 0: it is computed. */
static unsigned choices(LLVMValueRef v) {
    return LLVMIsAPHINode(v) ? LLVMCountIncoming(v) : LLVMIsASelectInst(v) ? 2 : 0;
}

static LLVMValueRef choice(LLVMValueRef v, unsigned k) {
    return LLVMIsAPHINode(v) ? LLVMGetIncomingValue(v, k) : LLVMGetOperand(v, k + 1);
}

/* ---- values that loops carry ---- */

/* v = first at the loop's header, then next each trip. */
typedef struct carried {
    uint32_t loop;
    LLVMValueRef first, next;
} carried;

static bool is_carried(const rvm__flow *g, LLVMValueRef v, carried *out) {
    if (!LLVMIsAPHINode(v) || LLVMCountIncoming(v) != 2) return false;
    const uint32_t n = rvm__node_of(g, LLVMGetInstructionParent(v));
    out->loop = g->nodes[n].loop;
    if (out->loop == RVM__NO_LOOP || g->loops[out->loop].header != n) return false;
    const unsigned turned = LLVMGetIncomingBlock(v, 1) == g->nodes[g->loops[out->loop].latch].b;
    out->first = LLVMGetIncomingValue(v, !turned);
    out->next = LLVMGetIncomingValue(v, turned);
    return true;
}

/* By how much v exceeds `from`, which it is computed from by additions; else no bound. */
static uint64_t growth(bounds *w, LLVMValueRef v, LLVMValueRef from, unsigned deep) {
    carried c;
    uint64_t most = 0;
    if (v == from || LLVMIsUndef(v)) return 0; /* nobody looks at what is undefined */
    if (gives_up(w, deep--) || !LLVMIsAInstruction(v)) return RVM__NO_BOUND;
    if (is_carried(w->g, v, &c)) {
        const uint64_t first = growth(w, c.first, from, deep);
        return first == RVM__NO_BOUND ? first : product(most_trips(w, c.loop, deep), growth(w, c.next, v, deep), first);
    }
    for (unsigned k = 0; k < choices(v); k++) most = rvm__most(most, growth(w, choice(v, k), from, deep));
    if (choices(v)) return most;
    if (LLVMGetInstructionOpcode(v) != LLVMAdd) return RVM__NO_BOUND;
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    const uint64_t grown = growth(w, a, from, deep);
    if (grown != RVM__NO_BOUND) return product(1, grown, most_value(w, b, deep));
    return product(1, growth(w, b, from, deep), most_value(w, a, deep));
}

/* A constant step each trip: 0 for none. */
static int64_t step_of(const carried *c, LLVMValueRef v) {
    if (!LLVMIsABinaryOperator(c->next) || LLVMGetInstructionOpcode(c->next) != LLVMAdd) return 0;
    LLVMValueRef by = LLVMGetOperand(c->next, 0) == v ? constant(LLVMGetOperand(c->next, 1)) : NULL;
    return by ? LLVMConstIntGetSExtValue(by) : 0;
}

static uint64_t most_carried(bounds *w, LLVMValueRef v, const carried *c, unsigned deep) {
    const uint64_t first = most_value(w, c->first, deep), trips = most_trips(w, c->loop, deep);
    const int64_t step = step_of(c, v);
    if (step >= 0) return product(trips, growth(w, c->next, v, deep), first);
    const uint64_t down = trips == RVM__NO_BOUND ? trips : product(trips - 1, -(uint64_t)step, 0);
    return constant(c->first) && down <= first ? first : RVM__NO_BOUND; /* it stays above 0 */
}

/* ---- values ---- */

/* The only node that goes on to n, or none. */
static uint32_t only_before(const rvm__flow *g, uint32_t n) {
    uint32_t found = RVM__NO_NODE;
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t s = 0; s < g->nodes[k].nsucc; s++) {
            if (g->nodes[k].succ[s] != n) continue;
            if (found != RVM__NO_NODE) return RVM__NO_NODE;
            found = k;
        }
    return found;
}

/* x + by where v is that. */
static bool is_sum_of(LLVMValueRef v, LLVMValueRef x, int64_t *by) {
    LLVMValueRef c =
        LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMAdd ? constant(LLVMGetOperand(v, 1)) : NULL;
    *by = c ? LLVMConstIntGetSExtValue(c) : 0;
    return v == x || (c && LLVMGetOperand(v, 0) == x);
}

/* What x is at most where `user` is, by a comparison that led there: x + a < b or its opposite. */
static uint64_t most_by_guard(bounds *w, LLVMValueRef x, LLVMValueRef user) {
    const rvm__flow *g = w->g;
    const uint32_t n = rvm__node_of(g, LLVMGetInstructionParent(user)), before = only_before(g, n);
    LLVMValueRef end = before == RVM__NO_NODE ? NULL : LLVMGetBasicBlockTerminator(g->nodes[before].b);
    LLVMValueRef cond =
        end && LLVMGetInstructionOpcode(end) == LLVMBr && LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
    int64_t by;
    if (!cond || !LLVMIsAICmpInst(cond) || !is_sum_of(LLVMGetOperand(cond, 0), x, &by)) return RVM__NO_BOUND;
    LLVMValueRef c = constant(LLVMGetOperand(cond, 1));
    const bool holds = LLVMGetSuccessor(end, 0) == g->nodes[n].b;
    const LLVMIntPredicate p = LLVMGetICmpPredicate(cond);
    const bool less = holds ? p == LLVMIntSLT || p == LLVMIntULT : p == LLVMIntSGE || p == LLVMIntUGE;
    const bool or_equal = holds ? p == LLVMIntSLE || p == LLVMIntULE : p == LLVMIntSGT || p == LLVMIntUGT;
    if (!c || (!less && !or_equal)) return RVM__NO_BOUND;
    const int64_t most = LLVMConstIntGetSExtValue(c) - less - by;
    return most < 0 ? RVM__NO_BOUND : (uint64_t)most;
}

/* a - b, where b is not more than a. */
static uint64_t most_difference(bounds *w, LLVMValueRef v, uint64_t a, uint64_t b) {
    LLVMValueRef c = constant(LLVMGetOperand(v, 0));
    if (LLVMGetNUW(v)) return a;
    return c && rvm__least(b, most_by_guard(w, LLVMGetOperand(v, 1), v)) <= a ? a : RVM__NO_BOUND;
}

static uint64_t most_of_operation(bounds *w, LLVMValueRef v, unsigned deep) {
    const bool is_min = LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), "llvm.umin.", 10);
    if (!is_min && !LLVMIsABinaryOperator(v)) return RVM__NO_BOUND;
    const uint64_t a = most_value(w, LLVMGetOperand(v, 0), deep), b = most_value(w, LLVMGetOperand(v, 1), deep);
    const bool shifts = b < 64 && constant(LLVMGetOperand(v, 1));
    if (is_min) return rvm__least(a, b);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAnd: return rvm__least(a, b);
    case LLVMAdd: return product(a, 1, b);
    case LLVMSub: return a == RVM__NO_BOUND ? a : most_difference(w, v, a, b);
    case LLVMMul: return product(a, b, 0);
    case LLVMShl: return shifts ? product(a, UINT64_C(1) << b, 0) : RVM__NO_BOUND;
    case LLVMLShr: return shifts && a != RVM__NO_BOUND ? a >> b : RVM__NO_BOUND;
    default: return RVM__NO_BOUND;
    }
}

static uint64_t most_value(bounds *w, LLVMValueRef v, unsigned deep) {
    carried c;
    uint64_t most = 0;
    if (constant(v)) return LLVMConstIntGetSExtValue(v) < 0 ? RVM__NO_BOUND : LLVMConstIntGetZExtValue(v);
    if (LLVMIsUndef(v)) return 0;
    if (gives_up(w, deep--) || !LLVMIsAInstruction(v)) return RVM__NO_BOUND;
    if (is_carried(w->g, v, &c)) return most_carried(w, v, &c, deep);
    for (unsigned k = 0; k < choices(v); k++) most = rvm__most(most, most_value(w, choice(v, k), deep));
    if (choices(v)) return most;
    return LLVMIsAZExtInst(v) ? most_value(w, LLVMGetOperand(v, 0), deep) : most_of_operation(w, v, deep);
}

/* ---- trips ---- */

/* By an exit that compares what has a constant step, before or after that, with where it ends: the loop is a counted one,
 * which has no trips where it would pass that by. */
static uint64_t trips_by(bounds *w, uint32_t loop, LLVMValueRef end, unsigned deep) {
    LLVMValueRef cond = LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
    carried c;
    if (!cond || !LLVMIsAICmpInst(cond)) return RVM__NO_BOUND;
    LLVMValueRef at = LLVMGetOperand(cond, 0), last = LLVMGetOperand(cond, 1);
    if (LLVMIsABinaryOperator(at)) at = LLVMGetOperand(at, 0);
    const int64_t step = is_carried(w->g, at, &c) && c.loop == loop ? step_of(&c, at) : 0;
    if (!step) return RVM__NO_BOUND;
    LLVMValueRef near = constant(step > 0 ? c.first : last);
    const uint64_t far = most_value(w, step > 0 ? last : c.first, deep);
    const int64_t from = near ? LLVMConstIntGetSExtValue(near) : 0; /* bounds are of what is not negative */
    if (far > INT64_MAX / 2 || from < -INT64_MAX / 2 || (int64_t)far < from) return RVM__NO_BOUND;
    return (uint64_t)((int64_t)far - from) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
}

static uint64_t most_trips(bounds *w, uint32_t loop, unsigned deep) {
    const rvm__flow *g = w->g;
    uint64_t most = RVM__NO_BOUND;
    for (uint32_t n = 0; n < g->n && deep; n++) {
        const rvm__node *b = &g->nodes[n];
        bool leaves = false;
        if (b->loop != loop || b->nsucc != 2) continue;
        for (uint32_t s = 0; s < 2; s++) leaves |= !rvm__is_in_loop(g, b->succ[s], loop);
        if (leaves) most = rvm__least(most, trips_by(w, loop, LLVMGetBasicBlockTerminator(b->b), deep - 1));
    }
    return most;
}

uint64_t rvm__most_value(const rvm__flow *g, LLVMValueRef v) {
    return most_value(&(bounds){.g = g}, v, MOST_DEEP);
}

uint64_t rvm__most_trips(const rvm__flow *g, uint32_t loop) {
    return most_trips(&(bounds){.g = g}, loop, MOST_DEEP);
}
