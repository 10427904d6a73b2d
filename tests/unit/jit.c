/* jit.c: the interface rvm_jit.h: modules that cannot be used, attaching, what is compiled when, printing code. What native
 * code computes is tested by the cases and the random programs. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char text[] = "fn sum(y: real, x: real[n])\n"
                           "    for i in 0..n\n"
                           "        y += x[i]\n"
                           "    end\n"
                           "end\n"
                           "fn twice(y: real)\n"
                           "    y *= 2\n"
                           "end\n";
enum { SUM, TWICE };

static rvm_error e;

typedef struct told {
    unsigned compiled, refused;
    char function[20], reason[200], lengths[80];
    int direction;
    uint32_t line;
    size_t size;
} told;

static void on_notice(void *userdata, const rvm_jit_notice *n) {
    told *t = userdata;
    ++*(n->status ? &t->refused : &t->compiled);
    snprintf(t->function, sizeof t->function, "%s", n->function);
    snprintf(t->reason, sizeof t->reason, "%s", n->status ? n->reason : "");
    snprintf(t->lengths, sizeof t->lengths, "%s", n->lengths);
    t->direction = n->direction;
    t->line = n->line;
    t->size = n->code_size;
}

/* An engine that tells t, and a program. */
typedef struct fixture {
    told told;
    rvm_jit *j;
    rvm_program *p;
} fixture;

static void begin(fixture *f) {
    report rep = {.name = "jit"};
    rvm_jit_options o = rvm_jit_options_default();
    *f = (fixture){.p = assemble_text(text, NULL, &rep)};
    o.level = 0;
    o.tiers = false;
    o.cache = "";
    o.notice = on_notice;
    o.userdata = &f->told;
    cr_assert(f->p);
    if (rvm_jit_new(&o, &f->j, &e)) cr_skip_test("%s", e.message);
}

static void end(fixture *f) {
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

static rvm_machine *machine(const fixture *f, const rvm_options *o) {
    rvm_machine *m = NULL;
    cr_assert(rvm_machine_new(f->p, o, &m, &e) == RVM_OK);
    return m;
}

static double twice(rvm_machine *m, double y) {
    rvm_arg a = rvm_arg_f64(y);
    cr_assert(rvm_call(m, TWICE, &a, 1, &e) == RVM_OK, "%s", e.message);
    return a.value.f;
}

static double sum(rvm_machine *m, int64_t stride) {
    double x[] = {1, 2, 3, 4, 5, 6};
    const int64_t n = 3;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &n)};
    a[1].stride[0] = stride;
    cr_assert(rvm_call(m, SUM, a, 2, &e) == RVM_OK, "%s", e.message);
    return a[0].value.f;
}

/* ---- there is none ---- */

static void refused(const char *path, const char *reason) {
    rvm_jit *j = (rvm_jit *)&e;
    rvm_jit_options o = rvm_jit_options_default();
    o.tiers = false;
    setenv("RVM_LLVM_MODULE", path, 1);
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_ERR_UNSUPPORTED && !j);
    cr_assert(strstr(e.message, reason) && !strcmp(e.file, path), "%s: %s", e.file, e.message);
}

Test(jit, modules_that_are_refused) {
    refused("/nowhere/rvm_llvm.so", "cannot be opened");
    refused("libm.so.6", "is no module of native code");
    refused(RVM_FOREIGN_MODULE, "of the interface, and this library wants");
}

Test(jit, modules_that_are_refused_later) { /* in tiers, each time anew */
    fixture f;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    begin(&f);
    o.cache = "";
    o.tiers = o.wait = true;
    o.hot = 1;
    o.notice = on_notice;
    o.userdata = &f.told;
    setenv("RVM_LLVM_MODULE", RVM_FOREIGN_MODULE, 1);
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_OK, "%s", e.message);
    unsetenv("RVM_LLVM_MODULE");
    rvm_machine *m = machine(&f, NULL);
    cr_assert(rvm_jit_attach(j, m, &e) == RVM_OK);
    rvm_arg y = rvm_arg_f64(2);
    cr_assert(twice(m, 1) == 2 && twice(m, 1) == 2 && f.told.refused == 1);
    cr_assert(rvm_uncall(m, TWICE, &y, 1, &e) == RVM_OK && y.value.f == 1 && f.told.refused == 2 && !f.told.compiled);
    rvm_machine_free(m);
    rvm_jit_free(j);
    end(&f);
}

