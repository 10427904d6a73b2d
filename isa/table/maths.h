/* maths.h: the two sets of elementary functions (functions.h), and the rows and changes in place that call them, behind one
 * signature each. A machine has one of the sets. */
#ifndef RVM_MATHS_H
#define RVM_MATHS_H

#include "changes.h"
#include "kernels.h"

typedef struct rvm__math {
    const rvm__kernel *kernels; /* RVM__KERNEL_COUNT, as rvm__kernel_index counts them */
    double (*log)(double x), (*exp)(double x);
    uint32_t (*digest)(void); /* of what all functions give at some points, in which C libraries differ, too */
    const rvm__change (*changes)[2][RVM_TYPE_COUNT]; /* by number, whether backward, and type; NULL where there is none */
    const rvm__scale (*scales)[RVM_TYPE_COUNT];      /* by number and type */
} rvm__math;
extern const rvm__math rvm__math_libm; /* and what calls no function is the same in every set */
/* Why SLEEF's do not run here; NULL: they do. */
const char *rvm__lacks_sleef(void);
/* LIBM or SLEEF, as rvm_math_choose gives it. */
const rvm__math *rvm__math_of(rvm_math which);

/* Whether there is a derivative by that operand, other than 0 everywhere (of floor). */
bool rvm__has_partial(rvm_row row, uint16_t kernel, int operand);

#endif
