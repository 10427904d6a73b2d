/* profile.c: paths, modes and memory of a profile; that counts are those of single steps is for every case
 * (harness/profile.c).
 */
#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"
#include "rvm_profile.h"

static const char text[] = "fn leaf(y: i64, x: i64)\n"
                           "    y += x\n"
                           "end\n"
                           "fn down(y: i64, k: i64)\n"
                           "    if k > 0\n"
                           "        call down(y, k - 1)\n"
                           "    end\n"
                           "    y += k\n"
                           "end\n"
                           "fn all(y: i64, x: i64)\n"
                           "    compute\n"
                           "        let t: i64\n"
                           "        call leaf(t, x)\n"
                           "    do\n"
                           "        y += t\n"
                           "    undo\n"
                           "    uncall leaf(y, x)\n"
                           "end\n"
                           "fn fails(y: i64, n: i64)\n"
                           "    for i in 0..n\n"
                           "        y += i\n"
                           "    end\n"
                           "    assert y == 0\n"
                           "    y += 1\n"
                           "end\n"
                           "fn holds(y: real, n: i64)\n"
                           "    let a: real[n] = 1\n"
                           "    push y\n"
                           "    for i in 0..n\n"
                           "        set a[i] = 2\n"
                           "    end\n"
                           "    for i in 0..n\n"
                           "        set a[i] = 1\n"
                           "    end\n"
                           "    pop y\n"
                           "end\n";

static rvm_program *program;
static rvm_machine *machine;
static rvm_profile *profile;
static rvm_error e;

static void setup(void) {
    report r = {.name = "profile"};
    rvm_options o = rvm_options_default();
    o.profile = true;
    program = assemble_text(text, NULL, &r);
    cr_assert(program && rvm_machine_new(program, &o, &machine, &e) == RVM_OK);
}

static void teardown(void) {
    rvm_profile_free(profile);
    rvm_machine_free(machine);
    rvm_program_free(program);
}
TestSuite(profile, .init = setup, .fini = teardown);

static uint32_t fn(const char *name) {
    return (uint32_t)rvm_program_find(program, name);
}

static rvm_status run(const char *name, int64_t y, int64_t x) {
    rvm_arg a[] = {rvm_arg_i64(y), rvm_arg_i64(x)};
    const rvm_status status = rvm_call(machine, fn(name), a, 2, &e);
    rvm_machine_unbind(machine);
    cr_assert(rvm_profile_new(machine, &profile, &e) == RVM_OK, "%s", e.message);
    return status;
}

static uint64_t of_mode(const rvm_profile_counts *c, rvm_profile_mode mode) {
    return c->n[mode][0] + c->n[mode][1];
}

/* The leaf runs in a compute part, up and down, and backward of its own, which is a run forward. */
Test(profile, modes) {
    rvm_profile_function f;
    rvm_profile_path path;
    uint32_t n = 0;
    cr_assert(run("all", 5, 3) == RVM_OK, "%s", e.message);
    cr_assert(rvm_profile_function_at(profile, fn("leaf"), &f));
    cr_assert(f.calls == 3 && rvm_profile_sum(&f.own) == 6 && f.total == 6); /* y += x and an end */
    cr_assert(f.own.n[RVM_PROFILE_COMPUTE][0] == 2 && f.own.n[RVM_PROFILE_UNDO][1] == 2);
    cr_assert(f.own.n[RVM_PROFILE_FORWARD][1] == 2 && !of_mode(&f.own, RVM_PROFILE_BACKWARD));
    for (; rvm_profile_path_at(profile, n, &path); n++) {
        if (path.fn == fn("leaf"))
            cr_assert(path.parent == 0 && path.calls == (of_mode(&path.own, RVM_PROFILE_UNDO) ? 2 : 1));
        if (path.fn == fn("all"))
            cr_assert(path.parent == -1 && path.calls == 1 && path.total == rvm_profile_sum(&path.own) + 6);
    }
    cr_assert(n == 3, "%u paths", n);
}

