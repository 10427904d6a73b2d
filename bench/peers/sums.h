/* sums.h: sums that a compiler can keep in vectors without reordering: eight partial sums, as one writes them by hand. */
#ifndef PEERS_SUMS_H
#define PEERS_SUMS_H

#include <stdint.h>

enum { PARTIAL_SUMS = 8 };

static inline double dot(const double *restrict a, const double *restrict b, int64_t n) {
    double s[PARTIAL_SUMS] = {0};
    int64_t i = 0;
    for (; i + PARTIAL_SUMS <= n; i += PARTIAL_SUMS)
        for (int k = 0; k < PARTIAL_SUMS; k++) s[k] += a[i + k] * b[i + k];
    double sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    for (; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline double sum_squares(const double *a, int64_t n) {
    double s[PARTIAL_SUMS] = {0};
    int64_t i = 0;
    for (; i + PARTIAL_SUMS <= n; i += PARTIAL_SUMS)
        for (int k = 0; k < PARTIAL_SUMS; k++) s[k] += a[i + k] * a[i + k];
    double sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    for (; i < n; i++) sum += a[i] * a[i];
    return sum;
}

/* y += c x */
static inline void add_scaled(double *restrict y, double c, const double *restrict x, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] += c * x[i];
}

#endif
