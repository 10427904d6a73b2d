// batches.cpp: Bessel functions and rotations: one tape of an element, evaluated for all.
#include <cmath>

#include "tapes.h"

namespace {

struct bessel : tape {
    const bessel_data *g;
    bool wants_gradient;

    bessel(const void *data, bool gradient_) : g(static_cast<const bessel_data *>(data)), wants_gradient(gradient_) {
        double value;
        tape_begin();
        adouble z;
        z <<= 1.0;
        const adouble half = 0.5 * z, q = half * half;
        adouble term = 1, sum;
        for (int64_t i = 1; i <= g->v; i++) term *= half / double(i);
        sum = term;
        for (int64_t k = 1; std::fabs(term.value()) > 1e-20; k++) {
            term *= -q / double(k * (k + g->v));
            sum += term;
        }
        sum >>= value;
        tape_end();
    }

    bool run() override {
        bool ok = true;
        for (int64_t i = 0; i < g->n && ok; i++) {
            double z = g->z[i];
            ok = wants_gradient ? gradient(TAG, 1, &z, g->z_b + i) >= 0 : function(TAG, 1, 1, &z, g->out + i) >= 0;
            if (wants_gradient) g->z_b[i] *= g->out_b[i];
        }
        return ok;
    }
};

struct rotation : tape {
    const quaternion_data *g;
    bool wants_gradient;

    rotation(const void *data, bool gradient_) : g(static_cast<const quaternion_data *>(data)), wants_gradient(gradient_) {
        double in[7], value;
        take(0, in);
        tape_begin();
        adouble a[7];
        for (int k = 0; k < 7; k++) a[k] <<= in[k];
        const adouble *v = a, &s = a[3], *u = a + 4;
        const adouble uv = u[0] * v[0] + u[1] * v[1] + u[2] * v[2], uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        const adouble x = 2 * uv, y = s * s - uu, z = 2 * s;
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            adouble out = x * u[k] + y * v[k] + z * (u[i] * v[j] - u[j] * v[i]);
            out >>= value;
        }
        tape_end();
    }

    void take(int64_t i, double *in) const {
        for (int k = 0; k < 3; k++) in[k] = g->v[3 * i + k];
        for (int k = 0; k < 4; k++) in[3 + k] = g->q[4 * i + k];
    }

    bool run() override {
        for (int64_t i = 0; i < g->n; i++) {
            double in[7], out[3], in_b[7];
            take(i, in);
            if (zos_forward(TAG, 3, 7, wants_gradient, in, wants_gradient ? out : g->out + 3 * i) < 0) return false;
            if (!wants_gradient) continue;
            if (fos_reverse(TAG, 3, 7, const_cast<double *>(g->out_b + 3 * i), in_b) < 0) return false;
            for (int k = 0; k < 3; k++) g->v_b[3 * i + k] = in_b[k];
            for (int k = 0; k < 4; k++) g->q_b[4 * i + k] = in_b[3 + k];
        }
        return true;
    }
};

} // namespace

tape *bessel_primal(const void *data) {
    return new bessel(data, false);
}

tape *bessel_gradient(const void *data) {
    return new bessel(data, true);
}

tape *quaternion_primal(const void *data) {
    return new rotation(data, false);
}

tape *quaternion_gradient(const void *data) {
    return new rotation(data, true);
}
