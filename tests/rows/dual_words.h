/* The words of rows.def on dual numbers. No guard: included once for each table. */
#include <math.h>
#define A               a_
#define B               b_
#define C               c_
#define R               r_
#define K(x)            ((dual){x, 0})
#define NEG(x)          dual_neg(x)
#define ADD(x, y)       dual_add(x, y)
#define SUB(x, y)       dual_add(x, dual_neg(y))
#define MUL(x, y)       dual_mul(x, y)
#define DIV(x, y)       dual_div(x, y)
#define FMA(x, y, z)    dual_add(dual_mul(x, y), z)
#define FN(f, x)        dual_fn(f##l, x)
#define FN2(f, x, y)    dual_fn2(f##l, x, y)
#define SELECT(c, x, y) dual_select(c, x, y)
#define GT(x, y)        dual_of((x).v > (y).v)
#define GE(x, y)        dual_of((x).v >= (y).v)
#define LT(x, y)        dual_of((x).v < (y).v)
#define LE(x, y)        dual_of((x).v <= (y).v)
#define EQ(x, y)        dual_of((x).v == (y).v)
#define NE(x, y)        dual_of((x).v != (y).v)
#define NONZERO(x)      dual_of((x).v != 0)
#define IDIV(x, y)      dual_of(truncl((x).v / (y).v))
#define IREM(x, y)      dual_of(fmodl((x).v, (y).v))
#define AND(x, y)       dual_of(bits(x) & bits(y))
#define OR(x, y)        dual_of(bits(x) | bits(y))
#define XOR(x, y)       dual_of(bits(x) ^ bits(y))
#define NOT(x)          dual_of(~bits(x))
#define SHL(x, y)       dual_of((int64_t)((uint64_t)bits(x) << (bits(y) & 63)))
#define SHR(x, y)       dual_of(bits(x) >> (bits(y) & 63))
#define LSHR(x, y)      dual_of((int64_t)((uint64_t)bits(x) >> (bits(y) & 63)))
#define CONVERT(x)      (x)
