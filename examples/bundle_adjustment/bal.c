#include "bal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static bool allocate(bal *b) {
    b->camera = new_array(b->nobservations, sizeof *b->camera);
    b->point = new_array(b->nobservations, sizeof *b->point);
    b->observed = new_array(b->nobservations, 2 * sizeof *b->observed);
    b->cameras = new_array(b->ncameras, BAL_CAMERA * sizeof *b->cameras);
    b->points = new_array(b->npoints, BAL_POINT * sizeof *b->points);
    return b->camera && b->point && b->observed && b->cameras && b->points;
}

void bal_free(bal *b) {
    if (!b) return;
    free(b->camera);
    free(b->point);
    free(b->observed);
    free(b->cameras);
    free(b->points);
    *b = (bal){0};
}

/* ---- reading and writing ---- */

static bool read_counts(bal *b, reader *r) {
    const int64_t most = INT32_MAX;
    if (!reader_count(r, "the number of cameras", 1, most, &b->ncameras)) return false;
    if (!reader_count(r, "the number of points", 1, most, &b->npoints)) return false;
    if (!reader_count(r, "the number of observations", 1, most, &b->nobservations)) return false;
    return reader_holds(r,
                        4.0 * (double)b->nobservations + BAL_CAMERA * (double)b->ncameras + BAL_POINT * (double)b->npoints);
}

static bool read_body(bal *b, reader *r) {
    for (int64_t i = 0; i < b->nobservations; i++) {
        if (!reader_count(r, "the camera of an observation", 0, b->ncameras - 1, &b->camera[i])) return false;
        if (!reader_count(r, "the point of an observation", 0, b->npoints - 1, &b->point[i])) return false;
        if (!reader_numbers(r, "a coordinate of an observation", &b->observed[2 * i], 2)) return false;
    }
    return reader_numbers(r, "a camera parameter", b->cameras, BAL_CAMERA * b->ncameras) &&
           reader_numbers(r, "a point coordinate", b->points, BAL_POINT * b->npoints) && reader_end(r);
}

bool bal_read(bal *b, const char *path, char *message, size_t size) {
    reader r;
    *b = (bal){0};
    bool ok = reader_open(&r, path) && read_counts(b, &r);
    if (ok && !allocate(b)) {
        snprintf(r.message, sizeof r.message, "%s: out of memory", path);
        ok = false;
    }
    ok = ok && read_body(b, &r);
    if (!ok) {
        snprintf(message, size, "%s", r.message);
        bal_free(b);
    }
    reader_close(&r);
    return ok;
}

bool bal_write(const bal *b, FILE *out) {
    fprintf(out, "%lld %lld %lld\n", (long long)b->ncameras, (long long)b->npoints, (long long)b->nobservations);
    for (int64_t i = 0; i < b->nobservations; i++)
        fprintf(out, "%lld %lld %.4f %.4f\n", (long long)b->camera[i], (long long)b->point[i], b->observed[2 * i],
                b->observed[2 * i + 1]);
    for (int64_t i = 0; i < BAL_CAMERA * b->ncameras; i++) fprintf(out, "%.10g\n", b->cameras[i]);
    for (int64_t i = 0; i < BAL_POINT * b->npoints; i++) fprintf(out, "%.10g\n", b->points[i]);
    return fflush(out) == 0 && !ferror(out);
}

/* ---- the camera ---- */

static double sinc(double a2) {
    if (a2 > 0.01) {
        double a = sqrt(a2);
        return sin(a) / a;
    }
    return 1 - a2 / 6 * (1 - a2 / 20 * (1 - a2 / 42 * (1 - a2 / 72)));
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

void bal_project(const double camera[BAL_CAMERA], const double point[BAL_POINT], double pixel[2]) {
    double a2 = camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2];
    double b = sinc(a2), s = sinc(a2 / 4), c = s * s / 2, u[3], v[3], p[3];
    cross(camera, point, u);
    cross(camera, u, v);
    for (int k = 0; k < 3; k++) p[k] = point[k] + camera[3 + k] + b * u[k] + c * v[k];
    double x = -p[0] / p[2], y = -p[1] / p[2], n = x * x + y * y;
    double scale = camera[6] * (1 + n * (camera[7] + n * camera[8]));
    pixel[0] = scale * x;
    pixel[1] = scale * y;
}

/* ---- the generator ---- */

static double uniform(uint64_t *seed) { /* in (0, 1]; splitmix64 */
    uint64_t z = *seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
}

static double gaussian(uint64_t *seed) {
    double radius = sqrt(-2 * log(uniform(seed)));
    return radius * cos(2 * M_PI * uniform(seed));
}

/* A camera at angle a of a ring of radius 5 about the y axis, looking at the origin: it turns by -a about y, so that the
 * first camera's rotation is exactly 0, and then stands 5 before what it looks at, which is along its -z. */
static void place_camera(double camera[BAL_CAMERA], double a) {
    const double values[BAL_CAMERA] = {0, a > M_PI ? 2 * M_PI - a : 0 - a, 0, 0, 0, -5, 800, -0.05, 0.01};
    memcpy(camera, values, sizeof values);
}

static void place_point(double point[BAL_POINT], uint64_t *seed) {
    double z = 2 * uniform(seed) - 1, angle = 2 * M_PI * uniform(seed), r = sqrt(1 - z * z);
    double bump = 0.9 + 0.2 * uniform(seed);
    point[0] = bump * r * cos(angle);
    point[1] = bump * z;
    point[2] = bump * r * sin(angle);
}

static bool sees(double ring_angle, const double point[BAL_POINT]) {
    return point[0] * sin(ring_angle) + point[2] * cos(ring_angle) > -0.1;
}

static void observe(bal *b, double noise, uint64_t *seed) {
    int64_t n = 0;
    for (int64_t p = 0; p < b->npoints; p++)
        for (int64_t c = 0; c < b->ncameras; c++) {
            if (!sees(2 * M_PI * (double)c / (double)b->ncameras, &b->points[BAL_POINT * p])) continue;
            b->camera[n] = c;
            b->point[n] = p;
            bal_project(&b->cameras[BAL_CAMERA * c], &b->points[BAL_POINT * p], &b->observed[2 * n]);
            b->observed[2 * n] += noise * gaussian(seed);
            b->observed[2 * n + 1] += noise * gaussian(seed);
            n++;
        }
    b->nobservations = n;
}

bool bal_generate(bal *b, int64_t ncameras, int64_t npoints, double noise, uint64_t seed) {
    *b = (bal){.ncameras = ncameras, .npoints = npoints, .nobservations = ncameras * npoints};
    if (!allocate(b)) {
        bal_free(b);
        return false;
    }
    for (int64_t c = 0; c < ncameras; c++)
        place_camera(&b->cameras[BAL_CAMERA * c], 2 * M_PI * (double)c / (double)ncameras);
    for (int64_t p = 0; p < npoints; p++) place_point(&b->points[BAL_POINT * p], &seed);
    observe(b, noise, &seed);
    return true;
}
