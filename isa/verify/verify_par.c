/* verify_par.c: what the instances of a parallel block share (docs/semantics.md, section 9).
 *
 *   registers of the function around it    read by all, or added into by all, and nothing else: decided here
 *   arrays of the function around it       each element likewise, or used by one instance only
 *   the stack                              not at all
 *
 * Elements are decided here where indices are known forms of i (verify_forms.c): proved, or rejected where two instances
 * certainly use the same one. What is neither is left to the engine (RVM_FACT_GUARD).
 *
 * Two accesses agree if both only read or both only add. Any other two are tested for dependence, dimension by dimension:
 * they are apart if in some dimension the index of one in one instance is never that of the other in another instance (the
 * strong SIV test of G. Goff, K. Kennedy, C.-W. Tseng, PLDI 1991, with ranges in place of points); or in two, where these
 * are quotient and remainder of a value that is: rows and columns of the index of a flat loop, blocks of a layout.
 */
#include "verify_forms.h"
#include "support.h"
#include "builder.h"
#include <string.h>

enum { MAX_ACCESSES = 128 }; /* of a block, that are compared with each other */

typedef struct access {
    uint32_t pc, place; /* of the function's pool */
    uint16_t root;
    uint8_t bits;
    bool always; /* in every instance */
    rvm__form of[RVM_MAX_DIMS];
} access;

typedef struct block {
    rvm__verifier *v;
    rvm__forms forms;
    uint32_t par;
    uint32_t *reader, *adder; /* by register: the first instruction of the block that reads it, adds to it, + 1 */
    uint32_t *mark;           /* by register, array: the block for which the above and bits hold */
    uint8_t *bits;            /* by array */
    access accesses[MAX_ACCESSES];
    uint32_t n;
    int64_t trips;         /* instances, at most */
    uint32_t certain_from; /* no jump or loop reaches over what stands from here on, until the next one */
    bool too_many;
} block;

static uint32_t line_of(const block *w, uint32_t pc) {
    return w->v->f->positions[pc].line;
}

/* ---- registers ---- */

static rvm_status use_register(block *w, uint32_t pc, uint16_t slot, unsigned bits) {
    rvm__verifier *v = w->v;
    if (rvm__is_const(v->f, slot) || !rvm__is_outer(&w->forms, false, slot)) return RVM_OK;
    if (w->mark[slot] != w->forms.block) w->reader[slot] = w->adder[slot] = 0;
    w->mark[slot] = w->forms.block;
    if (bits == RVM__BITS_OWN)
        return RVM__REJECT(
            v, pc,
            "'%s' would be changed here by every instance of the parallel block at line %u: they may only read "
            "it, or add to it with += and -=",
            RVM__REG_NAME(v, pc, slot), line_of(w, w->par));
    uint32_t *first = bits == RVM__BITS_READ ? w->reader + slot : w->adder + slot;
    if (bits && !*first) *first = pc + 1;
    if (!w->reader[slot] || !w->adder[slot]) return RVM_OK;
    return RVM__REJECT(
        v, pc,
        "'%s' is read at line %u and added to at line %u by the instances of the parallel block at line %u: it "
        "may be one or the other",
        RVM__REG_NAME(v, pc, slot), line_of(w, w->reader[slot] - 1), line_of(w, w->adder[slot] - 1), line_of(w, w->par));
}

/* ---- accesses of elements ---- */

static bool same_form(const rvm__form *a, const rvm__form *b) {
    if (a->known != b->known || a->half != b->half) return false;
    if (a->half && (a->by_base != b->by_base || a->by != b->by)) return false;
    if (!a->known && !a->half) return true;
    return a->base == b->base && a->stride == b->stride && a->lo == b->lo && a->hi == b->hi;
}

static bool same_access(const block *w, const access *a, const access *b) {
    if (a->root != b->root || a->bits != b->bits || a->always != b->always) return false;
    for (int d = 0; d < w->v->f->arrays[a->root].ndim; d++)
        if (!same_form(a->of + d, b->of + d)) return false;
    return true;
}

