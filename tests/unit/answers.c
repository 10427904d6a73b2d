/* answers.c: what users ask of derivatives runs natively, and what stands where afterwards. That it gives what the
 * interpreter gives every case tests (harness/answers.c). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char text[] = "fn rosenbrock(out: real, x: real[n])\n"
                           "    for i in 0..n - 1\n"
                           "        out += 100 * (x[i + 1] - x[i] ^ 2) ^ 2 + (1 - x[i]) ^ 2\n"
                           "    end\n"
                           "end\n"
                           "fn relax(out: real, x: real[n], scratch: real[n])\n" /* what it changes, and where it ends */
                           "    for i in 0..n\n"
                           "        scratch[i] += x[i] ^ 2\n"
                           "        x[i] *= 2\n"
                           "        out += scratch[i] * x[i]\n"
                           "    end\n"
                           "end\n"
                           "fn squares(out: real, x: real[n])\n" /* overwrites, so that f'adj needs what f left */
                           "    for i in 0..n\n"
                           "        set out = out + x[i] ^ 2\n"
                           "    end\n"
                           "end\n"
                           "fn first(out: real, x: real[n], k: i64)\n"
                           "    out += x[k]\n"
                           "end\n"
                           "fn blur(out: real, x: real[n], sum: real[n])\n" /* rounding grows on its way back */
                           "    for t in 0..40\n"
                           "        for i in 1..n - 1\n"
                           "            x[i] *= 0.1\n"
                           "            x[i] += 0.45 * (x[i - 1] + x[i + 1])\n"
                           "        end\n"
                           "    end\n"
                           "    for i in 0..n\n"
                           "        sum[i] += x[i]\n"
                           "        out += x[i] * x[i]\n"
                           "    end\n"
                           "end\n";
enum { ROSENBROCK, RELAX, SQUARES, FIRST, BLUR };
enum { N = 6 };

typedef struct fixture {
    rvm_program *p;
    rvm_jit *j;
    rvm_machine *m, *plain; /* attached, and not */
    unsigned refused;
    char reason[300], last[80]; /* of what was compiled last */
} fixture;
static rvm_error e;

static void on_notice(void *userdata, const rvm_jit_notice *n) {
    fixture *f = userdata;
    f->refused += n->status != RVM_OK;
    snprintf(n->status ? f->reason : f->last, n->status ? sizeof f->reason : sizeof f->last, "%s",
             n->status ? n->reason : n->function);
}

static rvm_jit_options jit_options(fixture *f) {
    rvm_jit_options o = rvm_jit_options_default();
    cr_expect(o.tiers);
    o.level = 0;
    o.tiers = false;
    o.cache = "";
    o.notice = on_notice;
    o.userdata = f;
    return o;
}

static void begin(fixture *f, const rvm_jit_options *jo, const rvm_options *o) {
    report rep = {.name = "answers"};
    f->p = assemble_text(text, NULL, &rep);
    f->refused = 0;
    cr_assert(f->p);
    if (rvm_jit_new(jo, &f->j, &e)) cr_skip_test("%s", e.message);
    cr_assert(!rvm_machine_new(f->p, o, &f->m, &e) && !rvm_machine_new(f->p, o, &f->plain, &e));
    cr_assert(rvm_jit_attach(f->j, f->m, &e) == RVM_OK);
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_machine_free(f->plain);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

static uint32_t compiled(const fixture *f) {
    rvm_jit_totals t;
    rvm_jit_stats(f->j, &t);
    return t.compiled;
}

typedef struct numbers {
    double x[N], x_b[N], scratch[N], scratch_b[N];
    rvm_arg a[3];
} numbers;

static void fill(numbers *v) {
    const int64_t n = N;
    *v = (numbers){.a = {rvm_arg_f64(0)}};
    for (int i = 0; i < N; i++) v->x[i] = 0.3 + 0.1 * i;
    v->a[1] = rvm_arg_array_f64(v->x, 1, &n);
    v->a[2] = rvm_arg_array_f64(v->scratch, 1, &n);
    v->a[0].active = v->a[1].active = true;
    v->a[0].shadow.f = 1;
    v->a[1].shadow_data = v->x_b;
    v->a[2].shadow_data = v->scratch_b;
}

static bool same(const numbers *v, const numbers *w) {
    return !memcmp(v->x, w->x, sizeof v->x) && !memcmp(v->x_b, w->x_b, sizeof v->x_b) &&
           !memcmp(v->scratch, w->scratch, sizeof v->scratch) &&
           !memcmp(&v->a[0].value, &w->a[0].value, sizeof(rvm_scalar)) &&
           !memcmp(&v->a[0].shadow, &w->a[0].shadow, sizeof(rvm_scalar));
}

/* ---- native, and with the results of the interpreter ---- */

typedef rvm_status (*entry_point)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *);

