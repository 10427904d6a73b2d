/* derive_op.c: adjoint, tangent and copy of the instructions that are neither updates nor regions nor calls: the columns of
 * docs/semantics.md, sections 3 to 8, as instructions.
 *
 * `op` is what the instruction does in the direction that is being derived: its own opcode or the inverse. Most act alike on
 * values and on shadows; then the tangent is the instruction on both, and the adjoint its inverse on both.
 */
#include "derive.h"
#include "builder.h"

#include <string.h>

static const rvm_place *places_of(const rvm__derive *t, const rvm_insn *in) {
    return rvm__places(rvm__source(t), in);
}

/* ---- entries of a trail or of the stack: the values, then their shadows, at twice as many positions as the transforms
 * before made. A sweep of level n may find shadows of level n in an entry at positions that nothing here has: an adjoint of
 * a lower level took a shadow from there that was never pushed, so it was 0, and that shadow's own shadow came back into the
 * entry. It is the gradient by a constant: it is taken, and discarded. ---- */

static rvm_place integer(rvm__derive *t, int64_t k) {
    return rvm__integer_place(t, k);
}

static bool takes(rvm_op op) {
    return op == RVM_OP_undrop || op == RVM_OP_recall || op == RVM_OP_unstow;
}

/* The positions of this level that are not named: only a shadow of what was missing, or of what does not depend on an active
 * place though another function takes it to, can stand there. */
static uint64_t rest_of(const rvm__derive *t, rvm_op op, const rvm__entry_places *s) {
    const int shift = 1 << (t->level - 1);
    if (t->kind != RVM_ADJOINT || !takes(op) || s->type == RVM_I64) return 0;
    uint64_t rest = 0;
    for (int k = shift; shift > 1 && k < 2 * shift && k < RVM_MAX_ENTRY; k++) rest |= UINT64_C(1) << k;
    return rest & ~s->positions;
}

/* A temporary, 0, for what is not named: shaped as the first place. */
static rvm_place rest_appears(rvm__derive *t, rvm_op op, const rvm__entry_places *s, const rvm_place *first) {
    if (first->kind == RVM_PLACE_ARRAY) {
        const rvm_place q = rvm__temp_array(t, s->type, first);
        RVM__ADD(t, RVM_OP_like, 0, 0, q, *first);
        return q;
    }
    const rvm_place q = rvm__temp(t, s->type);
    if (op != RVM_OP_recall) RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, q, rvm__const_place(t, s->type, 0));
    return q;
}

/* Onto the trail of this level, and away. */
static void rest_disappears(rvm__derive *t, int n, const rvm_place *rest, const rvm_place *first) {
    const bool array = first->kind == RVM_PLACE_ARRAY;
    rvm_place places[RVM_MAX_ENTRY + 3];
    places[0] = integer(t, t->level);
    places[1] = integer(t, (*t->next_site)++);
    places[2] = integer(t, (INT64_C(1) << n) - 1);
    memcpy(places + 3, rest, (size_t)n * sizeof *rest);
    rvm__add(t, array ? RVM_OP_drop : RVM_OP_shed, 0, 0, n + 3, places);
    while (n-- > 0) {
        if (array) RVM__ADD(t, RVM_OP_unlike, 0, 0, rest[n], *first);
        (array ? rvm__temp_array_free : rvm__temp_free)(t, rest[n]);
    }
}

void rvm__add_entry_op(rvm__derive *t, rvm_op op, uint8_t flags, int nhead, const rvm_place *head, rvm__entry_places *s) {
    rvm_place places[RVM_MAX_ENTRY + 4], rest[RVM_MAX_ENTRY];
    int n = nhead + 1, nrest = 0;
    if (s->positions >> RVM_MAX_ENTRY) {
        rvm__entry_too_deep(t);
        return;
    }
    const rvm_place first = s->place[__builtin_ctzll(s->positions)];
    for (uint64_t left = rest_of(t, op, s); left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        rest[nrest++] = s->place[k] = rest_appears(t, op, s, &first);
        s->positions |= UINT64_C(1) << k;
    }
    for (int k = 0; k < nhead; k++) places[k] = head[k];
    places[nhead] = integer(t, (int64_t)s->positions);
    for (uint64_t left = s->positions; left; left &= left - 1) places[n++] = s->place[__builtin_ctzll(left)];
    rvm__add(t, op, 0, flags, n, places);
    if (nrest) rest_disappears(t, nrest, rest, &first);
}

void rvm__entry_put(rvm__entry_places *s, int position, rvm_place place) {
    if (position < RVM_MAX_ENTRY) s->place[position] = place;
    s->positions |= UINT64_C(1) << (position < RVM_MAX_ENTRY ? position : RVM_MAX_ENTRY);
}

