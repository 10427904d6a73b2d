/* adjacent.c: additions of a group to elements that stand side by side.
 *
 * What all lanes add to one element is summed across a vector, which takes longer than to compute it. Eight vectors for
 * eight elements side by side are summed together, in three steps that leave a vector of eight sums. So are four and four.
 * For this the loops that add at an index of theirs are unrolled before, and additions wait for the end of their block:
 * nothing else of the instance touches what it adds to. Where the order counts, elements that do not gain chunk by chunk
 * gain lane by lane.
 */
#include <string.h>

#include "group.h"

#include <llvm-c/DebugInfo.h>

enum {
    AT_ONCE = RVM__MOST_GROUP,
    HALF = RVM__FOUR,
    PAIR = 2,
    MOST_UNROLLED = 64,
    FEW_UNROLLED = 32
}; /* instructions of a loop */

/* ---- which loops are unrolled ---- */

static bool adds(LLVMValueRef v) {
    return LLVMGetInstructionOpcode(v) == LLVMCall && !strcmp(rvm__callee_name(v), RVM__ADD "f64");
}

/* Into a local array of many elements; fewer may become registers, and LLVM unrolls their loops as a whole. */
static bool stores_locally(LLVMValueRef v) {
    if (LLVMGetInstructionOpcode(v) != LLVMStore) return false;
    LLVMValueRef to = rvm__object_of(LLVMGetOperand(v, 1));
    return LLVMIsACallInst(to) && rvm__makes_array(to);
}

/* How many times a loop is unrolled: one that adds, so that there are eight to add, or, of one that is left over from that,
 * half of them; 0: it is not. */
static unsigned copies_of(LLVMBasicBlockRef b, enum rvm__unrolled which) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    bool loops = false;
    unsigned n = 0, some = 0, stores = 0;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) loops |= LLVMGetSuccessor(end, s) == b;
    if (!loops) return 0;
    for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v), n++) {
        some += adds(v);
        stores += stores_locally(v);
    }
    if (!some) /* addresses then differ by a constant (addresses.c) */
        return stores && which == RVM__OF_GROUPS && n <= FEW_UNROLLED ? PAIR : 0;
    if (n > MOST_UNROLLED) return 0;
    if (which == RVM__LEFT_OVER) return some * HALF <= AT_ONCE ? HALF / some : 0;
    return some == AT_ONCE / HALF ? HALF : AT_ONCE;
}

/* A counter from 0 on. What is left over of a loop that has one LLVM puts behind it, else before it: so it begins with the
 * same elements whatever its number of trips. */
static void count_trips(rvm__build *k, LLVMBasicBlockRef b) {
    LLVMValueRef first = LLVMGetFirstInstruction(b), trips, one = LLVMConstInt(k->i64, 1, false);
    if (!LLVMIsAPHINode(first)) return;
    LLVMPositionBuilderBefore(k->b, first);
    trips = LLVMBuildPhi(k->b, k->i64, "");
    LLVMPositionBuilderBefore(k->b, LLVMGetBasicBlockTerminator(b));
    LLVMValueRef next = LLVMBuildAdd(k->b, trips, one, "");
    for (unsigned n = 0; n < LLVMCountIncoming(first); n++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(first, n);
        LLVMValueRef v = from == b ? next : LLVMConstInt(k->i64, 0, false);
        LLVMAddIncoming(trips, &v, &from, 1);
    }
}

