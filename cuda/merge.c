/* merge.c: what several devices changed of the host's arrays, put together there.
 *
 * Each began with the array as it was, and has changed what its instances own or add to. An element that one of them has
 * changed is as that one has it. Only sums in no order, and those of whole numbers, are changed by several: what each
 * has gained is added. Sums that have an order are not in the arrays: what each chunk adds comes by itself. */
#include <string.h>

#include "cuda.h"
#include "support.h"

static bool comes_back(const rvm__block_run *r, uint64_t v) {
    return r->k->views[v].root == v && r->k->views[v].uses & 2 && r->places[v].buffer && r->places[v].bytes;
}

static size_t bytes_back(const rvm__block_run *r) {
    size_t bytes = 0;
    for (uint64_t v = 0; v < r->k->nviews; v++)
        if (comes_back(r, v)) bytes += r->places[v].bytes;
    return bytes;
}

/* ---- to the host ---- */

/* Into the device's staging, one array behind the other. */
static bool download(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    const size_t bytes = bytes_back(r);
    char *to = bytes ? rvm__cuda_staging(c, bytes, r->err) : NULL;
    if (bytes && !to) return false;
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        if (!comes_back(r, v)) continue;
        const int code = c->d->download(to, r->places[v].p, r->places[v].bytes, c->stream);
        if (rvm__cuda_failed(c, code, "an array is copied from it", r->err)) return false;
        to += r->places[v].bytes;
    }
    c->totals.downloaded += bytes;
    return true;
}

static bool wait(rvm__block_run *r) {
    return !rvm__cuda_failed(r->c, r->c->d->stream_wait(r->c->stream), "arrays are copied from it", r->err);
}

/* ---- there ---- */

static rvm_value gained(rvm_type type, rvm_value so_far, rvm_value is, rvm_value was) {
    if (rvm__is_floating(type))
        so_far.f += is.f - was.f;
    else
        so_far.i = (int64_t)((uint64_t)so_far.i + (uint64_t)is.i - (uint64_t)was.i);
    return so_far;
}

static void merge_array(rvm_value *to, const rvm_value *const *from, unsigned n, size_t elements, rvm_type type) {
    for (size_t e = 0; e < elements; e++) {
        const rvm_value was = to[e];
        bool changed = false;
        for (unsigned k = 0; k < n; k++) {
            const rvm_value is = from[k][e];
            if (is.i == was.i) continue;
            to[e] = changed ? gained(type, to[e], is, was) : is;
            changed = true;
        }
    }
}

static void merge_arrays(const rvm__block_run *runs, unsigned n) {
    const rvm_value *from[RVM_CUDA_MAX_DEVICES];
    const rvm__native_kernel *k = runs->k;
    size_t at = 0;
    for (uint64_t v = 0; v < k->nviews; v++) {
        if (!comes_back(runs, v)) continue;
        const size_t bytes = runs->places[v].bytes;
        for (unsigned d = 0; d < n; d++) from[d] = (const rvm_value *)(const void *)((const char *)runs[d].c->staging + at);
        merge_array((rvm_value *)(void *)runs->job->views[v].data, from, n, bytes / sizeof(rvm_value),
                    (rvm_type)k->views[v].type);
        at += bytes;
    }
}

static void add_chunks(const rvm__block_run *r) {
    for (const rvm__chunk_sums *s = r->chunks; s; s = s->next)
        for (uint64_t c = 0; c < s->nchunks; c++)
            for (uint64_t e = 0; e < s->nelements; e++) s->to[e]->f += s->sums[c * s->nelements + e];
}

bool rvm__cuda_merge(rvm__block_run *runs, unsigned n) {
    if (!rvm__cuda_on_each(runs, n, download) || !rvm__cuda_on_each(runs, n, wait)) return false;
    merge_arrays(runs, n);
    for (unsigned k = 0; k < n; k++) add_chunks(&runs[runs->job->ascending ? k : n - 1 - k]);
    return true;
}
