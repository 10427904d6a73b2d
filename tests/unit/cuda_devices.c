/* cuda_devices.c: blocks on several devices, by what stands in for a driver (tests/grid), whose devices have memory of their
 * own: what they give is what one gives, bit for bit. */
#include "cuda_devices.h"

static rvm_status run_work(fixture *f, bool backward) {
    rvm_arg a[9];
    bind_work(&f->d, a);
    rvm_status st = rvm_machine_bind(f->m, rvm_program_find(f->p, "work"), a, 9, RVM_PRIMAL, backward, &f->e);
    if (!st) st = backward ? rvm_machine_backward(f->m, &f->e) : rvm_machine_forward(f->m, &f->e);
    rvm_machine_unbind(f->m);
    f->d.s = a[0].value.f, f->d.t = a[1].value.f;
    return st;
}

/* ---- the same bits ---- */

/* There and back, on n devices; 0: the host. */
static void run_both(data out[2], int n) {
    fixture *f = begin(false);
    cr_assert(!n || !open_devices(f, n, 0), "%s", f->e.message);
    for (int back = 0; back < 2; back++) {
        cr_assert(!run_work(f, back), "%s", f->e.message);
        out[back] = f->d;
    }
    const rvm_cuda_totals t = n ? totals(f) : (rvm_cuda_totals){0};
    if (n) cr_assert(t.blocks == 2 && !t.on_host && t.split == (n > 1 ? 2 : 0), "%d: %s%s", n, t.why, t.why_one);
    end(f);
}

Test(cuda_devices, same_bits) {
    static data host[2], one[2], some[2];
    run_both(host, 0);
    run_both(one, 1);
    for (int back = 0; back < 2; back++) expect_same(&one[back], &host[back], "one device and the host");
    for (int n = 2; n <= 4; n++) {
        run_both(some, n);
        for (int back = 0; back < 2; back++) expect_same(&some[back], &one[back], back ? "backward" : "forward");
    }
}

/* The adjoint sums what the block reads. */
static void run_gradient(int n, double *w_b, double *x_b) {
    fixture *f = begin(false);
    rvm_arg a[9];
    cr_assert(!open_devices(f, n, 0));
    bind_work(&f->d, a);
    static double out_b[M], y_b[N], z_b[N];
    for (int i = 0; i < N; i++) f->d.x[i] = sin(i);
    memset(w_b, 0, M * sizeof *w_b), memset(x_b, 0, N * sizeof *x_b);
    memset(y_b, 0, sizeof y_b), memset(z_b, 0, sizeof z_b);
    for (int j = 0; j < M; j++) out_b[j] = j + .5;
    double *const shadows[9] = {NULL, NULL, out_b, y_b, z_b, NULL, NULL, x_b, w_b};
    for (int k = 0; k < 9; k++) a[k].active = k < 2 || shadows[k], a[k].shadow_data = shadows[k];
    a[0].shadow.f = 1;
    cr_assert(!rvm_gradient(f->m, rvm_program_find(f->p, "work"), a, 9, &f->e), "%s", f->e.message);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks && !t.on_host && (n == 1 || t.split == t.blocks), "%s%s", t.why, t.why_one);
    end(f);
}

Test(cuda_devices, gradients) {
    static double w_b[2][M], x_b[2][N];
    run_gradient(1, w_b[0], x_b[0]);
    run_gradient(DEVICES, w_b[1], x_b[1]);
    cr_assert(w_b[0][0] != 0 && !memcmp(w_b[0], w_b[1], sizeof *w_b) && !memcmp(x_b[0], x_b[1], sizeof *x_b));
}

/* Copies for warps: several rounds of them. pieces: as if an instance took so long that they run in several pieces. */
#define DOTS(name, more)                                                                                                    \
    "fn " name "(out: real[m], y: real[n], x: real[n])\n"                                                                   \
    "    parallel i in 0..n\n"                                                                                              \
    "        y[i] += 2 * x[i]\n"                                                                                            \
    "        for j in 0..m\n"                                                                                               \
    "            out[j] += x[i] * (j + 1)\n"                                                                                \
    "        end\n" more "    end\n"                                                                                        \
    "end\n"
static const char dots[] = DOTS("dots", "") DOTS("pieces", LASTING("y[i] += 1\n"));

