/* trail.c: the trail by the C interface: memory, limits, the option off. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm.h"
#include "rvm_asm.h"

static rvm_program *program(const char *text) {
    rvm_program *p = NULL;
    rvm_error e;
    cr_assert(rvm_assemble(text, strlen(text), "t.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    return p;
}

static const char fill[] = "fn fill(y: real, n: i64)\n"
                           "    for i in 0..n\n"
                           "        set y = y + 1\n"
                           "    end\n"
                           "end\n"
                           "fn regions(y: real, x: real)\n"
                           "    compute\n"
                           "        let t: real\n"
                           "        set t = x\n"
                           "    do\n"
                           "        set y = t * 2\n"
                           "    undo\n"
                           "end\n"
                           "fn back(y: real, x: real)\n"
                           "    call regions(y, x)\n"
                           "    uncall regions(y, x)\n"
                           "end\n";

enum { FEW = 24 }; /* bytes that tell the sites of a loop with one */

static rvm_machine *machine(const rvm_program *p, rvm_trail trail, size_t limit) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    o.trail = trail;
    o.trail_limit = limit;
    cr_assert(rvm_machine_new(p, &o, &m, NULL) == RVM_OK);
    return m;
}

static rvm_stats stats(const rvm_machine *m) {
    rvm_stats s;
    rvm_machine_stats(m, &s);
    return s;
}

static rvm_machine *counted_machine(const rvm_program *p, size_t limit, counting *c) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    counting_init(c);
    o.trail_limit = limit;
    o.allocator = &c->al;
    cr_assert(rvm_machine_new(p, &o, &m, NULL) == RVM_OK);
    return m;
}

/* There and back, twice, of so many values: 8 bytes a value, and room for up to an eighth more. *kept: bytes that the
 * machine has when it is back, beyond those that it had before; *again: allocations of the second time. */
static void fill_twice(size_t limit, int64_t n, uint64_t *kept, uint64_t *again) {
    counting c;
    rvm_program *p = program(fill);
    rvm_machine *m = counted_machine(p, limit, &c);
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_i64(n)};
    rvm_error e;
    cr_assert(rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e) == RVM_OK);
    const uint64_t before = c.live_bytes, values = 8 * (uint64_t)n;
    for (int k = 0; k < 2; k++) {
        *again = c.calls;
        cr_assert(rvm_machine_forward(m, &e) == RVM_OK, "%s", e.message);
        cr_assert(stats(m).trail_cells == (uint64_t)n && stats(m).trail_peak == values + FEW);
        cr_assert(c.live_bytes - before < values + values / 8 + 100000, "%zu", (size_t)c.live_bytes);
        cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "%s", e.message);
        cr_assert(stats(m).trail_cells == 0 && a[0].value.f == 0);
        *again = c.calls - *again;
    }
    *kept = c.live_bytes - before;
    rvm_machine_free(m);
    rvm_program_free(p);
    cr_assert(c.live_bytes == 0 && !c.mismatch);
}

/* Its memory stays for the next run, within a bound; under a limit it does not. */
Test(trail, memory, .timeout = 120) {
    uint64_t kept, again;
    fill_twice(0, 1000000, &kept, &again);
    cr_assert(kept >= 8000000 && !again, "%zu bytes stay, and then %zu allocations", (size_t)kept, (size_t)again);
    fill_twice(SIZE_MAX, 1000000, &kept, &again);
    cr_assert(kept < 200000 && again, "%zu bytes stay under a limit", (size_t)kept);
    if (TRY_ONE_IN > 1) return; /* half a minute under sanitizers */
    fill_twice(0, RVM_TRAIL_LEFT / 8 * 5 / 4, &kept, &again);
    cr_assert(kept <= RVM_TRAIL_LEFT + 200000, "%zu bytes stay", (size_t)kept);
}

