/* ahead.c: rows that groups of lanes prefetch (jit/lanes/ahead.c): the interpreter's bits, and nothing is read that no
 * instance reads. Indices stand between pages that nobody may touch. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "jit_fixture.h"

static const char source[] = "fn gather(y: real[n], x: real[m, 3], p: i64[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[p[i], 0] * sqrt(x[p[i], 2])\n"
                             "    end\n"
                             "end\n"
                             "fn inside(y: real[n], x: real[m, 3], p: i64[n])\n"
                             "    parallel i in 5..n - 3\n"
                             "        y[i] += x[p[i + 3], 1] * sqrt(x[p[i - 5], 2])\n"
                             "    end\n"
                             "end\n"
                             "fn partly(y: real[n], x: real[m, 3], p: i64[n])\n"
                             "    parallel i in 0..n\n"
                             "        if i < n - 1\n"
                             "            y[i] += sqrt(x[p[i + 1], 1]) * x[p[i + 1], 2]\n"
                             "        end\n"
                             "        if i > 0\n"
                             "            y[i] += sqrt(x[p[i - 1], 1]) * x[p[i - 1], 2]\n"
                             "        end\n"
                             "    end\n"
                             "end\n"
                             "fn scatter(y: real[m, 3], x: real[n], p: i64[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[p[i], 1] += sqrt(x[i])\n"
                             "    end\n"
                             "end\n";
enum { PAGE = 4096, N = 8 * PAGE / sizeof(int64_t), FAR = 50000, NEAR = 5000 };
static telling f;
static rvm_jit *two; /* threads */
static int64_t *p;   /* N of them: eight pages between two that are closed */
static double *x, *y, *want;

static void setup(void) {
    rvm_jit_options options = in_tiers(1, NULL);
    telling_begin(&f, source);
    options.tiers = false, options.threads = 2;
    cr_assert(!rvm_jit_new(&options, &two, &e), "%s", e.message);
    char *pages = mmap(NULL, 10 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(pages != MAP_FAILED && !mprotect(pages + PAGE, 8 * PAGE, PROT_READ | PROT_WRITE));
    p = (int64_t *)(void *)(pages + PAGE);
    x = malloc(3 * FAR * sizeof *x), y = malloc(3 * FAR * sizeof *y), want = malloc(3 * FAR * sizeof *want);
    cr_assert(x && y && want);
    rng r = {11};
    for (int i = 0; i < 3 * FAR; i++) x[i] = 1 + (double)rng_below(&r, 1 << 20) / (1 << 20);
}

static void teardown(void) {
    free(x), free(y), free(want);
    munmap((char *)(void *)p - PAGE, 10 * PAGE);
    rvm_jit_free(two);
    telling_end(&f);
}

TestSuite(ahead, .init = setup, .fini = teardown);

/* The last n of the indices, then the first ones; forward, then back. to: 3 FAR numbers. */
static void run(const char *name, rvm_jit *j, int64_t m, int64_t n, double *to) {
    rvm_options o = rvm_options_default();
    rvm_machine *machine;
    const bool scatters = !strcmp(name, "scatter");
    const int64_t rows[2] = {m, 3};
    o.unchecked = o.trust = true, o.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_machine_new(f.p, &o, &machine, &e) && (!j || !rvm_jit_attach(j, machine, &e)), "%s", e.message);
    for (int end = 0; end < 2; end++)
        for (int back = 0; back < 2; back++) {
            rvm_arg a[3] = {scatters ? rvm_arg_array_f64(to, 2, rows) : rvm_arg_array_f64(to, 1, &n),
                            scatters ? rvm_arg_array_f64(x, 1, &n) : rvm_arg_array_f64(x, 2, rows),
                            rvm_arg_array_i64(end ? p : p + N - n, 1, &n)};
            const int64_t fn = rvm_program_find(f.p, name);
            cr_assert(!(back ? rvm_uncall : rvm_call)(machine, fn, a, 3, &e), "%s: %s", name, e.message);
            for (int64_t k = 0; k < n; k++) to[k] += back; /* so that it is not what it was */
        }
    if (j) cr_assert(!rvm_jit_reason(machine, &e), "%s: %s", name, e.message);
    rvm_machine_free(machine);
}

static void check(const char *name) {
    rng r = {5};
    for (int64_t n = N; n > N - 12; n -= 11)
        for (unsigned threads = 1; threads < 3; threads++) {
            for (int i = 0; i < N; i++) p[i] = rng_below(&r, FAR);
            for (int i = 0; i < 3 * FAR; i++) y[i] = want[i] = i % 7;
            run(name, NULL, FAR, n, want);
            run(name, threads > 1 ? two : f.j, FAR, n, y);
            cr_assert(!memcmp(y, want, 3 * FAR * sizeof *y), "%s, %d, %u threads", name, (int)n, threads);
        }
}

Test(ahead, gathers) {
    check("gather");
}

Test(ahead, ranges_within) {
    check("inside");
}

Test(ahead, only_what_all_read) {
    check("partly");
}

Test(ahead, scatters) {
    check("scatter");
}

/* Code for a large array is other code, and longer; one machine has both. */
Test(ahead, only_of_large_arrays) {
    rvm_options o = rvm_options_default();
    rvm_machine *machine;
    size_t size[2];
    const int64_t n = N;
    o.unchecked = o.trust = true, o.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_machine_new(f.p, &o, &machine, &e) && !rvm_jit_attach(f.j, machine, &e), "%s", e.message);
    for (int i = 0; i < N; i++) p[i] = i, y[i] = 0;
    for (int k = 0; k < 4; k++) {
        rvm_arg a[3] = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 2, (int64_t[]){k % 2 ? FAR : NEAR, 3}),
                        rvm_arg_array_i64(p, 1, &n)};
        cr_assert(!rvm_call(machine, rvm_program_find(f.p, "gather"), a, 3, &e), "%s", e.message);
        if (k < 2) size[k] = f.told.size;
    }
    rvm_machine_free(machine);
    cr_expect(size[1] > size[0], "%zu and %zu bytes", size[1], size[0]);
    cr_expect(f.told.compiled == 2, "%u", f.told.compiled);
}
