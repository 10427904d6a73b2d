/* threads.c: parallel blocks in threads, beside the interpreter: the same bits, counts and errors for any number of them;
 * what fails, is cancelled or finds no fuel in the middle stops where a run in one thread does. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <time.h>

#include "harness.h"
#include "native.h"
#include "support.h"

/* Loops to `n - n` have no trip, and sines of sines take long: so what is short counts as worth threads. */
static const char text[] =
    "fn sums(s: real, t: f32, u: fix, v: i64, x: real[n], w: real)\n"
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        s += x[i] * w + sin(x[i])\n"
    "        t += f32(x[i])\n"
    "        u += fix(x[i]) / 8\n"
    "        v += i * i\n"
    "    end\n"
    "end\n"
    "fn step(y: i64, s: real, a: real[m], x: real, stop: real)\n" /* fails where x is stop, in the middle of a region */
    "    compute\n"
    "        let t: real[m] = 0.5\n"
    "        for k in 0..m\n"
    "            t[k] += a[k] * x\n"
    "        end\n"
    "        let q: real[3] = 1\n"
    "        q[1] += t[0] ^ 2\n"
    "        let go = x != stop\n"
    "        assert go\n"
    "    do\n"
    "        y += i64(q[1])\n"
    "        s += q[1] + t[m - 1]\n"
    "    undo\n"
    "end\n"
    "fn own(s: real, y: i64[n], z: real[n, 2], a: real[m], x: real[n], stop: real)\n"
    "    compute\n"
    "        let b: real[m] = 0\n"
    "        for k in 0..m\n"
    "            b[k] += 2 * a[k]\n"
    "        end\n"
    "        let c: real[2] = 0.25\n"
    "    do\n"
    "        parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "            z[i, 1] += x[i] * c[1]\n"
    "            call step(y[i], s, b, x[i], stop)\n"
    "            z[i, 0] += 3\n"
    "        end\n"
    "    undo\n"
    "end\n"
    "fn back(s: real, y: i64[n], z: real[n, 2], a: real[m], x: real[n], stop: real)\n"
    "    uncall own(s, y, z, a, x, stop)\n"
    "end\n"
    "fn near(s: real, y: i64, w: real[m], x: real, stop: real)\n"
    "    compute\n"
    "        let go = x != stop\n"
    "        assert go\n"
    "    do\n"
    "        for j in 0..m\n"
    "            s += w[j] * x\n"
    "            y += i64(w[j] * 4)\n"
    "        end\n"
    "    undo\n"
    "end\n"
    "fn windows(s: real, y: i64[n], a: real[m], x: real[n], stop: real)\n"
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        let k = i64(floor(abs(x[i]))) % (m - 3)\n"
    "        call near(s, y[i], a[k..k + 3], x[i], stop)\n"
    "    end\n"
    "end\n"
    "fn parts(s: real, y: i64[n], a: real[m], x: real[n], stop: real)\n" /* of what is only read, without and within */
    "    call windows(s, y, a[1..m], x, stop)\n"
    "end\n"
    "fn histogram(h: i64[m], x: real[n])\n"
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        let k = i64(floor(abs(x[i]))) % m\n"
    "        for j in 0..m\n"
    "            h[(k + j) % m] += j * i\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn weights(h: real[m], s: real, x: real[n])\n"
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        for j in 0..m\n"
    "            h[j] += sin(x[i] + real(j))\n"
    "            s += cos(x[i])\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn fill(s: real, x: real[n], w: real)\n" /* a local array that instances change: its largest magnitude counts */
    "    compute\n"
    "        let t: real[n] = 0\n"
    "        parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "            t[i] += exp(x[i] / 300) + w\n"
    "            t[i] += 1000000000000\n"
    "            t[i] -= 1000000000000\n"
    "        end\n"
    "    do\n"
    "        parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "            s += t[i] * x[i] + cos(t[i])\n"
    "        end\n"
    "    undo\n"
    "end\n"
    "fn gather(s: real, x: real[n])\n" /* the same with elements that all add into */
    "    compute\n"
    "        let h: real[3] = 0\n"
    "        parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "            for j in 0..3\n"
    "                h[j] += 10000000000 * sin(x[i]) ^ 2 + real(j)\n"
    "            end\n"
    "        end\n"
    "    do\n"
    "        s += h[0] + h[1] + h[2]\n"
    "    undo\n"
    "end\n"
    "fn shared(h: real[m], y: i64[n], x: real[n], stop: real)\n" /* twice to elements, memory while an instance runs */
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        compute\n"
    "            let t: real[m] = 0.5\n"
    "            for k in 0..m\n"
    "                t[k] += x[i] * real(k)\n"
    "            end\n"
    "            let go = x[i] != stop\n"
    "            assert go\n"
    "        do\n"
    "            y[i] += i64(t[1])\n"
    "            for k in 0..m\n"
    "                h[k] += t[k] / 4\n"
    "                h[m - 1 - k] -= t[k] / 8\n"
    "            end\n"
    "        undo\n"
    "    end\n"
    "end\n"
    "fn listed(v: real[n], y: i64[n], x: real[n], stop: real)\n" /* roles are enforced: no two meet */
    "    parallel i in 0..n\n"
    "        let k = i * 7 % n\n"
    "        let go = x[k] != stop\n"
    "        assert go\n"
    "        v[k] += sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(x[i]))))))))))))))))\n"
    "        y[k] ^= i64(v[k] * 1000)\n"
    "    end\n"
    "end\n"
    "fn met(v: real[n], x: real[n], stop: real)\n" /* two meet where x is stop */
    "    parallel i in 0..n\n"
    "        let k = i * 7 % (n - (x[i] == stop))\n"
    "        v[k] += sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(x[i]))))))))))))))))\n"
    "        v[k] *= 2\n"
    "    end\n"
    "end\n"
    "fn between(x: real[n])\n" /* two add into every other element: proved to be no race, but not apart */
    "    parallel i in 0..2500\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        for k in 0..3\n"
    "            x[2 * i] += sin(x[2 * i + 1])\n"
    "            x[2 * i + 2] += cos(x[2 * i + 1])\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn around(x: real[n], w: i64)\n" /* the same, which only the run shows */
    "    parallel i in 0..2500\n"
    "        let k = 2 * i % (n + w)\nfor no in 0..n - n\nfor j in 0..200\nend\nend\n"
    "        x[k] += 100 * sin(x[k + 1])\n"
    "        x[k + 2] += 100 * cos(x[k + 1])\n"
    "        x[k] -= exp(x[k + 1] / 200)\n"
    "        x[k + 2] -= exp(x[k + 1] / 300)\n"
    "    end\n"
    "end\n"
    "fn once(y: real, w: real, a: real[m], x: real, stop: real)\n"
    "    let u: real\n"
    "    compute\n"
    "        let go = 1 // i64(x != stop)\n"
    "    do\n"
    "        w += x\n"
    "        for j in 0..m\n"
    "            u += a[j] * w\n"
    "        end\n"
    "        y += u\n"
    "        for j in 0..m\n"
    "            u -= a[j] * w\n"
    "        end\n"
    "        w += 2 * x\n"
    "    undo\n"
    "end\n"
    "fn fading(y: real[n], a: real[m], x: real[n], stop: real)\n" /* w is dead once it is used */
    "    let w: real[n] = 0\n"
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        call once(y[i], w[i], a, x[i], stop)\n"
    "    end\n"
    "    for i in 0..n\n"
    "        w[i] -= 2 * x[i]\n"
    "        w[i] -= x[i]\n"
    "    end\n"
    "end\n"
    "fn mixed(h: real[m], v: real[n, 2], y: i64[n], x: real[n], stop: real)\n" /* own elements beside shared ones */
    "    parallel i in 0..n\n"
    "        compute\n"
    "            let go = x[i] != stop\n"
    "            assert go\n"
    "        do\n"
    "            v[i, 1] += 2 * x[i]\n"
    "            for j in 0..m\n"
    "                h[j] += x[i] * real(j) + sin(x[i])\n"
    "                v[i, 0] += x[i]\n"
    "            end\n"
    "            y[i] ^= i64(x[i])\n"
    "        undo\n"
    "    end\n"
    "end\n"
    "fn lost(h: real[m], v: real[n, 2], w: real[2, 626, 8], z: real[2, n], s: real, x: real[n], stop: real)\n" /* what was
                                                                                                                  there */
    "    parallel i in 0..n\n"
    "        v[i, 0] += sin(x[i])\n"
    "        set v[i, 1] = exp(x[i] / 300)\n"
    "        let long = i64(x[i] == stop) * 2000000\n" /* so that others are done with chunks behind */
    "        for k in 0..long\n"
    "            s += real(k)\n"
    "        end\n"
    "        set w[0, i // 8, i % 8] = x[i] ^ 2\n"
    "        z[1, i] += cos(x[i])\n"
    "        for j in 0..m\n"
    "            h[j] += sin(x[i] + real(j))\n"
    "        end\n"
    "        for a in 0..6\n" /* so that it is worth threads */
    "            for b in 0..6\n"
    "                for c in 0..6\n"
    "                    s += x[i]\n"
    "                    s -= 2 * x[i]\n"
    "                end\n"
    "            end\n"
    "        end\n"
    "        s += real(1 // i64(x[i] != stop))\n"
    "        z[0, i] *= 2 + x[i] ^ 2\n"
    "        w[1, i // 8, i % 8] += w[0, i // 8, i % 8]\n"
    "    end\n"
    "end\n"
    "fn spin(y: i64[n], m: i64)\n"
    "    parallel i in 0..n\nfor no in 0..n - n\nfor k in 0..200\nend\nend\n"
    "        for k in 0..m\n"
    "            if k >= 0\n"
    "                y[i] += k * k % 7\n"
    "            end\n"
    "        end\n"
    "    end\n"
    "end\n";
