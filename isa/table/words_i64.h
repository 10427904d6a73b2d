/* The words of rows.def and families.def as C expressions on int64_t, wrapping. No guard: included once for each use. */
#include "words_undef.h"
#define ADD(x, y)    ((int64_t)((uint64_t)(x) + (uint64_t)(y)))
#define SUB(x, y)    ((int64_t)((uint64_t)(x) - (uint64_t)(y)))
#define MUL(x, y)    ((int64_t)((uint64_t)(x) * (uint64_t)(y)))
#define DIV(x, y)    MUL(x, rvm__odd_inverse(y)) /* only in the family mul/div, where y is odd */
#define FMA(x, y, z) ADD(MUL(x, y), z)
#define NEG(x)       SUB(0, x)
#define K(x)         ((int64_t)(x))
#define IDIV(x, y)   ((y) == -1 ? NEG(x) : (x) / (y))
#define IREM(x, y)   ((y) == -1 ? 0 : (x) % (y))
#define AND(x, y)    ((x) & (y))
#define OR(x, y)     ((x) | (y))
#define XOR(x, y)    ((x) ^ (y))
#define NOT(x)       (~(x))
#define SHL(x, y)    ((int64_t)((uint64_t)(x) << ((y)&63)))
#define SHR(x, y)    ((x) >> ((y)&63))
#define LSHR(x, y)   ((int64_t)((uint64_t)(x) >> ((y)&63)))
#include "words_compare.h"
