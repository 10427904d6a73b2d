#include <stdio.h>

#include "compare.h"

enum { VERTICES = 544 };

/* Frames near the identity, a bone's length apart; weights of a vertex are positive and sum to 1. */
static void make_model(problem *p, hand_data *g) {
    int64_t *parents = problem_integers(p, g->b);
    double *relatives = problem_normal(p, 12 * g->b, 0.1), *inverses = problem_normal(p, 12 * g->b, 0.1);
    double *weights = problem_uniform(p, VERTICES * g->b, 0, 1);
    for (int64_t m = 0; !p->failed && m < g->b; m++) {
        parents[m] = m == 0 ? -1 : m > 2 && (m - 2) % 4 ? m - 1 : m == 1 ? 0 : 1;
        for (int k = 0; k < 3; k++) {
            relatives[12 * m + 5 * k] += 1;
            inverses[12 * m + 5 * k] += 1;
        }
    }
    for (int64_t v = 0; !p->failed && v < VERTICES; v++) {
        double sum = 0;
        for (int64_t m = 0; m < g->b; m++) sum += weights[v * g->b + m];
        for (int64_t m = 0; m < g->b; m++) weights[v * g->b + m] /= sum;
    }
    g->parents = parents;
    g->relatives = relatives;
    g->inverses = inverses;
    g->weights = weights;
    g->X = problem_normal(p, 3 * VERTICES, 0.5);
}

static void common_arguments(task *t, const hand_data *g) {
    const int64_t corners = g->us ? 3 : 1;
    task_reals(t, (double *)g->theta, NULL, 1, HAND_PARAMETERS, 0, 0);
    if (g->us) task_reals(t, (double *)g->us, NULL, 2, g->n, 2, 0);
    task_integers(t, (int64_t *)g->parents, g->b);
    task_reals(t, (double *)g->relatives, NULL, 3, g->b, 3, 4);
    task_reals(t, (double *)g->inverses, NULL, 3, g->b, 3, 4);
    task_reals(t, (double *)g->X, NULL, 2, VERTICES, 3, 0);
    task_reals(t, (double *)g->weights, NULL, 2, VERTICES, g->b, 0);
    t->args[t->nargs++] = rvm_arg_array_i64((int64_t *)g->vertex, corners == 1 ? 1 : 2, (int64_t[]){g->n, corners});
    task_reals(t, (double *)g->points, NULL, 2, g->n, 3, 0);
}

static int64_t *some_vertices(problem *p, int64_t count) {
    int64_t *vertex = problem_integers(p, count);
    for (int64_t i = 0; vertex && i < count; i++) vertex[i] = random_below(p, VERTICES);
    return vertex;
}

/* size: points, and whether they lie in triangles ("complicated") */
void make_hand(problem *p, const int64_t *size) {
    const char *path = EXAMPLES_DIR "/adbench/hand.rasm";
    hand_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t n = size[0], rows = HAND_PARAMETERS + (size[1] ? 2 : 0);
    *g = (hand_data){.b = HAND_BONES, .n = n};
    snprintf(p->title, sizeof p->title, "Hand tracking, %s, %d points", size[1] ? "complicated" : "simple", (int)n);
    make_model(p, g);
    g->theta = problem_normal(p, HAND_PARAMETERS, 0.5);
    if (size[1]) g->us = problem_uniform(p, 2 * n, 0, 0.5);
    g->vertex = some_vertices(p, size[1] ? 3 * n : n);
    g->points = problem_normal(p, 3 * n, 1);
    g->e = problem_reals(p, 3 * n);
    g->J = problem_reals(p, rows * n * 3);
    task *t = problem_task(p, "primal", path, size[1] ? "hand_us" : "hand", BY_CALL, PEER_hand_primal, g);
    task_reals(t, g->e, NULL, 2, n, 3, 0);
    task_output(t, g->e, 3 * n, NULL);
    common_arguments(t, g);
    t = problem_task(p, "Jacobian", path, size[1] ? "jacobian_us" : "jacobian", BY_CALL, PEER_hand_jacobian, g);
    task_reals(t, g->J, NULL, 3, rows, n, 3);
    task_output(t, g->J, rows * n * 3, NULL);
    common_arguments(t, g);
}
