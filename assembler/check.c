/* check.c: expressions by recursive descent: names found, types known, constants folded, conversions written out. In place:
 * a checked tree holds only the kinds below E_CALL, and constants.
 */
#include "asm.h"
#include "instruction.h"

bool rvm__check_value(assembler *a, expr *e, int type) {
    rvm__check(a, e, type);
    return rvm__coerce(a, e, type);
}

/* ---- names ---- */

/* Each use of a constant goes its own way. */
static void take_constant(assembler *a, expr *e) {
    constant *c = e->u.name->constant;
    const expr *value = rvm__constant_resolve(a, c) ? rvm__tree_copy(a, c->expr) : NULL;
    if (value)
        rvm__become(e, value);
    else
        rvm__failed(e);
}

/* A subscript, or lo..hi. */
static bool check_subscript(assembler *a, expr *s) {
    if (s->kind != E_RANGE) return rvm__check_value(a, s, RVM_I64);
    const bool good = rvm__check_value(a, s->kids[0], RVM_I64);
    return rvm__check_value(a, s->kids[1], RVM_I64) && good;
}

static int check_element(assembler *a, expr *e) {
    const var *v = rvm__check_array(a, e);
    if (!v) return -1;
    if (!v->ndim) {
        rvm__wrong(a, e, D_NO_ARRAY, v->name->text, NULL, NULL);
        return -1;
    }
    if (e->nkids > v->ndim || !e->nkids) {
        rvm__wrong(a, e, D_SUBSCRIPTS, v->name->text, rvm__number(a, v->ndim), rvm__number(a, e->nkids));
        return -1;
    }
    e->op = (uint8_t)(v->ndim - e->nkids);
    for (int k = 0; k < e->nkids; k++) {
        e->op = (uint8_t)(e->op + (e->kids[k]->kind == E_RANGE));
        if (!check_subscript(a, e->kids[k])) rvm__failed(e);
    }
    if (e->kind == E_PART && !e->op) e->kind = E_ELEM;
    return e->kind == E_ERROR ? -1 : e->op;
}

int rvm__check_part(assembler *a, expr *e) {
    if (e->checked) return e->kind == E_ERROR ? -1 : e->kind == E_COMPLEX ? 0 : e->op;
    e->checked = true;
    if (e->kind != E_NAME) return check_element(a, e);
    if (!e->u.name->var && e->u.name->constant)
        take_constant(a, e);
    else
        rvm__check_variable(a, e);
    if (e->kind == E_COMPLEX) return 0; /* a constant, whose op is its row */
    e->op = e->kind == E_VAR ? e->u.var->ndim : 0;
    return e->kind == E_ERROR ? -1 : e->op;
}

/* A scalar by name or subscripts. */
static void check_scalar(assembler *a, expr *e) {
    const name *n = e->u.name;
    e->checked = false;
    int ndim = rvm__check_part(a, e);
    if (!ndim && rvm__is_state(e->type)) {
        const record *r = rvm__record(a, e->type);
        rvm__wrong(a, e, D_STATE_VALUE, n->text, rvm__type_text(a, r->type), r->nmembers ? r->members[0].name->text : NULL);
    }
    if (ndim <= 0) return;
    if (e->kind == E_VAR)
        rvm__wrong(a, e, D_ARRAY_VALUE, n->text, NULL, NULL);
    else if (e->nkids == e->u.var->ndim)
        rvm__wrong(a, e, D_RANGE, NULL, NULL, NULL);
    else
        rvm__wrong(a, e, D_SUBSCRIPTS, n->text, rvm__number(a, e->u.var->ndim), rvm__number(a, e->nkids));
}

bool rvm__check_place(assembler *a, expr *e, bool change) {
    if (e->kind != E_NAME && e->kind != E_INDEX) {
        rvm__check(a, e, T_NONE);
        if (e->kind != E_ERROR) rvm__wrong(a, e, D_NOT_PLACE, NULL, NULL, NULL);
        return false;
    }
    const name *n = e->u.name;
    check_scalar(a, e);
    if (e->kind == E_ERROR) return false;
    e->checked = true;
    if (e->kind != E_VAR && e->kind != E_ELEM) {
        rvm__wrong(a, e, D_CHANGE_CONST, n->text, NULL, NULL);
        return false;
    }
    if (!change || e->kind == E_ELEM) return true;
    switch ((var_kind)e->u.var->kind) {
    case V_LENGTH: rvm__wrong(a, e, D_CHANGE_LENGTH, n->text, NULL, NULL); return false;
    case V_INDEX: rvm__wrong(a, e, D_CHANGE_INDEX, n->text, NULL, NULL); return false;
    case V_LOCAL:
    case V_PARAM: break;
    }
    return true;
}

/* ---- operations ---- */

static void check_kids(assembler *a, expr *e, int want) {
    for (int k = 0; k < e->nkids; k++) rvm__check(a, e->kids[k], want);
}

static void check_row(assembler *a, expr *e, rvm_row row, int want) {
    rvm_sig sig = rvm__row_info[row].sig;
    bool passes =
        sig == RVM_SIG_NUM || sig == RVM_SIG_REAL || sig == RVM_SIG_SEL || sig == RVM_SIG_POS || sig == RVM_SIG_ORD;
    for (int k = 0; k < e->nkids; k++) rvm__check(a, e->kids[k], passes && k >= rvm__row_first(row) ? want : T_NONE);
    const bool compares = (row == RVM_ROW_eq || row == RVM_ROW_ne) && e->kids[0]->signature && e->kids[1]->signature;
    for (int k = 0; k < e->nkids && compares; k++) e->kids[k]->signature = 0; /* their numbers */
    rvm__finish_row(a, e, row, want);
}

