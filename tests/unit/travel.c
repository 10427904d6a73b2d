/* travel.c: positions, stops, keyframes, clones and seeks through their interface; tests/harness/travel.c takes every short
 * case through them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm_debug.h"

/* i64: calls, the stack, an inner loop. fix and real: rounding in every update. */
static const char source[] = "fn inner(a: i64, b: i64)\n"
                             "    a += b\n"
                             "    b ^= a\n"
                             "end\n"
                             "fn mixed(a: i64, x: i64[n])\n"
                             "    for i in 0..n\n"
                             "        call inner(a, x[i])\n"
                             "        a += i\n"
                             "        push a\n"
                             "        a ^= i\n"
                             "        for j in 0..i\n"
                             "            a += x[j]\n"
                             "            x[n - 1] += 0\n"
                             "        end\n"
                             "    end\n"
                             "end\n"
                             "fn decay(x: real[n], w: real)\n"
                             "    for k in 0..20\n"
                             "        for i in 1..n\n"
                             "            x[i] += w * x[i - 1]\n"
                             "            x[0] -= 0.1 * x[i]\n"
                             "        end\n"
                             "    end\n"
                             "end\n"
                             "fn scatter(a: i64, x: i64[n])\n"
                             "    parallel i in 0..n\n"
                             "        x[i * 5 % n] += a\n"
                             "        x[i * 5 % n] ^= i\n"
                             "    end\n"
                             "end\n"
                             "fn sum(out: real, x: real[n])\n"
                             "    for i in 0..n\n"
                             "        out += x[i] * x[i]\n"
                             "    end\n"
                             "end\n";

enum { N = 12, LONGEST = 4000 };
static rvm_error e;

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    int64_t cells[N];
    rvm_arg a[2];
    int64_t fn;
} fixture;

static void set(fixture *f, const char *name, rvm_type type) {
    static const int64_t shape[] = {N};
    for (int k = 0; k < N; k++) {
        const rvm_scalar v = type == RVM_I64 ? (rvm_scalar){.i = k + 1} : rvm_scalar_from_double(type, 1.0 / (k + 3));
        f->cells[k] = v.i;
    }
    f->fn = rvm_program_find(f->p, name);
    const bool array_last = type == RVM_I64 || !strcmp(name, "sum");
    f->a[array_last] = rvm_arg_array(type, f->cells, 1, shape);
    f->a[!array_last] =
        (rvm_arg){.type = type, .value = array_last ? (rvm_scalar){.i = 5} : rvm_scalar_from_double(type, 0.3)};
}

static void open_as(fixture *f, const char *name, rvm_type type, const rvm_options *o) {
    const rvm_asm_options ao = {.real = type == RVM_I64 ? RVM_F64 : type};
    cr_assert(!rvm_assemble(source, sizeof source - 1, "travel", &ao, &f->p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(f->p, o, &f->m, &e));
    set(f, name, type);
    cr_assert(!rvm_machine_bind(f->m, f->fn, f->a, 2, RVM_PRIMAL, false, &e), "%s", e.message);
}

static void close_it(fixture *f) {
    rvm_machine_free(f->m);
    rvm_program_free(f->p);
}

static void take(uint64_t *h, int64_t v) {
    *h = (*h ^ (uint64_t)v) * UINT64_C(0x100000001b3);
    *h ^= *h >> 29;
}

/* Every frame's place, every scalar, and the array. */
static uint64_t digest(const rvm_machine *m) {
    uint64_t h = 1;
    rvm_location l;
    rvm_variable v;
    for (uint32_t f = 0; rvm_machine_location(m, f, 1, &l); f++) {
        take(&h, ((int64_t)l.fn << 32) | l.pc);
        for (uint32_t k = 0; rvm_machine_variable(m, f, k, &v); k++) {
            if (!v.ndim) take(&h, v.value.i);
            for (int64_t i = 0; v.ndim && i < v.shape[0]; i++) take(&h, ((const int64_t *)v.data)[i * v.stride[0]]);
        }
    }
    return h;
}

/* By position; the number of the last one. */
static int64_t step_through(fixture *f, uint64_t at[LONGEST]) {
    int64_t n = 0;
    for (bool done = false; at[n] = digest(f->m), !done && n + 1 < LONGEST; n++) {
        cr_assert(rvm_machine_position(f->m).at == n);
        cr_assert(!rvm_machine_step(f->m, 1, &done, &e), "%s", e.message);
    }
    return n;
}

static void moves(const char *name, rvm_type type, bool exact, int count) {
    static uint64_t at[LONGEST];
    rvm_options o = rvm_options_default();
    fixture f;
    rng r = {1};
    rvm_timeline *t;
    o.exact = exact;
    open_as(&f, name, type, &o);
    const int64_t n = step_through(&f, at);
    cr_assert(n > 200 && n < LONGEST - 1);
    set(&f, name, type);
    cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_PRIMAL, false, &e) && !rvm_timeline_new(f.m, 0, &t, &e));
    for (int k = 0; k < count; k++) {
        const rvm_run_position to = {.at = rng_below(&r, (uint32_t)n + 1)};
        rvm_arrival how;
        cr_assert(!rvm_timeline_seek(t, to, &how, &e), "%s", e.message);
        cr_assert(rvm_machine_position(f.m).at == to.at && how.reached == RVM_REACHED_POSITION);
        cr_assert(digest(f.m) == at[to.at], "%s: move %d, to %lld", name, k, (long long)to.at);
    }
    rvm_timeline_free(t);
    close_it(&f);
}

