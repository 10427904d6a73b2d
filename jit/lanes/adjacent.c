/* adjacent.c: additions of a group to elements that stand side by side.
 *
 * What all lanes add to one element is summed across a vector, which takes longer than to compute it. Eight vectors for
 * eight elements side by side are summed together, in three steps that leave a vector of eight sums; where the order counts
 * they are turned, and the lanes added one after the other, to all eight elements. So are four and four. For this the loops
 * that add at an index of theirs are unrolled before, and additions wait for the end of their block: nothing else of the
 * instance touches what it adds to.
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
 * same elements whatever its number of trips (turned.c). */
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

/* v[element] of lanes become a vector of sums. Halves are added first where they are registers of their own. */
static LLVMValueRef summed(rvm__group *g, LLVMValueRef *v) {
    unsigned done = 0;
    for (unsigned step = 1; step < AT_ONCE; step *= 2) {
        const unsigned run = g->k->target->width == AT_ONCE ? step : HALF / step;
        done |= run;
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (!(k & done))
                v[k] = LLVMBuildFAdd(g->k->b, mix(g, v[k], v[k + run], run, 0), mix(g, v[k], v[k + run], run, run), "");
    }
    return v[0];
}

/* v[element] of lanes becomes v[lane] of elements. */
static void turn(rvm__group *g, LLVMValueRef *v) {
    for (unsigned run = 1; run < AT_ONCE; run *= 2)
        for (unsigned k = 0; k < AT_ONCE; k++) {
            if (k & run) continue;
            LLVMValueRef x = v[k], y = v[k + run];
            v[k] = mix(g, x, y, run, 0);
            v[k + run] = mix(g, x, y, run, run);
        }
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

/* As many as there are lanes, at one place, or half of them at each of two. */
static LLVMValueRef load_all(rvm__group *g, LLVMValueRef to, LLVMValueRef other) {
    if (!other) return load_run(g, to, AT_ONCE);
    LLVMValueRef x = load_run(g, to, HALF), y = load_run(g, other, HALF);
    return part(g, x, y, 0, AT_ONCE);
}

static void store_all(rvm__group *g, LLVMValueRef to, LLVMValueRef other, LLVMValueRef v) {
    store_run(g, to, other ? part(g, v, v, 0, HALF) : v);
    if (other) store_run(g, other, part(g, v, v, HALF, HALF));
}

/* Lane by lane to all elements at once; no element stands at both places, since an instance adds to each but once. */
static void add_rows(rvm__group *g, LLVMValueRef to, LLVMValueRef other, const LLVMValueRef *row) {
    LLVMValueRef sum = load_all(g, to, other);
    for (unsigned n = 0; n < AT_ONCE; n++) sum = LLVMBuildFAdd(g->k->b, sum, row[g->ordered > 0 ? n : AT_ONCE - 1 - n], "");
    store_all(g, to, other, sum);
}

/* ---- products ---- */

static bool is_product(LLVMValueRef v) {
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMFMul;
}

static bool has_factor(LLVMValueRef v, LLVMValueRef x) {
    return is_product(v) && (LLVMGetOperand(v, 0) == x || LLVMGetOperand(v, 1) == x);
}

/* The operand that all have, each a product of it and another, which `others` gets; NULL: there is none. */
static LLVMValueRef common_factor(const LLVMValueRef *v, unsigned n, LLVMValueRef *others) {
    for (unsigned k = 0; k < n; k++)
        if (!is_product(v[k])) return NULL;
    for (unsigned side = 0; side < 2; side++) {
        LLVMValueRef factor = LLVMGetOperand(v[0], side);
        unsigned found = 0;
        while (found < n) {
            LLVMValueRef x = LLVMGetOperand(v[found], 0), y = LLVMGetOperand(v[found], 1);
            if (x != factor && y != factor) break;
            others[found++] = x == factor ? y : x;
        }
        if (found == n) return factor;
    }
    return NULL;
}

/* What one lane has of x, and of y: for half of the elements each. */
static LLVMValueRef lane_of_halves(rvm__group *g, LLVMValueRef x, LLVMValueRef y, unsigned lane) {
    LLVMValueRef each[AT_ONCE];
    for (unsigned n = 0; n < AT_ONCE; n++) each[n] = LLVMConstInt(g->k->i32, lane + n / HALF * AT_ONCE, false);
    return LLVMBuildShuffleVector(g->k->b, x, y, LLVMConstVector(each, AT_ONCE), "");
}

/* A lane's elements, twice. x[n] has those of even lanes if n is even, else of odd ones: a pair of neighbours each. */
static LLVMValueRef twice_by_lane(rvm__group *g, const LLVMValueRef *x, unsigned lane) {
    LLVMValueRef each[AT_ONCE];
    for (unsigned n = 0; n < AT_ONCE; n++) {
        const unsigned element = n % HALF;
        each[n] = LLVMConstInt(g->k->i32, element / 2 * AT_ONCE + lane / 2 * 2 + element % 2, false);
    }
    return LLVMBuildShuffleVector(g->k->b, x[lane % 2], x[HALF - 2 + lane % 2], LLVMConstVector(each, AT_ONCE), "");
}

/* v[element] of lanes becomes v[lane] of elements, where v's halves are products of the same factors; false: they are not.
 */
static bool turn_factors(rvm__group *g, LLVMValueRef *v) {
    LLVMValueRef shared[AT_ONCE], same[AT_ONCE];
    LLVMValueRef x = common_factor(v, HALF, shared), y = common_factor(v + HALF, HALF, same);
    if (!x || !y || memcmp(shared, same, HALF * sizeof *shared) != 0) return false;
    for (unsigned k = 0; k < HALF; k += 2) {
        same[k] = mix(g, shared[k], shared[k + 1], 1, 0);
        same[k + 1] = mix(g, shared[k], shared[k + 1], 1, 1);
    }
    for (unsigned l = 0; l < AT_ONCE; l++)
        v[l] = LLVMBuildFMul(g->k->b, twice_by_lane(g, same, l), lane_of_halves(g, x, y, l), "");
    return true;
}

/* Likewise of one place, where the factors are those of what waits for another place, too: turned once for both. */
static bool turn_shared(rvm__group *g, LLVMValueRef *v) {
    LLVMValueRef shared[AT_ONCE];
    unsigned places = 0;
    LLVMValueRef own = common_factor(v, AT_ONCE, shared);
    for (unsigned k = 0; k < g->nwaiting && own; k++) places += has_factor(g->waiting[k].v, shared[0]);
    if (places < 2) return false;
    turn(g, shared);
    for (unsigned l = 0; l < AT_ONCE; l++)
        v[l] = LLVMBuildFMul(g->k->b, shared[l], rvm__splat(g, rvm__lane_of(g, own, l)), "");
    return true;
}

/* Elements of v by lanes. What two places gain may be products with the same factors, of each place with one of its own:
 * then the former are turned, half as many, rather than the products. */
static void add_eight(rvm__group *g, LLVMValueRef to, LLVMValueRef other, LLVMValueRef *v) {
    LLVMBuilderRef b = g->k->b;
    if (g->ordered) {
        if (!(other ? turn_factors(g, v) : turn_shared(g, v))) turn(g, v);
        add_rows(g, to, other, v);
        return;
    }
    LLVMValueRef sums = summed(g, v);
    for (unsigned k = 0; k < (other ? 2 : 1); k++) {
        LLVMValueRef place = k ? other : to, those = other ? part(g, sums, sums, k * HALF, HALF) : sums;
        store_run(g, place, LLVMBuildFAdd(b, load_run(g, place, other ? HALF : AT_ONCE), those, ""));
    }
}

/* Two side by side, in the order of instances. */
static void add_pair(rvm__group *g, LLVMValueRef to, const LLVMValueRef *v) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef sum = load_run(g, to, PAIR);
    for (unsigned n = 0; n < AT_ONCE; n++) {
        const unsigned l = g->ordered > 0 ? n : AT_ONCE - 1 - n;
        LLVMValueRef each[PAIR] = {LLVMConstInt(g->k->i32, l, false), LLVMConstInt(g->k->i32, AT_ONCE + l, false)};
        sum = LLVMBuildFAdd(b, sum, LLVMBuildShuffleVector(b, v[0], v[1], LLVMConstVector(each, PAIR), ""), "");
    }
    store_run(g, to, sum);
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
    if (g->ordered)
        add_in_order(g, to, v);
    else {
        element_kept(g, to);
        rvm__add_to(g, to, rvm__sum_of(g, v, true), true);
    }
}

