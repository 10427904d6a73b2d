/* lanes.c: a group of instances, block by block, from an instance that LLVM has
 * simplified (group.h says how). Nothing of the instruction set is known here: only LLVM's instructions. */
#include "group.h"
#include "support.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <string.h>

/* ---- lines ---- */

/* Whether there are any: the group has those of its instance, whose place it takes. What else is made of it has none. */
static bool has_lines(const rvm__group *g) {
    return !g->traces && !g->part && LLVMGetSubprogram(g->flow.function);
}

/* What is built from now on belongs to the line of v, if v has one. */
static void go_to_line_of(rvm__group *g, LLVMValueRef v) {
    LLVMMetadataRef where = has_lines(g) ? LLVMInstructionGetDebugLoc(v) : NULL;
    if (where) LLVMSetCurrentDebugLocation2(g->k->b, where);
}

static void begin_lines(rvm__group *g) {
    if (!has_lines(g)) return;
    LLVMMetadataRef in = LLVMGetSubprogram(g->flow.function);
    LLVMSetSubprogram(g->to, in);
    LLVMSetCurrentDebugLocation2(g->k->b,
                                 LLVMDIBuilderCreateDebugLocation(g->k->context, LLVMDISubprogramGetLine(in), 0, in, NULL));
}

/* ---- branches ---- */

static void make_phis(rvm__group *g) {
    for (uint32_t n = 0; n < g->flow.n; n++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b); v && LLVMIsAPHINode(v);
             v = LLVMGetNextInstruction(v)) {
            rvm__item *i = rvm__item_of(&g->flow, v);
            if (g->traces && !rvm__is_traced(g, v)) continue;
            i->phi = rvm__group_local(g, i->varying ? rvm__vector_of(g, LLVMTypeOf(v)) : LLVMTypeOf(v));
        }
}

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (LLVMGetIncomingBlock(phi, k) == from) return LLVMGetIncomingValue(phi, k);
    return NULL;
}

/* Lanes of the mask go from a to b. */
static void pass(rvm__group *g, uint32_t a, uint32_t b, LLVMValueRef mask) {
    for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[b].b); v && LLVMIsAPHINode(v);
         v = LLVMGetNextInstruction(v)) {
        const rvm__item *i = rvm__item_of(&g->flow, v);
        LLVMValueRef from = incoming(v, g->flow.nodes[a].b), now;
        if (!from || (g->traces && !rvm__is_traced(g, v))) continue;
        now = i->varying ? rvm__many(g, from) : rvm__one(g, from);
        if (mask && i->varying) {
            LLVMValueRef was = LLVMBuildLoad2(g->k->b, LLVMTypeOf(now), i->phi, "");
            now = LLVMBuildSelect(g->k->b, mask, now, was, "");
        }
        LLVMBuildStore(g->k->b, now, i->phi);
    }
}

static void block(rvm__group *g, uint32_t n, LLVMValueRef mask) {
    LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b), end = LLVMGetBasicBlockTerminator(g->flow.nodes[n].b);
    for (; LLVMIsAPHINode(v); v = LLVMGetNextInstruction(v)) {
        rvm__item *i = rvm__item_of(&g->flow, v);
        LLVMTypeRef t = LLVMTypeOf(v);
        if (g->traces && !rvm__is_traced(g, v)) continue;
        if (i->varying)
            i->many = LLVMBuildLoad2(g->k->b, rvm__vector_of(g, t), i->phi, "");
        else
            i->one = LLVMBuildLoad2(g->k->b, t, i->phi, "");
    }
    for (; v != end; v = LLVMGetNextInstruction(v)) {
        go_to_line_of(g, v);
        rvm__group_instruction(g, v, mask);
    }
    go_to_line_of(g, end);
}

/* Whether all lanes go on from node n to the next one, and only from there, or bail out: what waits to be added waits on. */
static bool goes_straight_on(const rvm__group *g, uint32_t n, uint32_t end) {
    const rvm__node *here = &g->flow.nodes[n];
    if (here->nsucc != 1 || here->succ[0] == end) return false;
    const rvm__node *next = &g->flow.nodes[here->succ[0]];
    const bool turns = here->loop != RVM__NO_LOOP && g->flow.loops[here->loop].header == here->succ[0];
    return next->loop == here->loop && next->nin == 1 && !turns;
}

static LLVMTypeRef mask_type(const rvm__group *g) {
    return rvm__vector_of(g, g->k->i1);
}

