/* counted.c: what native code counts in loops that it charges ahead (jit/lower/counted.c) is what the interpreter counts. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "harness.h"

enum { MOST = 16 };

/* Each overwrites elements of a, which a trail that is off erases. */
static const char text[] = "fn up(a: real[16], n: i64, k: i64)\n"
                           "    for i in 0..n\n"
                           "        set a[i] = a[i] / 2\n"
                           "    end\n"
                           "end\n"
                           "fn by_two(a: real[16], n: i64, k: i64)\n"
                           "    for i in 0..n step 2\n"
                           "        set a[i] = a[i] / 2\n"
                           "    end\n"
                           "end\n"
                           "fn left(a: real[16], n: i64, k: i64)\n" /* where i is k */
                           "    for i in 0..n\n"
                           "        set a[i] = a[i] / 2\n"
                           "        let r = 100 % (i - k)\n"
                           "        set a[i] = a[i] + real(r)\n"
                           "    end\n"
                           "end\n"
                           "fn left_first(a: real[16], n: i64, k: i64)\n" /* before it erases anything */
                           "    for i in 0..n\n"
                           "        let r = 100 % (i - k)\n"
                           "        set a[i] = a[i] + real(r)\n"
                           "    end\n"
                           "end\n"
                           "fn powers(y: real, x: real, n: i64)\n"
                           "    compute\n"
                           "        let p: real[16] = 0\n"
                           "        p[0] += 1\n"
                           "        for i in 1..n\n"
                           "            p[i] += p[i - 1] * x\n"
                           "        end\n"
                           "    do\n"
                           "        for i in 0..n\n"
                           "            y += p[i]\n"
                           "        end\n"
                           "    undo\n"
                           "end\n"
                           "fn down(a: real[16], n: i64, k: i64)\n" /* its adjoint goes down */
                           "    call powers'adj(a[0], a[1], a[2], a[3], n)\n"
                           "end\n";
static const char *const functions[] = {"up", "by_two", "left", "left_first", "down"};

typedef struct outcome {
    double a[MOST];
    rvm_status status;
    rvm_stats stats;
} outcome;

static outcome run(const rvm_program *p, rvm_jit *j, const char *function, int64_t n, int64_t k, bool unchecked) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    outcome r = {.a = {0, 1, 0, 0.5}};
    rvm_arg given[] = {rvm_arg_array_f64(r.a, 1, (int64_t[]){MOST}), rvm_arg_i64(n), rvm_arg_i64(k)};
    o.trail = RVM_TRAIL_OFF;
    o.unchecked = o.trust = unchecked;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK, "%s", e.message);
    cr_assert(!j || rvm_jit_attach(j, m, &e) == RVM_OK, "%s", e.message);
    r.status = rvm_call(m, (uint32_t)rvm_program_find(p, function), given, 3, &e);
    rvm_machine_stats(m, &r.stats);
    rvm_machine_free(m);
    return r;
}

static void check(const rvm_program *p, rvm_jit *j, const char *function, int64_t n, int64_t k, bool unchecked) {
    const outcome x = run(p, NULL, function, n, k, unchecked), y = run(p, j, function, n, k, unchecked);
    cr_expect(x.status == y.status && !memcmp(x.a, y.a, sizeof x.a), "%s %d %d", function, (int)n, (int)k);
    cr_expect(x.stats.forward == y.stats.forward && x.stats.bits_erased == y.stats.bits_erased,
              "%s %d %d, %s: %d instructions, %d bits; %d, %d", function, (int)n, (int)k,
              unchecked ? "unchecked" : "checked", (int)x.stats.forward, (int)x.stats.bits_erased, (int)y.stats.forward,
              (int)y.stats.bits_erased);
}

Test(counted, as_the_interpreter) {
    report rep = {.name = "counted"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    rvm_error e;
    cr_assert(p);
    for (int level = 0; level <= 2; level += 2) {
        rvm_jit_options o = rvm_jit_options_default();
        rvm_jit *j = NULL;
        o.level = level;
        o.tiers = false;
        o.cache = "";
        if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
        for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++)
            for (int64_t n = 0; n <= MOST; n += n < 4 ? 1 : 6)
                for (int64_t k = -1; k < n; k += 4)
                    for (int unchecked = 0; unchecked < 2; unchecked++) check(p, j, functions[f], n, k, unchecked);
        rvm_jit_free(j);
    }
    rvm_program_free(p);
}
