/* assemble.c: an upload becomes a verified program: a source, bytecode, or a JSON object with several sources,
 * {"main": "a.rasm", "files": {"a.rasm": "...", "b.rasm": "..."}}, of which one includes others. Nothing else is included
 * but the standard library, whose texts are in this program. */
#include "standard.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

typedef struct uploaded {
    json_t *root, *files;
} uploaded;

static rvm_status include(void *userdata, const char *name, rvm_inclusion *to, rvm_error *err) {
    const uploaded *u = userdata;
    const json_t *text = json_object_get(u->files, name);
    (void)err;
    if (json_is_string(text)) return rvm_include_text(to, json_string_value(text), json_string_length(text));
    const standard_text *s = standard_find(name);
    return s ? rvm_include_text(to, (const char *)s->bytes, s->size) : RVM_ERR_NAME;
}

/* Text of a part, ended by 0, cut to size. */
static void copy_text(const part *p, char *to, size_t size) {
    const size_t n = p->size < size ? p->size : size - 1;
    if (n) memcpy(to, p->bytes, n);
    to[n] = 0;
}

/* The sources of a JSON upload: sets t->source to the main one. */
static rvm_status read_files(tool *t, uploaded *u, const part *bytes, const char **name) {
    json_error_t e;
    u->root = json_loadb(bytes->bytes, bytes->size, JSON_REJECT_DUPLICATES, &e);
    if (!u->root) return tool_fail(t, RVM_ERR_SYNTAX, "JSON, line %d: %s", e.line, e.text);
    u->files = json_object_get(u->root, "files");
    *name = json_string_value(json_object_get(u->root, "main"));
    const json_t *text = *name ? json_object_get(u->files, *name) : NULL;
    if (!json_is_string(text))
        return tool_fail(t, RVM_ERR_USAGE, "\"main\" is to name one of \"files\", whose values are texts");
    t->source_size = json_string_length(text);
    if (!(t->source = malloc(t->source_size + 1))) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    memcpy(t->source, json_string_value(text), t->source_size + 1);
    return RVM_OK;
}

static rvm_status copy_source(tool *t, const part *bytes) {
    if (!(t->source = malloc(bytes->size + 1))) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    memcpy(t->source, bytes->bytes, t->source_size = bytes->size);
    t->source[bytes->size] = 0;
    return RVM_OK;
}

static rvm_status assemble(tool *t, uploaded *u, const char *name) {
    rvm_asm_options o;
    rvm_status st = tool_asm_options(t, &o);
    o.include = include, o.include_userdata = u, o.no_files = true;
    if (!st && !t->source_size) st = tool_fail(t, RVM_ERR_FORMAT, "the upload is empty");
    if (!st) st = rvm_open_bytes(t->source, t->source_size, name, &o, &t->program, &t->err, tool_diagnostic, t);
    return st;
}

static void print_functions(tool *t) {
    json j;
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "functions");
    json_open(&j, '[');
    for (uint32_t fn = 0; fn < rvm_program_function_count(t->program); fn++) output_json_signature(&j, t, fn);
    json_close(&j, ']');
    tool_json_end(&j);
}

/* The bytes of the program, for later. */
static rvm_status keep_bytecode(tool *t, work *w) {
    void *bytes;
    rvm_status st = rvm_program_save(t->program, &bytes, &w->more_size, &t->err);
    if (st) return st;
    if (!(w->more = malloc(w->more_size + 1))) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st) memcpy(w->more, bytes, w->more_size);
    rvm_program_free_bytes(t->program, bytes, w->more_size);
    return st;
}

void work_assemble(work *w) {
    char given[256], real[8], type[8];
    const char *name = given;
    uploaded u = {0};
    char *words[] = {given, NULL};
    copy_text(&w->in[0], given, sizeof given), copy_text(&w->in[1], real, sizeof real),
        copy_text(&w->in[2], type, sizeof type);
    tool t = {.command = COMMAND_INFO, .words = words, .nwords = 1};
    t.o = (options){.json = true, .no_include = true, .real = *real ? real : NULL};
    FILE *before = stdout;
    if (!(stdout = open_memstream(&w->text, &w->text_size))) {
        stdout = before;
        return work_fail(w, RVM_ERR_MEMORY, "out of memory");
    }
    rvm_status st = strcmp(type, "json") == 0 ? read_files(&t, &u, &w->in[3], &name) : copy_source(&t, &w->in[3]);
    if (!st) st = assemble(&t, &u, name);
    if (!st) st = keep_bytecode(&t, w);
    if (!st) print_functions(&t);
    bool idle;
    tool_end(&t, st, &idle);
    fclose(stdout);
    stdout = before;
    w->out.status = (uint32_t)st;
    json_decref(u.root);
}
