/* restore.c: what came back is compared with what went in, whatever brought it back. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "rvm.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

static const char source[] = "fn relax(out: real, x: real[n], w: real, sweeps: i64)\n"
                             "    for t in 0..sweeps\n"
                             "        for i in 1..n - 1\n"
                             "            x[i] *= 1 - w\n"
                             "            x[i] += w * 0.5 * (x[i - 1] + x[i + 1])\n"
                             "        end\n"
                             "    end\n"
                             "    for i in 0..n\n"
                             "        out += x[i] * x[i]\n"
                             "    end\n"
                             "end\n";
enum { N = 10, SWEEPS = 20 };
static const double start[N] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
static const double by_w = -41.6985326298422; /* as tangents have it */
static rvm_error e;

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    double x[N], x_b[N];
    rvm_arg a[4], grad[7]; /* of relax, of relax'grad */
    uint32_t of_grad;
} fixture;

static void set(fixture *f) {
    static const int64_t shape[] = {N};
    memcpy(f->x, start, sizeof start);
    memset(f->x_b, 0, sizeof f->x_b);
    f->a[0] = rvm_arg_f64(0), f->a[1] = rvm_arg_array_f64(f->x, 1, shape);
    f->a[2] = rvm_arg_f64(0.9), f->a[3] = rvm_arg_i64(SWEEPS);
    for (int k = 0; k < 3; k++) f->a[k].active = true;
    f->a[0].shadow.f = 1, f->a[1].shadow_data = f->x_b;
    f->grad[0] = rvm_arg_f64(0), f->grad[1] = rvm_arg_f64(1), f->grad[2] = f->a[1];
    f->grad[2].active = false;
    f->grad[3] = rvm_arg_array_f64(f->x_b, 1, shape), f->grad[4] = rvm_arg_f64(0.9), f->grad[5] = rvm_arg_f64(0);
    f->grad[6] = rvm_arg_i64(SWEEPS);
}

