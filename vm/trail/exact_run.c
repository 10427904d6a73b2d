/* exact_run.c: the records of a run that restores every bit: a stack of bits for each depth of compute parts, since what
 * `compute` records is taken back by `undo`. See exact.h; docs/semantics.md, section 12.
 *
 * In compute parts, which are taken back soon, the first WHOLE updates of an f64 keep the value whole: that takes no search,
 * and native code does it in line, on the memory that machine.h calls top. */
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "out_of_line.h"
#include "instruction.h"

enum { WHOLE = 1 << 14 };

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

/* ---- values kept whole ---- */

static bool keeps_whole(const rvm_machine *m, const rvm__bits *b) {
    return m->trail.deep && !b->coded && b->n % 64 == 0 && b->n / 64 < WHOLE;
}

static bool kept_whole(const rvm_machine *m, const rvm__bits *b) {
    return m->trail.deep && !b->coded;
}

void rvm__exact_open(rvm_machine *m) {
    rvm__exact_run *x = &m->exact;
    if (!x->native || !m->trail.deep || m->trail.deep >= x->nbits || rvm__forgets_at(&m->trail)) return;
    rvm__bits *b = &x->bits[m->trail.deep];
    x->coded = b->coded ? &b->coded : NULL;
    if (b->coded || b->n % 64 || b->n / 64 > WHOLE || !b->words) return;
    x->bottom = (double *)(void *)b->words;
    x->top = x->bottom + b->n / 64;
    x->end = x->bottom + (b->cap < WHOLE ? b->cap : WHOLE);
}

void rvm__exact_close(rvm_machine *m) {
    rvm__exact_run *x = &m->exact;
    x->coded = NULL;
    if (!x->bottom) return;
    rvm__bits *b = &x->bits[m->trail.deep];
    const size_t n = (size_t)(x->top - x->bottom) * 64;
    if (n > b->n)
        count(m, n - b->n);
    else
        x->held -= b->n - n;
    b->n = n;
    x->top = x->bottom = x->end = NULL;
}

/* ---- in steps, of which the last may fail ---- */

bool rvm__exact_reserve(rvm_machine *m, size_t bits) {
    if (rvm__forgets_at(&m->trail)) return true;
    const rvm_allocator al = {counted, m};
    rvm__bits *b = bits_at_depth(m);
    return b && rvm__bits_reserve(&al, b, bits);
}

rvm__exact_mark rvm__exact_held(const rvm_machine *m) {
    if (m->trail.deep >= m->exact.nbits) return (rvm__exact_mark){0};
    const rvm__bits *b = &m->exact.bits[m->trail.deep];
    return (rvm__exact_mark){b->n, b->coded};
}

void rvm__exact_rewind(rvm_machine *m, rvm__exact_mark to) {
    if (m->trail.deep >= m->exact.nbits) return;
    rvm__bits *b = &m->exact.bits[m->trail.deep];
    m->exact.held += to.bits - b->n;
    b->n = to.bits;
    b->coded = to.coded;
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
    if (!b) return RVM_ERR_MEMORY;
    if (keeps_whole(m, b)) return rvm__exact_keep_raw(m, y);
    const size_t before = b->n;
    if (!rvm__exact_record(&al, b, op, y, f, after)) return RVM_ERR_MEMORY;
    b->coded += m->trail.deep > 0;
    count(m, b->n - before);
    return RVM_OK;
}

rvm_status rvm__exact_take(rvm_machine *m, rvm_type t, rvm__exact op, double after, double f, double *y) {
    if (t != RVM_F64) return rvm__exact_take_raw(m, y);
    rvm__bits *b = bits_at_depth(m);
    if (!b) return RVM_ERR_MEMORY;
    if (kept_whole(m, b)) return rvm__exact_take_raw(m, y);
    const size_t before = b->n;
    if (!rvm__exact_restore(b, op, after, f, y)) return nothing_left(m);
    b->coded -= m->trail.deep > 0;
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
    if (rvm__exact_held(m).bits < (size_t)n * 64) return nothing_left(m);
    while (n-- > 0) rvm__exact_take_raw(m, &v[n].f);
    rvm__exact_trim(m);
    return RVM_OK;
}

rvm_status rvm__exact_sum(rvm_machine *m, rvm_type t, bool back, double by, double *y) {
    const rvm__exact op = back ? RVM__EXACT_SUB : RVM__EXACT_ADD, inverse = back ? RVM__EXACT_ADD : RVM__EXACT_SUB;
    double was, after;
    if (m->exact.restoring) {
        const bool alone = t == RVM_F64 && !m->trail.deep && rvm__exact_alone(inverse, *y, by, &was);
        const rvm_status status = alone ? RVM_OK : rvm__exact_back(m, t, inverse, *y, by, &was);
        if (!status) *y = was;
        return status;
    }
    after = rvm__exact_apply(op, *y, by);
    if (t == RVM_F32) after = (double)(float)after;
    const bool alone = t == RVM_F64 && !m->trail.deep && rvm__exact_alone(op, after, by, &was);
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
