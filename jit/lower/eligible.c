/* eligible.c: which parallel blocks may run their instances in lanes, which in threads. */
#include "emit.h"
#include "analysis.h"
#include "blocks.h"
#include "guarding.h"
#include "plan.h"

enum { MOST_DEEP = 16 };

/* Of an array that an instance passes on, whether all of it is the instance's: it is made there, or is a part at its own
 * index of an array around it. */
static bool is_own(const rvm__emit *e, uint32_t pc, uint16_t array, unsigned depth) {
    uint32_t first, last;
    bool own = false;
    rvm__body_of(e, pc, &first, &last);
    RVM__EACH_INSN_IN(x, e->f, first, last + 1) {
        if (!rvm__op_names_array((rvm_op)x.in->op) || x.q->slot != array) continue;
        own = rvm__pair_of(x.in->op) != RVM_PAIR_view;
        for (uint32_t k = 2; k < x.in->nplaces; k++)
            own |= x.q[k].kind == RVM_PLACE_SLOT && x.q[k].slot == e->code->x[pc].to.i;
        if (!own && !(depth && is_own(e, pc, x.q[1].slot, depth - 1))) return false;
        own = true;
    }
    return own;
}

/* Whether what is called changes no array but such: then its blocks may put elements aside (aside.c). */
static bool passes_its_own(const rvm__emit *e, uint32_t pc, const rvm_insn *in) {
    const rvm_callee to = rvm__callee_of(e->u->p, in);
    const rvm_function *g = &e->u->p->functions[in->target];
    const rvm_place *q = rvm__places(e->f, in) + to.first;
    for (uint32_t k = 0; k < g->nparams; k++)
        if (g->params[k].ndim && g->params[k].role != RVM_READ && !is_own(e, pc, q[k].slot, MOST_DEEP)) return false;
    return true;
}

static const char in_chunks[] = "it calls what has blocks that add into elements chunk by chunk";

static const char *why_calls_are_not_plain(const rvm__emit *e, uint32_t pc, uint32_t first, uint32_t last) {
    RVM__EACH_INSN_IN(x, e->f, first, last + 1) {
        if (rvm__pair_of(x.in->op) == RVM_PAIR_calli) return "it calls function values";
        if (rvm__pair_of(x.in->op) != RVM_PAIR_call) continue;
        const rvm__summary *g = &e->u->summaries[x.in->target];
        if (g->recursive) return "it calls what recurses";
        if (g->by_value) return "it calls what calls function values";
        if (g->sums && !(e->u->w->device && passes_its_own(e, pc, x.in))) return in_chunks;
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
    const char *why = why_calls_are_not_plain(e, pc, first, last);
    if (!why && !e->u->w->standalone && rvm__is_tracked(e, first - 1, last + 1))
        why = "it leaves something on a trail that is kept (--trail off, RVM_TRAIL_OFF)";
    return why;
}

const char *rvm__why_not_in_lanes(rvm__emit *e, uint32_t pc) {
    uint32_t first, last;
    const char *why = rvm__why_no_instance(e, pc);
    rvm__body_of(e, pc, &first, &last);
    RVM__EACH_INSN_IN(x, e->f, first, last + 1)
        if (!why && rvm__pair_of(x.in->op) == RVM_PAIR_call && e->u->summaries[x.in->target].sums) why = in_chunks;
    return why;
}

bool rvm__is_instance(rvm__emit *e, uint32_t pc) {
    const rvm__lowering *w = e->u->w;
    return (w->lanes || w->device) && !e->vectorised && !rvm__why_no_instance(e, pc);
}

bool rvm__goes_in_lanes(rvm__emit *e, uint32_t pc) {
    return e->u->w->lanes && rvm__is_instance(e, pc) && !rvm__why_not_in_lanes(e, pc);
}

const char *rvm__why_not_apart(rvm__emit *e, const rvm__plan *p) {
    if (p->guarded) return rvm__is_inspected(e, e->control.pc) ? NULL : "roles in it are not proved";
    return p->meets ? "its instances add into elements of an array that they do not only add into" : NULL;
}
