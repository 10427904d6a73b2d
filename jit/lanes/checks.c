/* checks.c: whether all releases of a group agree, which is asked once, when the group is done, but before it stores partial
 * sums, which nothing takes back: what follows a release relies on it no more than unchecked code does, and a group that
 * bails out has changed nothing. And what they leave behind
 * if so: the largest residue of each release, and how large elements of arrays around the block have become. Each is
 * gathered in a vector of all lanes, and goes to the machine, or to memory, when the group is done. So a group that bails
 * out has left nothing, and the single instances leave it.
 */
#include "group.h"
#include "support.h"

struct rvm__gathered {
    LLVMValueRef fn, pc; /* of a release, constants; or NULL */
    LLVMValueRef held;   /* the instance's parameter that is the address of a largest magnitude; or NULL */
    LLVMValueRef most;   /* alloca */
};

static LLVMTypeRef reals(const rvm__group *g) {
    return rvm__vector_of(g, g->k->f64);
}

static LLVMValueRef zeros(rvm__group *g, LLVMTypeRef t) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->k->b);
    LLVMValueRef a = rvm__group_local(g, t);
    LLVMPositionBuilderAtEnd(g->k->b, g->entry);
    LLVMBuildStore(g->k->b, LLVMConstNull(t), a);
    LLVMPositionBuilderAtEnd(g->k->b, here);
    return a;
}

/* Where that is gathered; NULL: out of memory, noted. */
static LLVMValueRef place_of(rvm__group *g, LLVMValueRef fn, LLVMValueRef pc, LLVMValueRef held) {
    for (uint32_t k = 0; k < g->ngathered; k++)
        if (g->gathered[k].fn == fn && g->gathered[k].pc == pc && g->gathered[k].held == held) return g->gathered[k].most;
    void *list = g->gathered;
    if (!rvm__grow(g->flow.al, &list, &g->cap_gathered, g->ngathered + 1, sizeof *g->gathered))
        return rvm__no_group(g, "out of memory"), NULL;
    g->gathered = list;
    g->gathered[g->ngathered] = (rvm__gathered){fn, pc, held, zeros(g, reals(g))};
    return g->gathered[g->ngathered++].most;
}

static void gather(rvm__group *g, LLVMValueRef at, LLVMValueRef v, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    if (!at) return;
    LLVMValueRef was = LLVMBuildLoad2(b, reals(g), at, "");
    LLVMValueRef more = rvm__both(g, mask, LLVMBuildFCmp(b, LLVMRealOGT, v, was, ""));
    LLVMBuildStore(b, LLVMBuildSelect(b, more, v, was, ""), at);
}

void rvm__group_disagrees(rvm__group *g, LLVMValueRef call, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef t = rvm__vector_of(g, g->k->i1);
    if (g->traces) return;
    if (g->asked) rvm__no_group(g, "something disappears behind its sums");
    if (!g->disagree) g->disagree = zeros(g, t);
    LLVMValueRef was = LLVMBuildLoad2(b, t, g->disagree, ""),
                 now = rvm__both(g, mask, rvm__many(g, LLVMGetOperand(call, 0)));
    LLVMBuildStore(b, LLVMBuildOr(b, was, now, ""), g->disagree);
}

void rvm__group_residue(rvm__group *g, LLVMValueRef call, LLVMValueRef mask) {
    if (g->traces || g->k->no_machine) return; /* which would note it */
    gather(g, place_of(g, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), NULL), rvm__many(g, LLVMGetOperand(call, 2)),
           mask);
}

void rvm__group_raise(rvm__group *g, LLVMValueRef call, LLVMValueRef mask) {
    LLVMValueRef held = LLVMGetOperand(call, 0);
    if (g->traces || LLVMIsNull(held)) return;
    gather(g, place_of(g, NULL, NULL, held), rvm__many(g, LLVMGetOperand(call, 1)), mask);
}

