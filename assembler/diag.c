/* diag.c: messages, kept until the end and told in order of place, each with its line, a caret and a hint. */
#include "asm.h"
#include "instruction.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

typedef struct diag_text {
    rvm_status status;
    const char *text, *hint;
} diag_text;
#define RVM_ERR_WARNING RVM_OK
static const diag_text texts[] = {
#define X(id, status_, text_, hint_) [D_##id] = {RVM_ERR_##status_, text_, hint_},
#include "messages.def"
#undef X
};

/* $1 $2 $3 replaced; NULL where an argument that is needed is NULL. */
static const char *fill(assembler *a, const char *format, const char *const args[3]) {
    char text[512];
    size_t used = 0;
    for (const char *f = format; *f; f++) {
        bool argument = *f == '$' && f[1] >= '1' && f[1] <= '3';
        const char *piece = argument ? args[*++f - '1'] : f;
        if (!piece) return NULL;
        size_t length = argument ? strlen(piece) : 1;
        if (used + length >= sizeof text) length = sizeof text - 1 - used;
        memcpy(text + used, piece, length);
        used += length;
    }
    return rvm__arena_copy(a, text, used);
}

static void add(assembler *a, rvm_status code, span at, const char *text, const char *hint) {
    if (!text || a->nmessages >= MAX_MESSAGES) return;
    void *list = a->messages;
    if (!rvm__grow(&a->al, &list, &a->cap_messages, a->nmessages + 1, sizeof *a->messages)) {
        a->oom = true;
        return;
    }
    a->messages = list;
    a->messages[a->nmessages] = (message){code, at, NULL, a->nmessages, text, hint};
    a->nmessages++;
    a->nerrors += code != RVM_OK;
}

void rvm__diag(assembler *a, span at, diag d, const char *a1, const char *a2, const char *a3) {
    if (a->silent || a->nmessages >= MAX_MESSAGES) return;
    const char *const args[3] = {a1, a2, a3};
    const char *text = fill(a, texts[d].text, args);
    add(a, texts[d].status, at, text ? text : texts[d].text, texts[d].hint ? fill(a, texts[d].hint, args) : NULL);
}

void rvm__diag_hint(assembler *a, diag d, const char *a1, const char *a2, const char *a3) {
    const char *const args[3] = {a1, a2, a3};
    if (a->nmessages && a->nmessages < MAX_MESSAGES && !a->silent)
        a->messages[a->nmessages - 1].hint = fill(a, texts[d].text, args);
}

void rvm__diag_error(assembler *a, span at, const rvm_error *e) {
    add(a, e->code, at, rvm__arena_copy(a, e->message, strlen(e->message)), NULL);
}

void rvm__diag_verify(assembler *a, const rvm_error *e) {
    span at = {e->line, e->column, UINT16_MAX, 1};
    for (uint32_t k = 0; k < a->nsources; k++)
        if (!strcmp(a->sources[k].name, e->file)) at.file = (uint16_t)k;
    add(a, e->code, at, rvm__arena_copy(a, e->message, strlen(e->message)), NULL);
    if (a->nmessages && at.file == UINT16_MAX)
        a->messages[a->nmessages - 1].file = rvm__arena_copy(a, e->file, strlen(e->file));
}

const char *rvm__number(assembler *a, int64_t n) {
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)n);
    const char *copy = rvm__arena_copy(a, text, (size_t)length);
    return copy ? copy : "?";
}

const char *rvm__line_of(assembler *a, span here, span there) {
    char text[300];
    const bool elsewhere = there.file != here.file && there.file < a->nsources;
    const int length = snprintf(text, sizeof text, "line %u%s%.250s", there.line, elsewhere ? " of " : "",
                                elsewhere ? a->sources[there.file].name : "");
    const char *copy = rvm__arena_copy(a, text, (size_t)length);
    return copy ? copy : "?";
}

/* ---- spelling ---- */

enum { NEAR_LENGTH = 32 };

