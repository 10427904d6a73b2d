/* nested.c: blocks that have a kernel with a CTA for each instance (jit/device/nested.c): when that one is taken, and how
 * large it is.
 *
 * A thread an instance fills the device where there are many instances; with fewer, or where an instance's local arrays are
 * too large for a thread, a CTA has it. How many instances the blocks within have is known once the kernel has run: the CTAs
 * of later launches are as large, and where there are too few of them it is not taken again.
 *
 * With fast math the two kernels have different bits. So which one runs must depend on the block alone then, neither on the
 * card nor on what earlier runs have told. */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum {
    FEW = 256,              /* instances on a multiprocessor, below which threads wait for memory */
    USUAL = 132,            /* multiprocessors, where the choice is not to depend on how many there are */
    LEAST_TRIPS = 8,        /* of a warp's 32 threads */
    USUAL_TRIPS = 64,       /* before any is known */
    MOST_COPIES = 1024,     /* of arrays that instances add into, */
    MOST_CTAS = 4096,       /* and CTAs without such */
    USUAL_SHARED = 48 << 10 /* bytes that a CTA has without asking */
};
static const uint64_t most_memory = UINT64_C(4) << 30; /* of copies, and of local arrays */

static bool is_nested(const rvm__block_run *r) {
    return r->k->frame > 0;
}

/* ---- which kernel ---- */

static bool pays(rvm_cuda *c, const rvm__native_job *job) {
    rvm_error ignored;
    const rvm__native_kernel *flat = job->kernel, *nested = flat->nested;
    if (!flat->code) return true;
    if (flat->flags & RVM__KERNEL_FAST) return job->count < USUAL * FEW;
    const rvm__loaded_kernel *k = rvm__cuda_kernel(c, flat, &ignored), *n = rvm__cuda_kernel(c, nested, &ignored);
    if (k && k->too_large) return true;
    if (n && n->trips && n->trips < LEAST_TRIPS) return false;
    return job->count < (uint64_t)c->multiprocessors * FEW;
}

const rvm__native_kernel *rvm__cuda_kind(rvm_cuda *c, const rvm__native_job *job) {
    const rvm__native_kernel *flat = job->kernel;
    if (!flat->nested || (c->o.nested == RVM_CUDA_NEVER && flat->code)) return flat;
    return c->o.nested == RVM_CUDA_ALWAYS || pays(c, job) ? flat->nested : flat;
}

const rvm__native_kernel *rvm__cuda_other_kind(const rvm__block_run *r) {
    const rvm__native_kernel *flat = r->job->kernel;
    return r->k == flat && r->too_large && r->c->o.nested != RVM_CUDA_NEVER ? flat->nested : NULL;
}

int rvm__cuda_nested_option(int given) {
    const char *s = getenv("RVM_CUDA_NESTED");
    if (!s || (*s != '0' && *s != '1') || s[1]) return given;
    return *s == '0' ? RVM_CUDA_NEVER : RVM_CUDA_ALWAYS;
}

/* ---- how large ---- */

static uint64_t power_of_2_below(uint64_t n) {
    uint64_t p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

/* The same on any device. */
uint64_t rvm__cuda_nested_copies(const rvm__block_run *r) {
    const uint64_t room = most_memory / (r->stride + !r->stride), count = 2 * r->job->count - 1;
    const uint64_t n = power_of_2_below(room < MOST_COPIES ? room + !room : MOST_COPIES), all = power_of_2_below(count);
    return all < n ? all : n;
}

/* As many instances at once as there are CTAs: each copy is one CTA's, whose number is a power of 2 then. */
static uint64_t ctas_of(const rvm__block_run *r, uint64_t n, uint64_t local) {
    uint64_t most = r->copies ? r->ncopies : MOST_CTAS;
    if (local && most_memory / local < most) most = most_memory / local;
    if (n <= most) return n;
    return r->copies ? power_of_2_below(most + !most) : most + !most;
}

static unsigned threads_of(const rvm__block_run *r) {
    const uint64_t trips = r->kernel->trips ? r->kernel->trips : USUAL_TRIPS;
    const uint64_t warps = (trips + RVM__WARP - 1) / RVM__WARP;
    return (unsigned)(warps * RVM__WARP < RVM__NESTED_CTA ? warps * RVM__WARP : RVM__NESTED_CTA);
}

/* Local arrays are in shared memory if two CTAs find room on a multiprocessor, else in the device's. */
static bool place_locals(rvm__block_run *r, rvm__shape *s, uint64_t n) {
    const uint64_t arena = r->k->flags & RVM__KERNEL_ARENA ? r->kernel->arena : 0;
    s->shared = (unsigned)r->k->frame;
    s->ctas = (unsigned)ctas_of(r, n, 0);
    if (r->k->frame + arena <= (uint64_t)r->c->shared / 2)
        s->shared += (unsigned)arena;
    else {
        s->ctas = (unsigned)ctas_of(r, n, arena);
        rvm__cuda_put(r->locals);
        if (!(r->locals = rvm__cuda_take(r->c, s->ctas * arena, r->err))) return false;
        s->locals = r->locals->p;
    }
    if (s->shared <= USUAL_SHARED) return true;
    const int code = r->c->d->function_set(r->kernel->function, CUDA_MOST_SHARED, (int)s->shared);
    return !rvm__cuda_failed(r->c, code, "a CTA gets shared memory", r->err);
}

bool rvm__cuda_nested_shape(rvm__block_run *r, uint64_t n, rvm__shape *s) {
    if (!is_nested(r)) return true;
    s->threads = threads_of(r);
    return place_locals(r, s, n);
}

void rvm__cuda_nested_learn(const rvm__block_run *r) {
    if (r->c->control->trips > r->kernel->trips) r->kernel->trips = r->c->control->trips;
}
