/* differences.h: derivatives by differences of forward runs, to hold the machine's own against. */
#ifndef RVM_TOOLS_DIFFERENCES_H
#define RVM_TOOLS_DIFFERENCES_H

#include "tool.h"

/* The same number in [-1, 1) for the same stream, parameter and element, on every machine. */
double noise(uint32_t stream, uint32_t param, size_t element);
/* How far an element is moved by a step of 1: about its own size. */
double step_scale(const rvm_arg *a, size_t element);

enum { WHOLE = -1 }; /* instead of an element: all of the parameter, in the direction noise * step_scale of stream V */
enum { STREAM_V = 1, STREAM_W = 2 };

typedef struct stencil {
    tool *t;
    const values *in, *out; /* where the differences are taken, and what the function makes of it */
    values at[4];           /* outputs at -2h, -h, h, 2h */
    double h;
} stencil;

rvm_status stencil_new(stencil *s, tool *t, const values *in, const values *out);
void stencil_free(stencil *s);
/* Runs the function at the four points. Any run-time error, in t->err. */
rvm_status stencil_run(stencil *s, uint32_t param, ptrdiff_t element, double h);
/* Slope of an output: central, of fourth order; to the right (1) and to the left (-1), of first order. */
double stencil_slope(const stencil *s, uint32_t param, size_t element, int side);
/* What rounding alone may do to a slope of outputs of that size. */
double stencil_noise(const stencil *s, rvm_type t, double magnitude);

#endif
