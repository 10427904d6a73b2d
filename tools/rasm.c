/* rasm.c: the command rasm. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* PROG.rasm becomes PROG.rbc; another name gets .rbc behind it. NULL when out of memory. */
static char *output_name(const char *source) {
    static const char from[] = ".rasm", to[] = ".rbc";
    size_t n = strlen(source), tail = sizeof from - 1;
    char *name = malloc(n + sizeof to);
    if (!name) return NULL;
    if (n > tail && strcmp(source + n - tail, from) == 0) n -= tail;
    snprintf(name, n + sizeof to, "%.*s%s", (int)n, source, to);
    return name;
}

static void print_json(tool *t, const char *path, const char *listing) {
    json j;
    uint64_t code = 0;
    uint32_t n = rvm_program_function_count(t->program);
    for (uint32_t i = 0; i < n; i++) code += rvm_program_code_size(t->program, i);
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "output"), json_text(&j, path);
    json_key(&j, "functions"), json_uint(&j, n);
    json_key(&j, "instructions"), json_uint(&j, code);
    if (listing) json_key(&j, "listing"), json_text(&j, listing);
    tool_json_end(&j);
}

rvm_status command_RASM(tool *t) {
    rvm_asm_options o;
    char *path = NULL, *listing = NULL;
    size_t size;
    FILE *out = t->o.listing && t->o.json ? open_memstream(&listing, &size) : stdout;
    rvm_status st = tool_asm_options(t, &o);
    if (!out) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    const bool standard = strcmp(t->words[0], "-") == 0;
    if (!st && standard && (t->o.listing || !t->o.output))
        st = tool_fail(t, RVM_ERR_USAGE, "of standard input, -o names the bytecode, and --listing needs a file");
    else if (!st)
        st = standard ? tool_open(t) : rvm_assemble_file(t->words[0], &o, &t->program, &t->err, tool_diagnostic, t);
    if (!st && t->o.listing) st = rvm_listing(t->program, t->words[0], out, &t->err);
    if (out != stdout) fclose(out);
    if (!st && (t->o.output || !t->o.listing)) {
        path = t->o.output ? strdup(t->o.output) : output_name(t->words[0]);
        st = path ? rvm_program_save_file(t->program, path, &t->err) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    }
    if (!st && t->o.json) print_json(t, path, listing);
    free(path);
    free(listing);
    return st;
}
