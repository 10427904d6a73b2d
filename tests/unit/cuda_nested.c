/* cuda_nested.c: blocks within blocks on a device, with a CTA for each instance or a thread: which is taken, and where local
 * arrays are; by what stands in for a driver (tests/grid). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "rvm_asm.h"
#include "device_fixture.h"
#include "try_one_in.h"

/* never: makes an instance look long, so that a launch has few. */
#define SHARED(name, never)                                                                                                 \
    "fn " name "(out: real[n], g: real[m], s: real, x: real[n])\n"                                                          \
    "    parallel i in 0..n\n"                                                                                              \
    "        compute\n"                                                                                                     \
    "            let t: real[m] = 0\n"                                                                                      \
    "            parallel j in 0..m\n"                                                                                      \
    "                t[j] += x[i] / real(j + 1)\n"                                                                          \
    "            end\n"                                                                                                     \
    "        do\n"                                                                                                          \
    "            parallel j in 0..m\n"                                                                                      \
    "                g[j] += t[j]\n"                                                                                        \
    "            end\n"                                                                                                     \
    "            s += x[i] * t[0]\n" never "            for j in 0..m\n"                                                    \
    "                out[i] += t[j]\n"                                                                                      \
    "            end\n"                                                                                                     \
    "        undo\n"                                                                                                        \
    "    end\n"                                                                                                             \
    "end\n"
#define NEVER(i, more) "for " i " in 0..0\n" more "end\n"
#define LONG                                                                                                                \
    NEVER("a",                                                                                                              \
          NEVER("b", NEVER("c", NEVER("d", NEVER("e", NEVER("f", NEVER("h", NEVER("k", NEVER("l", "out[i] += 1\n")))))))))

static const char text[] =
    "fn at(g: real[l], i: i64, n: i64)\n"
    "    parallel j in 0..n\n"
    "        g[i] += j\n"
    "    end\n"
    "    g[i] *= 3\n"
    "end\n"
    "fn known(g: real[l], n: i64)\n"
    "    parallel i in 0..l\n"
    "        call at(g, i, n)\n"
    "    end\n"
    "end\n"
    "fn squares(out: real[n], x: real[n], m: i64)\n"
    "    parallel i in 0..n\n"
    "        compute\n"
    "            let y: real[m] = 1\n"
    "            parallel j in 0..m\n"
    "                y[j] += x[i] * j\n"
    "            end\n"
    "        do\n"
    "            for j in 0..m\n"
    "                out[i] += y[j]\n"
    "            end\n"
    "        undo\n"
    "    end\n"
    "end\n" SHARED("shared", "") SHARED("pieces", LONG) "fn meet(out: real[n], g: real[3], h: i64[n], x: real[n], m: i64)\n"
                                                        "    parallel i in 0..n\n"
                                                        "        parallel j in 0..m\n"
                                                        "            out[i] += x[i] * j\n"
                                                        "            for k in 0..j % 5\n"
                                                        "                g[(j + k) % 3] += x[i]\n"
                                                        "            end\n"
                                                        "            h[i] += j\n"
                                                        "        end\n"
                                                        "    end\n"
                                                        "end\n";
enum { MOST = 300 };

/* On so many devices. False: no LLVM. */
static bool begin_on(fixture *f, int devices, rvm_cuda_nested nested, bool fast) {
    static const int numbers[] = {0, 1, 2, 3, 4, 5, 6};
    rvm_jit_options o = rvm_jit_options_default();
    o.threads = 0;
    rvm_options unchecked = rvm_options_default();
    rvm_cuda_options device = rvm_cuda_options_default();
    *f = (fixture){.p = NULL};
    o.tiers = false;
    o.level = 0;
    o.fast_math = fast;
    unchecked.unchecked = unchecked.trust = true;
    unchecked.trail = RVM_TRAIL_OFF;
    device.least = 0;
    device.nested = nested;
    device.devices = numbers;
    device.ndevices = devices;
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    cr_assert(!rvm_assemble(text, sizeof text - 1, "t", NULL, &f->p, &f->e, NULL, NULL), "%s", f->e.message);
    cr_assert(!rvm_machine_new(f->p, &unchecked, &f->m, &f->e));
    if (rvm_jit_new(&o, &f->j, &f->e)) return false;
    cr_assert(!rvm_jit_attach(f->j, f->m, &f->e) && !rvm_cuda_new(&device, &f->c, &f->e));
    cr_assert(!rvm_cuda_attach(f->c, f->m, &f->e));
    return true;
}

