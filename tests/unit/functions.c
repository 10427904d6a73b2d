/* functions.c: function values through the interface: as arguments, in every mode, and files that lie about them. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"

static const char text[] = "fn square(y: real, x: real)\n"
                           "    y += x ^ 2\n"
                           "end\n"
                           "fn double(y: real, x: real)\n"
                           "    y += 2 * x\n"
                           "end\n"
                           "fn half(x: real)\n"
                           "    x /= 2\n"
                           "end\n"
                           "fn apply(y: real, x: real, g: fn(acc real, read real))\n"
                           "    call g(y, x)\n"
                           "end\n"
                           "fn all(y: real, x: real, gs: fn(acc real, read real)[n])\n"
                           "    for i in 0..n\n"
                           "        let g = gs[i]\n"
                           "        call g(y, x)\n"
                           "    end\n"
                           "end\n"
                           "fn own(y: real, x: real)\n"
                           "    call apply(y, x, &square)\n"
                           "end\n";

static rvm_program *program;
static rvm_machine *machine;
static rvm_error e;
static report rep = {.name = "functions"};

static void setup(void) {
    program = assemble_text(text, NULL, &rep);
    cr_assert(program && rvm_machine_new(program, NULL, &machine, &e) == RVM_OK);
}

static void teardown(void) {
    rvm_machine_free(machine);
    rvm_program_free(program);
}

TestSuite(functions, .init = setup, .fini = teardown);

static int64_t number(const char *name) {
    int64_t fn = rvm_program_find(program, name);
    cr_assert(fn >= 0);
    return fn;
}

Test(functions, argument) {
    rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_f64(3), rvm_arg_fn(number("square"))};
    cr_assert_eq(rvm_call(machine, number("apply"), a, 3, &e), RVM_OK);
    cr_assert_eq(a[0].value.f, 10);
    cr_assert_eq(rvm_uncall(machine, number("apply"), a, 3, &e), RVM_OK);
    cr_assert_eq(a[0].value.f, 1);
    cr_assert_eq(a[2].value.i, number("square"));
}

Test(functions, gradient_follows_the_value) {
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(3), rvm_arg_fn(0)};
    const char *const names[] = {"square", "double", "square"};
    const double slopes[] = {6, 2, 6};
    a[0].active = a[1].active = true;
    for (int k = 0; k < 3; k++) { /* one machine, one activity: nothing of the last value may stay */
        a[2] = rvm_arg_fn(number(names[k]));
        a[0].shadow.f = 1;
        a[1].shadow.f = 0;
        cr_assert_eq(rvm_gradient(machine, number("apply"), a, 3, &e), RVM_OK);
        cr_assert_eq(a[1].shadow.f, slopes[k]);
    }
}

Test(functions, wrong_values_are_refused) {
    const int64_t wrong[] = {number("half"), number("apply"), -1, 1000, INT64_MIN, INT64_MAX};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_f64(3), rvm_arg_fn(wrong[k])};
        cr_assert_eq(rvm_call(machine, number("apply"), a, 3, &e), RVM_ERR_ARGUMENT);
        cr_assert(strstr(e.message, "fn(acc f64, read f64) is needed"), "%s", e.message);
    }
}

Test(functions, arrays_are_looked_at_when_called) {
    int64_t gs[] = {number("square"), number("double"), number("half")}, two = 2, three = 3;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(3), rvm_arg_array_i64(gs, 1, &two)};
    cr_assert_eq(rvm_call(machine, number("all"), a, 3, &e), RVM_OK);
    cr_assert_eq(a[0].value.f, 15);
    rvm_arg b[] = {rvm_arg_f64(0), rvm_arg_f64(3), rvm_arg_array_i64(gs, 1, &three)};
    cr_assert_eq(rvm_call(machine, number("all"), b, 3, &e), RVM_ERR_FUNCTION);
    cr_assert_eq(e.line, 16);
    cr_assert_eq(rvm_machine_backward(machine, &e), RVM_OK);
    rvm_machine_unbind(machine);
    cr_assert_eq(b[0].value.f, 0);
}

Test(functions, types_are_told) {
    rvm_param_info p;
    cr_assert_eq(rvm_program_param(program, (uint32_t)number("apply"), 2, &p), RVM_OK);
    cr_assert_str_eq(p.function_type, "fn(acc f64, read f64)");
    cr_assert_eq(rvm_program_param(program, (uint32_t)number("apply"), 0, &p), RVM_OK);
    cr_assert_null(p.function_type);
}

/* Whatever byte of a file is another, it is refused or runs without harm. */
Test(functions, damaged_files) {
    void *bytes;
    size_t size;
    cr_assert_eq(rvm_program_save(program, &bytes, &size, &e), RVM_OK);
    for (size_t k = RVM_RBC_HEADER; k < size; k += TRY_ONE_IN)
        for (int bit = 0; bit < 8; bit++) {
            rvm_program *p;
            ((unsigned char *)bytes)[k] ^= (unsigned char)(1 << bit);
            bytecode_seal(bytes, size);
            if (rvm_program_load(bytes, size, "damaged", NULL, &p, &e) == RVM_OK) {
                exercise(p, k);
                rvm_program_free(p);
            }
            ((unsigned char *)bytes)[k] ^= (unsigned char)(1 << bit);
        }
    rvm_program_free_bytes(program, bytes, size);
}

static const char derived[] = "fn square(y: real, x: real)\n    y += x ^ 2\nend\n"
                              "fn slope(d: real, x: real, g: fn(acc real, read real))\n    let y: real\n"
                              "    let s: real = 1\n    call g'grad(y, s, x, d)\nend\n"
                              "fn f(d: real, d_d: real, x: real, x_d: real)\n    call slope(d, x, &square)\n    call "
                              "slope'tan(d, d_d, x, x_d, &square)\nend\n";

/* Assemble, save and load with the n-th allocation failing, until none fails any more. */
Test(functions, out_of_memory, .timeout = 120) {
    bool complete = false;
    for (uint64_t n = 1; !complete; n++) {
        counting c;
        rvm_program *p = NULL, *again = NULL;
        void *bytes = NULL;
        size_t size;
        counting_init(&c);
        c.fail_at = n;
        rvm_asm_options o = {.real = RVM_F64, .allocator = &c.al};
        rvm_status s = rvm_assemble(derived, sizeof derived - 1, "test.rasm", &o, &p, &e, NULL, NULL);
        cr_assert(s == (p ? RVM_OK : RVM_ERR_MEMORY), "%s: %s", rvm_status_name(s), e.message);
        if (p) rvm_program_save(p, &bytes, &size, &e);
        if (bytes) rvm_program_load(bytes, size, "x.rbc", &c.al, &again, &e);
        complete = again && c.calls < n;
        if (bytes) rvm_program_free_bytes(p, bytes, size);
        rvm_program_free(again);
        rvm_program_free(p);
        cr_assert(c.live_blocks == 0 && c.live_bytes == 0 && !c.mismatch, "allocation %llu", (unsigned long long)n);
    }
}