static LLVMValueRef enter_loop(rvm__group *g, rvm__loop *l, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    l->before = LLVMGetInsertBlock(b);
    l->around = mask;
    l->head = rvm__group_block(g, "loop");
    l->after = rvm__group_block(g, "after");
    if (l->divergent) {
        l->active = rvm__group_local(g, mask_type(g));
        LLVMBuildStore(b, mask ? mask : LLVMConstAllOnes(mask_type(g)), l->active);
    }
    LLVMBuildBr(b, l->head);
    LLVMPositionBuilderAtEnd(b, l->head);
    return l->divergent ? LLVMBuildLoad2(b, mask_type(g), l->active, "") : mask;
}

/* Those for which the condition of n holds, or not, leave the loop; returns the mask of those that stay. */
static LLVMValueRef leave_loop(rvm__group *g, const rvm__loop *l, uint32_t n, bool if_true, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef c = LLVMGetCondition(LLVMGetBasicBlockTerminator(g->flow.nodes[n].b));
    LLVMBasicBlockRef on = rvm__group_block(g, "stay"), out = rvm__group_block(g, "out");
    if (!l->divergent) {
        LLVMValueRef one = rvm__one(g, c);
        LLVMBuildCondBr(b, one, if_true ? out : on, if_true ? on : out);
        LLVMPositionBuilderAtEnd(b, out);
        pass(g, n, l->exit, mask);
        LLVMBuildBr(b, l->after);
        LLVMPositionBuilderAtEnd(b, on);
        return mask;
    }
    LLVMValueRef many = rvm__many(g, c), no = LLVMBuildNot(b, many, "");
    LLVMValueRef stay = rvm__both(g, mask, if_true ? no : many);
    pass(g, n, l->exit, rvm__both(g, mask, if_true ? many : no));
    LLVMBuildStore(b, stay, l->active);
    LLVMBuildCondBr(b, rvm__any(g, stay), on, out);
    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildBr(b, l->after);
    LLVMPositionBuilderAtEnd(b, on);
    return stay;
}

static void region(rvm__group *g, uint32_t n, uint32_t end, LLVMValueRef mask);

/* One of two branches, from n to its immediate post-dominator. */
static void branch_to(rvm__group *g, uint32_t n, uint32_t to, LLVMValueRef mask) {
    pass(g, n, to, mask);
    region(g, to, g->flow.nodes[n].join, mask);
}

static void part_alike(rvm__group *g, uint32_t n, LLVMValueRef c, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMBasicBlockRef to[2] = {rvm__group_block(g, "then"), rvm__group_block(g, "else")}, join = rvm__group_block(g, "join");
    LLVMBuildCondBr(b, rvm__one(g, c), to[0], to[1]);
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(b, to[s]);
        branch_to(g, n, g->flow.nodes[n].succ[s], mask);
        LLVMBuildBr(b, join);
    }
    LLVMPositionBuilderAtEnd(b, join);
}

static void part(rvm__group *g, uint32_t n, LLVMValueRef c, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef many = rvm__many(g, c), of[2] = {rvm__both(g, mask, many), rvm__both(g, mask, LLVMBuildNot(b, many, ""))};
    for (int s = 0; s < 2; s++) {
        LLVMBasicBlockRef some = rvm__group_block(g, "some"), on = rvm__group_block(g, "on");
        LLVMBuildCondBr(b, rvm__any(g, of[s]), some, on);
        LLVMPositionBuilderAtEnd(b, some);
        branch_to(g, n, g->flow.nodes[n].succ[s], of[s]);
        LLVMBuildBr(b, on);
        LLVMPositionBuilderAtEnd(b, on);
    }
}

/* A loop that polls if it has many trips, and is without that if not; false: it is to be there once. */
static bool enter_twice(rvm__group *g, uint32_t loop, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef many = g->entered == loop + 1 ? NULL : rvm__may_turn_long(g, loop);
    if (!many) return false;
    LLVMBasicBlockRef to[2] = {rvm__group_block(g, "long"), rvm__group_block(g, "short")}, on = rvm__group_block(g, "on");
    const uint32_t around = g->entered;
    const bool turns_long = g->turns_long;
    LLVMBuildCondBr(b, many, to[0], to[1]);
    g->entered = loop + 1;
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(b, to[s]);
        g->turns_long = s == 0;
        region(g, g->flow.loops[loop].header, g->flow.loops[loop].exit, mask);
        LLVMBuildBr(b, on);
    }
    g->entered = around;
    g->turns_long = turns_long;
    LLVMPositionBuilderAtEnd(b, on);
    return true;
}