static bool begin_with(fixture *f, rvm_cuda_nested nested, bool fast) {
    return begin_on(f, 1, nested, fast);
}

static bool begin(fixture *f, rvm_cuda_nested nested) {
    return begin_with(f, nested, false);
}

/* Whether it ran with a CTA for each of n instances; what it gives is right. */
static bool is_nested(fixture *f, int n, int64_t m) {
    static double out[MOST], x[MOST];
    rvm_cuda_totals before, after;
    for (int i = 0; i < n; i++) out[i] = 0, x[i] = i + 1;
    rvm_arg a[3] = {rvm_arg_array_f64(out, 1, (int64_t[]){n}), rvm_arg_array_f64(x, 1, (int64_t[]){n}), rvm_arg_i64(m)};
    rvm_cuda_stats(f->c, &before);
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "squares"), a, 3, &f->e), "%s", f->e.message);
    rvm_cuda_stats(f->c, &after);
    cr_assert_eq(after.blocks, before.blocks + 1, "%s", after.why);
    for (int i = 0; i < n; i++) cr_assert_eq(out[i], (double)(m + (i + 1) * (m * (m - 1) / 2)), "%d: %g", i, out[i]);
    return after.nested > before.nested;
}

/* The grid is of one multiprocessor, which 256 instances fill. */
Test(cuda_nested, by_size) {
    static const struct {
        const char *what;
        int instances, within;
        bool first, again;
    } sizes[] = {{"few instances", 200, 40, true, true},
                 {"instances enough", 300, 40, false, false},
                 {"few within, as the first run tells", 20, 3, true, false},
                 {"local arrays that a thread cannot have", 300, 40000, true, true}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        fixture f;
        if (begin(&f, RVM_CUDA_BY_SIZE)) {
            cr_assert_eq(is_nested(&f, sizes[k].instances, sizes[k].within), sizes[k].first, "%s", sizes[k].what);
            cr_assert_eq(is_nested(&f, sizes[k].instances, sizes[k].within), sizes[k].again, "%s, again", sizes[k].what);
        }
        end(&f);
    }
}

/* With fast math it depends on how many instances there are, and on nothing else: the other kernel has other bits. */
Test(cuda_nested, by_size_with_fast_math) {
    static const rvm__native_kernel nested = {.code = "", .frame = 64};
    static const rvm__native_kernel flat = {.code = "", .flags = RVM__KERNEL_FAST, .nested = &nested};
    static const uint64_t enough = 132 * 256;
    for (int all = 1; all <= 1000; all += 131)
        for (uint64_t n = enough - 1; n <= enough; n++) {
            rvm_cuda c = {.multiprocessors = all};
            const rvm__native_job job = {.kernel = &flat, .count = n};
            cr_assert_eq(rvm__cuda_kind(&c, &job), n < enough ? &nested : &flat, "%d", all);
        }
}

/* Where a thread turns out to lack room for local arrays, on several devices, too. */
Test(cuda_nested, too_large_for_threads) {
    setenv("RVM_GRID_DEVICES", "2", 1);
    for (int devices = 1; devices <= 2; devices++) {
        fixture f;
        rvm_cuda_totals t;
        if (begin_on(&f, devices, RVM_CUDA_BY_SIZE, false)) {
            cr_assert(is_nested(&f, 300, 40000) && is_nested(&f, 300, 40000), "%d", devices);
            rvm_cuda_stats(f.c, &t);
            cr_assert_eq(t.split, devices > 1 ? 2 : 0, "%s", t.why_one);
        }
        end(&f);
    }
}

Test(cuda_nested, never) {
    fixture f;
    if (begin(&f, RVM_CUDA_NEVER)) cr_assert(!is_nested(&f, 20, 40));
    end(&f);
}

Test(cuda_nested, always) {
    fixture f;
    if (begin(&f, RVM_CUDA_ALWAYS)) cr_assert(is_nested(&f, 300, 3) && is_nested(&f, 300, 3));
    end(&f);
}

Test(cuda_nested, environment) {
    fixture f;
    setenv("RVM_CUDA_NESTED", "0", 1);
    if (begin(&f, RVM_CUDA_ALWAYS)) cr_assert(!is_nested(&f, 20, 40));
    end(&f);
    setenv("RVM_CUDA_NESTED", "1", 1);
    if (begin(&f, RVM_CUDA_NEVER)) cr_assert(is_nested(&f, 300, 40));
    end(&f);
}