enum { N = 5001 };

static rvm_program *program;
static report rep = {.name = "threads"};
static rvm_error e;

static void setup(void) {
    program = assemble_text(text, NULL, &rep);
    cr_assert(program);
}

static void teardown(void) {
    rvm_program_free(program);
}

TestSuite(threads, .init = setup, .fini = teardown);

static unsigned blocks, in_threads; /* of the code that was compiled, or found, last */

static void on_notice(void *userdata, const rvm_jit_notice *n) {
    (void)userdata;
    blocks = n->blocks, in_threads = n->in_threads;
}

/* Skips the test where there is no native code. */
static rvm_jit *open_jit(unsigned threads, bool fast) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    o.level = 0;
    o.tiers = false;
    o.threads = threads;
    o.fast_math = fast;
    o.notice = on_notice;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    return j;
}

/* Arguments with x of N elements, whole numbers of eighths, so that what is taken back comes back bit for bit. Where the run
 * is to fail an instance takes longer, so that other threads have begun what lies behind. */
static args arguments(const char *function, double stop) {
    const int64_t fn = rvm_program_find(program, function);
    args a = args_new(program, fn);
    const char *why;
    rng r = {42};
    const int64_t x = args_find(program, fn, "x");
    if (x >= 0) {
        cr_assert(args_set(&a, program, fn, "x", "5001*0.5", &why), "%s", why);
        for (size_t k = 0; k < N; k++) arg_value(&a.a[x], k)->f = (double)rng_below(&r, 4000) / 8 - 250.0625;
    }
    if (args_find(program, fn, "a") >= 0) cr_assert(args_set(&a, program, fn, "a", stop > 1 ? "400*0.5" : "6*0.5", &why));
    if (strcmp(function, "parts") == 0)
        for (int k = 0; k < 6; k++) arg_value(&a.a[args_find(program, fn, "a")], (size_t)k)->f = 0.25 * k;
    if (args_find(program, fn, "h") >= 0) cr_assert(args_set(&a, program, fn, "h", stop > 1 ? "90*0" : "9*0", &why));
    if (args_find(program, fn, "stop") >= 0) a.a[args_find(program, fn, "stop")].value.f = stop;
    cr_assert(args_complete(&a, program, fn, &why), "%s", why);
    return a;
}

