/* parse_stmt.c: the statements of one line. */
#include "asm.h"
#include "builder.h"
#include "program.h"
#include <ctype.h>
#include <string.h>

stmt *rvm__stmt_new(parser *p, stmt_kind kind) {
    stmt *s = rvm__arena(p->a, sizeof *s);
    if (s) *s = (stmt){.kind = (uint8_t)kind, .at = p->tok.at, .row = -1};
    return s;
}

void rvm__stmt_end(parser *p, stmt *s) {
    if (p->last.line == s->at.line && p->last.column >= s->at.column && p->last.column - s->at.column < 900)
        s->at.length = (uint16_t)(p->last.column + p->last.length - s->at.column);
}

/* Of a statement of one line, over it after an error: what stands before that is not looked at further. */
static bool last_of_line(parser *p, stmt *s) {
    if (!rvm__expect_line(p)) s->broken = true;
    return true;
}

/* What stands behind a word and blanks, from there. */
static char behind_word(const parser *p, size_t at) {
    while (at < p->size && (p->text[at] == '_' || p->text[at] == '\'' || isalnum((unsigned char)p->text[at]))) at++;
    while (at < p->size && (p->text[at] == ' ' || p->text[at] == '\t')) at++;
    return at < p->size ? p->text[at] : '\n';
}

bool rvm__names_member(const parser *p) {
    const char next = is_punct(&p->ahead, ".") ? behind_word(p, p->pos) : '\n';
    return next != '\n' && strchr(".[=+-*/^", next);
}

static void note_written(parser *p, const expr *e) {
    if (e->kind != E_NAME || !p->fn) return;
    written *w = rvm__arena(p->a, sizeof *w);
    if (!w) return;
    *w = (written){p->fn->written, e->u.name};
    p->fn->written = w;
}

static void take_args(stmt *s, expr **args, uint32_t n) {
    s->args = args;
    s->nargs = (uint16_t)n;
}

static bool tolerance(parser *p, stmt *s) {
    if (!is_punct(&p->tok, "~")) return true;
    rvm__lex_next(p);
    return (s->tolerance = rvm__parse_expr(p)) != NULL;
}

/* let or reg */
static stmt *new_declaration(parser *p, stmt_kind kind) {
    stmt *s = rvm__stmt_new(p, kind);
    typed *as = rvm__arena(p->a, sizeof *as);
    if (!s || !as) return NULL;
    *as = (typed){.type = T_NONE};
    s->as = as;
    return s;
}

static bool parse_let(parser *p, stmt **out) {
    stmt *s = new_declaration(p, S_LET);
    if (!s) return false;
    *out = s;
    rvm__lex_next(p);
    s->broken = true; /* until it has been read: the name is then known, and not complained of again */
    s->name = rvm__parse_new_name(p, "the name of what appears", &s->name_at);
    if (!s->name || !tolerance(p, s)) return false;
    if (is_punct(&p->tok, ":")) {
        rvm__lex_next(p);
        if (!rvm__parse_typed(p, s->as)) return false;
        take_args(s, s->as->dim, s->as->ndim);
    }
    if (is_punct(&p->tok, "=")) {
        rvm__lex_next(p);
        if (!(s->expr = rvm__parse_expr(p))) return false;
    } else if (s->as->type == T_NONE) {
        rvm__unexpected(p, "':' and a type, or '=' and a value");
        return false;
    }
    if (is_punct(&p->tok, "->")) {
        rvm__lex_next(p);
        if (!(s->post = rvm__parse_expr(p))) return false;
    }
    rvm__stmt_end(p, s);
    s->broken = false;
    return last_of_line(p, s);
}

int rvm__update_op(const token *t) {
    if (t->kind != K_PUNCT || !(t->punct >> 8) || (t->punct & 255) != '=') return -1;
    for (int op = 0; op < RVM_OP_LIMIT; op++) {
        const char *symbol = rvm__op_info[op].name ? rvm__op_info[op].symbol : NULL;
        if (symbol && is_punct(t, symbol)) return op;
    }
    return -1;
}

static bool parse_update(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_UPDATE);
    expr **args = rvm__arena(p->a, sizeof *args);
    if (!s || !args) return false;
    args[0] = rvm__parse_expr(p);
    if (!args[0]) return false;
    int op = rvm__update_op(&p->tok);
    if (op < 0) {
        if (is_punct(&p->tok, "="))
            rvm__diag(p->a, p->tok.at, D_ASSIGN, NULL, NULL, NULL);
        else
            rvm__unexpected(p, "+= -= *= /= or ^=");
        return false;
    }
    take_args(s, args, 1);
    note_written(p, args[0]);
    s->op = (uint8_t)op;
    rvm__lex_next(p);
    s->expr = rvm__parse_expr(p);
    if (!s->expr) return false;
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

