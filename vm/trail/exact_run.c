/* exact_run.c: the records of a run that restores every bit: a stack of bits for each depth of compute parts, since what
 * `compute` records is taken back by `undo`. See exact.h; docs/semantics.md, section 12.
 *
 * In compute parts, which are taken back soon, the first WHOLE updates of an f64 keep the value whole: that takes no search,
 * and native code does it in line, on the memory that machine.h calls top. */
#include <stdio.h>
#include <string.h>

#include "builder.h"
#include "memory.h"
#include "out_of_line.h"
#include "instruction.h"

enum { WHOLE = 1 << 14 };

static void *counted(void *userdata, void *p, size_t old_size, size_t new_size) {
    return rvm__resize(userdata, p, old_size, new_size);
}

static size_t number_of(const rvm_machine *m) {
    return rvm__exact_depth(m) * RVM__EXACT_LEVELS + m->exact.level;
}

static rvm__bits *bits_at_depth(rvm_machine *m) {
    const size_t number = number_of(m);
    if (!rvm__reserve(m, (void **)&m->exact.bits, &m->exact.nbits, number + 1, sizeof *m->exact.bits)) return NULL;
    return &m->exact.bits[number];
}

static void count(rvm_machine *m, size_t more) {
    m->exact.recorded += more;
    m->exact.held += more;
    if (m->exact.held > m->exact.peak) m->exact.peak = m->exact.held;
}

rvm_status rvm__exact_nothing_left(rvm_machine *m) {
    m->detail_place = 0;
    snprintf(m->detail, sizeof m->detail, "what rounding lost has not been recorded");
    return RVM_ERR_TRAIL;
}

rvm_status rvm__exact_disturbed(rvm_machine *m) {
    m->detail_place = 0;
    snprintf(m->detail, sizeof m->detail, "the `do` part has changed it, or what it was changed by");
    return RVM_ERR_TRAIL;
}

/* By its name, whether it is the tangent of something. */
static bool is_tangent(const char *name) {
    const char *last = "";
    for (const char *tick = name; (tick = strchr(tick, '\'')); tick++)
        if (!strncmp(tick, "'tan", 4) || !strncmp(tick, "'adj", 4) || !strncmp(tick, "'grad", 5)) last = tick;
    return !strncmp(last, "'tan", 4);
}

static const char by_hand[] = "a derivative on the way is written by hand";
static const char computes[] = "its inverse would be a computation of its own";

const char *rvm__exact_against(const rvm_machine *m, uint32_t fn, bool restoring, unsigned flags, int dir) {
    const rvm_function *f = &m->p->functions[fn];
    if (!m->o.exact) return NULL;
    if (flags & RVM_FLAG_SWEPT && rvm__is_adjoint_by_hand(m->p, fn)) /* no record is taken back by it */
        return by_hand;
    if (!rvm__is_marked(f)) return NULL;
    if (rvm__is_foreign(&f->code[0])) return is_tangent(f->name) ? by_hand : "it was derived of an adjoint";
    if (flags & RVM_FLAG_SWEPT) return NULL;
    if (restoring != (dir < 0)) return computes;
    return m->trail.nforgetting ? "it is in a part that is forgotten" : NULL;
}

rvm_status rvm__exact_refuse(rvm_machine *m, const char *why) {
    snprintf(m->detail, sizeof m->detail, "an exact run does not go through this derivative program: %s", why);
    return RVM_ERR_UNSUPPORTED;
}

rvm_status rvm__exact_refuse_foreign(rvm_machine *m) {
    const rvm_function *f = &m->p->functions[m->store.frames[m->store.nframes - 1].fn];
    return rvm__exact_refuse(m, rvm__is_marked(f) ? computes : "it was derived for other runs");
}

/* ---- values kept whole ---- */

bool rvm__exact_is_inside(const rvm_machine *m) {
    return rvm__exact_depth(m) && m->exact.level == RVM__OF_VALUES;
}

static bool keeps_whole(const rvm_machine *m, const rvm__bits *b) {
    return rvm__exact_is_inside(m) && !b->coded && b->n % 64 == 0 && b->n / 64 < WHOLE;
}