static void check(const char *function, double fails_at, bool inverse) {
    args a = arguments(function, fails_at >= 0 ? 1e6 : 0.03);
    if (fails_at >= 0)
        arg_value(&a.a[args_find(program, rvm_program_find(program, function), "x")], (size_t)fails_at)->f = 1e6;
    for (unsigned threads = TRY_ONE_IN > 1 ? 5 : 2; threads <= 5; threads += 3) {
        rvm_jit *j = open_jit(threads, false);
        subject s = subject_new(program, rvm_program_find(program, function), &a, &rep);
        const natives n = {.way = {[NATIVE_WHOLE] = j}};
        s.native = &n;
        s.inverse = inverse;
        cr_assert(fails_at >= 0 ? check_native_failure(&s) : check_native(&s), "%s, %u threads", function, threads);
        rvm_jit_free(j);
    }
    args_free(&a);
}

Test(threads, sums) {
    check("sums", -1, false);
    check("sums", -1, true);
}

Test(threads, own_elements) {
    check("own", -1, false);
    check("back", -1, false);
}

Test(threads, parts) {
    check("parts", -1, false);
    check("parts", -1, true);
    check("parts", 3000, false);
}

Test(threads, failures) {
    check("own", 3000, false);
    check("own", 0, false);
    check("own", 1023, false);
    check("own", 5000, false);
    check("back", 3000, false);
}

