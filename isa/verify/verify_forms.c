/* verify_forms.c: what is known of registers and views in the body of a parallel block, as functions of the instance.
 *
 * The body is read once, in the order of the text. A register is known from its `let` on, if nothing changes it in place.
 * Where paths join, or a loop begins, what appears on the other path, or in the loop, is forgotten. An instance that runs
 * backward takes values from `unlet` instead, but must then agree with `let`.
 *
 * Strides and offsets are kept small, so that their sums are exact, and so that stride * i does not come around to the same
 * element within any number of instances that a run can have.
 */
#include "verify_forms.h"
#include "program.h"
#include <string.h>

enum { MAX_STRIDE = 1 << 20, WORK = 64 };
#define MAX_OFFSET (INT64_C(1) << 40)

static const rvm__form unknown = {.base = RVM__NO_BASE};

static rvm__form line(uint16_t base, int64_t stride, int64_t lo, int64_t hi) {
    bool small = stride <= MAX_STRIDE && stride >= -MAX_STRIDE && lo >= -MAX_OFFSET && hi <= MAX_OFFSET;
    if (!small || lo > hi) return unknown;
    return (rvm__form){.known = true, .base = base, .stride = stride, .lo = lo, .hi = hi};
}

static rvm__form constant(int64_t c) {
    if (c > MAX_OFFSET || c < -MAX_OFFSET) return unknown;
    return (rvm__form){.known = true, .base = RVM__NO_BASE, .lo = c, .hi = c};
}

/* ---- sums and products ---- */

static bool is_number(rvm__form f) {
    return f.known && !f.stride && f.base == RVM__NO_BASE && f.lo == f.hi;
}

static rvm__form sum(rvm__form a, rvm__form b) {
    if (is_number(a) && !a.lo) return b;
    if (!a.known || !b.known || (a.base != RVM__NO_BASE && b.base != RVM__NO_BASE)) return unknown;
    uint16_t base = a.base != RVM__NO_BASE ? a.base : b.base;
    return line(base, a.stride + b.stride, a.lo + b.lo, a.hi + b.hi);
}

static rvm__form times(rvm__form a, int64_t c) {
    if (!a.known || a.base != RVM__NO_BASE || c > MAX_STRIDE || c < -MAX_STRIDE) return unknown;
    int64_t lo = (c < 0 ? a.hi : a.lo), hi = (c < 0 ? a.lo : a.hi);
    return line(a.base, a.stride * c, lo * c, hi * c);
}

static rvm__form difference(rvm__form a, rvm__form b) {
    if (a.known && b.known && a.base == b.base) a.base = b.base = RVM__NO_BASE;
    return sum(a, times(b, -1));
}

/* Of one number by what is the same in all instances. */
static rvm__form half(rvm__form a, rvm__form by, enum rvm__half half) {
    if (!a.known || !by.known || a.lo != a.hi || by.stride || by.lo != by.hi) return unknown;
    a.known = false;
    a.half = (uint8_t)half, a.by_base = by.base, a.by = by.lo;
    return a;
}

/* From lo up to, not including, hi: the values of a loop's index, or of a range. */
static rvm__form between(rvm__form lo, rvm__form hi) {
    if (!lo.known || !hi.known || lo.stride != hi.stride || lo.base != hi.base) return unknown;
    return line(lo.base, lo.stride, lo.lo, hi.hi - 1);
}

/* ---- registers ---- */

static rvm__form value_of(const rvm__forms *w, uint16_t slot) {
    const rvm_function *f = w->v->f;
    if (rvm__is_const(f, slot)) return constant(rvm__const_value(f, slot).i);
    if (slot == rvm__places(f, f->code + w->par)[0].slot)
        return (rvm__form){.known = true, .base = RVM__NO_BASE, .stride = 1};
    if (rvm__is_outer(w, false, slot)) return (rvm__form){.known = true, .base = slot};
    return w->known[slot] == w->block ? w->value[slot] : unknown;
}

