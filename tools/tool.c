#include "tool.h"
#include "support.h"
#include "input.h"
#include "number.h"
#include "rbc.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rvm_status tool_fail(tool *t, rvm_status code, const char *format, ...) {
    va_list list;
    t->err = (rvm_error){.code = code};
    va_start(list, format);
    vsnprintf(t->err.message, sizeof t->err.message, format, list);
    va_end(list);
    return code;
}

/* ---- programs and functions ---- */

rvm_status tool_asm_options(tool *t, rvm_asm_options *o) {
    *o = (rvm_asm_options){.real = RVM_F64, .include_path = t->o.include.item, .no_files = t->o.no_include};
    if (!t->o.real || strcmp(t->o.real, rvm_type_name(RVM_F64)) == 0) return RVM_OK;
    for (rvm_type r = RVM_F64; r < RVM_TYPE_COUNT; r++) {
        o->real = r;
        if (strcmp(t->o.real, rvm_type_name(r)) == 0) return RVM_OK;
    }
    return tool_fail(t, RVM_ERR_USAGE, "--real takes f64, f32 or fix, not `%s`", t->o.real);
}

/* Source or bytecode, as rvm_open tells them apart, that comes by standard input. */
static rvm_status open_standard(tool *t, const rvm_asm_options *o) {
    enum { LONGEST = 1 << 26 };
    input in;
    if (t->command == COMMAND_DEBUG)
        return tool_fail(t, RVM_ERR_USAGE, "the debugger's own commands come from standard input: name a file");
    rvm_status st = input_open(&in, "-", &t->err);
    if (!st) st = input_whole(&in, LONGEST, &t->source, &t->source_size, &t->err);
    if (st) return st;
    t->reading.standard_input = true;
    if (!t->source_size) return rvm__fail(&t->err, RVM_ERR_FORMAT, in.name, 0, 0, "the file is empty");
    if (t->source_size >= 4 && !memcmp(t->source, RVM_RBC_MAGIC, 4))
        return rvm_program_load(t->source, t->source_size, in.name, NULL, &t->program, &t->err);
    return rvm_assemble(t->source, t->source_size, in.name, o, &t->program, &t->err, tool_diagnostic, t);
}