Test(threads, added_into_between) {
    check("between", -1, false);
    check("between", -1, true);
    check("around", -1, false);
    check("around", -1, true);
}

Test(threads, roles_enforced) {
    check("listed", -1, false);
    check("listed", -1, true);
    check("listed", 3000, false);
    check("listed", 0, true);
    check("met", -1, false);
    check("met", -1, true);
    check("met", 3000, false);
    check("met", 1000, true);
}

Test(threads, local_arrays) {
    check("fill", -1, false);
    check("fill", -1, true);
}

Test(threads, whole_numbers_into_elements) {
    check("histogram", -1, false);
}

Test(threads, own_and_shared_elements) {
    check("mixed", -1, false);
    if (TRY_ONE_IN == 1) check("mixed", -1, true);
    check("mixed", 3000, false);
    if (TRY_ONE_IN == 1) check("mixed", 256, true);
    cr_expect(blocks == 1 && in_threads == 1, "%u of %u", in_threads, blocks);
}

Test(threads, into_elements) {
    check("shared", -1, false);
    check("shared", -1, true);
    check("shared", 3000, false);
    check("weights", -1, false);
    check("gather", -1, false);
}

/* What cannot turn back; instance fails_at fails; a parameter that is fresh, or NULL. */
static args run_one_way(const char *function, unsigned threads, double fails_at, const char *fresh) {
    rvm_jit *j = open_jit(threads, false);
    args a = arguments(function, 1e6);
    const int64_t fn = rvm_program_find(program, function);
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    if (fails_at >= 0) arg_value(&a.a[args_find(program, fn, "x")], (size_t)fails_at)->f = 1e6;
    if (fresh) a.a[args_find(program, fn, fresh)].fresh = true;
    o.unchecked = true;
    o.trust = true;
    o.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_machine_new(program, &o, &m, &e) && !rvm_jit_attach(j, m, &e));
    const rvm_status st = rvm_call(m, fn, a.a, a.n, &e);
    cr_assert(st == (fails_at < 0 ? RVM_OK : RVM_ERR_DOMAIN), "%d: %s", st, e.message);
    if (st)
        cr_assert(rvm_machine_backward(m, &e) == RVM_ERR_UNSUPPORTED, "%s, %u threads: %s", function, threads, e.message);
    rvm_machine_free(m);
    rvm_jit_free(j);
    return a;
}