/* An element that gains chunk by chunk is put aside with all of its array: not by an instance that has but that element. */
Test(cuda_nested, part_of_what_others_have) {
    enum { INSTANCES = 9, INNER = 300 };
    fixture f;
    double g[INSTANCES] = {0};
    rvm_cuda_totals t;
    rvm_arg a[2] = {rvm_arg_array_f64(g, 1, (int64_t[]){INSTANCES}), rvm_arg_i64(INNER)};
    if (begin(&f, RVM_CUDA_ALWAYS)) {
        cr_assert(!rvm_call(f.m, rvm_program_find(f.p, "known"), a, 2, &f.e), "%s", f.e.message);
        rvm_cuda_stats(f.c, &t);
        cr_assert_eq(t.blocks, INSTANCES, "%s", t.why); /* those within, one by one */
        for (int i = 0; i < INSTANCES; i++) cr_assert_eq(g[i], 3 * INNER * (INNER - 1) / 2, "%d: %g", i, g[i]);
    }
    end(&f);
}

/* Of a device whose CTAs have little shared memory local arrays are elsewhere. */
Test(cuda_nested, little_shared_memory) {
    fixture f;
    setenv("RVM_GRID_SHARED", "4096", 1);
    if (begin(&f, RVM_CUDA_ALWAYS)) cr_assert(is_nested(&f, 200, 1000) && is_nested(&f, 300, 2));
    end(&f);
}

/* Elements that instances of a block within add into together, with fast math, too; whole numbers, so that no order counts.
 * The first run finds out how much room they need. */
static void expect_met(fixture *f, int64_t m) {
    enum { INSTANCES = 20 };
    double out[INSTANCES] = {0}, g[3] = {0}, x[INSTANCES], expected[3] = {0};
    int64_t h[INSTANCES] = {0};
    rvm_cuda_totals t;
    for (int i = 0; i < INSTANCES; i++) x[i] = i + 1;
    rvm_arg a[5] = {rvm_arg_array_f64(out, 1, (int64_t[]){INSTANCES}), rvm_arg_array_f64(g, 1, (int64_t[]){3}),
                    rvm_arg_array_i64(h, 1, (int64_t[]){INSTANCES}), rvm_arg_array_f64(x, 1, (int64_t[]){INSTANCES}),
                    rvm_arg_i64(m)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "meet"), a, 5, &f->e), "%s", f->e.message);
    for (int64_t j = 0; j < m; j++)
        for (int64_t k = 0; k < j % 5; k++) expected[(j + k) % 3] += INSTANCES * (INSTANCES + 1) / 2;
    for (int i = 0; i < INSTANCES; i++)
        cr_assert(out[i] == x[i] * (double)(m * (m - 1) / 2) && h[i] == m * (m - 1) / 2, "%d: %g", i, out[i]);
    cr_assert(!memcmp(g, expected, sizeof g), "%g %g %g", g[0], g[1], g[2]);
    rvm_cuda_stats(f->c, &t);
    cr_assert(t.nested == t.blocks && !t.on_host, "%s", t.why);
}

Test(cuda_nested, instances_meet) {
    for (int fast = 0; fast < 2; fast++) {
        fixture f;
        if (begin_with(&f, RVM_CUDA_ALWAYS, fast)) expect_met(&f, 40), expect_met(&f, 700), expect_met(&f, 8);
        end(&f);
    }
}

/* ---- several devices: bits are those of one ---- */

enum { SOME = 800, MANY = 2500, WITHIN = 9 };
typedef struct shared {
    double out[MANY], g[WITHIN], s;
} shared;

static rvm_arg reals(fixture *f, rvm_cuda_array **there, double *x, int n) {
    if (there) {
        cr_assert(!rvm_cuda_array_new(f->c, (size_t)n, there, &f->e));
        cr_assert(!rvm_cuda_array_upload(*there, 0, (size_t)n, x, &f->e));
        x = rvm_cuda_array_data(*there);
    }
    return rvm_arg_array_f64(x, 1, (int64_t[]){n});
}

static void fetch(fixture *f, rvm_cuda_array *there, double *x, int n) {
    cr_assert(!rvm_cuda_array_download(there, 0, (size_t)n, x, &f->e));
    rvm_cuda_array_free(there);
}

