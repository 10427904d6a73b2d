// whole.h: tasks of which ADOL-C tapes all: numbers in, numbers out.
#ifndef BENCH_WHOLE_H
#define BENCH_WHOLE_H

#include <cstring>

#include "tapes.h"

// Some of the inputs, and where their derivatives go.
struct part {
    const double *data;
    int64_t count;
    double *shadow;
};

struct whole : tape {
    std::vector<part> parts;
    reals in, out, in_b;

    // F maps a vector of adoubles, the parts one after the other, to results that it appends to another.
    template <class F> whole(std::vector<part> p, F f) : parts(std::move(p)) {
        gather();
        in_b.resize(in.size());
        tape_begin();
        std::vector<adouble> a(in.size()), y;
        for (size_t k = 0; k < in.size(); k++) a[k] <<= in[k];
        f(a.data(), y);
        out.resize(y.size());
        for (size_t k = 0; k < y.size(); k++) y[k] >>= out[k];
        tape_end();
    }

    void gather() {
        in.clear();
        for (const part &p : parts) in.insert(in.end(), p.data, p.data + p.count);
    }

    void scatter() const {
        size_t at = 0;
        for (const part &p : parts) {
            std::memcpy(p.shadow, &in_b[at], size_t(p.count) * sizeof(double));
            at += size_t(p.count);
        }
    }
};

// Results, to where `to` points.
struct whole_primal : whole {
    double *to;

    template <class F> whole_primal(std::vector<part> p, double *to_, F f) : whole(std::move(p), f), to(to_) {}

    bool run() override {
        gather();
        return function(TAG, int(out.size()), int(in.size()), in.data(), to) >= 0;
    }
};

// The derivatives of the sum of seed times results; seed NULL: of the one result.
struct whole_gradient : whole {
    const double *seed;

    template <class F> whole_gradient(std::vector<part> p, const double *seed_, F f) : whole(std::move(p), f), seed(seed_) {}

    bool run() override {
        static double one = 1;
        const int m = int(out.size()), n = int(in.size());
        gather();
        if (zos_forward(TAG, m, n, 1, in.data(), out.data()) < 0) return false;
        if (fos_reverse(TAG, m, n, seed ? const_cast<double *>(seed) : &one, in_b.data()) < 0) return false;
        scatter();
        return true;
    }
};

#endif
