/* lex.c: bytes to tokens, one ahead.
 *
 * A line ends a statement, save inside ( and [. Bytes above 127 are fine in comments and strings only. A position is a
 * line and a column in bytes, from 1.
 */
#define _GNU_SOURCE /* strtod_l */
#include "asm.h"
#include <stdlib.h>
#include <string.h>

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}
static bool is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static int hex_digit(int c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int at(const parser *p, size_t k) {
    return p->pos + k < p->size ? (unsigned char)p->text[p->pos + k] : -1;
}

static span span_from(const parser *p, size_t start) {
    size_t length = p->pos - start;
    return (span){p->line, (uint32_t)(start - p->line_start + 1), p->file, (uint16_t)(length > 999 ? 999 : length)};
}

static void bad(parser *p, token *t, size_t start, diag d, const char *a1) {
    t->kind = K_BAD;
    t->at = span_from(p, start);
    rvm__diag(p->a, t->at, d, a1, NULL, NULL);
}

static void skip_blanks(parser *p, token *t) {
    for (;;) {
        int c = at(p, 0);
        if (c == '#')
            while (at(p, 0) >= 0 && at(p, 0) != '\n') p->pos++;
        else if (c == ' ' || c == '\t' || c == '\r')
            p->pos++;
        else if (c == '\n' && (p->parens || p->fresh)) {
            p->line++;
            p->line_start = ++p->pos;
            t->first = true;
        } else
            return;
    }
}

/* Digits with underscores; stops before anything else. */
static size_t digits(parser *p, char *text, size_t used, size_t size) {
    while (is_digit(at(p, 0)) || (at(p, 0) == '_' && is_digit(at(p, 1)))) {
        if (at(p, 0) != '_' && used < size) text[used++] = (char)at(p, 0);
        p->pos++;
    }
    return used;
}

static void lex_hex(parser *p, token *t, size_t start) {
    uint64_t v = 0;
    bool any = false, over = false;
    p->pos += 2;
    for (; hex_digit(at(p, 0)) >= 0 || (any && at(p, 0) == '_'); p->pos++) {
        if (at(p, 0) == '_') continue;
        over = over || v >> 60;
        v = v << 4 | (uint64_t)hex_digit(at(p, 0));
        any = true;
    }
    t->kind = K_INT;
    t->u.i = (int64_t)v;
    if (!any || is_letter(at(p, 0)))
        bad(p, t, start, D_NUMBER, NULL);
    else if (over)
        bad(p, t, start, D_INT_RANGE, NULL);
}

static void lex_int(parser *p, token *t, const char *text, size_t length) {
    uint64_t v = 0;
    bool over = false;
    for (size_t k = 0; k < length; k++) {
        uint64_t digit = (uint64_t)(text[k] - '0');
        over = over || v > (UINT64_MAX - digit) / 10;
        v = v * 10 + digit;
    }
    t->kind = K_INT;
    t->u.i = (int64_t)v;
    t->big = over || v > (uint64_t)INT64_MAX;
    if (!t->big) return;
    t->limit = !over && v == (uint64_t)INT64_MAX + 1;
    t->u.i = t->limit ? INT64_MIN : INT64_MAX;
    t->exact = rvm__exact_read(p->a, text);
}

enum { NUMBER = 4016, MOST_DIGITS = NUMBER - 16 }; /* which leaves room for a point and an exponent */

/* As strtod reads it, without underscores; *real: with a point or an exponent. False: it is too long. */
static bool take_decimal(parser *p, char text[NUMBER], size_t *used, bool *real) {
    *used = digits(p, text, 0, MOST_DIGITS + 1);
    const bool point = *real = at(p, 0) == '.' && is_digit(at(p, 1));
    if (point) {
        text[(*used)++] = '.';
        p->pos++;
        *used = digits(p, text, *used, MOST_DIGITS + 2);
    }
    const size_t sign = at(p, 1) == '-' || at(p, 1) == '+', before = *used;
    if ((at(p, 0) == 'e' || at(p, 0) == 'E') && is_digit(at(p, 1 + sign))) {
        *real = true;
        text[(*used)++] = 'e';
        if (sign) text[(*used)++] = (char)at(p, 1);
        p->pos += 1 + sign;
        *used = digits(p, text, *used, NUMBER - 1);
    }
    text[*used] = 0;
    return before - point <= MOST_DIGITS && *used < NUMBER - 1;
}

static void lex_real(parser *p, token *t, const char *text, size_t start) {
    t->kind = K_REAL;
    t->u.f = strtod_l(text, NULL, p->a->c_locale);
    t->exact = rvm__exact_read(p->a, text);
    if (!t->exact) t->exact = rvm__exact_read_long(p->a, text);
    if (!t->exact && t->u.f > 1.7976931348623157e308) bad(p, t, start, D_REAL_RANGE, "f64");
}

static void lex_number(parser *p, token *t, size_t start) {
    char text[NUMBER];
    size_t used;
    bool real;
    if (at(p, 0) == '0' && (at(p, 1) == 'x' || at(p, 1) == 'X')) {
        lex_hex(p, t, start);
        return;
    }
    const bool fits = take_decimal(p, text, &used, &real);
    const bool ends_in_point = !real && at(p, 0) == '.' && at(p, 1) != '.' && !is_letter(at(p, 1));
    if (ends_in_point) p->pos++;
    const bool imaginary = at(p, 0) == 'i' && !is_letter(at(p, 1)) && !is_digit(at(p, 1)) && at(p, 1) != '_';
    if ((is_letter(at(p, 0)) && !imaginary) || ends_in_point) {
        while (is_letter(at(p, 0)) || is_digit(at(p, 0))) p->pos++;
        bad(p, t, start, D_NUMBER, NULL);
    } else if (!fits)
        bad(p, t, start, D_DIGITS, rvm__number(p->a, MOST_DIGITS));
    else if (real)
        lex_real(p, t, text, start);
    else
        lex_int(p, t, text, used);
    if (!imaginary || t->kind == K_BAD) return;
    p->pos++;
    t->whole = !real;
    t->kind = K_IMAGINARY;
}

static void lex_string(parser *p, token *t, size_t start) {
    char text[4096];
    size_t used = 0;
    bool good = true;
    for (p->pos++; at(p, 0) >= 0 && at(p, 0) != '"' && at(p, 0) != '\n'; p->pos++) {
        int c = at(p, 0);
        if (c == '\\') {
            int e = at(p, 1), hi = hex_digit(at(p, 2)), lo = hi < 0 ? -1 : hex_digit(at(p, 3));
            if (e == '"' || e == '\\')
                c = e, p->pos++;
            else if (e == 'x' && lo >= 0)
                c = hi << 4 | lo, p->pos += 3;
            else
                good = false;
        }
        if (used + 1 >= sizeof text || !c) good = false;
        if (good) text[used++] = (char)c;
    }
    t->kind = K_STRING;
    if (at(p, 0) != '"')
        bad(p, t, start, D_STRING_END, NULL);
    else {
        p->pos++;
        t->u.name = rvm__intern(p->a, text, used);
        if (!good || !t->u.name) bad(p, t, start, D_STRING, NULL);
    }
}

static void lex_name(parser *p, token *t, size_t start) {
    while (is_letter(at(p, 0)) || is_digit(at(p, 0)) || at(p, 0) == '\'') p->pos++;
    t->kind = K_NAME;
    t->u.name = rvm__intern(p->a, p->text + start, p->pos - start);
    if (!t->u.name)
        t->kind = K_EOF;
    else if (p->pos - start > (strchr(t->u.name->text, '\'') ? MAX_TICKED : MAX_NAME))
        bad(p, t, start, D_NAME_LONG, NULL);
}

static void lex_punct(parser *p, token *t, size_t start) {
    static const char *const several[] = {"->", "<-", "+=", "-=", "*=", "/=", "^=", "..", "<=", ">=",
                                          "==", "!=", "//", "^^", "<<", ">>", "**", "&&", "||", "?="};
    const int c = at(p, 0), next = at(p, 1);
    const bool alone = next <= ' ' || is_letter(next) || is_digit(next); /* as most are */
    p->pos++;
    for (size_t k = 0; !alone && k < sizeof several / sizeof *several; k++)
        if (several[k][0] == c && several[k][1] == next) {
            p->pos++;
            t->punct = punct(several[k]);
            return;
        }
    t->punct = (uint32_t)c;
    if (c == '(' || c == '[') p->parens++;
    if ((c == ')' || c == ']') && p->parens) p->parens--;
    if (strchr("()[],:.=+-*/%^&|<>~@'", c) && c) return;
    char hex[8];
    snprintf(hex, sizeof hex, "0x%02x", (unsigned)c);
    while (c > 127 && at(p, 0) > 127 && at(p, 0) < 0xc0) p->pos++; /* the rest of the character */
    bad(p, t, start, c > 32 && c < 127 ? D_CHARACTER : D_BYTE, c > 32 && c < 127 ? (char[]){(char)c, 0} : hex);
    rvm__hint_word(p->a, (char[]){(char)c, 0});
}

static void lex(parser *p, token *t) {
    *t = (token){.first = p->fresh, .inside = p->parens > 0};
    skip_blanks(p, t);
    size_t start = p->pos;
    int c = p->a->oom ? -1 : at(p, 0);
    t->offset = start;
    if (c < 0) {
        t->kind = p->fresh ? K_EOF : K_LINE;
    } else if (c == '\n') {
        t->kind = K_LINE;
    } else if (is_digit(c) || (c == '.' && is_digit(at(p, 1))))
        lex_number(p, t, start);
    else if (is_letter(c))
        lex_name(p, t, start);
    else if (c == '"')
        lex_string(p, t, start);
    else {
        t->kind = K_PUNCT;
        lex_punct(p, t, start);
    }
    p->fresh = t->kind == K_LINE || t->kind == K_EOF;
    t->at = span_from(p, start);
}

void rvm__lex_next(parser *p) {
    p->last = p->tok.at;
    p->tok = p->ahead;
    if (p->tok.kind != K_EOF) lex(p, &p->ahead);
}

void rvm__lex_start(parser *p, assembler *a, uint16_t file) {
    *p = (parser){
        .a = a, .text = a->sources[file].text, .size = a->sources[file].size, .line = 1, .file = file, .fresh = true};
    if (p->size >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3)) p->pos = p->line_start = 3; /* a byte order mark */
    lex(p, &p->tok);
    lex(p, &p->ahead);
    p->last = p->tok.at;
}

