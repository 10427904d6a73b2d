/* entries.c: what instances add to elements that differ by instance, each addition with the address of its element. On the
 * device entries are sorted by element, which keeps their order, and each element gains its own, one after the other
 * (sums.cu).
 *
 *     entries, [instance][width] ──▶ of each digit: count, place, sort ──▶ items, by element ──▶ elements */
#include "cuda.h"
#include "support.h"

enum { DIGITS = 256, BITS = 8, AT_ONCE = 2048, COLUMNS = 4, THREADS = 256, MOST_CTAS = 512 }; /* sums.cu */
enum { MOST_WIDTH = (1 << 24) - 1 }; /* entries of a chunk are told apart by 32 bits */
_Static_assert(RVM__CHUNK *(uint64_t)MOST_WIDTH < UINT32_MAX, "bits");

/* An array that gains: its elements are numbered from `first` on. */
typedef struct root {
    uint64_t begin, bytes, first;
} root;

typedef struct sorting {
    rvm__block_run *r;
    uint64_t slots, entries;      /* of the piece: what there is room for, and those that there are */
    uint64_t elements, by_chunks; /* of the arrays; the first of them gain chunk by chunk */
    rvm__buffer *roots, *counts, *items[2];
    const rvm__buffer *sorted; /* NULL: the log */
} sorting;

static bool failed(const rvm__block_run *r, int code, const char *doing) {
    return rvm__cuda_failed(r->c, code, doing, r->err);
}

static bool has_entries(const rvm__block_run *r) {
    return r->k->flags & RVM__KERNEL_ENTRIES;
}

uint64_t rvm__cuda_most_entered(const rvm__block_run *r) {
    const uint64_t room = UINT64_C(1) << 30;
    if (!has_entries(r)) return UINT64_MAX;
    const uint64_t n = room / sizeof(rvm__kernel_entry) / r->kernel->width / RVM__CHUNK * RVM__CHUNK;
    return n ? n : RVM__CHUNK;
}

bool rvm__cuda_take_entries(rvm__block_run *r, uint64_t n) {
    if (!has_entries(r)) return true;
    rvm__cuda_put(r->entries);
    return (r->entries = rvm__cuda_take(r->c, n * r->kernel->width * sizeof(rvm__kernel_entry), r->err));
}

/* Exactly as many as there were; where that turns out not to be all, some more. */
bool rvm__cuda_wants_entries(const rvm__block_run *r) {
    rvm__loaded_kernel *k = r->kernel;
    const uint64_t width = r->c->control->width;
    if (width <= k->width || width > MOST_WIDTH / 2) return false;
    k->width = k->knows_width ? width + width / 4 : width;
    return k->knows_width = true;
}

void rvm__cuda_learn_entries(const rvm__block_run *r) {
    if (!has_entries(r) || r->kernel->knows_width) return;
    r->kernel->width = r->c->control->widest + !r->c->control->widest;
    r->kernel->knows_width = true;
}

/* ---- what gains ---- */

static bool gains(const rvm__block_run *r, uint64_t v) {
    const rvm__kernel_view *views = r->k->views;
    if (views[v].root != v || views[v].type != RVM_F64 || !(views[v].uses & 2) || !r->places[v].bytes) return false;
    for (uint64_t n = 0; n < r->k->nparams; n++) {
        const rvm__kernel_param *p = &r->k->params[n];
        if (p->view >= 0 && p->flags & RVM__KERNEL_ENTRIES && views[p->view].root == v) return true;
    }
    return false;
}

