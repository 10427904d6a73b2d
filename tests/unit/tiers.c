/* tiers.c: when native code is compiled: what is hot, at which loop, beside the run; where runs poll for it. */
#include <pthread.h>
#include <sched.h>

#include "jit_fixture.h"

/* ---- tiers ---- */

static const char busy[] = "fn leaf(y: real, x: real)\n"
                           "    for i in 0..100\n"
                           "        y += sin(x)\n"
                           "    end\n"
                           "end\n"
                           "fn main(y: real, x: real, n: i64)\n"
                           "    for i in 0..n\n"
                           "        call leaf(y, x)\n"
                           "    end\n"
                           "end\n";

/* Instructions of a run of main. */
static uint64_t run_busy(rvm_machine *m, int64_t n) {
    rvm_stats before, after;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(1), rvm_arg_i64(n)};
    rvm_machine_stats(m, &before);
    cr_assert(rvm_call(m, 1, a, 3, &e) == RVM_OK, "%s", e.message);
    rvm_machine_stats(m, &after);
    return after.forward - before.forward;
}

Test(tiers, warm) {
    told t = {0};
    report rep = {.name = "jit"};
    rvm_program *p = assemble_text(busy, NULL, &rep);
    rvm_jit_options o = in_tiers(3000000, &t);
    rvm_jit *j;
    rvm_machine *m;
    cr_assert(p);
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    cr_assert(!*rvm_jit_about(j));
    const uint64_t one = run_busy(m, 1);
    cr_assert(run_busy(m, 1000) == 2 + (one - 2) * 1000 && !t.compiled);
    cr_assert(run_busy(m, 20000) == 2 + (one - 2) * 20000 && t.compiled == 1);
    cr_assert(!strcmp(t.function, "main") && t.line == 7); /* as warm as what it calls, and around it: at its loop */
    cr_assert(strstr(rvm_jit_about(j), "LLVM "));
    cr_assert(run_busy(m, 10) && t.compiled == 2 && !strcmp(t.function, "main") && !t.line);
    cr_assert(run_busy(m, 10) && t.compiled == 2);
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
}

/* What main calls turns often, and cannot be entered in a compute part where trails discard: main is, when it returns. */
static const char within[] = "fn leaf(y: real, x: real)\n"
                             "    for i in 0..10000\n"
                             "        y += sin(x)\n"
                             "    end\n"
                             "end\n"
                             "fn main(y: real, x: real, n: i64)\n"
                             "    for i in 0..n\n"
                             "        compute\n"
                             "            let t: real\n"
                             "            call leaf(t, x)\n"
                             "        do\n"
                             "            y += t\n"
                             "        undo\n"
                             "    end\n"
                             "end\n";

Test(tiers, when_a_call_returns) {
    told t = {0};
    report rep = {.name = "jit"};
    rvm_program *p = assemble_text(within, NULL, &rep);
    rvm_jit_options o = in_tiers(3000000, &t);
    rvm_options discards = rvm_options_default();
    rvm_jit *j;
    rvm_machine *m;
    discards.trail = RVM_TRAIL_OFF;
    cr_assert(p);
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_machine_new(p, &discards, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    cr_assert(run_busy(m, 150) && t.compiled == 1 && !strcmp(t.function, "main") && t.line == 7, "%s:%u", t.function,
              t.line);
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
}

/* ---- compiled beside the run ---- */

Test(tiers, compiled_beside, .timeout = 300) {
    enum { MOST = 1000000 };
    told t = {0};
    report rep = {.name = "jit"};
    rvm_program *p = assemble_text(busy, NULL, &rep);
    rvm_jit_options o = in_tiers(1000, &t);
    rvm_stats s;
    rvm_jit *j;
    rvm_machine *m;
    o.wait = false;
    cr_assert(p);
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    const uint64_t one = run_busy(m, 20);
    unsigned runs = 0;
    while (!t.compiled && ++runs < MOST) cr_assert(run_busy(m, 20) == one);
    cr_assert(t.compiled && run_busy(m, 20) == one);
    for (unsigned k = 0; k < 2; k++) { /* freed while something may be compiled for it */
        rvm_machine *other;
        cr_assert(rvm_machine_new(p, NULL, &other, &e) == RVM_OK && rvm_jit_attach(j, other, &e) == RVM_OK);
        run_busy(other, 200 + k);
        rvm_machine_stats(other, &s);
        rvm_machine_free(other);
    }
    rvm_machine_free(m);
    rvm_program_free(p);
    rvm_jit_free(j);
}

typedef struct waiting {
    rvm_jit *j;
    rvm_machine *m;
} waiting;

static void *cancel_when_busy(void *p) {
    const waiting *w = p;
    while (!rvm_jit_busy(w->j)) sched_yield();
    rvm_machine_cancel(w->m);
    return NULL;
}

/* A loop that takes hours, around code that takes long to compile. */
static void write_long(char *to, size_t size) {
    char *const end = to + size;
    to += snprintf(to, size, "fn main(y: real, x: real)\nfor i in 0..1000000000000\n");
    for (unsigned k = 0; k < 150; k++) to += snprintf(to, (size_t)(end - to), "let a%u = x * %u.5\n", k, k);
    for (unsigned k = 0; k < 150; k++) to += snprintf(to, (size_t)(end - to), "%s a%u", k ? " +" : "y +=", k);
    snprintf(to, (size_t)(end - to), "\nend\nend\n");
}

Test(tiers, cancelled_while_compiling, .timeout = 300) {
    static char source[1 << 14];
    told t = {0};
    rvm_jit_options o = rvm_jit_options_default();
    rvm_program *p;
    waiting w;
    pthread_t thread;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(1)};
    o.cache = "";
    o.notice = on_notice;
    o.userdata = &t;
    write_long(source, sizeof source);
    if (rvm_jit_new(&o, &w.j, &e)) cr_skip_test("%s", e.message);
    w.m = native_machine(w.j, source, &p);
    cr_assert(!pthread_create(&thread, NULL, cancel_when_busy, &w));
    cr_assert(rvm_call(w.m, 0, a, 2, &e) == RVM_ERR_CANCELLED && !t.compiled);
    pthread_join(thread, NULL);
    rvm_machine_free(w.m); /* and the program, while it is being compiled */
    rvm_program_free(p);
    rvm_jit_free(w.j);
}