Test(travel, ten_thousand_moves) {
    moves("mixed", RVM_I64, false, 10000);
    moves("decay", RVM_FIX, false, 10000);
    moves("decay", RVM_F64, true, 10000);
    moves("decay", RVM_F64, false, 10000); /* which a way back would round */
}

/* The machine has gone back by itself, which rounds; the timeline does not begin there. */
Test(travel, rounded) {
    static uint64_t at[LONGEST];
    fixture f;
    rvm_timeline *t;
    open_as(&f, "decay", RVM_F64, NULL);
    step_through(&f, at);
    set(&f, "decay", RVM_F64);
    cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_PRIMAL, false, &e) && !rvm_timeline_new(f.m, 0, &t, &e));
    const rvm_goal there = {.to = {.at = 700}}, back = {.to = {.at = 100}};
    cr_assert(!rvm_machine_run_to(f.m, &there, NULL, &e) && !rvm_machine_run_to(f.m, &back, NULL, &e));
    cr_assert(digest(f.m) != at[100], "nothing was rounded");
    const rvm_run_position to = {.at = 200};
    cr_assert(!rvm_timeline_seek(t, to, NULL, &e) && digest(f.m) == at[200]);
    rvm_timeline_free(t);
    close_it(&f);
}

/* Fuel ends a run in its middle, again and again; it goes on from there, either way. */
Test(travel, fuel) {
    rvm_options o = rvm_options_default();
    fixture f;
    o.fuel = 37;
    open_as(&f, "mixed", RVM_I64, &o);
    const uint64_t before = digest(f.m);
    for (int direction = 1; direction >= -1; direction -= 2) {
        rvm_status st = RVM_ERR_FUEL;
        int64_t last = rvm_machine_position(f.m).at;
        for (int turn = 0; st == RVM_ERR_FUEL && turn < 1000; turn++) {
            const rvm_goal goal = {.to = {.at = direction > 0 ? INT64_MAX : INT64_MIN}};
            st = rvm_machine_run_to(f.m, &goal, NULL, &e);
            const int64_t here = rvm_machine_position(f.m).at;
            cr_assert(!st || (direction > 0 ? here > last : here < last));
            last = here;
        }
        cr_assert(!st, "%s", e.message);
    }
    cr_assert(rvm_machine_position(f.m).at == 0 && digest(f.m) == before);
    close_it(&f);
}

typedef struct asked {
    int times;
    int64_t wanted; /* of j */
} asked;

static bool j_is(void *userdata, const rvm_machine *m) {
    asked *a = userdata;
    rvm_variable v;
    a->times++;
    for (uint32_t k = 0; rvm_machine_variable(m, 0, k, &v); k++)
        if (!strcmp(v.name, "j")) return v.value.i == a->wanted;
    return false;
}

