/* merge.c: what several devices changed, put together.
 *
 * Each began with the array as it was, and has changed what its instances own or add to. An element that one of them has
 * changed is as that one has it. Only sums in no order, and those of whole numbers, are changed by several: what each
 * has gained is added. Sums that have an order are not in the arrays: what each chunk adds comes by itself.
 *
 * All that comes to the host, in parts that have changed. Of an array that stays on the first device a part that one other
 * device has changed goes there from that one; a part that several have changed, or that has sums of chunks, is put together
 * on the host, from an image of what it was, and goes back. */
#include "cuda.h"
#include "support.h"

/* ---- parts ---- */

static const size_t part_bytes = RVM__CHANGED_PART * sizeof(rvm_value);

/* Of the array's n-th part. */
static size_t bytes_of_part(const rvm__place *p, uint64_t n) {
    const size_t left = p->bytes - n * part_bytes;
    return left < part_bytes ? left : part_bytes;
}

typedef bool kind(const rvm__place *p, uint64_t n);

/* It is put together on the host, though the array stays: image[n] - 1 bytes behind where the first device's staging begins.
 */
static bool has_image(const rvm__place *p, uint64_t n) {
    return p->image && p->image[n];
}

static bool comes(const rvm__place *p, uint64_t n) {
    return rvm__cuda_part_changed(p, n) && (!rvm__cuda_is_there(p) || has_image(p, n));
}

static bool goes_across(const rvm__place *p, uint64_t n) {
    return rvm__cuda_part_changed(p, n) && rvm__cuda_is_there(p) && !has_image(p, n);
}

/* The bytes of the next parts of that kind that stand side by side, from *n on; *first: the first; *n is behind the last. 0:
 * there are none. */
static size_t next_parts(const rvm__place *p, kind *is, uint64_t *n, uint64_t *first) {
    const uint64_t parts = rvm__cuda_parts(p);
    size_t bytes = 0;
    while (*n < parts && !is(p, *n)) ++*n;
    for (*first = *n; *n < parts && is(p, *n); ++*n) bytes += bytes_of_part(p, *n);
    return bytes;
}

/* Whether the block changes the view, and it stays, or does not. */
static bool is_changed(const rvm__block_run *r, uint64_t v, bool there) {
    return rvm__cuda_is_changed(r, v) && rvm__cuda_is_there(&r->places[v]) == there;
}

static size_t bytes_of(const rvm__block_run *r, kind *is) {
    size_t bytes = 0, some;
    for (uint64_t v = 0; v < r->k->nviews; v++)
        for (uint64_t n = 0, first; rvm__cuda_is_changed(r, v) && (some = next_parts(&r->places[v], is, &n, &first));)
            bytes += some;
    return bytes;
}

/* ---- images ---- */

/* All devices see them. */
static bool make_images(rvm__block_run *runs, unsigned n) {
    for (uint64_t v = 0; v < runs->k->nviews; v++) {
        if (!is_changed(runs, v, true)) continue;
        const uint64_t parts = rvm__cuda_parts(&runs->places[v]);
        uint64_t *image = rvm__realloc(&runs->c->al, NULL, 0, parts * sizeof *image);
        if (!image) return rvm__fail_memory(runs->err), false;
        for (uint64_t part = 0; part < parts; part++) {
            unsigned changed = 0;
            for (unsigned d = 0; d < n; d++) changed += rvm__cuda_part_changed(&runs[d].places[v], part);
            image[part] = changed > 1;
        }
        for (unsigned d = 0; d < n; d++) runs[d].places[v].image = image;
    }
    return true;
}

static void free_images(rvm__block_run *runs, unsigned n) {
    for (uint64_t v = 0; v < runs->k->nviews; v++) {
        rvm__place *p = &runs->places[v];
        if (p->image) rvm__realloc(&runs->c->al, p->image, rvm__cuda_parts(p) * sizeof *p->image, 0);
        for (unsigned d = 0; d < n; d++) runs[d].places[v].image = NULL;
    }
}

