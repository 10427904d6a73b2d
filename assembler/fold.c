/* fold.c: rows of constants. Exact where the operands are and the formula of the row has only words that fractions know
 * (exact.c): one more vocabulary over rows.def. Else, and where a fraction would be too long, in f64, by the functions that
 * run later.
 */
#include "asm.h"
#include "maths.h"
#include "instruction.h"
#include <math.h>
#include <string.h>

/* ---- rows of fractions: NULL is what is none ---- */

typedef const exact *fraction;

static fraction operation(assembler *a, exact_op op, fraction x, fraction y) {
    return x && y ? rvm__exact_op(a, op, x, y) : NULL;
}
static fraction truth(assembler *a, fraction x, fraction y, bool below, bool same, bool above) {
    const int sign = x && y ? rvm__exact_compare(x, y) : 0;
    return x && y ? rvm__exact(a, sign < 0 ? below : sign > 0 ? above : same) : NULL;
}

/* On the 64 bits of an i64. */
static fraction bitwise(assembler *a, rvm_row row, fraction x, fraction y) {
    rvm_value v[3] = {{0}};
    int overflow = 0;
    if (!x || !y || !rvm__exact_i64(x, &v[0].i) || !rvm__exact_i64(y, &v[1].i)) return NULL;
    return rvm__exact(a, rvm__math_libm.kernels[rvm__kernel_index(row, RVM_I64, RVM_I64)].f(v[0], v[1], v[2], &overflow).i);
}

static fraction floor_of(assembler *a, fraction x) {
    fraction q = operation(a, EXACT_IDIV, x, rvm__exact(a, 1));
    const bool above = q && x->negative && !rvm__exact_is_whole(x);
    return above ? operation(a, EXACT_SUB, q, rvm__exact(a, 1)) : q;
}

static fraction shift(assembler *a, exact_op op, fraction x, fraction count) {
    int64_t bits;
    if (!x || !count || count->negative) return NULL;
    const bool all = !rvm__exact_i64(count, &bits) || bits >= EXACT_BITS; /* that any number has */
    if (!x->n) return x;
    if (all && op == EXACT_DIV) return rvm__exact(a, x->negative ? -1 : 0);
    fraction two = rvm__exact(a, 2), r = operation(a, op, x, two ? rvm__exact_power(a, two, count) : NULL);
    return op == EXACT_DIV && r ? floor_of(a, r) : r;
}

static fraction function(assembler *a, const char *f, fraction x) {
    return x && !strcmp(f, "floor") ? floor_of(a, x) : NULL;
}
static fraction function2(assembler *a, const char *f, fraction x, fraction y) {
    return x && y && !strcmp(f, "pow") && rvm__exact_is_whole(y) ? rvm__exact_power(a, x, y) : NULL;
}

#define A               (v[0])
#define B               (v[1])
#define C               (v[2])
#define K(x)            rvm__exact(a, (int64_t)(x)) /* in values: 0 and 1 only */
#define NEG(x)          operation(a, EXACT_SUB, K(0), x)
#define ADD(x, y)       operation(a, EXACT_ADD, x, y)
#define SUB(x, y)       operation(a, EXACT_SUB, x, y)
#define MUL(x, y)       operation(a, EXACT_MUL, x, y)
#define DIV(x, y)       operation(a, EXACT_DIV, x, y)
#define FMA(x, y, z)    ADD(MUL(x, y), z)
#define FN(name, x)     function(a, #name, x)
#define FN2(name, x, y) function2(a, #name, x, y)
#define FNI(name, n, x) NULL
#define NONZERO(x)      NE(x, K(0))
#define SELECT(c, x, y) choose(c, x, y)
#define LT(x, y)        truth(a, x, y, true, false, false)
#define LE(x, y)        truth(a, x, y, true, true, false)
#define GT(x, y)        truth(a, x, y, false, false, true)
#define GE(x, y)        truth(a, x, y, false, true, true)
#define EQ(x, y)        truth(a, x, y, false, true, false)
#define NE(x, y)        truth(a, x, y, true, false, true)
#define IDIV(x, y)      operation(a, EXACT_IDIV, x, y)
#define IREM(x, y)      operation(a, EXACT_IREM, x, y)
#define AND(x, y)       bitwise(a, RVM_ROW_and, x, y)
#define OR(x, y)        bitwise(a, RVM_ROW_or, x, y)
#define XOR(x, y)       bitwise(a, RVM_ROW_xor, x, y)
#define NOT(x)          bitwise(a, RVM_ROW_not, x, x)
#define SHL(x, y)       shift(a, EXACT_MUL, x, y)
#define SHR(x, y)       shift(a, EXACT_DIV, x, y)
#define LSHR(x, y)      bitwise(a, RVM_ROW_lshr, x, y)
#define CONVERT(x)      NULL

