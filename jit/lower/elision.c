/* elision.c: what nobody observes is left out. Of a region whose uncomputing is elided (isa/analysis/elision.h), what the
 * compute part made appear is gone, but for the memory of its arrays, which is given back. Dead instructions
 * (isa/analysis/liveness.h) leave places as they are. */
#include "analysis.h"
#include "emit.h"
#include "walk.h"
#include "elision.h"
#include "program.h"

static void found(void *userdata, const rvm__elision *region) {
    rvm__emit *e = userdata;
    if (region->forgets) e->control.elided[region->compute] = RVM__FORGOTTEN;
    if (region->forgets || e->u->w->profile || (region->trails && !e->u->w->standalone))
        return; /* its segments would have to be emptied */
    e->control.elided[region->compute] = RVM__ELIDED;
}

void rvm__find_elisions(rvm__emit *e) {
    const rvm__unit *u = e->u;
    void *scratch = rvm__unit_alloc(e->u, rvm__elision_scratch(e->f) + 1);
    if (!scratch) return;
    rvm__elision_find(u->p, u->reach, e->fn, u->w->unchecked, scratch, found, e);
    RVM__EACH_INSN(x, e->f)
        if (e->control.elided[x.pc] == RVM__ELIDED) e->count.before[x.pc] = rvm__local(e, e->k->i64, "before");
}

/* Whether the array that appears at pc is still there at `end`: no instruction between makes it disappear. */
static bool stays(const rvm__emit *e, uint32_t pc, uint32_t end) {
    const uint16_t array = rvm__places(e->f, &e->f->code[pc])->slot;
    RVM__EACH_INSN_IN(x, e->f, pc + 1, end)
        if (rvm__op_names_array((rvm_op)x.in->op) && rvm__is_inverse(x.in->op) && x.q->slot == array) return false;
    return true;
}

/* Registers and arrays that appear in the compute part and are there at its end, the last one first. */
void rvm__forget_locals(rvm__emit *e, uint32_t compute) {
    const uint32_t end = e->f->code[compute].target;
    for (uint32_t pc = end - 1; pc > compute; pc--) {
        const rvm_insn *in = &e->f->code[pc];
        const rvm_place *q = rvm__places(e->f, in);
        if (in->op == RVM_OP_undo) { /* what a region within made appear is gone already */
            pc = in->target;
            continue;
        }
        if (in->op == RVM_OP_let && q->kind == RVM_PLACE_SLOT) rvm__gone(e, q->slot);
        const bool array = in->op == RVM_OP_new || in->op == RVM_OP_like || in->op == RVM_OP_view;
        if (!array || !stays(e, pc, end)) continue;
        if (in->op == RVM_OP_view)
            rvm__array_gone(e, q->slot);
        else
            rvm__drop_array(e, q->slot);
    }
}

void rvm__forget_places_of(rvm__emit *e, uint32_t compute) {
    rvm__build *k = e->k;
    uint16_t *room = rvm__unit_alloc(e->u, rvm__made_most(e->f) * sizeof *room);
    if (!room) return;
    const rvm__made made = rvm__made_find(e->f, compute, room);
    LLVMValueRef n = rvm__build_int(k, made.nregs);
    for (uint32_t a = 0; a < made.narrays; a++) {
        if (rvm__view_at(e, made.arrays[a], e->f->code[compute].target)) continue; /* only its name goes */
        LLVMValueRef all = rvm__build_int(k, 1);
        for (int d = 0; d < e->f->arrays[made.arrays[a]].ndim; d++)
            all = LLVMBuildMul(k->b, all, rvm__dimension(e, made.arrays[a], d), "");
        n = LLVMBuildAdd(k->b, n, all, "");
    }
    rvm__count_erased(e, RVM__ERASED_PLACES, LLVMBuildMul(k->b, n, rvm__build_int(k, 64), ""));
    rvm__forget_locals(e, compute);
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
    if (!e->u->liveness || rvm__liveness_at(e->u->liveness, e->fn, e->dir < 0, e->control.pc, down) != RVM__DEAD)
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