static void want_sums(const rvm__block_run *r) {
    for (const rvm__chunk_sums *s = r->chunks; s; s = s->next)
        for (uint64_t e = 0; e < s->nelements; e++) {
            const rvm__place *p = &r->places[s->to[e].view];
            if (p->image) p->image[s->to[e].offset / part_bytes] = 1;
        }
}

static void lay_out_images(const rvm__block_run *first) {
    size_t at = 1;
    for (uint64_t v = 0; v < first->k->nviews; v++)
        for (uint64_t n = 0; first->places[v].image && n < rvm__cuda_parts(&first->places[v]); n++) {
            if (!has_image(&first->places[v], n)) continue;
            first->places[v].image[n] = at;
            at += bytes_of_part(&first->places[v], n);
        }
}

static bool take_images(rvm__block_run *runs, unsigned n) {
    if (!make_images(runs, n)) return false;
    for (unsigned d = 0; d < n; d++) want_sums(&runs[d]);
    lay_out_images(runs);
    return true;
}

/* ---- to the host ---- */

/* Of an array that stands there; *to is behind them then. */
static bool download_parts(const rvm__block_run *r, const rvm__place *p, uint64_t array, kind *is, char **to) {
    size_t bytes;
    for (uint64_t n = 0, first; (bytes = next_parts(p, is, &n, &first)); *to += bytes) {
        const int code = r->c->d->download(*to, array + first * part_bytes, bytes, r->c->stream);
        if (rvm__cuda_failed(r->c, code, "an array is copied from it", r->err)) return false;
    }
    return true;
}

static size_t bytes_of_images(const rvm__block_run *r) {
    return r->c == r->c->first ? bytes_of(r, has_image) : 0;
}

/* Into the device's staging, one behind the other: of the first, images; arrays that stay; arrays of the host. */
static bool download(rvm__block_run *r) {
    const size_t images = bytes_of_images(r), bytes = images + bytes_of(r, comes);
    char *to = bytes ? rvm__cuda_staging(r->c, bytes, r->err) : NULL;
    if (bytes && !to) return false;
    for (uint64_t v = 0; v < r->k->nviews && images; v++) {
        const rvm__place *p = &r->places[v];
        if (is_changed(r, v, true) && !download_parts(r, p, p->before->p, has_image, &to)) return false;
    }
    for (int there = 1; there >= 0; there--)
        for (uint64_t v = 0; v < r->k->nviews; v++)
            if (is_changed(r, v, there) && !download_parts(r, &r->places[v], r->places[v].p, comes, &to)) return false;
    r->c->totals.downloaded += bytes;
    return true;
}

static bool wait(rvm__block_run *r) {
    return !rvm__cuda_failed(r->c, r->c->d->stream_wait(r->c->stream), "arrays are copied from it", r->err);
}

/* ---- there ---- */

typedef struct merging {
    const rvm__block_run *runs;
    unsigned n;
    const char *at[RVM_CUDA_MAX_DEVICES]; /* where each device's staging has come to */
} merging;

static char *image_of(const rvm__block_run *first, const rvm__place *p, uint64_t part) {
    return (char *)first->c->staging + (p->image[part] - 1);
}

/* Where on the host those bytes of the array are put together. */
static rvm_value *home(const rvm__block_run *first, uint64_t v, uint64_t offset) {
    const rvm__place *p = &first->places[v];
    char *to = rvm__cuda_is_there(p) ? image_of(first, p, offset / part_bytes) + offset % part_bytes
                                     : first->job->views[v].data + offset;
    return (rvm_value *)(void *)to;
}

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

static void merge_array(merging *m, uint64_t v) {
    const rvm_value *from[RVM_CUDA_MAX_DEVICES];
    const rvm__place *p = &m->runs->places[v];
    for (uint64_t part = 0; part < rvm__cuda_parts(p); part++) {
        const size_t bytes = bytes_of_part(p, part);
        unsigned some = 0;
        for (unsigned d = 0; d < m->n; d++) {
            if (!comes(&m->runs[d].places[v], part)) continue;
            from[some++] = (const rvm_value *)(const void *)m->at[d];
            m->at[d] += bytes;
        }
        if (some)
            merge_part(home(m->runs, v, part * part_bytes), from, some, bytes / sizeof(rvm_value),
                       (rvm_type)m->runs->k->views[v].type);
    }
}

