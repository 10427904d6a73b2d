/* kernel_handlers.c: handlers of updates by kernel: any row, any places. */
#include "updates.h"

/* run: of updates.h. GIVES: y is given a value, whose magnitude may count. */
#define BY_KERNEL(level, name, rule, form, run, GIVES)                                                                      \
    HANDLER(level, name) {                                                                                                  \
        rvm_status status;                                                                                                  \
        {                                                                                                                   \
            update u;                                                                                                       \
            status = by_kernel(&u, m, x, r, &rule, form, level > 0);                                                        \
            if (!status && !is_defined(&u)) status = RVM_ERR_DOMAIN;                                                        \
            if (!status) status = run(&u);                                                                                  \
            if (!status && GIVES && is_tracked(&u)) track(m, x, &x->p[0], u.p.y->f);                                        \
        }                                                                                                                   \
        AFTER_CALL(status);                                                                                                 \
    }
#define BOTH_FORMS(level, T, name, family, run, GIVES)                                                                      \
    static BY_KERNEL(level, T##_##name##_of_slots, rule_##T##_##family, SLOTS, run, GIVES) OUTLINED BY_KERNEL(              \
        level, T##_##name##_of_any, rule_##T##_##family, PLACES, run, GIVES) BY_SLOTS(level, T##_##name)
#define ADDITIVE(level, T)                                                                                                  \
    BOTH_FORMS(level, T, add, add, UPDATE_AT_##level, true)                                                                 \
    BOTH_FORMS(level, T, sub, sub, UPDATE_AT_##level, true)
#define MULTIPLICATIVE(level, T)                                                                                            \
    BOTH_FORMS(level, T, mul, mul, UPDATE_AT_##level, true)                                                                 \
    BOTH_FORMS(level, T, div, div, UPDATE_AT_##level, true)
#define APPEARING(level, T)                                                                                                 \
    BOTH_FORMS(level, T, let, let, LET_AT_##level, true)                                                                    \
    SAME_HANDLER(level, T##_letu, T##_let)                                                                                  \
    BOTH_FORMS(level, T, unlet, let, UNLET_AT_##level, false)
#define FORGETTING(level, T) BOTH_FORMS(level, T, forget, let, FORGET_AT_##level, false)
#define REALS(level)                                                                                                        \
    ADDITIVE(level, f64)                                                                                                    \
    MULTIPLICATIVE(level, f64)                                                                                              \
    APPEARING(level, f64)                                                                                                   \
    ADDITIVE(level, f32) MULTIPLICATIVE(level, f32) APPEARING(level, f32) ADDITIVE(level, fix) APPEARING(level, fix)
#define SHADOWED_REALS(level) REALS(level) FORGETTING(level, f64) FORGETTING(level, f32) FORGETTING(level, fix)
REALS(0)
SHADOWED_REALS(1)
SHADOWED_REALS(2)
SHADOWED_REALS(3)
ADDITIVE(0, i64)
MULTIPLICATIVE(0, i64)
APPEARING(0, i64)
BOTH_FORMS(0, i64, xor, xor, update_plain, true)

#define NOTHING(T)                                                                                                          \
    HANDLER(0, T##_forget) {                                                                                                \
        NEXT;                                                                                                               \
    }
NOTHING(i64)
NOTHING(f64)
NOTHING(f32)
NOTHING(fix)