void rvm__lex_seek(parser *p, size_t offset, uint32_t line) {
    size_t start = offset;
    while (start && p->text[start - 1] != '\n') start--;
    p->line = line;
    p->line_start = start;
    p->pos = offset;
    p->parens = 0;
    p->fresh = true;
    lex(p, &p->tok);
    lex(p, &p->ahead);
}

/* A token that begins a line inside unclosed parentheses may begin the next statement: look at it again. */
void rvm__lex_skip_line(parser *p) {
    if (p->tok.kind == K_EOF) return;
    size_t to = p->tok.offset;
    if (!(p->tok.first && p->tok.inside))
        while (to < p->size && p->text[to] != '\n') to++;
    rvm__lex_seek(p, to, p->tok.at.line);
}

const char *rvm__token_text(parser *p, const token *t) {
    switch ((token_kind)t->kind) {
    case K_EOF: return "the end of the file";
    case K_LINE: return "the end of the line";
    case K_NAME:
    case K_INT:
    case K_REAL:
    case K_IMAGINARY:
    case K_STRING:
    case K_PUNCT:
    case K_BAD: break;
    }
    size_t length = t->at.length > 60 ? 60 : t->at.length;
    char text[64];
    if (t->offset + length > p->size) length = p->size - t->offset;
    snprintf(text, sizeof text, "'%.*s'", (int)length, p->text + t->offset);
    return rvm__arena_copy(p->a, text, strlen(text));
}
