/* bal.h: scenes of bundle adjustment in the text format of "Bundle Adjustment in the Large". */
#ifndef BAL_H
#define BAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BAL_CAMERA = 9, BAL_POINT = 3 }; /* parameters of a camera (r, t, f, k1, k2) and of a point */

typedef struct bal {
    int64_t ncameras, npoints, nobservations;
    int64_t *camera, *point; /* of each observation */
    double *observed;        /* x, y of each observation */
    double *cameras, *points;
} bal;

/* Both leave *b empty when they fail; message then says why, with file, line and value. Free with bal_free. */
bool bal_read(bal *b, const char *path, char *message, size_t size);
/* Cameras on a ring around a cloud of points on a ball, each of which sees the points that face it; Gaussian noise of
 * `noise` pixels on what it sees. The same seed gives the same scene. */
bool bal_generate(bal *b, int64_t ncameras, int64_t npoints, double noise, uint64_t seed);
bool bal_write(const bal *b, FILE *out); /* false: see errno */
void bal_free(bal *b);

/* Where a camera sees a point, in pixels. */
void bal_project(const double camera[BAL_CAMERA], const double point[BAL_POINT], double pixel[2]);

#endif
