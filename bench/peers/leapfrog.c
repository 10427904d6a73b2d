/* leapfrog.c: the squared distance of body 1 from a target after a simulation, and its gradient by the initial state. The
 * method is reversible, so the sweep goes back step by step and stores nothing. */
#include <math.h>
#include <string.h>

#include "peers.h"

static const double G = 4 * M_PI * M_PI;

static inline void drift(double *restrict q, const double *restrict v, int64_t count, double h) {
    for (int64_t k = 0; k < count; k++) q[k] += h * v[k];
}

static inline void kick(double *restrict v, const double *restrict q, const double *restrict m, int64_t n, double h) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double x = q[3 * i] - q[3 * j], y = q[3 * i + 1] - q[3 * j + 1], z = q[3 * i + 2] - q[3 * j + 2];
            const double r2 = x * x + y * y + z * z, w = G * h / (r2 * sqrt(r2)), pull_i = w * m[j], pull_j = w * m[i];
            v[3 * i] -= pull_i * x;
            v[3 * i + 1] -= pull_i * y;
            v[3 * i + 2] -= pull_i * z;
            v[3 * j] += pull_j * x;
            v[3 * j + 1] += pull_j * y;
            v[3 * j + 2] += pull_j * z;
        }
}

static void simulate(const leapfrog_data *g, double *restrict q, double *restrict v) {
    for (int64_t s = 0; s < g->steps; s++) {
        drift(q, v, 3 * g->n, 0.5 * g->h);
        kick(v, q, g->m, g->n, g->h);
        drift(q, v, 3 * g->n, 0.5 * g->h);
    }
}

void PEER(leapfrog_primal)(void *data) {
    const leapfrog_data *g = data;
    double out = 0;
    simulate(g, g->q, g->v);
    for (int k = 0; k < 3; k++) out += (g->q[3 + k] - g->target[k]) * (g->q[3 + k] - g->target[k]);
    *g->out = out;
}

/* Takes a kick back, and carries the adjoints over it. */
static inline void sweep_kick(double *restrict v, const double *restrict q, const double *restrict m, int64_t n, double h,
                              double *restrict v_b, double *restrict q_b) {
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = i - 1; j >= 0; j--) {
            double d[3], a[3], r2 = 0, w_b = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = q[3 * i + k] - q[3 * j + k];
                r2 += d[k] * d[k];
                a[k] = m[i] * v_b[3 * j + k] - m[j] * v_b[3 * i + k];
                w_b += d[k] * a[k];
            }
            const double w = G * h / (r2 * sqrt(r2)), r2_b = -3 * w_b * w / r2;
            for (int k = 0; k < 3; k++) {
                const double d_b = w * a[k] + r2_b * d[k];
                v[3 * i + k] += w * m[j] * d[k];
                v[3 * j + k] -= w * m[i] * d[k];
                q_b[3 * i + k] += d_b;
                q_b[3 * j + k] -= d_b;
            }
        }
}

void PEER(leapfrog_gradient)(void *data) {
    const leapfrog_data *g = data;
    const int64_t count = 3 * g->n;
    double *q = g->q, *v = g->v, *q_b = g->q_b, *v_b = g->v_b;
    simulate(g, q, v);
    memset(q_b, 0, (size_t)count * sizeof *q_b);
    memset(v_b, 0, (size_t)count * sizeof *v_b);
    for (int k = 0; k < 3; k++) q_b[3 + k] = 2 * (q[3 + k] - g->target[k]);
    for (int64_t s = 0; s < g->steps; s++) {
        drift(q, v, count, -0.5 * g->h);
        drift(v_b, q_b, count, 0.5 * g->h);
        sweep_kick(v, q, g->m, g->n, g->h, v_b, q_b);
        drift(q, v, count, -0.5 * g->h);
        drift(v_b, q_b, count, 0.5 * g->h);
    }
}
