/* lower_block.c: statements by recursive descent. if, while, from, for and regions have the shapes drawn in
 * docs/semantics.md, sections 4 and 5.
 */
#include "asm.h"
#include "instruction.h"

/* let or unlet of a register as a constant */
static void flag(gen *g, rvm_op op, rvm_place c, int64_t value, span at) {
    const rvm_place places[2] = {c, rvm__gen_const(g, RVM_I64, (rvm_value){.i = value})};
    rvm__emit(g, op, RVM_ROW_id, 0, places, 2, at);
}

/* What was known on the way here goes onto the trail. */
static void drop_flag(gen *g, rvm_place c, span at) {
    rvm__emit_drop(g, 0, c, at);
    flag(g, RVM_OP_unlet, c, 0, at);
}

/* At the end of a branch: the postcondition, or with `-> drop` which branch it was. */
static void post_let(gen *g, const stmt *s, rvm_place c, const expr *q, int64_t branch) {
    if (s->drops)
        flag(g, RVM_OP_let, c, branch, q->at);
    else
        rvm__lower_condition(g, RVM_OP_let, c, q);
}

static void lower_block(gen *g, stmt *s) {
    const var *mark = g->vars;
    rvm__lower_statements(g, s);
    rvm__lower_scope_end(g, mark, true);
}

static void lower_if(gen *g, const stmt *s) {
    const expr *p = s->expr, *q = s->post ? s->post : p;
    bool good = rvm__check_condition(g->a, s->expr);
    if (s->post) good = rvm__check_condition(g->a, s->post) && good;
    if (!good) { /* what stands inside is looked at all the same */
        lower_block(g, s->body);
        lower_block(g, s->other);
        return;
    }
    rvm_place c = rvm__gen_slot(rvm__gen_reg(g, RVM_I64));
    rvm__lower_condition(g, RVM_OP_let, c, p);
    uint32_t split = rvm__emit_jump(g, RVM_OP_jf, &c, 0, p->at);
    rvm__lower_condition(g, RVM_OP_unlet, c, p);
    lower_block(g, s->body);
    post_let(g, s, c, q, 1);
    uint32_t over = rvm__emit_jump(g, RVM_OP_jt, &c, 0, q->at);
    rvm__gen_aim(g, split, rvm__emit_jump(g, RVM_OP_cff, &c, split, p->at));
    rvm__lower_condition(g, RVM_OP_unlet, c, p);
    lower_block(g, s->other);
    post_let(g, s, c, q, 0);
    rvm__gen_aim(g, over, rvm__emit_jump(g, RVM_OP_cft, &c, over, q->at));
    if (s->drops)
        drop_flag(g, c, q->at);
    else
        rvm__lower_condition(g, RVM_OP_unlet, c, q);
    rvm__gen_free_reg(g, c.slot);
}

/* from p while q, and from p ... until q, which runs a block of its own before each test. */
static void lower_from(gen *g, const stmt *s) {
    const bool until = s->kind == S_UNTIL;
    const expr *p = s->expr, *q = s->post;
    bool good = rvm__check_condition(g->a, s->expr);
    if (!rvm__check_condition(g->a, s->post) || !good) {
        lower_block(g, s->body);
        lower_block(g, s->other);
        return;
    }
    rvm_place c = rvm__gen_slot(rvm__gen_reg(g, RVM_I64));
    rvm__lower_condition(g, RVM_OP_let, c, p);
    uint32_t entry = rvm__emit_jump(g, RVM_OP_cff, &c, 0, p->at);
    rvm__lower_condition(g, RVM_OP_unlet, c, p);
    if (until) lower_block(g, s->body);
    rvm__lower_condition(g, RVM_OP_let, c, q);
    uint32_t leave = rvm__emit_jump(g, until ? RVM_OP_jt : RVM_OP_jf, &c, 0, q->at);
    rvm__lower_condition(g, RVM_OP_unlet, c, q);
    lower_block(g, until ? s->other : s->body);
    rvm__lower_condition(g, RVM_OP_let, c, p);
    rvm__gen_aim(g, entry, rvm__emit_jump(g, RVM_OP_jf, &c, entry, p->at));
    rvm__emit_jump(g, RVM_OP_trap, NULL, 0, p->at);
    rvm__gen_aim(g, leave, rvm__emit_jump(g, until ? RVM_OP_cft : RVM_OP_cff, &c, leave, q->at));
    rvm__lower_condition(g, RVM_OP_unlet, c, q);
    rvm__gen_free_reg(g, c.slot);
}

