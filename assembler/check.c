/* check.c: expressions: names found, types known, constants folded, conversions written out. In place: a checked tree holds
 * only the kinds below E_CALL, and constants.
 *
 * A constant has no type (T_INT, T_REAL) until it meets one. i64 widens to a real where a real is needed; nothing else
 * converts.
 */
#include "asm.h"
#include <math.h>
#include <string.h>

static bool is_constant(const expr *e) {
    return e->type == T_INT || e->type == T_REAL;
}
static bool is_real(int type) {
    return type < RVM_TYPE_COUNT && type != RVM_I64;
}

static void set_int(expr *e, int64_t v) {
    e->kind = E_INT;
    e->type = T_INT;
    e->u.i = v;
}
static void set_real(expr *e, double v) {
    e->kind = E_REAL;
    e->type = T_REAL;
    e->u.f = v;
}

static double real_of(const expr *e) {
    return e->type == T_INT ? (double)e->u.i : e->u.f;
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

static bool constant_as(assembler *a, expr *e, rvm_type type) {
    rvm_value v = {0};
    if (type == RVM_I64 && e->type == T_REAL) {
        rvm__wrong(a, e, D_REAL_AS_I64, NULL, NULL, NULL);
        return false;
    }
    double real = real_of(e);
    if (type == RVM_FIX && !(real >= -1048576.0 && real < 1048576.0)) {
        rvm__wrong(a, e, D_FIX_RANGE, NULL, NULL, NULL);
        return false;
    }
    switch (type) {
    case RVM_I64: v.i = e->u.i; break;
    case RVM_F64: v.f = real; break;
    case RVM_F32: v.f = (float)real; break;
    case RVM_FIX: v.i = rvm_fix_from_double(real); break;
    case RVM_TYPE_COUNT: return false;
    }
    e->kind = E_VALUE;
    e->type = (uint8_t)type;
    e->u.value = v;
    return true;
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
    if (is_constant(e)) return constant_as(a, e, (rvm_type)type);
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
    if (is_constant(e)) rvm__coerce(a, e, (rvm_type)want);
    return e->type;
}

/* ---- rows ---- */

static void fold(assembler *a, expr *e, rvm_row row, int type) {
    rvm_value v[3] = {{0}}, out = {0};
    rvm_sig sig = rvm__row_info[row].sig;
    for (int k = 0; k < e->nkids; k++) {
        bool whole = type == T_INT || (sig == RVM_SIG_SEL && k == 0);
        if (whole)
            v[k].i = e->kids[k]->u.i;
        else
            v[k].f = real_of(e->kids[k]);
    }
    if (!rvm__fold(row, type == T_REAL, v, &out))
        rvm__wrong(a, e, sig == RVM_SIG_POS ? D_NOT_POSITIVE : D_ZERO_DIVISOR, NULL, NULL, NULL);
    else if (type == T_INT || sig == RVM_SIG_CMP)
        set_int(e, out.i);
    else
        set_real(e, out.f);
}

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
        if (!is_constant(e->kids[k])) return false;
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
        fold(a, e, row, type);
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
    expr *e = rvm__expr_new(a, E_INT, at, 0);
    if (!e) return NULL;
    set_int(e, 0);
    rvm__coerce(a, e, RVM_I64);
    return e;
}

/* e as 0 or 1; `negated`: not e. */
static bool truth(assembler *a, expr *e, bool negated) {
    if (e->type == T_INT) {
        set_int(e, (e->u.i != 0) != negated);
        return true;
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

static int64_t whole_power(int64_t x, int64_t n) {
    uint64_t r = 1, base = (uint64_t)x;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1) r *= base;
    return (int64_t)r;
}

/* base ^ n, base no constant */
static void small_power(assembler *a, expr *e, int64_t n, int want) {
    expr *base = e->kids[0];
    if (n == 2) {
        e->nkids = 1;
        finish_row(a, e, RVM_ROW_sqr, want);
    } else if (is_real(base->type))
        finish_row(a, e, RVM_ROW_pow, want);
    else if (n < 0 || n > MAX_POWER)
        rvm__wrong(a, e, D_POWER_I64, rvm__number(a, MAX_POWER), NULL, NULL);
    else if (n == 1)
        rvm__become(e, base);
    else if (n == 0)
        set_int(e, 1);
    else {
        e->kind = E_POWER;
        e->type = RVM_I64;
        e->nkids = 1;
        e->u.i = n;
    }
}

static void check_power(assembler *a, expr *e, int want) {
    expr *base = e->kids[0], *exponent = e->kids[1];
    rvm__check(a, base, want);
    rvm__check(a, exponent, T_NONE);
    bool whole = exponent->type == T_INT;
    if (base->type == T_ERROR || exponent->type == T_ERROR)
        rvm__failed(e);
    else if (base->type > T_NONE) {
        const bool square = whole && exponent->u.i == 2;
        if (square) e->nkids = 1;
        finish_row(a, e, square ? RVM_ROW_sqr : RVM_ROW_pow, want);
    } else if (whole && base->type == T_INT && exponent->u.i >= 0)
        set_int(e, whole_power(base->u.i, exponent->u.i));
    else if (whole && !is_constant(base))
        small_power(a, e, exponent->u.i, want);
    else if (whole && exponent->u.i == 2)
        set_real(e, base->u.f * base->u.f); /* the bits of sqr */
    else if (join(a, base->type, exponent->type) == RVM_I64)
        rvm__wrong(a, e, D_POWER_I64, rvm__number(a, MAX_POWER), NULL, NULL);
    else
        finish_row(a, e, RVM_ROW_pow, want);
}

/* ---- calls in expressions: conversions and rows ---- */

static int64_t saturate(double x) {
    if (isnan(x)) return 0;
    if (x >= 9223372036854775808.0) return INT64_MAX;
    return x < -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

static void convert(assembler *a, expr *e, rvm_type type) {
    expr *kid = e->kids[0];
    rvm__check(a, kid, T_NONE);
    if (kid->type == T_ERROR)
        rvm__failed(e);
    else if (kid->type == T_LNS)
        rvm__lns_to_real(a, e, type);
    else if (kid->type > T_NONE)
        rvm__wrong(a, e, D_COMPLEX_AS_REAL, rvm_type_name(type), NULL, NULL);
    else if (is_constant(kid) && type == RVM_I64)
        set_int(e, kid->type == T_INT ? kid->u.i : saturate(kid->u.f));
    else if (is_constant(kid))
        set_real(e, real_of(kid));
    else if (kid->type == type)
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
    else if (arity < 0)
        rvm__wrong(a, e, D_UNKNOWN_ROW, n->text, rvm__near(a, n, NEAR_ROW), NULL);
    else if (arity != e->nkids)
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
    case E_INT: e->type = T_INT; break;
    case E_REAL: e->type = T_REAL; break;
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

/* Complex numbers are not folded, but may be made of constants. */
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
    if (e->kind != E_ERROR && !is_constant(e) && !is_complex_constant(e))
        rvm__wrong(a, e, D_NOT_CONSTANT, c->name->text, NULL, NULL);
    if (e->kind == E_ERROR) return false;
    if (e->kind == E_COMPLEX) return c->type == T_NONE || rvm__coerce(a, e, c->type);
    if (is_real(c->type))
        set_real(e, real_of(e));
    else if (c->type == RVM_I64 && e->type == T_REAL)
        rvm__wrong(a, e, D_REAL_AS_I64, NULL, NULL, NULL);
    return e->kind != E_ERROR;
}
