/* loop_reversal.c: parallel blocks that go from the last instance to the first, as those of adjoints do, but for what can be
 * seen of that: where the instances have nothing in common, and nothing in them is left to the interpreter, those of a strip
 * go upward, since LLVM's vectors do.
 *
 * What is left to the interpreter is only known when all has been emitted, by the sites of that. Until then the way of a
 * strip is a value of its own. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "builder.h"

struct rvm__turned {
    struct rvm__turned *next;
    LLVMValueRef upward; /* to be replaced */
    uint32_t fn, lo, hi; /* ends of the block */
    uint32_t site;       /* of those between strips: where native code is left there */
};

bool rvm__may_turn(rvm__emit *e, uint32_t pc) {
    const rvm__xinsn *x = &e->code->x[pc];
    const uint8_t shares = RVM_FACT_SUMS | RVM_FACT_GUARD;
    if (e->u->w->exact || rvm__is_ascending(e, x) || e->at || x->to.shared || x->to.c || !e->apart || x->flags & X_GUARD)
        return false;
    if ((e->f->code[pc].facts | e->f->code[e->f->code[pc].target].facts) & shares) return false;
    return !rvm__goes_in_lanes(e, pc) && rvm__trips_unseen(e, pc);
}

static struct rvm__turned *add(rvm__emit *e, struct rvm__turned **list, uint32_t pc) {
    struct rvm__turned *t = rvm__unit_alloc(e->u, sizeof *t);
    const uint32_t lo = rvm__lower_end(e->f, pc);
    if (!t) return NULL;
    *t = (struct rvm__turned){.next = *list, .fn = e->fn, .lo = lo, .hi = e->f->code[lo].target};
    return *list = t;
}

LLVMValueRef rvm__is_upward(rvm__emit *e, uint32_t pc) {
    struct rvm__turned *t = add(e, &e->block.turned, pc);
    if (!t) return LLVMConstNull(e->k->i1);
    return t->upward = LLVMBuildFreeze(e->k->b, LLVMGetUndef(e->k->i1), "upward");
}

void rvm__safepoint_between(rvm__emit *e, uint32_t pc) {
    const uint32_t site = e->frame.nsites;
    rvm__emit_safepoint(e, pc + (uint32_t)e->control.context->dir);
    struct rvm__turned *t = e->frame.nsites > site ? add(e, &e->block.between, pc) : NULL;
    if (t) t->site = site;
}

/* ---- what is known when it has been emitted ---- */

static void settle(struct rvm__turned *t, LLVMValueRef way) {
    LLVMReplaceAllUsesWith(t->upward, way);
    LLVMInstructionEraseFromParent(t->upward);
}

static bool is_between(const rvm__emit *e, uint32_t site) {
    for (const struct rvm__turned *t = e->block.between; t; t = t->next)
        if (t->site == site) return true;
    return false;
}

static bool exits_within(const rvm__emit *e, const struct rvm__turned *t) {
    for (uint32_t k = 0; k < e->frame.nsites; k++) {
        const rvm__native_site *s = &e->frame.sites[k];
        if (!s->calling && s->pc > t->lo && s->pc < t->hi && !is_between(e, k)) return true;
    }
    return false;
}

void rvm__settle_function(rvm__emit *e) {
    for (uint32_t k = 0; k < e->frame.nsites && e->frame.sites; k++)
        e->u->summaries[e->fn].exits |= !e->frame.sites[k].calling;
    for (struct rvm__turned *t = e->block.turned, *next; t && !e->u->status; t = next) {
        next = t->next;
        if (exits_within(e, t))
            settle(t, LLVMConstNull(e->k->i1));
        else
            t->next = e->u->turned, e->u->turned = t;
    }
}

static bool calls_exit(const rvm__unit *u, uint32_t fn, uint32_t first, uint32_t end);

static bool call_exits(const rvm__unit *u, uint32_t fn) {
    rvm__summary *summary = &u->summaries[fn];
    if (summary->exits || summary->silent) return summary->exits;
    summary->exits = summary->recursive || calls_exit(u, fn, 0, u->p->functions[fn].ncode);
    summary->silent = !summary->exits;
    return summary->exits;
}

static bool calls_exit(const rvm__unit *u, uint32_t fn, uint32_t first, uint32_t end) {
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], first, end)
        RVM__EACH_CALLEE(g, u->p, x.in)
            if (call_exits(u, g)) return true;
    return false;
}

void rvm__settle_unit(rvm__unit *u) {
    for (struct rvm__turned *t = u->turned; t && !u->status; t = t->next)
        settle(t, LLVMConstInt(u->k->i1, !calls_exit(u, t->fn, t->lo + 1, t->hi), false));
}
