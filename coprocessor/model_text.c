/* model_text.c: a model from text.
 *
 *     law = ramp                                              a word: name, title, law, against
 *     int.add int.compare = 2 x 0.1 pJ ; source: ...          numbers: keys, a product, its unit, where it comes from
 *         ... which may go on in lines that begin with a blank
 *     # a comment, and lines that are empty
 */
#include "coprocessor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *at, *end;
} span;

typedef struct parser {
    rvm_model *m;
    const char *name; /* for messages */
    uint32_t line;    /* of the present statement */
    rvm_error *err;
} parser;

static rvm_status bad(const parser *p, const char *what, span s) {
    const int n = s.end - s.at > 80 ? 80 : (int)(s.end - s.at);
    return rvm__fail(p->err, RVM_ERR_FORMAT, p->name, p->line, 0, "%s: `%.*s`", what, n, s.at);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static span trim(span s) {
    while (s.at < s.end && is_blank(*s.at)) s.at++;
    while (s.at < s.end && is_blank(s.end[-1])) s.end--;
    return s;
}

static bool is(span s, const char *word) {
    return (size_t)(s.end - s.at) == strlen(word) && !memcmp(s.at, word, strlen(word));
}

/* The first word of *s, which loses it; empty at the end. */
static span next_word(span *s) {
    *s = trim(*s);
    span word = {s->at, s->at};
    while (word.end < s->end && !is_blank(*word.end)) word.end++;
    s->at = word.end;
    return word;
}

/* ---- numbers, whatever the locale ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* digits * 10^exponent, rounded once where both are small. */
static double scaled(double digits, int exponent) {
    const double power = pow(10, abs(exponent));
    return exponent < 0 ? digits / power : digits * power;
}

/* Decimal, as 1.4e-21. False: none stands there, or more than digits and an exponent do. */
static bool decimal(span s, double *value, int *exponent) {
    int point = 0, digits = 0, e = 0;
    *value = 0;
    if (s.at < s.end && *s.at == '-') s.at++;
    for (bool behind = false; s.at < s.end && (is_digit(*s.at) || (*s.at == '.' && !behind)); s.at++) {
        behind |= *s.at == '.';
        if (*s.at == '.') continue;
        if (++digits > 17) return false;
        *value = *value * 10 + (*s.at - '0');
        point += behind;
    }
    if (digits && s.at < s.end && (*s.at == 'e' || *s.at == 'E')) {
        const bool negative = ++s.at < s.end && *s.at == '-';
        s.at += s.at < s.end && (*s.at == '-' || *s.at == '+');
        if (s.at == s.end) return false;
        for (; s.at < s.end && is_digit(*s.at) && e < 1000; s.at++) e = e * 10 + (*s.at - '0');
        if (negative) e = -e;
    }
    *exponent = e - point;
    return digits && s.at == s.end;
}

/* A unit with its prefix: the power of ten, or 99: another unit. */
static int prefix_of(span s, const char *unit) {
    static const struct {
        char letter;
        int power;
    } prefixes[] = {{'z', -21}, {'a', -18}, {'f', -15}, {'p', -12}, {'n', -9}, {'u', -6},
                    {'m', -3},  {'k', 3},   {'M', 6},   {'G', 9},   {'T', 12}};
    if (is(s, unit)) return 0;
    if (s.at == s.end || !*unit || !is((span){s.at + 1, s.end}, unit)) return 99;
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
        if (prefixes[k].letter == *s.at) return prefixes[k].power;
    return 99;
}

/* NUMBER [x NUMBER]... [UNIT] */
static rvm_status product(const parser *p, span s, const char *unit, double *value) {
    const span whole = trim(s);
    double factor, result = 1;
    int exponent = 0, e;
    span word;
    do {
        word = next_word(&s);
        if (!decimal(word, &factor, &e)) return bad(p, word.at == word.end ? "a number is missing" : "no number", whole);
        if (*word.at == '-') return bad(p, "a number is negative", whole);
        result *= factor;
        exponent += e;
        word = next_word(&s);
    } while (is(word, "x"));
    const int power = prefix_of(word, unit);
    if (power == 99 || trim(s).at != trim(s).end) {
        char text[60];
        snprintf(text, sizeof text, *unit ? "a number in %s is wanted" : "a number without a unit is wanted", unit);
        return bad(p, text, whole);
    }
    *value = scaled(result, exponent + power);
    return RVM_OK;
}

/* What stands behind the last digit; of a prefix alone, and of nothing, the unit is understood. */
rvm_status rvm_model_key_number(rvm_model_key key, const char *text, double *out, rvm_error *err) {
    char whole[120];
    rvm_error why;
    RVM__NEEDS(text, out);
    *out = 0;
    if (rvm_model_key_find(rvm_model_key_name(key)) != key)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "no number of a model has number %d", (int)key);
    const char *unit = rvm_model_key_unit(key), *tail = text;
    for (const char *c = text; *c; c++)
        if (is_digit(*c) || *c == '.') tail = c + 1;
    const span rest = trim((span){tail, tail + strlen(tail)});
    const bool bare = rest.at == rest.end || (rest.end - rest.at == 1 && strchr("zafpnumkMGT", *rest.at));
    const int n = snprintf(whole, sizeof whole, "%.*s %.*s%s", (int)(tail - text), text, (int)(rest.end - rest.at), rest.at,
                           bare ? unit : "");
    const parser p = {.err = &why};
    if (n < (int)sizeof whole && !product(&p, (span){whole, whole + n}, unit, out)) return RVM_OK;
    *out = 0;
    return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "%s: %s", rvm_model_key_name(key),
                     n < (int)sizeof whole ? why.message : "the number is too long");
}