Test(jit, usage) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    o.level = 4;
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_ERR_USAGE && !j && strstr(e.message, "not 4"));
    cr_assert(rvm_jit_new(NULL, NULL, &e) == RVM_ERR_USAGE);
    setenv("RVM_LLVM_MODULE", "/nowhere/rvm_llvm.so", 1); /* at once, in tiers, too */
    cr_assert(rvm_jit_new(NULL, &j, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "RVM_LLVM_MODULE"), "%s", e.message);
    unsetenv("RVM_LLVM_MODULE");
    rvm_jit_free(NULL);
}

Test(jit, out_of_memory) {
    counting c;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    o.cache = "";
    o.tiers = false;
    counting_init(&c);
    c.fail_at = 1;
    o.allocator = &c.al;
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_ERR_MEMORY && !j);
    fixture f;
    begin(&f);
    rvm_machine *m = machine(&f, NULL);
    counting_init(&c);
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_OK, "%s", e.message);
    c.fail_at = c.calls + 1;
    cr_assert(rvm_jit_attach(j, m, &e) == RVM_ERR_MEMORY && rvm_jit_attach(j, m, &e) == RVM_OK);
    c.fail_at = c.calls + 1; /* interpreted; the next run tries again */
    cr_assert(twice(m, 3) == 6 && rvm_jit_reason(m, &e) == RVM_ERR_MEMORY);
    cr_assert(twice(m, 4) == 8 && rvm_jit_reason(m, &e) == RVM_OK);
    rvm_machine_free(m);
    rvm_jit_free(j);
    cr_assert(c.live_blocks == 0 && !c.mismatch);
    end(&f);
}

/* ---- machines ---- */

Test(jit, compiled_once) {
    fixture f;
    rvm_jit_totals t;
    begin(&f);
    rvm_machine *m = machine(&f, NULL), *other = machine(&f, NULL);
    cr_assert(rvm_jit_reason(m, &e) == RVM_ERR_USAGE);
    cr_assert(rvm_jit_attach(f.j, m, &e) == RVM_OK && rvm_jit_attach(f.j, other, &e) == RVM_OK);
    cr_assert(twice(m, 3) == 6 && f.told.compiled == 1 && !strcmp(f.told.function, "twice") && f.told.direction == 1);
    cr_assert(twice(m, 4) == 8 && twice(other, 5) == 10 && f.told.compiled == 1);
    cr_assert(rvm_jit_reason(m, &e) == RVM_OK);
    rvm_arg a = rvm_arg_f64(8);
    cr_assert(rvm_uncall(m, TWICE, &a, 1, &e) == RVM_OK && a.value.f == 4 && f.told.direction == -1);
    cr_assert(sum(m, 1) == 6 && sum(m, 2) == 9 && sum(m, 2) == 9 && f.told.compiled == 4);
    rvm_jit_stats(f.j, &t);
    cr_assert(t.compiled == 4 && !t.refused && t.code_size > f.told.size && t.seconds[RVM_JIT_EMIT] > 0 && t.opening > 0);
    cr_assert(strstr(rvm_jit_about(f.j), "LLVM "));
    rvm_machine_free(m);
    rvm_machine_free(other);
    end(&f);
}

/* Tiers without a cache, hot after so many instructions; t NULL: nothing is told. */
static rvm_jit_options in_tiers(uint64_t hot, told *t) {
    rvm_jit_options o = rvm_jit_options_default();
    o.level = 0;
    o.cache = "";
    o.notice = t ? on_notice : NULL;
    o.userdata = t;
    o.tiers = o.wait = true;
    o.hot = hot;
    return o;
}

