/* cuda_kept.c: what a derivative saves, compares and gives back of arrays that stay on the device stays there, too. */
#include "cuda_devices.h"

static const char source[] = "fn cost(s: real, y: real[n], q: i64[n], x: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[i] * 3\n"
                             "        q[i] += i\n"
                             "        s += x[i] * x[i] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn rounds(s: real, y: real[n], q: i64[n], x: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[i] * 1e20\n"
                             "        y[i] *= 2\n"
                             "        q[i] += i\n"
                             "    end\n"
                             "    s += 1\n"
                             "end\n"
                             "fn sums(s: real, y: real[n], q: i64[n], x: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[i] * 1e20\n"
                             "        q[i] += i\n"
                             "    end\n"
                             "    parallel i in 0..n\n"
                             "        y[i] -= x[i] * 1e20\n"
                             "    end\n"
                             "end\n"
                             "fn serial(s: real, y: real[n], q: i64[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        y[i] += x[i]\n"
                             "    end\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[i] * 2\n"
                             "        q[i] += i\n"
                             "    end\n"
                             "    s += y[0]\n"
                             "end\n";

/* y, its shadow, q, x, its shadow: on the host and, if there is a device, on that. */
typedef struct arrays {
    double y[N], y_b[N], x[N], x_b[N];
    int64_t q[N];
    rvm_cuda_array *there[5];
    rvm_arg a[4];
} arrays;
typedef rvm_status asks(rvm_machine *m, int64_t fn, rvm_arg *a, uint32_t n, rvm_error *e);

static void *const *parts(arrays *t) {
    static void *to[5];
    to[0] = t->y, to[1] = t->y_b, to[2] = t->q, to[3] = t->x, to[4] = t->x_b;
    return to;
}

static void start(fixture *f, arrays *t, bool fresh) {
    memset(t, 0, sizeof *t);
    for (int i = 0; i < N; i++) t->y[i] = sin(i), t->x[i] = cos(i), t->q[i] = i;
    void *at[5];
    memcpy(at, parts(t), sizeof at);
    for (int k = 0; k < 5 && f->c; k++) {
        cr_assert(!rvm_cuda_array_new(f->c, N, &t->there[k], &f->e));
        cr_assert(!rvm_cuda_array_upload(t->there[k], 0, N, at[k], &f->e));
        at[k] = rvm_cuda_array_data(t->there[k]);
    }
    t->a[0] = rvm_arg_f64(0), t->a[1] = reals(at[0], N), t->a[2] = numbers(at[2], N), t->a[3] = reals(at[3], N);
    t->a[1].shadow_data = at[1], t->a[3].shadow_data = at[4];
    t->a[0].active = t->a[1].active = t->a[3].active = true;
    t->a[0].shadow.f = 1, t->a[1].fresh = fresh;
}

/* What there is on the device; false: it is lost. */
static bool fetch(fixture *f, arrays *t) {
    bool good = true;
    for (int k = 0; k < 5 && f->c; k++) good = !rvm_cuda_array_download(t->there[k], 0, N, parts(t)[k], &f->e) && good;
    return good;
}

static void stop(fixture *f, arrays *t) {
    for (int k = 0; k < 5 && f->c; k++) rvm_cuda_array_free(t->there[k]);
    end(f);
}

static void expect_equal(const arrays *a, const arrays *b, const char *what) {
    cr_assert(a->a[0].value.i == b->a[0].value.i && a->a[0].shadow.i == b->a[0].shadow.i, "%s: s", what);
    cr_assert(!memcmp(a->y, b->y, sizeof a->y) && !memcmp(a->q, b->q, sizeof a->q), "%s: values", what);
    cr_assert(!memcmp(a->x_b, b->x_b, sizeof a->x_b) && !memcmp(a->y_b, b->y_b, sizeof a->y_b), "%s: shadows", what);
}

static fixture *open_on(int devices, const rvm_options *o) {
    fixture *f = begin_of(source, false, o);
    cr_assert(!devices || !open_devices(f, devices, 0));
    return f;
}

