/* lanes.c: groups of instances that run long are ended by fuel and by a cancel: where they can be taken back the run can go
 * on, else it can go neither on nor back, and says so. What groups compute is tested by the cases and random programs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { N = 8, LONG = 1000000000 };
static rvm_error e;

typedef struct block {
    const char *name;
    bool lost; /* what it changes cannot be taken back in a group */
    const char *body;
} block;

/* k * k trips are known when it runs, the others from the text. */
static const block blocks[] = {
    {"kept", false, "y[p] -= atan2(b, 2.0)\nfor i in 0..k * k\na[p, 0] += inv(b)\nend\n"},
    {"lost", true,
     "for i in 0..4\na[p, i] += y[p]\nend\n"
     "for i in 0..k * k\nlet j: i64 = i & 3\na[p, j] += inv(b)\nend\ny[p] -= b\n"},
    {"lost, known", true,
     "for i in 0..4\na[p, i] += y[p]\nend\n"
     "for i in 0..1000000000000\nlet j: i64 = i & 3\na[p, j] += inv(b)\nend\ny[p] -= b\n"},
    {"lost, with a comparison that is no exit", true,
     "for i in 0..4\na[p, i] += y[p]\nend\n"
     "for i in 0..k * k\nlet j: i64 = i & 3\nif i == 5\na[p, j] += y[p]\nend\na[p, j] += inv(b)\nend\ny[p] -= b\n"},
    {"lost, short loops in a long one", true,
     "for i in 0..4\na[p, i] += y[p]\nend\n"
     "for i in 0..k * k\nlet l: i64 = i & 3\nfor j in l..4\na[p, j] += inv(b)\nend\nend\ny[p] -= b\n"},
    {"scalar", false, "for i in 0..1000000000000\ns += b\nend\n"},
    {"same in all trips", false, "y[p] -= atan2(b, 2.0)\nfor i in 0..1000000000000\ns += inv(b)\nend\n"},
    {"empty", false, "for i in 0..1000000000\nend\ny[p] += 1\n"},
    {"beyond the bound", false, "for i in 0..200000000\ns += inv(b)\nend\n"},
    {"charge that wraps to 0", false, "for i in 0..(k >> 29) << 62\ns += inv(b)\ns += b\ns += b\nend\n"},
    {"lost, charge that wraps to 0", true,
     "for i in 0..4\na[p, i] += y[p]\nend\n"
     "for i in 0..4611686018427387904\nlet j: i64 = i & 3\na[p, j] += inv(b)\na[p, j] += b\nend\ny[p] -= b\n"},
    {"nested", false, "for i in 0..1000\nfor j in 0..1000\nfor l in 0..1000\ns += inv(b)\nend\nend\nend\n"},
    {"under a condition", false, "if y[p] > 2\nfor i in 0..1000000000000\ns += inv(b)\nend\nend\n"},
    {"calls of short loops", false, "for i in 0..100000\ncall short(s, b)\nend\n"},
    {"local", false,
     "let l: real\nfor i in 0..1000000000000\nl += inv(b)\nend\ny[p] += l\n"
     "for i in 0..1000000000000\nl -= inv(b)\nend\n"},
    {"compute part", false,
     "y[p] -= atan2(b, 2.0)\ncompute\nlet c: real = 0\nfor i in 0..1000000000000\nc += inv(b)\nend\n"
     "do\ny[p] += c\nundo\n"},
};
enum { BLOCKS = sizeof blocks / sizeof *blocks, KEPT = 0, LOST = 1 };

static const char before[] = "fn short(s: real, b: real)\nfor i in 0..400000\ns += inv(b)\nend\nend\n"
                             "fn f(y: real[n], a: real[n, m], s: real, b: real, k: i64)\nparallel p in 0..n\n",
                  behind[] = "end\nend\n";

typedef struct fixture {
    rvm_jit *j;
    rvm_program *p;
    rvm_machine *m;
    double y[N], a[4 * N];
    rvm_arg arg[5];
    unsigned calls; /* of the progress function that come before it cancels; 0: it does not */
} fixture;

