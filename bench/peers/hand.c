/* hand.c: ADBench's hand tracking objective (examples/adbench/hand.rasm), and its Jacobian: the derivative of each bone's
 * transform by each angle that moves it, then that of each vertex. */
#include <math.h>
#include <string.h>

#include "peers.h"

enum { ROWS = 3, AFFINE = 12, ANGLES = HAND_PARAMETERS - 6 };

/* C = A B, matrices of 3 by 4; linear: B is a derivative, whose translation A does not move. */
static inline void compose(double *restrict C, const double *restrict A, const double *restrict B, int linear) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < 4; j++) C[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j];
        if (!linear) C[4 * i + 3] += A[4 * i + 3];
    }
}

/* B = A Rz(abduction) Rx(flexion), and its derivatives by both. */
static inline void turn(double *restrict B, double *restrict by_flexion, double *restrict by_abduction,
                        const double *restrict A, double flexion, double abduction) {
    const double cx = cos(flexion), sx = sin(flexion), cz = cos(abduction), sz = sin(abduction);
    for (int i = 0; i < ROWS; i++) {
        const double *a = A + 4 * i, y = a[0] * cz + a[1] * sz, z = a[1] * cz - a[0] * sz;
        const double b[4] = {y, z * cx + a[2] * sx, a[2] * cx - z * sx, a[3]};
        const double flexed[4] = {0, a[2] * cx - z * sx, -a[2] * sx - z * cx, 0}, abducted[4] = {z, -y * cx, y * sx, 0};
        memcpy(B + 4 * i, b, sizeof b);
        memcpy(by_flexion + 4 * i, flexed, sizeof flexed);
        memcpy(by_abduction + 4 * i, abducted, sizeof abducted);
    }
}

/* Which parameters turn bone m; -1: none. */
static inline void joints(int64_t m, int *flexion, int *abduction) {
    const int64_t joint = m < 2 ? 3 : (m - 2) % 4, first = 6 + (m - 2) / 4 * 4;
    *flexion = joint == 3 ? -1 : (int)(joint == 0 ? first : first + joint + 1);
    *abduction = joint == 0 ? (int)first + 1 : -1;
}

typedef struct frames {
    double turned[HAND_BONES][AFFINE], by_flexion[HAND_BONES][AFFINE], by_abduction[HAND_BONES][AFFINE];
    double absolute[HAND_BONES][AFFINE], T[HAND_BONES][AFFINE];
} frames;

static void pose(const hand_data *g, frames *f) {
    for (int64_t m = 0; m < g->b; m++) {
        int flexion, abduction;
        joints(m, &flexion, &abduction);
        turn(f->turned[m], f->by_flexion[m], f->by_abduction[m], g->relatives + AFFINE * m,
             flexion < 0 ? 0 : g->theta[flexion], abduction < 0 ? 0 : g->theta[abduction]);
        if (g->parents[m] < 0)
            memcpy(f->absolute[m], f->turned[m], sizeof f->turned[m]);
        else
            compose(f->absolute[m], f->absolute[g->parents[m]], f->turned[m], 0);
        compose(f->T[m], f->absolute[m], g->inverses + AFFINE * m, 0);
    }
}

/* R, and its derivatives by the three elements of the rotation vector if R_d is not NULL. */
static void rotation(const double r[3], double R[9], double R_d[3][9]) {
    const double a2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], a = sqrt(a2);
    const int small = a2 < 1e-4;
    const double s = small ? 1 - a2 / 6 : sin(a) / a, h = sin(0.5 * a), c = small ? 0.5 - a2 / 24 : 2 * h * h / a2;
    const double s2 = small ? -1.0 / 3 + a2 / 30 : (cos(a) - s) / a2, c2 = small ? -1.0 / 12 + a2 / 180 : (s - 2 * c) / a2;
    const double K[9] = {0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = (i == j ? 1 - c * a2 : 0) + s * K[3 * i + j] + c * r[i] * r[j];
    for (int k = 0; R_d && k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int cyclic = (j - i + 3) % 3, third = 3 - i - j; /* d K[i][j] / d r[third] is -1 or 1 */
                const double K_d = cyclic && third == k ? (cyclic == 1 ? -1 : 1) : 0;
                const double square = r[i] * r[j] - (i == j ? a2 : 0);
                const double square_d = (i == k ? r[j] : 0) + (j == k ? r[i] : 0) - (i == j ? 2 * r[k] : 0);
                R_d[k][3 * i + j] = s2 * r[k] * K[3 * i + j] + s * K_d + c2 * r[k] * square + c * square_d;
            }
}

