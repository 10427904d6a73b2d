/* later.c: additions that groups of lanes keep until they are done (jit/lanes/later.c): in lanes, with the interpreter's
 * bits there and back, whether the machine takes over what is kept, or may not since its memory has a limit. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { N = 300, SUMS = 24 };
static rvm_error e;

/* Bodies of a block over i, which adds to s, and t, by x, q and places at. */
static const struct {
    const char *name, *body;
} rows[] = {
    {"twice", "s[0] += sin(x[i])\ns[0] += x[i] * q[i]\n"},
    {"twice, apart from others", "s[0] += sin(x[i])\nt[1] += q[i]\ns[0] += x[i] * q[i]\n"},
    {"under a condition", "if x[i] > 0.4\ns[1] += exp(x[i])\nend\n"},
    {"at its own index", "s[at[i]] += exp(x[i]) * q[i]\n"},
    {"at its own index, under conditions",
     "if x[i] > 0.4\ns[at[i]] += exp(x[i])\nif q[i] > 0.4\ns[2] += exp(q[i])\nend\nend\n"},
    {"again and again", "for k in 0..40\ns[3] += x[i] * q[i]\ns[2] -= x[i] / 3\nend\n"},
    {"three of them", "for k in 0..9\ns[3] += x[i]\ns[2] -= x[i] / 3\ns[m - 1] += q[i]\nend\n"},
    {"four of them, two the same", "for k in 0..9\ns[3] += x[i]\ns[2] -= q[i]\ns[3] += q[i] / 7\ns[0] += q[i]\nend\n"},
    {"four of them, two behind the first the same",
     "for k in 0..9\ns[0] += q[i]\ns[3] += x[i]\ns[2] -= q[i]\ns[3] += q[i] / 7\nend\n"},
    {"more than a group keeps", "for k in 0..500\ns[k % 5] += x[i] * q[i]\ns[2] -= x[i] / 3\nend\n"},
    {"loops that are alike", "for k in 0..m\ns[k] += x[i] * k\nend\nfor k in 0..m\ns[k] += exp(q[i])\nend\n"},
    {"rows of loops", "for k in 0..3\nfor l in 0..m\ns[l] += x[i] * q[i]\nend\nend\n"},
    {"it is known when it runs", "for k in 0..4\ns[k * at[0] % m] += x[i] * q[i]\nend\n"},
};

typedef struct outcome {
    double s[2][SUMS], t[2][SUMS]; /* there, and back */
} outcome;

static void run(const rvm_program *p, rvm_jit *j, const rvm_options *o, int64_t n, outcome *to) {
    static double x[N], q[N];
    static int64_t at[N];
    const int64_t m = SUMS;
    rvm_machine *machine;
    for (int k = 0; k < N; k++) x[k] = k % 97 * .0137, q[k] = k % 89 * .0171 - .2, at[k] = (k * 7 + 1) % SUMS / 2;
    for (int k = 0; k < SUMS; k++) to->s[0][k] = .01 * k, to->t[0][k] = .1 * k;
    rvm_arg a[] = {rvm_arg_array_f64(to->s[0], 1, &m), rvm_arg_array_f64(to->t[0], 1, &m), rvm_arg_array_f64(x, 1, &n),
                   rvm_arg_array_f64(q, 1, &n), rvm_arg_array_i64(at, 1, &n)};
    cr_assert(!rvm_machine_new(p, o, &machine, &e) && (!j || !rvm_jit_attach(j, machine, &e)), "%s", e.message);
    cr_assert(!rvm_machine_bind(machine, 0, a, 5, RVM_PRIMAL, false, &e), "%s", e.message);
    cr_assert(!rvm_machine_forward(machine, &e), "%s", e.message);
    cr_assert(!j || !rvm_jit_reason(machine, &e), "%s", e.message);
    memcpy(to->s[1], to->s[0], sizeof *to->s), memcpy(to->t[1], to->t[0], sizeof *to->t);
    cr_assert(!rvm_machine_backward(machine, &e), "%s", e.message);
    rvm_machine_free(machine);
}

typedef struct told {
    unsigned grouped, single;
} told;

static void note(void *userdata, const rvm_jit_notice *n) {
    told *t = userdata;
    t->grouped += n->grouped;
    t->single += n->single;
}

static rvm_program *program_of(const char *body, report *rep) {
    char text[1024];
    snprintf(text, sizeof text,
             "fn f(s: real[m], t: real[m], x: real[n], q: real[n], at: i64[n])\nparallel i in 0..n\n%send\nend\n", body);
    rvm_program *p = assemble_text(text, NULL, rep);
    cr_assert(p, "%s", body);
    return p;
}

static void compare(size_t k, bool unchecked, uint64_t memory) {
    report rep = {.name = "later"};
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_options o = rvm_options_default();
    rvm_jit *j = NULL;
    told t = {0, 0};
    jo.tiers = false, jo.any_lengths = true, jo.cache = "", jo.level = 0, jo.notice = note, jo.userdata = &t, jo.threads = 0;
    o.unchecked = o.trust = unchecked;
    o.memory = memory;
    if (rvm_jit_new(&jo, &j, &e)) cr_skip_test("%s", e.message);
    rvm_program *p = program_of(rows[k].body, &rep);
    for (int64_t n = 3; n <= N; n += 99) {
        outcome interpreted, native;
        run(p, NULL, &o, n, &interpreted);
        run(p, j, &o, n, &native);
        cr_expect(!memcmp(&interpreted, &native, sizeof native), "%s, %d instances, %s", rows[k].name, (int)n,
                  unchecked ? "unchecked" : "checked");
    }
    cr_expect(t.grouped && !t.single, "%s: %u blocks are not in lanes", rows[k].name, t.single);
    rvm_jit_free(j);
    rvm_program_free(p);
}

Test(later, interpreters_bits, .timeout = 120) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int unchecked = 0; unchecked < 2; unchecked++) compare(k, unchecked, 0);
}

Test(later, where_memory_has_a_limit, .timeout = 120) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) compare(k, true, 1 << 26);
}

/* What lanes may add as they go is not kept: where of two additions only one is made, and where each is to an element of its
 * own. */
Test(later, once) {
    static const struct {
        const char *body;
        bool kept;
    } once[] = {
        {"for k in 0..m\ns[k] += x[i] * q[i]\nend\n", false},
        {"for k in 0..m\nif at[0] == 1\ns[k] += x[i]\nelse\ns[k] += exp(q[i]) * x[i]\nend\nend\n", false},
        {"for k in 0..m\ns[k] += x[i]\nt[k] += q[i]\nend\n", false},
        {"for k in 0..m\nif at[0] == 1\ns[k] += x[i]\nend\ns[k] += exp(q[i]) * x[i]\nend\n", true},
    };
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_options o = rvm_options_default();
    report rep = {.name = "later"};
    rvm_jit *j = NULL;
    jo.cache = "", jo.any_lengths = true;
    o.unchecked = o.trust = true;
    if (rvm_jit_new(&jo, &j, &e)) cr_skip_test("%s", e.message);
    for (size_t k = 0; k < sizeof once / sizeof *once; k++) {
        rvm_program *p = program_of(once[k].body, &rep);
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        const rvm_status status = rvm_jit_dump(j, p, 0, 1, &o, RVM_JIT_IR, out, &e);
        fclose(out);
        cr_assert(!status && strstr(text, " x double> "), "%s", e.message);
        cr_expect((strstr(text, "rvm__native_add_kept") != NULL) == once[k].kept, "row %zu", k);
        free(text);
        rvm_program_free(p);
    }
    rvm_jit_free(j);
}
