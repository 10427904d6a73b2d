/* turned.c: what a loop adds to elements side by side, where the loop around it comes to the same factors again.
 *
 * An outer product is added column by column: to each element a product of the column's factor, which no trip changes, and
 * of the row's, which stands in private memory, a vector of all lanes. Four rows are turned, into the four elements of each
 * lane, in the first trip of the loop around that comes to them, and kept for the others. Then lane after lane is added to
 * four elements at once. Those additions wait for each other: they go between others of the same trip, since processors do
 * not look far enough ahead to find these.
 */
#include <string.h>

#include "group.h"
#include "support.h"

enum { FOUR = RVM__FOUR, MOST_FOURS = 2, MOST_ROWS = 16, MOST_KEPT = 64, FEWEST = 4, MOST_BYTES = 1 << 16 };

typedef struct row { /* a load of the instance */
    LLVMValueRef load;
    rvm__affine at;
    unsigned n; /* among rows of a trip; several loads may read one */
} row;

typedef struct rows { /* four, ascending; where the first one stands */
    rvm__affine at;
    LLVMValueRef kept, now; /* an array of vectors, FOUR elements of each lane; this trip's */
} rows;

struct rvm__turned { /* of a loop of one block */
    uint32_t loop;
    unsigned n, most; /* fours of a trip; trips that are kept */
    row row[MOST_ROWS];
    unsigned nrows;
    rows four[MOST_FOURS];
    LLVMValueRef trip, trips;   /* allocas: which one is next; how many are kept */
    LLVMBasicBlockRef set, now; /* the last block where trips became 0; where the body of this trip begins */
};

/* ---- which loops ---- */

static bool is_of(LLVMValueRef call, const char *name) {
    return !strncmp(rvm__callee_name(call), name, strlen(name));
}

/* Memory that is in no other object. */
static bool is_object(LLVMValueRef v) {
    return LLVMIsAAllocaInst(v) || (LLVMIsACallInst(v) && rvm__makes_array(v));
}

/* Whether the instruction may change private memory where that address is. */
static bool may_change(const rvm__group *g, LLVMValueRef v, LLVMValueRef address) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMCall && !is_of(v, RVM__ADD))
        return !is_of(v, RVM__SAFEPOINT) && !is_of(v, RVM__BAIL_OUT) && !rvm__is_group_function(v);
    if (op != LLVMStore && op != LLVMCall) return false;
    LLVMValueRef to = LLVMGetOperand(v, op == LLVMStore), x = rvm__object_of(to), y = rvm__object_of(address);
    return rvm__memory_of(&g->flow, to) != RVM__SHARED && (x == y || !is_object(x) || !is_object(y));
}

static bool stays(const rvm__group *g, LLVMValueRef address, uint32_t loop) {
    for (uint32_t n = 0; n < g->flow.n; n++) {
        if (!rvm__is_in_loop(&g->flow, n, loop)) continue;
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b); v; v = LLVMGetNextInstruction(v))
            if (may_change(g, v, address)) return false;
    }
    return true;
}

/* Whether it begins alike in each trip of the loop around, and grows by a constant. */
static bool is_counter(const rvm__group *g, LLVMValueRef phi, uint32_t loop) {
    const rvm__loop *l = &g->flow.loops[loop];
    LLVMBasicBlockRef b = g->flow.nodes[l->header].b;
    if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != b) return false;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, k);
        if (LLVMGetIncomingBlock(phi, k) != b) {
            if (!rvm__is_outside(&g->flow, v, l->parent)) return false;
            continue;
        }
        const rvm__affine next = rvm__affine_number(g, v, loop);
        if (next.unknown || next.n != 1 || next.value[0] != phi || next.times[0] != 1) return false;
    }
    return true;
}

