/* machine.c: the machine through its interface: wrong use, arguments, parts of a run, what it shows of itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm_profile.h"
#include "builder.h"

static const char scale_text[] = "fn scale(y: real[n], x: real[n], k: real)\n"
                                 "    for i in 0..n\n"
                                 "        y[i] += k * x[i]\n"
                                 "    end\n"
                                 "end\n"
                                 "fn grid(s: real, A: real[m, n])\n"
                                 "    for i in 0..m\n"
                                 "        for j in 0..n\n"
                                 "            s += A[i, j] * (10 * i + j)\n"
                                 "        end\n"
                                 "    end\n"
                                 "end\n"
                                 "fn sums(a: real[n], b: real[n], x: real)\n"
                                 "    for i in 0..n\n"
                                 "        a[i] += x\n"
                                 "        b[i] += 2 * x\n"
                                 "    end\n"
                                 "end\n"
                                 "fn leak(x: i64)\n"
                                 "    x += 1\n"
                                 "    let t: i64 = x\n"
                                 "    t += 1\n"
                                 "end\n"
                                 "fn lossy(y: real, x: real)\n"
                                 "    let t: real\n"
                                 "    t += x * 1e9\n"
                                 "    y += t\n"
                                 "    t -= 1e9 * x\n"
                                 "    t += 1e-9\n"
                                 "    t -= 0\n"
                                 "end\n"
                                 "fn beside(A: real[m, n], y: real[k])\n"
                                 "    neg A[0, 0]\n"
                                 "    neg y[0]\n"
                                 "end\n"
                                 "fn table(A: real[m, n], B: real[m, n])\n"
                                 "    neg A[m - 1, n - 1]\n"
                                 "    B += A\n"
                                 "end\n"
                                 "fn losses(x: real)\n"
                                 "    neg x\n"
                                 "    let a: real\n"
                                 "    let b: real\n"
                                 "    let c: real\n"
                                 "    a += 2e-9\n"
                                 "    b += 3e-9\n"
                                 "    c += 1e-9\n"
                                 "end\n";

static rvm_program *program;
static rvm_machine *machine;
static rvm_error e;
static report rep = {.name = "machine"};

static void open_machine(const rvm_options *o) {
    program = assemble_text(scale_text, NULL, &rep);
    cr_assert(program && rvm_machine_new(program, o, &machine, &e) == RVM_OK);
}

static void setup(void) {
    open_machine(NULL);
}

static void teardown(void) {
    rvm_machine_free(machine);
    rvm_program_free(program);
}

TestSuite(machine, .init = setup, .fini = teardown);

static int64_t fn(const char *name) {
    return rvm_program_find(program, name);
}

static void refused(rvm_arg *a, uint32_t n, const char *name, rvm_status code, const char *message) {
    cr_assert(rvm_call(machine, fn(name), a, n, &e) == code, "%s", rvm_status_name(e.code));
    cr_assert_str_eq(e.message, message);
}

Test(machine, wrong_use) {
    rvm_arg a[3] = {rvm_arg_f64(1), rvm_arg_f64(1), rvm_arg_f64(1)};
    bool done;
    cr_assert(rvm_call(machine, 99, a, 3, &e) == RVM_ERR_USAGE && rvm_call(machine, -1, a, 3, &e) == RVM_ERR_USAGE);
    refused(a, 3, "leak", RVM_ERR_ARGUMENT, "leak takes 1 arguments, 3 given");
    refused(a, 2, "scale", RVM_ERR_ARGUMENT, "scale takes 3 arguments, 2 given");
    refused(a, 1, "leak", RVM_ERR_ARGUMENT, "argument `x` of leak is f64, must be i64");
    refused(a, 3, "scale", RVM_ERR_SHAPE, "argument `y` of scale has 0 dimensions, must have 1");
    cr_assert(rvm_machine_forward(machine, &e) == RVM_ERR_USAGE, "nothing is bound");
    cr_assert(rvm_machine_step(machine, 1, &done, &e) == RVM_ERR_USAGE);
    cr_assert(rvm_machine_frames(machine) == 0 && !rvm_machine_location(machine, 0, 1, &(rvm_location){0}));
    rvm_arg i = rvm_arg_i64(3);
    i.active = true;
    cr_assert(rvm_gradient(machine, fn("leak"), &i, 1, &e) == RVM_ERR_ARGUMENT, "integers have no shadow");
    rvm_machine_free(NULL);
    rvm_machine_unbind(machine);
}

Test(machine, unverified_program_is_refused) {
    rvm_program *p = rvm__program_new(NULL);
    rvm_machine *m = NULL;
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_ERR_USAGE && !m);
    rvm_program_free(p);
}

Test(machine, shapes) {
    double x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    int64_t three = 3, two = 2, negative = -1;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &three), rvm_arg_array_f64(x, 1, &two), rvm_arg_f64(2)};
    refused(a, 3, "scale", RVM_ERR_SHAPE, "dimension 1 of argument `x` of scale is 2, must be 3");
    a[0] = rvm_arg_array_f64(y, 1, &negative);
    refused(a, 3, "scale", RVM_ERR_SHAPE, "dimension 1 of argument `y` of scale is -1");
    a[0] = rvm_arg_array_f64(y, 1, &three);
    a[0].stride[0] = -2;
    refused(a, 3, "scale", RVM_ERR_SHAPE, "dimension 1 of argument `y` of scale has the negative stride -2");
    a[0] = rvm_arg_array_f64(y, 1, &three);
    a[1] = rvm_arg_array_f64(NULL, 1, &three);
    refused(a, 3, "scale", RVM_ERR_ARGUMENT, "argument `x` of scale has no data");
    int64_t huge = INT64_MAX;
    a[0] = rvm_arg_array_f64(y, 1, &huge);
    refused(a, 3, "scale", RVM_ERR_SHAPE,
            "dimension 1 of argument `y` of scale is 9223372036854775807: the array is larger than memory can be");
}

/* Strides of 0 make more elements than there is memory: of one argument, of all together. */
Test(machine, shapes_without_strides) {
    static const char many[] =
        "fn f(a: real[n], b: real[m], c: real[k, l])\n    a[0] += 1\n    b[0] += 2\n    c[0, 0] += 1\nend\n";
    rvm_program *p = assemble_text(many, NULL, &rep);
    rvm_machine *m = NULL;
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    double x = 0, xb = 0, y = 0, z = 0;
    const int64_t half = INT64_C(1) << 56, far[] = {INT64_C(1) << 40, INT64_C(1) << 40}, none[] = {INT64_MAX, 0},
                  one[] = {1, 1};
    rvm_arg a[] = {rvm_arg_array_f64(&x, 1, &half), rvm_arg_array_f64(&y, 1, &half), rvm_arg_array_f64(&z, 2, one)};
    a[0].active = true, a[0].shadow_data = &xb;
    a[0].stride[0] = a[0].shadow_stride[0] = a[1].stride[0] = 0;
    for (unsigned k = 0; k < 2; k++) {
        cr_assert((k ? rvm_gradient : rvm_call)(m, 0, a, 3, &e) == RVM_ERR_SHAPE &&
                      strstr(e.message, "up to `b`, of 72057594037927936 elements"),
                  "%s", e.message);
    }
    a[0].shape[0] = a[1].shape[0] = 1;
    memcpy(a[2].shape, far, sizeof far);
    a[2].stride[0] = a[2].stride[1] = 0;
    cr_assert(rvm_call(m, 0, a, 3, &e) == RVM_ERR_SHAPE && strstr(e.message, "dimension 2 of argument `c`"), "%s",
              e.message);
    memcpy(a[2].shape, none, sizeof none);
    cr_assert(rvm_gradient(m, 0, a, 3, &e) == RVM_ERR_INDEX, "%s", e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* Shadows of what is changed are as many as its elements, which are apart. */
Test(machine, shadows_that_coincide) {
    rvm_program *p = assemble_text("fn f(x: real[n])\nfor i in 0..n\nx[i] *= 2\nend\nend\n", NULL, &rep);
    rvm_machine *m = NULL;
    cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    double x[3] = {1, 2, 3}, g[3] = {1, 1, 1};
    const int64_t n = 3;
    rvm_arg a = rvm_arg_array_f64(x, 1, &n);
    a.active = true, a.shadow_data = g, a.shadow_stride[0] = 0;
    rvm_status (*const runs[])(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *) = {rvm_gradient, rvm_sweep,
                                                                                            rvm_tangent};
    for (unsigned k = 0; k < 3; k++) cr_assert(runs[k](m, 0, &a, 1, &e) == RVM_ERR_ALIAS, "%s", e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* Shadows of several arguments on one memory, of which a call has elements. */
Test(machine, shadows_that_are_shared) {
    static const char text[] =
        "fn mul(y: real, x: real, z: real)\ny += x * z\nend\n"
        "fn two(y: real, z: real, x: real)\ny += x\nz += 10 * x\nend\n"
        "fn f(y: real[n], x: real[n], z: real[n])\nfor i in 0..n\ncall mul(y[i], x[i], z[i])\nend\nend\n"
        "fn t(y: real[n], z: real[n], x: real[n])\nfor i in 0..n\ncall two(y[i], z[i], x[i])\nend\nend\n";
    rvm_program *p = assemble_text(text, NULL, &rep);
    rvm_machine *m = NULL;
    cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    for (int tangent = 0; tangent < 2; tangent++) {
        double y[2] = {0}, x[2] = {2, 3}, z[2] = {5, 7}, own[2] = {1, 1}, both[2] = {1, 1};
        const int64_t n = 2;
        rvm_arg a[] = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 1, &n), rvm_arg_array_f64(z, 1, &n)};
        for (int k = 0; k < 3; k++) a[k].active = true, a[k].shadow_data = both;
        a[tangent ? 2 : 0].shadow_data = own;
        cr_assert((tangent ? rvm_tangent : rvm_gradient)(m, tangent ? 3 : 2, a, 3, &e) == RVM_OK, "%s", e.message);
        cr_assert(both[0] == (tangent ? 12 : 8) && both[1] == (tangent ? 12 : 11), "%g %g", both[0], both[1]);
    }
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* A product of lengths that is no number; and one with a 0 in it, which is an array without elements. */
Test(machine, shapes_that_overflow) {
    double x = 1, J[1];
    int64_t far[] = {INT64_C(1) << 40, INT64_C(1) << 40}, empty[] = {0, INT64_MAX}, rows, columns;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(&x, 2, far)};
    refused(a, 2, "grid", RVM_ERR_SHAPE,
            "dimension 1 of argument `A` of grid is 1099511627776: the array is larger than memory can be");
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = fn("grid"), .args = a, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    cr_assert(rvm_derivative_size(machine, &q, &rows, &columns, &e) == RVM_ERR_SHAPE);
    cr_assert_str_eq(e.message, "dimension 2 of argument `A` of grid is 1099511627776: no array can be so large");
    cr_assert(rvm_jacobian(machine, &q, RVM_AUTO, J, NULL, &e) == RVM_ERR_SHAPE);
    a[1] = rvm_arg_array_f64(&x, 2, empty);
    cr_assert(rvm_call(machine, fn("grid"), a, 2, &e) == RVM_OK && a[0].value.f == 0, "%s", e.message);
}

/* Strides count elements; columns, every other element, and a broadcast of what is only read. */
Test(machine, strides) {
    double data[24], s;
    for (int k = 0; k < 24; k++) data[k] = k;
    int64_t shape[2] = {2, 3};
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(data, 2, shape)};
    int64_t strides[][2] = {{3, 1}, {1, 2}, {12, 4}, {0, 1}, {4, 0}};
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        s = 0;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) s += data[i * strides[k][0] + j * strides[k][1]] * (10 * i + j);
        a[0].value.f = 0;
        memcpy(a[1].stride, strides[k], sizeof strides[k]);
        cr_assert(rvm_call(machine, fn("grid"), a, 2, &e) == RVM_OK, "%s", e.message);
        cr_assert(a[0].value.f == s, "strides %zu: %g, %g", k, a[0].value.f, s);
    }
    a[1].stride[0] = -1;
    refused(a, 2, "grid", RVM_ERR_SHAPE, "dimension 1 of argument `A` of grid has the negative stride -1");
}