/* `op` with the shadows in the entry, too. */
static void move_slot(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_function *f = rvm__source(t);
    const rvm_place *q = places_of(t, in);
    const int at = (int)rvm__positions_at((rvm_op)in->op), shift = 1 << (t->level - 1);
    uint64_t left = (uint64_t)f->consts[q[at].slot - f->nregs].i;
    rvm__entry_places s = {.type = rvm__place_type(f, &q[at + 1])};
    rvm_place head[2];
    for (int k = 0; k < at; k++) head[k] = rvm__value_place(t, &q[k]);
    for (int k = at + 1; k < in->nplaces; k++, left &= left - 1) {
        const int position = __builtin_ctzll(left);
        rvm__entry_put(&s, position, rvm__value_place(t, &q[k]));
        if (rvm__active(t, &q[k])) rvm__entry_put(&s, position + shift, rvm__shadow_place(t, &q[k]));
    }
    rvm__add_entry_op(t, op, in->flags, at, head, &s);
}

/* The shadows of what is about to come back are discarded. */
static void discard_shadows(rvm__derive *t, const rvm_insn *in) {
    const rvm_place *q = places_of(t, in);
    for (int k = (int)rvm__positions_at((rvm_op)in->op) + 1; k < in->nplaces; k++)
        if (rvm__active(t, &q[k])) rvm__discard(t, RVM_OP_drop, rvm__shadow_place(t, &q[k]));
}

/* What goes away comes back with its shadows; what appears goes with them. */
static void sweep_slot(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    if (op == RVM_OP_drop || op == RVM_OP_stow) discard_shadows(t, in);
    move_slot(t, in, rvm__op_inverse(op));
}

/* ---- the stack ---- */

static rvm_place zero_of(rvm__derive *t, const rvm_place *q) {
    return rvm__const_place(t, rvm__place_type(rvm__source(t), q), 0);
}

static void stow(rvm__derive *t, rvm_op op, rvm_type type, rvm_place y, rvm_place y_) {
    rvm__entry_places s = {.type = type};
    rvm__entry_put(&s, 0, y);
    rvm__entry_put(&s, 1 << (t->level - 1), y_);
    rvm__add_entry_op(t, op, 0, 0, NULL, &s);
}

static void derive_push(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = places_of(t, in);
    const bool sweep = t->kind == RVM_ADJOINT;
    const rvm_op does = sweep ? rvm__op_inverse(op) : op;
    if (!rvm__active(t, &q[0])) {
        rvm__add_value(t, in, does);
        return;
    }
    if (sweep && op == RVM_OP_push) rvm__discard(t, RVM_OP_drop, rvm__shadow_place(t, &q[0]));
    stow(t, does == RVM_OP_push ? RVM_OP_stow : RVM_OP_unstow, rvm__place_type(rvm__source(t), &q[0]),
         rvm__value_place(t, &q[0]), rvm__shadow_place(t, &q[0]));
}

/* s <- y; push s; s -> 0 */
static void copy_onto_stack(rvm__derive *t, const rvm_insn *in, rvm_place s, rvm_place s_) {
    const rvm_place *q = places_of(t, in), zero = zero_of(t, &q[0]);
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, in->flags, s, rvm__value_place(t, &q[0]));
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, s_, rvm__shadow_place(t, &q[0]));
    stow(t, RVM_OP_stow, rvm__place_type(rvm__source(t), &q[0]), s, s_);
    RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, 0, s_, zero);
    RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, 0, s, zero);
}

static void copy_from_stack(rvm__derive *t, const rvm_insn *in, rvm_place s, rvm_place s_) {
    const rvm_place *q = places_of(t, in), zero = zero_of(t, &q[0]);
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, s, zero);
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, s_, zero);
    stow(t, RVM_OP_unstow, rvm__place_type(rvm__source(t), &q[0]), s, s_);
    if (t->kind == RVM_ADJOINT) {
        RVM__ADD(t, RVM_OP_add, RVM_ROW_id, 0, rvm__shadow_place(t, &q[0]), s_);
        rvm__discard(t, RVM_OP_shed, s_);
    } else
        RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, in->flags, s_, rvm__shadow_place(t, &q[0]));
    RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, in->flags, s, rvm__value_place(t, &q[0]));
}

