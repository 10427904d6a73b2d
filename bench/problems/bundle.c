#include <stdio.h>

#include "compare.h"

/* Cameras and points of which no axis is far from 0 and no camera is close to a point; angles are far from 0, so that one
 * tape fits all observations. */
static void make_scene(problem *p, bundle_data *g) {
    static const double lo[11] = {0.3, 0.3, 0.3, -1, -1, -12, 400, -10, -10, -0.05, -0.002};
    static const double hi[11] = {0.6, 0.6, 0.6, 1, 1, -8, 600, 10, 10, 0.05, 0.002};
    double *cameras = problem_reals(p, 11 * g->m);
    int64_t *camera = problem_integers(p, g->n), *point = problem_integers(p, g->n);
    for (int64_t k = 0; cameras && k < 11 * g->m; k++)
        cameras[k] = lo[k % 11] + (hi[k % 11] - lo[k % 11]) * random_uniform(p);
    for (int64_t i = 0; camera && point && i < g->n; i++) {
        camera[i] = random_below(p, g->m);
        point[i] = i * g->p / g->n; /* a point's observations stand together */
    }
    g->cameras = cameras;
    g->points = problem_uniform(p, 3 * g->p, -2, 2);
    g->w = problem_uniform(p, g->n, 0.5, 1);
    g->feature = problem_uniform(p, 2 * g->n, -100, 100);
    g->camera = camera;
    g->point = point;
}

/* shadows: of cameras and of points; NULL: none. */
static void arguments(task *t, const bundle_data *g, double *cameras_b, double *points_b) {
    task_reals(t, (double *)g->cameras, cameras_b, 2, g->m, 11, 0);
    if (cameras_b) task_output(t, cameras_b, 11 * g->m, NULL);
    task_reals(t, (double *)g->points, points_b, 2, g->p, 3, 0);
    if (points_b) task_output(t, points_b, 3 * g->p, NULL);
    task_reals(t, (double *)g->w, NULL, 1, g->n, 0, 0);
    task_integers(t, (int64_t *)g->camera, g->n);
    task_integers(t, (int64_t *)g->point, g->n);
    task_reals(t, (double *)g->feature, NULL, 2, g->n, 2, 0);
}

static void common_arguments(task *t, const bundle_data *g) {
    arguments(t, g, NULL, NULL);
}

void make_bundle(problem *p, const int64_t *size) {
    const char *path = EXAMPLES_DIR "/bundle_adjustment/adbench.rasm";
    bundle_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    *g = (bundle_data){.m = size[0], .p = size[1], .n = size[2]};
    snprintf(p->title, sizeof p->title, "Bundle adjustment, %d observations", (int)g->n);
    make_scene(p, g);
    g->e = problem_reals(p, 2 * g->n);
    g->ew = problem_reals(p, g->n);
    g->J = problem_reals(p, 30 * g->n);
    g->Jw = problem_reals(p, g->n);
    task *t = problem_task(p, "primal", path, "residuals", BY_CALL, PEER_bundle_primal, g);
    task_reals(t, g->e, NULL, 2, g->n, 2, 0);
    task_output(t, g->e, 2 * g->n, NULL);
    task_reals(t, g->ew, NULL, 1, g->n, 0, 0);
    task_output(t, g->ew, g->n, NULL);
    common_arguments(t, g);
    t = problem_task(p, "Jacobian", path, "jacobian", BY_CALL, PEER_bundle_jacobian, g);
    double *across = problem_reals(p, 30 * g->n);
    task_reals(t, across, NULL, 3, 2, 15, g->n);
    task_fresh(t);
    task_output_across(t, g->J, across, 30 * g->n, 30);
    task_reals(t, g->Jw, NULL, 1, g->n, 0, 0);
    task_fresh(t);
    task_output(t, g->Jw, g->n, NULL);
    common_arguments(t, g);
}

void make_reprojection(problem *p, const int64_t *size) {
    bundle_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    *g = (bundle_data){.m = size[0], .p = size[1], .n = size[2]};
    snprintf(p->title, sizeof p->title, "Reprojection error, %d observations", (int)g->n);
    make_scene(p, g);
    task *t = problem_task(p, "gradient", BENCH_DIR "/problems/reprojection.rasm", "reprojection", BY_ADJOINT,
                           PEER_bundle_jacobian, g);
    task_seeded(t, 0, 1);
    arguments(t, g, problem_reals(p, 11 * g->m), problem_reals(p, 3 * g->p));
}

void make_layouts(problem *p, const int64_t *size) {
    static const char *const names[] = {"by_entry", "by_observation", "by_blocks"};
    const char *path = BENCH_DIR "/problems/layouts.rasm";
    bundle_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    *g = (bundle_data){.m = size[0], .p = size[1], .n = size[2]};
    snprintf(p->title, sizeof p->title, "Jacobian of bundle adjustment, %d observations", (int)g->n);
    make_scene(p, g);
    const int64_t blocks = (g->n + 7) / 8;
    double *J = problem_reals(p, 8 * 30 * blocks + 8), *Jw = problem_reals(p, g->n);
    while ((uintptr_t)J % 64) J++; /* a line of the cache */
    for (int k = 0; k < 3; k++) {
        const int64_t shape[3][3] = {{30, g->n}, {g->n, 30}, {blocks, 30, 8}};
        task *t = problem_task(p, names[k], path, names[k], BY_CALL, PEER_bundle_jacobian, g);
        task_reals(t, J, NULL, k < 2 ? 2 : 3, shape[k][0], shape[k][1], shape[k][2]);
        task_fresh(t);
        task_reals(t, Jw, NULL, 1, g->n, 0, 0);
        task_fresh(t);
        common_arguments(t, g);
    }
}
