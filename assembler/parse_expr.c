/* parse_expr.c: expressions, by precedence climbing. */
#include "asm.h"
#include <string.h>

/* From the start of a to the end of b, where they share a line. */
static span join(span a, span b) {
    if (a.line == b.line && b.column >= a.column && b.column - a.column + b.length < 1000)
        a.length = (uint16_t)(b.column - a.column + b.length);
    return a;
}

static bool adopt(parser *p, expr *e, uint32_t k, expr *kid) {
    if (!kid) return false;
    e->kids[k] = kid;
    if (kid->depth >= e->depth) e->depth = (uint16_t)(kid->depth + 1);
    if (e->depth <= MAX_CHAIN) return true;
    rvm__diag(p->a, e->at, D_CHAIN, rvm__number(p->a, MAX_CHAIN), NULL, NULL);
    return false;
}

static expr *take_items(parser *p, expr_kind kind, name *n, span at, const char *close) {
    expr **items;
    uint32_t count;
    if (!rvm__parse_parts(p, close, &items, &count, UINT8_MAX)) return NULL;
    expr *e = rvm__expr_new(p->a, kind, join(at, p->last), count);
    if (!e) return NULL;
    e->u.name = n;
    for (uint32_t k = 0; k < count; k++)
        if (!adopt(p, e, k, items[k])) return NULL;
    return e;
}

/* .u, behind so many subscripts */
static bool take_selector(parser *p, selector ***end, uint32_t before) {
    selector *m = rvm__arena(p->a, sizeof *m);
    rvm__lex_next(p);
    if (!m) return false;
    if (p->tok.kind != K_NAME) {
        rvm__unexpected(p, "the name of a member behind '.'");
        return false;
    }
    *m = (selector){.name = p->tok.u.name, .before = before};
    **end = m;
    *end = &m->next;
    rvm__lex_next(p);
    return true;
}

/* Subscripts behind those that there are. */
static bool take_subscripts(parser *p, expr *e) {
    expr **items, **all;
    uint32_t count;
    rvm__lex_next(p);
    if (!rvm__parse_parts(p, "]", &items, &count, (uint32_t)(UINT8_MAX - e->nkids))) return false;
    if (!(all = rvm__arena(p->a, (e->nkids + count + 1) * sizeof *all))) return false;
    if (e->nkids) memcpy(all, e->kids, e->nkids * sizeof *all);
    e->kids = all;
    e->kind = E_INDEX;
    for (uint32_t k = 0; k < count; k++)
        if (!adopt(p, e, e->nkids++, items[k])) return false;
    return true;
}

/* x  x[i, j]  s.u  s.u[i]  pool[k].u[i] */
static expr *parse_place(parser *p, name *n, span at) {
    expr *e = rvm__expr_new(p->a, E_NAME, at, 0);
    if (!e) return NULL;
    selector **end = &e->selector;
    e->u.name = n;
    for (bool subscripts = false;;) {
        const bool opens = is_punct(&p->tok, "[") && !subscripts;
        if (!opens && !is_punct(&p->tok, ".")) break;
        if (!(opens ? take_subscripts(p, e) : take_selector(p, &end, e->nkids))) return NULL;
        subscripts = opens;
        e->at = join(at, p->last);
    }
    return e;
}

static expr *parse_name(parser *p) {
    name *n = p->tok.u.name;
    span at = p->tok.at;
    if (is_reserved(n->keyword)) {
        rvm__unexpected(p, "an expression");
        return NULL;
    }
    rvm__lex_next(p);
    if (!is_punct(&p->tok, "(")) return parse_place(p, n, at);
    rvm__lex_next(p);
    return take_items(p, E_CALL, n, at, ")");
}

static bool is_number(const parser *p) {
    return p->tok.kind == K_INT || p->tok.kind == K_REAL || p->tok.kind == K_IMAGINARY;
}

/* 3i is complex(0, 3). */
static expr *imaginary(parser *p, expr *number) {
    expr *e = rvm__expr_new(p->a, E_CALL, number->at, 2), *zero = rvm__expr_whole(p->a, 0, number->at);
    if (!e || !zero || !adopt(p, e, 0, zero) || !adopt(p, e, 1, number)) return NULL;
    e->u.name = rvm__intern(p->a, "complex", strlen("complex"));
    return e->u.name ? e : NULL;
}