/* The first instruction of the line that begins so. */
static uint32_t pc_of(const fixture *f, const char *text) {
    uint32_t pc = 1, at, column, line = 1;
    for (const char *c = source; strncmp(c, text, strlen(text)) != 0; c++) line += *c == '\n';
    const char *file;
    while (rvm_program_position(f->p, (uint32_t)f->fn, pc, &file, &at, &column), at != line) pc++;
    return pc;
}

Test(travel, conditions) {
    fixture f;
    asked a = {0, 7};
    rvm_arrival how;
    open_as(&f, "mixed", RVM_I64, NULL);
    const rvm_stop stop = {(uint32_t)f.fn, pc_of(&f, "            a += x[j]"), j_is, &a};
    rvm_goal goal = {.to = {.at = INT64_MAX}, .stops = &stop, .nstops = 1};
    int64_t at[4];
    for (int k = 0; k < 4; k++) { /* i: 8, 9, 10, 11 */
        cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_STOP && how.index == 0);
        at[k] = rvm_machine_position(f.m).at;
    }
    cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_END && how.end == 1);
    cr_assert(a.times == 66, "%d times", a.times);
    goal.to.at = INT64_MIN;
    for (int k = 3; k >= 0; k--) {
        cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_STOP);
        cr_assert(rvm_machine_position(f.m).at == at[k]);
    }
    cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_END && how.end == -1);
    cr_assert(rvm_machine_position(f.m).at == 0 && f.cells[3] == 4);
    close_it(&f);
}

/* Back to before the last write of an element, which a call that returns makes. */
Test(travel, last_write) {
    fixture f;
    rvm_arrival how;
    rvm_timeline *t;
    open_as(&f, "mixed", RVM_I64, NULL);
    const rvm_watch w = {.height = 1, .name = "x", .nindices = 1, .index = {4}};
    const rvm_goal goal = {.to = {.at = INT64_MIN}, .watches = &w, .nwatches = 1}, end = {.to = {.at = INT64_MAX}};
    cr_assert(!rvm_timeline_new(f.m, 0, &t, &e) && !rvm_timeline_run_to(t, &end, NULL, &e));
    const int64_t last = f.cells[4];
    cr_assert(!rvm_timeline_run_to(t, &goal, &how, &e) && how.reached == RVM_REACHED_WATCH);
    cr_assert(f.cells[4] == 5 && last != 5);
    cr_assert(!rvm_machine_step(f.m, 1, NULL, &e) && f.cells[4] == last); /* the write is next */
    cr_assert(!rvm_timeline_run_to(t, &goal, &how, &e) && how.reached == RVM_REACHED_WATCH && f.cells[4] == 5);
    cr_assert(!rvm_timeline_run_to(t, &goal, &how, &e) && how.reached == RVM_REACHED_END && how.end == -1);
    rvm_timeline_free(t);
    close_it(&f);
}

/* Where stops were, prepared code is as before; bad ones are refused and change nothing. */
Test(travel, patches_are_taken_back) {
    fixture f;
    open_as(&f, "mixed", RVM_I64, NULL);
    const uint32_t size = rvm_program_code_size(f.p, (uint32_t)f.fn);
    rvm_stop *stops = calloc(size, sizeof *stops);
    for (uint32_t pc = 0; pc < size; pc++) stops[pc] = (rvm_stop){.fn = (uint32_t)f.fn, .pc = pc};
    rvm_goal goal = {.to = {.at = INT64_MAX}, .stops = stops, .nstops = size};
    rvm_arrival how = {.end = 0};
    int64_t stopped = 0, inside = 0;
    for (; how.end != 1; stopped++) {
        cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e), "%s", e.message);
        inside += rvm_machine_frames(f.m) > 1;
    }
    const int64_t n = rvm_machine_position(f.m).at;
    cr_assert(inside == 0 && stopped == n - 3 * N, "%lld stops of %lld positions", (long long)stopped,
              (long long)n); /* inner has 3 */
    cr_assert(!rvm_machine_backward(f.m, &e) && f.cells[2] == 3);
    stops[0].pc = size;
    cr_assert(rvm_machine_run_to(f.m, &goal, &how, &e) == RVM_ERR_USAGE && strstr(e.message, "stop 0"));
    cr_assert(!rvm_machine_forward(f.m, &e) && rvm_machine_position(f.m).at == n);
    free(stops);
    close_it(&f);
}

