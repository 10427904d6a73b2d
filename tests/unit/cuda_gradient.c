/* cuda_gradient.c: rvm_gradient where points of a mixture have a CTA each, forward and backward: both call the same
 * functions, whose blocks each needs for itself. By what stands in for a driver (tests/grid). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

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

static void gradient(rvm_machine *m, int64_t fn, mixture *of) {
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

Test(cuda_gradient, of_the_mixture_in_ctas) {
    static mixture expected, got;
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j;
    rvm_cuda *c;
    rvm_error e;
    rvm_cuda_totals t;
    rvm_options unchecked = rvm_options_default();
    rvm_jit_options o = rvm_jit_options_default();
    rvm_cuda_options device = rvm_cuda_options_default();
    o.tiers = false;
    unchecked.unchecked = unchecked.trust = true;
    unchecked.trail = RVM_TRAIL_OFF;
    device.least = 0;
    device.nested = RVM_CUDA_ALWAYS;
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    cr_assert(!rvm_open(RVM_EXAMPLES "/gmm/gmm.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, &unchecked, &m, &e));
    gradient(m, rvm_program_find(p, "gmm"), &expected);
    if (!rvm_jit_new(&o, &j, &e)) { /* there is LLVM */
        cr_assert(!rvm_jit_attach(j, m, &e) && !rvm_cuda_new(&device, &c, &e) && !rvm_cuda_attach(c, m, &e));
        gradient(m, rvm_program_find(p, "gmm"), &got);
        rvm_cuda_stats(c, &t);
        cr_assert(t.nested == 2 && !t.on_host, "%d: %s", (int)t.nested, t.why);
        cr_assert(!memcmp(&expected, &got, sizeof got) && got.by_icf[K - 1][C - 1] != 0);
        rvm_machine_free(m);
        rvm_cuda_free(c);
        rvm_jit_free(j);
    } else
        rvm_machine_free(m);
    rvm_program_free(p);
}