/* 8 bytes a value also where sites are many, and where an entry has two values. */
Test(trail, many_sites) {
    enum { LINES = 400, TRIPS = 25 };
    static char source[LINES * 48 + 200];
    size_t at = 0;
    at += (size_t)sprintf(source, "fn f(x: real, z: complex, n: i64)\n    for i in 0..n\n");
    for (int k = 0; k < LINES; k++) at += (size_t)sprintf(source + at, "        set x = x + %d\n        set z = z / 2\n", k);
    sprintf(source + at, "    end\nend\n");
    rvm_program *p = program(source);
    rvm_machine *m = machine(p, RVM_TRAIL_KEEP, 0);
    rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_f64(0x1p-900), rvm_arg_f64(0x1p-900), rvm_arg_i64(TRIPS)};
    rvm_error e;
    cr_assert(rvm_machine_bind(m, 0, a, 4, RVM_PRIMAL, false, &e) == RVM_OK, "%s", e.message);
    for (int again = 0; again < 2; again++) {
        cr_assert(rvm_machine_forward(m, &e) == RVM_OK, "%s", e.message);
        cr_assert(stats(m).trail_cells == 3 * LINES * TRIPS);
        cr_assert(stats(m).trail_peak <= 8 * 3 * LINES * TRIPS + FEW, "%zu", (size_t)stats(m).trail_peak);
        cr_assert(rvm_machine_backward(m, &e) == RVM_OK, "%s", e.message);
    }
    rvm_machine_unbind(m);
    cr_assert(a[0].value.f == 1 && a[1].value.f == 0x1p-900 && a[2].value.f == 0x1p-900);
    rvm_machine_free(m);
    rvm_program_free(p);
}

static const char flags[] = "fn turns(k: i64, n: i64)\n"
                            "    while k < n\n"
                            "        k += 1\n"
                            "    end\n"
                            "end\n"
                            "fn within(k: i64, m: i64, n: i64)\n"
                            "    for i in 0..n\n"
                            "        let j: i64\n"
                            "        while j < m\n"
                            "            j += 1\n"
                            "        end\n"
                            "        k += j\n"
                            "        drop j\n"
                            "    end\n"
                            "end\n"
                            "fn chances(s: i64, y: real, n: i64)\n"
                            "    let r: i64\n"
                            "    for i in 0..n\n"
                            "        r *= 6364136223846793005\n"
                            "        r += 1442695040888963407\n"
                            "        if r < 0 -> drop\n"
                            "            s += 1\n"
                            "        else\n"
                            "            set y = y + 1\n"
                            "        end\n"
                            "    end\n"
                            "    drop r\n"
                            "end\n";

/* A flag is a bit, whatever it is; those of a `while` are as good as a counter for each time that it runs. */
Test(trail, flags) {
    enum { N = 100000 };
    rvm_program *p = program(flags);
    rvm_machine *m = machine(p, RVM_TRAIL_KEEP, 0);
    rvm_error e;
    rvm_arg a[] = {rvm_arg_i64(0), rvm_arg_i64(1000000)};
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK && a[0].value.i == 1000000, "%s", e.message);
    cr_assert(stats(m).trail_cells == 1000001 && stats(m).trail_peak <= 100, "%zu", (size_t)stats(m).trail_peak);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK && a[0].value.i == 0 && stats(m).trail_cells == 0, "%s", e.message);
    rvm_machine_stats_reset(m);
    rvm_arg b[] = {rvm_arg_i64(0), rvm_arg_i64(10000), rvm_arg_i64(100)};
    cr_assert(rvm_call(m, 1, b, 3, &e) == RVM_OK && b[0].value.i == 1000000, "%s", e.message);
    cr_assert(stats(m).trail_peak <= 100 * 48, "%zu", (size_t)stats(m).trail_peak);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK && b[0].value.i == 0, "%s", e.message);
    rvm_machine_stats_reset(m);
    rvm_arg c[] = {rvm_arg_i64(0), rvm_arg_f64(0), rvm_arg_i64(N)};
    cr_assert(rvm_call(m, 2, c, 3, &e) == RVM_OK && c[0].value.i + (int64_t)c[1].value.f == N, "%s", e.message);
    const size_t values = 8 * (size_t)c[1].value.f, rest = stats(m).trail_peak - values;
    cr_assert(llabs(c[0].value.i - N / 2) < N / 50 && rest > N / 8 && rest < N / 8 * 17 / 16, "%zu", rest);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK && c[0].value.i == 0 && c[1].value.f == 0, "%s", e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* Off: the bits are counted, nothing is kept, and there is no way back; what the run takes back itself is kept. */
Test(trail, off) {
    rvm_program *p = program(fill);
    rvm_machine *m = machine(p, RVM_TRAIL_OFF, 0);
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_i64(1000)};
    rvm_error e;
    cr_assert(rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e) == RVM_OK);
    cr_assert(rvm_machine_forward(m, &e) == RVM_OK && a[0].value.f == 1000);
    cr_assert(stats(m).bits_erased == 64000 && stats(m).trail_peak == 0);
    cr_assert(rvm_machine_backward(m, &e) == RVM_ERR_TRAIL && strstr(e.message, "discarded"), "%s", e.message);
    rvm_arg b[] = {rvm_arg_f64(3), rvm_arg_f64(7)};
    cr_assert(rvm_call(m, rvm_program_find(p, "regions"), b, 2, &e) == RVM_OK, "%s", e.message);
    cr_assert(stats(m).bits_erased == 64064 && stats(m).trail_peak == 8);
    cr_assert(rvm_call(m, rvm_program_find(p, "back"), b, 2, &e) == RVM_OK, "%s", e.message);
    cr_assert(stats(m).bits_erased == 64064 && b[0].value.f == 14 && stats(m).trail_peak == 16);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* A limit is an error that has changed nothing: the run goes back. */
