/* ahead.c: rows at indices that a group reads, too, prefetched while the group before it runs (S. Ainsworth, T. M. Jones,
 * "Software prefetching for indirect memory accesses", CGO 2017).
 *
 * A processor does not look so far ahead as from one group to the next, so that each waits for rows that no cache near it
 * has. Of addresses in arrays that are far (RVM__FAR) those are known whose indices stand in arrays at multiples of the
 * block's index. Indices are read only if every instance reads them, before it may bail out: nothing is read that the
 * instances of the next group do not read.
 */
#include "group.h"
#include "machine.h"

#include <string.h>

enum { MOST_ROWS = 8, MOST_LINES = 4 };

typedef struct row { /* addresses that differ by a constant: bytes from the first to the last that is touched */
    rvm__affine at;
    int64_t first, last;
} row;

/* ---- what is found in the instance ---- */

static unsigned number_of(const rvm__group *g, LLVMValueRef parameter) {
    unsigned n = 0;
    while (LLVMGetParam(g->flow.function, n) != parameter) n++;
    return n;
}

static bool is_far(const rvm__group *g, LLVMValueRef root) {
    return LLVMIsAArgument(root) &&
           LLVMGetStringAttributeAtIndex(g->flow.function, 1 + number_of(g, root), RVM__FAR, (unsigned)strlen(RVM__FAR));
}

/* Whether every instance comes to it. */
static bool is_certain(const rvm__group *g, LLVMValueRef wanted) {
    for (uint32_t n = 0;; n = g->flow.nodes[n].succ[0]) {
        const rvm__node *here = &g->flow.nodes[n];
        for (LLVMValueRef v = LLVMGetFirstInstruction(here->b); v; v = LLVMGetNextInstruction(v)) {
            if (v == wanted) return true;
            if (rvm__may_bail_out(v)) return false;
        }
        const rvm__node *next = here->nsucc == 1 && !here->bails_out ? &g->flow.nodes[here->succ[0]] : NULL;
        if (!next || next->nin != 1 || next->loop != RVM__NO_LOOP) return false;
    }
}

static bool is_of_arguments(const rvm__affine *a) {
    bool good = !a->unknown && LLVMIsAArgument(a->root);
    for (unsigned k = 0; k < a->n; k++) good &= LLVMIsAArgument(a->value[k]) != NULL;
    return good;
}

/* What may be read for another instance. */
static bool is_index(const rvm__group *g, LLVMValueRef v) {
    if (!LLVMIsALoadInst(v) || LLVMTypeOf(v) != g->k->i64) return false;
    const rvm__affine a = rvm__affine_of(g, LLVMGetOperand(v, 0), RVM__NO_LOOP);
    return is_of_arguments(&a) && is_certain(g, v);
}

/* Whether it is known before the instance begins, and hangs on an index that is read. */
static bool is_known(const rvm__group *g, const rvm__affine *a) {
    bool reads = false;
    for (unsigned k = 0; k < a->n; k++) {
        if (LLVMIsAArgument(a->value[k])) continue;
        if (!is_index(g, a->value[k])) return false;
        reads = true;
    }
    return reads;
}

/* Where it reads or changes memory, and how much of it; NULL: it does not. */
static LLVMValueRef touched(const rvm__group *g, LLVMValueRef v, int64_t *bytes) {
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMValueRef at = NULL;
    if (LLVMIsALoadInst(v)) at = LLVMGetOperand(v, 0);
    if (LLVMIsAStoreInst(v)) at = LLVMGetOperand(v, 1), t = LLVMTypeOf(LLVMGetOperand(v, 0));
    if (LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), RVM__ADD, strlen(RVM__ADD)))
        at = LLVMGetOperand(v, 0), t = g->k->i64;
    if (at) *bytes = (int64_t)LLVMStoreSizeOfType(g->layout, t);
    return at;
}

static void note(const rvm__group *g, row *rows, unsigned *n, LLVMValueRef at, int64_t bytes) {
    const rvm__affine a = rvm__affine_of(g, at, RVM__NO_LOOP);
    unsigned k = 0;
    if (a.unknown || !is_far(g, a.root)) return;
    while (k < *n && !rvm__are_parallel(&rows[k].at, &a)) k++;
    if (k == *n && (k == MOST_ROWS || !is_known(g, &a))) return;
    if (k == *n) rows[(*n)++] = (row){a, a.offset, a.offset};
    if (a.offset < rows[k].first) rows[k].first = a.offset;
    if (a.offset + bytes - 1 > rows[k].last) rows[k].last = a.offset + bytes - 1;
}

/* ---- what is made of it ---- */