/* A loop's metadata begin with themselves. */
static void unroll(rvm__build *k, LLVMBasicBlockRef b, unsigned copies) {
    static const char name[] = "llvm.loop.unroll.count", kind[] = "llvm.loop";
    LLVMMetadataRef count[2] = {LLVMMDStringInContext2(k->context, name, sizeof name - 1),
                                LLVMValueAsMetadata(LLVMConstInt(k->i32, copies, false))};
    LLVMMetadataRef itself = LLVMTemporaryMDNode(k->context, NULL, 0);
    LLVMMetadataRef all[2] = {itself, LLVMMDNodeInContext2(k->context, count, 2)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(k->context, all, 2);
    LLVMMetadataReplaceAllUsesWith(itself, node);
    LLVMSetMetadata(LLVMGetBasicBlockTerminator(b), LLVMGetMDKindIDInContext(k->context, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(k->context, node));
}

bool rvm__mark_unrolled(rvm__build *k, LLVMValueRef f, enum rvm__unrolled which) {
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        const unsigned copies = copies_of(b, which);
        if (copies && which != RVM__OF_KERNELS) count_trips(k, b);
        if (copies) unroll(k, b, copies);
        any |= copies > 0;
    }
    return any;
}

/* ---- sums ---- */

/* From each of x and y `run` elements, then as many from the other, beginning at `first` and going on behind 2 * run. */
static LLVMValueRef mix(rvm__group *g, LLVMValueRef x, LLVMValueRef y, unsigned run, unsigned first) {
    LLVMValueRef each[AT_ONCE];
    for (unsigned n = 0; n < AT_ONCE; n++) {
        const unsigned pair = n / (2 * run), of_y = n / run % 2;
        each[n] = LLVMConstInt(g->k->i32, of_y * AT_ONCE + pair * 2 * run + first + n % run, false);
    }
    return LLVMBuildShuffleVector(g->k->b, x, y, LLVMConstVector(each, AT_ONCE), "");
}

/* v[element] of lanes become a vector of sums. Halves are added first, as the tree has it where order counts, or where they
 * are registers of their own. */
static LLVMValueRef summed(rvm__group *g, LLVMValueRef *v) {
    unsigned done = 0;
    for (unsigned step = 1; step < AT_ONCE; step *= 2) {
        const unsigned run = g->k->target->width == AT_ONCE && !g->ordered ? step : HALF / step;
        done |= run;
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (!(k & done))
                v[k] = LLVMBuildFAdd(g->k->b, mix(g, v[k], v[k + run], run, 0), mix(g, v[k], v[k + run], run, run), "");
    }
    return v[0];
}

/* Elements of x and y, so many each, from `first` of them on. */
static LLVMValueRef part(rvm__group *g, LLVMValueRef x, LLVMValueRef y, unsigned first, unsigned n) {
    LLVMValueRef each[AT_ONCE];
    for (unsigned k = 0; k < n; k++) each[k] = LLVMConstInt(g->k->i32, first + k, false);
    return LLVMBuildShuffleVector(g->k->b, x, y, LLVMConstVector(each, n), "");
}

/* So many elements from there on, which are to be replaced. */
static LLVMValueRef load_run(rvm__group *g, LLVMValueRef from, unsigned n) {
    LLVMValueRef was = LLVMBuildLoad2(g->k->b, LLVMVectorType(g->k->f64, n), from, "");
    LLVMSetAlignment(was, 8);
    rvm__keep_run(g, from, was);
    return was;
}

static void store_run(rvm__group *g, LLVMValueRef to, LLVMValueRef v) {
    LLVMSetAlignment(LLVMBuildStore(g->k->b, v, to), 8);
}

/* Elements of v by lanes; half of them at the other place, if there is one. No element stands at both, since an instance
 * adds to each but once. */
static void add_eight(rvm__group *g, LLVMValueRef to, LLVMValueRef other, LLVMValueRef *v) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef sums = summed(g, v);
    for (unsigned k = 0; k < (other ? 2 : 1); k++) {
        LLVMValueRef place = k ? other : to, those = other ? part(g, sums, sums, k * HALF, HALF) : sums;
        store_run(g, place, LLVMBuildFAdd(b, load_run(g, place, other ? HALF : AT_ONCE), those, ""));
    }
}

/* What stands there, to be replaced. */
static LLVMValueRef element_kept(rvm__group *g, LLVMValueRef where) {
    LLVMValueRef was = LLVMBuildLoad2(g->k->b, g->k->f64, where, "");
    rvm__keep_run(g, where, was);
    return was;
}

/* What each lane has, in the order of instances. Of such chains to elements side by side LLVM 19's superword vectorizer
 * makes vectors that lose what is the same in all lanes: a fence, which is no instruction, keeps it from them. */
static void add_in_order(rvm__group *g, LLVMValueRef where, LLVMValueRef v) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef sum = element_kept(g, where);
    for (unsigned n = 0; n < g->lanes; n++) {
        const unsigned l = g->ordered > 0 ? n : g->lanes - 1 - n;
        sum = LLVMBuildFAdd(b, sum, rvm__lane_of(g, v, l), "");
    }
    LLVMBuildStore(b, rvm__build_overloaded(g->k, "llvm.arithmetic.fence", 1, &g->k->f64, 1, &sum), where);
}