/* So many in a row; the last one's status. */
static rvm_status ask(fixture *f, arrays *t, asks *as, const char *fn, int times) {
    rvm_status st = RVM_OK;
    for (int k = 0; k < times && !st; k++) st = as(f->m, rvm_program_find(f->p, fn), t->a, 4, &f->e);
    return st;
}

static asks *const all[] = {rvm_gradient, rvm_value_and_gradient, rvm_sweep, rvm_tangent};

static void expect_same_as_host(asks *as, const char *fn, const rvm_options *o, bool fresh, uint64_t most) {
    enum { TIMES = 3 };
    static arrays host, got;
    fixture *h = open_on(0, o), *f = open_on(1, o);
    start(h, &host, fresh), start(f, &got, fresh);
    const rvm_cuda_totals before = totals(f);
    const rvm_status st = ask(f, &got, as, fn, TIMES);
    const rvm_cuda_totals after = totals(f);
    cr_assert_eq(st, ask(h, &host, as, fn, TIMES), "%s: %d, %s", fn, st, f->e.message);
    cr_assert_leq(after.uploaded - before.uploaded, most, "%s: %llu", fn, (unsigned long long)after.uploaded);
    cr_assert_leq(after.downloaded - before.downloaded, most, "%s: %llu", fn, (unsigned long long)after.downloaded);
    cr_assert(after.blocks >= TIMES || st, "%s: %s", fn, after.why);
    cr_assert(fetch(f, &got));
    expect_equal(&got, &host, fn);
    stop(h, &host), stop(f, &got);
}

Test(cuda_kept, nothing_moves) {
    const rvm_options o = unchecked();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int fresh = 0; fresh < 2; fresh++) expect_same_as_host(all[k], "cost", &o, fresh, 0);
}

/* Limits make it save shadows, too. */
Test(cuda_kept, shadows) {
    rvm_options o = unchecked();
    o.fuel = 1000 * N;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) expect_same_as_host(all[k], "cost", &o, false, 0);
}

Test(cuda_kept, what_serial_code_uses_comes_home) {
    const rvm_options o = unchecked();
    for (size_t k = 0; k < 2; k++) expect_same_as_host(all[k], "serial", &o, false, UINT64_MAX);
}

/* The inputs are given back, and the message names the element as ever. */
Test(cuda_kept, what_does_not_come_back) {
    static const char *const fns[] = {"rounds", "sums"};
    const rvm_options o = unchecked();
    for (int n = 0; n < 4; n++) {
        static arrays host, got;
        fixture *h = open_on(0, &o), *f = open_on(1, &o);
        start(h, &host, false), start(f, &got, false);
        const rvm_status st = ask(f, &got, all[n % 2], fns[n / 2], 1);
        cr_assert(st == RVM_ERR_NOT_RESTORABLE && ask(h, &host, all[n % 2], fns[n / 2], 1) == st, "%d: %s", st,
                  f->e.message);
        cr_assert_str_eq(f->e.message, h->e.message);
        cr_assert(fetch(f, &got));
        expect_equal(&got, &host, fns[n / 2]);
        stop(h, &host), stop(f, &got);
    }
}

/* ---- a bound run that may go back ---- */

static void go(fixture *f, arrays *t, bool detached, int64_t *moved) {
    rvm_cuda_totals before = {0};
    start(f, t, false);
    if (f->c) before = totals(f);
    cr_assert(!rvm_machine_bind(f->m, rvm_program_find(f->p, "cost"), t->a, 4, RVM_PRIMAL, false, &f->e));
    cr_assert(!rvm_machine_forward(f->m, &f->e));
    if (detached) rvm_jit_detach(f->m);
    if (!detached) cr_assert(!rvm_machine_backward(f->m, &f->e), "%s", f->e.message);
    rvm_machine_unbind(f->m);
    if (f->c) *moved = (int64_t)(totals(f).uploaded - before.uploaded + totals(f).downloaded - before.downloaded);
    cr_assert(fetch(f, t));
}

