/* arguments.c: numbers and elements of arguments as callers read and write them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static bool is_text(rvm_type t, rvm_scalar v, const char *want) {
    char text[40];
    return rvm_scalar_text(t, v, text, sizeof text) == (int)strlen(want) && !strcmp(text, want);
}

Test(arguments, text_of_numbers) {
    char text[4];
    cr_assert(is_text(RVM_I64, (rvm_scalar){.i = INT64_MIN}, "-9223372036854775808"));
    cr_assert(is_text(RVM_F64, (rvm_scalar){.f = 0.1}, "0.1") && is_text(RVM_F64, (rvm_scalar){.f = -INFINITY}, "-inf"));
    cr_assert(is_text(RVM_F32, (rvm_scalar){.f = NAN}, "nan"));
    cr_assert(is_text(RVM_FIX, (rvm_scalar){.i = 1}, "0.0000000000001"));
    cr_assert(is_text(RVM_FIX, (rvm_scalar){.i = 3ll << 42}, "1.5") && is_text(RVM_FIX, (rvm_scalar){.i = 0}, "0"));
    cr_assert(rvm_scalar_text(RVM_I64, (rvm_scalar){.i = 12345}, text, sizeof text) == 5 && !strcmp(text, "123"));
    char lns[40];
    cr_assert(rvm_lns_text(RVM_F64, rvm_arg_lns(0.1).value, lns, sizeof lns) && !strcmp(lns, "0.1"));
    cr_assert(!rvm_lns_text(RVM_F64, (rvm_scalar){.f = 5000}, lns, sizeof lns) && !strcmp(lns, "exp(5000)"));
    cr_assert(!rvm_lns_text(RVM_F64, (rvm_scalar){.f = 1.0 / 3000}, lns, sizeof lns) && !strcmp(lns, "1.00033338889506"));
    rng r = {5};
    for (int k = 0; k < 10000; k++) {
        char all[40];
        double x;
        const uint64_t bits = rng_next(&r);
        memcpy(&x, &bits, sizeof x);
        rvm_scalar_text(RVM_F64, (rvm_scalar){.f = x}, all, sizeof all);
        cr_assert(isnan(x) || strtod(all, NULL) == x);
    }
}

Test(arguments, conversions) {
    cr_assert(rvm_type_is_floating(RVM_F64) && rvm_type_is_floating(RVM_F32));
    cr_assert(!rvm_type_is_floating(RVM_FIX) && !rvm_type_is_floating(RVM_I64));
    cr_assert(rvm_scalar_from_double(RVM_I64, 2.75).i == 3 && rvm_scalar_from_double(RVM_I64, -2.5).i == -2);
    cr_assert(rvm_scalar_from_double(RVM_F32, 0.1).f == (double)0.1f && rvm_scalar_from_double(RVM_F64, 0.1).f == 0.1);
    cr_assert(rvm_scalar_from_double(RVM_FIX, 1.5).i == 3ll << 42);
    for (rvm_type t = RVM_I64; t < RVM_TYPE_COUNT; t++)
        cr_assert(rvm_scalar_to_double(t, rvm_scalar_from_double(t, -7)) == -7);
}

/* Every second column of the last two rows of a 3 by 4 matrix. */
Test(arguments, elements) {
    double x[12], shadow[4] = {1, 2, 3, 4}, out[4] = {0};
    char text[16];
    const int64_t shape[] = {2, 2};
    for (int k = 0; k < 12; k++) x[k] = k;
    rvm_arg a = rvm_arg_array_f64(x + 4, 2, shape), scalar = rvm_arg_i64(7);
    a.stride[0] = 4, a.stride[1] = 2;
    a.shadow_data = shadow;
    cr_assert(rvm_arg_count(&a) == 4 && rvm_arg_count(&scalar) == 1);
    rvm_arg_gather(&a, false, (rvm_scalar *)(void *)out);
    cr_assert(out[0] == 4 && out[1] == 6 && out[2] == 8 && out[3] == 10);
    out[3] = -1;
    rvm_arg_scatter(&a, false, (rvm_scalar *)(void *)out);
    cr_assert(x[10] == -1 && x[9] == 9 && x[11] == 11);
    rvm_arg_gather(&a, true, (rvm_scalar *)(void *)out);
    cr_assert(out[0] == 1 && out[3] == 4);
    rvm_arg_gather(&scalar, false, (rvm_scalar *)(void *)out);
    cr_assert(((rvm_scalar *)(void *)out)->i == 7);
    cr_assert(rvm_arg_element_text("A", &a, 2, text, sizeof text) == 7 && !strcmp(text, "A[1, 0]"));
    cr_assert(rvm_arg_element_text("n", &scalar, 0, text, sizeof text) == 1 && !strcmp(text, "n"));
    cr_assert(rvm_arg_element_text("A", &a, 4, text, sizeof text) == 1 && !strcmp(text, "?"));
    a.shape[1] = INT64_MAX;
    cr_assert(rvm_arg_count(&a) == -1);
    a.ndim = RVM_MAX_DIMS + 1;
    cr_assert(rvm_arg_count(&a) == -1);
}
