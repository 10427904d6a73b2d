/* fresh.c: see fresh.h. */
#include "fresh.h"
#include "builder.h"

#include <unistd.h>

#include "cells.h"
#include "native.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LARGE = 1 << 17 }; /* elements, from which on it is asked how large the caches are */

/* Whether so many elements leave no cache anything else. */
static bool passes_caches(int64_t n) {
#if defined(__SSE2__) && defined(_SC_LEVEL3_CACHE_SIZE)
    if (n < LARGE) return false;
    const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 && (uint64_t)n * sizeof(rvm_value) > (uint64_t)bytes;
#else
    (void)n;
    return false;
#endif
}

typedef struct filling {
    const rvm_arg *a;
    const int64_t *stride;
    rvm_value with;
    bool passes;
} filling;

static void fill_row(const filling *f, rvm_value *to, int64_t n) {
    int64_t k = 0;
#ifdef __SSE2__
    const __m128i v = _mm_set1_epi64x(f->with.i);
    for (; f->passes && k < n && ((uintptr_t)(to + k) & 15); k++) to[k] = f->with;
    for (; f->passes && k + 2 <= n; k += 2) _mm_stream_si128((__m128i *)(void *)(to + k), v);
#endif
    for (; k < n; k++) to[k] = f->with;
}

/* Elements from dimension d on. */
static void fill_from(const filling *f, int d, rvm_value *to) {
    const int64_t n = rvm__neighbours(f->a, f->stride, d);
    if (n >= 0) {
        fill_row(f, to, n);
        return;
    }
    for (int64_t i = 0; d < RVM_MAX_DIMS && i < f->a->shape[d]; i++) fill_from(f, d + 1, to + i * f->stride[d]);
}

void rvm__fresh_fill(rvm_arg *a, bool shadow, rvm_value with) {
    const filling f = {a, shadow ? a->shadow_stride : a->stride, with, passes_caches(rvm__cells(a))};
    if (!a->ndim) {
        *(shadow ? &a->shadow.i : &a->value.i) = with.i;
        return;
    }
    if (rvm__cells(a) > 0) fill_from(&f, 0, shadow ? a->shadow_data : a->data);
#ifdef __SSE2__
    if (f.passes) _mm_sfence();
#endif
}

void rvm__fresh_take(const rvm_arg *a, bool shadow, rvm_value *to) {
    const int64_t n = rvm__is_fresh(a, shadow) ? rvm__cells(a) : 0;
    for (int64_t k = 0; k < n; k++) to[k] = rvm__sum_start(a->type);
    if (!rvm__is_fresh(a, shadow)) rvm__cells_take(a, shadow, to);
}

void rvm__fresh_clear(rvm_arg *a, bool shadow) {
    rvm__fresh_fill(a, shadow, (rvm_value){0});
}

/* ---- of the bound call ---- */

enum { VALUES = 1, SHADOWS = 2 }; /* m->bound.unwritten */

void rvm__fresh_bound(rvm_machine *m) {
    m->bound.unwritten = 0;
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k];
        m->bound.fresh[k] = a->fresh;
        if (rvm__is_fresh(a, false)) m->bound.unwritten |= VALUES;
        if (m->bound.mode != RVM_PRIMAL && rvm__is_fresh(a, true)) m->bound.unwritten |= SHADOWS;
    }
}

/* Scalars stand in the frame. */
static rvm_value *slot_of(rvm_machine *m, uint32_t k, bool shadow) {
    const uint16_t at = m->p->functions[m->bound.entry].params[k].index;
    return shadow ? m->store.shadows + at : m->store.slots + at;
}

static rvm_status write_one(rvm_machine *m, uint32_t k, bool shadow) {
    rvm_arg *a = &m->bound.args[k];
    if (!a->ndim) {
        *slot_of(m, k, shadow) = rvm__sum_start(a->type);
        return RVM_OK;
    }
    const rvm_status lost = rvm__bring_home(m, a, 1);
    if (!lost) rvm__fresh_fill(a, shadow, rvm__sum_start(a->type));
    return lost;
}

rvm_status rvm__fresh_write(rvm_machine *m, uint64_t but) {
    rvm_status status = RVM_OK;
    for (int shadow = 0; shadow < 2 && m->bound.unwritten; shadow++)
        for (uint32_t k = 0; m->bound.unwritten & (shadow ? SHADOWS : VALUES) && k < m->bound.nargs && !status; k++) {
            const bool left = !shadow && k < 64 && but >> k & 1;
            if (!left && rvm__is_fresh(&m->bound.args[k], shadow)) status = write_one(m, k, shadow);
        }
    if (!status) m->bound.unwritten = 0;
    return status;
}

void rvm__fresh_hand_back(rvm_machine *m, bool shadows) {
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        for (int shadow = 0; shadow <= shadows; shadow++) {
            rvm_arg *a = &m->bound.args[k];
            if (!rvm__is_fresh(a, shadow) || (a->ndim && rvm__bring_home(m, a, 1))) continue;
            if (!a->ndim) slot_of(m, k, shadow)->i = 0;
            rvm__fresh_clear(a, shadow);
        }
}

void rvm__fresh_at_origin(rvm_machine *m) {
    bool any = false;
    for (uint32_t k = 0; k < m->bound.nargs; k++) any |= rvm__is_fresh(&m->bound.args[k], false);
    if (!any) return;
    rvm__fresh_hand_back(m, false);
    m->bound.unwritten |= VALUES;
}
