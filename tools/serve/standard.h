/* standard.h: the texts of std/, put into this program when it is built: a worker opens no files. */
#ifndef RVM_SERVE_STANDARD_H
#define RVM_SERVE_STANDARD_H

#include <stddef.h>

typedef struct standard_text {
    const char *name; /* "std/blas.rasm" */
    const unsigned char *bytes;
    size_t size;
} standard_text;

const standard_text *standard_find(const char *name); /* NULL: none is called so */

#endif
