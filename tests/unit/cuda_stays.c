/* cuda_stays.c: arrays that stay, arguments' and local ones, where there are several devices. */
#include "cuda_devices.h"

static rvm_arg on_device(rvm_cuda *c, rvm_cuda_array **to, const void *from, size_t n) {
    rvm_error e;
    cr_assert(!rvm_cuda_array_new(c, n, to, &e), "%s", e.message);
    cr_assert(!rvm_cuda_array_upload(*to, 0, n, from, &e));
    return reals(rvm_cuda_array_data(*to), (int64_t)n);
}

static void run_with(fixture *f, rvm_arg x) {
    rvm_arg a[9];
    fill(&f->d);
    bind_work(&f->d, a);
    a[7] = x;
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "work"), a, 9, &f->e), "%s", f->e.message);
    f->d.s = a[0].value.f, f->d.t = a[1].value.f;
}

static void expect_work(fixture *f, double *x, rvm_arg there) {
    static data got;
    fixture *host = begin(false);
    run_with(f, there);
    got = f->d;
    run_with(host, reals(x, N));
    expect_same(&got, &host->d, "arrays that stay");
    end(host);
}

/* What is only read is copied to the others once; and again when it has changed. */
Test(cuda_stays, arrays_that_are_read_stay) {
    static double x[N];
    rvm_cuda_array *stays, *wrapped;
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    for (int i = 0; i < N; i++) x[i] = cos(i);
    const rvm_arg a = on_device(f->c, &stays, x, N);
    expect_work(f, x, a), expect_work(f, x, a);
    cr_assert_eq(totals(f).split, 2, "%s", totals(f).why_one);
    cr_assert_eq(totals(f).across, (DEVICES - 1) * sizeof x);
    x[2200] = 5;
    cr_assert(!rvm_cuda_array_upload(stays, 2200, 1, &x[2200], &f->e));
    expect_work(f, x, a);
    cr_assert_eq(totals(f).across, 2 * (DEVICES - 1) * sizeof x);
    cr_assert(!rvm_cuda_array_wrap(f->c, rvm_cuda_array_pointer(stays), N, &wrapped, &f->e));
    const rvm_arg w = reals(rvm_cuda_array_data(wrapped), N);
    expect_work(f, x, w);
    x[2300] = 6; /* by the caller, unseen */
    cr_assert(!rvm_cuda_array_upload(stays, 2300, 1, &x[2300], &f->e));
    expect_work(f, x, w);
    rvm_cuda_array_free(wrapped), rvm_cuda_array_free(stays);
    end(f);
}

/* What is changed is so on the first device; and is then seen by the others, by the next block and the next run. */
Test(cuda_stays, arrays_that_change_stay_on_the_first) {
    static double y[N], got[N];
    rvm_cuda_array *out, *x;
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {on_device(f->c, &out, y, N), on_device(f->c, &x, f->d.x, N), numbers(f->d.k, N)};
    for (int times = 1; times <= 3; times++) {
        cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e), "%s", f->e.message);
        cr_assert(totals(f).split == totals(f).blocks, "%s", totals(f).why_one);
        cr_assert(!rvm_cuda_array_download(out, 0, N, got, &f->e));
        for (int i = 0; i < N; i++) y[i] += 3 * (2 * f->d.x[f->d.k[i]]);
        cr_assert(!memcmp(got, y, sizeof y), "%d", times);
    }
    expect_work(f, got, a[0]);
    cr_assert_eq(totals(f).split, 7);
    rvm_cuda_array_free(out), rvm_cuda_array_free(x);
    end(f);
}

/* ---- all that fn work changes stays: bits are the host's ---- */

typedef struct arrays {
    rvm_cuda_array *out, *both, *h, *q; /* both: y, z */
} arrays;

static void put_there(fixture *f, arrays *t, rvm_arg *a) {
    double both[2 * N];
    memcpy(both, f->d.y, N * sizeof *both), memcpy(both + N, f->d.z, N * sizeof *both);
    bind_work(&f->d, a);
    a[2] = on_device(f->c, &t->out, f->d.out, M);
    on_device(f->c, &t->both, both, 2 * N);
    double *const y = rvm_cuda_array_data(t->both);
    a[3] = reals(y, N), a[4] = reals(y + N, N);
    on_device(f->c, &t->h, f->d.h, M), on_device(f->c, &t->q, f->d.q, N);
    a[5] = numbers(rvm_cuda_array_data(t->h), M), a[6] = numbers(rvm_cuda_array_data(t->q), N);
}

