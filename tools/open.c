/* open.c: the program, and the function that is meant, derived if need be. */
#include "errors.h"
#include "input.h"
#include "number.h"
#include "tool.h"

#include <string.h>

/* That is in memory. */
static rvm_status open_source(tool *t, const char *name, const rvm_asm_options *o) {
    if (!t->source_size) return fail(&t->err, RVM_ERR_FORMAT, name, "the file is empty");
    return rvm_open_bytes(t->source, t->source_size, name, o, &t->program, &t->err, tool_diagnostic, t);
}

/* That comes by standard input. */
static rvm_status open_standard(tool *t, const rvm_asm_options *o) {
    enum { LONGEST = 1 << 26 };
    input in;
    if (t->command == COMMAND_DEBUG)
        return tool_fail(t, RVM_ERR_USAGE, "the debugger's own commands come from standard input: name a file");
    rvm_status st = input_open(&in, "-", &t->err);
    if (!st) st = input_whole(&in, LONGEST, &t->source, &t->source_size, &t->err);
    t->reading.standard_input = true;
    return st ? st : open_source(t, in.name, o);
}

rvm_status tool_open(tool *t) {
    rvm_asm_options o;
    rvm_status st = tool_asm_options(t, &o);
    if (!st && t->source)
        st = open_source(t, t->words[0], &o);
    else if (!st && strcmp(t->words[0], "-") == 0)
        st = open_standard(t, &o);
    else if (!st)
        st = rvm_open(t->words[0], &o, &t->program, &t->err, tool_diagnostic, t);
    return st;
}

/* A derived function that the program does not have yet: derived now, in a copy that takes the program's place. */
static rvm_status derive(tool *t, const char *name, uint32_t *fn) {
    rvm_program *derived;
    rvm_status st = rvm_program_derive(t->program, name, &derived, fn, &t->err);
    if (st) return st;
    rvm_program_free(t->program);
    t->program = derived;
    return RVM_OK;
}

rvm_status tool_function(tool *t, const char *name, uint32_t *fn) {
    char base[256];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(name, "'["), name);
    nearest near = {.wanted = base};
    bool known = false;
    for (uint32_t i = 0; i < rvm_program_function_count(t->program); i++) {
        const char *candidate = rvm_program_function_name(t->program, i);
        *fn = i;
        if (strcmp(candidate, name) == 0) return RVM_OK;
        known = known || strcmp(candidate, base) == 0;
        nearest_offer(&near, candidate);
    }
    if (known) return derive(t, name, fn);
    return tool_fail(t, RVM_ERR_ARGUMENT, "%s has no function `%s`%s%s%s", t->words[0], base,
                     near.best ? "; did you mean `" : "", near.best ? near.best : "", near.best ? "`?" : "");
}

bool tool_takes(const tool *t, uint32_t fn, const char *word) {
    const size_t length = strcspn(word, "=");
    rvm_param_info info;
    for (uint32_t i = 0; rvm_program_param(t->program, fn, i, &info) == RVM_OK; i++) {
        char whole[256];
        rvm_program_component(t->program, fn, i, NULL, whole, sizeof whole);
        if (strlen(info.name) == length && !strncmp(info.name, word, length)) return true;
        if (strlen(whole) == length && !strncmp(whole, word, length)) return true;
    }
    return false;
}

rvm_status tool_mark(tool *t, uint32_t fn, const char *name, size_t length, uint8_t *active) {
    rvm_param_info info;
    bool any = false;
    for (uint32_t i = 0; rvm_program_param(t->program, fn, i, &info) == RVM_OK; i++) {
        char whole[256];
        rvm_program_component(t->program, fn, i, NULL, whole, sizeof whole);
        const bool named = strlen(info.name) == length && !strncmp(info.name, name, length);
        if (!named && (strlen(whole) != length || strncmp(whole, name, length) != 0)) continue;
        if (!type_is_real(info.type)) return tool_fail(t, RVM_ERR_ARGUMENT, "`%s` is i64 and has no derivative", info.name);
        active[i] = any = true;
    }
    if (any) return RVM_OK;
    return tool_fail(t, RVM_ERR_ARGUMENT, "`%s` has no parameter `%.*s`", rvm_program_function_name(t->program, fn),
                     (int)(length > 64 ? 64 : length), name);
}

/* Marks the parameters of --wrt and those that depend on them. */
static rvm_status mark_wrt(tool *t, uint32_t fn, uint8_t *active) {
    const char *names = t->o.wrt;
    if (!*names) return tool_fail(t, RVM_ERR_ARGUMENT, "--wrt names nothing");
    while (*names) {
        const size_t length = strcspn(names, ",");
        rvm_status st = tool_mark(t, fn, names, length, active);
        if (st) return st;
        names += length + (names[length] == ',');
    }
    return rvm_program_close_active(t->program, fn, active, &t->err);
}

rvm_status tool_derive(tool *t, rvm_transform kind, const char *name, uint32_t *index) {
    uint8_t active[RVM_MAX_PARAMS] = {0};
    const bool some = t->o.wrt && kind != RVM_INVERSE;
    uint32_t fn;
    rvm_program *out;
    rvm_status st = tool_function(t, name, &fn);
    if (!st && some) st = tool_fail_in(t, mark_wrt(t, fn, active), fn);
    if (!st) st = rvm_program_transform(t->program, fn, kind, some ? active : NULL, &out, index, &t->err);
    if (st) return st;
    rvm_program_free(t->program);
    t->program = out;
    return RVM_OK;
}

/* Whether a user wrote it in this file: it was not included, and not derived. */
static bool is_own(const tool *t, uint32_t fn) {
    const char *file;
    uint32_t line, column;
    rvm_program_position(t->program, fn, 0, &file, &line, &column);
    return !strchr(rvm_program_function_name(t->program, fn), '\'') &&
           (!file || strcmp(file, rvm_program_file(t->program, 0)) == 0);
}

/* The function to run when none is named: the only one of the file's own, or main. */
static rvm_status default_function(tool *t) {
    const uint32_t n = rvm_program_function_count(t->program);
    uint32_t own = 0;
    const int64_t found = rvm_program_find(t->program, "main");
    for (uint32_t i = 0; i < n; i++)
        if (is_own(t, i)) t->fn = i, own++;
    if (own == 1) return RVM_OK;
    if (found >= 0) t->fn = (uint32_t)found;
    if (found >= 0) return RVM_OK;
    if (n == 0) return tool_fail(t, RVM_ERR_USAGE, "%s has no functions", t->words[0]);
    for (uint32_t i = 0; i < n; i++)
        if (is_own(t, i) || !own) report_add_note(t, rvm_program_function_name(t->program, i));
    return tool_fail(t, RVM_ERR_USAGE, "%s has several functions; name one of:", t->words[0]);
}

rvm_status tool_choose(tool *t, int *first) {
    const bool named = t->nwords > 1 && !strchr(t->words[1], '=') && t->words[1][0] != '@';
    *first = named ? 2 : 1;
    rvm_status st = tool_open(t);
    if (!st) st = named ? tool_function(t, t->words[1], &t->fn) : default_function(t);
    t->reading = (reading){
        .program = t->program, .limit = t->o.memory, .standard_input = t->reading.standard_input, .files = t->files};
    if (!st) st = constants_fold(t, t->words + *first, t->nwords - *first);
    t->reading.program = t->program;
    t->chosen = !st;
    return st;
}
