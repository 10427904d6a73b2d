#include "whole.h"

namespace {

enum { VERTICES = 10 };

bool connected(int i, int j) {
    return j < 5 ? j - i == 1 || j - i == 4 : i >= 5 ? j - i == 2 || j - i == 3 : j - i == 5;
}

adouble variance(const std::vector<adouble> &d, const adouble &mean) {
    adouble sum = 0;
    for (const adouble &x : d) sum += (x - mean) * (x - mean);
    return sum / double(d.size() - 1);
}

adouble mean(const std::vector<adouble> &d) {
    adouble sum = 0;
    for (const adouble &x : d) sum += x;
    return sum / double(d.size());
}

struct loss {
    int64_t k;

    void operator()(const adouble *x, std::vector<adouble> &y) const {
        std::vector<adouble> kinds[2];
        for (int i = 0; i < VERTICES; i++)
            for (int j = i + 1; j < VERTICES; j++) {
                adouble squares = 0;
                for (int64_t l = 0; l < k; l++) squares += (x[k * i + l] - x[k * j + l]) * (x[k * i + l] - x[k * j + l]);
                kinds[!connected(i, j)].push_back(sqrt(squares));
            }
        const adouble near = mean(kinds[0]), far = mean(kinds[1]), gap = 0.1 + near - far;
        adouble out = variance(kinds[0], near) + variance(kinds[1], far);
        if (gap.value() > 0) out += exp(gap) - 1;
        y.push_back(out);
    }
};

struct second : whole {
    const embedding_data *g;
    std::vector<double *> rows;

    explicit second(const embedding_data *d)
        : whole({{d->x, VERTICES * d->k, nullptr}}, loss{d->k}), g(d), rows(size_t(VERTICES * d->k)) {
        for (size_t i = 0; i < rows.size(); i++) rows[i] = g->H + i * rows.size();
    }

    bool run() override {
        const size_t n = rows.size();
        gather();
        if (hessian(TAG, int(n), in.data(), rows.data()) < 0) return false;
        for (size_t i = 0; i < n; i++) // it gives the lower triangle
            for (size_t j = i + 1; j < n; j++) rows[i][j] = rows[j][i];
        return true;
    }
};

const embedding_data *of(const void *data) {
    return static_cast<const embedding_data *>(data);
}

} // namespace

tape *embedding_primal(const void *data) {
    const embedding_data *g = of(data);
    return new whole_primal({{g->x, VERTICES * g->k, nullptr}}, g->out, loss{g->k});
}

tape *embedding_gradient(const void *data) {
    const embedding_data *g = of(data);
    return new whole_gradient({{g->x, VERTICES * g->k, g->x_b}}, nullptr, loss{g->k});
}

tape *embedding_hessian(const void *data) {
    return new second(of(data));
}
