/* check.c: expressions: names found, types known, constants folded, conversions written out. In place: a checked tree holds
 * only the kinds below E_CALL, and constants.
 *
 * A constant has no type (T_INT, T_REAL) until it meets one; until then it is exact, where it can be. i64 widens to a real
 * where a real is needed; nothing else converts.
 */
#include "asm.h"
#include "instruction.h"

static bool is_real(int type) {
    return type < RVM_TYPE_COUNT && type != RVM_I64;
}

/* ---- types ---- */

/* The type that operands of types x and y share. */
static int join(assembler *a, int x, int y) {
    if (x == T_ERROR || y == T_ERROR) return T_ERROR;
    if (x == y || y == T_INT) return x;
    if (x == T_INT) return y;
    if (x == T_REAL) return y == RVM_I64 ? (int)a->options.real : y;
    if (y == T_REAL) return x == RVM_I64 ? (int)a->options.real : x;
    if (x == RVM_I64) return y;
    return y == RVM_I64 ? x : T_ERROR;
}

static expr *copy_of(assembler *a, const expr *e) {
    expr *copy = rvm__arena(a, sizeof *copy);
    if (copy) *copy = *e;
    return copy;
}

/* e becomes row(what it was, second). */
static void wrap(assembler *a, expr *e, rvm_row row, int type, expr *second) {
    expr *kid = copy_of(a, e);
    expr **kids = rvm__arena(a, 2 * sizeof *kids);
    if (!kid || !kids) {
        rvm__failed(e);
        return;
    }
    kids[0] = kid;
    kids[1] = second;
    e->kind = E_ROW;
    e->op = (uint8_t)row;
    e->type = (uint8_t)type;
    e->kids = kids;
    e->nkids = second ? 2 : 1;
}

bool rvm__coerce(assembler *a, expr *e, int type) {
    if (e->type == T_ERROR) return false;
    if (e->signature) {
        rvm__wrong(a, e, D_FN_MISMATCH, rvm__type_text(type), a->program->signatures[e->signature - 1].text, NULL);
        return false;
    }
    if (e->type == type) return true;
    if (type >= RVM_TYPE_COUNT) return rvm__coerce_number(a, e, type);
    if (rvm__is_constant(e)) return rvm__constant_as(a, e, (rvm_type)type);
    if (e->type == RVM_I64 && is_real(type)) {
        wrap(a, e, RVM_ROW_conv, type, NULL);
        return e->kind != E_ERROR;
    }
    const diag d = rvm__is_complex(e->type) && is_real(type) ? D_COMPLEX_FOUND : D_MISMATCH;
    rvm__wrong(a, e, d, rvm__type_text(type), rvm__type_text(e->type), NULL);
    return false;
}

bool rvm__check_value(assembler *a, expr *e, int type) {
    rvm__check(a, e, type);
    return rvm__coerce(a, e, type);
}

int rvm__settle(assembler *a, expr *e, int want) {
    if (e->type == T_INT && want >= RVM_TYPE_COUNT) want = RVM_I64;
    if (e->type == T_REAL && !is_real(want)) want = (int)a->options.real;
    if (rvm__is_constant(e)) rvm__coerce(a, e, (rvm_type)want);
    return e->type;
}

/* ---- rows ---- */

/* The operands' common type, told when there is none; `from`: the first operand that counts. */
static int common(assembler *a, expr *e, int from) {
    int type = e->kids[from]->type;
    for (int k = from + 1; k < e->nkids; k++) {
        int other = e->kids[k]->type, joined = join(a, type, other);
        if (joined == T_ERROR && type != T_ERROR && other != T_ERROR)
            rvm__wrong(a, e, D_MIX, rvm__type_text(type), rvm__type_text(other), NULL);
        type = joined;
    }
    return type;
}

static const char *operator_text(const expr *e, rvm_row row) {
    return e->kind == E_BINARY || e->kind == E_UNARY ? rvm__operators[e->op].text : rvm__row_info[row].name;
}

/* Operand type for a signature, from the operands' common type. */
static int operand_type(assembler *a, expr *e, rvm_row row, int type, int want) {
    switch (rvm__row_info[row].sig) {
    case RVM_SIG_REAL:
    case RVM_SIG_POS:
        if (type == RVM_I64 && row == RVM_ROW_div) {
            rvm__wrong(a, e, D_DIVIDE_I64, NULL, NULL, NULL);
            return T_ERROR;
        }
        if (type == T_INT) return T_REAL;
        return type != RVM_I64 ? type : is_real(want) ? want : (int)a->options.real;
    case RVM_SIG_INT:
    case RVM_SIG_QUOT:
        if (type == RVM_I64 || type == T_INT || type == T_ERROR) return type;
        rvm__wrong(a, e, D_NEEDS_I64, operator_text(e, row), rvm__type_text(type), NULL);
        return T_ERROR;
    case RVM_SIG_NUM:
    case RVM_SIG_CMP:
    case RVM_SIG_SEL:
    case RVM_SIG_CONV:
    case RVM_SIG_COUNT: break;
    }
    return type;
}

