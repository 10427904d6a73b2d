/* random.c: random programs through every check.
 *
 *     random SEED [COUNT]             programs of seeds SEED, SEED + 1, ...; one that fails is printed, with its seed
 *     random SEED print               the program of a seed
 *     random SEED FILE                what is in the file, with the arguments of the seed: to make a failing program smaller
 *     ... LEVEL                       native code of that level of optimisation, not 0
 *
 * Forward, then backward is the identity: bit for bit on i64 and fix, within tolerance on f64 and f32, and bit for bit on
 * these too in exact runs. The derivatives are taken with respect to the f64 and f32 parameters; differences, of the f64 by
 * the f64 alone, are left out where min, max or a branch has a kink.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "harness.h"
#include "instruction.h"

/* ---- differences ---- */

/* <w, f(x + h v)>; f64 places are active in both. NaN where it does not run. */
static double weighted(rvm_machine *m, int64_t fn, args *v, args *w, double h) {
    args a = args_copy(v);
    double sum = 0;
    rvm_error e;
    for (uint32_t i = 0; i < a.n; i++)
        for (size_t k = 0; a.a[i].active && k < arg_count(&a.a[i]); k++)
            arg_value(&a.a[i], k)->f += h * arg_shadow(&v->a[i], k)->f;
    if (rvm_call(m, fn, a.a, a.n, &e)) sum = NAN;
    for (uint32_t i = 0; i < a.n; i++)
        for (size_t k = 0; a.a[i].active && k < arg_count(&a.a[i]); k++)
            sum += arg_shadow(&w->a[i], k)->f * arg_value(&a.a[i], k)->f;
    args_free(&a);
    return sum;
}

static double difference(rvm_machine *m, int64_t fn, args *v, args *w, double h) {
    return (weighted(m, fn, v, w, h) - weighted(m, fn, v, w, -h)) / (2 * h);
}

/* The tangent against differences, where these agree among themselves: that is, without a kink on the way. */
static bool check_differences(const rvm_program *p, int64_t fn, const args *in, report *rep) {
    rng r = {815};
    rvm_machine *m = NULL;
    rvm_error e;
    args v = args_copy(in), w, out;
    bool *active = calloc(in->n + 1, sizeof *active), smooth = false;
    for (uint32_t i = 0; i < in->n; i++) active[i] = in->a[i].type == RVM_F64;
    args_activate(&v, active);
    w = args_copy(&v);
    args_random_shadows(&v, &r);
    args_random_shadows(&w, &r);
    out = args_copy(&v);
    /* Others depend on them: those are active, and have no weight. */
    for (uint32_t i = 0; i < in->n; i++) active[i] = in->a[i].type != RVM_I64;
    args_activate(&out, active);
    for (uint32_t i = 0; i < in->n; i++)
        for (size_t k = 0; v.a[i].active && k < arg_count(&v.a[i]); k++) *arg_shadow(&out.a[i], k) = *arg_shadow(&v.a[i], k);
    if (report_ok(rep, "machine", rvm_machine_new(p, NULL, &m, &e), &e) &&
        report_ok(rep, "tangent", rvm_tangent(m, fn, out.a, out.n, &e), &e)) {
        double scale = 1, jv = 0;
        for (uint32_t i = 0; i < in->n; i++)
            for (size_t k = 0; v.a[i].active && k < arg_count(&v.a[i]); k++) {
                const double term = arg_shadow(&w.a[i], k)->f * arg_shadow(&out.a[i], k)->f;
                jv += term;
                scale += fabs(term);
            }
        const double d[3] = {difference(m, fn, &v, &w, 1e-4), difference(m, fn, &v, &w, 5e-5),
                             difference(m, fn, &v, &w, 2.5e-5)};
        const double fine = (4 * d[2] - d[1]) / 3, coarse = (4 * d[1] - d[0]) / 3;
        smooth = fabs(fine - coarse) < 1e-8 * scale;
        rep->checks++;
        if (smooth && !(fabs(fine - jv) < 1e-6 * scale))
            report_fail(rep, "tangent %.17g against differences %.17g, %.17g (scale %g)", jv, fine, coarse, scale);
    }
    rvm_machine_free(m);
    args_free(&v);
    args_free(&w);
    args_free(&out);
    free(active);
    return smooth;
}

/* ---- one program ---- */

typedef struct tally {
    uint64_t checks, smooth;
    unsigned failed;
} tally;

/* How many fail. */
static unsigned run_text(const char *text, uint64_t seed, const natives *native, tally *t) {
    char name[40];
    snprintf(name, sizeof name, "random %llu", (unsigned long long)seed);
    report rep = {.name = name, .quiet = true};
    rvm_program *p = assemble_text(text, NULL, &rep);
    if (p) {
        rng r = {seed};
        int64_t fn = rvm_program_find(p, "main_fn");
        args in = args_new(p, fn), out = {0};
        args_random(&in, p, fn, 4, &r);
        bool *active = calloc(in.n + 1, sizeof *active);
        for (uint32_t i = 0; i < in.n; i++) active[i] = rvm__is_floating(in.a[i].type);
        subject s = subject_new(p, fn, &in, &rep);
        s.active = active;
        s.restore = 1e-7;
        s.native = native;
        s.native_orders = 1;
        s.no_differences = "";
        s.turn = (unsigned)seed;
        check_round_trips(p, &rep);
        check_all(&s, &out);
        t->smooth += check_differences(p, fn, &in, &rep);
        free(active);
        args_free(&in);
        args_free(&out);
    }
    t->checks += rep.checks;
    t->failed += rep.failures > 0;
    rvm_program_free(p);
    return rep.failures;
}

static char *read_text(const char *path) {
    enum { LARGEST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, LARGEST) : NULL;
    if (text) text[fread(text, 1, LARGEST - 1, f)] = 0;
    if (f) fclose(f);
    return text;
}

static void run_many(uint64_t first, uint64_t count, const natives *native, tally *t) {
    for (uint64_t k = 0; k < count; k++) {
        char *text = generate_program(first + k);
        if (run_text(text, first + k, native, t)) printf("%s\n(seed %llu)\n", text, (unsigned long long)(first + k));
        free(text);
    }
    printf("%llu programs from seed %llu, %llu checks, %llu compared with differences, %u failed\n",
           (unsigned long long)count, (unsigned long long)first, (unsigned long long)t->checks,
           (unsigned long long)t->smooth, t->failed);
}

int main(int argc, char **argv) {
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    tally t = {0};
    char *end = "", *text = NULL;
    const uint64_t count = argc > 2 ? strtoull(argv[2], &end, 0) : 1;
    const bool print = *end && !strcmp(argv[2], "print");
    if (*end && !(text = print ? generate_program(first) : read_text(argv[2]))) return 2;
    if (print)
        puts(text);
    else {
        report rep = {.name = "random"};
        natives native;
        native_open(&native, NULL, argc > 3 ? (unsigned)atoi(argv[3]) : 0, 2, true, &rep);
        if (text)
            run_text(text, first, &native, &t);
        else
            run_many(first, count, &native, &t);
        native_close(&native);
    }
    free(text);
    return t.failed != 0;
}