static void check_one_way(const char *function, const char *fresh) {
    static const double fails_at[] = {-1, 0, 1500, 3000, 5000};
    for (size_t k = 0; k<sizeof fails_at / sizeof *fails_at; k += TRY_ONE_IN> 1 ? 3 : 1) {
        args a = run_one_way(function, 1, fails_at[k], fresh), b = run_one_way(function, 4, fails_at[k], fresh);
        cr_assert(args_agree(&rep, function, program, rvm_program_find(program, function), &a, &b, COMPARE_BITS, 0),
                  "fails at %g", fails_at[k]);
        args_free(&a);
        args_free(&b);
    }
}

/* Dead code is left out, but in chunks that may be taken back. */
Test(threads, one_way) {
    check_one_way("fading", NULL);
}

/* What instances change for themselves is kept while a chunk runs. */
Test(threads, saved) {
    check_one_way("lost", NULL);
    cr_expect(blocks == 1 && in_threads == 1, "%u of %u", in_threads, blocks);
    check_one_way("lost", "v"); /* what was there is nothing, which nobody keeps */
    check_one_way("lost", "w");
}

/* An allocator that gives nothing to helpers: the same bits. */
static pthread_t caller;
static void *to_caller(void *userdata, void *p, size_t old_size, size_t new_size) {
    (void)userdata;
    if (new_size > old_size && !pthread_equal(pthread_self(), caller)) return NULL;
    return rvm__libc_allocator.alloc(rvm__libc_allocator.userdata, p, old_size, new_size);
}

static args run_with(const char *function, rvm_jit *j, const rvm_allocator *al) {
    args a = arguments(function, 1e6);
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    o.allocator = al;
    cr_assert(!rvm_machine_new(program, &o, &m, &e) && (!j || !rvm_jit_attach(j, m, &e)));
    cr_assert(rvm_call(m, rvm_program_find(program, function), a.a, a.n, &e) == RVM_OK, "%s", e.message);
    rvm_machine_free(m);
    return a;
}

Test(threads, allocator_that_fails_helpers) {
    static const rvm_allocator al = {to_caller, NULL};
    const char *functions[] = {"shared", "weights"};
    caller = pthread_self();
    rvm_jit *j = open_jit(4, false);
    for (int k = 0; k < 2; k++) {
        args a = run_with(functions[k], NULL, NULL), b = run_with(functions[k], j, &al);
        cr_assert(args_agree(&rep, functions[k], program, rvm_program_find(program, functions[k]), &a, &b, COMPARE_BITS, 0));
        args_free(&a);
        args_free(&b);
    }
    rvm_jit_free(j);
}

/* With fast math, too, the bits depend on no number. */
static void fast(const char *function) {
    args first = {0};
    const int64_t fn = rvm_program_find(program, function);
    for (unsigned threads = 1; threads <= 5; threads += 1 + (threads == 3)) {
        rvm_jit *j = open_jit(threads, true);
        rvm_machine *m = NULL;
        args a = arguments(function, 0);
        cr_assert(!rvm_machine_new(program, NULL, &m, &e) && !rvm_jit_attach(j, m, &e));
        cr_assert(rvm_call(m, fn, a.a, a.n, &e) == RVM_OK, "%s", e.message);
        if (threads == 1)
            first = args_copy(&a);
        else
            cr_assert(args_agree(&rep, "fast", program, fn, &first, &a, COMPARE_BITS, 0));
        args_free(&a);
        rvm_machine_free(m);
        rvm_jit_free(j);
    }
    args_free(&first);
}

