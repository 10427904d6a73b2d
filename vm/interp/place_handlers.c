/* place_handlers.c: handlers of hot rows on any places. */
#include "hot_handlers.h"

#define PLAIN(Y, T, row, n)        PLAIN_ROW(g, ON_PLACES, Y, T, row, n)
#define COMPARED(Y, T, row, n)     COMPARED_ROW(g, ON_PLACES, Y, T, row, n)
#define SWEPT(Y, T, row, n)        SHADOWED_ROW(1, g, ON_PLACES, T, row, n)
#define WITH_TANGENT(Y, T, row, n) SHADOWED_ROW(2, g, ON_PLACES, T, row, n)
#define AGAIN(Y, T, row, n)        SHADOWED_ROW(3, g, ON_PLACES, T, row, n)
HOT_I64(PLAIN)
HOT_CMP(COMPARED)
HOT_F64(PLAIN)
HOT_F64(SWEPT)
HOT_F64(WITH_TANGENT)
HOT_F64(AGAIN)