static bool all_constant(const expr *e) {
    for (int k = 0; k < e->nkids; k++)
        if (!rvm__is_constant(e->kids[k])) return false;
    return true;
}

/* Operands checked before; makes e an E_ROW or a constant. */
static void finish_row(assembler *a, expr *e, rvm_row row, int want) {
    if (rvm__check_number(a, e, rvm__row_info[row].name, want)) return;
    rvm_sig sig = rvm__row_info[row].sig;
    int from = sig == RVM_SIG_SEL, type = common(a, e, from);
    if (e->kind != E_ERROR) type = operand_type(a, e, row, type, want);
    if (type == T_ERROR || e->kind == E_ERROR) {
        rvm__failed(e);
        return;
    }
    if (from && e->kids[0]->type == T_REAL) rvm__coerce(a, e->kids[0], RVM_I64);
    if (all_constant(e) && e->kids[0]->kind != E_ERROR) {
        rvm__fold(a, e, row, type);
        return;
    }
    if (type == T_INT) type = is_real(want) && sig == RVM_SIG_SEL ? want : RVM_I64;
    if (type == T_REAL) type = is_real(want) ? want : (int)a->options.real;
    bool good = true;
    for (int k = 0; k < e->nkids; k++) good = rvm__coerce(a, e->kids[k], k < from ? RVM_I64 : (rvm_type)type) && good;
    if (good && sig == RVM_SIG_QUOT && e->kids[1]->kind == E_VALUE && !e->kids[1]->u.value.i) {
        rvm__wrong(a, e->kids[1], D_ZERO_DIVISOR, NULL, NULL, NULL);
        good = false;
    }
    e->kind = good ? E_ROW : E_ERROR;
    e->op = (uint8_t)row;
    e->type = (uint8_t)(!good ? T_ERROR : sig == RVM_SIG_CMP ? RVM_I64 : type);
}

static void check_kids(assembler *a, expr *e, int want) {
    for (int k = 0; k < e->nkids; k++) rvm__check(a, e->kids[k], want);
}

static void check_row(assembler *a, expr *e, rvm_row row, int want) {
    rvm_sig sig = rvm__row_info[row].sig;
    bool passes = sig == RVM_SIG_NUM || sig == RVM_SIG_REAL || sig == RVM_SIG_SEL || sig == RVM_SIG_POS;
    for (int k = 0; k < e->nkids; k++) rvm__check(a, e->kids[k], passes && !(sig == RVM_SIG_SEL && k == 0) ? want : T_NONE);
    const bool compares = (row == RVM_ROW_eq || row == RVM_ROW_ne) && e->kids[0]->signature && e->kids[1]->signature;
    for (int k = 0; k < e->nkids && compares; k++) e->kids[k]->signature = 0; /* their numbers */
    finish_row(a, e, row, want);
}

/* ---- and, or, not: of truth values ---- */

static bool is_truth(const expr *e) {
    if (e->kind != E_ROW) return false;
    if (rvm__row_info[e->op].sig == RVM_SIG_CMP) return true;
    return (e->op == RVM_ROW_and || e->op == RVM_ROW_or) && is_truth(e->kids[0]) && is_truth(e->kids[1]);
}

static expr *zero(assembler *a, span at) {
    expr *e = rvm__expr_whole(a, 0, at);
    if (e) rvm__coerce(a, e, RVM_I64);
    return e;
}

/* e as 0 or 1; `negated`: not e. */
static bool truth(assembler *a, expr *e, bool negated) {
    if (e->type == T_INT) {
        const exact *x = rvm__exact(a, (e->u.exact->n != 0) != negated);
        if (x) rvm__set_exact(e, x, T_INT);
        return x;
    }
    if (e->type == T_ERROR) return false;
    if (e->type != RVM_I64) {
        rvm__wrong(a, e, D_CONDITION, rvm__type_text(e->type), NULL, NULL);
        return false;
    }
    expr *none = zero(a, e->at);
    if (none && (negated || !is_truth(e))) wrap(a, e, negated ? RVM_ROW_eq : RVM_ROW_ne, RVM_I64, none);
    return none && e->kind != E_ERROR;
}

static void check_logic(assembler *a, expr *e) {
    bool good = true;
    check_kids(a, e, T_NONE);
    for (int k = 0; k < e->nkids; k++) good = truth(a, e->kids[k], e->op == O_NOT) && good;
    if (!good)
        rvm__failed(e);
    else if (e->op == O_NOT)
        rvm__become(e, e->kids[0]);
    else
        finish_row(a, e, e->op == O_AND ? RVM_ROW_and : RVM_ROW_or, T_NONE);
}

/* ---- powers ---- */