/* family.row target, operands */
static bool parse_raw_update(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_UPDATE);
    int op = p->tok.u.name->op;
    if (!s) return false;
    if (op < 0 || !rvm__op_is_update((rvm_op)op)) {
        rvm__diag(p->a, p->tok.at, D_FAMILY, p->tok.u.name->text, NULL, NULL);
        return false;
    }
    rvm__lex_next(p);
    rvm__lex_next(p);
    if (p->tok.kind != K_NAME || p->tok.u.name->row < 0) {
        const name *n = p->tok.kind == K_NAME ? p->tok.u.name : NULL;
        if (!n)
            rvm__unexpected(p, "the name of a row");
        else
            rvm__diag(p->a, p->tok.at, D_UNKNOWN_ROW, n->text, rvm__near(p->a, n, NEAR_ROW), NULL);
        return false;
    }
    s->op = (uint8_t)op;
    s->row = p->tok.u.name->row;
    rvm__lex_next(p);
    expr **args;
    uint32_t n;
    if (!rvm__parse_parts(p, NULL, &args, &n, UINT8_MAX)) return false;
    take_args(s, args, n);
    if (n) note_written(p, args[0]);
    if (!tolerance(p, s)) return false;
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

static bool parse_call(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_CALL);
    if (!s) return false;
    s->op = (uint8_t)p->tok.u.name->op;
    rvm__lex_next(p);
    s->callee = rvm__parse_callee(p);
    expr **args;
    uint32_t n;
    if (!s->callee || !rvm__expect(p, "(", "and arguments") || !rvm__parse_parts(p, ")", &args, &n, RVM_MAX_PARAMS))
        return false;
    take_args(s, args, n);
    for (uint32_t k = 0; k < n; k++) note_written(p, args[k]);
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

static bool parse_op(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_OP);
    if (!s) return false;
    s->op = (uint8_t)p->tok.u.name->op;
    rvm__lex_next(p);
    expr **args;
    uint32_t n;
    if (!rvm__parse_parts(p, NULL, &args, &n, UINT8_MAX)) return false;
    take_args(s, args, n);
    for (uint32_t k = 0; k < n; k++) note_written(p, args[k]);
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

/* set y = e    set y = e if c */
static bool parse_set(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_SET);
    expr **args = rvm__arena(p->a, sizeof *args);
    if (!s || !args) return false;
    rvm__lex_next(p);
    if (!(args[0] = rvm__parse_expr(p))) return false;
    take_args(s, args, 1);
    note_written(p, args[0]);
    if (!rvm__expect(p, "=", "and the new value") || !(s->expr = rvm__parse_expr(p))) return false;
    if (is_keyword(&p->tok, KW_if)) {
        rvm__lex_next(p);
        if (!(s->post = rvm__parse_expr(p))) return false;
    }
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

/* drop x, the statement; with a level and a site before the places it is the instruction. */
static bool parse_drop(parser *p, stmt **out) {
    if (!parse_op(p, out)) return false;
    if ((*out)->nargs == 1) (*out)->kind = S_DROP;
    return true;
}

/* reg t: i64    arr v: f64[,] */
static bool parse_reg(parser *p, stmt **out) {
    stmt *s = new_declaration(p, S_REG);
    if (!s) return false;
    bool array = is_keyword(&p->tok, KW_arr);
    rvm__lex_next(p);
    s->name = rvm__parse_new_name(p, array ? "the name of an array" : "the name of a register", &s->name_at);
    if (!s->name || !rvm__expect(p, ":", "and a type") || !rvm__parse_type(p, &s->as->type)) return false;
    if (array) {
        if (!rvm__expect(p, "[", "and ']', with a comma between two dimensions")) return false;
        for (s->as->ndim = 1; is_punct(&p->tok, ",") && s->as->ndim < RVM_MAX_DIMS; s->as->ndim++) rvm__lex_next(p);
        if (!rvm__expect(p, "]", "behind the dimensions")) return false;
    }
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

/* print "x is", x    Items stand apart by a blank. */
static bool parse_print(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_PRINT);
    expr **args = rvm__arena(p->a, RVM_MAX_PARAMS * sizeof *args);
    char text[MAX_TICKED];
    size_t used = 0;
    uint32_t n = 0;
    if (!s || !args) return false;
    do {
        static const char value[] = {RVM_SHOW_VALUE, 0};
        rvm__lex_next(p);
        const char *item = p->tok.kind == K_STRING ? p->tok.u.name->text : value;
        const size_t length = strlen(item);
        if (used + length + 2 > sizeof text || n == RVM_MAX_PARAMS) {
            rvm__diag(p->a, p->tok.at, D_TOO_MANY, rvm__number(p->a, RVM_MAX_PARAMS), NULL, NULL);
            return false;
        }
        for (const char *c = item; item != value && *c; c++)
            if (rvm__show_size(*c)) {
                rvm__diag(p->a, p->tok.at, D_PRINT_STRING, rvm__number(p->a, *c), NULL, NULL);
                return false;
            }
        if (used) text[used++] = ' ';
        memcpy(text + used, item, length);
        used += length;
        if (p->tok.kind == K_STRING)
            rvm__lex_next(p);
        else if (!(args[n++] = rvm__parse_expr(p)))
            return false;
    } while (is_punct(&p->tok, ","));
    s->name = rvm__intern(p->a, text, used);
    take_args(s, args, n);
    rvm__stmt_end(p, s);
    *out = s;
    return last_of_line(p, s);
}

