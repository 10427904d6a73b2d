/* cmd_serve.c: rvm serve is a program of its own, beside this one: so that no other command loads its libraries. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* RVM_SERVE_MISSING: packages that were missing when this was built, or "". */

static rvm_status not_there(tool *t) {
    return tool_fail(t, RVM_ERR_USAGE, "the server was not built: %s not installed then; see packages.txt",
                     RVM_SERVE_MISSING);
}

rvm_status command_SERVE(tool *t) {
    char path[4096];
    static const char name[] = "rvm-serve";
    if (*RVM_SERVE_MISSING) return not_there(t);
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof name - 1);
    if (n < 0) return tool_fail(t, RVM_ERR_IO, "/proc/self/exe: %s", strerror(errno));
    path[n] = 0;
    strcpy(strrchr(path, '/') + 1, name);
    execv(path, t->argv);
    return tool_fail(t, RVM_ERR_IO, "%s: %s", path, strerror(errno));
}
