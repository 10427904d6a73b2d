/* cuda_libdevice.c: kernels with libdevice's elementary functions, as on a device: norm by norm they give what the
 * interpreter does, within 1e-12. By what stands in for a driver (tests/grid); where CUDA's toolkit is. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "device_fixture.h"

#include "try_one_in.h"
#include "mixture.h" /* whose names are short: last */

/* x: from 0 to 1; w: also large, so that sines take another way. */
#define FUNCTIONS_OF(type)                                                                                                  \
    "fn functions(y: " type "[32, n], x: " type "[n], w: " type "[n])\n"                                                    \
    "    parallel i in 0..n\n"                                                                                              \
    "        y[0, i] += exp(40 * w[i])\n"                                                                                   \
    "        y[1, i] += exp2(x[i])\n"                                                                                       \
    "        y[2, i] += exp10(x[i])\n"                                                                                      \
    "        y[3, i] += expm1(x[i])\n"                                                                                      \
    "        y[4, i] += log(x[i])\n"                                                                                        \
    "        y[5, i] += log2(x[i])\n"                                                                                       \
    "        y[6, i] += log10(x[i])\n"                                                                                      \
    "        y[7, i] += log1p(x[i])\n"                                                                                      \
    "        y[8, i] += cbrt(x[i])\n"                                                                                       \
    "        y[9, i] += sin(1e12 * w[i])\n"                                                                                 \
    "        y[10, i] += cos(1e12 * w[i])\n"                                                                                \
    "        y[11, i] += tan(x[i])\n"                                                                                       \
    "        y[12, i] += asin(x[i])\n"                                                                                      \
    "        y[13, i] += acos(x[i])\n"                                                                                      \
    "        y[14, i] += atan(40 * w[i])\n"                                                                                 \
    "        y[15, i] += sinh(x[i])\n"                                                                                      \
    "        y[16, i] += cosh(x[i])\n"                                                                                      \
    "        y[17, i] += tanh(x[i])\n"                                                                                      \
    "        y[18, i] += asinh(x[i])\n"                                                                                     \
    "        y[19, i] += acosh(1 + x[i])\n"                                                                                 \
    "        y[20, i] += atanh(x[i])\n"                                                                                     \
    "        y[21, i] += erf(x[i])\n"                                                                                       \
    "        y[22, i] += erfc(x[i])\n"                                                                                      \
    "        y[23, i] += lgamma(x[i])\n"                                                                                    \
    "        y[24, i] += x[i] ^ 1.7\n"                                                                                      \
    "        y[25, i] += hypot(x[i], 0.3)\n"                                                                                \
    "        y[26, i] += atan2(x[i], w[i])\n"                                                                               \
    "        y[27, i] += sinpi(x[i])\n"                                                                                     \
    "        y[28, i] += cospi(x[i])\n"                                                                                     \
    "        y[29, i] += sin(x[i])\n"                                                                                       \
    "        y[30, i] += cos(x[i])\n"                                                                                       \
    "        y[31, i] += tan(1e12 * w[i])\n"                                                                                \
    "    end\n"                                                                                                             \
    "end\n"
static const char text[] = FUNCTIONS_OF("real"), singles[] = FUNCTIONS_OF("f32");
static const char arithmetic[] = "fn functions(y: f32[32, n], x: f32[n], w: f32[n])\n"
                                 "    parallel i in 0..n\n"
                                 "        y[0, i] += (x[i] + w[i]) * x[i] - w[i] / x[i] + sqrt(x[i] * 3)\n"
                                 "        y[1, i] += fma(x[i], w[i], -x[i]) / 7 + 1 / (x[i] + 3)\n"
                                 "        y[2, i] += max(x[i] / 3, w[i] / 5) - abs(w[i]) + floor(w[i] * 4)\n"
                                 "        y[3, i] += x[i] * 3\n"
                                 "        y[4, i] += w[i] * 5\n"
                                 "        rot y[3, i], y[4, i], w[i]\n"
                                 "        hadamard y[3, i], y[4, i]\n"
                                 "    end\n"
                                 "end\n";
enum { FUNCTIONS = 32, NUMBERS = 400 };

/* ---- the device ---- */

static void begin(fixture *f) {
    rvm_options unchecked = rvm_options_default();
    unchecked.unchecked = unchecked.trust = true;
    unchecked.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_machine_new(f->p, &unchecked, &f->m, &f->e));
}

