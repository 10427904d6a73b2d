/* memory.c: a machine used a million times; an allocator that fails at every allocation in turn; nothing leaks. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm_debug.h"

static report rep = {.name = "memory"};

typedef struct sample_call {
    double x[3], A[6], xb[3], Ab[6];
    rvm_arg a[5];
} sample_call;

static void fill(sample_call *c) {
    static const int64_t shape[2] = {2, 3};
    *c = (sample_call){.x = {1, 2, 3}, .A = {1, 2, 3, 4, 5, 6}};
    c->a[0] = rvm_arg_f64(0);
    c->a[1] = rvm_arg_array_f64(c->x, 1, shape + 1);
    c->a[2] = rvm_arg_array_f64(c->A, 2, shape);
    c->a[3] = rvm_arg_i64(5);
    c->a[4] = rvm_arg_fix(0.25);
    for (int k = 0; k < 3; k++) c->a[k].active = true;
    c->a[0].shadow.f = 1;
    c->a[1].shadow_data = c->xb;
    c->a[2].shadow_data = c->Ab;
}

typedef rvm_status (*run_fn)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *);
static const run_fn runs[] = {rvm_call, rvm_uncall, rvm_gradient, rvm_tangent, rvm_sweep};

/* After the first call of each kind there is no further allocation, and in the end nothing is left. */
static void check_reuse(bool unchecked, unsigned times) {
    counting c;
    rvm_error e;
    rvm_machine *m = NULL;
    sample_call call;
    rvm_options o = rvm_options_default();
    rvm_program *p = assemble_text(sample_text, NULL, &rep);
    int64_t fn = rvm_program_find(p, "all");
    counting_init(&c);
    o.allocator = &c.al;
    o.unchecked = unchecked;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK);
    uint64_t calls = 0;
    for (unsigned k = 0; k < times; k++) {
        fill(&call);
        for (unsigned j = 0; j < 4; j++) cr_assert(runs[j](m, fn, call.a, 5, &e) == RVM_OK, "%u: %s", j, e.message);
        if (k == 0) calls = c.calls;
    }
    cr_assert(c.calls == calls, "%llu allocations after the first calls", (unsigned long long)(c.calls - calls));
    rvm_machine_free(m);
    cr_assert(c.live_blocks == 0 && c.live_bytes == 0 && !c.mismatch);
    rvm_program_free(p);
}

Test(memory, reuse_checked, .timeout = 120) {
    check_reuse(false, 2000 / TRY_ONE_IN);
}
Test(memory, reuse_unchecked, .timeout = 120) {
    check_reuse(true, 2000 / TRY_ONE_IN);
}

/* A million calls, of another program so that it takes a second. */
Test(memory, a_million_calls, .timeout = 120) {
    counting c;
    rvm_error e;
    rvm_machine *m = NULL;
    rvm_options o = rvm_options_default();
    rvm_program *p = assemble_text("fn add(y: real, x: real)\n    y += x * x\nend\n"
                                   "fn f(y: real, x: real[n])\n    for i in 0..n\n        call add(y, x[i])\n    end\nend\n",
                                   NULL, &rep);
    double x[2] = {1, 2}, xb[2] = {0};
    int64_t n = 2;
    counting_init(&c);
    o.allocator = &c.al;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK);
    uint64_t calls = 0;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &n)};
    a[0].active = a[1].active = true;
    a[0].shadow.f = 1;
    a[1].shadow_data = xb;
    for (int k = 0; k < 1000000 / TRY_ONE_IN; k++) {
        rvm_status s = runs[k % 3](m, 1, a, 2, &e);
        if (s != RVM_OK || (k > 2 && c.calls != calls)) cr_assert_fail("call %d: %s", k, rvm_status_name(s));
        calls = c.calls;
    }
    rvm_machine_free(m);
    cr_assert(c.live_blocks == 0 && c.live_bytes == 0);
    rvm_program_free(p);
}

