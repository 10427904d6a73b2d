/* changes.c: what inplace.def says, as functions of each type and as facts; and the kernels that its rows name. */
#include "changes.h"

#include <math.h>

#include "kernels.h"

/* ---- rotations: products and their sum in double, then rounded to the type ---- */

#define REAL_PAIRS(T, ROUNDED)                                                                                              \
    static void rotate_##T##_pair(rvm_value *v, rvm_value angle, bool back, int *overflow) {                                \
        const double c = cos(angle.f), s = back ? -sin(angle.f) : sin(angle.f), y = v[0].f, z = v[1].f;                     \
        (void)overflow;                                                                                                     \
        v[0].f = ROUNDED(y * c - z * s);                                                                                    \
        v[1].f = ROUNDED(y * s + z * c);                                                                                    \
    }                                                                                                                       \
    static void hadamard_##T##_pair(rvm_value *v, bool back, int *overflow) {                                               \
        const double y = v[0].f, z = v[1].f;                                                                                \
        (void)back, (void)overflow;                                                                                         \
        v[0].f = ROUNDED((y + z) * M_SQRT1_2);                                                                              \
        v[1].f = ROUNDED((y - z) * M_SQRT1_2);                                                                              \
    }
#define SINGLE(x) ((double)(float)(x))
REAL_PAIRS(f64, )
REAL_PAIRS(f32, SINGLE)

/* One shear: a += p b, or a -= p b. */
static void shear(int64_t *a, int64_t p, int64_t b, bool back, int *overflow) {
    const int64_t d = rvm__fix_mul(p, b, overflow);
    *a = back ? rvm__fix_sub(*a, d, overflow) : rvm__fix_add(*a, d, overflow);
}

static void turn_half(int64_t *a, int64_t *b, int *overflow) {
    *a = rvm__fix_sub(0, *a, overflow);
    *b = rvm__fix_sub(0, *b, overflow);
}

/* Rotate by t: exactly undone by the inverse, which subtracts what each shear added, in reverse order. */
static void rotate(int64_t *a, int64_t *b, double t, bool back, int *overflow) {
    double reduced = remainder(t, 2 * M_PI);
    const bool half = fabs(reduced) > M_PI_2;
    if (half) reduced -= copysign(M_PI, reduced);
    const int64_t p = rvm__fix_of(-tan(reduced / 2), overflow), q = rvm__fix_of(sin(reduced), overflow);
    if (half && !back) turn_half(a, b, overflow);
    shear(a, p, *b, back, overflow);
    shear(b, q, *a, back, overflow);
    shear(a, p, *b, back, overflow);
    if (half && back) turn_half(a, b, overflow);
}

static void rotate_fix_pair(rvm_value *v, rvm_value angle, bool back, int *overflow) {
    rotate(&v[0].i, &v[1].i, rvm__fix_real(angle.i), back, overflow);
}