static inline void apply(double y[3], const double R[9], const double x[3]) {
    for (int i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static inline void add_transformed(double p[3], double weight, const double *restrict T, const double *restrict X) {
    for (int i = 0; i < 3; i++)
        p[i] += weight * (T[4 * i] * X[0] + T[4 * i + 1] * X[1] + T[4 * i + 2] * X[2] + T[4 * i + 3]);
}

/* Vertex before the rotation and translation of the whole. */
static inline void skin(const hand_data *g, const frames *f, int64_t vertex, double p[3]) {
    p[0] = p[1] = p[2] = 0;
    for (int64_t m = 0; m < g->b; m++) add_transformed(p, g->weights[g->b * vertex + m], f->T[m], g->X + 3 * vertex);
}

static inline void place(const hand_data *g, const frames *f, const double R[9], int64_t vertex, double v[3]) {
    double p[3];
    skin(g, f, vertex, p);
    apply(v, R, p);
    for (int k = 0; k < 3; k++) v[k] += g->theta[3 + k];
}

void PEER(hand_primal)(void *data) {
    const hand_data *g = data;
    frames f;
    double R[9];
    pose(g, &f);
    rotation(g->theta, R, NULL);
    for (int64_t i = 0; i < g->n; i++) {
        double v[3];
        if (!g->us) {
            place(g, &f, R, g->vertex[i], v);
        } else {
            const double u[3] = {g->us[2 * i], g->us[2 * i + 1], 1 - g->us[2 * i] - g->us[2 * i + 1]};
            v[0] = v[1] = v[2] = 0;
            for (int c = 0; c < 3; c++) {
                double corner[3];
                place(g, &f, R, g->vertex[3 * i + c], corner);
                for (int k = 0; k < 3; k++) v[k] += u[c] * corner[k];
            }
        }
        for (int k = 0; k < 3; k++) g->e[3 * i + k] = g->points[3 * i + k] - v[k];
    }
}

/* ---- Jacobian ---- */

/* For each angle, the bones that it moves and the derivatives of their transforms. */
typedef struct motion {
    int count, bones[HAND_BONES];
    double T[HAND_BONES][AFFINE];
} motion;

/* `by` is the derivative of the turned frame of bone m, which an angle turns. */
static void follow(const hand_data *g, const frames *f, int64_t m, const double *by, motion *out) {
    double absolute[HAND_BONES][AFFINE];
    int moved[HAND_BONES] = {0};
    out->count = 0;
    for (int64_t k = m; k < g->b; k++) {
        const int64_t parent = g->parents[k];
        if (k == m && parent < 0)
            memcpy(absolute[k], by, sizeof absolute[k]);
        else if (k == m)
            compose(absolute[k], f->absolute[parent], by, 1);
        else if (parent >= 0 && moved[parent])
            compose(absolute[k], absolute[parent], f->turned[k], 0);
        else
            continue;
        moved[k] = 1;
        compose(out->T[out->count], absolute[k], g->inverses + AFFINE * k, 0);
        out->bones[out->count++] = (int)k;
    }
}

static void follow_all(const hand_data *g, const frames *f, motion motions[ANGLES]) {
    for (int64_t m = 0; m < g->b; m++) {
        int flexion, abduction;
        joints(m, &flexion, &abduction);
        if (flexion >= 0) follow(g, f, m, f->by_flexion[m], &motions[flexion - 6]);
        if (abduction >= 0) follow(g, f, m, f->by_abduction[m], &motions[abduction - 6]);
    }
}

/* Subtracts weight times the derivative of a vertex by theta from column i of J, and gives its place. */
static void add_vertex(const hand_data *g, const frames *f, const motion motions[ANGLES], const double R[9],
                       double R_d[3][9], int64_t vertex, double weight, int64_t i, double v[3]) {
    double *restrict J = g->J + 3 * i, p[3], y[3];
    const int64_t row = 3 * g->n;
    skin(g, f, vertex, p);
    apply(v, R, p);
    for (int k = 0; k < 3; k++) {
        apply(y, R_d[k], p);
        v[k] += g->theta[3 + k];
        for (int a = 0; a < 3; a++) J[k * row + a] -= weight * y[a];
        J[(3 + k) * row + k] -= weight;
    }
    for (int j = 0; j < ANGLES; j++) {
        const motion *o = &motions[j];
        double d[3] = {0};
        for (int m = 0; m < o->count; m++)
            add_transformed(d, g->weights[g->b * vertex + o->bones[m]], o->T[m], g->X + 3 * vertex);
        apply(y, R, d);
        for (int a = 0; a < 3; a++) J[(6 + j) * row + a] -= weight * y[a];
    }
}

void PEER(hand_jacobian)(void *data) {
    const hand_data *g = data;
    frames f;
    motion motions[ANGLES];
    double R[9], R_d[3][9];
    const int64_t row = 3 * g->n;
    pose(g, &f);
    rotation(g->theta, R, R_d);
    follow_all(g, &f, motions);
    memset(g->J, 0, (size_t)((HAND_PARAMETERS + (g->us ? 2 : 0)) * row) * sizeof(double));
    for (int64_t i = 0; i < g->n; i++) {
        double v[3][3];
        if (!g->us) {
            add_vertex(g, &f, motions, R, R_d, g->vertex[i], 1, i, v[0]);
            continue;
        }
        const double u[3] = {g->us[2 * i], g->us[2 * i + 1], 1 - g->us[2 * i] - g->us[2 * i + 1]};
        for (int c = 0; c < 3; c++) add_vertex(g, &f, motions, R, R_d, g->vertex[3 * i + c], u[c], i, v[c]);
        for (int c = 0; c < 2; c++)
            for (int k = 0; k < 3; k++) g->J[(HAND_PARAMETERS + c) * row + 3 * i + k] = v[2][k] - v[c][k];
    }
}