/* Whether the address is the same in each trip of the loop around, trip by trip of the loop. */
static bool recurs(const rvm__group *g, const rvm__affine *a, uint32_t loop) {
    const uint32_t around = g->flow.loops[loop].parent;
    if (a->unknown || !rvm__is_outside(&g->flow, a->root, around)) return false;
    for (unsigned k = 0; k < a->n; k++)
        if (!rvm__is_outside(&g->flow, a->value[k], around) && !is_counter(g, a->value[k], loop)) return false;
    return true;
}

/* The row's factor of what a call adds: a load of the loop, of private memory; NULL: there is none. */
static LLVMValueRef row_of(const rvm__group *g, LLVMValueRef call, uint32_t loop) {
    if (LLVMGetInstructionOpcode(call) != LLVMCall || !is_of(call, RVM__ADD "f64")) return NULL;
    LLVMValueRef product = LLVMGetOperand(call, 1);
    if (!LLVMIsAInstruction(product) || LLVMGetInstructionOpcode(product) != LLVMFMul) return NULL;
    for (unsigned side = 0; side < 2; side++) {
        LLVMValueRef x = LLVMGetOperand(product, side), own = LLVMGetOperand(product, !side);
        if (!LLVMIsALoadInst(x) || rvm__is_outside(&g->flow, x, loop) || !rvm__is_outside(&g->flow, own, loop)) continue;
        LLVMValueRef address = LLVMGetOperand(x, 0);
        if (rvm__memory_of(&g->flow, address) == RVM__PRIVATE_MEMORY && !rvm__is_varying(&g->flow, address)) return x;
    }
    return NULL;
}

/* By where they stand; none: there are too many, or not all at a constant distance. */
static void find_rows(const rvm__group *g, rvm__turned *t) {
    LLVMBasicBlockRef b = g->flow.nodes[g->flow.loops[t->loop].header].b;
    row *r = t->row;
    for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
        LLVMValueRef x = row_of(g, v, t->loop);
        unsigned k = 0, n = t->nrows;
        while (k < n && r[k].load != x) k++;
        if (!x || k < n) continue;
        const rvm__affine at = rvm__affine_of(g, LLVMGetOperand(x, 0), t->loop);
        if (n == MOST_ROWS || (n && !rvm__are_parallel(&at, &r->at))) {
            t->nrows = 0;
            return;
        }
        for (k = t->nrows++; k && r[k - 1].at.offset > at.offset; k--) r[k] = r[k - 1];
        r[k] = (row){.load = x, .at = at};
    }
    for (unsigned k = 1; k < t->nrows; k++) r[k].n = r[k - 1].n + (r[k].at.offset != r[k - 1].at.offset);
}

/* The first load of a row; NULL: there is none. */
static const row *row_number(const rvm__turned *t, unsigned n) {
    for (unsigned k = 0; k < t->nrows; k++)
        if (t->row[k].n == n) return &t->row[k];
    return NULL;
}

/* Fours of rows that stand side by side. */
static void find_fours(const rvm__group *g, rvm__turned *t) {
    find_rows(g, t);
    for (const row *from, *to; t->n < MOST_FOURS; t->four[t->n++].at = from->at) {
        from = row_number(t, FOUR * t->n);
        to = row_number(t, FOUR * t->n + FOUR - 1);
        if (!to || to->at.offset - from->at.offset != 8 * (FOUR - 1) || !recurs(g, &from->at, t->loop)) return;
        if (!stays(g, LLVMGetOperand(from->load, 0), g->flow.loops[t->loop].parent)) return;
    }
}

static bool may_be_kept(const rvm__group *g, uint32_t loop, LLVMValueRef mask) {
    const rvm__loop *l = &g->flow.loops[loop];
    return g->ordered && !g->traces && !g->logs && !mask && g->lanes == RVM__MOST_GROUP && l->header == l->latch &&
           !l->divergent && l->parent != RVM__NO_LOOP && !g->flow.loops[l->parent].divergent;
}

/* ---- its code ---- */