static void add_access(block *w, const access *a) {
    uint32_t thing = w->v->max_regs + a->root;
    if (w->mark[thing] != w->forms.block) w->bits[a->root] = 0;
    w->mark[thing] = w->forms.block;
    w->bits[a->root] |= a->bits;
    for (uint32_t k = 0; k < w->n; k++)
        if (same_access(w, w->accesses + k, a)) return;
    w->too_many |= w->n == MAX_ACCESSES;
    if (!w->too_many) w->accesses[w->n++] = *a;
}

static rvm_status use_array(block *w, uint32_t pc, const rvm__accesses *x) {
    rvm__verifier *v = w->v;
    const rvm_place *q = x->q;
    const uint8_t bits = (uint8_t)x->bits;
    const uint16_t root = x->toggles ? q->slot : rvm__root_of(v->f, q);
    if (!bits || !rvm__is_outer(&w->forms, true, root)) return RVM_OK;
    if (x->toggles)
        return RVM__REJECT(v, pc, "'%s' belongs to all instances of the parallel block at line %u", RVM__NAME(v, pc, q),
                           line_of(w, w->par));
    access a = {
        .pc = pc, .place = (uint32_t)(q - v->f->places), .root = root, .bits = bits, .always = pc >= w->certain_from};
    rvm__forms_of(&w->forms, q, root, a.of);
    add_access(w, &a);
    return RVM_OK;
}

/* ---- the body ---- */

static rvm_status check_stack(block *w, uint32_t pc, const rvm_insn *in) {
    rvm__verifier *v = w->v;
    if (rvm__op_on_stack((rvm_op)in->op))
        return RVM__REJECT(v, pc, "%s uses the stack, which the instances of the parallel block at line %u share",
                           rvm__op_info[in->op].name, line_of(w, w->par));
    if (!rvm__is_call(in) || !v->bits[rvm__calls_stack(v, in)]) return RVM_OK;
    uint32_t at = 0, callee;
    while (rvm__next_callee_types(v->p, in, &at, &callee) && !v->bits[rvm__uses_stack(v, callee)]) {}
    return RVM__REJECT(v, pc, "'%s' uses the stack, which the instances of the parallel block at line %u share",
                       v->p->functions[callee < v->p->nfunctions ? callee : 0].name, line_of(w, w->par));
}

static rvm_status use_places(block *w, uint32_t pc, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, w->v->p, w->v->f, in) {
        for (uint32_t d = 0; d < rvm__nindices(a.q); d++) RVM__TRY(use_register(w, pc, a.q->idx[d], RVM__BITS_READ));
        RVM__TRY(a.array ? use_array(w, pc, &a) : use_register(w, pc, a.q->slot, a.bits));
    }
    return RVM_OK;
}

static rvm_status use_body(block *w) {
    RVM__EACH_INSN_IN(x, w->v->f, w->par + 1, w->v->f->code[w->par].target) {
        RVM__TRY(check_stack(w, x.pc, x.in));
        RVM__TRY(use_places(w, x.pc, x.in));
        rvm__forms_pass(&w->forms, x.pc);
        if (w->v->target[x.in->op] == 'L' && x.in->target > w->certain_from) w->certain_from = x.in->target;
    }
    return RVM_OK;
}

/* ---- pairs of accesses ---- */

typedef enum overlap { APART, PERHAPS, CERTAIN } overlap;

/* Whether a * k lies within lo and hi for some k other than 0, below n in size. For a = 0, whether 0 does. */
static bool multiple_within(int64_t a, int64_t lo, int64_t hi, int64_t n) {
    if (!a) return lo <= 0 && hi >= 0;
    if (a < 0) a = -a;
    int64_t least = lo > 0 ? (lo + a - 1) / a : hi < 0 ? (-hi + a - 1) / a : 1;
    return least < n && (hi >= least * a || lo <= -least * a);
}

