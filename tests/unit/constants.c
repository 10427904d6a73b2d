/* constants.c: constants of the assembler: rounded once, as the C library and the processor round; short of memory and time
 * however they are built from each other.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* What `y += TEXT` adds to a y of the type; NaN where the text is refused. */
static rvm_value constant_of(const char *type, const char *text) {
    char source[800];
    rvm_program *p;
    rvm_error e;
    const int n = snprintf(source, sizeof source, "fn f(y: %s)\n    y += %s\nend\n", type, text);
    if (rvm_assemble(source, (size_t)n, "unit.rasm", NULL, &p, &e, NULL, NULL)) return (rvm_value){.f = NAN};
    const rvm_value v = p->functions[0].consts[0];
    cr_assert(p->functions[0].nconsts == 1);
    rvm_program_free(p);
    return v;
}

static void expect(const char *type, const char *text, double wanted) {
    const double got = constant_of(type, text).f;
    cr_assert(memcmp(&got, &wanted, sizeof got) == 0, "%s as %s: expected %.17g, got %.17g", text, type, wanted, got);
}

/* Of any exponent, subnormal ones more often than by chance. */
static void random_literal(rng *r, char *text, size_t size) {
    const int zeros = (int)rng_below(r, 25), exponent = (int)rng_below(r, 630) - 330;
    snprintf(text, size, "%u.%0*llue%d", rng_below(r, 1000), zeros, (unsigned long long)(rng_next(r) >> rng_below(r, 60)),
             rng_below(r, 4) ? exponent : -308 - (int)rng_below(r, 17));
}

Test(constants, literals_round_as_strtod) {
    rng r = {1};
    char text[80];
    for (int k = 0; k < 3000; k++) {
        random_literal(&r, text, sizeof text);
        if (isfinite(strtod(text, NULL))) expect("f64", text, strtod(text, NULL));
        if (isfinite(strtof(text, NULL))) expect("f32", text, (double)strtof(text, NULL));
    }
}

/* Halfway between two numbers, and a little beside. */
Test(constants, ties_go_to_even) {
    expect("f64", "9007199254740993", 9007199254740992.0);
    expect("f64", "9007199254740995", 9007199254740996.0);
    expect("f64", "9007199254740993 + 1 / 10 ^ 300", 9007199254740994.0);
    expect("f64", "-9007199254740993 - 1 / 10 ^ 300", -9007199254740994.0);
    expect("f64", "2 ^ -1075", 0.0);
    expect("f64", "2 ^ -1075 + 2 ^ -1200", 0x1p-1074);
    expect("f64", "3 * 2 ^ -1075", 0x1p-1073);
    expect("f64", "2 ^ 1024 - 2 ^ 970", NAN);
    expect("f64", "2 ^ 1024 - 2 ^ 970 - 1", 0x1.fffffffffffffp1023);
    expect("f32", "2 ^ 128 - 2 ^ 103 - 1", 0x1.fffffep127);
    expect("f32", "2 ^ 128 - 2 ^ 103", NAN);
    expect("f32", "16777217", 16777216.0);
    cr_assert(constant_of("fix", "2 ^ -44").i == 0 && constant_of("fix", "3 * 2 ^ -44").i == 2);
    cr_assert(constant_of("fix", "2 ^ -44 + 2 ^ -200").i == 1 && constant_of("fix", "-3 * 2 ^ -44").i == -2);
    cr_assert(constant_of("fix", "-2 ^ 20").i == INT64_MIN && constant_of("fix", "2 ^ 20 - 2 ^ -43").i == INT64_MAX);
    cr_assert(isnan(constant_of("fix", "2 ^ 20 - 2 ^ -45").f) && isnan(constant_of("fix", "-2 ^ 20 - 2 ^ -60").f));
}

/* One operation on whole numbers that an f64 holds rounds as the processor's. */
Test(constants, operations_round_as_the_processor) {
    static const char operators[] = "+-*/";
    rng r = {2};
    char text[300];
    for (int k = 0; k < 2000; k++) {
        const int64_t a = (int64_t)(rng_next(&r) >> (11 + rng_below(&r, 40))),
                      b = 1 + (int64_t)(rng_next(&r) >> (11 + k % 40));
        const char o = operators[rng_below(&r, 4)];
        const double x = (double)a, y = (double)b, wanted = o == '+' ? x + y : o == '-' ? x - y : o == '*' ? x * y : x / y;
        snprintf(text, sizeof text, "%lld %c %lld", (long long)a, o, (long long)b);
        expect("f64", text, wanted);
        snprintf(text, sizeof text, "((%lld %c %lld) * %lld - 1 / 3) / %lld + 1 / (%lld * 3)", (long long)a, o, (long long)b,
                 (long long)b, (long long)b, (long long)b);
        expect("f64", text, wanted);
    }
}

