/* quaternion.c: for each q = (s, u) and v, 2 (u.v) u + (s^2 - u.u) v + 2 s u x v. */
#include "peers.h"
#include "space.h"

void PEER(quaternion_primal)(void *data) {
    const quaternion_data *g = data;
    double *restrict out = g->out;
    for (int64_t i = 0; i < g->n; i++) {
        const double *v = g->v + 3 * i, *q = g->q + 4 * i, *u = q + 1;
        const double a = 2 * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]), c = 2 * q[0];
        const double b = q[0] * q[0] - (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        out[3 * i] = a * u[0] + b * v[0] + c * (u[1] * v[2] - u[2] * v[1]);
        out[3 * i + 1] = a * u[1] + b * v[1] + c * (u[2] * v[0] - u[0] * v[2]);
        out[3 * i + 2] = a * u[2] + b * v[2] + c * (u[0] * v[1] - u[1] * v[0]);
    }
}

void PEER(quaternion_gradient)(void *data) {
    const quaternion_data *g = data;
    double *restrict v_b = g->v_b, *restrict q_b = g->q_b;
    for (int64_t i = 0; i < g->n; i++) {
        const double *v = g->v + 3 * i, *q = g->q + 4 * i, *u = q + 1, *seed = g->out_b + 3 * i, s = q[0];
        double uxv[3], gxu[3], vxg[3];
        cross(uxv, u, v);
        cross(gxu, seed, u);
        cross(vxg, v, seed);
        const double uv = dot3(u, v), ug = dot3(u, seed), vg = dot3(v, seed), b = s * s - dot3(u, u);
        q_b[4 * i] = 2 * (s * vg + dot3(uxv, seed));
        for (int k = 0; k < 3; k++) {
            q_b[4 * i + 1 + k] = 2 * (ug * v[k] + uv * seed[k] - vg * u[k] + s * vxg[k]);
            v_b[3 * i + k] = 2 * ug * u[k] + b * seed[k] + 2 * s * gxu[k];
        }
    }
}