/* Instances i and i + k overlap in this dimension for *k, which is 0 where not yet known, only. */
static bool overlaps_at(const rvm__form *a, const rvm__form *b, int64_t *k) {
    if (a->lo != a->hi || b->lo != b->hi) return false;
    int64_t way = a->lo - b->lo;
    if (!a->stride) return way == 0;
    if (way == 0 || way % a->stride || (*k && way / a->stride != *k)) return false;
    *k = way / a->stride;
    return true;
}

/* Whether, in different instances, they differ by multiples of one stride and what is known. */
static bool comparable(const rvm__form *p, const rvm__form *q) {
    return p->base == q->base && p->stride == q->stride;
}

static bool never_meet(const block *w, const rvm__form *p, const rvm__form *q) {
    return comparable(p, q) && !multiple_within(p->stride, p->lo - q->hi, p->hi - q->lo, w->trips);
}

/* Quotient and remainder of one value by one divisor. */
static bool are_halves(const rvm__form *quotient, const rvm__form *remainder) {
    rvm__form other = *quotient;
    other.half = RVM__REMAINDER;
    return quotient->half == RVM__QUOTIENT && same_form(&other, remainder);
}

/* Apart by two dimensions: where both quotients and both remainders are the same, so are the values. */
static bool halves_apart(const block *w, const access *a, const access *b) {
    const int n = w->v->f->arrays[a->root].ndim;
    for (int d = 0; d < n; d++)
        for (int r = 0; r < n; r++) {
            const rvm__form *p = a->of + d, *q = b->of + d;
            if (!are_halves(p, a->of + r) || !are_halves(q, b->of + r)) continue;
            if (p->by_base == q->by_base && p->by == q->by && never_meet(w, p, q)) return true;
        }
    return false;
}

static overlap overlap_of(const block *w, const access *a, const access *b) {
    int64_t k = 0;
    bool certain = a->always && b->always;
    for (int d = 0; d < w->v->f->arrays[a->root].ndim; d++) {
        const rvm__form *p = a->of + d, *q = b->of + d;
        if (!p->known || !q->known || !comparable(p, q)) {
            certain = false;
            continue;
        }
        if (never_meet(w, p, q)) return APART;
        certain = certain && overlaps_at(p, q, &k);
    }
    return certain ? CERTAIN : halves_apart(w, a, b) ? APART : PERHAPS;
}

static bool agree(unsigned a, unsigned b) {
    return (a | b) != RVM__BITS_OWN;
}

static rvm_status check_overlap(block *w, const access *a, const access *b, bool *guard) {
    rvm__verifier *v = w->v;
    if (a->root != b->root || agree(a->bits, b->bits)) return RVM_OK;
    overlap m = overlap_of(w, a, b);
    *guard |= m == PERHAPS;
    if (m != CERTAIN) return RVM_OK;
    return RVM__REJECT(
        v, b->pc,
        "'%s' here and '%s' at line %u are the same element in different instances of the parallel block at line "
        "%u: all may read it, all may add to it, or one alone may use it",
        RVM__NAME(v, b->pc, v->f->places + b->place), RVM__NAME(v, a->pc, v->f->places + a->place), line_of(w, a->pc),
        line_of(w, w->par));
}

/* The number of instances, or what it is below. */
static int64_t trips_of(const block *w) {
    const rvm_function *f = w->v->f;
    const rvm_place *q = rvm__places(f, f->code + w->par);
    int64_t n;
    if (!rvm__is_const(f, q[1].slot) || !rvm__is_const(f, q[2].slot)) return INT64_MAX;
    bool large = __builtin_sub_overflow(rvm__const_value(f, q[2].slot).i, rvm__const_value(f, q[1].slot).i, &n);
    return large ? INT64_MAX : n;
}

static bool any_used(const block *w, unsigned bits) {
    for (uint32_t k = 0; k < w->v->f->narrays; k++)
        if (w->mark[w->v->max_regs + k] == w->forms.block && w->bits[k] == bits) return true;
    return false;
}

