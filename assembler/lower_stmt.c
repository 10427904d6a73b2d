/* lower_stmt.c: let and updates, and the end of what let makes.
 *
 * A statement is checked, then lowered: temporaries, its instruction, the temporaries' inverses in reverse order. After an
 * error of checking nothing is emitted for it.
 */
#include "asm.h"
#include "instruction.h"

/* ---- let ---- */

/* let or unlet of a variable, its operands computed there. */
static void emit_let(gen *g, const stmt *s, const var *v, rvm_op op) {
    if (v->part) {
        rvm__emit_let_parts(g, s, v, op);
        return;
    }
    uint32_t mark = g->ntemps, n;
    rvm_place places[5];
    int row;
    places[0] = rvm__gen_slot(v->slot);
    if (s->expr->kind == E_FN) {
        rvm__emit(g, op == RVM_OP_let ? RVM_OP_addr : RVM_OP_unaddr, -1, (uint32_t)s->expr->u.callee->index, places, 1,
                  s->at);
        return;
    }
    n = 1 + rvm__lower_root(g, s->expr, &row, places + 1);
    if (s->tolerance && rvm__is_floating(rvm__part_type(s->as->type)))
        places[n++] = rvm__gen_const(g, RVM_F64, s->tolerance->u.value);
    rvm__emit(g, op, row, 0, places, n, s->at);
    rvm__unwind(g, mark);
}

/* new or del of a local array. */
static void emit_new(gen *g, const stmt *s, const var *v, rvm_op op) {
    if (v->part) {
        rvm__emit_new_parts(g, s, v, op);
        return;
    }
    uint32_t mark = g->ntemps;
    rvm_place places[2 + RVM_MAX_DIMS];
    places[0] = rvm__gen_whole(v->slot);
    for (int k = 0; k < s->as->ndim; k++) places[1 + k] = rvm__lower_operand(g, s->as->dim[k]);
    places[1 + s->as->ndim] = rvm__lower_operand(g, s->expr);
    rvm__emit(g, op, -1, 0, places, 2u + s->as->ndim, s->at);
    rvm__unwind(g, mark);
}

/* A leaf of a state appears as 0, or disappears. */
static void emit_leaf(gen *g, const stmt *s, const var *v, rvm_op op) {
    const rvm_place zero = rvm__gen_const(g, (rvm_type)v->type, (rvm_value){0});
    rvm_place places[2 + RVM_MAX_DIMS];
    const uint32_t mark = g->ntemps;
    places[0] = v->ndim ? rvm__gen_whole(v->slot) : rvm__gen_slot(v->slot);
    for (int k = 0; k < v->ndim; k++) places[1 + k] = rvm__lower_operand(g, v->dim[k]);
    places[1 + v->ndim] = zero;
    rvm__emit(g,
              v->ndim && op == RVM_OP_let ? RVM_OP_new
              : v->ndim                   ? RVM_OP_del
                                          : op,
              v->ndim ? -1 : RVM_ROW_id, 0, places, 2u + v->ndim, s->at);
    rvm__unwind(g, mark);
}

static void emit_state(gen *g, const stmt *s, const var *v, rvm_op op) {
    for (uint32_t k = 0; k < v->nparts; k++) emit_state(g, s, v->part[rvm__is_inverse(op) ? v->nparts - 1 - k : k], op);
    if (!v->part) emit_leaf(g, s, v, op);
}

/* What let makes appears, or with unlet disappears. */
static void emit_made(gen *g, const stmt *s, const var *v, rvm_op op) {
    if (rvm__is_state(v->type))
        emit_state(g, s, v, op);
    else if (v->ndim)
        emit_new(g, s, v, op == RVM_OP_let ? RVM_OP_new : RVM_OP_del);
    else
        emit_let(g, s, v, op);
}

void rvm__lower_let(gen *g, stmt *s) {
    if (!s->name) return;
    bool good = rvm__check_let(g->a, s);
    typed as = *s->as;
    if (!good && !rvm__is_value_type(as.type)) as.type = T_ERROR;
    var *v = rvm__declare(g, s->name, V_LOCAL, &as, s->name_at);
    if (!v) return;
    if (good && rvm__is_state(v->type)) good = rvm__check_let_state(g->a, s, v);
    if (!good) {
        v->failed = true;
        return;
    }
    rvm__gen_var(g, v);
    v->let = s;
    emit_made(g, s, v, RVM_OP_let);
}

/* Of what let made: as what it was made, or as what stands behind `->`. */
static void emit_release(gen *g, const var *v) {
    stmt s = *v->let;
    if (s.post) s.expr = s.post;
    emit_made(g, &s, v, RVM_OP_unlet);
}

void rvm__lower_scope_end(gen *g, const var *mark, bool releases) {
    while (g->vars && g->vars != mark) {
        const var *v = g->vars;
        if (releases && v->let && !v->failed) emit_release(g, v);
        rvm__undeclare(g);
        if (!v->failed) rvm__gen_free_var(g, v);
    }
}

/* ---- updates ---- */

void rvm__lower_update(gen *g, const stmt *s) {
    if (s->row >= 0) {
        rvm__lower_raw_update(g, s);
        return;
    }
    if (!rvm__check_update(g->a, s)) return;
    if (rvm__is_complex(s->args[0]->type)) {
        rvm__lower_update_parts(g, s);
        return;
    }
    if (rvm__is_lns(s->args[0]->type) && rvm__pair_of(s->op) == RVM_PAIR_add) {
        rvm__lower_lns_sum(g, s);
        return;
    }
    const int op = rvm__is_lns(s->args[0]->type) ? rvm__op_on_lns(g->a, (rvm_op)s->op) : s->op;
    if (op < 0) return; /* no memory */
    uint32_t mark = g->ntemps;
    rvm_place places[4];
    int row;
    places[0] = rvm__lower_place(g, s->args[0]);
    uint32_t n = rvm__lower_root(g, s->expr, &row, places + 1);
    rvm__emit(g, (rvm_op)op, row, 0, places, n + 1, s->at);
    rvm__unwind(g, mark);
}