static expr *parse_number(parser *p, bool negative) {
    const bool is_imaginary = p->tok.kind == K_IMAGINARY, whole = is_imaginary ? p->tok.whole : p->tok.kind == K_INT;
    expr *e = rvm__expr_new(p->a, E_REAL, p->tok.at, 0);
    const exact *x = whole && !p->tok.big ? rvm__exact(p->a, p->tok.u.i) : p->tok.exact;
    if (x && negative) x = rvm__exact_negate(p->a, x);
    if (!e || p->a->oom) return NULL;
    if (x && (whole || !negative || x->n)) /* -0.0 is no fraction */
        rvm__set_exact(e, x, whole ? T_INT : T_REAL);
    else
        rvm__set_real(e, negative ? -p->tok.u.f : p->tok.u.f);
    rvm__lex_next(p);
    return is_imaginary ? imaginary(p, e) : e;
}

/* ---- names of functions, with ticks ---- */

/* grad'tan: what stands behind a first tick. The last one read, or NULL. */
static tick *take_ticks(parser *p, tick **to, const char *text, span at) {
    for (;; text++) {
        size_t length = strcspn(text, "'");
        int kind = rvm__transform_find(text, length);
        tick *t = rvm__arena(p->a, sizeof *t);
        if (!t) return NULL;
        if (kind < 0) {
            rvm__diag(p->a, at, D_UNKNOWN_TICK, rvm__arena_copy(p->a, text, length), NULL, NULL);
            return NULL;
        }
        *t = (tick){.kind = (uint8_t)kind, .at = at};
        *to = t;
        to = &t->next;
        text += length;
        if (!*text) return t;
    }
}

/* [out, x] */
bool rvm__parse_active(parser *p, tick *t) {
    t->at = p->tok.at;
    if (t->kind == RVM_INVERSE) {
        rvm__diag(p->a, t->at, D_ACTIVE_INVERSE, NULL, NULL, NULL);
        return false;
    }
    rvm__lex_next(p);
    if (!rvm__parse_parts(p, "]", &t->active, &t->nactive, RVM_MAX_PARAMS)) return false;
    t->listed = true;
    for (uint32_t k = 0; k < t->nactive; k++)
        if (t->active[k]->kind != E_NAME && !rvm__is_whole(t->active[k])) {
            rvm__diag(p->a, t->active[k]->at, D_ACTIVE, NULL, NULL, NULL);
            return false;
        }
    return true;
}

callee *rvm__parse_callee(parser *p) {
    callee *c = rvm__arena(p->a, sizeof *c);
    if (!c) return NULL;
    *c = (callee){.index = -1, .at = p->tok.at};
    const char *text = p->tok.kind == K_NAME ? strchr(p->tok.u.name->text, '\'') : NULL;
    if (!text) {
        c->name = rvm__parse_new_name(p, "the name of a function", &c->at);
        return c->name ? c : NULL;
    }
    c->word = p->tok.u.name;
    c->name = rvm__intern(p->a, c->word->text, (size_t)(text - c->word->text));
    tick **to = &c->ticks;
    for (text++; c->name; text = p->tok.u.name->text) {
        tick *last = take_ticks(p, to, text, p->tok.at);
        if (!last) return NULL;
        to = &last->next;
        rvm__lex_next(p);
        if (!is_punct(&p->tok, "[")) break;
        c->word = NULL;
        if (!rvm__parse_active(p, last)) return NULL;
        if (!is_punct(&p->tok, "'") || p->ahead.kind != K_NAME) break;
        rvm__lex_next(p);
    }
    *p->a->callees_end = c;
    p->a->callees_end = &c->next;
    return c->name ? c : NULL;
}

/* ---- operators ---- */

static expr *parse_primary(parser *p) {
    if (p->tok.kind == K_NAME) return parse_name(p);
    if (is_number(p)) return parse_number(p, false);
    if (is_punct(&p->tok, "&")) {
        span at = p->tok.at;
        rvm__lex_next(p);
        callee *c = rvm__parse_callee(p);
        expr *e = c ? rvm__expr_new(p->a, E_FN, join(at, p->last), 0) : NULL;
        if (e) e->u.callee = c;
        return e;
    }
    if (!is_punct(&p->tok, "(")) {
        rvm__unexpected(p, "an expression");
        return NULL;
    }
    rvm__lex_next(p);
    expr *e = rvm__parse_expr(p);
    return e && rvm__expect(p, ")", "behind the expression") ? e : NULL;
}

static expr *parse_unary(parser *p);

static expr *parse_power(parser *p) {
    expr *base = parse_primary(p);
    if (!base || !is_punct(&p->tok, "^")) return base;
    rvm__lex_next(p);
    expr *exponent = parse_unary(p);
    if (!exponent) return NULL;
    expr *e = rvm__expr_new(p->a, E_BINARY, join(base->at, exponent->at), 2);
    if (!e || !adopt(p, e, 0, base) || !adopt(p, e, 1, exponent)) return NULL;
    e->op = O_POWER;
    return e;
}

