/* later.c: additions that are kept until the group is done, where lanes would not keep the order of sums otherwise.
 *
 * Elements that gain chunk by chunk gain the sums of instances, eight by a tree; others what instances add, one after the
 * other (docs/semantics.md, section 9). A group adds what all its lanes have at one addition
 * before it comes to the next: that order, if an instance adds to an element but once. Where it does so again, at an index
 * of its own, or under a condition of its own, a log keeps which lanes add, where, and what (vm/native/native.h), and when
 * the group is done the machine makes all additions (vm/native/lane_sums.c). So a group that bails out has
 * added nothing. Other additions to what may be the same memory are kept, too; where the instance reads or stores there, as
 * one that has the element for itself may, there is no group. Whether an instance may add twice is seen here where a loop
 * goes round at one address, or two additions are alike but for their loops; all else order.c finds out.
 */
#include "group.h"
#include "native.h"
#include "support.h"

#include <string.h>

typedef struct site {
    LLVMValueRef call, whole; /* NULL: any that no parameter has for itself */
    uint32_t node;
    rvm__affine at;
    bool kept, summed;
} site;

bool rvm__adds_in_order(const rvm__flow *w, LLVMValueRef v) {
    return LLVMGetInstructionOpcode(v) == LLVMCall && !strcmp(rvm__callee_name(v), RVM__ADD "f64") &&
           rvm__memory_of(w, LLVMGetOperand(v, 0)) == RVM__SHARED;
}

/* ---- which ones ---- */

bool rvm__is_of_summed(const rvm__group *g, LLVMValueRef address) {
    static const char name[] = RVM__BY_CHUNKS;
    LLVMValueRef whole = rvm__object_of(address), f = g->flow.function;
    for (unsigned k = 0; k < LLVMCountParams(f); k++)
        if (LLVMGetParam(f, k) == whole) return LLVMGetStringAttributeAtIndex(f, k + 1, name, sizeof name - 1) != NULL;
    return false;
}

/* Whether not all instances come to the node equally often. */
static bool is_partly(const rvm__group *g, uint32_t n) {
    bool partly = g->flow.nodes[n].guarded;
    for (uint32_t l = g->flow.nodes[n].loop; l != RVM__NO_LOOP; l = g->flow.loops[l].parent)
        partly |= g->flow.loops[l].divergent;
    return partly;
}

/* Whether a loop goes round at that address. */
static bool is_repeated(const rvm__group *g, const site *s) {
    for (uint32_t l = g->flow.nodes[s->node].loop; l != RVM__NO_LOOP; l = g->flow.loops[l].parent) {
        bool same = !s->at.unknown && rvm__is_outside(&g->flow, s->at.root, l);
        for (unsigned k = 0; k < s->at.n; k++) same &= rvm__is_outside(&g->flow, s->at.value[k], l);
        if (same) return true;
    }
    return false;
}

/* Of a number that a loop counts: where it begins, and by how much it grows; NULL: it is no such. */
static LLVMValueRef counted_from(const rvm__group *g, LLVMValueRef v, LLVMValueRef *step) {
    LLVMValueRef from = NULL;
    if (!LLVMIsAPHINode(v) || LLVMCountIncoming(v) != 2) return NULL;
    const uint32_t n = rvm__node_of(&g->flow, LLVMGetInstructionParent(v));
    const uint32_t loop = n == RVM__NO_NODE ? RVM__NO_LOOP : g->flow.nodes[n].loop;
    if (loop == RVM__NO_LOOP || g->flow.loops[loop].header != n) return NULL;
    *step = NULL;
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef x = LLVMGetIncomingValue(v, k);
        const uint32_t before = rvm__node_of(&g->flow, LLVMGetIncomingBlock(v, k));
        if (before == RVM__NO_NODE || !rvm__is_in_loop(&g->flow, before, loop))
            from = x;
        else if (LLVMIsABinaryOperator(x) && LLVMGetInstructionOpcode(x) == LLVMAdd && LLVMGetOperand(x, 0) == v)
            *step = LLVMGetOperand(x, 1);
    }
    return *step ? from : NULL;
}

static bool are_alike(const rvm__group *g, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef step_x, step_y, from_x = counted_from(g, x, &step_x), from_y = counted_from(g, y, &step_y);
    return x == y || (from_x && from_x == from_y && step_x == step_y);
}

/* Whether they add to the same elements, if the loops that count their indices go round equally often. */
static bool meet(const rvm__group *g, const site *s, const site *t) {
    const rvm__affine *x = &s->at, *y = &t->at;
    unsigned found = 0;
    if (x->unknown || y->unknown || x->root != y->root || x->n != y->n || x->offset != y->offset) return false;
    for (unsigned k = 0; k < x->n; k++)
        for (unsigned i = 0; i < y->n; i++) found += x->times[k] == y->times[i] && are_alike(g, x->value[k], y->value[i]);
    return found >= x->n;
}

/* A parameter of memory that nothing else names; NULL: it is none. */
static LLVMValueRef own_memory(const rvm__group *g, LLVMValueRef address) {
    LLVMValueRef whole = rvm__object_of(address), f = g->flow.function;
    const unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
    for (unsigned k = 0; k < LLVMCountParams(f); k++)
        if (LLVMGetParam(f, k) == whole) return LLVMGetEnumAttributeAtIndex(f, k + 1, noalias) ? whole : NULL;
    return NULL;
}

