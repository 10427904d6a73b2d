#include <math.h>
#include <stdio.h>

#include "compare.h"

enum { BODIES = 6, PLACES = 3 * BODIES };

/* The outer solar system of examples/papers/leapfrog.rasm: positions, velocities a day, masses. */
static const double positions[PLACES] = {0,          0,           0,           -3.5023653,  -3.8169847,  -1.5507963,
                                         9.0755314,  -3.0458353,  -1.6483708,  8.3101420,   -16.2901086, -7.2521278,
                                         11.4707666, -25.7294829, -10.8169456, -15.5387357, -25.2225594, -3.1902382};
static const double velocities[PLACES] = {0,          0,          0,          0.00565429, -0.00412490, -0.00190589,
                                          0.00168318, 0.00483525, 0.00192462, 0.00354178, 0.00137102,  0.00055029,
                                          0.00288930, 0.00114527, 0.00039677, 0.00276725, -0.00170702, -0.00136504};
static const double masses[BODIES] = {1.00000597682,      0.000954786104043,  0.000285583733151,
                                      0.0000437273164546, 0.0000517759138449, 1 / 1.3e8};

static void fill(double *to, const double *from, int n, double scale) {
    for (int k = 0; to && k < n; k++) to[k] = scale * from[k];
}

static void common_arguments(task *t, leapfrog_data *g, const double *q, const double *v, bool gradient) {
    task_reals(t, g->q, gradient ? g->q_b : NULL, 2, BODIES, 3, 0);
    task_reals(t, g->v, gradient ? g->v_b : NULL, 2, BODIES, 3, 0);
    task_reals(t, (double *)g->m, NULL, 1, BODIES, 0, 0);
    task_reals(t, (double *)g->target, NULL, 1, 3, 0, 0);
    task_real(t, g->h);
    task_integer(t, g->steps);
    task_state(t, g->q, PLACES, q);
    task_state(t, g->v, PLACES, v);
}

/* size: steps, and whether a tape can hold them. Steps are of 50 days. */
void make_leapfrog(problem *p, const int64_t *size) {
    const char *path = EXAMPLES_DIR "/leapfrog.rasm";
    const double year = 2 * M_PI / sqrt(2.95912208286e-4); /* in days, such that G is 4 pi^2 */
    leapfrog_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    double *q = problem_reals(p, PLACES), *v = problem_reals(p, PLACES), *m = problem_reals(p, BODIES);
    *g = (leapfrog_data){.n = BODIES, .steps = size[0], .h = 50 / year, .m = m, .q_start = q, .v_start = v};
    snprintf(p->title, sizeof p->title, "Outer solar system by leapfrog, %d steps", (int)g->steps);
    fill(q, positions, PLACES, 1);
    fill(v, velocities, PLACES, year);
    fill(m, masses, BODIES, 1);
    g->target = problem_uniform(p, 3, -1, 1);
    g->out = problem_reals(p, 1);
    g->q = problem_reals(p, PLACES);
    g->v = problem_reals(p, PLACES);
    g->q_b = problem_reals(p, PLACES);
    g->v_b = problem_reals(p, PLACES);
    task *t = problem_task(p, "primal", path, "miss", BY_CALL, PEER_leapfrog_primal, g);
    task_real(t, 0);
    task_output_scalar(t, g->out);
    common_arguments(t, g, q, v, false);
    t = problem_task(p, "gradient", path, "miss", BY_GRADIENT, PEER_leapfrog_gradient, g);
    task_seeded(t, 0, 1);
    task_output(t, g->q_b, PLACES, NULL);
    task_output(t, g->v_b, PLACES, NULL);
    common_arguments(t, g, q, v, true);
    for (int k = 0; k < p->ntasks; k++) {
        p->tasks[k].in_place = true;
        p->tasks[k].taped = size[1];
        if (g->steps > 10000) p->tasks[k].tolerance = 1e-5; /* rounding grows with the steps */
    }
}
