/* npy.h: NumPy's array files, versions 1 to 3. */
#ifndef RVM_TOOLS_NPY_H
#define RVM_TOOLS_NPY_H

#include "reading.h"

/* Reads an array into *a, whose type and ndim say what is wanted. Floats become any real, whole numbers and booleans become
 * anything, each element exactly or not at all. Either byte order; C and Fortran order. Where every length is 1 the number
 * of dimensions does not matter. a->data is the caller's. fixed: ndim lengths, -1 where any will do, or NULL. im: NULL, or
 * like *a: then a and im get the parts of complex numbers, or of real ones, whose imaginary parts are 0. The header is
 * believed before memory is taken only as far as the file is long, where that is known, and r grants. Errors: IO, FORMAT
 * (truncated, damaged), VERSION, TYPE, SHAPE, ARGUMENT (an element that is not exact), MEMORY. */
rvm_status npy_read(input *in, reading *r, const int64_t *fixed, rvm_arg *a, rvm_arg *im, rvm_error *err);
rvm_status npy_read_file(const char *path, reading *r, const int64_t *fixed, rvm_arg *a, rvm_arg *im, rvm_error *err);
/* Writes values, or shadows, in C order: <i8 for i64, <f4 for f32, else <f8; with the imaginary parts in im, unless NULL,
 * <c8 and <c16. A fix that a double cannot hold is an error. The file is written whole or stays as it was. IO, ARGUMENT,
 * MEMORY. */
rvm_status npy_write(const char *path, const rvm_arg *a, const rvm_arg *im, bool shadow, rvm_error *err);
/* The bytes of such a file, in memory from malloc; name is for messages. */
rvm_status npy_bytes(const char *name, const rvm_arg *a, const rvm_arg *im, bool shadow, char **bytes, size_t *size,
                     rvm_error *err);

#endif
