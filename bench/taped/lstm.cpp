#include "whole.h"

namespace {

adouble sigmoid(const adouble &x) {
    return 1 / (1 + exp(-x));
}

struct objective {
    const lstm_data *g;

    // h, c become the layer's next state
    void advance(const adouble *w, const std::vector<adouble> &x, adouble *h, adouble *c) const {
        const int64_t b = g->b;
        const adouble *bias = w + 4 * b;
        for (int64_t j = 0; j < b; j++) {
            const adouble forget = sigmoid(x[j] * w[j] + bias[j]), in = sigmoid(h[j] * w[b + j] + bias[b + j]);
            const adouble out = sigmoid(x[j] * w[2 * b + j] + bias[2 * b + j]);
            const adouble change = tanh(h[j] * w[3 * b + j] + bias[3 * b + j]);
            c[j] = c[j] * forget + in * change;
            h[j] = out * tanh(c[j]);
        }
    }

    void operator()(const adouble *in, std::vector<adouble> &y) const {
        const int64_t b = g->b, l = g->l;
        const adouble *main = in, *extra = in + 8 * l * b;
        std::vector<adouble> S(g->state, g->state + 2 * l * b), x(static_cast<size_t>(b));
        adouble total = 0;
        for (int64_t t = 0; t + 1 < g->c; t++) {
            for (int64_t j = 0; j < b; j++) x[j] = g->sequence[t * b + j] * extra[j];
            for (int64_t i = 0; i < l; i++) {
                adouble *h = &S[2 * b * i];
                advance(main + 8 * b * i, x, h, h + b);
                for (int64_t j = 0; j < b; j++) x[j] = h[j];
            }
            adouble sum = 2, golden = 0;
            for (int64_t j = 0; j < b; j++) {
                const adouble out = x[j] * extra[b + j] + extra[2 * b + j];
                sum += exp(out);
                if (g->sequence[(t + 1) * b + j] != 0) golden += out;
            }
            total += golden - log(sum);
        }
        y.push_back(-total / double((g->c - 1) * b));
    }
};

std::vector<part> inputs(const lstm_data *g) {
    return {{g->main, 8 * g->l * g->b, g->main_b}, {g->extra, 3 * g->b, g->extra_b}};
}

} // namespace

tape *lstm_primal(const void *data) {
    const lstm_data *g = static_cast<const lstm_data *>(data);
    return new whole_primal(inputs(g), g->out, objective{g});
}

tape *lstm_gradient(const void *data) {
    const lstm_data *g = static_cast<const lstm_data *>(data);
    return new whole_gradient(inputs(g), nullptr, objective{g});
}
