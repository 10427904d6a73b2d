/* random.c: random programs through every check.
 *
 *     random SEED [COUNT [PRINT]]     programs of seeds SEED, SEED + 1, ...; the seed of one that fails is printed, with its
 * text
 *
 * Forward, then backward is the identity: bit for bit on i64 and fix, within tolerance on f64 and f32, and bit for bit on
 * these too in exact runs. The derivatives are taken with respect to the f64 and f32 parameters; differences are left out,
 * as min, max and branches have kinks.
 */
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "harness.h"

static bool run_seed(uint64_t seed, bool print, uint64_t *checks) {
    char name[40];
    snprintf(name, sizeof name, "random %llu", (unsigned long long)seed);
    report rep = {.name = name};
    char *text = generate_program(seed);
    if (print) puts(text);
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
        s.no_differences = "";
        check_all(&s, &out);
        *checks += rep.checks;
        free(active);
        args_free(&in);
        args_free(&out);
    }
    if (rep.failures && !print) printf("%s\n(seed %llu)\n", text, (unsigned long long)seed);
    rvm_program_free(p);
    free(text);
    return rep.failures == 0;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    unsigned failed = 0;
    uint64_t checks = 0;
    for (uint64_t k = 0; k < count; k++) failed += !run_seed(first + k, argc > 3, &checks);
    printf("%llu programs from seed %llu, %llu checks, %u failed\n", (unsigned long long)count, (unsigned long long)first,
           (unsigned long long)checks, failed);
    return failed != 0;
}