/* A loop that says of no iteration whether it was the first: a flag on the trail for each arrival tells the entry from the
 * way back. */
static void lower_while(gen *g, const stmt *s) {
    const expr *q = s->expr;
    if (!rvm__check_condition(g->a, s->expr)) {
        lower_block(g, s->body);
        return;
    }
    rvm_place c = rvm__gen_slot(rvm__gen_reg(g, RVM_I64));
    flag(g, RVM_OP_let, c, 1, q->at);
    uint32_t entry = rvm__emit_jump(g, RVM_OP_cff, &c, 0, q->at);
    drop_flag(g, c, q->at);
    rvm__lower_condition(g, RVM_OP_let, c, q);
    uint32_t leave = rvm__emit_jump(g, RVM_OP_jf, &c, 0, q->at);
    rvm__lower_condition(g, RVM_OP_unlet, c, q);
    lower_block(g, s->body);
    flag(g, RVM_OP_let, c, 0, q->at);
    rvm__gen_aim(g, entry, rvm__emit_jump(g, RVM_OP_jf, &c, entry, q->at));
    rvm__emit_jump(g, RVM_OP_trap, NULL, 0, q->at);
    rvm__gen_aim(g, leave, rvm__emit_jump(g, RVM_OP_cff, &c, leave, q->at));
    rvm__lower_condition(g, RVM_OP_unlet, c, q);
    rvm__gen_free_reg(g, c.slot);
}

static void lower_set(gen *g, const stmt *s) {
    (rvm__on_wholes(s) ? rvm__lower_whole : rvm__lower_set)(g, s);
}

/* set y = e, or set y = e if c: what c was goes onto the trail, since the change may change it. */
static void lower_set_if(gen *g, const stmt *s) {
    bool good = rvm__on_wholes(s) || rvm__check_set(g->a, s);
    if (s->post) good = rvm__check_condition(g->a, s->post) && good;
    if (!good) return;
    if (!s->post) {
        lower_set(g, s);
        return;
    }
    rvm_place c = rvm__gen_slot(rvm__gen_reg(g, RVM_I64));
    rvm__lower_condition(g, RVM_OP_let, c, s->post);
    uint32_t over = rvm__emit_jump(g, RVM_OP_jf, &c, 0, s->post->at);
    lower_set(g, s);
    rvm__gen_aim(g, over, rvm__emit_jump(g, RVM_OP_cff, &c, over, s->post->at));
    drop_flag(g, c, s->post->at);
    rvm__gen_free_reg(g, c.slot);
}

/* A bound in place: a constant, or a register that nothing in the function changes; else a temporary around the loop. */
static rvm_place bound(gen *g, const expr *e) {
    bool fixed = e->kind == E_VALUE;
    if (e->kind == E_VAR) fixed = e->u.var->kind == V_LENGTH || e->u.var->kind == V_INDEX || e->u.var->name->writer != g->fn;
    if (fixed) return rvm__lower_operand(g, e);
    return rvm__lower_temp(g, e);
}