/* Where an edge of node n leads out of loop l, lanes leave it. The node where those that stay go on. */
static uint32_t leave_or_stay(rvm__group *g, rvm__loop *l, uint32_t n, LLVMValueRef *mask) {
    const rvm__node *here = &g->flow.nodes[n];
    uint32_t next = here->succ[0];
    for (uint32_t s = 0; l && s < here->nsucc && here->nsucc == 2; s++)
        if (!rvm__is_in_loop(&g->flow, here->succ[s], here->loop)) {
            *mask = leave_loop(g, l, n, s == 0, *mask);
            next = here->succ[!s];
        }
    return next;
}

/* Control leaves node n, for `next` where it is not parted; the node where region goes on. */
static uint32_t go_on(rvm__group *g, rvm__loop *l, uint32_t n, uint32_t next, LLVMValueRef *mask) {
    const rvm__node *here = &g->flow.nodes[n];
    LLVMValueRef ends = LLVMGetBasicBlockTerminator(here->b);
    if (l && next == l->header) {
        if (g->turns_long) rvm__group_turns(g);
        pass(g, n, next, *mask);
        LLVMBuildBr(g->k->b, l->head);
        LLVMPositionBuilderAtEnd(g->k->b, l->after);
        *mask = l->around;
        return l->exit;
    }
    if (here->nout == 2) {
        const bool varies = rvm__is_varying(&g->flow, LLVMGetCondition(ends));
        if (!varies || !g->traces) (varies ? part : part_alike)(g, n, LLVMGetCondition(ends), *mask);
        return here->join;
    }
    pass(g, n, next, *mask);
    return next;
}

/* From node n on, up to `end`, a post-dominator of it. */
static void region(rvm__group *g, uint32_t n, uint32_t end, LLVMValueRef mask) {
    while (n != end && !g->flow.why) {
        const rvm__node *here = &g->flow.nodes[n];
        rvm__loop *l = here->loop == RVM__NO_LOOP ? NULL : &g->flow.loops[here->loop];
        const bool enters = l && l->header == n;
        if (++g->emitted > 8 * g->flow.n + 64) rvm__no_group(g, "irreducible control");
        if ((g->traces && l && l->divergent) || (enters && enter_twice(g, here->loop, mask))) {
            n = l->exit;
            continue;
        }
        if (enters) mask = enter_loop(g, l, mask);
        LLVMValueRef ends = LLVMGetBasicBlockTerminator(here->b);
        block(g, n, mask);
        if (!goes_straight_on(g, n, end)) rvm__add_what_waits(g);
        if (!here->nsucc) break;
        if (here->bails_out) rvm__bail_out_where(g, LLVMGetCondition(ends), here->bails_out == 1, mask);
        const uint32_t next = leave_or_stay(g, l, n, &mask);
        n = go_on(g, l, n, next, &mask);
    }
}

/* ---- whether what was done must be taken back ---- */

static bool is_call_of(LLVMValueRef v, const char *name) {
    return LLVMGetInstructionOpcode(v) == LLVMCall && !strcmp(rvm__callee_name(v), name);
}

/* A group that polls, and may be told to end, keeps few changes, but none of loops, which would be many; where all must be
 * taken back it keeps those, too, and bails out where it has no room. */
static bool keeps_for_safepoints(const rvm__group *g) {
    enum { FEW = 4 };
    bool polls = false, long_ones = false;
    unsigned n = 0;
    for (uint32_t k = 0; k < g->flow.n; k++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[k].b); v; v = LLVMGetNextInstruction(v)) {
            polls |= is_call_of(v, RVM__SAFEPOINT);
            long_ones |= is_call_of(v, RVM__SAFEPOINT) && rvm__may_be_long(g, v);
            if (rvm__changes_shared(&g->flow, v)) n += g->flow.nodes[k].loop == RVM__NO_LOOP ? 1 : FEW + 1;
        }
    return (polls && n <= FEW) || (long_ones && g->takes_back);
}

static void find_log(rvm__group *g) {
    bool releases = false, changes = false;
    g->logs = keeps_for_safepoints(g);
    for (int twice = 0; twice < 2; twice++) /* loops are gone through again */
        for (uint32_t k = g->flow.n; k-- > 0;) {
            rvm__node *b = &g->flow.nodes[g->flow.order[k]];
            for (LLVMValueRef v = LLVMGetFirstInstruction(b->b); v; v = LLVMGetNextInstruction(v)) {
                b->changed |= rvm__changes_shared(&g->flow, v);
                g->logs |= b->changed && rvm__may_bail_out(v);
                releases |= is_call_of(v, RVM__DISAGREES);
            }
            changes |= b->changed;
            g->logs |= b->changed && b->bails_out;
            for (uint32_t s = 0; b->changed && s < b->nsucc; s++) g->flow.nodes[b->succ[s]].changed = true;
        }
    g->logs |= releases && changes;
}

