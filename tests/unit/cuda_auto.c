/* cuda_auto.c: blocks that go to a device only where that is faster (cuda/choose.c), by what stands in for a driver
 * (tests/grid). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"
#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_jit.h"

/* ---- the choice ---- */

static void expect(rvm__choice c, rvm__prospect p, const char *why) {
    const char *got = rvm__choice_why_not(&c, &p);
    cr_assert(why ? got && strstr(got, why) : !got, "%s, not %s", got ? got : "the device", why ? why : "the device");
}

Test(cuda_auto, is_timed_on_the_host_first) {
    expect((rvm__choice){.host = 0}, (rvm__prospect){.work = 1 << 30}, "it is timed there first");
    expect((rvm__choice){.host = 0}, (rvm__prospect){.work = UINT64_C(1) << 34}, NULL); /* it is long, that is certain */
}

Test(cuda_auto, opening_is_to_pay) {
    expect((rvm__choice){.host = .01, .missed = .29}, (rvm__prospect){.least = .001}, "opening a device does not pay yet");
    expect((rvm__choice){.host = .01, .missed = .31}, (rvm__prospect){.least = .001}, NULL);
    expect((rvm__choice){.host = .01, .missed = .31}, (rvm__prospect){.least = .011}, "copies take longer");
}

Test(cuda_auto, loading_is_to_pay) {
    expect((rvm__choice){.host = .01, .missed = .09}, (rvm__prospect){.least = .001, .open = true}, "loading its code");
    expect((rvm__choice){.host = .01, .missed = .11}, (rvm__prospect){.least = .001, .open = true}, NULL);
    expect((rvm__choice){.host = .01}, (rvm__prospect){.least = .001, .open = true, .loaded = true}, NULL);
}

Test(cuda_auto, the_faster_one) {
    const rvm__prospect p = {.work = 1 << 30, .least = .001, .open = true, .loaded = true};
    expect((rvm__choice){.host = .01, .device = .03, .tries = 1}, p, NULL); /* the first try does not count for much */
    expect((rvm__choice){.host = .01, .device = .05, .tries = 1}, p, "it is faster there");
    expect((rvm__choice){.host = .01, .device = .011, .tries = 2}, p, "it is faster there");
    expect((rvm__choice){.host = .01, .device = .009, .tries = 2}, p, NULL);
    expect((rvm__choice){.host = .01, .device = INFINITY, .tries = 2}, p, "it is faster there"); /* it failed */
    expect((rvm__choice){.device = .2, .tries = 2}, p, "it is timed there, too");
    expect((rvm__choice){.device = .1, .tries = 2}, p, NULL); /* no host does 2^30 instructions in that time */
}

/* ---- runs ---- */

#define NEVER(i, more) "for " i " in 0..0\n" more "end\n"
static const char text[] =
    "fn poly(y: real[n], x: real[n], m: i64)\n"
    "    parallel i in 0..n\n"
    "        for k in 0..m\n"
    "            y[i] += x[i] * x[i]\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn wave(y: real[n], x: real[n], m: i64)\n"
    "    parallel i in 0..n\n"
    "        for k in 0..m\n"
    "            y[i] += sin(x[i])\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn long(y: real[n], x: real[n], m: i64)\n"
    "    parallel i in 0..n\n"
    "        y[i] += x[i] * m\n" NEVER(
        "a", NEVER("b", NEVER("c", NEVER("d", NEVER("e", NEVER("f", NEVER("g", "y[i] += 1\n"))))))) "    end\n"
                                                                                                    "end\n";
enum { N = 20000 };

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j;
    rvm_cuda *c;
    double y[N], x[N];
    rvm_error e;
} fixture;

static fixture *begin_with(bool fast, uint64_t least) {
    rvm_jit_options jit = rvm_jit_options_default();
    jit.threads = 0;
    rvm_options o = rvm_options_default();
    rvm_cuda_options device = rvm_cuda_options_default();
    fixture *f = malloc(sizeof *f);
    memset(f, 0, sizeof *f);
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    jit.tiers = false;
    jit.fast_math = fast;
    device.least = least;
    device.automatic = true;
    o.unchecked = o.trust = true;
    o.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_assemble(text, sizeof text - 1, "t", NULL, &f->p, &f->e, NULL, NULL), "%s", f->e.message);
    cr_assert(!rvm_machine_new(f->p, &o, &f->m, &f->e));
    for (int i = 0; i < N; i++) f->x[i] = i % 32;
    if (rvm_jit_new(&jit, &f->j, &f->e)) cr_skip("no LLVM");
    cr_assert(!rvm_jit_attach(f->j, f->m, &f->e) && !rvm_cuda_new(&device, &f->c, &f->e), "%s", f->e.message);
    cr_assert(!rvm_cuda_attach(f->c, f->m, &f->e));
    return f;
}

static fixture *begin(bool fast) {
    return begin_with(fast, 0);
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_cuda_free(f->c);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
    free(f);
}

static rvm_cuda_totals run(fixture *f, const char *name, int n, int64_t m, double each) {
    rvm_cuda_totals t;
    memset(f->y, 0, sizeof f->y);
    rvm_arg a[3] = {rvm_arg_array_f64(f->y, 1, (int64_t[]){n}), rvm_arg_array_f64(f->x, 1, (int64_t[]){n}), rvm_arg_i64(m)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, name), a, 3, &f->e), "%s", f->e.message);
    for (int i = 0; i < n && each != 0; i++) cr_assert_eq(f->y[i], each * f->x[i] * f->x[i]);
    rvm_cuda_stats(f->c, &t);
    return t;
}

