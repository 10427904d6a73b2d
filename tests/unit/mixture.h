/* mixture.h: a small Gaussian mixture and its gradient (examples/gmm), for tests of blocks on a device. */
#ifndef RVM_TEST_MIXTURE_H
#define RVM_TEST_MIXTURE_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "rvm_derivatives.h"

enum { D = 3, K = 9, N = 70, C = D * (D + 1) / 2 };
typedef struct mixture {
    double alphas[K], means[K][D], icf[K][C], x[N][D], by_alphas[K], by_means[K][D], by_icf[K][C];
} mixture;

static void fill(double *x, size_t n, double scale) {
    for (size_t k = 0; k < n; k++) x[k] = scale * sin((double)(k * k) + scale);
}

static rvm_arg matrix(double *x, double *shadow, int64_t n, int64_t m) {
    rvm_arg a = rvm_arg_array_f64(x, 2, (int64_t[]){n, m});
    a.shadow_data = shadow;
    a.active = shadow;
    return a;
}

/* fn: gmm. of: parameters and points, and their shadows. */
static void mixture_gradient(rvm_machine *m, int64_t fn, mixture *of) {
    rvm_error e;
    memset(of, 0, sizeof *of);
    fill(of->alphas, K, .5);
    fill(of->means[0], sizeof of->means / 8, 1);
    fill(of->icf[0], sizeof of->icf / 8, .25);
    fill(of->x[0], sizeof of->x / 8, 2);
    rvm_arg a[7] = {rvm_arg_f64(0),
                    rvm_arg_array_f64(of->alphas, 1, (int64_t[]){K}),
                    matrix(of->means[0], of->by_means[0], K, D),
                    matrix(of->icf[0], of->by_icf[0], K, C),
                    matrix(of->x[0], NULL, N, D),
                    rvm_arg_f64(1),
                    rvm_arg_f64(0)};
    a[0].active = a[1].active = true;
    a[0].shadow.f = 1;
    a[1].shadow_data = of->by_alphas;
    cr_assert(!rvm_gradient(m, fn, a, 7, &e), "%s", e.message);
}

#endif
