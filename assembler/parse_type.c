/* parse_type.c: types, and those of function values: fn(acc real, read real[n]). */
#include "asm.h"
#include "builder.h"
#include "transform.h"
#include <string.h>

/* complex, complex(f32) */
static bool parse_base(parser *p, uint8_t *type) {
    if (!is_punct(&p->tok, "(")) return true;
    rvm__lex_next(p);
    const int base = p->tok.kind == K_NAME ? p->tok.u.name->type : -1;
    if (base < 0 || base == RVM_I64) {
        rvm__unexpected(p, "f64, f32, fix or real");
        return false;
    }
    *type = (uint8_t)(T_COMPLEX + base);
    rvm__lex_next(p);
    return rvm__expect(p, ")", "behind the type of the parts");
}

bool rvm__parse_type(parser *p, uint8_t *type) {
    if (p->tok.kind != K_NAME) {
        rvm__unexpected(p, "a type (i64, f64, f32, fix, real, complex or lns)");
        return false;
    }
    const name *n = p->tok.u.name;
    if (n->type >= 0) {
        *type = (uint8_t)n->type;
        rvm__lex_next(p);
        return true;
    }
    const int number = rvm__number_type(p->a, n);
    if (number >= 0) {
        *type = (uint8_t)number;
        rvm__lex_next(p);
        return number == T_LNS || parse_base(p, type);
    }
    rvm__diag(p->a, p->tok.at, D_UNKNOWN_TYPE, n->text, rvm__near(p->a, n, NEAR_TYPE), NULL);
    return false;
}

/* ---- of function values ---- */

/* acc, read or own before a type; own where there is none. */
static rvm_role parse_role(parser *p) {
    static const char *const words[] = {[RVM_READ] = "read", [RVM_ACC] = "acc", [RVM_OWN] = "own"};
    for (int r = RVM_READ; r <= RVM_OWN; r++)
        if (p->tok.kind == K_NAME && p->ahead.kind == K_NAME && !strcmp(p->tok.u.name->text, words[r])) {
            rvm__lex_next(p);
            return (rvm_role)r;
        }
    return RVM_OWN;
}

/* [], [,], [n], [n, 3]: only how many dimensions there are. */
static bool parse_dims(parser *p, uint8_t *ndim) {
    span at = p->tok.at;
    uint32_t n = 1;
    rvm__lex_next(p);
    for (; !is_punct(&p->tok, "]"); rvm__lex_next(p)) {
        if (is_punct(&p->tok, ","))
            n++;
        else if (p->tok.kind != K_NAME && p->tok.kind != K_INT) {
            rvm__unexpected(p, "']', ',' or the name of a length");
            return false;
        }
    }
    if (n > RVM_MAX_DIMS) {
        rvm__diag(p->a, at, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
        return false;
    }
    *ndim = (uint8_t)n;
    rvm__lex_next(p);
    return true;
}

static bool parse_signature_param(parser *p, rvm_param *out) {
    *out = (rvm_param){.role = (uint8_t)parse_role(p)};
    if (!rvm__parse_any_type(p, &out->type, &out->signature, NULL)) return false;
    return !is_punct(&p->tok, "[") || parse_dims(p, &out->ndim);
}

/* As the program has it: a complex is two reals, an lns is one. How many it is. */
static uint32_t split_param(rvm_param *q) {
    const bool complex = rvm__is_complex(q->type);
    q->type = (uint8_t)rvm__part_type(q->type);
    if (complex) q[1] = q[0];
    return complex ? 2 : 1;
}

/* Behind `fn`. */
static bool parse_signature(parser *p, uint16_t *signature, const uint8_t **types) {
    rvm_param *params = rvm__arena(p->a, (RVM_MAX_PARAMS + 1) * sizeof *params);
    uint8_t *list = rvm__arena(p->a, RVM_MAX_PARAMS + 1);
    uint32_t n = 0, count = 0;
    span at = p->tok.at;
    *types = NULL;
    if (!params || !list || !rvm__expect(p, "(", "and the types of the parameters")) return false;
    while (n || !is_punct(&p->tok, ")")) {
        if (n >= RVM_MAX_SIGNATURE_PARAMS) {
            rvm__diag(p->a, at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_SIGNATURE_PARAMS), NULL, NULL);
            return false;
        }
        if (!parse_signature_param(p, params + n)) return false;
        list[count++] = params[n].type;
        if (params[n].type >= RVM_TYPE_COUNT) *types = list;
        n += split_param(params + n);
        if (!is_punct(&p->tok, ",")) break;
        rvm__lex_next(p);
    }
    if (!rvm__expect(p, ")", "or ',' behind the type of a parameter")) return false;
    if (n > RVM_MAX_SIGNATURE_PARAMS) {
        rvm__diag(p->a, at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_SIGNATURE_PARAMS), NULL, NULL);
        return false;
    }
    int64_t k = rvm__program_add_signature(p->a->program, params, n);
    if (k < 0) rvm__fn_limit(p->a, at, k);
    *signature = (uint16_t)(k + 1);
    return k >= 0;
}

bool rvm__parse_any_type(parser *p, uint8_t *type, uint16_t *signature, const uint8_t **types) {
    const uint8_t *none;
    *signature = 0;
    if (types) *types = NULL;
    if (!is_keyword(&p->tok, KW_fn)) return rvm__parse_type(p, type);
    if (p->depth++ >= MAX_NESTING) {
        rvm__diag(p->a, p->tok.at, D_NESTING, rvm__number(p->a, MAX_NESTING), NULL, NULL);
        return false;
    }
    rvm__lex_next(p);
    *type = RVM_I64;
    bool good = parse_signature(p, signature, types ? types : &none);
    p->depth--;
    return good;
}
