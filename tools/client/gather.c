#include "gather.h"
#include "base64.h"
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PROGRAM = 1 << 26, LONGEST_NAME = 199 };

static rvm_status out_of_memory(tool *t) {
    return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
}

/* ---- sources ---- */

static size_t count_files(const rvm_program *p) {
    uint32_t n = 0;
    while (rvm_program_file(p, n)) n++;
    return n;
}

static bool names_file(const rvm_program *p, const char *name) {
    const char *file;
    for (uint32_t k = 0; (file = rvm_program_file(p, k)); k++)
        if (strcmp(file, name) == 0) return true;
    return false;
}

static bool read_whole(const char *path, uint64_t most, char **bytes, size_t *size, rvm_error *err) {
    input in;
    if (input_open(&in, path, err)) return false;
    const bool good = !input_whole(&in, most, bytes, size, err);
    input_close(&in);
    return good;
}

typedef struct recorder {
    const tool *t;
    file_set *files;
} recorder;

/* What is included by a name that the program has for the file. Others, as those of std/, are found as ever. */
static rvm_status record(void *userdata, const char *name, rvm_inclusion *to, rvm_error *err) {
    const recorder *r = userdata;
    char *text;
    size_t size;
    (void)err;
    rvm_error unused;
    if (!names_file(r->t->program, name) || !read_whole(name, LONGEST_PROGRAM, &text, &size, &unused)) return RVM_ERR_NAME;
    const rvm_status st = rvm_include_text(to, text, size);
    if (st) return free(text), st;
    return file_set_add(r->files, name, text, size) ? RVM_OK : RVM_ERR_MEMORY;
}

/* A program may claim that it was made from any file: sent are those that it is made from when it is assembled once more.
 * *whole: these are all, so that a server makes the same program of them. */
static rvm_status record_sources(tool *t, const char *root, file_set *files, bool *whole) {
    rvm_asm_options o;
    rvm_program *p = NULL;
    rvm_error unused;
    char *text;
    size_t size;
    recorder r = {t, files};
    *whole = false;
    if (!root || !report_source(t, root, &text, &size)) return RVM_OK;
    if (!file_set_add(files, root, text, size)) return out_of_memory(t);
    if (tool_asm_options(t, &o)) return t->err.code;
    o.include = record, o.include_userdata = &r;
    const rvm_status st = rvm_assemble(files->item[0].bytes, size, root, &o, &p, &unused, NULL, NULL);
    *whole = !st && files->n == count_files(t->program);
    rvm_program_free(p);
    return RVM_OK;
}

/* Files of the folders of -I. */
static rvm_status add_included(tool *t, file_set *files) {
    const char *file;
    char *text;
    size_t size;
    rvm_error unused;
    for (uint32_t k = 0; (file = rvm_program_file(t->program, k)); k++)
        for (size_t i = 0; i < t->o.include.n && !strstr(file, "..") && !file_set_find(files, file); i++) {
            const char *folder = t->o.include.item[i];
            const size_t length = strlen(folder);
            const bool below =
                length && !strncmp(file, folder, length) && (file[length] == '/' || folder[length - 1] == '/');
            if (below && read_whole(file, LONGEST_PROGRAM, &text, &size, &unused) && !file_set_add(files, file, text, size))
                return out_of_memory(t);
        }
    return RVM_OK;
}

/* ---- the program ---- */

static bool is_name(const char *name) {
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) return false;
    return strlen(name) <= LONGEST_NAME;
}

static rvm_status save_bytecode(tool *t, upload *u) {
    void *bytes;
    rvm_status st = rvm_program_save(t->program, &bytes, &u->size, &t->err);
    if (st) return st;
    if (!(u->body = malloc(u->size + 1))) st = out_of_memory(t);
    if (!st) memcpy(u->body, bytes, u->size);
    rvm_program_free_bytes(t->program, bytes, u->size);
    return st;
}

/* {"main": "a.rasm", "files": {"a.rasm": "..."}} */
static rvm_status write_sources(tool *t, upload *u, const file_set *files) {
    FILE *out = open_memstream(&u->body, &u->size);
    if (!out) return out_of_memory(t);
    json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "main"), json_text(&j, files->item[0].name);
    json_key(&j, "files"), json_open(&j, '{');
    for (size_t k = 0; k < files->n; k++) json_key(&j, files->item[k].name), json_text(&j, files->item[k].bytes);
    json_close(&j, '}'), json_close(&j, '}');
    return fclose(out) ? out_of_memory(t) : RVM_OK;
}

static rvm_status copy_source(tool *t, upload *u, const file_set_item *f) {
    u->size = f->size;
    if (!(u->body = malloc(f->size + 1))) return out_of_memory(t);
    memcpy(u->body, f->bytes, f->size + 1);
    return RVM_OK;
}