Test(cuda_auto, nothing_of_a_driver) {
    rvm_cuda_options o = rvm_cuda_options_default();
    rvm_cuda *c = NULL;
    rvm_error e;
    setenv("RVM_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
    o.automatic = true;
    cr_assert_eq(rvm_cuda_new(&o, &c, &e), RVM_ERR_UNSUPPORTED);
    cr_assert(!c && strstr(e.message, "there is no CUDA device, as it seems"), "%s", e.message);
}

Test(cuda_auto, small_work_opens_nothing) {
    fixture *f = begin(false);
    rvm_cuda_totals t = {0};
    for (int k = 0; k < 3; k++) t = run(f, "poly", N, 200, 200);
    cr_assert(t.opening == 0 && !t.blocks && t.on_host == 3);
    cr_assert(strstr(t.why, "line 2: opening a device does not pay yet"), "%s", t.why);
    cr_assert_eq(rvm_cuda_devices(f->c, NULL, 0), 0);
    t = run(f, "poly", 1000, 10, 10);
    cr_assert(strstr(t.why, "line 2: it has few instances"), "%s", t.why);
    end(f);
}

/* A block's time ends with its run. */
Test(cuda_auto, what_is_not_the_machines_does_not_count) {
    fixture *f = begin(false);
    for (int k = 0; k < 3; k++) {
        cr_assert_eq(run(f, "poly", N, 200, 200).opening, 0);
        usleep(200000);
    }
    end(f);
}

/* Native code does not even ask. */
Test(cuda_auto, smaller_work_stays_where_it_is) {
    fixture *f = begin_with(false, 1 << 20);
    cr_assert_eq(run(f, "poly", N, 4000, 4000).on_host, 0); /* as far as its text tells, it has fewer */
    cr_assert_eq(run(f, "long", N, 3, 0).blocks, 1);
    end(f);
}

/* Which takes less, here, is open; both give the same. */
Test(cuda_auto, is_tried) {
    fixture *f = begin(false);
    rvm_cuda_totals t = {0};
    int runs = 0;
    for (; runs < 1000 && !t.blocks; runs++) t = run(f, "poly", N, 4000, 4000);
    cr_assert(t.blocks == 1 && t.opening > 0 && runs > 1, "%d: %s", runs, t.why);
    for (int k = 0; k < 4; k++) t = run(f, "poly", N, 4000, 4000);
    cr_assert_eq(t.blocks + t.on_host, (uint64_t)runs + 4);
    end(f);
}

/* What copies alone would take longer for never opens a device. */
Test(cuda_auto, copies_take_longer) {
    fixture *f = begin(false);
    rvm_cuda_totals t = {0};
    for (int k = 0; k < 20; k++) t = run(f, "poly", 1024, 1, 1);
    cr_assert(!t.blocks && strstr(t.why, "line 2: copies take longer than it does there"), "%s", t.why);
    end(f);
}

Test(cuda_auto, long_blocks_go_at_once) {
    fixture *f = begin(false);
    for (uint64_t k = 1; k <= 4; k++) { /* and again, since no host would be as fast */
        const rvm_cuda_totals t = run(f, "long", N, 3, 0);
        cr_assert(t.blocks == k && !t.on_host && t.opening > 0, "%s", t.why);
        for (int i = 0; i < N; i++) cr_assert_eq(f->y[i], 3 * f->x[i]);
    }
    end(f);
}

/* Bits of functions would be others. */
Test(cuda_auto, functions) {
    fixture *f = begin(false);
    const rvm_cuda_totals t = run(f, "wave", N, 1, 0);
    cr_assert(strstr(t.why, "line 9: elementary functions have other bits on a device"), "%s", t.why);
    end(f);
    f = begin(true);
    const rvm_cuda_totals fast = run(f, "wave", N, 1, 0);
    cr_assert(strstr(fast.why, "line 9: it is timed there first"), "%s", fast.why);
    end(f);
}

/* One that fails there is tried no more. */
Test(cuda_auto, a_device_that_fails) {
    fixture *f = begin(false);
    setenv("RVM_GRID_FAIL", "launch:1", 1);
    rvm_cuda_totals t = run(f, "long", N, 3, 0);
    cr_assert(!t.blocks && strstr(t.why, "the device fails when a kernel is launched"), "%s", t.why);
    for (int i = 0; i < N; i++) cr_assert_eq(f->y[i], 3 * f->x[i]);
    t = run(f, "long", N, 3, 0);
    cr_assert(!t.blocks && strstr(t.why, "the device is lost"), "%s", t.why);
    end(f);
}

Test(cuda_auto, a_device_without_memory) {
    fixture *f = begin(false);
    setenv("RVM_GRID_MEMORY", "20000", 1);
    for (int k = 0; k < 3; k++) {
        const rvm_cuda_totals t = run(f, "long", N, 3, 0);
        cr_assert(!t.blocks && strstr(t.why, k ? "it is faster there" : "out of memory"), "%d: %s", k, t.why);
    }
    end(f);
}

Test(cuda_auto, no_device_after_all) {
    fixture *f = begin(false);
    setenv("RVM_GRID_DEVICES", "0", 1);
    for (int k = 0; k < 2; k++) {
        const rvm_cuda_totals t = run(f, "long", N, 3, 0);
        cr_assert(!t.blocks && t.on_host == (uint64_t)k + 1, "%s", t.why);
        cr_assert(strstr(t.why, k ? "no device could be opened" : "there is no CUDA device"), "%s", t.why);
    }
    end(f);
}

/* An array that stays is on an open device. */
Test(cuda_auto, arrays_open_it) {
    rvm_cuda_array *a;
    fixture *f = begin(false);
    cr_assert(!rvm_cuda_array_new(f->c, 4, &a, &f->e));
    cr_assert_eq(rvm_cuda_devices(f->c, NULL, 0), 1);
    rvm_cuda_array_free(a);
    end(f);
}