static void add_at_once(rvm__group *g, LLVMValueRef call, LLVMValueRef v) {
    LLVMValueRef to = rvm__one(g, LLVMGetOperand(call, 0));
    element_kept(g, to);
    rvm__add_to(g, to, rvm__sum_of(g, v, true), true);
}

/* ---- what waits ---- */

static bool wait_to_add(rvm__group *g, LLVMValueRef call, LLVMValueRef v) {
    if (g->lanes != AT_ONCE || g->nwaiting == RVM__MOST_WAITING) return false;
    g->waiting[g->nwaiting++] = (rvm__waiting){.call = call, .v = v};
    return true;
}

void rvm__add_all(rvm__group *g, LLVMValueRef call, LLVMValueRef v) {
    if (g->ordered && !rvm__is_of_summed(g, LLVMGetOperand(call, 0)))
        add_in_order(g, rvm__one(g, LLVMGetOperand(call, 0)), v);
    else if (!wait_to_add(g, call, v))
        add_at_once(g, call, v);
}

static rvm__affine place_of(const rvm__group *g, unsigned n) {
    return rvm__affine_of(g, LLVMGetOperand(g->waiting[n].call, 0), RVM__NO_LOOP);
}

/* Whether so many from that one on are side by side; same: ascending. */
static bool are_side_by_side(const rvm__group *g, const unsigned *same, unsigned n, unsigned many) {
    if (many > n) return false;
    const rvm__affine x = place_of(g, same[0]);
    for (unsigned k = 1; k < many; k++)
        if (place_of(g, same[k]).offset - x.offset != 8 * (int64_t)k) return false;
    return true;
}

static void add_waiting(rvm__group *g, unsigned n) {
    add_at_once(g, g->waiting[n].call, g->waiting[n].v);
}

typedef struct four { /* side by side, ascending; wait for another four */
    LLVMValueRef to, v[AT_ONCE];
    unsigned at[HALF];
    bool any;
} four;

/* As many as are given, in v; where they stand. */
static LLVMValueRef take(rvm__group *g, const unsigned *run, unsigned many, LLVMValueRef *v) {
    for (unsigned i = 0; i < many; i++) v[i] = g->waiting[run[i]].v;
    return rvm__one(g, LLVMGetOperand(g->waiting[run[0]].call, 0));
}

static void add_four(rvm__group *g, const unsigned *run, four *before) {
    LLVMValueRef to = take(g, run, HALF, before->v + (before->any ? HALF : 0));
    if (before->any) add_eight(g, before->to, to, before->v);
    before->to = to;
    memcpy(before->at, run, sizeof before->at);
    before->any = !before->any;
}

/* Among those before, by where it stands; of two at one place the first one first. */
static void insert(const rvm__group *g, unsigned *same, unsigned n, unsigned k, int64_t offset) {
    while (n && place_of(g, same[n - 1]).offset > offset) same[n] = same[n - 1], n--;
    same[n] = k;
}

/* Those at a constant distance from the first, which goes with them if it can. */
static void add_with(rvm__group *g, unsigned first, four *before) {
    unsigned same[RVM__MOST_WAITING], n = 0;
    const rvm__affine x = place_of(g, first);
    for (unsigned k = first; k < g->nwaiting; k++) {
        if (g->waiting[k].taken) continue;
        const rvm__affine y = place_of(g, k);
        if (k == first || rvm__are_parallel(&x, &y)) insert(g, same, n++, k, y.offset);
    }
    for (unsigned k = 0, some; k < n; k += some) {
        LLVMValueRef v[AT_ONCE];
        some = AT_ONCE;
        while (!are_side_by_side(g, same + k, n - k, some)) some /= 2;
        if (some == PAIR) some = 1;
        if (some == AT_ONCE)
            add_eight(g, take(g, same + k, some, v), NULL, v);
        else if (some == HALF)
            add_four(g, same + k, before);
        else
            add_waiting(g, same[k]);
        for (unsigned i = k; i < k + some; i++) g->waiting[same[i]].taken = true;
    }
}

void rvm__add_what_waits(rvm__group *g) {
    four one = {.any = false};
    for (unsigned k = 0; k < g->nwaiting; k++)
        if (!g->waiting[k].taken) add_with(g, k, &one);
    for (unsigned k = 0; k < HALF && one.any; k++) add_waiting(g, one.at[k]);
    g->nwaiting = 0;
}