Test(threads, fast) {
    fast("weights");
    fast("gather");
}

/* ---- another runner ---- */

static unsigned jobs;

/* It has done none of the instances; every other one leaves that to threads. */
static uint64_t run_none(rvm_machine *m, rvm__native *n, const rvm__native_job *o) {
    return jobs++ % 2 ? rvm__threads.run(m, n, o) : 0;
}

static args call_with(const rvm__runner *runner, const char *function) {
    rvm_jit *j = open_jit(2, false);
    rvm_machine *m = NULL;
    args a = arguments(function, 0.03);
    cr_assert(!rvm_machine_new(program, NULL, &m, &e) && !rvm_jit_attach(j, m, &e));
    if (runner) m->jit.runner = runner;
    for (int k = 0; k < 2; k++) cr_assert(rvm_call(m, rvm_program_find(program, function), a.a, a.n, &e) == RVM_OK);
    rvm_machine_free(m);
    rvm_jit_free(j);
    return a;
}

Test(threads, runners) {
    rvm__runner other = rvm__threads;
    other.run = run_none;
    args a = call_with(NULL, "weights"), b = call_with(&other, "weights");
    cr_assert(jobs == 2, "%u", jobs);
    cr_assert(args_agree(&rep, "runners", program, rvm_program_find(program, "weights"), &a, &b, COMPARE_BITS, 0));
    args_free(&a), args_free(&b);
}

static rvm_machine *spinning(rvm_jit *j, const rvm_options *o) {
    rvm_machine *m = NULL;
    cr_assert(!rvm_machine_new(program, o, &m, &e) && !rvm_jit_attach(j, m, &e));
    return m;
}

/* Local arrays of a call: those of an earlier one's chunks do not count, whoever ran them, and all of its own do. */
Test(threads, peak_of_local_arrays) {
    enum { LARGE = 8000, SMALL = 3900 };
    rvm_jit *j = open_jit(4, false);
    const int64_t lengths[2] = {LARGE, SMALL}, counts[2] = {N, 3 * RVM__CHUNK}, fn = rvm_program_find(program, "own");
    static double a[LARGE], x[N], z[2 * N];
    static int64_t y[N];
    rvm_machine *m = spinning(j, NULL);
    rvm_stats s;
    size_t peak = 0;
    for (int k = 0; k < 20; k++) { /* at first all chunks may be the caller's */
        const int64_t *n = &counts[k % 2], *length = &lengths[k % 2];
        const size_t least = 2 * (size_t)*length * sizeof *a; /* with what the block's surroundings have */
        rvm_arg by[] = {rvm_arg_f64(0),
                        rvm_arg_array_i64(y, 1, n),
                        rvm_arg_array_f64(z, 2, (int64_t[]){*n, 2}),
                        rvm_arg_array_f64(a, 1, length),
                        rvm_arg_array_f64(x, 1, n),
                        rvm_arg_f64(5)};
        rvm_machine_stats_reset(m);
        cr_assert(rvm_call(m, fn, by, 6, &e) == RVM_OK, "%s", e.message);
        rvm_machine_stats(m, &s);
        cr_assert(s.ancilla_peak >= least && (k % 2 == 0 || s.ancilla_peak < peak / 2 + 1000), "%d: %zu", k, s.ancilla_peak);
        peak = s.ancilla_peak;
    }
    rvm_machine_free(m);
    rvm_jit_free(j);
}

/* ---- cancelled from elsewhere ---- */

typedef struct canceller {
    rvm_machine *m;
    long after; /* nanoseconds */
    uint64_t told;
} canceller;

static void *cancel_soon(void *argument) {
    const canceller *c = argument;
    nanosleep(&(struct timespec){.tv_nsec = c->after}, NULL);
    rvm_machine_cancel(c->m);
    return NULL;
}