/* Run `work` with the n-th allocation failing, for every n until none fails any more; under sanitizers for ever fewer. */
static void each_failure(void (*work)(counting *c, bool *complete), bool sticky) {
    bool complete = false;
    uint64_t n = 1;
    for (; !complete && n < 100000; n += 1 + (TRY_ONE_IN > 1 ? n / 25 : 0)) {
        counting c;
        counting_init(&c);
        c.fail_at = n;
        c.sticky = sticky;
        work(&c, &complete);
        cr_assert(c.live_blocks == 0 && c.live_bytes == 0 && !c.mismatch, "allocation %llu: %llu blocks left",
                  (unsigned long long)n, (unsigned long long)c.live_blocks);
        complete = complete && c.calls < n;
    }
    cr_assert(complete && n > 3, "%llu", (unsigned long long)n);
}

static void work_assemble(counting *c, bool *complete) {
    rvm_asm_options o = {.real = RVM_F64, .allocator = &c->al};
    rvm_program *p = NULL;
    rvm_error e;
    rvm_status s = rvm_assemble(sample_text, strlen(sample_text), "test.rasm", &o, &p, &e, NULL, NULL);
    cr_assert(s == (p ? RVM_OK : RVM_ERR_MEMORY), "%s: %s", rvm_status_name(s), e.message);
    *complete = p != NULL;
    rvm_program_free(p);
}

static void work_numbers(counting *c, bool *complete) {
    static const char text[] = "fn f(z: complex[n], y: lns, x: real)\n    let t: complex[n] = 1\n"
                               "    z[0] += sqrt(t[0] * 2) / z[1].re\n    z[1] *= complex(1, 2)\n    swap z[0], z[1]\n"
                               "    y *= lns(x) ^ 2\n    call g(z[0..1], log(t[0]) + 1)\nend\n"
                               "fn g(z: complex[n], w: complex)\n    z[0] -= w\n    z += w ^ w * exp(w)\nend\n"
                               "fn h(x: real[n], y: real[n], a: real)\n    x += a * exp(y[0..n]) - y\nend\n"
                               "fn i(k: i64, n: i64)\n    let t: i64 = 0 -> n\n    from t == 0\n        k += n != 0 and "
                               "(n > 9 or 9 // n > 2)\n    loop\n        t += 1\n    until t == n\nend\n";
    rvm_asm_options o = {.real = RVM_F64, .allocator = &c->al};
    rvm_program *p = NULL;
    rvm_error e;
    rvm_status s = rvm_assemble(text, sizeof text - 1, "test.rasm", &o, &p, &e, NULL, NULL);
    cr_assert(s == (p ? RVM_OK : RVM_ERR_MEMORY), "%s: %s", rvm_status_name(s), e.message);
    *complete = p != NULL;
    rvm_program_free(p);
}

static void work_diagnose(counting *c, bool *complete) {
    static const char wrong[] = "fn f(x: real, x: y)\n    x += z\n    let k = (x\n    if q\nend\ncall g(3)\n";
    rvm_asm_options o = {.real = RVM_F64, .allocator = &c->al};
    rvm_program *p = NULL;
    rvm_error e;
    rvm_status s = rvm_assemble(wrong, sizeof wrong - 1, "test.rasm", &o, &p, &e, NULL, NULL);
    cr_assert(s != RVM_OK && !p);
    *complete = s != RVM_ERR_MEMORY;
}

Test(memory, assembler_out_of_memory, .timeout = 120) {
    each_failure(work_assemble, false);
    each_failure(work_assemble, true);
    each_failure(work_numbers, false);
    each_failure(work_numbers, true);
    each_failure(work_diagnose, true);
}

static void *saved;
static size_t saved_size;

static void save_text(const char *text) {
    rvm_program *p = assemble_text(text, NULL, &rep);
    void *bytes = NULL;
    cr_assert(rvm_program_save(p, &bytes, &saved_size, NULL) == RVM_OK);
    saved = malloc(saved_size);
    memcpy(saved, bytes, saved_size);
    rvm_program_free_bytes(p, bytes, saved_size);
    rvm_program_free(p);
}

