/* entries.h: sparse matrices of what one sweep carries (hessian.h). */
#ifndef RVM_ENTRIES_H
#define RVM_ENTRIES_H

#include "hessian.h"
#include "spec.h"

/* Labels of a Hessian's rows are their numbers: it is symmetric. Of a Jacobian, outputs have numbers from 0 on, inputs
 * behind them. Rows in order, columns ascending; what is 0 is left out of a Hessian. Freed by rvm_sparse_free. MEMORY. */
rvm_status rvm__entries_of_hessian(rvm__work *w, const rvm__hessian *h, rvm_sparse *out, rvm_error *err);
rvm_status rvm__entries_of_jacobian(rvm__work *w, const rvm__hessian *h, rvm_sparse *out, rvm_error *err);
/* Room for a matrix of so many entries, which rows have yet to name; freed by rvm_sparse_free once they do. False: out of
 * memory. */
bool rvm__entries_room(rvm_machine *m, rvm_sparse *s, int64_t rows, int64_t columns, int64_t entries);
/* The columns' labels: first + their number. */
void rvm__entries_label(const rvm__work *w, const rvm__hessian *h, int64_t first);

#endif