static bool makes_arrays(const rvm__group *g) {
    for (uint32_t n = 0; n < g->flow.n; n++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(g->flow.nodes[n].b); v; v = LLVMGetNextInstruction(v))
            if (LLVMGetInstructionOpcode(v) == LLVMCall && rvm__makes_array(v)) return true;
    return false;
}

/* ---- one instance ---- */

static bool begin(rvm__group *g) {
    rvm__flow *w = &g->flow;
    const bool can = rvm__flow_begin(w) && rvm__graph_find(w) && rvm__uniform_find(w) && rvm__can_group(g);
    if (can && g->ordered) rvm__later_find(g);
    return can && !w->why;
}

static void declare(rvm__group *g) {
    if (!g->to) g->to = LLVMAddFunction(g->k->module, "rvm_group", LLVMGlobalGetValueType(g->flow.function));
    LLVMSetLinkage(g->to, LLVMInternalLinkage);
    const unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
    const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(g->to, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(g->k->context, nounwind, 0));
    for (unsigned k = 0; k < LLVMCountParams(g->flow.function); k++) {
        rvm__item *i = rvm__item_of(&g->flow, LLVMGetParam(g->flow.function, k));
        i->one = LLVMGetParam(g->to, k);
        LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(g->flow.function, k + 1, noalias);
        if (a) LLVMAddAttributeAtIndex(g->to, k + 1, a);
    }
    g->entry = rvm__group_block(g, "entry");
    g->bailed_out = rvm__group_block(g, "given.up");
    g->adrift = rvm__group_block(g, "adrift");
}

static void make_mark(rvm__group *g) {
    LLVMTypeRef t = LLVMFunctionType(g->k->i64, &g->k->ptr, 1, false);
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, "rvm__native_mark"), machine = LLVMGetParam(g->to, 0);
    if (!makes_arrays(g)) return;
    if (!f) f = LLVMAddFunction(g->k->module, "rvm__native_mark", t);
    g->mark = LLVMBuildCall2(g->k->b, t, f, &machine, 1, "");
}

/* The lanes that run; NULL: all. */
static LLVMValueRef mask_of_part(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    if (!g->part) return NULL;
    LLVMValueRef n = LLVMGetParam(g->to, LLVMCountParams(g->flow.function)), each[RVM__MOST_GROUP];
    for (unsigned k = 0; k < g->lanes; k++) each[k] = rvm__number(g, k);
    return LLVMBuildICmp(b, LLVMIntULT, LLVMConstVector(each, g->lanes), rvm__splat(g, n), "");
}

static void emit(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    declare(g);
    begin_lines(g);
    LLVMBasicBlockRef body = rvm__group_block(g, "body");
    LLVMPositionBuilderAtEnd(b, body);
    make_phis(g);
    if (g->traces) rvm__order_begin(g);
    if (!g->traces) make_mark(g);
    rvm__item *index = rvm__item_of(&g->flow, LLVMGetParam(g->flow.function, RVM__VECTORISED_INDEX));
    index->stride = LLVMConstInt(g->k->i64, 1, false);
    index->aligned = g->aligned ? RVM__ALIGNED_NUMBER : RVM__NOT_ALIGNED;
    index->many = LLVMBuildAdd(b, rvm__splat(g, index->one), rvm__steps(g, index->stride), "");
    region(g, 0, RVM__NO_NODE, mask_of_part(g));
    rvm__group_give(g);
    LLVMBuildRet(b, LLVMConstInt(g->k->i32, 0, false));
    rvm__take_back(g);
    LLVMPositionBuilderAtEnd(b, g->entry);
    LLVMBuildBr(b, body);
    LLVMSetCurrentDebugLocation2(b, NULL);
}

