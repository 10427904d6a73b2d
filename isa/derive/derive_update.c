/* derive_update.c: the adjoint and the tangent of an update, from the formulas of its row and its family.
 *
 * An expression becomes temporaries that appear before the instructions that use them and disappear behind:
 *
 *     add.mul y, a, b    its adjoint:    sub.mul y, a, b          add.sin y, a:    sub.sin y, a
 *                                        add.mul a_b, b, y_b                       let.cos %t, a
 *                                        add.mul b_b, a, y_b                       add.mul a_b, %t, y_b
 *                                                                                  unlet.cos %t, a
 *
 * A family's formula for the shadow is a chain of updates of the shadow: DIV(SUB(Y_, g), F) is `y_ -= g; y_ /= F`. The
 * releases of temporaries cannot fail, what they are computed from being unchanged, but for NaN, which agrees with nothing:
 * so they are not checked. Nor are temporaries that appear, but those of fix, which may overflow.
 *
 * The interpreter computes the same sums in the same order, so that adjoint programs and gradient mode agree bit for bit.
 */
#include "derive.h"
#include "program.h"

#include <string.h>

typedef struct use { /* one instruction's formulas being turned into instructions */
    rvm__derive *t;
    const rvm_insn *in;
    const rvm_place *q; /* its places in the source */
    rvm_type type;      /* of the target, and of everything real in its formulas */
    rvm_op op;
    rvm__formula g;
    rvm__row_formula row;
    rvm__family_formula family;
    int f;                          /* the row as a node */
    rvm_place leaf[RVM__LEAVES];    /* in the new function */
    rvm_place temp[RVM__MAX_NODES]; /* of nodes that were made */
    uint8_t made[RVM__MAX_NODES], order[RVM__MAX_NODES];
    int nmade;
} use;

enum { QUIET = RVM_FLAG_UNCHECKED };

static int arity_of(const rvm_insn *in) {
    return rvm__row_info[in->row].arity;
}

static bool is_conversion(const use *u) {
    return rvm__row_info[u->in->row].sig == RVM_SIG_CONV;
}

static void begin(use *u, rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_function *f = rvm__source(t);
    memset(u, 0, sizeof *u - sizeof u->temp - sizeof u->made - sizeof u->order);
    memset(u->made, 0, sizeof u->made);
    u->nmade = 0;
    u->t = t;
    u->in = in;
    u->op = op;
    u->q = rvm__places(f, in);
    u->type = rvm__place_type(f, &u->q[0]);
    rvm__formula_begin(&u->g);
    const int n = arity_of(in);
    u->f = in->row == RVM_ROW_id
               ? RVM__LEAF_A
               : rvm__node(&u->g, (rvm_row)in->row, RVM__LEAF_A, n > 1 ? RVM__LEAF_B : 0, n > 2 ? RVM__LEAF_C : 0);
    /* wherever derivatives are taken of what appears or disappears, it is there, as f */
    u->row = rvm__formula_of_row(&u->g, (rvm_row)in->row, rvm__pair_of(op) == RVM_PAIR_let ? RVM__LEAF_Y : u->f);
    u->family = rvm__formula_of_family(&u->g, op, u->f);
    u->leaf[RVM__LEAF_Y] = rvm__value_place(t, &u->q[0]);
    for (int k = 0; k < n; k++) u->leaf[RVM__LEAF_A + k] = rvm__value_place(t, &u->q[k + 1]);
    if (rvm__active(t, &u->q[0])) u->leaf[RVM__LEAF_SHADOW] = rvm__shadow_place(t, &u->q[0]);
}

/* ---- temporaries ---- */

static rvm_type type_of(const use *u, int node) {
    const rvm_sig sig = rvm__row_info[u->g.node[node].row].sig;
    return u->g.node[node].whole || sig == RVM_SIG_CMP || sig == RVM_SIG_INT || sig == RVM_SIG_QUOT ? RVM_I64 : u->type;
}

/* A partial of fix that does not fit fails as what it is a partial of does. Its release repeats what fitted. */
static uint8_t appearing(const use *u) {
    return u->type == RVM_FIX ? u->in->flags & QUIET : QUIET;
}

/* Shadows of fix in unchecked code wrap, as those of the interpreter do. */
static uint8_t adding(const use *u) {
    return u->type == RVM_FIX ? u->in->flags & QUIET : 0;
}

static rvm_place materialise(use *u, int node);