/* On n devices. */
static fixture *begin_dots(int n, const char *fn, bool backward, double *out, double *y) {
    static double x[LONG];
    static rvm_arg a[3];
    fixture *f = begin_program(dots, true);
    cr_assert(!open_devices(f, n, 0));
    for (int i = 0; i < LONG; i++) x[i] = sin(i) * exp(i % 40 - 20), y[i] = i;
    for (int j = 0; j < M; j++) out[j] = j;
    a[0] = reals(out, M), a[1] = reals(y, LONG), a[2] = reals(x, LONG);
    cr_assert(!rvm_machine_bind(f->m, rvm_program_find(f->p, fn), a, 3, RVM_PRIMAL, backward, &f->e));
    return f;
}

static void run_dots(int n, bool backward, bool pieces, double *out, double *y) {
    fixture *f = begin_dots(n, pieces ? "pieces" : "dots", backward, out, y);
    cr_assert(!(backward ? rvm_machine_backward : rvm_machine_forward)(f->m, &f->e), "%s", f->e.message);
    const rvm_cuda_totals t = totals(f);
    const bool split = n > 1 && !getenv("RVM_GRID_FAIL");
    cr_assert(t.blocks == 1 && !t.on_host && t.split == split, "%s%s", t.why, t.why_one);
    if (n > 1) cr_assert_lt(t.downloaded, 2 * LONG * sizeof *y); /* of y, each what it changed */
    if (n == 1) cr_assert(pieces ? t.launches > 1 : t.launches == 1);
    end(f);
}

Test(cuda_devices, copies_of_warps) {
    static double out[2][M], y[2][LONG];
    if (TRY_ONE_IN > 1) return; /* a minute under sanitizers, in kernels, which are compiled without */
    for (int way = 0; way < 4; way++) {
        const bool back = way & 1, pieces = way & 2;
        run_dots(1, back, false, out[0], y[0]);
        run_dots(1 + DEVICES * !pieces, back, pieces, out[1], y[1]);
        cr_assert(!memcmp(out[0], out[1], sizeof *out) && !memcmp(y[0], y[1], sizeof *y), "%d", way);
        cr_assert(out[0][1] != 1);
    }
}

/* Where these cannot be brought together one device does all. */
Test(cuda_devices, copies_of_warps_do_not_arrive) {
    static double out[2][M], y[2][LONG];
    run_dots(1, false, false, out[0], y[0]);
    setenv("RVM_GRID_FAIL", "copy_across:2", 1);
    run_dots(DEVICES, false, false, out[1], y[1]);
    cr_assert(!memcmp(out[0], out[1], sizeof *out) && !memcmp(y[0], y[1], sizeof *y));
}

/* Elements in no order: gains of all devices are added. */
Test(cuda_devices, indexed_sums) {
    double out[3] = {1, 2, 3}, expected[3] = {1, 2, 3};
    fixture *f = begin(true);
    cr_assert(!open_devices(f, DEVICES, 0));
    for (int i = 0; i < N; i++) f->d.k[i] = i % 2, expected[i % 2] += f->d.x[i] = i % 9;
    rvm_arg a[3] = {reals(out, 3), reals(f->d.x, N), numbers(f->d.k, N)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "scatter"), a, 3, &f->e), "%s", f->e.message);
    cr_assert(!memcmp(out, expected, sizeof out)); /* exact */
    cr_assert_eq(totals(f).split, 1, "%s", totals(f).why_one);
    end(f);
}

/* ---- how many ---- */

/* Each is to have work enough. */
Test(cuda_devices, small_blocks_are_of_one) {
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 50000) && !run_work(f, false));
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 1 && !t.split && strstr(t.why_one, "line 2: it is too small for several devices"), "%s",
              t.why_one);
    end(f);
}

static void expect_refused(const int *list, int n, rvm_status code, const char *said) {
    rvm_cuda_options o = rvm_cuda_options_default();
    rvm_cuda *c = NULL;
    rvm_error e = {0};
    o.devices = list;
    o.ndevices = n;
    cr_assert_eq(rvm_cuda_new(&o, &c, &e), code);
    cr_assert(!c && strstr(e.message, said), "%s", e.message);
}

