#include <stdio.h>

#include "compare.h"

void make_embedding(problem *p, const int64_t *size) {
    const char *path = BENCH_DIR "/problems/embedding.rasm";
    embedding_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t k = size[0], n = 10 * k;
    *g = (embedding_data){.k = k};
    snprintf(p->title, sizeof p->title, "Graph embedding, k=%d", (int)k);
    double *x = problem_uniform(p, n, -2, 2);
    g->x = x;
    g->out = problem_reals(p, 1);
    g->x_b = problem_reals(p, n);
    g->H = problem_reals(p, n * n);
    task *t = problem_task(p, "primal", path, "loss", BY_CALL, PEER_embedding_primal, g);
    task_real(t, 0);
    task_output_scalar(t, g->out);
    task_reals(t, x, NULL, 2, 10, k, 0);
    t = problem_task(p, "gradient", path, "loss", BY_ADJOINT, PEER_embedding_gradient, g);
    task_seeded(t, 0, 1);
    task_reals(t, x, g->x_b, 2, 10, k, 0);
    task_output(t, g->x_b, n, NULL);
    t = problem_task(p, "Hessian", path, "loss", BY_HESSIAN, PEER_embedding_hessian, g);
    t->hessian = "hessian";
    task_real(t, 0);
    task_reals(t, x, NULL, 2, 10, k, 0);
    task_output(t, g->H, n * n, NULL);
}
