/* expressions.c: expressions over named places (rvm_assemble_expression). */
#include <criterion/criterion.h>

#include "harness.h"

static rvm_error e;

typedef struct told {
    const char *text;
    rvm_type type;
    double value;
} told;

Test(expressions, values) {
    static const rvm_asm_name names[] = {{"i", RVM_I64, 0},     {"x", RVM_F64, 1},    {"y", RVM_F64, 0},
                                         {"x_b", RVM_F64, 1},   {"z.re", RVM_F64, 0}, {"z.im", RVM_F64, 0},
                                         {"l.log", RVM_F64, 0}, {"q", RVM_FIX, 0},    {"value", RVM_I64, 0}};
    static const told all[] = {{"i + 1", RVM_I64, 3},
                               {"i // 2 * 7", RVM_I64, 7},
                               {"x[i] * 2 + sqrt(16)", RVM_F64, 10},
                               {"x[i - 1] > y", RVM_I64, 1},
                               {"x_b[0] + y", RVM_F64, 10.5},
                               {"z.re * z.im", RVM_F64, 6},
                               {"l.log", RVM_F64, 0.5},
                               {"q * q", RVM_FIX, 2.25},
                               {"value", RVM_I64, 9},
                               {"1e1 + 0x10 * 1.5e-1", RVM_F64, 12.4},
                               {"pi", RVM_F64, 3.14159265358979323846}};
    double x[] = {1, 2, 3}, x_b[] = {10, 20, 30};
    static const int64_t shape[] = {3};
    const rvm_arg given[] = {rvm_arg_i64(2),   rvm_arg_array_f64(x, 1, shape),
                             rvm_arg_f64(0.5), rvm_arg_array_f64(x_b, 1, shape),
                             rvm_arg_f64(2),   rvm_arg_f64(3),
                             rvm_arg_f64(0.5), rvm_arg_fix(1.5),
                             rvm_arg_i64(9)};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        rvm_program *p;
        rvm_machine *m;
        rvm_asm_used used;
        rvm_arg a[10] = {{.type = all[k].type}};
        cr_assert(!rvm_assemble_expression(all[k].text, names, 9, RVM_MATH_AUTO, NULL, &used, &p, &e), "%s: %s", all[k].text,
                  e.message);
        cr_assert(!rvm_machine_new(p, NULL, &m, &e));
        for (uint32_t i = 0; i < used.n; i++) a[i + 1] = given[used.name[i]];
        cr_assert(!rvm_call(m, 0, a, used.n + 1, &e), "%s: %s", all[k].text, e.message);
        const double got = rvm_scalar_to_double(all[k].type, a[0].value);
        cr_assert(got - all[k].value < 1e-9 && all[k].value - got < 1e-9, "%s: %g", all[k].text, got);
        rvm_machine_free(m);
        rvm_program_free(p);
    }
}

Test(expressions, refused) {
    static const rvm_asm_name names[] = {{"x", RVM_F64, 1}, {"q", RVM_FIX, 0}, {"y", RVM_F64, 0}};
    static const struct {
        const char *text;
        rvm_status code;
        uint32_t column;
    } all[] = {{"", RVM_ERR_SYNTAX, 0},       {"x[0] +", RVM_ERR_SYNTAX, 7}, {"1\nend\nfn g()", RVM_ERR_SYNTAX, 0},
               {"1 # 2", RVM_ERR_SYNTAX, 0},  {"y + w", RVM_ERR_NAME, 5},    {"y + q", RVM_ERR_TYPE, 0},
               {"y += 1", RVM_ERR_SYNTAX, 3}, {"x", RVM_ERR_TYPE, 1},        {"x[0, 1]", RVM_ERR_TYPE, 0}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        rvm_program *p;
        rvm_asm_used used;
        const rvm_status st = rvm_assemble_expression(all[k].text, names, 3, RVM_MATH_AUTO, NULL, &used, &p, &e);
        cr_assert(st && !p, "%s is no expression", all[k].text);
        cr_assert(st == all[k].code || all[k].code == RVM_ERR_TYPE, "%s: %s %s", all[k].text, rvm_status_name(st),
                  e.message);
        cr_assert(!all[k].column || e.column == all[k].column, "%s: column %u: %s", all[k].text, e.column, e.message);
    }
}
