/* pisa_read.c: the source of a program for the Pendulum processor, into words. A line is
 *
 *     LABEL: INSTRUCTION OPERAND, ...     ; comment
 *
 * each part of which may be missing; operands are separated by blanks or commas. Labels are found first, then operands read.
 */
#include "errors.h"
#include "input.h"
#include "number.h"
#include "pisa.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const pisa_instruction instructions[] = {
#define PISA(name, operands, kind, k) {#name, operands, kind, k},
#include "pisa.def"
#undef PISA
};

/* ---- lines ---- */

enum { MOST_TOKENS = 6 }; /* one more than an instruction has, label apart */

typedef struct token {
    const char *at;
    int length;
} token;

typedef struct line {
    const char *begin;
    uint32_t number;
    token label; /* without the colon; length 0: none */
    token word[MOST_TOKENS];
    int n;
} line;

static bool ends_line(char c) {
    return !c || c == '\n' || c == ';';
}

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == '\f' || c == '\v';
}

static token next_token(const char **at) {
    while (blank(**at)) ++*at;
    const char *begin = *at;
    while (!ends_line(**at) && !blank(**at) && (*at == begin || (*at)[-1] != ':')) ++*at;
    return (token){begin, (int)(*at - begin)};
}

/* Cuts the line at *at into tokens, and moves behind it. */
static void cut_line(const char **at, line *l) {
    *l = (line){.begin = *at, .number = l->number + 1};
    for (token t; (t = next_token(at)).length;) {
        if (!l->n && !l->label.length && t.at[t.length - 1] == ':')
            l->label = (token){t.at, t.length - 1};
        else if (l->n < MOST_TOKENS)
            l->word[l->n++] = t;
    }
    while (**at && **at != '\n') ++*at;
    *at += **at == '\n';
}

static rvm_status fail_at(const pisa_source *s, const line *l, token t, rvm_status code, rvm_error *err, const char *format,
                          ...) __attribute__((format(printf, 6, 7)));
static rvm_status fail_at(const pisa_source *s, const line *l, token t, rvm_status code, rvm_error *err, const char *format,
                          ...) {
    va_list list;
    *err = (rvm_error){.code = code, .line = l->number, .column = (uint32_t)(t.at - l->begin) + 1};
    snprintf(err->file, sizeof err->file, "%s", s->file);
    va_start(list, format);
    vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    return code;
}

static bool is(token t, const char *name) {
    return strlen(name) == (size_t)t.length && strncasecmp(t.at, name, (size_t)t.length) == 0;
}

static bool is_directive(const line *l) {
    return l->n && is(l->word[0], ".start");
}

/* ---- labels ---- */

static int by_name(const void *a, const void *b) {
    const pisa_label *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : (x->line > y->line) - (x->line < y->line);
}