/* Each instruction of a function alone: in the middle of pairs that are fused, of a loop that runs in one piece. */
static void each_alone(const char *entry, const char *name, rvm_type type) {
    fixture f;
    open_as(&f, entry, type, NULL);
    const uint32_t fn = (uint32_t)rvm_program_find(f.p, name);
    for (uint32_t pc = 0; pc < rvm_program_code_size(f.p, fn); pc++) {
        const rvm_stop stop = {.fn = fn, .pc = pc};
        rvm_arrival how = {.end = 0};
        uint64_t expected = 0, got = 0;
        bool done = false;
        rvm_location l;
        set(&f, entry, type);
        cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_PRIMAL, false, &e));
        while (!rvm_machine_step(f.m, 1, &done, &e) && !done)
            expected += rvm_machine_location(f.m, 0, 1, &l) && l.fn == fn && l.pc == pc;
        rvm_goal goal = {.to = {.at = INT64_MIN}, .stops = &stop, .nstops = 1};
        for (; !rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_STOP; got++) continue;
        const bool first = (int64_t)fn == f.fn && pc == 1; /* where a way back comes last, and none forward does */
        cr_assert(got == expected + first, "%s %u back: %llu of %llu", name, pc, (unsigned long long)got,
                  (unsigned long long)expected);
        const int64_t ends[] = {INT64_MAX, LONGEST}; /* at full speed, and step by step */
        for (int k = 0; k < 2; k++) {
            const rvm_goal begin = {.to = {.at = INT64_MIN}};
            goal.to.at = ends[k];
            cr_assert(!rvm_machine_run_to(f.m, &begin, NULL, &e));
            for (got = 0; !rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_STOP; got++) continue;
            cr_assert(got == expected, "%s %u: %llu of %llu", name, pc, (unsigned long long)got,
                      (unsigned long long)expected);
        }
    }
    close_it(&f);
}

Test(travel, stops_alone) {
    each_alone("mixed", "inner", RVM_I64);
    each_alone("mixed", "mixed", RVM_I64);
    each_alone("scatter", "scatter", RVM_I64); /* whose block is guarded */
    each_alone("decay", "decay", RVM_F64);
    each_alone("sum", "sum", RVM_F64);
}

/* A clone on arrays of the caller's; and what does not fit. */
Test(travel, clone) {
    fixture f;
    rvm_machine *c;
    int64_t other[N];
    open_as(&f, "mixed", RVM_I64, NULL);
    const rvm_goal middle = {.to = {.at = 101}}, end = {.to = {.at = INT64_MAX}}, start = {.to = {.at = 0}};
    cr_assert(!rvm_machine_run_to(f.m, &middle, NULL, &e));
    rvm_arg a[2] = {f.a[0], f.a[1]};
    a[1].data = other;
    cr_assert(!rvm_machine_clone(f.m, a, &c, &e), "%s", e.message);
    const uint64_t here = digest(f.m);
    cr_assert(digest(c) == here && rvm_machine_position(c).at == 101);
    cr_assert(!rvm_machine_run_to(c, &end, NULL, &e) && digest(f.m) == here && other[N - 1] != f.cells[N - 1]);
    cr_assert(!rvm_machine_run_to(f.m, &end, NULL, &e) && digest(f.m) == digest(c) && !memcmp(other, f.cells, sizeof other));
    cr_assert(a[0].value.i == f.a[0].value.i);
    cr_assert(!rvm_machine_run_to(c, &start, NULL, &e) && other[5] == 6 && a[0].value.i == 5);
    rvm_machine_free(c);
    a[1].stride[0] = 2;
    cr_assert(rvm_machine_clone(f.m, a, &c, &e) == RVM_ERR_SHAPE && !c);
    rvm_machine_unbind(f.m);
    cr_assert(!rvm_machine_clone(f.m, NULL, &c, &e) && !rvm_machine_bound(c));
    rvm_machine_free(c);
    close_it(&f);
}