/* ---- statements ---- */

static rvm_status set_word(const parser *p, span value, char *to, size_t size) {
    if (*to) return bad(p, "it is said twice", value);
    if (value.at == value.end || (size_t)(value.end - value.at) >= size ||
        memchr(value.at, 0, (size_t)(value.end - value.at)))
        return bad(p, "a word, not too long, is wanted", value);
    memcpy(to, value.at, (size_t)(value.end - value.at));
    to[value.end - value.at] = 0;
    return RVM_OK;
}

static rvm_status set_law(const parser *p, span value) {
    if (p->m->law != RVM_LAWS) return bad(p, "it is said twice", value);
    for (int law = 0; law < RVM_LAWS; law++)
        if (is(value, rvm_law_name((rvm_law)law))) p->m->law = (rvm_law)law;
    return p->m->law == RVM_LAWS ? bad(p, "a law is conventional, ramp or linear", value) : RVM_OK;
}

static rvm_model_key find_key(span word) {
    int key = 0;
    while (key < RVM_MODEL_KEYS && !is(word, rvm_model_key_name((rvm_model_key)key))) key++;
    return (rvm_model_key)key;
}

rvm_model_key rvm_model_key_find(const char *name) {
    return name ? find_key((span){name, name + strlen(name)}) : RVM_MODEL_KEYS;
}

/* Without the breaks of lines. */
static char *source_text(const parser *p, span s) {
    char *text = rvm__strdup(&p->m->al, s.at, (size_t)(s.end - s.at)), *to = text;
    for (const char *from = text; from && *from; from++) {
        if (is_blank(*from) && to > text && to[-1] == ' ') continue;
        *to++ = *from;
        if (is_blank(*from)) to[-1] = ' ';
    }
    if (!text || *to == 0) return text;
    char *shorter = rvm__strdup(&p->m->al, text, (size_t)(to - text));
    rvm__strfree(&p->m->al, text);
    return shorter;
}

static bool says_source(span s) {
    static const char *const begins[] = {"source: ", "assumption: "};
    for (int k = 0; k < 2; k++)
        if ((size_t)(s.end - s.at) > strlen(begins[k]) && !memcmp(s.at, begins[k], strlen(begins[k])))
            return !memchr(s.at, 0, (size_t)(s.end - s.at));
    return false;
}