Test(trail, limit) {
    rvm_program *p = program(fill);
    rvm_machine *m = machine(p, RVM_TRAIL_KEEP, 8000 + FEW);
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_i64(1000)};
    rvm_error e;
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK, "%s", e.message);
    a[0].value.f = 5;
    a[1].value.i = 1001;
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_ERR_LIMIT && rvm_status_exit(e.code) == 4 && e.line == 3, "%s", e.message);
    cr_assert(rvm_machine_backward(m, &e) == RVM_OK && a[0].value.f == 5);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* More sites than a byte can tell, each still by its own number. */
Test(trail, sites) {
    enum { N = 600 };
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "fn f(y: real)\n");
    for (int k = 0; k < N; k++) fprintf(f, "    set y = y %c %d\n", "+*"[k % 2], 1 + k % 3);
    fprintf(f, "end\nfn g(y: real)\n    drop 0, %d, 1, y\n    undrop 0, %d, 1, y\nend\n", N + 100, N + 101);
    fclose(f);
    rvm_program *p = program(text);
    rvm_machine *m = machine(p, RVM_TRAIL_KEEP, 0);
    rvm_arg a[] = {rvm_arg_f64(1)};
    rvm_error e;
    a[0].active = true;
    a[0].shadow.f = 1;
    cr_assert(rvm_gradient(m, 0, a, 1, &e) == RVM_OK && a[0].value.f == 1 && a[0].shadow.f > 1, "%s", e.message);
    cr_assert(stats(m).trail_cells == 0);
    cr_assert(rvm_call(m, 1, a, 1, &e) == RVM_ERR_TRAIL && e.line == N + 5, "%s at %u", e.message, e.line);
    rvm_machine_free(m);
    rvm_program_free(p);
    free(text);
}

/* Forward and sweep in small pieces, turning around wherever a piece ends: inside loops, calls, both passes of regions. */
static const char turns[] = "fn inner(y: real, x: real[n], k: real)\n"
                            "    compute\n"
                            "        let s: real\n"
                            "        for i in 0..n\n"
                            "            set s = s * k + x[i]\n"
                            "        end\n"
                            "        for i in 0..n\n"
                            "            x[i] *= 2\n"
                            "        end\n"
                            "    do\n"
                            "        for i in 0..n\n"
                            "            y += s * sin(k)\n"
                            "        end\n"
                            "    undo\n"
                            "end\n"
                            "fn turns(y: real, x: real[n], k: real)\n"
                            "    for j in 0..3\n"
                            "        call inner(y, x, k)\n"
                            "        set k = k / 2 + cos(y) / 8\n"
                            "        uncall inner(y, x, k)\n"
                            "        let v: real[2] = k\n"
                            "        x[0] += v[0] * v[1] / 4\n"
                            "    end\n"
                            "end\n";

static rvm_status go_on(rvm_machine *m, bool sweep, int pieces, rvm_error *e) {
    rvm_status st = RVM_ERR_FUEL;
    for (int k = 0; k < pieces && st == RVM_ERR_FUEL; k++) st = sweep ? rvm_machine_sweep(m, e) : rvm_machine_forward(m, e);
    return st;
}

