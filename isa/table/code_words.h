/* code_words.h: the code vocabulary: the words of rows.def and families.def as nodes of a formula (formula.h), from which
 * derive_update.c emits instructions. Every word is itself a row. `g` is the formula being made.
 *
 * Included where formulas are made; words_undef.h takes the words back.
 */
#define A               RVM__LEAF_A
#define B               RVM__LEAF_B
#define C               RVM__LEAF_C
#define K(x)            rvm__node_const(g, x)
#define NEG(a)          rvm__node(g, RVM_ROW_neg, a, 0, 0)
#define ADD(a, b)       rvm__node(g, RVM_ROW_add, a, b, 0)
#define SUB(a, b)       rvm__node(g, RVM_ROW_sub, a, b, 0)
#define MUL(a, b)       rvm__node(g, RVM_ROW_mul, a, b, 0)
#define DIV(a, b)       rvm__node(g, RVM_ROW_div, a, b, 0)
#define FMA(a, b, c)    rvm__node(g, RVM_ROW_fma, a, b, c)
#define FN(f, a)        rvm__node(g, RVM_ROW_##f, a, 0, 0)
#define FN2(f, a, b)    rvm__node(g, RVM_ROW_##f, a, b, 0)
#define FNI(f, n, a)    rvm__node(g, RVM_ROW_##f, n, a, 0)
#define WHOLE(k)        rvm__node_whole(g, k)
#define SUCC(n)         rvm__node_succ(g, n)
#define SELECT(c, a, b) rvm__node(g, RVM_ROW_select, c, a, b)
#define GT(a, b)        rvm__node(g, RVM_ROW_gt, a, b, 0)
#define GE(a, b)        rvm__node(g, RVM_ROW_ge, a, b, 0)
#define LT(a, b)        rvm__node(g, RVM_ROW_lt, a, b, 0)
#define LE(a, b)        rvm__node(g, RVM_ROW_le, a, b, 0)
#define EQ(a, b)        rvm__node(g, RVM_ROW_eq, a, b, 0)
#define NE(a, b)        rvm__node(g, RVM_ROW_ne, a, b, 0)
#define NONZERO(a)      a
#define IDIV(a, b)      rvm__node(g, RVM_ROW_idiv, a, b, 0)
#define IREM(a, b)      rvm__node(g, RVM_ROW_irem, a, b, 0)
#define AND(a, b)       rvm__node(g, RVM_ROW_and, a, b, 0)
#define OR(a, b)        rvm__node(g, RVM_ROW_or, a, b, 0)
#define XOR(a, b)       rvm__node(g, RVM_ROW_xor, a, b, 0)
#define NOT(a)          rvm__node(g, RVM_ROW_not, a, 0, 0)
#define SHL(a, b)       rvm__node(g, RVM_ROW_shl, a, b, 0)
#define SHR(a, b)       rvm__node(g, RVM_ROW_shr, a, b, 0)
#define LSHR(a, b)      rvm__node(g, RVM_ROW_lshr, a, b, 0)
#define CONVERT(a)      rvm__node(g, RVM_ROW_conv, a, 0, 0)