Test(profile, recursion_is_one_path) {
    rvm_profile_path path;
    rvm_profile_recursion r;
    rvm_profile_function f;
    cr_assert(run("down", 0, 100) == RVM_OK, "%s", e.message);
    cr_assert(rvm_profile_path_at(profile, 0, &path) && path.calls == 1 && path.recursions == 100);
    cr_assert(!rvm_profile_path_at(profile, 1, &path));
    cr_assert(rvm_profile_recursion_at(profile, 0, &r) && r.from == 0 && r.to == 0 && r.calls == 100);
    cr_assert(rvm_profile_function_at(profile, fn("down"), &f) && f.calls == 101 && f.total == rvm_profile_sum(&f.own));
}

/* What fails has not run, and nothing behind it. */
Test(profile, run_that_fails) {
    rvm_profile_line line;
    uint64_t by_line[64] = {0};
    cr_assert(run("fails", 0, 4) == RVM_ERR_ASSERT);
    for (uint32_t k = 0; rvm_profile_line_at(profile, k, &line); k++) by_line[line.line] = rvm_profile_sum(&line.own);
    cr_assert(by_line[21] == 4 && by_line[20] + by_line[22] == 5, "`for`, and `next` four times");
    cr_assert(by_line[24] == 0);
    rvm_profile_free(profile);
    rvm_machine_stats_reset(machine);
    cr_assert(rvm_profile_new(machine, &profile, &e) == RVM_OK);
    rvm_profile_counts total;
    rvm_profile_total(profile, &total);
    cr_assert(!rvm_profile_sum(&total), "reset");
}

Test(profile, memory) {
    enum { N = 10000 };
    rvm_arg a[] = {rvm_arg_f64(3), rvm_arg_i64(N)};
    rvm_profile_memory h, peak;
    uint64_t last = 0, most = 0;
    uint32_t n = 0;
    cr_assert(rvm_call(machine, fn("holds"), a, 2, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm_profile_new(machine, &profile, &e) == RVM_OK);
    rvm_profile_memory_peak(profile, &peak);
    cr_assert(peak.states > 8 * N && peak.states < 9 * N, "%llu", (unsigned long long)peak.states);
    cr_assert(peak.trail >= 8 * 2 * N && peak.trail < 8 * 2 * N + 100 && peak.stack > 0 && peak.shadows == 0);
    for (; rvm_profile_memory_at(profile, n, &h); n++) {
        cr_assert(n == 0 || h.instructions > last);
        cr_assert(h.states <= peak.states && h.trail <= peak.trail && h.trail >= most && h.stack <= peak.stack);
        last = h.instructions;
        most = h.trail;
    }
    cr_assert(n > 100 && n <= 512, "%u samples", n);
}

Test(profile, not_asked_for) {
    rvm_machine *plain;
    cr_assert(rvm_machine_new(program, NULL, &plain, &e) == RVM_OK);
    cr_assert(rvm_profile_new(plain, &profile, &e) == RVM_ERR_USAGE && !profile);
    rvm_machine_free(plain);
}

/* A compute part that is taken back and one that is forgotten end by different kinds, since they ask for different work. */
Test(profile, forget_is_no_undo) {
    static const char ends[] = "fn ends(y: i64, x: i64)\n"
                               "    compute\n        let t = x\n    do\n        y += t\n    undo\n"
                               "    compute\n        let t = x\n    do\n        y += t\n    forget\n"
                               "end\n";
    report r = {.name = "ends"};
    rvm_options o = rvm_options_default();
    rvm_program *p = assemble_text(ends, NULL, &r);
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(3)};
    rvm_machine *m;
    rvm_profile_kind_count k;
    rvm_work w;
    int met = 0;
    o.profile = true;
    cr_assert(p && rvm_machine_new(p, &o, &m, &e) == RVM_OK && rvm_call(m, 0, a, 2, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm_profile_new(m, &profile, &e) == RVM_OK);
    for (uint32_t i = 0; rvm_profile_kind(profile, i, &k) && rvm_profile_kind_work(profile, i, &w); i++) {
        const bool forget = !strcmp(k.mnemonic, "forget");
        if (!forget && strcmp(k.mnemonic, "undo") != 0) continue;
        cr_expect(k.count == 1 && w.turns == (forget ? 0 : 2), "%s: %u turns", k.mnemonic, w.turns);
        met++;
    }
    cr_expect_eq(met, 2);
    rvm_machine_free(m);
    rvm_program_free(p);
}
