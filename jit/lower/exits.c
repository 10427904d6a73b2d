/* exits.c: side exits, each from a site: to the interpreter (frame.c writes what it needs), standalone to the caller with
 * the number of an end, of what is vectorised by bailing out. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"
#include "support.h"

rvm__native_site rvm__site_here(const rvm__emit *e) {
    return (rvm__native_site){.fn = rvm__known_as(e->u, e->fn),
                              .pc = e->control.pc,
                              .dir = (int8_t)e->control.context->dir,
                              .restoring = e->control.context->restoring,
                              .deeper = (uint8_t)e->control.context->depth};
}

uint32_t rvm__end_number(rvm__unit *u, uint32_t fn, uint32_t pc, enum rvm__end_reason reason) {
    for (uint32_t k = u->nends; k-- > 0;)
        if (u->ends[k].fn == fn && u->ends[k].pc == pc && u->ends[k].reason == reason) return k + 1;
    void *list = u->ends;
    if (!rvm__grow(u->k->al, &list, &u->cap_ends, u->nends + 1, sizeof *u->ends)) {
        rvm__out_of_memory(u);
        return 1;
    }
    u->ends = list;
    u->ends[u->nends++] = (rvm__end){fn, pc, reason};
    return u->nends;
}

void rvm__refuse(rvm__emit *e, const char *why) {
    if (e->u->status) return;
    e->u->status = rvm__fail_at(e->u->err, RVM_ERR_UNSUPPORTED, e->u->p, e->fn, e->control.pc,
                                "`%s` cannot be a C function: %s", e->f->name, why);
}

/* ---- where exits come together ----
 *
 * In one block, what a register holds there would be a phi with an operand for each exit, and as many copies: code and the
 * time of LLVM's passes would grow with exits times registers. So they come together in a tree, neighbours first: what does
 * not change between neighbours needs no phi where these join. */
enum { TOGETHER = 16 };

/* Where the next exit goes. */
static LLVMBasicBlockRef join_for_next(rvm__emit *e) {
    rvm__frame_ir *f = &e->frame;
    void *list = f->joins;
    if (!f->njoins || f->nsites % TOGETHER == 0) {
        if (!rvm__grow(e->u->k->al, &list, &f->cap_joins, f->njoins + 1, sizeof *f->joins)) {
            rvm__out_of_memory(e->u);
            return f->exits;
        }
        f->joins = list;
        f->joins[f->njoins++] = rvm__block(e, "join");
    }
    return f->joins[f->njoins - 1];
}

/* LLVM would make one block of this and the next one, and one call of all of these. */
static void keep_block(rvm__emit *e) {
    static const char nothing[] = "llvm.sideeffect";
    rvm__build *k = e->k;
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(k->module, LLVMLookupIntrinsicID(nothing, sizeof nothing - 1), NULL, 0);
    LLVMValueRef call = LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, NULL, 0, "");
    const unsigned kind = LLVMGetEnumAttributeKindForName("nomerge", 7);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(k->context, kind, 0));
}

void rvm__join_exits(rvm__emit *e) {
    LLVMBasicBlockRef *joins = e->frame.joins;
    for (uint32_t n = e->frame.njoins, above = 0; n > 0; n = above, above = 0) {
        LLVMBasicBlockRef next = e->frame.exits;
        for (uint32_t k = 0; k < n; k++) {
            LLVMBasicBlockRef here = joins[k];
            if (n > TOGETHER && k % TOGETHER == 0) joins[above++] = next = rvm__block(e, "join");
            rvm__at(e, here);
            if (n > 1) keep_block(e);
            LLVMBuildBr(e->k->b, next);
        }
    }
    e->frame.njoins = 0;
}

/* ---- exits ---- */

/* A side exit with that status. */
static LLVMBasicBlockRef ending(rvm__emit *e, LLVMValueRef status) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b), cold = rvm__block(e, "cold");
    rvm__at(e, cold);
    rvm__put_at(e, status, e->frame.site);
    LLVMBuildBr(e->k->b, join_for_next(e));
    e->frame.nsites++;
    rvm__at(e, here);
    return cold;
}

static LLVMBasicBlockRef side_exit(rvm__emit *e, rvm__native_site site, uint32_t uncharged) {
    rvm__settle_erased(e);
    if (e->u->w->standalone)
        return ending(e, LLVMConstInt(e->k->i32, rvm__end_number(e->u, site.fn, site.pc, RVM__END_CHECK), false));
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b), cold = rvm__block(e, "cold");
    void *list = e->frame.sites;
    if (!rvm__grow(e->u->k->al, &list, &e->frame.cap_sites, e->frame.nsites + 1, sizeof *e->frame.sites))
        rvm__out_of_memory(e->u);
    else {
        e->frame.sites = list;
        site.segments = (uint16_t)rvm__untracked_segments(e, site.pc, site.dir);
        site.guards = (uint8_t)rvm__guards_open(e, site.pc, site.dir);
        e->frame.sites[e->frame.nsites] = site;
    }
    rvm__at(e, cold);
    LLVMValueRef now = rvm__get(e, e->k->i64, e->count.charged);
    if (e->count.ahead) now = LLVMBuildSub(e->k->b, now, rvm__charged_ahead(e), "");
    rvm__put_at(e, LLVMBuildAdd(e->k->b, now, rvm__build_int(e->k, uncharged), ""), e->count.charged);
    if (e->u->w->profile) rvm__tally_exit(e, uncharged);
    rvm__put_at(e, LLVMConstInt(e->k->i32, e->frame.nsites, false), e->frame.site);
    LLVMBuildBr(e->k->b, join_for_next(e));
    e->frame.nsites++;
    rvm__at(e, here);
    return cold;
}

void rvm__exit_at(rvm__emit *e, LLVMValueRef cond, rvm__native_site site, uint32_t uncharged) {
    if (LLVMIsAConstantInt(cond) && !LLVMConstIntGetZExtValue(cond)) return;
    if (e->vectorised) {
        rvm__bail_out(e, cond);
        return;
    }
    LLVMBasicBlockRef on = rvm__block(e, "ok"), cold = e->block.unclean ? e->block.unclean : side_exit(e, site, uncharged);
    rvm__unlikely(e, LLVMBuildCondBr(e->k->b, cond, cold, on));
    rvm__at(e, on);
}

void rvm__exit_with(rvm__emit *e, LLVMValueRef cond, LLVMValueRef status) {
    LLVMBasicBlockRef cold = ending(e, status), on = rvm__block(e, "ok");
    rvm__unlikely(e, LLVMBuildCondBr(e->k->b, cond, cold, on));
    rvm__at(e, on);
}

void rvm__exit_if(rvm__emit *e, LLVMValueRef cond) {
    rvm__exit_at(e, cond, rvm__site_here(e), e->count.walked);
}

void rvm__exit_now(rvm__emit *e) {
    if (e->vectorised) {
        rvm__bail_out(e, LLVMConstInt(e->k->i1, 1, false));
        LLVMBuildUnreachable(e->k->b);
        return;
    }
    LLVMBuildBr(e->k->b, side_exit(e, rvm__site_here(e), e->count.walked));
}
