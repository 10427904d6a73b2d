/* formula.c: rows.def and families.def in the code vocabulary. See formula.h. */
#include "formula.h"
#include "instruction.h"

#include <string.h>

void rvm__formula_begin(rvm__formula *g) {
    g->count = RVM__LEAVES;
}

static int find_or_add(rvm__formula *g, const rvm__node_ *n) {
    for (int k = RVM__LEAVES; k < g->count; k++)
        if (g->node[k].row == n->row && g->node[k].whole == n->whole && !memcmp(g->node[k].a, n->a, sizeof n->a) &&
            !memcmp(&g->node[k].k, &n->k, sizeof n->k))
            return k;
    if (g->count == RVM__MAX_NODES) return RVM__LEAF_NONE; /* no row or family is so large: a unit test makes them all */
    g->node[g->count] = *n;
    return g->count++;
}

int rvm__node_const(rvm__formula *g, double k) {
    return find_or_add(g, &(rvm__node_){.row = RVM_ROW_COUNT, .k = k});
}

int rvm__node(rvm__formula *g, rvm_row row, int a, int b, int c) {
    if (row == RVM_ROW_mul && rvm__is_const_of(g, a, 1)) return b;
    if (row == RVM_ROW_mul && rvm__is_const_of(g, b, 1)) return a;
    if (row == RVM_ROW_neg && rvm__is_const_node(g, a)) return rvm__node_const(g, -g->node[a].k);
    return find_or_add(g, &(rvm__node_){.row = (uint8_t)row, .a = {(uint8_t)a, (uint8_t)b, (uint8_t)c}});
}

int rvm__node_whole(rvm__formula *g, int64_t k) {
    return find_or_add(g, &(rvm__node_){.row = RVM_ROW_COUNT, .whole = true, .k = (double)k});
}

int rvm__node_succ(rvm__formula *g, int n) {
    return find_or_add(g,
                       &(rvm__node_){.row = RVM_ROW_add, .whole = true, .a = {(uint8_t)n, (uint8_t)rvm__node_whole(g, 1)}});
}

#include "code_words.h"
#define R (result ? result : at.f)
rvm__row_formula rvm__formula_of_row(rvm__formula *g, rvm_row row, int result) {
    rvm__row_formula at = {0, {0}};
    switch (row) {
#define ROW1(name, sig, f_, da, doc)                                                                                        \
    case RVM_ROW_##name:                                                                                                    \
        at.f = f_;                                                                                                          \
        at.d[0] = da;                                                                                                       \
        break;
#define ROW2(name, sig, f_, da, db, doc)                                                                                    \
    case RVM_ROW_##name:                                                                                                    \
        at.f = f_;                                                                                                          \
        at.d[0] = da;                                                                                                       \
        at.d[1] = db;                                                                                                       \
        break;
#define ROW3(name, sig, f_, da, db, dc, doc)                                                                                \
    case RVM_ROW_##name:                                                                                                    \
        at.f = f_;                                                                                                          \
        at.d[0] = da;                                                                                                       \
        at.d[1] = db;                                                                                                       \
        at.d[2] = dc;                                                                                                       \
        break;
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
    case RVM_ROW_COUNT: break;
    }
    return at;
}
#undef R

#define Y  RVM__LEAF_Y
#define Y_ RVM__LEAF_SHADOW
#define D  RVM__LEAF_D
#define F  f
rvm__family_formula rvm__formula_of_family(rvm__formula *g, rvm_op op, int f) {
    (void)f;
    switch (op) {
#define FAMILY(name, inverse, sym, access, value, seed_, sb, sd, doc)                                                       \
    case RVM_OP_##name:                                                                                                     \
        return (rvm__family_formula){.seed = seed_, .shadow_b = sb, .shadow_d = sd};
#define INVERSE(name, inverse, sym, access, value, seed_, sb, sd, doc)                                                      \
    FAMILY(name, inverse, sym, access, value, seed_, sb, sd, doc)
#include "families.def"
#undef FAMILY
#undef INVERSE
#define PAIR(name, inverse, class, operands, types, doc)                                                                    \
    case RVM_OP_##name:                                                                                                     \
    case RVM_OP_##inverse:
#define SELF(name, class, operands, types, doc) case RVM_OP_##name:
#include "ops.def"
#undef PAIR
#undef SELF
#undef INVERSE
#define ITSELF
#define INVERSE(name, ...) case RVM_OP_##name:
#define CHANGE(name, inverse, ...)                                                                                          \
    case RVM_OP_##name:                                                                                                     \
        inverse
#include "inplace.def"
#undef INVERSE
#undef ITSELF
#undef CHANGE
        break;
    }
    return (rvm__family_formula){0, 0, 0};
}
#undef D
#undef F

int rvm__formula_of_scale(rvm__formula *g, rvm_op op, bool adjoint) {
    const bool inverse = rvm__is_inverse(op);
    switch ((int)rvm__pair_of(op)) {
#include "shadow_words.h"
#define CHANGE(name, inverse, operands, types, value, exact, shadows, ...)                                                  \
    case RVM_PAIR_##name:                                                                                                   \
        return shadows;
#include "inplace.def"
#undef CHANGE
    }
    return Y_;
}
#undef Y
#undef Y_
#include "words_undef.h"
