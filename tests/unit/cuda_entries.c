/* cuda_entries.c: elements that several instances add into, at indices that differ by instance, in order (cuda/entries.c):
 * how many there may be, in how many pieces, on several devices, and faults; by what stands in for a driver (tests/grid). */
#include "cuda_devices.h"

enum { ELEMENTS = 70000, INSTANCES = 3000 }; /* numbers of elements have three digits of a sort */

/* never: makes an instance look long, so that a launch has 256. */
#define GAINS(name, never)                                                                                                  \
    "fn " name "(g: real[m], y: real[n], x: real[n], p: i64[n], c: i64[n])\n"                                               \
    "    parallel i in 0..n\n"                                                                                              \
    "        y[i] += x[i]\n"                                                                                                \
    "        for k in 0..c[i]\n"                                                                                            \
    "            g[(p[i] + k * k) % m] += x[i] / real(k + 1)\n"                                                             \
    "        end\n" never "    end\n"                                                                                       \
    "end\n"
#define NEVER(i, more) "for " i " in 0..0\n" more "end\n"
static const char entries[] = GAINS("gains", "") GAINS(
    "pieces",
    NEVER("a",
          NEVER("b", NEVER("d", NEVER("e", NEVER("f", NEVER("h", NEVER("j", NEVER("l", NEVER("o", "y[i] += 1\n"))))))))));

typedef struct arrays {
    double g[ELEMENTS], y[INSTANCES], x[INSTANCES];
    int64_t p[INSTANCES], c[INSTANCES];
} arrays;

/* counts: additions of an instance, fewer than so many. */
static void fill_arrays(arrays *a, int elements, int counts) {
    memset(a, 0, sizeof *a);
    for (int e = 0; e < elements; e++) a->g[e] = 1. / (e + 1);
    for (int i = 0; i < INSTANCES; i++) {
        a->x[i] = sin(i) * exp(i % 40 - 20);
        a->p[i] = (int64_t)i * i * 7919 % elements;
        a->c[i] = i * 31 % counts;
    }
}

/* n devices; 0: the host. */
static fixture *begin_entries(int n) {
    fixture *f = begin_program(entries, false);
    cr_assert(!n || getenv("RVM_GRID_FAIL") || !open_devices(f, n, 0), "%s", f->e.message);
    return f;
}

static void run(fixture *f, const char *fn, arrays *a, int elements, bool back) {
    rvm_arg args[5] = {reals(a->g, elements), reals(a->y, INSTANCES), reals(a->x, INSTANCES), numbers(a->p, INSTANCES),
                       numbers(a->c, INSTANCES)};
    rvm_status st = rvm_machine_bind(f->m, rvm_program_find(f->p, fn), args, 5, RVM_PRIMAL, back, &f->e);
    if (!st) st = back ? rvm_machine_backward(f->m, &f->e) : rvm_machine_forward(f->m, &f->e);
    cr_assert(!st, "%s", f->e.message);
    rvm_machine_unbind(f->m);
}

static void expect_as_on_host(fixture *f, const char *fn, int elements, int counts) {
    static arrays there, host;
    for (int back = 0; back < 2; back++) {
        fixture *h = begin_entries(0);
        fill_arrays(&there, elements, counts), fill_arrays(&host, elements, counts);
        run(f, fn, &there, elements, back), run(h, fn, &host, elements, back);
        cr_assert(!memcmp(&there, &host, sizeof host), "%s, %d elements, %d, %s", fn, elements, counts,
                  back ? "back" : "there");
        end(h);
    }
}

/* Few elements and many, of which many additions and few are; more than there was room for at first. */
Test(cuda_entries, same_bits) {
    static const int elements[] = {1, 3, 256, 257, 5000, ELEMENTS}, counts[] = {2, 5, 40, 90};
    fixture *f = begin_entries(1);
    uint64_t tried = 0;
    for (size_t k = 0; k < sizeof elements / sizeof *elements; k += TRY_ONE_IN, tried++)
        expect_as_on_host(f, "gains", elements[k], counts[k % 4]);
    cr_assert(totals(f).blocks == 2 * tried && !totals(f).on_host, "%s", totals(f).why);
    end(f);
}

