/* verify_alias.c: places of one instruction that overlap.
 *
 * What an instruction changes must be none of its other places, nor the index of one: otherwise going back would compute
 * from the changed value. Arguments may overlap when the callee only reads both, only accumulates into both, or uses one for
 * nothing. What overlaps for certain is rejected; what may, gets RVM_FACT_ALIAS, and the engine compares addresses.
 * Different parameters never need a look: they overlap only where they may, as every call on the way here made sure.
 */
#include "verify.h"
#include "support.h"
#include "builder.h"

typedef enum overlap { APART, PERHAPS, CERTAIN } overlap;

static overlap same_index(const rvm_function *f, uint16_t a, uint16_t b) {
    if (a == b) return CERTAIN;
    if (!rvm__is_const(f, a) || !rvm__is_const(f, b)) return PERHAPS;
    return rvm__const_value(f, a).i == rvm__const_value(f, b).i ? CERTAIN : APART;
}

static overlap same_element(const rvm_function *f, const rvm_place *a, const rvm_place *b) {
    overlap all = CERTAIN;
    for (int k = 0; k < a->nidx; k++) {
        overlap one = same_index(f, a->idx[k], b->idx[k]);
        if (one < all) all = one;
    }
    return all;
}

/* Whether places i and j of the instruction are the same or one holds the other. A constant is no place. */
static overlap overlaps(const rvm__verifier *v, const rvm_insn *in, uint32_t i, uint32_t j) {
    const rvm_place *a = rvm__places(v->f, in) + i, *b = rvm__places(v->f, in) + j;
    const uint16_t *root = v->f->roots + in->places;
    bool a_slot = a->kind == RVM_PLACE_SLOT || a->kind == RVM_PLACE_RANGE;
    bool b_slot = b->kind == RVM_PLACE_SLOT || b->kind == RVM_PLACE_RANGE;
    if (a_slot || b_slot) return a_slot && b_slot && a->slot == b->slot && !rvm__is_const(v->f, a->slot) ? CERTAIN : APART;
    if (root[i] != root[j]) return APART;
    if (a->kind == RVM_PLACE_ELEM && b->kind == RVM_PLACE_ELEM)
        return a->slot == b->slot ? same_element(v->f, a, b) : PERHAPS;
    bool whole = (a->kind == RVM_PLACE_ARRAY && a->slot == root[i]) || (b->kind == RVM_PLACE_ARRAY && b->slot == root[j]);
    return whole || a->slot == b->slot ? CERTAIN : PERHAPS;
}

/* Whether a register is an index of the element. */
static bool is_index(const rvm_function *f, const rvm_place *reg, const rvm_place *element) {
    if (!rvm__is_register(f, reg) || element->kind != RVM_PLACE_ELEM) return false;
    for (int k = 0; k < element->nidx; k++)
        if (element->idx[k] == reg->slot) return true;
    return false;
}

/* ---- updates and changes in place ---- */

/* Place i is changed; j is another. */
static rvm_status check_changed(rvm__verifier *v, uint32_t pc, rvm_insn *in, uint32_t i, uint32_t j) {
    const rvm_place *a = rvm__places(v->f, in) + i, *b = rvm__places(v->f, in) + j;
    if (is_index(v->f, a, b))
        return RVM__OVERLAP(v, pc, "'%s' is changed here and also an index of '%s'", RVM__NAME(v, pc, a),
                            RVM__NAME(v, pc, b));
    switch (overlaps(v, in, i, j)) {
    case APART: break;
    case PERHAPS: in->facts |= RVM_FACT_ALIAS; break;
    case CERTAIN:
        return RVM__OVERLAP(v, pc, "the target '%s' also appears as an operand, so the change could not be taken back",
                            RVM__NAME(v, pc, a));
    }
    return RVM_OK;
}

