#include <stdio.h>

#include "compare.h"

void make_bessel(problem *p, const int64_t *size) {
    const char *path = BENCH_DIR "/problems/bessel.rasm";
    bessel_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t n = size[0];
    *g = (bessel_data){.n = n, .v = 2, .reach = 1.01};
    snprintf(p->title, sizeof p->title, "Bessel function J_2 near 1, %d values", (int)n);
    double *z = problem_uniform(p, n, 0.99, 1.01), *seed = problem_uniform(p, n, 0.5, 1);
    g->z = z;
    g->out_b = seed;
    g->out = problem_reals(p, n);
    g->z_b = problem_reals(p, n);
    task *t = problem_task(p, "primal", path, "batch", BY_CALL, PEER_bessel_primal, g);
    task_reals(t, g->out, NULL, 1, n, 0, 0);
    task_integer(t, g->v);
    task_reals(t, z, NULL, 1, n, 0, 0);
    task_real(t, g->reach);
    task_output(t, g->out, n, NULL);
    t = problem_task(p, "gradient", path, "gradients", BY_CALL, PEER_bessel_gradient, g);
    task_reals(t, g->z_b, NULL, 1, n, 0, 0);
    task_output(t, g->z_b, n, NULL);
    task_reals(t, seed, NULL, 1, n, 0, 0);
    task_integer(t, g->v);
    task_reals(t, z, NULL, 1, n, 0, 0);
    task_real(t, g->reach);
}
