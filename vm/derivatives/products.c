/* products.c: products of a Hessian with a vector: the tangent of the gradient. The gradient of f is a program, f'grad, that
 * the transforms derive; run in tangent mode with x_d = v, the tangents of its shadows x_b are H v.
 *
 * The program with f'grad in it is a copy of the machine's, with a machine of its own; both are kept for the next product
 * (answers.h), and natively the tangent is a program again.
 */
#include "products.h"

#include <string.h>

#include "answers.h"

/* ---- one product ---- */

/* Shadows of one active parameter, as f'grad has them: of its value the tangent, of its adjoint the value and the tangent.
 * They lie one after the other, elements in row-major order. */
enum { X_D, X_B, X_BD, PLANES };

static size_t count(const rvm__work *w, uint32_t param) {
    return w->at[param + 1] - w->at[param];
}

static rvm_scalar *plane(const rvm__product *p, uint32_t param, int which) {
    return p->cells + PLANES * p->w->at[param] + (size_t)which * count(p->w, param);
}

/* The arguments of f'grad: each of f's, and behind it the adjoint where it is active. */
static void lay_out(rvm__product *p) {
    const rvm__work *w = p->w;
    const uint8_t *active = p->gradient.active;
    p->nargs = 0;
    for (uint32_t k = 0; k < w->q->nargs; k++) {
        rvm_arg *a = &p->args[p->nargs++];
        *a = w->args[k];
        a->active = active[k];
        a->shadow_data = count(w, k) ? plane(p, k, X_D) : NULL; /* none of an integer and of an array without elements */
        for (int64_t d = a->ndim - 1, stride = 1; d >= 0; stride *= a->shape[d], d--) a->shadow_stride[d] = stride;
        if (!active[k]) continue;
        rvm_arg *b = &p->args[p->nargs++];
        *b = *a;
        b->fresh = false; /* it has the weights */
        memcpy(b->stride, a->shadow_stride, sizeof b->stride);
        b->data = a->ndim && count(w, k) ? plane(p, k, X_B) : NULL;
        b->shadow_data = a->ndim && count(w, k) ? plane(p, k, X_BD) : NULL;
    }
}

rvm_status rvm__product_begin(rvm__product *p, rvm__work *w, rvm_error *err) {
    rvm_machine *m = w->m;
    uint8_t active[RVM_MAX_PARAMS];
    *p = (rvm__product){.w = w};
    for (uint32_t k = 0; k < w->q->nargs; k++) active[k] = w->args[k].active;
    rvm_status status = rvm__gradient_program(m, (uint32_t)w->q->fn, active, &p->gradient, err);
    if (status) return status;
    const size_t cells = PLANES * w->at[w->q->nargs];
    p->args = rvm__room(m, RVM__PRODUCT, 2 * w->q->nargs * sizeof *p->args + cells * sizeof *p->cells);
    if (!p->args && w->q->nargs) return rvm__no_memory(m, err);
    p->cells = (rvm_scalar *)(void *)(p->args + 2 * w->q->nargs);
    lay_out(p);
    return RVM_OK;
}

/* Scalars, as the planes have them. */
static void set_scalars(rvm__product *p) {
    const rvm__work *w = p->w;
    rvm_arg *a = p->args;
    for (uint32_t k = 0; k < w->q->nargs; k++, a++) {
        const bool any = count(w, k), active = p->gradient.active[k];
        if (!a->ndim) {
            a->value = w->args[k].value;
            a->shadow.i = any ? plane(p, k, X_D)->i : 0;
        }
        if (!active) continue;
        a++;
        if (a->ndim) continue;
        a->value.i = any ? plane(p, k, X_B)->i : 0;
        a->shadow.i = 0;
    }
}

/* The shadows that w holds (rvm__work_set) as plane `which` of the parameters; they are then 0 again. */
static void take(rvm__product *p, int which) {
    rvm__work *w = p->w;
    for (uint32_t k = 0; k < w->q->nargs; k++) {
        rvm_scalar *to = plane(p, k, which),
                   *from = w->args[k].ndim ? w->shadows + w->at[k] : (rvm_scalar *)&w->args[k].shadow;
        if (!count(w, k)) continue;
        memcpy(to, from, count(w, k) * sizeof *to);
        memset(from, 0, count(w, k) * sizeof *from);
    }
}

/* The tangents of the adjoints, back where rvm__work_get finds them. */
static void give(rvm__product *p) {
    rvm__work *w = p->w;
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->q->nargs; k++, n++) {
        if (!p->gradient.active[k]) continue;
        n++;
        if (w->args[k].ndim && count(w, k))
            memcpy(w->shadows + w->at[k], plane(p, k, X_BD), count(w, k) * sizeof(rvm_scalar));
        if (!w->args[k].ndim) w->args[k].shadow = p->args[n].shadow;
    }
}

static void set(rvm__product *p, const double *weights) {
    rvm__work *w = p->w;
    take(p, X_D);
    rvm__work_weigh(w, weights);
    take(p, X_B);
    for (uint32_t k = 0; k < w->q->nargs; k++)
        if (count(w, k)) memset(plane(p, k, X_BD), 0, count(w, k) * sizeof(rvm_scalar));
    set_scalars(p);
}

static rvm_status run(rvm__product *p, rvm_error *err) {
    p->w->cost.tangents++;
    return rvm__gradient_tangent(p->w->m, (uint32_t)p->w->q->fn, &p->gradient, p->args, p->nargs, err);
}

rvm_status rvm__product_run(rvm__product *p, const double *weights, rvm_error *err) {
    set(p, weights);
    const rvm_status status = run(p, err);
    give(p);
    return status;
}

/* ---- one for each column ---- */

typedef struct columns {
    rvm__product *p;
    const double *weights;
    double *H;
} columns;

static void set_column(void *of, int64_t k) {
    const columns *c = of;
    rvm__work_reset(c->p->w);
    rvm__work_set(c->p->w, true, k, 1);
    set(c->p, c->weights);
}

static rvm_status run_column(void *of, rvm_error *err) {
    const columns *c = of;
    return run(c->p, err);
}

static void get_column(void *of, int64_t k) {
    const columns *c = of;
    give(c->p);
    rvm__work_read(c->p->w, true, c->H + k, c->p->w->columns);
}

rvm_status rvm__product_each(rvm__product *p, const double *weights, double *H, rvm_error *err) {
    rvm__work *w = p->w;
    columns c = {p, weights, H};
    const rvm__directions all = {&c, w->columns, set_column, run_column, get_column};
    const uint64_t before = w->cost.tangents;
    const rvm_status status =
        rvm__each_direction(p->gradient.machine, w->m, RVM_TANGENT, p->gradient.fn, p->args, p->nargs, &all, err);
    if (!status) w->cost.tangents = before + (uint64_t)w->columns;
    return status;
}
