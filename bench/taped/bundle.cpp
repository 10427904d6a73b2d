// bundle.cpp: one tape of an observation's residual, evaluated for all. The feature is a parameter of the tape.
#include <cmath>

#include "tapes.h"

namespace {

enum { CAMERA = 11, POINT = 11, WEIGHT = 14, INPUTS = 15 };

void cross(adouble *y, const adouble *a, const adouble *b) {
    for (int i = 0; i < 3; i++) y[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

void residual(adouble *e, const adouble *in, const adouble *feature) {
    const adouble a2 = in[0] * in[0] + in[1] * in[1] + in[2] * in[2], a = sqrt(a2);
    const adouble b = sin(a) / a, h = sin(0.5 * a), c = 2.0 * h * h / a2;
    adouble d[3], u[3], v[3], P[3], p[2];
    for (int i = 0; i < 3; i++) d[i] = in[POINT + i] - in[3 + i];
    cross(u, in, d);
    cross(v, in, u);
    for (int i = 0; i < 3; i++) P[i] = d[i] + b * u[i] + c * v[i];
    for (int i = 0; i < 2; i++) p[i] = P[i] / P[2];
    const adouble p2 = p[0] * p[0] + p[1] * p[1], scale = in[6] * (1 + p2 * (in[9] + p2 * in[10]));
    for (int i = 0; i < 2; i++) e[i] = in[WEIGHT] * (scale * p[i] + in[7 + i] - feature[i]);
}

struct observations : tape {
    const bundle_data *g;
    double in[INPUTS];

    explicit observations(const void *data) : g(static_cast<const bundle_data *>(data)) {
        take(0);
        tape_begin();
        adouble a[INPUTS], e[2], feature[2];
        double value;
        for (int k = 0; k < INPUTS; k++) a[k] <<= in[k];
        for (int k = 0; k < 2; k++) feature[k] = mkparam(g->feature[k]);
        residual(e, a, feature);
        for (adouble &x : e) x >>= value;
        tape_end();
    }

    void take(int64_t i) {
        for (int k = 0; k < CAMERA; k++) in[k] = g->cameras[CAMERA * g->camera[i] + k];
        for (int k = 0; k < 3; k++) in[POINT + k] = g->points[3 * g->point[i] + k];
        in[WEIGHT] = g->w[i];
    }

    void observe(int64_t i) {
        take(i);
        set_param_vec(TAG, 2, const_cast<double *>(g->feature + 2 * i));
    }
};

struct residuals : observations {
    using observations::observations;

    bool run() override {
        for (int64_t i = 0; i < g->n; i++) {
            observe(i);
            if (function(TAG, 2, INPUTS, in, g->e + 2 * i) < 0) return false;
            g->ew[i] = 1 - g->w[i] * g->w[i];
        }
        return true;
    }
};

struct blocks : observations {
    using observations::observations;

    bool run() override {
        for (int64_t i = 0; i < g->n; i++) {
            double *rows[2] = {g->J + 2 * INPUTS * i, g->J + 2 * INPUTS * i + INPUTS};
            observe(i);
            if (jacobian(TAG, 2, INPUTS, in, rows) < 0) return false;
            g->Jw[i] = -2 * g->w[i];
        }
        return true;
    }
};

} // namespace

tape *bundle_primal(const void *data) {
    return new residuals(data);
}

tape *bundle_jacobian(const void *data) {
    return new blocks(data);
}