static uint32_t distance(const name *s, const name *t, uint32_t limit) {
    uint32_t row[NEAR_LENGTH + 1];
    if (s->length > NEAR_LENGTH || t->length > NEAR_LENGTH) return limit;
    for (uint32_t k = 0; k <= t->length; k++) row[k] = k;
    for (uint32_t i = 0; i < s->length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i + 1;
        for (uint32_t k = 0; k < t->length; k++) {
            uint32_t best = diagonal + (s->text[i] != t->text[k]);
            if (row[k] + 1 < best) best = row[k] + 1;
            if (row[k + 1] + 1 < best) best = row[k + 1] + 1;
            diagonal = row[k + 1];
            row[k + 1] = best;
        }
    }
    return row[t->length];
}

static bool is_near_what(const name *n, near_what what) {
    switch (what) {
    case NEAR_VALUE: return n->var || n->constant;
    case NEAR_FUNC: return n->func;
    case NEAR_ROW: return n->row >= 0 || n->type >= 0;
    case NEAR_STATEMENT: return n->keyword || n->op >= 0;
    case NEAR_TYPE: return n->type >= 0 || n->record || !strcmp(n->text, "lns") || !strcmp(n->text, "complex");
    }
    return false;
}

/* Words that the source may not hold are names as well. */
static void intern_words(assembler *a) {
    static const char *const types[] = {"i64", "f64", "fix", "f32", "real", "complex", "lns"};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) rvm__intern(a, types[k], strlen(types[k]));
    for (int k = 0; k < RVM_ROW_COUNT; k++) rvm__intern(a, rvm__row_info[k].name, strlen(rvm__row_info[k].name));
    for (int k = 0; k < RVM_OP_LIMIT; k++)
        if (rvm__op_info[k].name) rvm__intern(a, rvm__op_info[k].name, strlen(rvm__op_info[k].name));
    for (int k = KW_NONE + 1; k <= KW_parallel; k++)
        rvm__intern(a, rvm__keyword_text((keyword)k), strlen(rvm__keyword_text((keyword)k)));
}

const char *rvm__near(assembler *a, const name *n, near_what what) {
    const name *found = NULL;
    uint32_t best = n->length < 3 ? 2 : n->length < 6 ? 3 : 4; /* farther is no help */
    if (a->nmessages > 50 || n->length < 2) return NULL;       /* a search of all names: not for ever */
    intern_words(a);
    for (uint32_t b = 0; b < a->nbuckets; b++)
        for (const name *m = a->buckets[b]; m; m = m->next) {
            uint32_t d = m == n || !is_near_what(m, what) ? UINT32_MAX : distance(n, m, best);
            if (d < best || (found && d == best && strcmp(m->text, found->text) < 0)) {
                best = d;
                found = m;
            }
        }
    return found ? found->text : NULL;
}

/* ---- telling ---- */

static int in_order(const void *p, const void *q) {
    const message *a = p, *b = q;
    if (a->at.file != b->at.file) return a->at.file < b->at.file ? -1 : 1;
    if (a->at.line != b->at.line) return a->at.line < b->at.line ? -1 : 1;
    if (a->at.column != b->at.column) return a->at.column < b->at.column ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

typedef struct text {
    char *out;
    size_t size, used;
} text;

static void put(text *t, const char *s, size_t length) {
    if (length > t->size - 1 - t->used) length = t->size - 1 - t->used;
    memcpy(t->out + t->used, s, length);
    t->used += length;
    t->out[t->used] = 0;
}

static void put_string(text *t, const char *s) {
    put(t, s, strlen(s));
}

/* The part of a line around the column, bytes that would upset a terminal replaced; tabs stay in both lines. */
static void put_line(text *t, const char *line, size_t length, const span *at) {
    enum { WIDTH = 160, LEFT = 100 };
    size_t column = at->column ? at->column - 1 : 0, from = column > LEFT ? column - LEFT : 0;
    size_t to = length - from > WIDTH ? from + WIDTH : length;
    if (column > length) return;
    put_string(t, from ? "\n    ..." : "\n    ");
    for (size_t k = from; k < to; k++) {
        unsigned char c = (unsigned char)line[k];
        put(t, c == '\t' ? "\t" : c < 32 || c > 126 ? "?" : (const char *)&c, 1);
    }
    if (!at->column) return;
    put_string(t, from ? "\n       " : "\n    ");
    for (size_t k = from; k < column; k++) put(t, line[k] == '\t' ? "\t" : " ", 1);
    put_string(t, "^");
    for (size_t k = column + 1; k < column + at->length && k < to; k++) put_string(t, "~");
}

const char *rvm__source_line(const source *s, uint32_t number, size_t *length) {
    const char *line = number ? s->text : NULL, *end = s->text + s->size;
    for (uint32_t k = 1; k < number && line; k++) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (line) line++;
    }
    if (!line) return NULL;
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    *length = (size_t)((stop ? stop : end) - line);
    if (*length && line[*length - 1] == '\r') --*length;
    return line;
}