/* ---- polls, in tiers ---- */

static const char long_rows[] = "fn main(y: real[n], x: real[n], k: i64)\n"
                                "    for j in 0..k\n"
                                "        for i in 0..n\n"
                                "            y[i] += x[i]\n"
                                "        end\n"
                                "    end\n"
                                "end\n";

typedef struct watch {
    rvm_machine *m;
    unsigned calls, detach_at;
} watch;

static bool on_progress(void *userdata, uint64_t instructions) {
    watch *w = userdata;
    (void)instructions;
    if (++w->calls == w->detach_at) rvm_jit_detach(w->m);
    return false;
}

/* A run of long_rows that waits for the cache, or goes native; its status and instructions. */
static rvm_status run_rows(watch *w, uint64_t hot, uint64_t fuel, uint64_t *instructions) {
    enum { N = 20000, TIMES = 200 };
    static double y[N], x[N];
    report rep = {.name = "jit"};
    rvm_program *p = assemble_text(long_rows, NULL, &rep);
    rvm_jit_options o = in_tiers(hot, NULL);
    rvm_options options = rvm_options_default();
    const int64_t n = N;
    rvm_arg a[] = {rvm_arg_array(RVM_F64, y, 1, &n), rvm_arg_array(RVM_F64, x, 1, &n), rvm_arg_i64(TIMES)};
    rvm_stats stats;
    rvm_jit *j;
    options.fuel = fuel;
    options.progress = on_progress;
    options.userdata = w;
    cr_assert(p);
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(rvm_machine_new(p, &options, &w->m, &e) == RVM_OK && rvm_jit_attach(j, w->m, &e) == RVM_OK);
    const rvm_status st = rvm_call(w->m, 0, a, 3, &e);
    rvm_machine_stats(w->m, &stats);
    *instructions = stats.forward;
    rvm_machine_free(w->m);
    rvm_jit_free(j);
    rvm_program_free(p);
    return st;
}

Test(tiers, looks) { /* for a loop to enter: not beyond the fuel, and progress is not told of each */
    watch w = {0};
    uint64_t n;
    cr_assert(run_rows(&w, 0, 1010000, &n) == RVM_ERR_FUEL && n < 1010010, "%llu", (unsigned long long)n);
    w = (watch){0};
    cr_assert(run_rows(&w, 0, 0, &n) == RVM_OK && w.calls && w.calls <= n / 1000000, "%u calls", w.calls);
}

Test(tiers, detached_within) { /* by its own progress function, in native code */
    watch w = {.detach_at = 3};
    uint64_t n;
    cr_assert(run_rows(&w, 1000, 0, &n) == RVM_OK && w.calls && w.calls <= n / 1000000, "%u calls", w.calls);
}
