/* suite.c: the problems at their sizes, and the whole comparison. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const struct entry {
    level from; /* measured from this level on; the sizes of LEVEL_CHECK are checked only */
    problem_maker *make;
    int64_t size[3];
} suite[] = {
    /* d, K, points */
    {LEVEL_CHECK, make_gmm, {3, 4, 1050}}, /* more points than a chunk of a parallel block */
    {LEVEL_QUICK, make_gmm, {2, 5, 1000}},
    {LEVEL_QUICK, make_gmm, {2, 5, 10000}},
    {LEVEL_QUICK, make_gmm, {10, 25, 1000}},
    {LEVEL_FULL, make_gmm, {10, 25, 10000}},
    {LEVEL_QUICK, make_gmm, {32, 25, 1000}},
    {LEVEL_FULL, make_gmm, {32, 25, 10000}},
    {LEVEL_QUICK, make_gmm, {64, 25, 1000}},
    {LEVEL_FULL, make_gmm, {64, 25, 10000}},
    {LEVEL_QUICK, make_gmm, {128, 25, 1000}},
    {LEVEL_FULL, make_gmm, {128, 25, 10000}},
    /* cameras, points, observations */
    {LEVEL_CHECK, make_bundle, {5, 300, 1100}},
    {LEVEL_QUICK, make_bundle, {49, 7776, 31843}},
    {LEVEL_FULL, make_bundle, {1000, 250000, 1091386}},
    /* points, whether in triangles */
    {LEVEL_CHECK, make_hand, {20, 0}},
    {LEVEL_CHECK, make_hand, {20, 1}},
    {LEVEL_QUICK, make_hand, {192, 0}},
    {LEVEL_QUICK, make_hand, {192, 1}},
    /* layers, characters */
    {LEVEL_CHECK, make_lstm, {3, 20}},
    {LEVEL_QUICK, make_lstm, {2, 1024}},
    {LEVEL_FULL, make_lstm, {4, 4096}},
    /* values */
    {LEVEL_CHECK, make_bessel, {1050}},
    {LEVEL_QUICK, make_bessel, {10000}},
    /* n */
    {LEVEL_CHECK, make_dot, {60}},
    {LEVEL_QUICK, make_dot, {1000}},
    /* n, columns of the dense matrix */
    {LEVEL_CHECK, make_product, {60, 5}},
    {LEVEL_QUICK, make_product, {1000, 16}},
    /* dimensions */
    {LEVEL_CHECK, make_embedding, {3}},
    {LEVEL_QUICK, make_embedding, {2}},
    {LEVEL_QUICK, make_embedding, {3}},
    {LEVEL_QUICK, make_embedding, {4}},
    {LEVEL_QUICK, make_embedding, {5}},
    {LEVEL_QUICK, make_embedding, {6}},
    {LEVEL_QUICK, make_embedding, {7}},
    {LEVEL_QUICK, make_embedding, {8}},
    {LEVEL_QUICK, make_embedding, {9}},
    {LEVEL_QUICK, make_embedding, {10}},
    /* steps, whether a tape can hold them */
    {LEVEL_CHECK, make_leapfrog, {50, 1}},
    {LEVEL_QUICK, make_leapfrog, {10000, 1}},
    {LEVEL_QUICK, make_leapfrog, {1000000, 0}},
    /* vectors */
    {LEVEL_CHECK, make_quaternion, {1050}},
    {LEVEL_QUICK, make_quaternion, {10000}},
    /* cells, sweeps */
    {LEVEL_CHECK, make_relaxation, {40, 30}},
    {LEVEL_QUICK, make_relaxation, {1000, 2000}},
};
enum { ENTRIES = sizeof suite / sizeof *suite };

static bool wanted(const struct entry *s, level l) {
    return l == LEVEL_CHECK ? s->from == LEVEL_CHECK : s->from != LEVEL_CHECK && s->from <= l;
}

/* Appends the results of the problem's tasks. */
static bool compare_problem(const problem *p, level l, const char *by, result *results, int *n) {
    bool ok = !p->failed;
    if (!ok) fprintf(stderr, "rvm_bench: %s: out of memory\n", p->title);
    for (int k = 0; k < p->ntasks && !p->failed; k++) ok = task_compare(p, &p->tasks[k], l, by, &results[(*n)++]) && ok;
    return ok;
}

bool compare_peers(level l, const char *only, const char *by, bool json) {
    static problem p; /* some 20 kB: off the stack */
    int n = 0;
    bool ok = true;
    result *results = calloc((size_t)ENTRIES * MAX_TASKS, sizeof *results);
    if (!results) return false;
    if (l == LEVEL_CHECK) native_level = 0; /* compiling would take most of the time */
    for (int k = 0; k < ENTRIES; k++) {
        if (!wanted(&suite[k], l)) continue;
        p = (problem){.random = 1};
        suite[k].make(&p, suite[k].size);
        if (!only || strstr(p.title, only)) ok = compare_problem(&p, l, by, results, &n) && ok;
        problem_free(&p);
    }
    if (json)
        report_json(results, n, stdout);
    else
        report_text(results, n, stdout);
    free(results);
    return ok;
}
