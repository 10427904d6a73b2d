/* npz.h: NumPy's archives of arrays: zip files of .npy files, stored or compressed by zlib, zip64 where they are large. */
#ifndef RVM_TOOLS_NPZ_H
#define RVM_TOOLS_NPZ_H

#include "npy.h"

/* path "-" is standard input. Calls take for each array of the archive, with its name, without ".npy", and its bytes, until
 * one fails. The archive is untrusted: nothing outside the file is read, and no more is unpacked than is asked for. IO,
 * FORMAT, UNSUPPORTED (another compression, encrypted), MEMORY, those of reading_open and what take returns. */
rvm_status npz_read(const char *path, reading *r,
                    rvm_status (*take)(void *userdata, const char *name, input *in, rvm_error *err), void *userdata,
                    rvm_error *err);

/* Arrays one by one, into memory: the bytes of such a file. */
typedef struct npz {
    FILE *out;
    char *bytes;
    size_t size;
    struct npz_entry *entries;
    size_t n;
} npz;
rvm_status npz_begin(npz *z, rvm_error *err);
/* As npy_bytes. */
rvm_status npz_add(npz *z, const char *name, const rvm_arg *a, const rvm_arg *im, bool shadow, rvm_error *err);
/* An array of no dimensions whose element is a short text. ARGUMENT (too long), MEMORY. */
rvm_status npz_add_text(npz *z, const char *name, const char *text, rvm_error *err);
/* *bytes: from malloc. name: for messages; NULL: only frees, and *bytes is NULL, as with an error. MEMORY. */
rvm_status npz_end(npz *z, const char *name, char **bytes, size_t *size, rvm_error *err);

#endif