/* From now on. */
static void take_device(fixture *f, rvm_cuda_nested nested, bool fast) {
    rvm_jit_options o = rvm_jit_options_default();
    o.threads = 0;
    rvm_cuda_options device = rvm_cuda_options_default();
    o.tiers = false;
    o.level = 0;
    o.fast_math = fast;
    device.least = 0;
    device.nested = nested;
    char path[PATH_MAX];
    rvm__libdevice_find(path);
    if (!*path) cr_skip("no libdevice");
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    setenv("RVM_GRID_LIBDEVICE", "1", 1);
    if (rvm_jit_new(&o, &f->j, &f->e)) cr_skip("no LLVM");
    cr_assert(!rvm_jit_attach(f->j, f->m, &f->e) && !rvm_cuda_new(&device, &f->c, &f->e));
    cr_assert(!rvm_cuda_attach(f->c, f->m, &f->e));
}

static void expect_there(const fixture *f) {
    rvm_cuda_totals t;
    rvm_cuda_stats(f->c, &t);
    cr_assert(t.blocks && !t.on_host, "%d: %s", (int)t.blocks, t.why);
}

/* ---- how far ---- */

static double norm_of(const double *x, const double *y, int n) {
    double s = 0;
    for (int k = 0; k < n; k++) s += (x[k] - (y ? y[k] : 0)) * (x[k] - (y ? y[k] : 0));
    return sqrt(s);
}

static void expect_near(const char *what, int number, const double *got, const double *expected, int n, double tolerance) {
    const double off = norm_of(got, expected, n), of = norm_of(expected, NULL, n);
    cr_assert(of > 0 && off <= tolerance * of, "%s %d: off by %g of %g", what, number, off, of);
}

/* ---- what is computed ---- */

static void call(fixture *f, rvm_type type, double *y) {
    static double x[NUMBERS], w[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) x[i] = (float)((i + .3) / NUMBERS), w[i] = (float)(2 * sin(i));
    memset(y, 0, sizeof(double) * FUNCTIONS * NUMBERS);
    rvm_arg a[3] = {rvm_arg_array(type, y, 2, (int64_t[]){FUNCTIONS, NUMBERS}),
                    rvm_arg_array(type, x, 1, (int64_t[]){NUMBERS}), rvm_arg_array(type, w, 1, (int64_t[]){NUMBERS})};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "functions"), a, 3, &f->e), "%s", f->e.message);
}

static const double tolerance = 1e-12;

/* So many functions. */
static void compare(const char *source, size_t size, int n, bool fast, double within) {
    static double expected[FUNCTIONS * NUMBERS], got[FUNCTIONS * NUMBERS];
    fixture f = {.p = NULL};
    cr_assert(!rvm_assemble(source, size, "t", NULL, &f.p, &f.e, NULL, NULL), "%s", f.e.message);
    begin(&f);
    call(&f, fast ? RVM_F32 : RVM_F64, expected);
    take_device(&f, RVM_CUDA_BY_SIZE, fast);
    call(&f, fast ? RVM_F32 : RVM_F64, got);
    expect_there(&f);
    for (int k = 0; k < n; k++) { expect_near("function", k, got + k * NUMBERS, expected + k * NUMBERS, NUMBERS, within); }
    cr_assert(memcmp(got, expected, sizeof got), "these are not libdevice's");
    end(&f);
}

Test(cuda_libdevice, functions) {
    compare(text, sizeof text - 1, FUNCTIONS, false, tolerance);
}

/* A float has 24 bits, and what is a float's here is a double's, rounded, there. */
Test(cuda_libdevice, functions_of_f32) {
    compare(singles, sizeof singles - 1, FUNCTIONS, true, 1e-6);
}

Test(cuda_libdevice, arithmetic_of_f32) {
    compare(arithmetic, sizeof arithmetic - 1, 5, true, 1e-6);
}

static void gradient(fixture *f, mixture *of) {
    mixture_gradient(f->m, rvm_program_find(f->p, "gmm"), of);
}

static void expect_mixture(rvm_cuda_nested nested) {
    if (TRY_ONE_IN > 1) return; /* LLVM's code, for most of the time */
    static mixture expected, got;
    fixture f = {.p = NULL};
    cr_assert(!rvm_open(RVM_EXAMPLES "/gmm/gmm.rasm", NULL, &f.p, &f.e, NULL, NULL), "%s", f.e.message);
    begin(&f);
    gradient(&f, &expected);
    take_device(&f, nested, false);
    gradient(&f, &got);
    expect_there(&f);
    expect_near("alphas", 0, got.by_alphas, expected.by_alphas, K, tolerance);
    expect_near("means", 0, got.by_means[0], expected.by_means[0], K * D, tolerance);
    expect_near("icf", 0, got.by_icf[0], expected.by_icf[0], K * C, tolerance);
    end(&f);
}

Test(cuda_libdevice, mixture) {
    expect_mixture(RVM_CUDA_NEVER);
}

Test(cuda_libdevice, mixture_in_ctas) {
    expect_mixture(RVM_CUDA_ALWAYS);
}
