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

/* What is changed is so on the first device; and is then seen by the others. */
Test(cuda_stays, arrays_that_change_stay_on_the_first) {
    static double y[N], got[N];
    rvm_cuda_array *out, *x;
    fixture *f = begin(false);
    cr_assert(!open_devices(f, DEVICES, 0));
    rvm_arg a[3] = {on_device(f->c, &out, y, N), on_device(f->c, &x, f->d.x, N), numbers(f->d.k, N)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "chain"), a, 3, &f->e), "%s", f->e.message);
    cr_assert(totals(f).split == 0 && totals(f).blocks == 2);
    cr_assert(strstr(totals(f).why_one, "line 23: it changes an array that stays on the first device"), "%s",
              totals(f).why_one);
    cr_assert(!rvm_cuda_array_download(out, 0, N, got, &f->e));
    for (int i = 0; i < N; i++) cr_assert_eq(got[i], 3 * (2 * f->d.x[f->d.k[i]]));
    expect_work(f, got, a[0]);
    cr_assert_eq(totals(f).split, 1);
    rvm_cuda_array_free(out), rvm_cuda_array_free(x);
    end(f);
}

/* A local array changes on the first device, and others read it. */
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
    cr_assert(t.blocks == 4 && t.split == 2, "%s", t.why_one);
    cr_assert_eq(t.across, 2 * 2 * (DEVICES - 1) * sizeof out); /* t and u */
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
    cr_assert(!t.on_host && t.split == 2, "%s%s", t.why, t.why_one);
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
    cr_assert(t.on_host && t.split == 2, "%s%s", t.why, t.why_one);
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
    cr_assert(t.blocks == 2 * RUNS && t.split == RUNS, "%s%s", t.why, t.why_one);
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
    cr_assert(t.blocks == 2 && !t.on_host && !t.split, "%s", t.why);
    cr_assert(strstr(t.why_one, "an array is copied to it from another one"), "%s", t.why_one);
    end(f);
}
