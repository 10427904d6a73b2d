/* bessel.c: J_v(z) by its series, whose terms become the next by a factor; the sweep keeps them. */
#include <math.h>

#include "peers.h"

enum { MOST_TERMS = 64 }; /* of |z| up to 8 */

/* Terms of the series, the last one included that is too small to count; returns its index. */
static inline int series(int64_t v, double z, double *restrict terms) {
    const double half = 0.5 * z, q = half * half;
    double term = 1;
    int k = 0;
    for (int64_t i = 1; i <= v; i++) term *= half / (double)i;
    terms[0] = term;
    while (fabs(term) > 1e-20 && k + 1 < MOST_TERMS) {
        k++;
        term *= -q / (double)(k * (k + v));
        terms[k] = term;
    }
    return k;
}

void PEER(bessel_primal)(void *data) {
    const bessel_data *g = data;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t v = g->v;
        const double half = 0.5 * g->z[i], q = half * half;
        double term = 1;
        for (int64_t k = 1; k <= v; k++) term *= half / (double)k;
        double sum = term;
        for (int64_t k = 1; fabs(term) > 1e-20; k++) {
            term *= -q / (double)(k * (k + v));
            sum += term;
        }
        g->out[i] = sum;
    }
}

void PEER(bessel_gradient)(void *data) {
    const bessel_data *g = data;
    const int64_t v = g->v;
    double terms[MOST_TERMS];
    for (int64_t i = 0; i < g->n; i++) {
        const double z = g->z[i], q = 0.25 * z * z, seed = g->out_b[i];
        double term_b = 0, q_b = 0;
        for (int k = series(v, z, terms); k > 0; k--) {
            const double c = -1.0 / (double)(k * (k + v));
            term_b += seed;
            q_b += c * terms[k - 1] * term_b;
            term_b *= c * q;
        }
        term_b += seed;
        g->z_b[i] = 0.5 * z * q_b + (z != 0 ? term_b * (double)v * terms[0] / z : 0);
    }
}