/* The address, without its constant, or the value of an instance so many behind the group's first one. */
static LLVMValueRef of_instance(rvm__group *g, const rvm__affine *a, int64_t n);

static LLVMValueRef value_of(rvm__group *g, LLVMValueRef v, int64_t n) {
    LLVMBuilderRef b = g->k->b;
    if (LLVMIsAArgument(v)) {
        const unsigned k = number_of(g, v);
        LLVMValueRef is = LLVMGetParam(g->to, k);
        return k == RVM__VECTORISED_INDEX ? LLVMBuildAdd(b, is, rvm__number(g, (uint64_t)n), "") : is;
    }
    const rvm__affine a = rvm__affine_of(g, LLVMGetOperand(v, 0), RVM__NO_LOOP);
    LLVMValueRef at = rvm__behind(g, of_instance(g, &a, n), rvm__number(g, (uint64_t)a.offset));
    LLVMValueRef index = LLVMBuildLoad2(b, g->k->i64, at, "");
    LLVMSetAlignment(index, 8);
    return index;
}

static LLVMValueRef of_instance(rvm__group *g, const rvm__affine *a, int64_t n) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef at = value_of(g, a->root, n);
    for (unsigned k = 0; k < a->n; k++)
        at = rvm__behind(g, at, LLVMBuildMul(b, value_of(g, a->value[k], n), rvm__number(g, (uint64_t)a->times[k]), ""));
    return at;
}

static void prefetch(rvm__group *g, LLVMValueRef at, int64_t bytes) {
    LLVMValueRef one = LLVMConstInt(g->k->i32, 1, false), near = LLVMConstInt(g->k->i32, 3, false);
    LLVMValueRef args[4] = {rvm__behind(g, at, rvm__number(g, (uint64_t)bytes)), LLVMConstNull(g->k->i32), near, one};
    rvm__build_overloaded(g->k, "llvm.prefetch", 1, &g->k->ptr, 4, args);
}

/* The indices of a group that comes later still. */
static void prefetch_indices(rvm__group *g, const row *r) {
    enum { GROUPS = 4 };
    const int64_t later = (int64_t)g->lanes * (g->down ? -GROUPS : GROUPS);
    for (unsigned k = 0; k < r->at.n; k++) {
        if (!LLVMIsALoadInst(r->at.value[k])) continue;
        const rvm__affine a = rvm__affine_of(g, LLVMGetOperand(r->at.value[k], 0), RVM__NO_LOOP);
        prefetch(g, of_instance(g, &a, later), a.offset);
    }
}

/* Rows of lanes that are apart: those that stand together come by themselves. */
static void prefetch_rows(rvm__group *g, const row *r) {
    enum { TOGETHER = 4096 }; /* bytes */
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef first = of_instance(g, &r->at, 0), last = of_instance(g, &r->at, (int64_t)g->lanes - 1);
    LLVMBasicBlockRef apart = rvm__group_block(g, "apart"), on = rvm__group_block(g, "on");
    LLVMValueRef from = LLVMBuildPtrToInt(b, first, g->k->i64, ""), to = LLVMBuildPtrToInt(b, last, g->k->i64, "");
    LLVMValueRef span = LLVMBuildAdd(b, LLVMBuildSub(b, to, from, ""), rvm__number(g, TOGETHER), "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGT, span, rvm__number(g, 2 * TOGETHER), ""), apart, on);
    LLVMPositionBuilderAtEnd(b, apart);
    for (unsigned lane = 0; lane < g->lanes; lane++) {
        LLVMValueRef at = of_instance(g, &r->at, lane);
        const int64_t most = r->first + MOST_LINES * RVM__LINE;
        for (int64_t p = r->first; p < r->last && p < most; p += RVM__LINE) prefetch(g, at, p);
        if (r->last < most) prefetch(g, at, r->last);
    }
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, on);
}

bool rvm__make_ahead(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    row rows[MOST_ROWS];
    unsigned n = 0;
    int64_t bytes;
    for (uint32_t k = 0; k < g->flow.n; k++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[k].b), at; v; v = LLVMGetNextInstruction(v))
            if ((at = touched(g, v, &bytes))) note(g, rows, &n, at, bytes);
    if (!n) return false;
    LLVMRemoveEnumAttributeAtIndex(g->to, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName("memory", 6)); /* it reads, now */
    LLVMSetLinkage(g->to, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(b, rvm__group_block(g, "entry"));
    for (unsigned k = 0; k < n; k++) prefetch_indices(g, &rows[k]);
    for (unsigned k = 0; k < n; k++) prefetch_rows(g, &rows[k]);
    LLVMBuildRet(b, LLVMConstNull(g->k->i32));
    return true;
}
