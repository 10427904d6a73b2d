/* hot_handlers.h: how handlers of hot rows are made: of a rule and a row, which they inline, and a shape. They call nothing,
 * so that they need no frame on the C stack; what takes a call, another handler does, OTHERWISE. */
#ifndef RVM_HOT_HANDLERS_H
#define RVM_HOT_HANDLERS_H

#include "updates.h"

/* Y: target type, T: operand type; find: of places.h; RUN: of updates.h. GIVES: y is given a value, whose magnitude may
 * count.
 */
#define HOT(level, name, Y, T, ROW, family, OTHERWISE, RUN, GIVES, find, ...)                                               \
    HANDLER(level, name) {                                                                                                  \
        update u = {.m = m, .x = x, .by = &rule_##Y##_##family, .row = &row_##T##_##ROW, .s = {__VA_ARGS__}};               \
        rvm_status status = find(x, r, &m->run.frame, u.s, level > 0, &u.p);                                                \
        if (!status) status = RUN(&u);                                                                                      \
        if (level > 0 || u.s.form == LEAF) RELOAD_WAY;                                                                      \
        if (unlikely(status)) TAIL(OTHERWISE);                                                                              \
        if (GIVES && is_tracked(&u)) TAIL(rvm__tracked);                                                                    \
        NEXT;                                                                                                               \
    }
/* The same row, on any places, with calls. */
#define HOT_CALLING(level, name, Y, T, ROW, family, RUN, GIVES, n)                                                          \
    OUTLINED HANDLER(level, name) {                                                                                         \
        rvm_status status;                                                                                                  \
        {                                                                                                                   \
            update u = {.m = m, .x = x, .by = &rule_##Y##_##family, .row = &row_##T##_##ROW, .s = {PLACES, .arity = n}};    \
            status = find_any(x, r, &m->run.frame, u.s, level > 0, &u.p);                                                   \
            if (!status) status = RUN(&u);                                                                                  \
            if (!status && GIVES && is_tracked(&u)) track(m, x, &x->p[0], u.p.y->f);                                        \
        }                                                                                                                   \
        AFTER_CALL(status);                                                                                                 \
    }
#define ON_REGISTERS(level, name, Y, T, row, family, slow, RUN, GIVES, n)                                                   \
    HOT(level, r_##name, Y, T, row, family, HANDLER_AT(level, Y##_##slow), RUN, GIVES, find_registers, .form = REGISTERS,   \
        .arity = n)
#define ON_PLACES(level, name, Y, T, row, family, slow, RUN, GIVES, n)                                                      \
    HOT_CALLING(level, calling_##name, Y, T, row, family, RUN, GIVES, n)                                                    \
    HOT(level, g_##name, Y, T, row, family, HANDLER_AT(level, calling_##name), RUN, GIVES, find_any, .form = LEAF,          \
        .arity = n)

/* All handlers of a row in a form: r and ON_REGISTERS, g and ON_PLACES. */
#define HOT_LETS(level, prefix, FORM, Y, T, row, n)                                                                         \
    FORM(level, T##_let_##row, Y, T, row, let, let, LET_AT_##level, true, n)                                                \
    SAME_HANDLER(level, prefix##_##T##_letu_##row, prefix##_##T##_let_##row)                                                \
    FORM(level, T##_unlet_##row, Y, T, row, let, unlet, UNLET_AT_##level, false, n)
#define HOT_NOTHING(prefix, T, row)                                                                                         \
    HANDLER(0, prefix##_##T##_forget_##row) {                                                                               \
        NEXT;                                                                                                               \
    }
#define HOT_ROW(level, prefix, FORM, Y, T, row, n)                                                                          \
    FORM(level, T##_add_##row, Y, T, row, add, add, UPDATE_AT_##level, true, n)                                             \
    FORM(level, T##_sub_##row, Y, T, row, sub, sub, UPDATE_AT_##level, true, n)                                             \
    HOT_LETS(level, prefix, FORM, Y, T, row, n)
#define PLAIN_ROW(prefix, FORM, Y, T, row, n)    HOT_ROW(0, prefix, FORM, Y, T, row, n) HOT_NOTHING(prefix, T, row)
#define COMPARED_ROW(prefix, FORM, Y, T, row, n) HOT_LETS(0, prefix, FORM, Y, T, row, n) HOT_NOTHING(prefix, T, row)
#define SHADOWED_ROW(level, prefix, FORM, T, row, n)                                                                        \
    HOT_ROW(level, prefix, FORM, T, T, row, n)                                                                              \
    FORM(level, T##_forget_##row, T, T, row, let, forget, FORGET_AT_##level, false, n)

#endif
