/* reading.h: what reading values may take, and from where. */
#ifndef RVM_TOOLS_READING_H
#define RVM_TOOLS_READING_H

#include "elements.h"
#include "file_set.h"
#include "input.h"

typedef struct reading {
    const rvm_program *program; /* where functions are looked up; or NULL */
    uint64_t limit, taken;      /* bytes of arrays; limit 0: none */
    bool standard_input;        /* somebody has read it already */
    const file_set *files;      /* NULL: those of this machine; "-" is standard input */
} reading;

/* arg_allocate, for what is read: MEMORY beyond the limit, SHAPE where no memory could hold it. file: for messages, or NULL.
 */
rvm_status reading_allocate(reading *r, const char *file, rvm_arg *a, const int64_t *shape, rvm_error *err);
/* input_open, of a file with values: standard input is read once. USAGE, IO. */
rvm_status reading_open(reading *r, input *in, const char *path, rvm_error *err);

#endif