static rvm__turned *turned_of(const rvm__group *g, uint32_t loop) {
    for (uint32_t k = 0; k < g->nturned; k++)
        if (g->turned[k].loop == loop) return &g->turned[k];
    return NULL;
}

static rvm__turned *add_turned(rvm__group *g, uint32_t loop) {
    void *list = g->turned;
    if (!rvm__grow(g->flow.al, &list, &g->cap_turned, g->nturned + 1, sizeof *g->turned)) {
        rvm__no_group(g, "out of memory");
        return NULL;
    }
    g->turned = list;
    rvm__turned *t = &g->turned[g->nturned++];
    *t = (rvm__turned){.loop = loop};
    find_fours(g, t);
    if (!t->n) return t;
    const uint64_t trips = rvm__most_trips(&g->flow, loop);
    t->most = trips < MOST_KEPT ? (unsigned)trips : MOST_KEPT;
    g->turned_bytes += t->n * (t->most + 1) * RVM__MOST_GROUP * FOUR * sizeof(double);
    if (trips < FEWEST || g->turned_bytes > MOST_BYTES) t->n = 0;
    if (!t->n) return t;
    t->trip = rvm__group_local(g, g->k->i64);
    t->trips = rvm__group_local(g, g->k->i64);
    for (unsigned k = 0; k < t->n; k++) /* one more for those that are not kept */
        t->four[k].kept = rvm__group_local(g, LLVMArrayType(g->k->f64, (t->most + 1) * RVM__MOST_GROUP * FOUR));
    return t;
}

void rvm__turned_enter(rvm__group *g, uint32_t loop, LLVMValueRef mask) {
    if (!may_be_kept(g, loop, mask)) return;
    rvm__turned *t = turned_of(g, loop);
    if (!t) t = add_turned(g, loop);
    if (!t || !t->n) return;
    LLVMBuilderRef b = g->k->b;
    LLVMBasicBlockRef before = g->flow.loops[g->flow.loops[loop].parent].before;
    LLVMBuildStore(b, rvm__number(g, 0), t->trip);
    if (t->set == before) return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(before));
    LLVMBuildStore(b, rvm__number(g, 0), t->trips);
    LLVMPositionBuilderAtEnd(b, here);
    t->set = before;
}

static LLVMValueRef shuffle(rvm__group *g, LLVMValueRef x, LLVMValueRef y, const unsigned *from, unsigned n) {
    LLVMValueRef each[FOUR];
    for (unsigned k = 0; k < n; k++) each[k] = LLVMConstInt(g->k->i32, from[k], false);
    return LLVMBuildShuffleVector(g->k->b, x, y, LLVMConstVector(each, n), "");
}

static LLVMValueRef of_lane(rvm__group *g, LLVMValueRef first, unsigned lane) {
    return rvm__behind(g, first, rvm__number(g, 8 * FOUR * lane));
}

/* Four rows, which the trip will load, too. */
static void turn(rvm__group *g, const rows *r) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef bytes = rvm__number(g, (uint64_t)r->at.offset), from, v[FOUR];
    for (unsigned k = 0; k < r->at.n; k++) {
        LLVMValueRef times = rvm__number(g, (uint64_t)r->at.times[k]), x = rvm__one(g, r->at.value[k]);
        bytes = LLVMBuildAdd(b, bytes, LLVMBuildMul(b, x, times, ""), "");
    }
    from = rvm__behind(g, rvm__one(g, r->at.root), LLVMBuildMul(b, bytes, rvm__number(g, g->lanes), ""));
    for (unsigned k = 0; k < FOUR; k++) {
        LLVMValueRef at = rvm__behind(g, from, rvm__number(g, 8 * k * g->lanes));
        v[k] = LLVMBuildLoad2(b, LLVMVectorType(g->k->f64, g->lanes), at, "");
        LLVMSetAlignment(v[k], 8);
    }
    for (unsigned l = 0; l < g->lanes; l++) {
        const unsigned pair[2] = {l, g->lanes + l}, all[FOUR] = {0, 1, 2, 3};
        LLVMValueRef low = shuffle(g, v[0], v[1], pair, 2), high = shuffle(g, v[2], v[3], pair, 2);
        LLVMSetAlignment(LLVMBuildStore(b, shuffle(g, low, high, all, FOUR), of_lane(g, r->now, l)), 8 * FOUR);
    }
}