static rvm_status set_number(const parser *p, span word, span value, span source) {
    const rvm_model_key key = find_key(word);
    if (key == RVM_MODEL_KEYS) return bad(p, "no number of a model has this name", word);
    struct rvm__number *n = &p->m->number[key];
    if (n->line) return bad(p, "it is said twice", word);
    RVM__TRY(product(p, value, rvm_model_key_unit(key), &n->value));
    if (!rvm__model_takes(key, n->value)) {
        char text[80];
        snprintf(text, sizeof text, "%s is %s", rvm_model_key_name(key), rvm__model_range(key));
        return bad(p, text, value);
    }
    if (!says_source(source)) return bad(p, "behind a number and `;` stands `source: ...` or `assumption: ...`", source);
    n->source = source_text(p, source);
    n->line = p->line;
    return n->source ? RVM_OK : rvm__fail_memory(p->err);
}

static rvm_status statement(const parser *p, span s) {
    const char *equals = memchr(s.at, '=', (size_t)(s.end - s.at));
    if (!equals) return bad(p, "neither `key = value` nor a comment", s);
    span names = trim((span){s.at, equals}), value = trim((span){equals + 1, s.end});
    if (is(names, "name")) return set_word(p, value, p->m->name, sizeof p->m->name);
    if (is(names, "title")) return set_word(p, value, p->m->title, sizeof p->m->title);
    if (is(names, "against")) return set_word(p, value, p->m->against, sizeof p->m->against);
    if (is(names, "law")) return set_law(p, value);
    const char *semicolon = memchr(value.at, ';', (size_t)(value.end - value.at));
    const span source = semicolon ? trim((span){semicolon + 1, value.end}) : (span){value.end, value.end};
    if (semicolon) value = trim((span){value.at, semicolon});
    if (names.at == names.end) return bad(p, "a value has no name", s);
    while (names.at < names.end) RVM__TRY(set_number(p, next_word(&names), value, source));
    return RVM_OK;
}

/* The line at `at`, and those behind it that begin with a blank and are not empty. */
static span statement_at(const char *at, const char *end, uint32_t *lines) {
    span s = {at, at};
    *lines = 0;
    do {
        const char *newline = memchr(s.end, '\n', (size_t)(end - s.end));
        s.end = newline ? newline + 1 : end;
        ++*lines;
    } while (s.end < end && (*s.end == ' ' || *s.end == '\t'));
    return s;
}

static rvm_status statements(parser *p, const char *text, size_t size) {
    uint32_t lines;
    p->line = 1;
    for (const char *at = text, *end = text + size; at < end; p->line += lines) {
        const span s = statement_at(at, end, &lines), t = trim(s);
        if (t.at < t.end && *t.at != '#') RVM__TRY(statement(p, t));
        at = s.end;
    }
    return RVM_OK;
}

static rvm_status complete(const parser *p) {
    const rvm_model *m = p->m;
    const char *missing = !*m->name            ? "name"
                          : !*m->title         ? "title"
                          : !*m->against       ? "against"
                          : m->law == RVM_LAWS ? "law"
                                               : NULL;
    for (int key = 0; key < RVM_MODEL_KEYS && !missing; key++)
        if (!m->number[key].line) missing = rvm_model_key_name((rvm_model_key)key);
    return missing ? rvm__fail(p->err, RVM_ERR_FORMAT, p->name, p->line, 0, "the model ends here, and has no `%s`", missing)
                   : RVM_OK;
}

rvm_status rvm_model_parse(const char *text, size_t size, const char *name, const rvm_allocator *al, rvm_model **out,
                           rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(text, name);
    parser p = {.name = name, .err = err};
    RVM__TRY(rvm__model_make(al, &p.m, err));
    rvm_status st = statements(&p, text, size);
    if (!st) st = complete(&p);
    if (st)
        rvm_model_free(p.m);
    else
        *out = p.m;
    return st;
}
