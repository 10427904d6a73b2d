/* The rows as a table TABLE of functions PREFIX_row and PREFIX_row_j, in the dual vocabulary. Included by planted.c with
 * PLANT, which spoils a word between the formulas and the partials. No guard. */
#include "dual.h"
#include "dual_words.h"
#include "instruction.h"

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