/* Into f->d; false: they are lost. */
static bool fetch(fixture *f, arrays *t) {
    const bool good =
        !rvm_cuda_array_download(t->out, 0, M, f->d.out, &f->e) && !rvm_cuda_array_download(t->both, 0, N, f->d.y, &f->e) &&
        !rvm_cuda_array_download(t->both, N, N, f->d.z, &f->e) && !rvm_cuda_array_download(t->h, 0, M, f->d.h, &f->e) &&
        !rvm_cuda_array_download(t->q, 0, N, f->d.q, &f->e);
    rvm_cuda_array_free(t->out), rvm_cuda_array_free(t->both), rvm_cuda_array_free(t->h), rvm_cuda_array_free(t->q);
    return good;
}

static rvm_status run_bound(fixture *f, rvm_arg *a, bool backward) {
    rvm_status st = rvm_machine_bind(f->m, rvm_program_find(f->p, "work"), a, 9, RVM_PRIMAL, backward, &f->e);
    if (!st) st = backward ? rvm_machine_backward(f->m, &f->e) : rvm_machine_forward(f->m, &f->e);
    rvm_machine_unbind(f->m);
    f->d.s = a[0].value.f, f->d.t = a[1].value.f;
    return st;
}

/* On the host; what is given is what fill() gives. */
static void run_on_host(data out[2]) {
    for (int back = 0; back < 2; back++) {
        rvm_arg a[9];
        fixture *f = begin(false);
        bind_work(&f->d, a);
        cr_assert(!run_bound(f, a, back));
        out[back] = f->d;
        end(f);
    }
}

Test(cuda_stays, same_bits) {
    static data host[2];
    run_on_host(host);
    for (int n = 1; n <= 4; n++)
        for (int back = 0; back < 2; back++) {
            arrays t;
            rvm_arg a[9];
            fixture *f = begin(false);
            cr_assert(!open_devices(f, n, 0));
            put_there(f, &t, a);
            cr_assert(!run_bound(f, a, back), "%s", f->e.message);
            const rvm_cuda_totals did = totals(f);
            cr_assert(did.blocks == 1 && !did.on_host && did.split == (n > 1), "%d: %s%s", n, did.why, did.why_one);
            cr_assert(fetch(f, &t));
            expect_same(&f->d, &host[back], back ? "backward" : "forward");
            end(f);
        }
}

/* A device that fails leaves nothing half-changed. */
static void fail_each(const char *function, int most) {
    static const int of[DEVICES] = {2, 0, 3};
    static data host[2];
    run_on_host(host);
    for (int k = 1; k <= most; k++)
        for (int d = TRY_ONE_IN > 1 ? k % DEVICES : 0; d < DEVICES; d += TRY_ONE_IN) {
            arrays t;
            rvm_arg a[9];
            char asked[60];
            snprintf(asked, sizeof asked, "%s:%d:%d", function, k, of[d]);
            fixture *f = begin(false);
            cr_assert(!open_devices(f, DEVICES, 0));
            put_there(f, &t, a);
            setenv("RVM_GRID_FAIL", asked, 1);
            setenv("RVM_GRID_RESET", "1", 1);
            const bool back = k % 2;
            cr_assert(!run_bound(f, a, back), "%s: %s", asked, f->e.message);
            unsetenv("RVM_GRID_FAIL");
            cr_assert(fetch(f, &t), "%s: %s", asked, f->e.message);
            expect_same(&f->d, &host[back], asked);
            end(f);
        }
}

Test(cuda_stays, out_of_memory) {
    fail_each("allocate", 24);
}
Test(cuda_stays, a_launch_fails) {
    fail_each("launch", 10);
}
Test(cuda_stays, an_upload_fails) {
    fail_each("upload", 14);
}
Test(cuda_stays, a_download_fails) {
    fail_each("download", 22);
}
Test(cuda_stays, a_copy_across_fails) {
    fail_each("copy_across", 8);
}

/* ---- large ones: parts that one device has changed go to the first; few others come to the host ---- */

static const char steps[] = "fn steps(out: real[m], y: real[n], x: real[n])\n"
                            "    parallel i in 0..n\n"
                            "        y[i] += 2 * x[i]\n"
                            "        for j in 0..m\n"
                            "            out[j] += x[i] * (j + 1)\n"
                            "        end\n"
                            "    end\n"
                            "    parallel i in 0..n\n"
                            "        y[n - 1 - i] *= 1 + x[i] * x[i]\n"
                            "    end\n"
                            "    parallel i in 0..n // 1000\n"
                            "        y[i] += 1\n"
                            "    end\n"
                            "end\n"
                            "fn pieces(y: real[n], x: real[n])\n"
                            "    parallel i in 0..n\n"
                            "        y[i] += 2 * x[i]\n" LASTING("y[i] += 1\n") "    end\n"
                                                                                "end\n";

