/* startup.h: files of the machine that the server is on: where it keeps things, what it finds, programs of the command line.
 */
#ifndef RVM_SERVE_STARTUP_H
#define RVM_SERVE_STARTUP_H

#include "server.h"

/* rvm/server.db in the user's data folder, which is made. False with errno; path says where. */
bool store_default_path(char *path, size_t size);
/* The folder with the module of native code: lib/ beside the folder of this program. */
const char *library_folder(char *path, size_t size);
/* A program that is there from the start, as if it had been uploaded. IO. What is wrong with it is told in the log. */
rvm_status load_file(server *s, tool *t, const char *path);

#endif