static rvm_status jacobian(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, rvm_error *err) {
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = fn, .args = a, .nargs = n, .outputs = &of, .inputs = &by, .noutputs = 1, .ninputs = 1};
    return rvm_jacobian(m, &q, RVM_BY_TANGENTS, a[1].shadow_data, NULL, err);
}

static rvm_status hvp(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, rvm_error *err) {
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = fn, .args = a, .nargs = n, .outputs = &of, .inputs = &by, .noutputs = 1, .ninputs = 1};
    return rvm_hvp(m, &q, NULL, a[1].data, a[1].shadow_data, NULL, err);
}

/* Its second row. The interpreter takes the sweep, native code products. */
static rvm_status hessian(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, rvm_error *err) {
    double H[N * N];
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = fn, .args = a, .nargs = n, .outputs = &of, .inputs = &by, .noutputs = 1, .ninputs = 1};
    const rvm_status st = rvm_hessian(m, &q, NULL, RVM_AUTO, H, NULL, err);
    memcpy(a[1].shadow_data, H + N, N * sizeof *H);
    return st;
}

static bool alike(const numbers *v, const numbers *w) {
    for (int i = 0; i < N; i++)
        if (fabs(v->x_b[i] - w->x_b[i]) > 1e-12 * fabs(v->x_b[i])) return false;
    return true;
}

static void ask(fixture *f, entry_point q, int64_t fn, const char *function) {
    const uint32_t before = compiled(f), n = rvm_program_param_count(f->p, (uint32_t)fn);
    numbers v, w;
    fill(&v);
    fill(&w);
    cr_assert(q(f->m, fn, v.a, n, &e) == RVM_OK && q(f->plain, fn, w.a, n, &e) == RVM_OK, "%s", e.message);
    cr_expect(compiled(f) > before && !strncmp(f->last, function, strlen(function)), "%s, not %s", f->last, function);
    cr_expect(rvm_jit_reason(f->m, &e) == RVM_OK && (same(&v, &w) || ((q == hvp || q == hessian) && alike(&v, &w))), "%s",
              function);
    rvm_machine_unbind(f->plain);
}

Test(answers, native) {
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    begin(&f, &o, NULL);
    ask(&f, rvm_gradient, ROSENBROCK, "rosenbrock'grad");
    ask(&f, rvm_value_and_gradient, ROSENBROCK, "rosenbrock'adj");
    ask(&f, rvm_tangent, ROSENBROCK, "rosenbrock'tan");
    ask(&f, rvm_gradient, RELAX, "relax'grad");
    ask(&f, rvm_value_and_gradient, RELAX, "relax'adj");
    ask(&f, jacobian, RELAX, "relax'tan");
    ask(&f, hvp, ROSENBROCK, "rosenbrock'grad'tan");
    ask(&f, hessian, RELAX, "relax'grad'tan");
    ask(&f, rvm_gradient, SQUARES, "squares'grad");
    ask(&f, rvm_value_and_gradient, SQUARES, "squares");
    cr_expect(!f.refused, "%s", f.reason);
    end(&f);
}

