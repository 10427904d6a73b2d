/* rules.h: rows and families as functions of rvm_value, and what a family does to a type as one constant. Handlers name such
 * constants, and the compiler inlines what they hold. */
#ifndef RVM_RULES_H
#define RVM_RULES_H

#include "kernels.h"
#include "step.h"

/* The member of rvm_value of a type; arithmetic on it. */
#define V_i64           i
#define V_f64           f
#define V_fix           i
#define V_f32           f
#define MULT_f64(a, b)  ((a) * (b))
#define MULT_fix(a, b)  rvm__fix_mul(a, b, overflow)
#define MINUS_f64(a, b) ((a) - (b))
#define MINUS_fix(a, b) rvm__fix_sub(a, b, overflow)
#define MINUS_f32(a, b) ((double)(float)((a) - (b)))
#define PLUS_f64(a, b)  ((a) + (b))
#define PLUS_fix(a, b)  rvm__fix_add(a, b, overflow)
#define MULT_f32(a, b)  ((double)(float)((a) * (b)))
#define PLUS_f32(a, b)  ((double)(float)((a) + (b)))

/* The value, a seed or a shadow of an update (families.def): y and y_ as they are before, f of the operands, d its tangent.
 */
typedef rvm_value part_function(rvm_value y, rvm_value f, rvm_value y_, rvm_value d, int *overflow);
typedef rvm_value sum_function(rvm_value a, rvm_value b, int *overflow);
typedef struct rule {
    rvm_type type;
    bool factor; /* an f of 0, infinity or NaN has no inverse */
    part_function *value, *seed, *shadow_d;
    part_function *inverse_seed, *inverse_shadow_b;
    sum_function *plus, *minus, *times; /* of shadows */
} rule;

#define SUM(T, name, WORD)                                                                                                  \
    FORCE_INLINE rvm_value name##_##T(rvm_value a, rvm_value b, int *overflow) {                                            \
        (void)overflow;                                                                                                     \
        return (rvm_value){.V_##T = WORD##_##T(a.V_##T, b.V_##T)};                                                          \
    }
#define SUMS(T) SUM(T, plus, PLUS) SUM(T, minus, MINUS) SUM(T, times, MULT)
SUMS(f64)
SUMS(fix)
SUMS(f32)

#define PART(T, family, part)                                                                                               \
    FORCE_INLINE rvm_value T##_##family##_part_##part(rvm_value y, rvm_value f, rvm_value y_, rvm_value d, int *overflow) { \
        return (rvm_value){.V_##T = T##_##family##_##part(y.V_##T, f.V_##T, y_.V_##T, d.V_##T, overflow)};                  \
    }
#define PARTS(T, family) PART(T, family, value) PART(T, family, seed) PART(T, family, shadow_b) PART(T, family, shadow_d)
#define RULE(T, TYPE, family, inverse, FACTOR)                                                                              \
    static const rule rule_##T##_##family __attribute__((unused)) = {.type = TYPE,                                          \
                                                                     .factor = FACTOR,                                      \
                                                                     .value = T##_##family##_part_value,                    \
                                                                     .seed = T##_##family##_part_seed,                      \
                                                                     .shadow_d = T##_##family##_part_shadow_d,              \
                                                                     .inverse_seed = T##_##inverse##_part_seed,             \
                                                                     .inverse_shadow_b = T##_##inverse##_part_shadow_b,     \
                                                                     .plus = plus_##T,                                      \
                                                                     .minus = minus_##T,                                    \
                                                                     .times = times_##T};
#define RULES(T, TYPE, FLOATING)                                                                                            \
    PARTS(T, add)                                                                                                           \
    PARTS(T, sub)                                                                                                           \
    PARTS(T, mul)                                                                                                           \
    PARTS(T, div)                                                                                                           \
    PARTS(T, let)                                                                                                           \
    PARTS(T, unlet)                                                                                                         \
    PARTS(T, set)                                                                                                           \
    PARTS(T, unset)                                                                                                         \
    RULE(T, TYPE, add, sub, false)                                                                                          \
    RULE(T, TYPE, sub, add, false)                                                                                          \
    RULE(T, TYPE, mul, div, FLOATING)                                                                                       \
    RULE(T, TYPE, div, mul, FLOATING) RULE(T, TYPE, let, unlet, false) RULE(T, TYPE, set, unset, false)
RULES(f64, RVM_F64, true)
RULES(fix, RVM_FIX, false)
RULES(f32, RVM_F32, true)
#define INTEGER_RULE(family)                                                                                                \
    PART(i64, family, value)                                                                                                \
    static const rule rule_i64_##family __attribute__((unused)) = {.type = RVM_I64, .value = i64_##family##_part_value};
INTEGER_RULE(add)
INTEGER_RULE(sub)
INTEGER_RULE(mul)
INTEGER_RULE(div)
INTEGER_RULE(xor)
INTEGER_RULE(let)
INTEGER_RULE(set)

/* Hot rows: target type Y, operand type T. */
#define ROW_VALUE(Y, T, row)                                                                                                \
    FORCE_INLINE rvm_value T##_##row##_row(rvm_value a, rvm_value b, rvm_value c, int *overflow) {                          \
        return (rvm_value){.V_##Y = T##_##row##_f(a.V_##T, b.V_##T, c.V_##T, overflow)};                                    \
    }
#define ROW_PARTIAL(T, row, n)                                                                                              \
    FORCE_INLINE rvm_value T##_##row##_row_d##n(rvm_value a, rvm_value b, rvm_value c, rvm_value f, int *overflow) {        \
        return (rvm_value){.V_##T = T##_##row##_d##n(a.V_##T, b.V_##T, c.V_##T, f.V_##T, overflow)};                        \
    }
#define CONSTANT_ROW(Y, T, row, arity)                                                                                      \
    ROW_VALUE(Y, T, row)                                                                                                    \
    static const rvm__kernel row_##T##_##row __attribute__((unused)) = {T##_##row##_row, {NULL}};
#define CONSTANT_ROW_WITH_PARTIALS(Y, T, row, arity)                                                                        \
    ROW_VALUE(Y, T, row)                                                                                                    \
    ROW_PARTIAL(T, row, 0)                                                                                                  \
    ROW_PARTIAL(T, row, 1)                                                                                                  \
    ROW_PARTIAL(T, row, 2)                                                                                                  \
    static const rvm__kernel row_##T##_##row                                                                                \
        __attribute__((unused)) = {T##_##row##_row, {T##_##row##_row_d0, T##_##row##_row_d1, T##_##row##_row_d2}};
HOT_I64(CONSTANT_ROW)
HOT_CMP(CONSTANT_ROW)
HOT_F64(CONSTANT_ROW_WITH_PARTIALS)

#endif
