/* fresh.c: see fresh.h. */
#include "fresh.h"
#include "builder.h"
#include "first_block.h"

#include "cells.h"
#include "native.h"
#include "own_parts.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <emmintrin.h>
#endif

enum { LARGE = 1 << 17 }; /* elements, from which on it is asked how large the caches are */

/* The bytes of the largest cache that this processor has to itself or shares; what the C library says counts those of other
 * processors, too, on some. */
static uint64_t largest_cache(void) {
    uint64_t most = 0;
#ifdef __x86_64__
    const unsigned leaves[] = {4, 0x8000001d}; /* Intel's, AMD's: ways, partitions, bytes of a line; sets */
    for (int k = 0; k < 2; k++)
        for (unsigned n = 0, a, b, c, d; n < 8 && __get_cpuid_count(leaves[k], n, &a, &b, &c, &d) && a & 31; n++) {
            const uint64_t bytes = ((b >> 22) + UINT64_C(1)) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) * (c + UINT64_C(1));
            if (bytes > most) most = bytes;
        }
#endif
    return most ? most : UINT64_MAX;
}

/* Whether so many elements leave no cache enough for anything else: more than half of it, since others share it, too. */
bool rvm__passes_caches(int64_t n) {
    return n >= LARGE && (uint64_t)n * sizeof(rvm_value) > largest_cache() / 2;
}

typedef struct filling {
    const rvm_arg *a;
    const int64_t *stride;
    rvm_value with;
    bool passes;
} filling;

static void fill_row(const filling *f, rvm_value *to, int64_t n) {
    int64_t k = 0;
#ifdef __x86_64__
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
    const filling f = {a, shadow ? a->shadow_stride : a->stride, with, rvm__passes_caches(rvm__cells(a))};
    if (!a->ndim) {
        *(shadow ? &a->shadow.i : &a->value.i) = with.i;
        return;
    }
    if (rvm__cells(a) > 0) fill_from(&f, 0, shadow ? a->shadow_data : a->data);
#ifdef __x86_64__
    if (f.passes) _mm_sfence();
#endif
}

bool rvm__fresh_fill_there(const rvm_machine *m, const rvm_arg *a, bool shadow, rvm_value with) {
    const rvm__keeper *keeper = m->jit.device && a->ndim ? m->jit.runner->keeper : NULL;
    const int64_t n = keeper ? rvm__neighbours(a, shadow ? a->shadow_stride : a->stride, 0) : 0;
    return n > 0 && keeper->fill(m, shadow ? a->shadow_data : a->data, (size_t)n, with);
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

void rvm__fresh_bound(rvm_machine *m) {
    m->bound.unwritten = m->bound.before ? m->bound.fresh_parts : 0;
    if (m->bound.before) return; /* which of them are fresh is part of what was compared (bind.c) */
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k];
        m->bound.fresh[k] = a->fresh;
        if (rvm__is_fresh(a, false)) m->bound.unwritten |= RVM__FRESH_VALUES;
        if (m->bound.mode != RVM_PRIMAL && rvm__is_fresh(a, true)) m->bound.unwritten |= RVM__FRESH_SHADOWS;
    }
    m->bound.fresh_parts = m->bound.unwritten;
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
    if (rvm__fresh_fill_there(m, a, shadow, rvm__sum_start(a->type))) return RVM_OK;
    const rvm_status lost = rvm__bring_home(m, a, 1);
    if (!lost) rvm__fresh_fill(a, shadow, rvm__sum_start(a->type));
    return lost;
}

rvm_status rvm__fresh_write_now(rvm_machine *m, uint64_t but) {
    rvm_status status = RVM_OK;
    for (int shadow = 0; shadow < 2 && m->bound.unwritten; shadow++)
        for (uint32_t k = 0;
             m->bound.unwritten & (shadow ? RVM__FRESH_SHADOWS : RVM__FRESH_VALUES) && k < m->bound.nargs && !status; k++) {
            const bool left = !shadow && k < 64 && but >> k & 1;
            if (!left && rvm__is_fresh(&m->bound.args[k], shadow)) status = write_one(m, k, shadow);
        }
    if (!status) m->bound.unwritten = 0;
    return status;
}

/* ---- what native code wrote ---- */

/* Elements of the instances from lo up to hi. */
static void fill_parts(const rvm_arg *a, const rvm__first_block *b, int64_t lo, int64_t hi) {
    rvm_arg part[RVM__MOST_PARTS];
    const unsigned n = rvm__parts(a, b, lo, hi, part);
    for (unsigned k = 0; k < n; k++) rvm__fresh_fill(&part[k], false, rvm__sum_start(a->type));
}

void rvm__fresh_outside(rvm_machine *m, uint32_t k, char *data, int64_t lo, int64_t hi) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    rvm_arg a = m->bound.args[k];
    rvm__first_block b;
    if (!rvm__first_block_of(m->p, f, k, &b)) return;
    a.data = data;
    fill_parts(&a, &b, 0, lo);
    fill_parts(&a, &b, hi > lo ? hi : lo, rvm__parts_count(&a, &b));
}

/* The run stands in frame 0 at an instruction; an instance that stands before its first one has written nothing. */
static void fill_rest(rvm_machine *m, const rvm__first_block *b, rvm_arg *a) {
    const uint32_t fn = m->bound.entry;
    const rvm__xinsn *x = m->codes[fn].x + b->par;
    const uint32_t at = m->store.nframes > 1 ? m->store.frames[1].call_pc : (uint32_t)(m->run.pc - m->codes[fn].x);
    const int64_t i = m->store.slots[x->to.i].i, lo = m->store.slots[x->to.lo].i, hi = m->store.slots[x->to.hi].i;
    const bool begins = at == b->par + 1 && m->store.nframes == 1 && m->run.dir > 0;
    if (at <= b->par) rvm__fresh_fill(a, false, rvm__sum_start(a->type));
    if (at <= b->par || at > m->p->functions[fn].code[b->par].target) return;
    if (x->flags & X_REVERSED)
        fill_parts(a, b, lo, i + begins);
    else
        fill_parts(a, b, i + !begins, hi);
}

void rvm__fresh_rest(rvm_machine *m, uint64_t by, bool exited) {
    rvm__first_block b;
    for (uint32_t k = 0; exited && k < m->bound.nargs && k < 64; k++)
        if (by >> k & 1 && rvm__first_block_of(m->p, &m->p->functions[m->bound.entry], k, &b))
            fill_rest(m, &b, &m->bound.args[k]);
#ifdef __x86_64__
    _mm_sfence();
#endif
}

void rvm__fresh_hand_back(rvm_machine *m, bool shadows) {
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        for (int shadow = 0; shadow <= shadows; shadow++) {
            rvm_arg *a = &m->bound.args[k];
            if (!rvm__is_fresh(a, shadow) || rvm__fresh_fill_there(m, a, shadow, (rvm_value){0})) continue;
            if (a->ndim && rvm__bring_home(m, a, 1)) continue;
            if (!a->ndim) slot_of(m, k, shadow)->i = 0;
            rvm__fresh_clear(a, shadow);
        }
}

void rvm__fresh_at_origin(rvm_machine *m) {
    bool any = false;
    for (uint32_t k = 0; k < m->bound.nargs; k++) any |= rvm__is_fresh(&m->bound.args[k], false);
    if (!any) return;
    rvm__fresh_hand_back(m, false);
    m->bound.unwritten |= RVM__FRESH_VALUES;
}