Test(machine, shadow_strides) {
    double x[2] = {3, 4}, y[2] = {0, 0}, xb[6] = {0}, yb[4] = {1, 0, 2, 0};
    int64_t two = 2;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &two), rvm_arg_array_f64(x, 1, &two), rvm_arg_f64(5)};
    for (int k = 0; k < 3; k++) a[k].active = true;
    a[0].shadow_data = yb;
    a[0].shadow_stride[0] = 2;
    a[1].shadow_data = xb;
    a[1].shadow_stride[0] = 3;
    cr_assert(rvm_gradient(machine, fn("scale"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(xb[0] == 5 && xb[3] == 10 && xb[1] == 0 && a[2].shadow.f == 1 * 3 + 2 * 4 && yb[2] == 2);
    cr_assert(rvm_gradient(machine, fn("scale"), a, 3, &e) == RVM_OK && xb[0] == 10, "shadows are never cleared");
    a[1].shadow_data = NULL;
    cr_assert(rvm_gradient(machine, fn("scale"), a, 3, &e) == RVM_ERR_ARGUMENT, "active without a shadow");
}

/* Arguments may share memory where both are read, or both accumulate; else they are refused before anything runs. */
Test(machine, overlap) {
    double v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int64_t four = 4;
    rvm_arg a[] = {rvm_arg_array_f64(v, 1, &four), rvm_arg_array_f64(v + 3, 1, &four), rvm_arg_f64(1)};
    refused(a, 3, "scale", RVM_ERR_ALIAS, "arguments `y` and `x` of scale overlap");
    cr_assert(v[0] == 1);
    a[1].data = v + 4;
    cr_assert(rvm_call(machine, fn("scale"), a, 3, &e) == RVM_OK && v[0] == 6 && v[3] == 12);
    rvm_arg b[] = {rvm_arg_array_f64(v, 1, &four), rvm_arg_array_f64(v + 3, 1, &four), rvm_arg_f64(1)};
    double before = v[3];
    cr_assert(rvm_call(machine, fn("sums"), b, 3, &e) == RVM_OK && v[3] == before + 3, "both accumulate");
    cr_assert(rvm_uncall(machine, fn("sums"), b, 3, &e) == RVM_OK && v[3] == before);
    rvm_arg c[] = {rvm_arg_array_f64(v, 1, &four), rvm_arg_array_f64(v + 4, 1, &four), rvm_arg_f64(1)};
    for (int k = 0; k < 2; k++) c[k].active = true, c[k].shadow_data = v + 4; /* a shadow that is somebody's value */
    rvm_status s = rvm_gradient(machine, fn("scale"), c, 3, &e);
    cr_assert(s == RVM_ERR_ALIAS, "%s", rvm_status_name(s));
}

/* Arrays of different dimensions one behind the other. */
Test(machine, one_behind_the_other) {
    double v[9] = {0};
    rvm_arg a[] = {rvm_arg_array_f64(v, 2, (int64_t[]){2, 3}), rvm_arg_array_f64(v + 6, 1, (int64_t[]){3})};
    cr_assert(rvm_call(machine, fn("beside"), a, 2, &e) == RVM_OK, "%s", e.message);
    a[1].data = v + 5;
    refused(a, 2, "beside", RVM_ERR_ALIAS, "arguments `A` and `y` of beside overlap");
}

/* Interleaved arrays do not overlap, though their extents do. */
Test(machine, interleaved) {
    double v[6] = {1, 10, 2, 20, 3, 30};
    int64_t three = 3;
    rvm_arg a[] = {rvm_arg_array_f64(v, 1, &three), rvm_arg_array_f64(v + 1, 1, &three), rvm_arg_f64(1)};
    a[0].stride[0] = a[1].stride[0] = 2;
    cr_assert(rvm_call(machine, fn("scale"), a, 3, &e) == RVM_OK && v[0] == 11 && v[4] == 33, "%s", e.message);
    a[1].data = v + 2;
    a[0].shape[0] = a[1].shape[0] = 2;
    cr_assert(rvm_call(machine, fn("scale"), a, 3, &e) == RVM_ERR_ALIAS, "v[2] is in both");
    a[1].data = (char *)v + 12;
    cr_assert(rvm_call(machine, fn("scale"), a, 3, &e) == RVM_ERR_ALIAS, "half an element apart");
}

/* A dimension of one element strides over nothing, whatever its stride. */
Test(machine, interleaved_columns) {
    double v[8] = {1, 10, 2, 20, 3, 30, 4, 40};
    rvm_arg a[] = {rvm_arg_array_f64(v, 2, (int64_t[]){4, 1}), rvm_arg_array_f64(v + 1, 2, (int64_t[]){4, 1})};
    static const int64_t strides[][2] = {{1, 1}, {1, 100}, {0, 2}, {2, 2}, {7, 0}};
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        a[0].stride[0] = a[1].stride[0] = 2;
        a[0].stride[1] = strides[k][0], a[1].stride[1] = strides[k][1];
        cr_assert(rvm_call(machine, fn("table"), a, 2, &e) == RVM_OK, "strides %zu: %s", k, e.message);
        cr_assert(rvm_uncall(machine, fn("table"), a, 2, &e) == RVM_OK && v[6] == 4 && v[7] == 40, "strides %zu: %s", k,
                  e.message);
    }
    a[1].data = v + 2;
    cr_assert(rvm_call(machine, fn("table"), a, 2, &e) == RVM_ERR_ALIAS, "v[2] is in both");
    a[0].shape[0] = 1, a[0].shape[1] = 3; /* v[0], v[2], v[4] of a row; of the column the others */
    a[0].stride[0] = 1, a[0].stride[1] = 2;
    a[1].shape[0] = 1, a[1].shape[1] = 3;
    a[1].stride[0] = 5, a[1].stride[1] = 2;
    a[1].data = v + 1;
    cr_assert(rvm_call(machine, fn("table"), a, 2, &e) == RVM_OK, "%s", e.message);
}

Test(machine, parts_of_a_run) {
    double x[3] = {1, 2, 3}, y[3] = {0}, xb[3] = {0}, yb[3] = {1, 1, 1};
    int64_t three = 3;
    bool done;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &three), rvm_arg_array_f64(x, 1, &three), rvm_arg_f64(2)};
    for (int k = 0; k < 2; k++) a[k].active = true;
    a[0].shadow_data = yb;
    a[1].shadow_data = xb;
    cr_assert(rvm_machine_bind(machine, fn("scale"), a, 3, RVM_GRADIENT, false, &e) == RVM_OK);
    cr_assert(rvm_machine_forward(machine, &e) == RVM_OK && y[2] == 6);
    cr_assert(rvm_machine_backward(machine, &e) == RVM_OK && y[2] == 0 && xb[2] == 0, "plain backward leaves shadows");
    cr_assert(rvm_machine_forward(machine, &e) == RVM_OK && rvm_machine_forward(machine, &e) == RVM_OK,
              "already at the end");
    cr_assert(rvm_machine_sweep(machine, &e) == RVM_OK && y[2] == 0 && xb[2] == 2);
    cr_assert(rvm_machine_forward(machine, &e) == RVM_ERR_UNSUPPORTED, "what was swept does not go forward again");
    cr_assert(rvm_machine_step(machine, 1, &done, &e) == RVM_ERR_UNSUPPORTED);
    rvm_machine_unbind(machine);
    cr_assert(rvm_machine_bind(machine, fn("scale"), a, 3, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(rvm_machine_sweep(machine, &e) == RVM_ERR_USAGE, "a sweep needs gradient mode");
}

Test(machine, scalars_come_back_after_an_error) {
    rvm_arg x = rvm_arg_i64(5);
    cr_assert(rvm_machine_bind(machine, fn("leak"), &x, 1, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(rvm_machine_forward(machine, &e) == RVM_ERR_RELEASE && e.line == 21, "line %u", e.line);
    cr_assert(rvm_machine_backward(machine, &e) == RVM_OK);
    rvm_machine_unbind(machine);
    cr_assert(x.value.i == 5);
    cr_assert(rvm_call(machine, fn("leak"), &x, 1, &e) == RVM_ERR_RELEASE);
    cr_assert(rvm_machine_backward(machine, &e) == RVM_OK, "a call that failed can go back");
    rvm_machine_unbind(machine);
    cr_assert(x.value.i == 5);
}

Test(machine, what_it_has) {
    rvm_arg x = rvm_arg_i64(5);
    rvm_options o;
    rvm_machine_options(machine, &o);
    cr_assert(o.depth == rvm_options_default().depth && o.tolerance == rvm_options_default().tolerance);
    cr_assert(rvm_program_find(rvm_machine_program(machine), "leak") == fn("leak"));
    cr_assert(!rvm_machine_bound(machine));
    cr_assert(rvm_machine_bind(machine, fn("leak"), &x, 1, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(rvm_machine_bound(machine) == &x);
    rvm_machine_unbind(machine);
    cr_assert(!rvm_machine_bound(machine));
}

Test(machine, where_it_is) {
    rvm_arg x = rvm_arg_i64(5);
    rvm_location at;
    rvm_variable v;
    cr_assert(rvm_machine_bind(machine, fn("leak"), &x, 1, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(rvm_machine_forward(machine, &e) == RVM_ERR_RELEASE);
    cr_assert(rvm_machine_frames(machine) == 1 && !rvm_machine_location(machine, 1, 1, &at));
    cr_assert(rvm_machine_location(machine, 0, 1, &at) && !strcmp(at.function, "leak") && at.direction == 1 &&
              at.line == 21);
    cr_assert(rvm_machine_location(machine, 0, -1, &at) && at.direction == -1 && at.line == 22, "back is t += 1");
    bool seen_x = false, seen_t = false;
    for (uint32_t k = 0; rvm_machine_variable(machine, 0, k, &v); k++) {
        seen_x = seen_x || (!strcmp(v.name, "x") && v.type == RVM_I64 && v.value.i == 6);
        seen_t = seen_t || (!strcmp(v.name, "t") && v.value.i == 7);
    }
    cr_assert(seen_x && seen_t);
}

Test(machine, statistics) {
    double x[3] = {1, 2, 3}, y[3] = {0};
    int64_t three = 3;
    rvm_stats s;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &three), rvm_arg_array_f64(x, 1, &three), rvm_arg_f64(2)};
    cr_assert(rvm_call(machine, fn("scale"), a, 3, &e) == RVM_OK);
    rvm_machine_stats(machine, &s);
    cr_assert(s.forward > 6 && s.backward == 0 && s.swept == 0 && s.memory_peak > 0 && s.ancilla_peak == 0);
    uint64_t forward = s.forward;
    cr_assert(rvm_uncall(machine, fn("scale"), a, 3, &e) == RVM_OK);
    rvm_machine_stats(machine, &s);
    cr_assert(s.forward == forward && s.backward == forward, "as many back as forward");
    rvm_machine_stats_reset(machine);
    rvm_machine_stats(machine, &s);
    cr_assert(s.forward == 0 && s.backward == 0 && s.residues[0].value == 0);
}

Test(machine, residues) {
    rvm_stats s;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(1.1)};
    cr_assert(rvm_call(machine, fn("lossy"), a, 2, &e) == RVM_OK, "%s", e.message);
    rvm_machine_stats(machine, &s);
    cr_assert(s.residues[0].value >= 1e-10 && s.residues[0].value < 1e-6 && s.residues[0].fn == (uint32_t)fn("lossy"));
    for (int k = 1; k < RVM_RESIDUES; k++) cr_assert(s.residues[k].value <= s.residues[k - 1].value);
    rvm_machine_stats_reset(machine);
    cr_assert(rvm_call(machine, fn("losses"), a, 1, &e) == RVM_OK, "%s", e.message);
    rvm_machine_stats(machine, &s);
    cr_assert(s.residues[0].value == 3e-9 && s.residues[1].value == 2e-9 && s.residues[2].value == 1e-9);
}

Test(machine, profile_on_request) {
    rvm_profile *f = NULL;
    rvm_profile_kind_count k;
    uint64_t total = 0, last = UINT64_MAX;
    double x[3] = {1, 2, 3}, y[3] = {0};
    int64_t three = 3;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &three), rvm_arg_array_f64(x, 1, &three), rvm_arg_f64(2)};
    cr_assert(rvm_profile_new(machine, &f, &e) == RVM_ERR_USAGE && !f, "not asked for");
    teardown();
    rvm_options o = rvm_options_default();
    o.profile = true;
    open_machine(&o);
    cr_assert(rvm_call(machine, fn("scale"), a, 3, &e) == RVM_OK);
    rvm_stats s;
    rvm_machine_stats(machine, &s);
    bool found = false;
    cr_assert(rvm_profile_new(machine, &f, &e) == RVM_OK, "%s", e.message);
    for (uint32_t i = 0; rvm_profile_kind(f, i, &k); i++) {
        found = found || (!strcmp(k.mnemonic, "add") && !strcmp(k.row, "mul") && !strncmp(k.places, "e", 1) && k.count == 3);
        cr_assert(k.count <= last && k.count > 0 && k.mode == RVM_PROFILE_FORWARD && k.direction == 1);
        last = k.count;
        total += k.count;
    }
    rvm_profile_free(f);
    cr_assert(found && total == s.forward, "%llu of %llu", (unsigned long long)total, (unsigned long long)s.forward);
}

/* Only what is named has a shadow: an array that is not active needs none, and its memory is not touched. */
Test(machine, activity) {
    double x[2] = {3, 4}, y[2] = {0, 0}, yb[2] = {1, 1}, guard[2] = {7, 7};
    int64_t two = 2;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &two), rvm_arg_array_f64(x, 1, &two), rvm_arg_f64(5)};
    a[0].active = a[2].active = true;
    a[0].shadow_data = yb;
    a[1].shadow_data = guard;
    cr_assert(rvm_gradient(machine, fn("scale"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(a[2].shadow.f == 7 && guard[0] == 7 && guard[1] == 7);
    cr_assert(yb[0] == 1 && yb[1] == 1);
}

static void *run_in_thread(void *userdata) {
    const rvm_program *p = userdata;
    rvm_machine *m = NULL;
    double x[64], y[64] = {0};
    int64_t n = 64;
    for (int k = 0; k < 64; k++) x[k] = k;
    rvm_arg a[] = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 1, &n), rvm_arg_f64(0.5)};
    bool good = rvm_machine_new(p, NULL, &m, NULL) == RVM_OK;
    for (int k = 0; good && k < 2000; k++)
        good = rvm_call(m, 0, a, 3, NULL) == RVM_OK && y[63] == 31.5 && rvm_uncall(m, 0, a, 3, NULL) == RVM_OK && y[63] == 0;
    rvm_machine_free(m);
    return good ? userdata : NULL;
}

Test(machine, threads_share_a_program) {
    pthread_t t[4];
    for (int k = 0; k < 4; k++) cr_assert(pthread_create(&t[k], NULL, run_in_thread, program) == 0);
    for (int k = 0; k < 4; k++) {
        void *good = NULL;
        pthread_join(t[k], &good);
        cr_assert(good);
    }
}

/* An f32 is a double that a float holds; others are refused before anything runs. */
Test(machine, singles) {
    rvm_program *p = assemble_text("fn twice(y: f32, x: f32[n])\n    y += 2 * x[0]\nend\n", NULL, &rep);
    rvm_machine *m = NULL;
    double x[2] = {(float)0.1, 0.5};
    int64_t n = 2;
    rvm_arg a[] = {rvm_arg_f32(0.3), rvm_arg_array(RVM_F32, x, 1, &n)};
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK && a[0].value.f == (double)(0.3f + 0.2f), "%s", e.message);
    x[1] = 0.1;
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_ERR_ARGUMENT && strstr(e.message, "`x` of twice holds 0.10000000000000001"));
    x[1] = NAN;
    a[0].value.f = 1e300;
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_ERR_ARGUMENT && strstr(e.message, "`y`"));
    rvm_machine_free(m);
    rvm_program_free(p);
}
