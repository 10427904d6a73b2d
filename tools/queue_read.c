/* queue_read.c: a script from text: words, and which line they stand on. */
#include "input.h"
#include "number.h"
#include "queue.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

rvm_status queue_fail(rvm_error *err, rvm_status code, const queue_script *s, uint32_t line, const char *format, ...) {
    va_list list;
    *err = (rvm_error){.code = code, .line = line};
    snprintf(err->file, sizeof err->file, "%s", s->name);
    va_start(list, format);
    vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    return code;
}

typedef struct reader {
    queue_script *s;
    uint32_t line;
    rvm_error *err;
    char *word[5]; /* of the line; NULL behind the last */
    int n;
} reader;

static rvm_status out_of_memory(const reader *r) {
    return queue_fail(r->err, RVM_ERR_MEMORY, r->s, r->line, "out of memory");
}

/* Room for one more, which is all 0. */
static void *more(void **list, size_t *n, size_t size) {
    char *grown = realloc(*list, (*n + 1) * size);
    if (!grown) return NULL;
    *list = grown;
    return memset(grown + (*n)++ * size, 0, size);
}

/* NAME_OF_THE_SCRIPT's folder and the file. */
static char *beside(const queue_script *s, const char *file) {
    const size_t n = strlen(s->folder) + strlen(file) + 1;
    char *path = malloc(n);
    if (path) snprintf(path, n, "%s%s", *file == '/' ? "" : s->folder, file);
    return path;
}

/* ---- lines ---- */

static rvm_status read_program(reader *r) {
    if (r->s->program) return queue_fail(r->err, RVM_ERR_FORMAT, r->s, r->line, "a queue has one program");
    if (r->n < 2 || r->n > 3)
        return queue_fail(r->err, RVM_ERR_FORMAT, r->s, r->line, "the line is `program FILE.rasm [FUNCTION]`");
    r->s->program = beside(r->s, r->word[1]);
    r->s->fn = r->word[2];
    return r->s->program ? RVM_OK : out_of_memory(r);
}

/* host NAME = VALUE, of which blanks around the value go; @FILE is found beside the script. */
static rvm_status read_host(reader *r, char *rest) {
    char *equals = strchr(rest, '=');
    size_t name = equals ? (size_t)(equals - rest) : 0;
    while (name && strchr(" \t", rest[name - 1])) name--;
    char *value = equals ? equals + 1 + strspn(equals + 1, " \t") : rest;
    if (!name || memchr(rest, ' ', name) || !*value)
        return queue_fail(r->err, RVM_ERR_FORMAT, r->s, r->line, "the line is `host NAME = VALUE`");
    const bool file = *value == '@' && value[1] && value[1] != '-' && value[1] != '/';
    const size_t size = name + strlen(value) + strlen(r->s->folder) + 3;
    queue_value *v = more((void **)&r->s->values, &r->s->nvalues, sizeof *v);
    if (!v || !(v->word = malloc(size))) return out_of_memory(r);
    v->line = r->line;
    snprintf(v->word, size, "%.*s=%s%s%s", (int)name, rest, file ? "@" : "", file ? r->s->folder : "", value + file);
    return RVM_OK;
}

static rvm_status usage(const reader *r, rvm_queue_kind kind) {
    static const char *const words[RVM_QUEUE_KINDS] = {
        [RVM_QUEUE_LOAD] = "load NAME [from HOST]",       [RVM_QUEUE_RUN] = "run",
        [RVM_QUEUE_COPY_OUT] = "copy-out NAME [to HOST]", [RVM_QUEUE_DIRECTION] = "direction forward|backward",
        [RVM_QUEUE_GRADIENT] = "gradient on|off",         [RVM_QUEUE_STORE] = "store NAME [to HOST]",
    };
    return queue_fail(r->err, RVM_ERR_FORMAT, r->s, r->line, "the line is `%s`", words[kind]);
}

static bool read_bit(const reader *r, const char *off, const char *on, bool *to) {
    *to = r->n == 2 && !strcmp(r->word[1], on);
    return *to || (r->n == 2 && !strcmp(r->word[1], off));
}

static bool read_place(const reader *r, const char *link, queue_line *to) {
    to->place = r->word[1];
    to->host = r->n == 4 ? r->word[3] : NULL;
    return r->n == 2 || (r->n == 4 && !strcmp(r->word[2], link));
}

