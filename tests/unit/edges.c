/* edges.c: programs at the edge of what the verifier proves about indices, run. Whether an access is out of bounds follows
 * from the loop and the lengths alone: then the run says INDEX, in every engine, and else it is well; what lies around the
 * arrays is neither changed nor read. An index that is wrongly proved is not looked at any more, so that such a run is well.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* n, k or 0, and a number. */
typedef struct term {
    const char *text;
    char of;
    int64_t add;
} term;

static const term lows[] = {{"0", 0, 0}, {"1", 0, 1}, {"-1", 0, -1}, {"k", 'k', 0}, {"n - 1", 'n', -1}, {"n", 'n', 0}};
static const term highs[] = {{"n", 'n', 0}, {"n + 1", 'n', 1}, {"n - 1", 'n', -1}, {"4", 0, 4},      {"5", 0, 5},
                             {"k", 'k', 0}, {"0", 0, 0},       {"-1", 0, -1},      {"n + k", 'x', 0}};
static const term steps[] = {{"1", 0, 1}, {"2", 0, 2}, {"-1", 0, -1}, {"k", 'k', 0}};

/* array[index], of `length` elements, at sign * i + from. */
typedef struct access {
    const char *text;
    term length;
    int sign;
    term from;
} access;
static const access accesses[] = {
    {"y[i] += 1", {"", 'n', 0}, 1, {"", 0, 0}},
    {"out += y[i]", {"", 'n', 0}, 1, {"", 0, 0}},
    {"a[i] += 1", {"", 0, 4}, 1, {"", 0, 0}},
    {"y[i + 1] += 1", {"", 'n', 0}, 1, {"", 0, 1}},
    {"y[n - 1 - i] += 1", {"", 'n', 0}, -1, {"", 'n', -1}},
    {"out += b[4, i]", {"", 'n', 0}, 1, {"", 0, 0}},
    {"b[i, n - 1] += 1", {"", 0, 5}, 1, {"", 0, 0}},
    {"call touch(b[2], i)", {"", 'n', 0}, 1, {"", 0, 0}},
    {"call touch(y[1..n], i)", {"", 'n', -1}, 1, {"", 0, 0}},
    {"a[3] += 1", {"", 0, 4}, 0, {"", 0, 3}},
    {"a[4] += 1", {"", 0, 4}, 0, {"", 0, 4}},
    {"y[0] += 1", {"", 'n', 0}, 0, {"", 0, 0}},
    {"for j in 0..i\n out += y[j]\n end", {"", 'n', 1}, 1, {"", 0, 0}}, /* in bounds where i is at most n */
};

static int64_t value(const term *t, int64_t n, int64_t k) {
    const uint64_t base = t->of == 'n' ? (uint64_t)n : t->of == 'k' ? (uint64_t)k : t->of ? (uint64_t)n + (uint64_t)k : 0;
    return (int64_t)(base + (uint64_t)t->add);
}

/* What must come of it. UNSUPPORTED: more trips than are worth running. */
static rvm_status expected(const term *lo, const term *hi, const term *step, const access *a, int64_t n, int64_t k) {
    const int64_t first = value(lo, n, k), end = value(hi, n, k), s = value(step, n, k), length = value(&a->length, n, k);
    if (s == 0) return RVM_ERR_LOOP;
    const bool empty = !n && strstr(a->text, "b[i"); /* no column */
    int trips = 0;
    for (__int128 i = first; s > 0 ? i < end : i > end; i += s, trips++) {
        if (trips > 100) return RVM_ERR_UNSUPPORTED;
        const __int128 at = a->sign * i + value(&a->from, n, k);
        if (a->length.of == 'n' && a->length.add == 1 && at < 0) continue; /* no trip of the inner loop */
        if (at < 0 || at >= length || empty) return RVM_ERR_INDEX;
    }
    return RVM_OK;
}

/* ---- running ---- */

enum { GUARD = 16, MOST = 6 };

/* A block that ends where the array does, so that a sanitizer sees what lies behind; before it NaNs, which show what was
 * read. */
typedef struct block {
    double *memory, *data;
    size_t n;
} block;

