/* plan.c: what a parallel block uses of its surroundings, and whether who runs its instances elsewhere may: threads
 * (chunk.c), a device (kernel.c). */
#include "emit.h"
#include "accesses.h"
#include "analysis.h"
#include "plan.h"
#include "walk.h"

/* Arrays that appear in the body. */
static void find_inner(const rvm__emit *e, uint32_t par, uint8_t *inner) {
    RVM__EACH_INSN_IN(x, e->f, par + 1, e->f->code[par].target)
        if (rvm__op_names_array((rvm_op)x.in->op)) inner[x.q->slot] = 1;
}

static void use_array(const rvm__emit *e, rvm__plan *p, const uint8_t *inner, const rvm_place *q, unsigned bits) {
    const uint16_t array = q->slot, base = rvm__root_of(e->f, q);
    if (inner[base]) return;
    p->bits[base] |= bits | RVM__TOUCHED;
    p->base[base] = base;
    if (inner[array]) return;
    p->bits[array] |= RVM__TOUCHED;
    p->base[array] = base;
}

static void use_places(const rvm__emit *e, rvm__plan *p, const uint8_t *inner, uint32_t pc) {
    const bool meets = e->f->code[pc].facts & RVM_FACT_SUMS && rvm__pair_of(e->f->code[pc].op) != RVM_PAIR_par;
    RVM__EACH_ACCESS(a, e->u->p, e->f, &e->f->code[pc])
        if (a.array && !a.toggles) use_array(e, p, inner, a.q, a.bits | (meets && a.bits == RVM__BITS_ACC ? RVM__MEETS : 0));
}

static bool is_guarded(const rvm__emit *e, uint32_t pc) {
    return e->code->x[pc].flags & X_GUARD || (e->f->code[pc].facts & RVM_FACT_GUARD && !e->u->w->trust);
}

static void refuse(rvm__plan *p, const char *why) { /* the first reason counts */
    if (!p->why) p->why = why;
}

static void use_body(const rvm__emit *e, rvm__plan *p, const uint8_t *inner) {
    const uint32_t first = p->par + 1, end = e->f->code[p->par].target;
    p->work = 1 + rvm__work_between(e->u, e->fn, first, end);
    p->load = 1 + rvm__load_between(e->u, e->fn, first, end);
    RVM__EACH_INSN_IN(x, e->f, first, end) {
        const enum rvm__trail_use use = rvm__trail_use(e, x.pc);
        use_places(e, p, inner, x.pc);
        if (use == RVM__TRAIL_KEPT) refuse(p, "what it overwrites is kept on a trail");
        if (use == RVM__TRAIL_LOST && rvm__is_forgotten(e, x.pc)) refuse(p, "what it overwrites is forgotten");
        if (use == RVM__TRAIL_LOST) p->lost = true;
        if (rvm__pair_of(x.in->op) == RVM_PAIR_par && is_guarded(e, x.pc))
            refuse(p, "roles in a block within are only known while it runs");
        RVM__EACH_CALLEE(g, e->u->p, x.in)
            if (e->u->summaries[g].recursive) refuse(p, "it calls what is recursive");
    }
}

/* Arrays, with all that is part of them, to whose elements instances add chunk by chunk. */
static void find_summed(const rvm__emit *e, rvm__plan *p) {
    const rvm__xinsn *x = &e->code->x[p->par];
    const rvm__summing *s = e->code->summed + (x->to.step | (uint32_t)x->to.last << 16);
    for (uint32_t k = 0; k < x->to.c; k++) p->bits[p->base[s[k].of.array]] |= RVM__SUMMED;
}

/* Whether no other array that instances add into may overlap it. */
static bool is_alone(const rvm__emit *e, const rvm__plan *p, uint32_t array) {
    for (uint32_t k = 0; !e->apart && k < e->f->narrays; k++)
        if (k != array && (p->bits[k] & RVM__BITS_OWN) == RVM__BITS_ACC) return false;
    return true;
}

/* Whether each instance has a part of the array for itself. */
static bool find_own(const rvm__emit *e, const rvm__plan *p, uint32_t array) {
    for (uint32_t k = 0; k < e->f->nparams && e->apart; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array)
            return rvm__own_parts_of(e->u->p, e->f, k, p->par, &p->own[array]);
    return false;
}

/* Whether the block begins with nothing there, and instances that it did not get to count as that again. */
static bool is_fresh(const rvm__emit *e, const rvm__plan *p, uint32_t array) {
    return e->fresh && e->u->fresh[array].block.par == p->par && e->control.context && e->control.context->dir > 0;
}

