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

/* ---- compute parts: values whole, then coded; natively, if there is native code, in the same way ---- */

static const char parts[] = "fn far(y: real, x: real[k], n: i64)\n"
                            "    compute\n"
                            "        let s: real = 1\n"
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
enum { TRIPS = 30000 }; /* of each three updates at depth 1, of which the first 16,384 are kept whole */

typedef struct run {
    rvm_machine *m;
    rvm_jit *j;
    rvm_arg a[3];
    double x[2];
} run;

static void run_open(run *r, const rvm_program *p, bool native, uint64_t fuel) {
    static const int64_t two = 2;
    rvm_options o = rvm_options_default();
    rvm_jit_options jit = rvm_jit_options_default();
    rvm_error e;
    *r = (run){.x = {0.1, -0.7}};
    o.exact = true;
    o.fuel = fuel;
    cr_assert(rvm_machine_new(p, &o, &r->m, &e) == RVM_OK);
    jit.tiers = false;
    jit.cache = "";
    jit.level = 1;
    if (native && !rvm_jit_new(&jit, &r->j, &e)) cr_assert(rvm_jit_attach(r->j, r->m, &e) == RVM_OK);
    r->a[0] = rvm_arg_f64(0.3), r->a[1] = rvm_arg_array_f64(r->x, 1, &two), r->a[2] = rvm_arg_i64(TRIPS);
    cr_assert(rvm_machine_bind(r->m, rvm_program_find(p, "far"), r->a, 3, RVM_PRIMAL, false, &e) == RVM_OK, "%s", e.message);
}

static void run_close(run *r) {
    rvm_machine_free(r->m);
    rvm_jit_free(r->j);
}

static void check_alike(run r[2], const char *when) {
    rvm_stats s[2];
    for (int k = 0; k < 2; k++) rvm_machine_stats(r[k].m, &s[k]);
    cr_assert(same(r[0].a[0].value.f, r[1].a[0].value.f) && !memcmp(r[0].x, r[1].x, sizeof r[0].x), "%s", when);
    cr_assert(s[0].exact_updates == s[1].exact_updates && s[0].exact_bits == s[1].exact_bits &&
                  s[0].exact_peak == s[1].exact_peak,
              "%s: %llu, %llu updates, %llu, %llu bits, %llu, %llu at most", when, (unsigned long long)s[0].exact_updates,
              (unsigned long long)s[1].exact_updates, (unsigned long long)s[0].exact_bits,
              (unsigned long long)s[1].exact_bits, (unsigned long long)s[0].exact_peak, (unsigned long long)s[1].exact_peak);
}

static void check_home(const run *r) {
    cr_assert(same(r->a[0].value.f, 0.3) && same(r->x[0], 0.1) && same(r->x[1], -0.7));
}

Test(exact, long_parts) {
    rvm_program *p;
    rvm_error e;
    run r[2];
    cr_assert(rvm_assemble(parts, sizeof parts - 1, "p.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    for (int k = 0; k < 2; k++) run_open(&r[k], p, k, 0);
    for (int there = 0; there < 4; there++) {
        for (int k = 0; k < 2; k++) {
            const rvm_status st = (there % 2 ? rvm_machine_backward : rvm_machine_forward)(r[k].m, &e);
            cr_assert(st == RVM_OK, "%s", e.message);
            if (there % 2) check_home(&r[k]);
        }
        check_alike(r, there % 2 ? "back" : "there");
    }
    rvm_stats s;
    rvm_machine_stats(r[0].m, &s);
    cr_assert(s.exact_peak > 16384 * 64 && s.exact_peak < 17 * 64 * 1024 + TRIPS * 8, "%llu",
              (unsigned long long)s.exact_peak);
    for (int k = 0; k < 2; k++) run_close(&r[k]);
    rvm_program_free(p);
}

/* Stopped in the middle, at many places, and turned; also where natively begun is interpreted on, by single steps. */
Test(exact, long_parts_stopped) {
    rvm_program *p;
    rvm_error e;
    run r;
    cr_assert(rvm_assemble(parts, sizeof parts - 1, "p.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    for (uint64_t fuel = 20011; fuel < 3000000; fuel = fuel * 5 / 3) {
        run_open(&r, p, true, fuel);
        rvm_status st = rvm_machine_forward(r.m, &e);
        cr_assert(st == RVM_OK || st == RVM_ERR_FUEL, "%s", e.message);
        for (int k = 0; k < 7; k++) cr_assert(rvm_machine_step(r.m, 1, NULL, &e) == RVM_OK, "%s", e.message);
        for (st = RVM_ERR_FUEL; st == RVM_ERR_FUEL;) st = rvm_machine_backward(r.m, &e);
        cr_assert(st == RVM_OK, "%s", e.message);
        check_home(&r);
        run_close(&r);
    }
    rvm_program_free(p);
}