static rvm_status read_command(reader *r, rvm_queue_kind kind) {
    queue_line *to = more((void **)&r->s->lines, &r->s->nlines, sizeof *to);
    bool good = true;
    if (!to) return out_of_memory(r);
    to->kind = kind;
    to->line = r->line;
    switch (kind) {
    case RVM_QUEUE_LOAD: good = read_place(r, "from", to); break;
    case RVM_QUEUE_COPY_OUT:
    case RVM_QUEUE_STORE: good = read_place(r, "to", to); break;
    case RVM_QUEUE_RUN: good = r->n == 1; break;
    case RVM_QUEUE_DIRECTION: good = read_bit(r, "forward", "backward", &to->on); break;
    case RVM_QUEUE_GRADIENT: good = read_bit(r, "off", "on", &to->on); break;
    case RVM_QUEUE_KINDS: break;
    }
    return good ? RVM_OK : usage(r, kind);
}

static rvm_status unknown(const reader *r) {
    nearest near = {.wanted = r->word[0]};
    for (int k = 0; k < RVM_QUEUE_KINDS; k++) nearest_offer(&near, rvm_queue_name((rvm_queue_kind)k));
    nearest_offer(&near, "program");
    nearest_offer(&near, "host");
    return queue_fail(r->err, RVM_ERR_FORMAT, r->s, r->line, "no command is `%.60s`%s%s%s", r->word[0],
                      near.best ? "; did you mean " : "", near.best ? near.best : "", near.best ? "?" : "");
}

/* ---- the whole ---- */

static void split(reader *r, char *line) {
    r->n = 0;
    for (char *word = strtok(line, " \t"); word && r->n < 5; word = strtok(NULL, " \t")) r->word[r->n++] = word;
    for (int k = r->n; k < 5; k++) r->word[k] = NULL;
}

static rvm_status read_line(reader *r, char *line) {
    static const char host[] = "host";
    line[strcspn(line, "#\r")] = 0;
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && strchr(" \t", line[n - 1]);) line[--n] = 0;
    if (!*line) return RVM_OK;
    if (!strncmp(line, host, 4) && strchr(" \t", line[4]) && line[4])
        return read_host(r, line + 4 + strspn(line + 4, " \t"));
    split(r, line);
    if (!strcmp(r->word[0], "program")) return read_program(r);
    if (!strcmp(r->word[0], host)) return read_host(r, (char[]){""});
    if (!r->s->program) return queue_fail(r->err, RVM_ERR_FORMAT, r->s, r->line, "first is `program FILE.rasm [FUNCTION]`");
    for (int k = 0; k < RVM_QUEUE_KINDS; k++)
        if (!strcmp(r->word[0], rvm_queue_name((rvm_queue_kind)k))) return read_command(r, (rvm_queue_kind)k);
    return unknown(r);
}

static rvm_status read_lines(queue_script *s, size_t size, rvm_error *err) {
    reader r = {.s = s, .err = err};
    if (memchr(s->text, 0, size)) return queue_fail(err, RVM_ERR_FORMAT, s, 0, "a script is text, and has no zero bytes");
    rvm_status st = RVM_OK;
    for (char *at = s->text, *next; !st && at; at = next) {
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        r.line++;
        st = read_line(&r, at);
    }
    if (!st && !s->program) st = queue_fail(err, RVM_ERR_FORMAT, s, r.line, "the script ends here, and has no `program`");
    return st;
}

rvm_status queue_read(const char *path, queue_script *s, rvm_error *err) {
    enum { LONGEST = 1 << 26 };
    input in;
    size_t size;
    const char *slash = strrchr(path, '/');
    rvm_status st = input_open(&in, path, err);
    if (st) return st;
    *s = (queue_script){.name = in.name, .folder = strndup(path, slash ? (size_t)(slash + 1 - path) : 0)};
    st = input_whole(&in, LONGEST, &s->text, &size, err);
    input_close(&in);
    if (!st && !s->folder) st = queue_fail(err, RVM_ERR_MEMORY, s, 0, "out of memory");
    return st ? st : read_lines(s, size, err);
}

void queue_script_free(queue_script *s) {
    for (size_t k = 0; k < s->nvalues; k++) free(s->values[k].word);
    free(s->values);
    free(s->lines);
    free(s->program);
    free(s->folder);
    free(s->text);
}
