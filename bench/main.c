/* main.c: rvm_bench, one table of what this build does on this machine. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char usage[] = "usage: rvm_bench [--json] [--repetitions N]\n"
                            "                 [memory|loop|matvec|bundle|derived|hessian|trail|exact|assembler|start ...]\n"
                            "Measures the named parts, or all, and prints one table with the targets that there are.\n";

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
    PARTS
}; /* memory first: it reads the peak of the process */
static const char *const part_names[PARTS] = {"memory",  "loop",  "matvec", "bundle",    "derived",
                                              "hessian", "trail", "exact",  "assembler", "start"};

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
    case EXACT: return measure_exact(t);
    case MEMORY: return measure_memory(t);
    case ASSEMBLER: return measure_assembler(t, repetitions);
    case START: return measure_start(t, repetitions);
    }
    return false;
}

static int find_part(const char *name) {
    for (int k = 0; k < PARTS; k++)
        if (!strcmp(name, part_names[k])) return k;
    return -1;
}

int main(int argc, char **argv) {
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
