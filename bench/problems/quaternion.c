#include <stdio.h>

#include "compare.h"

void make_quaternion(problem *p, const int64_t *size) {
    const char *path = BENCH_DIR "/problems/quaternion.rasm";
    quaternion_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t n = size[0];
    *g = (quaternion_data){.n = n};
    snprintf(p->title, sizeof p->title, "Rotation by a quaternion, %d vectors", (int)n);
    double *v = problem_normal(p, 3 * n, 1), *q = problem_normal(p, 4 * n, 0.5), *seed = problem_normal(p, 3 * n, 1);
    g->v = v;
    g->q = q;
    g->out_b = seed;
    g->out = problem_reals(p, 3 * n);
    g->v_b = problem_reals(p, 3 * n);
    g->q_b = problem_reals(p, 4 * n);
    task *t = problem_task(p, "primal", path, "rotations", BY_CALL, PEER_quaternion_primal, g);
    task_reals(t, g->out, NULL, 2, n, 3, 0);
    task_reals(t, v, NULL, 2, n, 3, 0);
    task_reals(t, q, NULL, 2, n, 4, 0);
    task_output(t, g->out, 3 * n, NULL);
    t = problem_task(p, "gradient", path, "gradients", BY_CALL, PEER_quaternion_gradient, g);
    task_reals(t, g->v_b, NULL, 2, n, 3, 0);
    task_output(t, g->v_b, 3 * n, NULL);
    task_reals(t, g->q_b, NULL, 2, n, 4, 0);
    task_output(t, g->q_b, 4 * n, NULL);
    task_reals(t, v, NULL, 2, n, 3, 0);
    task_reals(t, q, NULL, 2, n, 4, 0);
    task_reals(t, seed, NULL, 2, n, 3, 0);
}
