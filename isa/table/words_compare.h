/* The words that are the same on every type. */
#define SELECT(c, x, y) ((c) ? (x) : (y))
#define NONZERO(x)      ((x) != 0)
#define LT(x, y)        ((x) < (y))
#define LE(x, y)        ((x) <= (y))
#define GT(x, y)        ((x) > (y))
#define GE(x, y)        ((x) >= (y))
#define EQ(x, y)        ((x) == (y))
#define NE(x, y)        ((x) != (y))
/* Of whole numbers among the operands, whatever the type. */
#define WHOLE(k) INT64_C(k)
#define SUCC(n)  ((int64_t)((uint64_t)(n) + 1))
