#include "commanded.h"
#include "base64.h"
#include "remote.h"
#include "standard.h"

#include <stdlib.h>
#include <string.h>

bool commanded_is(const json_t *request) {
    return json_object_get(request, "words");
}

/* ---- what it says: pieces of standard output and standard error, in their order ---- */

/* A format may be no text: rvm profile --format pprof. */
static void put_piece(json *j, const char *name, const char *bytes, size_t size) {
    const bool is_text = json_is_text(bytes, size);
    char *coded = is_text ? NULL : base64_encode(bytes, size);
    json_key(j, name), json_text(j, is_text ? bytes : coded);
    if (!is_text) json_key(j, "base64"), json_bool(j, true);
    free(coded);
}

static void end_piece(commanded *x) {
    if (!x->piece) return;
    fclose(x->piece);
    if (x->piece_size) {
        json_open(&x->j, '{');
        put_piece(&x->j, x->at->name, x->piece_text, x->piece_size);
        json_close(&x->j, '}');
    }
    free(x->piece_text);
    x->piece = NULL, x->piece_text = NULL;
}

static ssize_t speak(void *cookie, const char *bytes, size_t size) {
    const commanded_voice *v = cookie;
    commanded *x = v->of;
    if (x->at != v) {
        end_piece(x);
        x->at = v;
        x->piece = open_memstream(&x->piece_text, &x->piece_size);
    }
    return x->piece ? (ssize_t)fwrite(bytes, 1, size, x->piece) : 0;
}

static FILE *open_voice(commanded *x, int k, const char *name, int buffering) {
    x->voice[k] = (commanded_voice){x, name};
    FILE *f = fopencookie(&x->voice[k], "w", (cookie_io_functions_t){.write = speak});
    if (f) setvbuf(f, NULL, buffering, 1 << 14);
    return f;
}

/* They are buffered as those of a terminal, whose order this is. */
bool commanded_begin(commanded *x) {
    FILE *out = open_voice(x, 0, "stdout", _IOLBF), *err = open_voice(x, 1, "stderr", _IONBF);
    if (out && err) x->pieces = open_memstream(&x->pieces_text, &x->pieces_size);
    if (!x->pieces) {
        if (out) fclose(out);
        if (err) fclose(err);
        return false;
    }
    x->j = (json){.out = x->pieces};
    x->before[0] = stdout, x->before[1] = stderr;
    stdout = out, stderr = err;
    return true;
}

/* ---- what is asked for ---- */

static bool add_file(file_set *files, const char *name, const json_t *v) {
    const char *standard = json_string_value(json_object_get(v, "standard"));
    const standard_text *s = standard ? standard_find(standard) : NULL;
    size_t size = 0;
    char *bytes = json_is_string(v) ? base64_decode(json_string_value(v), &size) : NULL;
    if (s) return file_set_add_copy(files, name, s->bytes, s->size);
    if (json_is_integer(v)) return file_set_add_error(files, name, (int)json_integer_value(v));
    return standard || (bytes && file_set_add(files, name, bytes, size));
}

static rvm_status check_members(tool *t, json_t *request) {
    static const char *const members[] = {"program", "kind", "words", "files", "coloured"};
    const char *name;
    json_t *v;
    json_object_foreach(request, name, v) {
        bool known = false;
        for (size_t k = 0; k < sizeof members / sizeof *members; k++) known |= !strcmp(members[k], name);
        if (!known) return tool_fail(t, RVM_ERR_USAGE, "a run by \"words\" has no member \"%.80s\"", name);
    }
    return RVM_OK;
}

static rvm_status read_files(commanded *x, tool *t, json_t *files) {
    const char *name;
    json_t *v;
    if (files && !json_is_object(files)) return tool_fail(t, RVM_ERR_USAGE, "\"files\" is to be an object: files by name");
    json_object_foreach(files, name, v) if (!add_file(&x->files, name, v)) return tool_fail(
        t, RVM_ERR_USAGE, "\"files\": `%.80s` is to be its bytes, by base64", name);
    return RVM_OK;
}

