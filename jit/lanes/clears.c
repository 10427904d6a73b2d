/* clears.c: local arrays that are cleared where they are first used.
 *
 * An array that appears is cleared as a whole, in lanes one of all of them, and comes back from a farther cache when it is
 * used. Where the instances of a block within are the first that come to it, each to a part of its own (RVM__FIRST), each
 * clears that, and LLVM sees what it loads.
 */
#include <string.h>

#include "group.h"
#include "native.h"
#include "support.h"

enum { FEW = 16 }; /* elements that are stored one by one */

/* ---- calls ---- */

static LLVMValueRef next_call(LLVMValueRef f, LLVMValueRef after, const char *name) {
    LLVMBasicBlockRef b = after ? LLVMGetInstructionParent(after) : LLVMGetFirstBasicBlock(f);
    LLVMValueRef v = after ? LLVMGetNextInstruction(after) : b ? LLVMGetFirstInstruction(b) : NULL;
    while (b) {
        for (; v; v = LLVMGetNextInstruction(v))
            if (LLVMIsACallInst(v) && !strcmp(rvm__callee_name(v), name)) return v;
        b = LLVMGetNextBasicBlock(b);
        v = b ? LLVMGetFirstInstruction(b) : NULL;
    }
    return NULL;
}

void rvm__drop_parts(rvm__build *k) {
    LLVMValueRef f = LLVMGetNamedFunction(k->module, RVM__FIRST);
    if (!f) return;
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetFirstUse(f)) LLVMInstructionEraseFromParent(LLVMGetUser(u));
    LLVMDeleteFunction(f);
}

/* ---- what the loop of the block comes to ---- */

static uint32_t node_of(const rvm__group *g, LLVMValueRef v) {
    return rvm__node_of(&g->flow, LLVMGetInstructionParent(v));
}

static bool is_number(LLVMValueRef v, int64_t *n) {
    if (!LLVMIsAConstantInt(v)) return false;
    *n = LLVMConstIntGetSExtValue(v);
    return true;
}

typedef struct counter { /* of a loop: a phi that is first, first + step .. */
    LLVMValueRef phi, next;
    int64_t first, step;
} counter;

static bool find_counter(const rvm__group *g, LLVMValueRef phi, uint32_t loop, counter *c) {
    const rvm__loop *l = &g->flow.loops[loop];
    *c = (counter){.phi = phi};
    if (!LLVMIsAPHINode(phi) || node_of(g, phi) != l->header || LLVMCountIncoming(phi) != 2) return false;
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, k);
        if (LLVMGetIncomingBlock(phi, k) != g->flow.nodes[l->latch].b) {
            if (!is_number(v, &c->first)) return false;
        } else if (LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMAdd && LLVMGetOperand(v, 0) == phi)
            c->next = is_number(LLVMGetOperand(v, 1), &c->step) ? v : NULL;
    }
    return c->next;
}

enum ending { GOES_ON, ENDS, UNKNOWN };

/* Whether control leaves the loop from there where the counter is `last`, and only then. */
static enum ending ending_at(const rvm__group *g, uint32_t n, uint32_t loop, const counter *c, int64_t last) {
    const rvm__node *b = &g->flow.nodes[n];
    unsigned out = 0;
    bool if_true = false;
    int64_t with;
    for (uint32_t s = 0; s < b->nsucc; s++)
        if (!rvm__is_in_loop(&g->flow, b->succ[s], loop)) out++, if_true = s == 0;
    if (!out) return GOES_ON;
    LLVMValueRef cond = b->nsucc == 2 && out == 1 ? LLVMGetCondition(LLVMGetBasicBlockTerminator(b->b)) : NULL;
    if (!cond || !LLVMIsAICmpInst(cond) || LLVMGetICmpPredicate(cond) != (if_true ? LLVMIntEQ : LLVMIntNE)) return UNKNOWN;
    LLVMValueRef x = LLVMGetOperand(cond, 0);
    if ((x != c->phi && x != c->next) || !is_number(LLVMGetOperand(cond, 1), &with)) return UNKNOWN;
    return with - (x == c->next ? c->step : 0) == last ? ENDS : UNKNOWN;
}