static fixture *begin_steps(int devices, bool fast) {
    fixture *f = begin_program(steps, fast);
    cr_assert(!open_devices(f, devices, 0));
    return f;
}

static rvm_cuda_totals run_steps(int n, bool fast, bool back, double *out, double *y) {
    static double x[LONG];
    rvm_cuda_array *there[2];
    fixture *f = begin_steps(n, fast);
    for (int i = 0; i < LONG; i++) x[i] = sin(i) * exp(i % 40 - 20), y[i] = i;
    for (int j = 0; j < M; j++) out[j] = j;
    rvm_arg a[3] = {on_device(f->c, &there[0], out, M), on_device(f->c, &there[1], y, LONG), reals(x, LONG)};
    cr_assert(!rvm_machine_bind(f->m, rvm_program_find(f->p, "steps"), a, 3, RVM_PRIMAL, back, &f->e));
    cr_assert(!(back ? rvm_machine_backward : rvm_machine_forward)(f->m, &f->e), "%s", f->e.message);
    rvm_machine_unbind(f->m);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 3 && !t.on_host && t.split == (n > 1 ? 2 : 0), "%s%s", t.why, t.why_one);
    cr_assert(!rvm_cuda_array_download(there[0], 0, M, out, &f->e) && !rvm_cuda_array_download(there[1], 0, LONG, y, &f->e));
    rvm_cuda_array_free(there[0]), rvm_cuda_array_free(there[1]);
    end(f);
    return t;
}

Test(cuda_stays, large_arrays) {
    enum { PART = 1 << 16, Y = LONG * 8 };
    static double out[2][M], y[2][LONG];
    if (TRY_ONE_IN > 1) return; /* in kernels, which are compiled without */
    for (int way = 0; way < 4; way++) {
        const bool fast = way & 1, back = way & 2;
        const uint64_t one = run_steps(1, fast, back, out[0], y[0]).downloaded;
        const rvm_cuda_totals t = run_steps(DEVICES, fast, back, out[1], y[1]);
        cr_assert(!memcmp(out[0], out[1], sizeof *out) && !memcmp(y[0], y[1], sizeof *y), "%d", way);
        cr_assert(y[0][0] != 0 && out[0][1] != 1);
        cr_assert_lt(one, PART / 2);
        if (fast) continue; /* each has some of each 65,536 instances */
        cr_assert_lt(t.downloaded, 14 * PART, "%llu", (unsigned long long)t.downloaded);
        cr_assert_lt(t.across, 6 * Y, "%llu", (unsigned long long)t.across); /* of which 4 to the others */
    }
}

/* With gaps, which kernels do not know: the host runs the blocks. */
Test(cuda_stays, strides) {
    enum { FEW = 64 };
    static double y[2 * FEW], got[2 * FEW], x[FEW], out[M];
    rvm_cuda_array *there;
    fixture *f = begin_steps(1, false);
    for (int i = 0; i < 2 * FEW; i++) y[i] = i, x[i / 2] = 1. / (i / 2 + 1);
    on_device(f->c, &there, y, 2 * FEW);
    rvm_arg a[3] = {reals(out, M), reals(rvm_cuda_array_data(there), FEW), reals(x, FEW)};
    a[1].stride[0] = 2;
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "steps"), a, 3, &f->e), "%s", f->e.message);
    cr_assert(!rvm_cuda_array_download(there, 0, 2 * FEW, got, &f->e));
    for (int i = 0; i < FEW; i++) {
        const double last = x[FEW - 1 - i];
        cr_assert_eq(got[2 * i], (y[2 * i] + 2 * x[i]) * (1 + last * last), "%d: %g", i, got[2 * i]);
        cr_assert_eq(got[2 * i + 1], y[2 * i + 1]);
    }
    rvm_cuda_array_free(there);
    end(f);
}

/* Elements in no order: gains of all devices are added; whole numbers, so that no order counts. */
Test(cuda_stays, indexed_sums) {
    double out[3] = {1, 2, 3}, expected[3] = {1, 2, 3};
    rvm_cuda_array *there;
    fixture *f = begin(true);
    cr_assert(!open_devices(f, DEVICES, 0));
    for (int i = 0; i < N; i++) f->d.k[i] = i % 2, expected[i % 2] += f->d.x[i] = i % 9;
    rvm_arg a[3] = {on_device(f->c, &there, out, 3), reals(f->d.x, N), numbers(f->d.k, N)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "scatter"), a, 3, &f->e), "%s", f->e.message);
    cr_assert_eq(totals(f).split, 1, "%s", totals(f).why_one);
    cr_assert(!rvm_cuda_array_download(there, 0, 3, out, &f->e) && !memcmp(out, expected, sizeof out));
    rvm_cuda_array_free(there);
    end(f);
}

