#include <stdio.h>

#include "compare.h"

static void common_arguments(task *t, const gmm_data *g, bool gradient) {
    task_reals(t, (double *)g->alphas, gradient ? g->alphas_b : NULL, 1, g->K, 0, 0);
    task_reals(t, (double *)g->means, gradient ? g->means_b : NULL, 2, g->K, g->d, 0);
    task_reals(t, (double *)g->icf, gradient ? g->icf_b : NULL, 2, g->K, g->c, 0);
    task_reals(t, (double *)g->x, NULL, 2, g->N, g->d, 0);
    task_real(t, g->gamma);
    task_real(t, g->m);
}

void make_gmm(problem *p, const int64_t *size) {
    const int64_t d = size[0], K = size[1], N = size[2], c = d * (d + 1) / 2;
    const char *path = EXAMPLES_DIR "/gmm/gmm.rasm";
    snprintf(p->title, sizeof p->title, "Gaussian mixture, d=%d K=%d, %d points", (int)d, (int)K, (int)N);
    gmm_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    *g = (gmm_data){.d = d, .K = K, .N = N, .c = c, .gamma = 1, .m = 2};
    g->alphas = problem_normal(p, K, 1);
    g->means = problem_uniform(p, K * d, 0, 1);
    g->icf = problem_normal(p, K * c, 0.3);
    g->x = problem_normal(p, N * d, 1);
    g->out = problem_reals(p, 1);
    g->alphas_b = problem_reals(p, K);
    g->means_b = problem_reals(p, K * d);
    g->icf_b = problem_reals(p, K * c);
    g->work = problem_work(p, gmm_work(d, K));
    task *t = problem_task(p, "primal", path, "gmm", BY_CALL, PEER_gmm_primal, g);
    task_real(t, 0);
    task_output_scalar(t, g->out);
    common_arguments(t, g, false);
    t = problem_task(p, "gradient", path, "gmm", BY_ADJOINT, PEER_gmm_gradient, g);
    task_seeded(t, 0, 1);
    common_arguments(t, g, true);
    task_output(t, g->alphas_b, K, NULL);
    task_output(t, g->means_b, K * d, NULL);
    task_output(t, g->icf_b, K * c, NULL);
}
