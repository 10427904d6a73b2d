/* make.c: memory, numbers, tasks and arguments for the makers of problems. */
#include <math.h>
#include <stdlib.h>

#include "common.h"
#include "compare.h"

void *problem_memory(problem *p, int64_t count, size_t size) {
    void *block = p->nowned < MAX_OWNED ? new_array(count, size) : NULL;
    if (block)
        p->owned[p->nowned++] = block;
    else
        p->failed = true;
    return block;
}

double *problem_reals(problem *p, int64_t count) {
    return problem_memory(p, count, sizeof(double));
}

int64_t *problem_integers(problem *p, int64_t count) {
    return problem_memory(p, count, sizeof(int64_t));
}

double *problem_work(problem *p, int64_t count) {
    p->work += count * (int64_t)sizeof(double);
    return problem_reals(p, count);
}

void problem_free(problem *p) {
    for (int k = 0; k < p->nowned; k++) free(p->owned[k]);
    p->nowned = 0;
}

/* ---- numbers ---- */

static uint64_t next_random(problem *p) { /* SplitMix64 */
    uint64_t z = p->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

double random_uniform(problem *p) {
    return (double)(next_random(p) >> 11) * 0x1p-53;
}

int64_t random_below(problem *p, int64_t n) {
    return (int64_t)(next_random(p) % (uint64_t)n);
}

double *problem_uniform(problem *p, int64_t count, double lo, double hi) {
    double *a = problem_reals(p, count);
    for (int64_t k = 0; a && k < count; k++) a[k] = lo + (hi - lo) * random_uniform(p);
    return a;
}

double *problem_normal(problem *p, int64_t count, double deviation) {
    double *a = problem_reals(p, count);
    for (int64_t k = 0; a && k < count; k++) { /* Box, Muller */
        const double r = sqrt(-2 * log(1 - random_uniform(p)));
        a[k] = deviation * r * cos(2 * M_PI * random_uniform(p));
    }
    return a;
}

/* ---- tasks ---- */

task *problem_task(problem *p, const char *name, const char *path, const char *function, way how, enum peer peer,
                   void *data) {
    task *t = &p->tasks[p->ntasks++];
    *t = (task){.name = name,
                .path = path,
                .function = function,
                .way = how,
                .tolerance = 1e-9,
                .peer = peer,
                .data = data,
                .taped = true,
                .work = p->work};
    return t;
}

void task_real(task *t, double v) {
    t->args[t->nargs++] = rvm_arg_f64(v);
}

void task_seeded(task *t, double v, double seed) {
    rvm_arg a = rvm_arg_f64(v);
    a.active = true;
    a.shadow.f = seed;
    t->args[t->nargs++] = a;
}

void task_integer(task *t, int64_t v) {
    t->args[t->nargs++] = rvm_arg_i64(v);
}

void task_tensor(task *t, double *data, double *shadow, int ndim, const int64_t *shape) {
    rvm_arg a = rvm_arg_array_f64(data, ndim, shape);
    a.active = shadow != NULL;
    a.shadow_data = shadow;
    t->args[t->nargs++] = a;
}

void task_reals(task *t, double *data, double *shadow, int ndim, int64_t rows, int64_t columns, int64_t depth) {
    task_tensor(t, data, shadow, ndim, (int64_t[]){rows, columns, depth});
}

void task_integers(task *t, int64_t *data, int64_t count) {
    t->args[t->nargs++] = rvm_arg_array_i64(data, 1, &count);
}

void task_fresh(task *t) {
    t->args[t->nargs - 1].fresh = true;
}

void task_output(task *t, double *data, int64_t count, const double *start) {
    t->outputs[t->noutputs++] = (output){.data = data, .count = count, .start = start, .arg = -1};
}

void task_output_scalar(task *t, double *data) {
    t->outputs[t->noutputs++] = (output){.data = data, .count = 1, .arg = (int)t->nargs - 1};
}

void task_state(task *t, double *data, int64_t count, const double *start) {
    t->outputs[t->noutputs++] = (output){.data = data, .count = count, .start = start, .arg = -1, .state = true};
}

void task_output_across(task *t, double *data, double *across, int64_t count, int64_t width) {
    t->outputs[t->noutputs++] = (output){.data = data, .count = count, .arg = -1, .across = across, .width = width};
}