/* ---- one device: a call behind the kernel fails, and the device lives on, or does not ---- */

static const char apart[] = "fn sum(s: real, y: real[n])\n"
                            "    parallel i in 0..n\n"
                            "        y[i] += 1\n"
                            "        s += 0.5\n"
                            "    end\n"
                            "end\n"
                            "fn plain(s: real, y: real[n])\n"
                            "    parallel i in 0..n\n"
                            "        y[i] += 1\n"
                            "    end\n"
                            "end\n";

/* All of y, which stays, is 1 then, or the call says that it failed. Of a device that lives y is not lost if `kept`. */
static void fail_behind(const char *fn, const char *asked, const char *error, bool kept) {
    static double y[N];
    rvm_cuda_array *there;
    fixture *f = begin_program(apart, false);
    cr_assert(!open_devices(f, 1, 0));
    memset(y, 0, sizeof y);
    rvm_arg a[2] = {rvm_arg_f64(0), on_device(f->c, &there, y, N)};
    setenv("RVM_GRID_FAIL", asked, 1), setenv("RVM_GRID_ERROR", error, 1), setenv("RVM_GRID_RESET", "1", 1);
    const rvm_status st = rvm_call(f->m, rvm_program_find(f->p, fn), a, 2, &f->e);
    unsetenv("RVM_GRID_FAIL");
    const rvm_status got = rvm_cuda_array_download(there, 0, N, y, &f->e);
    cr_assert(!kept || (!st && !got), "%s %s: %s", fn, asked, f->e.message);
    cr_assert(!st || (st == RVM_ERR_UNSUPPORTED && got == st), "%s %s: %s", fn, asked, f->e.message);
    for (int i = 0; i < N && !got; i++) cr_assert_eq(y[i], 1, "%s %s, %s: %g", fn, asked, error, y[i]);
    rvm_cuda_array_free(there);
    end(f);
}

Test(cuda_stays, what_a_kernel_changed_is_taken_back) {
    static const char *const of_sum[] = {"launch:1", "launch:2", "download:1", "download:2", "copy:1"};
    static const char *const errors[] = {"701", "719"}; /* of the first a device recovers */
    for (size_t k = 0; k < sizeof of_sum / sizeof *of_sum; k++)
        for (int e = 0; e < 2; e++) fail_behind("sum", of_sum[k], errors[e], true);
    for (int e = 0; e < 2; e++) fail_behind("plain", "launch:1", errors[e], true);
}

Test(cuda_stays, what_cannot_be_taken_back_is_lost) {
    fail_behind("plain", "download:1", "701", false);
    fail_behind("plain", "download:1", "719", false);
}

/* ---- what ends before all instances are done has changed nothing on devices ---- */

/* fn chain, whose instance `bad` fails, or whose fuel runs out; 0 devices: the host. */
static rvm_status end_early(int devices, int bad, uint64_t fuel, double *out, const char *why) {
    rvm_options o = rvm_options_default();
    rvm_cuda_array *there;
    rvm_arg a[3];
    o.unchecked = true; /* but for indices */
    o.fuel = fuel;
    fixture *f = begin_with(false, &o);
    cr_assert(!devices || !open_devices(f, devices, 0));
    for (int i = 0; i < N; i++) out[i] = 1. / (i + 1);
    if (bad >= 0) f->d.k[bad] = N;
    a[0] = devices ? on_device(f->c, &there, out, N) : reals(out, N);
    a[1] = reals(f->d.x, N), a[2] = numbers(f->d.k, N);
    const rvm_status st = rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e);
    if (devices) {
        cr_assert(strstr(totals(f).why, why), "%s", totals(f).why);
        cr_assert(!rvm_cuda_array_download(there, 0, N, out, &f->e));
        rvm_cuda_array_free(there);
    }
    end(f);
    return st;
}

Test(cuda_stays, an_instance_fails) {
    static double host[N], some[N];
    for (int bad = 0; bad < N; bad += 624) {
        const rvm_status st = end_early(0, bad, 0, host, "");
        cr_assert(st == RVM_ERR_INDEX && end_early(DEVICES, bad, 0, some, "an instance fails") == st);
        cr_assert(!memcmp(host, some, sizeof host), "%d", bad);
    }
}

