#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "jobs_c.h"

static double *job_array(job *j, int64_t count) {
    double *a = new_array(count, sizeof *a);
    if (a) j->owned[j->nowned++] = a;
    return a;
}

static void add(job *j, rvm_arg a) {
    j->args[j->nargs++] = a;
}

/* An active array parameter; data NULL: one of its own, all 0. Returns the data, NULL when out of memory. */
static double *add_active(job *j, double *data, int ndim, int64_t rows, int64_t columns) {
    int64_t count = ndim == 1 ? rows : rows * columns;
    double *shadow = job_array(j, count);
    if (!data) data = job_array(j, count);
    if (!shadow || !data) return NULL;
    rvm_arg a = rvm_arg_array_f64(data, ndim, (int64_t[]){rows, columns});
    a.active = true;
    a.shadow_data = shadow;
    add(j, a);
    return data;
}

void job_free(job *j) {
    bal_free(&j->scene);
    for (int i = 0; i < j->nowned; i++) free(j->owned[i]);
    j->nowned = 0;
}

/* ---- (a) ---- */

enum { TRIPS = 5000000 };

static void run_peer_loop(job *j) {
    peer_loop(TRIPS, j->integers);
    j->sink = (double)j->integers[0];
}

bool job_loop(job *j) {
    *j = (job){.name = "loop", .title = "(a) integer updates and swaps", .path = BENCH_DIR "/loop.rasm", .function = "loop"};
    j->peer = run_peer_loop;
    add(j, rvm_arg_i64(TRIPS));
    for (int k = 0; k < 8; k++) {
        j->integers[k] = k + 1;
        add(j, rvm_arg_i64(k + 1));
    }
    return true;
}

/* ---- (b) ---- */

bool job_short(job *j) {
    *j =
        (job){.name = "short", .title = "a loop of four instructions", .path = BENCH_DIR "/short.rasm", .function = "short"};
    const int64_t values[] = {10000000, 1, 2, 3, 4};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) add(j, rvm_arg_i64(values[k]));
    return true;
}

enum { ROWS = 1000, COLUMNS = 1000 };

static void run_peer_matvec(job *j) {
    double *y = j->owned[j->nowned - 1];
    memset(y, 0, ROWS * sizeof *y);
    peer_matvec(ROWS, COLUMNS, y, j->args[1].data, j->args[2].data);
    j->sink = y[ROWS - 1];
}

bool job_matvec(job *j) {
    *j = (job){.name = "matvec",
               .title = "(b) matrix-vector product",
               .path = EXAMPLES_DIR "/matvec.rasm",
               .function = "matvec",
               .peer = run_peer_matvec,
               .multiply_adds = (double)ROWS * COLUMNS,
               .has_gradient = true};
    double *y = add_active(j, NULL, 1, ROWS, 0), *A = add_active(j, NULL, 2, ROWS, COLUMNS);
    double *x = add_active(j, NULL, 1, COLUMNS, 0), *y_peer = job_array(j, ROWS);
    if (!y || !A || !x || !y_peer) return false;
    for (int i = 0; i < ROWS * COLUMNS; i++) A[i] = (double)(i % 97) / 97 - 0.5;
    for (int i = 0; i < COLUMNS; i++) x[i] = (double)(i % 89) / 89 - 0.5;
    for (int i = 0; i < ROWS; i++) ((double *)j->args[0].shadow_data)[i] = 1;
    return true;
}

/* ---- (c) ---- */

static void run_peer_bundle(job *j) {
    j->sink = peer_cost(&j->scene, j->owned[j->nowned - 1]);
}

bool job_bundle(job *j) {
    *j = (job){.name = "bundle",
               .title = "(c) bundle adjustment, 30 cameras, 2000 points",
               .path = EXAMPLES_DIR "/bundle_adjustment/reproject.rasm",
               .function = "cost",
               .peer = run_peer_bundle,
               .has_gradient = true};
    bal *b = &j->scene;
    if (!bal_generate(b, 30, 2000, 0.5, 1)) return false;
    rvm_arg out = rvm_arg_f64(0);
    out.active = true;
    out.shadow.f = 1;
    add(j, out);
    bool ok = add_active(j, NULL, 2, b->nobservations, 2) && add_active(j, b->cameras, 2, b->ncameras, BAL_CAMERA) &&
              add_active(j, b->points, 2, b->npoints, BAL_POINT) && job_array(j, 2 * b->nobservations);
    add(j, rvm_arg_array_i64(b->camera, 1, &b->nobservations));
    add(j, rvm_arg_array_i64(b->point, 1, &b->nobservations));
    add(j, rvm_arg_array_f64(b->observed, 2, (int64_t[]){b->nobservations, 2}));
    return ok;
}

/* ---- Gaussian mixture ---- */

enum { COMPONENTS = 5, AXES = 4, TRIANGLE = AXES * (AXES + 1) / 2, POINTS = 200 };

/* Numbers between -1 and 1 that repeat late. */
static void fill(double *a, int64_t count) {
    for (int64_t i = 0; a && i < count; i++) a[i] = (double)((i * 31 + 17) % 197) / 98.5 - 1;
}

bool job_gmm(job *j) {
    *j = (job){.name = "gmm",
               .title = "Gaussian mixture, 5 components of 4 axes, 200 points",
               .path = EXAMPLES_DIR "/gmm/gmm.rasm",
               .function = "gmm",
               .has_gradient = true};
    rvm_arg out = rvm_arg_f64(0);
    out.active = true;
    out.shadow.f = 1;
    add(j, out);
    double *alphas = add_active(j, NULL, 1, COMPONENTS, 0), *means = add_active(j, NULL, 2, COMPONENTS, AXES);
    double *icf = add_active(j, NULL, 2, COMPONENTS, TRIANGLE), *x = job_array(j, POINTS * AXES);
    fill(alphas, COMPONENTS);
    fill(means, COMPONENTS * AXES);
    fill(icf, COMPONENTS * TRIANGLE);
    fill(x, POINTS * AXES);
    add(j, rvm_arg_array_f64(x, 2, (int64_t[]){POINTS, AXES}));
    add(j, rvm_arg_f64(1));
    add(j, rvm_arg_f64(0));
    return alphas && means && icf && x;
}