/* In runs that restore every bit: all of them, too. */
Test(answers, native_exactly) {
    fixture f;
    const rvm_jit_options jit = jit_options(&f);
    rvm_options o = rvm_options_default();
    o.exact = true;
    begin(&f, &jit, &o);
    ask(&f, rvm_gradient, ROSENBROCK, "rosenbrock'grad'exact");
    ask(&f, rvm_tangent, ROSENBROCK, "rosenbrock'tan'exact");
    ask(&f, rvm_sweep, ROSENBROCK, "rosenbrock'adj'exact");
    ask(&f, rvm_tangent, RELAX, "relax'tan'exact");
    ask(&f, hvp, ROSENBROCK, "rosenbrock'grad'exact'tan");
    ask(&f, hvp, RELAX, "relax'grad'exact'tan");
    cr_expect(!f.refused, "%s", f.reason);
    end(&f);
}

Test(answers, native_unchecked) {
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    rvm_options options = rvm_options_default();
    options.unchecked = true;
    begin(&f, &o, &options);
    ask(&f, rvm_gradient, RELAX, "relax'grad");
    ask(&f, rvm_value_and_gradient, RELAX, "relax'adj");
    ask(&f, rvm_value_and_gradient, SQUARES, "squares");
    end(&f);
}

/* The values are those of a call, and the shadows gain. */
Test(answers, value_and_gradient) {
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    begin(&f, &o, NULL);
    for (int fn = ROSENBROCK; fn <= SQUARES; fn++)
        for (int native = 0; native < 2; native++) {
            numbers v, called, gradient;
            rvm_machine *m = native ? f.m : f.plain;
            const uint32_t n = rvm_program_param_count(f.p, (uint32_t)fn);
            fill(&v), fill(&called), fill(&gradient);
            cr_assert(!rvm_value_and_gradient(m, fn, v.a, n, &e) && !rvm_gradient(m, fn, gradient.a, n, &e), "%s",
                      e.message);
            rvm_machine_unbind(m);
            cr_assert(!rvm_call(m, fn, called.a, n, &e));
            cr_expect(!memcmp(v.x, called.x, sizeof v.x) && !memcmp(v.scratch, called.scratch, sizeof v.scratch));
            cr_expect(v.a[0].value.f == called.a[0].value.f && !memcmp(v.x_b, gradient.x_b, sizeof v.x_b));
            for (int i = 0; i < N; i++) gradient.x_b[i] *= 2;
            fill(&called);
            memcpy(called.x_b, v.x_b, sizeof v.x_b);
            cr_assert(!rvm_gradient(m, fn, called.a, n, &e));
            cr_expect(fn == ROSENBROCK || fabs(called.x_b[1] - gradient.x_b[1]) < 1e-9 || fn == RELAX);
            rvm_machine_unbind(m);
        }
    end(&f);
}

/* ---- which is interpreted, and why ---- */

Test(answers, interpreted_and_why) {
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    for (int k = 0; k < 2; k++) {
        rvm_options options = rvm_options_default();
        numbers v;
        options.profile = options.activity = k == 0;
        options.keep_shadows = k == 1;
        begin(&f, &o, &options);
        for (int round = 0; round < 2; round++) {
            fill(&v);
            cr_assert(!rvm_gradient(f.m, ROSENBROCK, v.a, 2, &e));
        }
        static const char *const names[] = {"(activity)", "(keep_shadows)"};
        cr_expect(!compiled(&f) && f.refused == 1 && strstr(f.reason, names[k]), "%u %s", f.refused, f.reason);
        cr_expect(rvm_jit_reason(f.m, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, names[k]));
        rvm_machine_unbind(f.m);
        end(&f);
    }
}

/* In tiers: brief as it is, often enough it is native, and so is one that is long at once. */
Test(answers, tiers) {
    for (uint64_t hot = 100; hot <= 10000; hot *= 100) {
        fixture f;
        rvm_jit_options o = jit_options(&f);
        numbers first, v;
        int calls = 0;
        o.tiers = o.wait = true;
        o.hot = hot;
        begin(&f, &o, NULL);
        fill(&first);
        cr_assert(!rvm_gradient(f.plain, ROSENBROCK, first.a, 2, &e));
        rvm_machine_unbind(f.plain);
        do {
            fill(&v);
            cr_assert(!rvm_gradient(f.m, ROSENBROCK, v.a, 2, &e) && ++calls < 1000);
            rvm_machine_unbind(f.m);
            cr_assert(same(&first, &v), "call %d", calls);
        } while (!compiled(&f) || strcmp(f.last, "rosenbrock'grad") != 0);
        cr_expect(hot == 100 ? calls <= 2 : calls > 5, "%d calls", calls);
        end(&f);
    }
}