const pisa_label *pisa_find(const pisa_source *s, const char *name, size_t length) {
    uint32_t low = 0, high = s->nlabels;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const char *candidate = s->label[middle].name;
        int order = strncmp(candidate, name, length);
        if (!order) order = candidate[length] != 0;
        if (!order) return &s->label[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static rvm_status note_label(pisa_source *s, const line *l, uint32_t address, uint32_t *room, rvm_error *err) {
    if (s->nlabels == *room) {
        pisa_label *grown = realloc(s->label, (*room = 2 * *room + 64) * sizeof *grown);
        if (!grown) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
        s->label = grown;
    }
    char *name = strndup(l->label.at, (size_t)l->label.length);
    if (!name) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
    s->label[s->nlabels++] = (pisa_label){name, address, l->number};
    return RVM_OK;
}

static rvm_status check_labels(const pisa_source *s, rvm_error *err) {
    for (uint32_t k = 1; k < s->nlabels; k++) {
        const pisa_label *a = &s->label[k - 1], *b = &s->label[k];
        if (strcmp(a->name, b->name) != 0) continue;
        const line at = {.begin = "", .number = b->line};
        return fail_at(s, &at, (token){at.begin, 0}, RVM_ERR_NAME, err, "the label `%.80s` is that of line %u already",
                       b->name, a->line);
    }
    return RVM_OK;
}

/* Labels, and how many words there are. */
static rvm_status find_labels(pisa_source *s, rvm_error *err) {
    uint32_t room = 0;
    line l = {0};
    for (const char *at = s->text; *at;) {
        cut_line(&at, &l);
        if (l.label.at && !l.label.length) return fail_at(s, &l, l.label, RVM_ERR_SYNTAX, err, "a label without a name");
        const rvm_status st = l.label.length ? note_label(s, &l, s->n, &room, err) : RVM_OK;
        if (st) return st;
        if (l.n && !is_directive(&l) && ++s->n > PISA_LONGEST)
            return fail_at(s, &l, l.word[0], RVM_ERR_LIMIT, err, "more than %d words", PISA_LONGEST);
    }
    if (s->nlabels) qsort(s->label, s->nlabels, sizeof *s->label, by_name);
    return check_labels(s, err);
}

/* ---- operands ---- */

bool pisa_number(const char *text, int32_t *out) {
    char *end;
    errno = 0;
    const long long v = strtoll(text, &end, 0);
    *out = (int32_t)(uint32_t)v;
    return end != text && !*end && !errno && v >= INT32_MIN && v <= UINT32_MAX;
}

/* A number, a label's address, or that negated. */
static rvm_status read_number(const pisa_source *s, const line *l, token t, int32_t *out, rvm_error *err) {
    char text[32];
    snprintf(text, sizeof text, "%.*s", t.length, t.at);
    const bool digit = isdigit((unsigned char)t.at[*t.at == '-' || *t.at == '+']);
    const bool negative = !digit && *t.at == '-';
    if (digit) {
        if (t.length < (int)sizeof text && pisa_number(text, out)) return RVM_OK;
        return fail_at(s, l, t, RVM_ERR_SYNTAX, err, "`%.*s` is no number of 32 bits", t.length > 60 ? 60 : t.length, t.at);
    }
    const pisa_label *label = pisa_find(s, t.at + negative, (size_t)(t.length - negative));
    if (!label) return fail_at(s, l, t, RVM_ERR_NAME, err, "no label is called `%.*s`", t.length > 60 ? 60 : t.length, t.at);
    *out = negative ? (int32_t)(0u - label->address) : (int32_t)label->address;
    return RVM_OK;
}

static rvm_status read_register(const pisa_source *s, const line *l, token t, pisa_word *w, rvm_error *err) {
    char *end;
    const long r = *t.at == '$' && isdigit((unsigned char)t.at[1]) ? strtol(t.at + 1, &end, 10) : -1;
    const int quoted = t.length > 60 ? 60 : t.length;
    if (r < 0 || end != t.at + t.length)
        return fail_at(s, l, t, RVM_ERR_SYNTAX, err, "%s takes a register here, $0 to $31, not `%.*s`", w->is->name, quoted,
                       t.at);
    if (r >= PISA_REGISTERS)
        return fail_at(s, l, t, RVM_ERR_SYNTAX, err, "there is no register `%.*s`: they are $0 to $31", quoted, t.at);
    w->reg[w->nregs++] = (uint8_t)r;
    return RVM_OK;
}

static rvm_status read_operand(const pisa_source *s, const line *l, token t, char letter, pisa_word *w, rvm_error *err) {
    if (letter == 'w' || letter == 'r') {
        const rvm_status st = read_register(s, l, t, w, err);
        if (!st && w->nregs > 1 && w->is->operands[0] == 'w' && w->reg[w->nregs - 1] == w->reg[0])
            return fail_at(s, l, t, RVM_ERR_SYNTAX, err, "%s $%d by $%d itself cannot be taken back", w->is->name, w->reg[0],
                           w->reg[0]);
        return st;
    }
    const rvm_status st = read_number(s, l, t, &w->number, err);
    if (st) return st;
    if (letter == 'a' && (w->number < 0 || w->number > 31))
        return fail_at(s, l, t, RVM_ERR_SYNTAX, err, "an amount to shift by is 0 to 31, not %d", w->number);
    return RVM_OK;
}

/* ---- words ---- */

static const pisa_instruction *find_instruction(token name, const char **near) {
    char text[24];
    snprintf(text, sizeof text, "%.*s", name.length, name.at);
    for (char *c = text; *c; c++) *c = (char)toupper((unsigned char)*c);
    nearest n = {.wanted = text};
    for (size_t k = 0; k < sizeof instructions / sizeof *instructions; k++) {
        if (is(name, instructions[k].name)) return &instructions[k];
        nearest_offer(&n, instructions[k].name);
    }
    *near = n.best;
    return NULL;
}

static rvm_status read_word(const pisa_source *s, const line *l, uint32_t address, rvm_error *err) {
    pisa_word *w = &s->word[address];
    const token name = l->word[0];
    const char *near = NULL;
    const bool data = is(name, "DATA");
    const token last = l->word[l->n - 1];
    *w = (pisa_word){.line = l->number, .column = (uint32_t)(name.at - l->begin) + 1, .label = w->label};
    w->text = name.at, w->length = (int)(last.at - name.at) + last.length;
    if (!data && !(w->is = find_instruction(name, &near)))
        return fail_at(s, l, name, RVM_ERR_SYNTAX, err, "there is no instruction `%.*s`%s%s%s",
                       name.length > 60 ? 60 : name.length, name.at, near ? "; did you mean `" : "", near ? near : "",
                       near ? "`?" : "");
    const char *operands = data ? "i" : w->is->operands;
    const int n = (int)strlen(operands);
    if (l->n - 1 != n)
        return fail_at(s, l, name, RVM_ERR_SYNTAX, err, "%s takes %d operand%s, not %d%s", data ? "DATA" : w->is->name, n,
                       n == 1 ? "" : "s", l->n - 1, l->n == MOST_TOKENS ? " or more" : "");
    rvm_status st = RVM_OK;
    for (int k = 0; k < n && !st; k++) st = read_operand(s, l, l->word[k + 1], operands[k], w, err);
    if (n && operands[n - 1] == 'l') w->number = (int32_t)((uint32_t)w->number - address);
    return st;
}

static rvm_status read_start(pisa_source *s, const line *l, rvm_error *err) {
    int32_t start = 0;
    if (l->n != 2) return fail_at(s, l, l->word[0], RVM_ERR_SYNTAX, err, ".start takes where a run begins");
    const rvm_status st = read_number(s, l, l->word[1], &start, err);
    s->start = (uint32_t)start;
    if (!st && s->start >= s->n)
        return fail_at(s, l, l->word[1], RVM_ERR_SYNTAX, err, "the program ends before address %u", s->start);
    return st;
}

static rvm_status read_words(pisa_source *s, rvm_error *err) {
    uint32_t address = 0;
    line l = {0};
    rvm_status st = RVM_OK;
    for (uint32_t k = 0; k < s->nlabels; k++)
        if (s->label[k].address < s->n) s->word[s->label[k].address].label = s->label[k].name;
    for (const char *at = s->text; *at && !st;) {
        cut_line(&at, &l);
        if (is_directive(&l))
            st = read_start(s, &l, err);
        else if (l.n)
            st = read_word(s, &l, address++, err);
    }
    return st;
}

rvm_status pisa_read(const char *file, pisa_source *s, rvm_error *err) {
    enum { LONGEST_TEXT = 1 << 28 };
    input in;
    size_t size = 0;
    *s = (pisa_source){.file = file};
    rvm_status st = input_open(&in, file, err);
    if (st) return st;
    s->file = in.name;
    st = input_whole(&in, LONGEST_TEXT, &s->text, &size, err);
    input_close(&in);
    if (st) return st;
    if (strlen(s->text) != size) return fail(err, RVM_ERR_FORMAT, s->file, "this is no text");
    st = find_labels(s, err);
    if (!st && !s->n) st = fail(err, RVM_ERR_FORMAT, s->file, "there is no instruction in it");
    if (!st && !(s->word = calloc(s->n, sizeof *s->word))) st = fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
    return st ? st : read_words(s, err);
}

void pisa_free(pisa_source *s) {
    for (uint32_t k = 0; k < s->nlabels; k++) free(s->label[k].name);
    free(s->label);
    free(s->word);
    free(s->text);
    *s = (pisa_source){0};
}

pisa_kind pisa_kind_at(const pisa_source *s, int64_t address) {
    return address >= 0 && address < s->n && s->word[address].is ? s->word[address].is->kind : PISA_DATA;
}