static uint32_t find_sites(const rvm__group *g, site *s) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < g->flow.n; n++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b); v; v = LLVMGetNextInstruction(v)) {
            if (!rvm__adds_in_order(&g->flow, v)) continue;
            LLVMValueRef to = LLVMGetOperand(v, 0);
            if (s)
                s[count] =
                    (site){v, own_memory(g, to), n, rvm__affine_of(g, to, RVM__NO_LOOP), false, rvm__is_of_summed(g, to)};
            count++;
        }
    return count;
}

enum { MOST_COMPARED = 1024 };

/* Whether who was at node n may come to node m in the same trip of loops around both. Those before n, in postorder, are
 * seen.
 */
static bool leads_to(const rvm__flow *w, uint32_t n, uint32_t m, uint8_t *seen) {
    memset(seen, 0, w->n);
    seen[n] = 1;
    for (uint32_t k = w->nodes[n].order + 1; k-- > 0;) {
        const rvm__node *here = &w->nodes[w->order[k]];
        for (uint32_t s = 0; s < here->nout && seen[w->order[k]]; s++) seen[here->out[s]] = 1;
    }
    return seen[m];
}

/* Whether both additions are to the same elements, and not on sides of one branch. */
static bool is_again(const rvm__group *g, const site *before, const site *s, uint8_t *seen) {
    return meet(g, before, s) &&
           (leads_to(&g->flow, before->node, s->node, seen) || leads_to(&g->flow, s->node, before->node, seen));
}

static void choose(const rvm__group *g, site *s, uint32_t n, uint8_t *seen) {
    for (uint32_t k = 0; k < n; k++) {
        s[k].kept |=
            is_partly(g, s[k].node) || rvm__is_varying(&g->flow, LLVMGetOperand(s[k].call, 0)) || is_repeated(g, &s[k]);
        for (uint32_t i = 0; i < k && n <= MOST_COMPARED && !s[k].kept; i++) s[k].kept = is_again(g, &s[i], &s[k], seen);
    }
}

static LLVMValueRef reached_by(LLVMValueRef v) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    return op == LLVMLoad || op == LLVMStore ? LLVMGetOperand(v, op == LLVMStore) : NULL;
}

/* Whether the instance reads or stores what additions that are kept may be to. */
static bool is_used(const rvm__group *g, const site *s, uint32_t count) {
    bool used = false;
    for (uint32_t n = 0; n < g->flow.n; n++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b); v; v = LLVMGetNextInstruction(v)) {
            LLVMValueRef at = reached_by(v);
            if (!at || rvm__memory_of(&g->flow, at) != RVM__SHARED) continue;
            LLVMValueRef whole = own_memory(g, at);
            for (uint32_t k = 0; k < count; k++) used |= s[k].kept && s[k].whole == whole;
        }
    return used;
}

/* Whether memory that may be the same gains in two orders. */
static bool is_mixed(const site *s, uint32_t count) {
    bool some = false, all = true;
    for (uint32_t k = 0; k < count; k++) {
        if (s[k].whole) continue;
        some |= s[k].summed;
        all &= s[k].summed;
    }
    return some && !all;
}

bool rvm__later_find(rvm__group *g) {
    const uint32_t n = find_sites(g, NULL);
    uint32_t kept = 0;
    const size_t size = (n + 1) * sizeof(site) + g->flow.n;
    site *s = rvm__realloc(g->flow.al, NULL, 0, size);
    if (!s) return rvm__no_group(g, "out of memory");
    find_sites(g, s);
    choose(g, s, n, (uint8_t *)(s + n + 1));
    if (is_used(g, s, n) || is_mixed(s, n)) rvm__no_group(g, "additions to the same element, in an order that counts");
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n && s[k].kept; i++)
            if (s[i].whole == s[k].whole) rvm__item_of(&g->flow, s[i].call)->later = true;
    for (uint32_t k = 0; k < n; k++) kept += rvm__item_of(&g->flow, s[k].call)->later;
    rvm__realloc(g->flow.al, s, size, 0);
    return kept < n;
}

/* ---- in a group ---- */

_Static_assert((int)RVM__NATIVE_LANES == (int)RVM__MOST_GROUP, "no mask");
void rvm__add_later(rvm__group *g, LLVMValueRef to, LLVMValueRef v, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    if (g->k->no_machine) rvm__no_group(g, "additions that wait for the group's end");
    const bool own = rvm__is_varying(&g->flow, to);
    LLVMValueRef m = mask ? mask : LLVMConstAllOnes(LLVMVectorType(g->k->i1, g->lanes));
    LLVMValueRef bits = LLVMBuildBitCast(b, m, LLVMIntTypeInContext(g->k->context, g->lanes), "");
    LLVMValueRef tells = LLVMBuildZExt(b, bits, g->k->i64, "");
    if (own) tells = LLVMBuildOr(b, tells, rvm__number(g, RVM__NATIVE_OWN), "");
    if (rvm__is_of_summed(g, to)) tells = LLVMBuildOr(b, tells, rvm__number(g, RVM__NATIVE_SUMMED), "");
    rvm__keep_entry(g, &g->later, "rvm__native_keep_additions",
                    (LLVMValueRef[]){tells, own ? rvm__addresses(g, to, 0) : rvm__one(g, to), v});
}

void rvm__later_end(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    if (!g->later.bytes) return;
    LLVMValueRef args[5] = {LLVMGetParam(g->to, 0), LLVMBuildLoad2(b, g->k->i64, g->later.kept, ""),
                            rvm__number(g, g->ordered < 0), g->later.bytes, LLVMBuildLoad2(b, g->k->i64, g->later.size, "")};
    rvm__call_machine(g, "rvm__native_add_kept", g->k->nothing, 5, args);
}