/* Until there is native code the mode is interpreted, never the program, which takes longer so; and the reason says why. */
Test(answers, tiers_beside, .timeout = 300) {
    static const entry_point entries[] = {rvm_gradient, rvm_value_and_gradient, rvm_tangent, hvp};
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) {
        fixture f;
        rvm_jit_options o = jit_options(&f);
        bool seen[2] = {false, false};
        rvm_stats s;
        o.tiers = true;
        o.hot = 10000;
        begin(&f, &o, NULL);
        for (rvm_status why = RVM_ERR_UNSUPPORTED; why;) {
            numbers v;
            fill(&v);
            rvm_machine_stats_reset(f.m);
            cr_assert(!entries[k](f.m, ROSENBROCK, v.a, 2, &e), "%s", e.message);
            rvm_machine_stats(f.m, &s);
            why = rvm_jit_reason(f.m, &e);
            cr_assert(!why || !(s.ran & (RVM_RAN_ADJOINT | RVM_RAN_GRADIENT | RVM_RAN_TANGENT)), "%zu: ran %u", k, s.ran);
            seen[0] |= why && strstr(e.message, "not run often enough");
            seen[1] |= why && strstr(e.message, "being compiled");
        }
        cr_expect(compiled(&f) && seen[0] && seen[1], "%zu: %d %d", k, seen[0], seen[1]);
        end(&f);
    }
}

/* Counts of a product are of what ran, and name it. */
Test(answers, products_are_counted) {
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    const rvm_part of = {0, -1}, by = {1, -1};
    begin(&f, &o, NULL);
    for (int native = 0; native < 2; native++) {
        numbers v;
        rvm_stats s;
        rvm_cost cost;
        rvm_machine *m = native ? f.m : f.plain;
        fill(&v);
        const rvm_derivative_spec q = {.args = v.a, .nargs = 2, .outputs = &of, .inputs = &by, .noutputs = 1, .ninputs = 1};
        cr_assert(!rvm_hvp(m, &q, NULL, v.x, v.x_b, &cost, &e), "%s", e.message);
        rvm_machine_stats(m, &s);
        cr_expect(s.ran == (native ? RVM_RAN_GRADIENT_TANGENT : RVM_RAN_GRADIENT_TANGENTS), "%u", s.ran);
        cr_expect(s.forward > 100 && s.forward == cost.instructions && !s.swept, "%llu", (unsigned long long)s.forward);
    }
    end(&f);
}

/* ---- where the machine stands ---- */

Test(answers, afterwards) {
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    numbers v;
    begin(&f, &o, NULL);
    fill(&v);
    cr_assert(!rvm_gradient(f.m, RELAX, v.a, 3, &e) && rvm_machine_frames(f.m) == 0);
    cr_expect(rvm_machine_backward(f.m, &e) == RVM_ERR_USAGE);
    fill(&v);
    v.a[2] = rvm_arg_i64(N); /* out of bounds: where it failed, in f */
    const double x = v.x[0];
    for (int k = 0; k < 2; k++) {
        rvm_location at;
        cr_assert((k ? rvm_value_and_gradient : rvm_gradient)(f.m, FIRST, v.a, 3, &e) == RVM_ERR_INDEX && e.line == 19,
                  "%u: %s", e.line, e.message);
        cr_expect(rvm_machine_location(f.m, 0, 1, &at) && !strcmp(at.function, "first"));
        cr_expect(!rvm_machine_backward(f.m, &e) && v.x[0] == x && v.x_b[0] == 0);
        rvm_machine_unbind(f.m);
    }
    end(&f);
}