static LLVMValueRef at_most(rvm__group *g, LLVMValueRef v, unsigned most) {
    LLVMValueRef limit = rvm__number(g, most);
    return LLVMBuildSelect(g->k->b, LLVMBuildICmp(g->k->b, LLVMIntULT, v, limit, ""), v, limit, "");
}

/* The same address, of which LLVM does not know that: else it keeps what is turned in registers from there on, and where
 * these are few the loop's sums are in memory instead. */
static LLVMValueRef hidden(rvm__group *g, LLVMValueRef address) {
    if (g->k->target->width == RVM__MOST_GROUP) return address;
    static char nothing[] = "", same[] = "=r,0";
    LLVMTypeRef t = LLVMFunctionType(g->k->ptr, &g->k->ptr, 1, false);
    LLVMValueRef f = LLVMGetInlineAsm(t, nothing, 0, same, sizeof same - 1, false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(g->k->b, t, f, &address, 1, "");
    const unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(g->k->context, memory, 0));
    return call;
}

void rvm__turned_trip(rvm__group *g, uint32_t loop) {
    LLVMBuilderRef b = g->k->b;
    rvm__turned *t = loop == RVM__NO_LOOP ? NULL : turned_of(g, loop);
    if (!t || !t->n) return;
    LLVMBasicBlockRef first = rvm__group_block(g, "turn"), on = rvm__group_block(g, "turned");
    LLVMValueRef trip = LLVMBuildLoad2(b, g->k->i64, t->trip, ""), trips = LLVMBuildLoad2(b, g->k->i64, t->trips, "");
    LLVMValueRef next = LLVMBuildAdd(b, trip, rvm__number(g, 1), "");
    LLVMValueRef bytes = LLVMBuildMul(b, at_most(g, trip, t->most), rvm__number(g, 8 * FOUR * g->lanes), "");
    for (unsigned k = 0; k < t->n; k++) t->four[k].now = rvm__behind(g, t->four[k].kept, bytes);
    LLVMBuildStore(b, next, t->trip);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, trip, trips, ""), first, on);
    LLVMPositionBuilderAtEnd(b, first);
    for (unsigned k = 0; k < t->n; k++) turn(g, &t->four[k]);
    LLVMBuildStore(b, at_most(g, next, t->most), t->trips);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, on);
    for (unsigned k = 0; k < t->n; k++) t->four[k].now = hidden(g, t->four[k].now);
    t->now = on;
}

/* ---- additions ---- */

static bool is_row(const rvm__group *g, const rvm__turned *t, LLVMValueRef v, unsigned n) {
    for (unsigned k = 0; k < t->nrows; k++)
        if (t->row[k].n == n && rvm__item_of(&g->flow, t->row[k].load)->many == v) return true;
    return false;
}

/* The factor besides the row's that all products have, of the rows from there on; NULL: they are not of these. */
static LLVMValueRef own_factor(const rvm__group *g, const rvm__turned *t, unsigned first, const unsigned *run) {
    LLVMValueRef own = NULL;
    for (unsigned k = 0; k < FOUR; k++) {
        LLVMValueRef product = g->waiting[run[k]].v;
        if (!LLVMIsAInstruction(product) || LLVMGetInstructionOpcode(product) != LLVMFMul) return NULL;
        LLVMValueRef x = LLVMGetOperand(product, 0), y = LLVMGetOperand(product, 1);
        const bool first_is_row = is_row(g, t, x, first + k);
        if (!first_is_row && !is_row(g, t, y, first + k)) return NULL;
        if (own && own != (first_is_row ? y : x)) return NULL;
        own = first_is_row ? y : x;
    }
    return own;
}

