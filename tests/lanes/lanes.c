/* lanes.c: random blocks with divergent control flow, in lanes, one instance after the other, and interpreted: the same
 * bits, forward and back, and for the gradient as a program; one in four checked, which fails alike where it fails.
 *
 *     lanes SEED [COUNT]     programs of seeds SEED, SEED + 1, ...; one that fails is printed, with its seed
 *     lanes SEED print       the program of a seed
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "divergent.h"
#include "harness.h"

enum { INTERPRETED, ONE_BY_ONE, LANES, ENGINES };
static const char *const names[ENGINES] = {"interpreted", "one by one", "in lanes"};

typedef struct engines {
    rvm_jit *jit[ENGINES];
    unsigned grouped; /* loops that went in lanes */
    bool none;        /* no native code here */
} engines_;

static void count_groups(void *userdata, const rvm_jit_notice *notice) {
    *(unsigned *)userdata += notice->grouped;
}

static void engines_open(engines_ *all, report *rep) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_error e;
    o.level = 1;
    o.cache = "";
    o.any_lengths = true;
    o.no_lanes = true;
    o.tiers = false; /* all of it, at once */
    all->none = rvm_jit_new(&o, &all->jit[ONE_BY_ONE], &e) != RVM_OK;
    o.no_lanes = false;
    o.notice = count_groups;
    o.userdata = &all->grouped;
    if (!all->none) all->none = rvm_jit_new(&o, &all->jit[LANES], &e) != RVM_OK;
    if (all->none) report_skip(rep, "native code: %s", e.message);
}

/* What an engine leaves there and back at the start, and how it ended: what is checked may lose too much on the way. */
typedef struct outcome {
    args there, back;
    rvm_status ended[2];
} outcome;

static void outcome_free(outcome *r) {
    args_free(&r->there);
    args_free(&r->back);
}

/* *r is for the caller to free. */
static bool run(const rvm_program *p, int64_t fn, rvm_jit *j, bool checked, const args *in, outcome *r, report *rep) {
    rvm_options o = rvm_options_default();
    rvm_machine *m = NULL;
    rvm_error e = {0};
    o.unchecked = !checked;
    o.fuel = 50 * 1000 * 1000; /* thousands of times what they take */
    *r = (outcome){.back = args_copy(in)};
    bool good = report_ok(rep, "machine", rvm_machine_new(p, &o, &m, &e), &e);
    if (good && j) good = report_ok(rep, "attach", rvm_jit_attach(j, m, &e), &e);
    good = good && report_ok(rep, "bind", rvm_machine_bind(m, fn, r->back.a, r->back.n, RVM_PRIMAL, false, &e), &e);
    if (good) r->ended[0] = rvm_machine_forward(m, &e);
    good = good && (checked || report_ok(rep, "there", r->ended[0], &e));
    if (good && j && !r->ended[0]) good = report_ok(rep, "native", rvm_jit_reason(m, &e), &e);
    r->there = args_copy(&r->back);
    if (good) r->ended[1] = rvm_machine_backward(m, &e);
    good = good && (checked || report_ok(rep, "back", r->ended[1], &e));
    rvm_machine_free(m);
    return good;
}

static bool agree(const rvm_program *p, int64_t fn, const char *name, outcome *a, outcome *b, report *rep) {
    char about[60];
    if (memcmp(a->ended, b->ended, sizeof a->ended))
        return report_fail(rep, "%s: expected it to end as %s, then %s, got %s, then %s", name, rvm_status_name(a->ended[0]),
                           rvm_status_name(a->ended[1]), rvm_status_name(b->ended[0]), rvm_status_name(b->ended[1]));
    snprintf(about, sizeof about, "there, %s", name);
    const bool good = args_agree(rep, about, p, fn, &a->there, &b->there, COMPARE_BITS, 0);
    snprintf(about, sizeof about, "back, %s", name);
    rep->checks += 2;
    return good && args_agree(rep, about, p, fn, &a->back, &b->back, COMPARE_BITS, 0);
}

/* One call by every engine. */
static bool compare(const rvm_program *p, int64_t fn, bool checked, const engines_ *all, const args *in, report *rep) {
    outcome r[ENGINES];
    bool good = true;
    int n = 0;
    for (; n < (all->none ? 1 : ENGINES) && good; n++)
        good = run(p, fn, all->jit[n], checked, in, &r[n], rep) && agree(p, fn, names[n], &r[0], &r[n], rep);
    while (n-- > 0) outcome_free(&r[n]);
    return good;
}

static bool run_one(const rvm_program *p, const char *name, uint64_t seed, const engines_ *all, report *rep) {
    rng r = {seed};
    rvm_program *derived = NULL;
    rvm_error e;
    uint32_t fn;
    if (!report_ok(rep, name, rvm_program_derive(p, name, &derived, &fn, &e), &e)) return false;
    const int64_t length = 1 + rng_below(&r, 3 + 40 * (seed % 4 != 0)); /* fewer than a group has, too */
    args in = args_new(derived, fn);
    args_random(&in, derived, fn, length, &r);
    rep->about = name;
    const bool good = compare(derived, fn, seed % 4 == 1, all, &in, rep);
    args_free(&in);
    rvm_program_free(derived);
    return good;
}

/* Lanes poll only in loops that may turn long, so neither fuel nor a cancel ends others that go on for ever; the
 * processor's time does. */
enum { MOST_SECONDS = 60 }; /* a program takes one, checked some */
static char at_work[60];

static void end_by_time(int signal) {
    (void)signal;
    _exit(write(STDOUT_FILENO, at_work, strlen(at_work)) < 0 ? 2 : 1);
}

static void allow_seconds(uint64_t seed) {
    const struct itimerval limit = {.it_value = {MOST_SECONDS, 0}};
    snprintf(at_work, sizeof at_work, "seed %llu runs on after %d s\n", (unsigned long long)seed, MOST_SECONDS);
    signal(SIGPROF, end_by_time);
    setitimer(ITIMER_PROF, &limit, NULL);
}

static bool run_program(uint64_t seed, const engines_ *all) {
    char *text = divergent_program(seed), name[40];
    snprintf(name, sizeof name, "lanes %llu", (unsigned long long)seed);
    report rep = {.name = name};
    rvm_program *p = assemble_text(text, NULL, &rep);
    allow_seconds(seed);
    const bool good = p && run_one(p, "main_fn", seed, all, &rep) && run_one(p, "main_fn'grad", seed, all, &rep);
    if (!good) printf("%s\n(seed %llu)\n", text, (unsigned long long)seed);
    rvm_program_free(p);
    free(text);
    return good;
}

int main(int argc, char **argv) {
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    char *end = "";
    const uint64_t count = argc > 2 ? strtoull(argv[2], &end, 0) : 1;
    if (*end) {
        char *text = divergent_program(first);
        puts(text);
        free(text);
        return 0;
    }
    report rep = {.name = "lanes"};
    engines_ all = {0};
    unsigned failed = 0;
    engines_open(&all, &rep);
    for (uint64_t k = 0; k < count; k++) failed += !run_program(first + k, &all);
    printf("%llu programs from seed %llu, %u loops in lanes, %u failed\n", (unsigned long long)count,
           (unsigned long long)first, all.grouped, failed);
    for (int k = 0; k < ENGINES; k++) rvm_jit_free(all.jit[k]);
    if (!all.none && all.grouped < count) { /* else this tests nothing */
        printf("fewer than one a program\n");
        failed++;
    }
    return failed != 0;
}