/* On whatever engine: the inputs are there again. */
Test(answers, not_restorable) {
    static const entry_point entries[] = {rvm_gradient, rvm_value_and_gradient};
    for (int way = 0; way < 3; way++) { /* native; interpreted in tiers; alone */
        fixture f;
        rvm_jit_options o = jit_options(&f);
        o.tiers = way == 1;
        begin(&f, &o, NULL);
        for (int k = 0; k < 2; k++) {
            rvm_machine *m = way == 2 ? f.plain : f.m;
            numbers v, w;
            fill(&v), fill(&w);
            cr_expect(entries[k](m, BLUR, v.a, 3, &e) == RVM_ERR_NOT_RESTORABLE, "%d %d: %s", way, k, e.message);
            cr_expect(!memcmp(v.x, w.x, sizeof v.x) && !memcmp(v.scratch, w.scratch, sizeof v.scratch), "%d %d: %g", way, k,
                      v.x[1]);
            cr_expect(v.a[0].value.f == 0 && rvm_machine_frames(m) == 0);
        }
        end(&f);
    }
}

/* And where it was cancelled. */
Test(answers, cancelled) {
    enum { MANY = 1 << 20 };
    fixture f;
    const rvm_jit_options o = jit_options(&f);
    const int64_t n = MANY;
    begin(&f, &o, NULL);
    double *x = calloc(2 * MANY, sizeof *x);
    cr_assert(x);
    rvm_arg a[] = {rvm_arg_f64(3), rvm_arg_array_f64(x, 1, &n)};
    a[0].active = a[1].active = true;
    a[1].shadow_data = x + MANY;
    for (int k = 0; k < 2; k++) {
        rvm_machine_cancel(f.m);
        const rvm_status st = (k ? rvm_value_and_gradient : rvm_gradient)(f.m, ROSENBROCK, a, 2, &e);
        cr_expect(st == RVM_ERR_CANCELLED && a[0].value.f == 3 && rvm_machine_frames(f.m) == 0, "%s", rvm_status_name(st));
    }
    cr_expect(!rvm_gradient(f.m, ROSENBROCK, a, 2, &e));
    free(x);
    end(&f);
}

/* ---- memory ---- */

Test(answers, calls_allocate_nothing) {
    fixture f;
    counting c;
    rvm_jit_options o = jit_options(&f);
    rvm_options options = rvm_options_default();
    counting_init(&c);
    options.allocator = &c.al;
    begin(&f, &o, &options);
    numbers v;
    fill(&v);
    uint64_t calls = 0;
    for (int k = 0; k < 100000; k++) {
        if (k == 4) calls = c.calls; /* the first ones */
        v.a[0].value.f = 0;
        cr_assert(!rvm_gradient(f.m, RELAX, v.a, 3, &e) && !rvm_value_and_gradient(f.m, ROSENBROCK, v.a, 2, &e));
        cr_assert(!jacobian(f.m, ROSENBROCK, v.a, 2, &e) && !hvp(f.m, ROSENBROCK, v.a, 2, &e));
        fill(&v);
    }
    cr_expect(c.calls == calls, "%llu allocations", (unsigned long long)(c.calls - calls));
    end(&f);
    cr_expect(!c.live_blocks && !c.mismatch);
}

/* Whichever allocation fails, the answer is right or says so. */
Test(answers, out_of_memory) {
    fixture f;
    rvm_jit_options o = jit_options(&f);
    bool through = false;
    for (uint64_t at = 1; !through && at < 3000; at += 3) {
        counting c;
        rvm_options options = rvm_options_default();
        numbers v, w;
        rvm_machine *m = NULL;
        begin(&f, &o, NULL);
        counting_init(&c);
        options.allocator = &c.al;
        cr_assert(!rvm_machine_new(f.p, &options, &m, &e) && !rvm_jit_attach(f.j, m, &e));
        fill(&v), fill(&w);
        cr_assert(!rvm_value_and_gradient(f.plain, RELAX, w.a, 3, &e));
        c.fail_at = c.calls + at;
        const rvm_status st = rvm_value_and_gradient(m, RELAX, v.a, 3, &e);
        cr_assert(st == RVM_ERR_MEMORY || (st == RVM_OK && same(&v, &w)), "%llu: %s", (unsigned long long)at, e.message);
        through = c.calls < c.fail_at;
        rvm_machine_free(m);
        cr_expect(!c.live_blocks && !c.mismatch);
        end(&f);
    }
    cr_expect(through);
}
