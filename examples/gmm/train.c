/* train.c: a Gaussian mixture is trained by gradient ascent over gmm.rasm. Where there is a CUDA device its parallel block
 * runs there, and the points, which no step changes, stay there; else all runs on the processors here. The code is the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_derivatives.h"

static const char usage[] =
    "usage: train [POINTS [STEPS]]\nTrains a mixture of 8 Gaussians in 3 dimensions on points from 8 places.\n";

enum { K = 8, D = 3, C = D * (D + 1) / 2, PARAMETERS = K * (1 + D + C) };

typedef struct training {
    int64_t n, steps;
    double *x;                                    /* [n, D] */
    double theta[PARAMETERS];                     /* alphas [K], means [K, D], icf [K, C] */
    double slope[PARAMETERS];                     /* of the log-posterior */
    double first[PARAMETERS], second[PARAMETERS]; /* Adam's moments */
} training;

/* A linear congruential generator, so that every run has the same points; sums of 12 are about normal. */
static double normal(uint64_t *state) {
    double sum = -6;
    for (int k = 0; k < 12; k++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

static void make_points(training *t) {
    uint64_t state = 1;
    double place[K][D];
    for (int k = 0; k < K; k++)
        for (int j = 0; j < D; j++) place[k][j] = 4 * normal(&state);
    for (int64_t i = 0; i < t->n; i++)
        for (int j = 0; j < D; j++) t->x[i * D + j] = place[i % K][j] + normal(&state);
    for (int k = 0; k < K * D; k++) t->theta[K + k] = 4 * normal(&state);
}

/* One step of Adam. */
static void step(training *t, int number) {
    const double rate = .05, b1 = .9, b2 = .999;
    for (int k = 0; k < PARAMETERS; k++) {
        const double g = t->slope[k] / (double)t->n;
        t->first[k] = b1 * t->first[k] + (1 - b1) * g;
        t->second[k] = b2 * t->second[k] + (1 - b2) * g * g;
        const double mean = t->first[k] / (1 - pow(b1, number)), size = t->second[k] / (1 - pow(b2, number));
        t->theta[k] += rate * mean / (sqrt(size) + 1e-8);
    }
}

static rvm_arg active(double *data, double *slope, int ndim, int64_t rows, int64_t columns) {
    rvm_arg a = rvm_arg_array_f64(data, ndim, (int64_t[]){rows, columns});
    a.active = true;
    a.shadow_data = slope;
    return a;
}

static rvm_status train(training *t, rvm_machine *m, int64_t fn, double *points, rvm_error *e) {
    rvm_status st = RVM_OK;
    double seconds = 0;
    for (int64_t k = 1; k <= t->steps && !st; k++) {
        rvm_arg args[] = {rvm_arg_f64(0),
                          active(t->theta, t->slope, 1, K, 0),
                          active(t->theta + K, t->slope + K, 2, K, D),
                          active(t->theta + K + K * D, t->slope + K + K * D, 2, K, C),
                          rvm_arg_array_f64(points, 2, (int64_t[]){t->n, D}),
                          rvm_arg_f64(1),
                          rvm_arg_f64(0)};
        args[0].active = true;
        args[0].shadow.f = 1;
        memset(t->slope, 0, sizeof t->slope);
        const double begin = now();
        st = rvm_value_and_gradient(m, fn, args, sizeof args / sizeof *args, e);
        seconds = now() - begin;
        if (st) break;
        if (k == 1 || k == t->steps) printf("step %lld: %.6f a point\n", (long long)k, args[0].value.f / (double)t->n);
        step(t, (int)k);
    }
    if (!st) printf("%.3f ms for a value and a gradient\n", 1e3 * seconds);
    return st;
}

static rvm_status open_machine(const rvm_program *p, rvm_jit **j, rvm_machine **m, rvm_error *e) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = rvm_jit_options_default();
    o.unchecked = true; /* kernels check no releases; indices are checked still */
    o.trail = RVM_TRAIL_OFF;
    jit.fast_math = true;
    jit.tiers = false;
    rvm_status st = rvm_machine_new(p, &o, m, e);
    if (!st) st = rvm_jit_new(&jit, j, e);
    return st ? st : rvm_jit_attach(*j, *m, e);
}

int main(int argc, char **argv) {
    training t = {.n = argc > 1 ? atoll(argv[1]) : 100000, .steps = argc > 2 ? atoll(argv[2]) : 200};
    rvm_program *p = NULL;
    rvm_machine *m = NULL;
    rvm_jit *j = NULL;
    rvm_cuda *c = NULL;
    rvm_cuda_array *points = NULL;
    rvm_cuda_totals moved;
    rvm_error e = {0};
    if (argc > 3 || t.n < 1 || t.n > INT32_MAX || t.steps < 1) return fputs(usage, stderr), 2;
    if (!(t.x = new_array(t.n * D, sizeof(double)))) return fputs("train: out of memory\n", stderr), 4;
    make_points(&t);
    rvm_status st = rvm_open(GMM, NULL, &p, &e, NULL, NULL);
    if (!st) st = open_machine(p, &j, &m, &e);
    double *x = t.x;
    if (!st && !rvm_cuda_new(NULL, &c, &e) && !rvm_cuda_attach(c, m, &e) &&
        !rvm_cuda_array_new(c, (size_t)t.n * D, &points, &e) && !rvm_cuda_array_upload(points, 0, (size_t)t.n * D, t.x, &e))
        x = rvm_cuda_array_data(points); /* all else as without a device */
    else if (!st)
        printf("no device: %s\n", e.message);
    if (!st) st = train(&t, m, rvm_program_find(p, "gmm"), x, &e);
    rvm_cuda_stats(c, &moved);
    if (c)
        printf("%.3f MB to the device, %.3f MB from it, %llu blocks there\n", 1e-6 * (double)moved.uploaded,
               1e-6 * (double)moved.downloaded, (unsigned long long)moved.blocks);
    const int code = print_failure(st, &e);
    rvm_machine_free(m);
    rvm_cuda_array_free(points);
    rvm_cuda_free(c);
    rvm_jit_free(j);
    rvm_program_free(p);
    free(t.x);
    return code;
}