static void work_load(counting *c, bool *complete) {
    rvm_program *p = NULL;
    rvm_error e;
    rvm_status s = rvm_program_load(saved, saved_size, "x.rbc", &c->al, &p, &e);
    cr_assert(s == (p ? RVM_OK : RVM_ERR_MEMORY), "%s: %s", rvm_status_name(s), e.message);
    if (p) {
        void *bytes = NULL;
        size_t size;
        s = rvm_program_save(p, &bytes, &size, &e);
        cr_assert(s == (bytes ? RVM_OK : RVM_ERR_MEMORY));
        *complete = bytes != NULL;
        if (bytes) rvm_program_free_bytes(p, bytes, size);
    }
    rvm_program_free(p);
}

Test(memory, loader_out_of_memory, .timeout = 120) {
    save_text(sample_text);
    each_failure(work_load, false);
    each_failure(work_load, true);
    free(saved);
}

static rvm_program *shared;

static void work_machine(counting *c, bool *complete) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    sample_call call;
    o.allocator = &c->al;
    rvm_status s = rvm_machine_new(shared, &o, &m, &e);
    cr_assert(s == (m ? RVM_OK : RVM_ERR_MEMORY));
    *complete = m != NULL;
    for (unsigned k = 0; m && k < 5; k++) {
        fill(&call);
        s = runs[k](m, rvm_program_find(shared, "all"), call.a, 5, &e);
        /* Uncalling and sweeping the inputs is a computation of its own, which may end as it likes. */
        cr_assert(s == RVM_OK || s == RVM_ERR_MEMORY || k == 1 || k == 4, "run %u: %s: %s", k, rvm_status_name(s),
                  e.message);
        if (s == RVM_ERR_MEMORY) *complete = false;
        rvm_machine_unbind(m);
    }
    rvm_machine_free(m);
}

Test(memory, machine_out_of_memory, .timeout = 120) {
    shared = assemble_text(sample_text, NULL, &rep);
    each_failure(work_machine, false);
    each_failure(work_machine, true);
    rvm_program_free(shared);
}

static bool is_ok_or_memory(rvm_status s) {
    cr_assert(s == RVM_OK || s == RVM_ERR_MEMORY, "%s", rvm_status_name(s));
    return !s;
}

/* Into the middle, and from there by a clone, a keyframe and a timeline. */
static void work_travel(counting *c, bool *complete) {
    rvm_error e;
    rvm_machine *m = NULL, *clone = NULL;
    rvm_keyframe *k = NULL;
    rvm_timeline *t = NULL;
    sample_call call;
    rvm_options o = rvm_options_default();
    const rvm_goal middle = {.to = {.at = 60}}, end = {.to = {.at = INT64_MAX}};
    o.allocator = &c->al;
    o.exact = true;
    fill(&call);
    bool good = is_ok_or_memory(rvm_machine_new(shared, &o, &m, &e));
    good = good && is_ok_or_memory(rvm_machine_bind(m, rvm_program_find(shared, "all"), call.a, 5, RVM_PRIMAL, false, &e));
    good = good && is_ok_or_memory(rvm_timeline_new(m, 0, &t, &e));
    good = good && is_ok_or_memory(rvm_timeline_run_to(t, &middle, NULL, &e));
    good = good && is_ok_or_memory(rvm_keyframe_new(m, &k, &e)) && is_ok_or_memory(rvm_machine_clone(m, NULL, &clone, &e));
    good = good && is_ok_or_memory(rvm_machine_run_to(clone, &end, NULL, &e));
    good = good && is_ok_or_memory(rvm_machine_run_to(m, &end, NULL, &e)) && is_ok_or_memory(rvm_keyframe_restore(k, m, &e));
    cr_assert(!good || rvm_machine_position(m).at == 60);
    good = good && is_ok_or_memory(rvm_timeline_seek(t, (rvm_run_position){.at = 5}, NULL, &e));
    *complete = good;
    rvm_timeline_free(t);
    rvm_keyframe_free(k);
    rvm_machine_free(clone);
    rvm_machine_free(m);
}

Test(memory, each_failure_of_travel, .timeout = 120) {
    shared = assemble_text(sample_text, NULL, &rep);
    each_failure(work_travel, false);
    each_failure(work_travel, true);
    rvm_program_free(shared);
}