/* Whether each trip comes to such an end, by way of node `by`, and none leaves the loop elsewhere. */
static bool ends_with(const rvm__group *g, uint32_t loop, uint32_t by, const counter *c, int64_t last) {
    const rvm__flow *w = &g->flow;
    uint8_t *passes = rvm__realloc(w->al, NULL, 0, w->n); /* from the header to here, by no end */
    bool good = passes;
    for (uint32_t k = w->n; good && k-- > 0;) passes[k] = k == w->loops[loop].header;
    for (uint32_t k = w->n; good && k-- > 0;) {
        const uint32_t n = w->order[k];
        if (!rvm__is_in_loop(w, n, loop)) continue;
        const enum ending e = ending_at(g, n, loop, c, last);
        good = e != UNKNOWN && (e == GOES_ON || rvm__dominates(w, by, n)) &&
               !(e == GOES_ON && passes[n] && n == w->loops[loop].latch);
        for (uint32_t s = 0; e == GOES_ON && passes[n] && s < w->nodes[n].nout; s++) passes[w->nodes[n].out[s]] = 1;
    }
    rvm__realloc(w->al, passes, w->n, 0);
    return good;
}

/* Whether the loop's phi is each of 0 .. n - 1 once, up or down, at node `by`. */
static bool counts(const rvm__group *g, LLVMValueRef phi, uint32_t loop, uint32_t by, int64_t n) {
    counter c;
    if (!find_counter(g, phi, loop, &c) || (c.step != 1 && c.step != -1)) return false;
    return c.first == (c.step > 0 ? 0 : n - 1) && ends_with(g, loop, by, &c, c.step > 0 ? n - 1 : 0);
}

typedef struct part {         /* of the array that a call of rvm__native_new makes */
    LLVMValueRef made, first; /* RVM__FIRST, of each part once */
    LLVMValueRef index;       /* of the part: the loop's phi */
    uint32_t loop;
    int64_t bytes;
} part;

/* Whether the parts are all of the array, each of which the loop comes to once. */
static bool is_whole(const rvm__group *g, LLVMValueRef first, part *p) {
    int64_t parts, elements, bits;
    const rvm__affine a = rvm__affine_of(g, LLVMGetOperand(first, 0), RVM__NO_LOOP);
    const uint32_t at = node_of(g, first), loop = at == RVM__NO_NODE ? RVM__NO_LOOP : g->flow.nodes[at].loop;
    *p = (part){.made = a.root, .first = first, .index = LLVMGetOperand(first, 1), .loop = loop};
    if (loop == RVM__NO_LOOP || a.unknown || a.n || a.offset != (int64_t)RVM__ARRAY_HEADER) return false;
    if (!LLVMIsACallInst(a.root) || strcmp(rvm__callee_name(a.root), "rvm__native_new") != 0) return false;
    if (!is_number(LLVMGetOperand(first, 2), &p->bytes) || p->bytes <= 0 || p->bytes % 8) return false;
    if (!is_number(LLVMGetOperand(first, 3), &parts) || parts <= 0 || parts > INT64_MAX / p->bytes) return false;
    if (!is_number(LLVMGetOperand(a.root, 1), &elements) || elements > INT64_MAX / 8 || 8 * elements != parts * p->bytes)
        return false;
    if (!is_number(LLVMGetOperand(a.root, 2), &bits) || (bits && p->bytes > 8 * FEW)) return false;
    return counts(g, p->index, loop, at, parts);
}

/* ---- what else comes to the array ---- */

/* Whether v is behind `from` in its block. */
static bool is_behind(LLVMValueRef v, LLVMValueRef from) {
    while (from && from != v) from = LLVMGetNextInstruction(from);
    return from;
}

/* Whether the address goes with the index of the part, not with that of the next one, which LLVM may have looked ahead to.
 */
static bool is_in_part(const rvm__group *g, const part *p, LLVMValueRef address) {
    const rvm__affine a = rvm__affine_of(g, address, RVM__NO_LOOP);
    const int64_t offset = a.offset - (int64_t)RVM__ARRAY_HEADER;
    for (unsigned k = 0; k < a.n && !a.unknown; k++)
        if (a.value[k] == p->index) return a.times[k] == p->bytes && offset > -p->bytes && offset < p->bytes;
    return false;
}

