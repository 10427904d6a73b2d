/* eligible.c: which parallel blocks may run their instances in lanes, which in threads. */
#include "emit.h"
#include "analysis.h"
#include "blocks.h"
#include "guarding.h"
#include "plan.h"

static const char *why_calls_are_not_plain(const rvm__emit *e, uint32_t first, uint32_t last) {
    RVM__EACH_INSN_IN(x, e->f, first, last + 1) {
        if (rvm__pair_of(x.in->op) == RVM_PAIR_calli) return "it calls function values";
        if (rvm__pair_of(x.in->op) != RVM_PAIR_call) continue;
        const rvm__summary *g = &e->u->summaries[x.in->target];
        if (g->recursive) return "it calls what recurses";
        if (g->by_value) return "it calls what calls function values";
        if (g->sums) return "it calls what has blocks that add into elements chunk by chunk";
        if (g->size > RVM__MOST_VECTORISED) return "it calls too much";
    }
    return NULL;
}

const char *rvm__why_no_instance(rvm__emit *e, uint32_t pc) {
    uint32_t first, last;
    rvm__body_of(e, pc, &first, &last);
    if ((rvm__enforces(e, pc) && !rvm__is_inspected(e, pc)) || rvm__is_within_guard(e, pc))
        return "its roles are enforced while it runs";
    if (first > last) return "it is empty";
    const char *why = why_calls_are_not_plain(e, first, last);
    if (!why && rvm__is_tracked(e, first - 1, last + 1))
        why = "it leaves something on a trail that is kept (--trail off, RVM_TRAIL_OFF)";
    return why;
}

bool rvm__is_instance(rvm__emit *e, uint32_t pc) {
    const rvm__lowering *w = e->u->w;
    return (w->lanes || w->device) && !w->standalone && !e->vectorised && !rvm__why_no_instance(e, pc);
}

bool rvm__goes_in_lanes(rvm__emit *e, uint32_t pc) {
    return e->u->w->lanes && rvm__is_instance(e, pc);
}

const char *rvm__why_not_apart(rvm__emit *e, const rvm__plan *p) {
    if (p->guarded) return rvm__is_inspected(e, e->control.pc) ? NULL : "roles in it are not proved";
    return p->meets ? "its instances add into elements of an array that they do not only add into" : NULL;
}
