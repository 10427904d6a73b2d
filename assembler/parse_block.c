/* parse_block.c: blocks by recursive descent.
 *
 * After an error the rest of the line is skipped, and the block that the line opens is read all the same, so that its
 * `end` closes nothing else. A block ends at a word that it allows; at one that only an outer block allows, its own end is
 * missing.
 */
#include "asm.h"
#include "program.h"
#include <string.h>

static bool parse_statement(parser *p, stmt **out);

/* Too deep: what follows would close the wrong blocks, so reading ends here. */
static bool too_deep(parser *p) {
    if (p->depth < MAX_NESTING) return false;
    rvm__diag(p->a, p->tok.at, D_NESTING, rvm__number(p->a, MAX_NESTING), NULL, NULL);
    p->a->silent = true;
    rvm__lex_seek(p, p->size, p->tok.at.line);
    return true;
}

/* ---- blocks ---- */

static unsigned terminator(const token *t) {
    if (is_keyword(t, KW_end)) return END_end;
    if (is_keyword(t, KW_else)) return END_else;
    if (is_keyword(t, KW_do)) return END_do;
    return is_keyword(t, KW_undo) ? END_undo : 0;
}

/* A block that undo may end, forget may end as well; the word is a name elsewhere. */
static bool is_forget(const parser *p) {
    return is_keyword(&p->tok, KW_forget) && p->ahead.kind == K_LINE;
}

/* Whether what follows a word makes it the name of a place. */
static bool names_place(const parser *p) {
    return rvm__update_op(&p->ahead) >= 0 || is_punct(&p->ahead, "[") || is_punct(&p->ahead, ":") || rvm__names_member(p);
}

/* Words that end a part of a block of their own, and are names elsewhere. */
static unsigned soft_terminator(const parser *p) {
    if (is_forget(p)) return END_undo;
    if (is_keyword(&p->tok, KW_loop) && p->ahead.kind == K_LINE) return END_loop;
    return is_keyword(&p->tok, KW_until) && !names_place(p) ? END_until : 0;
}

static unsigned block_end(const parser *p) {
    const unsigned soft = soft_terminator(p);
    return soft ? soft : terminator(&p->tok);
}

static const char *ends_of(unsigned allowed) {
    if (allowed & END_loop) return "'loop' or 'until'";
    if (allowed & END_until) return "'until'";
    return allowed & END_end ? "'end'" : allowed & END_do ? "'do'" : "'undo' or 'forget'";
}

/* Whether the block ends here; tells what is missing. */
static bool at_block_end(parser *p, span opened, const char *opener, unsigned allowed) {
    unsigned end = block_end(p);
    if (end & allowed) return true;
    bool over = p->tok.kind == K_EOF || is_keyword(&p->tok, KW_fn) || (end & p->allowed);
    if (!over && !end) return false;
    const char *wanted = ends_of(allowed), *found = rvm__token_text(p, &p->tok);
    if (p->a->oom) return true;
    if (over) {
        rvm__diag(p->a, p->tok.at, D_MISSING_END, wanted, found, NULL);
        rvm__diag_hint(p->a, D_BLOCK_BEGAN, opener, rvm__number(p->a, opened.line), NULL);
    } else {
        rvm__diag(p->a, p->tok.at, D_STRAY_END, found, NULL, NULL);
        rvm__lex_skip_line(p);
    }
    return over;
}

stmt *rvm__parse_block(parser *p, span opened, const char *opener, unsigned allowed) {
    stmt *first = NULL, **end = &first;
    unsigned outer = p->allowed;
    for (;;) {
        if (p->tok.kind == K_LINE) {
            rvm__lex_next(p);
            continue;
        }
        p->allowed = outer;
        if (at_block_end(p, opened, opener, allowed)) break;
        if (block_end(p) || p->tok.kind == K_LINE || p->tok.kind == K_EOF) continue;
        p->allowed = outer | allowed;
        stmt *s = NULL;
        if (!parse_statement(p, &s)) rvm__lex_skip_line(p);
        if (s) {
            *end = s;
            end = &s->next;
        }
    }
    p->allowed = outer;
    return first;
}

