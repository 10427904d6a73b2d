/* log.c: what instances add to elements, addition by addition, in their order (sums.cu). All instances add to the same
 * elements, so that an addition stands for one element: which, the first instance tells. Additions to the same element are
 * listed together, for as long as they are the same ones. */
#include <string.h>

#include "cuda.h"
#include "support.h"

static bool failed(const rvm__block_run *r, int code, const char *doing) {
    return rvm__cuda_failed(r->c, code, doing, r->err);
}

uint64_t rvm__cuda_most_logged(const rvm__block_run *r) {
    const uint64_t room = UINT64_C(1) << 30;
    if (!(r->k->flags & RVM__KERNEL_LOGS)) return UINT64_MAX;
    const uint64_t n = room / sizeof(double) / r->kernel->additions / RVM__CHUNK * RVM__CHUNK;
    return n ? n : RVM__CHUNK;
}

bool rvm__cuda_take_log(rvm__block_run *r, uint64_t n) {
    if (!(r->k->flags & RVM__KERNEL_LOGS)) return true;
    rvm__cuda_put(r->log);
    rvm__cuda_put(r->addresses);
    r->log = rvm__cuda_take(r->c, r->kernel->additions * n * sizeof(double), r->err);
    r->addresses = rvm__cuda_take(r->c, r->kernel->additions * sizeof(uint64_t), r->err);
    if (!r->log || !r->addresses) return false;
    const size_t bytes = r->kernel->additions * sizeof(uint64_t); /* nested, some are not used: */
    return !r->k->frame || !failed(r, r->c->d->clear(r->addresses->p, 0, bytes, r->c->stream), "additions are kept");
}

/* ---- which additions are to the same element ---- */

typedef struct grouping {
    uint64_t n, nelements, cap; /* cap: of the table, a power of 2 */
    uint64_t *elements;         /* addresses */
    uint32_t *from, *list, *of; /* of: by addition, its element */
    uint32_t *table;            /* by a hash of its address, 1 + an element */
} grouping;

static uint32_t element_of(grouping *g, uint64_t address) {
    uint64_t at = (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    for (at = at >> 32 & (g->cap - 1); g->table[at]; at = (at + 1) & (g->cap - 1))
        if (g->elements[g->table[at] - 1] == address) return g->table[at] - 1;
    g->elements[g->nelements++] = address;
    g->table[at] = (uint32_t)g->nelements;
    return g->table[at] - 1;
}

/* from: where each element's additions begin in the list; in it they stand in their order. An address of 0: there is none.
 */
static void group(grouping *g, const uint64_t *addresses) {
    uint32_t used = 0;
    for (uint64_t s = 0; s < g->n; s++)
        if (addresses[s]) g->from[1 + (g->of[s] = element_of(g, addresses[s]))]++, used++;
    for (uint64_t e = 0; e < g->nelements; e++) g->from[e + 1] += g->from[e];
    for (uint64_t s = g->n; s-- > 0;)
        if (addresses[s]) g->list[--g->from[g->of[s] + 1]] = (uint32_t)s;
    for (uint64_t e = 0; e < g->nelements; e++) g->from[e] = g->from[e + 1];
    g->from[g->nelements] = used;
}

/* elements | from | list, as they are on the device; the rest is behind. */
static size_t bytes_of_lists(uint64_t n) {
    return n * sizeof(uint64_t) + (n + 2 + n) * sizeof(uint32_t);
}

static bool make_lists(rvm__block_run *r, const uint64_t *addresses, uint64_t n) {
    rvm__loaded_kernel *k = r->kernel;
    grouping g = {.n = n, .cap = 64};
    while (g.cap < 2 * n) g.cap *= 2;
    const size_t lists = bytes_of_lists(n), size = lists + (n + g.cap) * sizeof(uint32_t);
    char *room = rvm__realloc(&r->c->al, NULL, 0, size);
    if (!room) return rvm__fail_memory(r->err), false;
    memset(room, 0, size);
    g.elements = (uint64_t *)(void *)room;
    g.from = (uint32_t *)(void *)(g.elements + n);
    g.list = g.from + n + 2;
    g.of = g.list + n;
    g.table = g.of + n;
    group(&g, addresses);
    rvm__cuda_put(k->lists);
    k->lists = rvm__cuda_take(r->c, lists, r->err);
    k->nelements = g.nelements;
    memcpy(k->addresses + n, g.elements, g.nelements * sizeof *g.elements);
    const bool good = k->lists && !failed(r, r->c->d->upload(k->lists->p, room, lists, r->c->stream), "sums begin") &&
                      !failed(r, r->c->d->stream_wait(r->c->stream), "sums begin");
    rvm__realloc(&r->c->al, room, size, 0);
    return good;
}

/* The lists are those of these additions. */
static bool know_lists(rvm__block_run *r, uint64_t n) {
    rvm_cuda *c = r->c;
    rvm__loaded_kernel *k = r->kernel;
    const size_t bytes = n * sizeof(uint64_t);
    uint64_t *now = rvm__realloc(&c->al, NULL, 0, 2 * bytes);
    if (!now) return rvm__fail_memory(r->err), false;
    bool good = !failed(r, c->d->download(now, r->addresses->p, bytes, c->stream), "sums begin") &&
                !failed(r, c->d->stream_wait(c->stream), "a kernel runs");
    if (good && k->lists && k->naddresses == n && !memcmp(k->addresses, now, bytes)) {
        rvm__realloc(&c->al, now, 2 * bytes, 0);
        return true;
    }
    rvm__realloc(&c->al, k->addresses, 2 * k->naddresses * sizeof(uint64_t), 0);
    k->addresses = now;
    k->naddresses = n;
    good = good && make_lists(r, now, n);
    if (!good) rvm__cuda_put(k->lists), k->lists = NULL;
    return good;
}

/* ---- what chunks add, for somebody else (merge.c) ---- */

/* Of which array the element is that has that address; false: of none. */
static bool find_element(const rvm__block_run *r, uint64_t address, rvm__gaining *to) {
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        const rvm__place *p = &r->places[v];
        if (r->k->views[v].root != v || address < p->p || address - p->p >= p->bytes) continue;
        *to = (rvm__gaining){.view = v, .offset = address - p->p};
        return true;
    }
    return false;
}

