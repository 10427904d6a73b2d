#include <stdio.h>

#include "compare.h"

static double *one_hot(problem *p, int64_t length, int64_t b) {
    double *a = problem_reals(p, length * b);
    for (int64_t t = 0; a && t < length; t++) a[t * b + random_below(p, b)] = 1;
    return a;
}

static void common_arguments(task *t, const lstm_data *g, bool gradient) {
    const int64_t main_shape[] = {g->l, 2, 4, g->b};
    task_tensor(t, (double *)g->main, gradient ? g->main_b : NULL, 4, main_shape);
    task_reals(t, (double *)g->extra, gradient ? g->extra_b : NULL, 2, 3, g->b, 0);
    task_reals(t, (double *)g->state, NULL, 3, g->l, 2, g->b);
    task_reals(t, (double *)g->sequence, NULL, 2, g->c, g->b, 0);
}

/* size: layers, characters of the sequence */
void make_lstm(problem *p, const int64_t *size) {
    const char *path = EXAMPLES_DIR "/adbench/lstm.rasm";
    const int64_t l = size[0], c = size[1], b = 14;
    lstm_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    *g = (lstm_data){.l = l, .b = b, .c = c};
    snprintf(p->title, sizeof p->title, "LSTM, %d layers, %d characters", (int)l, (int)c);
    g->main = problem_normal(p, 8 * l * b, 1);
    g->extra = problem_normal(p, 3 * b, 1);
    g->state = problem_normal(p, 2 * l * b, 1);
    g->sequence = one_hot(p, c, b);
    g->out = problem_reals(p, 1);
    g->main_b = problem_reals(p, 8 * l * b);
    g->extra_b = problem_reals(p, 3 * b);
    g->states = problem_work(p, c * l * 2 * b);
    g->gates = problem_work(p, c * l * 5 * b);
    g->sums = problem_work(p, c);
    g->state_b = problem_work(p, 2 * l * b);
    g->x = problem_work(p, 2 * b);
    task *t = problem_task(p, "primal", path, "lstm", BY_CALL, PEER_lstm_primal, g);
    task_real(t, 0);
    task_output_scalar(t, g->out);
    common_arguments(t, g, false);
    t = problem_task(p, "gradient", path, "lstm", BY_ADJOINT, PEER_lstm_gradient, g);
    task_seeded(t, 0, 1);
    common_arguments(t, g, true);
    task_output(t, g->main_b, 8 * l * b, NULL);
    task_output(t, g->extra_b, 3 * b, NULL);
}
