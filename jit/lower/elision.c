/* elision.c: what nobody observes is left out. Of a region whose uncomputing is elided (isa/analysis/elision.h), what the
 * compute part made appear is gone, but for the memory of its arrays, which is given back. Dead instructions
 * (isa/analysis/liveness.h) leave places as they are. */
#include "analysis.h"
#include "emit.h"
#include "walk.h"
#include "elision.h"
#include "program.h"

void rvm__find_elisions(rvm__emit *e) {
    const rvm__unit *u = e->u;
    uint8_t *regions = e->control.elided;
    if (!rvm__elision_find(u->p, u->reach, e->fn, u->w->unchecked, regions, NULL)) rvm__out_of_memory(e->u);
    RVM__EACH_INSN(x, e->f) {
        const bool empties = regions[x.pc] == RVM__ELIDED_ON_TRAILS && !u->w->standalone; /* segments of the machine */
        if (!regions[x.pc] || regions[x.pc] == RVM__FORGETS) continue;
        if (empties || u->w->profile || u->w->exact)
            regions[x.pc] = RVM__RUNS_TWICE;
        else
            e->count.before[x.pc] = rvm__local(e, e->k->i64, "before");
    }
}

/* Places: an array has as many as it has elements, a view none, which is a name. */
static LLVMValueRef count_made(rvm__emit *e, const rvm__made *made, uint32_t end) {
    rvm__build *k = e->k;
    LLVMValueRef n = rvm__build_int(k, made->nregs);
    for (uint32_t a = 0; a < made->narrays; a++)
        if (!rvm__view_at(e, made->arrays[a], end)) n = LLVMBuildAdd(k->b, n, rvm__elements(e, made->arrays[a]), "");
    return n;
}

void rvm__forget_made(rvm__emit *e, uint32_t compute, bool counted) {
    const uint32_t end = e->f->code[compute].target;
    uint16_t *room = rvm__unit_alloc(e->u, rvm__made_most(e->f) * sizeof *room);
    if (!room) return;
    const rvm__made made = rvm__made_find(e->f, compute, room);
    if (counted)
        rvm__count_erased(e, RVM__ERASED_PLACES,
                          LLVMBuildMul(e->k->b, count_made(e, &made, end), rvm__build_int(e->k, 64), ""));
    for (uint32_t k = 0; k < made.nregs; k++) rvm__gone(e, made.regs[k]);
    for (uint32_t k = 0; k < made.narrays; k++)
        if (rvm__view_at(e, made.arrays[k], end))
            rvm__array_gone(e, made.arrays[k]);
        else
            rvm__drop_array(e, made.arrays[k]);
}

/* What nobody reads is not kept either, but counts. Whole arrays stand in memory and are cleared as ever. */
static bool is_discarded_alone(const rvm__emit *e, const rvm_insn *in, rvm_op op) {
    const enum rvm_pair pair = rvm__pair_of(op);
    if (pair == RVM_PAIR_set) return true;
    if (pair != RVM_PAIR_drop) return false;
    for (uint32_t k = 0; k < in->nplaces; k++)
        if (rvm__places(e->f, in)[k].kind == RVM_PLACE_ARRAY) return false;
    return true;
}

bool rvm__leave_out(rvm__emit *e, const rvm_insn *in, rvm_op op) {
    const bool down = e->control.context->dir < 0;
    if (!e->u->liveness || e->whole || rvm__liveness_at(e->u->liveness, e->fn, e->dir < 0, e->control.pc, down) != RVM__DEAD)
        return false;
    if (rvm__op_on_trail(op)) {
        if (!is_discarded_alone(e, in, op)) return false;
        const uint32_t level = rvm__op_sets(op) ? 0 : e->code->x[e->control.pc].trail.level;
        rvm__count_erased(e, rvm__erased_by(level), rvm__site_bits_of(e, in));
    } else if (op == RVM_OP_unlet || op == RVM_OP_unaddr)
        return false; /* the register has no value any more */
    if (op == RVM_OP_unview) rvm__array_gone(e, rvm__places(e->f, in)->slot);
    e->u->dead_found++;
    return true;
}
