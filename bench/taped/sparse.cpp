#include "whole.h"

namespace {

struct dot {
    const dot_data *g;

    void operator()(const adouble *in, std::vector<adouble> &y) const {
        const adouble *a = in, *b = in + g->start_a[g->n];
        adouble out = 0;
        for (int64_t j = 0; j < g->n; j++) {
            int64_t ia = g->start_a[j], ib = g->start_b[j];
            while (ia < g->start_a[j + 1] && ib < g->start_b[j + 1]) {
                const int64_t ra = g->row_a[ia], rb = g->row_b[ib];
                if (ra == rb) out += a[ia] * b[ib];
                ia += ra <= rb;
                ib += rb <= ra;
            }
        }
        y.push_back(out);
    }
};

struct product {
    const product_data *g;

    void operator()(const adouble *in, std::vector<adouble> &y) const {
        const adouble *a = in, *B = in + g->start[g->n];
        y.assign(size_t(g->m * g->p), 0.0);
        for (int64_t j = 0; j < g->n; j++)
            for (int64_t e = g->start[j]; e < g->start[j + 1]; e++)
                for (int64_t c = 0; c < g->p; c++) y[size_t(g->row[e] * g->p + c)] += a[e] * B[j * g->p + c];
    }
};

std::vector<part> inputs(const dot_data *g) {
    return {{g->a, g->start_a[g->n], g->a_b}, {g->b, g->start_b[g->n], g->b_b}};
}

std::vector<part> inputs(const product_data *g) {
    return {{g->a, g->start[g->n], g->a_b}, {g->B, g->n * g->p, g->B_b}};
}

} // namespace

tape *dot_primal(const void *data) {
    const dot_data *g = static_cast<const dot_data *>(data);
    return new whole_primal(inputs(g), g->out, dot{g});
}

tape *dot_gradient(const void *data) {
    const dot_data *g = static_cast<const dot_data *>(data);
    return new whole_gradient(inputs(g), nullptr, dot{g});
}

tape *product_primal(const void *data) {
    const product_data *g = static_cast<const product_data *>(data);
    return new whole_primal(inputs(g), g->C, product{g});
}

tape *product_gradient(const void *data) {
    const product_data *g = static_cast<const product_data *>(data);
    return new whole_gradient(inputs(g), g->C_b, product{g});
}
