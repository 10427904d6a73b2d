// gmm.cpp: one tape of what a point adds, evaluated for every point. Its inputs are alphas + log det Q, means, and Q; what leads
// there from the parameters is done once, by hand.
#include <cmath>

#include "tapes.h"

namespace {

double log_sum_exp(const double *t, int64_t n) {
    double top = t[0], sum = 0;
    for (int64_t k = 1; k < n; k++) top = std::fmax(top, t[k]);
    for (int64_t k = 0; k < n; k++) sum += std::exp(t[k] - top);
    return top + std::log(sum);
}

struct mixture : tape {
    const gmm_data *g;
    reals in; // K alphas + log det Q, K x d means, K x c of Q, diagonal first

    explicit mixture(const void *data) : g(static_cast<const gmm_data *>(data)), in(size_t(g->K * (1 + g->d + g->c))) {
        record();
    }

    int64_t means() const { return g->K; }
    int64_t factors() const { return g->K * (1 + g->d); }

    void record() {
        const int64_t d = g->d, K = g->K;
        prepare();
        tape_begin();
        std::vector<adouble> a(in.size()), x(size_t(d), 0.0), t(size_t(K), 0.0), y(size_t(d), 0.0);
        for (size_t k = 0; k < in.size(); k++) a[k] <<= in[k];
        for (int64_t i = 0; i < d; i++) x[i] = mkparam(g->x[i]);
        for (int64_t k = 0; k < K; k++) {
            const adouble *mean = &a[means() + k * d], *Q = &a[factors() + k * g->c], *column = Q + d;
            for (int64_t i = 0; i < d; i++) y[i] = Q[i] * (x[i] - mean[i]);
            for (int64_t i = 0; i < d; i++) {
                const adouble e = x[i] - mean[i];
                for (int64_t j = i + 1; j < d; j++) y[j] += column[j - i - 1] * e;
                column += d - i - 1;
            }
            adouble squares = 0;
            for (int64_t i = 0; i < d; i++) squares += y[i] * y[i];
            t[k] = a[k] - 0.5 * squares;
        }
        adouble top = t[0], sum = 0, out;
        for (int64_t k = 1; k < K; k++) top = fmax(top, t[k]);
        for (int64_t k = 0; k < K; k++) sum += exp(t[k] - top);
        out = top + log(sum);
        double value;
        out >>= value;
        tape_end();
    }

    void prepare() {
        for (int64_t k = 0; k < g->K; k++) {
            const double *icf = g->icf + k * g->c;
            in[k] = g->alphas[k];
            for (int64_t i = 0; i < g->d; i++) in[k] += icf[i];
            for (int64_t i = 0; i < g->d; i++) in[means() + k * g->d + i] = g->means[k * g->d + i];
            for (int64_t i = 0; i < g->c; i++) in[factors() + k * g->c + i] = i < g->d ? std::exp(icf[i]) : icf[i];
        }
    }

    void point(int64_t n) { set_param_vec(TAG, size_t(g->d), const_cast<double *>(g->x + n * g->d)); }
};

struct mixture_primal : mixture {
    using mixture::mixture;

    bool run() override {
        double out = -double(g->N) * log_sum_exp(g->alphas, g->K), one;
        prepare();
        for (int64_t n = 0; n < g->N; n++) {
            point(n);
            if (function(TAG, 1, int(in.size()), in.data(), &one) < 0) return false;
            out += one;
        }
        double squares = 0, logdets = 0;
        for (int64_t k = factors(); k < int64_t(in.size()); k++) squares += in[k] * in[k];
        for (int64_t k = 0; k < g->K; k++) logdets += in[k] - g->alphas[k];
        *g->out = out + 0.5 * g->gamma * g->gamma * squares - g->m * logdets;
        return true;
    }
};

struct mixture_gradient : mixture {
    reals one, all;

    explicit mixture_gradient(const void *data) : mixture(data), one(in.size()), all(in.size()) {}

    bool run() override {
        prepare();
        all.assign(all.size(), 0);
        for (int64_t n = 0; n < g->N; n++) {
            point(n);
            if (gradient(TAG, int(in.size()), in.data(), one.data()) < 0) return false;
            for (size_t k = 0; k < all.size(); k++) all[k] += one[k];
        }
        put_out();
        return true;
    }

    void put_out() {
        const double gg = g->gamma * g->gamma, lse = log_sum_exp(g->alphas, g->K);
        for (int64_t k = 0; k < g->K; k++) {
            g->alphas_b[k] = all[k] - double(g->N) * std::exp(g->alphas[k] - lse);
            for (int64_t i = 0; i < g->d; i++) g->means_b[k * g->d + i] = all[means() + k * g->d + i];
            for (int64_t i = 0; i < g->c; i++) {
                const int64_t at = factors() + k * g->c + i;
                const double b = all[at] + gg * in[at];
                g->icf_b[k * g->c + i] = i < g->d ? b * in[at] + all[k] - g->m : b;
            }
        }
    }
};

} // namespace

tape *gmm_primal(const void *data) {
    return new mixture_primal(data);
}

tape *gmm_gradient(const void *data) {
    return new mixture_gradient(data);
}
