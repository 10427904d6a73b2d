/* shared_memory.c: native code for arguments whose elements coincide, or that share memory. */
#include <criterion/criterion.h>
#include <string.h>

#include "jit_fixture.h"

/* Twenty elements, by turns apart and one: what instances add to them goes to one place then, in lanes and threads, too. */
enum { TWENTY = 20 };

static void adds_to(rvm_machine *m, int64_t stride, bool shadow) {
    double x[2 * TWENTY], y[2 * TWENTY] = {0}, g[2 * TWENTY] = {0};
    const int64_t n = TWENTY;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 1, &n), rvm_arg_f64(0)};
    for (int k = 0; k < 2 * TWENTY; k++) x[k] = 3;
    a[0].stride[0] = shadow ? 1 : stride;
    a[1].shadow_stride[0] = stride;
    a[1].shadow_data = g;
    a[1].active = a[2].active = shadow;
    a[2].shadow.f = 1;
    const rvm_status s = shadow ? rvm_value_and_gradient(m, 0, a, 3, &e) : rvm_call(m, 0, a, 3, &e);
    const double *to = shadow ? g : y, each = shadow ? 6 : 3; /* d x^2, x */
    cr_assert(s == RVM_OK && *to == (stride ? each : TWENTY * each), "stride %d: %g: %s", (int)stride, *to, e.message);
    cr_assert(to[stride] == *to && a[2].value.f == 9 * TWENTY);
}

Test(shared_memory, elements_that_coincide) {
    static const char source[] =
        "fn f(y: real[n], x: real[n], s: real)\nparallel i in 0..n\ny[i] += x[i]\ns += x[i] * x[i]\nend\nend\n";
    for (unsigned threads = 0; threads < 3; threads++) {
        static const int64_t strides[] = {2, 0, 2, 1, 0, 1};
        rvm_jit_options o = rvm_jit_options_default();
        rvm_program *p;
        rvm_jit *j;
        o.tiers = false;
        o.cache = "";
        o.threads = threads;
        if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
        rvm_machine *m = native_machine(j, source, &p);
        for (int shadow = 0; shadow < 2; shadow++)
            for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) adds_to(m, strides[k], shadow);
        rvm_machine_free(m);
        rvm_jit_free(j);
        rvm_program_free(p);
    }
}

/* To a derived program both are parameters, which may share memory as far as roles go. */
Test(shared_memory, value_over_a_shadow) {
    static const char source[] = "fn f(y: real[n], x: real[n])\nparallel i in 0..n\ny[i] += x[i] * x[i]\nend\nend\n";
    typedef rvm_status derivative(rvm_machine * m, int64_t fn, rvm_arg * args, uint32_t nargs, rvm_error * err);
    derivative *const all[] = {rvm_gradient, rvm_value_and_gradient, rvm_sweep, rvm_tangent};
    rvm_jit_options o = rvm_jit_options_default();
    const int64_t n = 4;
    rvm_program *p;
    rvm_jit *j;
    o.tiers = false;
    o.cache = "";
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    rvm_machine *m = native_machine(j, source, &p);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        double x[4] = {1, 2, 3, 4}, y[4] = {0}, g[4] = {0};
        rvm_arg a[] = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 1, &n)};
        a[0].active = a[1].active = true;
        a[0].shadow_data = x, a[1].shadow_data = g;
        cr_assert(all[k](m, 0, a, 2, &e) == RVM_ERR_ALIAS, "%zu", k);
        cr_assert(!strcmp(e.message, "arguments `y` and `x` of f overlap"), "%zu: %s", k, e.message);
        cr_assert(x[3] == 4 && y[3] == 0 && g[3] == 0, "%zu: x %g, y %g, g %g", k, x[3], y[3], g[3]);
    }
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
}
