/* lower_stmt.c: functions, and the statements of one line.
 *
 * A statement is checked, then lowered: temporaries, its instruction, the temporaries' inverses in reverse order. After an
 * error of checking nothing is emitted for it.
 */
#include "asm.h"
#include "builder.h"
#include <math.h>
#include <string.h>

/* ---- let ---- */

/* let or unlet of a variable, its operands computed there. */
static void emit_let(gen *g, const stmt *s, const var *v, rvm_op op) {
    if (v->part[0]) {
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
    if (s->tolerance && rvm__is_floating(rvm__part_type(s->type)))
        places[n++] = rvm__gen_const(g, RVM_F64, s->tolerance->u.value);
    rvm__emit(g, op, row, 0, places, n, s->at);
    rvm__unwind(g, mark);
}

/* new or del of a local array. */
static void emit_new(gen *g, const stmt *s, const var *v, rvm_op op) {
    if (v->part[0]) {
        rvm__emit_new_parts(g, s, v, op);
        return;
    }
    uint32_t mark = g->ntemps;
    rvm_place places[2 + RVM_MAX_DIMS];
    places[0] = rvm__gen_whole(v->slot);
    for (int k = 0; k < s->ndim; k++) places[1 + k] = rvm__lower_operand(g, s->args[k]);
    places[1 + s->ndim] = rvm__lower_operand(g, s->expr);
    rvm__emit(g, op, -1, 0, places, 2u + s->ndim, s->at);
    rvm__unwind(g, mark);
}

static void release(gen *g, const stmt *s, const var *v) {
    if (v->ndim)
        emit_new(g, s, v, RVM_OP_del);
    else
        emit_let(g, s, v, RVM_OP_unlet);
}

bool rvm__check_tolerance(gen *g, expr *e, int type) {
    if (!e) return true;
    if (!rvm__check_value(g->a, e, RVM_F64)) return false;
    bool good = e->kind == E_VALUE && e->u.value.f >= 0 && isfinite(e->u.value.f);
    const bool real = rvm__is_value_type(type) && type != RVM_I64;
    if (!good || !real) rvm__diag(g->a, e->at, good ? D_TOLERANCE_I64 : D_TOLERANCE, NULL, NULL, NULL);
    return good && real;
}

static bool check_let(gen *g, stmt *s) {
    if (s->broken) return false;
    bool good = true;
    if (!s->expr) {
        s->expr = rvm__expr_whole(g->a, s->type == T_LNS, s->at); /* which appears as 1 */
        if (!s->expr) return false;
    }
    rvm__check(g->a, s->expr, s->type);
    if (s->type == T_NONE) s->signature = s->expr->signature, s->types = s->expr->types;
    if (s->type == T_NONE) s->type = (uint8_t)rvm__settle(g->a, s->expr, T_NONE);
    good = rvm__is_value_type(s->type) &&
           (s->signature ? rvm__check_function_type(g->a, s->expr, s->signature) : rvm__coerce(g->a, s->expr, s->type));
    for (int k = 0; k < s->ndim; k++) good = rvm__check_value(g->a, s->args[k], RVM_I64) && good;
    if (s->ndim && s->tolerance) {
        rvm__diag(g->a, s->tolerance->at, D_TOLERANCE_ARRAY, NULL, NULL, NULL);
        return false;
    }
    return good && rvm__check_tolerance(g, s->tolerance, s->type);
}

static void lower_let(gen *g, stmt *s) {
    if (!s->name) return;
    bool good = check_let(g, s);
    var *v = rvm__declare(g, s->name, V_LOCAL, good || rvm__is_value_type(s->type) ? s->type : T_ERROR, s->ndim, s->name_at);
    if (!v) return;
    if (!good) {
        v->failed = true;
        return;
    }
    rvm__gen_var(g, v);
    v->signature = s->signature;
    v->types = s->types;
    v->let = s;
    if (s->ndim)
        emit_new(g, s, v, RVM_OP_new);
    else
        emit_let(g, s, v, RVM_OP_let);
}

void rvm__lower_scope_end(gen *g, const var *mark, bool releases) {
    while (g->vars && g->vars != mark) {
        const var *v = g->vars;
        if (releases && v->let && !v->failed) release(g, v->let, v);
        rvm__undeclare(g);
        if (!v->failed) rvm__gen_free_var(g, v);
    }
}

/* ---- updates ---- */

/* The target must be no operand: undoing the update would need the value that it changed. */
bool rvm__check_target(gen *g, const stmt *s, const expr *y, const expr *e) {
    const expr *found = y->kind == E_VAR ? (rvm__mentions(e, y->u.var) ? e : NULL) : rvm__finds_place(e, y);
    if (!found) return true;
    rvm__diag(g->a, found->at, D_TARGET_OPERAND, y->u.var->name->text, rvm__op_info[s->op].name, NULL);
    rvm__hint_target(g->a, s, e);
    return false;
}

bool rvm__check_factor(gen *g, const stmt *s, const expr *y, const expr *e) {
    bool factor = rvm__pair_of(s->op) == RVM_PAIR_mul && y->type == RVM_I64;
    if (!factor || (e->kind == E_VALUE && e->u.value.i & 1)) return true;
    rvm__diag(g->a, e->at, D_ODD_FACTOR, rvm__op_info[s->op].symbol, NULL, NULL);
    return false;
}

static bool check_update(gen *g, const stmt *s) {
    expr *target = s->args[0], *e = s->expr;
    const rvm_op_info *op = rvm__op_info + s->op;
    bool good = rvm__check_place(g->a, target, true);
    rvm__check(g->a, e, good ? target->type : T_NONE);
    if (!good || e->type == T_ERROR) return false;
    const bool lns = target->type == T_LNS && rvm__pair_of(s->op) == RVM_PAIR_mul;
    const char *function = target->signature ? g->a->program->signatures[target->signature - 1].text : NULL;
    if (function || (!lns && (target->type == T_LNS || !(op->types >> rvm__part_type(target->type) & 1) ||
                              (rvm__is_complex(target->type) && !(op->types & RVM_TYPES_R))))) {
        rvm__diag(g->a, s->at, D_UPDATE_TYPE, op->symbol, function ? function : rvm__type_text(target->type), NULL);
        if (!function && rvm__pair_of(s->op) == RVM_PAIR_xor)
            rvm__diag_hint(g->a, D_POWER_UPDATE, target->u.var->name->text, NULL, NULL);
        return false;
    }
    return rvm__coerce(g->a, e, target->type) && rvm__check_target(g, s, target, e) && rvm__check_factor(g, s, target, e);
}

static void lower_update(gen *g, const stmt *s) {
    if (s->row >= 0) {
        rvm__lower_raw_update(g, s);
        return;
    }
    if (!check_update(g, s)) return;
    if (rvm__is_complex(s->args[0]->type)) {
        rvm__lower_update_parts(g, s);
        return;
    }
    const rvm_op op = s->args[0]->type == T_LNS ? rvm__lns_op((rvm_op)s->op) : (rvm_op)s->op;
    uint32_t mark = g->ntemps;
    rvm_place places[4];
    int row;
    places[0] = rvm__lower_place(g, s->args[0]);
    uint32_t n = rvm__lower_root(g, s->expr, &row, places + 1);
    rvm__emit(g, op, row, 0, places, n + 1, s->at);
    rvm__unwind(g, mark);
}

/* ---- statements ---- */

static void lower_unchecked(gen *g, const stmt *s) {
    uint8_t flags = g->flags;
    g->flags |= RVM_FLAG_UNCHECKED;
    rvm__lower_block(g, s->body);
    g->flags = flags;
}

void rvm__lower_statements(gen *g, stmt *s) {
    for (; s && !g->a->oom; s = s->next) {
        g->at = s->at;
        if (s->broken && s->kind != S_LET && !s->body && !s->other) continue;
        switch ((stmt_kind)s->kind) {
        case S_LET: lower_let(g, s); break;
        case S_UPDATE: lower_update(g, s); break;
        case S_OP: rvm__lower_op(g, s); break;
        case S_CALL: rvm__lower_call(g, s); break;
        case S_IF: rvm__lower_if(g, s); break;
        case S_FROM: rvm__lower_from(g, s); break;
        case S_FOR: rvm__lower_for(g, s); break;
        case S_REGION: rvm__lower_region(g, s); break;
        case S_UNCHECKED: lower_unchecked(g, s); break;
        case S_LABEL: rvm__gen_label(g, s->name, s->name_at); break;
        case S_REG: rvm__lower_reg(g, s); break;
        case S_SET: rvm__lower_set_if(g, s); break;
        case S_DROP: rvm__lower_drop(g, s); break;
        case S_WHILE: rvm__lower_while(g, s); break;
        }
    }
}

void rvm__lower_block(gen *g, stmt *s) {
    const var *mark = g->vars;
    rvm__lower_statements(g, s);
    rvm__lower_scope_end(g, mark, true);
}

/* ---- functions ---- */

/* A length: a constant, or a name that the array's shape gives a value. */
static uint16_t declare_length(gen *g, expr *e) {
    bool fresh = e->kind == E_NAME && !e->u.name->constant && !e->u.name->var;
    if (fresh) {
        var *v = rvm__declare(g, e->u.name, V_LENGTH, RVM_I64, 0, e->at);
        if (v) v->slot = rvm__gen_reg(g, RVM_I64);
        return v ? v->slot : 0;
    }
    if (e->kind == E_NAME && e->u.name->var) {
        if (e->u.name->var->kind != V_LENGTH) rvm__diag(g->a, e->at, D_LENGTH_NAME, e->u.name->text, NULL, NULL);
        return e->u.name->var->slot;
    }
    if (!rvm__check_value(g->a, e, RVM_I64)) return 0;
    if (e->kind != E_VALUE || e->u.value.i < 0) {
        rvm__diag(g->a, e->at, D_LENGTH, NULL, NULL, NULL);
        return 0;
    }
    return rvm__gen_const(g, RVM_I64, e->u.value).slot;
}

static void add_param(gen *g, const var *v, const uint16_t dim[RVM_MAX_DIMS]) {
    for (int k = 0; v->part[0] && k < 2; k++) add_param(g, v->part[k], dim);
    if (v->part[0] || g->failed) return;
    char text[MAX_NAME + 8];
    const size_t length = (size_t)rvm__part_name(v, text, sizeof text);
    rvm_param out = {.type = (uint8_t)rvm__part_type(v->type), .ndim = v->ndim, .index = v->slot, .signature = v->signature};
    memcpy(out.dim, dim, sizeof out.dim);
    if (g->f->nparams == RVM_MAX_PARAMS) {
        rvm__diag(g->a, v->at, D_TOO_MANY, rvm__number(g->a, RVM_MAX_PARAMS), NULL, NULL);
        g->failed = true;
    } else if (rvm__function_add_param(g->a->program, g->f, &out, text, length) < 0)
        g->a->oom = true;
}

static void declare_params(gen *g) {
    const func *fn = g->fn;
    const var *vars[RVM_MAX_PARAMS];
    for (uint32_t k = 0; k < fn->nparams; k++) {
        const param *p = fn->params + k;
        var *v = rvm__declare(g, p->name, V_PARAM, p->type, p->ndim, p->at);
        if (!v || g->a->oom) return;
        v->from = 0;
        for (int i = 0; v->part[0] && i < 2; i++) v->part[i]->from = 0;
        v->signature = p->signature;
        v->types = p->types;
        rvm__gen_var(g, v);
        vars[k] = v;
    }
    for (uint32_t k = 0; k < fn->nparams; k++) { /* lengths are registers behind all scalars */
        const param *p = fn->params + k;
        uint16_t dim[RVM_MAX_DIMS] = {0};
        for (int d = 0; d < p->ndim; d++) dim[d] = declare_length(g, p->dim[d]);
        for (int part = 0; part < 2; part++) fn->params[k].place[part] = (uint16_t)(g->f->nparams + (uint32_t)part);
        add_param(g, vars[k], dim);
    }
}

void rvm__declare_function(assembler *a, func *fn) {
    gen state, *g = &state;
    rvm__gen_start(g, a, fn);
    a->lenient = fn->broken;
    declare_params(g);
    fn->scope = g->vars;
    for (var *v = g->vars; v; v = v->below) {
        v->again = v->name->var != v;
        if (!v->again) v->name->var = NULL;
    }
    fn->broken = fn->broken || g->failed;
    rvm__gen_free(g);
}

void rvm__lower_function(assembler *a, func *fn) {
    gen state, *g = &state;
    rvm__gen_start(g, a, fn);
    a->lenient = fn->broken;
    for (const written *w = fn->written; w; w = w->next) w->name->writer = fn;
    g->vars = fn->scope;
    for (var *v = g->vars; v; v = v->below)
        if (!v->again) v->name->var = v;
    rvm__emit(g, RVM_OP_start, -1, 0, NULL, 0, fn->at);
    const var *mark = g->vars;
    rvm__lower_statements(g, fn->body);
    rvm__lower_scope_end(g, mark, true);
    rvm__emit(g, RVM_OP_halt, -1, 0, NULL, 0, fn->end);
    rvm__resolve_jumps(g);
    rvm__lower_scope_end(g, NULL, false);
    if (!g->failed) rvm__function_finish(g->f);
    rvm__gen_free(g);
}
