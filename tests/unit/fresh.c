/* fresh.c: arguments whose contents are never read: what they count as on every engine, what is refused, what is left of
 * them where a run fails or goes back. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fresh.h"
#include "harness.h"

static const char text[] = "fn each(y: real[n, 3], x: real[n], w: real)\n" /* elements 1 of each row are left alone */
                           "    parallel i in 0..n\n"
                           "        y[i, 0] += x[i] * w\n"
                           "        y[i, 2] -= x[i]\n"
                           "        y[i, 0] += w\n"
                           "    end\n"
                           "end\n"
                           "fn across(y: real[3, n], s: real, x: real[n], w: real)\n"
                           "    parallel i in 1..n - 1\n"
                           "        for k in 0..2\n"
                           "            y[k, i] += inv(x[i]) * w\n"
                           "        end\n"
                           "        s += x[i]\n"
                           "    end\n"
                           "    y[2, 0] += s\n"
                           "end\n"
                           "fn two(a: real[n], b: real[n], x: real[n])\n"
                           "    for i in 0..n\n"
                           "        a[i] += x[i]\n"
                           "        b[i] += x[i] ^ 2\n"
                           "    end\n"
                           "end\n"
                           "fn count(c: i64[n], q: fix[n], k: i64[n])\n"
                           "    for i in 0..n\n"
                           "        c[i] += k[i]\n"
                           "        q[i] += 2\n"
                           "    end\n"
                           "end\n"
                           "fn divide(y: i64[2, n], k: i64[n])\n"
                           "    parallel i in 0..n\n"
                           "        y[0, i] += 7\n"
                           "        y[1, i] += 100 // k[i]\n"
                           "        y[0, i] += 1\n"
                           "    end\n"
                           "end\n"
                           "fn blocks(y: real[b, 3, 8], x: real[n], w: real)\n"
                           "    parallel i in 0..n\n"
                           "        for k in 0..3\n"
                           "            y[i // 8, k, i % 8] += x[i] * w\n"
                           "        end\n"
                           "    end\n"
                           "end\n";
enum { N = 2100, MOST = 3 * N, LONG = 300000 };
static rvm_program *program;
static rvm_machine *machine;
static rvm_error e;
static report rep = {.name = "fresh"};
static double x[N], y[MOST], want[MOST];

static void begin(const rvm_options *o) {
    program = assemble_text(text, NULL, &rep);
    cr_assert(program && rvm_machine_new(program, o, &machine, &e) == RVM_OK);
    for (int k = 0; k < N; k++) x[k] = sin(k + 1);
    for (int k = 0; k < MOST; k++) y[k] = NAN, want[k] = -0.0;
}

static void setup(void) {
    begin(NULL);
}

static void teardown(void) {
    rvm_machine_free(machine);
    rvm_program_free(program);
}

TestSuite(fresh, .init = setup, .fini = teardown);

static int64_t fn(const char *name) {
    return rvm_program_find(program, name);
}

static bool all(const double *v, int n, double value) {
    for (int k = 0; k < n; k++)
        if (v[k] != value) return false;
    return true;
}

static rvm_arg array(double *data, int ndim, int64_t a, int64_t b) {
    return rvm_arg_array_f64(data, ndim, (int64_t[]){a, b});
}

/* ---- what it counts as ---- */