/* The instruction op.row y, ... of a node; returns how many places. */
static int places_of(use *u, int node, rvm_place y, rvm_place places[4]) {
    const rvm__node_ *n = &u->g.node[node];
    const int arity = rvm__row_info[n->row].arity;
    places[0] = y;
    for (int k = 0; k < arity; k++) places[k + 1] = materialise(u, n->a[k]);
    return arity + 1;
}

static rvm_place materialise(use *u, int node) {
    if (rvm__is_leaf(node)) return u->leaf[node];
    if (rvm__is_const_node(&u->g, node))
        return rvm__const_place(u->t, u->g.node[node].whole ? RVM_I64 : u->type, u->g.node[node].k);
    if (u->made[node]) return u->temp[node];
    rvm_place places[4] = {{0}};
    const int n = places_of(u, node, places[0], places);
    u->temp[node] = places[0] = rvm__temp(u->t, type_of(u, node));
    rvm__add(u->t, RVM_OP_let, (rvm_row)u->g.node[node].row, appearing(u), n, places);
    u->made[node] = 1;
    u->order[u->nmade++] = (uint8_t)node;
    return u->temp[node];
}

static void release(use *u) {
    while (u->nmade) {
        const int node = u->order[--u->nmade];
        rvm_place places[4];
        const int n = places_of(u, node, u->temp[node], places);
        rvm__add(u->t, RVM_OP_unlet, (rvm_row)u->g.node[node].row, QUIET, n, places);
        rvm__temp_free(u->t, u->temp[node]);
        u->made[node] = 0;
    }
}

/* op y by the value of a node, which becomes the instruction's row rather than a temporary. */
static void update(use *u, rvm_op op, rvm_place y, int node, uint8_t flags) {
    rvm_place places[4] = {y};
    int n = 2;
    rvm_row row = RVM_ROW_id;
    if (rvm__is_leaf(node) || rvm__is_const_node(&u->g, node) || u->made[node])
        places[1] = materialise(u, node);
    else {
        n = places_of(u, node, y, places);
        row = (rvm_row)u->g.node[node].row;
    }
    rvm__add(u->t, op, row, flags, n, places);
}

/* ---- a product added to a place: the gain of a shadow, the term of a tangent ---- */

/* Take signs off a factor. On fix, rounding breaks ties upwards, so that a sign inside is not a sign outside. */
static int without_sign(const use *u, int node, bool *minus) {
    const rvm__node_ *n = &u->g.node[node];
    if (rvm__is_leaf(node)) return node;
    if (rvm__is_const_node(&u->g, node)) {
        if (n->k >= 0) return node;
        if (u->type == RVM_FIX && n->k != -1) return node;
        *minus = !*minus;
        return rvm__node_const((rvm__formula *)&u->g, -n->k);
    }
    if (n->row != RVM_ROW_neg || u->type == RVM_FIX) return node;
    *minus = !*minus;
    return without_sign(u, n->a[0], minus);
}

/* `op y by partial * by`, op being add, sub or let; the second factor may be a place that is no leaf. */
static void product(use *u, rvm_op op, rvm_place y, int partial, int sign, rvm_place by) {
    bool minus = sign < 0;
    partial = without_sign(u, partial, &minus);
    const bool appears = op == RVM_OP_let || op == RVM_OP_unlet;
    const uint8_t flags = appears ? 0 : adding(u);
    if (rvm__is_const_of(&u->g, partial, 1) && is_conversion(u) && !(appears && minus)) {
        RVM__ADD(u->t, minus ? rvm__op_inverse(op) : op, RVM_ROW_conv, flags, y, by);
        return;
    }
    if (appears) {
        if (minus) { /* a shadow that appears takes its sign with it */
            if (rvm__is_const_of(&u->g, partial, 1)) {
                RVM__ADD(u->t, op, RVM_ROW_neg, 0, y, by);
                return;
            }
            partial = rvm__node(&u->g, RVM_ROW_neg, partial, 0, 0);
        }
    } else if (minus)
        op = rvm__op_inverse(op);
    if (rvm__is_const_of(&u->g, partial, 1))
        RVM__ADD(u->t, op, RVM_ROW_id, flags, y, by);
    else {
        const rvm_place p = materialise(u, partial), converted = is_conversion(u) ? rvm__temp(u->t, u->type) : by;
        if (is_conversion(u)) RVM__ADD(u->t, RVM_OP_let, RVM_ROW_conv, appearing(u), converted, by);
        RVM__ADD(u->t, op, RVM_ROW_mul, flags, y, p, converted);
        if (!is_conversion(u)) return;
        RVM__ADD(u->t, RVM_OP_unlet, RVM_ROW_conv, QUIET, converted, by);
        rvm__temp_free(u->t, converted);
    }
}