static block block_of(size_t n) {
    block b = {malloc((GUARD + n) * sizeof(double)), NULL, n};
    cr_assert(b.memory);
    b.data = b.memory + GUARD;
    for (size_t k = 0; k < GUARD; k++) b.memory[k] = NAN;
    memset(b.data, 0, n * sizeof(double));
    return b;
}

static void check_block(block *b, const char *what) {
    for (size_t k = 0; k < GUARD; k++) cr_assert(isnan(b->memory[k]), "%s: something was written before the array", what);
    for (size_t k = 0; k < b->n; k++) cr_assert(!isnan(b->data[k]), "%s: something outside was read", what);
    free(b->memory);
}

static void run(rvm_machine *m, const rvm_program *p, int64_t n, int64_t k, rvm_status want, const char *what) {
    block y = block_of((size_t)n), a = block_of(4), b = block_of(5 * (size_t)n);
    rvm_arg list[] = {rvm_arg_array_f64(y.data, 1, &n), rvm_arg_array_f64(a.data, 1, (int64_t[]){4}),
                      rvm_arg_array_f64(b.data, 2, (int64_t[]){5, n}), rvm_arg_i64(k), rvm_arg_f64(0)};
    rvm_error e = {0};
    const rvm_status s = rvm_call(m, rvm_program_find(p, "f"), list, 5, &e);
    cr_assert(s == want, "%s: n %lld, k %lld: %s instead of %s: %s", what, (long long)n, (long long)k, rvm_status_name(s),
              rvm_status_name(want), e.message);
    cr_assert(!isnan(list[4].value.f), "%s: something outside was read", what);
    check_block(&y, what), check_block(&a, what), check_block(&b, what);
}

static rvm_program *program_of(const term *lo, const term *hi, const term *step, const access *a, char text[500]) {
    report rep = {.name = "edges"};
    snprintf(text, 500,
             "fn touch(v: f64[m], at: i64)\n    v[at] += 1\nend\n"
             "fn f(y: f64[n], a: f64[4], b: f64[5, n], k: i64, out: f64)\n"
             "    for i in %s..%s step %s\n        %s\n    end\nend\n",
             lo->text, hi->text, step->text, a->text);
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p, "%s", text);
    return p;
}

static void run_all(const term *lo, const term *hi, const term *step, const access *a, rvm_jit *jit, unsigned counts[2]) {
    static const int64_t ks[] = {-1, 0, 1, 3, 5, INT64_MAX, INT64_MIN};
    char text[500];
    rvm_error e;
    rvm_program *p = program_of(lo, hi, step, a, text);
    for (int way = 0; way < (jit ? 3 : 2); way++) {
        rvm_options o = rvm_options_default();
        rvm_machine *m;
        o.unchecked = way > 0;
        cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK);
        if (way == 2) cr_assert(rvm_jit_attach(jit, m, &e) == RVM_OK, "%s", e.message);
        for (int64_t n = 0; n < MOST; n++)
            for (size_t k = 0; k < sizeof ks / sizeof *ks; k++) {
                if (strstr(a->text, "1..n") && n < 1) continue; /* the slice itself is out of bounds */
                const rvm_status want = expected(lo, hi, step, a, n, ks[k]);
                if (want == RVM_ERR_UNSUPPORTED) continue;
                run(m, p, n, ks[k], want, text);
                counts[want == RVM_OK]++;
            }
        rvm_machine_free(m);
    }
    rvm_program_free(p);
}

#define EACH(k, list) for (size_t k = 0; k < sizeof list / sizeof *list; k++)

Test(edges, indices, .timeout = 600) {
    unsigned counts[2] = {0, 0}, number = 0;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *jit = NULL;
    rvm_error e;
    o.cache = "", o.wait = true, o.level = 1, o.tiers = false, o.any_lengths = true;
    rvm_jit_new(&o, &jit, &e); /* without LLVM: the interpreter alone */
    EACH(lo, lows)
    EACH(hi, highs)
    EACH(step, steps)
    EACH(a, accesses) run_all(lows + lo, highs + hi, steps + step, accesses + a, number++ % 37 ? NULL : jit, counts);
    cr_assert(counts[0] > 10000 && counts[1] > 10000, "%u out of bounds, %u well", counts[0], counts[1]);
    rvm_jit_free(jit);
}
