/* formula.c: numbers.def as trees: the formulas of complex and lns in rows on the reals that hold them.
 *
 * An operation on complex stays one node, E_COMPLEX, until it is lowered: its operands are places then, so that no part of
 * an expression is computed twice. An operation on lns is a tree of rows on the logarithms at once, since no formula uses an
 * operand twice.
 */
#include "asm.h"
#include "instruction.h"
#include <string.h>

static expr *node(maker *m, int type, rvm_row row, uint32_t n, expr *x, expr *y, expr *z) {
    expr *e = rvm__expr_new(m->a, E_ROW, m->at, n), *kids[] = {x, y, z};
    if (!e) return NULL;
    for (uint32_t k = 0; k < n; k++) e->kids[k] = kids[k];
    e->op = (uint8_t)row;
    e->type = (uint8_t)type;
    e->checked = true;
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
#define K(x)            rvm__constant_value(m->a, x, m->base, m->at)
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

const number_row rvm__number_rows[] = {
#define COMPLEX(name, operands, result, S_, T_, RE_, IM_, doc) {#name, #operands, #result[0], complex_##name##_##operands},
#define LNS(name, operands, result, F_, doc)
#include "numbers.def"
#undef COMPLEX
#undef LNS
#define COMPLEX(name, operands, result, S_, T_, RE_, IM_, doc)
#define LNS(name, operands, result, F_, doc) {#name, #operands, #result[0], lns_##name##_##operands},
#include "numbers.def"
};
enum { ROWS = sizeof rvm__number_rows / sizeof *rvm__number_rows };

expr *rvm__number_formula(maker *m, uint8_t row, enum formula_part part) {
    return rvm__number_rows[row].formula(m, part);
}

int rvm__number_find(const char *word, char kind) {
    for (int k = 0; k < ROWS; k++)
        if (!strcmp(rvm__number_rows[k].name, word) &&
            (strchr(rvm__number_rows[k].operands, kind) || rvm__number_rows[k].result == kind))
            return k;
    return -1;
}

int rvm__number_fitting(int row, const expr *e) {
    for (int k = 0; k < ROWS; k++) {
        if (strcmp(rvm__number_rows[k].name, rvm__number_rows[row].name) || !strchr(rvm__number_rows[k].operands, 'C'))
            continue;
        bool fits = strlen(rvm__number_rows[k].operands) == e->nkids;
        for (int i = 0; fits && i < e->nkids; i++)
            fits = rvm__is_complex(e->kids[i]->type) == (rvm__number_rows[k].operands[i] == 'C');
        if (fits) return k;
    }
    return row;
}

/* ---- nodes ---- */

expr *rvm__number_node(assembler *a, const char *word, int type, span at, const expr *x, const expr *y) {
    expr *e = x ? rvm__expr_new(a, E_COMPLEX, at, y ? 2 : 1) : NULL;
    if (!e) return NULL;
    memcpy(e->kids, &x, sizeof x);
    if (y) memcpy(e->kids + 1, &y, sizeof y);
    e->op = (uint8_t)rvm__number_find(word, 'C');
    e->type = (uint8_t)type;
    e->checked = true;
    return e;
}

const expr *rvm__number_real(const expr *e) {
    if (e->kind != E_COMPLEX || e->op != rvm__number_find("complex", 'C')) return NULL;
    return e->kids[1]->kind == E_VALUE && !e->kids[1]->u.value.i ? e->kids[0] : NULL;
}

const char *rvm__lns_row(assembler *a, const char *word) {
    const int k = rvm__number_find(word, 'L');
    expr x = {.kind = E_PLACE}, y = x;
    maker m = {.a = a, .base = RVM_F64, .leaf = {[0] = &x, [2] = &y}};
    const expr *e = k >= 0 ? rvm__number_rows[k].formula(&m, FORMULA_RE) : NULL;
    if (!e || e->kind != E_ROW || e->nkids != strlen(rvm__number_rows[k].operands)) return NULL;
    for (int i = 0; i < e->nkids; i++)
        if (e->kids[i] != m.leaf[2 * i]) return NULL;
    return rvm__row_info[e->op].name;
}
