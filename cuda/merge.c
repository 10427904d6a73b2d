/* merge.c: what several devices changed of the host's arrays, put together there.
 *
 * Each began with the array as it was, and has changed what its instances own or add to. An element that one of them has
 * changed is as that one has it. Only sums in no order, and those of whole numbers, are changed by several: what each
 * has gained is added. Sums that have an order are not in the arrays: what each chunk adds comes by itself. */
#include "cuda.h"
#include "support.h"

/* ---- to the host ---- */

/* Of the array's n-th part. */
static size_t bytes_of_part(const rvm__place *p, uint64_t n) {
    const size_t each = RVM__CHANGED_PART * sizeof(rvm_value), left = p->bytes - n * each;
    return left < each ? left : each;
}

static size_t bytes_back(const rvm__block_run *r) {
    size_t bytes = 0;
    for (uint64_t v = 0; v < r->k->nviews; v++)
        for (uint64_t n = 0; rvm__cuda_comes_back(r, v) && n < rvm__cuda_parts(&r->places[v]); n++)
            if (rvm__cuda_part_changed(&r->places[v], n)) bytes += bytes_of_part(&r->places[v], n);
    return bytes;
}

/* Parts side by side at once; *to is behind them then. */
static bool download_array(const rvm__block_run *r, const rvm__place *p, char **to) {
    const size_t each = RVM__CHANGED_PART * sizeof(rvm_value);
    for (uint64_t n = 0, from, parts = rvm__cuda_parts(p); n < parts; n++) {
        size_t bytes = 0;
        for (from = n; n < parts && rvm__cuda_part_changed(p, n); n++) bytes += bytes_of_part(p, n);
        if (!bytes) continue;
        const int code = r->c->d->download(*to, p->p + from * each, bytes, r->c->stream);
        if (rvm__cuda_failed(r->c, code, "an array is copied from it", r->err)) return false;
        *to += bytes;
    }
    return true;
}

/* Into the device's staging, one array behind the other. */
static bool download(rvm__block_run *r) {
    const size_t bytes = bytes_back(r);
    char *to = bytes ? rvm__cuda_staging(r->c, bytes, r->err) : NULL;
    if (bytes && !to) return false;
    for (uint64_t v = 0; v < r->k->nviews; v++)
        if (rvm__cuda_comes_back(r, v) && !download_array(r, &r->places[v], &to)) return false;
    r->c->totals.downloaded += bytes;
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

/* from: what came back of that, of n devices. */
static void merge_part(rvm_value *to, const rvm_value *const *from, unsigned n, size_t elements, rvm_type type) {
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

/* at: where each device's staging has come to. */
static void merge_array(const rvm__block_run *runs, unsigned n, uint64_t v, const char **at) {
    const rvm_value *from[RVM_CUDA_MAX_DEVICES];
    const rvm__place *p = &runs->places[v];
    char *to = runs->job->views[v].data;
    for (uint64_t part = 0; part < rvm__cuda_parts(p); part++, to += RVM__CHANGED_PART * sizeof(rvm_value)) {
        const size_t bytes = bytes_of_part(p, part);
        unsigned some = 0;
        for (unsigned d = 0; d < n; d++) {
            if (!rvm__cuda_part_changed(&runs[d].places[v], part)) continue;
            from[some++] = (const rvm_value *)(const void *)at[d];
            at[d] += bytes;
        }
        merge_part((rvm_value *)(void *)to, from, some, bytes / sizeof(rvm_value), (rvm_type)runs->k->views[v].type);
    }
}

static void merge_arrays(const rvm__block_run *runs, unsigned n) {
    const char *at[RVM_CUDA_MAX_DEVICES];
    for (unsigned d = 0; d < n; d++) at[d] = runs[d].c->staging;
    for (uint64_t v = 0; v < runs->k->nviews; v++)
        if (rvm__cuda_comes_back(runs, v)) merge_array(runs, n, v, at);
}

static void add_chunks(const rvm__block_run *r) {
    for (const rvm__chunk_sums *s = r->chunks; s; s = s->next)
        for (uint64_t c = 0; c < s->nchunks; c++)
            for (uint64_t e = 0; e < s->nelements; e++) s->to[e]->f += s->sums[c * s->nelements + e];
}

bool rvm__cuda_merge(rvm__block_run *runs, unsigned n) {
    if (!rvm__cuda_on_each(runs, n, rvm__cuda_find_changes) || !rvm__cuda_on_each(runs, n, wait)) return false;
    if (!rvm__cuda_on_each(runs, n, download) || !rvm__cuda_on_each(runs, n, wait)) return false;
    merge_arrays(runs, n);
    for (unsigned k = 0; k < n; k++) add_chunks(&runs[runs->job->ascending ? k : n - 1 - k]);
    return true;
}