static void know(rvm__forms *w, uint16_t slot, rvm__form f) {
    w->value[slot] = f;
    w->known[slot] = (f.known || f.half) && w->varies[slot] != w->block ? w->block : 0;
}

static rvm__form result(const rvm__forms *w, const rvm_insn *in, const rvm_place *q) {
    rvm__form a, b = unknown;
    for (int k = 1; k < in->nplaces; k++)
        if (q[k].kind != RVM_PLACE_SLOT || rvm__slot_type(w->v->f, q[k].slot) != RVM_I64) return unknown;
    a = value_of(w, q[1].slot);
    if (rvm__row_info[in->row].arity > 1) b = value_of(w, q[2].slot);
    switch (in->row) {
    case RVM_ROW_id: return a;
    case RVM_ROW_add: return sum(a, b);
    case RVM_ROW_sub: return difference(a, b);
    case RVM_ROW_neg: return times(a, -1);
    case RVM_ROW_idiv: return half(a, b, RVM__QUOTIENT);
    case RVM_ROW_irem: return half(a, b, RVM__REMAINDER);
    case RVM_ROW_mul: return is_number(a) ? times(b, a.lo) : is_number(b) ? times(a, b.lo) : unknown;
    }
    return unknown;
}

/* ---- views ---- */

static rvm__parts parts_of(const rvm__forms *w, uint16_t array, uint16_t root) {
    rvm__parts p = {.known = w->block};
    if (array == root) {
        for (int d = 0; d < RVM_MAX_DIMS; d++) p.of[d] = (rvm__part){constant(0), unknown, (int8_t)d};
        return p;
    }
    if (w->parts[array].known == w->block) return w->parts[array];
    for (int d = 0; d < RVM_MAX_DIMS; d++) p.of[d] = (rvm__part){unknown, unknown, -1};
    return p;
}

static void pass_view(rvm__forms *w, const rvm_insn *in, const rvm_place *q, uint16_t root) {
    rvm__parts p = parts_of(w, q[1].slot, root);
    int8_t to[RVM_MAX_DIMS], kept = 0; /* by dimension of the viewed array: that of the view */
    for (int k = 0; k < w->v->f->arrays[q[1].slot].ndim; k++)
        to[k] = k + 2 < in->nplaces && q[k + 2].kind == RVM_PLACE_SLOT ? -1 : kept++;
    for (int d = 0; d < w->v->f->arrays[root].ndim; d++) {
        rvm__part *part = p.of + d;
        int k = part->dim;
        if (k < 0) continue;
        part->dim = to[k];
        if (k + 2 >= in->nplaces) continue; /* stays whole */
        const rvm_place *sub = q + k + 2;
        rvm__form from = value_of(w, sub->slot), all = from;
        if (sub->kind == RVM_PLACE_RANGE) all = between(from, value_of(w, sub->idx[0]));
        part->all = sum(part->from, all);
        part->from = sum(part->from, from);
    }
    w->parts[q[0].slot] = p;
}

void rvm__forms_of(const rvm__forms *w, const rvm_place *q, uint16_t root, rvm__form of[RVM_MAX_DIMS]) {
    rvm__parts p = parts_of(w, q->slot, root);
    for (int d = 0; d < w->v->f->arrays[root].ndim; d++) {
        const rvm__part *part = p.of + d;
        of[d] = part->dim < 0 ? part->from : part->all;
        if (part->dim >= 0 && q->kind == RVM_PLACE_ELEM) of[d] = sum(part->from, value_of(w, q->idx[part->dim]));
    }
}

/* ---- the body ---- */

static void forget(rvm__forms *w, const rvm_place *q) {
    if (q->kind == RVM_PLACE_SLOT)
        w->known[q->slot] = 0;
    else
        w->parts[q->slot].known = 0;
}

/* What appears or disappears. */
static void forget_toggled(rvm__forms *w, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, w->v->p, w->v->f, in)
        if (a.toggles) forget(w, a.q);
}

