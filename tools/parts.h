/* parts.h: what the commands differentiate: lists of parameters and elements, sparsity patterns, and the answer. */
#ifndef RVM_TOOLS_PARTS_H
#define RVM_TOOLS_PARTS_H

#include "rvm_derivatives.h"
#include "values.h"

typedef struct parts {
    rvm_part *part;
    int64_t *first; /* row or column of each part, and behind the last the number of all */
    uint32_t n;
} parts;

/* "x,A[1, 2],y": reals, whole or by element. text NULL: every real that the function writes (PARTS_WRITTEN), or every one
 * save those that it only accumulates into (PARTS_READ). ARGUMENT, INDEX, MEMORY. */
enum parts_default { PARTS_WRITTEN, PARTS_READ };
rvm_status parts_read(parts *p, const values *v, const char *text, enum parts_default otherwise, rvm_error *err);
void parts_free(parts *p);
/* "x", "A[1, 2]" */
void part_name(const values *v, const rvm_part *p, char *text, size_t size);

typedef struct answer {
    values after; /* what the function makes of the inputs */
    parts rows, columns;
    int64_t nrows, ncolumns;
    rvm_sparse pattern; /* row_start NULL: the matrix is dense */
    double *value;      /* row by row; with a pattern its entries */
    rvm_cost cost;
} answer;

/* A pattern from a sparse file (sparse_file.h); from FILE.npy or as [[1,0],[1,1]], a matrix of which what is not 0 is in the
 * pattern; or from ROWS.npy,COLUMNS.npy: where each row begins in the list of columns, and that list. IO, FORMAT, SHAPE,
 * ARGUMENT, MEMORY. */
rvm_status pattern_read(reading *r, const char *files, int64_t rows, int64_t columns, rvm_sparse *out, rvm_error *err);
void pattern_free(rvm_sparse *p);

#endif
