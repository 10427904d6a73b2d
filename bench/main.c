/* main.c: rvm_bench, one table of what this build does on this machine. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "compare.h"

static const char usage[] =
    "usage: rvm_bench [--json] [--repetitions N]\n"
    "                 [memory|loop|matvec|bundle|derived|hessian|trail|exact|assembler|start|compile|api|profile|pisa|peaks|"
    "checked|jacobian|layouts|directions ...]\n"
    "       rvm_bench peers [--json] [--full|--check] [--only TEXT] [--engine TEXT] [--seconds S] [--any-lengths]\n"
    "                 [--math M] [--cpu NAME]\n"
    "       rvm_bench schedules [--json] [--check] [--only TEXT]\n"
    "       rvm_bench gpu [--json] [--check [--repeat N]] [--device] [--only TEXT]\n"
    "Measures the named parts, or all, and prints one table with the targets that there are.\n"
    "peers: the same problems by every engine, by hand in C, and by ADOL-C where it is installed. All results are compared\n"
    "before anything is timed; what disagrees makes the exit status 1. It takes 20 minutes or so.\n"
    "  --full       all sizes, and more samples: an hour or so\n"
    "  --check      small sizes, compared but not timed\n"
    "  --only TEXT  problems with TEXT in their title\n"
    "  --engine TEXT  C by hand and engines with TEXT in their name\n"
    "  --seconds S  for a cell, about (1): with .15 and --engine a, native code and lanes, it takes 4 minutes\n"
    "  --any-lengths  native code that is not made for the lengths of the arrays\n"
    "  --math M       elementary functions of machines: libm or sleef\n"
    "  --cpu NAME     a processor that native code is limited to, as x86-64-v3; C is as it was built (RVM_PEERS_MARCH)\n"
    "schedules: long runs of real steps by all kinds of schedules, with three budgets each, beside the run that overwrites "
    "and\n"
    "the one that keeps a trail. It takes 10 minutes or so, and 1 GB of memory for the trails.\n"
    "gpu: gradients on a CUDA device, strict and with fast math, arrays on the device, beside all processors here.\n"
    "  --device     on the device alone\n"
    "  --repeat N   with --check: as often the same bits (100)\n";

enum {
    MEMORY,
    LOOP,
    MATVEC,
    BUNDLE,
    DERIVED,
    HESSIAN,
    TRAIL,
    EXACT,
    ASSEMBLER,
    START,
    COMPILE,
    API,
    PROFILE,
    PISA,
    PEAKS,
    CHECKS,
    JACOBIAN,
    LAYOUTS,
    DIRECTIONS,
    PARTS
}; /* memory first: it reads the peak of the process */
static const char *const part_names[PARTS] = {"memory", "loop",      "matvec",   "bundle",  "derived",   "hessian", "trail",
                                              "exact",  "assembler", "start",    "compile", "api",       "profile", "pisa",
                                              "peaks",  "checked",   "jacobian", "layouts", "directions"};

static bool measure_one(table *t, bool (*make)(job *), int repetitions) { /* 0: its derivatives */
    static job j;
    bool made = make(&j);
    if (!made) fprintf(stderr, "rvm_bench: out of memory\n");
    bool ok = made && (repetitions ? measure_job(t, &j, repetitions) : measure_derived(t, &j));
    job_free(&j);
    return ok;
}

static bool measure(table *t, int part, int repetitions) {
    switch (part) {
    case LOOP: return measure_one(t, job_loop, repetitions);
    case MATVEC: return measure_one(t, job_matvec, repetitions);
    case BUNDLE: return measure_one(t, job_bundle, repetitions);
    case DERIVED: {
        const bool bundle = measure_one(t, job_bundle, 0), gmm = measure_one(t, job_gmm, 0);
        return bundle && gmm;
    }
    case HESSIAN: return measure_second(t, repetitions);
    case TRAIL: return measure_trail(t, repetitions);
    case EXACT: return measure_exact(t, repetitions);
    case MEMORY: return measure_memory(t);
    case ASSEMBLER: return measure_assembler(t, repetitions);
    case START: return measure_start(t, repetitions);
    case COMPILE: return measure_compile(t, repetitions);
    case API: return measure_api(t, repetitions);
    case PROFILE: return measure_profile(t, repetitions);
    case PISA: return measure_pisa(t, repetitions);
    case PEAKS: return measure_peaks(t, repetitions);
    case CHECKS: return measure_checked(t, repetitions);
    case JACOBIAN: return measure_jacobian(t, repetitions);
    case LAYOUTS: return measure_layouts(t, repetitions);
    case DIRECTIONS: return measure_directions(t, repetitions);
    }
    return false;
}

