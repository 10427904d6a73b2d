/* npy.h: NumPy's array files, versions 1 to 3. */
#ifndef RVM_TOOLS_NPY_H
#define RVM_TOOLS_NPY_H

#include "rvm.h"

/* Reads a file into *a, whose type and ndim say what is wanted. Elements convert where that is exact for every value of
 * their type: into f64 from floats and integers up to 32 bits, into i64 from integers and booleans; into fix and f32
 * from the former, rounded to nearest, in range. Either byte order; C and Fortran order. a->data is the caller's.
 * im: NULL, or like *a: then a and im get the parts of complex numbers, or of real ones, whose imaginary parts are 0.
 * Errors: IO, FORMAT (truncated, damaged), VERSION, TYPE, SHAPE (other than ndim dimensions), ARGUMENT (out of range). */
rvm_status npy_read(const char *path, rvm_arg *a, rvm_arg *im, rvm_error *err);
/* Writes values, or shadows, in C order: <i8 for i64, <f4 for f32, else <f8; with the imaginary parts in im, unless NULL,
 * <c8 and <c16. A fix that a double cannot hold is an error. The file is written whole or stays as it was. IO, ARGUMENT,
 * MEMORY. */
rvm_status npy_write(const char *path, const rvm_arg *a, const rvm_arg *im, bool shadow, rvm_error *err);

#endif