Test(cuda_entries, in_pieces) {
    fixture *f = begin_entries(1);
    expect_as_on_host(f, "pieces", 300, 20);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 2 && !t.on_host && t.launches > 2 * 3, "%s", t.why);
    end(f);
}

/* Their order is one device's. */
Test(cuda_entries, of_several_devices) {
    fixture *f = begin_entries(DEVICES);
    expect_as_on_host(f, "gains", 300, 20);
    const rvm_cuda_totals t = totals(f);
    cr_assert(t.blocks == 2 && !t.split && !t.on_host, "%s", t.why);
    cr_assert(strstr(t.why_one, "line 2: its instances add to elements that differ, in their order"), "%s", t.why_one);
    end(f);
}

/* Nothing that instances did is left when there is another try. */
Test(cuda_entries, of_arrays_that_stay) {
    static arrays there, host;
    rvm_cuda_array *g, *y;
    fixture *f = begin_entries(1), *h = begin_entries(0);
    fill_arrays(&there, 300, 50), fill_arrays(&host, 300, 50);
    run(h, "pieces", &host, 300, false);
    cr_assert(!rvm_cuda_array_new(f->c, 300, &g, &f->e) && !rvm_cuda_array_upload(g, 0, 300, there.g, &f->e));
    cr_assert(!rvm_cuda_array_new(f->c, INSTANCES, &y, &f->e) && !rvm_cuda_array_upload(y, 0, INSTANCES, there.y, &f->e));
    rvm_arg args[5] = {reals(rvm_cuda_array_data(g), 300), reals(rvm_cuda_array_data(y), INSTANCES),
                       reals(there.x, INSTANCES), numbers(there.p, INSTANCES), numbers(there.c, INSTANCES)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "pieces"), args, 5, &f->e), "%s", f->e.message);
    cr_assert(totals(f).blocks == 1 && !totals(f).on_host, "%s", totals(f).why);
    cr_assert(!rvm_cuda_array_download(g, 0, 300, there.g, &f->e));
    cr_assert(!rvm_cuda_array_download(y, 0, INSTANCES, there.y, &f->e));
    cr_assert(!memcmp(&there, &host, sizeof host));
    rvm_cuda_array_free(g), rvm_cuda_array_free(y);
    end(f), end(h);
}

/* ---- faults: what a block gives is what it gives without a device ---- */

/* Each call of that function of the driver fails once; the last of them is one that is not there. */
static void fail_each(const char *function, int last) {
    static arrays there, host;
    fixture *h = begin_entries(0);
    fill_arrays(&host, 300, 20);
    run(h, "gains", &host, 300, false);
    end(h);
    for (int k = last; k > 0; k -= TRY_ONE_IN) {
        char asked[40];
        rvm_cuda_totals t = {0};
        snprintf(asked, sizeof asked, "%s:%d", function, k);
        setenv("RVM_GRID_FAIL", asked, 1);
        setenv("RVM_GRID_RESET", "1", 1);
        fixture *f = begin_entries(1);
        fill_arrays(&there, 300, 20);
        const bool open = !open_devices(f, 1, 0);
        run(f, "gains", &there, 300, false);
        cr_assert(!memcmp(&there, &host, sizeof host), "%s", asked);
        if (open) t = totals(f);
        cr_assert(!open || t.blocks + t.on_host == 1, "%s", asked);
        cr_assert(k < last || t.blocks, "%s", asked);
        unsetenv("RVM_GRID_FAIL");
        end(f);
    }
}

Test(cuda_entries, out_of_memory) {
    fail_each("allocate", 20);
}
Test(cuda_entries, a_launch_fails) {
    fail_each("launch", 10);
}
Test(cuda_entries, an_upload_fails) {
    fail_each("upload", 16);
}
Test(cuda_entries, a_download_fails) {
    fail_each("download", 8);
}
