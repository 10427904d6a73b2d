/* main.c: main() of both programs: dispatch, report, exit status. */
#include "remote.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tool_end(tool *t, rvm_status st, bool *idle) {
    if (st && !(t->command == COMMAND_CHECK && st == RVM_ERR_CHECK)) { /* check has printed what failed */
        if (t->chosen) tool_fail_in(t, st, t->fn);
        report(t, st);
    }
    report_free(t);
    free(t->source);
    const bool had_program = t->program;
    rvm_machine_free(t->machine);
    *idle = native_close(t);
    values_free(&t->v);
    rvm_program_free(t->program);
    cli_free(&t->o);
    int status = rvm_status_exit(st);
    if (!had_program && (st == RVM_ERR_ALIAS || st == RVM_ERR_UNSUPPORTED)) status = rvm_status_exit(RVM_ERR_VERIFY);
    return status;
}

static int finish(tool *t, rvm_status st) {
    bool idle;
    int status = tool_end(t, st, &idle);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("cannot write to standard output\n", stderr);
        status = rvm_status_exit(RVM_ERR_IO);
    }
    if (!idle) fflush(NULL), _exit(status);
    return status;
}

rvm_status tool_run(tool *t) {
    static rvm_status (*const run[COMMAND_COUNT])(tool *) = {
#define COMMAND(id, program, name, words, least, most, doc) command_##id,
#include "commands.def"
#undef COMMAND
    };
    rvm_status st = files_check(t);
    return st ? st : run[t->command](t);
}

int tool_main(command_id c, int argc, char **argv) {
    tool t = {.command = c, .argv = argv};
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
        st = t.o.server ? remote_start(&t) : tool_run(&t);
    return finish(&t, st);
}
