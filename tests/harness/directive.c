#include "directive.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *s, size_t n) {
    char *c = malloc(n + 1);
    if (!c) abort();
    memcpy(c, s, n);
    c[n] = 0;
    return c;
}

/* Cut the next word out of *at; NULL at the end. */
static char *next_word(char **at) {
    char *s = *at + strspn(*at, " \t"), *end = s;
    if (!*s) return NULL;
    if (*s == '"') {
        end = strchr(++s, '"');
        if (!end) end = s + strlen(s);
    } else {
        for (int depth = 0; *end && (depth > 0 || !strchr(" \t", *end)); end++) depth += (*end == '[') - (*end == ']');
    }
    *at = *end ? end + 1 : end;
    *end = 0;
    return s;
}

static void split(directive *d) {
    char *at = d->storage, *word;
    while (d->count < DIRECTIVE_WORDS && (word = next_word(&at)) != NULL) d->words[d->count++] = word;
    for (d->arrow = 0; d->arrow < d->count && strcmp(d->words[d->arrow], "->") != 0;) d->arrow++;
}

directives directives_parse(const char *source) {
    directives all = {0};
    unsigned line = 1;
    for (const char *s = source; *s; line++) {
        size_t n = strcspn(s, "\n");
        if (n > 3 && !strncmp(s, "#: ", 3)) {
            all.list = realloc(all.list, (all.count + 1) * sizeof *all.list);
            if (!all.list) abort();
            directive *d = &all.list[all.count++];
            *d = (directive){.line = line, .text = copy(s + 3, n - 3), .storage = copy(s + 3, n - 3)};
            split(d);
        }
        s += n + (s[n] == '\n');
    }
    return all;
}

void directives_free(directives *d) {
    for (unsigned k = 0; k < d->count; k++) {
        free(d->list[k].text);
        free(d->list[k].storage);
    }
    free(d->list);
    *d = (directives){0};
}

const char *directive_word(const directive *d, unsigned k) {
    return k < d->count ? d->words[k] : "";
}

char *const *directive_words(const directive *d, unsigned k) {
    return d->words + (k < d->count ? k : d->count);
}

unsigned directive_target(const char *source, const char *word) {
    if (*word != '@') return (unsigned)strtoul(word, NULL, 10);
    unsigned line = 1;
    size_t length = strlen(word);
    for (const char *s = source; *s; line++) {
        size_t n = strcspn(s, "\n");
        if (n > length && !strncmp(s + n - length, word, length) && s[n - length - 1] == '#') return line;
        s += n + (s[n] == '\n');
    }
    return 0;
}
