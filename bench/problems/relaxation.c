#include <stdio.h>

#include "compare.h"

static void arguments(task *t, relaxation_data *g, bool gradient) {
    task_reals(t, g->u, gradient ? g->u_b : NULL, 1, g->n, 0, 0);
    task_reals(t, (double *)g->f, gradient ? g->f_b : NULL, 1, g->n, 0, 0);
    task_integer(t, g->sweeps);
    task_state(t, g->u, g->n, g->u_start);
    t->in_place = true;
}

/* size: cells, sweeps. */
void make_relaxation(problem *p, const int64_t *size) {
    const char *path = BENCH_DIR "/problems/relaxation.rasm";
    relaxation_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t n = size[0], sweeps = size[1];
    snprintf(p->title, sizeof p->title, "Relaxation in place, %d cells, %d sweeps", (int)n, (int)sweeps);
    *g = (relaxation_data){.n = n, .sweeps = sweeps};
    g->u_start = problem_uniform(p, n, -1, 1);
    g->f = problem_uniform(p, n, -1, 1);
    g->out = problem_reals(p, 1);
    g->u = problem_reals(p, n);
    g->u_b = problem_reals(p, n);
    g->f_b = problem_reals(p, n);
    task *t = problem_task(p, "primal", path, "relax", BY_CALL, PEER_relaxation_primal, g);
    task_real(t, 0);
    task_output_scalar(t, g->out);
    arguments(t, g, false);
    g->tape = problem_work(p, n * sweeps);
    t = problem_task(p, "gradient", path, "relax", BY_GRADIENT, PEER_relaxation_gradient, g);
    task_seeded(t, 0, 1);
    task_output(t, g->u_b, n, NULL);
    task_output(t, g->f_b, n, NULL);
    arguments(t, g, true);
}