static void work_expression(counting *c, bool *complete) {
    static const rvm_asm_name names[] = {{"x", RVM_F64, 1}, {"z.re", RVM_F64, 0}};
    rvm_program *p = NULL;
    rvm_asm_used used;
    rvm_error e;
    *complete = is_ok_or_memory(rvm_assemble_expression("x[1] * 2 + z.re", names, 2, RVM_MATH_AUTO, &c->al, &used, &p, &e));
    rvm_program_free(p);
}

Test(memory, each_failure_of_expressions, .timeout = 120) {
    each_failure(work_expression, false);
    each_failure(work_expression, true);
}

/* A call that ran out of memory in the middle goes back to the start when there is none to be had. */
Test(memory, goes_back_without_memory) {
    rvm_error e;
    shared = assemble_text(sample_text, NULL, &rep);
    int64_t fn = rvm_program_find(shared, "all");
    unsigned failed = 0;
    for (uint64_t n = 1; n < 60; n++) {
        counting c;
        rvm_machine *m = NULL;
        sample_call call;
        rvm_options o = rvm_options_default();
        counting_init(&c);
        o.allocator = &c.al;
        fill(&call);
        if (rvm_machine_new(shared, &o, &m, &e) == RVM_OK &&
            rvm_machine_bind(m, fn, call.a, 5, RVM_PRIMAL, false, &e) == RVM_OK) {
            c.fail_at = c.calls + n;
            c.sticky = true;
            rvm_status s = rvm_machine_forward(m, &e);
            failed += s == RVM_ERR_MEMORY;
            cr_assert(s == RVM_OK || s == RVM_ERR_MEMORY);
            cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "after allocation %llu: %s", (unsigned long long)n, e.message);
            rvm_machine_unbind(m);
            cr_assert(fabs(call.x[0] - 1) < 1e-9 && call.a[3].value.i == 5 &&
                      call.a[4].value.i == rvm_fix_from_double(0.25));
        }
        rvm_machine_free(m);
        cr_assert(c.live_blocks == 0);
    }
    cr_assert(failed > 0);
    rvm_program_free(shared);
}

/* ---- derivatives: made, taken by name, and asked of a machine ---- */

/* Something of everything that a transform meets: regions, branches, the trail, a function value, a parallel block. */
static const char derivable[] = "fn square(y: real, x: real)\n    y += x ^ 2\nend\n"
                                "fn apply(y: real, x: real, g: fn(acc real, read real))\n    call g(y, x)\nend\n"
                                "fn sum(out: real, x: real[n])\n    compute\n        let s: real\n"
                                "        parallel i in 0..n\n            s += x[i] * sin(x[i])\n        end\n"
                                "    do\n        out += sqrt(s)\n    undo\nend\n"
                                "fn f(out: real, x: real[n], k: i64)\n    let t: real = 1\n    call sum(t, x)\n"
                                "    call apply(out, t, &square)\n    if k > 0\n        set out = out * x[0]\n    end\n"
                                "    call sum(t, x[0..n])\n    uncall sum(t, x)\n    uncall sum(t, x)\nend\n";

static const char *derived_name;

static void work_transform(counting *c, bool *complete) {
    rvm_program *p = NULL, *out = NULL;
    rvm_error e;
    uint32_t fn;
    rvm_status s = rvm_program_load(saved, saved_size, "x.rbc", &c->al, &p, &e);
    if (!s) s = rvm_program_derive(p, derived_name, &out, &fn, &e);
    cr_assert(s == (out ? RVM_OK : RVM_ERR_MEMORY), "%s: %s: %s", derived_name, rvm_status_name(s), e.message);
    cr_assert(!s || strstr(e.message, "out of memory"), "%s", e.message);
    *complete = out != NULL;
    rvm_program_free(out);
    rvm_program_free(p);
}

Test(memory, transforms_out_of_memory, .timeout = 120) {
    static const char *const names[] = {"f'inv", "f'tan", "f'adj[out, x]", "f'grad'tan", "f'grad'adj"};
    save_text(derivable);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        derived_name = names[k];
        each_failure(work_transform, false);
        each_failure(work_transform, true);
    }
    free(saved);
}

