/* threads_default.c: by default parallel blocks run in a thread for each processor: where that pays, and with the same bits.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rvm_jit.h"
#include "rvm_asm.h"
#include "thread.h"

static const char text[] = "fn long(s: real, x: real[n])\n"
                           "    parallel i in 0..n\n"
                           "        s += sin(x[i]) * exp(x[i])\n"
                           "    end\n"
                           "end\n"
                           "fn thousand(s: real, x: real[n])\n"
                           "    parallel i in 0..1000\n"
                           "        s += sin(x[i])\n"
                           "    end\n"
                           "end\n"
                           "fn fast(s: real, x: real[n])\n" /* but for its text: a loop to `n - n` has no trip */
                           "    parallel i in 0..n\n"
                           "        for no in 0..n - n\n"
                           "            for k in 0..10000\n"
                           "            end\n"
                           "        end\n"
                           "        s += x[i]\n"
                           "    end\n"
                           "end\n";
enum { MOST = 300000 };
static double x[MOST];
static rvm_error e;

typedef struct seen {
    uint32_t blocks, in_threads;
    char serial[200];
    size_t size;
} seen;

static void note(void *userdata, const rvm_jit_notice *n) {
    seen *s = userdata;
    *s = (seen){.blocks = n->blocks, .in_threads = n->in_threads, .size = n->code_size};
    snprintf(s->serial, sizeof s->serial, "%s", n->serial);
}

static unsigned threads_here(void) {
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    cr_assert(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static rvm_jit_options options(bool fast, seen *s) {
    rvm_jit_options o = rvm_jit_options_default();
    for (int i = 0; i < MOST; i++) x[i] = 0.001 * (i % 997) - 0.3;
    o.tiers = false, o.cache = "", o.level = 1, o.fast_math = fast, o.notice = note, o.userdata = s;
    return o;
}

/* What s becomes; *threads: of the process, at the end of the run. */
static double sum(const rvm_jit_options *o, const char *function, int64_t n, unsigned *threads) {
    rvm_jit *j;
    rvm_program *p = NULL;
    rvm_machine *m = NULL;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &n)};
    if (rvm_jit_new(o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(!rvm_assemble(text, sizeof text - 1, "text", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, NULL, &m, &e) && !rvm_jit_attach(j, m, &e));
    cr_assert(!rvm_call(m, (uint32_t)rvm_program_find(p, function), a, 2, &e), "%s", e.message);
    if (threads) *threads = threads_here();
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
    return a[0].value.f;
}

/* Whether there are more threads with these options than in one; threads that ended may still be listed a while. */
static bool starts_helpers(const rvm_jit_options *o) {
    rvm_jit_options one = *o;
    one.threads = 0;
    for (int k = 0; k < 20; k++) {
        unsigned alone, together;
        sum(&one, "long", MOST, &alone);
        sum(o, "long", MOST, &together);
        if (together > alone) return true;
    }
    return false;
}

Test(threads_default, all_processors) {
    seen s = {0};
    rvm_jit_options o = options(false, &s);
    cr_assert(o.threads == RVM_JIT_ALL_THREADS);
    const double by_all = sum(&o, "long", MOST, NULL);
    if (rvm__processors() > 1) cr_assert(s.blocks == 1 && s.in_threads == 1, "%u of %u", s.in_threads, s.blocks);
    cr_assert(rvm__processors() == 1 || starts_helpers(&o));
    for (o.threads = 0; o.threads < 2; o.threads++) {
        const double by_one = sum(&o, "long", MOST, NULL);
        cr_assert(!memcmp(&by_all, &by_one, sizeof by_one) && s.blocks == 0 && s.in_threads == 0);
    }
}

/* As on a machine with one processor. */
Test(threads_default, fast_math) {
    seen s = {0};
    rvm_jit_options o = options(true, &s);
    const double by_all = sum(&o, "long", MOST, NULL);
    o.threads = 1;
    const double by_one = sum(&o, "long", MOST, NULL);
    cr_assert(!memcmp(&by_all, &by_one, sizeof by_one) && s.in_threads == 1, "%.17g %.17g", by_all, by_one);
}

/* A block that is known to be short is compiled once. */
static void check_short(const char *function, int64_t n) {
    seen s = {0};
    rvm_jit_options o = options(false, &s);
    o.threads = 2;
    sum(&o, function, n, NULL);
    const size_t size = s.size;
    cr_assert(s.blocks == 1 && s.in_threads == 0 && strstr(s.serial, "few instances"), "%s: %s", function, s.serial);
    o.threads = 0;
    sum(&o, function, n, NULL);
    cr_assert(size == s.size, "%s: %zu, %zu", function, size, s.size);
}

Test(threads_default, known_to_be_short) {
    check_short("long", 60);
    check_short("thousand", 2000);
    seen s = {0};
    rvm_jit_options o = options(false, &s);
    o.threads = 2;
    sum(&o, "long", 70, NULL); /* which code is not made for */
    cr_assert(s.blocks == 1 && s.in_threads == 1, "%s", s.serial);
}

/* Helpers are not asked where the caller is done as soon. The system may take its time, but not each time. */
Test(threads_default, done_soon) {
    seen s = {0};
    rvm_jit_options o = options(false, &s);
    unsigned alone, most = UINT32_MAX;
    o.threads = 0;
    sum(&o, "fast", 1000, NULL);
    sum(&o, "fast", 1000, &alone);
    for (int k = 0; k < 20 && most > alone; k++) {
        unsigned n;
        o.threads = 4;
        sum(&o, "fast", 1000, &n);
        if (n < most) most = n;
        cr_assert(s.in_threads == 1);
    }
    cr_assert(most <= alone, "%u, %u", most, alone);
}

/* ---- quotas of control groups ---- */

static void put(const char *path, const char *words) {
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(words, f) >= 0 && !fclose(f));
}

Test(threads_default, quotas) {
    char root[] = "/tmp/rvm-quota-XXXXXX", file[3][sizeof root + 40], folder[2][sizeof root + 20];
    cr_assert(mkdtemp(root));
    snprintf(folder[0], sizeof *folder, "%s/a", root), snprintf(folder[1], sizeof *folder, "%s/a/b", root);
    cr_assert(!mkdir(folder[0], 0700) && !mkdir(folder[1], 0700));
    snprintf(file[0], sizeof *file, "%s/cpu.max", root);
    for (int k = 0; k < 2; k++) snprintf(file[k + 1], sizeof *file, "%s/cpu.max", folder[k]);
    const struct {
        const char *words[3]; /* of the root, /a, /a/b; NULL: no file */
        uint32_t of[3];
    } rows[] = {
        {{NULL, NULL, NULL}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}},
        {{NULL, "max 100000\n", "max 100000\n"}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}},
        {{NULL, "200000 100000\n", "max 100000\n"}, {UINT32_MAX, 2, 2}},
        {{NULL, "400000 100000\n", "150001 100000\n"}, {UINT32_MAX, 4, 2}},
        {{"50000 100000\n", "400000 100000\n", "junk"}, {1, 1, 1}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int k = 0; k < 3; k++) rows[r].words[k] ? put(file[k], rows[r].words[k]) : (void)remove(file[k]);
        for (int k = 0; k < 3; k++)
            cr_expect(rvm__quota_of(root, (const char *[]){"/", "/a", "/a/b"}[k]) == rows[r].of[k], "row %zu, %d", r, k);
    }
    for (int k = 2; k >= 0; k--) remove(file[k]), remove(k ? folder[k - 1] : root);
}