/* The next sum of vectors of all lanes from there on, in its block; NULL: there is none. */
static LLVMValueRef next_sum(const rvm__group *g, LLVMValueRef v) {
    while (v && (LLVMGetInstructionOpcode(v) != LLVMFAdd || rvm__width_of(LLVMTypeOf(v)) != g->lanes))
        v = LLVMGetNextInstruction(v);
    return v;
}

static void go_behind(rvm__group *g, LLVMValueRef v) {
    LLVMValueRef next = LLVMGetNextInstruction(v);
    if (next)
        LLVMPositionBuilderBefore(g->k->b, next);
    else
        LLVMPositionBuilderAtEnd(g->k->b, LLVMGetInstructionParent(v));
}

/* Where the first of the four addresses that this block has is computed, its number in k; NULL: none is. */
static LLVMValueRef first_address(rvm__group *g, const unsigned *run, unsigned *k) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->k->b);
    *k = 0;
    for (unsigned n = 1; n < FOUR; n++)
        if (run[n] < run[*k]) *k = n;
    LLVMValueRef v = rvm__one(g, LLVMGetOperand(g->waiting[run[*k]].call, 0));
    return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == here ? v : NULL;
}

/* Lane by lane, each behind as many of the block's sums. */
static void add_lanes(rvm__group *g, const rows *r, const unsigned *run, LLVMValueRef own) {
    LLVMBuilderRef b = g->k->b;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMTypeRef four = LLVMVectorType(g->k->f64, FOUR);
    unsigned first, sums = 0, passed = 0;
    LLVMValueRef from = first_address(g, run, &first), at;
    for (at = from; at && (at = next_sum(g, LLVMGetNextInstruction(at)));) sums++;
    if (from) go_behind(g, from);
    LLVMValueRef to = from ? rvm__behind(g, from, rvm__number(g, (uint64_t)(-8 * (int64_t)first)))
                           : rvm__one(g, LLVMGetOperand(g->waiting[run[0]].call, 0));
    LLVMValueRef sum = LLVMBuildLoad2(b, four, to, "");
    LLVMSetAlignment(sum, 8);
    at = from;
    for (unsigned n = 0; n < g->lanes; n++) {
        const unsigned l = g->ordered > 0 ? n : g->lanes - 1 - n, same[FOUR] = {l, l, l, l};
        while (sums && passed < (n + 1) * sums / g->lanes) at = next_sum(g, LLVMGetNextInstruction(at)), passed++;
        if (passed) go_behind(g, at);
        LLVMValueRef x = LLVMBuildLoad2(b, four, of_lane(g, r->now, l), "");
        LLVMSetAlignment(x, 8 * FOUR);
        sum = LLVMBuildFAdd(b, sum, LLVMBuildFMul(b, x, shuffle(g, own, own, same, FOUR), ""), "");
    }
    LLVMPositionBuilderAtEnd(b, here);
    LLVMSetAlignment(LLVMBuildStore(b, sum, to), 8);
}

bool rvm__add_turned(rvm__group *g, const unsigned *run) {
    for (uint32_t k = 0; k < g->nturned; k++) {
        const rvm__turned *t = &g->turned[k];
        for (unsigned n = 0; n < t->n && t->now == LLVMGetInsertBlock(g->k->b); n++) {
            LLVMValueRef own = own_factor(g, t, FOUR * n, run);
            if (!own || (LLVMIsAInstruction(own) && LLVMGetInstructionParent(own) == t->now)) continue;
            add_lanes(g, &t->four[n], run, own);
            return true;
        }
    }
    return false;
}

void rvm__turned_end(rvm__group *g) {
    rvm__realloc(g->flow.al, g->turned, g->cap_turned * sizeof *g->turned, 0);
}