/* Whether what has come back leads to what was there: else a `do` part changed that, or what leads there. */
static bool leads_back(rvm_type t, rvm__exact op, double was, double f, double after) {
    const double led = rvm__exact_apply(op, was, f);
    return rvm__exact_same(t == RVM_F32 ? (double)(float)led : led, after);
}

static bool kept_whole(const rvm_machine *m, const rvm__bits *b) {
    return rvm__exact_is_inside(m) && !b->coded;
}

void rvm__exact_open(rvm_machine *m) {
    rvm__exact_run *x = &m->exact;
    if (!x->native || !rvm__exact_depth(m) || number_of(m) >= x->nbits || rvm__forgets_at(&m->trail)) return;
    rvm__bits *b = &x->bits[number_of(m)];
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
    rvm__bits *b = &x->bits[number_of(m)];
    const size_t n = (size_t)(x->top - x->bottom) * 64;
    if (n > b->n)
        count(m, n - b->n);
    else
        x->held -= b->n - n;
    b->n = n;
    x->top = x->bottom = x->end = NULL;
}

/* ---- in steps, of which the last may fail ---- */

static rvm__bits *bits_there(const rvm_machine *m, unsigned level) {
    const size_t number = rvm__exact_depth(m) * RVM__EXACT_LEVELS + level;
    return number < m->exact.nbits ? &m->exact.bits[number] : NULL;
}

bool rvm__exact_reserve(rvm_machine *m, size_t bits) {
    const rvm_allocator al = {counted, m};
    const size_t first = rvm__exact_depth(m) * RVM__EXACT_LEVELS;
    bool good = true;
    if (rvm__forgets_at(&m->trail)) return true;
    if (!rvm__reserve(m, (void **)&m->exact.bits, &m->exact.nbits, first + m->exact.levels, sizeof *m->exact.bits))
        return false;
    for (unsigned level = 0; level < m->exact.levels; level++)
        good = good && rvm__bits_reserve(&al, bits_there(m, level), bits);
    return good;
}

rvm__exact_mark rvm__exact_held(const rvm_machine *m) {
    rvm__exact_mark now = {.bits = {0}};
    for (unsigned level = 0; level < RVM__EXACT_LEVELS; level++) {
        const rvm__bits *b = bits_there(m, level);
        if (b) now.bits[level] = b->n, now.coded[level] = b->coded;
    }
    return now;
}

void rvm__exact_rewind(rvm_machine *m, const rvm__exact_mark *to) {
    for (unsigned level = 0; level < RVM__EXACT_LEVELS; level++) {
        rvm__bits *b = bits_there(m, level);
        if (!b) continue;
        m->exact.held += to->bits[level] - b->n;
        b->n = to->bits[level];
        b->coded = to->coded[level];
    }
}

void rvm__exact_trim(rvm_machine *m) {
    const rvm_allocator al = {counted, m};
    for (unsigned level = 0; level < m->exact.levels; level++) {
        rvm__bits *b = bits_there(m, level);
        if (b) rvm__bits_trim(&al, b);
    }
}

void rvm__exact_load(rvm_machine *m, uint64_t word, unsigned n) {
    const rvm_allocator al = {counted, m};
    rvm__bits_push(&al, &m->exact.bits[number_of(m)], word, n);
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
    if (!rvm__bits_pop(b, 64, &v.u)) return rvm__exact_nothing_left(m);
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
    b->coded += rvm__exact_is_inside(m);
    count(m, b->n - before);
    return RVM_OK;
}

rvm_status rvm__exact_take(rvm_machine *m, rvm_type t, rvm__exact op, double after, double f, double *y) {
    rvm__bits *b = bits_at_depth(m);
    if (!b) return RVM_ERR_MEMORY;
    const size_t before = b->n;
    if (t != RVM_F64 || kept_whole(m, b)) {
        const rvm_status status = rvm__exact_take_raw(m, y);
        if (status || !rvm__exact_is_inside(m) || leads_back(t, op, *y, f, after)) return status;
        m->exact.held += before - b->n;
        b->n = before;
        return rvm__exact_disturbed(m);
    }
    if (!rvm__exact_restore(b, op, after, f, y)) return rvm__exact_nothing_left(m);
    b->coded -= rvm__exact_is_inside(m);
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
    const rvm__bits *b = bits_there(m, m->exact.level);
    if (!b || b->n < (size_t)n * 64) return rvm__exact_nothing_left(m);
    while (n-- > 0) rvm__exact_take_raw(m, &v[n].f);
    rvm__exact_trim(m);
    return RVM_OK;
}

