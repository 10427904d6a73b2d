/* The rows as a table TABLE of functions PREFIX_row and PREFIX_row_j, in the dual vocabulary. Included by planted.c with
 * PLANT, which spoils a word between the formulas and the partials. No guard. */
#include "dual.h"
#include "dual_words.h"
#include "instruction.h"

static inline dual dual_of(long double v) {
    return (dual){v, 0};
}
static inline dual dual_neg(dual a) {
    return (dual){-a.v, -a.d};
}
static inline dual dual_add(dual a, dual b) {
    return (dual){a.v + b.v, a.d + b.d};
}
static inline dual dual_mul(dual a, dual b) {
    return (dual){a.v * b.v, a.v * b.d + a.d * b.v};
}
static inline dual dual_div(dual a, dual b) {
    return (dual){a.v / b.v, (a.d - a.v / b.v * b.d) / b.v};
}
static inline dual dual_select(dual c, dual a, dual b) {
    return c.v != 0 ? a : b;
}
static inline int64_t bits(dual a) {
    return (int64_t)a.v;
}

#define FORMULA(name, F_)                                                                                                   \
    static dual f_##name(dual a_, dual b_, dual c_) {                                                                       \
        (void)a_, (void)b_, (void)c_;                                                                                       \
        return F_;                                                                                                          \
    }
#define ROW1(name, sig, F_, DA_, doc)           FORMULA(name, F_)
#define ROW2(name, sig, F_, DA_, DB_, doc)      FORMULA(name, F_)
#define ROW3(name, sig, F_, DA_, DB_, DC_, doc) FORMULA(name, F_)
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3

#ifdef PLANT
#undef NEG
#define NEG(x) (x)
#endif

#define PARTIAL(name, j, D_)                                                                                                \
    static dual d##j##_##name(dual a_, dual b_, dual c_, dual r_) {                                                         \
        (void)a_, (void)b_, (void)c_, (void)r_;                                                                             \
        return D_;                                                                                                          \
    }
#define ROW1(name, sig, F_, DA_, doc)           PARTIAL(name, 0, DA_)
#define ROW2(name, sig, F_, DA_, DB_, doc)      PARTIAL(name, 0, DA_) PARTIAL(name, 1, DB_)
#define ROW3(name, sig, F_, DA_, DB_, DC_, doc) PARTIAL(name, 0, DA_) PARTIAL(name, 1, DB_) PARTIAL(name, 2, DC_)
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3

const dual_row TABLE[RVM_ROW_COUNT] = {
#define ROW1(name, sig, F_, DA_, doc)           {f_##name, {d0_##name, NULL, NULL}},
#define ROW2(name, sig, F_, DA_, DB_, doc)      {f_##name, {d0_##name, d1_##name, NULL}},
#define ROW3(name, sig, F_, DA_, DB_, DC_, doc) {f_##name, {d0_##name, d1_##name, d2_##name}},
#include "rows.def"
};
