/* place.c: what a block uses, on the device: arrays of the host, for as long as it runs, or arrays that stay. Two arrays of
 * the host that share memory, of which one is changed, would come apart there: such a block is the host's. */
#include <string.h>

#include "cuda.h"
#include "support.h"

size_t rvm__cuda_bytes(const rvm__native_view *v, uint64_t ndim) {
    size_t bytes = sizeof(rvm_value);
    for (uint64_t d = 0; d < ndim; d++) {
        if (v->dim[d] <= 0) return 0;
        bytes += (size_t)(v->dim[d] - 1) * (size_t)v->stride[d];
    }
    return bytes;
}

static bool is_changed(const rvm__kernel_view *k) {
    return k->uses & 2;
}

static bool is_whole(const rvm__native_kernel *k, uint64_t n) {
    return k->views[n].root == n;
}

static bool share_memory(const rvm__native_job *job, const rvm__place *places) {
    const rvm__native_kernel *k = job->kernel;
    for (uint64_t a = 0; a < k->nviews; a++)
        for (uint64_t b = 0; b < a; b++) {
            const char *p = job->views[a].data, *q = job->views[b].data;
            if (!is_whole(k, a) || !is_whole(k, b) || !(is_changed(&k->views[a]) || is_changed(&k->views[b]))) continue;
            if (p < q + places[b].bytes && q < p + places[a].bytes) return true;
        }
    return false;
}

bool rvm__cuda_is_there(const rvm__place *p) {
    return p->stays || p->local;
}

/* An array that stays there: as it is, and, if it may have to be, a copy of it. */
static bool find_there(rvm_cuda *c, const rvm__kernel_view *k, rvm__place *to, bool may_fail, rvm_error *err) {
    const uint64_t p = to->stays ? rvm__cuda_array_for_kernel(c, to->stays, is_changed(k), err)
                                 : rvm__cuda_local_for_kernel(c, to->local, is_changed(k), err);
    if (!p) return false;
    to->p = p + to->offset;
    if (!is_changed(k) || !may_fail) return true;
    rvm__buffer *b = rvm__cuda_take(c, to->bytes, err);
    if (!b) return false;
    if (rvm__cuda_failed(c, c->d->copy(b->p, to->p, to->bytes, c->stream), "an array is kept", err))
        return rvm__cuda_put(b), false;
    to->before = b;
    return true;
}

static bool upload(rvm_cuda *c, const rvm__native_view *v, rvm__place *to, rvm_error *err) {
    if (!(to->buffer = rvm__cuda_take(c, to->bytes, err))) return false;
    to->p = to->buffer->p;
    c->totals.uploaded += to->bytes;
    return !to->bytes ||
           !rvm__cuda_failed(c, c->d->upload(to->p, v->data, to->bytes, c->stream), "an array is copied to it", err);
}

bool rvm__cuda_places(rvm_cuda *c, const rvm__native_job *job, bool may_fail, rvm__place *places, rvm_error *err) {
    const rvm__native_kernel *k = job->kernel;
    for (uint64_t n = 0; n < k->nviews; n++) {
        places[n] = (rvm__place){.bytes = rvm__cuda_bytes(&job->views[n], k->views[n].ndim)};
        if (is_whole(k, n) && places[n].bytes)
            places[n].stays = rvm__cuda_array_at(c->first, job->views[n].data, places[n].bytes, &places[n].offset);
        if (places[n].stays && !rvm__cuda_array_stays(places[n].stays)) places[n].stays = NULL;
        if (is_whole(k, n) && places[n].bytes && !places[n].stays)
            places[n].local = rvm__cuda_local_at(c->first, job->views[n].data, places[n].bytes, &places[n].offset);
        if (c->first->lost) places[n].local = NULL; /* it is the host's */
    }
    if (share_memory(job, places)) {
        rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "arrays share memory, and one is changed");
        return false;
    }
    for (uint64_t n = 0; n < k->nviews; n++) /* copying it back may fail, too */
        may_fail |= is_whole(k, n) && is_changed(&k->views[n]) && places[n].bytes && !rvm__cuda_is_there(&places[n]);
    for (uint64_t n = 0; n < k->nviews; n++) {
        if (!is_whole(k, n)) continue;
        if (rvm__cuda_is_there(&places[n]) ? !find_there(c, &k->views[n], &places[n], may_fail, err)
                                           : !upload(c, &job->views[n], &places[n], err))
            return false;
    }
    return true;
}