static rvm_status read_words(commanded *x, tool *t, const json_t *words) {
    const size_t n = json_array_size(words);
    int first;
    if (!json_is_array(words) || n > 100000) return tool_fail(t, RVM_ERR_USAGE, "\"words\" is to be a list of texts");
    if (!(x->argv = calloc(n + 2, sizeof *x->argv))) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    x->argv[0] = (char *)cli_command_name(t->command);
    for (size_t k = 0; k < n; k++)
        if (!(x->argv[k + 1] = (char *)json_string_value(json_array_get(words, k))))
            return tool_fail(t, RVM_ERR_USAGE, "\"words\" is to be a list of texts");
    const rvm_status st = cli_parse(t->command, (int)n + 1, x->argv, &t->o, &first, &t->err);
    if (st) return st;
    if (t->o.help || t->o.server) return tool_fail(t, RVM_ERR_USAGE, "a server takes neither --help nor --server");
    t->words = x->argv + first, t->nwords = (int)n + 1 - first;
    return remote_check(t);
}

/* What is not given is the server's, and more than that is not to be had. */
static rvm_status cap(tool *t, enum option_index option, uint64_t *limit, uint64_t most) {
    if (!t->o.given[option]) *limit = most;
    if (*limit && *limit <= most) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "--%s is from 1 to %llu on this server", cli_option_name(option),
                     (unsigned long long)most);
}

static rvm_status read_limits(tool *t, const work_limits *most) {
    rvm_status st = cap(t, OPTION_fuel, &t->o.fuel, most->fuel);
    if (!st) st = cap(t, OPTION_memory, &t->o.memory, most->memory);
    if (!st) st = cap(t, OPTION_trail_limit, &t->o.trail_limit, most->memory);
    if (!st && t->o.given[OPTION_depth]) st = cap(t, OPTION_depth, &t->o.depth, 10000);
    return st;
}

rvm_status commanded_read(commanded *x, tool *t, json_t *request, const work_limits *most, double *seconds) {
    *seconds = most->seconds;
    t->files = &x->files, t->written = &x->written;
    t->coloured = json_is_true(json_object_get(request, "coloured"));
    t->o = (options){0};
    rvm_status st = request_kind(t, json_object_get(request, "kind"), true);
    if (!st) st = check_members(t, request);
    if (!st) st = read_words(x, t, json_object_get(request, "words"));
    t->o.no_include = true;
    if (!st) st = read_limits(t, most);
    if (!st) st = read_files(x, t, json_object_get(request, "files"));
    if (!st) t->reading.standard_input = strcmp(t->words[0], "-") == 0;
    return st;
}

/* ---- the answer ---- */

static void put_error(json *j, rvm_status st, const rvm_error *why) {
    json_key(j, "error"), json_open(j, '{');
    json_key(j, "severity"), json_text(j, "error");
    json_key(j, "code"), json_text(j, rvm_status_name(st));
    json_key(j, "message"), json_text(j, why->message);
    json_key(j, "file"), json_text(j, why->file[0] ? why->file : NULL);
    json_key(j, "line"), json_uint(j, why->line);
    json_key(j, "column"), json_uint(j, why->column);
    json_close(j, '}');
}

static void put_file(json *j, const file_set_item *f) {
    char *text = base64_encode(f->bytes, f->size);
    json_key(j, f->name), json_text(j, text);
    free(text);
}

static void put_answer(commanded *x, FILE *out, rvm_status st, const rvm_error *why, int exit) {
    json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "ok"), json_bool(&j, !st);
    if (st) put_error(&j, st, why);
    json_key(&j, "exit"), json_uint(&j, (uint64_t)exit);
    json_key(&j, "output"), json_open(&j, '[');
    fputs(x->pieces_text, out);
    json_close(&j, ']');
    json_key(&j, "files"), json_open(&j, '{');
    for (size_t k = 0; k < x->written.n; k++) put_file(&j, &x->written.item[k]);
    json_close(&j, '}');
    json_close(&j, '}');
    fputc('\n', out);
}

void commanded_end(commanded *x, work *w, rvm_status st, const rvm_error *why, int exit) {
    fclose(stdout), fclose(stderr);
    stdout = x->before[0], stderr = x->before[1];
    end_piece(x);
    fclose(x->pieces);
    FILE *out = x->pieces_text ? open_memstream(&w->text, &w->text_size) : NULL;
    if (out) {
        put_answer(x, out, st, why, exit);
        fclose(out);
    }
    free(x->pieces_text), free(x->argv);
    file_set_free(&x->files), file_set_free(&x->written);
}
