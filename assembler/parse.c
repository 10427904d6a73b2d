/* parse.c: what stands outside of functions, and the pieces that all statements share. */
#include "asm.h"
#include "program.h"
#include <string.h>

void rvm__unexpected(parser *p, const char *expected) {
    if (p->tok.kind == K_BAD || p->a->oom) return; /* told by the lexer */
    bool line = p->tok.kind == K_LINE || p->tok.kind == K_EOF || (p->tok.first && p->tok.inside);
    span at = p->tok.at;
    if (line && p->last.line) { /* point behind the last token */
        at = p->last;
        at.column += at.length;
        at.length = 1;
    }
    bool line_ended = p->tok.first && p->tok.inside;
    bool reserved = !line_ended && p->tok.kind == K_NAME && is_reserved(p->tok.u.name->keyword);
    rvm__diag(p->a, at, reserved ? D_EXPECTED_KEYWORD : D_EXPECTED, expected,
              line_ended ? "the end of the line" : rvm__token_text(p, &p->tok), NULL);
    if (!line) rvm__hint_foreign(p, &p->tok);
}

bool rvm__expect(parser *p, const char *s, const char *where) {
    if (is_punct(&p->tok, s)) {
        rvm__lex_next(p);
        return true;
    }
    char text[80];
    snprintf(text, sizeof text, "'%s' %s", s, where);
    rvm__unexpected(p, text);
    return false;
}

bool rvm__expect_line(parser *p) {
    if (p->tok.kind == K_LINE || p->tok.kind == K_EOF) {
        rvm__lex_next(p);
        return true;
    }
    rvm__unexpected(p, "the end of the line");
    rvm__lex_skip_line(p);
    return false;
}

name *rvm__parse_new_name(parser *p, const char *what, span *at) {
    *at = p->tok.at;
    if (p->tok.kind != K_NAME || is_reserved(p->tok.u.name->keyword)) {
        rvm__unexpected(p, what);
        return NULL;
    }
    name *n = p->tok.u.name;
    if (strchr(n->text, '\'')) {
        rvm__diag(p->a, *at, D_TICK, n->text, NULL, NULL);
        return NULL;
    }
    rvm__lex_next(p);
    return n;
}

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

/* ---- functions ---- */

static bool parse_param(parser *p, func *fn, param *out) {
    *out = (param){0};
    out->name = rvm__parse_new_name(p, fn->nparams ? "the name of a parameter" : "')' or the name of a parameter", &out->at);
    if (!out->name || !rvm__expect(p, ":", "and a type behind the name of a parameter") ||
        !rvm__parse_any_type(p, &out->type, &out->signature, &out->types))
        return false;
    if (!is_punct(&p->tok, "[")) return true;
    span at = p->tok.at;
    expr **dims;
    uint32_t n;
    rvm__lex_next(p);
    if (!rvm__parse_parts(p, "]", &dims, &n, UINT8_MAX)) return false;
    if (!n || n > RVM_MAX_DIMS) {
        rvm__diag(p->a, at, D_DIMS, rvm__number(p->a, RVM_MAX_DIMS), NULL, NULL);
        return false;
    }
    for (uint32_t k = 0; k < n; k++) out->dim[k] = dims[k];
    out->ndim = (uint8_t)n;
    return true;
}

static bool parse_params(parser *p, func *fn) {
    param list[RVM_MAX_PARAMS];
    bool good = true;
    if (!rvm__expect(p, "(", "and the parameters behind the name of a function")) return false;
    while (fn->nparams || !is_punct(&p->tok, ")")) {
        if (fn->nparams == RVM_MAX_PARAMS) {
            rvm__diag(p->a, p->tok.at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_PARAMS), NULL, NULL);
            good = false;
        } else
            good = parse_param(p, fn, list + fn->nparams);
        if (!good) break;
        fn->nparams++;
        if (!is_punct(&p->tok, ",")) break;
        rvm__lex_next(p);
    }
    fn->params = rvm__arena(p->a, (fn->nparams + 1) * sizeof *fn->params);
    if (!fn->params) return false;
    memcpy(fn->params, list, fn->nparams * sizeof *list);
    return good && rvm__expect(p, ")", "or ',' behind a parameter");
}