/* A keyframe is of one bind of one machine. */
Test(travel, keyframe_of_another_call) {
    fixture f;
    rvm_keyframe *k, *none;
    open_as(&f, "mixed", RVM_I64, NULL);
    cr_assert(!rvm_keyframe_new(f.m, &k, &e) && rvm_keyframe_size(k) > 0);
    cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_PRIMAL, false, &e));
    cr_assert(rvm_keyframe_restore(k, f.m, &e) == RVM_ERR_USAGE);
    rvm_keyframe_free(k);
    rvm_machine_unbind(f.m);
    cr_assert(rvm_keyframe_new(f.m, &none, &e) == RVM_ERR_USAGE && !none);
    close_it(&f);
}

/* Two legs: forward, then the sweep; shadows of the array grow on the way. */
Test(travel, sweep) {
    fixture f;
    rvm_options o = rvm_options_default();
    rvm_arrival how;
    double shadow[N] = {0};
    open_as(&f, "decay", RVM_F64, &o);
    static const int64_t shape[] = {N};
    rvm_arg a[2] = {rvm_arg_f64(0), rvm_arg_array(RVM_F64, f.cells, 1, shape)};
    a[0].active = a[1].active = true;
    a[0].shadow.f = 1;
    a[1].shadow_data = shadow;
    rvm_timeline *t;
    cr_assert(!rvm_machine_bind(f.m, rvm_program_find(f.p, "sum"), a, 2, RVM_GRADIENT, false, &e), "%s", e.message);
    cr_assert(!rvm_timeline_new(f.m, 0, &t, &e));
    const rvm_goal ends[2] = {{.to = {.at = INT64_MAX}}, {.to = {.swept = true, .at = INT64_MAX}}};
    cr_assert(!rvm_timeline_run_to(t, &ends[0], &how, &e) && how.end == 1);
    const rvm_run_position n = rvm_machine_position(f.m);
    cr_assert(!n.swept && !rvm_timeline_run_to(t, &ends[1], &how, &e) && how.end == -1);
    const rvm_run_position all = rvm_machine_position(f.m);
    cr_assert(all.swept && all.at == n.at);
    double whole[N];
    memcpy(whole, shadow, sizeof whole);
    const rvm_run_position half = {true, all.at / 2};
    cr_assert(!rvm_timeline_seek(t, half, NULL, &e) && rvm_machine_position(f.m).swept);
    int there = 0;
    rvm_variable v;
    for (uint32_t k = 0; rvm_machine_variable(f.m, 0, k, &v); k++)
        for (int64_t i = 0; !strcmp(v.name, "x") && i < N; i++) {
            const double s = ((const double *)v.shadow_data)[i * v.shadow_stride[0]];
            cr_assert(s == 0 || s == whole[i]);
            there += s != 0;
        }
    cr_assert(there > N / 3 && there < N - 2, "%d", there);
    const rvm_goal back = {.to = {.at = 3}};
    cr_assert(!rvm_timeline_run_to(t, &back, NULL, &e) && !rvm_machine_position(f.m).swept && shadow[N - 1] == 0);
    cr_assert(!rvm_timeline_run_to(t, &ends[1], NULL, &e) && !memcmp(whole, shadow, sizeof whole));
    rvm_timeline_free(t);
    close_it(&f);
}