Test(cuda_kept, back_and_forth) {
    static arrays host, got;
    rvm_options o = unchecked();
    o.trail = RVM_TRAIL_KEEP;
    for (int detached = 0; detached < 2; detached++) {
        int64_t moved = 0;
        fixture *h = open_on(0, &o), *f = open_on(1, &o);
        go(h, &host, detached, &moved), go(f, &got, detached, &moved);
        expect_equal(&got, &host, "back and forth");
        if (!detached) cr_assert_eq(moved, 0, "%lld", (long long)moved);
        stop(h, &host), stop(f, &got);
    }
}

/* ---- f32: that elements are rounded to that is found there, too ---- */

Test(cuda_kept, singles) {
    static const char single[] = "fn scale(y: f32[n], x: f32[n])\n"
                                 "    parallel i in 0..n\n"
                                 "        y[i] += x[i] * 3\n"
                                 "    end\n"
                                 "end\n";
    static double x[N], y[N], got[N];
    rvm_cuda_array *there[2];
    const rvm_options o = unchecked();
    fixture *f = begin_of(single, false, &o);
    cr_assert(!open_devices(f, 1, 0));
    for (int i = 0; i < N; i++) x[i] = (double)sinf((float)i);
    for (int k = 0; k < 2; k++) cr_assert(!rvm_cuda_array_new(f->c, N, &there[k], &f->e));
    cr_assert(!rvm_cuda_array_upload(there[1], 0, N, x, &f->e));
    rvm_arg a[2] = {reals(rvm_cuda_array_data(there[0]), N), reals(rvm_cuda_array_data(there[1]), N)};
    a[0].type = a[1].type = RVM_F32;
    for (int times = 0; times < 3; times++) {
        const rvm_cuda_totals before = totals(f);
        cr_assert(!rvm_call(f->m, 0, a, 2, &f->e), "%s", f->e.message);
        cr_assert(totals(f).uploaded == before.uploaded && totals(f).downloaded == before.downloaded);
        for (int i = 0; i < N; i++) y[i] = (double)((float)y[i] + (float)x[i] * 3);
    }
    cr_assert(!rvm_cuda_array_download(there[0], 0, N, got, &f->e) && !memcmp(got, y, sizeof y));
    x[N - 1] = .1;
    cr_assert(!rvm_cuda_array_upload(there[1], 0, N, x, &f->e));
    cr_assert_eq(rvm_call(f->m, 0, a, 2, &f->e), RVM_ERR_ARGUMENT);
    cr_assert(strstr(f->e.message, "not rounded to an f32"), "%s", f->e.message);
    rvm_cuda_array_free(there[0]), rvm_cuda_array_free(there[1]);
    end(f);
}

static rvm_arg on_device(fixture *f, rvm_cuda_array **to, const void *from, int n) {
    cr_assert(!rvm_cuda_array_new(f->c, (size_t)n, to, &f->e), "%s", f->e.message);
    cr_assert(!rvm_cuda_array_upload(*to, 0, (size_t)n, from, &f->e));
    return reals(rvm_cuda_array_data(*to), n);
}

/* ---- a mixture of Gaussians, whose parameters and points stay: few bytes move, and what is small runs there, too, where
 * only the device has what it uses ---- */

enum { K = 25, D = 10, C = D * (D + 1) / 2, POINTS = 1000 };
static const int lengths[] = {K, K *D, K *C, POINTS *D};
typedef struct mixture {
    rvm_cuda_array *there[4], *shadows[3];
    double grad[3][K * C];
    rvm_arg a[7];
} mixture;

static rvm_arg shaped(void *p, int k) {
    static const int64_t shapes[][2] = {{K, 0}, {K, D}, {K, C}, {POINTS, D}};
    return rvm_arg_array_f64(p, k ? 2 : 1, shapes[k]);
}

