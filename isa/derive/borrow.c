/* borrow.c: in exact runs, the shadows of what a compute part borrows (docs/semantics.md, section 5).
 *
 * Before and behind the part they are the same, so they need not go through it, where rounding would grow. The part runs
 * again without them: an instruction that would change a shadow sets it aside, onto a trail of the segment that the part
 * has, and leaves 0. The part's adjoint goes the same way back, and adds behind each instruction what was set aside there.
 * All but the first that changes a place find 0, which is a bit.
 *
 *     C again:  drop y_b ; y += f     C's adjoint:  (that of y += f) ; t <- 0 ; swap y_b, t ; undrop y_b ; y_b += t ; shed t
 *
 * What only moves or changes a sign takes its shadow along, which loses nothing. What several instances or arguments add to
 * has one shadow for all, which only whoever is around may set aside: of a scalar that is passed to be added to, the call;
 * of a register that a block adds to, the block. Of elements that instances may add to together nobody can.
 *
 * A parameter that the function only adds to has a shadow that no part of it changes: what a part's run again gained from it
 * its adjoint would take back. So neither gains, and calls are lent a shadow of 0, but for whole arrays.
 */
#include "derive.h"
#include "accesses.h"

#include <string.h>

enum { CALLERS = UINT32_MAX };

void rvm__borrow_refuse(rvm__derive *t, const char *what) {
    if (t->status) return;
    t->status =
        rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                     "in exact runs a program does not go through the adjoint of a compute part that borrows what %s: "
                     "its shadow cannot be set aside; let the part change a copy",
                     what);
}

static bool is_floating(const rvm__derive *t, const rvm_place *q) {
    return rvm__is_floating(rvm__place_type(rvm__source(t), q));
}

/* ---- onto the trail and back ---- */

static rvm_place site_of(rvm__derive *t, rvm_type type) {
    if (!t->p->aside[type]) t->p->aside[type] = 1 + (*t->next_site)++;
    return rvm__integer_place(t, t->p->aside[type] - 1);
}

/* As the shadow, of this level, of a value that is 0: so that one of 0 is a flag, which takes a bit (trail.h). */
static void move(rvm__derive *t, rvm_op op, rvm_type type, rvm_place shadow) {
    const int position = 1 << (t->level - 1);
    const rvm_place value = rvm__temp(t, RVM_I64), zero = rvm__integer_place(t, 0);
    if (position >= RVM_MAX_ENTRY) {
        rvm__entry_too_deep(t);
        return;
    }
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, RVM_FLAG_UNCHECKED, value, zero);
    RVM__ADD(t, op, 0, 0, rvm__integer_place(t, t->level - 1), site_of(t, type),
             rvm__integer_place(t, 1 | INT64_C(1) << position), value, shadow);
    RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, RVM_FLAG_UNCHECKED, value, zero);
    rvm__temp_free(t, value);
}

static rvm_type type_of(const rvm__derive *t, const rvm_place *shadow) {
    if (t->status) return RVM_F64;
    return (rvm_type)(shadow->kind == RVM_PLACE_SLOT ? t->g.reg_type[shadow->slot] : t->g.arrays[shadow->slot].type);
}

void rvm__set_aside(rvm__derive *t, rvm_place shadow) {
    move(t, RVM_OP_drop, type_of(t, &shadow), shadow);
}

void rvm__add_again(rvm__derive *t, rvm_place shadow) {
    const rvm_type type = type_of(t, &shadow);
    const rvm_place sum = rvm__temp(t, type);
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, sum, rvm__const_place(t, type, 0));
    RVM__ADD(t, RVM_OP_swap, 0, 0, shadow, sum);
    move(t, RVM_OP_undrop, type, shadow);
    RVM__ADD(t, RVM_OP_add, RVM_ROW_id, 0, shadow, sum);
    rvm__discard(t, RVM_OP_shed, sum);
    rvm__temp_free(t, sum);
}

/* ---- who does so ---- */

static bool is_added_to(const rvm_function *f, bool array, uint16_t slot) { /* a parameter */
    for (uint32_t k = 0; k < f->nparams; k++)
        if ((f->params[k].ndim > 0) == array && f->params[k].index == slot) return f->params[k].role == RVM_ACC;
    return false;
}

/* Whether callers set the register's shadow aside, outside of parts of the function itself. */
static bool callers_have(const rvm__derive *t, uint16_t slot) {
    return !t->part && is_added_to(rvm__source(t), false, slot);
}

