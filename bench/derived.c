/* derived.c: derivatives as programs on the two real jobs: instructions executed against those of the function itself. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "common.h"
#include "rvm_asm.h"

enum { MOST = sizeof((job *)0)->args / sizeof(rvm_arg) };

/* Arguments of the derived function: each active one is followed by its shadow. */
static uint32_t interleave(const job *j, rvm_arg *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->nargs; i++) {
        rvm_arg a = j->args[i];
        out[n++] = a;
        if (!a.active) continue;
        a.value = a.shadow;
        a.data = a.shadow_data;
        memcpy(a.stride, a.shadow_stride, sizeof a.stride);
        out[n++] = a;
    }
    for (uint32_t i = 0; i < n; i++) out[i].active = false;
    return n;
}

static rvm_status count(const rvm_program *p, int64_t fn, rvm_arg *args, uint32_t n, double *instructions, rvm_error *e) {
    rvm_machine *m = NULL;
    rvm_stats stats;
    rvm_status st = rvm_machine_new(p, NULL, &m, e);
    if (!st) st = rvm_call(m, fn, args, n, e);
    if (!st) {
        rvm_machine_stats(m, &stats);
        *instructions = (double)(stats.forward + stats.backward + stats.swept);
    }
    rvm_machine_free(m);
    return st;
}

/* Runs the function derived from fn on j->args, which are left as it leaves them. */
static rvm_status count_derived(const rvm_program *p, uint32_t fn, rvm_transform kind, job *j, double *instructions,
                                rvm_error *e) {
    uint8_t active[MOST] = {0};
    rvm_arg args[2 * MOST];
    rvm_program *q = NULL;
    uint32_t derived, at = 0;
    for (uint32_t i = 0; i < j->nargs; i++) active[i] = j->args[i].active;
    rvm_status st = rvm_program_transform(p, fn, kind, active, &q, &derived, e);
    if (!st) st = count(q, derived, args, interleave(j, args), instructions, e);
    for (uint32_t i = 0; !st && i < j->nargs; at += active[i++] ? 2 : 1) j->args[i].value = args[at].value;
    rvm_program_free(q);
    return st;
}

static void ratio_row(table *t, const job *j, const char *label, double instructions, double primal) {
    double value = instructions / primal;
    figure *f = &table_row(t, j->title, label, "")->figures[0];
    figure_set(f, &value, 1);
    figure_target(f, AT_MOST, 5);
}

/* In this order each starts where the last has ended: inputs, inputs, outputs, inputs. */
bool measure_derived(table *t, job *j) {
    rvm_program *p = NULL;
    rvm_error e = {0};
    double primal = NAN, gradient = NAN, adjoint = NAN, tangent = NAN;
    rvm_status st = rvm_open(j->path, NULL, &p, &e, NULL, NULL);
    uint32_t fn = st ? 0 : (uint32_t)rvm_program_find(p, j->function);
    if (!st) st = count_derived(p, fn, RVM_GRADIENT_OF, j, &gradient, &e);
    if (!st) st = count(p, fn, j->args, j->nargs, &primal, &e);
    if (!st) st = count_derived(p, fn, RVM_ADJOINT, j, &adjoint, &e);
    if (!st) st = count_derived(p, fn, RVM_TANGENT_OF, j, &tangent, &e);
    rvm_program_free(p);
    if (print_failure(st, &e)) return false;
    ratio_row(t, j, "instructions of f'tan / f", tangent, primal);
    ratio_row(t, j, "instructions of f'adj / f", adjoint, primal);
    ratio_row(t, j, "instructions of f'grad / f", gradient, primal);
    return true;
}
