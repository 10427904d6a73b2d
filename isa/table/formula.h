/* formula.h: the formulas of rows and families as small graphs whose nodes are rows: what the code vocabulary makes.
 * Internal to isa/. Equal nodes are one node, so that what f and its partials share is computed once. */
#ifndef RVM_FORMULA_H
#define RVM_FORMULA_H

#include "instruction.h"

/* Node numbers: the leaves, then constants and rows. */
typedef enum rvm__leaf {
    RVM__LEAF_NONE, /* node 0 */
    RVM__LEAF_A,    /* operands of the row */
    RVM__LEAF_B,
    RVM__LEAF_C,
    RVM__LEAF_Y,      /* of a family: the target, */
    RVM__LEAF_SHADOW, /*   its shadow, */
    RVM__LEAF_D,      /*   the tangent of the row */
    RVM__LEAVES
} rvm__leaf;

typedef struct rvm__node_ {
    uint8_t row;  /* RVM_ROW_COUNT: a constant */
    bool whole;   /* an i64, whatever the type of the target */
    uint8_t a[3]; /* nodes */
    double k;
} rvm__node_;

enum { RVM__MAX_NODES = 96 }; /* the largest row and family take about half */
typedef struct rvm__formula {
    rvm__node_ node[RVM__MAX_NODES];
    int count;
} rvm__formula;

static inline bool rvm__is_leaf(int node) {
    return node < RVM__LEAVES;
}
static inline bool rvm__is_const_node(const rvm__formula *g, int node) {
    return node >= RVM__LEAVES && g->node[node].row == RVM_ROW_COUNT;
}
static inline bool rvm__is_const_of(const rvm__formula *g, int node, double k) {
    return rvm__is_const_node(g, node) && g->node[node].k == k;
}

int rvm__node_const(rvm__formula *g, double k);
int rvm__node(rvm__formula *g, rvm_row row, int a, int b,
              int c); /* products by 1 and the negative of a constant are folded */

int rvm__node_whole(rvm__formula *g, int64_t k); /* a constant of type i64, */
int rvm__node_succ(rvm__formula *g, int n);      /* n + 1 of that type */

typedef struct rvm__row_formula {
    int f, d[3]; /* the row itself, and its partials; RVM__LEAF_NONE past the arity */
} rvm__row_formula;
typedef struct rvm__family_formula {
    int seed, shadow_b, shadow_d;
} rvm__family_formula;

void rvm__formula_begin(rvm__formula *g);
/* result: a node that holds f, for partials to use; RVM__LEAF_NONE: they use f itself. */
rvm__row_formula rvm__formula_of_row(rvm__formula *g, rvm_row row, int result);
rvm__family_formula rvm__formula_of_family(rvm__formula *g, rvm_op op, int f); /* f: node of the row */
/* What a change in place makes of the shadow of Y, in an adjoint or in a tangent. */
int rvm__formula_of_scale(rvm__formula *g, rvm_op op, bool adjoint);

#endif
