/* fn_types.c: the types of function values, fn(acc real, read real[n]), and the tables of raw text that go with them. */
#include "asm.h"
#include "transform.h"
#include "builder.h"
#include <string.h>

/* ---- types ---- */

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

/* ---- values ---- */

/* Of the parameters, where some are complex or lns; else NULL. */
static const uint8_t *types_of(assembler *a, const callee *c) {
    uint8_t *list = rvm__arena(a, c->nparams + 1);
    bool plain = true;
    for (uint32_t k = 0; list && k < c->nparams; k++) {
        list[k] = c->params[k].type;
        plain = plain && list[k] < RVM_TYPE_COUNT;
    }
    return plain ? NULL : list;
}

/* By itself a function is taken for one that owns everything, which fits least types but is always true. */
void rvm__check_function(assembler *a, expr *e) {
    rvm_param params[RVM_MAX_PARAMS];
    if (!rvm__callee(a, e->u.callee)) {
        rvm__failed(e);
        return;
    }
    const rvm_function *f = a->program->functions + e->u.callee->index;
    for (uint32_t k = 0; k < f->nparams; k++) {
        params[k] = f->params[k];
        params[k].role = RVM_OWN;
    }
    int64_t k = rvm__program_add_signature(a->program, params, f->nparams);
    if (k < 0) {
        rvm__fn_limit(a, e->at, k);
        rvm__failed(e);
        return;
    }
    e->type = RVM_I64;
    e->signature = (uint16_t)(k + 1);
    e->types = types_of(a, e->u.callee);
}

static void note_taken(assembler *a, const expr *e, uint16_t signature) {
    taken *t = rvm__arena(a, sizeof *t);
    if (!t) return;
    *t = (taken){.next = a->taken, .function = (uint32_t)e->u.callee->index, .signature = signature - 1u, .at = e->at};
    a->taken = t;
}

bool rvm__check_function_type(assembler *a, expr *e, uint16_t signature) {
    const rvm_program *p = a->program;
    if (e->type == T_ERROR) return false;
    const char *needed = signature ? p->signatures[signature - 1].text : rvm__type_text(RVM_I64);
    const char *found = e->signature ? p->signatures[e->signature - 1].text : rvm__type_text(e->type);
    bool fits = !signature && !e->signature;
    if (signature && e->kind == E_FN)
        fits = rvm__fits_types(p, (uint32_t)e->u.callee->index, signature - 1u);
    else if (signature && e->signature)
        fits = rvm__signature_fits(p, e->signature - 1u, signature - 1u);
    if (!fits)
        rvm__wrong(a, e, D_FN_MISMATCH, needed, found, NULL);
    else if (e->kind == E_FN)
        note_taken(a, e, signature);
    return fits;
}

void rvm__check_taken(assembler *a) {
    const rvm_program *p = a->program;
    for (const taken *t = a->taken; t; t = t->next) {
        const rvm_function *f = p->functions + t->function;
        char type[200];
        if (rvm__fits(p, t->function, t->signature)) continue;
        rvm__params_text(p, f->params, f->nparams, type, sizeof type);
        rvm__diag(a, t->at, D_FN_ROLES, f->name, type, p->signatures[t->signature].text);
    }
}

/* ---- raw text: .type and .variant ---- */

static bool take_below(parser *p, uint32_t limit, uint32_t *out) {
    if (p->tok.kind != K_INT || p->tok.u.i < 0 || p->tok.u.i >= limit) {
        char text[64];
        snprintf(text, sizeof text, "a number below %u", limit);
        rvm__unexpected(p, text);
        return false;
    }
    *out = (uint32_t)p->tok.u.i;
    rvm__lex_next(p);
    return true;
}

static bool take_active(parser *p, uint32_t n, uint8_t *active) {
    const name *s = p->tok.kind == K_STRING ? p->tok.u.name : NULL;
    if (!s || s->length != n || strspn(s->text, "01") != n) {
        rvm__unexpected(p, "a 0 or 1 in quotes for each parameter");
        return false;
    }
    for (uint32_t k = 0; k < n; k++) active[k] = s->text[k] == '1';
    rvm__lex_next(p);
    return true;
}

/* f f'adj ..: noted until functions have numbers. */
static bool take_derived(parser *p, uint32_t variant) {
    while (p->tok.kind == K_NAME) {
        derived *d = rvm__arena(p->a, sizeof *d);
        if (!d) return false;
        *d = (derived){.next = p->a->derived, .at = p->tok.at, .variant = variant, .fn = p->tok.u.name};
        rvm__lex_next(p);
        if (p->tok.kind != K_NAME) {
            rvm__unexpected(p, "the name of the derived function");
            return false;
        }
        d->derived = p->tok.u.name;
        p->a->derived = d;
        rvm__lex_next(p);
    }
    return true;
}

static bool read_variant(parser *p, span at) {
    rvm_program *program = p->a->program;
    uint32_t number, kind, level, stack, before = program->nvariants;
    uint8_t active[RVM_MAX_PARAMS];
    rvm_variant v = {.active = active};
    bool itself = p->ahead.kind != K_INT;
    if (!take_below(p, itself ? program->nsignatures : program->nvariants, &number)) return false;
    int64_t got;
    if (itself)
        got = rvm__program_add_variant(program, number);
    else {
        uint32_t n = program->signatures[program->variants[number].signature].nparams;
        if (!take_below(p, RVM_TRANSFORM_COUNT, &kind) || !take_below(p, RVM_MAX_ORDER, &level) ||
            !take_below(p, 2, &stack) || !take_active(p, n, active) || !take_below(p, program->nsignatures, &v.signature))
            return false;
        v.parent = number;
        v.kind = (uint8_t)kind;
        v.level = (uint8_t)level;
        v.stack = stack;
        got = rvm__variant_make(program, &v);
    }
    if (got < 0) {
        rvm__fn_limit(p->a, at, got);
        return false;
    }
    if (got == before) return itself || take_derived(p, (uint32_t)got);
    rvm__diag(p->a, at, D_RAW_AGAIN, "variant", NULL, NULL);
    return false;
}

void rvm__parse_type_directive(parser *p) {
    bool type = !strcmp(p->ahead.u.name->text, "type"), good;
    rvm__lex_next(p);
    span at = p->tok.at;
    rvm__lex_next(p);
    if (type) {
        uint32_t before = p->a->program->nsignatures;
        uint8_t t;
        uint16_t signature;
        good = rvm__parse_any_type(p, &t, &signature, NULL);
        if (good && signature != before + 1) rvm__diag(p->a, at, D_RAW_AGAIN, "type", NULL, NULL);
    } else
        good = read_variant(p, at);
    if (good)
        rvm__expect_line(p);
    else
        rvm__lex_skip_line(p);
}

void rvm__resolve_derived(assembler *a) {
    for (const derived *d = a->derived; d; d = d->next) {
        const name *missing = !d->fn->func ? d->fn : !d->derived->func ? d->derived : NULL;
        if (missing)
            rvm__diag(a, d->at, D_UNKNOWN_FUNCTION, missing->text, NULL, NULL);
        else if (!rvm__variant_set(a->program, d->variant, d->fn->func->index, d->derived->func->index))
            a->oom = true;
    }
}
