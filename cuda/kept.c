/* kept.c: copies of arrays that stay on the device, there: what a derivative has to give back, or to compare with what came
 * back. They are known by machine and number. */
#include <string.h>

#include "cuda.h"
#include "machine.h"
#include "support.h"

struct rvm__kept {
    struct rvm__kept *next;
    const rvm_machine *m;
    uint32_t number;
    size_t n;
    rvm__buffer *buffer; /* NULL: each element is `all` */
    rvm_value all, *to;  /* to: of the host's, where they go if they are fetched */
};
enum { CTA = 256, MOST = 1024 };

static struct rvm__kept *find(const rvm_cuda *c, const rvm_machine *m, uint32_t number) {
    for (struct rvm__kept *k = c->kept; k; k = k->next)
        if (k->m == m && k->number == number) return k;
    return NULL;
}

static void drop(rvm_cuda *c, struct rvm__kept **link) {
    struct rvm__kept *k = *link;
    *link = k->next;
    rvm__cuda_put(k->buffer);
    rvm__realloc(&c->al, k, sizeof *k, 0);
}

void rvm__cuda_kept_free(rvm_cuda *c) {
    while (c->kept) drop(c, &c->kept);
}

static void forget(rvm_machine *m, uint32_t from, uint32_t to) {
    rvm_cuda *c = m->jit.device;
    for (struct rvm__kept **link = &c->kept; *link;)
        if ((*link)->m == m && (*link)->number >= from && (*link)->number < to)
            drop(c, link);
        else
            link = &(*link)->next;
}

static rvm_cuda_array *array_there(rvm_cuda *c, const char *data, size_t n, size_t *offset) {
    rvm_cuda_array *a = c->arrays ? rvm__cuda_array_at(c, data, n * sizeof(rvm_value), offset) : NULL;
    return a && rvm__cuda_array_is_there(a) ? a : NULL;
}

static rvm__buffer *copied(rvm_cuda *c, uint64_t p, size_t bytes) {
    rvm_error why;
    rvm__buffer *b = rvm__cuda_take(c, bytes, &why);
    if (b && rvm__cuda_failed(c, c->d->copy(b->p, p, bytes, c->stream), "an array is kept", &why))
        return rvm__cuda_put(b), NULL;
    return b;
}

static bool keep(rvm_machine *m, uint32_t number, const char *data, size_t n, const rvm_value *all, rvm_value *to) {
    rvm_cuda *c = m->jit.device;
    rvm_error why;
    size_t offset;
    rvm_cuda_array *a = array_there(c, data, n, &offset);
    if (!a || !rvm__cuda_enter(c)) return false;
    struct rvm__kept *k = rvm__realloc(&c->al, NULL, 0, sizeof *k);
    if (k) *k = (struct rvm__kept){.next = c->kept, .m = m, .number = number, .n = n, .to = to};
    if (k && all) k->all = *all;
    if (k && !all) k->buffer = copied(c, rvm__cuda_array_for_kernel(c, a, false, &why) + offset, n * sizeof(rvm_value));
    const bool good = k && (all || k->buffer);
    if (good) c->kept = k;
    if (!good) rvm__realloc(&c->al, k, sizeof *k, 0);
    rvm__cuda_leave(c);
    return good;
}

static int launch(rvm_cuda *c, void *kernel, size_t n, void **params) {
    const size_t ctas = (n + CTA - 1) / CTA;
    return c->d->launch(kernel, (unsigned)(ctas < MOST ? ctas : MOST), 1, 1, CTA, 1, 1, 0, c->stream, params, NULL);
}

static bool fill_there(rvm_cuda *c, uint64_t p, size_t n, rvm_value with) {
    uint64_t to = p, count = n, value = (uint64_t)with.i;
    void *params[] = {&to, &count, &value};
    rvm_error why;
    const int code = with.i ? launch(c, c->fill, n, params) : c->d->clear(p, 0, n * sizeof with, c->stream);
    return !rvm__cuda_failed(c, code, "an array is filled", &why);
}

/* What fails in the middle of writing leaves the array as nobody wants it. */
static bool write_back(rvm_cuda *c, const struct rvm__kept *k, rvm_cuda_array *a, size_t offset) {
    rvm_error why;
    const size_t bytes = k->n * sizeof(rvm_value);
    if (!rvm__cuda_enter(c)) return false;
    const uint64_t p = rvm__cuda_array_rewrite(a, bytes, &why);
    const bool good =
        p && !rvm__cuda_failed(c, c->d->copy(p + offset, k->buffer->p, bytes, c->stream), "an array is given back", &why);
    rvm__cuda_leave(c);
    return good;
}