/* stay: what it changes does, on the device. */
static void run(fixture *f, const char *fn, int n, bool back, bool stay, shared *r) {
    static double x[MANY];
    rvm_cuda_array *out, *g;
    for (int i = 0; i < MANY; i++) x[i] = sin(i) * exp(i % 41 - 20);
    *r = (shared){.g = {.5, .25}, .s = 3};
    rvm_arg a[4] = {reals(f, stay ? &out : NULL, r->out, n), reals(f, stay ? &g : NULL, r->g, WITHIN), rvm_arg_f64(r->s),
                    reals(f, NULL, x, n)};
    cr_assert(!rvm_machine_bind(f->m, rvm_program_find(f->p, fn), a, 4, RVM_PRIMAL, back, &f->e));
    cr_assert(!(back ? rvm_machine_backward : rvm_machine_forward)(f->m, &f->e), "%s", f->e.message);
    rvm_machine_unbind(f->m);
    r->s = a[2].value.f;
    if (stay) fetch(f, out, r->out, n), fetch(f, g, r->g, WITHIN);
}

static void run_on(fixture *f, int devices, bool fast, const char *fn, int n, bool back, bool stay, shared *r) {
    rvm_cuda_totals t;
    if (!begin_on(f, devices, RVM_CUDA_ALWAYS, fast)) return;
    run(f, fn, n, back, stay, r);
    rvm_cuda_stats(f->c, &t);
    cr_assert(t.nested == t.blocks && !t.on_host && t.split == (devices > 1), "%d: %s%s", devices, t.why, t.why_one);
    cr_assert_neq(r->out[n - 1], 0);
}

static void expect_bits_of_one(int devices, bool fast, const char *fn, int n, bool stay) {
    static shared one, some;
    fixture f;
    for (int back = 0; back < 2; back++) {
        run_on(&f, 1, fast, "shared", n, back, false, &one), end(&f);
        run_on(&f, devices, fast, fn, n, back, stay, &some), end(&f);
        cr_assert(!memcmp(&one, &some, sizeof one), "%s on %d devices, %s", fn, devices, back ? "back" : "on");
    }
}

Test(cuda_nested, on_several_devices) {
    setenv("RVM_GRID_DEVICES", "3", 1);
    for (int stay = 0; stay < 2; stay++) expect_bits_of_one(3, false, "shared", SOME, stay);
}

/* With fast math each CTA has a copy of what instances add to: one round of these, and several, in pieces, too. */
Test(cuda_nested, copies_of_several_devices) {
    setenv("RVM_GRID_DEVICES", "3", 1);
    for (int stay = 0; stay < 2; stay++) expect_bits_of_one(3, true, "shared", SOME, stay);
    if (TRY_ONE_IN > 1) return; /* a minute under sanitizers, in kernels, which are compiled without */
    expect_bits_of_one(2, true, "shared", MANY, false);
    expect_bits_of_one(3, true, "pieces", MANY, true);
}

/* A round of 1,024 copies is four chunks, by which registers are summed; without such any device has some copies. */
Test(cuda_nested, copies_of_many_devices) {
    enum { DEVICES = 7 };
    static double out[2][MANY], g[2][3], x[MANY];
    static int64_t h[MANY];
    setenv("RVM_GRID_DEVICES", "7", 1);
    if (TRY_ONE_IN == 1) expect_bits_of_one(DEVICES, true, "shared", MANY, false);
    for (int i = 0; i < MANY; i++) x[i] = sin(i) * exp(i % 41 - 20);
    for (int k = 0; k < 2; k++) {
        fixture f;
        rvm_cuda_totals t;
        if (!begin_on(&f, k ? DEVICES : 1, RVM_CUDA_ALWAYS, true)) cr_skip("no LLVM");
        rvm_arg a[5] = {rvm_arg_array_f64(out[k], 1, (int64_t[]){MANY}), rvm_arg_array_f64(g[k], 1, (int64_t[]){3}),
                        rvm_arg_array_i64(h, 1, (int64_t[]){MANY}), rvm_arg_array_f64(x, 1, (int64_t[]){MANY}),
                        rvm_arg_i64(3)};
        cr_assert(!rvm_call(f.m, rvm_program_find(f.p, "meet"), a, 5, &f.e), "%s", f.e.message);
        rvm_cuda_stats(f.c, &t);
        cr_assert(t.nested == 1 && t.split == (k ? 1 : 0), "%s%s", t.why, t.why_one);
        end(&f);
    }
    cr_assert(g[0][1] != 0 && !memcmp(g[0], g[1], sizeof *g) && !memcmp(out[0], out[1], sizeof *out));
}

