/* jit.c: the interface rvm_jit.h: modules that cannot be used, attaching, what is compiled. When: tiers.c; printing code:
 * jit_printed.c. What native code computes is tested by the cases and the random programs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "jit_fixture.h"

static const char text[] = "fn sum(y: real, x: real[n])\n"
                           "    for i in 0..n\n"
                           "        y += x[i]\n"
                           "    end\n"
                           "end\n"
                           "fn twice(y: real)\n"
                           "    y *= 2\n"
                           "end\n";
enum { SUM, TWICE };

static rvm_machine *machine(const telling *f, const rvm_options *o) {
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
    telling f;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    telling_begin(&f, text);
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
    telling_end(&f);
}

/* A machine's code for what all of this kind can do, from a name that need not stay. */
Test(jit, limited_to_a_processor) {
    rvm_jit_options o = rvm_jit_options_default();
    char name[] = "generic";
    rvm_jit *j;
    telling f;
    o.cpu = name;
    o.tiers = false;
    o.cache = "";
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_OK, "%s", e.message);
    memset(name, 0, sizeof name);
    cr_assert(strstr(rvm_jit_about(j), ", generic"), "%s", rvm_jit_about(j));
    telling_begin(&f, text);
    rvm_machine *m = machine(&f, NULL);
    cr_assert(rvm_jit_attach(j, m, &e) == RVM_OK && twice(m, 1) == 2 && rvm_jit_reason(m, &e) == RVM_OK);
    rvm_machine_free(m);
    rvm_jit_free(j);
    telling_end(&f);
}

Test(jit, usage) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    o.level = 4;
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_ERR_USAGE && !j && strstr(e.message, "not 4"));
    cr_assert(rvm_jit_new(NULL, NULL, &e) == RVM_ERR_USAGE);
    o.level = 3;
    o.cpu = "z80";
    cr_assert(rvm_jit_new(&o, &j, &e) == RVM_ERR_USAGE && !j && strstr(e.message, "`z80`") && strstr(e.message, "generic"));
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
    telling f;
    telling_begin(&f, text);
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
    telling_end(&f);
}

/* ---- machines ---- */

Test(jit, compiled_once) {
    telling f;
    rvm_jit_totals t;
    telling_begin(&f, text);
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
    telling_end(&f);
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
    const size_t one = adjoint_size(120), two = adjoint_size(240);
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
    telling f;
    rvm_program *p, *same;
    telling_begin(&f, text);
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
    telling_end(&f);
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
    telling f;
    rvm_program *p;
    telling_begin(&f, text);
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
    telling_end(&f);
}

Test(jit, detached) {
    telling f;
    rvm_jit *second;
    telling_begin(&f, text);
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
    telling_end(&f);
}

static void show(void *userdata, const rvm_printed *what) {
    *(bool *)userdata |= what != NULL;
}

Test(jit, interpreted_and_why) {
    static const char shown[] = "fn shown(y: real)\n"
                                "    y *= 2\n"
                                "    print y\n"
                                "end\n";
    telling f;
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    report rep = {.name = "shown"};
    bool printed = false;
    telling_begin(&f, text);
    o.print = show;
    o.userdata = &printed;
    rvm_program *p = assemble_text(shown, NULL, &rep);
    cr_assert(p && rvm_machine_new(p, &o, &m, &e) == RVM_OK && rvm_jit_attach(f.j, m, &e) == RVM_OK);
    for (int k = 0; k < 2; k++) {
        rvm_arg a = rvm_arg_f64(3);
        cr_assert(rvm_call(m, rvm_program_find(p, "shown"), &a, 1, &e) == RVM_OK && a.value.f == 6 && printed);
    }
    cr_assert(rvm_jit_reason(m, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "prints"));
    cr_assert(f.told.refused == 1 && !strcmp(f.told.reason, e.message));
    rvm_machine_free(m);
    rvm_program_free(p);
    cr_assert(!f.told.compiled);
    telling_end(&f);
}

/* Code of its own, beside that of other runs; a gradient's besides, and tangents are interpreted. */
Test(jit, exact) {
    telling f;
    rvm_options o = rvm_options_default();
    telling_begin(&f, text);
    o.exact = true;
    rvm_machine *m = machine(&f, &o), *other = machine(&f, NULL);
    cr_assert(rvm_jit_attach(f.j, m, &e) == RVM_OK && rvm_jit_attach(f.j, other, &e) == RVM_OK);
    cr_assert(twice(m, 3) == 6 && rvm_jit_reason(m, &e) == RVM_OK && f.told.compiled == 1);
    cr_assert(twice(other, 3) == 6 && rvm_jit_reason(other, &e) == RVM_OK && f.told.compiled == 2);
    rvm_arg a = rvm_arg_f64(3);
    a.active = true;
    a.shadow.f = 1;
    cr_assert(rvm_gradient(m, TWICE, &a, 1, &e) == RVM_OK && a.value.f == 3 && a.shadow.f == 2);
    cr_assert(f.told.compiled == 3, "%s", f.told.reason);
    cr_assert(rvm_tangent(m, TWICE, &a, 1, &e) == RVM_OK && a.value.f == 6 && a.shadow.f == 4);
    cr_assert(f.told.compiled == 4, "%s", f.told.reason);
    rvm_machine_free(m);
    rvm_machine_free(other);
    telling_end(&f);
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
    telling f;
    telling_begin(&f, text);
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
    telling_end(&f);
}

/* ---- what cannot turn back ---- */

