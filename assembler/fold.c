/* fold.c: rows of constants, computed while assembling: the words of rows.def on i64 and on f64. */
#include "asm.h"
#include <math.h>

#define SELECT(c, x, y) ((c) ? (x) : (y))
#define NONZERO(x)      ((x) != 0)
#define LT(x, y)        ((x) < (y))
#define LE(x, y)        ((x) <= (y))
#define GT(x, y)        ((x) > (y))
#define GE(x, y)        ((x) >= (y))
#define EQ(x, y)        ((x) == (y))
#define NE(x, y)        ((x) != (y))
#define CONVERT(x)      (x)
#define ROW1(name, sig, F_, DA_, doc)                                                                                       \
    case RVM_ROW_##name:                                                                                                    \
        return F_;
#define ROW2(name, sig, F_, DA_, DB_, doc)      ROW1(name, sig, F_, DA_, doc)
#define ROW3(name, sig, F_, DA_, DB_, DC_, doc) ROW1(name, sig, F_, DA_, doc)

/* Words of the other type do not occur in a row that is folded in this one. */
#define ADD(x, y)       ((x) + (y))
#define SUB(x, y)       ((x) - (y))
#define MUL(x, y)       ((x) * (y))
#define DIV(x, y)       ((x) / (y))
#define FMA(x, y, z)    fma(x, y, z)
#define NEG(x)          (-(x))
#define K(x)            ((double)(x))
#define FN(name, x)     name(x)
#define FN2(name, x, y) name(x, y)
#define IDIV(x, y)      (x)
#define IREM(x, y)      (x)
#define AND(x, y)       (x)
#define OR(x, y)        (x)
#define XOR(x, y)       (x)
#define NOT(x)          (x)
#define SHL(x, y)       (x)
#define SHR(x, y)       (x)
#define LSHR(x, y)      (x)
/* NOLINTBEGIN(bugprone-branch-clone): rows of the other type fold to their first operand */
static double fold_f64(rvm_row row, double A, double B, double C) {
    switch (row) {
#include "rows.def"
    case RVM_ROW_COUNT: break;
    }
    return 0;
}
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef FMA
#undef NEG
#undef K
#undef FN
#undef FN2
#undef IDIV
#undef IREM
#undef AND
#undef OR
#undef XOR
#undef NOT
#undef SHL
#undef SHR
#undef LSHR

#define ADD(x, y)       ((int64_t)((uint64_t)(x) + (uint64_t)(y)))
#define SUB(x, y)       ((int64_t)((uint64_t)(x) - (uint64_t)(y)))
#define MUL(x, y)       ((int64_t)((uint64_t)(x) * (uint64_t)(y)))
#define DIV(x, y)       (x)
#define FMA(x, y, z)    ADD(MUL(x, y), z)
#define NEG(x)          SUB(0, x)
#define K(x)            ((int64_t)(x))
#define FN(name, x)     (x)
#define FN2(name, x, y) (x)
#define IDIV(x, y)      ((y) == -1 ? NEG(x) : (x) / (y))
#define IREM(x, y)      ((y) == -1 ? 0 : (x) % (y))
#define AND(x, y)       ((x) & (y))
#define OR(x, y)        ((x) | (y))
#define XOR(x, y)       ((x) ^ (y))
#define NOT(x)          (~(x))
#define SHL(x, y)       ((int64_t)((uint64_t)(x) << ((y)&63)))
#define SHR(x, y)       ((x) >> ((y)&63))
#define LSHR(x, y)      ((int64_t)((uint64_t)(x) >> ((y)&63)))
static int64_t fold_i64(rvm_row row, int64_t A, int64_t B, int64_t C) {
    switch (row) {
#include "rows.def"
    case RVM_ROW_COUNT: break;
    }
    return 0;
}

/* NOLINTEND(bugprone-branch-clone) */

bool rvm__fold(rvm_row row, bool reals, const rvm_value v[3], rvm_value *out) {
    rvm_sig sig = rvm__row_info[row].sig;
    if (sig == RVM_SIG_QUOT && !v[1].i) return false;
    if (!reals)
        out->i = fold_i64(row, v[0].i, v[1].i, v[2].i);
    else if (sig == RVM_SIG_SEL)
        *out = v[0].i ? v[1] : v[2]; /* the condition is i64 */
    else if (sig == RVM_SIG_CMP)
        out->i = fold_f64(row, v[0].f, v[1].f, v[2].f) != 0;
    else
        out->f = fold_f64(row, v[0].f, v[1].f, v[2].f);
    return true;
}