static bool is_zero(const use *u, int node) {
    return rvm__is_const_of(&u->g, node, 0);
}

/* Operand k has a shadow that the row's derivative reaches. */
static bool reaches(const use *u, int k) {
    return rvm__active(u->t, &u->q[k + 1]) && u->row.d[k] && !is_zero(u, u->row.d[k]);
}

/* ---- chains of updates: a formula in which the shadow occurs once ---- */

typedef struct link { /* shadow op= node, or where terms: op= coefficient * tangent of the row */
    rvm_op op;
    int node;
    bool terms;
} link;

static bool contains(const use *u, int node, int leaf) {
    if (node == leaf) return true;
    if (rvm__is_leaf(node) || rvm__is_const_node(&u->g, node)) return false;
    for (int k = 0; k < rvm__row_info[u->g.node[node].row].arity; k++)
        if (contains(u, u->g.node[node].a[k], leaf)) return true;
    return false;
}

/* The coefficient of the row's tangent in a term. */
static int coefficient(use *u, int node) {
    if (node == RVM__LEAF_D) return rvm__node_const(&u->g, 1);
    const rvm__node_ n = u->g.node[node]; /* a product, the tangent last */
    return rvm__node(&u->g, RVM_ROW_mul, n.a[0], coefficient(u, n.a[1]), 0);
}

static rvm_op op_of_row(uint8_t row) {
    if (row == RVM_ROW_add) return RVM_OP_add;
    if (row == RVM_ROW_sub) return RVM_OP_sub;
    return row == RVM_ROW_mul ? RVM_OP_mul : RVM_OP_div;
}

/* Links from the innermost out; a formula without the shadow lets it appear. A sign is changed in place. */
static int chain(use *u, int node, link links[4]) {
    if (node == RVM__LEAF_SHADOW) return 0;
    const rvm__node_ *n = &u->g.node[node];
    link step = {RVM_OP_let, node, contains(u, node, RVM__LEAF_D)};
    int count = 0;
    if (contains(u, node, RVM__LEAF_SHADOW)) {
        const int side = contains(u, n->a[0], RVM__LEAF_SHADOW) ? 0 : 1;
        step = (link){RVM_OP_neg, 0, false};
        if (n->row != RVM_ROW_neg)
            step = (link){op_of_row(n->row), n->a[1 - side], contains(u, n->a[1 - side], RVM__LEAF_D)};
        count = chain(u, n->a[side], links);
    }
    links[count] = step;
    return count + 1;
}

/* ---- tangent ---- */

/* `op y by` the term of operand k. */
static void term(use *u, rvm_op op, rvm_place y, int coef, int k) {
    product(u, op, y, rvm__node(&u->g, RVM_ROW_mul, coef, u->row.d[k], 0), 1, rvm__shadow_place(u->t, &u->q[k + 1]));
}

/* The shadow appears or disappears as the sum of n terms, 2 or 3, that are there for this only: nothing is added to it,
 * which an exact run would record, and so it has the same bits both times. */
static void toggle_sum(use *u, rvm_op op, int coef, const int *terms, int n) {
    rvm_place part[3], sum;
    for (int i = 0; i < n; i++) term(u, RVM_OP_let, part[i] = rvm__temp(u->t, u->type), coef, terms[i]);
    sum = part[0];
    if (n > 2) RVM__ADD(u->t, RVM_OP_let, RVM_ROW_add, 0, sum = rvm__temp(u->t, u->type), part[0], part[1]);
    RVM__ADD(u->t, op, RVM_ROW_add, 0, u->leaf[RVM__LEAF_SHADOW], sum, part[n - 1]);
    if (n > 2) {
        RVM__ADD(u->t, RVM_OP_unlet, RVM_ROW_add, 0, sum, part[0], part[1]);
        rvm__temp_free(u->t, sum);
    }
    for (int i = n; i-- > 0; rvm__temp_free(u->t, part[i])) term(u, RVM_OP_unlet, part[i], coef, terms[i]);
}

/* Shadow op= coefficient * (da * a_d + ...), one term an instruction; a shadow that appears does so as the first. Backwards
 * for a disappearing one. */
