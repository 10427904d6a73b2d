/* print.c: what `print` shows, in which order, and where it is silent. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

static const char text[] = "fn f(y: real, x: real[n], z: complex, w: lns, k: i64)\n"
                           "    print \"x\", x, \"k\", k\n"
                           "    compute\n"
                           "        let s: real\n"
                           "        for i in 0..n\n"
                           "            s += x[i]\n"
                           "            print \"s\", s\n"
                           "        end\n"
                           "    do\n"
                           "        y += s\n"
                           "        print \"y\", y, 2 * y\n"
                           "    undo\n"
                           "    call g(y)\n"
                           "    print z, w, 0.5, \"c\", 3, 1 + 2i, 4 * 2\n"
                           "end\n"
                           "fn g(y: real)\n"
                           "    y += 1\n"
                           "    print \"g\", y\n"
                           "end\n"
                           "fn derived(y: real, y_b: real)\n"
                           "    call g'grad(y, y_b)\n"
                           "    uncall g(y)\n"
                           "    call g'inv(y)\n"
                           "end\n"
                           "fn block(y: real[n])\n"
                           "    parallel i in 0..n\n"
                           "        y[i] += i\n"
                           "        print i, y[i]\n"
                           "    end\n"
                           "end\n";

static rvm_program *program;
static rvm_error e;
static report rep = {.name = "print"};
static char shown[4096];

static void show(void *userdata, const rvm_printed *what) {
    cr_assert(userdata == shown && strlen(what->text) == what->length && what->function && what->line > 0);
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s\n", what->text);
}

static void setup(void) {
    program = assemble_text(text, NULL, &rep);
    cr_assert(program);
}
static void teardown(void) {
    rvm_program_free(program);
}
TestSuite(print, .init = setup, .fini = teardown);

static rvm_machine *machine_of(const rvm_program *p) {
    rvm_machine *m;
    rvm_options o = rvm_options_default();
    o.print = show;
    o.userdata = shown;
    cr_assert(!rvm_machine_new(p, &o, &m, &e));
    *shown = 0;
    return m;
}

static void expect(const char *lines) {
    cr_expect_str_eq(shown, lines);
    *shown = 0;
}

static double x[2];
static uint32_t make_args(rvm_arg *a) {
    x[0] = 1.5, x[1] = 2;
    a[0] = rvm_arg_f64(0);
    a[1] = rvm_arg_array_f64(x, 1, (int64_t[]){2});
    a[2] = rvm_arg_f64(1);
    a[3] = rvm_arg_f64(-2);
    a[4] = rvm_arg_f64(0);
    a[5] = rvm_arg_i64(7);
    return 6;
}

static const char forward[] = "x [1.5, 2] k 7\ns 1.5\ns 3.5\ny 3.5 7\ng 4.5\n1-2i 1 0.5 c 3 1+2i 8\n",
                  backward[] = "1-2i 1 0.5 c 3 1+2i 8\ng 4.5\ny 3.5 7\ns 3.5\ns 1.5\nx [1.5, 2] k 7\n";

Test(print, order) {
    rvm_arg a[6];
    rvm_machine *m = machine_of(program);
    const uint32_t n = make_args(a);
    cr_assert(!rvm_machine_bind(m, rvm_program_find(program, "f"), a, n, RVM_PRIMAL, false, &e) &&
              !rvm_machine_forward(m, &e));
    expect(forward);
    cr_assert(!rvm_machine_backward(m, &e));
    expect(backward);
    rvm_machine_free(m);
}

/* As files keep it; and the text that is assembled again. */
Test(print, bytecode) {
    rvm_program *again;
    void *bytes;
    size_t size;
    rvm_arg a[6];
    cr_assert(!rvm_program_save(program, &bytes, &size, &e) && !rvm_program_load(bytes, size, "f", NULL, &again, &e));
    rvm_machine *m = machine_of(again);
    cr_assert(!rvm_call(m, rvm_program_find(again, "f"), a, make_args(a), &e));
    expect(forward);
    rvm_machine_free(m);
    rvm_program_free(again);
    rvm_program_free_bytes(program, bytes, size);
}

Test(print, silent) {
    rvm_arg a[6], b[2] = {rvm_arg_f64(0), rvm_arg_f64(1)};
    rvm_machine *m = machine_of(program);
    const int64_t f = rvm_program_find(program, "f");
    const uint32_t n = make_args(a);
    a[0].active = true;
    a[0].shadow.f = 1;
    cr_expect(!rvm_gradient(m, f, a, n, &e) && !rvm_value_and_gradient(m, f, a, n, &e) && !rvm_tangent(m, f, a, n, &e));
    expect("");
    cr_expect(!rvm_call(m, rvm_program_find(program, "derived"), b, 2, &e));
    expect("g 0\n"); /* of the plain inverse, before it takes the sum back; f'grad and f'inv are derived */
    cr_expect(rvm_program_prints(program, (uint32_t)f) &&
              rvm_program_prints(program, (uint32_t)rvm_program_find(program, "g")));
    rvm_machine_free(m);
}

/* Where native code is at hand, what prints is interpreted, in threads and lanes, too: in the order of instances. */
Test(print, natively) {
    rvm_jit *j;
    rvm_jit_options o = rvm_jit_options_default();
    double y[3] = {1, 1, 1};
    rvm_arg a = rvm_arg_array_f64(y, 1, (int64_t[]){3});
    o.threads = 2;
    o.tiers = false;
    o.cache = "";
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    rvm_machine *m = machine_of(program);
    cr_assert(!rvm_jit_attach(j, m, &e));
    cr_assert(!rvm_call(m, rvm_program_find(program, "block"), &a, 1, &e));
    expect("0 1\n1 2\n2 3\n");
    cr_assert(!rvm_uncall(m, rvm_program_find(program, "block"), &a, 1, &e));
    expect("2 3\n1 2\n0 1\n");
    rvm_machine_free(m);
    rvm_jit_free(j);
}