/* With fast math bits are those of the first run and of any card, though by the first the CTAs of later ones are sized, and
 * thread by thread sums have another order. */
Test(cuda_nested, fast_bits_of_each_run) {
    static const char *const multiprocessors[] = {"1", "132"};
    static double out[2][SOME], g[2][WITHIN], x[SOME], s[2];
    for (int i = 0; i < SOME; i++) x[i] = sin(i) * exp(i % 41 - 20);
    for (int64_t within = 5; within <= WITHIN; within += 4)
        for (int k = 0; k < 2 * 3; k++) {
            static fixture f;
            const int now = k > 0;
            setenv("RVM_GRID_MULTIPROCESSORS", multiprocessors[k / 3], 1);
            if (k % 3 == 0 && !begin_on(&f, 1, RVM_CUDA_BY_SIZE, true)) cr_skip("no LLVM");
            memset(out[now], 0, sizeof out[now]);
            memset(g[now], 0, sizeof g[now]);
            rvm_arg a[4] = {rvm_arg_array_f64(out[now], 1, (int64_t[]){SOME}), rvm_arg_array_f64(g[now], 1, &within),
                            rvm_arg_f64(0), rvm_arg_array_f64(x, 1, (int64_t[]){SOME})};
            cr_assert(!rvm_call(f.m, rvm_program_find(f.p, "shared"), a, 4, &f.e), "%s", f.e.message);
            s[now] = a[2].value.f;
            cr_assert(!memcmp(out[0], out[now], sizeof *out) && !memcmp(g[0], g[now], sizeof *g), "%d", k);
            cr_assert(!memcmp(&s[0], &s[now], sizeof *s) && g[0][1] != 0, "%d", k);
            if (k % 3 == 2) end(&f);
        }
}

/* Each of n devices has some, side by side, and of each round the instances that add to them. */
static void expect_shares(const rvm__block_run *r, unsigned n) {
    static rvm__block_run runs[RVM_CUDA_MAX_DEVICES];
    static rvm__place places[RVM_CUDA_MAX_DEVICES];
    const uint64_t all = r->job->count;
    uint64_t count = 0, end = 0;
    rvm__cuda_share_out(runs, n, r, places);
    for (unsigned d = 0; d < n; d++) {
        cr_assert(runs[d].ncopies == r->ncopies && runs[d].first == end && runs[d].width > 0, "%u", d);
        end += runs[d].width;
        count += runs[d].count;
    }
    cr_assert(count == all && end == (all < r->ncopies ? all : r->ncopies));
}

/* How many copies there are is the same for one device and for several, by room, too. */
Test(cuda_nested, shares_of_copies) {
    static const char few[] = "its instances add to too few copies for several devices";
    static const struct {
        uint64_t instances, elements, sums, copies;
        unsigned devices, split;
        const char *why;
    } rows[] = {{800, 100, 0, 1024, 3, 3, NULL},
                {5000, 100, 0, 1024, 16, 16, NULL},
                {5000, 100, 1, 1024, 16, 4, NULL},
                {5000, 1 << 20, 0, 512, 7, 7, NULL},
                {5000, 1 << 20, 1, 512, 7, 2, NULL},
                {5000, 3 << 20, 0, 128, 3, 3, NULL},
                {5000, 3 << 20, 1, 128, 3, 1, few},
                {5000, 1 << 30, 0, 1, 3, 1, few},
                {200, 100, 0, 256, 3, 1, "it is too small for several devices"}};
    static const rvm__driver driver;
    static rvm_cuda devices[RVM_CUDA_MAX_DEVICES];
    const rvm__kernel_param param = {.flags = RVM__KERNEL_COPIED};
    const rvm__kernel_view view = {.ndim = 1, .uses = 2, .type = RVM_F64};
    const rvm__native_kernel k = {
        .params = &param, .views = &view, .nparams = 1, .nviews = 1, .flags = RVM__KERNEL_COPIED, .frame = 64};
    for (unsigned d = 0; d < RVM_CUDA_MAX_DEVICES; d++) {
        devices[d] = (rvm_cuda){.first = devices, .d = &driver};
        if (d) devices->others[d - 1] = &devices[d];
    }
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        const rvm__native_view at = {.dim = {(int64_t)rows[n].elements}, .stride = {8}};
        const rvm__native_job job = {
            .kernel = &k, .ascending = 1, .count = rows[n].instances, .nsums = rows[n].sums, .views = &at};
        rvm__block_run r = {.c = devices, .job = &job, .k = &k, .count = job.count};
        const char *why;
        devices->nothers = rows[n].devices - 1;
        rvm__cuda_plan_copies(&r);
        cr_assert_eq(r.ncopies, rows[n].copies, "%zu: %llu", n, (unsigned long long)r.ncopies);
        const unsigned split = rvm__cuda_devices_for(&r, &why);
        cr_assert_eq(split, rows[n].split, "%zu: %u", n, split);
        cr_assert(rows[n].why ? why && !strcmp(why, rows[n].why) : !why, "%zu: %s", n, why ? why : "");
        if (split > 1) expect_shares(&r, split);
    }
}