/* Against all others but constants. */
static rvm_status check_change(rvm__verifier *v, uint32_t pc, rvm_insn *in, uint32_t i) {
    const rvm_place *q = rvm__places(v->f, in);
    for (uint32_t j = 0; j < in->nplaces; j++)
        if (i != j && (q[j].kind != RVM_PLACE_SLOT || !rvm__is_const(v->f, q[j].slot)))
            RVM__TRY(check_changed(v, pc, in, i, j));
    return RVM_OK;
}

static rvm_status check_changes(rvm__verifier *v, uint32_t pc, rvm_insn *in) {
    RVM__EACH_CHANGE(a, v->p, v->f, in)
        if (a.letter == 'y' || a.letter == 'd') RVM__TRY(check_change(v, pc, in, a.k));
    return RVM_OK;
}

/* ---- calls ---- */

static rvm_status check_arguments(rvm__verifier *v, uint32_t pc, rvm_insn *in, uint32_t i, uint32_t j) {
    const rvm_place *a = rvm__places(v->f, in) + i, *b = rvm__places(v->f, in) + j;
    const rvm_callee g = rvm__callee_of(v->p, in);
    const rvm_param *p = g.params + (i - g.first), *q = g.params + (j - g.first);
    const bool allowed = rvm__may_share(p, q);
    if ((p->role != RVM_READ && is_index(v->f, a, b)) || (q->role != RVM_READ && is_index(v->f, b, a)))
        return RVM__OVERLAP(v, pc, "the arguments '%s' and '%s': the call would change the index", RVM__NAME(v, pc, a),
                            RVM__NAME(v, pc, b));
    overlap o = overlaps(v, in, i, j);
    if (o == CERTAIN && !allowed)
        return RVM__OVERLAP(v, pc,
                            "the arguments '%s' and '%s' overlap, but their roles are %s and %s: only two that are both "
                            "read or both accumulate may",
                            RVM__NAME(v, pc, a), RVM__NAME(v, pc, b), rvm_role_name((rvm_role)p->role),
                            rvm_role_name((rvm_role)q->role));
    bool copied = a->kind != RVM_PLACE_ARRAY || b->kind != RVM_PLACE_ARRAY; /* scalars go in and come back as copies */
    if (p->untouched || q->untouched) return RVM_OK;
    if (o != APART && (!allowed || copied)) in->facts |= RVM_FACT_ALIAS;
    return RVM_OK;
}

static rvm_status check_call(rvm__verifier *v, uint32_t pc, rvm_insn *in) {
    const rvm_place *q = rvm__places(v->f, in);
    const rvm_callee g = rvm__callee_of(v->p, in);
    for (uint32_t i = g.first; i < in->nplaces; i++) {
        const rvm_param *param = g.params + (i - g.first);
        if (param->role != RVM_READ && q[i].kind == RVM_PLACE_SLOT) {
            if (rvm__is_const(v->f, q[i].slot))
                return RVM__REJECT(v, pc, "the constant '%s' is passed for '%s', which '%s' changes",
                                   RVM__NAME(v, pc, q + i), param->name ? param->name : "a parameter",
                                   g.name ? g.name : RVM__NAME(v, pc, q));
            if (g.first && q[0].slot == q[i].slot)
                return RVM__OVERLAP(v, pc, "'%s' is called here, and would change itself", RVM__NAME(v, pc, q));
        }
        for (uint32_t j = g.first; j < i; j++) RVM__TRY(check_arguments(v, pc, in, j, i));
    }
    return RVM_OK;
}

rvm_status rvm__verify_alias(rvm__verifier *v) {
    RVM__EACH_FUNCTION(v) {
        rvm_insn *code = v->p->functions[v->fn].code;
        RVM__EACH_INSN(x, v->f)
            RVM__TRY(rvm__is_call(x.in) ? check_call(v, x.pc, code + x.pc) : check_changes(v, x.pc, code + x.pc));
    }
    return RVM_OK;
}
