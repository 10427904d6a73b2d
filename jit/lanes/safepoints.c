/* safepoints.c: a group polls, as single instances do where loops turn: for fuel, a cancel, the caller's progress.
 *
 * An instance says what it has charged where it enters a loop whose trips are charged ahead, and where others turn. If that
 * is much, the group bails out, and the single instances poll. Where it has changed shared memory, and does not keep
 * how that was, it cannot: it polls itself, and if the run is to end, the run ends there, and the machine with it
 * (rvm__native_adrift). A loop charged ahead is there twice, with polls for when it has many trips. An instance that is
 * bound to charge little (bounds.c) needs none of this.
 */
#include "group.h"

#include <string.h>

/* Instructions of a lane, or trips, from one poll to the next; instructions of one that bails out. */
enum { UNSEEN = 1 << 20, MOST = 1 << 26 };

static LLVMValueRef local_from(rvm__group *g, uint64_t first) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->k->b);
    LLVMValueRef a = rvm__group_local(g, g->k->i64);
    LLVMPositionBuilderAtEnd(g->k->b, g->entry);
    LLVMBuildStore(g->k->b, rvm__number(g, first), a);
    LLVMPositionBuilderAtEnd(g->k->b, here);
    return a;
}

/* Where the condition holds: whether the run is to end, when so much has been charged since the group began. */
static void poll_if(rvm__group *g, LLVMValueRef cond, LLVMValueRef charged, LLVMValueRef local, LLVMValueRef next) {
    static const char name[] = "rvm__native_safepoint_in_group";
    LLVMBuilderRef b = g->k->b;
    LLVMBasicBlockRef poll = rvm__group_block(g, "poll"), on = rvm__group_block(g, "on"),
                      again = rvm__group_block(g, "again");
    LLVMTypeRef params[2] = {g->k->ptr, g->k->i64}, t = LLVMFunctionType(g->k->i32, params, 2, false);
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, name), args[2] = {LLVMGetParam(g->to, 0), charged};
    if (!f) f = LLVMAddFunction(g->k->module, name, t);
    rvm__build_mostly(g->k, LLVMBuildCondBr(b, cond, poll, on), 2, 1);
    LLVMPositionBuilderAtEnd(b, poll);
    LLVMBuildStore(b, next, local);
    LLVMValueRef ends = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildCall2(b, t, f, args, 2, ""), LLVMConstNull(g->k->i32), "");
    LLVMBuildCondBr(b, ends, g->adrift, again);
    LLVMPositionBuilderAtEnd(b, again);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, on);
}

static LLVMValueRef most_of(rvm__group *g, LLVMValueRef many, LLVMValueRef mask) {
    LLVMTypeRef t = LLVMTypeOf(many);
    if (mask) many = LLVMBuildSelect(g->k->b, mask, many, LLVMConstNull(t), "");
    return rvm__build_overloaded(g->k, "llvm.vector.reduce.umax", 1, &t, 1, &many);
}

/* Whether shared memory may have been changed there, and it is not known how. */
static bool is_adrift(const rvm__group *g, uint32_t node) {
    return g->flow.nodes[node].changed && !g->logs && !g->traces;
}

bool rvm__may_be_long(const rvm__group *g, LLVMValueRef call) {
    return rvm__most_value(&g->flow, LLVMGetOperand(call, 0)) >= UNSEEN;
}

void rvm__group_safepoint(rvm__group *g, LLVMValueRef call, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef v = LLVMGetOperand(call, 0);
    const bool varies = rvm__is_varying(&g->flow, v),
               adrift = is_adrift(g, rvm__node_of(&g->flow, LLVMGetInstructionParent(call)));
    if ((g->traces && !rvm__is_traced(g, v)) || !rvm__may_be_long(g, call)) return;
    LLVMValueRef charged = varies ? most_of(g, rvm__many(g, v), mask) : rvm__one(g, v);
    if (!adrift) {
        rvm__bail_group_out(g, LLVMBuildICmp(b, LLVMIntUGT, charged, rvm__number(g, MOST), ""));
        return;
    }
    if (!g->limit) g->limit = local_from(g, UNSEEN), g->many = local_from(g, 0);
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntUGT, charged, LLVMBuildLoad2(b, g->k->i64, g->limit, ""), "");
    LLVMBuildStore(b, LLVMBuildZExt(b, more, g->k->i64, ""), g->many);
    poll_if(g, more, LLVMBuildMul(b, charged, rvm__number(g, g->lanes), ""), g->limit,
            LLVMBuildAdd(b, charged, rvm__number(g, UNSEEN), ""));
}

static bool polls(LLVMBasicBlockRef b) {
    for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
        if (LLVMGetInstructionOpcode(v) == LLVMCall && !strcmp(rvm__callee_name(v), RVM__SAFEPOINT)) return true;
    return false;
}

/* Whether what is in the loop, or around it, polls often enough without it. */
static bool needs_no_safepoint(const rvm__group *g, uint32_t loop) {
    const rvm__loop *l = &g->flow.loops[loop];
    if (!is_adrift(g, l->latch) || polls(g->flow.nodes[l->latch].b) || polls(g->flow.nodes[l->header].b)) return true;
    return rvm__most_trips(&g->flow, loop) < UNSEEN;
}

LLVMValueRef rvm__may_turn_long(rvm__group *g, uint32_t loop) {
    if (!g->limit || needs_no_safepoint(g, loop)) return NULL;
    LLVMValueRef many = LLVMBuildLoad2(g->k->b, g->k->i64, g->many, "");
    return LLVMBuildICmp(g->k->b, LLVMIntNE, many, rvm__number(g, 0), "");
}

void rvm__group_turns(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    if (!g->ticks) g->ticks = local_from(g, UNSEEN);
    LLVMValueRef left = LLVMBuildSub(b, LLVMBuildLoad2(b, g->k->i64, g->ticks, ""), rvm__number(g, 1), "");
    LLVMBuildStore(b, left, g->ticks);
    LLVMValueRef last = LLVMBuildSub(b, LLVMBuildLoad2(b, g->k->i64, g->limit, ""), rvm__number(g, UNSEEN), "");
    LLVMValueRef charged = LLVMBuildMul(b, last, rvm__number(g, g->lanes), "");
    poll_if(g, LLVMBuildICmp(b, LLVMIntEQ, left, rvm__number(g, 0), ""), charged, g->ticks, rvm__number(g, UNSEEN));
}