bool rvm__shadow_stays(const rvm__derive *t, const rvm_place *q) {
    const rvm_function *f = rvm__source(t);
    if (!t->borrowing || !t->part || !is_floating(t, q)) return false;
    if (q->kind == RVM_PLACE_ELEM) return is_added_to(f, true, rvm__root_of(f, q));
    return q->kind == RVM_PLACE_SLOT && is_added_to(f, false, q->slot);
}

/* The block that has the register as an accumulator, + 1, in whichever part it began; or the caller; or 0. */
static uint32_t holder(const rvm__derive *t, const rvm_place *q) {
    if (q->kind != RVM_PLACE_SLOT || q->slot >= rvm__source(t)->nregs) return 0;
    if (t->around[q->slot]) return t->around[q->slot];
    return callers_have(t, q->slot) ? CALLERS : 0;
}

bool rvm__is_aside(const rvm__derive *t, const rvm_place *q) {
    const uint32_t by = t->borrowing && is_floating(t, q) ? holder(t, q) : 0;
    return by && (by == CALLERS || t->part_of[q->slot] == t->part);
}

static bool appears_in(const rvm__derive *t, uint16_t array, uint32_t lo, uint32_t hi) {
    RVM__EACH_INSN_IN(x, rvm__source(t), lo, hi)
        RVM__EACH_ACCESS(a, t->p, rvm__source(t), x.in)
            if (a.appears && a.array && a.q->slot == array) return true;
    return false;
}

/* Whether instances of the block at par only add to the array; else the verifier has marked those that may add together. */
static bool only_gains(const rvm__derive *t, uint16_t array, uint32_t par) {
    const rvm_function *f = rvm__source(t);
    RVM__EACH_INSN_IN(x, f, par + 1, f->code[par].target)
        RVM__EACH_ACCESS(a, t->p, f, x.in)
            if (a.array && !a.toggles && a.bits && a.bits != RVM__BITS_ACC && rvm__root_of(f, a.q) == array) return false;
    return true;
}

/* Whether it is of an array around a block that is open, whose instances may add together. */
static bool may_be_shared(const rvm__derive *t, const rvm_place *q) {
    const rvm_function *f = rvm__source(t);
    if (!t->sums || (q->kind != RVM_PLACE_ELEM && q->kind != RVM_PLACE_ARRAY)) return false;
    RVM__EACH_INSN_IN(x, f, 0, t->pc) {
        const bool open = x.in->op == RVM_OP_par && x.in->target > t->pc && x.in->facts & RVM_FACT_SUMS;
        const uint16_t root = rvm__root_of(f, q);
        if (!open || appears_in(t, root, x.pc, x.in->target)) continue;
        if (f->code[t->pc].facts & RVM_FACT_SUMS || only_gains(t, root, x.pc)) return true;
    }
    return false;
}

bool rvm__sets_aside(rvm__derive *t, const rvm_insn *in) {
    const rvm_place *q = rvm__places(rvm__source(t), in);
    const rvm_op op = (rvm_op)in->op;
    if (!t->borrowing || !rvm__op_is_recorded(op)) return false;
    if (!rvm__op_is_update(op)) {
        const rvm_change_info *info = &rvm__change_info[rvm__change_of(op)];
        return info->exact == RVM_EXACTLY_WHOLE && is_floating(t, q + info->conditional);
    }
    if (!is_floating(t, q)) return false;
    if (rvm__pair_of(op) == RVM_PAIR_add && may_be_shared(t, q))
        rvm__borrow_refuse(t, "instances of a parallel block may add to together");
    return !holder(t, q);
}

/* ---- calls ---- */

/* Whether argument k is a scalar that the callee only adds to, or, being a function value, may change. */
static bool is_set_aside(const rvm__derive *t, const rvm_insn *in, const uint8_t *active, uint32_t k) {
    const rvm_place *q = rvm__places(rvm__source(t), in) + k;
    const rvm_callee callee = rvm__callee_of(t->p, in);
    if (k < callee.first || !active[k] || !rvm__active(t, q) || q->kind == RVM_PLACE_ARRAY) return false;
    if (rvm__shadow_stays(t, q)) return false;
    const uint8_t role = callee.params[k - callee.first].role;
    const bool by_value = rvm__op_target((rvm_op)in->op) == 'S';
    return (role == RVM_ACC || (by_value && role == RVM_OWN)) && is_floating(t, q) && !rvm__is_aside(t, q);
}

