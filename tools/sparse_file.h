/* sparse_file.h: files of sparse matrices: Matrix Market's coordinates (.mtx; R. F. Boisvert, R. Pozo, K. Remington, 1996),
 * and archives of compressed rows as SciPy's save_npz writes them (.npz). */
#ifndef RVM_TOOLS_SPARSE_FILE_H
#define RVM_TOOLS_SPARSE_FILE_H

#include "reading.h"
#include "rvm_derivatives.h"

/* Whether a file of that name holds one. */
bool sparse_file_is(const char *path);
/* Its bytes, from malloc; symmetric: of a matrix that is, .mtx has the lower triangle alone. path: for the kind, and for
 * messages. MEMORY. */
rvm_status sparse_file_bytes(const char *path, const rvm_sparse *s, bool symmetric, char **bytes, size_t *size,
                             rvm_error *err);
/* Where entries are, in order; values are passed over. *out: row_start and column are each to be freed. IO, FORMAT,
 * UNSUPPORTED (another layout), MEMORY. */
rvm_status sparse_file_read(const char *path, reading *r, rvm_sparse *out, rvm_error *err);

#endif
