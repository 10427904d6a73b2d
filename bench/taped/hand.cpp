#include <cmath>

#include "whole.h"

namespace {

typedef std::vector<adouble> affine; // 3 by 4

affine compose(const affine &A, const affine &B) {
    affine C(12);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            C[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j];
            if (j == 3) C[4 * i + j] += A[4 * i + 3];
        }
    return C;
}

struct objective {
    const hand_data *g;

    affine turn(const double *a, const adouble &flexion, const adouble &abduction) const {
        const adouble cx = cos(flexion), sx = sin(flexion), cz = cos(abduction), sz = sin(abduction);
        affine B(12);
        for (int i = 0; i < 3; i++, a += 4) {
            const adouble z = a[1] * cz - a[0] * sz;
            B[4 * i] = a[0] * cz + a[1] * sz;
            B[4 * i + 1] = z * cx + a[2] * sx;
            B[4 * i + 2] = a[2] * cx - z * sx;
            B[4 * i + 3] = a[3];
        }
        return B;
    }

    std::vector<affine> transforms(const adouble *theta) const {
        std::vector<affine> absolute, T;
        const adouble zero = 0;
        for (int64_t m = 0; m < g->b; m++) {
            const int64_t joint = m < 2 ? 3 : (m - 2) % 4, first = 6 + (m - 2) / 4 * 4;
            const adouble &flexion = joint == 3 ? zero : joint == 0 ? theta[first] : theta[first + joint + 1];
            const adouble &abduction = joint == 0 ? theta[first + 1] : zero;
            const affine turned = turn(g->relatives + 12 * m, flexion, abduction);
            absolute.push_back(g->parents[m] < 0 ? turned : compose(absolute[g->parents[m]], turned));
            T.push_back(compose(absolute[m], affine(g->inverses + 12 * m, g->inverses + 12 * m + 12)));
        }
        return T;
    }

    static affine rotation(const adouble *r) {
        const adouble a2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], a = sqrt(a2), h = sin(0.5 * a);
        const adouble s = sin(a) / a, c = 2 * h * h / a2;
        affine R(12);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            R[4 * i + i] = 1 - c * (r[j] * r[j] + r[k] * r[k]);
            R[4 * i + j] = c * r[i] * r[j] - s * r[k];
            R[4 * j + i] = c * r[i] * r[j] + s * r[k];
        }
        for (int i = 0; i < 3; i++) R[4 * i + 3] = 0;
        return R;
    }

    void vertex(const std::vector<affine> &T, const affine &R, int64_t v, adouble p[3]) const {
        const double *X = g->X + 3 * v;
        adouble q[3];
        for (int i = 0; i < 3; i++) {
            q[i] = 0;
            for (int64_t m = 0; m < g->b; m++) {
                const adouble *t = &T[m][4 * i];
                q[i] += g->weights[g->b * v + m] * (t[0] * X[0] + t[1] * X[1] + t[2] * X[2] + t[3]);
            }
        }
        for (int i = 0; i < 3; i++) p[i] = R[4 * i] * q[0] + R[4 * i + 1] * q[1] + R[4 * i + 2] * q[2] + R[4 * i + 3];
    }

    // in: theta, then u0 and u1, which are the same for all points where their derivatives are wanted
    void operator()(const adouble *in, std::vector<adouble> &y) const {
        const std::vector<affine> T = transforms(in);
        affine R = rotation(in);
        for (int i = 0; i < 3; i++) R[4 * i + 3] = in[3 + i];
        for (int64_t i = 0; i < g->n; i++) {
            adouble corners[3][3], u[3];
            const int count = g->us ? 3 : 1;
            for (int c = 0; c < count; c++) vertex(T, R, g->vertex[count * i + c], corners[c]);
            if (g->us) {
                for (int c = 0; c < 2; c++) u[c] = g->us[2 * i + c] + in[HAND_PARAMETERS + c];
                u[2] = 1 - u[0] - u[1];
            }
            for (int k = 0; k < 3; k++) {
                adouble e = g->points[3 * i + k];
                if (!g->us) e -= corners[0][k];
                for (int c = 0; g->us && c < 3; c++) e -= u[c] * corners[c][k];
                y.push_back(e);
            }
        }
    }
};

const double zeros[2] = {0, 0}; // what is added to all us

std::vector<part> inputs(const hand_data *g) {
    std::vector<part> all = {{g->theta, HAND_PARAMETERS, nullptr}};
    if (g->us) all.push_back({zeros, 2, nullptr});
    return all;
}

struct jacobian_of : whole {
    const hand_data *g;
    std::vector<reals> J;
    std::vector<double *> rows;

    explicit jacobian_of(const hand_data *d) : whole(inputs(d), objective{d}), g(d) {
        J.assign(out.size(), reals(in.size()));
        for (reals &row : J) rows.push_back(row.data());
    }

    bool run() override {
        gather();
        if (jacobian(TAG, int(out.size()), int(in.size()), in.data(), rows.data()) < 0) return false;
        for (size_t j = 0; j < in.size(); j++)
            for (size_t i = 0; i < out.size(); i++) g->J[j * out.size() + i] = J[i][j];
        return true;
    }
};

} // namespace

tape *hand_primal(const void *data) {
    const hand_data *g = static_cast<const hand_data *>(data);
    return new whole_primal(inputs(g), g->e, objective{g});
}

tape *hand_jacobian(const void *data) {
    return new jacobian_of(static_cast<const hand_data *>(data));
}
