/* second.h: first and second partial derivatives of rows and of families, in double: the dual vocabulary. */
#ifndef RVM_SECOND_H
#define RVM_SECOND_H

#include "maths.h"

/* x: the operands as doubles. dd[j][k] for k <= j: it is symmetric. corner: where the row has no derivative by that operand,
 * and d is what the stated rule takes: a comparison in the partial is of equals. */
typedef struct rvm__second {
    double f, d[3], dd[3][3];
    bool corner[3];
} rvm__second;
/* False where the row has no derivative at all (comparisons, integers). At points without a derivative the stated rules hold
 * for the first partials, and what follows from them for the second. */
bool rvm__row_second(const rvm__math *math, rvm_row row, const double x[3], rvm__second *out);

/* What a family makes of its target, g(Y, F): its partials by Y and F. */
typedef struct rvm__family_second {
    double y, f, yy, yf, ff;
} rvm__family_second;
rvm__family_second rvm__family_partials(rvm_op op, double Y, double F);

/* What a change in place makes of a place, to second order in what it reads: its places, then its operands. */
enum { RVM__CHANGE_INPUTS = RVM_MAX_CHANGED + RVM_MAX_CHANGE_OPERANDS };
typedef struct rvm__change_jet {
    double v, d[RVM__CHANGE_INPUTS], dd[RVM__CHANGE_INPUTS][RVM__CHANGE_INPUTS]; /* dd[j][k] for k <= j */
} rvm__change_jet;
void rvm__change_jets(const rvm__math *math, rvm_op op, const double x[RVM__CHANGE_INPUTS],
                      rvm__change_jet out[RVM_MAX_CHANGED]);

#endif
