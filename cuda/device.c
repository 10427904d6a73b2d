/* device.c: devices; those of an rvm_cuda, opened: it has one itself, and others, each as one of its own. */
#include <string.h>
#include <time.h>

#include "cuda.h"
#include "support.h"

/* ---- what there is ---- */

rvm_status rvm_cuda_count(int *n, rvm_error *err) {
    RVM__NEEDS(n);
    const rvm__driver *d;
    *n = 0;
    const rvm_status status = rvm__driver_open(&d, err);
    return status ? status : rvm__driver_fail(d, d->device_count(n), "devices are counted", err);
}

static rvm_status get_device(const rvm__driver *d, int number, int *device, rvm_error *err) {
    int n = 0;
    const rvm_status status = rvm__driver_fail(d, d->device_count(&n), "devices are counted", err);
    if (status) return status;
    if (n == 0) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "there is no CUDA device");
    if (number < 0 || number >= n)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "there is no device %d: there are %d, from 0 on", number, n);
    return rvm__driver_fail(d, d->device_get(device, number), "it is asked for", err);
}

static rvm_status describe(const rvm__driver *d, int device, rvm_cuda_device *out, rvm_error *err) {
    const struct {
        int attribute, *to;
    } asked[] = {{CUDA_MAJOR, &out->major},
                 {CUDA_MINOR, &out->minor},
                 {CUDA_MULTIPROCESSORS, &out->multiprocessors},
                 {CUDA_CLOCK, &out->clock}};
    int ratio = 0, code = d->device_name(out->name, sizeof out->name, device);
    for (size_t k = 0; k < sizeof asked / sizeof *asked && !code; k++)
        code = d->device_attribute(asked[k].to, asked[k].attribute, device);
    if (!code) code = d->device_memory(&out->memory, device);
    if (!code && d->device_attribute(&ratio, CUDA_SINGLE_TO_DOUBLE, device)) ratio = 0;
    out->slow_double = ratio >= 32;
    return rvm__driver_fail(d, code, "it is described", err);
}

rvm_status rvm_cuda_describe(int device, rvm_cuda_device *out, rvm_error *err) {
    RVM__NEEDS(out);
    const rvm__driver *d;
    int found = 0;
    *out = (rvm_cuda_device){.major = 0};
    rvm_status status = rvm__driver_open(&d, err);
    if (!status) status = get_device(d, device, &found, err);
    return status ? status : describe(d, found, out, err);
}

/* ---- making one ---- */

static rvm_status open_device(rvm_cuda *c, rvm_error *err) {
    const rvm__driver *d = NULL;
    rvm_cuda_device about;
    rvm_status status = rvm__driver_open(&d, err);
    if (!status) status = get_device(d, c->o.device, &c->device, err);
    if (!status) status = describe(d, c->device, &about, err);
    if (status) return status;
    if (about.major * 10 + about.minor < 75)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                         "the device %s is of compute capability %d.%d; 7.5 is the least that will do", about.name,
                         about.major, about.minor);
    c->multiprocessors = about.multiprocessors;
    if (d->device_attribute(&c->shared, CUDA_SHARED, c->device)) c->shared = 0;
    status = rvm__driver_fail(d, d->context_retain(&c->context, c->device), "its context is made", err);
    if (!status) c->d = d;
    return status;
}

static rvm_status make_all(rvm_cuda *c, rvm_error *err) {
    void *control = NULL;
    int code = 0;
    c->stream = c->o.stream;
    if (!c->stream) code = c->d->stream_create(&c->stream, 1 /* not with the default stream */);
    c->own_stream = !c->o.stream && !code;
    for (int k = 0; k < 2 && !code; k++) code = c->d->event_create(&c->events[k], 0);
    if (!code) code = c->d->allocate_host(&control, sizeof *c->control);
    c->control = control;
    if (!code) code = c->d->allocate(&c->device_control, sizeof *c->control);
    const rvm_status status = rvm__driver_fail(c->d, code, "it is set up", err);
    return status ? status : rvm__cuda_load_sums(c, err);
}

void rvm__cuda_close(rvm_cuda *c) {
    if (c->d && !c->d->context_push(c->context)) {
        rvm__cuda_unload(c);
        rvm__cuda_free_buffers(c);
        if (c->device_control) c->d->free(c->device_control);
        if (c->control) c->d->free_host(c->control);
        if (c->staging) c->d->free_host(c->staging);
        for (int k = 0; k < 2; k++)
            if (c->events[k]) c->d->event_destroy(c->events[k]);
        if (c->own_stream) c->d->stream_destroy(c->stream);
        rvm__cuda_leave(c);
    }
    if (c->d && c->context) c->d->context_release(c->device);
    c->d = NULL;
}

void rvm__cuda_drop(rvm_cuda *c) {
    const rvm_allocator al = c->al;
    rvm__cuda_close(c);
    rvm__realloc(&al, c, sizeof *c, 0);
}

rvm_cuda *rvm__cuda_make(const rvm_cuda_options *o, rvm_cuda *first) {
    const rvm_allocator al = o->allocator ? *o->allocator : rvm__libc_allocator;
    rvm_cuda *c = rvm__realloc(&al, NULL, 0, sizeof *c);
    if (!c) return NULL;
    *c = (rvm_cuda){.o = *o, .al = al};
    c->o.devices = NULL;
    c->o.nested = (rvm_cuda_nested)rvm__cuda_nested_option((int)o->nested);
    c->first = first ? first : c;
    return c;
}

static rvm_status open_one(rvm_cuda *c, int device, rvm_error *err) {
    c->o.device = device;
    rvm_status status = open_device(c, err);
    if (!status && !rvm__cuda_enter(c))
        status = rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "the device's context cannot be entered");
    else if (!status) {
        status = make_all(c, err);
        rvm__cuda_leave(c);
    }
    if (status) rvm__cuda_close(c);
    return status;
}

/* ---- several ---- */

/* c itself is the first that opens. */
static rvm_status add(rvm_cuda *c, int device, rvm_error *err) {
    if (!c->d) return open_one(c, device, err);
    rvm_cuda_options o = c->o;
    o.stream = NULL;
    rvm_cuda *one = rvm__cuda_make(&o, c);
    if (!one) return rvm__fail_memory(err);
    const rvm_status status = open_one(one, device, err);
    if (status)
        rvm__cuda_drop(one);
    else
        c->others[c->nothers++] = one;
    return status;
}

/* Those that will do; that none does, the first of them says. */
static rvm_status add_all(rvm_cuda *c, rvm_error *err) {
    rvm_error first = {0}, why;
    int n, found = 0;
    rvm_status status = rvm_cuda_count(&n, err);
    if (!status && !n) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "there is no CUDA device");
    for (int k = 0; k < n && !status && found < RVM_CUDA_MAX_DEVICES; k++) found += !add(c, k, k ? &why : &first);
    if (status || found) return status;
    if (err) *err = first;
    return first.code;
}

rvm_status rvm__cuda_open(rvm_cuda *c, rvm_error *err) {
    struct timespec begin, end;
    rvm_status status = c->lost;
    if (c->d) return RVM_OK;
    if (status) return rvm__fail(err, status, NULL, 0, 0, "the device could not be opened");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (c->o.ndevices == RVM_CUDA_ALL_DEVICES) status = add_all(c, err);
    for (int k = 0; k < c->o.ndevices && !status; k++) status = add(c, c->wanted[k], err);
    if (!c->o.ndevices) status = add(c, c->o.device, err);
    clock_gettime(CLOCK_MONOTONIC, &end);
    c->totals.opening = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    c->lost = status;
    return status;
}