/* for and parallel */
static void lower_for(gen *g, const stmt *s) {
    const rvm_op op = (rvm_op)s->op;
    const uint32_t bounds = op == RVM_OP_for ? 3 : 2;
    bool good = s->nargs == bounds;
    for (int k = 0; k < s->nargs; k++) good = rvm__check_value(g->a, s->args[k], RVM_I64) && good;
    if (good && bounds == 3 && s->args[2]->kind == E_VALUE && !s->args[2]->u.value.i) {
        rvm__diag(g->a, s->args[2]->at, D_STEP_ZERO, NULL, NULL, NULL);
        good = false;
    }
    uint32_t temps = g->ntemps, top = 0;
    rvm_place places[4];
    for (uint32_t k = 0; good && k < bounds; k++) places[1 + k] = bound(g, s->args[k]);
    const var *mark = g->vars;
    const typed of_index = {.type = good ? RVM_I64 : T_ERROR};
    var *index = s->name ? rvm__declare(g, s->name, V_INDEX, &of_index, s->name_at) : NULL;
    if (good && index) {
        index->slot = rvm__gen_reg(g, RVM_I64);
        places[0] = rvm__gen_slot(index->slot);
        top = rvm__emit(g, op, -1, 0, places, 1 + bounds, s->at);
    }
    lower_block(g, s->body);
    if (good && index) rvm__gen_aim(g, top, rvm__emit(g, rvm__op_inverse(op), -1, top, places, 1 + bounds, s->at));
    rvm__lower_scope_end(g, mark, false);
    rvm__unwind(g, temps);
}

static void refuse_releases(assembler *a, const stmt *s) {
    for (; s; s = s->next)
        if (s->kind == S_LET && s->post) rvm__diag(a, s->post->at, D_LET_UNDONE, NULL, NULL, NULL);
}

/* What compute lets appear stays for the do part, and disappears at `undo`, running compute backward, or `forget`. */
static void lower_region(gen *g, const stmt *s) {
    free_level level;
    const var *mark = g->vars;
    if (!s->forgets) rvm__warn_undone(g->a, s);
    refuse_releases(g->a, s->body);
    rvm__emit(g, RVM_OP_compute, -1, 0, NULL, 0, s->at);
    rvm__gen_level_open(g, &level);
    rvm__lower_statements(g, s->body);
    rvm__gen_level_hold(g, &level);
    rvm__emit(g, RVM_OP_do, -1, 0, NULL, 0, s->do_at);
    lower_block(g, s->other);
    const uint32_t undo = rvm__emit(g, RVM_OP_undo, -1, 0, NULL, 0, s->undo_at);
    if (s->forgets && !g->failed) g->f->code[undo].flags |= RVM_FLAG_FORGETS;
    rvm__gen_level_close(g, &level);
    rvm__lower_scope_end(g, mark, false);
}

static void lower_unchecked(gen *g, const stmt *s) {
    uint8_t flags = g->flags;
    g->flags |= RVM_FLAG_UNCHECKED;
    lower_block(g, s->body);
    g->flags = flags;
}

/* ---- any statement ---- */

void rvm__lower_statements(gen *g, stmt *s) {
    for (; s && !g->a->oom; s = s->next) {
        g->at = s->at;
        if (s->broken && s->kind != S_LET && !s->body && !s->other) continue;
        switch ((stmt_kind)s->kind) {
        case S_LET: rvm__lower_let(g, s); break;
        case S_UPDATE: (rvm__on_wholes(s) ? rvm__lower_whole : rvm__lower_update)(g, s); break;
        case S_OP: (rvm__on_wholes(s) ? rvm__lower_whole : rvm__lower_op)(g, s); break;
        case S_CALL: rvm__lower_call(g, s); break;
        case S_IF: lower_if(g, s); break;
        case S_FROM:
        case S_UNTIL: lower_from(g, s); break;
        case S_FOR: lower_for(g, s); break;
        case S_REGION: lower_region(g, s); break;
        case S_UNCHECKED: lower_unchecked(g, s); break;
        case S_LABEL: rvm__gen_label(g, s->name, s->name_at); break;
        case S_REG: rvm__lower_reg(g, s); break;
        case S_SET: lower_set_if(g, s); break;
        case S_DROP: rvm__lower_drop(g, s); break;
        case S_PRINT: rvm__lower_print(g, s); break;
        case S_WHILE: lower_while(g, s); break;
        }
    }
}
