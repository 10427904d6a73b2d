/* numbers.c: operations on complex and lns over checked operands: which row of numbers.def they are, and the types of its
 * operands. */
#include "asm.h"
#include "instruction.h"
#include <string.h>

/* An operand converted to the type of the logarithms: what lns(x) and powers of an lns take. */
static bool as_real(assembler *a, expr *e, rvm_type base) {
    if (e->type == T_ERROR) return false;
    const bool converts = e->type < RVM_TYPE_COUNT && e->type != RVM_I64 && !rvm__is_constant(e) && e->type != base;
    if (!converts) return rvm__coerce(a, e, base); /* or says what is wrong */
    rvm__wrap(a, e, RVM_ROW_conv, base, NULL);
    return e->kind != E_ERROR;
}

static bool coerce_operand(assembler *a, expr *e, char letter, rvm_type base, bool on_lns) {
    switch (letter) {
    case 'C': return rvm__coerce(a, e, T_COMPLEX + (int)base);
    case 'L': return rvm__coerce(a, e, T_LNS + (int)base);
    case 'I': return rvm__coerce(a, e, RVM_I64);
    }
    return on_lns || base == RVM_F64 ? as_real(a, e, base) : rvm__coerce(a, e, base);
}

/* The type of the logarithms: that of the operands that are lns, which must agree, else what is wanted, else f64. */
static int lns_base_of(assembler *a, expr *e, int want) {
    int base = T_NONE;
    for (int k = 0; k < e->nkids; k++) {
        const int type = e->kids[k]->type;
        if (!rvm__is_lns(type)) continue;
        if (base != T_NONE && base != (int)rvm__part_type(type)) {
            rvm__wrong(a, e, D_LNS_MIX, rvm__type_text(a, T_LNS + base), rvm__type_text(a, type), NULL);
            return T_ERROR;
        }
        base = (int)rvm__part_type(type);
    }
    return base != T_NONE ? base : rvm__is_lns(want) ? (int)rvm__part_type(want) : RVM_F64;
}

/* The type of the parts: that of the complex operands, which must agree, else of the reals, else what is wanted. */
static int base_of(assembler *a, expr *e, int row, int want) {
    int base = T_NONE, real = rvm__is_complex(want) ? (int)rvm__part_type(want) : T_NONE;
    for (int k = 0; k < e->nkids; k++) {
        const int type = e->kids[k]->type;
        if (type == T_ERROR) return T_ERROR;
        if (rvm__number_rows[row].operands[k] == 'R' && type < RVM_TYPE_COUNT && type != RVM_I64 && real == T_NONE)
            real = type;
        if (!rvm__is_complex(type)) continue;
        if (base != T_NONE && base != (int)rvm__part_type(type)) {
            rvm__wrong(a, e, D_COMPLEX_MIX, rvm__type_text(a, T_COMPLEX + base), rvm__type_text(a, type), NULL);
            return T_ERROR;
        }
        base = (int)rvm__part_type(type);
    }
    return base != T_NONE ? base : real != T_NONE ? real : (int)a->options.real;
}

static int result_type(char letter, rvm_type base) {
    switch (letter) {
    case 'C': return T_COMPLEX + (int)base;
    case 'L': return T_LNS + (int)base;
    case 'I': return RVM_I64;
    }
    return (int)base;
}

/* e, whose operands are checked, becomes the row. */
static void finish(assembler *a, expr *e, int row, int want) {
    const char *operands = rvm__number_rows[row].operands;
    if ((size_t)e->nkids != strlen(operands)) {
        rvm__wrong(a, e, D_ARITY, rvm__number_rows[row].name, rvm__number(a, (int64_t)strlen(operands)),
                   rvm__number(a, e->nkids));
        return;
    }
    const bool on_lns = rvm__number_rows[row].result == 'L' || strchr(operands, 'L');
    const int base = on_lns ? lns_base_of(a, e, want) : base_of(a, e, row, want);
    bool good = base != T_ERROR;
    for (int k = 0; good && k < e->nkids; k++) good = coerce_operand(a, e->kids[k], operands[k], (rvm_type)base, on_lns);
    if (!good) {
        rvm__failed(e);
        return;
    }
    const int type = result_type(rvm__number_rows[row].result, (rvm_type)base);
    if (on_lns) {
        maker m = {.a = a, .base = (rvm_type)base, .at = e->at};
        for (int k = 0; k < e->nkids; k++) m.leaf[2 * k] = e->kids[k];
        expr *tree = rvm__number_rows[row].formula(&m, FORMULA_RE);
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
        if (rvm__is_lns(e->kids[k]->type) && !kind) kind = 'L';
    }
    return kind;
}

bool rvm__check_number(assembler *a, expr *e, const char *word, int want) {
    const char kind = kind_of(e);
    if (!kind) return false;
    const int row = rvm__number_find(word, kind);
    if (row >= 0)
        finish(a, e, kind == 'C' ? rvm__number_fitting(row, e) : row, want);
    else
        rvm__wrong(a, e, D_UPDATE_TYPE, word, kind == 'C' ? "complex" : "lns", NULL);
    return true;
}

/* The row of a function that exists for these types alone; -1: it is none. */
static int row_of(const name *n) {
    if (n->row >= 0 || n->type >= 0 || n->func) return -1;
    return rvm__number_find(n->text, strcmp(n->text, "lns") ? 'C' : 'L');
}

bool rvm__is_number_call(const name *n) {
    return row_of(n) >= 0;
}

/* complex(x) or lns(x) of one operand: e becomes it, as a value of the type. */
static void make(assembler *a, expr *e, bool lns, int want) {
    const int type = e->kids[0]->type, part = rvm__is_real(type) ? type : (int)a->options.real;
    const int to = !lns ? T_COMPLEX + part : rvm__is_lns(want) ? want : T_LNS + RVM_F64;
    const bool is_number = rvm__is_lns(type) || rvm__is_complex(type);
    if (is_number && lns != rvm__is_lns(type)) {
        rvm__wrong(a, e, D_MISMATCH, e->u.name->text, rvm__type_text(a, type), NULL);
        return;
    }
    rvm__become(e, e->kids[0]);
    if (rvm__is_lns(type) && rvm__is_lns(want) && type != want) { /* the logarithm is converted */
        rvm__wrap(a, e, RVM_ROW_conv, want, NULL);
        return;
    }
    if (!is_number && !rvm__coerce_number(a, e, to)) rvm__failed(e);
}

void rvm__finish_number_call(assembler *a, expr *e, int want) {
    const name *n = e->u.name;
    const bool lns = !strcmp(n->text, "lns"), makes = e->nkids == 1 && (lns || !strcmp(n->text, "complex"));
    for (int k = 0; k < e->nkids; k++)
        if (e->kids[k]->type == T_ERROR) {
            rvm__failed(e);
            return;
        }
    if (makes && (!lns || e->kids[0]->type > T_NONE || rvm__is_constant(e->kids[0])))
        make(a, e, lns, want);
    else
        finish(a, e, row_of(n), want);
}

void rvm__lns_to_real(assembler *a, expr *e, int type) {
    finish(a, e, rvm__number_find("real", 'L'), T_NONE);
    if (e->kind != E_ERROR && type != e->type) rvm__wrap(a, e, RVM_ROW_conv, type, NULL);
}
