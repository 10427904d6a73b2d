/* symmetric.h: a sparse symmetric matrix whose rows are places of a running machine: the second-order adjoints that the
 * one-sweep Hessian carries (hessian.c).
 *
 * A place is a key, whatever tells it from the others; a row exists while it holds an entry. With H the Hessian of the
 * result in the places after an instruction, the step back over it is H := J' H J + (second order), and J is made of:
 *
 *     shear  y = y + c a     H[a, q] += c H[y, q] for every q
 *     scale  y = c y         row and column of y times c
 *     drop   y is constant   row and column of y vanish
 *     rename                 the same matrix under other names
 *
 * The functions that add entries return false when out of memory; the matrix is then of no more use.
 */
#ifndef RVM_SYMMETRIC_H
#define RVM_SYMMETRIC_H

#include "rvm.h"

typedef uint64_t rvm__key; /* never 0 */

typedef struct rvm__entry { /* of the rows of two places, or of one where it is on the diagonal */
    uint32_t end[2], at[2]; /* the rows, and where in each it stands */
    double value;
} rvm__entry;

typedef struct rvm__link { /* what a row holds: an entry, and its other row */
    uint32_t other, entry;
} rvm__link;

typedef struct rvm__sym_row {
    rvm__key key; /* 0: a free row */
    rvm__link *links;
    uint32_t n, cap;
    int64_t label; /* the caller's; -1 at first */
} rvm__sym_row;

typedef struct rvm__row_mark { /* of a row, while its entry with some other row is known */
    uint64_t when;
    uint32_t entry;
} rvm__row_mark;

typedef struct rvm__cell_of {
    uint64_t key; /* 0: free */
    uint32_t number;
} rvm__cell_of;

typedef struct rvm__table { /* open addressing; cap is 0 or a power of two */
    rvm__cell_of *cells;
    size_t cap, n;
} rvm__table;

typedef struct rvm__sym {
    rvm_machine *m; /* whose memory it is made of */
    rvm__sym_row *rows;
    rvm__entry *entries;
    rvm__row_mark *marks; /* by row */
    size_t cap_rows, cap_entries, cap_marks;
    uint32_t nrows, nentries;      /* used so far, free ones among them */
    uint32_t free_row, free_entry; /* lists through n and at[0]; number + 1 */
    rvm__table row_of;
    uint64_t now;             /* of marks */
    uint64_t updates;         /* entries changed so far */
    uint32_t live, live_peak; /* entries */
    bool structural;          /* a shear by 0, which is so here only, makes entries of 0 */
} rvm__sym;

void rvm__sym_init(rvm__sym *s, rvm_machine *m);
void rvm__sym_free(rvm__sym *s);
/* H[a, b] += v, and H[b, a] where they differ. */
bool rvm__sym_add(rvm__sym *s, rvm__key a, rvm__key b, double v);
bool rvm__sym_shear(rvm__sym *s, rvm__key y, rvm__key a, double c);
void rvm__sym_scale(rvm__sym *s, rvm__key y, double c);
void rvm__sym_drop(rvm__sym *s, rvm__key y);
/* The row of `from` becomes that of `to`, whose own vanishes. */
bool rvm__sym_rename(rvm__sym *s, rvm__key from, rvm__key to);
/* The row of a place, or NULL. */
rvm__sym_row *rvm__sym_row_of(const rvm__sym *s, rvm__key key);

#endif
