/* code.c: PTX as kernels. The driver makes machine code of it, which it keeps in a cache of its own. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cuda.h"
#include "support.h"

enum { LOG = 400, MOST_KERNELS = 64 };

struct rvm__code_entry { /* of one PTX */
    struct rvm__code_entry *next;
    void *module;
    char *code;
    size_t size;
    unsigned n;
    rvm__loaded_kernel kernels[MOST_KERNELS]; /* those that were met */
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rvm_status load(rvm_cuda *c, const char *code, void **module, rvm_error *err) {
    char log[LOG] = "";
    int options[] = {CUDA_LOG, CUDA_LOG_SIZE, CUDA_LINES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1), (void *)1};
    const double begin = now();
    const int failed = c->d->module_load(module, code, sizeof options / sizeof *options, options, values);
    c->totals.loading += now() - begin;
    if (failed && log[0])
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "CUDA's driver does not take a kernel: %.*s",
                         (int)strcspn(log, "\n"), log);
    return rvm__driver_fail(c->d, failed, "a kernel is loaded", err);
}

rvm_status rvm__cuda_load_sums(rvm_cuda *c, rvm_error *err) {
    rvm_status status = load(c, rvm__sums_ptx, &c->sums, err);
    if (status) return status;
    int code = c->d->module_function(&c->sum_terms, c->sums, "rvm_sum_terms");
    if (!code) code = c->d->module_function(&c->sum_copies, c->sums, "rvm_sum_copies");
    if (!code) code = c->d->module_function(&c->sum_log, c->sums, "rvm_sum_log");
    if (!code) code = c->d->module_function(&c->find_changes, c->sums, "rvm_find_changes");
    if (!code) code = c->d->module_function(&c->count_digits, c->sums, "rvm_count_digits");
    if (!code) code = c->d->module_function(&c->place_digits, c->sums, "rvm_place_digits");
    if (!code) code = c->d->module_function(&c->sort_digits, c->sums, "rvm_sort_digits");
    if (!code) code = c->d->module_function(&c->sum_items, c->sums, "rvm_sum_items");
    if (!code) code = c->d->module_function(&c->find_far, c->sums, "rvm_find_far");
    if (!code) code = c->d->module_function(&c->fill, c->sums, "rvm_fill");
    if (!code) code = c->d->module_function(&c->find_doubles, c->sums, "rvm_find_doubles");
    c->totals.loading = 0;
    return rvm__driver_fail(c->d, code, "its sums are set up", err);
}

static void drop(rvm_cuda *c, rvm__device_code *e) {
    if (e->module) c->d->module_unload(e->module);
    for (unsigned n = 0; n < e->n; n++) {
        rvm__realloc(&c->al, e->kernels[n].addresses, 2 * e->kernels[n].naddresses * sizeof(uint64_t), 0);
        rvm__cuda_put(e->kernels[n].lists);
    }
    rvm__realloc(&c->al, e->code, e->size, 0);
    rvm__realloc(&c->al, e, sizeof *e, 0);
}

void rvm__cuda_unload(rvm_cuda *c) {
    while (c->codes) {
        rvm__device_code *e = c->codes;
        c->codes = e->next;
        drop(c, e);
    }
    if (c->sums) c->d->module_unload(c->sums);
}

static rvm__device_code *load_code(rvm_cuda *c, const rvm__native_kernel *k, rvm_error *err) {
    rvm__device_code *e = rvm__realloc(&c->al, NULL, 0, sizeof *e);
    char *code = rvm__realloc(&c->al, NULL, 0, k->size);
    if (!e || !code) {
        rvm__realloc(&c->al, e, sizeof *e, 0);
        rvm__realloc(&c->al, code, k->size, 0);
        rvm__fail_memory(err);
        return NULL;
    }
    memset(e, 0, sizeof *e);
    e->code = memcpy(code, k->code, k->size);
    e->size = k->size;
    if (load(c, code, &e->module, err)) return drop(c, e), NULL;
    e->next = c->codes;
    return c->codes = e;
}

static rvm__device_code *loaded(const rvm_cuda *c, const rvm__native_kernel *k) {
    for (rvm__device_code *e = c->codes; e; e = e->next)
        if (e->size == k->size && !memcmp(e->code, k->code, k->size)) return e;
    return NULL;
}

static rvm__device_code *code_of(rvm_cuda *c, const rvm__native_kernel *k, rvm_error *err) {
    rvm__device_code *e = loaded(c, k);
    return e ? e : load_code(c, k, err);
}

bool rvm__cuda_is_loaded(const rvm_cuda *c, const rvm__native_kernel *k) {
    return loaded(c, k);
}

rvm__loaded_kernel *rvm__cuda_kernel(rvm_cuda *c, const rvm__native_kernel *k, rvm_error *err) {
    rvm__device_code *e = code_of(c, k, err);
    void *f = NULL;
    if (!e) return NULL;
    for (unsigned n = 0; n < e->n; n++)
        if (!strcmp(e->kernels[n].name, k->name)) return &e->kernels[n];
    if (e->n == MOST_KERNELS) {
        rvm__fail(err, RVM_ERR_LIMIT, NULL, 0, 0, "a function has more than %d kernels", MOST_KERNELS);
        return NULL;
    }
    if (rvm__cuda_failed(c, c->d->module_function(&f, e->module, k->name), "a kernel is looked up", err)) return NULL;
    rvm__loaded_kernel *to = &e->kernels[e->n++];
    const bool enters = k->flags & RVM__KERNEL_ENTRIES; /* of these each instance has as many, used or not */
    *to = (rvm__loaded_kernel){
        .function = f, .arena = 1024, .additions = 256, .each = enters ? 4 : 64, .width = k->frame ? 1024 : 16, .met = 2};
    snprintf(to->name, sizeof to->name, "%s", k->name);
    if (c->d->function_attribute(&c->totals.registers, CUDA_REGISTERS, f)) c->totals.registers = 0;
    if (c->d->function_attribute(&to->local_bytes, CUDA_LOCAL_BYTES, f)) to->local_bytes = 0;
    c->totals.local_bytes = to->local_bytes;
    return to;
}