/* Those that gain chunk by chunk first; the last is all else, which no entry is in. */
static bool find_roots(sorting *s) {
    const rvm__block_run *r = s->r;
    root all[RVM__MOST_KERNEL_PARAMS + 1];
    size_t n = 0;
    for (int others = 0; others < 2; others++) {
        for (uint64_t v = 0; v < r->k->nviews; v++) {
            const bool by_chunks = r->k->views[v].uses & RVM__KERNEL_BY_CHUNKS;
            if (!gains(r, v) || by_chunks == others) continue;
            all[n++] = (root){r->places[v].p, r->places[v].bytes, s->elements};
            s->elements += r->places[v].bytes / sizeof(double);
        }
        if (!others) s->by_chunks = s->elements;
    }
    if (s->elements >= UINT32_MAX)
        return rvm__fail(r->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "it adds to arrays that are too large"), false;
    all[n++] = (root){0, UINT64_MAX, s->elements};
    return (s->roots = rvm__cuda_take(r->c, n * sizeof *all, r->err)) &&
           !failed(r, r->c->d->upload(s->roots->p, all, n * sizeof *all, r->c->stream), "sums begin");
}

/* ---- kernels ---- */

static bool launch(const sorting *s, void *kernel, unsigned ctas, unsigned x, unsigned y, void **params) {
    return !failed(s->r, s->r->c->d->launch(kernel, ctas, 1, 1, x, y, 1, 0, s->r->c->stream, params, NULL),
                   "sums are launched");
}

/* By the digit that begins at that bit. */
static bool sort_by(sorting *s, uint64_t shift, const rvm__buffer *to) {
    const rvm_cuda *c = s->r->c;
    uint64_t items = s->sorted ? s->sorted->p : 0, log = s->r->entries->p, roots = s->roots->p, counts = s->counts->p;
    uint64_t n = s->sorted ? s->entries : s->slots, out = to->p, all = (n + AT_ONCE - 1) / AT_ONCE;
    uint64_t ctas = all < MOST_CTAS ? all : MOST_CTAS;
    s->sorted = to;
    return launch(s, c->count_digits, (unsigned)ctas, DIGITS, 1, (void *[]){&items, &log, &roots, &n, &shift, &counts}) &&
           launch(s, c->place_digits, 1, DIGITS, COLUMNS, (void *[]){&counts, &ctas}) &&
           launch(s, c->sort_digits, (unsigned)ctas, DIGITS, 1, (void *[]){&items, &log, &roots, &n, &shift, &counts, &out});
}

static bool sort(sorting *s) {
    rvm_cuda *c = s->r->c;
    const uint64_t last = s->elements - 1;
    if (!(s->counts = rvm__cuda_take(c, MOST_CTAS * DIGITS * sizeof(uint32_t), s->r->err))) return false;
    for (uint64_t shift = 0, k = 0; !shift || last >> shift; shift += BITS, k = 1 - k) {
        if (!s->items[k] && !(s->items[k] = rvm__cuda_take(c, s->entries * sizeof(uint64_t), s->r->err))) return false;
        if (!sort_by(s, shift, s->items[k])) return false;
    }
    return true;
}

static bool sum(const sorting *s, uint64_t instances) {
    const rvm__block_run *r = s->r;
    uint64_t items = s->sorted->p, n = s->entries, log = r->entries->p, by_chunks = s->by_chunks;
    uint64_t width = r->kernel->width, count = instances, up = r->job->ascending != 0;
    void *params[] = {&items, &n, &log, &width, &count, &up, &by_chunks};
    return launch(s, r->c->sum_items, (unsigned)((n + THREADS - 1) / THREADS), THREADS, 1, params);
}

bool rvm__cuda_sum_entries(rvm__block_run *r, uint64_t n) {
    const uint64_t all = r->c->control->entries;
    sorting s = {.r = r, .slots = n * r->kernel->width, .entries = all - r->entered};
    r->entered = all;
    if (!s.entries) return true;
    const bool good = find_roots(&s) && sort(&s) && sum(&s, n);
    rvm__cuda_put(s.roots);
    rvm__cuda_put(s.counts);
    rvm__cuda_put(s.items[0]);
    rvm__cuda_put(s.items[1]);
    return good;
}