static void put_source(text *t, const source *s, const span *at) {
    size_t length;
    const char *line = rvm__source_line(s, at->line, &length);
    if (line) put_line(t, line, length, at);
}

bool rvm_asm_excerpt(const char *from, size_t from_size, uint32_t line, uint32_t column, char *out, size_t size) {
    const source s = {.text = (char *)from, .size = from_size};
    const span at = {.line = line, .column = column, .length = 1};
    text t = {out, size, 0};
    if (!out || !size) return false;
    *out = 0;
    if (!from) return false;
    put_source(&t, &s, &at);
    if (t.used) memmove(out, out + 1, t.used); /* the end of the line before */
    return t.used;
}

static void tell(assembler *a, const message *m, rvm_error *err, rvm_diagnostic report, void *userdata) {
    char out[4096];
    char place[300];
    text t = {out, sizeof out, 0};
    rvm_error e = {.code = m->code, .line = m->at.line, .column = m->at.column};
    const char *file = m->file ? m->file : m->at.file < a->nsources ? a->sources[m->at.file].name : "";
    snprintf(e.file, sizeof e.file, "%s", file);
    snprintf(e.message, sizeof e.message, "%s", m->text);
    if (m->hint && strlen(m->text) + strlen(m->hint) + 3 < sizeof e.message)
        snprintf(e.message + strlen(m->text), sizeof e.message - strlen(m->text), " (%s)", m->hint);
    const char *severity = m->code ? "error" : "warning";
    if (m->at.line)
        snprintf(place, sizeof place, "%s:%u:%u: %s: ", e.file, e.line, e.column, severity);
    else
        snprintf(place, sizeof place, "%s: %s: ", e.file, severity);
    put_string(&t, place);
    put_string(&t, m->text);
    if (m->at.file < a->nsources) put_source(&t, a->sources + m->at.file, &m->at);
    if (m->hint) {
        put_string(&t, "\n    hint: ");
        put_string(&t, m->hint);
    }
    if (err) *err = e;
    if (report) report(userdata, &e, out);
}

rvm_status rvm__diag_report(assembler *a, rvm_error *err, rvm_diagnostic report, void *userdata) {
    if (!a->nmessages) return RVM_OK;
    qsort(a->messages, a->nmessages, sizeof *a->messages, in_order);
    uint32_t limit = a->options.max_errors ? a->options.max_errors : 20, told[2] = {0}; /* warnings, errors */
    rvm_status first = RVM_OK;
    for (uint32_t k = 0; k < a->nmessages; k++) {
        const message *m = a->messages + k;
        const bool error = m->code != RVM_OK;
        bool again = k && m[-1].at.file == m->at.file && m[-1].at.line == m->at.line && m[-1].at.column == m->at.column;
        if (error && !first) first = m->code;
        if (again || told[error] == limit) continue; /* one message a place: the first is the cause */
        tell(a, m, error && !told[1] ? err : NULL, report, userdata);
        told[error]++;
    }
    return first;
}
