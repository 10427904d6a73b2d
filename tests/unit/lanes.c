/* lanes.c: groups of instances that run long are ended by fuel and by a cancel: where they can be taken back the run can go
 * on, else it can go neither on nor back, and says so. What groups compute is tested by the cases and random programs. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"

enum { N = 8, LONG = 1000000000 };
static rvm_error e;

static const char text[] = "fn kept(y: real[n], a: real[n, m], b: real, k: i64)\n"
                           "    parallel p in 0..n\n"
                           "        y[p] -= atan2(b, 2.0)\n"
                           "        for i in 0..k * k\n"
                           "            a[p, 0] += inv(b)\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "fn lost(y: real[n], a: real[n, m], b: real, k: i64)\n"
                           "    parallel p in 0..n\n"
                           "        for i in 0..4\n"
                           "            a[p, i] += y[p]\n"
                           "        end\n"
                           "        for i in 0..k * k\n"
                           "            let j: i64 = i & 3\n"
                           "            a[p, j] += inv(b)\n"
                           "        end\n"
                           "        y[p] -= b\n"
                           "    end\n"
                           "end\n";

typedef struct fixture {
    rvm_jit *j;
    rvm_program *p;
    rvm_machine *m;
    double y[N], a[4 * N];
    rvm_arg arg[4];
    unsigned calls; /* of the progress function that come before it cancels; 0: it does not */
} fixture;

static bool on_progress(void *userdata, uint64_t instructions) {
    fixture *f = userdata;
    (void)instructions;
    return f->calls && --f->calls == 0;
}

static void begin(fixture *f, uint64_t fuel, unsigned calls, int64_t k) {
    report rep = {.name = "lanes"};
    const int64_t shape[2] = {N, 4};
    rvm_jit_options o = rvm_jit_options_default();
    rvm_options mo = rvm_options_default();
    *f = (fixture){.p = assemble_text(text, NULL, &rep), .calls = calls};
    cr_assert(f->p);
    o.cache = "";
    o.tiers = false;
    mo.unchecked = mo.trust = true;
    mo.fuel = fuel;
    mo.progress = on_progress;
    mo.userdata = f;
    if (rvm_jit_new(&o, &f->j, &e)) cr_skip_test("%s", e.message);
    cr_assert(!rvm_machine_new(f->p, &mo, &f->m, &e) && !rvm_jit_attach(f->j, f->m, &e));
    for (int i = 0; i < N; i++) f->y[i] = i;
    f->arg[0] = rvm_arg_array_f64(f->y, 1, shape);
    f->arg[1] = rvm_arg_array_f64(f->a, 2, shape);
    f->arg[2] = rvm_arg_f64(1.5);
    f->arg[3] = rvm_arg_i64(k);
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

static rvm_status call(fixture *f, const char *fn) {
    const rvm_status status = rvm_call(f->m, rvm_program_find(f->p, fn), f->arg, 4, &e);
    cr_assert(rvm_jit_reason(f->m, NULL) == RVM_OK);
    return status;
}

static void ends(const char *fn, uint64_t fuel, unsigned calls, rvm_status expected, bool adrift) {
    fixture f;
    rvm_stats s;
    begin(&f, fuel, calls, LONG);
    cr_assert(call(&f, fn) == expected, "%s", e.message);
    rvm_machine_stats(f.m, &s);
    if (fuel) cr_assert(s.forward < fuel + N * (UINT64_C(1) << 26), "%llu", (unsigned long long)s.forward);
    if (adrift) {
        cr_assert(rvm_machine_backward(f.m, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "neither on nor back"));
        cr_assert(rvm_machine_forward(f.m, &e) == RVM_ERR_UNSUPPORTED);
    } else {
        cr_assert(rvm_machine_backward(f.m, &e) == RVM_OK, "%s", e.message);
        cr_assert(f.y[3] == 3);
    }
    f.arg[3] = rvm_arg_i64(10); /* whatever was, the next call is as ever */
    cr_assert(call(&f, fn) == RVM_OK, "%s", e.message);
    end(&f);
}

Test(lanes, fuel) {
    ends("kept", 4000000, 0, RVM_ERR_FUEL, false);
    ends("lost", 4000000, 0, RVM_ERR_FUEL, true);
}

Test(lanes, cancel) {
    ends("kept", 0, 2, RVM_ERR_CANCELLED, false);
    ends("lost", 0, 200, RVM_ERR_CANCELLED, true);
}

Test(lanes, long_ones_are_the_interpreters) { /* with looks on the way, and past what a lane goes without */
    fixture f;
    double a[4 * N], y[N];
    begin(&f, 0, 0, 1500);
    cr_assert(call(&f, "lost") == RVM_OK, "%s", e.message);
    memcpy(a, f.a, sizeof a), memcpy(y, f.y, sizeof y);
    memset(f.a, 0, sizeof f.a);
    for (int i = 0; i < N; i++) f.y[i] = i;
    rvm_jit_detach(f.m);
    cr_assert(rvm_call(f.m, rvm_program_find(f.p, "lost"), f.arg, 4, &e) == RVM_OK);
    cr_assert(!memcmp(a, f.a, sizeof a) && !memcmp(y, f.y, sizeof y));
    end(&f);
}
