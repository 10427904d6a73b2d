/* relaxation.c: |u|^2 after sweeps in place over a line of cells, and its gradient with a tape: what a cell held goes onto
 * it before it is overwritten. */
#include <string.h>

#include "peers.h"

static inline double square(const relaxation_data *g) {
    double sum = 0;
    for (int64_t i = 0; i < g->n; i++) sum += g->u[i] * g->u[i];
    return sum;
}

void PEER(relaxation_primal)(void *data) {
    const relaxation_data *g = data;
    double *restrict u = g->u;
    for (int64_t s = 0; s < g->sweeps; s++)
        for (int64_t i = 1; i < g->n - 1; i++) u[i] = 0.5 * (u[i - 1] + u[i + 1]) + g->f[i];
    *g->out = square(g);
}

void PEER(relaxation_gradient)(void *data) {
    const relaxation_data *g = data;
    const double *restrict f = g->f;
    double *restrict u = g->u, *restrict u_b = g->u_b, *restrict f_b = g->f_b, *restrict tape = g->tape;
    for (int64_t s = 0; s < g->sweeps; s++)
        for (int64_t i = 1; i < g->n - 1; i++) {
            *tape++ = u[i];
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + f[i];
        }
    memset(f_b, 0, (size_t)g->n * sizeof *f_b);
    for (int64_t i = 0; i < g->n; i++) u_b[i] = 2 * u[i];
    for (int64_t s = 0; s < g->sweeps; s++)
        for (int64_t i = g->n - 2; i >= 1; i--) {
            const double b = u_b[i];
            u[i] = *--tape;
            u_b[i] = 0;
            f_b[i] += b;
            u_b[i - 1] += 0.5 * b;
            u_b[i + 1] += 0.5 * b;
        }
}
