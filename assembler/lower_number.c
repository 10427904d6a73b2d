/* lower_number.c: statements on complex places, which become two on reals, one for each part; instructions on lns. */
#include "asm.h"
#include "instruction.h"
#include <string.h>

/* Each part of y by an instruction of its own, with the temporaries of both around them; backward: the last part first. */
static void update_parts(gen *g, rvm_op op, const rvm_place y[2], expr *const parts[2], const expr *tolerance, span at) {
    for (int i = 0; i < 2; i++) {
        const int k = rvm__is_inverse(op) ? 1 - i : i;
        const bool zero = parts[k]->kind == E_VALUE && !parts[k]->u.value.u;
        if (zero && rvm__pair_of(op) == RVM_PAIR_add) continue;
        rvm_place places[5] = {y[k]};
        int row;
        uint32_t n = 1 + rvm__lower_root(g, parts[k], &row, places + 1);
        if (tolerance && rvm__is_floating((rvm_type)parts[k]->type))
            places[n++] = rvm__gen_const(g, RVM_F64, tolerance->u.value);
        rvm__emit(g, op, row, 0, places, n, at);
    }
}

void rvm__emit_let_parts(gen *g, const stmt *s, const var *v, rvm_op op) {
    const uint32_t mark = g->ntemps;
    const rvm_place y[2] = {rvm__gen_slot(v->part[0]->slot), rvm__gen_slot(v->part[1]->slot)};
    expr *parts[2];
    if (rvm__lower_parts(g, s->expr, parts)) update_parts(g, op, y, parts, s->tolerance, s->at);
    rvm__unwind(g, mark);
}

void rvm__emit_new_parts(gen *g, const stmt *s, const var *v, rvm_op op) {
    const uint32_t mark = g->ntemps;
    rvm_place places[2 + RVM_MAX_DIMS];
    expr *parts[2];
    for (int k = 0; k < s->as->ndim; k++) places[1 + k] = rvm__lower_operand(g, s->as->dim[k]);
    const bool good = rvm__lower_parts(g, s->expr, parts);
    rvm_place values[2];
    for (int k = 0; good && k < 2; k++) values[k] = rvm__lower_operand(g, parts[k]);
    for (int i = 0; good && i < 2; i++) {
        const int k = rvm__is_inverse(op) ? 1 - i : i;
        places[0] = rvm__gen_whole(v->part[k]->slot);
        places[1 + s->as->ndim] = values[k];
        rvm__emit(g, op, -1, 0, places, 2u + s->as->ndim, s->at);
    }
    rvm__unwind(g, mark);
}

/* y *= e scales by the absolute value of e and turns by its angle, /= undoes that: both parts change at once. By a real it
 * only scales. */
static void scale(gen *g, rvm_op op, const rvm_place y[2], const expr *e, span at) {
    const expr *real = rvm__number_real(e);
    expr *leaf[2], *abs = NULL, *angle = NULL;
    if (!real && rvm__lower_leaves(g, e, leaf)) {
        const expr *pair = rvm__number_node(g->a, "complex", e->type, at, leaf[0], leaf[1]);
        abs = rvm__number_node(g->a, "abs", leaf[0]->type, at, pair, NULL);
        angle = rvm__number_node(g->a, "angle", leaf[0]->type, at, pair, NULL);
    }
    if (!real && (!abs || !angle)) return;
    const rvm_place by = rvm__lower_operand(g, real ? real : abs);
    const rvm_place turn[3] = {y[0], y[1], real ? by : rvm__lower_operand(g, angle)};
    const bool back = rvm__is_inverse(op);
    if (back && !real) rvm__emit(g, RVM_OP_irot, -1, 0, turn, 3, at);
    for (int i = 0; i < 2; i++) {
        const rvm_place places[2] = {y[back ? 1 - i : i], by};
        rvm__emit(g, op, RVM_ROW_id, 0, places, 2, at);
    }
    if (!back && !real) rvm__emit(g, RVM_OP_rot, -1, 0, turn, 3, at);
}

void rvm__lower_update_parts(gen *g, const stmt *s) {
    const uint32_t mark = g->ntemps;
    expr *y[2], *parts[2];
    if (rvm__lower_parts(g, s->args[0], y)) {
        const rvm_place places[2] = {y[0]->u.place, y[1]->u.place};
        if (rvm__pair_of(s->op) == RVM_PAIR_mul)
            scale(g, (rvm_op)s->op, places, s->expr, s->at);
        else if (rvm__lower_parts(g, s->expr, parts))
            update_parts(g, (rvm_op)s->op, places, parts, NULL, s->at);
    }
    rvm__unwind(g, mark);
}