static void derive_pushc(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = places_of(t, in);
    const bool sweep = t->kind == RVM_ADJOINT;
    if (!rvm__active(t, &q[0]) || (sweep && op == RVM_OP_popc)) { /* a copy goes on top, its shadow being 0 */
        rvm__add_value(t, in, sweep ? rvm__op_inverse(op) : op);
        return;
    }
    const rvm_type type = rvm__place_type(rvm__source(t), &q[0]);
    const rvm_place s = rvm__temp(t, type), s_ = rvm__temp(t, type);
    if (sweep || op == RVM_OP_popc)
        copy_from_stack(t, in, s, s_);
    else
        copy_onto_stack(t, in, s, s_);
    rvm__temp_free(t, s);
    rvm__temp_free(t, s_);
}

/* ---- arrays ---- */

static void both_views(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const bool active = rvm__active(t, &places_of(t, in)[0]);
    if (active && rvm__shows_row(t, in)) {
        rvm__sweep_row(t, in, op);
        return;
    }
    if (active && op == RVM_OP_unview) rvm__add_shadow(t, in, op); /* nested: the shadow is the younger */
    rvm__add_value(t, in, op);
    if (active && op == RVM_OP_view) rvm__add_shadow(t, in, op);
}

/* The shadow of an array appears or disappears, every element v. */
static void shadow_array(rvm__derive *t, const rvm_insn *in, rvm_op op, rvm_place v) {
    const rvm_place *q = places_of(t, in);
    rvm_place places[RVM_MAX_DIMS + 2];
    for (int k = 1; k + 1 < in->nplaces; k++) places[k] = rvm__value_place(t, &q[k]);
    places[0] = rvm__shadow_place(t, &q[0]);
    places[in->nplaces - 1] = v;
    rvm__add(t, op, 0, op == RVM_OP_del ? in->flags : 0, in->nplaces, places);
}

/* v_b gains every element of the shadow: a nest of loops, of which the innermost body is one instruction. */
static void gain_elements(rvm__derive *t, const rvm_insn *in, rvm_place v_) {
    const rvm_place *q = places_of(t, in), zero = integer(t, 0), one = integer(t, 1);
    const int ndim = in->nplaces - 2;
    rvm_place index[RVM_MAX_DIMS], element = rvm__shadow_place(t, &q[0]);
    uint32_t at[RVM_MAX_DIMS];
    element.kind = RVM_PLACE_ELEM;
    element.nidx = (uint8_t)ndim;
    for (int d = 0; d < ndim; d++) {
        index[d] = rvm__temp(t, RVM_I64);
        element.idx[d] = index[d].slot;
        at[d] = RVM__ADD(t, RVM_OP_for, 0, 0, index[d], zero, rvm__value_place(t, &q[d + 1]), one);
    }
    RVM__ADD(t, RVM_OP_add, RVM_ROW_id, 0, v_, element);
    for (int d = ndim; d-- > 0;) {
        const uint32_t end = RVM__ADD(t, RVM_OP_next, 0, 0, index[d], zero, rvm__value_place(t, &q[d + 1]), one);
        if (t->status) return;
        t->g.code[at[d]].target = end;
        t->g.code[end].target = at[d];
        rvm__temp_free(t, index[d]);
    }
}

/* Of the lengths of another array. */
static void derive_like(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = places_of(t, in);
    const bool active = rvm__active(t, &q[0]), sweep = t->kind == RVM_ADJOINT;
    const rvm_op does = sweep ? rvm__op_inverse(op) : op;
    const rvm_place x_ = active ? rvm__shadow_place(t, &q[0]) : q[0], w = rvm__value_place(t, &q[1]);
    if (active && sweep && does == RVM_OP_unlike) rvm__discard(t, RVM_OP_drop, x_);
    if (active && does == RVM_OP_unlike) RVM__ADD(t, does, 0, 0, x_, w); /* nested: the shadow is the younger */
    rvm__add_value(t, in, does);
    if (active && does == RVM_OP_like) RVM__ADD(t, does, 0, 0, x_, w);
}

/* What the shadow's elements begin with: of an array of constant lengths, which engines may keep in registers, as a register
 * does; memory is cleared faster. */
static rvm_place no_gains(rvm__derive *t, const rvm_insn *in) {
    const rvm_place *q = places_of(t, in);
    bool fixed = true;
    for (int k = 1; k + 1 < in->nplaces; k++) fixed &= q[k].slot >= rvm__source(t)->nregs;
    return fixed ? rvm__no_gain(t, rvm__place_type(rvm__source(t), q)) : zero_of(t, q);
}