static fraction choose(fraction c, fraction x, fraction y) {
    return !c ? NULL : c->n ? x : y;
}

#define ROW(name, F_)                                                                                                       \
    static fraction exact_##name(assembler *a, const fraction v[3]) {                                                       \
        (void)a, (void)v;                                                                                                   \
        return F_;                                                                                                          \
    }
#define ROW1(name, sig, F_, D0_, doc)           ROW(name, F_)
#define ROW2(name, sig, F_, D0_, D1_, doc)      ROW(name, F_)
#define ROW3(name, sig, F_, D0_, D1_, D2_, doc) ROW(name, F_)
#include "rows.def"
#undef ROW
#undef ROW1
#undef ROW2
#undef ROW3

static fraction (*const exact_rows[RVM_ROW_COUNT])(assembler *a, const fraction v[3]) = {
#define ROW1(name, ...) [RVM_ROW_##name] = exact_##name,
#define ROW2            ROW1
#define ROW3            ROW1
#include "rows.def"
};

/* ---- rows of constants ---- */

static double real_of(const expr *e) {
    return e->kind == E_EXACT ? rvm__exact_double(e->u.exact) : e->u.f;
}

/* Why the value of a row of whole numbers is none. */
static void tell_why(assembler *a, expr *e, rvm_row row) {
    const expr *first = e->kids[0], *last = e->kids[e->nkids - 1];
    const bool shifts = row == RVM_ROW_shl || row == RVM_ROW_shr, bits = rvm__row_info[row].sig == RVM_SIG_INT && !shifts;
    int64_t i;
    if (a->oom)
        rvm__failed(e);
    else if (bits && !(rvm__exact_i64(first->u.exact, &i) && rvm__exact_i64(last->u.exact, &i)))
        rvm__wrong(a, e, D_INT_RANGE, NULL, NULL, NULL);
    else if (shifts && last->u.exact->negative)
        rvm__wrong(a, e, D_SHIFT, NULL, NULL, NULL);
    else
        rvm__wrong(a, e, D_EXACT_LONG, rvm__number(a, EXACT_BITS), NULL, NULL);
}

/* In f64, by the functions that run later. */
static void approximate(assembler *a, expr *e, rvm_row row) {
    const rvm_sig sig = rvm__row_info[row].sig;
    rvm_value v[3] = {{0}};
    int overflow = 0;
    for (int k = 0; k < e->nkids; k++) {
        expr *kid = e->kids[k];
        if (sig == RVM_SIG_SEL && k == 0)
            v[k].i = kid->u.exact->n != 0;
        else if (k < rvm__row_first(row)) {
            if (rvm__exact_i64(kid->u.exact, &v[k].i)) continue;
            rvm__wrong(a, kid, D_INT_RANGE, NULL, NULL, NULL);
            rvm__failed(e);
            return;
        } else if (!isfinite(v[k].f = real_of(kid)) && kid->kind == E_EXACT) {
            rvm__wrong(a, kid, D_REAL_RANGE, rvm_type_name(RVM_F64), NULL, NULL);
            rvm__failed(e);
            return;
        }
    }
    if (sig == RVM_SIG_POS && !(v[0].f > 0)) {
        rvm__wrong(a, e, D_NOT_POSITIVE, NULL, NULL, NULL);
        return;
    }
    if ((row == RVM_ROW_div && !v[1].f) || (row == RVM_ROW_pow && !v[0].f && v[1].f < 0)) {
        rvm__wrong(a, e, D_ZERO_DIVISOR, NULL, NULL, NULL);
        return;
    }
    const rvm_value out =
        rvm__math_of(a->options.math)->kernels[rvm__kernel_index(row, RVM_F64, RVM_F64)].f(v[0], v[1], v[2], &overflow);
    if (sig == RVM_SIG_CMP)
        rvm__set_exact(e, rvm__exact(a, out.i), T_INT);
    else if (isinf(out.f))
        rvm__wrong(a, e, D_REAL_RANGE, rvm_type_name(RVM_F64), NULL, NULL);
    else
        rvm__set_real(e, out.f);
}

