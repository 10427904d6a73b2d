/* limits.c: fuel, depth, memory, cancelling and progress, and that the machine goes back from each. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <time.h>

#include "harness.h"

static const char text[] = "fn spin(x: i64, n: i64)\n"
                           "    for i in 0..n\n"
                           "        x += i\n"
                           "    end\n"
                           "end\n"
                           "fn deep(y: i64, n: i64)\n"
                           "    if n > 0\n"
                           "        y += n\n"
                           "        call deep(y, n - 1)\n"
                           "    end\n"
                           "end\n"
                           "fn array(n: i64)\n"
                           "    let v: i64[n]\n"
                           "end\n"
                           "fn stack(x: i64, n: i64)\n"
                           "    for i in 0..n\n"
                           "        push x\n"
                           "    end\n"
                           "end\n";

static rvm_error e;

static rvm_machine *machine_with(const rvm_options *o, rvm_program **p) {
    report rep = {.name = "limits"};
    rvm_machine *m = NULL;
    *p = assemble_text(text, NULL, &rep);
    cr_assert(*p && rvm_machine_new(*p, o, &m, &e) == RVM_OK);
    return m;
}

static void close_machine(rvm_machine *m, rvm_program *p) {
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* The same limit gives the same place, and each run has its own. */
Test(limits, fuel) {
    rvm_options o = rvm_options_default();
    rvm_program *p;
    rvm_stats s[2];
    o.fuel = 1000;
    rvm_machine *m = machine_with(&o, &p);
    for (int k = 0; k < 2; k++) {
        rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(1000000)};
        rvm_machine_stats_reset(m);
        cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_ERR_FUEL && e.line > 0);
        rvm_machine_stats(m, &s[k]);
        cr_assert(s[k].forward >= 900 && s[k].forward <= 1100, "%llu", (unsigned long long)s[k].forward);
        cr_assert(s[k].forward == s[0].forward);
    }
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(100)};
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK && a[0].value.i == 4950);
    close_machine(m, p);
}

/* Fuel is not a place of no return: with more of it the run goes on from where it stood. */
Test(limits, fuel_goes_on) {
    rvm_options o = rvm_options_default();
    rvm_program *p;
    o.fuel = 1000;
    rvm_machine *m = machine_with(&o, &p);
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(2000)};
    cr_assert(rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e) == RVM_OK);
    rvm_status s = RVM_ERR_FUEL;
    int runs = 0;
    for (; s == RVM_ERR_FUEL && runs < 10; runs++) s = rvm_machine_forward(m, &e);
    cr_assert(s == RVM_OK && runs > 2, "%s after %d", rvm_status_name(s), runs);
    rvm_machine_unbind(m);
    cr_assert(a[0].value.i == 1999000);
    close_machine(m, p);
}

Test(limits, depth) {
    rvm_options o = rvm_options_default();
    rvm_program *p;
    rvm_stats s;
    o.depth = 100;
    rvm_machine *m = machine_with(&o, &p);
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(98)};
    cr_assert(rvm_call(m, 1, a, 2, &e) == RVM_OK && a[0].value.i == 98 * 99 / 2);
    rvm_machine_stats(m, &s);
    cr_assert(s.depth_peak >= 98 && s.depth_peak <= 100, "%u", s.depth_peak);
    rvm_arg b[] = {rvm_arg_i64(0), rvm_arg_i64(1000)};
    cr_assert(rvm_machine_bind(m, 1, b, 2, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(rvm_machine_forward(m, &e) == RVM_ERR_DEPTH && rvm_machine_frames(m) >= 99 && rvm_machine_frames(m) <= 101);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK);
    rvm_machine_unbind(m);
    cr_assert(b[0].value.i == 0 && b[1].value.i == 1000);
    close_machine(m, p);
}