/* Quotients and remainders of several limbs: q * b + r is a again, and r is smaller than b, with the sign of a. */
Test(constants, long_division) {
    rng r = {3};
    char text[600], a[80], b[80];
    for (int k = 0; k < 500; k++) {
        snprintf(a, sizeof a, "(%llu * 2 ^ %u - %llu)", (unsigned long long)rng_next(&r), rng_below(&r, 1500),
                 (unsigned long long)rng_next(&r));
        snprintf(b, sizeof b, "(2 ^ %u * %llu + %llu)", rng_below(&r, 900), (unsigned long long)(rng_next(&r) | 1),
                 (unsigned long long)(k % 3 ? rng_next(&r) : 0));
        snprintf(text, sizeof text, "%s // %s * %s + %s %% %s == %s", a, b, b, a, b, a);
        cr_assert(constant_of("i64", text).i == 1, "%s", text);
        snprintf(text, sizeof text, "abs(%s %% %s) < %s and (%s %% %s) * %s >= 0", a, b, b, a, b, a);
        cr_assert(constant_of("i64", text).i == 1, "%s", text);
    }
}

typedef struct counter {
    size_t now, most;
} counter;
static void *count(void *userdata, void *p, size_t old_size, size_t new_size) {
    counter *c = userdata;
    c->now += new_size - old_size;
    if (c->now > c->most) c->most = c->now;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

static size_t most_memory(const char *first, const char *operator, unsigned n) {
    static char source[100000];
    counter c = {0};
    const rvm_allocator al = {count, &c};
    const rvm_asm_options o = {.allocator = &al};
    rvm_program *p;
    rvm_error e;
    int used = snprintf(source, sizeof source, "const c0 = %s\n", first);
    for (unsigned k = 1; k <= n; k++)
        used += snprintf(source + used, sizeof source - (size_t)used, "const c%u = c%u %s c%u\n", k, k - 1, operator, k - 1);
    used += snprintf(source + used, sizeof source - (size_t)used, "fn f(z: complex)\n    z += c%u\nend\n", n);
    cr_assert(rvm_assemble(source, (size_t)used, "unit.rasm", &o, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    rvm_program_free(p);
    cr_assert(!c.now);
    return c.most;
}

/* Every allocation failing in turn. */
typedef struct failing {
    unsigned left;
} failing;
static void *fail_later(void *userdata, void *p, size_t old_size, size_t new_size) {
    failing *f = userdata;
    (void)old_size;
    if (new_size && !f->left) return NULL;
    if (new_size) {
        f->left--;
        return realloc(p, new_size);
    }
    free(p);
    return NULL;
}

Test(constants, without_memory) {
    static char source[40000];
    int used = snprintf(source, sizeof source, "const a = (7 ^ 1400 + 1) / 3\nfn f(y: real, z: complex, i: i64)\n");
    for (int k = 0; k < 150; k++) /* each some blocks of the arena */
        used +=
            snprintf(source + used, sizeof source - (size_t)used,
                     "    y += (a - %d) ^ 1 * a / (a < %d) + i ^ 0\n    i += -(%d %% 7) // 2 << 2 >> 1 & 3 ^^ i64(a / a)\n"
                     "    z += (2 + %di) * 3i\n",
                     k, k - 5, k, k);
    snprintf(source + used, sizeof source - (size_t)used, "end\n");
    rvm_status st = RVM_ERR_MEMORY;
    for (unsigned k = 0; st == RVM_ERR_MEMORY; k++) {
        failing f = {k};
        const rvm_allocator al = {fail_later, &f};
        const rvm_asm_options o = {.allocator = &al};
        rvm_program *p;
        rvm_error e;
        st = rvm_assemble(source, strlen(source), "unit.rasm", &o, &p, &e, NULL, NULL);
        cr_assert(k < 10000 && (st == RVM_OK || !p));
        rvm_program_free(p);
    }
    cr_assert(st == RVM_OK || st == RVM_ERR_TYPE, "%s", rvm_status_name(st));
}

/* A constant keeps its value, not what it was computed from. */
Test(constants, built_from_each_other) {
    cr_assert(most_memory("1", "+", 150) < 1 << 20);
    cr_assert(most_memory("1.5", "+", 150) < 1 << 20);
    cr_assert(most_memory("sqrt(2)", "+", 150) < 1 << 20);
    cr_assert(most_memory("complex(1, 1)", "+", 150) < 1 << 20);
    cr_assert(most_memory("complex(0.6, 0.8)", "*", 150) < 1 << 20);
}
