/* elements.h: the storage of arguments, and their elements by number: row by row (0 of a scalar), whatever the strides. */
#ifndef RVM_TOOLS_ELEMENTS_H
#define RVM_TOOLS_ELEMENTS_H

#include "rvm.h"

/* How many a shape has; false where their bytes do not fit a size. */
bool shape_count(int ndim, const int64_t *shape, size_t *n);
/* An array of zeros, row-major; *a must have type and ndim. MEMORY. */
rvm_status arg_allocate(rvm_arg *a, const int64_t *shape, rvm_error *err);
void arg_free(rvm_arg *a);
size_t arg_count(const rvm_arg *a);
rvm_scalar arg_get(const rvm_arg *a, size_t k);
void arg_set(rvm_arg *a, size_t k, rvm_scalar v);
rvm_scalar arg_get_shadow(const rvm_arg *a, size_t k);
void arg_set_shadow(rvm_arg *a, size_t k, rvm_scalar v);
/* Gives it a shadow of zeros. MEMORY. */
rvm_status arg_activate(rvm_arg *a, rvm_error *err);
/* Clears the shadow. */
void arg_clear_shadow(rvm_arg *a);
static inline bool type_is_real(rvm_type t) {
    return t != RVM_I64;
}

#endif
