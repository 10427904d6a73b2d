/* The words on dual numbers with three directions, one for each operand: so that a row's stated partial, evaluated on them,
 * gives the row's second partials. A function of the C library is itself a row, whose own partials it is differentiated by.
 */
#include "words_undef.h"
#include "instruction.h"
#define A               a_
#define B               b_
#define C               c_
#define R               r_
#define K(x)            ((rvm__dual){.v = (x)})
#define ADD(x, y)       rvm__dual_add(x, y)
#define SUB(x, y)       rvm__dual_add(x, rvm__dual_neg(y))
#define MUL(x, y)       rvm__dual_mul(x, y)
#define DIV(x, y)       rvm__dual_div(x, y)
#define FMA(x, y, z)    rvm__dual_add(rvm__dual_mul(x, y), z)
#define NEG(x)          rvm__dual_neg(x)
#define FN(name, x)     rvm__dual_of_row(math_, RVM_ROW_##name, x, x)
#define FN2(name, x, y) rvm__dual_of_row(math_, RVM_ROW_##name, x, y)
#define FNI(name, n, x) rvm__dual_of_order(math_, RVM_ROW_##name, n, x)
#define WHOLE(k)        K(k)
#define SUCC(n)         rvm__dual_add(n, K(1))
#define SELECT(c, x, y) ((c) ? (x) : (y))
#define NONZERO(x)      ((x).v != 0)
#define LT(x, y)        compared((x).v < (y).v, x, y, corner_)
#define LE(x, y)        compared((x).v <= (y).v, x, y, corner_)
#define GT(x, y)        compared((x).v > (y).v, x, y, corner_)
#define GE(x, y)        compared((x).v >= (y).v, x, y, corner_)
#define EQ(x, y)        ((x).v == (y).v)
#define NE(x, y)        compared((x).v != (y).v, x, y, corner_)
