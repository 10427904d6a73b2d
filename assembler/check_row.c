/* check_row.c: operations over checked operands: rows, truth values, powers, conversions. Constants are folded, the
 * conversions of operands written out.
 */
#include "asm.h"
#include "instruction.h"

/* ---- rows ---- */

/* The operands' common type, told when there is none; `from`: the first operand that counts. */
static int common(assembler *a, expr *e, int from) {
    int type = e->kids[from]->type;
    for (int k = from + 1; k < e->nkids; k++) {
        int other = e->kids[k]->type, joined = rvm__join_types(a, type, other);
        if (joined == T_ERROR && type != T_ERROR && other != T_ERROR)
            rvm__wrong(a, e, D_MIX, rvm__type_text(a, type), rvm__type_text(a, other), NULL);
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
    case RVM_SIG_ORD:
        if (type == RVM_I64 && row == RVM_ROW_div) {
            rvm__wrong(a, e, D_DIVIDE_I64, NULL, NULL, NULL);
            return T_ERROR;
        }
        if (type == T_INT) return T_REAL;
        return type != RVM_I64 ? type : rvm__is_real(want) ? want : (int)a->options.real;
    case RVM_SIG_INT:
    case RVM_SIG_QUOT:
        if (type == RVM_I64 || type == T_INT || type == T_ERROR) return type;
        rvm__wrong(a, e, D_NEEDS_I64, operator_text(e, row), rvm__type_text(a, type), NULL);
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

void rvm__finish_row(assembler *a, expr *e, rvm_row row, int want) {
    if (rvm__check_number(a, e, rvm__row_info[row].name, want)) return;
    rvm_sig sig = rvm__row_info[row].sig;
    int from = rvm__row_first(row), type = common(a, e, from);
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
    if (type == T_INT) type = rvm__is_real(want) && sig == RVM_SIG_SEL ? want : RVM_I64;
    if (type == T_REAL) type = rvm__is_real(want) ? want : (int)a->options.real;
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
        rvm__wrong(a, e, D_CONDITION, rvm__type_text(a, e->type), NULL, NULL);
        return false;
    }
    expr *none = zero(a, e->at);
    if (none && (negated || !is_truth(e))) rvm__wrap(a, e, negated ? RVM_ROW_eq : RVM_ROW_ne, RVM_I64, none);
    return none && e->kind != E_ERROR;
}

/* An operation for the values that it finds: by its domain; since its temporary is NaN, which is released as nothing; or by
 * OVERFLOW. Sums and products of floats are NaN from infinities alone; comparisons and selections compute nothing. */
static bool row_fails(const expr *e) {
    const rvm_sig sig = rvm__row_info[e->op].sig;
    const bool computes = sig == RVM_SIG_NUM || sig == RVM_SIG_CONV;
    return rvm__row_has_domain((rvm_row)e->op) || sig == RVM_SIG_REAL || sig == RVM_SIG_ORD ||
           (computes && e->type == RVM_FIX);
}

/* Of a checked expression. */
static bool may_fail(const expr *e) {
    if (e->kind == E_ELEM || e->kind == E_COMPLEX || (e->kind == E_ROW && row_fails(e))) return true;
    for (int k = 0; k < e->nkids; k++)
        if (may_fail(e->kids[k])) return true;
    return false;
}

bool rvm__is_decided(const expr *e) {
    const expr *first = e->kids[0];
    if (e->op == O_NOT || (!rvm__is_whole(first) && first->kind != E_VALUE) || first->type == T_REAL) return false;
    const bool is = first->kind == E_VALUE ? first->u.value.i != 0 : first->u.exact->n != 0;
    return is == (e->op == O_OR);
}

void rvm__finish_logic(assembler *a, expr *e) {
    const bool guards = e->op != O_NOT && may_fail(e->kids[1]), any = e->op == O_OR;
    bool good = true;
    for (int k = 0; k < e->nkids; k++) good = truth(a, e->kids[k], e->op == O_NOT) && good;
    if (!good)
        rvm__failed(e);
    else if (e->op == O_NOT)
        rvm__become(e, e->kids[0]);
    else
        rvm__finish_row(a, e, any ? RVM_ROW_or : RVM_ROW_and, T_NONE);
    e->guards = guards && e->kind == E_ROW;
}

/* ---- powers ---- */

enum { MAX_POWER = 64 };

/* base ^ n, base no constant */
static void small_power(assembler *a, expr *e, int64_t n, int want) {
    expr *base = e->kids[0];
    if (n == 2) {
        e->nkids = 1;
        rvm__finish_row(a, e, RVM_ROW_sqr, want);
    } else if (rvm__is_real(base->type))
        rvm__finish_row(a, e, RVM_ROW_pow, want);
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

void rvm__finish_power(assembler *a, expr *e, int want) {
    expr *base = e->kids[0], *exponent = e->kids[1];
    const bool whole = exponent->type == T_INT;
    int64_t n = INT64_MAX;
    const bool square = whole && rvm__exact_i64(exponent->u.exact, &n) && n == 2;
    if (base->type == T_ERROR || exponent->type == T_ERROR)
        rvm__failed(e);
    else if (base->type > T_NONE) {
        if (square) e->nkids = 1;
        rvm__finish_row(a, e, square ? RVM_ROW_sqr : RVM_ROW_pow, want);
    } else if (whole && base->type == T_INT)
        whole_power(a, e);
    else if (whole && !rvm__is_constant(base))
        small_power(a, e, n, want);
    else if (square) {
        e->nkids = 1;
        rvm__finish_row(a, e, RVM_ROW_sqr, want);
    } else if (rvm__join_types(a, base->type, exponent->type) == RVM_I64) {
        rvm__wrong(a, e, D_POWER_I64, rvm__number(a, MAX_POWER), NULL, NULL);
        rvm__hint_power(a, base, exponent);
    } else
        rvm__finish_row(a, e, RVM_ROW_pow, want);
}

/* ---- conversions ---- */

void rvm__finish_conversion(assembler *a, expr *e, rvm_type type) {
    expr *kid = e->kids[0];
    if (kid->type == T_ERROR)
        rvm__failed(e);
    else if (rvm__is_lns(kid->type))
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