static void check_call(rvm__derive *t, const rvm_insn *in, const uint8_t *active) {
    const rvm_function *f = rvm__source(t);
    const rvm_place *q = rvm__places(f, in);
    const rvm_callee callee = rvm__callee_of(t->p, in);
    bool any = false;
    for (uint32_t k = callee.first; k < in->nplaces; k++) {
        if (!active[k]) continue;
        any = true;
        if (callee.params[k - callee.first].role != RVM_ACC || rvm__shadow_stays(t, q + k)) continue;
        if (may_be_shared(t, q + k) || (q[k].kind == RVM_PLACE_SLOT && holder(t, q + k) && !rvm__is_aside(t, q + k)))
            rvm__borrow_refuse(t, "instances of a parallel block may add to together");
        for (uint32_t j = callee.first; j < k && q[k].kind == RVM_PLACE_ARRAY; j++)
            if (active[j] && q[j].kind == RVM_PLACE_ARRAY && rvm__root_of(f, q + j) == rvm__root_of(f, q + k))
                rvm__borrow_refuse(t, "one call may add to by several arguments");
    }
    if (any && rvm__op_target((rvm_op)in->op) == 'F' && rvm__rule_find(t->p, in->target, RVM_ADJOINT, active))
        rvm__borrow_refuse(t, "a function changes whose adjoint is written by hand");
}

static void before_call(rvm__derive *t, const rvm_insn *in, const uint8_t *active) {
    check_call(t, in, active);
    for (uint32_t k = 0; k < in->nplaces && t->borrowing == RVM__SETS_ASIDE; k++)
        if (is_set_aside(t, in, active, k)) rvm__set_aside(t, rvm__shadow_place(t, rvm__places(rvm__source(t), in) + k));
}

static void behind_call(rvm__derive *t, const rvm_insn *in, const uint8_t *active) {
    for (uint32_t k = in->nplaces; k-- > 0 && t->borrowing == RVM__ADDS_AGAIN;)
        if (is_set_aside(t, in, active, k)) rvm__add_again(t, rvm__shadow_place(t, rvm__places(rvm__source(t), in) + k));
}

/* ---- blocks ---- */

static rvm_place shadow_of(rvm__derive *t, uint32_t reg) {
    return rvm__shadow_place(t, &(rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)reg});
}

/* At the end by which the walk comes in. */
static void open_block(rvm__derive *t, uint32_t par) {
    const rvm_function *f = rvm__source(t);
    uint8_t *bits = rvm__zone_make(&t->memory, f->nregs, 1);
    if (!bits) {
        rvm__derive_fail(t, RVM_ERR_MEMORY);
        return;
    }
    rvm__block_registers(t->p, f, par, bits);
    RVM__EACH_INSN_IN(x, f, par, f->code[par].target)
        RVM__EACH_CHANGE(a, t->p, f, x.in) {
            if (!a.reg || bits[a.q->slot] != RVM__BITS_ACC || t->around[a.q->slot]) continue;
            if (!rvm__active(t, a.q) || !is_floating(t, a.q)) continue;
            if (rvm__shadow_stays(t, a.q) || rvm__is_aside(t, a.q)) continue;
            t->around[a.q->slot] = par + 1;
            t->part_of[a.q->slot] = t->part;
        }
    for (uint32_t k = 0; k < f->nregs && t->borrowing == RVM__SETS_ASIDE; k++)
        if (t->around[k] == par + 1) rvm__set_aside(t, shadow_of(t, k));
    t->sums += (f->code[par].facts & RVM_FACT_SUMS) != 0;
}

/* In the other order. */
static void close_block(rvm__derive *t, uint32_t par) {
    const rvm_function *f = rvm__source(t);
    t->sums -= (f->code[par].facts & RVM_FACT_SUMS) != 0;
    for (uint32_t k = f->nregs; k-- > 0;) {
        if (t->around[k] != par + 1) continue;
        t->around[k] = 0;
        if (t->borrowing == RVM__ADDS_AGAIN) rvm__add_again(t, shadow_of(t, k));
    }
}

static bool opens(const rvm__derive *t, const rvm_insn *in) {
    return (in->op == RVM_OP_par) == (t->step > 0);
}

void rvm__borrow_before(rvm__derive *t, const rvm_insn *in, const uint8_t *active) {
    if (t->kind != RVM_ADJOINT || !t->p->exact || t->status) return;
    if (rvm__is_call(in) && t->borrowing) before_call(t, in, active);
    if (rvm__pair_of(in->op) == RVM_PAIR_par && opens(t, in)) open_block(t, in->op == RVM_OP_par ? t->pc : in->target);
}

void rvm__borrow_behind(rvm__derive *t, const rvm_insn *in, const uint8_t *active) {
    if (t->kind != RVM_ADJOINT || !t->p->exact || t->status) return;
    if (rvm__is_call(in) && t->borrowing) behind_call(t, in, active);
    if (rvm__pair_of(in->op) == RVM_PAIR_par && !opens(t, in)) close_block(t, in->op == RVM_OP_par ? t->pc : in->target);
}
