/* derive_change.c: adjoint and tangent of changes in place: docs/semantics.md, section 3, from the facts of inplace.def. */
#include "derive.h"
#include "builder.h"

static const rvm_place *places_of(const rvm__derive *t, const rvm_insn *in) {
    return rvm__places(rvm__source(t), in);
}

/* The first real place that is changed: all that an instruction changes are active together. */
static bool is_active(const rvm__derive *t, const rvm_insn *in) {
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    const rvm_place *q = places_of(t, in);
    for (int k = 0; k < in->nplaces; k++)
        if (letters[k] == 'y' && rvm__active(t, &q[k])) return true;
    return false;
}

typedef struct change {
    rvm__derive *t;
    const rvm_insn *in;
    const rvm_change_info *info;
    const rvm_place *q; /* the first that changes */
    rvm_op op;          /* to the values */
    bool back, sweep;
} change;

/* The same instruction on shadows, of the operands' values. */
static void on_shadows(const change *c) {
    rvm_place places[1 + RVM_MAX_CHANGED + RVM_MAX_CHANGE_OPERANDS];
    const rvm_place *q = places_of(c->t, c->in);
    for (int k = 0; k < c->in->nplaces; k++) {
        const bool changes = q + k >= c->q && q + k < c->q + c->info->places;
        places[k] = (changes ? rvm__shadow_place : rvm__value_place)(c->t, &q[k]);
    }
    rvm__add(c->t, c->op, 0, c->in->flags, c->in->nplaces, places);
}

/* A partial times a shadow: the operand's gains, or loses, that of the place; in a tangent the place's that of the operand.
 */
static void add_term(const change *c, int operand, int k) {
    const rvm_term term = c->info->partials.by[operand][k];
    if (!term.sign) return;
    const rvm_place a_ = rvm__shadow_place(c->t, &c->q[c->info->places + operand]), y_ = rvm__shadow_place(c->t, &c->q[k]);
    const rvm_op op = (term.sign > 0) == (c->sweep == c->back) ? RVM_OP_add : RVM_OP_sub;
    RVM__ADD(c->t, op, RVM_ROW_mul, 0, c->sweep ? a_ : y_, rvm__value_place(c->t, &c->q[term.place]), c->sweep ? y_ : a_);
}

/* In a sweep from the last place, in what takes a tangent back from the last operand too. */
static void add_terms(const change *c) {
    const int operands = c->info->operands, places = c->info->places;
    for (int i = 0; i < operands; i++) {
        const int operand = c->back && !c->sweep ? operands - 1 - i : i;
        if (!rvm__active(c->t, &c->q[places + operand])) continue;
        for (int k = 0; k < places; k++) add_term(c, operand, c->back || c->sweep ? places - 1 - k : k);
    }
}

/* Partials before the instruction stand between shadows and values; those of either side behind a tangent, and before what
 * takes it back or a sweep. */
void rvm__derive_change(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep) {
    const rvm_change_info *info = &rvm__change_info[rvm__change_of(op)];
    const rvm_op does = sweep ? rvm__op_inverse(op) : op;
    const change c = {t, in, info, places_of(t, in) + info->conditional, does, rvm__is_inverse(does), sweep};
    const bool before = info->partials.before, first = !before && (sweep || c.back);
    if (!is_active(t, in) || info->shadows == RVM_SHADOWS_STAY) {
        rvm__add_value(t, in, does);
        return;
    }
    const bool apart = sweep && rvm__sets_aside(t, in);
    if (apart && t->borrowing == RVM__SETS_ASIDE) {
        for (int k = 0; k < info->places; k++) rvm__set_aside(t, rvm__shadow_place(t, &c.q[k]));
        rvm__add_value(t, in, does);
        return;
    }
    if (first) add_terms(&c);
    if (before && !c.back) on_shadows(&c), add_terms(&c);
    rvm__add_value(t, in, does);
    if (before && c.back) add_terms(&c);
    if (info->shadows == RVM_SHADOWS_SCALE)
        rvm__scale_shadow(t, in, does);
    else if (!before || c.back)
        on_shadows(&c);
    if (!before && !first) add_terms(&c);
    for (int k = info->places; apart && k-- > 0;) rvm__add_again(t, rvm__shadow_place(t, &c.q[k]));
}