Test(cuda_devices, lists) {
    rvm_cuda_options o = rvm_cuda_options_default();
    int got[4] = {9, 9, 9, 9};
    rvm_error e;
    rvm_cuda *c;
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    setenv("RVM_GRID_DEVICES", "4", 1);
    expect_refused((int[]){1, 4}, 2, RVM_ERR_USAGE, "no device 4: there are 4");
    expect_refused((int[]){1, 0, 1}, 3, RVM_ERR_USAGE, "device 1 is named twice");
    expect_refused((int[]){1}, 17, RVM_ERR_USAGE, "17 devices: there may be 16");
    expect_refused((int[]){1}, -2, RVM_ERR_USAGE, "-2 devices");
    expect_refused(NULL, 2, RVM_ERR_USAGE, "there is no list");
    o.ndevices = RVM_CUDA_ALL_DEVICES;
    cr_assert(!rvm_cuda_new(&o, &c, &e));
    cr_assert_eq(rvm_cuda_devices(c, got, 3), 4);
    cr_assert(got[0] == 0 && got[1] == 1 && got[2] == 2 && got[3] == 9);
    rvm_cuda_free(c);
    setenv("RVM_GRID_DEVICES", "20", 1);
    cr_assert(!rvm_cuda_new(&o, &c, &e) && rvm_cuda_devices(c, NULL, 0) == RVM_CUDA_MAX_DEVICES);
    rvm_cuda_free(c);
    setenv("RVM_GRID_MAJOR", "6", 1);
    expect_refused(NULL, RVM_CUDA_ALL_DEVICES, RVM_ERR_UNSUPPORTED, "7.5 is the least that will do");
    setenv("RVM_GRID_DEVICES", "0", 1);
    expect_refused(NULL, RVM_CUDA_ALL_DEVICES, RVM_ERR_UNSUPPORTED, "there is no CUDA device");
}

/* ---- faults: what a block gives is what it gives without a device ---- */

static void fail_each(const char *function, int most) {
    static const int of[DEVICES] = {2, 0, 3};
    static data expected[2];
    run_both(expected, 0);
    for (int k = 1; k <= most; k++)
        for (int d = TRY_ONE_IN > 1 ? k % DEVICES : 0; d < DEVICES; d += TRY_ONE_IN) {
            char asked[60];
            snprintf(asked, sizeof asked, "%s:%d:%d", function, k, of[d]);
            fixture *f = begin(false);
            setenv("RVM_GRID_FAIL", asked, 1);
            setenv("RVM_GRID_RESET", "1", 1);
            if (!open_devices(f, DEVICES, 0))
                for (int back = 0; back < 2; back++) {
                    cr_assert(!run_work(f, back), "%s", f->e.message);
                    expect_same(&f->d, &expected[back], asked);
                }
            unsetenv("RVM_GRID_FAIL");
            end(f);
        }
}

Test(cuda_devices, out_of_memory) {
    fail_each("allocate", 16);
}
Test(cuda_devices, a_launch_fails) {
    fail_each("launch", 6);
}
Test(cuda_devices, an_upload_fails) {
    fail_each("upload", 14);
}
Test(cuda_devices, a_download_fails) {
    fail_each("download", 14);
}

/* After a fault of one device another runs the block, and the rest runs on those that are left. */
static void lose(int device, uint64_t split) {
    static data expected[2];
    char asked[40];
    run_both(expected, 0);
    fixture *f = begin(false);
    cr_assert(!open_devices(f, 2, 0));
    snprintf(asked, sizeof asked, "launch:1:%d", device);
    setenv("RVM_GRID_FAIL", asked, 1);
    setenv("RVM_GRID_RESET", "1", 1);
    for (int back = 0; back < 2; back++) {
        cr_assert(!run_work(f, back), "%s", f->e.message);
        expect_same(&f->d, &expected[back], asked);
    }
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 2 && !t.on_host && t.split == split, "%s", t.why);
    cr_assert(strstr(t.why_one, "line 2: the device fails when a kernel is launched"), "%s", t.why_one);
    end(f);
}

Test(cuda_devices, one_is_lost) {
    lose(0, 0);
}
Test(cuda_devices, the_first_is_lost) {
    lose(2, 0);
}

/* In tries for want of room: what the control block of one that did not get to begin says is of an earlier try, and whoever
 * is lost takes no part in the next. */
static void lose_in_a_try(const char *function, int call, int device) {
    static double out[N];
    char asked[40];
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), rvm_arg_i64(700)};
    memset(out, 0, sizeof out);
    snprintf(asked, sizeof asked, "%s:%d:%d", function, call, device);
    setenv("RVM_GRID_FAIL", asked, 1);
    setenv("RVM_GRID_RESET", "1", 1);
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "sized"), a, 3, &f->e), "%s: %s", asked, f->e.message);
    unsetenv("RVM_GRID_FAIL");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], f->d.x[i] * 699, "%s", asked);
    cr_assert_eq(totals(f).on_host, 0, "%s: %s", asked, totals(f).why);
    end(f);
}

