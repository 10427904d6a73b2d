/* pisa_show.c: values that a program for the Pendulum processor is given, and what it has in the end.
 *
 * Memory is shown in runs: a label with the data behind it, up to the next label or instruction; what lies behind the source
 * from one word that is 0 to the next. */
#include "pisa.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* Where the words of a value go, how many there are, and the count that they raise. */
typedef struct target {
    int64_t *cell;
    uint64_t room;
    int64_t *count;
} target;

static bool find_register(const char *name, size_t n, target *to, pisa_state *p) {
    char *end;
    if ((*name != '$' && *name != 'r') || !isdigit((unsigned char)name[1])) return false;
    const unsigned long r = strtoul(name + 1, &end, 10);
    if (end != name + n || r >= PISA_REGISTERS) return false;
    *to = (target){p->r + r, 1, NULL};
    return true;
}

static bool find_output(const char *name, size_t n, target *to, pisa_state *p) {
    const bool output = n == 6 && !strncmp(name, "output", n), garbage = n == 7 && !strncmp(name, "garbage", n);
    if (output) *to = (target){p->output, p->words, &p->shown};
    if (garbage) *to = (target){p->waste, p->words, &p->emitted};
    return output || garbage;
}

static rvm_status find_memory(tool *t, const char *name, size_t n, target *to, pisa_state *p) {
    const pisa_label *label = pisa_find(p->source, name, n);
    char text[32];
    int32_t number = 0;
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), name);
    if (!label && !pisa_number(text, &number))
        return tool_fail(t, RVM_ERR_ARGUMENT, "`%.*s` is no register ($0 to $31), label or address of the program", (int)n,
                         name);
    const uint32_t address = label ? label->address : (uint32_t)number;
    if (address >= p->words)
        return tool_fail(t, RVM_ERR_ARGUMENT, "`%.*s`: the memory has %" PRIu64 " words (--words)", (int)n, name, p->words);
    *to = (target){p->memory + address, p->words - address, NULL};
    return RVM_OK;
}

static rvm_status take_word(tool *t, const char *text, size_t n, int64_t *cell, const char *word) {
    char copy[32];
    int32_t v;
    snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : sizeof copy - 1), text);
    if (n >= sizeof copy || !pisa_number(copy, &v))
        return tool_fail(t, RVM_ERR_ARGUMENT, "`%.60s`: `%.31s` is no number of 32 bits", word, copy);
    if ((uint32_t)*cell)
        return tool_fail(t, RVM_ERR_ARGUMENT, "`%.60s`: an instruction stands there, which no value replaces", word);
    *cell = pisa_cell(v);
    return RVM_OK;
}

rvm_status pisa_take(tool *t, pisa_state *p, const char *word) {
    const char *equals = strchr(word, '='), *at = equals ? equals + 1 : word;
    target to = {0};
    if (!equals) return tool_fail(t, RVM_ERR_ARGUMENT, "`%.60s` is no value: NAME=WORD or NAME=[WORD, ...]", word);
    const size_t n = (size_t)(equals - word);
    const bool list = *at == '[';
    rvm_status st = RVM_OK;
    if (!find_register(word, n, &to, p) && !find_output(word, n, &to, p)) st = find_memory(t, word, n, &to, p);
    uint64_t k = 0;
    for (at += list; !st && *at && *at != ']'; k++) {
        at += strspn(at, " ");
        const size_t length = list ? strcspn(at, ",] ") : strlen(at);
        if (k == to.room) return tool_fail(t, RVM_ERR_ARGUMENT, "`%.60s`: there is no room for so many words", word);
        st = take_word(t, at, length, &to.cell[k], word);
        at += length, at += strspn(at, " "), at += list && *at == ',';
    }
    if (!st && (!k || (list && strcmp(at, "]") != 0)))
        st = tool_fail(t, RVM_ERR_ARGUMENT, "`%.60s` is no value: NAME=WORD or NAME=[WORD, ...]", word);
    if (!st && to.count) *to.count = (int64_t)k;
    return st;
}

/* ---- runs of memory ---- */

typedef struct run_of_words {
    char name[140];
    uint64_t first, n;
} run_of_words;

static bool is_data(const pisa_state *p, uint64_t a) {
    return a < p->source->n && !p->source->word[a].is;
}

/* The next run from *at on, behind which *at then stands; false: there is none. */
static bool next_run(const pisa_state *p, uint64_t *at, run_of_words *run) {
    const pisa_source *s = p->source;
    uint64_t a = *at;
    while (a < p->words && (a < s->n ? !is_data(p, a) : !p->memory[a])) a++;
    run->first = a;
    if (a == p->words) return false;
    if (a < s->n && s->word[a].label)
        snprintf(run->name, sizeof run->name, "%s", s->word[a].label);
    else
        snprintf(run->name, sizeof run->name, "[%" PRIu64 "]", a);
    if (a < s->n)
        while (is_data(p, ++a) && !s->word[a].label) continue;
    else
        while (a < p->words && p->memory[a]) a++;
    run->n = a - run->first;
    *at = a;
    return true;
}

/* ---- text ---- */

enum { CUT_ABOVE = 1000, EDGE = 3 };

static void put_words(const char *name, const int64_t *cells, uint64_t n, bool list) {
    printf("%s = %s", name, list ? "[" : "");
    for (uint64_t k = 0; k < n; k++) {
        const bool cut = n > CUT_ABOVE && k == EDGE;
        if (cut) k = n - EDGE;
        printf("%s%s%d", k ? ", " : "", cut ? "..., " : "", pisa_word_of(cells[k]));
    }
    puts(list ? "]" : "");
}

void pisa_show(const pisa_state *p) {
    char name[16];
    run_of_words run;
    for (int k = 0; k < PISA_REGISTERS; k++) {
        snprintf(name, sizeof name, "$%d", k);
        if (p->r[k]) put_words(name, &p->r[k], 1, false);
    }
    for (uint64_t at = 0; next_run(p, &at, &run);) put_words(run.name, p->memory + run.first, run.n, run.n > 1);
    if (p->shown > 0) put_words("output", p->output, (uint64_t)p->shown, true);
    if (p->emitted > 0) put_words("garbage", p->waste, (uint64_t)p->emitted, true);
}

/* ---- JSON ---- */

static void json_word(json *j, int64_t cell) {
    json_number(j, RVM_I64, (rvm_scalar){.i = pisa_word_of(cell)});
}

static void json_words(json *j, const char *name, const int64_t *cells, uint64_t n) {
    json_key(j, name);
    json_open(j, '[');
    for (uint64_t k = 0; k < n; k++) json_word(j, cells[k]);
    json_close(j, ']');
}

void pisa_show_json(json *j, const pisa_state *p) {
    char name[16];
    run_of_words run;
    json_key(j, "registers");
    json_open(j, '{');
    for (int k = 0; k < PISA_REGISTERS; k++) {
        if (!p->r[k]) continue;
        snprintf(name, sizeof name, "$%d", k);
        json_key(j, name), json_word(j, p->r[k]);
    }
    json_close(j, '}');
    json_key(j, "memory");
    json_open(j, '{');
    for (uint64_t at = 0; next_run(p, &at, &run);) json_words(j, run.name, p->memory + run.first, run.n);
    json_close(j, '}');
    json_words(j, "output", p->output, (uint64_t)p->shown);
    json_words(j, "garbage", p->waste, (uint64_t)p->emitted);
}
