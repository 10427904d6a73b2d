/* nan_words.h: the NaN vocabulary: the words of rows.def as constants, the operands whose NaN makes f one, a bit for each.
 * What a select takes it takes from either side. Functions of two operands may forget a NaN: pow(1, NaN) is 1.
 */
#define A               1u
#define B               2u
#define C               4u
#define K(x)            0u
#define NEG(a)          (a)
#define ADD(a, b)       ((a) | (b))
#define SUB(a, b)       ((a) | (b))
#define MUL(a, b)       ((a) | (b))
#define DIV(a, b)       ((a) | (b))
#define FMA(a, b, c)    ((a) | (b) | (c))
#define FN(f, a)        (a)
#define FN2(f, a, b)    0u
#define FNI(f, n, a)    (a)
#define WHOLE(k)        0u
#define SUCC(n)         0u
#define SELECT(c, a, b) ((a) & (b))
#define GT(a, b)        0u
#define GE(a, b)        0u
#define LT(a, b)        0u
#define LE(a, b)        0u
#define EQ(a, b)        0u
#define NE(a, b)        0u
#define NONZERO(a)      0u
#define IDIV(a, b)      0u
#define IREM(a, b)      0u
#define AND(a, b)       0u
#define OR(a, b)        0u
#define XOR(a, b)       0u
#define NOT(a)          0u
#define SHL(a, b)       0u
#define SHR(a, b)       0u
#define LSHR(a, b)      0u
#define CONVERT(a)      (a)
