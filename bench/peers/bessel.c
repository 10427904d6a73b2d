/* bessel.c: J_v(z) by its series; the sweep keeps the terms. */
#include "peers.h"

enum { MOST_TERMS = 16 };

/* How many terms |z| up to g->reach needs. */
static int64_t terms_of(const bessel_data *g) {
    double size = 1;
    int64_t n = g->v + 1;
    for (; n < MOST_TERMS && size > 1e-20; n++) size *= 0.25 * g->reach * g->reach / (double)(n * (n - g->v));
    return n;
}

void PEER(bessel_primal)(void *data) {
    const bessel_data *g = data;
    const double *restrict zs = g->z;
    double *restrict out = g->out;
    const int64_t v = g->v, n = terms_of(g);
    for (int64_t i = 0; i < g->n; i++) {
        const double half = 0.5 * zs[i], q = half * half;
        double term = 1;
        for (int64_t k = 1; k <= v; k++) term *= half / (double)k;
        double sum = term;
        for (int64_t k = v + 1; k < n; k++) {
            term *= -q / (double)(k * (k - v));
            sum += term;
        }
        out[i] = sum;
    }
}

void PEER(bessel_gradient)(void *data) {
    const bessel_data *g = data;
    const double *restrict zs = g->z, *restrict seeds = g->out_b;
    double *restrict z_b = g->z_b, terms[MOST_TERMS];
    const int64_t v = g->v, n = terms_of(g);
    for (int64_t i = 0; i < g->n; i++) {
        const double half = 0.5 * zs[i], q = half * half, seed = seeds[i];
        double term_b = 0, q_b = 0, half_b = 0;
        terms[0] = 1;
        for (int64_t k = 1; k <= v; k++) terms[k] = terms[k - 1] * (half / (double)k);
        for (int64_t k = v + 1; k < n; k++) terms[k] = terms[k - 1] * (-q / (double)(k * (k - v)));
        for (int64_t k = n - 1; k > v; k--) {
            const double c = -1.0 / (double)(k * (k - v));
            term_b += seed;
            q_b += c * terms[k - 1] * term_b;
            term_b *= c * q;
        }
        term_b += seed;
        for (int64_t k = v; k > 0; k--) {
            const double c = 1.0 / (double)k;
            half_b += c * terms[k - 1] * term_b;
            term_b *= c * half;
        }
        z_b[i] = 0.5 * half_b + half * q_b;
    }
}
