/* cuda_streams.c: a stream of the caller's, and copies that are sent to it and not waited for. */
#include <dlfcn.h>

#include "cuda_devices.h"

static const char source[] = "fn cost(s: real, y: real[n], x: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[i] * 3\n"
                             "        s += x[i] * x[i]\n"
                             "    end\n"
                             "end\n";
static char mine; /* its address is the stream */
static const void **watch;
static unsigned *there, *elsewhere;

static void find(void) {
    void *driver = dlopen(RVM_GRID_DRIVER, RTLD_NOW);
    cr_assert(driver, "%s", dlerror());
    watch = dlsym(driver, "rvm_grid_watch");
    there = dlsym(driver, "rvm_grid_there"), elsewhere = dlsym(driver, "rvm_grid_elsewhere");
    *watch = &mine;
}

static fixture *begin_on_stream(void *stream, rvm_cuda_array *a[3]) {
    fixture *f = begin_program(source, false);
    rvm_cuda_options o = rvm_cuda_options_default();
    o.least = 0;
    o.stream = stream;
    cr_assert(!rvm_cuda_new(&o, &f->c, &f->e) && !rvm_cuda_attach(f->c, f->m, &f->e), "%s", f->e.message);
    for (int k = 0; k < 3; k++) cr_assert(!rvm_cuda_array_new(f->c, N, &a[k], &f->e));
    return f;
}

static void stop(fixture *f, rvm_cuda_array *a[3]) {
    for (int k = 0; k < 3; k++) rvm_cuda_array_free(a[k]);
    end(f);
}

/* y += 3 x, and the gradient by x. */
static rvm_status run(fixture *f, rvm_cuda_array *a[3]) {
    rvm_arg g[3] = {rvm_arg_f64(0), reals(rvm_cuda_array_data(a[0]), N), reals(rvm_cuda_array_data(a[1]), N)};
    g[0].active = g[2].active = true;
    g[0].shadow.f = 1;
    g[2].shadow_data = rvm_cuda_array_data(a[2]);
    return rvm_value_and_gradient(f->m, 0, g, 3, &f->e);
}

Test(cuda_streams, all_goes_to_the_callers) {
    static double x[N], y[N], g[N];
    rvm_cuda_array *a[3];
    find();
    fixture *f = begin_on_stream(&mine, a);
    for (int i = 0; i < N; i++) x[i] = i;
    cr_assert(!rvm_cuda_array_upload_async(a[1], 0, N, x, &f->e));
    cr_assert(!run(f, a), "%s", f->e.message);
    cr_assert(!rvm_cuda_array_download_async(a[0], 0, N, y, &f->e) && !rvm_cuda_array_download_async(a[2], 0, N, g, &f->e));
    cr_assert(!rvm_cuda_synchronize(f->c, &f->e));
    for (int i = 0; i < N; i++) cr_assert(y[i] == 3 * i && g[i] == 2 * i, "%d: %g, %g", i, y[i], g[i]);
    cr_assert_eq(totals(f).on_host, 0, "%s", totals(f).why);
    cr_assert(*there > 10 && *elsewhere == 0, "%u, %u", *there, *elsewhere);
    stop(f, a);
}

/* An upload takes what stands there later, a download comes later; those that wait do neither. */
Test(cuda_streams, nobody_waits) {
    static double x[N], got[N];
    rvm_cuda_array *a[3];
    find();
    fixture *f = begin_on_stream(&mine, a);
    setenv("RVM_GRID_DEFER", "1", 1);
    for (int async = 0; async < 2; async++) {
        memset(got, 0, sizeof got);
        x[7] = 1;
        cr_assert(!(async ? rvm_cuda_array_upload_async : rvm_cuda_array_upload)(a[1], 0, N, x, &f->e));
        x[7] = 2; /* too early, as it is shown by this */
        cr_assert(!rvm_cuda_synchronize(f->c, &f->e));
        cr_assert(!(async ? rvm_cuda_array_download_async : rvm_cuda_array_download)(a[1], 0, N, got, &f->e));
        cr_assert_eq(got[7], async ? 0 : 1);
        cr_assert(!rvm_cuda_synchronize(f->c, &f->e));
        cr_assert_eq(got[7], async ? 2 : 1);
    }
    x[7] = 5;
    cr_assert(!rvm_cuda_array_upload_async(a[1], 0, N, x, &f->e));
    cr_assert(!run(f, a), "%s", f->e.message); /* behind it */
    cr_assert(!rvm_cuda_array_download(a[0], 7, 1, got, &f->e));
    cr_assert_eq(got[0], 15);
    cr_assert_eq(rvm_cuda_array_upload_async(a[1], N, 1, x, &f->e), RVM_ERR_USAGE);
    cr_assert_eq(rvm_cuda_array_download_async(a[1], 1, N, x, &f->e), RVM_ERR_USAGE);
    stop(f, a);
}

/* Whoever waits next says so. */
Test(cuda_streams, failures_are_told_later) {
    static double x[N];
    for (int who = 0; who < 3; who++) {
        rvm_cuda_array *a[3];
        fixture *f = begin_on_stream(NULL, a);
        cr_assert(!rvm_cuda_array_upload_async(a[1], 0, N, x, &f->e));
        setenv("RVM_GRID_FAIL", "wait:1", 1), setenv("RVM_GRID_RESET", "1", 1);
        const rvm_status st = who == 0   ? rvm_cuda_synchronize(f->c, &f->e)
                              : who == 1 ? rvm_cuda_array_download(a[1], 0, N, x, &f->e)
                                         : run(f, a);
        unsetenv("RVM_GRID_FAIL");
        cr_assert_eq(st, RVM_ERR_UNSUPPORTED, "%d: %d, %s", who, st, f->e.message);
        cr_assert_eq(rvm_cuda_synchronize(f->c, &f->e), RVM_ERR_UNSUPPORTED); /* it is lost */
        stop(f, a);
    }
}
