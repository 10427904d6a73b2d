#include "whole.h"

namespace {

struct relaxation {
    const relaxation_data *g;

    void operator()(const adouble *in, std::vector<adouble> &y) const {
        std::vector<adouble> u(in, in + g->n);
        const adouble *f = in + g->n;
        for (int64_t s = 0; s < g->sweeps; s++)
            for (int64_t i = 1; i < g->n - 1; i++) u[i] = 0.5 * (u[i - 1] + u[i + 1]) + f[i];
        adouble out = 0;
        for (int64_t i = 0; i < g->n; i++) out += u[i] * u[i];
        y.push_back(out);
    }
};

std::vector<part> inputs(const relaxation_data *g) {
    return {{g->u_start, g->n, g->u_b}, {g->f, g->n, g->f_b}};
}

} // namespace

tape *relaxation_primal(const void *data) {
    const relaxation_data *g = static_cast<const relaxation_data *>(data);
    return new whole_primal(inputs(g), g->out, relaxation{g});
}

tape *relaxation_gradient(const void *data) {
    const relaxation_data *g = static_cast<const relaxation_data *>(data);
    return new whole_gradient(inputs(g), nullptr, relaxation{g});
}
