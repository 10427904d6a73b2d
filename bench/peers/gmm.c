/* gmm.c: log-posterior of a Gaussian mixture, and its gradient. A point's reverse sweep keeps y = Q (x - mean) of every
 * component, which fits the nearest cache. */
#include <math.h>
#include <string.h>

#include "peers.h"
#include "sums.h"

typedef struct workspace {
    double *restrict diag, *restrict y, *restrict diag_b;     /* [K, d] */
    double *restrict logdet, *restrict t, *restrict logdet_b; /* [K] */
    double *restrict y_b;                                     /* [d] */
} workspace;

static workspace split(const gmm_data *g) {
    const int64_t Kd = g->K * g->d;
    double *w = g->work;
    return (workspace){w, w + Kd, w + 2 * Kd, w + 3 * Kd, w + 3 * Kd + g->K, w + 3 * Kd + 2 * g->K, w + 3 * Kd + 3 * g->K};
}

static void prepare(const gmm_data *g, workspace w) {
    for (int64_t k = 0; k < g->K; k++) {
        const double *icf = g->icf + k * g->c;
        w.logdet[k] = 0;
        for (int64_t i = 0; i < g->d; i++) {
            w.diag[k * g->d + i] = exp(icf[i]);
            w.logdet[k] += icf[i];
        }
    }
}

static double log_sum_exp(const double *t, int64_t n) {
    double top = t[0], sum = 0;
    for (int64_t k = 1; k < n; k++) top = t[k] > top ? t[k] : top;
    for (int64_t k = 0; k < n; k++) sum += exp(t[k] - top);
    return top + log(sum);
}

/* y = Q e, by columns of Q; e = x - mean */
static void multiply(int64_t d, double *restrict y, const double *restrict x, const double *restrict mean,
                     const double *restrict diag, const double *restrict icf) {
    const double *column = icf + d;
    for (int64_t i = 0; i < d; i++) y[i] = diag[i] * (x[i] - mean[i]);
    for (int64_t i = 0; i < d; i++) {
        const double e = x[i] - mean[i];
        for (int64_t j = i + 1; j < d; j++) y[j] += column[j - i - 1] * e;
        column += d - i - 1;
    }
}

/* t[k] of one point; y of all components is left in w. */
static void terms(const gmm_data *g, workspace w, const double *x) {
    const int64_t d = g->d;
    for (int64_t k = 0; k < g->K; k++) {
        double *y = w.y + k * d;
        multiply(d, y, x, g->means + k * d, w.diag + k * d, g->icf + k * g->c);
        w.t[k] = g->alphas[k] + w.logdet[k] - 0.5 * sum_squares(y, d);
    }
}

static double wishart(const gmm_data *g, workspace w) {
    double squares = 0, logdets = 0;
    for (int64_t k = 0; k < g->K; k++) {
        squares += sum_squares(w.diag + k * g->d, g->d) + sum_squares(g->icf + k * g->c + g->d, g->c - g->d);
        logdets += w.logdet[k];
    }
    return 0.5 * g->gamma * g->gamma * squares - g->m * logdets;
}

void PEER(gmm_primal)(void *data) {
    const gmm_data *g = data;
    const workspace w = split(g);
    double out = 0;
    prepare(g, w);
    for (int64_t n = 0; n < g->N; n++) {
        terms(g, w, g->x + n * g->d);
        out += log_sum_exp(w.t, g->K);
    }
    out -= (double)g->N * log_sum_exp(g->alphas, g->K);
    *g->out = out + wishart(g, w);
}

/* ---- gradient ---- */

/* One component's part of a point: weight is d out / d t. */
static void sweep_component(int64_t d, double weight, const double *restrict x, const double *restrict mean,
                            const double *restrict diag, const double *restrict icf, const double *restrict y,
                            double *restrict y_b, double *restrict mean_b, double *restrict diag_b, double *restrict icf_b) {
    const double *column = icf + d;
    double *column_b = icf_b + d;
    for (int64_t i = 0; i < d; i++) y_b[i] = -weight * y[i];
    for (int64_t i = 0; i < d; i++) {
        const double e = x[i] - mean[i];
        const int64_t below = d - i - 1;
        diag_b[i] += y_b[i] * e;
        add_scaled(column_b, e, y_b + i + 1, below);
        mean_b[i] -= diag[i] * y_b[i] + dot(column, y_b + i + 1, below);
        column += below;
        column_b += below;
    }
}

static void sweep_point(const gmm_data *g, workspace w, const double *x) {
    const int64_t d = g->d, K = g->K;
    double top = w.t[0], sum = 0;
    for (int64_t k = 1; k < K; k++) top = w.t[k] > top ? w.t[k] : top;
    for (int64_t k = 0; k < K; k++) {
        w.t[k] = exp(w.t[k] - top);
        sum += w.t[k];
    }
    const double scale = 1 / sum;
    for (int64_t k = 0; k < K; k++) {
        const double weight = scale * w.t[k];
        g->alphas_b[k] += weight;
        w.logdet_b[k] += weight;
        sweep_component(d, weight, x, g->means + k * d, w.diag + k * d, g->icf + k * g->c, w.y + k * d, w.y_b,
                        g->means_b + k * d, w.diag_b + k * d, g->icf_b + k * g->c);
    }
}

/* What depends on no point: the prior, the weights' normalisation, and the diagonals' exponentials. */
static void sweep_rest(const gmm_data *g, workspace w) {
    const double gg = g->gamma * g->gamma, lse = log_sum_exp(g->alphas, g->K);
    for (int64_t k = 0; k < g->K; k++) {
        const double *icf = g->icf + k * g->c, *diag = w.diag + k * g->d, *diag_b = w.diag_b + k * g->d;
        double *icf_b = g->icf_b + k * g->c;
        g->alphas_b[k] -= (double)g->N * exp(g->alphas[k] - lse);
        for (int64_t i = 0; i < g->d; i++) icf_b[i] = (diag_b[i] + gg * diag[i]) * diag[i] + w.logdet_b[k] - g->m;
        for (int64_t i = g->d; i < g->c; i++) icf_b[i] += gg * icf[i];
    }
}

void PEER(gmm_gradient)(void *data) {
    const gmm_data *g = data;
    const workspace w = split(g);
    memset(g->alphas_b, 0, (size_t)g->K * sizeof(double));
    memset(g->means_b, 0, (size_t)(g->K * g->d) * sizeof(double));
    memset(g->icf_b, 0, (size_t)(g->K * g->c) * sizeof(double));
    memset(w.diag_b, 0, (size_t)(g->K * g->d) * sizeof(double));
    memset(w.logdet_b, 0, (size_t)g->K * sizeof(double));
    prepare(g, w);
    for (int64_t n = 0; n < g->N; n++) {
        terms(g, w, g->x + n * g->d);
        sweep_point(g, w, g->x + n * g->d);
    }
    sweep_rest(g, w);
}