static int find_part(const char *name) {
    for (int k = 0; k < PARTS; k++)
        if (!strcmp(name, part_names[k])) return k;
    return -1;
}

/* The options that each part with a list of its own takes. */
typedef struct common {
    bool json, check;
    const char *only;
} common;

/* Whether argv[*i] is one of them; moves *i to the last word read. */
static bool take_common(common *c, int argc, char **argv, int *i) {
    if (!strcmp(argv[*i], "--json"))
        c->json = true;
    else if (!strcmp(argv[*i], "--check"))
        c->check = true;
    else if (!strcmp(argv[*i], "--only") && *i + 1 < argc)
        c->only = argv[++*i];
    else
        return false;
    return true;
}

/* --math M, where it is there. */
static bool take_math(int argc, char **argv, int *i) {
    if (strcmp(argv[*i], "--math") != 0 || *i + 1 >= argc) return false;
    ++*i;
    for (rvm_math m = RVM_MATH_LIBM; m <= RVM_MATH_SLEEF; m++)
        if (!strcmp(argv[*i], rvm_math_name(m))) return !rvm_math_choose(m, &machine_math, NULL);
    return false;
}

static int misused(void) {
    fputs(usage, stderr);
    return 2;
}

/* `rvm_bench peers`, with what follows it. */
static int main_peers(int argc, char **argv) {
    level l = LEVEL_QUICK;
    const char *by = NULL;
    common c = {0};
    for (int i = 0; i < argc; i++) {
        if (take_common(&c, argc, argv, &i)) continue;
        if (!strcmp(argv[i], "--full"))
            l = LEVEL_FULL;
        else if (!strcmp(argv[i], "--engine") && i + 1 < argc)
            by = argv[++i];
        else if (!strcmp(argv[i], "--seconds") && i + 1 < argc && strtod(argv[i + 1], NULL) > 0)
            cell_seconds = strtod(argv[++i], NULL);
        else if (!strcmp(argv[i], "--any-lengths"))
            native_any_lengths = true;
        else if (!strcmp(argv[i], "--cpu") && i + 1 < argc)
            native_cpu = argv[++i];
        else if (!take_math(argc, argv, &i))
            return misused();
    }
    return compare_peers(c.check ? LEVEL_CHECK : l, c.only, by, c.json) ? 0 : 1;
}

static int main_schedules(int argc, char **argv) {
    common c = {0};
    for (int i = 0; i < argc; i++)
        if (!take_common(&c, argc, argv, &i)) return misused();
    return bench_schedules(c.check, c.only, c.json) ? 0 : 1;
}

static int main_gpu(int argc, char **argv) {
    common c = {0};
    bool device = false;
    for (int i = 0; i < argc; i++) {
        if (take_common(&c, argc, argv, &i)) continue;
        if (!strcmp(argv[i], "--device"))
            device = true;
        else if (!strcmp(argv[i], "--repeat") && i + 1 < argc && atoi(argv[i + 1]) > 0)
            gpu_repeats = atoi(argv[++i]);
        else
            return misused();
    }
    return bench_gpu(c.check, device, c.only, c.json) ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "peers")) return main_peers(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "schedules")) return main_schedules(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "gpu")) return main_gpu(argc - 2, argv + 2);
    static table t;
    bool json = false, wanted[PARTS] = {false}, all = true, ok = true;
    int repetitions = 9;
    for (int i = 1; i < argc; i++) {
        int part = find_part(argv[i]);
        if (!strcmp(argv[i], "--help")) return fputs(usage, stdout) < 0;
        if (!strcmp(argv[i], "--json"))
            json = true;
        else if (!strcmp(argv[i], "--repetitions") && i + 1 < argc)
            repetitions = atoi(argv[++i]);
        else if (part >= 0)
            wanted[part] = true, all = false;
        else
            repetitions = 0;
    }
    if (repetitions < 1 || repetitions > MAX_REPETITIONS) {
        fputs(usage, stderr);
        return 2;
    }
    for (int k = 0; k < PARTS; k++)
        if (all || wanted[k]) ok = measure(&t, k, repetitions) && ok;
    (json ? table_print_json : table_print)(&t, stdout);
    return ok ? 0 : 1;
}
