/* changes.h: every change in place (inplace.def) behind one signature; maths.h has them by type and direction. */
#ifndef RVM_CHANGES_H
#define RVM_CHANGES_H

#include "instruction.h"

/* v: the places, a: the operands. False where they are not in its domain; v is changed all the same. */
typedef bool (*rvm__change)(rvm_value v[RVM_MAX_CHANGED], const rvm_value a[RVM_MAX_CHANGE_OPERANDS], int *overflow);

/* Of shadows SCALE: what becomes of the shadow of the place that holds y, behind the instruction or its inverse, in an
 * adjoint or a tangent. A tangent behind the inverse, of y before, takes back an adjoint. */
typedef rvm_value (*rvm__scale)(rvm_value y, rvm_value shadow, bool inverse, bool adjoint);

#endif
