/* parse_token.c: what all of the parser shares: a token that must stand there, a new name. */
#include "asm.h"
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
