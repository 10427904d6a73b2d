/* kernels.c: the rows behind one signature. Each instance unpacks its operands, calls the inline function, packs. */
#include "kernels.h"
#include "instruction.h"

#include <string.h>

#define UNPACK_i64(v) (v).i
#define UNPACK_f64(v) (v).f
#define UNPACK_fix(v) (v).i
#define UNPACK_f32(v) (v).f
#define PACK_i64      .i
#define PACK_f64      .f
#define PACK_fix      .i
#define PACK_f32      .f

/* One instance: TA, T, TR are the types of a, of b and c, and of the result. */
#define KERNEL(T, name, part, TA, TR)                                                                                       \
    static rvm_value kernel_##T##_##name##_##part(rvm_value a, rvm_value b, rvm_value c, int *overflow) {                   \
        return (rvm_value){PACK_##TR = T##_##name##_##part(UNPACK_##TA(a), UNPACK_##T(b), UNPACK_##T(c), overflow)};        \
    }
#define PARTIAL(T, name, part, TA)                                                                                          \
    static rvm_value kernel_##T##_##name##_##part(rvm_value a, rvm_value b, rvm_value c, rvm_value f, int *overflow) {      \
        return (rvm_value){PACK_##T =                                                                                       \
                               T##_##name##_##part(UNPACK_##TA(a), UNPACK_##T(b), UNPACK_##T(c), UNPACK_##T(f), overflow)}; \
    }
#define VALUE_ONLY(T, name, TA, TR) KERNEL(T, name, f, TA, TR)
#define WITH_PARTIALS(T, name, TA)                                                                                          \
    KERNEL(T, name, f, TA, T) PARTIAL(T, name, d0, TA) PARTIAL(T, name, d1, TA) PARTIAL(T, name, d2, TA)

#define NUM(name)  VALUE_ONLY(i64, name, i64, i64) REAL(name)
#define REAL(name) WITH_PARTIALS(f64, name, f64) WITH_PARTIALS(fix, name, fix) WITH_PARTIALS(f32, name, f32)
#define INT(name)  VALUE_ONLY(i64, name, i64, i64)
#define QUOT(name) VALUE_ONLY(i64, name, i64, i64)
#define CMP(name)                                                                                                           \
    VALUE_ONLY(i64, name, i64, i64)                                                                                         \
    VALUE_ONLY(f64, name, f64, i64) VALUE_ONLY(fix, name, fix, i64) VALUE_ONLY(f32, name, f32, i64)
#define SEL(name)                                                                                                           \
    VALUE_ONLY(i64, name, i64, i64) WITH_PARTIALS(f64, name, i64) WITH_PARTIALS(fix, name, i64) WITH_PARTIALS(f32, name, i64)
#define ORD(name) WITH_PARTIALS(f64, name, i64) WITH_PARTIALS(fix, name, i64) WITH_PARTIALS(f32, name, i64)
#define CONV(name)
#define POS                                 REAL
#define ROW1(name, sig, f, d0, doc)         sig(name)
#define ROW2(name, sig, f, d0, d1, doc)     sig(name)
#define ROW3(name, sig, f, d0, d1, d2, doc) sig(name)
#include "rows.def"
#undef NUM
#undef REAL
#undef INT
#undef QUOT
#undef CMP
#undef SEL
#undef CONV
#undef POS
#undef ORD

/* Conversions, CONVERT(A) of rows.def: to i64 towards zero, saturating, NaN to 0; to fix to the nearest. */
static int64_t i64_of_real(double x) {
    if (!(x > -9223372036854775808.0)) return isnan(x) ? 0 : INT64_MIN;
    return x < 9223372036854775808.0 ? (int64_t)x : INT64_MAX;
}
#define CONVERSION(to, from, PART, EXPRESSION)                                                                              \
    static rvm_value conv_##to##_##from(rvm_value a, rvm_value b, rvm_value c, int *overflow) {                             \
        (void)a, (void)b, (void)c, (void)overflow;                                                                          \
        return (rvm_value){PART = (EXPRESSION)};                                                                            \
    }