static void put_mixture(fixture *f, mixture *x, double parameters[4][POINTS * D]) {
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < lengths[k]; i++) parameters[k][i] = (k == 2 ? .3 : 1) * sin(i * 7.3 + k);
        void *p = parameters[k], *b = k < 3 ? memset(x->grad[k], 0, sizeof x->grad[k]) : NULL;
        if (f->c) {
            x->a[k + 1] = on_device(f, &x->there[k], p, lengths[k]), p = x->a[k + 1].data;
            if (k < 3) b = on_device(f, &x->shadows[k], b, lengths[k]).data;
        }
        x->a[k + 1] = shaped(p, k);
        x->a[k + 1].active = k < 3, x->a[k + 1].shadow_data = b;
    }
    x->a[0] = rvm_arg_f64(0), x->a[5] = rvm_arg_f64(1), x->a[6] = rvm_arg_f64(0);
    x->a[0].active = true;
}

static void train(fixture *f, mixture *x, int times) {
    for (int n = 0; n < times; n++) {
        x->a[0].value.f = 0, x->a[0].shadow.f = 1;
        cr_assert(!rvm_gradient(f->m, rvm_program_find(f->p, "gmm"), x->a, 7, &f->e), "%s", f->e.message);
    }
}

static void mix(uint64_t least, int times) {
    static mixture host, got;
    static double parameters[2][4][POINTS * D];
    const rvm_options o = unchecked();
    fixture *h = begin_file(RVM_EXAMPLES "/gmm/gmm.rasm", &o), *f = begin_file(RVM_EXAMPLES "/gmm/gmm.rasm", &o);
    cr_assert(!open_devices(f, 1, least));
    put_mixture(h, &host, parameters[0]), put_mixture(f, &got, parameters[1]);
    const rvm_cuda_totals before = totals(f);
    train(f, &got, times), train(h, &host, times);
    const rvm_cuda_totals t = totals(f);
    const uint64_t moved = t.uploaded - before.uploaded + t.downloaded - before.downloaded;
    cr_assert_leq(moved, (uint64_t)times * 10000, "%llu: %llu", (unsigned long long)least, (unsigned long long)moved);
    for (int k = 0; k < 3; k++) {
        cr_assert(!rvm_cuda_array_download(got.shadows[k], 0, (size_t)lengths[k], got.grad[k], &f->e));
        cr_assert(!memcmp(got.grad[k], host.grad[k], (size_t)lengths[k] * sizeof **got.grad), "%d", k);
        rvm_cuda_array_free(got.shadows[k]);
    }
    for (int k = 0; k < 4; k++) rvm_cuda_array_free(got.there[k]);
    end(h), end(f);
}

Test(cuda_kept, mixture) {
    if (TRY_ONE_IN > 1) return; /* LLVM's code, for most of the time */
    mix(0, 30);
}
Test(cuda_kept, mixture_of_small_blocks) {
    if (TRY_ONE_IN > 1) return;
    mix(100000, 10);
}

/* ---- faults ---- */

/* Either all is as without, or the call fails and what is lost says so. */
static void fail_each(asks *as, const char *function, int most, const char *error) {
    static arrays host, got;
    const rvm_options o = unchecked();
    fixture *h = open_on(0, &o);
    start(h, &host, false);
    cr_assert(!ask(h, &host, as, "cost", 1));
    for (int k = 1; k <= most; k += TRY_ONE_IN) {
        char asked[40];
        snprintf(asked, sizeof asked, "%s:%d", function, k);
        fixture *f = open_on(1, &o);
        start(f, &got, false);
        setenv("RVM_GRID_FAIL", asked, 1), setenv("RVM_GRID_ERROR", error, 1), setenv("RVM_GRID_RESET", "1", 1);
        const rvm_status st = ask(f, &got, as, "cost", 1);
        unsetenv("RVM_GRID_FAIL"), unsetenv("RVM_GRID_ERROR");
        const bool there = fetch(f, &got);
        cr_assert(!st || (st == RVM_ERR_UNSUPPORTED && !there), "%s %s: %d %s", asked, error, st, f->e.message);
        if (!st && there) expect_equal(&got, &host, asked);
        stop(f, &got);
    }
    stop(h, &host);
}

Test(cuda_kept, faults) {
    static const char *const functions[] = {"copy", "launch", "download", "upload", "allocate"};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        for (int n = 0; n < 4; n++) fail_each(all[n / 2], functions[k], 10, n % 2 ? "701" : "719");
}
