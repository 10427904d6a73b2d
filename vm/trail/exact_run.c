/* exact_run.c: the records of a run that restores every bit: a stack of bits for each depth of compute parts, since what
 * `compute` records is taken back by `undo`. See exact.h; docs/semantics.md, section 12. */
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "out_of_line.h"
#include "instruction.h"

static void *counted(void *userdata, void *p, size_t old_size, size_t new_size) {
    return rvm__resize(userdata, p, old_size, new_size);
}

static rvm__bits *bits_at_depth(rvm_machine *m) {
    const size_t depth = m->trail.deep;
    if (!rvm__reserve(m, (void **)&m->exact.bits, &m->exact.nbits, depth + 1, sizeof *m->exact.bits)) return NULL;
    return &m->exact.bits[depth];
}

static void count(rvm_machine *m, size_t more) {
    m->exact.recorded += more;
    m->exact.held += more;
    if (m->exact.held > m->exact.peak) m->exact.peak = m->exact.held;
}

static rvm_status nothing_left(rvm_machine *m) {
    m->detail_place = 0;
    snprintf(m->detail, sizeof m->detail, "what rounding lost has not been recorded");
    return RVM_ERR_TRAIL;
}

/* ---- in steps, of which the last may fail ---- */

bool rvm__exact_reserve(rvm_machine *m, size_t bits) {
    if (rvm__forgets_at(&m->trail)) return true;
    const rvm_allocator al = {counted, m};
    rvm__bits *b = bits_at_depth(m);
    return b && rvm__bits_reserve(&al, b, bits);
}

size_t rvm__exact_held(const rvm_machine *m) {
    return m->trail.deep < m->exact.nbits ? m->exact.bits[m->trail.deep].n : 0;
}

void rvm__exact_rewind(rvm_machine *m, size_t held) {
    if (m->trail.deep >= m->exact.nbits) return;
    rvm__bits *b = &m->exact.bits[m->trail.deep];
    m->exact.held += held - b->n;
    b->n = held;
}

void rvm__exact_trim(rvm_machine *m) {
    const rvm_allocator al = {counted, m};
    if (m->trail.deep < m->exact.nbits) rvm__bits_trim(&al, &m->exact.bits[m->trail.deep]);
}

void rvm__exact_load(rvm_machine *m, uint64_t word, unsigned n) {
    const rvm_allocator al = {counted, m};
    rvm__bits_push(&al, &m->exact.bits[m->trail.deep], word, n);
    m->exact.held += n;
    if (m->exact.held > m->exact.peak) m->exact.peak = m->exact.held;
}

rvm_status rvm__exact_keep_raw(rvm_machine *m, double y) {
    if (rvm__forgets_at(&m->trail)) return RVM_OK;
    const rvm_allocator al = {counted, m};
    rvm__bits *b = bits_at_depth(m);
    if (!b || !rvm__exact_record_raw(&al, b, y)) return RVM_ERR_MEMORY;
    count(m, 64);
    return RVM_OK;
}

rvm_status rvm__exact_take_raw(rvm_machine *m, double *y) {
    rvm__bits *b = bits_at_depth(m);
    rvm_value v;
    if (!b) return RVM_ERR_MEMORY;
    if (!rvm__bits_pop(b, 64, &v.u)) return nothing_left(m);
    m->exact.held -= 64;
    *y = v.f;
    return RVM_OK;
}

rvm_status rvm__exact_keep(rvm_machine *m, rvm_type t, rvm__exact op, double y, double f, double after) {
    const rvm_allocator al = {counted, m};
    if (t != RVM_F64 || rvm__forgets_at(&m->trail)) return rvm__exact_keep_raw(m, y);
    rvm__bits *b = bits_at_depth(m);
    const size_t before = b ? b->n : 0;
    if (!b || !rvm__exact_record(&al, b, op, y, f, after)) return RVM_ERR_MEMORY;
    count(m, b->n - before);
    return RVM_OK;
}

rvm_status rvm__exact_take(rvm_machine *m, rvm_type t, rvm__exact op, double after, double f, double *y) {
    if (t != RVM_F64) return rvm__exact_take_raw(m, y);
    rvm__bits *b = bits_at_depth(m);
    if (!b) return RVM_ERR_MEMORY;
    const size_t before = b->n;
    if (!rvm__exact_restore(b, op, after, f, y)) return nothing_left(m);
    m->exact.held -= before - b->n;
    return RVM_OK;
}

/* ---- whole ---- */

rvm_status rvm__exact_back(rvm_machine *m, rvm_type t, rvm__exact op, double after, double f, double *y) {
    const rvm_status status = rvm__exact_take(m, t, op, after, f, y);
    if (!status) rvm__exact_trim(m);
    return status;
}

rvm_status rvm__exact_keep_whole(rvm_machine *m, int n, const rvm_value *v) {
    if (!rvm__exact_reserve(m, (size_t)n * 64)) return RVM_ERR_MEMORY;
    for (int k = 0; k < n; k++) rvm__exact_keep_raw(m, v[k].f);
    return RVM_OK;
}

rvm_status rvm__exact_back_whole(rvm_machine *m, int n, rvm_value *v) {
    if (rvm__exact_held(m) < (size_t)n * 64) return nothing_left(m);
    while (n-- > 0) rvm__exact_take_raw(m, &v[n].f);
    rvm__exact_trim(m);
    return RVM_OK;
}

rvm_status rvm__exact_sum(rvm_machine *m, rvm_type t, bool back, double by, double *y) {
    const rvm__exact op = back ? RVM__EXACT_SUB : RVM__EXACT_ADD, inverse = back ? RVM__EXACT_ADD : RVM__EXACT_SUB;
    double was, after;
    if (m->exact.restoring) {
        const bool alone = t == RVM_F64 && rvm__exact_alone(inverse, *y, by, &was);
        const rvm_status status = alone ? RVM_OK : rvm__exact_back(m, t, inverse, *y, by, &was);
        if (!status) *y = was;
        return status;
    }
    after = rvm__exact_apply(op, *y, by);
    if (t == RVM_F32) after = (double)(float)after;
    const bool alone = t == RVM_F64 && rvm__exact_alone(op, after, by, &was);
    const rvm_status status = alone ? RVM_OK : rvm__exact_keep(m, t, op, *y, by, after);
    if (status) return status;
    m->exact.updates++;
    *y = after;
    return RVM_OK;
}

void rvm__exact_clear(rvm_machine *m) {
    const rvm_allocator al = {counted, m};
    for (size_t k = 0; k < m->exact.nbits; k++) rvm__bits_free(&al, &m->exact.bits[k]);
    m->exact.held = 0;
    m->exact.restoring = false;
}

void rvm__exact_free(rvm_machine *m) {
    rvm__exact_clear(m);
    rvm__resize(m, m->exact.bits, m->exact.nbits * sizeof *m->exact.bits, 0);
}