static void sweep_new(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = places_of(t, in), *v = &q[in->nplaces - 1];
    if (!rvm__active(t, &q[0])) {
        rvm__add_value(t, in, rvm__op_inverse(op));
        return;
    }
    if (t->rows[q->slot]) {
        rvm__add_value(t, in, rvm__op_inverse(op));
        return;
    }
    if (op == RVM_OP_del) {
        rvm__add_value(t, in, RVM_OP_new);
        shadow_array(t, in, RVM_OP_new, no_gains(t, in));
        return;
    }
    if (rvm__active(t, v)) gain_elements(t, in, rvm__shadow_place(t, v));
    rvm__discard(t, RVM_OP_drop, rvm__shadow_place(t, &q[0]));
    shadow_array(t, in, RVM_OP_del, zero_of(t, &q[0]));
    rvm__add_value(t, in, RVM_OP_del);
}

static void tangent_new(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = places_of(t, in), *v = &q[in->nplaces - 1];
    const bool active = rvm__active(t, &q[0]);
    const rvm_place v_d = !active ? q[0] : rvm__active(t, v) ? rvm__shadow_place(t, v) : zero_of(t, &q[0]);
    if (active && op == RVM_OP_del) shadow_array(t, in, op, v_d);
    rvm__add_value(t, in, op);
    if (active && op == RVM_OP_new) shadow_array(t, in, op, v_d);
}

/* ---- one instruction ---- */

static void derive_stack(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep) {
    const enum rvm_pair pair = rvm__pair_of(op);
    (pair == RVM_PAIR_push    ? derive_push
     : pair == RVM_PAIR_pushc ? derive_pushc
     : sweep                  ? sweep_slot
                              : move_slot)(t, in, op);
}

static void derive_array(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep) {
    const enum rvm_pair pair = rvm__pair_of(op);
    if (pair == RVM_PAIR_view)
        both_views(t, in, sweep ? rvm__op_inverse(op) : op);
    else
        (pair == RVM_PAIR_like ? derive_like : sweep ? sweep_new : tangent_new)(t, in, op);
}

void rvm__derive_op(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep) {
    const rvm_op does = sweep ? rvm__op_inverse(op) : op; /* to the values */
    switch (rvm__class_of(op)) {
    case RVM_CLASS_CONTROL:
        rvm__borrow_before(t, in, NULL);
        rvm__add_control(t, in, does);
        rvm__borrow_behind(t, in, NULL);
        return;
    case RVM_CLASS_CHECK: rvm__add_value(t, in, does); return;
    case RVM_CLASS_STACK: derive_stack(t, in, op, sweep); return;
    case RVM_CLASS_ARRAY: derive_array(t, in, op, sweep); return;
    case RVM_CLASS_TRAIL:
        if (rvm__pair_of(op) == RVM_PAIR_segment)
            rvm__add_value(t, in, does);
        else
            (sweep ? sweep_slot : move_slot)(t, in, op);
        return;
    case RVM_CLASS_UPDATE:
    case RVM_CLASS_IN_PLACE:
    case RVM_CLASS_REGION:
    case RVM_CLASS_CALL: return; /* derive.c, derive_update.c and derive_change.c have these */
    }
}

/* In a compute part that a sweep runs again plainly: shadows appear, as 0, beside the values that outlive the part. */
static bool is_mirrored(const rvm__derive *t, const rvm_place *q, char letter) {
    if (!rvm__letter_toggles(letter) || !rvm__active(t, q)) return false;
    return t->mirror[q->kind == RVM_PLACE_ARRAY ? rvm__source(t)->nregs + q->slot : q->slot];
}

static void mirror_one(rvm__derive *t, const rvm_insn *in, rvm_op op, const rvm_place *q) {
    if (q->kind == RVM_PLACE_SLOT)
        RVM__ADD(t, rvm__is_inverse(op) ? RVM_OP_unlet : RVM_OP_let, RVM_ROW_id, 0, rvm__shadow_place(t, q),
                 rvm__no_gain(t, rvm__place_type(rvm__source(t), q)));
    else if (rvm__pair_of(op) == RVM_PAIR_new && !t->rows[q->slot])
        shadow_array(t, in, op, no_gains(t, in));
    else if (rvm__pair_of(op) != RVM_PAIR_new && !rvm__shows_row(t, in))
        rvm__add_shadow(t, in, op);
}

static void mirror(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    const rvm_place *q = places_of(t, in);
    for (int k = 0; k < in->nplaces; k++)
        if (is_mirrored(t, &q[k], letters[k])) mirror_one(t, in, op, &q[k]);
}

void rvm__copy_op(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    if (rvm__is_inverse(op)) mirror(t, in, op); /* shadows go before, and come after, since arrays are nested */
    if (rvm__op_target(op) == 'L')
        rvm__add_control(t, in, op);
    else
        rvm__add_value(t, in, op);
    if (!rvm__is_inverse(op)) mirror(t, in, op);
}
