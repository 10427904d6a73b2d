/* parallel.c: the order of sums over the instances of a parallel block, bit for bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "transform.h"

static const char text[] = "fn dot(s: real, x: real[n], w: real)\n"
                           "    parallel i in 0..n\n"
                           "        s += x[i] * w\n"
                           "    end\n"
                           "end\n"
                           "fn each(y: real[n], x: real[n], w: real)\n"
                           "    parallel i in 0..n\n"
                           "        y[i] += x[i] * w\n"
                           "    end\n"
                           "end\n";
enum { N = 2500, CHUNK = 256 };
static rvm_program *program;
static rvm_machine *machine;
static rvm_error e;
static report rep = {.name = "parallel"};
static double x[N];
static const int64_t shape = N;

static void setup(void) {
    program = assemble_text(text, NULL, &rep);
    cr_assert(program && rvm_machine_new(program, NULL, &machine, &e) == RVM_OK);
    for (int k = 0; k < N; k++) x[k] = sin(k + 1) * exp(k % 29 - 9);
}

static void teardown(void) {
    rvm_machine_free(machine);
    rvm_program_free(program);
}

TestSuite(parallel, .init = setup, .fini = teardown);

/* Sum as docs/semantics.md, section 9, says; from the last instance to the first if `down`. */
static double ordered(double s, double sign, const double *v, double w, bool down) {
    const int chunks = (N + CHUNK - 1) / CHUNK;
    for (int c = 0; c < chunks; c++) {
        const int first = (down ? chunks - 1 - c : c) * CHUNK, n = N - first < CHUNK ? N - first : CHUNK;
        double p[8];
        for (int k = 0; k < 8; k++) p[k] = -0.0;
        for (int j = 0; j < n; j++) {
            const int k = down ? n - 1 - j : j;
            p[k % 8] += sign * (v[first + k] * w);
        }
        s += ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
    }
    return s;
}

static double simple(double s, double sign, double w) {
    for (int k = 0; k < N; k++) s += sign * (x[k] * w);
    return s;
}

Test(parallel, order_of_a_sum) {
    rvm_arg a[3] = {rvm_arg_f64(0.3), rvm_arg_array_f64(x, 1, &shape), rvm_arg_f64(1.7)};
    const int64_t dot = rvm_program_find(program, "dot");
    cr_assert(rvm_call(machine, dot, a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(a[0].value.f == ordered(0.3, 1, x, 1.7, false));
    cr_assert(a[0].value.f != simple(0.3, 1, 1.7), "the terms tell one order from another");
    a[0].value.f = 0.3;
    cr_assert(rvm_uncall(machine, dot, a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(a[0].value.f == ordered(0.3, -1, x, 1.7, true));
    cr_assert(a[0].value.f != ordered(0.3, -1, x, 1.7, false));
}

/* What a sum begins with adds nothing, not even to -0. */
Test(parallel, sum_of_negative_zeros) {
    static double zeros[N];
    rvm_arg a[3] = {rvm_arg_f64(-0.0), rvm_arg_array_f64(zeros, 1, &shape), rvm_arg_f64(-1)};
    cr_assert(rvm_call(machine, rvm_program_find(program, "dot"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(a[0].value.f == 0 && signbit(a[0].value.f));
}

Test(parallel, order_of_gradients) {
    double y[N], seed[N];
    for (int k = 0; k < N; k++) y[k] = 0, seed[k] = 1 / (1.0 + k);
    double terms[N];
    for (int k = 0; k < N; k++) terms[k] = seed[k] * x[k];
    rvm_arg a[3] = {rvm_arg_array_f64(y, 1, &shape), rvm_arg_array_f64(x, 1, &shape), rvm_arg_f64(1.7)};
    a[0].shadow_data = seed;
    a[0].active = a[2].active = true;
    a[2].shadow.f = 0.25;
    cr_assert(rvm_gradient(machine, rvm_program_find(program, "each"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(a[2].shadow.f == ordered(0.25, 1, terms, 1, true), "a place that all read gathers its gradient in order");
}

/* each'grad called on y, y_b, x, x_b, w, w_b. */
static double run_program(double *y, double *y_b, double *v, double *v_b) {
    rvm_program *p = assemble_text(text, NULL, &rep);
    rvm_machine *m = NULL;
    uint32_t fn;
    const uint32_t each = (uint32_t)rvm_program_find(p, "each");
    cr_assert(rvm__transform_declare(p, each, RVM_GRADIENT_OF, NULL, &fn, &e) == RVM_OK);
    cr_assert(rvm__transform_resolve(p, &e) == RVM_OK, "%s", e.message);
    rvm_arg a[6] = {rvm_arg_array_f64(y, 1, &shape),
                    rvm_arg_array_f64(y_b, 1, &shape),
                    rvm_arg_array_f64(v, 1, &shape),
                    rvm_arg_array_f64(v_b, 1, &shape),
                    rvm_arg_f64(1.7),
                    rvm_arg_f64(0.125)};
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    cr_assert(rvm_call(m, fn, a, 6, &e) == RVM_OK, "%s", e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
    return a[5].value.f;
}

static double run_mode(double *y, double *y_b, double *v, double *v_b) {
    rvm_arg a[3] = {rvm_arg_array_f64(y, 1, &shape), rvm_arg_array_f64(v, 1, &shape), rvm_arg_f64(1.7)};
    a[0].shadow_data = y_b;
    a[1].shadow_data = v_b;
    a[2].shadow.f = 0.125;
    for (int k = 0; k < 3; k++) a[k].active = true;
    cr_assert(rvm_gradient(machine, rvm_program_find(program, "each"), a, 3, &e) == RVM_OK, "%s", e.message);
    return a[2].shadow.f;
}

Test(parallel, adjoint_program_sums_as_the_sweep_does) {
    double y[2][N], y_b[2][N], v[2][N], v_b[2][N];
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < N; k++) {
            y[j][k] = cos(k), y_b[j][k] = 1 / (1.0 + k);
            v[j][k] = x[k], v_b[j][k] = sin(3 * k);
        }
    cr_assert(run_program(y[0], y_b[0], v[0], v_b[0]) == run_mode(y[1], y_b[1], v[1], v_b[1]));
    cr_assert(!memcmp(y[0], y[1], sizeof *y) && !memcmp(y_b[0], y_b[1], sizeof *y_b));
    cr_assert(!memcmp(v[0], v[1], sizeof *v) && !memcmp(v_b[0], v_b[1], sizeof *v_b));
}
