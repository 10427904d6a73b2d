/* exact.c: what rounding loses: recorded and restored, value by value and by whole runs. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "exact.h"
#include "rvm.h"
#include "rvm_asm.h"
#include "rvm_jit.h"
#include "instruction.h"
#include "support.h"
#include "try_one_in.h"

static uint64_t next(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static bool same(double a, double b) {
    return !memcmp(&a, &b, sizeof a);
}

static void round_trip(rvm__bits *b, rvm__exact op, double y, double x) {
    double back = 0;
    const size_t before = b->n;
    const double after = rvm__exact_apply(op, y, x);
    if (op >= RVM__EXACT_MUL && (x == 0 || !isfinite(x))) return;
    cr_assert(rvm__exact_record(&rvm__libc_allocator, b, op, y, x, after));
    cr_assert(rvm__exact_restore(b, op, after, x, &back));
    cr_assert(same(back, y) && b->n == before, "op %d: %a by %a gives %a, which goes back to %a", op, y, x, after, back);
}

Test(exact, special_values) {
    static const double v[] = {0,         -0.0,     1,   -1,   2,    0.5,     INFINITY, -INFINITY, NAN,    4.9e-324,
                               -4.9e-324, 2.3e-308, 0.1, 1e16, 9e15, DBL_MAX, -DBL_MAX, 3,         1 / 3.0};
    const int n = sizeof v / sizeof *v;
    rvm__bits b = {0};
    for (int op = RVM__EXACT_ADD; op <= RVM__EXACT_DIV; op++)
        for (int k = 0; k < n * n; k++) round_trip(&b, (rvm__exact)op, v[k / n], v[k % n]);
    rvm__bits_free(&rvm__libc_allocator, &b);
}

/* Any bits; values of like size, which cancel; subnormals and ties. */
Test(exact, random_values) {
    uint64_t s = 88172645463325252u;
    rvm__bits b = {0};
    for (int k = 0; k < 200000; k++) {
        const rvm_value u = {.u = next(&s)}, v = {.u = next(&s)};
        const double y = (double)u.i / 9.3e18, x = (double)v.i / 9.3e18;
        const double small_y = ldexp((double)(u.u % 32) - 16, (int)(u.u >> 60) - 1085);
        const double small_x = ldexp((double)(v.u % 32) - 16, (int)(v.u >> 60) - 1085);
        for (int op = RVM__EXACT_ADD; op <= RVM__EXACT_DIV; op++) {
            round_trip(&b, (rvm__exact)op, u.f, v.f);
            round_trip(&b, (rvm__exact)op, y, ldexp(x, (int)(v.u % 60) - 30));
            round_trip(&b, (rvm__exact)op, y, -y + ldexp(y, -(int)(v.u % 55)));
            round_trip(&b, (rvm__exact)op, small_y, op < RVM__EXACT_MUL ? small_x : 1 + (double)(v.u % 32));
        }
    }
    rvm__bits_free(&rvm__libc_allocator, &b);
}

static const char text[] = "fn turn(x: real, y: real, a: real, n: i64)\n"
                           "    for i in 0..n\n"
                           "        compute\n"
                           "            let r: real = x * x\n"
                           "            r += y * y\n"
                           "            rot x, y, 0.3\n"
                           "        do\n"
                           "            a += sin(r) / 3\n"
                           "        undo\n"
                           "        x += y * 0.1\n"
                           "        y -= x / 7\n"
                           "        x *= 1.0001\n"
                           "        hadamard x, y\n"
                           "        uncall slide(y, a)\n"
                           "        inc a\n"
                           "    end\n"
                           "end\n"
                           "fn slide(y: real, a: real)\n"
                           "    compute\n"
                           "        let t: real = exp(a / 50)\n"
                           "        t += a\n"
                           "    do\n"
                           "        y += t / 3\n"
                           "    undo\n"
                           "end\n";

static rvm_machine *machine(rvm_program **p) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    o.exact = true;
    cr_assert(rvm_assemble(text, sizeof text - 1, "t.rasm", NULL, p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_new(*p, &o, &m, NULL) == RVM_OK);
    return m;
}

static void check_same(const rvm_arg *a) {
    cr_assert(same(a[0].value.f, 0.3) && same(a[1].value.f, -1.7) && same(a[2].value.f, 0.01));
}