bool rvm__can_raise(const rvm__group *g, LLVMValueRef call) {
    LLVMValueRef held = LLVMGetOperand(call, 0);
    return LLVMIsNull(held) || (LLVMIsAArgument(held) && rvm__memory_of(&g->flow, held) == RVM__SHARED);
}

/* ---- when all is done ---- */

static LLVMValueRef most_of(rvm__group *g, LLVMValueRef at) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef all = LLVMBuildLoad2(b, reals(g), at, ""), most = rvm__lane_of(g, all, 0);
    for (unsigned n = 1; n < g->lanes; n++) {
        LLVMValueRef v = rvm__lane_of(g, all, n);
        most = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, v, most, ""), v, most, "");
    }
    return most;
}

/* Where the condition holds; what is built next is behind it. */
static LLVMBasicBlockRef begin_if(rvm__group *g, LLVMValueRef cond) {
    LLVMBasicBlockRef some = rvm__group_block(g, "some"), on = rvm__group_block(g, "on");
    LLVMBuildCondBr(g->k->b, cond, some, on);
    LLVMPositionBuilderAtEnd(g->k->b, some);
    return on;
}

static void end_if(rvm__group *g, LLVMBasicBlockRef on) {
    LLVMBuildBr(g->k->b, on);
    LLVMPositionBuilderAtEnd(g->k->b, on);
}

static void tell_residue(rvm__group *g, const rvm__gathered *r) {
    static const char name[] = "rvm__native_residue";
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef t[4] = {g->k->ptr, g->k->i32, g->k->i32, g->k->f64}, type = LLVMFunctionType(g->k->nothing, t, 4, false);
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, name), most = most_of(g, r->most);
    if (!f) f = LLVMAddFunction(g->k->module, name, type);
    LLVMBasicBlockRef on = begin_if(g, LLVMBuildFCmp(b, LLVMRealOGT, most, LLVMConstNull(g->k->f64), ""));
    LLVMBuildCall2(b, type, f, (LLVMValueRef[]){LLVMGetParam(g->to, 0), r->fn, r->pc, most}, 4, "");
    end_if(g, on);
}

static void raise_held(rvm__group *g, const rvm__gathered *r) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef at = rvm__one(g, r->held);
    LLVMBasicBlockRef none = begin_if(g, LLVMBuildIsNotNull(b, at, ""));
    LLVMValueRef most = most_of(g, r->most), was = LLVMBuildLoad2(b, g->k->f64, at, "");
    LLVMBasicBlockRef on = begin_if(g, LLVMBuildFCmp(b, LLVMRealOGT, most, was, ""));
    LLVMBuildStore(b, most, at);
    end_if(g, on);
    end_if(g, none);
}

static void ask(rvm__group *g) {
    if (g->disagree && !g->asked)
        rvm__bail_group_out(g, rvm__any(g, LLVMBuildLoad2(g->k->b, rvm__vector_of(g, g->k->i1), g->disagree, "")));
    g->asked = true;
}

/* Parameters that are the instance's own, but for what it counts. */
static bool is_partial_sum(const rvm__group *g, LLVMValueRef to) {
    for (unsigned n = RVM__VECTORISED_SUMS; n < LLVMCountParams(g->flow.function); n++) {
        LLVMValueRef p = LLVMGetParam(g->flow.function, n);
        if (rvm__memory_of(&g->flow, p) != RVM__PRIVATE_MEMORY) break;
        if (p == to) return true;
    }
    return false;
}

void rvm__group_before_store(rvm__group *g, LLVMValueRef to) {
    if (!g->traces && is_partial_sum(g, to)) ask(g);
}

void rvm__group_give(rvm__group *g) {
    ask(g);
    rvm__later_end(g);
    for (uint32_t k = 0; k < g->ngathered; k++) (g->gathered[k].held ? raise_held : tell_residue)(g, &g->gathered[k]);
}

void rvm__gathered_end(rvm__group *g) {
    rvm__realloc(g->flow.al, g->gathered, g->cap_gathered * sizeof *g->gathered, 0);
}
