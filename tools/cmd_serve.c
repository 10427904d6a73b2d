/* cmd_serve.c: rvm serve is a program of its own, beside this one: so that no other command loads its libraries. */
#include "remote.h"

/* RVM_SERVE_MISSING: packages that were missing when this was built, or "". */

rvm_status command_SERVE(tool *t) {
    if (*RVM_SERVE_MISSING)
        return tool_fail(t, RVM_ERR_USAGE, "the server was not built: %s not installed then; see packages.txt",
                         RVM_SERVE_MISSING);
    return remote_become(t, "rvm-serve");
}