static void work_derived_calls(counting *c, bool *complete) {
    static const char calls[] = "fn h(out: real, out_b: real, x: real[n], x_b: real[n], v: real[n], hv: real[n])\n"
                                "    let d: real\n    let d_b: real\n"
                                "    call f'grad'tan(out, d, out_b, d_b, x, v, x_b, hv, 1)\n"
                                "    call f'grad[1, 2](out, out_b, x, x_b, 1)\nend\n";
    char text[sizeof derivable + sizeof calls];
    rvm_asm_options o = {.real = RVM_F64, .allocator = &c->al};
    rvm_program *p = NULL;
    rvm_error e;
    const int n = snprintf(text, sizeof text, "%s%s", derivable, calls);
    rvm_status s = rvm_assemble(text, (size_t)n, "test.rasm", &o, &p, &e, NULL, NULL);
    cr_assert(s == (p ? RVM_OK : RVM_ERR_MEMORY), "%s: %s", rvm_status_name(s), e.message);
    *complete = p != NULL;
    rvm_program_free(p);
}

Test(memory, calls_of_derivatives_out_of_memory, .timeout = 120) {
    each_failure(work_derived_calls, false);
    each_failure(work_derived_calls, true);
}

/* Gradients with checkpoints, alone and with the value, of a function that is not the program's first: the same numbers, or
 * none and then the same. */
static const char marched[] =
    "fn other(a: real, b: real, c: real, d: real, e: real, g: real)\n    d += b * 42\n    e += c * 57\n"
    "end\nfn f(y: real, x: real)\n    for t in 0..10\n        set x = sin(x)\n    end\n    y += x\nend\n";

static void work_marched(counting *c, bool *complete) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    o.allocator = &c->al;
    o.checkpoints = 2;
    *complete = rvm_machine_new(shared, &o, &m, &e) == RVM_OK;
    for (int k = 0; k < 4 && m; k++) { /* the last two after what failed */
        rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(0.5)};
        double x = 0.5, by = 1;
        for (int t = 0; t < 10; t++) by *= cos(x), x = sin(x);
        a[0].active = a[1].active = true;
        a[0].shadow.f = 1;
        const rvm_status s = (k % 2 ? rvm_gradient : rvm_value_and_gradient)(m, 1, a, 2, &e);
        cr_assert(s == RVM_OK || s == RVM_ERR_MEMORY, "%s: %s", rvm_status_name(s), e.message);
        cr_assert(s || (fabs(a[1].shadow.f - by) < 1e-12 && fabs(a[0].value.f - (k % 2 ? 0 : x)) < 1e-12), "%d: %g, by %g",
                  k, a[0].value.f, a[1].shadow.f);
        *complete &= !s;
    }
    rvm_machine_free(m);
}

Test(memory, each_failure_of_checkpoints, .timeout = 120) {
    shared = assemble_text(marched, NULL, &rep);
    each_failure(work_marched, false);
    each_failure(work_marched, true);
    rvm_program_free(shared);
}

/* ---- all of it, with one allocator: assembled, derived, compiled, run ---- */

static const char whole_text[] = "fn f(out: real, x: real[n])\n    compute\n        let t: real[n]\n"
                                 "        parallel i in 0..n\n            t[i] += x[i] * x[i]\n        end\n    do\n"
                                 "        for i in 0..n\n            out += t[i]\n        end\n    undo\nend\n";

typedef struct whole {
    rvm_program *p, *derived;
    rvm_machine *m;
    rvm_jit *j;
    double x[8], xb[8];
    rvm_arg a[2];
} whole;

/* What the caller of each gets: done, or out of memory and no other trouble. */
static bool went(rvm_status s, const rvm_error *e) {
    cr_assert(s == RVM_OK || s == RVM_ERR_MEMORY, "%s: %s", rvm_status_name(s), e->message);
    return s == RVM_OK;
}

