/* digits.h: the shortest decimal that reads back as the same f64. */
#ifndef RVM_DIGITS_H
#define RVM_DIGITS_H

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* x is finite. Any 15 digits survive a normal f64, so none of fewer digits is shorter than %.15g; a subnormal holds fewer.
 */
static inline void rvm__shortest_digits(double x, char *text, size_t size) {
    for (int digits = fabs(x) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
}

#endif
