/* input.h: bytes in order, from a file, from standard input or from a member of an archive, read no further than they are
 * asked for. */
#ifndef RVM_TOOLS_INPUT_H
#define RVM_TOOLS_INPUT_H

#include "rvm_program.h"

typedef struct input {
    const char *name; /* for messages */
    FILE *file;
    bool known; /* how many bytes are left: of a regular file, of a member */
    uint64_t left;
    unsigned char held[8]; /* looked at, and still to be read */
    size_t nheld;
    struct member *member; /* NULL, or what the bytes are taken from */
} input;

/* path "-" is standard input. IO. */
rvm_status input_open(input *in, const char *path, rvm_error *err);
void input_close(input *in);
/* How many of n bytes there were; fewer only at the end, or where reading fails, which input_status tells. */
size_t input_read(input *in, void *to, size_t n);
/* IO; of a member FORMAT: its bytes are not those that were packed. */
rvm_status input_status(const input *in, rvm_error *err);
/* The first bytes, which are still read afterwards; how many there are, at most sizeof in->held. Before any are read. */
size_t input_peek(input *in);
/* All that is left, and a 0 behind it, in memory from malloc. LIMIT beyond `most` bytes, IO, MEMORY; *text is NULL then. */
rvm_status input_whole(input *in, size_t most, char **text, size_t *size, rvm_error *err);

#endif