static bool on_progress(void *userdata, uint64_t instructions) {
    fixture *f = userdata;
    (void)instructions;
    return f->calls && --f->calls == 0;
}

static void begin(fixture *f, const block *b, uint64_t fuel, unsigned calls, int64_t k) {
    char text[1024];
    report rep = {.name = "lanes"};
    const int64_t shape[2] = {N, 4};
    rvm_jit_options o = rvm_jit_options_default();
    rvm_options mo = rvm_options_default();
    snprintf(text, sizeof text, "%s%s%s", before, b->body, behind);
    *f = (fixture){.p = assemble_text(text, NULL, &rep), .calls = calls};
    cr_assert(f->p);
    o.tiers = false;
    mo.unchecked = mo.trust = true;
    mo.fuel = fuel;
    mo.progress = on_progress;
    mo.userdata = f;
    if (rvm_jit_new(&o, &f->j, &e)) cr_skip_test("%s", e.message);
    cr_assert(!rvm_machine_new(f->p, &mo, &f->m, &e) && !rvm_jit_attach(f->j, f->m, &e));
    for (int i = 0; i < N; i++) f->y[i] = i;
    f->arg[0] = rvm_arg_array_f64(f->y, 1, shape);
    f->arg[1] = rvm_arg_array_f64(f->a, 2, shape);
    f->arg[2] = rvm_arg_f64(0);
    f->arg[3] = rvm_arg_f64(1.5);
    f->arg[4] = rvm_arg_i64(k);
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

static rvm_status call(fixture *f) {
    const rvm_status status = rvm_call(f->m, rvm_program_find(f->p, "f"), f->arg, 5, &e);
    cr_assert(rvm_jit_reason(f->m, NULL) == RVM_OK);
    return status;
}

static void ends(const block *b, uint64_t fuel, unsigned calls, rvm_status expected) {
    fixture f;
    rvm_stats s;
    begin(&f, b, fuel, calls, LONG);
    cr_assert(call(&f) == expected, "%s: %s", b->name, e.message);
    rvm_machine_stats(f.m, &s);
    if (fuel) cr_assert(s.forward < fuel + N * (UINT64_C(1) << 26), "%s: %llu", b->name, (unsigned long long)s.forward);
    if (b->lost) {
        cr_assert(rvm_machine_backward(f.m, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "neither on nor back"), "%s",
                  b->name);
        cr_assert(rvm_machine_forward(f.m, &e) == RVM_ERR_UNSUPPORTED);
    } else {
        cr_assert(rvm_machine_backward(f.m, &e) == RVM_OK, "%s: %s", b->name, e.message);
        cr_assert(f.y[3] == 3, "%s", b->name);
    }
    end(&f);
}

Test(lanes, fuel, .timeout = 120) {
    for (int n = 0; n < BLOCKS; n++) ends(&blocks[n], 4000000, 0, RVM_ERR_FUEL);
}

Test(lanes, cancel, .timeout = 120) {
    for (int n = 0; n < BLOCKS; n++) ends(&blocks[n], 0, blocks[n].lost ? 50 : 2, RVM_ERR_CANCELLED);
}

static void is_as_ever(const block *b) {
    fixture f;
    begin(&f, b, 4000000, 0, LONG);
    cr_assert(call(&f) == RVM_ERR_FUEL, "%s", e.message);
    f.arg[4] = rvm_arg_i64(10);
    cr_assert(call(&f) == RVM_OK, "%s", e.message);
    end(&f);
}

Test(lanes, whatever_was_the_next_call_is_as_ever) {
    is_as_ever(&blocks[KEPT]);
    is_as_ever(&blocks[LOST]);
}

Test(lanes, long_ones_are_the_interpreters) { /* with looks on the way, and past what a lane goes without */
    fixture f;
    double a[4 * N], y[N];
    begin(&f, &blocks[LOST], 0, 0, 1500);
    cr_assert(call(&f) == RVM_OK, "%s", e.message);
    memcpy(a, f.a, sizeof a), memcpy(y, f.y, sizeof y);
    memset(f.a, 0, sizeof f.a);
    for (int i = 0; i < N; i++) f.y[i] = i;
    rvm_jit_detach(f.m);
    cr_assert(rvm_call(f.m, rvm_program_find(f.p, "f"), f.arg, 5, &e) == RVM_OK);
    cr_assert(!memcmp(a, f.a, sizeof a) && !memcmp(y, f.y, sizeof y));
    end(&f);
}

/* ---- gradients of local arrays and their tangents, which go onto a trail together ---- */

enum { PLACES = 3, COLUMNS = 11 };
static const char second[] =
    "fn f(value: real, x: real[n])\ncompute\nlet s: real[n] = 0\nfor i in 0..n\ns[i] += x[i] ^ 2\nend\n"
    "do\nfor i in 0..n\nvalue += s[i] ^ 2\nend\nundo\nend\n"
    "fn columns(x: real[n], d: real[n, c], b: real[n, c], h: real[n, c])\nparallel j in 0..c\nlet value: real\n"
    "let slope: real\n"
    "call f'grad[value, x]'tan(value, slope, 1, 0, x, d[0..n, j], b[0..n, j], h[0..n, j])\nend\nend\n";

static void note_groups(void *userdata, const rvm_jit_notice *n) {
    *(unsigned *)userdata = n->status ? 0 : n->grouped;
}

static void hessian(rvm_program *p, rvm_jit *j, const rvm_options *o, double *h, rvm_stats *stats) {
    const int64_t n = PLACES, shape[2] = {PLACES, COLUMNS};
    double x[PLACES] = {1, 2, 3}, d[PLACES * COLUMNS] = {0}, b[PLACES * COLUMNS] = {0};
    rvm_arg a[] = {rvm_arg_array_f64(x, 1, &n), rvm_arg_array_f64(d, 2, shape), rvm_arg_array_f64(b, 2, shape),
                   rvm_arg_array_f64(h, 2, shape)};
    rvm_machine *m;
    for (int c = 0; c < COLUMNS; c++) d[c % PLACES * COLUMNS + c] = c < 2 * PLACES;
    memset(h, 0, sizeof d);
    cr_assert(rvm_machine_new(p, o, &m, &e) == RVM_OK);
    if (j) cr_assert(rvm_jit_attach(j, m, &e) == RVM_OK);
    cr_assert(rvm_call(m, rvm_program_find(p, "columns"), a, 4, &e) == RVM_OK, "%s", e.message);
    rvm_machine_stats(m, stats);
    rvm_machine_free(m);
}

/* How often that is in what LLVM is left with. */
static unsigned occurrences(rvm_jit *j, const rvm_program *p, const rvm_options *o, const char *what) {
    char *text = NULL;
    size_t size;
    unsigned n = 0;
    FILE *out = open_memstream(&text, &size);
    const rvm_status status = rvm_jit_dump(j, p, (uint32_t)rvm_program_find(p, "columns"), 1, o, RVM_JIT_IR, out, &e);
    fclose(out);
    cr_assert(!status, "%s", e.message);
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
    free(text);
    return n;
}

/* Debuggers and profilers are told the lines of the code that runs else, not of other code. */
Test(lanes, lines) {
    report rep = {.name = "lanes"};
    rvm_options o = rvm_options_default();
    rvm_program *p = assemble_text(second, NULL, &rep);
    unsigned vectors[2], lines[2], places = 0;
    o.unchecked = true, o.trail = RVM_TRAIL_OFF;
    for (int k = 0; k < 2; k++) {
        rvm_jit_options jo = rvm_jit_options_default();
        rvm_jit *j;
        jo.tiers = false, jo.cache = "", jo.symbols = k;
        if (rvm_jit_new(&jo, &j, &e)) cr_skip_test("%s", e.message);
        vectors[k] = occurrences(j, p, &o, " x double> ");
        lines[k] = occurrences(j, p, &o, "!dbg");
        places = occurrences(j, p, &o, "!DILocation(");
        rvm_jit_free(j);
    }
    cr_assert(vectors[0] > 20 && vectors[1] == vectors[0], "%u, with lines %u", vectors[0], vectors[1]);
    cr_assert(!lines[0] && lines[1] > vectors[1] / 2 && places > 40, "%u of %u, %u places", lines[1], vectors[1], places);
    rvm_program_free(p);
}

/* Skips the test where there is no native code; else *p is the program, and *grouped will be its blocks in lanes. */
static rvm_jit *compiler_of(const char *text, rvm_program **p, unsigned *grouped) {
    report rep = {.name = "lanes"};
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    o.tiers = false, o.cache = "", o.notice = note_groups, o.userdata = grouped;
    *p = assemble_text(text, NULL, &rep);
    cr_assert(*p);
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    return j;
}

Test(lanes, discarded_arrays) {
    rvm_options o = rvm_options_default();
    unsigned grouped = 0;
    rvm_program *p;
    rvm_jit *j = compiler_of(second, &p, &grouped);
    o.trail = RVM_TRAIL_OFF;
    for (int unchecked = 0; unchecked < 2; unchecked++) {
        double h[2][PLACES * COLUMNS];
        rvm_stats s[2];
        o.unchecked = unchecked;
        for (int native = 0; native < 2; native++) hessian(p, native ? j : NULL, &o, h[native], &s[native]);
        cr_assert(grouped == 1 && !memcmp(h[0], h[1], sizeof *h) && h[0][COLUMNS + 1] == 48);
        cr_assert(unchecked || (s[0].bits_shadows && s[0].bits_shadows == s[1].bits_shadows), "%llu, natively %llu",
                  (unsigned long long)s[0].bits_shadows, (unsigned long long)s[1].bits_shadows);
    }
    rvm_jit_free(j);
    rvm_program_free(p);
}

/* ---- what groups keep of additions, where memory has a limit: they are taken back, and instances run one by one ---- */

enum { ADDED = 100, OWN = 3000, ADDING = 19 };
static const char adding[] = "fn f(s: real[m], c: i64[m], y: real[n, k], x: real[n])\nparallel i in 0..n\n"
                             "for j in 0..m\ns[j] += x[i]\nend\nfor j in 0..m\nc[j] += i\nend\n"
                             "for j in 0..k\ny[i, j] += x[i]\nend\nassert x[i] > 0\nc[0] += 7 // (i + 1)\nend\nend\n";
typedef struct added {
    double s[ADDED], y[ADDING * OWN];
    int64_t c[ADDED];
} added;

static void add(rvm_program *p, rvm_jit *j, const rvm_options *o, added *to) {
    const int64_t n = ADDED, shape[2] = {ADDING, OWN};
    double x[ADDING];
    rvm_machine *m;
    for (int i = 0; i < ADDING; i++) x[i] = 0.1 * (i + 1);
    memset(to, 0, sizeof *to);
    rvm_arg a[] = {rvm_arg_array_f64(to->s, 1, &n), rvm_arg_array_i64(to->c, 1, &n), rvm_arg_array_f64(to->y, 2, shape),
                   rvm_arg_array_f64(x, 1, shape)};
    cr_assert(!rvm_machine_new(p, o, &m, &e) && (!j || !rvm_jit_attach(j, m, &e)));
    cr_assert(!rvm_call(m, 0, a, 4, &e), "%s", e.message);
    rvm_machine_free(m);
}

Test(lanes, additions_taken_back) {
    rvm_options o = rvm_options_default();
    static added one, other;
    unsigned grouped = 0;
    rvm_program *p;
    rvm_jit *j = compiler_of(adding, &p, &grouped);
    o.memory = 1 << 26;
    for (int unchecked = 0; unchecked < 2; unchecked++) {
        o.unchecked = unchecked;
        add(p, NULL, &o, &one);
        add(p, j, &o, &other);
        cr_assert(grouped == 1 && !memcmp(&one, &other, sizeof one) && one.c[1] == ADDING * (ADDING - 1) / 2);
    }
    rvm_jit_free(j);
    rvm_program_free(p);
}