/* A machine with native code for the program, which the source says. */
static rvm_machine *native_machine(rvm_jit *j, const char *source, rvm_program **p) {
    rvm_machine *m = NULL;
    cr_assert(rvm_assemble(source, strlen(source), "test.rasm", NULL, p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_new(*p, NULL, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    return m;
}

/* Bytes of code of the adjoint of a function with n locals and their sum, checked. */
static size_t adjoint_size(unsigned n) {
    char source[1 << 14], *to = source, *const end = source + sizeof source;
    double x = 1.5, x_b = 0;
    rvm_jit_totals totals;
    rvm_program *p;
    rvm_jit *j;
    to += snprintf(to, (size_t)(end - to),
                   "fn main(y: real, y_b: real, x: real, x_b: real)\ncall "
                   "f'adj(y, y_b, x, x_b)\nend\n"
                   "fn f(y: real, x: real)\n");
    for (unsigned k = 0; k < n; k++) to += snprintf(to, (size_t)(end - to), "let a%u = x * %u.5\n", k, k);
    for (unsigned k = 0; k < n; k++) to += snprintf(to, (size_t)(end - to), "%s a%u", k ? " +" : "y +=", k);
    snprintf(to, (size_t)(end - to), "\nend\n");
    rvm_jit_options o = rvm_jit_options_default();
    o.cache = "";
    o.tiers = false;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    rvm_machine *m = native_machine(j, source, &p);
    rvm_arg a[] = {rvm_arg_f64(n * n * x / 2), rvm_arg_f64(1), rvm_arg_f64(x), rvm_arg_f64(x_b)};
    cr_assert(rvm_call(m, 0, a, 4, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm_jit_reason(m, &e) == RVM_OK && a[3].value.f == n * n / 2.0, "%g", a[3].value.f);
    rvm_jit_stats(j, &totals);
    rvm_machine_free(m);
    rvm_program_free(p);
    rvm_jit_free(j);
    return totals.code_size;
}

Test(jit, exits_are_shared) {
    const size_t one = adjoint_size(60), two = adjoint_size(120);
    cr_assert(two < one * 5 / 2, "%zu bytes, then %zu", one, two);
}

/* y += x, elementwise, of n rows; the status. */
static rvm_status add_rows(rvm_machine *m, int64_t n, int64_t columns) {
    double x[200], y[200] = {0};
    rvm_arg a[] = {rvm_arg_array_f64(y, 2, (int64_t[]){n, columns}), rvm_arg_array_f64(x, 2, (int64_t[]){n, columns})};
    for (int k = 0; k < 200; k++) x[k] = k;
    const rvm_status st = rvm_call(m, 0, a, 2, &e);
    cr_assert(rvm_jit_reason(m, &e) == RVM_OK, "%s", e.message);
    for (int64_t k = 0; k < 200 && !st; k++) cr_assert(y[k] == (k < n * columns ? (double)k : 0));
    return st;
}

Test(jit, lengths) {
    static const char add[] = "fn add(y: real[n, m], x: real[n, m])\n"
                              "    for i in 0..n\n"
                              "        call row(y[i], x[i])\n"
                              "    end\n"
                              "end\n"
                              "fn row(y: real[m], x: real[m])\n"
                              "    for j in 0..m\n"
                              "        y[j] += x[j]\n"
                              "    end\n"
                              "end\n";
    static const struct {
        int64_t n, m;
        unsigned compiled; /* so far */
        const char *lengths;
    } calls[] = {{3, 2, 1, "n=3, m=2"}, {3, 2, 1, ""},           {100, 2, 2, "m=2"}, {99, 2, 2, ""},
                 {3, 2, 2, ""},         {2, 64, 3, "n=2, m=64"}, {2, 65, 4, "n=2"},  {1, 1, 5, ""},
                 {5, 5, 5, ""},         {90, 1, 5, ""},          {3, 2, 5, ""},      {0, 4, 5, ""}};
    fixture f;
    rvm_program *p, *same;
    begin(&f);
    rvm_machine *m = native_machine(f.j, add, &p), *other = native_machine(f.j, add, &same);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        const unsigned before = f.told.compiled;
        cr_assert(add_rows(m, calls[k].n, calls[k].m) == RVM_OK && add_rows(other, calls[k].n, calls[k].m) == RVM_OK);
        cr_assert(f.told.compiled == calls[k].compiled, "call %zu: %u", k, f.told.compiled);
        cr_assert(f.told.compiled == before || !strcmp(f.told.lengths, calls[k].lengths), "%s", f.told.lengths);
    }
    rvm_machine_free(m);
    rvm_machine_free(other);
    rvm_program_free(p);
    rvm_program_free(same);
    end(&f);
}

/* The sum of five numbers, which calls itself for four of them; stepped: the outer call is interpreted. */
static double chain(rvm_machine *m, double *x, bool stepped) {
    const int64_t n = 5;
    bool done = false;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &n)};
    cr_assert(rvm_machine_bind(m, 0, a, 2, RVM_PRIMAL, false, &e) == RVM_OK, "%s", e.message);
    if (stepped) cr_assert(rvm_machine_step(m, 1, &done, &e) == RVM_OK && !done);
    cr_assert(rvm_machine_forward(m, &e) == RVM_OK && rvm_jit_reason(m, &e) == RVM_OK, "%s", e.message);
    rvm_machine_unbind(m);
    return a[0].value.f;
}

/* Code for the lengths of a call within is not taken for the call around it the next time, though that is bound as ever. */
Test(jit, lengths_in_recursion) {
    static const char source[] = "fn chain(s: real, x: real[n])\n"
                                 "    if n > 0\n"
                                 "        s += x[0]\n"
                                 "        call chain(s, x[1..n])\n"
                                 "    end\n"
                                 "end\n";
    const rvm_jit_options o = in_tiers(1, NULL);
    double x[] = {1, 2, 3, 4, 5};
    rvm_program *p;
    rvm_jit *j;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    rvm_machine *m = native_machine(j, source, &p);
    for (int k = 0; k < 6; k++) cr_expect(chain(m, x, k == 3) == 15, "call %d", k);
    rvm_machine_free(m);
    rvm_program_free(p);
    rvm_jit_free(j);
}

/* What the verifier refuses for some lengths fails when it runs, as it does for any. */
Test(jit, lengths_that_are_refused) {
    static const char add[] = "fn add(x: real[n], a: real[k], b: real[m])\n"
                              "    x[k] += x[m]\n"
                              "end\n";
    fixture f;
    rvm_program *p;
    begin(&f);
    rvm_machine *m = native_machine(f.j, add, &p);
    for (int64_t k = 1; k < 4; k++) {
        const int64_t n = 4, two = 2;
        double x[] = {1, 2, 3, 4}, a[4] = {0}, b[2] = {0};
        rvm_arg given[] = {rvm_arg_array_f64(x, 1, &n), rvm_arg_array_f64(a, 1, &k), rvm_arg_array_f64(b, 1, &two)};
        const rvm_status st = rvm_call(m, 0, given, 3, &e);
        cr_assert(st == (k == two ? RVM_ERR_ALIAS : RVM_OK) && x[k] == (double)(k == two ? k + 1 : k + 4), "%s", e.message);
        cr_assert(rvm_jit_reason(m, &e) == RVM_OK && f.told.compiled == k);
    }
    rvm_machine_free(m);
    rvm_program_free(p);
    end(&f);
}

Test(jit, detached) {
    fixture f;
    rvm_jit *second;
    begin(&f);
    rvm_machine *m = machine(&f, NULL);
    rvm_jit_detach(m);
    cr_assert(rvm_jit_attach(f.j, m, &e) == RVM_OK && rvm_jit_new(NULL, &second, &e) == RVM_OK);
    cr_assert(rvm_jit_attach(second, m, &e) == RVM_OK && twice(m, 3) == 6 && !f.told.compiled); /* taken over */
    rvm_jit_detach(m);
    cr_assert(rvm_jit_reason(m, &e) == RVM_ERR_USAGE && twice(m, 3) == 6);
    cr_assert(rvm_jit_attach(second, m, &e) == RVM_OK);
    rvm_jit_free(second); /* before the machine */
    cr_assert(rvm_jit_reason(m, &e) == RVM_ERR_USAGE && twice(m, 3) == 6);
    rvm_machine_free(m);
    end(&f);
}

Test(jit, interpreted_and_why) {
    fixture f;
    rvm_options o = rvm_options_default();
    begin(&f);
    for (int k = 0; k < 2; k++) {
        o.exact = !k;
        o.profile = k;
        rvm_machine *m = machine(&f, &o);
        cr_assert(rvm_jit_attach(f.j, m, &e) == RVM_OK && twice(m, 3) == 6 && twice(m, 3) == 6);
        cr_assert(rvm_jit_reason(m, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, k ? "(profile)" : "(exact)"));
        cr_assert(f.told.refused == (unsigned)k + 1 && !strcmp(f.told.reason, e.message));
        rvm_machine_free(m);
    }
    cr_assert(!f.told.compiled);
    end(&f);
}

/* Compute parts nested `levels` deep, whose native code has a copy for each pass: 2 to the levels. */
static rvm_program *nested(int levels) {
    char *source = malloc(1 << 16);
    size_t n = (size_t)sprintf(source, "fn f(y: real, x: real)\n");
    for (int k = 0; k < levels; k++) n += (size_t)sprintf(source + n, "compute\nlet a%d: real\n", k);
    n += (size_t)sprintf(source + n, "a%d += x\n", levels - 1);
    for (int k = levels - 1; k > 0; k--) n += (size_t)sprintf(source + n, "do\na%d += a%d\nundo\n", k - 1, k);
    sprintf(source + n, "do\ny += a0\nundo\nend\n");
    report rep = {.name = "jit"};
    rvm_program *p = assemble_text(source, NULL, &rep);
    free(source);
    cr_assert(p);
    return p;
}

Test(jit, too_large) { /* checked, whose many exits share a frame: what was begun is thrown away */
    fixture f;
    begin(&f);
    rvm_program *p = nested(150);
    rvm_options o = rvm_options_default();
    o.fuel = 1000;
    rvm_machine *m = NULL;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK && rvm_jit_attach(f.j, m, &e) == RVM_OK);
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(1)};
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_ERR_FUEL);
    cr_assert(rvm_jit_reason(m, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "too large for native code"), "%s",
              e.message);
    rvm_machine_free(m);
    rvm_program_free(p);
    end(&f);
}

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
    cr_assert(rvm_call(m, 1, a, 3, &e) == RVM_OK && rvm_jit_reason(m, &e) == RVM_OK, "%s", e.message);
    rvm_machine_stats(m, &after);
    return after.forward - before.forward;
}

