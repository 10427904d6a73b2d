/* hint.c: hints in the user's own words: what to write instead, with the names that stand there, and what words of other
 * languages are called here. */
#include "asm.h"
#include "instruction.h"
#include <string.h>

/* ---- words of other languages ---- */

/* Operators of other languages are tokens (lex.c), so that they are found here. */
static const struct {
    const char *word, *hint;
} foreign[] = {
    {"**", "a power is x ^ n"},
    {"&&", "write and; the bits of two i64 are a & b"},
    {"||", "write or; the bits of two i64 are a | b"},
    {"!", "write not"},
    {";", "a statement ends with its line"},
    {"//", "a comment begins with #; a // b divides whole numbers"},
    {"until", "the body stands between, on lines of its own: from p, then until q; or from p while not (q)"},
    {"repeat", "a loop is: from p while q, for i in lo..hi, or while q"},
    {"loop", "a loop is: from p while q, from p with loop and until q, for i in lo..hi, or while q"},
    {"then", "a block begins on the next line"},
    {"range", "a counted loop is: for i in lo..hi"},
    {"elif", "write else if"},
    {"elseif", "write else if"},
    {"elsif", "write else if"},
    {"endif", "write end"},
    {"done", "write end"},
    {"var", "write let"},
    {"local", "write let"},
    {"int", "write let: let n: i64 = 0"},
    {"float", "write let: let x: f64 = 0"},
    {"double", "write let: let x: f64 = 0"},
    {"real", "write let: let x: real = 0"},
    {"delocal", "what let makes disappears at the end of its block"},
    {"uncompute", "write undo"},
    {"return", "a function gives no value: add to a parameter, as in out += ..."},
    {"def", "write fn"},
    {"func", "write fn"},
    {"function", "write fn"},
    {"procedure", "write fn"},
    {"import", "write include \"file.rasm\""},
    {"ln", "write log: that is the natural logarithm"},
    {"sign", "write (x > 0) - (x < 0)"},
    {"sgn", "write (x > 0) - (x < 0)"},
    {"fabs", "write abs"},
    {"PI", "write pi"},
};

static const char *hint_of(const char *word, size_t length) {
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++)
        if (strlen(foreign[k].word) == length && !memcmp(foreign[k].word, word, length)) return foreign[k].hint;
    return NULL;
}

void rvm__hint_word(assembler *a, const char *word) {
    const char *hint = hint_of(word, strlen(word));
    if (hint) rvm__diag_hint(a, D_WORD, hint, NULL, NULL);
}

void rvm__hint_unknown(assembler *a, span at, const char *word) {
    size_t length, n = at.column - 1;
    const char *line = at.file < a->nsources ? rvm__source_line(a->sources + at.file, at.line, &length) : NULL;
    while (line && n && n <= length && line[n - 1] == ' ') n--;
    rvm__hint_word(a, line && n > 1 && n <= length && line[n - 1] == '/' && line[n - 2] == '/' ? "//" : word);
}

/* Whether // stands before it on its line. */
static bool is_behind_slashes(const parser *p, const token *t) {
    for (size_t k = t->offset; k > 1 && p->text[k - 1] != '\n'; k--)
        if (p->text[k - 1] == '/' && p->text[k - 2] == '/') return true;
    return false;
}

void rvm__hint_foreign(parser *p, const token *t) {
    if (t->kind != K_NAME && t->kind != K_PUNCT) return;
    const char *hint = hint_of(p->text + t->offset, t->at.length);
    if (!hint && is_behind_slashes(p, t)) hint = hint_of("//", 2);
    if (hint) rvm__diag_hint(p->a, D_WORD, hint, NULL, NULL);
}

/* ---- what stands in the source ---- */

enum { MOST = 100 }; /* what is longer helps nobody */

static bool is_balanced(const char *text) {
    int open = 0;
    for (; *text && open >= 0; text++) open += *text == '(' || *text == '[' ? 1 : *text == ')' || *text == ']' ? -1 : 0;
    return !open;
}

/* What stands at a place, if it is short and an expression by itself: parentheses around are no part of a place. */
static const char *text_at(assembler *a, span at) {
    size_t length, from = at.column - 1;
    const char *line = at.file < a->nsources ? rvm__source_line(a->sources + at.file, at.line, &length) : NULL;
    if (!line || at.length > MOST || from + at.length > length) return NULL;
    const char *text = rvm__arena_copy(a, line + from, at.length);
    return text && is_balanced(text) ? text : NULL;
}

