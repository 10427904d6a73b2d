/* array.c: arrays that stay on the device. Each has addresses of this process, too, by which a machine knows it. Behind
 * these is nothing that may be touched until host code is to use it: then it is copied there, and, where that has changed
 * it, to the device again before the next kernel. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda.h"
#include "outside.h"
#include "support.h"

struct rvm_cuda_array {
    rvm_cuda *c;
    rvm_cuda_array *next, **link;
    uint64_t p;
    size_t n, mapped; /* elements; bytes of addresses */
    char *data;
    bool own;         /* the memory is the device's own, to be freed */
    bool here, there; /* what is right: that of the host, of the device; both, where neither has changed it since */
    bool shared;      /* by host code and blocks of the run, and changed: for each block it is an array of the host */
    bool known;       /* to the caller, who may change it on the device between runs */
    rvm__mirror *mirrors;
};

static size_t bytes_of(const rvm_cuda_array *a) {
    return a->n * sizeof(rvm_value);
}

static rvm_status make(rvm_cuda *c, uint64_t p, size_t n, rvm_cuda_array **out, rvm_error *err) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *out = NULL;
    if (n > SIZE_MAX / 16) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "an array of %zu elements is too large", n);
    rvm_cuda_array *a = rvm__realloc(&c->al, NULL, 0, sizeof *a);
    if (!a) return rvm__fail_memory(err);
    *a = (rvm_cuda_array){.c = c, .p = p, .n = n, .mapped = (n * sizeof(rvm_value) + page) / page * page, .there = true};
    void *data = mmap(NULL, a->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        rvm__realloc(&c->al, a, sizeof *a, 0);
        return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "there are no addresses for %zu elements", n);
    }
    a->data = data;
    a->next = c->arrays;
    a->link = &c->arrays;
    if (a->next) a->next->link = &a->next;
    c->arrays = a;
    *out = a;
    return RVM_OK;
}

rvm_status rvm_cuda_array_new(rvm_cuda *c, size_t n, rvm_cuda_array **out, rvm_error *err) {
    RVM__NEEDS(c, out);
    *out = NULL;
    rvm_status status = rvm__cuda_open(c, err);
    if (!status) status = make(c, 0, n, out, err);
    if (status) return status;
    rvm_cuda_array *a = *out;
    if (!rvm__cuda_enter(c))
        status = rvm__cuda_fail_lost(c, err);
    else {
        const size_t bytes = bytes_of(a) + !n;
        int code = c->d->allocate(&a->p, bytes);
        a->own = !code;
        if (!code) code = c->d->clear(a->p, 0, bytes, c->stream);
        if (rvm__cuda_failed(c, code, "an array is made", err))
            status = code == CUDA_OUT_OF_MEMORY ? RVM_ERR_MEMORY : RVM_ERR_UNSUPPORTED;
        rvm__cuda_leave(c);
    }
    if (status) rvm_cuda_array_free(a), *out = NULL;
    return status;
}

rvm_status rvm_cuda_array_wrap(rvm_cuda *c, uint64_t device_pointer, size_t n, rvm_cuda_array **out, rvm_error *err) {
    RVM__NEEDS(c, out);
    if (!device_pointer || device_pointer % sizeof(rvm_value))
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "0x%llx is no address of elements of 8 bytes",
                         (unsigned long long)device_pointer);
    *out = NULL;
    rvm_status status = rvm__cuda_open(c, err);
    if (!status) status = make(c, device_pointer, n, out, err);
    if (!status) (*out)->known = true;
    return status;
}

void rvm_cuda_array_free(rvm_cuda_array *a) {
    if (!a) return;
    rvm_cuda *c = a->c;
    *a->link = a->next;
    if (a->next) a->next->link = a->link;
    rvm__cuda_mirrors_free(c, &a->mirrors);
    munmap(a->data, a->mapped);
    if (a->own && rvm__cuda_enter(c)) {
        c->d->free(a->p);
        rvm__cuda_leave(c);
    }
    rvm__realloc(&c->al, a, sizeof *a, 0);
}

static uint64_t for_own_kernel(rvm_cuda_array *a, bool changes, rvm_error *err) {
    rvm_cuda *c = a->c;
    if (!a->there) {
        const int code = c->d->upload(a->p, a->data, bytes_of(a), c->stream);
        if (rvm__cuda_failed(c, code ? code : c->d->stream_wait(c->stream), "an array is copied to it", err)) return 0;
        c->totals.uploaded += bytes_of(a);
        a->there = true;
    }
    if (changes && a->here) mprotect(a->data, a->mapped, PROT_NONE);
    a->here &= !changes;
    if (changes) rvm__cuda_mirrors_stale(a->mirrors);
    return a->p;
}

void *rvm_cuda_array_data(rvm_cuda_array *a) {
    return a ? a->data : NULL;
}

