/* guarding.c: blocks of a function that enforce roles while they run (guard.c), and whether they can be looked through
 * before they do (inspector.c): of straight text, where registers of the surroundings, constants and arrays that the block
 * only reads say which elements an instance uses. */
#include "emit.h"
#include "accesses.h"
#include "guarding.h"
#include "plan.h"

/* ---- blocks ---- */

bool rvm__is_asked(const rvm__plan *p, uint16_t root) {
    const unsigned bits = p->bits[root] & RVM__BITS_OWN;
    return p->bits[root] & RVM__TOUCHED && bits != RVM__BITS_READ && bits != RVM__BITS_ACC;
}

bool rvm__enforces(const rvm__emit *e, uint32_t pc) {
    const bool of_chunk = e->block.chunk && (pc == e->block.chunk || e->f->code[pc].target == e->block.chunk);
    return e->code->x[pc].flags & X_GUARD && !of_chunk;
}

bool rvm__find_guards(rvm__emit *e) {
    unsigned n = 0;
    RVM__EACH_INSN(x, e->f) {
        if (n == UINT8_MAX) return true; /* a site counts so many */
        if (x.in->op != RVM_OP_par || !rvm__enforces(e, x.pc)) continue;
        const rvm__plan *p = rvm__plan_of(e, x.pc);
        rvm__guarding *g = rvm__unit_alloc(e->u, sizeof *g);
        if (!p || !g) return false;
        n++;
        *g = (rvm__guarding){.par = x.pc, .plan = p, .next = e->block.guards};
        e->block.guards = g;
    }
    return true;
}

rvm__guarding *rvm__guarding_at(const rvm__emit *e, uint32_t pc) {
    rvm__guarding *g = e->block.guards;
    while (g && g->par != pc && e->f->code[g->par].target != pc) g = g->next;
    return g;
}

/* ---- whether it can be ---- */

static bool is_straight(const rvm__emit *e, const rvm__guarding *g) {
    RVM__EACH_INSN_IN(x, e->f, g->par + 1, e->f->code[g->par].target) {
        const rvm_class c = rvm__class_of((rvm_op)x.in->op);
        if (c != RVM_CLASS_UPDATE && c != RVM_CLASS_IN_PLACE && x.in->op != RVM_OP_assert) return false;
        if (rvm__is_foreign(x.in)) return false;
    }
    return true;
}

bool rvm__asks_for(const rvm__emit *e, const rvm__guarding *g, const rvm__accesses *a) {
    return rvm__is_guarded_access(a) && rvm__is_asked(g->plan, rvm__root_of(e->f, a->q));
}

/* Indices of the place are needed; whether one was not yet. */
static bool need_indices(const rvm__emit *e, const rvm_place *q, uint8_t *needed) {
    bool more = false;
    for (uint32_t k = 0; k < rvm__nindices(q); k++) {
        if (q->idx[k] >= e->f->nregs || needed[q->idx[k]]) continue;
        needed[q->idx[k]] = more = true;
    }
    return more;
}

static bool need_operand(const rvm__emit *e, const rvm_place *q, uint8_t *needed) {
    if (q->kind != RVM_PLACE_SLOT) return need_indices(e, q, needed);
    if (q->slot >= e->f->nregs || needed[q->slot]) return false;
    needed[q->slot] = true;
    return true;
}

bool rvm__is_to_needed(const rvm__emit *e, const rvm_insn *in, const uint8_t *needed) {
    const rvm_place *q = rvm__places(e->f, in);
    return rvm__class_of((rvm_op)in->op) == RVM_CLASS_UPDATE && q->kind == RVM_PLACE_SLOT && q->slot < e->f->nregs &&
           needed[q->slot];
}

