/* attach.c: an rvm_cuda, made, attached to machines, and freed. */
#include "cuda.h"
#include "kept.h"
#include "support.h"

rvm_cuda_options rvm_cuda_options_default(void) {
    return (rvm_cuda_options){.least = UINT64_C(1) << 22};
}

static rvm_status check_list(const rvm_cuda_options *o, rvm_error *err) {
    if (o->ndevices == RVM_CUDA_ALL_DEVICES) return RVM_OK;
    if (o->ndevices < 0 || o->ndevices > RVM_CUDA_MAX_DEVICES)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "%d devices: there may be %d", o->ndevices, RVM_CUDA_MAX_DEVICES);
    if (o->ndevices && !o->devices)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "there is no list of %d devices", o->ndevices);
    for (int k = 0; k < o->ndevices; k++)
        for (int j = 0; j < k; j++)
            if (o->devices[j] == o->devices[k])
                return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "device %d is named twice", o->devices[k]);
    return RVM_OK;
}

/* Where a device is used once that pays, it is opened then. */
static rvm_status make_ready(rvm_cuda *c, rvm_error *err) {
    enum rvm__device_code code;
    if (!c->o.automatic) return rvm__cuda_open(c, err);
    if (!rvm__driver_may_be_there(&code))
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "there is no CUDA device, as it seems");
    return rvm__chooser_new(c) ? RVM_OK : rvm__fail_memory(err);
}

rvm_status rvm_cuda_new(const rvm_cuda_options *options, rvm_cuda **out, rvm_error *err) {
    RVM__NEEDS(out);
    const rvm_cuda_options o = options ? *options : rvm_cuda_options_default();
    *out = NULL;
    rvm_status status = check_list(&o, err);
    rvm_cuda *c = status ? NULL : rvm__cuda_make(&o, NULL);
    if (status || !c) return status ? status : rvm__fail_memory(err);
    for (int k = 0; k < o.ndevices; k++) c->wanted[k] = o.devices[k];
    if ((status = make_ready(c, err)))
        rvm_cuda_free(c);
    else
        *out = c;
    return status;
}

void rvm_cuda_free(rvm_cuda *c) {
    if (!c) return;
    while (c->arrays) rvm_cuda_array_free(c->arrays);
    rvm__cuda_kept_free(c);
    for (unsigned k = 0; k < c->nothers; k++) rvm__cuda_drop(c->others[k]);
    rvm__chooser_free(c);
    rvm__cuda_free_blocks(c);
    rvm__cuda_drop(c);
}

int rvm_cuda_devices(const rvm_cuda *c, int *devices, int n) {
    if (!c || !c->d) return 0;
    for (unsigned k = 0; devices && k <= c->nothers && (int)k < n; k++)
        devices[k] = k ? c->others[k - 1]->o.device : c->o.device;
    return (int)c->nothers + 1;
}

rvm_status rvm_cuda_attach(rvm_cuda *c, rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(c, m);
    if (!m->jit.engine) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the machine has no native engine");
    enum rvm__device_code code = c->d ? c->d->code : RVM__KERNELS_PTX;
    if (!c->d) rvm__driver_may_be_there(&code);
    if (m->jit.device != c) rvm__kept_leave(m);
    m->jit.device = c;
    m->jit.device_code = (uint8_t)code;
    m->jit.device_least = c->o.automatic ? c->o.least + !c->o.least : 0;
    m->jit.runner = &rvm__cuda_runner;
    return RVM_OK;
}
