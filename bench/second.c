/* second.c: the Hessian of the graph embedding's loss (Petersen graph, dimension 10: 100 parameters) by one sweep, against a
 * gradient; and what tangents and sweeps cost next to a forward run. */
#include <math.h>

#include "bench.h"
#include "common.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"

enum { VERTICES = 10, DIMENSION = 10, PARAMETERS = VERTICES * DIMENSION };

typedef struct embedding {
    rvm_machine *m;
    double x[PARAMETERS], H[PARAMETERS * PARAMETERS], g[PARAMETERS];
    rvm_arg args[2];
    rvm_part of, by;
    rvm_derivative_spec q;
} embedding;

static void pose(embedding *e, const rvm_program *p) {
    for (int k = 0; k < PARAMETERS; k++) e->x[k] = sin(1.7 * k) + 0.3 * cos(0.9 * k * k);
    e->args[0] = rvm_arg_f64(0);
    e->args[1] = rvm_arg_array_f64(e->x, 2, (int64_t[]){VERTICES, DIMENSION});
    e->of = (rvm_part){0, -1};
    e->by = (rvm_part){1, -1};
    e->q = (rvm_derivative_spec){.fn = rvm_program_find(p, "loss"),
                                 .args = e->args,
                                 .nargs = 2,
                                 .outputs = &e->of,
                                 .noutputs = 1,
                                 .inputs = &e->by,
                                 .ninputs = 1};
}

enum task { PRIMAL, TANGENT, GRADIENT, PRODUCT, SWEPT, TASKS };

static rvm_status run(embedding *e, enum task t, rvm_cost *cost, rvm_error *err) {
    const double one = 1;
    rvm_arg args[2] = {e->args[0], e->args[1]};
    switch (t) {
    case PRIMAL: return rvm_call(e->m, e->q.fn, args, 2, err);
    case TANGENT: return rvm_jvp(e->m, &e->q, e->x, e->g, NULL, err);
    case GRADIENT: return rvm_vjp(e->m, &e->q, &one, e->g, NULL, err);
    case PRODUCT: return rvm_hvp(e->m, &e->q, NULL, e->x, e->g, NULL, err);
    case SWEPT: return rvm_hessian(e->m, &e->q, NULL, RVM_BY_SWEEP, e->H, cost, err);
    case TASKS: break;
    }
    return RVM_OK;
}

/* Seconds of one run: gradients and the like many times, so that the clock can tell. */
static rvm_status take(embedding *e, enum task t, double *seconds, rvm_cost *cost, rvm_error *err) {
    const int times = t == SWEPT ? 3 : 30;
    rvm_status status = RVM_OK;
    const double start = processor_seconds();
    for (int k = 0; k < times && !status; k++) status = run(e, t, cost, err);
    *seconds = (processor_seconds() - start) / times;
    return status;
}

static void add_rows(table *t, double s[TASKS][MAX_REPETITIONS], int n, const rvm_cost *cost) {
    static const char group[] = "(g) Hessian of the graph embedding, 100 parameters";
    static const struct {
        const char *label;
        enum task a, b;
    } ratios[] = {{"time of a tangent run / forward", TANGENT, PRIMAL},
                  {"time of a gradient / forward", GRADIENT, PRIMAL},
                  {"time of a product with the Hessian / forward", PRODUCT, PRIMAL},
                  {"time of the one-sweep Hessian / gradient", SWEPT, GRADIENT}};
    for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
        row *r = table_row(t, group, ratios[k].label, "");
        double v[MAX_REPETITIONS];
        for (int i = 0; i < n; i++) v[i] = s[ratios[k].a][i] / s[ratios[k].b][i];
        figure_set(&r->figures[CHECKED], v, n);
        if (ratios[k].a == SWEPT) figure_target(&r->figures[CHECKED], AT_MOST, PARAMETERS);
    }
    double updates = (double)cost->updates;
    figure_set(&table_row(t, group, "entries changed in the sweep", "")->figures[CHECKED], &updates, 1);
}

bool measure_second(table *t, int repetitions) {
    static embedding e; /* a hundred kB: off the stack */
    static double seconds[TASKS][MAX_REPETITIONS];
    rvm_program *p = NULL;
    rvm_error err = {0};
    rvm_cost cost = {0};
    rvm_status status = rvm_open(EXAMPLES_DIR "/papers/graph_embedding.rasm", NULL, &p, &err, NULL, NULL);
    if (!status) status = rvm_machine_new(p, NULL, &e.m, &err);
    if (!status) pose(&e, p);
    if (!status) status = run(&e, PRODUCT, &cost, &err); /* which derives the gradient program */
    for (int i = 0; i < repetitions && !status; i++)
        for (int k = 0; k < TASKS && !status; k++) status = take(&e, (enum task)k, &seconds[k][i], &cost, &err);
    if (!status) add_rows(t, seconds, repetitions, &cost);
    rvm_machine_free(e.m);
    rvm_program_free(p);
    return print_failure(status, &err) == 0;
}
