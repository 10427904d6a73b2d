#include <stdio.h>

#include "compare.h"

/* A random matrix of m rows and n columns: each entry is there with the given probability. */
typedef struct matrix {
    int64_t *start, *row, count;
    double *values;
} matrix;

static matrix make_matrix(problem *p, int64_t m, int64_t n, double density) {
    matrix a = {.start = problem_integers(p, n + 1), .row = problem_integers(p, m * n)};
    for (int64_t j = 0; a.start && a.row && j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            if (random_uniform(p) < density) a.row[a.count++] = i;
        a.start[j + 1] = a.count;
    }
    a.values = problem_normal(p, a.count, 1);
    return a;
}

static const char path[] = BENCH_DIR "/problems/sparse.rasm";
static const double density = 0.05;

static void add_matrix(task *t, const matrix *a, int64_t n, double *shadow) {
    task_integers(t, a->start, n + 1);
    task_integers(t, a->row, a->count);
    task_reals(t, a->values, shadow, 1, a->count, 0, 0);
}

/* size: n, of two n x n matrices */
void make_dot(problem *p, const int64_t *size) {
    dot_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t n = size[0];
    snprintf(p->title, sizeof p->title, "Sparse dot product, %dx%d, density 0.05", (int)n, (int)n);
    const matrix a = make_matrix(p, n, n, density), b = make_matrix(p, n, n, density);
    *g = (dot_data){n,
                    a.start,
                    a.row,
                    b.start,
                    b.row,
                    a.values,
                    b.values,
                    problem_reals(p, 1),
                    problem_reals(p, a.count),
                    problem_reals(p, b.count)};
    task *t = problem_task(p, "primal", path, "dot", BY_CALL, PEER_dot_primal, g);
    task_real(t, 0);
    task_output_scalar(t, g->out);
    add_matrix(t, &a, n, NULL);
    add_matrix(t, &b, n, NULL);
    t = problem_task(p, "gradient", path, "dot", BY_ADJOINT, PEER_dot_gradient, g);
    task_seeded(t, 0, 1);
    add_matrix(t, &a, n, g->a_b);
    add_matrix(t, &b, n, g->b_b);
    task_output(t, g->a_b, a.count, NULL);
    task_output(t, g->b_b, b.count, NULL);
}

/* size: n, p: a sparse n x n times a dense n x p matrix */
void make_product(problem *p, const int64_t *size) {
    product_data *g = problem_memory(p, 1, sizeof *g);
    if (!g) return;
    const int64_t n = size[0], columns = size[1];
    snprintf(p->title, sizeof p->title, "Sparse product, %dx%d, density 0.05, times %dx%d", (int)n, (int)n, (int)n,
             (int)columns);
    const matrix a = make_matrix(p, n, n, density);
    double *B = problem_normal(p, n * columns, 1), *seed = problem_normal(p, n * columns, 1);
    *g = (product_data){n,
                        n,
                        columns,
                        a.start,
                        a.row,
                        a.values,
                        B,
                        seed,
                        problem_reals(p, n * columns),
                        problem_reals(p, a.count),
                        problem_reals(p, n * columns)};
    task *t = problem_task(p, "primal", path, "product", BY_CALL, PEER_product_primal, g);
    task_reals(t, g->C, NULL, 2, n, columns, 0);
    add_matrix(t, &a, n, NULL);
    task_reals(t, B, NULL, 2, n, columns, 0);
    task_output(t, g->C, n * columns, NULL);
    t = problem_task(p, "gradient", path, "product", BY_ADJOINT, PEER_product_gradient, g);
    task_reals(t, g->C, seed, 2, n, columns, 0);
    add_matrix(t, &a, n, g->a_b);
    task_reals(t, B, g->B_b, 2, n, columns, 0);
    task_output(t, g->a_b, a.count, NULL);
    task_output(t, g->B_b, n * columns, NULL);
}