/* As for a real that its new value reads (lower_trail.c): both parts of that first, then they change places with the old. */
void rvm__lower_set_parts(gen *g, const stmt *s) {
    const uint32_t mark = g->ntemps;
    const rvm_type base = rvm__part_type(s->args[0]->type);
    const rvm_place t[2] = {rvm__gen_slot(rvm__gen_reg(g, base)), rvm__gen_slot(rvm__gen_reg(g, base))};
    expr *y[2], *parts[2];
    bool good = rvm__lower_parts(g, s->expr, parts);
    if (good) update_parts(g, RVM_OP_let, t, parts, NULL, s->at);
    rvm__unwind(g, mark);
    good = good && rvm__lower_parts(g, s->args[0], y);
    for (int k = 0; good && k < 2; k++) {
        const rvm_place both[2] = {y[k]->u.place, t[k]}, none[2] = {t[k], rvm__gen_const(g, base, (rvm_value){0})};
        rvm__emit_drop(g, 0, both[0], s->at);
        rvm__emit(g, RVM_OP_swap, -1, 0, both, 2, s->at);
        rvm__emit(g, RVM_OP_unlet, RVM_ROW_id, 0, none, 2, s->at);
    }
    rvm__unwind(g, mark);
    for (int k = 1; k >= 0; k--) rvm__gen_free_reg(g, t[k].slot);
}

/* ---- instructions that treat the parts alike ---- */

static bool names_complex(const expr *e) {
    const var *v = rvm__find_var(e);
    return v && rvm__is_complex(v->type);
}

static bool changes_by(rvm_op op, rvm_shadows how) {
    return rvm__class_of(op) == RVM_CLASS_IN_PLACE && rvm__change_info[rvm__change_of(op)].shadows == how;
}

static bool moves(rvm_op op) {
    const enum rvm_pair pair = rvm__pair_of(op);
    return changes_by(op, RVM_SHADOWS_MOVE) || pair == RVM_PAIR_push || pair == RVM_PAIR_pushc;
}

/* Moves and linear changes by a real matrix. */
bool rvm__acts_by_parts(rvm_op op) {
    return moves(op) || changes_by(op, RVM_SHADOWS_LINEAR);
}

bool rvm__adds_constant(rvm_op op) {
    return rvm__class_of(op) == RVM_CLASS_IN_PLACE && rvm__change_info[rvm__change_of(op)].exact == RVM_EXACTLY_SUM;
}

static bool is_changed(const stmt *s, uint32_t k) {
    const char *letters = rvm__op_info[s->op].operands;
    return k < strlen(letters) && (letters[k] == 'y' || letters[k] == 'p');
}

/* The name of part 0 or 1 of a complex. */
static name *part_of(const expr *e, uint32_t part) {
    return rvm__find_var(e)->part[part]->member->name;
}

/* The instruction on one part of each place that it changes. False: no memory. */
static bool take_half(assembler *a, const stmt *s, uint32_t part, stmt *half) {
    *half = *s;
    half->args = rvm__arena(a, s->nargs * sizeof *half->args);
    for (uint32_t k = 0; half->args && k < s->nargs; k++)
        if (!(half->args[k] = rvm__copy_member(a, s->args[k], is_changed(s, k) ? part_of(s->args[k], part) : NULL)))
            return false;
    return half->args;
}

bool rvm__takes_parts(const stmt *s) {
    bool all = rvm__acts_by_parts((rvm_op)s->op) || rvm__adds_constant((rvm_op)s->op), any = false;
    for (uint32_t k = 0; k < s->nargs; k++) {
        any = any || (is_changed(s, k) && names_complex(s->args[k]));
        all = all && (!is_changed(s, k) || names_complex(s->args[k]));
    }
    return any && all;
}

uint32_t rvm__split_op(assembler *a, const stmt *s, stmt half[2]) {
    const uint32_t first = rvm__is_inverse(s->op);
    if (rvm__adds_constant((rvm_op)s->op)) return take_half(a, s, 0, half);
    return take_half(a, s, first, half) && take_half(a, s, 1 - first, half + 1) ? 2 : 0;
}

/* ---- lns: the same on logarithms ---- */

int rvm__op_on_lns(assembler *a, rvm_op op) {
    if (moves(op)) return op;
    const char *row = rvm__lns_row(a, rvm__op_info[op].name);
    return row ? rvm__op_find(row, strlen(row)) : -1;
}

/* log(y + a) is log a + softplus(log y - log a). */
void rvm__lower_lns_sum(gen *g, const stmt *s) {
    const uint32_t mark = g->ntemps;
    const rvm_place y = rvm__lower_place(g, s->args[0]), places[2] = {y, rvm__lower_operand(g, s->expr)};
    rvm__emit(g, RVM_OP_sub, RVM_ROW_id, 0, places, 2, s->at);
    rvm__emit(g, rvm__is_inverse(s->op) ? RVM_OP_isoftplus : RVM_OP_softplus, -1, 0, &y, 1, s->at);
    rvm__emit(g, RVM_OP_add, RVM_ROW_id, 0, places, 2, s->at);
    rvm__unwind(g, mark);
}