Test(cuda_devices, lost_while_others_find_no_room) {
    static const int of[DEVICES] = {2, 0, 3};
    for (int d = 0; d < DEVICES; d++) {
        for (int k = 1; k <= 6; k++) lose_in_a_try("upload", k, of[d]);
        for (int k = 1; k <= 4; k++) lose_in_a_try("download", k, of[d]);
        for (int k = 1; k <= 2; k++) lose_in_a_try("launch", k, of[d]);
    }
}

/* ---- failures of instances ---- */

/* `chain`, whose instance `bad` fails, on several devices and on the host. */
static void run_chain(fixture *f, int bad, double *out, rvm_status *st) {
    rvm_options checked = rvm_options_default();
    rvm_machine_free(f->m);
    checked.unchecked = true; /* but for indices */
    cr_assert(!rvm_machine_new(f->p, &checked, &f->m, &f->e) && !rvm_jit_attach(f->j, f->m, &f->e));
    if (f->c) cr_assert(!rvm_cuda_attach(f->c, f->m, &f->e));
    memset(out, 0, N * sizeof *out);
    f->d.k[bad] = N;
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), numbers(f->d.k, N)};
    *st = rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e);
}

Test(cuda_devices, an_instance_fails) {
    static double host[N], there[N];
    for (int bad = 0; bad < N; bad += 624) {
        fixture *f = begin(false);
        rvm_status st[2];
        run_chain(f, bad, host, &st[0]);
        const unsigned line = f->e.line;
        end(f);
        f = begin(false);
        cr_assert(!open_devices(f, DEVICES, 0));
        run_chain(f, bad, there, &st[1]);
        cr_assert(st[0] == RVM_ERR_INDEX && st[1] == RVM_ERR_INDEX && f->e.line == line);
        cr_assert(!memcmp(host, there, sizeof host));
        cr_assert(strstr(totals(f).why, "an instance fails"), "%s", totals(f).why);
        end(f);
    }
}

/* Between pieces, and nothing that devices did counts. */
Test(cuda_devices, cancelled) {
    static double out[M], y[LONG];
    fixture *f = begin_dots(DEVICES, "pieces", false, out, y);
    cancel_in_launch(f, "2");
    cr_assert_eq(rvm_machine_forward(f->m, &f->e), RVM_ERR_CANCELLED);
    cr_assert(strstr(totals(f).why, "it is cancelled") && !totals(f).blocks, "%s", totals(f).why);
    cr_assert_eq(y[LONG - 1], LONG - 1);
    end(f);
}

Test(cuda_devices, fuel) {
    static data before;
    rvm_options o = unchecked();
    o.fuel = 1000;
    fixture *f = begin_with(false, &o);
    cr_assert(!open_devices(f, DEVICES, 0));
    before = f->d;
    cr_assert_eq(run_work(f, false), RVM_ERR_FUEL);
    cr_assert(strstr(totals(f).why, "fuel runs out"), "%s", totals(f).why);
    cr_assert(!memcmp(&before.y[300], &f->d.y[300], (N - 300) * sizeof(double))); /* of which the host has done some */
    end(f);
}

/* As much is charged as by one. */
Test(cuda_devices, counts) {
    uint64_t executed[2];
    for (int k = 0; k < 2; k++) {
        fixture *f = begin(false);
        cr_assert(!open_devices(f, k ? DEVICES : 1, 0) && !run_work(f, false));
        rvm_stats s;
        rvm_machine_stats(f->m, &s);
        executed[k] = s.forward;
        end(f);
    }
    cr_assert(executed[0] > N && executed[0] == executed[1]);
}

/* Local arrays of a length that is known when it runs only: each device finds out how much they take. */
Test(cuda_devices, local_arrays_find_room) {
    static double out[N];
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {reals(out, N), reals(f->d.x, N), rvm_arg_i64(700)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "sized"), a, 3, &f->e), "%s", f->e.message);
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], f->d.x[i] * 699);
    cr_assert_eq(totals(f).split, 1, "%s", totals(f).why_one);
    end(f);
}
