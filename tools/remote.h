/* remote.h: commands that a server does, in place of this machine: --server. */
#ifndef RVM_TOOLS_REMOTE_H
#define RVM_TOOLS_REMOTE_H

#include "tool.h"

/* USAGE where an option is given that is not for a server: of those who ask, before anything is sent, and in the server. */
rvm_status remote_check(tool *t);
/* Becomes the client, a program of its own beside this one, on the command's words. Returns where that fails: those of
 * remote_check, USAGE (it was not built), IO. */
rvm_status remote_start(tool *t);
/* The same for any such program: PATH/rvm-serve for "rvm-serve". */
rvm_status remote_become(tool *t, const char *name);

#endif