Test(fresh, counts_as_negative_zeros) {
    rvm_arg a[] = {array(want, 2, N, 3), array(x, 1, N, 0), rvm_arg_f64(1.5)};
    cr_assert(rvm_call(machine, fn("each"), a, 3, &e) == RVM_OK, "%s", e.message);
    a[0] = array(y, 2, N, 3), a[0].fresh = true;
    cr_assert(rvm_call(machine, fn("each"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(!memcmp(y, want, sizeof y) && signbit(y[1]));
    memset(y, 0xff, sizeof y);
    cr_assert(rvm_call(machine, fn("each"), a, 3, &e) == RVM_OK && !memcmp(y, want, sizeof y), "again");
}

Test(fresh, scalars_and_whole_numbers) {
    int64_t c[3] = {7, 8, 9}, q[3] = {7, 8, 9}, k[3] = {1, 2, 3}, three = 3;
    rvm_arg a[] = {rvm_arg_array_i64(c, 1, &three), rvm_arg_array(RVM_FIX, q, 1, &three), rvm_arg_array_i64(k, 1, &three)};
    a[0].fresh = a[1].fresh = true;
    cr_assert(rvm_call(machine, fn("count"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(!memcmp(c, k, sizeof c) && q[0] == rvm_fix_from_double(2) && q[2] == q[0]);
    rvm_arg b[] = {array(y, 2, 3, 4), rvm_arg_f64(NAN), array(x, 1, 4, 0), rvm_arg_f64(2)};
    b[0].fresh = b[1].fresh = true;
    cr_assert(rvm_call(machine, fn("across"), b, 4, &e) == RVM_OK, "%s", e.message);
    cr_assert(b[1].value.f == x[1] + x[2] && y[1] == 1 / x[1] * 2 && y[8] == b[1].value.f && signbit(y[0]));
}

/* Rows of 5 in place of 3, every second row: what lies between stays. */
Test(fresh, strides) {
    static double wide[2 * 5 * N];
    for (int k = 0; k < 2 * 5 * N; k++) wide[k] = 42;
    rvm_arg a[] = {array(want, 2, N, 3), array(x, 1, N, 0), rvm_arg_f64(1.5)};
    cr_assert(rvm_call(machine, fn("each"), a, 3, &e) == RVM_OK);
    a[0].data = wide, a[0].stride[0] = 10, a[0].fresh = true;
    cr_assert(rvm_call(machine, fn("each"), a, 3, &e) == RVM_OK, "%s", e.message);
    for (int i = 0; i < N; i++)
        cr_assert(!memcmp(wide + 10 * i, want + 3 * i, 3 * sizeof *want) && all(wide + 10 * i + 3, 7, 42));
}

Test(fresh, empty) {
    rvm_arg a[] = {array(NULL, 2, 0, 3), array(NULL, 1, 0, 0), rvm_arg_f64(1)};
    a[0].fresh = true;
    cr_assert(rvm_call(machine, fn("each"), a, 3, &e) == RVM_OK, "%s", e.message);
}

/* ---- what is refused ---- */

static void refused(rvm_arg *a, const char *message) {
    cr_assert(rvm_call(machine, fn("two"), a, 3, &e) == RVM_ERR_ALIAS, "%s", e.message);
    cr_assert_str_eq(e.message, message);
}

Test(fresh, overlap) {
    rvm_arg a[] = {array(y, 1, 4, 0), array(y, 1, 4, 0), array(x, 1, 4, 0)};
    for (int k = 0; k < 4; k++) y[k] = 0;
    cr_assert(rvm_call(machine, fn("two"), a, 3, &e) == RVM_OK, "what is added into may overlap");
    a[1].fresh = true;
    refused(a, "arguments `a` and `b` of two overlap");
    a[0].fresh = true;
    refused(a, "arguments `a` and `b` of two overlap");
    a[1].data = y + 4;
    cr_assert(rvm_call(machine, fn("two"), a, 3, &e) == RVM_OK, "%s", e.message);
    a[1].data = x;
    refused(a, "arguments `b` and `x` of two overlap");
    a[1] = array(y + 4, 1, 4, 0), a[1].stride[0] = 0;
    cr_assert(rvm_call(machine, fn("two"), a, 3, &e) == RVM_OK, "%s", e.message);
    a[1].fresh = true;
    refused(a, "elements of argument `b` of two overlap: its strides are too small for its shape");
}

Test(fresh, overlapping_shadows) {
    double out_b[4] = {1, 1, 1, 1}, x_b[4];
    rvm_arg a[] = {array(y, 1, 4, 0), array(y + 4, 1, 4, 0), array(x, 1, 4, 0)};
    a[0].fresh = a[1].fresh = a[0].active = a[1].active = a[2].active = a[2].fresh_shadow = true;
    a[0].shadow_data = a[1].shadow_data = out_b, a[2].shadow_data = x_b;
    cr_assert(rvm_gradient(machine, fn("two"), a, 3, &e) == RVM_OK, "%s", e.message);
    a[1].fresh_shadow = true;
    cr_assert(rvm_gradient(machine, fn("two"), a, 3, &e) == RVM_ERR_ALIAS);
}

/* ---- going back, and failing ---- */

Test(fresh, back_at_the_start) {
    rvm_arg a[] = {array(y, 2, N, 3), array(x, 1, N, 0), rvm_arg_f64(1.5)};
    a[0].fresh = true;
    cr_assert(rvm_machine_bind(machine, fn("each"), a, 3, RVM_PRIMAL, false, &e) == RVM_OK);
    rvm_variable v;
    for (uint32_t k = 0; rvm_machine_variable(machine, 0, k, &v) && strcmp(v.name, "y"); k++) continue;
    cr_assert(v.data == y && all(v.data, MOST, 0), "it is looked at");
    cr_assert(rvm_machine_forward(machine, &e) == RVM_OK);
    memcpy(want, y, sizeof y);
    cr_assert(rvm_machine_backward(machine, &e) == RVM_OK && all(y, MOST, 0) && !signbit(y[0]));
    cr_assert(rvm_machine_forward(machine, &e) == RVM_OK && !memcmp(y, want, sizeof y));
    rvm_machine_unbind(machine);
    cr_assert(!memcmp(y, want, sizeof y));
}

Test(fresh, failure) {
    rvm_arg a[] = {array(y, 2, 3, 300), rvm_arg_f64(NAN), array(x, 1, 300, 0), rvm_arg_f64(2)};
    a[0].fresh = a[1].fresh = true;
    for (int way = 0; way < 2; way++) {
        rvm_options o = rvm_options_default();
        rvm_machine *m = NULL;
        o.fuel = 700;
        cr_assert(rvm_machine_new(program, &o, &m, &e) == RVM_OK);
        for (int k = 0; k < MOST; k++) y[k] = NAN;
        cr_assert(rvm_call(m, fn("across"), a, 4, &e) == RVM_ERR_FUEL, "%s", e.message);
        if (way) cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "%s", e.message);
        rvm_machine_unbind(m);
        cr_assert(all(y, 900, 0) && a[1].value.f == 0 && isnan(y[900]));
        rvm_machine_free(m);
    }
}

/* Refused as it would begin, it is unbound before its end; refused for its arguments, it was never bound. */
Test(fresh, refused) {
    static const char exact[] =
        "fn sum(y: real[n], x: real[n])\n    for i in 0..n\n        y[i] += x[i] ^ 2\n    end\nend\n";
    rvm_options o = rvm_options_default();
    rvm_program *p;
    rvm_machine *m;
    const rvm_asm_options to = {.exact = true};
    uint32_t inverse;
    double y_b[3] = {1, 1, 1}, x_b[3] = {NAN, NAN, NAN};
    rvm_arg a[] = {array(y, 1, 3, 0), array(y_b, 1, 3, 0), array(x, 1, 3, 0), array(x_b, 1, 3, 0)};
    a[0].fresh = a[3].fresh = true;
    o.exact = true;
    cr_assert(!rvm_assemble(exact, strlen(exact), "t", &to, &p, &e, NULL, NULL), "%s", e.message);
    rvm_program *derived;
    cr_assert(!rvm_program_derive(p, "sum'adj", &derived, &inverse, &e), "%s", e.message);
    cr_assert(!rvm_machine_new(derived, &o, &m, &e));
    a[2].shape[0] = 4;
    cr_assert(rvm_call(m, inverse, a, 4, &e) == RVM_ERR_SHAPE, "%s", e.message);
    cr_assert(isnan(y[0]) && isnan(x_b[2]) && !rvm_machine_bound(m));
    a[2].shape[0] = 3;
    cr_assert(rvm_uncall(m, inverse, a, 4, &e) == RVM_ERR_UNSUPPORTED, "%s", e.message);
    rvm_machine_unbind(m);
    cr_assert(all(y, 3, 0) && all(x_b, 3, 0) && isnan(y[3]));
    rvm_machine_free(m);
    rvm_program_free(derived);
    rvm_program_free(p);
}

/* ---- natively ---- */

/* Lanes, one by one, threads. */
static rvm_jit *native(int way, rvm_machine *m) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    o.cache = "", o.tiers = false;
    o.no_lanes = way == 1;
    o.threads = way == 2 ? 2 : 0;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_jit_attach(j, m, &e) == RVM_OK);
    return j;
}

static rvm_machine *unchecked_machine(uint64_t fuel) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    o.unchecked = o.trust = true;
    o.trail = RVM_TRAIL_OFF;
    o.fuel = fuel;
    cr_assert(rvm_machine_new(program, &o, &m, &e) == RVM_OK);
    return m;
}

static void across(rvm_arg *a, double *to, int64_t n, const double *from) {
    a[0] = array(to, 2, 3, n), a[1] = rvm_arg_f64(NAN), a[2] = array((double *)from, 1, n, 0), a[3] = rvm_arg_f64(1.5);
    a[0].fresh = a[1].fresh = true;
}

/* What a run does that stops for want of fuel, again and again, is what one does that does not. */
Test(fresh, stopped_natively) {
    double *from = malloc(LONG * sizeof *from), *to[2];
    for (int k = 0; k < LONG; k++) from[k] = 1 + k % 97;
    for (int way = 0; way < 3; way++) {
        uint64_t stops = 0;
        for (int side = 0; side < 2; side++) {
            rvm_arg a[4];
            rvm_machine *m = unchecked_machine(side ? 100000 : 0);
            rvm_jit *j = side ? native(way, m) : NULL;
            to[side] = malloc(3 * LONG * sizeof **to);
            memset(to[side], 0xff, 3 * LONG * sizeof **to);
            across(a, to[side], LONG, from);
            rvm_status st = rvm_call(m, fn("across"), a, 4, &e);
            for (; st == RVM_ERR_FUEL; stops++) st = rvm_machine_forward(m, &e);
            cr_assert(st == RVM_OK, "%s", e.message);
            rvm_machine_free(m);
            rvm_jit_free(j);
        }
        cr_assert(stops > 0);
        for (int k = 0; k < 3 * LONG; k++)
            cr_assert(!memcmp(&to[0][k], &to[1][k], sizeof **to), "way %d, element %d: %g, %g", way, k, to[0][k], to[1][k]);
        free(to[0]);
        free(to[1]);
    }
    free(from);
}

/* An instance fails, of a group or alone: the same is there as where the interpreter fails, and then 0. */
Test(fresh, failing_natively) {
    static int64_t to[2][2 * N], k[N];
    const int64_t shape[] = {2, N};
    for (int i = 0; i < N; i++) k[i] = i - 1500;
    for (int way = 0; way < 3; way++) {
        rvm_machine *m[2];
        rvm_jit *j = NULL;
        rvm_arg a[2][2];
        for (int side = 0; side < 2; side++) {
            m[side] = unchecked_machine(0);
            if (side) j = native(way, m[side]);
            memset(to[side], 0xff, sizeof *to);
            a[side][0] = rvm_arg_array_i64(to[side], 2, shape), a[side][1] = rvm_arg_array_i64(k, 1, shape + 1);
            a[side][0].fresh = true;
            cr_assert(rvm_call(m[side], fn("divide"), a[side], 2, &e) == RVM_ERR_DOMAIN, "%s", e.message);
        }
        cr_assert(!memcmp(to[0], to[1], sizeof *to));
        rvm_machine_unbind(m[1]);
        for (int i = 0; i < 2 * N; i++) cr_assert(to[1][i] == 0);
        for (int side = 0; side < 2; side++) rvm_machine_free(m[side]);
        rvm_jit_free(j);
    }
}

/* Of arrays larger than the caches, where there are 128 MB for them: rows that all begin at a line of the cache, of which
 * some do, and none. */
Test(fresh, past_the_caches) {
    enum { MUCH = 1 << 24 };
    int64_t n = LONG + 5;
    while (n < MUCH / 3 && !rvm__passes_caches(3 * n)) n += LONG;
    const int64_t b = (n + 7) / 8;
    const size_t size = (size_t)(b + 1) * 3 * 64;
    double *from = malloc((size_t)n * sizeof *from), *to = aligned_alloc(64, size), *first;
    cr_assert(from && to);
    for (int64_t i = 0; i < n; i++) from[i] = 1 + (double)(i % 97);
    rvm_machine *m = unchecked_machine(0);
    rvm_jit *j = native(0, m);
    for (int off = 0; off < 8; off += 4) {
        rvm_arg a[4] = {rvm_arg_array_f64(first = to + off, 3, (int64_t[]){b, 3, 8}), array(from, 1, n, 0),
                        rvm_arg_f64(1.5)};
        a[0].fresh = true;
        memset(to, 0xff, size);
        cr_assert(rvm_call(m, fn("blocks"), a, 3, &e) == RVM_OK && rvm_jit_reason(m, &e) == RVM_OK, "%s", e.message);
        for (int64_t i = 0; i < 3 * n; i++)
            cr_assert(first[(i % n / 8 * 3 + i / n) * 8 + i % n % 8] == from[i % n] * 1.5, "blocks, element %d", (int)i);
        across(a, first, n, from);
        memset(to, 0xff, size);
        cr_assert(rvm_call(m, fn("across"), a, 4, &e) == RVM_OK && rvm_jit_reason(m, &e) == RVM_OK, "%s", e.message);
        for (int64_t i = 1; i < 2 * n - 1; i++)
            cr_assert(first[i] == (i % n % (n - 1) ? 1 / from[i % n] * 1.5 : 0), "across, element %d", (int)i);
    }
    rvm_machine_free(m);
    rvm_jit_free(j);
    free(from);
    free(to);
}

/* ---- derivatives ---- */

static void gradient(rvm_machine *m, bool fresh, double *y_b, double *x_b, double *values) {
    rvm_arg a[] = {array(values, 2, N, 3), array(x, 1, N, 0), rvm_arg_f64(1.5)};
    for (int k = 0; k < MOST; k++) y_b[k] = cos(k), values[k] = fresh ? NAN : -0.0;
    for (int k = 0; k < N; k++) x_b[k] = fresh ? NAN : -0.0;
    for (int k = 0; k < 3; k++) a[k].active = true;
    a[0].shadow_data = y_b, a[1].shadow_data = x_b;
    a[2].shadow.f = fresh ? NAN : -0.0;
    a[0].fresh = a[1].fresh_shadow = a[2].fresh_shadow = fresh;
    cr_assert(rvm_gradient(m, fn("each"), a, 3, &e) == RVM_OK, "%s", e.message);
    cr_assert(all(values, MOST, 0) || !fresh);
    x_b[N] = a[2].shadow.f;
    cr_assert(rvm_value_and_gradient(m, fn("each"), a, 3, &e) == RVM_OK, "%s", e.message);
    x_b[N + 1] = a[2].shadow.f;
}

static void same_gradients(rvm_machine *m) {
    static double y_b[MOST], x_b[2][N + 2], values[2][MOST];
    for (int fresh = 0; fresh < 2; fresh++) {
        gradient(m, fresh, y_b, x_b[fresh], values[fresh]);
        if (!fresh) /* the second one is added to the first */
            for (int k = 0; k < N; k++) x_b[0][k] /= 2;
    }
    x_b[0][N + 1] -= x_b[0][N];
    for (int k = 0; k < N + 2; k++) cr_assert_float_eq(x_b[0][k], x_b[1][k], 1e-12 * fmax(1, fabs(x_b[0][k])));
    cr_assert(!memcmp(values[0], values[1], sizeof values[0]));
}

Test(fresh, gradients) {
    same_gradients(machine);
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    o.cache = "", o.tiers = false;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_jit_attach(j, machine, &e) == RVM_OK);
    same_gradients(machine);
    cr_assert(rvm_jit_reason(machine, &e) == RVM_OK, "%s", e.message);
    rvm_jit_free(j);
}
