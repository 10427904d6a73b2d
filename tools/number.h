/* number.h: numbers to text and back, and the nearest of some names. */
#ifndef RVM_TOOLS_NUMBER_H
#define RVM_TOOLS_NUMBER_H

#include "rvm.h"

/* Offer names one by one; best is the nearest to wanted, or NULL while none is near enough to be meant. */
typedef struct nearest {
    const char *wanted, *best;
    size_t distance;
} nearest;
void nearest_offer(nearest *n, const char *candidate);

/* How much of what was given instead of a value a message quotes: the beginning of a line. */
int quoted_length(const char *text);

enum { NUMBER_TEXT = 40, FIX_LIMIT = 1 << (63 - RVM_FIX_FRACTION) }; /* a fix is in [-FIX_LIMIT, FIX_LIMIT) */
/* rvm_scalar_text, for printing. */
const char *number_text(rvm_type t, rvm_scalar v, char text[NUMBER_TEXT]);
/* Reads one number of type t at *at and moves behind it. ARGUMENT when there is none, or it is not whole or in range. */
rvm_status number_parse(rvm_type t, const char **at, rvm_scalar *out, rvm_error *err);

/* "f64[n, 3]" */
void param_type_text(const rvm_param_info *p, char *text, size_t size);

#endif
