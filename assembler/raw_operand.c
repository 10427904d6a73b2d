/* raw_operand.c: operands in raw functions. */
#include "raw_fn.h"
#include <math.h>

bool rvm__raw_number(raw_fn *r, uint32_t limit, uint32_t *out) {
    parser *p = &r->p;
    if (p->tok.kind != K_INT || p->tok.u.i < 0 || p->tok.u.i > limit) {
        char text[48];
        snprintf(text, sizeof text, "a number up to %u", limit);
        rvm__unexpected(p, text);
        return false;
    }
    *out = (uint32_t)p->tok.u.i;
    rvm__lex_next(p);
    return true;
}

bool rvm__raw_slot(raw_fn *r, const char *mark, uint32_t count, uint16_t *out) {
    parser *p = &r->p;
    uint32_t k;
    if (!is_punct(&p->tok, mark)) {
        rvm__unexpected(p, *mark == '%' ? "a register, as %0" : "an array, as @0");
        return false;
    }
    span at = p->tok.at;
    rvm__lex_next(p);
    if (!rvm__raw_number(r, UINT16_MAX, &k)) return false;
    *out = (uint16_t)k;
    if (k < count) return true;
    rvm__diag(p->a, at, D_RAW_UNDECLARED, *mark == '%' ? "register" : "array", rvm__number(p->a, k), NULL);
    return false;
}

static bool is_hex(const parser *p) {
    return p->tok.kind == K_INT && p->tok.at.length > 1 && (p->text[p->tok.offset + 1] | 32) == 'x';
}

bool rvm__raw_value(raw_fn *r, rvm_type *type, rvm_value *v) {
    parser *p = &r->p;
    int prefix = p->tok.kind == K_NAME && is_punct(&p->ahead, ":") ? p->tok.u.name->type : -1;
    if (prefix >= 0) {
        rvm__lex_next(p);
        rvm__lex_next(p);
    }
    bool minus = is_punct(&p->tok, "-"), bits = !minus && prefix >= 0 && is_hex(p);
    if (minus) rvm__lex_next(p);
    if ((p->tok.kind != K_INT && p->tok.kind != K_REAL) || (p->tok.big && !(p->tok.limit && minus))) {
        rvm__unexpected(p, "an operand");
        return false;
    }
    bool whole = p->tok.kind == K_INT;
    if (!whole && !isfinite(p->tok.u.f)) {
        rvm__diag(p->a, p->tok.at, D_REAL_RANGE, "f64", NULL, NULL);
        return false;
    }
    *type = prefix >= 0 ? (rvm_type)prefix : whole ? RVM_I64 : RVM_F64;
    double real = whole ? (double)p->tok.u.i : p->tok.u.f;
    if (minus) real = -real;
    bool fits = *type != RVM_I64 || whole;
    if (*type == RVM_I64 || bits)
        v->u = minus ? 0 - (uint64_t)p->tok.u.i : (uint64_t)p->tok.u.i;
    else if (rvm__is_floating(*type))
        v->f = *type == RVM_F32 ? (double)(float)real : real;
    else {
        v->i = rvm_fix_from_double(real);
        fits = real >= -1048576.0 && real < 1048576.0;
    }
    if (!fits) rvm__diag(p->a, p->tok.at, whole ? D_FIX_RANGE : D_REAL_AS_I64, NULL, NULL, NULL);
    rvm__lex_next(p);
    return fits;
}

bool rvm__raw_operand(raw_fn *r, uint16_t *slot) {
    parser *p = &r->p;
    if (is_punct(&p->tok, "%")) return rvm__raw_slot(r, "%", r->g.f->nregs, slot);
    span at = p->tok.at;
    rvm_type type;
    rvm_value v;
    if (!rvm__raw_value(r, &type, &v)) return false;
    uint32_t count = r->g.f->nconsts;
    *slot = rvm__gen_const(&r->g, type, v).slot;
    if (r->g.f->nconsts == count) return true;
    rvm__diag(p->a, at, D_RAW_CONST, NULL, NULL, NULL);
    return false;
}

bool rvm__raw_subscripts(raw_fn *r, uint16_t *out, uint8_t *n) {
    parser *p = &r->p;
    span at = p->tok.at;
    if (!rvm__expect(p, "[", "and subscripts")) return false;
    for (*n = 0; *n < RVM_MAX_DIMS;) {
        if (!rvm__raw_operand(r, out + (*n)++)) return false;
        if (!is_punct(&p->tok, ",")) return rvm__expect(p, "]", "or ','");
        rvm__lex_next(p);
    }
    rvm__diag(p->a, at, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
    return false;
}

bool rvm__raw_place(raw_fn *r, rvm_place *out) {
    parser *p = &r->p;
    *out = (rvm_place){.kind = RVM_PLACE_SLOT};
    if (is_punct(&p->tok, "@")) {
        span at = p->tok.at;
        out->kind = RVM_PLACE_ARRAY;
        if (!rvm__raw_slot(r, "@", r->g.f->narrays, &out->slot)) return false;
        if (!is_punct(&p->tok, "[")) return true;
        out->kind = RVM_PLACE_ELEM;
        if (!rvm__raw_subscripts(r, out->idx, &out->nidx)) return false;
        uint8_t ndim = r->g.f->arrays[out->slot].ndim;
        if (out->nidx == ndim) return true;
        rvm__diag(p->a, at, D_SUBSCRIPTS, "@", rvm__number(p->a, ndim), rvm__number(p->a, out->nidx));
        return false;
    }
    if (!rvm__raw_operand(r, &out->slot)) return false;
    if (!is_punct(&p->tok, "..")) return true;
    rvm__lex_next(p);
    out->kind = RVM_PLACE_RANGE;
    out->nidx = 1;
    return rvm__raw_operand(r, out->idx);
}

bool rvm__raw_word(raw_fn *r, name **out) {
    if (r->p.tok.kind != K_NAME) {
        rvm__unexpected(&r->p, "a name");
        return false;
    }
    *out = r->p.tok.u.name;
    rvm__lex_next(&r->p);
    return true;
}