/* Nor do they depend on how many instances a launch has. */
Test(cuda_nested, in_pieces) {
    static shared one, some;
    fixture f;
    if (TRY_ONE_IN > 1) return; /* a minute under sanitizers, in kernels, which are compiled without */
    for (int way = 0; way < 4; way++) {
        if (begin_with(&f, RVM_CUDA_ALWAYS, way & 1)) {
            rvm_cuda_totals t;
            run(&f, "shared", MANY, way & 2, false, &one);
            rvm_cuda_stats(f.c, &t);
            const uint64_t launches = t.launches;
            run(&f, "pieces", MANY, way & 2, false, &some);
            rvm_cuda_stats(f.c, &t);
            cr_assert(t.nested == 2 && t.launches > 2 * launches, "%s", t.why);
            cr_assert(!memcmp(&one, &some, sizeof one), "%d", way);
        }
        end(&f);
    }
}

/* A fault of one of them, or a lack of memory: one does it. */
Test(cuda_nested, one_of_several_fails) {
    enum { FEW = 400 };
    static const char *const functions[] = {"launch", "allocate", "upload", "download", "copy_across"};
    static shared expected[2], got;
    fixture f;
    setenv("RVM_GRID_DEVICES", "3", 1);
    for (int fast = 0; fast < 2; fast++) run_on(&f, 1, fast, "shared", FEW, false, false, &expected[fast]), end(&f);
    for (int k = 0; k < 2 * 5 * 6; k += TRY_ONE_IN) {
        char asked[40];
        const int fast = k >= 5 * 6, at = k % (5 * 6);
        snprintf(asked, sizeof asked, "%s:%d:%d", functions[at % 5], 1 + at / 5, at % 3);
        if (begin_on(&f, 3, RVM_CUDA_ALWAYS, fast)) {
            setenv("RVM_GRID_FAIL", asked, 1);
            setenv("RVM_GRID_RESET", "1", 1);
            run(&f, "shared", FEW, false, k % 2 && !(fast && at % 3 == 0), &got); /* else it is the host's, fast */
            cr_assert(!memcmp(&expected[fast], &got, sizeof got), "%s%s", asked, fast ? ", fast" : "");
            unsetenv("RVM_GRID_FAIL");
        }
        end(&f);
    }
}

/* More than a CTA has without asking: which the driver refuses, so that the host has the block. */
Test(cuda_nested, shared_memory_is_refused) {
    static double out[2], x[2] = {1, 2};
    rvm_cuda_totals t;
    fixture f;
    setenv("RVM_GRID_FAIL", "function_set:1", 1);
    if (begin(&f, RVM_CUDA_ALWAYS)) {
        rvm_arg a[3] = {rvm_arg_array_f64(out, 1, (int64_t[]){2}), rvm_arg_array_f64(x, 1, (int64_t[]){2}),
                        rvm_arg_i64(8000)};
        cr_assert(!rvm_call(f.m, rvm_program_find(f.p, "squares"), a, 3, &f.e), "%s", f.e.message);
        cr_assert_eq(out[1], 8000 + 2 * (8000.0 * 7999 / 2));
        rvm_cuda_stats(f.c, &t);
        cr_assert(!t.blocks && t.on_host); /* its blocks within, too, since the device counts as lost */
    }
    end(&f);
}
