#include "differences.h"

#include <float.h>
#include <math.h>

double noise(uint32_t stream, uint32_t param, size_t element) { /* splitmix64 */
    uint64_t z = ((uint64_t)stream << 56) + ((uint64_t)param << 40) + element;
    z = (z + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)(int64_t)(z ^ z >> 31) * 0x1p-63;
}

double step_scale(const rvm_arg *a, size_t element) {
    double x = fabs(rvm_scalar_to_double(a->type, arg_get(a, element)));
    return a->type == RVM_FIX || !isfinite(x) ? 1 : fmax(x, 0.1);
}

rvm_status stencil_new(stencil *s, tool *t, const values *in, const values *out) {
    rvm_status st = RVM_OK;
    *s = (stencil){.t = t, .in = in, .out = out};
    for (int p = 0; !st && p < 4; p++) st = values_copy(&s->at[p], in, &t->err);
    return st;
}

void stencil_free(stencil *s) {
    for (int p = 0; p < 4; p++) values_free(&s->at[p]);
}

static void move(rvm_arg *a, size_t k, double by) {
    arg_set(a, k, rvm_scalar_from_double(a->type, rvm_scalar_to_double(a->type, arg_get(a, k)) + by));
}

rvm_status stencil_run(stencil *s, uint32_t param, ptrdiff_t element, double h) {
    static const int steps[4] = {-2, -1, 1, 2};
    rvm_status st = RVM_OK;
    s->h = h;
    for (int p = 0; !st && p < 4; p++) {
        rvm_arg *a = &s->at[p].arg[param];
        values_assign(&s->at[p], s->in);
        if (element >= 0) move(a, (size_t)element, h * steps[p] * step_scale(a, (size_t)element));
        for (size_t k = 0, n = element >= 0 ? 0 : arg_count(a); k < n; k++)
            move(a, k, h * steps[p] * noise(STREAM_V, param, k) * step_scale(a, k));
        st = rvm_call(s->t->machine, s->t->fn, s->at[p].arg, s->at[p].n, &s->t->err);
    }
    return st;
}

static double output(const values *v, uint32_t param, size_t element) {
    return rvm_scalar_to_double(v->info[param].type, arg_get(&v->arg[param], element));
}

double stencil_slope(const stencil *s, uint32_t param, size_t element, int side) {
    double y[4];
    for (int p = 0; p < 4; p++) y[p] = output(&s->at[p], param, element);
    if (!side) return (8 * (y[2] - y[1]) - (y[3] - y[0])) / (12 * s->h);
    double here = output(s->out, param, element);
    return side > 0 ? (y[2] - here) / s->h : (here - y[1]) / s->h;
}

double stencil_noise(const stencil *s, rvm_type t, double magnitude) {
    double unit = t == RVM_FIX ? ldexp(1, -RVM_FIX_FRACTION) : (t == RVM_F32 ? FLT_EPSILON : DBL_EPSILON) * magnitude;
    return (t == RVM_F32 ? 10 : 1000) * unit / s->h;
}
