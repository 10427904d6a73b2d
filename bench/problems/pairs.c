#include <stdio.h>

#include "compare.h"

/* size: pairs, of a random matching. */
void make_pairs(problem *p, const int64_t *size) {
    const int64_t n = size[0];
    double *x = problem_normal(p, 2 * n, 1), *angle = problem_uniform(p, n, -3, 3);
    int64_t *all = problem_integers(p, 2 * n);
    snprintf(p->title, sizeof p->title, "Plane rotations of %d pairs", (int)n);
    for (int64_t k = 0; !p->failed && k < 2 * n; k++) {
        const int64_t other = random_below(p, k + 1);
        all[k] = all[other];
        all[other] = k;
    }
    task *t =
        problem_task(p, "primal", BENCH_DIR "/problems/pairs.rasm", "rotations", BY_CALL, PEER_quaternion_primal, NULL);
    task_reals(t, x, NULL, 1, 2 * n, 0, 0);
    task_integers(t, all, n);
    task_integers(t, all + n, n);
    task_reals(t, angle, NULL, 1, n, 0, 0);
}