static void add_terms(use *u, rvm_op op, int coef, bool disappears) {
    const rvm_place y = u->leaf[RVM__LEAF_SHADOW];
    int terms[3], n = 0;
    for (int k = 0; k < arity_of(u->in); k++)
        if (reaches(u, k)) terms[n++] = k;
    const bool toggles = op == RVM_OP_let;
    if (!n && toggles) {
        const rvm_place zero = rvm__const_place(u->t, u->type, 0);
        RVM__ADD(u->t, disappears ? RVM_OP_unlet : RVM_OP_let, RVM_ROW_id, 0, y, zero);
    }
    if (n > 1 && toggles && u->t->p->exact) {
        toggle_sum(u, disappears ? RVM_OP_unlet : RVM_OP_let, coef, terms, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        const int k = terms[disappears ? n - 1 - i : i];
        const bool first = toggles && k == terms[0];
        const rvm_op op_k = first        ? disappears ? RVM_OP_unlet : RVM_OP_let
                            : disappears ? RVM_OP_sub
                            : toggles    ? RVM_OP_add
                                         : op;
        term(u, op_k, y, coef, k);
    }
}

static void tangent_links(use *u, int formula, bool disappears) {
    link links[4];
    const int n = chain(u, formula, links);
    for (int k = 0; k < n; k++) {
        if (links[k].terms)
            add_terms(u, links[k].op, coefficient(u, links[k].node), disappears);
        else if (!is_zero(u, links[k].node) || links[k].op == RVM_OP_let)
            update(u, disappears ? rvm__op_inverse(links[k].op) : links[k].op, u->leaf[RVM__LEAF_SHADOW], links[k].node, 0);
    }
    release(u);
}

static void emit_set(use *u, bool back);

void rvm__tangent_update(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    use u;
    if (!rvm__active(t, &rvm__places(rvm__source(t), in)[0])) {
        rvm__add_value(t, in, op);
        return;
    }
    begin(&u, t, in, op);
    if (rvm__op_sets(op))
        emit_set(&u, op == RVM_OP_unset);
    else if (op == RVM_OP_unlet) { /* as `let`, backwards */
        tangent_links(&u, rvm__formula_of_family(&u.g, RVM_OP_let, u.f).shadow_d, true);
        rvm__add_value(t, in, op);
    } else {
        const bool appears = op == RVM_OP_let;
        if (appears) rvm__add_value(t, in, op);
        tangent_links(&u, u.family.shadow_d, false);
        if (!appears) rvm__add_value(t, in, op);
    }
}

/* ---- adjoint ---- */

static void gains(use *u, int seed) {
    bool minus = false;
    seed = without_sign(u, seed, &minus);
    for (int k = 0; k < arity_of(u->in); k++) {
        if (!reaches(u, k)) continue;
        const rvm_place by = materialise(u, seed);
        product(u, RVM_OP_add, rvm__shadow_place(u->t, &u->q[k + 1]), u->row.d[k], minus ? -1 : 1, by);
    }
    release(u);
}

static void shadow_by(use *u, int formula) {
    link links[4];
    const int n = chain(u, formula, links);
    for (int k = 0; k < n; k++)
        if (links[k].op == RVM_OP_neg)
            RVM__ADD(u->t, RVM_OP_neg, 0, 0, u->leaf[RVM__LEAF_SHADOW]);
        else
            update(u, links[k].op, u->leaf[RVM__LEAF_SHADOW], links[k].node, 0);
    release(u);
}

static void emit_restoring(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    rvm_insn back = *in;
    if (!t->p->exact) back.flags |= RVM_FLAG_RESTORE;
    rvm__add_value(t, &back, op);
}

void rvm__sweep_update(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    use u;
    const rvm_op inverse = rvm__op_inverse(op);
    if (!rvm__active(t, &rvm__places(rvm__source(t), in)[0])) {
        emit_restoring(t, in, inverse);
        return;
    }
    begin(&u, t, in, op);
    switch ((int)rvm__pair_of(op)) {
    case RVM_PAIR_set: emit_set(&u, op == RVM_OP_set); return;
    case RVM_PAIR_let:
        if (op == RVM_OP_unlet) { /* t appears again, and its shadow as 0 */
            rvm__add_value(t, in, inverse);
            RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, u.leaf[RVM__LEAF_SHADOW], rvm__no_gain(t, u.type));
            return;
        }
        gains(&u, u.family.seed);
        rvm__discard(t, RVM_OP_shed, u.leaf[RVM__LEAF_SHADOW]);
        rvm__add_value(t, in, inverse);
        return;
    }
    const rvm_place y_ = u.leaf[RVM__LEAF_SHADOW];
    const bool stays = rvm__shadow_stays(t, &u.q[0]), aside = rvm__is_aside(t, &u.q[0]);
    const bool here = !stays && !aside && rvm__sets_aside(t, in);
    if (stays || (t->borrowing == RVM__SETS_ASIDE && (aside || here))) { /* nothing is left to be gained */
        if (here) rvm__set_aside(t, y_);
        emit_restoring(t, in, inverse);
        return;
    }
    gains(&u, u.family.seed);
    shadow_by(&u, u.family.shadow_b);
    emit_restoring(t, in, inverse);
    if (here) rvm__add_again(t, y_);
}