uint64_t rvm_cuda_array_pointer(rvm_cuda_array *a) {
    rvm_error err;
    if (!a || !rvm__cuda_enter(a->c)) return a ? a->p : 0;
    const uint64_t p = for_own_kernel(a, true, &err);
    a->known = true;
    a->c->d->stream_wait(a->c->stream);
    rvm__cuda_leave(a->c);
    return p ? p : a->p;
}

/* ---- where it is ---- */

rvm_cuda_array *rvm__cuda_array_at(rvm_cuda *c, const char *p, size_t bytes, size_t *offset) {
    for (rvm_cuda_array *a = c->arrays; a; a = a->next) {
        if (p < a->data || (size_t)(p - a->data) > bytes_of(a)) continue;
        *offset = (size_t)(p - a->data);
        if (bytes <= bytes_of(a) - *offset) return a;
    }
    return NULL;
}

uint64_t rvm__cuda_array_for_kernel(rvm_cuda *on, rvm_cuda_array *a, bool changes, rvm_error *err) {
    if (on == a->c) return for_own_kernel(a, changes, err);
    if (!rvm__cuda_enter(a->c)) return rvm__cuda_fail_lost(a->c, err), 0;
    const uint64_t p = for_own_kernel(a, false, err);
    rvm__cuda_leave(a->c);
    return p ? rvm__cuda_mirror(on, &a->mirrors, p, bytes_of(a) + !a->n, err) : 0;
}

bool rvm__cuda_array_for_host(rvm_cuda_array *a, bool changes, rvm_error *err) {
    rvm_cuda *c = a->c;
    if (!a->here) {
        if (mprotect(a->data, a->mapped, PROT_READ | PROT_WRITE)) return rvm__fail_memory(err), false;
        if (c->spoilt) return rvm__cuda_fail_lost(c, err), false;
        const int code = a->n ? c->d->download(a->data, a->p, bytes_of(a), c->stream) : 0;
        if (rvm__cuda_failed(c, code ? code : c->d->stream_wait(c->stream), "an array is copied from it", err)) return false;
        c->totals.downloaded += bytes_of(a);
        a->here = true;
    }
    a->there &= !changes;
    if (changes) rvm__cuda_mirrors_stale(a->mirrors);
    return true;
}

/* What host code uses between blocks comes home in each run: what is kept of that stays there, too. */
bool rvm__cuda_array_is_there(const rvm_cuda_array *a) {
    return a->there && !a->shared;
}

bool rvm__cuda_array_is_away(const rvm_cuda_array *a) {
    return a->there && !a->here && !a->shared;
}

uint64_t rvm__cuda_array_rewrite(rvm_cuda_array *a, size_t bytes, rvm_error *err) {
    a->there |= bytes == bytes_of(a);
    return for_own_kernel(a, true, err);
}

void rvm__cuda_array_lose(rvm_cuda_array *a) {
    if (a->here) mprotect(a->data, a->mapped, PROT_NONE);
    a->here = false;
    a->there = true; /* on a device that is lost */
}

bool rvm__cuda_array_stays(const rvm_cuda_array *a) {
    return !a->shared;
}

void rvm__cuda_array_share(rvm_cuda_array *a) {
    a->shared = true;
}

/* ---- runs of a machine ---- */

/* What stands in an argument's data, or its shadow; NULL: no array of the device. */
static rvm_cuda_array *array_of(rvm_cuda *c, const rvm_arg *a, bool shadow) {
    const char *p = shadow ? (const char *)a->shadow_data : (const char *)a->data;
    size_t offset;
    return a->ndim && p && c->arrays ? rvm__cuda_array_at(c, p, 0, &offset) : NULL;
}

rvm_status rvm__cuda_bring(const rvm_machine *m, const rvm_arg *args, uint32_t n) {
    rvm_cuda *c = m->jit.device;
    rvm_error why;
    bool good = true;
    for (uint32_t k = 0; k < n && args && c->arrays; k++)
        for (int shadow = 0; shadow < 2; shadow++) {
            rvm_cuda_array *a = array_of(c, &args[k], shadow);
            if (!a || (a->here && !a->there)) continue;
            const bool entered = rvm__cuda_enter(c);
            if (!entered) mprotect(a->data, a->mapped, PROT_READ | PROT_WRITE); /* lost, but no fault */
            good = entered && rvm__cuda_array_for_host(a, true, &why) && good;
            if (entered) rvm__cuda_leave(c);
        }
    return good ? RVM_OK : RVM_ERR_UNSUPPORTED;
}

int64_t rvm__cuda_elements(const rvm_machine *m, const char *from) {
    rvm_cuda *c = m->jit.device;
    size_t offset;
    const rvm_cuda_array *a = rvm__cuda_array_at(c, from, 0, &offset);
    return a ? (int64_t)((bytes_of(a) - offset) / sizeof(rvm_value)) : -1;
}

static bool know_outside(rvm_machine *m, uint32_t fn) {
    rvm__outside *o;
    if (!rvm__outside_new(m->p, &o)) return false;
    rvm__outside_params(o, fn, m->jit.outside);
    rvm__outside_free(o);
    m->jit.outside_of = fn + 1;
    return true;
}