static bool whole_begin(whole *w, const rvm_allocator *al) {
    rvm_error e = {0};
    uint32_t fn;
    const rvm_asm_options in = {.real = RVM_F64, .allocator = al};
    rvm_options o = rvm_options_default();
    rvm_jit_options jo = rvm_jit_options_default();
    *w = (whole){0};
    o.allocator = jo.allocator = al;
    o.unchecked = true; /* in lanes */
    jo.tiers = false, jo.cache = "", jo.level = 0;
    for (int k = 0; k < 8; k++) w->x[k] = k;
    w->a[0] = rvm_arg_f64(0);
    w->a[1] = rvm_arg_array_f64(w->x, 1, &(int64_t){8});
    w->a[1].shadow_data = w->xb;
    w->a[0].active = w->a[1].active = true;
    return went(rvm_assemble(whole_text, sizeof whole_text - 1, "test.rasm", &in, &w->p, &e, NULL, NULL), &e) &&
           went(rvm_program_derive(w->p, "f'grad", &w->derived, &fn, &e), &e) &&
           went(rvm_machine_new(w->p, &o, &w->m, &e), &e) && went(rvm_jit_new(&jo, &w->j, &e), &e);
}

static void whole_end(whole *w) {
    rvm_machine_free(w->m);
    rvm_jit_free(w->j);
    rvm_program_free(w->derived);
    rvm_program_free(w->p);
}

/* Native, or without memory for that interpreted: the same numbers. */
static bool whole_run(whole *w) {
    rvm_error e = {0};
    w->a[0].value.f = 0, w->a[0].shadow.f = 1;
    memset(w->xb, 0, sizeof w->xb);
    bool good = went(rvm_jit_attach(w->j, w->m, &e), &e);
    if (went(rvm_call(w->m, 0, w->a, 2, &e), &e))
        cr_assert(w->a[0].value.f == 140, "%g", w->a[0].value.f);
    else
        good = false;
    good = good && went(rvm_jit_reason(w->m, &e), &e);
    if (went(rvm_gradient(w->m, 0, w->a, 2, &e), &e))
        cr_assert(w->xb[7] == 14, "%g", w->xb[7]);
    else
        good = false;
    return good;
}

static bool whole_write(whole *w) {
    rvm_error e = {0};
    const rvm_jit_object what = {.cpu = "generic", .lines = true};
    FILE *none = fopen("/dev/null", "w");
    const bool good = went(rvm_jit_compile(w->j, w->p, 0, NULL, &what, none, none, &e), &e) &&
                      went(rvm_jit_dump(w->j, w->derived, 1, -1, NULL, RVM_JIT_IR, none, &e), &e);
    fclose(none);
    return good;
}

static bool has_native_code(void) {
    rvm_jit *j;
    const bool has = !rvm_jit_new(NULL, &j, NULL);
    rvm_jit_free(j);
    return has;
}

/* The first allocations of `work` and then ever fewer, since each takes the compiler some ms, fail in turn, alone or with
 * all behind them, after what comes before went well. */
static void each_failure_of(bool (*work)(whole *w), bool sticky) {
    bool complete = false;
    uint64_t n = 0;
    for (; !complete && n < 100000; n += 1 + n * TRY_ONE_IN / 12) {
        counting c;
        whole w;
        counting_init(&c);
        cr_assert(whole_begin(&w, &c.al));
        const uint64_t before = c.calls;
        c.fail_at = n ? before + n : 0;
        c.sticky = sticky;
        const bool good = work(&w);
        cr_assert(n || good);
        complete = good && n && c.calls < c.fail_at;
        whole_end(&w);
        cr_assert(c.live_blocks == 0 && c.live_bytes == 0 && !c.mismatch, "allocation %llu: %llu blocks left",
                  (unsigned long long)n, (unsigned long long)c.live_blocks);
    }
    cr_assert(complete && n > 20, "%llu", (unsigned long long)n);
}

Test(memory, native_out_of_memory, .timeout = 240) {
    if (!has_native_code()) cr_skip_test("no native code");
    each_failure_of(whole_run, false);
    each_failure_of(whole_run, true);
}

Test(memory, objects_out_of_memory, .timeout = 240) {
    if (!has_native_code()) cr_skip_test("no native code");
    each_failure_of(whole_write, false);
    each_failure_of(whole_write, true);
}