/* `unused` is dead: it is made for nothing but to be taken back. */
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
    telling f;
    rvm_program *p;
    telling_begin(&f, text);
    cr_assert(rvm_assemble(one_way, sizeof one_way - 1, "one_way.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s",
              e.message);
    cr_assert(!sent_back(f.j, p, RVM_TRAIL_KEEP));
    cr_assert(sent_back(f.j, p, RVM_TRAIL_OFF));
    rvm_program_free(p);
    telling_end(&f);
}

/* ---- what registers hold across calls that are seldom made ---- */

/* t stays in vector registers from one safepoint, or one growth of the trail, to the next. */
#define HARMONIC(each, by)                                                                                                  \
    "fn harmonic(y: real[4], z: real, n: i64)\n"                                                                            \
    "    compute\n"                                                                                                         \
    "        let t: real[4] = 0\n"                                                                                          \
    "        for k in 0..n\n" each "            for i in 0..4\n"                                                            \
    "                t[i] += (i + 1.0) / (" by " + 1.0)\n"                                                                  \
    "            end\n"                                                                                                     \
    "        end\n"                                                                                                         \
    "    do\n"                                                                                                              \
    "        for i in 0..4\n"                                                                                               \
    "            y[i] += t[i]\n"                                                                                            \
    "        end\n"                                                                                                         \
    "    undo\n"                                                                                                            \
    "end\n"

static const struct {
    const char *call, *text;
    int n; /* short enough for the loop without safepoints, or not */
} holds[] = {{"safepoint", HARMONIC("", "k"), 100000},
             {"growth of the trail", HARMONIC("            set z = k\n", "z"), 20000}};

Test(jit, vectors_outlive_calls) {
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_options o = rvm_options_default();
    rvm_jit *j = NULL;
    jo.tiers = false;
    jo.cache = "";
    o.unchecked = o.trust = true;
    if (rvm_jit_new(&jo, &j, &e)) cr_skip_test("%s", e.message);
    for (size_t h = 0; h < sizeof holds / sizeof *holds; h++) {
        double y[4] = {0}, sums[4] = {0};
        rvm_arg a[3] = {rvm_arg_array_f64(y, 1, (int64_t[]){4}), rvm_arg_f64(0), rvm_arg_i64(holds[h].n)};
        rvm_machine *m = NULL;
        report rep = {.name = "harmonic"};
        rvm_program *p = assemble_text(holds[h].text, NULL, &rep);
        cr_assert(p && rvm_machine_new(p, &o, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
        for (int k = 0; k < holds[h].n; k++)
            for (int i = 0; i < 4; i++) sums[i] += (i + 1.0) / (k + 1.0);
        cr_assert(rvm_call(m, 0, a, 3, &e) == RVM_OK, "%s", e.message);
        for (int i = 0; i < 4; i++) cr_assert(y[i] == sums[i], "%s, %d: %.17g, not %.17g", holds[h].call, i, y[i], sums[i]);
        rvm_machine_free(m);
        rvm_program_free(p);
    }
    rvm_jit_free(j);
}

/* A cancel that comes before a run is that run's, however short that is. */
Test(jit, cancelled_before_it_runs) {
    telling f;
    telling_begin(&f, text);
    rvm_machine *m = machine(&f, NULL);
    cr_assert(rvm_jit_attach(f.j, m, &e) == RVM_OK && sum(m, 1) == 6 && f.told.compiled == 1);
    double x[] = {1, 2, 3};
    const int64_t n = 3;
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, &n)};
    rvm_machine_cancel(m);
    cr_assert(rvm_call(m, SUM, a, 2, &e) == RVM_ERR_CANCELLED);
    rvm_machine_unbind(m);
    for (int k = 0; k < 3; k++) cr_assert(sum(m, 1) == 6);
    rvm_machine_free(m);
    telling_end(&f);
}

/* Compute parts within each other: each is walked twice as often as the one around it. */
static const char *parts_in_parts(int depth, char *to, size_t size) {
    size_t n = (size_t)snprintf(to, size, "fn f(x: real[n], y: real[n])\n");
    for (int k = 0; k < depth; k++) n += (size_t)snprintf(to + n, size - n, "compute\n");
    n += (size_t)snprintf(to + n, size - n, "x[n - 1] += x[0] ^ 2\n");
    for (int k = 1; k <= depth; k++) {
        n += (size_t)snprintf(to + n, size - n, "do\ny[%d] += sin(x[n - 1]) * x[%d]\nundo\n", k, k);
        if (k < depth) n += (size_t)snprintf(to + n, size - n, "x[n - 1] += y[%d] * x[%d]\n", k, k);
    }
    snprintf(to + n, size - n, "end\n");
    return to;
}

Test(jit, regions_within_regions) {
    for (int depth = 4; depth <= 12; depth += 8) {
        char text_of[2000];
        told t = {0};
        rvm_program *p;
        rvm_jit *j;
        rvm_jit_options o = in_tiers(0, &t);
        o.tiers = false;
        if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
        rvm_machine *m = native_machine(j, parts_in_parts(depth, text_of, sizeof text_of), &p);
        double x[20] = {0}, y[20] = {0};
        const int64_t n = 20;
        rvm_arg a[] = {rvm_arg_array_f64(x, 1, &n), rvm_arg_array_f64(y, 1, &n)};
        cr_assert(rvm_call(m, 0, a, 2, &e) == RVM_OK, "%s", e.message);
        cr_assert(depth > 4 ? t.refused == 1 && strstr(t.reason, "regions within regions") : t.compiled == 1, "%d: %s",
                  depth, t.reason);
        rvm_machine_free(m);
        rvm_program_free(p);
        rvm_jit_free(j);
    }
}