static rvm__chunk_sums *new_sums(rvm__block_run *r, uint64_t nchunks, uint64_t nelements) {
    const size_t head = sizeof(rvm__chunk_sums) + nelements * sizeof(rvm__gaining);
    const size_t size = head + nchunks * nelements * sizeof(double);
    rvm__chunk_sums *s = rvm__realloc(&r->c->al, NULL, 0, size);
    if (!s) return rvm__fail_memory(r->err), NULL;
    *s = (rvm__chunk_sums){.size = size, .nchunks = nchunks, .nelements = nelements, .to = (rvm__gaining *)(void *)(s + 1)};
    s->sums = (double *)(void *)((char *)s + head);
    *r->last_chunks = s;
    r->last_chunks = &s->next;
    return s;
}

static bool take_chunk_sums(rvm__block_run *r, uint64_t n) {
    const rvm__loaded_kernel *k = r->kernel;
    rvm__chunk_sums *s = new_sums(r, (n + RVM__CHUNK - 1) / RVM__CHUNK, k->nelements);
    if (!s) return false;
    rvm__cuda_put(r->chunk_sums);
    for (uint64_t e = 0; e < s->nelements; e++)
        if (!find_element(r, k->addresses[k->naddresses + e], &s->to[e]))
            return rvm__fail(r->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "it adds to what is in none of its arrays"), false;
    return (r->chunk_sums = rvm__cuda_take(r->c, s->nchunks * s->nelements * sizeof(double), r->err));
}

static bool fetch_chunk_sums(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    for (rvm__chunk_sums *s = r->chunks; s; s = s->next)
        if (!s->next &&
            failed(r, c->d->download(s->sums, r->chunk_sums->p, s->nchunks * s->nelements * sizeof(double), c->stream),
                   "sums are copied from it"))
            return false;
    return true;
}

void rvm__cuda_free_chunk_sums(rvm__block_run *r) {
    for (rvm__chunk_sums *s; (s = r->chunks);) {
        r->chunks = s->next;
        rvm__realloc(&r->c->al, s, s->size, 0);
    }
    rvm__cuda_put(r->chunk_sums);
    r->chunk_sums = NULL;
}

/* ---- all ---- */

bool rvm__cuda_sum_log(rvm__block_run *r, uint64_t n) {
    enum { GROUPS = 8, THREADS = 256 }; /* sums.cu */
    rvm_cuda *c = r->c;
    const rvm__loaded_kernel *k = r->kernel;
    const uint64_t additions = c->control->additions;
    if (!additions) return true;
    if (!know_lists(r, additions) || (r->apart && !take_chunk_sums(r, n))) return false;
    uint64_t to = k->lists->p, from = to + additions * sizeof(uint64_t), list = from + (additions + 2) * sizeof(uint32_t);
    uint64_t log = r->log->p, count = n, up = r->job->ascending != 0, elements = k->nelements;
    uint64_t chunks = r->apart ? r->chunk_sums->p : 0;
    void *params[] = {&to, &from, &list, &log, &count, &up, &elements, &chunks};
    return !failed(r,
                   c->d->launch(c->sum_log, (unsigned)((elements + GROUPS - 1) / GROUPS), 1, 1, THREADS, 1, 1, 0, c->stream,
                                params, NULL),
                   "sums are launched") &&
           (!r->apart || fetch_chunk_sums(r));
}
