/* kernels.h: every row and family as inline C functions (the C vocabulary), and every row behind one signature.
 *
 * The interpreter inlines the functions of frequent rows, which call nothing, and reaches the others through a set
 * (maths.h).
 */
#ifndef RVM_KERNELS_H
#define RVM_KERNELS_H

#include "functions.h"

#include "fix.h"
#include "instruction.h"

/* The inverse of odd x mod 2^64: Newton's iteration doubles the correct low bits, 5 to begin with. */
static inline int64_t rvm__odd_inverse(int64_t x) {
    uint64_t u = (uint64_t)x, v = (3 * u) ^ 2;
    for (int k = 0; k < 4; k++) v *= 2 - u * v;
    return (int64_t)v;
}

#include "words_i64.h"
#define TYPE        i64
#define CTYPE       int64_t
#define WITH_REAL   0
#define WITH_INT    1
#define WITH_SHADOW 0
#include "rows.inc"
#include "words_f64.h"
#define TYPE        f64
#define CTYPE       double
#define WITH_REAL   1
#define WITH_INT    0
#define WITH_SHADOW 1
#include "rows.inc"
#include "words_fix.h"
#define TYPE        fix
#define CTYPE       int64_t
#define WITH_REAL   1
#define WITH_INT    0
#define WITH_SHADOW 1
#include "rows.inc"
#include "words_f32.h"
#define TYPE        f32
#define CTYPE       double
#define WITH_REAL   1
#define WITH_INT    0
#define WITH_SHADOW 1
#include "rows.inc"
#include "words_undef.h"

typedef rvm_value (*rvm__function)(rvm_value a, rvm_value b, rvm_value c, int *overflow);
typedef rvm_value (*rvm__partial)(rvm_value a, rvm_value b, rvm_value c, rvm_value f, int *overflow);
typedef struct rvm__kernel {
    rvm__function f;
    rvm__partial d[3]; /* given what f is; NULL where no derivative exists */
} rvm__kernel;

/* Kernels of all rows by operand type, then of the conversions by (to, from); NULL functions where a row has no such type.
 */
enum { RVM__KERNEL_CONV = RVM_ROW_COUNT * RVM_TYPE_COUNT };
enum { RVM__KERNEL_COUNT = RVM__KERNEL_CONV + RVM_TYPE_COUNT * RVM_TYPE_COUNT };
/* Index of the kernel of a row for target type y and (real or only) operand type t. */
static inline uint16_t rvm__kernel_index(rvm_row row, rvm_type y, rvm_type t) {
    return (uint16_t)(rvm__row_info[row].sig == RVM_SIG_CONV ? RVM__KERNEL_CONV + (int)y * RVM_TYPE_COUNT + (int)t
                                                             : (int)row * RVM_TYPE_COUNT + (int)t);
}

#endif