static bool may_add_together(const block *w, const access *a, const access *b) {
    return a->bits == RVM__BITS_ACC && b->bits == RVM__BITS_ACC && a->root == b->root && overlap_of(w, a, b) != APART;
}

static void note_additions(const block *w) {
    rvm_insn *code = w->v->p->functions[w->v->fn].code;
    for (uint32_t pc = w->par + 1; pc < code[w->par].target; pc++)
        if (rvm__pair_of(code[pc].op) != RVM_PAIR_par) code[pc].facts |= RVM_FACT_SUMS;
}

/* Whether two instances may add into the same element; notes where, of an array that the block does not only add into. */
static bool sums_elements(const block *w) {
    rvm_insn *code = w->v->p->functions[w->v->fn].code;
    bool any = false;
    if (w->too_many && any_used(w, RVM__BITS_OWN)) note_additions(w);
    if (w->too_many) return any_used(w, RVM__BITS_ACC) || any_used(w, RVM__BITS_OWN);
    for (uint32_t k = 0; k < w->n; k++) {
        const bool only = w->bits[w->accesses[k].root] == RVM__BITS_ACC;
        for (uint32_t j = 0; j <= k && !(only && any); j++) {
            if (!may_add_together(w, &w->accesses[j], &w->accesses[k])) continue;
            any = true;
            if (!only) code[w->accesses[j].pc].facts |= RVM_FACT_SUMS, code[w->accesses[k].pc].facts |= RVM_FACT_SUMS;
        }
    }
    return any;
}

static rvm_status check_elements(block *w, bool *guard) {
    *guard = w->too_many && any_used(w, RVM__BITS_OWN);
    for (uint32_t k = 0; k < w->n; k++)
        for (uint32_t j = 0; j <= k && w->bits[w->accesses[k].root] == RVM__BITS_OWN; j++)
            RVM__TRY(check_overlap(w, w->accesses + j, w->accesses + k, guard));
    return RVM_OK;
}

static rvm_status check_block(block *w, uint32_t pc) {
    rvm_insn *code = w->v->p->functions[w->v->fn].code;
    uint8_t facts = 0;
    bool guard = false;
    w->par = w->certain_from = pc;
    w->n = 0;
    w->too_many = false;
    rvm__forms_begin(&w->forms, pc);
    RVM__TRY(use_body(w));
    w->trips = trips_of(w);
    if (w->trips > 1) RVM__TRY(check_elements(w, &guard));
    if (guard) facts |= RVM_FACT_GUARD;
    if (w->trips > 1 && sums_elements(w)) facts |= RVM_FACT_SUMS;
    code[pc].facts |= facts;
    code[code[pc].target].facts |= facts;
    return RVM_OK;
}

static rvm_status check_blocks(block *w) {
    rvm__verifier *v = w->v;
    w->reader = rvm__verify_make(v, v->max_regs, sizeof *w->reader);
    w->adder = rvm__verify_make(v, v->max_regs, sizeof *w->adder);
    w->mark = rvm__verify_make(v, (size_t)v->max_regs + v->max_arrays, sizeof *w->mark);
    w->bits = rvm__verify_make(v, v->max_arrays, sizeof *w->bits);
    RVM__TRY(rvm__verify_has_memory(v));
    RVM__TRY(rvm__forms_make(v, &w->forms));
    RVM__EACH_FUNCTION(v)
    RVM__EACH_INSN(x, v->f)
        if (x.in->op == RVM_OP_par) RVM__TRY(check_block(w, x.pc));
    return RVM_OK;
}

static bool has_blocks(const rvm_program *p) {
    for (uint32_t k = 0; k < p->nfunctions; k++)
        if (rvm__ops_in(&p->functions[k], RVM_OP_par)) return true;
    return false;
}

rvm_status rvm__verify_par(rvm__verifier *v) {
    if (!has_blocks(v->p)) return RVM_OK;
    block *w = rvm__verify_make(v, 1, sizeof *w);
    if (!w) return rvm__verify_no_memory(v);
    w->v = v;
    return check_blocks(w);
}