/* By host code and blocks alike. */
static bool is_read(const rvm_machine *m, uint32_t k, bool shadow) {
    return !shadow && m->p->functions[m->bound.entry].params[k].role == RVM_READ;
}

/* Arrays that code outside of blocks uses are the host's for the run; those that nobody changes are both's. */
rvm_status rvm__cuda_enter_run(rvm_machine *m) {
    rvm_cuda *c = m->jit.device;
    const uint32_t fn = m->bound.entry;
    rvm_error why;
    bool good = true;
    const char *why_none = rvm__why_no_kernels(m);
    if (why_none) c->totals.why_none = why_none;
    if (!c->arrays) return RVM_OK;
    if (m->jit.outside_of != fn + 1 && !know_outside(m, fn)) return RVM_ERR_MEMORY;
    if (!rvm__cuda_enter(c)) return RVM_ERR_UNSUPPORTED;
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        for (int shadow = 0; shadow < 2; shadow++) {
            rvm_cuda_array *a = array_of(c, &m->bound.args[k], shadow);
            if (!a) continue;
            if (a->known) rvm__cuda_mirrors_stale(a->mirrors);
            a->shared = m->jit.outside[k] && !is_read(m, k, shadow);
            good = (!m->jit.outside[k] || rvm__cuda_array_for_host(a, a->shared, &why)) && good;
        }
    rvm__cuda_leave(c);
    return good ? RVM_OK : RVM_ERR_UNSUPPORTED;
}

/* ---- copies of the caller's ---- */

static rvm_status check_range(const rvm_cuda_array *a, size_t first, size_t n, rvm_error *err) {
    if (first <= a->n && n <= a->n - first) return RVM_OK;
    return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "elements %zu to %zu are beyond the array's %zu", first, first + n,
                     a->n);
}

/* Of elements from `first` on; one of `from`, `to` is NULL. */
typedef struct transfer {
    size_t first, n;
    const void *from;
    void *to;
    bool waits;
} transfer;

static rvm_status run_transfer(rvm_cuda_array *a, const transfer *t, rvm_error *err) {
    const size_t first = t->first, n = t->n;
    const void *const from = t->from;
    void *const to = t->to;
    rvm_cuda *c = a->c;
    rvm_status status = check_range(a, first, n, err);
    if (status || !n) return status;
    if (!a->there) {
        memcpy(from ? a->data + first * sizeof(rvm_value) : to, from ? from : a->data + first * sizeof(rvm_value),
               n * sizeof(rvm_value));
        return RVM_OK;
    }
    if (!rvm__cuda_enter(c)) return rvm__cuda_fail_lost(c, err);
    const uint64_t p = for_own_kernel(a, from != NULL, err), at = p + first * sizeof(rvm_value);
    const size_t bytes = n * sizeof(rvm_value);
    int code = 0;
    if (!p)
        status = RVM_ERR_UNSUPPORTED;
    else
        code = from ? c->d->upload(at, from, bytes, c->stream) : c->d->download(to, at, bytes, c->stream);
    if (!code && p && t->waits) code = c->d->stream_wait(c->stream);
    if (!status && rvm__cuda_failed(c, code, "an array is copied", err)) status = RVM_ERR_UNSUPPORTED;
    if (!status) *(from ? &c->totals.uploaded : &c->totals.downloaded) += bytes;
    rvm__cuda_leave(c);
    return status;
}

rvm_status rvm_cuda_array_upload(rvm_cuda_array *a, size_t first, size_t n, const void *from, rvm_error *err) {
    RVM__NEEDS(a, from);
    return run_transfer(a, &(transfer){.first = first, .n = n, .from = from, .waits = true}, err);
}

rvm_status rvm_cuda_array_download(rvm_cuda_array *a, size_t first, size_t n, void *to, rvm_error *err) {
    RVM__NEEDS(a, to);
    return run_transfer(a, &(transfer){.first = first, .n = n, .to = to, .waits = true}, err);
}

rvm_status rvm_cuda_array_upload_async(rvm_cuda_array *a, size_t first, size_t n, const void *from, rvm_error *err) {
    RVM__NEEDS(a, from);
    return run_transfer(a, &(transfer){.first = first, .n = n, .from = from}, err);
}

rvm_status rvm_cuda_array_download_async(rvm_cuda_array *a, size_t first, size_t n, void *to, rvm_error *err) {
    RVM__NEEDS(a, to);
    return run_transfer(a, &(transfer){.first = first, .n = n, .to = to}, err);
}

rvm_status rvm_cuda_synchronize(rvm_cuda *c, rvm_error *err) {
    RVM__NEEDS(c);
    if (!c->d) return RVM_OK; /* nothing was sent to it */
    if (!rvm__cuda_enter(c)) return rvm__cuda_fail_lost(c, err);
    const bool failed = rvm__cuda_failed(c, c->d->stream_wait(c->stream), "copies are waited for", err);
    rvm__cuda_leave(c);
    return failed ? RVM_ERR_UNSUPPORTED : RVM_OK;
}