Test(cuda_stays, cancelled) {
    static double y[LONG], x[LONG];
    rvm_cuda_array *there;
    fixture *f = begin_steps(DEVICES, false);
    for (int i = 0; i < LONG; i++) y[i] = i, x[i] = 1;
    rvm_arg a[2] = {on_device(f->c, &there, y, LONG), reals(x, LONG)};
    cancel_in_launch(f, "2");
    cr_assert_eq(rvm_call(f->m, rvm_program_find(f->p, "pieces"), a, 2, &f->e), RVM_ERR_CANCELLED);
    cr_assert(strstr(totals(f).why, "it is cancelled") && !totals(f).blocks, "%s", totals(f).why);
    cr_assert(!rvm_cuda_array_download(there, 0, LONG, y, &f->e));
    for (int i = 0; i < LONG; i++) cr_assert_eq(y[i], i);
    rvm_cuda_array_free(there);
    end(f);
}

Test(cuda_stays, fuel) {
    static double one[N], some[N];
    const uint64_t fuel = 4 * N; /* it ends in the second block */
    cr_assert_eq(end_early(1, -1, fuel, one, "fuel runs out"), RVM_ERR_FUEL);
    cr_assert_eq(end_early(DEVICES, -1, fuel, some, "fuel runs out"), RVM_ERR_FUEL);
    cr_assert(!memcmp(one, some, sizeof one) && one[1] != .5 && one[N - 1] == 1. / N);
}

/* ---- local arrays ---- */

/* A local array changes, and others read it. */
Test(cuda_stays, local_arrays) {
    static double out[N];
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), numbers(f->d.k, N)};
    for (int k = 1; k <= 2; k++) {
        cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e), "%s", f->e.message);
        for (int i = 0; i < N; i++) cr_assert_eq(out[i], k * (3 * (2 * f->d.x[f->d.k[i]])), "%d: %.17g", i, out[i]);
    }
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 4 && t.split == 4, "%s", t.why_one);
    cr_assert_eq(t.across, 2 * 3 * (DEVICES - 1) * sizeof out); /* t, then t and u */
    end(f);
}

/* One that changes again after others have read it. */
Test(cuda_stays, local_arrays_change_again) {
    static double out[N];
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    for (int i = 0; i < N; i++) f->d.x[i] = i % 100;
    rvm_arg a[2] = {reals(out, N), reals(f->d.x, N)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "twice"), a, 2, &f->e), "%s", f->e.message);
    for (int i = 0; i < N; i++) cr_assert_eq(out[N - 1 - i], 3 * f->d.x[i], "%d: %.17g", i, out[N - 1 - i]);
    const rvm_cuda_totals t = totals(f);
    cr_assert(!t.on_host && t.split == t.blocks, "%s%s", t.why, t.why_one);
    end(f);
}

/* Also where the host changes it: what instances add there has the order of the instances. */
Test(cuda_stays, local_arrays_change_on_the_host) {
    static double out[N];
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    for (int i = 0; i < N; i++) f->d.x[i] = i % 100;
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), numbers(f->d.k, N)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "mixed"), a, 3, &f->e), "%s", f->e.message);
    for (int i = 0; i < N; i++) out[f->d.k[i]] -= f->d.x[i];
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], 2 * f->d.x[i], "%d: %.17g", i, out[i]);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.on_host && t.split == t.blocks, "%s%s", t.why, t.why_one);
    end(f);
}

/* What the others hold of it is given back with it. */
Test(cuda_stays, local_arrays_leave_nothing) {
    enum { RUNS = 40 };
    static double out[N];
    fixture *f = begin(false);
    setenv("RVM_GRID_MEMORY", "800000", 1);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), numbers(f->d.k, N)};
    for (int k = 0; k < RUNS; k++)
        cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e), "%s", f->e.message);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 2 * RUNS && t.split == 2 * RUNS, "%s%s", t.why, t.why_one);
    end(f);
}

/* Where the others do not get it the first device does all. */
Test(cuda_stays, copies_do_not_arrive) {
    static double out[N];
    fixture *f = begin(false);
    setenv("RVM_GRID_FAIL", "copy_across:2", 1);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), numbers(f->d.k, N)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e), "%s", f->e.message);
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], 3 * (2 * f->d.x[f->d.k[i]]));
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 2 && !t.on_host && t.split == 1, "%s", t.why);
    cr_assert(strstr(t.why_one, "an array is copied to it from another one"), "%s", t.why_one);
    end(f);
}
