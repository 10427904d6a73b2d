/* coerce.c: a checked expression as a value of a type. A constant has no type (T_INT, T_REAL) until it meets one; i64 widens
 * to a real where a real is needed, and a real to complex; nothing else converts.
 */
#include "asm.h"
#include "maths.h"
#include "instruction.h"
#include <math.h>

int rvm__join_types(assembler *a, int x, int y) {
    if (x == T_ERROR || y == T_ERROR) return T_ERROR;
    if (x == y || y == T_INT) return x;
    if (x == T_INT) return y;
    if (x == T_REAL) return y == RVM_I64 ? (int)a->options.real : y;
    if (y == T_REAL) return x == RVM_I64 ? (int)a->options.real : x;
    if (x == RVM_I64) return y;
    return y == RVM_I64 ? x : T_ERROR;
}

void rvm__wrap(assembler *a, expr *e, rvm_row row, int type, expr *second) {
    expr *kid = rvm__expr_copy(a, e);
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
    e->guards = false;
}

/* ---- complex and lns ---- */

/* e becomes complex(e, 0). */
static bool widen(assembler *a, expr *e, int type) {
    const rvm_type base = rvm__part_type(type);
    if (!rvm__coerce(a, e, base)) return false;
    const expr *re = rvm__expr_copy(a, e), *im = rvm__constant_value(a, 0, base, e->at);
    const expr *both = im ? rvm__number_node(a, "complex", type, e->at, re, im) : NULL;
    if (both) rvm__become(e, both);
    return both;
}

/* A constant as the lns that it is. */
static bool lns_constant(assembler *a, expr *e, int type) {
    const bool is_exact = e->kind == E_EXACT;
    const exact *x = is_exact ? e->u.exact : NULL;
    if (is_exact ? !x->n || x->negative : !(e->u.f > 0 && isfinite(e->u.f))) {
        rvm__wrong(a, e, D_NOT_POSITIVE, NULL, NULL, NULL);
        return false;
    }
    const double value = is_exact ? rvm__exact_log(a, x) : rvm__math_of(a->options.math)->log(e->u.f);
    e->kind = E_REAL;
    e->type = T_REAL;
    e->u.f = value;
    if (!rvm__coerce(a, e, rvm__part_type(type))) return false;
    e->type = (uint8_t)type;
    return true;
}

bool rvm__coerce_number(assembler *a, expr *e, int type) {
    const bool real = rvm__is_constant(e) || e->type == RVM_I64 || e->type == (int)rvm__part_type(type);
    if (rvm__is_complex(type) && real) return widen(a, e, type);
    if (rvm__is_lns(type) && rvm__is_constant(e)) return lns_constant(a, e, type);
    const bool mix = rvm__is_lns(type) && rvm__is_lns(e->type);
    const diag d = rvm__is_complex(type) ? D_COMPLEX_BASE : mix ? D_LNS_MIX : D_MISMATCH;
    rvm__wrong(a, e, d, rvm__type_text(a, type), rvm__type_text(a, e->type), NULL);
    return false;
}

/* ---- any type ---- */

bool rvm__coerce(assembler *a, expr *e, int type) {
    if (e->type == T_ERROR) return false;
    if (e->signature) {
        rvm__wrong(a, e, D_FN_MISMATCH, rvm__type_text(a, type), a->program->signatures[e->signature - 1].text, NULL);
        return false;
    }
    if (e->type == type) return true;
    if (type >= RVM_TYPE_COUNT) return rvm__coerce_number(a, e, type);
    if (rvm__is_constant(e)) return rvm__constant_as(a, e, (rvm_type)type);
    if (e->type == RVM_I64 && rvm__is_real(type)) {
        rvm__wrap(a, e, RVM_ROW_conv, type, NULL);
        return e->kind != E_ERROR;
    }
    const diag d = rvm__is_complex(e->type) && rvm__is_real(type) ? D_COMPLEX_FOUND : D_MISMATCH;
    rvm__wrong(a, e, d, rvm__type_text(a, type), rvm__type_text(a, e->type), NULL);
    return false;
}

int rvm__settle(assembler *a, expr *e, int want) {
    if (e->type == T_INT && want >= RVM_TYPE_COUNT) want = RVM_I64;
    if (e->type == T_REAL && !rvm__is_real(want)) want = (int)a->options.real;
    if (rvm__is_constant(e)) rvm__coerce(a, e, (rvm_type)want);
    return e->type;
}
