/* scan.c: what all files must know before one is parsed: which files there are, and the names of types, which may be used
 * before their definition. Lines alone are looked at: what is meant here begins one.
 */
#include "asm.h"
#include <string.h>

bool rvm__is_type_definition(const parser *p) {
    return p->tok.kind == K_NAME && !strcmp(p->tok.u.name->text, "type") && p->ahead.kind == K_NAME;
}

/* Of two definitions one holds that is no fallback, else the first. */
static void note_type(parser *p) {
    const size_t offset = p->tok.offset;
    span at;
    rvm__lex_next(p);
    name *n = rvm__parse_new_name(p, "the name of the type", &at);
    if (!n) return;
    const bool fallback = is_punct(&p->tok, "?=");
    if (n->type >= 0 || rvm__number_type(p->a, n) >= 0)
        rvm__diag(p->a, at, D_TYPE_OWN, n->text, NULL, NULL);
    else if (n->record && !fallback && !n->record->fallback)
        rvm__diag(p->a, at, D_TYPE_AGAIN, n->text, rvm__line_of(p->a, at, n->record->at), NULL);
    else if ((!n->record || !fallback) && (n->record = rvm__record_new(p->a, n, at))) {
        n->record->offset = offset;
        n->record->fallback = fallback;
    }
}

static void look_at(parser *p, size_t offset, uint32_t line) {
    rvm__lex_seek(p, offset, line);
    if (rvm__is_type_definition(p))
        note_type(p);
    else if (is_keyword(&p->tok, KW_include) && p->ahead.kind == K_STRING)
        rvm__source_include(p->a, p->ahead.u.name->text, p->ahead.u.name->length, p->file, p->ahead.at);
}

static bool begins(const char *text, size_t size, const char *word) {
    const size_t n = strlen(word);
    return size > n && !memcmp(text, word, n) && strchr(" \t\"", text[n]);
}

void rvm__scan_file(assembler *a, uint16_t file) {
    parser p;
    rvm__lex_start(&p, a, file);
    const char *text = p.text;
    const size_t size = p.size;
    uint32_t line = 1;
    for (size_t at = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0; at < size; line++) {
        size_t first = at;
        while (first < size && (text[first] == ' ' || text[first] == '\t')) first++;
        if (begins(text + first, size - first, "include") || begins(text + first, size - first, "type"))
            look_at(&p, first, line);
        const char *end = memchr(text + at, '\n', size - at);
        at = end ? (size_t)(end - text) + 1 : size;
    }
}