static void add_chunks(const merging *m, const rvm__block_run *r, bool there) {
    for (const rvm__chunk_sums *s = r->chunks; s; s = s->next) {
        for (uint64_t e = 0; e < s->nelements; e++) {
            rvm__gaining *to = &s->to[e];
            to->home = is_changed(r, to->view, there) ? home(m->runs, to->view, to->offset) : NULL;
        }
        for (uint64_t c = 0; c < s->nchunks; c++)
            for (uint64_t e = 0; e < s->nelements; e++)
                if (s->to[e].home) s->to[e].home->f += s->sums[c * s->nelements + e];
    }
}

static merging begin(const rvm__block_run *runs, unsigned n) {
    merging m = {.runs = runs, .n = n};
    for (unsigned d = 0; d < n; d++) m.at[d] = (char *)runs[d].c->staging + bytes_of_images(&runs[d]);
    return m;
}

/* Those that stay before those that do not. */
static void merge_arrays(merging *m, bool there) {
    for (uint64_t v = 0; v < m->runs->k->nviews; v++)
        if (is_changed(m->runs, v, there)) merge_array(m, v);
    for (unsigned k = 0; k < m->n; k++) add_chunks(m, &m->runs[m->runs->job->ascending ? k : m->n - 1 - k], there);
}

/* ---- to the first device ---- */

static bool send_images(const rvm__block_run *r) {
    size_t bytes;
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        const rvm__place *p = &r->places[v];
        for (uint64_t n = 0, first; is_changed(r, v, true) && (bytes = next_parts(p, has_image, &n, &first));) {
            const int code = r->c->d->upload(p->p + first * part_bytes, image_of(r, p, first), bytes, r->c->stream);
            if (rvm__cuda_failed(r->c, code, "an array is copied to it", r->err)) return false;
            r->c->totals.uploaded += bytes;
        }
    }
    return true;
}

static bool copy_across(const rvm__block_run *to, const rvm__block_run *from) {
    rvm_cuda *c = to->c;
    size_t bytes;
    for (uint64_t v = 0; v < to->k->nviews; v++) {
        const rvm__place *p = &from->places[v];
        for (uint64_t n = 0, first; is_changed(to, v, true) && (bytes = next_parts(p, goes_across, &n, &first));) {
            const uint64_t at = first * part_bytes;
            const int code =
                c->d->copy_across(to->places[v].p + at, c->context, p->p + at, from->c->context, bytes, c->stream);
            if (rvm__cuda_failed(c, code, "an array is copied from another device", to->err)) return false;
            c->totals.across += bytes;
        }
    }
    return true;
}

static bool send(rvm__block_run *runs, unsigned n) {
    if (!rvm__cuda_changes_what_stays(runs)) return true;
    if (!rvm__cuda_enter(runs->c)) return false;
    bool good = send_images(runs);
    for (unsigned d = 1; d < n && good; d++) good = copy_across(runs, &runs[d]);
    good = good && wait(runs);
    rvm__cuda_leave(runs->c);
    return good;
}

/* ---- all ---- */

static bool merge(rvm__block_run *runs, unsigned n) {
    if (!rvm__cuda_on_each(runs, n, download) || !rvm__cuda_on_each(runs, n, wait)) return false;
    merging m = begin(runs, n);
    merge_arrays(&m, true);
    if (!send(runs, n)) return false;
    merge_arrays(&m, false);
    rvm__cuda_locals_changed(runs->k, runs->places);
    return true;
}

bool rvm__cuda_merge(rvm__block_run *runs, unsigned n) {
    if (!rvm__cuda_on_each(runs, n, rvm__cuda_find_changes) || !rvm__cuda_on_each(runs, n, wait)) return false;
    const bool good = take_images(runs, n) && merge(runs, n);
    free_images(runs, n);
    return good;
}