enum { MAX_POWER = 64 };

/* base ^ n, base no constant */
static void small_power(assembler *a, expr *e, int64_t n, int want) {
    expr *base = e->kids[0];
    if (n == 2) {
        e->nkids = 1;
        finish_row(a, e, RVM_ROW_sqr, want);
    } else if (is_real(base->type))
        finish_row(a, e, RVM_ROW_pow, want);
    else if (n < 0 || n > MAX_POWER) {
        rvm__wrong(a, e, D_POWER_I64, rvm__number(a, MAX_POWER), NULL, NULL);
        rvm__hint_power(a, base, e->kids[1]);
    } else if (n == 1)
        rvm__become(e, base);
    else if (n == 0)
        rvm__set_exact(e, rvm__exact(a, 1), T_INT);
    else {
        e->kind = E_POWER;
        e->type = RVM_I64;
        e->nkids = 1;
        e->u.i = n;
    }
}

/* Of whole constants: whole, or a fraction. */
static void whole_power(assembler *a, expr *e) {
    const exact *n = e->kids[1]->u.exact, *x = rvm__exact_power(a, e->kids[0]->u.exact, n);
    if (x)
        rvm__set_exact(e, x, n->negative ? T_REAL : T_INT);
    else if (n->negative)
        rvm__fold(a, e, RVM_ROW_pow, T_REAL);
    else
        rvm__wrong(a, e, D_EXACT_LONG, rvm__number(a, EXACT_BITS), NULL, NULL);
}

static void check_power(assembler *a, expr *e, int want) {
    expr *base = e->kids[0], *exponent = e->kids[1];
    rvm__check(a, base, want);
    rvm__check(a, exponent, T_NONE);
    const bool whole = exponent->type == T_INT;
    int64_t n = INT64_MAX;
    const bool square = whole && rvm__exact_i64(exponent->u.exact, &n) && n == 2;
    if (base->type == T_ERROR || exponent->type == T_ERROR)
        rvm__failed(e);
    else if (base->type > T_NONE) {
        if (square) e->nkids = 1;
        finish_row(a, e, square ? RVM_ROW_sqr : RVM_ROW_pow, want);
    } else if (whole && base->type == T_INT)
        whole_power(a, e);
    else if (whole && !rvm__is_constant(base))
        small_power(a, e, n, want);
    else if (square) {
        e->nkids = 1;
        finish_row(a, e, RVM_ROW_sqr, want);
    } else if (join(a, base->type, exponent->type) == RVM_I64) {
        rvm__wrong(a, e, D_POWER_I64, rvm__number(a, MAX_POWER), NULL, NULL);
        rvm__hint_power(a, base, exponent);
    } else
        finish_row(a, e, RVM_ROW_pow, want);
}

/* ---- calls in expressions: conversions and rows ---- */

static void convert(assembler *a, expr *e, rvm_type type) {
    expr *kid = e->kids[0];
    rvm__check(a, kid, T_NONE);
    if (kid->type == T_ERROR)
        rvm__failed(e);
    else if (kid->type == T_LNS)
        rvm__lns_to_real(a, e, type);
    else if (kid->type > T_NONE)
        rvm__wrong(a, e, D_COMPLEX_AS_REAL, rvm_type_name(type), NULL, NULL);
    else if (rvm__is_constant(kid)) {
        rvm__become(e, kid);
        if (!rvm__constant_convert(a, e, type)) rvm__failed(e);
    } else if (kid->type == type)
        rvm__become(e, kid);
    else {
        e->kind = E_ROW;
        e->op = RVM_ROW_conv;
        e->type = (uint8_t)type;
    }
}

static void check_call(assembler *a, expr *e, int want) {
    const name *n = e->u.name;
    if (rvm__check_number_call(a, e, want)) return;
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
    else if (n->type >= 0)
        convert(a, e, (rvm_type)n->type);
    else
        check_row(a, e, (rvm_row)n->row, want);
}

/* ---- expressions ---- */

void rvm__check(assembler *a, expr *e, int want) {
    if (e->checked) return;
    e->checked = true;
    switch ((expr_kind)e->kind) {
    case E_NAME:
    case E_INDEX: rvm__check_scalar(a, e); break;
    case E_RANGE: rvm__wrong(a, e, D_RANGE, NULL, NULL, NULL); break;
    case E_CALL: check_call(a, e, want); break;
    case E_FN: rvm__check_function(a, e); break;
    case E_UNARY:
        if (e->op == O_NOT)
            check_logic(a, e);
        else
            check_row(a, e, (rvm_row)rvm__operators[e->op].row, want);
        break;
    case E_BINARY:
        if (e->op == O_POWER)
            check_power(a, e, want);
        else if (rvm__operators[e->op].row < 0)
            check_logic(a, e);
        else
            check_row(a, e, (rvm_row)rvm__operators[e->op].row, want);
        break;
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