rvm_status rvm__exact_return_whole(rvm_machine *m, int n, const rvm_value *v) {
    const size_t recorded = m->exact.recorded;
    const rvm_status status = rvm__exact_keep_whole(m, n, v);
    m->exact.recorded = recorded;
    return status;
}

rvm_status rvm__exact_sum(rvm_machine *m, rvm_type t, bool back, bool restores, double by, double *y) {
    const rvm__exact op = back ? RVM__EXACT_SUB : RVM__EXACT_ADD, inverse = back ? RVM__EXACT_ADD : RVM__EXACT_SUB;
    double was, after;
    if (restores) {
        const bool alone = t == RVM_F64 && !rvm__exact_is_inside(m) && rvm__exact_alone(inverse, *y, by, &was);
        const rvm_status status = alone ? RVM_OK : rvm__exact_back(m, t, inverse, *y, by, &was);
        if (!status) *y = was;
        return status;
    }
    after = rvm__exact_apply(op, *y, by);
    if (t == RVM_F32) after = (double)(float)after;
    const bool alone = t == RVM_F64 && !rvm__exact_is_inside(m) && rvm__exact_alone(op, after, by, &was);
    const rvm_status status = alone ? RVM_OK : rvm__exact_keep(m, t, op, *y, by, after);
    if (status) return status;
    m->exact.updates++;
    *y = after;
    return RVM_OK;
}

/* ---- shadows of what a compute part borrows: 0 takes a bit ---- */

bool rvm__borrowed_put(rvm_machine *m, int n, const rvm_value *s) {
    const rvm_allocator al = {counted, m};
    m->exact.level = RVM__OF_BORROWED;
    rvm__bits *b = bits_at_depth(m);
    m->exact.level = RVM__OF_VALUES;
    if (!b || !rvm__bits_reserve(&al, b, (size_t)n * 65)) return false;
    const size_t before = b->n;
    for (int k = 0; k < n; k++) {
        if (s[k].u) rvm__bits_push(&al, b, s[k].u, 64);
        rvm__bits_push(&al, b, s[k].u != 0, 1);
    }
    count(m, b->n - before);
    m->exact.recorded -= b->n - before; /* of what rounding loses */
    return true;
}

bool rvm__borrowed_take(rvm_machine *m, int n, rvm_value *s) {
    const rvm_allocator al = {counted, m};
    rvm__bits *b = bits_there(m, RVM__OF_BORROWED);
    const size_t before = b ? b->n : 0;
    bool good = b;
    while (good && n-- > 0) {
        uint64_t some = 0;
        s[n].u = 0;
        good = rvm__bits_pop(b, 1, &some) && (!some || rvm__bits_pop(b, 64, &s[n].u));
    }
    if (!good && b) b->n = before;
    if (!good) return false;
    m->exact.held -= before - b->n;
    rvm__bits_trim(&al, b);
    return true;
}

uint64_t rvm__borrowed_bits(const rvm_machine *m) {
    const rvm__bits *b = bits_there(m, RVM__OF_BORROWED);
    return b ? b->n : 0;
}

void rvm__exact_clear(rvm_machine *m) {
    const rvm_allocator al = {counted, m};
    for (size_t k = 0; k < m->exact.nbits; k++) rvm__bits_free(&al, &m->exact.bits[k]);
    m->exact.held = 0;
    m->exact.restoring = false;
    m->exact.borrowing = RVM__TAKES_ALONG;
    m->exact.level = RVM__OF_VALUES;
}

void rvm__exact_free(rvm_machine *m) {
    rvm__exact_clear(m);
    rvm__resize(m, m->exact.bits, m->exact.nbits * sizeof *m->exact.bits, 0);
}
