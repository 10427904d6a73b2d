/* device.c: a machine beside a host: memory of its own, and the commands that move values, and run. */
#include "coprocessor.h"

#include <string.h>

/* ---- memory ---- */

static size_t bytes_of(const rvm_arg *a) {
    return (size_t)rvm_arg_count(a) * sizeof(rvm_scalar);
}

/* Zeros, row by row; reals with gradients. */
static bool make_place(const rvm_allocator *al, const rvm_arg *shape, rvm_arg *to) {
    *to = (rvm_arg){.type = shape->type, .ndim = shape->ndim, .active = shape->type != RVM_I64};
    int64_t stride = 1;
    for (int d = to->ndim - 1; d >= 0; stride *= shape->shape[d--]) {
        to->shape[d] = shape->shape[d];
        to->stride[d] = to->shadow_stride[d] = stride;
    }
    if (!to->ndim) return true;
    to->data = rvm__make(al, bytes_of(to) + 1); /* never nothing */
    to->shadow_data = to->active ? rvm__make(al, bytes_of(to) + 1) : NULL;
    return to->data && (!to->active || to->shadow_data);
}

static void free_place(const rvm_allocator *al, rvm_arg *a) {
    if (!a->ndim) return;
    rvm__release(al, a->data, bytes_of(a) + 1);
    rvm__release(al, a->shadow_data, bytes_of(a) + 1);
}

static rvm_status check_shapes(const rvm_machine *m, int64_t fn, const rvm_arg *shapes, uint32_t n, rvm_error *err) {
    const rvm_program *p = rvm_machine_program(m);
    const bool known = fn >= 0 && fn < (int64_t)rvm_program_function_count(p);
    if (!known) return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "the program has no function %lld", (long long)fn);
    if (rvm_program_param_count(p, (uint32_t)fn) != n)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` has %u parameters, and %u shapes are given",
                         rvm_program_function_name(p, (uint32_t)fn), rvm_program_param_count(p, (uint32_t)fn), n);
    for (uint32_t k = 0; k < n; k++)
        if (shapes[k].ndim < 0 || shapes[k].ndim > RVM_MAX_DIMS || rvm_arg_count(&shapes[k]) < 0)
            return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "shape %u is none", k);
    return RVM_OK;
}

rvm_status rvm_device_new(rvm_machine *m, int64_t fn, const rvm_arg *shapes, uint32_t n, const rvm_allocator *al,
                          rvm_device **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(m);
    if (n) RVM__NEEDS(shapes);
    RVM__TRY(check_shapes(m, fn, shapes, n, err));
    if (!al) al = &rvm__libc_allocator;
    rvm_options o;
    rvm_machine_options(m, &o);
    rvm_device *d = rvm__make(al, sizeof *d);
    if (!d) return rvm__fail_memory(err);
    *d = (rvm_device){.al = *al, .m = m, .fn = fn, .keeps = o.keep_shadows};
    uint8_t **const flags[] = {&d->now.value, &d->now.gradient, &d->planned.value, &d->planned.gradient};
    bool good = (d->args = rvm__make(al, (n + 1) * sizeof *d->args)) != NULL;
    d->n = n;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) good = (*flags[k] = rvm__make(al, n + 1)) && good;
    for (uint32_t k = 0; good && k < n; k++) good = make_place(al, &shapes[k], &d->args[k]);
    rvm_machine_stats_reset(m);
    if (good) return *out = d, RVM_OK;
    rvm_device_free(d);
    return rvm__fail_memory(err);
}

void rvm_device_free(rvm_device *d) {
    if (!d) return;
    const rvm_allocator al = d->al;
    rvm_machine_unbind(d->m);
    for (uint32_t k = 0; d->args && k < d->n; k++) free_place(&al, &d->args[k]);
    rvm__release(&al, d->args, (d->n + 1) * sizeof *d->args);
    uint8_t *const flags[] = {d->now.value, d->now.gradient, d->planned.value, d->planned.gradient};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) rvm__release(&al, flags[k], d->n + 1);
    rvm__release(&al, d, sizeof *d);
}

/* ---- transfers ---- */

/* 64 bits for each value that is not 0, among n. */
static void erase(rvm_device *d, rvm_type type, const rvm_scalar *v, int64_t n) {
    uint64_t bits = 0;
    for (int64_t k = 0; k < n; k++) bits += rvm_type_is_floating(type) ? v[k].f != 0 : v[k].i != 0;
    d->sums.bits[RVM_CAUSE_COPIED] += 64 * bits;
}

/* All elements of one place become those of another; what stood there is erased. */
static rvm_status copy(rvm_device *d, const rvm_arg *from, bool from_shadow, rvm_arg *to, bool to_shadow, rvm_error *err) {
    const int64_t n = rvm_arg_count(from);
    const size_t bytes = bytes_of(from);
    rvm_scalar *v = rvm__make(&d->al, bytes + 1);
    if (!v) return rvm__fail_memory(err);
    rvm_arg_gather(to, to_shadow, v);
    erase(d, to->type, v, n);
    rvm_arg_gather(from, from_shadow, v);
    rvm_arg_scatter(to, to_shadow, v);
    rvm__release(&d->al, v, bytes + 1);
    return RVM_OK;
}

static void clear(rvm_arg *a, bool shadow) {
    if (!a->ndim)
        *(shadow ? &a->shadow : &a->value) = (rvm_scalar){0};
    else
        memset(shadow ? a->shadow_data : a->data, 0, bytes_of(a));
}

static rvm_status load(rvm_device *d, const rvm_queued *q, rvm_error *err) {
    RVM__TRY(copy(d, q->host, false, &d->args[q->param], q->gradient, err));
    d->sums.to_device += (uint64_t)rvm_arg_count(q->host);
    (q->gradient ? d->now.gradient : d->now.value)[q->param] = true;
    return RVM_OK;
}

static rvm_status copy_out(rvm_device *d, const rvm_queued *q, rvm_error *err) {
    RVM__TRY(copy(d, &d->args[q->param], q->gradient, q->host, false, err));
    d->sums.to_host += (uint64_t)rvm_arg_count(q->host);
    return RVM_OK;
}

static rvm_status store(rvm_device *d, const rvm_queued *q, rvm_error *err) {
    RVM__TRY(copy_out(d, q, err));
    clear(&d->args[q->param], q->gradient);
    (q->gradient ? d->now.gradient : d->now.value)[q->param] = false;
    return RVM_OK;
}

/* ---- running ---- */

/* From rest a call is bound; after a sweep that is to be taken back it still is. */
static rvm_status move(rvm_device *d, rvm_error *err) {
    const rvm__device_state *s = &d->now;
    const bool takes_back = s->gradients && !s->backward;
    if (s->moved == RVM__AT_REST && !takes_back)
        RVM__TRY(rvm_machine_bind(d->m, d->fn, d->args, d->n, RVM_GRADIENT, s->backward, err));
    if (!s->backward) return rvm_machine_forward(d->m, err);
    return s->gradients ? rvm_machine_sweep(d->m, err) : rvm_machine_backward(d->m, err);
}

/* Back to where the failed run began; a sweep to where the values are those that were loaded, and gradients are nothing. */
static void take_back(rvm_device *d) {
    rvm__device_state *s = &d->now;
    rvm_error e;
    const bool sweep = s->backward && s->gradients;
    const rvm_status st = s->backward && !sweep ? rvm_machine_forward(d->m, &e) : rvm_machine_backward(d->m, &e);
    for (uint32_t k = 0; sweep && k < d->n; k++) {
        if (d->args[k].active) clear(&d->args[k], true);
        s->gradient[k] = false;
    }
    if (!st && !sweep && s->moved != RVM__AT_REST) return;
    rvm_machine_unbind(d->m);
    s->moved = RVM__AT_REST;
    for (uint32_t k = 0; st && k < d->n; k++) s->value[k] = false; /* they could not be taken back */
}

/* The program's error has its place there; the queue's is added. */
static void tell_place(const rvm_queued *q, rvm_error *err) {
    const size_t n = err ? strlen(err->message) : 0;
    if (err && q->file) snprintf(err->message + n, sizeof err->message - n, " (run of %.60s, line %u)", q->file, q->line);
}

static rvm_status run(rvm_device *d, const rvm_queued *q, rvm_error *err) {
    const rvm_status st = move(d, err);
    d->sums.turns += d->ran && d->now.went_back != d->now.backward;
    d->ran = true;
    if (!st) return rvm__device_ran(&d->now, d->n, d->args), RVM_OK;
    tell_place(q, err);
    take_back(d);
    return st;
}

static rvm_status obey(rvm_device *d, const rvm_queued *q, rvm_error *err) {
    switch (q->kind) {
    case RVM_QUEUE_LOAD: return load(d, q, err);
    case RVM_QUEUE_RUN: return run(d, q, err);
    case RVM_QUEUE_COPY_OUT: return copy_out(d, q, err);
    case RVM_QUEUE_DIRECTION: d->now.backward = q->on; break;
    case RVM_QUEUE_GRADIENT: d->now.gradients = q->on; break;
    case RVM_QUEUE_STORE: return store(d, q, err);
    case RVM_QUEUE_KINDS: break;
    }
    return RVM_OK;
}

rvm_status rvm_device_run(rvm_device *d, const rvm_queued *queue, uint32_t n, rvm_error *err) {
    RVM__NEEDS(d);
    if (n) RVM__NEEDS(queue);
    RVM__TRY(rvm__device_check(d, queue, n, err));
    for (uint32_t k = 0; k < n; k++) RVM__TRY(obey(d, &queue[k], err));
    return RVM_OK;
}

rvm_status rvm_device_counts(const rvm_device *d, rvm_counts *c, rvm_error *err) {
    RVM__NEEDS(d, c);
    RVM__TRY(rvm__counts_add_run(c, d->m, 1, 0, err));
    return rvm_counts_add_sums(c, &d->sums, 1, err);
}
