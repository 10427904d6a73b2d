/* products.h: products of a Hessian with vectors, by the tangent of the gradient program. */
#ifndef RVM_PRODUCTS_H
#define RVM_PRODUCTS_H

#include "answers.h"
#include "spec.h"

typedef struct rvm__product {
    rvm__work *w;
    rvm__gradient gradient;
    rvm_arg *args; /* of f'grad */
    uint32_t nargs;
    rvm_scalar *cells; /* behind them in one block */
} rvm__product;

/* Derives the gradient program where the machine does not have it yet. Errors: UNSUPPORTED (no such program, and why),
 * MEMORY. */
rvm_status rvm__product_begin(rvm__product *p, rvm__work *w, rvm_error *err);
/* After rvm__work_reset and the direction by rvm__work_set on columns: H of the weighted rows (NULL: 1) times it, by
 * rvm__work_get on columns. */
rvm_status rvm__product_run(rvm__product *p, const double *weights, rvm_error *err);
/* H, row by row, by a product for each column. */
rvm_status rvm__product_each(rvm__product *p, const double *weights, double *H, rvm_error *err);

#endif
