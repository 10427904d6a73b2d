/* check_stmt.c: what statements ask of their operands. */
#include "asm.h"
#include "instruction.h"
#include <math.h>

bool rvm__check_tolerance(assembler *a, expr *e, int type) {
    if (!e) return true;
    if (!rvm__check_value(a, e, RVM_F64)) return false;
    bool good = e->kind == E_VALUE && e->u.value.f >= 0 && isfinite(e->u.value.f);
    const bool real = rvm__is_value_type(type) && type != RVM_I64;
    if (!good || !real) rvm__diag(a, e->at, good ? D_TOLERANCE_I64 : D_TOLERANCE, NULL, NULL, NULL);
    return good && real;
}

/* Of every leaf; what the type leaves open are names that stand here. */
static bool check_dims(assembler *a, const stmt *s, const var *v) {
    bool good = true;
    for (uint32_t k = 0; good && k < v->nparts; k++) good = check_dims(a, s, v->part[k]);
    for (int k = 0; good && !v->part && k < v->ndim; k++) {
        const expr *e = v->dim[k];
        if (v->whole && e->kind == E_NAME && !e->u.name->var && !e->u.name->constant) {
            rvm__diag(a, s->at, D_STATE_LENGTH, rvm__type_text(a, s->as->type), e->u.name->text, NULL);
            return false;
        }
        good = rvm__check_value(a, v->dim[k], RVM_I64);
    }
    return good;
}

bool rvm__check_let_state(assembler *a, const stmt *s, const var *v) {
    const record *r = rvm__record(a, v->type);
    const char *text = rvm__type_text(a, v->type);
    if (s->expr)
        rvm__diag(a, s->expr->at, D_STATE_LET, text, r->nmembers ? r->members[0].name->text : NULL, NULL);
    else if (s->tolerance)
        rvm__diag(a, s->tolerance->at, D_STATE_TOLERANCE, text, NULL, NULL);
    if (s->post) rvm__diag(a, s->post->at, D_STATE_RELEASE, text, NULL, NULL);
    return !s->expr && !s->post && !s->tolerance && !v->failed && check_dims(a, s, v);
}

/* e as a value of what let makes. */
static bool check_made(assembler *a, const stmt *s, expr *e) {
    if (!rvm__is_value_type(s->as->type)) return false;
    return s->as->signature ? rvm__check_function_type(a, e, s->as->signature) : rvm__coerce(a, e, s->as->type);
}

static bool check_release(assembler *a, const stmt *s) {
    if (!s->post) return true;
    rvm__check(a, s->post, s->as->type);
    return check_made(a, s, s->post);
}

bool rvm__check_let(assembler *a, stmt *s) {
    if (s->broken) return false;
    if (rvm__is_state(s->as->type)) return true;
    bool good = true;
    if (!s->expr) {
        s->expr = rvm__expr_whole(a, rvm__is_lns(s->as->type), s->at); /* which appears as 1 */
        if (!s->expr) return false;
    }
    rvm__check(a, s->expr, s->as->type);
    if (s->as->type == T_NONE) {
        s->as->signature = s->expr->signature;
        s->as->types = s->expr->types;
        s->as->type = (uint8_t)rvm__settle(a, s->expr, T_NONE);
    }
    good = check_made(a, s, s->expr);
    for (int k = 0; k < s->as->ndim; k++) good = rvm__check_value(a, s->as->dim[k], RVM_I64) && good;
    if (s->as->ndim && s->tolerance) {
        rvm__diag(a, s->tolerance->at, D_TOLERANCE_ARRAY, NULL, NULL, NULL);
        return false;
    }
    good = check_release(a, s) && good;
    return good && rvm__check_tolerance(a, s->tolerance, s->as->type);
}

/* ---- updates ---- */

bool rvm__check_target(assembler *a, const stmt *s, const expr *y, const expr *e) {
    const expr *found = y->kind == E_VAR ? (rvm__mentions(e, y->u.var) ? e : NULL) : rvm__finds_place(e, y);
    if (!found) return true;
    rvm__diag(a, found->at, D_TARGET_OPERAND, y->u.var->name->text, rvm__op_info[s->op].name, NULL);
    rvm__hint_target(a, s, e);
    return false;
}

bool rvm__check_factor(assembler *a, const stmt *s, const expr *y, const expr *e) {
    bool factor = rvm__pair_of(s->op) == RVM_PAIR_mul && y->type == RVM_I64;
    if (!factor || (e->kind == E_VALUE && e->u.value.i & 1)) return true;
    rvm__diag(a, e->at, D_ODD_FACTOR, rvm__op_info[s->op].symbol, NULL, NULL);
    return false;
}

bool rvm__check_update(assembler *a, const stmt *s) {
    expr *target = s->args[0], *e = s->expr;
    const rvm_op_info *op = rvm__op_info + s->op;
    bool good = rvm__check_place(a, target, true);
    rvm__check(a, e, good ? target->type : T_NONE);
    if (!good || e->type == T_ERROR) return false;
    const enum rvm_pair pair = rvm__pair_of(s->op);
    const bool is_lns = rvm__is_lns(target->type), sums = rvm__is_floating(rvm__part_type(target->type));
    const bool lns = is_lns && (pair == RVM_PAIR_mul || (pair == RVM_PAIR_add && sums));
    const char *function = target->signature ? a->program->signatures[target->signature - 1].text : NULL;
    if (function || (!lns && (is_lns || !(op->types >> rvm__part_type(target->type) & 1) ||
                              (rvm__is_complex(target->type) && !(op->types & RVM_TYPES_R))))) {
        rvm__diag(a, s->at, D_UPDATE_TYPE, op->symbol, function ? function : rvm__type_text(a, target->type), NULL);
        if (!function && pair == RVM_PAIR_xor) rvm__diag_hint(a, D_POWER_UPDATE, target->u.var->name->text, NULL, NULL);
        return false;
    }
    return rvm__coerce(a, e, target->type) && rvm__check_target(a, s, target, e) && rvm__check_factor(a, s, target, e);
}

/* ---- set, drop, conditions ---- */

bool rvm__check_set(assembler *a, const stmt *s) {
    expr *y = s->args[0], *e = s->expr;
    bool good = rvm__check_place(a, y, true);
    rvm__check(a, e, good ? y->type : T_NONE);
    return good && e->type != T_ERROR && rvm__coerce(a, e, y->type);
}

bool rvm__check_drop(assembler *a, expr *e) {
    return rvm__names_whole(e) ? rvm__check_part(a, e) >= 0 : rvm__check_place(a, e, true);
}

bool rvm__check_condition(assembler *a, expr *e) {
    if (!e) return false;
    rvm__check(a, e, T_NONE);
    int type = rvm__settle(a, e, T_NONE);
    if (type == RVM_I64) return true;
    if (type != T_ERROR) rvm__diag(a, e->at, D_CONDITION, rvm__type_text(a, type), NULL, NULL);
    return false;
}