static bool take_back(rvm_cuda *c, const rvm__native_job *job, const rvm__place *places, rvm_error *err) {
    for (uint64_t n = 0; n < job->kernel->nviews; n++)
        if (places[n].before && rvm__cuda_is_there(&places[n]) &&
            rvm__cuda_failed(c, c->d->copy(places[n].p, places[n].before->p, places[n].bytes, c->stream),
                             "an array is taken back", err))
            return false;
    return !rvm__cuda_failed(c, c->d->stream_wait(c->stream), "an array is taken back", err);
}

bool rvm__cuda_take_back(rvm_cuda *c, const rvm__native_job *job, const rvm__place *places, rvm_error *err) {
    bool any = false;
    for (uint64_t n = 0; n < job->kernel->nviews; n++) any |= places[n].before && rvm__cuda_is_there(&places[n]);
    if (take_back(c, job, places, err)) return true;
    if (any) rvm__cuda_spoil(c);
    return false;
}

static bool comes_back(const rvm__native_kernel *k, const rvm__place *places, uint64_t n) {
    return is_whole(k, n) && is_changed(&k->views[n]) && places[n].buffer && places[n].bytes;
}

char *rvm__cuda_staging(rvm_cuda *c, size_t bytes, rvm_error *err) {
    if (bytes <= c->staging_size) return c->staging;
    void *p = NULL;
    if (rvm__cuda_failed(c, c->d->allocate_host(&p, bytes), "memory is taken", err)) return NULL;
    if (c->staging) c->d->free_host(c->staging);
    c->staging = p;
    c->staging_size = bytes;
    return p;
}

void rvm__cuda_locals_changed(const rvm__native_kernel *k, const rvm__place *places) {
    for (uint64_t n = 0; n < k->nviews; n++)
        if (is_whole(k, n) && is_changed(&k->views[n]) && places[n].local)
            places[n].local->on_host = places[n].local->zero = false;
}

/* All that was changed, or nothing of it. */
static bool bring_back(rvm_cuda *c, const rvm__native_job *job, const rvm__place *places, rvm_error *err) {
    const rvm__native_kernel *k = job->kernel;
    size_t bytes = 0, at = 0;
    for (uint64_t n = 0; n < k->nviews; n++)
        if (comes_back(k, places, n)) bytes += places[n].bytes;
    char *to = bytes ? rvm__cuda_staging(c, bytes, err) : NULL;
    if (bytes && !to) return false;
    for (uint64_t n = 0; n < k->nviews; n++) {
        if (!comes_back(k, places, n)) continue;
        if (rvm__cuda_failed(c, c->d->download(to + at, places[n].p, places[n].bytes, c->stream),
                             "an array is copied from it", err))
            return false;
        at += places[n].bytes;
    }
    if (rvm__cuda_failed(c, c->d->stream_wait(c->stream), "arrays are copied from it", err)) return false;
    at = 0;
    for (uint64_t n = 0; n < k->nviews; n++) {
        if (!comes_back(k, places, n)) continue;
        memcpy(job->views[n].data, to + at, places[n].bytes);
        at += places[n].bytes;
    }
    rvm__cuda_locals_changed(k, places);
    c->totals.downloaded += bytes;
    return true;
}

bool rvm__cuda_return(rvm_cuda *c, const rvm__native_job *job, rvm__place *places, bool taken_back, rvm_error *err) {
    rvm_error why;
    const bool good = taken_back ? rvm__cuda_take_back(c, job, places, &why) : bring_back(c, job, places, err);
    if (!good && !taken_back) rvm__cuda_take_back(c, job, places, &why);
    for (uint64_t n = 0; n < job->kernel->nviews; n++) {
        rvm__cuda_put(places[n].buffer);
        rvm__cuda_put(places[n].before);
    }
    return good;
}