static void begin(fixture *f, const rvm_options *o) {
    rvm_program *relax;
    cr_assert(rvm_assemble(source, strlen(source), "t.rasm", NULL, &relax, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_program_derive(relax, "relax'grad", &f->p, &f->of_grad, &e) == RVM_OK, "%s", e.message);
    rvm_program_free(relax);
    cr_assert(rvm_machine_new(f->p, o, &f->m, &e) == RVM_OK);
    set(f);
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_program_free(f->p);
}

static void expect_lost(rvm_status status) {
    static const char want[] = "`x[1]` cannot be restored: it went in as 1 and came back as ";
    cr_assert(status == RVM_ERR_NOT_RESTORABLE && !strncmp(e.message, want, strlen(want)), "%d %s", status, e.message);
    cr_assert(strstr(e.message, "a relative ") && strstr(e.message, "the tolerance is 1e-08") && e.line == 1, "%s",
              e.message);
}

static rvm_status back(fixture *f) {
    rvm_status status = rvm_machine_bind(f->m, 0, f->a, 4, RVM_PRIMAL, false, &e);
    if (!status) status = rvm_machine_forward(f->m, &e);
    return status ? status : rvm_machine_backward(f->m, &e);
}

/* Gradient mode, plain, and f'grad, which never goes back; checked, unchecked, trusted, with the trail off. */
Test(restore, found) {
    for (int way = 0; way < 4; way++) {
        rvm_options o = rvm_options_default();
        fixture f;
        o.unchecked = way > 0;
        o.trust = way > 1;
        o.trail = way > 2 ? RVM_TRAIL_OFF : RVM_TRAIL_KEEP;
        begin(&f, &o);
        expect_lost(rvm_gradient(f.m, 0, f.a, 4, &e));
        set(&f);
        expect_lost(rvm_call(f.m, f.of_grad, f.grad, 7, &e));
        set(&f);
        if (o.trail == RVM_TRAIL_KEEP) expect_lost(back(&f));
        end(&f);
    }
}

Test(restore, natively) {
    rvm_jit *j;
    fixture f;
    char message[sizeof e.message];
    rvm_jit_options o = rvm_jit_options_default();
    o.cache = "";
    begin(&f, NULL);
    expect_lost(rvm_call(f.m, f.of_grad, f.grad, 7, &e));
    strcpy(message, e.message);
    if (rvm_jit_new(&o, &j, &e)) cr_skip("%s", e.message);
    cr_assert(rvm_jit_attach(j, f.m, &e) == RVM_OK);
    set(&f);
    expect_lost(rvm_call(f.m, f.of_grad, f.grad, 7, &e));
    cr_assert(strcmp(message, e.message) == 0, "%s", e.message);
    end(&f);
    rvm_jit_free(j);
}

Test(restore, exactly) {
    rvm_options o = rvm_options_default();
    fixture f;
    o.exact = true;
    begin(&f, &o);
    cr_assert(rvm_gradient(f.m, 0, f.a, 4, &e) == RVM_OK, "%s", e.message);
    cr_assert(fabs(f.a[2].shadow.f - by_w) < 1e-10 && memcmp(f.x, start, sizeof start) == 0);
    end(&f);
}

/* Jacobians by sweeps, Hessians and products hand the error on and the arguments back; exactly they work. */
Test(restore, derivatives) {
    const rvm_part of = {0, -1}, by = {2, -1};
    double value, one = 1;
    for (int exact = 0; exact < 2; exact++) {
        rvm_options o = rvm_options_default();
        fixture f;
        o.exact = exact;
        begin(&f, &o);
        const rvm_derivative_spec q = {
            .fn = 0, .args = f.a, .nargs = 4, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
        const rvm_status s[] = {
            rvm_jacobian(f.m, &q, RVM_BY_ADJOINTS, &value, NULL, &e), rvm_vjp(f.m, &q, &one, &value, NULL, &e),
            rvm_hessian(f.m, &q, NULL, RVM_AUTO, &value, NULL, &e), rvm_hessian(f.m, &q, NULL, RVM_BY_HVP, &value, NULL, &e),
            rvm_hvp(f.m, &q, NULL, &one, &value, NULL, &e)};
        for (size_t k = 0; k < sizeof s / sizeof *s; k++)
            cr_assert(s[k] == (exact ? RVM_OK : RVM_ERR_NOT_RESTORABLE), "%zu: %d %s", k, s[k], e.message);
        cr_assert(memcmp(f.x, start, sizeof start) == 0);
        cr_assert(!exact || fabs(value - 75.64998539496356) < 1e-9, "%.17g", value);
        end(&f);
    }
}

static const char lossy[] = "fn f(out: real, b: real, x: real, big: real)\n"
                            "    push b\n"
                            "    b += x\n"
                            "    out += b * x\n"
                            "    b += big\n"
                            "end\n"
                            "fn sum(out: real, y: real[n], x: real[n])\n"
                            "    for i in 0..n\n"
                            "        out += x[i] * x[i]\n"
                            "        y[i] += 3 * x[i]\n"
                            "    end\n"
                            "end\n";

static rvm_machine *machine_of(rvm_program **p, const rvm_options *o, rvm_jit *j) {
    rvm_machine *m;
    cr_assert(rvm_assemble(lossy, strlen(lossy), "t.rasm", NULL, p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_new(*p, o, &m, &e) == RVM_OK);
    cr_assert(!j || rvm_jit_attach(j, m, &e) == RVM_OK);
    return m;
}

/* Of a place that the stack gave, and that did not come back, what is only added to tells. */
static void expect_told(const rvm_options *o, rvm_jit *j) {
    rvm_program *p;
    rvm_machine *m = machine_of(&p, o, j);
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(0), rvm_arg_f64(3), rvm_arg_f64(1e20)};
    for (int k = 0; k < 4; k++) a[k].active = true;
    a[0].shadow.f = 1;
    const rvm_status status = rvm_gradient(m, 0, a, 4, &e);
    cr_assert(status == RVM_ERR_NOT_RESTORABLE || status == RVM_ERR_STACK, "%d %s", status, e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* A large sum rounds by what it became, which is no loss. */
static void expect_large(const rvm_options *o, rvm_jit *j) {
    static const int64_t n[] = {2};
    rvm_program *p;
    rvm_machine *m = machine_of(&p, o, j);
    double x[2] = {1e9 / 3, 1e10 / 7}, y[2] = {0.1, 0.2}, x_b[2] = {0}, y_b[2] = {0};
    rvm_arg a[] = {rvm_arg_f64(0.3), rvm_arg_array_f64(y, 1, n), rvm_arg_array_f64(x, 1, n)};
    for (int k = 0; k < 3; k++) a[k].active = true;
    a[0].shadow.f = 1, a[1].shadow_data = y_b, a[2].shadow_data = x_b;
    for (int k = 1; k < 3; k++) {
        cr_assert(rvm_gradient(m, 1, a, 3, &e) == RVM_OK, "%s", e.message);
        cr_assert(x_b[0] == k * 2 * x[0] && x_b[1] == k * 2 * x[1]);
        a[0].value.f = 0.3, y[0] = 0.1, y[1] = 0.2;
    }
    rvm_machine_free(m);
    rvm_program_free(p);
}

Test(restore, sums) {
    rvm_jit *j;
    rvm_jit_options to = rvm_jit_options_default();
    to.cache = "";
    if (rvm_jit_new(&to, &j, &e)) j = NULL;
    for (int way = 0; way < (j ? 4 : 2); way++) {
        rvm_options o = rvm_options_default();
        o.unchecked = way % 2;
        expect_told(&o, way < 2 ? NULL : j);
        expect_large(&o, way < 2 ? NULL : j);
    }
    rvm_jit_free(j);
}

/* Once. */
static bool stop_soon(void *userdata, uint64_t instructions) {
    bool *stopped = userdata;
    const bool now = !*stopped && instructions > 3000000;
    *stopped |= now;
    return now;
}

/* A run that is cancelled and comes back is compared by as much of it as there was, not by all of it. */
Test(restore, stopped) {
    static const char text[] = "fn g(s: real, m: i64)\n"
                               "    for t in 0..m\n"
                               "        s += 1e9 * sin(0.1 * t)\n"
                               "    end\n"
                               "end\n";
    rvm_options o = rvm_options_default();
    rvm_arg a[2] = {rvm_arg_f64(0.3), rvm_arg_i64(INT64_C(1000000000000000))};
    rvm_program *p;
    rvm_machine *m;
    bool once = false;
    o.progress = stop_soon;
    o.userdata = &once;
    cr_assert(!rvm_assemble(text, strlen(text), "g.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, &o, &m, &e) && !rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e));
    cr_assert(rvm_machine_forward(m, &e) == RVM_ERR_CANCELLED);
    const rvm_status status = rvm_machine_backward(m, &e);
    cr_expect(!status && fabs(a[0].value.f - 0.3) > 0.3e-8 && fabs(a[0].value.f - 0.3) < 10, "%s: %g", e.message,
              a[0].value.f);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* The copy is made in memory that is kept; it counts, and infinity as the tolerance does without. */
Test(restore, memory) {
    counting c;
    rvm_options o = rvm_options_default();
    fixture f;
    counting_init(&c);
    o.allocator = &c.al;
    o.tolerance = INFINITY;
    begin(&f, &o);
    cr_assert(rvm_gradient(f.m, 0, f.a, 4, &e) == RVM_OK);
    end(&f);
    o.tolerance = 1e-8;
    begin(&f, &o);
    f.a[3].value.i = 1;
    cr_assert(rvm_gradient(f.m, 0, f.a, 4, &e) == RVM_OK, "%s", e.message);
    const size_t calls = (size_t)c.calls;
    for (int k = 0; k < 1000; k++) cr_assert(rvm_gradient(f.m, 0, f.a, 4, &e) == RVM_OK);
    cr_assert((size_t)c.calls == calls);
    end(&f);
    cr_assert(c.live_blocks == 0 && !c.mismatch);
}

/* With it, NaN on the way back is nobody's business either, but what disappears going forward still must agree. */
Test(restore, nobody_asks) {
    static const char text[] = "fn f(y: real, x: real, by: real)\n    call adds(y, x)\n    x += by * by\nend\n"
                               "fn adds(y: real, x: real)\n    let t = x\n    let v: real[2] = x\n    y += t * v[1]\nend\n"
                               "fn g(x: real)\n    let t = x\n    t += log(0 - x)\nend\n";
    rvm_options o = rvm_options_default();
    rvm_program *p;
    rvm_machine *m;
    rvm_arg a[3] = {rvm_arg_f64(1), rvm_arg_f64(3), rvm_arg_f64(1e200)};
    rvm_arg b[1] = {rvm_arg_f64(3)};
    o.tolerance = INFINITY;
    cr_assert(!rvm_assemble(text, strlen(text), "f.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, &o, &m, &e) && !rvm_machine_bind(m, 0, a, 3, RVM_PRIMAL, false, &e));
    cr_assert(!rvm_machine_forward(m, &e), "%s", e.message);
    cr_expect(!rvm_machine_backward(m, &e), "%s", e.message);
    rvm_machine_unbind(m);
    cr_expect(isnan(a[1].value.f));
    cr_assert(!rvm_machine_bind(m, 2, b, 1, RVM_PRIMAL, false, &e));
    cr_expect(rvm_machine_forward(m, &e) == RVM_ERR_RELEASE, "%s", e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* An instance that fails while a temporary is NaN, in another thread: it is taken back there, and fails here as it does in
 * one thread. */
Test(restore, past_nan_in_threads, .timeout = 60) {
    enum { MANY = 2000, BAD = 1500 };
    static const char text[] = "fn f(y: real[n], x: real[n], k: i64[n])\n    parallel i in 0..n\n        for j in 0..20\n"
                               "            y[i] *= 1.5 + 0.1 * log(77 - x[i] - real(k[i]))\n        end\n    end\nend\n";
    typedef rvm_status call(rvm_machine * m, int64_t fn, rvm_arg * args, uint32_t nargs, rvm_error * err);
    static call *const calls[] = {rvm_gradient, rvm_value_and_gradient, rvm_tangent};
    static double y[MANY], x[MANY], y_b[MANY], x_b[MANY];
    static int64_t n = MANY, k[MANY];
    report rep = {.name = "nan"};
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_jit *j;
    jo.tiers = false, jo.cache = "", jo.threads = 2;
    rvm_program *p = assemble_text(text, NULL, &rep);
    if (rvm_jit_new(&jo, &j, &e)) cr_skip_test("no native code");
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        rvm_machine *m;
        rvm_arg a[3] = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 1, &n), rvm_arg_array_i64(k, 1, &n)};
        for (int i = 0; i < MANY; i++) y[i] = 2, x[i] = 0.25, y_b[i] = 1, x_b[i] = 0, k[i] = i == BAD ? 77 : 3;
        a[0].active = a[1].active = true;
        a[0].shadow_data = y_b, a[1].shadow_data = x_b;
        cr_assert(!rvm_machine_new(p, NULL, &m, &e) && !rvm_jit_attach(j, m, &e));
        cr_assert(calls[c](m, 0, a, 3, &e) == RVM_ERR_DOMAIN && e.line == 4, "%zu: %s", c, e.message);
        cr_assert(rvm_machine_bound(m));
        cr_assert(!rvm_machine_backward(m, &e), "%zu: %s", c, e.message);
        for (int i = 0; i < MANY; i++) cr_assert(fabs(y[i] - 2) < 1e-12, "%zu: %d: %g", c, i, y[i]);
        rvm_machine_unbind(m);
        rvm_machine_free(m);
    }
    rvm_jit_free(j);
    rvm_program_free(p);
}
