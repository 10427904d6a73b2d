#include <cmath>

#include "whole.h"

namespace {

struct miss {
    const leapfrog_data *g;

    void drift(std::vector<adouble> &q, const std::vector<adouble> &v) const {
        for (size_t k = 0; k < q.size(); k++) q[k] += 0.5 * g->h * v[k];
    }

    void kick(std::vector<adouble> &v, const std::vector<adouble> &q) const {
        const double G = 4 * M_PI * M_PI;
        for (int64_t i = 0; i < g->n; i++)
            for (int64_t j = 0; j < i; j++) {
                const adouble d[3] = {q[3 * i] - q[3 * j], q[3 * i + 1] - q[3 * j + 1], q[3 * i + 2] - q[3 * j + 2]};
                const adouble r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], w = G * g->h / (r2 * sqrt(r2));
                for (int k = 0; k < 3; k++) {
                    v[3 * i + k] -= w * g->m[j] * d[k];
                    v[3 * j + k] += w * g->m[i] * d[k];
                }
            }
    }

    void operator()(const adouble *in, std::vector<adouble> &y) const {
        const int64_t count = 3 * g->n;
        std::vector<adouble> q(in, in + count), v(in + count, in + 2 * count);
        for (int64_t s = 0; s < g->steps; s++) {
            drift(q, v);
            kick(v, q);
            drift(q, v);
        }
        adouble out = 0;
        for (int k = 0; k < 3; k++) out += (q[3 + k] - g->target[k]) * (q[3 + k] - g->target[k]);
        y.push_back(out);
    }
};

std::vector<part> inputs(const leapfrog_data *g) {
    return {{g->q_start, 3 * g->n, g->q_b}, {g->v_start, 3 * g->n, g->v_b}};
}

} // namespace

tape *leapfrog_primal(const void *data) {
    const leapfrog_data *g = static_cast<const leapfrog_data *>(data);
    return new whole_primal(inputs(g), g->out, miss{g});
}

tape *leapfrog_gradient(const void *data) {
    const leapfrog_data *g = static_cast<const leapfrog_data *>(data);
    return new whole_gradient(inputs(g), nullptr, miss{g});
}
