#include <math.h>
#include <stdio.h>

#include "compare.h"

enum { BODIES = 6 };

/* size: systems, steps. Planets on circles, a little apart from system to system. */
void make_orbits(problem *p, const int64_t *size) {
    const char *path = BENCH_DIR "/problems/ensemble.rasm";
    const int64_t n = size[0];
    static const double masses[BODIES] = {1, 9.5e-4, 2.9e-4, 4.4e-5, 5.2e-5, 7.7e-9};
    static const double radii[BODIES] = {0, 5.2, 9.6, 19.2, 30.1, 39.5};
    double *all[4], *m = problem_reals(p, BODIES), *target = problem_uniform(p, 3, -1, 1);
    snprintf(p->title, sizeof p->title, "Leapfrog, %d systems, %d steps", (int)n, (int)size[1]);
    for (int k = 0; k < 4; k++) all[k] = problem_reals(p, 3 * BODIES * n);
    for (int64_t k = 0; !p->failed && k < 3 * BODIES * n; k++) {
        const int64_t body = k / (3 * n), axis = k / n % 3;
        const double r = radii[body], v = r > 0 ? 2 * M_PI / sqrt(r) : 0, off = 1e-3 * random_uniform(p);
        all[2][k] = (axis == 0 ? r : 0) + off;
        all[3][k] = (axis == 1 ? v : 0) + off;
    }
    for (int k = 0; !p->failed && k < BODIES; k++) m[k] = masses[k];
    task *t = problem_task(p, "gradient", path, "orbits", BY_CALL, PEER_leapfrog_gradient, NULL);
    for (int k = 0; k < 4; k++) task_tensor(t, all[k], NULL, 3, (int64_t[]){BODIES, 3, n});
    task_output(t, all[0], 3 * BODIES * n, NULL);
    task_output(t, all[1], 3 * BODIES * n, NULL);
    task_reals(t, m, NULL, 1, BODIES, 0, 0);
    task_reals(t, target, NULL, 1, 3, 0, 0);
    task_real(t, 0.01);
    task_integer(t, size[1]);
    t->tolerance = 1e-6; /* rounding grows with the steps */
}

/* size: starts. */
void make_embeddings(problem *p, const int64_t *size) {
    enum { PLACES = 20 };
    const char *path = BENCH_DIR "/problems/ensemble.rasm";
    const int64_t n = size[0];
    snprintf(p->title, sizeof p->title, "Graph embedding, %d starts", (int)n);
    double *x_b = problem_reals(p, PLACES * n), *x = problem_normal(p, PLACES * n, 1);
    task *t = problem_task(p, "gradient", path, "embeddings", BY_CALL, PEER_embedding_gradient, NULL);
    task_tensor(t, x_b, NULL, 3, (int64_t[]){10, 2, n});
    task_output(t, x_b, PLACES * n, NULL);
    task_tensor(t, x, NULL, 3, (int64_t[]){10, 2, n});
}