/* Calls of it bail out at once. */
static void drop(rvm__build *k, LLVMValueRef f) {
    for (LLVMUseRef u = LLVMGetFirstUse(f), next; u; u = next) {
        LLVMValueRef call = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        LLVMReplaceAllUsesWith(call, LLVMConstInt(k->i32, 1, false));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(f);
}

/* The value of an attribute of one letter; 0: there is none. */
static char letter_of(LLVMValueRef f, const char *attribute) {
    unsigned length = 0;
    LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute,
                                                       (unsigned)strlen(attribute));
    const char *value = a ? LLVMGetStringAttributeValue(a, &length) : "";
    return length == 1 ? *value : 0;
}

static rvm__group group_of(rvm__build *k, LLVMTargetDataRef layout, LLVMValueRef from) {
    const char order = letter_of(from, RVM__ORDERED);
    return (rvm__group){.k = k,
                        .layout = layout,
                        .flow.function = from,
                        .flow.al = k->al,
                        .lanes = letter_of(from, RVM__LANES) == '4' ? 4 : RVM__MOST_GROUP,
                        .aligned = letter_of(from, RVM__ALIGNED) != 0,
                        .down = letter_of(from, RVM__DOWN) != 0,
                        .takes_back = letter_of(from, RVM__TAKES_BACK) != 0,
                        .ordered = order == '+'   ? 1
                                   : order == '-' ? -1
                                                  : 0};
}

/* Fills in the function that tells whether lanes keep the order. */
static const char *make_order(rvm__build *k, LLVMTargetDataRef layout, LLVMValueRef from, LLVMValueRef order) {
    rvm__group g = group_of(k, layout, from);
    g.traces = true;
    g.to = order;
    if (begin(&g)) emit(&g);
    rvm__gathered_end(&g);
    rvm__flow_end(&g.flow);
    if (g.flow.why) drop(k, order);
    return g.flow.why;
}

/* Fills in the function that prefetches, or drops it. */
static void make_ahead(rvm__build *k, LLVMTargetDataRef layout, LLVMValueRef from, LLVMValueRef ahead, bool wanted) {
    rvm__group g = group_of(k, layout, from);
    g.to = ahead;
    const bool made = wanted && rvm__flow_begin(&g.flow) && rvm__graph_find(&g.flow) && rvm__make_ahead(&g);
    rvm__flow_end(&g.flow);
    if (!made) drop(k, ahead);
}

/* Emits the group, or part of it; false: why is noted. */
static bool make(rvm__group *g) {
    if (begin(g) && rvm__is_worth_it(g)) {
        find_log(g);
        if (!g->flow.why) emit(g);
    }
    rvm__gathered_end(g);
    rvm__flow_end(&g->flow);
    return !g->flow.why;
}

/* What an instance becomes, and the functions that are declared for it. */
typedef struct made {
    LLVMValueRef from, order, part, ahead; /* all but from: or NULL */
} made;

static const char *make_group(rvm__build *k, LLVMTargetDataRef layout, const made *m, bool vector_math, bool inlines) {
    rvm__group g = group_of(k, layout, m->from), part = g;
    g.vector_math = part.vector_math = vector_math;
    g.inlines = part.inlines = inlines;
    part.part = true;
    part.to = m->part;
    rvm__group clears = g;
    if (rvm__flow_begin(&clears.flow) && rvm__graph_find(&clears.flow)) rvm__clear_by_parts(&clears);
    rvm__flow_end(&clears.flow);
    if (m->order) g.flow.why = make_order(k, layout, m->from, m->order);
    const bool good = !g.flow.why && make(&g);
    if (m->part && !(good && LLVMGetFirstUse(m->part) && make(&part))) drop(k, m->part);
    if (m->ahead) make_ahead(k, layout, m->from, m->ahead, good);
    if (!good) {
        if (g.to) LLVMDeleteFunction(g.to);
        drop(k, m->from);
    } else {
        LLVMReplaceAllUsesWith(m->from, g.to);
        LLVMDeleteFunction(m->from);
    }
    return g.flow.why;
}

/* ---- all of a module ---- */

void rvm__make_groups(rvm__build *k, bool vector_math, bool inlines) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(k->module);
    for (unsigned n = 0; n < k->instances; n++) {
        const made m = {rvm__instance_function(k, RVM__INSTANCE, n), rvm__instance_function(k, RVM__ORDER, n),
                        rvm__instance_function(k, RVM__PART, n), rvm__instance_function(k, RVM__AHEAD, n)};
        const char *because = m.from ? make_group(k, layout, &m, vector_math, inlines) : NULL; /* it may never be run */
        *(because ? &k->single : &k->grouped) += m.from != NULL;
        if (because) snprintf(k->why, sizeof k->why, "%s", because);
    }
    rvm__drop_parts(k);
}