/* To within the sweep at once, by fuel and steps. */
Test(travel, long_sweep) {
    enum { MANY = 5000 };
    static double x[MANY], shadow[MANY];
    static const int64_t shape[] = {MANY};
    fixture f;
    rvm_arrival how;
    open_as(&f, "decay", RVM_F64, NULL);
    for (int k = 0; k < MANY; k++) x[k] = k + 1;
    rvm_arg a[2] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, shape)};
    a[0].active = a[1].active = true;
    a[0].shadow.f = 1;
    a[1].shadow_data = shadow;
    cr_assert(!rvm_machine_bind(f.m, rvm_program_find(f.p, "sum"), a, 2, RVM_GRADIENT, false, &e));
    const rvm_goal goal = {.to = {true, 9001}}, end = {.to = {true, INT64_MAX}};
    cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_POSITION && !how.end, "%s", e.message);
    const rvm_run_position here = rvm_machine_position(f.m);
    cr_assert(here.swept && here.at == 9001, "at %lld", (long long)here.at);
    cr_assert(shadow[MANY - 4500] == 2 * x[MANY - 4500] && shadow[MANY - 4502] == 0);
    cr_assert(!rvm_machine_run_to(f.m, &end, &how, &e) && how.end == -1 && shadow[0] == 2);
    close_it(&f);
}

static uint64_t ran(const rvm_machine *m) {
    rvm_stats s;
    rvm_machine_stats(m, &s);
    return s.forward + s.backward;
}

/* What came by a long way goes back by short ones, to the same. */
static void steps_back(rvm_machine *m, rvm_timeline *t, int64_t from) {
    enum { STEPS = 50 };
    uint64_t at[STEPS + 1];
    const rvm_run_position first = {.at = from - STEPS};
    cr_assert(!rvm_timeline_seek(t, first, NULL, &e));
    for (int k = 0; k <= STEPS; k++) {
        at[k] = digest(m);
        cr_assert(!rvm_machine_step(m, 1, NULL, &e));
    }
    const rvm_run_position far = {.at = 1000};
    cr_assert(!rvm_timeline_seek(t, far, NULL, &e));
    const uint64_t begun = ran(m);
    for (int k = STEPS; k >= 0; k--) {
        const rvm_run_position to = {.at = first.at + k};
        cr_assert(!rvm_timeline_seek(t, to, NULL, &e) && digest(m) == at[k]);
    }
    cr_assert(ran(m) - begun < 5000000, "%llu instructions", (unsigned long long)(ran(m) - begun));
}

/* Where nothing is to be stopped at on the way, one leads from a keyframe, forward too. */
static void runs_from_keyframes(rvm_machine *m, rvm_timeline *t, rvm_run_position to) {
    const rvm_run_position start = {.at = INT64_MIN};
    const rvm_goal there = {.to = to};
    cr_assert(!rvm_timeline_seek(t, to, NULL, &e));
    const uint64_t digest_there = digest(m), begun = ran(m);
    cr_assert(!rvm_timeline_seek(t, start, NULL, &e) && !rvm_timeline_run_to(t, &there, NULL, &e));
    cr_assert(digest(m) == digest_there);
    cr_assert(ran(m) - begun < 5000000, "%llu instructions", (unsigned long long)(ran(m) - begun));
}

/* A timeline within little memory, along a long run. */
Test(travel, long_run) {
    static const char text[] = "fn f(a: i64, n: i64)\n    for i in 0..n\n        a += i\n        a ^= 5\n    end\nend\n";
    rvm_program *p;
    rvm_machine *m;
    rvm_timeline *t;
    rvm_arg a[2] = {rvm_arg_i64(0), rvm_arg_i64(20000000)};
    cr_assert(!rvm_assemble(text, strlen(text), "long", NULL, &p, &e, NULL, NULL) && !rvm_machine_new(p, NULL, &m, &e));
    cr_assert(!rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e) && !rvm_timeline_new(m, 1 << 16, &t, &e));
    const rvm_run_position end = {.at = INT64_MAX}, middle = {.at = 30000001};
    cr_assert(!rvm_timeline_seek(t, end, NULL, &e) && rvm_machine_position(m).at == 60000002);
    cr_assert(rvm_timeline_keyframes(t) > 16 && rvm_timeline_keyframes(t) < 128);
    const int64_t last = a[0].value.i;
    cr_assert(!rvm_timeline_seek(t, middle, NULL, &e) && rvm_machine_position(m).at == middle.at);
    cr_assert(!rvm_machine_forward(m, &e) && a[0].value.i == last);
    steps_back(m, t, middle.at);
    runs_from_keyframes(m, t, middle);
    rvm_timeline_free(t);
    rvm_machine_free(m);
    rvm_program_free(p);
}
