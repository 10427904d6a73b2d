/* sparse.c: Frobenius dot product of two sparse matrices by columns, rows ascending; a sparse times a dense matrix. */
#include <string.h>

#include "peers.h"

void PEER(dot_primal)(void *data) {
    const dot_data *g = data;
    double out = 0;
    for (int64_t j = 0; j < g->n; j++) {
        int64_t ia = g->start_a[j], ib = g->start_b[j];
        const int64_t end_a = g->start_a[j + 1], end_b = g->start_b[j + 1];
        while (ia < end_a && ib < end_b) {
            const int64_t ra = g->row_a[ia], rb = g->row_b[ib];
            if (ra == rb) out += g->a[ia] * g->b[ib];
            ia += ra <= rb;
            ib += rb <= ra;
        }
    }
    *g->out = out;
}

void PEER(dot_gradient)(void *data) {
    const dot_data *g = data;
    memset(g->a_b, 0, (size_t)g->start_a[g->n] * sizeof(double));
    memset(g->b_b, 0, (size_t)g->start_b[g->n] * sizeof(double));
    for (int64_t j = 0; j < g->n; j++) {
        int64_t ia = g->start_a[j], ib = g->start_b[j];
        const int64_t end_a = g->start_a[j + 1], end_b = g->start_b[j + 1];
        while (ia < end_a && ib < end_b) {
            const int64_t ra = g->row_a[ia], rb = g->row_b[ib];
            if (ra == rb) {
                g->a_b[ia] = g->b[ib];
                g->b_b[ib] = g->a[ia];
            }
            ia += ra <= rb;
            ib += rb <= ra;
        }
    }
}

void PEER(product_primal)(void *data) {
    const product_data *g = data;
    const int64_t p = g->p;
    memset(g->C, 0, (size_t)(g->m * p) * sizeof(double));
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t e = g->start[j]; e < g->start[j + 1]; e++) {
            const double *restrict B = g->B + p * j, a = g->a[e];
            double *restrict C = g->C + p * g->row[e];
            for (int64_t c = 0; c < p; c++) C[c] += a * B[c];
        }
}

void PEER(product_gradient)(void *data) {
    const product_data *g = data;
    const int64_t p = g->p;
    memset(g->B_b, 0, (size_t)(g->n * p) * sizeof(double));
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t e = g->start[j]; e < g->start[j + 1]; e++) {
            const double *restrict B = g->B + p * j, *restrict C_b = g->C_b + p * g->row[e], a = g->a[e];
            double *restrict B_b = g->B_b + p * j;
            double sums[4] = {0};
            int64_t c = 0;
            for (; c + 4 <= p; c += 4)
                for (int k = 0; k < 4; k++) {
                    sums[k] += B[c + k] * C_b[c + k];
                    B_b[c + k] += a * C_b[c + k];
                }
            for (; c < p; c++) {
                sums[0] += B[c] * C_b[c];
                B_b[c] += a * C_b[c];
            }
            g->a_b[e] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
        }
}
