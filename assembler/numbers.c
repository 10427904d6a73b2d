/* numbers.c: complex and lns in expressions. numbers.def has their formulas; here they become trees of rows.
 *
 * An operation on complex stays one node, E_COMPLEX, until it is lowered: its operands are places then, so that no part of
 * an expression is computed twice. An operation on lns is a tree of rows on the logarithms at once, since no formula uses an
 * operand twice.
 */
#include "asm.h"
#include "instruction.h"
#include <math.h>
#include <string.h>

bool rvm__is_complex(int type) {
    return type >= T_COMPLEX && type < T_COMPLEX + RVM_TYPE_COUNT;
}

rvm_type rvm__part_type(int type) {
    if (type == T_LNS) return RVM_F64;
    return (rvm_type)(rvm__is_complex(type) ? type - T_COMPLEX : type);
}

bool rvm__is_value_type(int type) {
    return type < RVM_TYPE_COUNT || type == T_LNS || rvm__is_complex(type);
}

/* ---- formulas as trees ---- */

static expr *node(maker *m, int type, rvm_row row, uint32_t n, expr *x, expr *y, expr *z) {
    expr *e = rvm__expr_new(m->a, E_ROW, m->at, n), *kids[] = {x, y, z};
    if (!e) return NULL;
    for (uint32_t k = 0; k < n; k++) e->kids[k] = kids[k];
    e->op = (uint8_t)row;
    e->type = (uint8_t)type;
    e->checked = true;
    return e;
}

static expr *number(maker *m, double x) {
    expr *e = rvm__expr_new(m->a, E_REAL, m->at, 0);
    if (!e) return NULL;
    rvm__set_real(e, x);
    e->checked = true;
    rvm__coerce(m->a, e, m->base);
    return e;
}

#define AR              (m->leaf[0])
#define AI              (m->leaf[1])
#define BR              (m->leaf[2])
#define BI              (m->leaf[3])
#define CR              (m->leaf[4])
#define CI              (m->leaf[5])
#define S               (m->leaf[6])
#define T               (m->leaf[7])
#define NONE            NULL
#define K(x)            number(m, x)
#define ROW(name, ...)  node(m, m->base, RVM_ROW_##name, __VA_ARGS__)
#define TEST(name, ...) node(m, RVM_I64, RVM_ROW_##name, __VA_ARGS__)
#define NEG(x)          ROW(neg, 1, x, NULL, NULL)
#define ADD(x, y)       ROW(add, 2, x, y, NULL)
#define SUB(x, y)       ROW(sub, 2, x, y, NULL)
#define MUL(x, y)       ROW(mul, 2, x, y, NULL)
#define DIV(x, y)       ROW(div, 2, x, y, NULL)
#define FN(name, x)     ROW(name, 1, x, NULL, NULL)
#define FN2(name, x, y) ROW(name, 2, x, y, NULL)
#define SELECT(c, x, y) ROW(select, 3, c, x, y)
#define LT(x, y)        TEST(lt, 2, x, y, NULL)
#define LE(x, y)        TEST(le, 2, x, y, NULL)
#define GT(x, y)        TEST(gt, 2, x, y, NULL)
#define GE(x, y)        TEST(ge, 2, x, y, NULL)
#define EQ(x, y)        TEST(eq, 2, x, y, NULL)
#define NE(x, y)        TEST(ne, 2, x, y, NULL)
#define AND(x, y)       TEST(and, 2, x, y, NULL)
#define OR(x, y)        TEST(or, 2, x, y, NULL)

#define COMPLEX(name, operands, result, S_, T_, RE_, IM_, doc)                                                              \
    static expr *complex_##name##_##operands(maker *m, enum formula_part part) {                                            \
        switch (part) {                                                                                                     \
        case FORMULA_S: return S_;                                                                                          \
        case FORMULA_T: return T_;                                                                                          \
        case FORMULA_RE: return RE_;                                                                                        \
        case FORMULA_IM: return IM_;                                                                                        \
        }                                                                                                                   \
        return NULL;                                                                                                        \
    }
