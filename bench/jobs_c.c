#include "jobs_c.h"

#define SWAP(x, y)                                                                                                          \
    do {                                                                                                                    \
        uint64_t swap_ = x;                                                                                                 \
        x = y;                                                                                                              \
        y = swap_;                                                                                                          \
    } while (0)

void peer_loop(int64_t n, int64_t state[8]) {
    uint64_t v[8];
    for (int k = 0; k < 8; k++) v[k] = (uint64_t)state[k];
    uint64_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    for (int64_t i = 0; i < n; i++) {
        a += e;
        b -= f;
        c ^= g;
        d += h;
        SWAP(e, f);
        SWAP(g, h);
        e += 3;
        g ^= (uint64_t)i;
        a -= g;
        b ^= h;
        c += f;
        d -= e;
        SWAP(a, b);
        SWAP(c, d);
        h += 5;
        f -= (uint64_t)i;
    }
    const uint64_t out[8] = {a, b, c, d, e, f, g, h};
    for (int k = 0; k < 8; k++) state[k] = (int64_t)out[k];
}

void peer_matvec(int64_t m, int64_t n, double *restrict y, const double *restrict A, const double *restrict x) {
    for (int64_t i = 0; i < m; i++) {
        double sum = y[i];
        for (int64_t j = 0; j < n; j++) sum += A[i * n + j] * x[j];
        y[i] = sum;
    }
}

double peer_cost(const bal *b, double *restrict r) {
    double cost = 0;
    for (int64_t i = 0; i < b->nobservations; i++) {
        double pixel[2];
        bal_project(&b->cameras[BAL_CAMERA * b->camera[i]], &b->points[BAL_POINT * b->point[i]], pixel);
        for (int k = 0; k < 2; k++) {
            r[2 * i + k] = pixel[k] - b->observed[2 * i + k];
            cost += r[2 * i + k] * r[2 * i + k];
        }
    }
    return cost;
}
