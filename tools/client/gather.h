/* gather.h: what a server is sent: the program, and a run of it by the words of the command line. */
#ifndef RVM_CLIENT_GATHER_H
#define RVM_CLIENT_GATHER_H

#include "tool.h"

/* The body of an upload: as sources, where the server gives each file the name that it has here, so that messages are the
 * same; else as bytecode. */
typedef struct upload {
    char *body;
    size_t size;
    const char *name, *real, *type; /* real NULL: no matter */
} upload;

/* From t, whose program is open. *files: its sources, for messages; only what was read to assemble it, whatever names it has
 * for its files. IO, MEMORY. */
rvm_status gather_program(tool *t, upload *u, file_set *files);
void gather_free(upload *u);
/* The files that values come from; what cannot be read says so there. LIMIT beyond `most` bytes, MEMORY. */
rvm_status gather_files(tool *t, file_set *files, uint64_t most);
/* The request, in memory from malloc. MEMORY. */
rvm_status gather_run(tool *t, const char *program, const file_set *files, char **body, size_t *size);

#endif
