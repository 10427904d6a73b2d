/* remote.c: what a server can do for a command, and the client that asks for it, which is a program of its own: so that no
 * command loads its libraries. */
#include "remote.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* RVM_CLIENT_MISSING: packages that were missing when this was built, or "". */

static const struct refused {
    enum option_index option;
    const char *why;
} refused[] = {
    {OPTION_cache, "compiled code is kept by a server in its own way"},
    {OPTION_threads, "a server's workers have one thread for a run"},
    {OPTION_lanes, "how a server compiles is its own"},
    {OPTION_any_lengths, "how a server compiles is its own"},
    {OPTION_math, "whose functions a server calls is its own"},
    {OPTION_fast_math, "how a server compiles is its own"},
    {OPTION_cpu, "how a server compiles is its own"},
    {OPTION_vector_math, "how a server compiles is its own"},
    {OPTION_symbols, "no debugger sees a server's code"},
    {OPTION_verbose, "a server does not tell what it compiles"},
    {OPTION_dump, "a server does not show its native code"},
    {OPTION_checkpoint_dir, "a server has no folder for it"},
    {OPTION_trust, "a server trusts no program"},
};

rvm_status remote_check(tool *t) {
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (t->o.given[refused[k].option])
            return tool_fail(t, RVM_ERR_USAGE, "--%s does not go with --server: %s", cli_option_name(refused[k].option),
                             refused[k].why);
    return RVM_OK;
}

rvm_status remote_become(tool *t, const char *name) {
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - strlen(name) - 2);
    if (n < 0) return tool_fail(t, RVM_ERR_IO, "/proc/self/exe: %s", strerror(errno));
    path[n] = 0;
    strcpy(strrchr(path, '/') + 1, name);
    execv(path, t->argv);
    return tool_fail(t, RVM_ERR_IO, "%s: %s", path, strerror(errno));
}

rvm_status remote_start(tool *t) {
    rvm_status st = remote_check(t);
    if (!st && *RVM_CLIENT_MISSING)
        st = tool_fail(t, RVM_ERR_USAGE, "the client was not built: %s not installed then; see packages.txt",
                       RVM_CLIENT_MISSING);
    if (!st) st = files_check(t);
    return st ? st : remote_become(t, "rvm-client");
}