/* Registers, by number, that say which elements are used, and those that these come from. */
static void find_needed(const rvm__emit *e, const rvm__guarding *g, uint8_t *needed) {
    const uint32_t end = e->f->code[g->par].target;
    RVM__EACH_INSN_IN(x, e->f, g->par + 1, end)
        RVM__EACH_ACCESS(a, e->u->p, e->f, x.in)
            if (rvm__asks_for(e, g, &a)) need_indices(e, a.q, needed);
    for (bool more = true; more;) {
        more = false;
        RVM__EACH_INSN_IN(x, e->f, g->par + 1, end)
            for (unsigned k = 1; rvm__is_to_needed(e, x.in, needed) && k < x.in->nplaces; k++)
                more |= need_operand(e, &x.q[k], needed);
    }
}

static bool are_known(const rvm__emit *e, const rvm_place *q, const uint8_t *known) {
    for (uint32_t k = 0; k < rvm__nindices(q); k++)
        if (q->idx[k] < e->f->nregs && !known[q->idx[k]]) return false;
    return true;
}

/* Its value is what it was before the block, or follows from what is known. */
static bool is_known(const rvm__emit *e, const rvm__guarding *g, const rvm_place *q, const uint8_t *known) {
    if (q->kind == RVM_PLACE_SLOT) return q->slot >= e->f->nregs || known[q->slot];
    if (q->kind != RVM_PLACE_ELEM) return false;
    return (g->plan->bits[rvm__root_of(e->f, q)] & RVM__BITS_OWN) == RVM__BITS_READ && are_known(e, q, known);
}

/* Registers are what the instruction leaves. */
static void pass(const rvm__emit *e, const rvm__guarding *g, const rvm_insn *in, uint8_t *known) {
    const rvm_place *q = rvm__places(e->f, in);
    const rvm_op op = rvm__op_now(e, in);
    bool follows = rvm__class_of(op) == RVM_CLASS_UPDATE && !rvm__op_sets(op) && op != RVM_OP_unlet &&
                   q->kind == RVM_PLACE_SLOT && q->slot < e->f->nregs && (op == RVM_OP_let || known[q->slot]);
    for (unsigned k = 1; follows && k < in->nplaces; k++) follows = is_known(e, g, &q[k], known);
    RVM__EACH_CHANGE(a, e->u->p, e->f, in)
        if (a.reg && (a.toggles || a.bits & RVM__BITS_ACC)) known[a.q->slot] = follows;
}

static bool is_plain(const rvm__emit *e, const rvm__accesses *a, const uint8_t *known) {
    return a->q->kind == RVM_PLACE_ELEM && a->q->slot == rvm__root_of(e->f, a->q) && are_known(e, a->q, known);
}

static bool may_inspect(rvm__emit *e, const rvm__guarding *g, uint8_t *needed) {
    uint8_t *known = rvm__unit_alloc(e->u, e->f->nregs + 1u);
    if (!known || !is_straight(e, g)) return false;
    find_needed(e, g, needed);
    rvm__block_registers(e->u->p, e->f, g->par, known);
    for (uint32_t k = 0; k < e->f->nregs; k++) known[k] = known[k] == RVM__BITS_READ;
    known[e->code->x[g->par].to.i] = true;
    RVM__EACH_NOW(e, g, pc) {
        RVM__EACH_ACCESS(a, e->u->p, e->f, &e->f->code[pc])
            if (rvm__asks_for(e, g, &a) && !is_plain(e, &a, known)) return false;
        pass(e, g, &e->f->code[pc], known);
    }
    return true;
}

bool rvm__is_inspected(rvm__emit *e, uint32_t pc) {
    rvm__guarding *g = rvm__guarding_at(e, pc);
    if (!g || !e->u->w->lanes || e->u->w->lines || e->u->w->exact) return false;
    rvm__inspection *i = &g->inspection[rvm__dir_of(e) > 0];
    if (!i->known) {
        i->needed = rvm__unit_alloc(e->u, e->f->nregs + 1u);
        i->may = i->needed && may_inspect(e, g, i->needed);
        i->known = true;
    }
    return i->may;
}