/* ---- a place that changes by itself: its shadow, by the value that is there ---- */

void rvm__scale_shadow(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *y = rvm__places(rvm__source(t), in);
    use u = {.t = t, .in = in, .op = op, .type = rvm__place_type(rvm__source(t), y)};
    rvm__formula_begin(&u.g);
    u.leaf[RVM__LEAF_Y] = rvm__value_place(t, y);
    u.leaf[RVM__LEAF_SHADOW] = rvm__shadow_place(t, y);
    shadow_by(&u, rvm__formula_of_scale(&u.g, op, t->kind == RVM_ADJOINT));
}

/* ---- set, by parts: t <- f; drop y; swap y, t; t -> 0. Its operands may be y, so that t stands for what y was or becomes.
 * Forward in the tangent, and for unset in a sweep; back otherwise. ---- */

static void move_slot(use *u, bool back) {
    rvm__derive *t = u->t;
    rvm__entry_places s = {.type = u->type};
    const rvm_place head[2] = {rvm__integer_place(t, 0), rvm__value_place(t, &u->q[u->in->nplaces - 1])};
    rvm__entry_put(&s, 0, u->leaf[RVM__LEAF_Y]);
    rvm__entry_put(&s, 1 << (t->level - 1), u->leaf[RVM__LEAF_SHADOW]);
    rvm__add_entry_op(t, back ? RVM_OP_undrop : RVM_OP_drop, 0, 2, head, &s);
}

static void exchange(use *u, rvm_place s, rvm_place s_, rvm_place y_) {
    RVM__ADD(u->t, RVM_OP_swap, 0, 0, u->leaf[RVM__LEAF_Y], s);
    RVM__ADD(u->t, RVM_OP_swap, 0, 0, y_, s_);
}

static void emit_set(use *u, bool back) {
    rvm__derive *t = u->t;
    const bool sweep = t->kind == RVM_ADJOINT;
    const int n = arity_of(u->in) + 1;
    const rvm_place y_ = u->leaf[RVM__LEAF_SHADOW], zero = rvm__const_place(t, u->type, 0);
    const rvm_place s = rvm__temp(t, u->type), s_ = rvm__temp(t, u->type);
    const rvm_place value[4] = {s, u->leaf[RVM__LEAF_A], u->leaf[RVM__LEAF_B], u->leaf[RVM__LEAF_C]};
    u->family = rvm__formula_of_family(&u->g, RVM_OP_set, u->f);
    if (!back) {
        rvm__add(t, RVM_OP_let, (rvm_row)u->in->row, u->in->flags, n, value);
        u->leaf[RVM__LEAF_SHADOW] = s_;
        if (sweep)
            RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, s_, zero);
        else
            tangent_links(u, u->family.shadow_d, false);
        u->leaf[RVM__LEAF_SHADOW] = y_;
        move_slot(u, false);
        exchange(u, s, s_, y_);
        RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, 0, s, zero);
        RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, 0, s_, zero);
    } else {
        RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, s, zero);
        RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, s_, zero);
        exchange(u, s, s_, y_);
        move_slot(u, true);
        u->leaf[RVM__LEAF_SHADOW] = s_;
        if (sweep) {
            gains(u, u->family.seed);
            rvm__discard(t, RVM_OP_shed, s_);
        } else
            tangent_links(u, u->family.shadow_d, true);
        rvm__add(t, RVM_OP_unlet, (rvm_row)u->in->row, u->in->flags, n, value);
    }
    rvm__temp_free(t, s);
    rvm__temp_free(t, s_);
}