CONVERSION(i64, f64, .i, i64_of_real(a.f))
CONVERSION(i64, fix, .i, a.i / (INT64_C(1) << RVM_FIX_FRACTION))
CONVERSION(f64, i64, .f, (double)a.i)
CONVERSION(f64, fix, .f, rvm__fix_real(a.i))
CONVERSION(fix, f64, .i, rvm__fix_of(a.f, overflow))
CONVERSION(fix, i64, .i, rvm__fix_narrow((__int128)a.i *((__int128)1 << RVM_FIX_FRACTION), overflow))
CONVERSION(i64, f32, .i, i64_of_real(a.f))
CONVERSION(f64, f32, .f, a.f)
CONVERSION(f32, i64, .f, (double)(float)a.i)
CONVERSION(f32, f64, .f, (double)(float)a.f)
CONVERSION(f32, fix, .f, (double)(float)a.i / RVM__FIX_ONE)
CONVERSION(fix, f32, .i, rvm__fix_of(a.f, overflow))
#define CONVERSION_PARTIAL(to, PART, ONE)                                                                                   \
    static rvm_value conv_one_##to(rvm_value a, rvm_value b, rvm_value c, rvm_value f, int *overflow) {                     \
        (void)a, (void)b, (void)c, (void)f, (void)overflow;                                                                 \
        return (rvm_value){PART = (ONE)};                                                                                   \
    }
CONVERSION_PARTIAL(f64, .f, 1.0)
CONVERSION_PARTIAL(fix, .i, (int64_t)RVM__FIX_ONE)

#define V(T, name) [RVM_ROW_##name * RVM_TYPE_COUNT + RVM_##T]
#define FULL(T, name)                                                                                                       \
    {                                                                                                                       \
        kernel_##T##_##name##_f, {                                                                                          \
            kernel_##T##_##name##_d0, kernel_##T##_##name##_d1, kernel_##T##_##name##_d2                                    \
        }                                                                                                                   \
    }
#define ONLY(T, name)                                                                                                       \
    {                                                                                                                       \
        kernel_##T##_##name##_f, {                                                                                          \
            NULL, NULL, NULL                                                                                                \
        }                                                                                                                   \
    }
#define REAL(name) V(F64, name) = FULL(f64, name), V(FIX, name) = FULL(fix, name), V(F32, name) = FULL(f32, name),
#define NUM(name)  V(I64, name) = ONLY(i64, name), REAL(name)
#define INT(name)  V(I64, name) = ONLY(i64, name),
#define QUOT(name) V(I64, name) = ONLY(i64, name),
#define CMP(name)                                                                                                           \
    V(I64, name) = ONLY(i64, name), V(F64, name) = ONLY(f64, name), V(FIX, name) = ONLY(fix, name),                         \
           V(F32, name) = ONLY(f32, name),
#define SEL NUM
#define CONV(name)
#define POS         REAL
#define ORD         REAL
#define C(to, from) [RVM__KERNEL_CONV + RVM_##to * RVM_TYPE_COUNT + RVM_##from]

const rvm__kernel rvm__kernels[RVM__KERNEL_COUNT] = {
#include "rows.def"
    C(I64, F64) = {conv_i64_f64, {NULL}},         C(I64, FIX) = {conv_i64_fix, {NULL}},
    C(F64, I64) = {conv_f64_i64, {NULL}},         C(F64, FIX) = {conv_f64_fix, {conv_one_f64}},
    C(FIX, F64) = {conv_fix_f64, {conv_one_fix}}, C(FIX, I64) = {conv_fix_i64, {NULL}},
    C(I64, F32) = {conv_i64_f32, {NULL}},         C(F32, I64) = {conv_f32_i64, {NULL}},
    C(F64, F32) = {conv_f64_f32, {conv_one_f64}}, C(F32, F64) = {conv_f32_f64, {conv_one_f64}},
    C(FIX, F32) = {conv_fix_f32, {conv_one_fix}}, C(F32, FIX) = {conv_f32_fix, {conv_one_f64}},
};

bool rvm__has_partial(rvm_row row, uint16_t kernel, int operand) {
    return rvm__kernels[kernel].d[operand] && strcmp(rvm__row_info[row].partial[operand], "0") != 0;
}