void rvm__add_func(assembler *a, func *fn) {
    if (fn->name->func) {
        rvm__diag(a, fn->at, D_FUNCTION_AGAIN, fn->name->text, rvm__number(a, fn->name->func->at.line), NULL);
        return;
    }
    fn->name->func = fn;
    *a->funcs_end = fn;
    a->funcs_end = &fn->next;
}

static void parse_fn(parser *p) {
    func *fn = rvm__arena(p->a, sizeof *fn);
    span opened = p->tok.at;
    rvm__lex_next(p);
    if (!fn) return;
    p->fn = fn;
    fn->name = rvm__parse_new_name(p, "the name of the function", &fn->at);
    if (fn->name) rvm__add_func(p->a, fn);
    bool good = fn->name && parse_params(p, fn);
    if (!good) {
        fn->broken = true;
        rvm__lex_skip_line(p);
    } else
        rvm__expect_line(p);
    fn->body = rvm__parse_block(p, opened, "fn", END_end);
    fn->end = p->tok.at;
    if (is_keyword(&p->tok, KW_end)) rvm__lex_next(p), rvm__expect_line(p);
    p->fn = NULL;
}

static void parse_const(parser *p) {
    constant *c = rvm__arena(p->a, sizeof *c);
    rvm__lex_next(p);
    if (!c) return;
    *c = (constant){.type = T_NONE};
    c->name = rvm__parse_new_name(p, "the name of the constant", &c->at);
    bool good = c->name;
    if (good && is_punct(&p->tok, ":")) {
        rvm__lex_next(p);
        span at = p->tok.at;
        good = rvm__parse_type(p, &c->type);
        if (good && c->type >= RVM_TYPE_COUNT) {
            rvm__diag(p->a, at, D_CONST_TYPE, rvm__type_text(c->type), NULL, NULL);
            good = false;
        }
    }
    good = good && rvm__expect(p, "=", "and its value behind the name of a constant") && (c->expr = rvm__parse_expr(p));
    if (c->name && c->name->constant)
        rvm__diag(p->a, c->at, D_CONST_AGAIN, c->name->text, NULL, NULL);
    else if (c->name) {
        c->name->constant = c;
        *p->a->constants_end = c;
        p->a->constants_end = &c->next;
    }
    if (good)
        rvm__expect_line(p);
    else
        rvm__lex_skip_line(p);
}

static void parse_include(parser *p) {
    rvm__lex_next(p);
    if (p->tok.kind != K_STRING) {
        rvm__unexpected(p, "the name of a file in quotes");
        rvm__lex_skip_line(p);
        return;
    }
    rvm__source_include(p->a, p->tok.u.name->text, p->tok.u.name->length, p->file, p->tok.at);
    rvm__lex_next(p);
    rvm__expect_line(p);
}

void rvm__parse_file(assembler *a, uint16_t file) {
    parser state, *p = &state;
    rvm__lex_start(p, a, file);
    while (p->tok.kind != K_EOF) {
        keyword k = p->tok.kind == K_NAME ? (keyword)p->tok.u.name->keyword : KW_NONE;
        if (p->tok.kind == K_LINE)
            rvm__lex_next(p);
        else if (k == KW_fn)
            parse_fn(p);
        else if (p->tok.kind == K_NAME && is_keyword(&p->ahead, KW_fn) && !strcmp(p->tok.u.name->text, "raw"))
            rvm__parse_raw_fn(p);
        else if (is_punct(&p->tok, ".") && p->ahead.kind == K_NAME && !strcmp(p->ahead.u.name->text, "file"))
            rvm__parse_file_directive(p);
        else if (is_punct(&p->tok, ".") && p->ahead.kind == K_NAME &&
                 (!strcmp(p->ahead.u.name->text, "type") || !strcmp(p->ahead.u.name->text, "variant")))
            rvm__parse_type_directive(p);
        else if (k == KW_const)
            parse_const(p);
        else if (k == KW_include)
            parse_include(p);
        else {
            rvm__unexpected(p, k == KW_end ? "'fn', 'const' or 'include' (no block is open here)"
                                           : "'fn', 'const' or 'include'");
            rvm__lex_skip_line(p);
        }
    }
}