/* The end of a header's line, or over it after an error. */
static void header_end(parser *p, stmt *s, bool good) {
    if (good) rvm__stmt_end(p, s);
    s->broken = s->broken || !good;
    if (good)
        rvm__expect_line(p);
    else
        rvm__lex_skip_line(p);
}

/* The closing word, missing only when that was told. */
static bool close_block(parser *p, keyword k) {
    if (!is_keyword(&p->tok, k)) return true;
    rvm__lex_next(p);
    return rvm__expect_line(p) || true;
}

static bool post_condition(parser *p, stmt *s) {
    if (!is_punct(&p->tok, "->")) return true;
    rvm__lex_next(p);
    if (is_keyword(&p->tok, KW_drop) && p->ahead.kind == K_LINE) {
        s->drops = true;
        rvm__lex_next(p);
        return true;
    }
    return (s->post = rvm__parse_expr(p)) != NULL;
}

static stmt *parse_if(parser *p) {
    stmt *s = rvm__stmt_new(p, S_IF);
    if (!s) return NULL;
    span opened = p->tok.at;
    rvm__lex_next(p);
    header_end(p, s, (s->expr = rvm__parse_expr(p)) && post_condition(p, s));
    s->body = rvm__parse_block(p, opened, "if", END_end | END_else);
    if (!is_keyword(&p->tok, KW_else)) {
        close_block(p, KW_end);
        return s;
    }
    opened = p->tok.at;
    rvm__lex_next(p);
    if (is_keyword(&p->tok, KW_if)) {
        if (too_deep(p)) return NULL;
        p->depth++;
        s->other = parse_if(p);
        p->depth--;
        return s->other ? s : NULL;
    }
    rvm__expect_line(p);
    s->other = rvm__parse_block(p, opened, "else", END_end);
    close_block(p, KW_end);
    return s;
}

/* Behind `from p`: a block, `loop` and another, or neither, `until q`. */
static stmt *parse_until(parser *p, stmt *s, span opened) {
    s->kind = S_UNTIL;
    header_end(p, s, true);
    s->body = rvm__parse_block(p, opened, "from", END_loop | END_until);
    if (is_keyword(&p->tok, KW_loop)) {
        opened = p->tok.at;
        close_block(p, KW_loop);
        s->other = rvm__parse_block(p, opened, "loop", END_until);
    }
    if (!is_keyword(&p->tok, KW_until)) return s; /* which was told */
    rvm__lex_next(p);
    if ((s->post = rvm__parse_expr(p)))
        rvm__expect_line(p);
    else
        rvm__lex_skip_line(p);
    return s;
}

static stmt *parse_from(parser *p) {
    stmt *s = rvm__stmt_new(p, S_FROM);
    if (!s) return NULL;
    span opened = p->tok.at;
    rvm__lex_next(p);
    bool good = (s->expr = rvm__parse_expr(p));
    if (good && p->tok.kind == K_LINE) return parse_until(p, s, opened);
    if (good && !is_keyword(&p->tok, KW_while)) {
        rvm__unexpected(p, "'while' and a condition, or the end of the line");
        good = false;
    } else if (good) {
        rvm__lex_next(p);
        good = (s->post = rvm__parse_expr(p));
    }
    header_end(p, s, good);
    s->body = rvm__parse_block(p, opened, "from", END_end);
    close_block(p, KW_end);
    return s;
}

static stmt *parse_while(parser *p) {
    stmt *s = rvm__stmt_new(p, S_WHILE);
    if (!s) return NULL;
    span opened = p->tok.at;
    rvm__lex_next(p);
    header_end(p, s, (s->expr = rvm__parse_expr(p)));
    s->body = rvm__parse_block(p, opened, "while", END_end);
    close_block(p, KW_end);
    return s;
}

static bool for_header(parser *p, stmt *s) {
    expr **args = rvm__arena(p->a, 3 * sizeof *args);
    if (!args) return false;
    s->name = rvm__parse_new_name(p, "the name of the index", &s->name_at);
    if (!s->name) return false;
    if (!is_keyword(&p->tok, KW_in)) {
        rvm__unexpected(p, "'in'");
        return false;
    }
    rvm__lex_next(p);
    args[0] = rvm__parse_expr(p);
    if (!args[0]) return false;
    if (!rvm__expect(p, "..", "and the upper bound")) {
        if (args[0]->kind == E_CALL) rvm__hint_word(p->a, args[0]->u.name->text);
        return false;
    }
    args[1] = rvm__parse_expr(p);
    if (!args[1]) return false;
    s->args = args;
    if (s->op == RVM_OP_par) {
        s->nargs = 2;
        return true;
    }
    if (is_keyword(&p->tok, KW_step)) {
        rvm__lex_next(p);
        args[2] = rvm__parse_expr(p);
    } else
        args[2] = rvm__expr_whole(p->a, 1, s->at);
    s->nargs = args[2] ? 3 : 0;
    return args[2];
}

