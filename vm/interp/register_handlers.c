/* register_handlers.c: handlers of hot rows on registers. */
#include "hot_handlers.h"

#define PLAIN(Y, T, row, n)        PLAIN_ROW(r, ON_REGISTERS, Y, T, row, n)
#define COMPARED(Y, T, row, n)     COMPARED_ROW(r, ON_REGISTERS, Y, T, row, n)
#define SWEPT(Y, T, row, n)        SHADOWED_ROW(1, r, ON_REGISTERS, T, row, n)
#define WITH_TANGENT(Y, T, row, n) SHADOWED_ROW(2, r, ON_REGISTERS, T, row, n)
#define AGAIN(Y, T, row, n)        SHADOWED_ROW(3, r, ON_REGISTERS, T, row, n)
HOT_I64(PLAIN)
HOT_CMP(COMPARED)
HOT_F64(PLAIN)
HOT_F64(SWEPT)
HOT_F64(WITH_TANGENT)
HOT_F64(AGAIN)
