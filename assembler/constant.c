/* constant.c: constants where they meet a type: their one rounding, and what does not fit. */
#include "asm.h"
#include "instruction.h"
#include <math.h>

static bool out_of_range(assembler *a, expr *e, rvm_type type) {
    const bool fraction_ = e->kind == E_EXACT && !rvm__exact_is_whole(e->u.exact);
    const diag i64 = fraction_ || e->kind == E_REAL ? D_REAL_AS_I64 : D_INT_RANGE;
    rvm__wrong(a, e, type == RVM_I64 ? i64 : type == RVM_FIX ? D_FIX_RANGE : D_REAL_RANGE, rvm_type_name(type), NULL, NULL);
    return false;
}

/* Of one that was rounded to an f64 before. */
static bool rounded_value(double x, rvm_type type, rvm_value *out) {
    switch (type) {
    case RVM_F64: out->f = x; return true;
    case RVM_F32: out->f = (float)x; return isfinite(out->f) || !isfinite(x);
    case RVM_FIX: out->i = rvm_fix_from_double(x); return x >= -1048576.0 && x < 1048576.0;
    case RVM_I64:
    case RVM_TYPE_COUNT: break;
    }
    return false;
}

static bool value_as(assembler *a, expr *e, rvm_type type, rvm_value *v) {
    *v = (rvm_value){0};
    const bool fits = e->kind == E_EXACT ? rvm__exact_value(e->u.exact, type, v) : rounded_value(e->u.f, type, v);
    return fits || out_of_range(a, e, type);
}

bool rvm__constant_as(assembler *a, expr *e, rvm_type type) {
    rvm_value v;
    if (!value_as(a, e, type, &v)) return false;
    rvm__set_value(e, v, (int)type);
    return true;
}

expr *rvm__constant_value(assembler *a, double x, rvm_type type, span at) {
    expr *e = rvm__expr_new(a, E_REAL, at, 0);
    if (!e) return NULL;
    rvm__set_real(e, x);
    e->checked = true;
    rvm__constant_as(a, e, type);
    return e;
}

const exact *rvm__exact_fix(assembler *a, int64_t v) {
    const exact *x = rvm__exact(a, v), *one = rvm__exact(a, INT64_C(1) << RVM_FIX_FRACTION);
    return x && one ? rvm__exact_op(a, EXACT_DIV, x, one) : NULL;
}

/* ---- conversions ---- */

static int64_t saturate(double x) {
    if (isnan(x)) return 0;
    if (x >= 9223372036854775808.0) return INT64_MAX;
    return x < -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

static const exact *towards_zero(assembler *a, const exact *x) {
    const exact *one = rvm__exact(a, 1);
    return one ? rvm__exact_op(a, EXACT_IDIV, x, one) : NULL;
}

static bool convert_i64(assembler *a, expr *e) {
    const exact *x = e->kind == E_REAL ? rvm__exact(a, saturate(e->u.f)) : towards_zero(a, e->u.exact);
    int64_t i;
    if (!x) return false;
    rvm__set_exact(e, x, T_INT);
    return rvm__exact_i64(x, &i) || out_of_range(a, e, RVM_I64);
}

bool rvm__constant_convert(assembler *a, expr *e, rvm_type type) {
    rvm_value v;
    if (type == RVM_I64) return convert_i64(a, e);
    if (!value_as(a, e, type, &v)) return false;
    const exact *x = type == RVM_FIX ? rvm__exact_fix(a, v.i) : NULL;
    if (x)
        rvm__set_exact(e, x, T_REAL);
    else if (type != RVM_FIX)
        rvm__set_real(e, v.f);
    return !a->oom;
}