Test(trail, turns) {
    enum { N = 4, PIECES = 100000 };
    const double at[N] = {1, -0.5, 0.25, 2};
    rvm_program *p = program(turns);
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    double x[N], x_b[N], gradient[N];
    o.fuel = 9;
    o.keep_shadows = true;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK);
    memcpy(x, at, sizeof x);
    memset(x_b, 0, sizeof x_b);
    rvm_arg a[] = {rvm_arg_f64(0.5), rvm_arg_array_f64(x, 1, (int64_t[]){N}), rvm_arg_f64(0.75)};
    for (int k = 0; k < 3; k++) a[k].active = true;
    a[0].shadow.f = 1;
    a[1].shadow_data = x_b;
    cr_assert(rvm_machine_bind(m, rvm_program_find(p, "turns"), a, 3, RVM_GRADIENT, false, &e) == RVM_OK, "%s", e.message);
    cr_assert(go_on(m, false, PIECES, &e) == RVM_OK, "%s", e.message);
    cr_assert(go_on(m, true, PIECES, &e) == RVM_OK, "%s", e.message);
    const double by_k = a[2].shadow.f;
    memcpy(gradient, x_b, sizeof x_b);
    rng r = {5};
    for (int turn = 0; turn < 400; turn++) {
        rvm_status st = go_on(m, turn % 2, 1 + (int)rng_below(&r, 12), &e);
        cr_assert(st == RVM_OK || st == RVM_ERR_FUEL, "turn %d: %s", turn, e.message);
    }
    cr_assert(go_on(m, false, PIECES, &e) == RVM_OK, "%s", e.message);
    cr_assert(fabs(a[0].shadow.f - 1) < 1e-9 && fabs(a[2].shadow.f) < 1e-9 && fabs(x_b[0]) < 1e-9);
    cr_assert(go_on(m, true, PIECES, &e) == RVM_OK, "%s", e.message);
    cr_assert(fabs(a[2].shadow.f - by_k) < 1e-9 && fabs(a[0].value.f - 0.5) < 1e-12);
    for (int k = 0; k < N; k++) cr_assert(fabs(x_b[k] - gradient[k]) < 1e-9 && fabs(x[k] - at[k]) < 1e-12);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* What is erased, by cause; the flag of a `while` is a bit; interpreted and native alike. */
static const char causes[] = "fn counts(y: real, x: real, n: i64)\n"
                             "    let i: i64\n"
                             "    while i < n\n"
                             "        i += 1\n"
                             "        set y = y * x\n"
                             "    end\n"
                             "    i -= n\n"
                             "end\n"
                             "fn leaves(y: real, k: i64)\n"
                             "    push y\n"
                             "    push k\n"
                             "end\n";

static void count_causes(rvm_jit *j, bool unchecked) {
    rvm_program *p = program(causes);
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e;
    rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_f64(2), rvm_arg_i64(10)}, b[] = {rvm_arg_f64(3), rvm_arg_i64(4)};
    o.trail = RVM_TRAIL_OFF;
    o.unchecked = unchecked;
    cr_assert(!rvm_machine_new(p, &o, &m, &e) && (!j || !rvm_jit_attach(j, m, &e)));
    cr_assert(rvm_call(m, rvm_program_find(p, "counts"), a, 3, &e) == RVM_OK && a[0].value.f == 1024, "%s", e.message);
    cr_assert(!j || !rvm_jit_reason(m, &e), "%s", e.message);
    cr_expect(stats(m).bits_trail == 10 * 64 + 11 && stats(m).bits_erased == stats(m).bits_trail, "%u",
              (unsigned)stats(m).bits_trail);
    cr_expect(stats(m).ran == RVM_RAN_FUNCTION);
    for (int k = 1; k < 3; k++) {
        cr_assert(rvm_call(m, rvm_program_find(p, "leaves"), b, 2, &e) == RVM_OK, "%s", e.message);
        cr_expect(stats(m).bits_stack == (uint64_t)k * 128 && stats(m).stack_left == 2);
        b[0] = rvm_arg_f64(3), b[1] = rvm_arg_i64(4);
    }
    cr_expect(stats(m).bits_erased == stats(m).bits_trail + 256);
    rvm_machine_free(m);
    rvm_program_free(p);
}

Test(trail, erased_by_cause) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    rvm_error e;
    o.cache = "";
    o.tiers = false;
    const bool native = rvm_jit_new(&o, &j, &e) == RVM_OK;
    for (int unchecked = 0; unchecked < 2; unchecked++) {
        count_causes(NULL, unchecked);
        if (native) count_causes(j, unchecked);
    }
    rvm_jit_free(j);
}

Test(trail, erased_shadows) { /* of the sweep, and of the program that sweeps */
    rvm_program *p = program("fn f(y: real, x: real)\n    let t = x * x\n    y += t\nend\n");
    rvm_machine *m = machine(p, RVM_TRAIL_OFF, 0);
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(3)};
    rvm_error e;
    a[0].active = a[1].active = true;
    a[0].shadow.f = 1;
    cr_assert(rvm_gradient(m, 0, a, 2, &e) == RVM_OK && a[1].shadow.f == 6, "%s", e.message);
    cr_expect(stats(m).bits_shadows == 64 * stats(m).shadows_dropped && stats(m).shadows_dropped == 1);
    cr_expect(stats(m).ran == (RVM_RAN_FUNCTION | RVM_RAN_SWEEP));
    rvm_machine_free(m);
    rvm_program_free(p);
}