/* for and parallel */
static stmt *parse_for(parser *p, rvm_op op) {
    stmt *s = rvm__stmt_new(p, S_FOR);
    if (!s) return NULL;
    span opened = p->tok.at;
    s->op = (uint8_t)op;
    rvm__lex_next(p);
    header_end(p, s, for_header(p, s));
    s->body = rvm__parse_block(p, opened, op == RVM_OP_for ? "for" : "parallel", END_end);
    close_block(p, KW_end);
    return s;
}

static stmt *parse_region(parser *p) {
    stmt *s = rvm__stmt_new(p, S_REGION);
    if (!s) return NULL;
    span opened = p->tok.at;
    rvm__lex_next(p);
    rvm__expect_line(p);
    s->body = rvm__parse_block(p, opened, "compute", END_do);
    s->do_at = s->undo_at = p->tok.at;
    if (!is_keyword(&p->tok, KW_do)) return s;
    span middle = p->tok.at;
    rvm__lex_next(p);
    rvm__expect_line(p);
    s->other = rvm__parse_block(p, middle, "do", END_undo);
    s->undo_at = p->tok.at;
    s->forgets = is_forget(p);
    close_block(p, s->forgets ? KW_forget : KW_undo);
    return s;
}

static stmt *parse_unchecked(parser *p) {
    stmt *s = rvm__stmt_new(p, S_UNCHECKED);
    if (!s) return NULL;
    span opened = p->tok.at;
    rvm__lex_next(p);
    rvm__expect_line(p);
    s->body = rvm__parse_block(p, opened, "unchecked", END_end);
    close_block(p, KW_end);
    return s;
}

/* ---- any statement ---- */

/* `for i, lo, ...`, the instruction, rather than `for i in lo..hi`: what follows the name? */
static bool raw_for(const parser *p) {
    size_t at = p->pos;
    while (at < p->size && (p->text[at] == ' ' || p->text[at] == '\t')) at++;
    return at < p->size && p->text[at] == ',';
}

static bool take(stmt **out, stmt *s) {
    *out = s;
    return s != NULL;
}

static bool parse_known(parser *p, stmt **out) {
    const uint8_t first = p->tok.u.name->keyword;
    const keyword word = first && !is_reserved(first) && names_place(p) ? KW_NONE : (keyword)first;
    switch (word) {
    case KW_if: return take(out, parse_if(p));
    case KW_from: return take(out, parse_from(p));
    case KW_while: return take(out, parse_while(p));
    case KW_compute: return take(out, parse_region(p));
    case KW_unchecked: return take(out, parse_unchecked(p));
    case KW_parallel: return take(out, parse_for(p, RVM_OP_par));
    case KW_for:
        if (p->ahead.kind == K_NAME && raw_for(p)) break;
        return take(out, parse_for(p, RVM_OP_for));
    case KW_let:
    case KW_call:
    case KW_uncall:
    case KW_reg:
    case KW_arr:
    case KW_not:
    case KW_set:
    case KW_drop:
    case KW_fn:
    case KW_const:
    case KW_include:
    case KW_else:
    case KW_end:
    case KW_in:
    case KW_step:
    case KW_do:
    case KW_undo:
    case KW_forget:
    case KW_loop:
    case KW_until:
    case KW_and:
    case KW_or:
    case KW_NONE: break;
    }
    return rvm__parse_stmt(p, word, out);
}

static bool parse_statement(parser *p, stmt **out) {
    if (p->tok.kind != K_NAME) {
        rvm__unexpected(p, "a statement");
        return false;
    }
    if (too_deep(p)) return false;
    p->depth++;
    bool good = parse_known(p, out);
    p->depth--;
    return good;
}