void rvm__fold(assembler *a, expr *e, rvm_row row, int type) {
    const rvm_sig sig = rvm__row_info[row].sig;
    fraction v[3] = {NULL}, x = NULL;
    bool all = true;
    for (int k = 0; k < e->nkids; k++) {
        all = all && e->kids[k]->kind == E_EXACT;
        v[k] = e->kids[k]->u.exact;
    }
    if (all && row == RVM_ROW_neg && type == T_REAL && !v[0]->n) { /* -0.0 is no fraction */
        rvm__set_real(e, -0.0);
        return;
    }
    if (all && sig == RVM_SIG_QUOT && !v[1]->n) {
        rvm__wrong(a, e, D_ZERO_DIVISOR, NULL, NULL, NULL);
        return;
    }
    if (all) x = exact_rows[row](a, v);
    if (x)
        rvm__set_exact(e, x, sig == RVM_SIG_CMP ? T_INT : type);
    else if (type == T_INT)
        tell_why(a, e, row);
    else
        approximate(a, e, row);
}

/* ---- complex ones ---- */

/* The value of a tree of rows over values: what it would be at run time. */
static bool evaluate(const assembler *a, const expr *e, rvm_value *out) {
    rvm_value v[3] = {{0}};
    int overflow = 0;
    if (e && e->kind == E_VALUE) *out = e->u.value;
    if (!e || e->kind != E_ROW) return e && e->kind == E_VALUE;
    for (int k = 0; k < e->nkids && k < 3; k++)
        if (!evaluate(a, e->kids[k], v + k)) return false;
    const expr *operand = e->kids[rvm__row_first((rvm_row)e->op)];
    const rvm__kernel *k = &rvm__math_of(a->options.math)
                                ->kernels[rvm__kernel_index((rvm_row)e->op, (rvm_type)e->type, (rvm_type)operand->type)];
    if (k->f) *out = k->f(v[0], v[1], v[2], &overflow);
    return k->f && !overflow;
}

static expr *value_leaf(maker *m, expr *tree) {
    rvm_value v;
    expr *e = tree && evaluate(m->a, tree, &v) ? rvm__expr_new(m->a, E_VALUE, m->at, 0) : NULL;
    if (!e) return NULL;
    e->type = tree->type;
    e->checked = true;
    e->u.value = v;
    return e;
}

/* The type of the parts: of e, or of an operand where e is real, as in abs(3 + 4i). */
static rvm_type base_of(const expr *e) {
    const expr *pair = e;
    for (int k = 0; k < e->nkids && !rvm__is_complex(pair->type); k++) pair = e->kids[k];
    return rvm__part_type(pair->type);
}

/* The leaves of operand k, folded. */
static void take_operand(maker *m, expr *kid, int k) {
    if (kid->kind == E_COMPLEX) rvm__fold_complex(m->a, kid);
    if (rvm__is_constant(kid)) rvm__constant_as(m->a, kid, m->base);
    const bool pair = kid->kind == E_COMPLEX;
    m->leaf[2 * k] = pair ? kid->kids[0] : kid;
    m->leaf[2 * k + 1] = pair ? kid->kids[1] : NULL;
}

static bool take_value(assembler *a, expr *e, const expr *value) {
    const rvm_type type = (rvm_type)value->type;
    const bool whole = type == RVM_I64 || type == RVM_FIX;
    fraction x = type == RVM_FIX ? rvm__exact_fix(a, value->u.value.i) : whole ? rvm__exact(a, value->u.value.i) : NULL;
    if (x)
        rvm__set_exact(e, x, type == RVM_I64 ? T_INT : T_REAL);
    else if (!whole)
        rvm__set_real(e, value->u.value.f);
    return x || !whole;
}

void rvm__fold_complex(assembler *a, expr *e) {
    maker m = {.a = a, .base = base_of(e), .at = e->at};
    for (int k = 0; k < e->nkids && k < 3; k++) take_operand(&m, e->kids[k], k);
    m.leaf[6] = value_leaf(&m, rvm__number_formula(&m, e->op, FORMULA_S));
    m.leaf[7] = value_leaf(&m, rvm__number_formula(&m, e->op, FORMULA_T));
    const bool pair = rvm__is_complex(e->type);
    expr *re = value_leaf(&m, rvm__number_formula(&m, e->op, FORMULA_RE));
    expr *im = pair ? value_leaf(&m, rvm__number_formula(&m, e->op, FORMULA_IM)) : NULL;
    const expr *both = re && im ? rvm__number_node(a, "complex", e->type, e->at, re, im) : NULL;
    if (both)
        rvm__become(e, both);
    else if ((pair || !re || !take_value(a, e, re)) && !a->oom) /* only a fix has values that do not fit */
        rvm__wrong(a, e, D_FIX_RANGE, NULL, NULL, NULL);
}