Test(limits, memory) {
    rvm_options o = rvm_options_default();
    rvm_program *p;
    rvm_stats s;
    o.memory = 1 << 20;
    rvm_machine *m = machine_with(&o, &p);
    rvm_arg a = rvm_arg_i64(1000);
    cr_assert(rvm_call(m, 2, &a, 1, &e) == RVM_OK);
    rvm_machine_stats(m, &s);
    cr_assert(s.ancilla_peak >= 8000 && s.ancilla_peak < 20000, "%zu", s.ancilla_peak);
    static const struct {
        int64_t size;
        rvm_status status;
    } rows[] = {{1 << 17, RVM_ERR_MEMORY},
                {1ll << 40, RVM_ERR_MEMORY},
                {INT64_MAX / 8 + 1, RVM_ERR_SHAPE}, /* no limit would let it be */
                {INT64_MAX, RVM_ERR_SHAPE},
                {-1, RVM_ERR_SHAPE}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        a.value.i = rows[k].size;
        cr_assert(rvm_call(m, 2, &a, 1, &e) == rows[k].status, "%lld", (long long)rows[k].size);
    }
    a.value.i = 1000;
    cr_assert(rvm_call(m, 2, &a, 1, &e) == RVM_OK, "usable after all of that");
    rvm_machine_stats(m, &s);
    cr_assert(s.memory_peak <= o.memory);
    close_machine(m, p);
}

/* What grows one by one up to the limit moves seldom there, too. */
Test(limits, growing_up_to_the_limit) {
    rvm_options o = rvm_options_default();
    rvm_program *p;
    counting c;
    counting_init(&c);
    o.allocator = &c.al;
    o.memory = 1 << 20;
    rvm_machine *m = machine_with(&o, &p);
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(1 << 20)};
    const uint64_t before = c.calls;
    cr_assert(rvm_call(m, 3, a, 2, &e) == RVM_ERR_MEMORY);
    cr_assert(c.calls - before < 200, "%llu", (unsigned long long)(c.calls - before));
    close_machine(m, p);
}

static void *cancel_soon(void *m) {
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    rvm_machine_cancel(m);
    return NULL;
}

Test(limits, cancel_from_another_thread, .timeout = 60) {
    rvm_program *p;
    rvm_machine *m = machine_with(NULL, &p);
    pthread_t t;
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(INT64_MAX)};
    cr_assert(rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(pthread_create(&t, NULL, cancel_soon, m) == 0);
    cr_assert(rvm_machine_forward(m, &e) == RVM_ERR_CANCELLED);
    pthread_join(t, NULL);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "%s", e.message);
    rvm_machine_unbind(m);
    cr_assert(a[0].value.i == 0);
    rvm_machine_cancel(m); /* before a run: stops it, once */
    rvm_arg b[] = {rvm_arg_i64(0), rvm_arg_i64(10)};
    cr_assert(rvm_call(m, 0, b, 2, &e) == RVM_ERR_CANCELLED);
    rvm_arg c[] = {rvm_arg_i64(0), rvm_arg_i64(10)};
    cr_assert(rvm_call(m, 0, c, 2, &e) == RVM_OK && c[0].value.i == 45);
    close_machine(m, p);
}

typedef struct watch {
    unsigned calls, stop_at;
    uint64_t last;
    bool ordered;
    const rvm_machine *m;
    double share;
} watch;

static bool on_progress(void *userdata, uint64_t instructions) {
    watch *w = userdata;
    w->ordered = w->ordered && instructions > w->last;
    w->last = instructions;
    const double share = rvm_machine_share(w->m);
    w->ordered = w->ordered && (!w->m || (share > w->share && share < 1));
    w->share = share;
    return ++w->calls == w->stop_at;
}

Test(limits, progress) {
    watch w = {.ordered = true};
    rvm_options o = rvm_options_default();
    rvm_program *p;
    o.progress = on_progress;
    o.userdata = &w;
    rvm_machine *m = machine_with(&o, &p);
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(5000000)};
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK);
    cr_assert(w.calls >= 5 && w.calls <= 20 && w.ordered, "%u calls", w.calls);
    w = (watch){.stop_at = 2, .ordered = true};
    rvm_arg b[] = {rvm_arg_i64(0), rvm_arg_i64(INT64_MAX)};
    cr_assert(rvm_call(m, 0, b, 2, &e) == RVM_ERR_CANCELLED && w.calls == 2);
    w = (watch){.ordered = true, .m = m};
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK && w.ordered);
    cr_assert(w.share > 0.5, "the last share is %g", w.share);
    w = (watch){.ordered = true, .m = m};
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK && w.ordered && w.share > 0.5, "backward: %g", w.share);
    close_machine(m, p);
}