#define LNS(name, operands, result, F_, doc)                                                                                \
    static expr *lns_##name##_##operands(maker *m, enum formula_part part) {                                                \
        (void)part;                                                                                                         \
        return F_;                                                                                                          \
    }
#include "numbers.def"
#undef COMPLEX
#undef LNS

typedef struct number_row {
    const char *name, *operands;
    char result;
    expr *(*formula)(maker *m, enum formula_part part);
} number_row;
static const number_row rows[] = {
#define COMPLEX(name, operands, result, S_, T_, RE_, IM_, doc) {#name, #operands, #result[0], complex_##name##_##operands},
#define LNS(name, operands, result, F_, doc)
#include "numbers.def"
#undef COMPLEX
#undef LNS
#define COMPLEX(name, operands, result, S_, T_, RE_, IM_, doc)
#define LNS(name, operands, result, F_, doc) {#name, #operands, #result[0], lns_##name##_##operands},
#include "numbers.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

expr *rvm__number_formula(maker *m, uint8_t row, enum formula_part part) {
    return rows[row].formula(m, part);
}

/* The first row of a name that takes operands of this kind (C or L), or makes it (complex, lns); -1: none. */
static int find(const char *word, char kind) {
    for (int k = 0; k < ROWS; k++)
        if (!strcmp(rows[k].name, word) && (strchr(rows[k].operands, kind) || rows[k].result == kind)) return k;
    return -1;
}

/* Another row of the same name, where its letters fit the operands of e exactly. */
static int fitting(int row, const expr *e) {
    for (int k = 0; k < ROWS; k++) {
        if (strcmp(rows[k].name, rows[row].name) || !strchr(rows[k].operands, 'C')) continue;
        bool fits = strlen(rows[k].operands) == e->nkids;
        for (int i = 0; fits && i < e->nkids; i++) fits = rvm__is_complex(e->kids[i]->type) == (rows[k].operands[i] == 'C');
        if (fits) return k;
    }
    return row;
}

/* ---- checking ---- */

static expr *copy_of(assembler *a, const expr *e) {
    expr *copy = rvm__arena(a, sizeof *copy);
    if (copy) *copy = *e;
    return copy;
}

/* e becomes complex(e, 0). */
static bool widen(assembler *a, expr *e, int type) {
    const rvm_type base = rvm__part_type(type);
    if (!rvm__coerce(a, e, base)) return false;
    maker m = {.a = a, .base = base, .at = e->at};
    expr *kid = copy_of(a, e), *zero = number(&m, 0), **kids = rvm__arena(a, 2 * sizeof *kids);
    if (!kid || !zero || !kids) return false;
    kids[0] = kid;
    kids[1] = zero;
    e->kind = E_COMPLEX;
    e->op = (uint8_t)find("complex", 'C');
    e->type = (uint8_t)type;
    e->kids = kids;
    e->nkids = 2;
    return true;
}

/* A constant as the lns that it is. */
static bool lns_constant(assembler *a, expr *e) {
    const bool is_exact = e->kind == E_EXACT;
    const exact *x = is_exact ? e->u.exact : NULL;
    if (is_exact ? !x->n || x->negative : !(e->u.f > 0 && isfinite(e->u.f))) {
        rvm__wrong(a, e, D_NOT_POSITIVE, NULL, NULL, NULL);
        return false;
    }
    const double value = is_exact ? rvm__exact_log(x) : log(e->u.f);
    e->kind = E_VALUE;
    e->type = T_LNS;
    e->u.value.f = value;
    return true;
}

bool rvm__coerce_number(assembler *a, expr *e, int type) {
    const bool real = rvm__is_constant(e) || e->type == RVM_I64 || e->type == (int)rvm__part_type(type);
    if (rvm__is_complex(type) && real) return widen(a, e, type);
    if (type == T_LNS && rvm__is_constant(e)) return lns_constant(a, e);
    const diag d = rvm__is_complex(type) ? D_COMPLEX_BASE : D_MISMATCH;
    rvm__wrong(a, e, d, rvm__type_text(type), rvm__type_text(e->type), NULL);
    return false;
}

static bool convert(assembler *a, expr *e, rvm_type type) {
    maker m = {.a = a, .base = type, .at = e->at};
    expr *kid = copy_of(a, e), *converted = kid ? node(&m, (int)type, RVM_ROW_conv, 1, kid, NULL, NULL) : NULL;
    if (converted) rvm__become(e, converted);
    return converted;
}

/* An operand as f64: what lns(x) and powers of an lns take. */
static bool as_f64(assembler *a, expr *e) {
    if (rvm__is_constant(e) || e->type == RVM_I64 || e->type == RVM_F64) return rvm__coerce(a, e, RVM_F64);
    if (e->type == T_ERROR) return false;
    if (e->type >= RVM_TYPE_COUNT) return rvm__coerce(a, e, RVM_F64); /* says what is wrong */
    return convert(a, e, RVM_F64);
}

static bool coerce_operand(assembler *a, expr *e, char letter, rvm_type base) {
    switch (letter) {
    case 'C': return rvm__coerce(a, e, T_COMPLEX + (int)base);
    case 'L': return rvm__coerce(a, e, T_LNS);
    case 'I': return rvm__coerce(a, e, RVM_I64);
    }
    return base == RVM_F64 ? as_f64(a, e) : rvm__coerce(a, e, base);
}

/* The type of the parts: that of the complex operands, which must agree, else of the reals, else what is wanted. */
static int base_of(assembler *a, expr *e, int row, int want) {
    int base = T_NONE, real = rvm__is_complex(want) ? (int)rvm__part_type(want) : T_NONE;
    for (int k = 0; k < e->nkids; k++) {
        const int type = e->kids[k]->type;
        if (type == T_ERROR) return T_ERROR;
        if (rows[row].operands[k] == 'R' && type < RVM_TYPE_COUNT && type != RVM_I64 && real == T_NONE) real = type;
        if (!rvm__is_complex(type)) continue;
        if (base != T_NONE && base != (int)rvm__part_type(type)) {
            rvm__wrong(a, e, D_COMPLEX_MIX, rvm__type_text(T_COMPLEX + base), rvm__type_text(type), NULL);
            return T_ERROR;
        }
        base = (int)rvm__part_type(type);
    }
    return base != T_NONE ? base : real != T_NONE ? real : (int)a->options.real;
}

static int result_type(char letter, rvm_type base) {
    switch (letter) {
    case 'C': return T_COMPLEX + (int)base;
    case 'L': return T_LNS;
    case 'I': return RVM_I64;
    }
    return (int)base;
}

/* e, whose operands are checked, becomes the row. */
static void finish(assembler *a, expr *e, int row, int want) {
    const char *operands = rows[row].operands;
    if ((size_t)e->nkids != strlen(operands)) {
        rvm__wrong(a, e, D_ARITY, rows[row].name, rvm__number(a, (int64_t)strlen(operands)), rvm__number(a, e->nkids));
        return;
    }
    const bool on_lns = rows[row].result == 'L' || strchr(operands, 'L');
    const int base = on_lns ? RVM_F64 : base_of(a, e, row, want);
    bool good = base != T_ERROR;
    for (int k = 0; good && k < e->nkids; k++) good = coerce_operand(a, e->kids[k], operands[k], (rvm_type)base);
    if (!good) {
        rvm__failed(e);
        return;
    }
    const int type = result_type(rows[row].result, (rvm_type)base);
    if (on_lns) {
        maker m = {.a = a, .base = RVM_F64, .at = e->at};
        for (int k = 0; k < e->nkids; k++) m.leaf[2 * k] = e->kids[k];
        expr *tree = rows[row].formula(&m, FORMULA_RE);
        if (tree) rvm__become(e, tree);
    } else {
        e->kind = E_COMPLEX;
        e->op = (uint8_t)row;
    }
    e->type = (uint8_t)type;
}

static char kind_of(const expr *e) {
    char kind = 0;
    for (int k = 0; k < e->nkids; k++) {
        if (rvm__is_complex(e->kids[k]->type)) kind = 'C';
        if (e->kids[k]->type == T_LNS && !kind) kind = 'L';
    }
    return kind;
}

bool rvm__check_number(assembler *a, expr *e, const char *word, int want) {
    const char kind = kind_of(e);
    if (!kind) return false;
    const int row = find(word, kind);
    if (row >= 0)
        finish(a, e, kind == 'C' ? fitting(row, e) : row, want);
    else
        rvm__wrong(a, e, D_UPDATE_TYPE, word, kind == 'C' ? "complex" : "lns", NULL);
    return true;
}

bool rvm__check_number_call(assembler *a, expr *e, int want) {
    const name *n = e->u.name;
    if (n->row >= 0 || n->type >= 0 || n->func) return false;
    const bool lns = !strcmp(n->text, "lns");
    const int row = find(n->text, lns ? 'L' : 'C');
    if (row < 0) return false;
    for (int k = 0; k < e->nkids; k++) rvm__check(a, e->kids[k], T_NONE);
    for (int k = 0; k < e->nkids; k++)
        if (e->kids[k]->type == T_ERROR) {
            rvm__failed(e);
            return true;
        }
    const bool makes = lns || !strcmp(n->text, "complex");
    if (makes && e->nkids == 1 && (rvm__is_complex(e->kids[0]->type) || e->kids[0]->type == T_LNS)) {
        const int type = e->kids[0]->type;
        if (lns == (type == T_LNS))
            rvm__become(e, e->kids[0]);
        else
            rvm__wrong(a, e, D_MISMATCH, n->text, rvm__type_text(type), NULL);
    } else if (makes && !lns && e->nkids == 1) {
        const int type = e->kids[0]->type, real = type < RVM_TYPE_COUNT && type != RVM_I64 ? type : (int)a->options.real;
        rvm__become(e, e->kids[0]);
        if (!widen(a, e, T_COMPLEX + real)) rvm__failed(e);
    } else if (lns && e->nkids == 1 && rvm__is_constant(e->kids[0])) {
        rvm__become(e, e->kids[0]);
        lns_constant(a, e);
    } else
        finish(a, e, row, want);
    return true;
}

void rvm__lns_to_real(assembler *a, expr *e, int type) {
    finish(a, e, find("real", 'L'), T_NONE);
    if (e->kind != E_ERROR && type != RVM_F64) convert(a, e, (rvm_type)type);
}

expr *rvm__number_node(assembler *a, const char *word, int type, span at, const expr *x, const expr *y) {
    expr *e = x ? rvm__expr_new(a, E_COMPLEX, at, y ? 2 : 1) : NULL;
    if (!e) return NULL;
    memcpy(e->kids, &x, sizeof x);
    if (y) memcpy(e->kids + 1, &y, sizeof y);
    e->op = (uint8_t)find(word, 'C');
    e->type = (uint8_t)type;
    e->checked = true;
    return e;
}

const expr *rvm__number_real(const expr *e) {
    if (e->kind != E_COMPLEX || e->op != find("complex", 'C')) return NULL;
    return e->kids[1]->kind == E_VALUE && !e->kids[1]->u.value.i ? e->kids[0] : NULL;
}

/* ---- types as words ---- */

int rvm__number_type(const assembler *a, const name *n) {
    if (!strcmp(n->text, "lns")) return T_LNS;
    return strcmp(n->text, "complex") ? -1 : T_COMPLEX + (int)a->options.real;
}

const char *rvm__number_type_text(int type) {
    static const char *const texts[] = {
        [RVM_I64] = "", [RVM_F64] = "complex", [RVM_FIX] = "complex(fix)", [RVM_F32] = "complex(f32)"};
    _Static_assert(sizeof texts / sizeof *texts == RVM_TYPE_COUNT, "a text for each type");
    return type == T_LNS ? "lns" : texts[rvm__part_type(type)];
}