/* ---- what waits ---- */

static bool wait_to_add(rvm__group *g, LLVMValueRef call, LLVMValueRef v) {
    if (g->lanes != AT_ONCE || g->nwaiting == RVM__MOST_WAITING) return false;
    g->waiting[g->nwaiting++] = (rvm__waiting){.call = call, .v = v};
    return true;
}

void rvm__add_all(rvm__group *g, LLVMValueRef call, LLVMValueRef v) {
    if (!wait_to_add(g, call, v)) add_at_once(g, call, v);
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
    if (rvm__add_turned(g, run)) return;
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
        if (some == PAIR && !g->ordered) some = 1;
        if (some == AT_ONCE && rvm__add_turned(g, same + k))
            some = HALF;
        else if (some == AT_ONCE)
            add_eight(g, take(g, same + k, some, v), NULL, v);
        else if (some == HALF)
            add_four(g, same + k, before);
        else if (some == PAIR)
            add_pair(g, take(g, same + k, PAIR, v), v);
        else
            add_waiting(g, same[k]);
        for (unsigned i = k; i < k + some; i++) g->waiting[same[i]].taken = true;
    }
}

void rvm__add_what_waits(rvm__group *g) {
    four one = {.any = false};
    for (unsigned k = 0; k < g->nwaiting; k++)
        if (!g->waiting[k].taken) add_with(g, k, &one);
    for (unsigned k = 0; k < HALF && one.any; k += PAIR)
        if (g->ordered)
            add_pair(g, rvm__behind(g, one.to, rvm__number(g, 8 * k)), one.v + k);
        else
            add_waiting(g, one.at[k]), add_waiting(g, one.at[k + 1]);
    g->nwaiting = 0;
}
