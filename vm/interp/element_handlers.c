/* element_handlers.c: handlers of products and copies of elements whose indices are proved or trusted. */
#include "hot_handlers.h"

#define KIND_S XSLOT
#define KIND_1 XELEM1
#define KIND_2 XELEM2
#define UPDATE(level, family, row, n, ky, ka, kb)                                                                           \
    HOT(level, e_##family##_##row##_##ky##ka##kb, f64, f64, row, family, HANDLER_AT(level, f64_##family),                   \
        UPDATE_AT_##level, true, find_elements, .form = ELEMENTS, .arity = n, .y = KIND_##ky, .a = KIND_##ka,               \
        .b = KIND_##kb)
#define OF_KINDS(row, n, y, a, b)                                                                                           \
    UPDATE(0, add, row, n, y, a, b)                                                                                         \
    UPDATE(0, sub, row, n, y, a, b)                                                                                         \
    UPDATE(1, add, row, n, y, a, b)                                                                                         \
    UPDATE(1, sub, row, n, y, a, b)                                                                                         \
    UPDATE(2, add, row, n, y, a, b)                                                                                         \
    UPDATE(2, sub, row, n, y, a, b)                                                                                         \
    UPDATE(3, add, row, n, y, a, b)                                                                                         \
    UPDATE(3, sub, row, n, y, a, b)
#define PRODUCT(y, a, b) OF_KINDS(mul, 2, y, a, b)
#define COPY(y, a, b)    OF_KINDS(id, 1, y, a, b)
E_MUL(PRODUCT)
E_ID(COPY)
