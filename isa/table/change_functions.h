/* change_functions.h: every change in place (inplace.def) as inline functions, TYPE_row_forward and TYPE_row_back, of
 * signature rvm__change, TYPE_row_scale of rvm__scale; and the kernels that rows name. */
#ifndef RVM_CHANGE_FUNCTIONS_H
#define RVM_CHANGE_FUNCTIONS_H

#include <math.h>

#include "changes.h"
#include "kernels.h"

/* ---- rotations: products and their sum in double, then rounded to the type ---- */

#define REAL_PAIRS(T, ROUNDED)                                                                                              \
    static inline void rotate_##T##_pair(rvm_value *v, rvm_value angle, bool back, int *overflow) {                         \
        const double c = MATH(cos)(angle.f), s = back ? -MATH(sin)(angle.f) : MATH(sin)(angle.f), y = v[0].f, z = v[1].f;   \
        (void)overflow;                                                                                                     \
        v[0].f = ROUNDED(y * c - z * s);                                                                                    \
        v[1].f = ROUNDED(y * s + z * c);                                                                                    \
    }                                                                                                                       \
    static inline void hadamard_##T##_pair(rvm_value *v, bool back, int *overflow) {                                        \
        const double y = v[0].f, z = v[1].f;                                                                                \
        (void)back, (void)overflow;                                                                                         \
        v[0].f = ROUNDED((y + z) * M_SQRT1_2);                                                                              \
        v[1].f = ROUNDED((y - z) * M_SQRT1_2);                                                                              \
    }
#define SINGLE(x) ((double)(float)(x))
REAL_PAIRS(f64, )
REAL_PAIRS(f32, SINGLE)

/* One shear: a += p b, or a -= p b. */
static inline void shear(int64_t *a, int64_t p, int64_t b, bool back, int *overflow) {
    const int64_t d = rvm__fix_mul(p, b, overflow);
    *a = back ? rvm__fix_sub(*a, d, overflow) : rvm__fix_add(*a, d, overflow);
}

static inline void turn_half(int64_t *a, int64_t *b, int *overflow) {
    *a = rvm__fix_sub(0, *a, overflow);
    *b = rvm__fix_sub(0, *b, overflow);
}

/* Rotate by t: exactly undone by the inverse, which subtracts what each shear added, in reverse order. */
static inline void rotate(int64_t *a, int64_t *b, double t, bool back, int *overflow) {
    double reduced = remainder(t, 2 * M_PI);
    const bool half = fabs(reduced) > M_PI_2;
    if (half) reduced -= copysign(M_PI, reduced);
    const int64_t p = rvm__fix_of(-MATH(tan)(reduced / 2), overflow), q = rvm__fix_of(MATH(sin)(reduced), overflow);
    if (half && !back) turn_half(a, b, overflow);
    shear(a, p, *b, back, overflow);
    shear(b, q, *a, back, overflow);
    shear(a, p, *b, back, overflow);
    if (half && back) turn_half(a, b, overflow);
}

static inline void rotate_fix_pair(rvm_value *v, rvm_value angle, bool back, int *overflow) {
    rotate(&v[0].i, &v[1].i, rvm__fix_real(angle.i), back, overflow);
}

static inline void hadamard_fix_pair(rvm_value *v, bool back, int *overflow) {
    if (!back) v[1].i = rvm__fix_sub(0, v[1].i, overflow);
    rotate(&v[0].i, &v[1].i, M_PI_4, back, overflow);
    if (back) v[1].i = rvm__fix_sub(0, v[1].i, overflow);
}

/* ---- the C vocabulary ---- */

#define PASTE_(a, b, c) a##_##b##_##c
#define PASTE(a, b, c)  PASTE_(a, b, c)
#define BRACES(...)                                                                                                         \
    { __VA_ARGS__ }
#define OUT(...)           (__VA_ARGS__)
#define ITSELF             /* the same again */
#define INVERSE(name, ...) (__VA_ARGS__) IGNORE
#define IGNORE(...)
#define ALWAYS   true
#define WHERE(x) (x)
#include "shadow_words.h"
#define FACTOR(x)  ((x) != 0 && isfinite(x))
#define FINITE(x)  isfinite(x)
#define NEAR(x, y) LE(FN(fabs, SUB(x, y)), K(TOLERANCE))
#define ON(...)    __VA_ARGS__
#define NOWHERE(...)

#include "words_i64.h"
#define TYPE   i64
#define CTYPE  int64_t
#define MEMBER i
#define ON_N   ON
#define ON_I   ON
#define ON_R   NOWHERE
#define ON_D   NOWHERE
#include "changes.inc"
#include "words_f64.h"
#define TOLERANCE 1e-8
#define TYPE      f64
#define CTYPE     double
#define MEMBER    f
#define ON_N      ON
#define ON_I      NOWHERE
#define ON_R      ON
#define ON_D      ON
#include "changes.inc"
#undef TOLERANCE
#include "words_f32.h"
#define TOLERANCE 1e-4
#define TYPE      f32
#define CTYPE     double
#define MEMBER    f
#define ON_N      ON
#define ON_I      NOWHERE
#define ON_R      ON
#define ON_D      ON
#include "changes.inc"
#include "words_fix.h"
#define TYPE   fix
#define CTYPE  int64_t
#define MEMBER i
#define ON_N   ON
#define ON_I   NOWHERE
#define ON_R   ON
#define ON_D   NOWHERE
#include "changes.inc"
#include "words_undef.h"
#undef REAL_PAIRS
#undef SINGLE
#undef PASTE_
#undef PASTE
#undef BRACES
#undef OUT
#undef ITSELF
#undef INVERSE
#undef IGNORE
#undef ALWAYS
#undef WHERE
#undef STAY
#undef MOVE
#undef LINEAR
#undef SCALE
#undef BY
#undef FACTOR
#undef FINITE
#undef NEAR
#undef ON
#undef NOWHERE
#undef CHANGED
#undef VALUE_WORDS
#undef VALUE_rotate
#undef VALUE_hadamard
#undef SCALED

#endif
