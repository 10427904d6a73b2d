/* guard.c: roles of elements that are enforced while a block runs, of arrays with gaps that lie between each other. */
#include "jit_fixture.h"

static const char source[] = "fn columns(x: real[n], y: real[n], p: i64[n])\n"
                             "    parallel i in 0..n\n"
                             "        x[p[i]] *= 2\n"
                             "        y[p[n - 1 - i]] *= 3\n"
                             "    end\n"
                             "end\n"
                             "fn corner(A: real[n, n], p: i64[n])\n"
                             "    parallel i in 0..n\n"
                             "        A[p[i], i] *= 2\n"
                             "        A[i, p[i]] += 1\n"
                             "    end\n"
                             "end\n"
                             "fn again(x: real[m], p: i64[n], times: i64)\n"
                             "    for k in 0..times\n"
                             "        parallel i in 0..n\n"
                             "            x[p[i]] += 1\n"
                             "            x[p[i]] *= 1\n"
                             "        end\n"
                             "        if k == 0\n"
                             "            p[0] -= 2\n"
                             "        end\n"
                             "        if k == times - 2\n"
                             "            p[1] += 1\n"
                             "        end\n"
                             "    end\n"
                             "end\n";

enum { N = 7 };

static rvm_arg strided(double *data, int64_t n, int64_t stride) {
    rvm_arg a = rvm_arg_array(RVM_F64, data, 1, &n);
    a.stride[0] = stride;
    return a;
}

/* Every third number is an element of x, the next one of y. */
static void check_columns(rvm_machine *m, const rvm_program *p) {
    double cells[3 * N];
    int64_t order[N] = {3, 6, 0, 5, 2, 1, 4}, n = N;
    rvm_arg a[3] = {strided(cells, N, 3), strided(cells + 1, N, 3), rvm_arg_array(RVM_I64, order, 1, &n)};
    for (int k = 0; k < 3 * N; k++) cells[k] = 1;
    cr_assert(!rvm_call(m, rvm_program_find(p, "columns"), a, 3, &e), "%s", e.message);
    for (int k = 0; k < 3 * N; k++) cr_assert_eq(cells[k], k % 3 == 0 ? 2 : k % 3 == 1 ? 3 : 1);
    order[6] = order[1];
    cr_assert_eq(rvm_call(m, rvm_program_find(p, "columns"), a, 3, &e), RVM_ERR_RACE);
    cr_assert(strstr(e.message, "`y[6]`"), "%s", e.message); /* of y, which goes from the last */
}

/* The upper left corner of a matrix; the other way round its columns come first. */
static void check_corner(rvm_machine *m, const rvm_program *p, bool turned) {
    double cells[9 * 10];
    int64_t order[N] = {1, 0, 3, 2, 5, 4, 6}, shape[2] = {N, N}, n = N;
    rvm_arg a[2] = {rvm_arg_array(RVM_F64, cells, 2, shape), rvm_arg_array(RVM_I64, order, 1, &n)};
    a[0].stride[turned] = 10;
    a[0].stride[!turned] = 1;
    for (int k = 0; k < 90; k++) cells[k] = 1;
    const rvm_status status = rvm_call(m, rvm_program_find(p, "corner"), a, 2, &e);
    cr_assert_eq(status, RVM_ERR_RACE); /* A[1, 0] of instance 0 is A[i, p[i]] of instance 1 */
    cr_assert(strstr(e.message, "instances 1 and 0") && strstr(e.message, "`A[0, i]`"), "%s", e.message);
    cr_assert(!rvm_machine_backward(m, &e));
    for (int k = 0; k < 90; k++) cr_assert_eq(cells[k], 1);
    for (int k = 0; k < N; k++) order[k] = k;
    cr_assert(!rvm_call(m, rvm_program_find(p, "corner"), a, 2, &e), "%s", e.message);
    for (int k = 0; k < 90; k++) cr_assert_eq(cells[k], k % 11 == 0 && k / 10 < N ? 3 : 1);
}

/* The first runs of a machine, which 16 bits tell apart: a mark of the first one does not count when these come around. */
static void check_again(rvm_machine *m, const rvm_program *p) {
    enum { TIMES = 65536 };
    double x[3] = {0};
    int64_t order[2] = {2, 1}, places = 3, n = 2;
    rvm_arg a[3] = {rvm_arg_array_f64(x, 1, &places), rvm_arg_array(RVM_I64, order, 1, &n), rvm_arg_i64(TIMES)};
    cr_assert(!rvm_call(m, rvm_program_find(p, "again"), a, 3, &e), "%s", e.message);
    cr_assert(x[0] == TIMES - 1 && x[1] == TIMES - 1 && x[2] == 2);
}

static void check(rvm_machine *m, const rvm_program *p) {
    check_again(m, p);
    check_columns(m, p);
    check_corner(m, p, false);
    check_corner(m, p, true);
}

Test(guard, between_each_other) {
    rvm_program *p;
    rvm_machine *m = NULL;
    cr_assert(!rvm_assemble(source, sizeof source - 1, "test.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, NULL, &m, &e));
    check(m, p);
    rvm_machine_free(m);
    rvm_program_free(p);
}

Test(guard, between_each_other_natively) {
    rvm_program *p;
    rvm_jit *j = NULL;
    rvm_jit_options o = rvm_jit_options_default();
    o.cache = "";
    o.tiers = false;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    rvm_machine *m = native_machine(j, source, &p);
    check(m, p);
    rvm_machine_free(m);
    rvm_program_free(p);
    rvm_jit_free(j);
}