/* Forget what appears between two instructions. */
static void forget_between(rvm__forms *w, uint32_t from, uint32_t to) {
    const rvm_function *f = w->v->f;
    if (from > to) {
        forget_between(w, to, from);
        return;
    }
    RVM__EACH_INSN_IN(x, f, from + 1, to) forget_toggled(w, x.in);
    w->work -= to - from < w->work ? to - from : w->work;
    if (w->work) return;
    memset(w->known, 0, w->v->max_regs * sizeof *w->known);
    for (uint32_t k = 0; k < f->narrays; k++) w->parts[k].known = 0;
}

static void pass_loop(rvm__forms *w, uint32_t pc, const rvm_insn *in, const rvm_place *q) {
    forget_between(w, pc, in->target);
    if (rvm__is_inverse(in->op)) return;
    rvm__form lo = value_of(w, q[1].slot), hi = value_of(w, q[2].slot);
    int64_t step = 1;
    if (in->op == RVM_OP_for) step = rvm__is_const(w->v->f, q[3].slot) ? rvm__const_value(w->v->f, q[3].slot).i : 0;
    rvm__form all = unknown;
    if (step > 0) all = between(lo, hi);
    if (step < 0) all = between(sum(hi, constant(1)), sum(lo, constant(1)));
    if (w->work) know(w, q[0].slot, all);
}

void rvm__forms_pass(rvm__forms *w, uint32_t pc) {
    const rvm_function *f = w->v->f;
    const rvm_insn *in = f->code + pc;
    const rvm_place *q = rvm__places(f, in);
    switch ((int)rvm__pair_of(in->op)) {
    case RVM_PAIR_jmp:
    case RVM_PAIR_jt:
    case RVM_PAIR_jf:
        if (rvm__is_inverse(in->op)) forget_between(w, pc, in->target);
        return;
    case RVM_PAIR_undo: forget_between(w, in->target, pc); return;
    case RVM_PAIR_for:
    case RVM_PAIR_par: pass_loop(w, pc, in, q); return;
    }
    forget_toggled(w, in);
    if (!w->work) return;
    if (in->op == RVM_OP_let) know(w, q[0].slot, result(w, in, q));
    if (in->op == RVM_OP_view) pass_view(w, in, q, rvm__root_of(w->v->f, q + 1));
}

/* ---- a block ---- */

/* Registers that change otherwise than by appearing and disappearing. */
static void find_varying(rvm__forms *w, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, w->v->p, w->v->f, in)
        if (a.reg && !a.toggles && a.bits & RVM__BITS_ACC) w->varies[a.q->slot] = w->block;
}

void rvm__forms_begin(rvm__forms *w, uint32_t pc) {
    rvm__verifier *v = w->v;
    const rvm_function *f = v->f;
    const uint32_t *s = v->words + v->snapshot[v->at->code + pc];
    w->block++;
    w->par = pc;
    w->work = (uint64_t)WORK * f->ncode + 1;
    for (uint32_t k = 0; k < f->nregs; k++)
        if (rvm__is_fixed(v, k)) w->outer[k] = w->block;
    for (uint32_t k = 0; k < rvm__array_params(v); k++) w->outer[v->max_regs + k] = w->block;
    for (uint32_t k = 0; k < s[0]; k++) w->outer[s[2 + k]] = w->block;
    for (uint32_t k = 0; k < s[1]; k++) w->outer[v->max_regs + (s[2 + s[0] + k] & UINT16_MAX)] = w->block;
    RVM__EACH_INSN_IN(x, f, pc + 1, f->code[pc].target) find_varying(w, x.in);
}

rvm_status rvm__forms_make(rvm__verifier *v, rvm__forms *w) {
    *w = (rvm__forms){.v = v};
    w->value = rvm__verify_make(v, v->max_regs, sizeof *w->value);
    w->known = rvm__verify_make(v, v->max_regs, sizeof *w->known);
    w->varies = rvm__verify_make(v, v->max_regs, sizeof *w->varies);
    w->outer = rvm__verify_make(v, (size_t)v->max_regs + v->max_arrays, sizeof *w->outer);
    w->parts = rvm__verify_make(v, v->max_arrays, sizeof *w->parts);
    return rvm__verify_has_memory(v);
}