static void check_call(assembler *a, expr *e, int want) {
    const name *n = e->u.name;
    if (rvm__is_number_call(n)) {
        check_kids(a, e, T_NONE);
        rvm__finish_number_call(a, e, want);
        return;
    }
    int arity = n->type >= 0 ? 1 : n->row >= 0 ? rvm__row_info[n->row].arity : -1;
    if (n->row == RVM_ROW_conv)
        rvm__wrong(a, e, D_CONV, NULL, NULL, NULL);
    else if (arity < 0 && n->func)
        rvm__wrong(a, e, D_FUNCTION_VALUE, n->text, NULL, NULL);
    else if (arity < 0) {
        rvm__wrong(a, e, D_UNKNOWN_ROW, n->text, rvm__near(a, n, NEAR_ROW), NULL);
        rvm__hint_word(a, n->text);
    } else if (arity != e->nkids)
        rvm__wrong(a, e, D_ARITY, n->text, rvm__number(a, arity), rvm__number(a, e->nkids));
    else if (n->type >= 0) {
        check_kids(a, e, T_NONE);
        rvm__finish_conversion(a, e, (rvm_type)n->type);
    } else
        check_row(a, e, (rvm_row)n->row, want);
}

/* Of what is not computed: that names stand for something. */
static void check_names(assembler *a, expr *e) {
    const name *n = e->u.name;
    if ((e->kind == E_NAME || e->kind == E_INDEX) && !n->var && !n->constant) rvm__check_variable(a, e);
    if (e->kind == E_CALL && n->type < 0 && n->row < 0 && !rvm__is_number_call(n)) check_call(a, e, T_NONE);
    for (int k = 0; k < e->nkids; k++) check_names(a, e->kids[k]);
}

/* What the first operand decides, the second need not say. */
static void check_logic(assembler *a, expr *e) {
    rvm__check(a, e->kids[0], T_NONE);
    const exact *x = rvm__is_decided(e) ? rvm__exact(a, e->op == O_OR) : NULL;
    if (x) {
        check_names(a, e->kids[1]);
        rvm__set_exact(e, x, T_INT);
        return;
    }
    if (e->op != O_NOT) rvm__check(a, e->kids[1], T_NONE);
    rvm__finish_logic(a, e);
}

static void check_operator(assembler *a, expr *e, int want) {
    const int row = rvm__operators[e->op].row;
    if (e->op == O_POWER) {
        rvm__check(a, e->kids[0], want);
        rvm__check(a, e->kids[1], T_NONE);
        rvm__finish_power(a, e, want);
    } else if (row < 0) {
        check_logic(a, e);
    } else
        check_row(a, e, (rvm_row)row, want);
}

void rvm__check(assembler *a, expr *e, int want) {
    if (e->checked) return;
    e->checked = true;
    switch ((expr_kind)e->kind) {
    case E_NAME:
    case E_INDEX: check_scalar(a, e); break;
    case E_RANGE: rvm__wrong(a, e, D_RANGE, NULL, NULL, NULL); break;
    case E_CALL: check_call(a, e, want); break;
    case E_FN: rvm__check_function(a, e); break;
    case E_UNARY:
    case E_BINARY: check_operator(a, e, want); break;
    case E_EXACT:
    case E_REAL:
    case E_VALUE:
    case E_VAR:
    case E_ELEM:
    case E_PART:
    case E_ROW:
    case E_POWER:
    case E_COMPLEX:
    case E_PLACE:
    case E_ERROR: break;
    }
    e->checked = true;
}

/* ---- constants ---- */

static bool is_complex_constant(const expr *e) {
    bool good = e->kind == E_COMPLEX;
    for (int k = 0; good && k < e->nkids; k++) good = e->kids[k]->kind == E_VALUE || is_complex_constant(e->kids[k]);
    return good;
}

bool rvm__constant_resolve(assembler *a, constant *c) {
    if (c->state == 1 || a->constant_depth > MAX_NESTING) {
        rvm__diag(a, c->at, c->state == 1 ? D_CONST_CYCLE : D_CONST_DEEP, c->name->text, NULL, NULL);
        c->state = 2;
        c->expr = NULL;
    }
    if (c->state == 2 || !c->expr) return c->expr && c->expr->kind != E_ERROR;
    c->state = 1;
    a->constant_depth++;
    expr *e = c->expr;
    rvm__check(a, e, T_NONE);
    a->constant_depth--;
    if (c->state == 2) return false; /* a cycle came back here */
    c->state = 2;
    if (e->kind != E_ERROR && !rvm__is_constant(e) && !is_complex_constant(e))
        rvm__wrong(a, e, D_NOT_CONSTANT, c->name->text, NULL, NULL);
    if (e->kind == E_ERROR) return false;
    if (e->kind == E_COMPLEX) rvm__fold_complex(a, e);
    if (e->kind == E_ERROR) return false;
    if (e->kind == E_COMPLEX) return c->type == T_NONE || rvm__coerce(a, e, c->type);
    int64_t i;
    if (c->type == RVM_I64 && !(e->kind == E_EXACT && rvm__exact_i64(e->u.exact, &i)))
        return rvm__constant_as(a, e, RVM_I64);
    return c->type == T_NONE || c->type == RVM_I64 || rvm__constant_convert(a, e, (rvm_type)c->type);
}