/* Whether what is at words[0] is bytecode. */
static bool is_bytecode(const tool *t) {
    input in;
    rvm_error unused;
    if (t->source) return rvm_bytecode_begins(t->source, t->source_size);
    if (input_open(&in, t->words[0], &unused)) return false;
    const size_t n = input_peek(&in);
    input_close(&in);
    return rvm_bytecode_begins(in.held, n);
}

rvm_status gather_program(tool *t, upload *u, file_set *files) {
    const bool bytecode = is_bytecode(t);
    const char *root = bytecode ? rvm_program_file(t->program, 0) : t->source ? "<stdin>" : t->words[0];
    bool whole;
    *u = (upload){.name = is_name(root ? root : "") ? root : "program", .real = t->o.real};
    rvm_status st = record_sources(t, root, files, &whole);
    whole = whole && !bytecode && is_name(root) && !tool_runs_exactly(t); /* a server does not assemble for exact runs */
    if (!st && whole && files->n == 1)
        st = copy_source(t, u, &files->item[0]);
    else if (!st && whole)
        u->type = "application/json", st = write_sources(t, u, files);
    else if (!st)
        st = save_bytecode(t, u);
    return st ? st : add_included(t, files);
}

void gather_free(upload *u) {
    free(u->body);
    *u = (upload){0};
}

/* ---- values ---- */

typedef struct gathering {
    tool *t;
    file_set *files;
    uint64_t most;
} gathering;

static rvm_status gather_file(void *userdata, const char *path) {
    gathering *g = userdata;
    char *bytes;
    size_t size;
    rvm_error err = {0};
    if (file_set_find(g->files, path)) return RVM_OK; /* also standard input, which a worker finds is read twice */
    errno = 0;
    if (read_whole(path, g->most, &bytes, &size, &err))
        return file_set_add(g->files, path, bytes, size) ? RVM_OK : out_of_memory(g->t);
    if (err.code != RVM_ERR_IO) return g->t->err = err, err.code;
    return file_set_add_error(g->files, path, errno) ? RVM_OK : out_of_memory(g->t);
}

rvm_status gather_files(tool *t, file_set *files, uint64_t most) {
    gathering g = {t, files, most};
    if (t->source && strcmp(t->words[0], "-") == 0 && !file_set_add_error(files, "-", 0)) return out_of_memory(t);
    return files_each_input(t, gather_file, &g);
}

/* ---- the run ---- */

static bool put_word(void *userdata, const char *word) {
    json_text(userdata, word);
    return true;
}

static bool put_words(json *j, const tool *t) {
    options o = t->o;
    o.given[OPTION_server] = o.given[OPTION_include] = o.given[OPTION_real] = false;
    json_key(j, "words"), json_open(j, '[');
    const bool good = cli_each_option(t->command, &o, put_word, j);
    json_text(j, "--");
    for (int k = 0; k < t->nwords; k++) json_text(j, t->words[k]);
    json_close(j, ']');
    return good;
}

static bool put_file(json *j, const file_set_item *f) {
    char *text = f->bytes ? base64_encode(f->bytes, f->size) : NULL;
    json_key(j, f->name);
    if (f->bytes)
        json_text(j, text);
    else
        json_uint(j, (uint64_t)f->error);
    free(text);
    return text || !f->bytes;
}

/* The rest of the program's sources are those of std/, which a server has. */
static void put_standard(json *j, const rvm_program *p, const file_set *files) {
    const char *file;
    for (uint32_t k = 0; (file = rvm_program_file(p, k)); k++) {
        const char *at = file_set_find(files, file) ? NULL : strstr(file, "/std/");
        if (!at) continue;
        json_key(j, file), json_open(j, '{');
        json_key(j, "standard"), json_text(j, at + 1);
        json_close(j, '}');
    }
}

rvm_status gather_run(tool *t, const char *program, const file_set *files, char **body, size_t *size) {
    const bool is_backward = t->command == COMMAND_RUN && t->o.backward;
    *body = NULL;
    FILE *out = open_memstream(body, size);
    if (!out) return out_of_memory(t);
    json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "program"), json_text(&j, program);
    json_key(&j, "kind"), json_text(&j, is_backward ? "backward" : cli_command_name(t->command));
    bool good = put_words(&j, t);
    json_key(&j, "coloured"), json_bool(&j, report_in_colour(t));
    json_key(&j, "files"), json_open(&j, '{');
    for (size_t k = 0; k < files->n; k++) good = put_file(&j, &files->item[k]) && good;
    put_standard(&j, t->program, files);
    json_close(&j, '}'), json_close(&j, '}');
    good = !ferror(out) && good;
    good = !fclose(out) && good;
    return good ? RVM_OK : out_of_memory(t);
}
