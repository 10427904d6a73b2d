/* copies.c: see copies.h. */
#include "copies.h"

#include "cells.h"
#include "out_of_line.h"
#include "own_parts.h"

#include <math.h>

/* ---- copies ---- */

void rvm__copy_begin(rvm_value *to, const rvm__native_copy *c) {
    const rvm_value nothing = {.f = rvm__is_floating((rvm_type)c->type) ? -0.0 : 0.0};
    for (uint64_t k = 0; k < c->n; k++) to[k] = nothing;
}

void rvm__copies_add(const rvm__native_job *job, rvm_value *const *all) {
    int overflow = 0;
    for (uint64_t k = 0; k < job->ncopies; k++) {
        const rvm__native_copy *c = &job->copies[k];
        const rvm_value *from = all[k];
        if (c->read) continue;
        if (c->type == RVM_F64)
            for (uint64_t i = 0; i < c->n; i++) c->to[i].f += from[i].f;
        else
            for (uint64_t i = 0; i < c->n; i++) c->to[i] = rvm__block_plus((rvm_type)c->type, c->to[i], from[i], &overflow);
        for (uint64_t i = 0; c->held && i < c->n; i++) *c->held = fmax(*c->held, fabs(c->to[i].f));
    }
}

/* ---- what is saved ---- */

static rvm__first_block parts_of(const rvm__native_save *s) {
    return (rvm__first_block){.dimension = (uint8_t)s->dimension, .within = (uint8_t)s->within};
}

static rvm_arg array_of(const rvm__native_job *job, const rvm__native_save *s) {
    const rvm__native_view *view = &job->views[s->view];
    rvm_arg a = {.type = RVM_I64, .ndim = (uint8_t)s->ndim, .data = (rvm_value *)(void *)view->data}; /* bits */
    for (uint64_t d = 0; d < s->ndim; d++) {
        a.shape[d] = view->dim[d];
        a.stride[d] = view->stride[d] / (int64_t)sizeof(rvm_value);
    }
    return a;
}

uint64_t rvm__saved_room(const rvm__native_job *job) {
    uint64_t all = 0;
    for (uint64_t k = 0; k < job->nsaves; k++) {
        const rvm__native_save *s = &job->saves[k];
        const rvm__first_block b = parts_of(s);
        uint64_t n = RVM__CHUNK;
        for (uint64_t d = 0; d < s->ndim; d++)
            if (rvm__is_within_part(&b, (int)d) && __builtin_mul_overflow(n, (uint64_t)job->views[s->view].dim[d], &n))
                return UINT64_MAX;
        if (__builtin_add_overflow(all, n, &all)) return UINT64_MAX;
    }
    return all;
}

static void copy(const rvm__native_job *job, uint64_t first, uint64_t last, rvm_value *saved, bool back) {
    const int64_t lo = job->lo + (int64_t)(first < last ? first : last),
                  hi = job->lo + (int64_t)(first < last ? last : first);
    for (uint64_t k = 0; k < job->nsaves; k++) {
        const rvm_arg a = array_of(job, &job->saves[k]);
        const rvm__first_block b = parts_of(&job->saves[k]);
        rvm_arg part[RVM__MOST_PARTS];
        const unsigned n = rvm__parts(&a, &b, lo, hi + 1, part);
        for (unsigned i = 0; i < n; i++) {
            if (back)
                rvm__cells_give(&part[i], false, saved);
            else
                rvm__cells_take(&part[i], false, saved);
            saved += rvm__cells(&part[i]);
        }
    }
}

void rvm__saved_take(const rvm__native_job *job, uint64_t first, uint64_t last, rvm_value *to) {
    copy(job, first, last, to, false);
}

void rvm__saved_give(const rvm__native_job *job, uint64_t first, uint64_t last, const rvm_value *from) {
    copy(job, first, last, (rvm_value *)(uintptr_t)from, true);
}
