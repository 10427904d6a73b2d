/* bundle.c: weighted residuals of ADBench's camera, and their Jacobian blocks.
 *
 * With a = |r|: P = d + b (r x d) + c (r x (r x d)), d = X - center, b = sin(a) / a, c = (1 - cos(a)) / a^2; then p = P.xy /
 * P.z and e = w (f (1 + k1 |p|^2 + k2 |p|^4) p + u - feature). */
#include <math.h>

#include "peers.h"
#include "space.h"

enum { R = 0, CENTER = 3, FOCAL = 6, U = 7, K1 = 9, K2 = 10, CAMERA = 11, POINT = 11, WEIGHT = 14, COLUMNS = 15 };

/* b and c, and their derivatives by a^2, times 2: d b / d r = b2 r. */
typedef struct turn {
    double b, c, b2, c2;
} turn;

static inline turn turn_of(double a2) {
    if (a2 > 1e-4) {
        const double a = sqrt(a2), s = sin(a), h = sin(0.5 * a), b = s / a, c = 2 * h * h / a2;
        return (turn){b, c, (1 - 2 * h * h - b) / a2, (b - 2 * c) / a2};
    }
    return (turn){1 - a2 / 6, 0.5 - a2 / 24, -1.0 / 3 + a2 / 30, -1.0 / 12 + a2 / 180};
}

/* What a camera makes of a point, with what the Jacobian needs of the way. */
typedef struct view {
    turn t;
    double d[3], u[3], v[3]; /* u = r x d, v = r x u */
    double iz, p[2], p2, radial;
} view;

static inline view look(const double *restrict camera, const double *restrict X) {
    view s;
    double P[3];
    for (int k = 0; k < 3; k++) s.d[k] = X[k] - camera[CENTER + k];
    s.t = turn_of(dot3(camera, camera));
    cross(s.u, camera, s.d);
    cross(s.v, camera, s.u);
    for (int k = 0; k < 3; k++) P[k] = s.d[k] + s.t.b * s.u[k] + s.t.c * s.v[k];
    s.iz = 1 / P[2];
    s.p[0] = P[0] * s.iz;
    s.p[1] = P[1] * s.iz;
    s.p2 = s.p[0] * s.p[0] + s.p[1] * s.p[1];
    s.radial = 1 + s.p2 * (camera[K1] + s.p2 * camera[K2]);
    return s;
}

void PEER(bundle_primal)(void *data) {
    const bundle_data *g = data;
    double *restrict e = g->e, *restrict ew = g->ew;
    for (int64_t i = 0; i < g->n; i++) {
        const double *camera = g->cameras + CAMERA * g->camera[i], w = g->w[i];
        const view s = look(camera, g->points + 3 * g->point[i]);
        const double scale = camera[FOCAL] * s.radial;
        for (int k = 0; k < 2; k++) e[2 * i + k] = w * (scale * s.p[k] + camera[U + k] - g->feature[2 * i + k]);
        ew[i] = 1 - w * w;
    }
}

/* The row of e[k]: g is its derivative by P, from which those by r, center and X follow. */
static inline void row(double *restrict J, int k, const double *restrict camera, const view *s, double w, double feature) {
    const double f = camera[FOCAL], wp = w * s->p[k], slope = f * (camera[K1] + 2 * s->p2 * camera[K2]);
    const double a = w * f * s->radial, b = 2 * wp * slope;
    const double px_b = (k == 0 ? a : 0) + b * s->p[0], py_b = (k == 1 ? a : 0) + b * s->p[1];
    const double g[3] = {px_b * s->iz, py_b * s->iz, -(px_b * s->p[0] + py_b * s->p[1]) * s->iz};
    double rg[3], rrg[3], dg[3];
    cross(rg, camera, g);
    cross(rrg, camera, rg);
    cross(dg, s->d, g);
    const double along = s->t.b2 * dot3(s->u, g) + s->t.c2 * dot3(s->v, g) - 2 * s->t.c * dot3(s->d, g);
    const double r_d = s->t.c * dot3(camera, s->d), r_g = s->t.c * dot3(camera, g);
    for (int i = 0; i < 3; i++) {
        const double X_b = g[i] - s->t.b * rg[i] + s->t.c * rrg[i];
        J[R + i] = along * camera[i] + s->t.b * dg[i] + g[i] * r_d + s->d[i] * r_g;
        J[CENTER + i] = -X_b;
        J[POINT + i] = X_b;
    }
    J[FOCAL] = wp * s->radial;
    J[U] = k == 0 ? w : 0;
    J[U + 1] = k == 1 ? w : 0;
    J[K1] = wp * f * s->p2;
    J[K2] = wp * f * s->p2 * s->p2;
    J[WEIGHT] = f * s->radial * s->p[k] + camera[U + k] - feature;
}

void PEER(bundle_jacobian)(void *data) {
    const bundle_data *g = data;
    double *restrict J = g->J, *restrict Jw = g->Jw;
    for (int64_t i = 0; i < g->n; i++) {
        const double *camera = g->cameras + CAMERA * g->camera[i], w = g->w[i];
        const view s = look(camera, g->points + 3 * g->point[i]);
        for (int k = 0; k < 2; k++) row(J + 2 * COLUMNS * i + COLUMNS * k, k, camera, &s, w, g->feature[2 * i + k]);
        Jw[i] = -2 * w;
    }
}