Test(jit, tiers) {
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

Test(jit, tiers_when_a_call_returns) {
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

Test(jit, compiled_beside, .timeout = 300) {
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

Test(jit, cancelled_while_compiling, .timeout = 300) {
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

/* ---- looks around, in tiers ---- */

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

Test(jit, looks) { /* for a loop to enter: not beyond the fuel, and progress is not told of each */
    watch w = {0};
    uint64_t n;
    cr_assert(run_rows(&w, 0, 1010000, &n) == RVM_ERR_FUEL && n < 1010010, "%llu", (unsigned long long)n);
    w = (watch){0};
    cr_assert(run_rows(&w, 0, 0, &n) == RVM_OK && w.calls && w.calls <= n / 1000000, "%u calls", w.calls);
}

Test(jit, detached_within) { /* by its own progress function, in native code */
    watch w = {.detach_at = 3};
    uint64_t n;
    cr_assert(run_rows(&w, 1000, 0, &n) == RVM_OK && w.calls && w.calls <= n / 1000000, "%u calls", w.calls);
}

/* ---- printing ---- */

static rvm_status dump(const fixture *f, uint32_t fn, int direction, rvm_jit_form form, const rvm_options *o,
                       char **printed) {
    size_t size = 0;
    FILE *out = open_memstream(printed, &size);
    const rvm_status st = rvm_jit_dump(f->j, f->p, fn, direction, o, form, out, &e);
    fclose(out);
    return st;
}

Test(jit, printed) {
    fixture f;
    char *printed;
    rvm_options exact = rvm_options_default();
    begin(&f);
    exact.exact = true;
    const struct {
        uint32_t fn;
        int direction;
        rvm_jit_form form;
        const rvm_options *o;
        rvm_status status;
        const char *text;
    } rows[] = {
        {SUM, 1, RVM_JIT_IR, NULL, RVM_OK, "fadd double"},    {SUM, -1, RVM_JIT_IR, NULL, RVM_OK, "fsub double"},
        {SUM, 1, RVM_JIT_ASSEMBLY, NULL, RVM_OK, "rvm_need"}, {2, 1, RVM_JIT_IR, NULL, RVM_ERR_USAGE, ""},
        {SUM, 0, RVM_JIT_IR, NULL, RVM_ERR_USAGE, ""},        {SUM, 1, RVM_JIT_IR, &exact, RVM_ERR_UNSUPPORTED, ""},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const rvm_status st = dump(&f, rows[k].fn, rows[k].direction, rows[k].form, rows[k].o, &printed);
        cr_expect(st == rows[k].status && strstr(printed, rows[k].text) && !*printed == (st != RVM_OK), "row %zu: %s", k,
                  st ? e.message : printed);
        free(printed);
    }
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    cr_assert(rvm_jit_dump(f.j, f.p, SUM, 1, NULL, RVM_JIT_IR, full, &e) == RVM_ERR_IO);
    fclose(full);
    cr_assert(!f.told.compiled && !f.told.refused); /* nothing is kept */
    end(&f);
}

/* ---- what cannot turn back ---- */

/* `unused` is idle: it is made for nothing but to be taken back. */
static const char one_way[] = "fn f(y: real, x: real[n])\n"
                              "    let unused: real\n"
                              "    for i in 0..n\n"
                              "        for j in 0..n\n"
                              "            unused += x[i] * x[j]\n"
                              "            y += x[i]\n"
                              "        end\n"
                              "    end\n"
                              "    for i in 0..n\n"
                              "        for j in 0..n\n"
                              "            unused -= x[i] * x[j]\n"
                              "        end\n"
                              "    end\n"
                              "end\n";

/* Stopped half way and sent back: whether that is refused. */
static bool sent_back(rvm_jit *j, const rvm_program *p, rvm_trail trail) {
    static double x[100];
    rvm_arg a[2] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, (int64_t[]){100})};
    rvm_options o = rvm_options_default();
    rvm_machine *m;
    o.unchecked = true;
    o.trail = trail;
    o.fuel = 500;
    cr_assert(rvm_machine_new(p, &o, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_ERR_FUEL);
    rvm_status st = rvm_machine_backward(m, &e);
    const bool refused = st == RVM_ERR_UNSUPPORTED && strstr(e.message, "cannot turn back");
    cr_assert(refused || st == RVM_ERR_FUEL || !st, "%s", e.message);
    for (st = RVM_ERR_FUEL; refused && st == RVM_ERR_FUEL;) st = rvm_machine_forward(m, &e); /* on it goes */
    cr_assert(!refused || !st);
    cr_assert(!refused || !rvm_machine_backward(m, &e) || e.code == RVM_ERR_FUEL); /* and back from the end */
    rvm_machine_free(m);
    return refused;
}

Test(jit, turning_back) {
    fixture f;
    rvm_program *p;
    begin(&f);
    cr_assert(rvm_assemble(one_way, sizeof one_way - 1, "one_way.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s",
              e.message);
    cr_assert(!sent_back(f.j, p, RVM_TRAIL_KEEP));
    cr_assert(sent_back(f.j, p, RVM_TRAIL_OFF));
    rvm_program_free(p);
    end(&f);
}
