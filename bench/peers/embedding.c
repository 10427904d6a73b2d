/* embedding.c: loss of the graph embedding, its gradient and its Hessian. With near and far distances d of means m and
 * counts n, the loss is the sum of (d - m)^2 / (n - 1) over both kinds, and expm1(gap) where gap = 0.1 + m_near - m_far > 0.
 */
#include <math.h>
#include <string.h>

#include "peers.h"

enum { VERTICES = 10, NEAR = 15, FAR = 30, PAIRS = NEAR + FAR, MOST = VERTICES * EMBEDDING_DIMENSIONS };

/* Edges of the Petersen graph first, then the other pairs. */
static const unsigned char pairs[PAIRS][2] = {
    {0, 1}, {0, 4}, {0, 5}, {1, 2}, {1, 6}, {2, 3}, {2, 7}, {3, 4}, {3, 8}, {4, 9}, {5, 7}, {5, 8}, {6, 8}, {6, 9}, {7, 9},
    {0, 2}, {0, 3}, {0, 6}, {0, 7}, {0, 8}, {0, 9}, {1, 3}, {1, 4}, {1, 5}, {1, 7}, {1, 8}, {1, 9}, {2, 4}, {2, 5}, {2, 6},
    {2, 8}, {2, 9}, {3, 5}, {3, 6}, {3, 7}, {3, 9}, {4, 5}, {4, 6}, {4, 7}, {4, 8}, {5, 6}, {5, 9}, {6, 7}, {7, 8}, {8, 9}};

typedef struct kind {
    int first, count;
    double mean;
} kind;

static double distances(const embedding_data *g, double d[PAIRS], kind kinds[2]) {
    double sums[2] = {0};
    for (int p = 0; p < PAIRS; p++) {
        const double *a = g->x + g->k * pairs[p][0], *b = g->x + g->k * pairs[p][1];
        double squares = 0;
        for (int64_t l = 0; l < g->k; l++) squares += (a[l] - b[l]) * (a[l] - b[l]);
        d[p] = sqrt(squares);
        sums[p >= NEAR] += d[p];
    }
    kinds[0] = (kind){0, NEAR, sums[0] / NEAR};
    kinds[1] = (kind){NEAR, FAR, sums[1] / FAR};
    return 0.1 + kinds[0].mean - kinds[1].mean;
}

void PEER(embedding_primal)(void *data) {
    const embedding_data *g = data;
    double d[PAIRS], out = 0;
    kind kinds[2];
    const double gap = distances(g, d, kinds);
    for (int s = 0; s < 2; s++) {
        double squares = 0;
        for (int p = kinds[s].first; p < kinds[s].first + kinds[s].count; p++)
            squares += (d[p] - kinds[s].mean) * (d[p] - kinds[s].mean);
        out += squares / (kinds[s].count - 1);
    }
    *g->out = gap > 0 ? out + expm1(gap) : out;
}

/* d loss / d distance */
static void slopes(const double d[PAIRS], const kind kinds[2], double gap, double slope[PAIRS]) {
    const double e = gap > 0 ? exp(gap) : 0;
    for (int s = 0; s < 2; s++) {
        const double weight = 2.0 / (kinds[s].count - 1), pull = (s ? -e : e) / kinds[s].count;
        for (int p = kinds[s].first; p < kinds[s].first + kinds[s].count; p++)
            slope[p] = weight * (d[p] - kinds[s].mean) + pull;
    }
}

void PEER(embedding_gradient)(void *data) {
    const embedding_data *g = data;
    double d[PAIRS], slope[PAIRS];
    kind kinds[2];
    const double gap = distances(g, d, kinds);
    slopes(d, kinds, gap, slope);
    memset(g->x_b, 0, (size_t)(VERTICES * g->k) * sizeof(double));
    for (int p = 0; p < PAIRS; p++) {
        const double *a = g->x + g->k * pairs[p][0], *b = g->x + g->k * pairs[p][1], w = slope[p] / d[p];
        double *a_b = g->x_b + g->k * pairs[p][0], *b_b = g->x_b + g->k * pairs[p][1];
        for (int64_t l = 0; l < g->k; l++) {
            const double c = w * (a[l] - b[l]);
            a_b[l] += c;
            b_b[l] -= c;
        }
    }
}

/* H += c v v^T */
static void add_outer(double *restrict H, double c, const double *restrict v, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) H[n * i + j] += c * v[i] * v[j];
}

/* A pair's own part: (curve u u^T + slope / d (1 - u u^T)) in the blocks of its ends, u the unit vector between them. */
static void add_pair(double *restrict H, const double *u, int64_t k, int a, int b, double curve, double bend) {
    const int64_t n = VERTICES * k;
    double *aa = H + a * k * n + a * k, *ab = H + a * k * n + b * k, *ba = H + b * k * n + a * k,
           *bb = H + b * k * n + b * k;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++) {
            const double v = (curve - bend) * u[i] * u[j] + (i == j ? bend : 0);
            aa[n * i + j] += v;
            ab[n * i + j] -= v;
            ba[n * i + j] -= v;
            bb[n * i + j] += v;
        }
}

void PEER(embedding_hessian)(void *data) {
    const embedding_data *g = data;
    const int64_t k = g->k, n = VERTICES * k;
    double d[PAIRS], slope[PAIRS], u[EMBEDDING_DIMENSIONS], sum[2][MOST] = {{0}}, gap_b[MOST];
    kind kinds[2];
    const double gap = distances(g, d, kinds);
    slopes(d, kinds, gap, slope);
    memset(g->H, 0, (size_t)(n * n) * sizeof(double));
    for (int p = 0; p < PAIRS; p++) {
        const int a = pairs[p][0], b = pairs[p][1], s = p >= NEAR;
        for (int64_t l = 0; l < k; l++) {
            u[l] = (g->x[k * a + l] - g->x[k * b + l]) / d[p];
            sum[s][k * a + l] += u[l];
            sum[s][k * b + l] -= u[l];
        }
        add_pair(g->H, u, k, a, b, 2.0 / (kinds[s].count - 1), slope[p] / d[p]);
    }
    for (int s = 0; s < 2; s++) add_outer(g->H, -2.0 / (kinds[s].count - 1) / kinds[s].count, sum[s], n);
    if (gap > 0) {
        for (int64_t l = 0; l < n; l++) gap_b[l] = sum[0][l] / NEAR - sum[1][l] / FAR;
        add_outer(g->H, exp(gap), gap_b, n);
    }
}