/* In the loop and its part, behind that's beginning, or behind the loop. */
static bool comes_later(const rvm__group *g, const part *p, LLVMValueRef v, LLVMValueRef address) {
    const uint32_t n = node_of(g, v), begins = node_of(g, p->first);
    if (n == RVM__NO_NODE) return false;
    const bool within = rvm__is_in_loop(&g->flow, n, p->loop);
    if (within && !is_in_part(g, p, address)) return false;
    if (n == begins) return is_behind(v, p->first);
    return rvm__dominates(&g->flow, within ? begins : g->flow.loops[p->loop].exit, n);
}

static bool all_come_later(const rvm__group *g, const part *p, LLVMValueRef address) {
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef v = LLVMGetUser(u);
        const LLVMOpcode op = LLVMGetInstructionOpcode(v);
        const char *name = op == LLVMCall ? rvm__callee_name(v) : "";
        const bool marks = !strcmp(name, RVM__FIRST), asks = op == LLVMICmp;
        const bool adds = !strncmp(name, RVM__ADD, strlen(RVM__ADD)) || !strncmp(name, "llvm.memset.", 12);
        if (marks || asks) continue;
        if (op == LLVMGetElementPtr && LLVMGetOperand(v, 0) == address) {
            if (!all_come_later(g, p, v)) return false;
            continue;
        }
        const bool touches = op == LLVMLoad || (op == LLVMStore && LLVMGetOperand(v, 0) != address) ||
                             (adds && LLVMGetOperand(v, 0) == address && LLVMGetOperand(v, 1) != address);
        if (!touches || !comes_later(g, p, v, address)) return false;
    }
    return true;
}

/* ---- clearing ---- */

static void clear(rvm__group *g, const part *p) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef bytes = LLVMGetOperand(p->first, 2), bits = LLVMGetOperand(p->made, 2);
    LLVMPositionBuilderBefore(b, p->first);
    LLVMValueRef at = rvm__behind(g, LLVMGetOperand(p->first, 0), LLVMBuildMul(b, p->index, bytes, ""));
    if (p->bytes > 8 * FEW) {
        LLVMBuildMemSet(b, at, LLVMConstInt(LLVMInt8TypeInContext(g->k->context), 0, false), bytes, 8);
        return;
    }
    for (int64_t n = 0; n < p->bytes; n += 8)
        LLVMBuildStore(b, LLVMConstBitCast(bits, g->k->f64), rvm__behind(g, at, rvm__number(g, (uint64_t)n)));
}

static void leave_as_it_is(rvm__group *g, LLVMValueRef made) {
    static const char name[] = "rvm__native_new_raw";
    LLVMTypeRef of[2] = {g->k->ptr, g->k->i64}, t = LLVMFunctionType(g->k->ptr, of, 2, false);
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, name), args[2] = {LLVMGetOperand(made, 0), LLVMGetOperand(made, 1)};
    if (!f) {
        f = LLVMAddFunction(g->k->module, name, t);
        const unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
        LLVMAddAttributeAtIndex(f, LLVMAttributeReturnIndex, LLVMCreateEnumAttribute(g->k->context, noalias, 0));
    }
    LLVMPositionBuilderBefore(g->k->b, made);
    LLVMValueRef raw = LLVMBuildCall2(g->k->b, t, f, args, 2, "");
    LLVMReplaceAllUsesWith(made, raw);
    LLVMInstructionEraseFromParent(made);
}

void rvm__clear_by_parts(rvm__group *g) {
    for (LLVMValueRef v = NULL; (v = next_call(g->flow.function, v, RVM__FIRST));) {
        part p;
        if (!is_whole(g, v, &p)) continue;
        const uint32_t n = node_of(g, p.made), header = g->flow.loops[p.loop].header;
        if (n == RVM__NO_NODE || g->flow.nodes[n].loop != g->flow.loops[p.loop].parent) continue;
        if (!rvm__dominates(&g->flow, n, header) || !all_come_later(g, &p, p.made)) continue;
        clear(g, &p);
        leave_as_it_is(g, p.made);
    }
    for (LLVMValueRef v; (v = next_call(g->flow.function, NULL, RVM__FIRST));) LLVMInstructionEraseFromParent(v);
}