static bool is_changed(const rvm__plan *p, uint32_t array) {
    return (p->bits[array] & RVM__BITS_OWN) > RVM__BITS_READ && !(p->bits[array] & RVM__COPIED);
}

/* Arrays that instances change in place: what is discarded cannot be taken back, but what is kept before. */
static void keep_changed(const rvm__emit *e, rvm__plan *p) {
    bool all = true;
    for (uint32_t k = 0; k < e->f->narrays; k++) all &= !is_changed(p, k) || find_own(e, p, k);
    if (!all) p->serial = "it could not be taken back: what it overwrites is discarded";
    for (uint32_t k = 0; k < e->f->narrays && all; k++)
        if (is_changed(p, k) && !is_fresh(e, p, k)) p->bits[k] |= RVM__SAVED;
    p->undone = !all;
}

/* What becomes of arrays that are changed. */
static void use_arrays(const rvm__emit *e, rvm__plan *p) {
    const bool sums = e->f->code[p->par].facts & RVM_FACT_SUMS || !e->apart;
    find_summed(e, p);
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        const unsigned bits = p->bits[k] & RVM__BITS_OWN;
        if (bits == RVM__BITS_READ) p->bits[k] |= RVM__SHARED_READ;
        p->meets |= p->bits[k] & RVM__MEETS && bits == RVM__BITS_OWN;
        if (bits != RVM__BITS_ACC || !sums || (!(p->bits[k] & RVM__SUMMED) && find_own(e, p, k))) {
            p->undone |= bits > RVM__BITS_READ;
            continue;
        }
        p->bits[k] |= RVM__COPIED;
        if (e->k->fast || e->f->arrays[k].type == RVM_I64) continue;
        if (!(p->bits[k] & RVM__SUMMED))
            p->serial = "its instances add into elements that depend on the instance, in their order unless math is fast";
        else if (!is_alone(e, p, k))
            p->serial = "its instances add into arrays that may overlap, in their order unless math is fast";
    }
    if (p->undone && p->lost) keep_changed(e, p);
}

static void list_used(const rvm__emit *e, rvm__plan *p) {
    uint8_t *bits = rvm__unit_alloc(e->u, e->f->nregs + 1);
    p->regs = rvm__unit_alloc(e->u, (e->f->nregs + 1) * sizeof *p->regs);
    p->arrays = rvm__unit_alloc(e->u, (e->f->narrays + 1) * sizeof *p->arrays);
    if (!bits || !p->regs || !p->arrays) return;
    rvm__block_registers(e->u->p, e->f, p->par, bits);
    const rvm_place *q = rvm__places(e->f, &e->f->code[p->par]);
    for (int k = 1; k < 3; k++)
        if (q[k].slot < e->f->nregs) bits[q[k].slot] = RVM__BITS_READ;
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (bits[k] == RVM__BITS_READ) p->regs[p->nregs++] = (uint16_t)k;
    for (uint32_t k = 0; k < e->f->narrays; k++)
        if (p->bits[k]) p->arrays[p->narrays++] = (uint16_t)k;
}

/* Of the block with an end at pc; NULL: out of memory, noted. */
const rvm__plan *rvm__plan_of(const rvm__emit *e, uint32_t pc) {
    const uint32_t other = e->f->code[pc].target;
    rvm__plan *p = rvm__unit_alloc(e->u, sizeof *p);
    uint8_t *inner = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!p || !inner) return NULL;
    p->bits = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    p->base = rvm__unit_alloc(e->u, (e->f->narrays + 1u) * sizeof *p->base);
    p->own = rvm__unit_alloc(e->u, (e->f->narrays + 1u) * sizeof *p->own);
    if (!p->bits || !p->base || !p->own) return NULL;
    p->par = pc < other ? pc : other;
    p->guarded = e->code->x[p->par].flags & X_GUARD;
    if (!p->guarded && is_guarded(e, p->par)) refuse(p, "roles in it are not proved");
    find_inner(e, p->par, inner);
    use_body(e, p, inner);
    p->serial = p->why;
    use_arrays(e, p);
    list_used(e, p);
    return e->u->status ? NULL : p;
}

uint32_t rvm__plan_index(const rvm__plan *p, uint16_t array) {
    uint32_t k = 0;
    while (p->arrays[k] != array) k++;
    return k;
}
