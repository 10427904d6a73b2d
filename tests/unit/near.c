/* near.c: elementary functions that groups of lanes have as instructions (jit/lanes/near.c): strictly the interpreter's
 * bits, wherever their arguments are; within 4 ulp where math is fast. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm_jit.h"

enum { N = 4003 };
static const char text[] = "fn f(y: real[n], z: real[n], x: real[n])\nparallel i in 0..n\n"
                           "y[i] += exp(x[i])\nz[i] += tanh(x[i])\nend\nend\n";
static rvm_error e;

typedef struct results {
    double exp[N], tanh[N];
} results;

/* Ends of ranges, and beyond them, among ordinary numbers: some eight in a row are all ordinary. */
static void make_arguments(double x[N]) {
    static const double ends[] = {0,        -0.0,      1e-320,   -1e-310,  0x1p-1022, 707.9,  -707.9,
                                  708.1,    -708.1,    709.7,    710,      -744.9,    -745.2, -760,
                                  1e300,    -1e300,    INFINITY, NAN,      0.8,       0.3465, 19.0625,
                                  -19.0625, -INFINITY, 0x1p-30,  -0x1p-27, 18.71497,  20,     -40};
    rng r = {7};
    for (int i = 0; i < N; i++) {
        const double u = (double)rng_below(&r, 1 << 30) / (1 << 30) - 0.5;
        x[i] = i % 4 == 0 ? 40 * u : i % 4 == 1 ? 4 * u : i % 4 == 2 ? 1400 * u : ldexp(u, -(i % 50));
    }
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) x[16 + k * 13] = ends[k];
}

static void run(const rvm_program *p, rvm_jit *j, double *x, results *to) {
    const int64_t n = N;
    rvm_options o = rvm_options_default();
    rvm_machine *m;
    memset(to, 0, sizeof *to);
    rvm_arg a[] = {rvm_arg_array_f64(to->exp, 1, &n), rvm_arg_array_f64(to->tanh, 1, &n), rvm_arg_array_f64(x, 1, &n)};
    o.unchecked = o.trust = true, o.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_machine_new(p, &o, &m, &e) && (!j || !rvm_jit_attach(j, m, &e)), "%s", e.message);
    cr_assert(!rvm_call(m, 0, a, 3, &e), "%s", e.message);
    rvm_machine_free(m);
}

/* How many units of the last place of what it should be, rounded. */
static double off_by(double y, long double should) {
    const double near = (double)should, unit = nextafter(fabs(near), INFINITY) - fabs(near);
    if (isnan(near)) return isnan(y) ? 0 : INFINITY;
    if (y == near) return 0;
    return (double)(fabsl(y - should) / unit);
}

static void check(const rvm_program *p, const char *cpu, bool fast) {
    static results is, native;
    static double x[N];
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    o.cpu = cpu, o.fast_math = fast, o.tiers = false;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    make_arguments(x);
    run(p, NULL, x, &is);
    run(p, j, x, &native);
    for (int i = 0; i < N; i++) {
        const bool same = (isnan(x[i]) && isnan(native.exp[i]) && isnan(native.tanh[i])) ||
                          (!memcmp(&is.exp[i], &native.exp[i], 8) && !memcmp(&is.tanh[i], &native.tanh[i], 8));
        cr_assert(fast || same, "%a: %a, %a", x[i], native.exp[i], native.tanh[i]);
        cr_assert(off_by(native.exp[i], expl(x[i])) < 4, "exp %a: %a", x[i], native.exp[i]);
        cr_assert(off_by(native.tanh[i], tanhl(x[i])) < 4, "tanh %a: %a", x[i], native.tanh[i]);
    }
    rvm_jit_free(j);
}

static rvm_program *program(void) {
    report rep = {.name = "near"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p);
    return p;
}

Test(near, values) {
    rvm_program *p = program();
    for (int fast = 0; fast < 2; fast++) {
        check(p, NULL, fast);
        check(p, "x86-64-v3", fast);
    }
    rvm_program_free(p);
}

/* What is called where it may be: far from 0, exp alone. */
Test(near, instructions) {
    rvm_program *p = program();
    rvm_jit_options o = rvm_jit_options_default();
    rvm_options machine = rvm_options_default();
    rvm_jit *j;
    char *ir = NULL;
    size_t size = 0;
    machine.unchecked = machine.trust = true, machine.trail = RVM_TRAIL_OFF;
    o.cpu = "x86-64-v3";
    rvm_math math;
    cr_assert(!rvm_math_choose(RVM_MATH_AUTO, &math, &e));
    if (math != RVM_MATH_SLEEF || rvm_jit_new(&o, &j, &e)) cr_skip_test("no functions in lanes");
    FILE *f = open_memstream(&ir, &size);
    cr_assert(f && !rvm_jit_dump(j, p, 0, 1, &machine, RVM_JIT_IR, f, &e), "%s", e.message);
    fclose(f);
    cr_assert(strstr(ir, "call <4 x double> @rvm__sleef4_exp(") && !strstr(ir, "call <4 x double> @rvm__sleef4_tanh("));
    free(ir);
    rvm_jit_free(j);
    rvm_program_free(p);
}