rvm_status tool_open(tool *t) {
    rvm_asm_options o;
    rvm_status st = tool_asm_options(t, &o);
    if (!st && strcmp(t->words[0], "-") == 0)
        st = open_standard(t, &o);
    else if (!st)
        st = rvm_open(t->words[0], &o, &t->program, &t->err, tool_diagnostic, t);
    t->bytecode = !st && (t->program->id[0] || t->program->id[1]);
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

/* Whether a user wrote it in this file: it was not included, and not derived. */
static bool is_own(const tool *t, uint32_t fn) {
    const char *file;
    uint32_t line, column;
    rvm_program_position(t->program, fn, 0, &file, &line, &column);
    return !strchr(rvm_program_function_name(t->program, fn), '\'') && (!file || strcmp(file, t->program->files[0]) == 0);
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

rvm_status tool_options(tool *t, rvm_options *o) {
    *o = rvm_options_default();
    if (t->o.depth > UINT32_MAX) return tool_fail(t, RVM_ERR_USAGE, "--depth is at most %u", UINT32_MAX);
    if (option_given(&t->o, depth) && !t->o.depth)
        return tool_fail(t, RVM_ERR_USAGE, "--depth 0 allows no call at all: the function itself takes 1");
    o->unchecked = t->o.unchecked;
    o->trust = t->o.trust;
    o->exact = t->o.exact || t->o.save_record || t->o.record;
    o->profile = t->o.profile;
    if (option_given(&t->o, tol)) o->tolerance = t->o.tol;
    if (option_given(&t->o, depth)) o->depth = (uint32_t)t->o.depth;
    o->fuel = t->o.fuel;
    o->memory = t->o.memory;
    o->trail_limit = t->o.trail_limit;
    o->keep_shadows = t->o.undo;
    const char *trail = t->o.trail ? t->o.trail : "keep";
    if (strcmp(trail, "keep") != 0 && strcmp(trail, "off") != 0)
        return tool_fail(t, RVM_ERR_USAGE, "--trail is keep or off, not `%s`", trail);
    o->trail = *trail == 'o' ? RVM_TRAIL_OFF : RVM_TRAIL_KEEP;
    o->progress = progress_callback;
    o->userdata = &t->progress;
    return RVM_OK;
}

rvm_status tool_machine_for(tool *t, const rvm_program *p, bool one_way, rvm_machine **out) {
    rvm_options o;
    rvm_status st = tool_options(t, &o);
    if (one_way) o.trail = RVM_TRAIL_OFF;
    if (!st) st = rvm_machine_new(p, &o, out, &t->err);
    return st ? st : native_attach(t, *out);
}

rvm_status tool_machine(tool *t, rvm_machine **out) {
    return tool_machine_for(t, t->program, false, out);
}

rvm_status tool_choose(tool *t, int *first) {
    const bool named = t->nwords > 1 && !strchr(t->words[1], '=') && t->words[1][0] != '@';
    *first = named ? 2 : 1;
    rvm_status st = tool_open(t);
    if (!st) st = named ? tool_function(t, t->words[1], &t->fn) : default_function(t);
    t->reading = (reading){.program = t->program, .limit = t->o.memory, .standard_input = t->reading.standard_input};
    if (!st) st = constants_fold(t, t->words + *first, t->nwords - *first);
    t->reading.program = t->program;
    t->chosen = !st;
    return st;
}

rvm_status tool_prepare(tool *t) {
    int first;
    rvm_status st = tool_choose(t, &first);
    if (!st) st = values_read(&t->v, &t->reading, t->fn, t->words + first, t->nwords - first, &t->err);
    if (!st) st = native_open(t);
    return st ? st : tool_machine(t, &t->machine);
}

/* ---- the end ---- */

static int finish(tool *t, rvm_status st) {
    if (st && !(t->command == COMMAND_CHECK && st == RVM_ERR_CHECK)) { /* check has printed what failed */
        if (t->chosen) rvm__fail_in(&t->err, st, t->program, t->fn);
        report(t, st);
    }
    report_free(t);
    free(t->source);
    const bool had_program = t->program;
    rvm_machine_free(t->machine);
    const bool idle = native_close(t);
    values_free(&t->v);
    rvm_program_free(t->program);
    cli_free(&t->o);
    int status = rvm_status_exit(st);
    if (!had_program && (st == RVM_ERR_ALIAS || st == RVM_ERR_UNSUPPORTED)) status = rvm_status_exit(RVM_ERR_VERIFY);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("cannot write to standard output\n", stderr);
        status = rvm_status_exit(RVM_ERR_IO);
    }
    if (!idle) fflush(NULL), _exit(status);
    return status;
}

static rvm_status dispatch(tool *t) {
    static rvm_status (*const run[COMMAND_COUNT])(tool *) = {
#define COMMAND(id, program, name, words, least, most, doc) command_##id,
#include "commands.def"
#undef COMMAND
    };
    rvm_status st = files_check(t);
    return st ? st : run[t->command](t);
}

int tool_main(command_id c, int argc, char **argv) {
    tool t = {.command = c};
    int first;
    rvm_status st = cli_parse(c, argc, argv, &t.o, &first, &t.err);
    for (int i = 1; st && i < argc; i++) /* a mistake may stand before --json */
        if (strcmp(argv[i], "--json") == 0) t.o.json = true;
    t.words = argv + first;
    t.nwords = argc - first;
    if (!st && t.o.help)
        cli_help(c, stdout);
    else if (!st && t.o.version)
        printf("%s %s\n", argv[0], RVM_VERSION_STRING);
    else if (!st)
        st = dispatch(&t);
    return finish(&t, st);
}
