/* space.h: vectors of three numbers. */
#ifndef SPACE_H
#define SPACE_H

static inline void cross(double y[3], const double a[3], const double b[3]) {
    y[0] = a[1] * b[2] - a[2] * b[1];
    y[1] = a[2] * b[0] - a[0] * b[2];
    y[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif
