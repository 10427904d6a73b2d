/* device_check.c: what a queue may do, command by command, before any of it is done. */
#include "coprocessor.h"

#include <string.h>

const char *rvm_queue_name(rvm_queue_kind kind) {
    static const char *const names[RVM_QUEUE_KINDS] = {
#define X(id, name) name,
        RVM_QUEUE_MAP(X)
#undef X
    };
    return (unsigned)kind < RVM_QUEUE_KINDS ? names[kind] : "?";
}

typedef struct checker {
    const rvm_device *d;
    rvm__device_state *s;
    const rvm_queued *at;
    rvm_error *err;
} checker;

static rvm_status refuse(const checker *c, rvm_status code, const char *what, const char *name) {
    const rvm_queued *q = c->at;
    return rvm__fail(c->err, code, q->file, q->line, 0, "%s%s%s%s%s", rvm_queue_name(q->kind), name ? " " : "",
                     name ? name : "", q->gradient && name ? "_b: " : ": ", what);
}

static const char *param_name(const checker *c, uint32_t k) {
    rvm_param_info info = {.name = "?"};
    rvm_program_param(rvm_machine_program(c->d->m), (uint32_t)c->d->fn, k, &info);
    return info.name;
}

static rvm_status wrong(const checker *c, const char *what) {
    return refuse(c, RVM_ERR_USAGE, what, param_name(c, c->at->param));
}

/* ---- what is moved ---- */

static rvm_status check_host(const checker *c) {
    const rvm_arg *host = c->at->host, *own = &c->d->args[c->at->param];
    if (!host) return wrong(c, "no host memory is named");
    bool same = host->type == own->type && host->ndim == own->ndim;
    for (int d = 0; same && d < own->ndim; d++) same = host->shape[d] == own->shape[d] && host->data;
    return same ? RVM_OK : refuse(c, RVM_ERR_SHAPE, "host memory has another type or shape", param_name(c, c->at->param));
}

static rvm_status check_place(const checker *c) {
    if (c->at->param >= c->d->n) return refuse(c, RVM_ERR_USAGE, "the function has no such parameter", NULL);
    if (c->at->gradient && c->d->args[c->at->param].type == RVM_I64) return wrong(c, "an i64 has no gradient");
    return check_host(c);
}

static rvm_status check_load(const checker *c) {
    const rvm_queued *q = c->at;
    if (!q->gradient && c->s->moved != RVM__AT_REST)
        return wrong(c, "the run has yet to come back, and takes back what is there");
    (q->gradient ? c->s->gradient : c->s->value)[q->param] = true;
    return RVM_OK;
}

static rvm_status not_there(const checker *c) {
    return wrong(c,
                 c->at->gradient ? "no gradient is there: none was loaded, and no run computed it" : "it was never loaded");
}

/* Beyond what was loaded, a run leaves values in all parameters until it is taken back. */
static bool is_there(const checker *c) {
    const rvm_queued *q = c->at;
    return q->gradient ? c->s->gradient[q->param] : c->s->value[q->param] || c->s->moved != RVM__AT_REST;
}

static rvm_status check_copy_out(const checker *c) {
    return is_there(c) ? RVM_OK : not_there(c);
}

static rvm_status check_store(const checker *c) {
    const rvm_queued *q = c->at;
    if (!is_there(c)) return not_there(c);
    if (c->s->moved != RVM__AT_REST) return wrong(c, "the run has yet to come back, and needs it: copy-out leaves it there");
    (q->gradient ? c->s->gradient : c->s->value)[q->param] = false;
    return RVM_OK;
}

/* ---- running ---- */

void rvm__device_ran(rvm__device_state *s, uint32_t n, const rvm_arg *args) {
    const bool sweep = s->backward && s->gradients;
    s->moved = s->moved != RVM__AT_REST ? RVM__AT_REST : s->backward ? RVM__RAN_BACK : RVM__RAN_FORWARD;
    s->swept = sweep;
    s->went_back = s->backward;
    for (uint32_t k = 0; sweep && k < n; k++) s->gradient[k] = s->gradient[k] || args[k].active;
}

/* What a run from rest reads. */
static rvm_status check_loaded(const checker *c) {
    rvm_param_info info;
    for (uint32_t k = 0; k < c->d->n; k++) {
        rvm_program_param(rvm_machine_program(c->d->m), (uint32_t)c->d->fn, k, &info);
        if (info.role != RVM_ACC && !c->s->value[k]) return refuse(c, RVM_ERR_USAGE, "it was never loaded", info.name);
    }
    return RVM_OK;
}

static rvm_status check_run(const checker *c) {
    rvm__device_state *s = c->s;
    const bool again = s->moved == (s->backward ? RVM__RAN_BACK : RVM__RAN_FORWARD);
    if (again) return refuse(c, RVM_ERR_USAGE, "the device is at that end already: turn it round", NULL);
    if (!s->backward && s->gradients && !s->swept)
        return refuse(c, RVM_ERR_USAGE, "forward with gradients takes a sweep back, and there was none", NULL);
    if (!s->backward && s->gradients && !c->d->keeps)
        return refuse(c, RVM_ERR_USAGE, "the sweep has dropped gradients: only a machine that keeps them takes it back",
                      NULL);
    const rvm_status st = s->moved == RVM__AT_REST && !(s->gradients && !s->backward) ? check_loaded(c) : RVM_OK;
    if (!st) rvm__device_ran(s, c->d->n, c->d->args);
    return st;
}

/* ---- the queue ---- */

static rvm_status check_command(const checker *c) {
    const rvm_queued *q = c->at;
    const bool moves = q->kind == RVM_QUEUE_LOAD || q->kind == RVM_QUEUE_COPY_OUT || q->kind == RVM_QUEUE_STORE;
    if (moves) RVM__TRY(check_place(c));
    switch (q->kind) {
    case RVM_QUEUE_LOAD: return check_load(c);
    case RVM_QUEUE_RUN: return check_run(c);
    case RVM_QUEUE_COPY_OUT: return check_copy_out(c);
    case RVM_QUEUE_DIRECTION: c->s->backward = q->on; return RVM_OK;
    case RVM_QUEUE_GRADIENT: c->s->gradients = q->on; return RVM_OK;
    case RVM_QUEUE_STORE: return check_store(c);
    case RVM_QUEUE_KINDS: break;
    }
    return rvm__fail(c->err, RVM_ERR_USAGE, q->file, q->line, 0, "no command of a queue has number %d", (int)q->kind);
}

rvm_status rvm__device_check(rvm_device *d, const rvm_queued *queue, uint32_t n, rvm_error *err) {
    rvm__device_state *s = &d->planned;
    uint8_t *value = s->value, *gradient = s->gradient;
    *s = d->now;
    s->value = value, s->gradient = gradient;
    memcpy(value, d->now.value, d->n);
    memcpy(gradient, d->now.gradient, d->n);
    for (uint32_t k = 0; k < n; k++) RVM__TRY(check_command(&(checker){d, s, &queue[k], err}));
    return RVM_OK;
}