static bool told(void *userdata, uint64_t instructions) {
    canceller *c = userdata;
    c->told = instructions;
    return instructions > 3000000;
}

static bool all_zero(const int64_t *y, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (y[k]) return false;
    return true;
}

/* Chunks that are short are ended, long ones are left in the middle: either way everything is taken back. */
static void cancelled(int64_t m, long after) {
    rvm_jit *j = open_jit(3, false);
    const int64_t n = N, fn = rvm_program_find(program, "spin");
    int64_t y[N] = {0};
    rvm_arg a[] = {rvm_arg_array_i64(y, 1, &n), rvm_arg_i64(m)};
    canceller c = {spinning(j, NULL), after, 0};
    pthread_t thread;
    a[1].value.i = 1;
    cr_assert(rvm_call(c.m, fn, a, 2, &e) == RVM_OK, "%s", e.message); /* compiled from here on */
    a[1].value.i = m;
    cr_assert(!pthread_create(&thread, NULL, cancel_soon, &c));
    const rvm_status st = rvm_call(c.m, fn, a, 2, &e);
    pthread_join(thread, NULL);
    cr_assert(st == RVM_ERR_CANCELLED, "%s", rvm_status_name(st));
    cr_assert(rvm_machine_backward(c.m, &e) == RVM_OK && all_zero(y, N), "%s", e.message);
    rvm_machine_free(c.m);
    rvm_jit_free(j);
}

Test(threads, cancelled) {
    cancelled(20000, 50000000 / TRY_ONE_IN / TRY_ONE_IN);
    cancelled(10000000, 50000000 / TRY_ONE_IN / TRY_ONE_IN);
}

/* The caller's own function, which is called by its thread alone. */
Test(threads, progress) {
    rvm_jit *j = open_jit(3, false);
    const int64_t n = N, fn = rvm_program_find(program, "spin");
    int64_t y[N] = {0};
    rvm_arg a[] = {rvm_arg_array_i64(y, 1, &n), rvm_arg_i64(20000)};
    canceller c = {0};
    rvm_options o = rvm_options_default();
    o.progress = told;
    o.userdata = &c;
    rvm_machine *m = spinning(j, &o);
    cr_assert(rvm_call(m, fn, a, 2, &e) == RVM_ERR_CANCELLED && c.told > 3000000, "%s", e.message);
    rvm_machine_free(m);
    rvm_jit_free(j);
}

/* The machine's memory is limited for all threads together, and comes from its allocator, by one thread at a time. */
static void *counted(void *userdata, void *p, size_t old_size, size_t new_size) {
    size_t *now = userdata;
    void *q = rvm__libc_allocator.alloc(rvm__libc_allocator.userdata, p, old_size, new_size);
    if (q || !new_size) *now += new_size - old_size;
    return q;
}

Test(threads, memory) {
    size_t now = 0;
    const rvm_allocator al = {counted, &now};
    rvm_options o = rvm_options_default();
    o.allocator = &al;
    for (o.memory = 0; o.memory <= 200000; o.memory += 20000) {
        args a = arguments("own", 1e6); /* anew: a run that stops leaves what it did */
        rvm_jit *j = open_jit(3, false);
        rvm_machine *m = NULL;
        rvm_status st = rvm_machine_new(program, &o, &m, &e);
        if (!st) st = rvm_jit_attach(j, m, &e);
        if (!st) st = rvm_call(m, rvm_program_find(program, "own"), a.a, a.n, &e);
        if (st == RVM_OK) st = rvm_machine_backward(m, &e);
        cr_assert(st == RVM_OK || st == RVM_ERR_MEMORY, "%s", e.message);
        rvm_machine_free(m);
        rvm_jit_free(j);
        args_free(&a);
        cr_assert(now == 0);
    }
}