static void hadamard_fix_pair(rvm_value *v, bool back, int *overflow) {
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
#define ALWAYS       true
#define WHERE(x)     (x)
#define STAY         (Y_, Y_)
#define MOVE         STAY
#define LINEAR       STAY
#define SCALE(d, b)  (d, b)
#define CHOOSE(d, b) (adjoint ? (b) : (d))
#define FACTOR(x)    ((x) != 0 && isfinite(x))
#define NEAR(x, y)   LE(FN(fabs, SUB(x, y)), K(TOLERANCE))
#define ON(...)      __VA_ARGS__
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

#define NUMBER(name) [RVM_PAIR_##name - RVM__PAIRS_BEFORE_CHANGES]
#define AS_N(name, way)                                                                                                     \
    { i64_##name##_##way, f64_##name##_##way, fix_##name##_##way, f32_##name##_##way }
#define AS_I(name, way)                                                                                                     \
    { [RVM_I64] = i64_##name##_##way }
#define AS_R(name, way)                                                                                                     \
    { NULL, f64_##name##_##way, fix_##name##_##way, f32_##name##_##way }
#define AS_D(name, way)                                                                                                     \
    { [RVM_F64] = f64_##name##_##way, [RVM_F32] = f32_##name##_##way }
const rvm__change rvm__changes[RVM_CHANGE_COUNT][2][RVM_TYPE_COUNT] = {
#define CHANGE(name, inverse, operands, types, ...) NUMBER(name) = {AS_##types(name, forward), AS_##types(name, back)},
#include "inplace.def"
#undef CHANGE
};
const rvm__scale rvm__scales[RVM_CHANGE_COUNT][RVM_TYPE_COUNT] = {
#define CHANGE(name, inverse, operands, types, ...) NUMBER(name) = AS_##types(name, scale),
#include "inplace.def"
#undef CHANGE
};

/* ---- facts ---- */

#undef ITSELF
#undef INVERSE
#undef ALWAYS
#undef WHERE
#undef STAY
#undef MOVE
#undef LINEAR
#undef SCALE
#undef FACTOR
#undef NEAR
#include "text_words.h"
#define Y "y"
#define Z "z"
#define W "w"
#define ITSELF
#define INVERSE(name, ...) (__VA_ARGS__) IGNORE
#define ALWAYS             NULL
#define FACTOR(x)          x " is neither 0 nor infinite nor NaN"
#define NEAR(x, y)         x " is " y " within 1e-8, on f32 1e-4"
#define WHERE(x)           x
#define BY(...)                                                                                                             \
    {                                                                                                                       \
        { __VA_ARGS__ }                                                                                                     \
    }
#define PLUS(place)                                                                                                         \
    { 1, PLACE_##place }
#define MINUS(place)                                                                                                        \
    { -1, PLACE_##place }
enum { PLACE_Y, PLACE_Z, PLACE_W };
typedef struct terms {
    rvm_term of[RVM_MAX_CHANGED];
} terms;

enum {
#define NONE        0
#define FLAT        1
#define EITHER(...) (sizeof((const terms[]){__VA_ARGS__}) / sizeof(terms))
#define BEFORE(...) EITHER(__VA_ARGS__)
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out, partials, where, doc)                            \
    PLACES_##name = sizeof((const char *const[])BRACES out) / sizeof(char *), OPERANDS_##name = partials,
#include "inplace.def"
#undef NONE
#undef FLAT
#undef EITHER
#undef BEFORE
#undef CHANGE
};

#define NONE                                                                                                                \
    {                                                                                                                       \
        false, {                                                                                                            \
            {                                                                                                               \
                { 0, 0 }                                                                                                    \
            }                                                                                                               \
        }                                                                                                                   \
    }
#define FLAT NONE
#undef BY
#define BY(...)                                                                                                             \
    { __VA_ARGS__ }
#define EITHER(...)                                                                                                         \
    {                                                                                                                       \
        false, {                                                                                                            \
            __VA_ARGS__                                                                                                     \
        }                                                                                                                   \
    }
#define BEFORE(...)                                                                                                         \
    {                                                                                                                       \
        true, {                                                                                                             \
            __VA_ARGS__                                                                                                     \
        }                                                                                                                   \
    }
#define STAY        RVM_SHADOWS_STAY
#define MOVE        RVM_SHADOWS_MOVE
#define LINEAR      RVM_SHADOWS_LINEAR
#define SCALE(d, b) RVM_SHADOWS_SCALE
const rvm_change_info rvm__change_info[RVM_CHANGE_COUNT] = {
#define CHANGE(name, inverse, letters, types, value, exactly, shadows_, out_, partials_, where_, doc)                       \
    NUMBER(name) = {.places = PLACES_##name,                                                                                \
                    .operands = OPERANDS_##name,                                                                            \
                    .conditional = sizeof(letters) - 1 > PLACES_##name + OPERANDS_##name,                                   \
                    .domain = (where_) != NULL,                                                                             \
                    .shadows = shadows_,                                                                                    \
                    .exact = RVM_EXACTLY_##exactly,                                                                         \
                    .partials = partials_,                                                                                  \
                    .out = {BRACES out_, BRACES inverse out_},                                                              \
                    .where = where_},
#include "inplace.def"
#undef CHANGE
};