/* Through regions, calls, rotations; turned around in the middle as often as at the end; bound at either end. */
Test(exact, runs) {
    rvm_program *p;
    rvm_machine *m = machine(&p);
    rvm_error e;
    for (int at_end = 0; at_end < 2; at_end++) {
        rvm_arg a[] = {rvm_arg_f64(0.3), rvm_arg_f64(-1.7), rvm_arg_f64(0.01), rvm_arg_i64(200)};
        rvm_status (*away)(rvm_machine *, rvm_error *) = at_end ? rvm_machine_backward : rvm_machine_forward;
        rvm_status (*home)(rvm_machine *, rvm_error *) = at_end ? rvm_machine_forward : rvm_machine_backward;
        const int64_t fn = rvm_program_find(p, "turn");
        cr_assert(rvm_machine_bind(m, fn, a, 4, RVM_PRIMAL, at_end, &e) == RVM_OK);
        for (int steps = 1; steps < 4000; steps = steps * 3 + 1) {
            for (int k = 0; k < steps; k++)
                cr_assert(rvm_machine_step(m, at_end ? -1 : 1, NULL, &e) == RVM_OK, "%s", e.message);
            cr_assert(home(m, &e) == RVM_OK, "%s", e.message);
            check_same(a);
        }
        cr_assert(away(m, &e) == RVM_OK, "%s", e.message);
        cr_assert(home(m, &e) == RVM_OK, "%s", e.message);
        check_same(a);
        rvm_stats s;
        rvm_machine_stats(m, &s);
        cr_assert(s.exact_updates > 0 && s.exact_bits > 0);
    }
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* Gradient mode restores every bit too, by a sweep; tangent mode from the middle of a run. */
Test(exact, modes) {
    rvm_program *p;
    rvm_machine *m = machine(&p);
    rvm_error e;
    const int64_t fn = rvm_program_find(p, "turn");
    rvm_arg a[] = {rvm_arg_f64(0.3), rvm_arg_f64(-1.7), rvm_arg_f64(0.01), rvm_arg_i64(50)};
    for (int k = 0; k < 3; k++) a[k].active = true;
    a[0].shadow.f = 1;
    cr_assert(rvm_gradient(m, fn, a, 4, &e) == RVM_OK, "%s", e.message);
    check_same(a);
    cr_assert(rvm_machine_bind(m, fn, a, 4, RVM_GRADIENT, false, &e) == RVM_OK);
    cr_assert(rvm_machine_forward(m, &e) == RVM_OK && rvm_machine_sweep(m, &e) == RVM_OK, "%s", e.message);
    check_same(a);
    cr_assert(rvm_machine_bind(m, fn, a, 4, RVM_TANGENT, false, &e) == RVM_OK);
    for (int k = 0; k < 500; k++) cr_assert(rvm_machine_step(m, 1, NULL, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "%s", e.message);
    check_same(a);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* ---- natively, if there is native code, as interpreted ---- */

static rvm_jit *native_code; /* of a test, once it is asked for */

static rvm_machine *new_machine(const rvm_program *p, bool native, uint64_t fuel) {
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = rvm_jit_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    o.exact = true;
    o.fuel = fuel;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK);
    jit.tiers = false;
    jit.cache = "";
    jit.level = 1;
    if (native && !native_code) rvm_jit_new(&jit, &native_code, &e);
    if (native && native_code) cr_assert(rvm_jit_attach(native_code, m, &e) == RVM_OK);
    return m;
}

static void done(rvm_program *p) {
    rvm_jit_free(native_code);
    rvm_program_free(p);
}

static rvm_program *assemble(const char *source) {
    rvm_program *p;
    rvm_error e;
    cr_assert(rvm_assemble(source, strlen(source), "p.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    return p;
}

static void check_stats(rvm_machine *const m[2], const char *when) {
    rvm_stats s[2];
    for (int k = 0; k < 2; k++) rvm_machine_stats(m[k], &s[k]);
#define SAME(field)                                                                                                         \
    cr_assert(s[0].field == s[1].field, "%s: %llu, natively %llu", when, (unsigned long long)s[0].field,                    \
              (unsigned long long)s[1].field)
    SAME(exact_updates);
    SAME(exact_bits);
    SAME(exact_peak);
#undef SAME
}

/* Sums one by one, in a row, and in a compute part; products; where a register gathers what instances add. */
static const char updates[] = "fn all(y: real, z: real[6], w: real, x: real[n])\n"
                              "    for i in 0..n\n"
                              "        y += x[i]\n"
                              "    end\n"
                              "    for i in 0..n\n"
                              "        z[0] += x[i]\n"
                              "        z[1] -= x[i]\n"
                              "        z[2] += x[i] * x[i]\n"
                              "        z[3] -= x[i] / 3\n"
                              "        z[4] -= x[i]\n"
                              "    end\n"
                              "    compute\n"
                              "        let s: real = 0\n"
                              "        for i in 0..n\n"
                              "            s -= x[i]\n"
                              "            z[5] += x[i]\n"
                              "        end\n"
                              "    do\n"
                              "        w += s\n"
                              "    undo\n"
                              "    for i in 0..n\n"
                              "        y -= x[i]\n"
                              "    end\n"
                              "    parallel i in 0..n\n"
                              "        w += x[i]\n"
                              "    end\n"
                              "end\n";
enum { MOST_X = 900 };

static void there_and_back(const rvm_program *p, double y, double *x, int64_t n) {
    static const int64_t six = 6;
    const double z[6] = {y, -y, 0, -0.0, 1, y};
    rvm_machine *m[2];
    rvm_arg a[2][4];
    double z_of[2][6];
    rvm_error e;
    for (int k = 0; k < 2; k++) {
        memcpy(z_of[k], z, sizeof z);
        a[k][0] = rvm_arg_f64(y), a[k][1] = rvm_arg_array_f64(z_of[k], 1, &six);
        a[k][2] = rvm_arg_f64(y), a[k][3] = rvm_arg_array_f64(x, 1, &n);
        m[k] = new_machine(p, k, 0);
        cr_assert(rvm_machine_bind(m[k], 0, a[k], 4, RVM_PRIMAL, false, &e) == RVM_OK, "%s", e.message);
        cr_assert(rvm_machine_forward(m[k], &e) == RVM_OK, "%s", e.message);
    }
    check_stats(m, "there");
    for (int k = 0; k < 2; k++) {
        cr_assert(rvm_machine_backward(m[k], &e) == RVM_OK, "%s", e.message);
        cr_assert(same(a[k][0].value.f, y) && same(a[k][2].value.f, y) && !memcmp(z_of[k], z, sizeof z), "%a, %d", y, k);
        rvm_machine_free(m[k]);
    }
}

Test(exact, native_values) {
    static const double special[] = {0.0,     -0.0,    1,       -1,       0x1p-1074, -0x1p-1074,
                                     DBL_MIN, 0x1p-53, DBL_MAX, -DBL_MAX, 3e16,      0.1};
    enum { SPECIAL = sizeof special / sizeof *special };
    static double x[MOST_X];
    rvm_program *p = assemble(updates);
    uint64_t s = 88172645463325252;
    for (int k = 0; k < SPECIAL; k++) {
        for (int i = 0; i < MOST_X; i++) x[i] = special[(i + i / SPECIAL * k) % SPECIAL];
        there_and_back(p, special[k], x, 3 + k * 7);
    }
    memset(x, 0, sizeof x);
    there_and_back(p, -0.0, x, 5);
    for (int i = 0; i < MOST_X; i++) x[i] = ldexp((double)(next(&s) >> 11), (int)(next(&s) % 40) - 73) * (i % 3 ? 1 : -1);
    there_and_back(p, 0.25, x, MOST_X);
    x[400] = INFINITY;
    there_and_back(p, 0.25, x, MOST_X);
    x[500] = -INFINITY; /* from here on NaN */
    there_and_back(p, 0.25, x, MOST_X);
    done(p);
}

/* ---- compute parts: values whole, then coded ---- */

static const char parts[] = "fn far(y: real, x: real[k], lead: i64, n: i64)\n"
                            "    compute\n"
                            "        let s: real = 1\n"
                            "        for i in 0..lead\n"
                            "            s += cos(i)\n"
                            "        end\n"
                            "        for i in 0..n\n"
                            "            s += sin(i) / 3 + x[1] / 9\n"
                            "            call turn(x, s)\n"
                            "        end\n"
                            "    do\n"
                            "        y += s / 7\n"
                            "    undo\n"
                            "    for i in 0..n\n"
                            "        y -= cos(i) / 3\n"
                            "    end\n"
                            "end\n"
                            "fn turn(x: real[k], s: real)\n"
                            "    x[0] += x[1] / 3 + s / 1000\n"
                            "    compute\n"
                            "        let t: real = x[0]\n"
                            "        t += s / 3\n"
                            "        t *= 1.0625\n"
                            "    do\n"
                            "        x[1] -= t / 5\n"
                            "    undo\n"
                            "end\n";
enum { TRIPS = 7000, MANY = 60000 }; /* of each three updates at depth 1, of which the first 16,384 are kept whole */

typedef struct run {
    rvm_machine *m;
    rvm_arg a[4];
    double x[2];
} run;

static void run_open(run *r, const rvm_program *p, bool native, uint64_t fuel, int64_t lead, int64_t trips) {
    static const int64_t two = 2;
    rvm_error e;
    *r = (run){.x = {0.1, -0.7}};
    r->m = new_machine(p, native, fuel);
    r->a[0] = rvm_arg_f64(0.3), r->a[1] = rvm_arg_array_f64(r->x, 1, &two);
    r->a[2] = rvm_arg_i64(lead), r->a[3] = rvm_arg_i64(trips);
    cr_assert(rvm_machine_bind(r->m, rvm_program_find(p, "far"), r->a, 4, RVM_PRIMAL, false, &e) == RVM_OK, "%s", e.message);
}

static void check_home(const run *r) {
    cr_assert(same(r->a[0].value.f, 0.3) && same(r->x[0], 0.1) && same(r->x[1], -0.7));
}

/* The first value that is coded is another one's each time. */
Test(exact, long_parts) {
    rvm_program *p = assemble(parts);
    rvm_error e;
    run r[2];
    for (int64_t lead = 0; lead < 12; lead += TRY_ONE_IN) {
        for (int k = 0; k < 2; k++) run_open(&r[k], p, k, 0, lead, TRIPS);
        for (int there = 0; there < 4; there++) {
            for (int k = 0; k < 2; k++) {
                const rvm_status st = (there % 2 ? rvm_machine_backward : rvm_machine_forward)(r[k].m, &e);
                cr_assert(st == RVM_OK, "%s", e.message);
                if (there % 2) check_home(&r[k]);
            }
            cr_assert(same(r[0].a[0].value.f, r[1].a[0].value.f) && !memcmp(r[0].x, r[1].x, sizeof r[0].x));
            check_stats((rvm_machine *const[2]){r[0].m, r[1].m}, there % 2 ? "back" : "there");
        }
        rvm_stats s;
        rvm_machine_stats(r[0].m, &s);
        cr_assert(s.exact_peak > 16384 * 64 && s.exact_peak < 17000 * 64, "%llu", (unsigned long long)s.exact_peak);
        for (int k = 0; k < 2; k++) rvm_machine_free(r[k].m);
    }
    done(p);
}

static void to_the_end(run *r, bool back) {
    rvm_error e;
    rvm_status st = RVM_ERR_FUEL;
    while (st == RVM_ERR_FUEL) st = (back ? rvm_machine_backward : rvm_machine_forward)(r->m, &e);
    cr_assert(st == RVM_OK, "%s", e.message);
}

/* Stopped in the middle, at many places, and turned or not: what was begun natively is interpreted from there on. */
Test(exact, long_parts_stopped) {
    if (TRY_ONE_IN > 1) return; /* each way takes a second there, in what `long_parts` runs, too */
    rvm_program *p = assemble(parts);
    rvm_error e;
    run r;
    run_open(&r, p, false, 0, 0, MANY);
    to_the_end(&r, false);
    const double end = r.a[0].value.f;
    int stopped = 0;
    rvm_machine_free(r.m);
    for (uint64_t fuel = 1200011; fuel < 7000000; fuel += 900000) { /* native code polls about each million instructions */
        run_open(&r, p, true, fuel, 0, MANY);
        const rvm_status st = rvm_machine_forward(r.m, &e);
        cr_assert(st == RVM_OK || st == RVM_ERR_FUEL, "%s", e.message);
        stopped += st != RVM_OK;
        for (int k = 0; k < 7 && st; k++) cr_assert(rvm_machine_step(r.m, 1, NULL, &e) == RVM_OK, "%s", e.message);
        to_the_end(&r, true);
        check_home(&r);
        for (int k = 0; k < 2; k++) { /* natively from either end, until it stops */
            to_the_end(&r, false);
            cr_assert(same(r.a[0].value.f, end));
            to_the_end(&r, true);
            check_home(&r);
        }
        rvm_machine_free(r.m);
    }
    cr_assert(stopped > 2, "%d", stopped);
    done(p);
}

/* ---- loops that become native while they run ---- */

/* Behind the loop in f, which may be entered in either pass of its compute part, the callers go on interpreted. */
static const char entered[] = "fn f(y: real, x: real, k: i64)\n"
                              "    compute\n"
                              "        let s: real\n"
                              "        for j in 0..k\n"
                              "            s += x\n"
                              "        end\n"
                              "    do\n"
                              "        y += s / 3\n"
                              "    undo\n"
                              "end\n"
                              "fn main(y: real, z: real, x: real, k: i64)\n"
                              "    y += 1e17\n"
                              "    rot y, z, 1\n"
                              "    for t in 0..3\n"
                              "        call f(y, x, k)\n"
                              "        y += x / 7\n"
                              "    end\n"
                              "    uncall f(z, x, k)\n"
                              "    rot y, z, 1\n"
                              "end\n";

Test(exact, entered_in_loops) {
    rvm_program *p = assemble(entered);
    rvm_jit_options jit = rvm_jit_options_default();
    rvm_error e;
    jit.cache = "";
    jit.level = 0;
    jit.wait = true;
    jit.hot = 1;
    if (rvm_jit_new(&jit, &native_code, &e)) cr_skip_test("%s", e.message);
    double y[2], z[2];
    for (uint64_t hot = 1; hot < 2000000 / TRY_ONE_IN; hot = hot * 6 + 3) {
        rvm_jit_free(native_code);
        jit.hot = hot;
        cr_assert(rvm_jit_new(&jit, &native_code, &e) == RVM_OK);
        for (int k = 0; k < 2; k++) {
            rvm_machine *m = new_machine(p, k, 0);
            rvm_arg a[] = {rvm_arg_f64(0.7), rvm_arg_f64(0.3), rvm_arg_f64(0.3), rvm_arg_i64(100000 / TRY_ONE_IN)};
            cr_assert(rvm_machine_bind(m, rvm_program_find(p, "main"), a, 4, RVM_PRIMAL, false, &e) == RVM_OK);
            for (int there = 0; there < 4; there++) {
                cr_assert(rvm_machine_step(m, there % 2 ? -1 : 1, NULL, &e) == RVM_OK); /* so that it begins interpreted */
                const rvm_status st = (there % 2 ? rvm_machine_backward : rvm_machine_forward)(m, &e);
                cr_assert(st == RVM_OK, "%s", e.message);
                if (there % 2) cr_assert(same(a[0].value.f, 0.7) && same(a[1].value.f, 0.3), "%a", a[0].value.f);
                if (!there) y[k] = a[0].value.f, z[k] = a[1].value.f;
            }
            rvm_machine_free(m);
        }
        cr_assert(same(y[0], y[1]) && same(z[0], z[1]), "%llu", (unsigned long long)hot);
    }
    done(p);
}

/* Which of two NaNs comes out an engine may choose. */
Test(exact, released_nan) {
    rvm_program *p = assemble("fn f(y: real, x: real, z: real)\n"
                              "    let u = z - z\n"
                              "    let t = x + u -> u + x\n"
                              "    let a: real[2] = x - u -> u - x\n"
                              "    y += t\n"
                              "end\n");
    rvm_error e;
    for (int k = 0; k < 2; k++) {
        rvm_machine *m = new_machine(p, k, 0);
        rvm_arg a[] = {rvm_arg_f64(0.7), rvm_arg_f64((double)NAN), rvm_arg_f64((double)INFINITY)};
        cr_assert(rvm_machine_bind(m, 0, a, 3, RVM_PRIMAL, false, &e) == RVM_OK);
        cr_assert(rvm_machine_forward(m, &e) == RVM_OK && isnan(a[0].value.f), "%s", e.message);
        cr_assert(rvm_machine_backward(m, &e) == RVM_OK && same(a[0].value.f, 0.7), "%s", e.message);
        rvm_machine_free(m);
    }
    done(p);
}

/* A program that such runs do not go through is refused where it begins, and there the machine stays. */
Test(exact, refused_at_the_start) {
    static const char called[] = "fn f(y: real, x: real)\n"
                                 "    x *= 1.3\n"
                                 "    y += x\n"
                                 "end\n"
                                 "fn w(y: real, x: real, a: real, b: real, c: real, d: real, g: real, h: real)\n"
                                 "    call f'grad'grad(y, a, b, c, x, d, g, h)\n"
                                 "end\n";
    rvm_asm_options asked = {.exact = true};
    rvm_program *p;
    rvm_error e;
    cr_assert(rvm_assemble(called, sizeof called - 1, "t.rasm", &asked, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    rvm_machine *m = new_machine(p, 0, 0);
    rvm_arg a[8];
    for (int k = 0; k < 8; k++) a[k] = rvm_arg_f64(0.7);
    cr_assert(rvm_machine_bind(m, rvm_program_find(p, "f'grad'exact'grad'exact"), a, 8, RVM_PRIMAL, false, &e) == RVM_OK,
              "%s", e.message);
    cr_assert(rvm_machine_forward(m, &e) == RVM_ERR_UNSUPPORTED);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "%s", e.message);
    for (int k = 0; k < 8; k++) cr_assert(same(a[k].value.f, 0.7));
    rvm_machine_free(m);
    done(p);
}