/* What follows the operator of an update. */
static const char *text_behind(assembler *a, span at, const char *operator) {
    const char *text = text_at(a, at), *found = text ? strstr(text, operator) : NULL;
    if (!found) return NULL;
    found += strlen(operator);
    return found + strspn(found, " \t");
}

/* How tightly an expression holds together; a name or a call most. */
static uint32_t level(const expr *e) {
    if (e->kind != E_ROW) return UINT32_MAX;
    for (uint32_t k = 0; k < rvm__operator_count; k++)
        if (rvm__operators[k].row == e->op) return rvm__operators[k].level;
    return UINT32_MAX;
}
static uint32_t level_of(const char *operator) {
    for (uint32_t k = 0; k < rvm__operator_count; k++)
        if (!strcmp(rvm__operators[k].text, operator) && rvm__operators[k].level) return rvm__operators[k].level;
    return 0;
}

/* In parentheses where it would not hold together behind the operator. */
static const char *guarded(assembler *a, const expr *e, const char *text, const char *operator) {
    char out[MOST + 4];
    const bool holds = level(e) > level_of(operator);
    snprintf(out, sizeof out, "%s%s%s", holds ? "" : "(", text, holds ? "" : ")");
    return rvm__arena_copy(a, out, strlen(out));
}

/* ---- a target that is an operand ---- */

/* y *= 1 + k for y += y * k, where an update by a factor exists; NULL otherwise. */
static const char *by_factor(assembler *a, const expr *y, const expr *e, const char *target, const char *operator) {
    char out[2 * MOST + 40];
    const bool divides = e->op == RVM_ROW_div;
    if (y->type >= RVM_TYPE_COUNT || !rvm__is_floating((rvm_type)y->type) || (*operator!= '+' && * operator!= '-'))
        return NULL;
    if (e->kind == y->kind && rvm__same_place(e, y)) {
        snprintf(out, sizeof out, *operator== '+' ? "%s *= 2" : "drop %s", target);
        return rvm__arena_copy(a, out, strlen(out));
    }
    if (e->kind != E_ROW || (e->op != RVM_ROW_mul && !divides)) return NULL;
    const bool first = e->kids[0]->kind == y->kind && rvm__same_place(e->kids[0], y);
    const bool second = !divides && e->kids[1]->kind == y->kind && rvm__same_place(e->kids[1], y);
    const expr *factor = e->kids[first];
    const char *text = first != second ? text_at(a, factor->at) : NULL;
    if (!text || rvm__finds_place(factor, y)) return NULL;
    const char by[2] = {*operator, 0 };
    snprintf(out, sizeof out, "%s *= 1 %s %s%s", target, by, divides ? "1 / " : "",
             guarded(a, factor, text, divides ? "/" : by));
    return rvm__arena_copy(a, out, strlen(out));
}

void rvm__hint_target(assembler *a, const stmt *s, const expr *e) {
    const expr *y = s->args[0];
    const char *operator= rvm__op_info[s->op].symbol, *target = text_at(a, y->at);
    const char *value = operator? text_behind(a, s->at, operator) : NULL;
    if (s->kind != S_UPDATE || s->row >= 0 || !target || !value) return;
    const char by[2] = {*operator, 0 };
    const char *factor = by_factor(a, y, e, target, operator);
    char set[3 * MOST];
    snprintf(set, sizeof set, "set %s = %s %s %s", target, target, *by == '^' ? "^^" : by,
             guarded(a, e, value, *by == '^' ? "^^" : by));
    const char *instead = rvm__arena_copy(a, set, strlen(set));
    if (factor)
        rvm__diag_hint(a, e->kind == E_ROW ? D_INSTEAD_UNLESS : D_INSTEAD_OR, factor, instead, NULL);
    else
        rvm__diag_hint(a, D_INSTEAD, instead, NULL, NULL);
}

/* ---- powers ---- */

void rvm__hint_power(assembler *a, const expr *base, const expr *exponent) {
    const char *x = text_at(a, base->at), *n = text_at(a, exponent->at);
    if (x && n) rvm__diag_hint(a, D_XOR, guarded(a, base, x, "^^"), guarded(a, exponent, n, "^^"), x);
}
