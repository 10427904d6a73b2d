/* parse.c: what stands outside of functions. */
#include "asm.h"
#include "program.h"
#include <string.h>

/* ---- functions ---- */

static bool parse_param(parser *p, func *fn, param *out) {
    *out = (param){0};
    out->name = rvm__parse_new_name(p, fn->nparams ? "the name of a parameter" : "')' or the name of a parameter", &out->at);
    return out->name && rvm__expect(p, ":", "and a type behind the name of a parameter") && rvm__parse_typed(p, &out->as);
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

static void add_func(assembler *a, func *fn) {
    if (fn->name->func) {
        rvm__diag(a, fn->at, D_FUNCTION_AGAIN, fn->name->text, rvm__line_of(a, fn->at, fn->name->func->at), NULL);
        return;
    }
    fn->name->func = fn;
    *a->funcs_end = fn;
    a->funcs_end = &fn->next;
}

/* ---- derivatives written by hand: f'adj, f'adj[y, x], or, as derived ones are called, f'adj'wrt'y'x ---- */

/* The tick of a name that is all of it, or is followed by a list of parameters; or NULL. */
static const char *last_tick(const char *text, int *kind) {
    for (const char *at = strchr(text, '\''); at; at = strchr(at + 1, '\'')) {
        const size_t n = strcspn(at + 1, "'");
        *kind = rvm__transform_find(at + 1, n);
        if (*kind >= 0 && (!at[n + 1] || !strncmp(at + n + 1, "'wrt'", 5))) return at;
    }
    return NULL;
}

/* y'x of f'adj'wrt'y'x. */
static bool take_names(parser *p, const char *text, tick *t) {
    t->listed = true;
    t->active = rvm__arena(p->a, RVM_MAX_PARAMS * sizeof *t->active);
    for (size_t n; t->active && *text && t->nactive < RVM_MAX_PARAMS; text += n + (text[n] != 0)) {
        expr *e = rvm__expr_new(p->a, E_NAME, p->tok.at, 0);
        n = strcspn(text, "'");
        if (!e) return false;
        e->u.name = rvm__intern(p->a, text, n);
        t->active[t->nactive++] = e;
    }
    return t->active;
}

/* The list behind it: the function is called as the derived one is. */
static name *take_list(parser *p, name *n, tick *t) {
    char text[MAX_TICKED];
    rvm__lex_next(p);
    if (!is_punct(&p->tok, "[")) return n;
    if (!rvm__parse_active(p, t)) return NULL;
    size_t length = (size_t)snprintf(text, sizeof text, "%s'wrt", n->text);
    for (uint32_t k = 0; k < t->nactive && length < sizeof text; k++) {
        if (t->active[k]->kind != E_NAME) {
            rvm__diag(p->a, t->active[k]->at, D_ACTIVE, NULL, NULL, NULL);
            return NULL;
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "'%s", t->active[k]->u.name->text);
    }
    if (length < sizeof text) return rvm__intern(p->a, text, length);
    rvm__diag(p->a, t->at, D_NAME_LONG, NULL, NULL, NULL);
    return NULL;
}

static name *parse_fn_name(parser *p, func *fn) {
    name *n = p->tok.kind == K_NAME ? p->tok.u.name : NULL;
    int kind;
    const char *at = n ? last_tick(n->text, &kind) : NULL;
    if (!at) return rvm__parse_new_name(p, "the name of the function", &fn->at);
    fn->at = p->tok.at;
    tick *t = rvm__arena(p->a, sizeof *t);
    if (!t) return NULL;
    *t = (tick){.kind = (uint8_t)kind, .at = fn->at};
    fn->rule = t;
    fn->rule_of = rvm__intern(p->a, n->text, (size_t)(at - n->text));
    const char *list = at + 1 + strlen(rvm__transform_tick[kind]);
    if (*list && !take_names(p, list + strlen("'wrt'"), t)) return NULL;
    if (kind != RVM_ADJOINT && kind != RVM_TANGENT_OF) {
        rvm__diag(p->a, fn->at, D_RULE_KIND, n->text, NULL, NULL);
        return NULL;
    }
    return take_list(p, n, t);
}

static void parse_fn(parser *p) {
    func *fn = rvm__arena(p->a, sizeof *fn);
    span opened = p->tok.at;
    rvm__lex_next(p);
    if (!fn) return;
    p->fn = fn;
    fn->name = parse_fn_name(p, fn);
    if (fn->name) add_func(p->a, fn);
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

/* Whether the line at `pos` is `end`. */
static bool is_end(const parser *p, size_t pos) {
    while (pos < p->size && (p->text[pos] == ' ' || p->text[pos] == '\t')) pos++;
    if (p->size - pos < 3 || memcmp(p->text + pos, "end", 3) != 0) return false;
    pos += 3;
    return pos == p->size || strchr(" \t\r\n#", p->text[pos]);
}

/* Notes where it stands: raw_fn.c reads it, once the names of all functions are known. */
static void parse_raw_fn(parser *p) {
    func *fn = rvm__arena(p->a, sizeof *fn);
    span opened = p->tok.at;
    rvm__lex_next(p);
    rvm__lex_next(p);
    if (!fn) return;
    fn->at = p->tok.at;
    fn->name = p->tok.kind == K_NAME ? p->tok.u.name : NULL;
    if (!fn->name) rvm__unexpected(p, "the name of the function");
    fn->is_raw = true;
    fn->offset = p->tok.offset;
    if (fn->name) add_func(p->a, fn);
    size_t pos = p->tok.offset;
    for (uint32_t line = p->tok.at.line;; line++) {
        const char *stop = pos < p->size ? memchr(p->text + pos, '\n', p->size - pos) : NULL;
        if (!stop) {
            span at = {line, 1, p->file, 1};
            rvm__diag(p->a, at, D_MISSING_END, "'end'", "the end of the file", NULL);
            rvm__diag_hint(p->a, D_BLOCK_BEGAN, "raw fn", rvm__number(p->a, opened.line), NULL);
            rvm__lex_seek(p, p->size, line);
            return;
        }
        pos = (size_t)(stop - p->text) + 1;
        if (!is_end(p, pos)) continue;
        rvm__lex_seek(p, pos, line + 1);
        rvm__lex_next(p);
        rvm__expect_line(p);
        return;
    }
}

/* ---- constants, other files ---- */

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
            rvm__diag(p->a, at, D_CONST_TYPE, rvm__type_text(p->a, c->type), NULL, NULL);
            good = false;
        }
    }
    good = good && rvm__expect(p, "=", "and its value behind the name of a constant") && (c->expr = rvm__parse_expr(p));
    if (c->name && c->name->constant)
        rvm__diag(p->a, c->at, D_CONST_AGAIN, c->name->text, rvm__line_of(p->a, c->at, c->name->constant->at), NULL);
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
    rvm__lex_next(p); /* scan.c has included it */
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
            parse_raw_fn(p);
        else if (is_punct(&p->tok, ".") && p->ahead.kind == K_NAME && !strcmp(p->ahead.u.name->text, "file"))
            rvm__parse_file_directive(p);
        else if (is_punct(&p->tok, ".") && p->ahead.kind == K_NAME &&
                 (!strcmp(p->ahead.u.name->text, "type") || !strcmp(p->ahead.u.name->text, "variant")))
            rvm__parse_type_directive(p);
        else if (k == KW_const)
            parse_const(p);
        else if (k == KW_include)
            parse_include(p);
        else if (rvm__is_type_definition(p))
            rvm__parse_record(p);
        else {
            rvm__unexpected(p, k == KW_end ? "'fn', 'const', 'type' or 'include' (no block is open here)"
                                           : "'fn', 'const', 'type' or 'include'");
            rvm__lex_skip_line(p);
        }
    }
}