static bool deeper(parser *p) {
    if (p->depth++ < MAX_NESTING) return true;
    rvm__diag(p->a, p->tok.at, D_NESTING, rvm__number(p->a, MAX_NESTING), NULL, NULL);
    return false;
}

static expr *parse_binary(parser *p, uint32_t level);

static expr *parse_prefix(parser *p, enum operator_id op) {
    span at = p->tok.at;
    rvm__lex_next(p);
    if (op == O_NEG && is_number(p) && !is_punct(&p->ahead, "^")) return parse_number(p, true);
    expr *kid = op == O_NOT ? parse_binary(p, LEVEL_NOT) : parse_unary(p);
    expr *e = kid ? rvm__expr_new(p->a, E_UNARY, join(at, kid->at), 1) : NULL;
    if (!e || !adopt(p, e, 0, kid)) return NULL;
    e->op = (uint8_t)op;
    return e;
}

static expr *parse_unary(parser *p) {
    if (!deeper(p)) return NULL;
    expr *e = is_punct(&p->tok, "-")        ? parse_prefix(p, O_NEG)
              : is_punct(&p->tok, "~")      ? parse_prefix(p, O_COMPLEMENT)
              : is_keyword(&p->tok, KW_not) ? parse_prefix(p, O_NOT)
                                            : parse_power(p);
    p->depth--;
    return e;
}

/* The infix operator that the token is, or -1. */
static int infix(const token *t) {
    for (uint32_t k = 0; k < rvm__operator_count; k++) {
        const operator_info *o = rvm__operators + k;
        if (!o->level) continue;
        if (o->keyword ? is_keyword(t, (keyword)o->keyword) : is_punct(t, o->text)) return (int)k;
    }
    return -1;
}

static expr *parse_binary(parser *p, uint32_t level) {
    expr *left = parse_unary(p);
    while (left && (p->tok.kind == K_PUNCT || p->tok.kind == K_NAME)) {
        int op = infix(&p->tok);
        if (op < 0 || rvm__operators[op].level < level || op == O_POWER) break;
        uint32_t own = rvm__operators[op].level;
        rvm__lex_next(p);
        expr *right = parse_binary(p, own + 1);
        expr *e = right ? rvm__expr_new(p->a, E_BINARY, join(left->at, right->at), 2) : NULL;
        if (!e || !adopt(p, e, 0, left) || !adopt(p, e, 1, right)) return NULL;
        e->op = (uint8_t)op;
        left = e;
        int then = own == LEVEL_COMPARE ? infix(&p->tok) : -1;
        bool equality = then >= 0 && (is_punct(&p->tok, "==") || is_punct(&p->tok, "!="));
        if (then >= 0 && !equality && rvm__operators[then].level == LEVEL_COMPARE) {
            rvm__diag(p->a, p->tok.at, D_COMPARE_CHAIN, NULL, NULL, NULL);
            return NULL;
        }
    }
    return left;
}

expr *rvm__parse_expr(parser *p) {
    return parse_binary(p, 0);
}

expr *rvm__parse_part(parser *p) {
    expr *lo = rvm__parse_expr(p);
    if (!lo || !is_punct(&p->tok, "..")) return lo;
    rvm__lex_next(p);
    expr *hi = rvm__parse_expr(p);
    expr *e = hi ? rvm__expr_new(p->a, E_RANGE, join(lo->at, hi->at), 2) : NULL;
    return e && adopt(p, e, 0, lo) && adopt(p, e, 1, hi) ? e : NULL;
}

bool rvm__parse_parts(parser *p, const char *close, expr ***items, uint32_t *count, uint32_t limit) {
    expr *few[16], **list = few;
    uint32_t n = 0, cap = sizeof few / sizeof *few;
    *count = 0;
    *items = NULL;
    bool empty = close ? is_punct(&p->tok, close) : p->tok.kind == K_LINE || p->tok.kind == K_EOF;
    while (!empty) {
        if (n == limit) {
            rvm__diag(p->a, p->tok.at, D_TOO_MANY, rvm__number(p->a, limit), NULL, NULL);
            return false;
        }
        if (n == cap) {
            expr **more = rvm__arena(p->a, (size_t)cap * 2 * sizeof *more);
            if (!more) return false;
            memcpy(more, list, n * sizeof *more);
            list = more;
            cap *= 2;
        }
        list[n] = rvm__parse_part(p);
        if (!list[n++]) return false;
        if (!is_punct(&p->tok, ",")) break;
        rvm__lex_next(p);
    }
    if (close && !rvm__expect(p, close, "or ','")) return false;
    *items = rvm__arena(p->a, (n ? n : 1) * sizeof **items);
    if (!*items) return false;
    memcpy(*items, list, n * sizeof *list);
    *count = n;
    return true;
}