/* Where it is no place of that name that changes. */
static bool is_print(const parser *p) {
    return !strcmp(p->tok.u.name->text, "print") && !is_punct(&p->ahead, "=");
}

static bool parse_label(parser *p, stmt **out) {
    stmt *s = rvm__stmt_new(p, S_LABEL);
    if (!s) return false;
    s->name = p->tok.u.name;
    s->name_at = p->tok.at;
    rvm__lex_next(p);
    rvm__lex_next(p);
    *out = s;
    return true; /* a statement may follow on the line */
}

static bool unknown_statement(parser *p) {
    const name *n = p->tok.kind == K_NAME ? p->tok.u.name : NULL;
    if (!n || is_reserved(n->keyword))
        rvm__unexpected(p, "a statement");
    else if (is_punct(&p->ahead, "="))
        rvm__diag(p->a, p->ahead.at, D_ASSIGN, NULL, NULL, NULL);
    else if (is_punct(&p->ahead, "("))
        rvm__diag(p->a, p->tok.at, n->row >= 0 ? D_ROW_STATEMENT : D_CALL_STATEMENT, n->text, NULL, NULL);
    else
        rvm__diag(p->a, p->tok.at, D_UNKNOWN_STATEMENT, n->text, rvm__near(p->a, n, NEAR_STATEMENT), NULL);
    rvm__hint_foreign(p, &p->tok);
    return false;
}

static bool parse_named(parser *p, stmt **out) {
    const token *next = &p->ahead;
    if (is_punct(next, ".") && rvm__names_member(p)) return parse_update(p, out);
    if (is_punct(next, ":")) return parse_label(p, out);
    if (is_punct(next, ".")) return parse_raw_update(p, out);
    if (rvm__update_op(next) >= 0 || is_punct(next, "[")) return parse_update(p, out);
    if (is_print(p)) return parse_print(p, out);
    int op = p->tok.u.name->op;
    if (op >= 0 && !rvm__op_is_update((rvm_op)op) && !is_punct(next, "=") && !is_punct(next, "(")) return parse_op(p, out);
    if (op >= 0 && is_punct(next, "(") && rvm__op_info[op].operands && *rvm__op_info[op].operands) return parse_op(p, out);
    return unknown_statement(p);
}

bool rvm__parse_stmt(parser *p, keyword word, stmt **out) {
    switch (word) {
    case KW_let: return is_punct(&p->ahead, ".") ? parse_raw_update(p, out) : parse_let(p, out);
    case KW_call:
    case KW_uncall: return parse_call(p, out);
    case KW_reg:
    case KW_arr: return parse_reg(p, out);
    case KW_for: /* the instruction */
    case KW_not: return parse_op(p, out);
    case KW_set: return is_punct(&p->ahead, ".") ? parse_raw_update(p, out) : parse_set(p, out);
    case KW_drop: return parse_drop(p, out);
    case KW_NONE: return parse_named(p, out);
    case KW_fn:
    case KW_const:
    case KW_include:
    case KW_if:
    case KW_else:
    case KW_end:
    case KW_from:
    case KW_while:
    case KW_in:
    case KW_step:
    case KW_compute:
    case KW_do:
    case KW_undo:
    case KW_forget:
    case KW_loop:
    case KW_until:
    case KW_unchecked:
    case KW_parallel:
    case KW_and:
    case KW_or: break;
    }
    return unknown_statement(p);
}