static bool give(rvm_machine *m, uint32_t number, const char *data, rvm_status *status) {
    rvm_cuda *c = m->jit.device;
    const struct rvm__kept *k = find(c, m, number);
    size_t offset;
    rvm_cuda_array *a = k && k->buffer ? rvm__cuda_array_at(c, data, k->n * sizeof(rvm_value), &offset) : NULL;
    if (!a) return false;
    if (c->spoilt || !write_back(c, k, a, offset)) {
        rvm__cuda_array_lose(a);
        rvm__cuda_spoil(c);
        *status = RVM_ERR_UNSUPPORTED;
    }
    return true;
}

/* Whether a kernel has found something in that array, which its last parameter says; it takes others behind the array's
 * address. True, too, if it could not look. */
static bool finds(rvm_cuda *c, void *kernel, rvm_cuda_array *a, size_t offset, size_t n, void **params) {
    rvm_error why;
    unsigned found = 1;
    if (!rvm__cuda_enter(c)) return true;
    rvm__buffer *b = rvm__cuda_take(c, sizeof found, &why);
    const uint64_t p = b ? rvm__cuda_array_for_kernel(c, a, false, &why) : 0;
    uint64_t is = p + offset, to = b ? b->p : 0;
    void **last = params;
    while (*last) last++;
    params[0] = &is, *last = &to;
    int code = p ? c->d->clear(to, 0, sizeof found, c->stream) : 0;
    if (p && !code) code = launch(c, kernel, n, params);
    if (p && !code) code = c->d->download(&found, to, sizeof found, c->stream);
    if (p && !code) code = c->d->stream_wait(c->stream);
    if (rvm__cuda_failed(c, code, "arrays are compared", &why)) found = 1;
    rvm__cuda_put(b);
    rvm__cuda_leave(c);
    return found;
}

static bool is_near(rvm_machine *m, uint32_t number, const char *data, bool real, double tolerance, double least) {
    rvm_cuda *c = m->jit.device;
    size_t offset;
    const struct rvm__kept *k = find(c, m, number);
    rvm_cuda_array *a = k && !c->spoilt ? array_there(c, data, k->n, &offset) : NULL;
    if (!a) return false;
    uint64_t was = k->buffer ? k->buffer->p : 0, all = (uint64_t)k->all.i, n = k->n, reals = real;
    void *params[9] = {&was, &was, &all, &n, &reals, &tolerance, &least};
    return !finds(c, c->find_far, a, offset, k->n, params);
}

static bool are_single(const rvm_machine *m, const char *data, size_t n) {
    rvm_cuda *c = m->jit.device;
    size_t offset;
    rvm_cuda_array *a = c->spoilt ? NULL : array_there(c, data, n, &offset);
    uint64_t count = n;
    void *params[4] = {&count, &count};
    return a && !finds(c, c->find_doubles, a, offset, n, params);
}

/* ---- to the host ---- */

static bool fetch_one(rvm_cuda *c, const struct rvm__kept *k) {
    rvm_error why;
    const size_t bytes = k->n * sizeof *k->to;
    for (size_t i = 0; i < k->n && !k->buffer; i++) k->to[i] = k->all;
    if (!k->buffer) return true;
    if (!rvm__cuda_enter(c)) return false;
    const int code = c->d->download(k->to, k->buffer->p, bytes, c->stream);
    const bool good = !rvm__cuda_failed(c, code ? code : c->d->stream_wait(c->stream), "what was kept is copied", &why);
    if (good) c->totals.downloaded += bytes;
    rvm__cuda_leave(c);
    return good;
}

static rvm_status fetch(rvm_machine *m, uint32_t number) {
    const struct rvm__kept *k = find(m->jit.device, m, number);
    return !k || fetch_one(m->jit.device, k) ? RVM_OK : RVM_ERR_UNSUPPORTED;
}

static rvm_status leave(rvm_machine *m) {
    rvm_cuda *c = m->jit.device;
    bool good = true;
    for (struct rvm__kept *k = c->kept; k; k = k->next)
        if (k->m == m) good = fetch_one(c, k) && good;
    forget(m, 0, UINT32_MAX);
    return good ? RVM_OK : RVM_ERR_UNSUPPORTED;
}

static bool fill(const rvm_machine *m, const char *data, size_t n, rvm_value with) {
    rvm_cuda *c = m->jit.device;
    rvm_error why;
    size_t offset;
    rvm_cuda_array *a = array_there(c, data, n, &offset);
    if (!a || c->spoilt || !rvm__cuda_enter(c)) return false;
    const uint64_t p = rvm__cuda_array_rewrite(a, n * sizeof(rvm_value), &why);
    const bool good = p && fill_there(c, p + offset, n, with);
    rvm__cuda_leave(c);
    return good;
}

const rvm__keeper rvm__cuda_keeper = {.keep = keep,
                                      .give = give,
                                      .is_near = is_near,
                                      .fetch = fetch,
                                      .forget = forget,
                                      .leave = leave,
                                      .are_single = are_single,
                                      .fill = fill};
