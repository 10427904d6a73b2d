/* runs.c: see cell_runs.h. */
#include "cell_runs.h"

#include <string.h>

#include "chunks.h"
#include "memory.h"

static rvm_status push_cells(rvm_machine *m, rvm__trail_stack *t, const rvm_value *v, size_t n, size_t *done) {
    for (*done = 0; *done < n;) {
        const rvm_status status = t->n == t->cap ? rvm__cells_room(m, t) : RVM_OK;
        if (status) return status;
        const size_t room = t->cap - t->n, now = room < n - *done ? room : n - *done;
        memcpy(t->cells + t->n, v + *done, now * sizeof *v);
        t->n += (uint32_t)now;
        m->trail.held += now;
        *done += now;
    }
    return RVM_OK;
}

static void drop_cells(rvm_machine *m, rvm__trail_stack *t, size_t n) {
    while (n) {
        const uint32_t now = t->n < n ? t->n : (uint32_t)n;
        rvm__cells_drop(m, t, now);
        n -= now;
    }
}

/* n entries on their own kind; all at once, or where the limit is near, one by one. */
static rvm_status link_all(rvm_machine *m, rvm__trail_link *l, uint32_t kind, size_t n) {
    uint32_t number;
    size_t k = 0;
    rvm_status status = rvm__link_reserve(m, l, kind, &number);
    if (!status) status = rvm__link_put_all(m, l, number, n);
    if (status != RVM_ERR_LIMIT) return status;
    for (; k < n && !(status = rvm__link_reserve(m, l, kind, &number)); k++) rvm__link_put(m, l, number);
    while (status && k-- > 0) rvm__link_take(m, l);
    return status;
}

static rvm_status push_one(rvm_machine *m, uint32_t level, uint32_t site, rvm_value v) {
    return rvm__trail_push(m, level, &(rvm__trail_entry){site, 1, {v}, {0}});
}

rvm_status rvm__trail_push_run(rvm_machine *m, uint32_t level, uint32_t site, const rvm_value *v, size_t n) {
    size_t done = 0;
    if (!n) return RVM_OK;
    if (rvm__trail_discards(m, level)) {
        m->trail.erased[level > 0] += n * rvm__site_bits(m, site);
        return RVM_OK;
    }
    rvm_status status = RVM_OK;
    if (m->trail.ones[site]) { /* of no array that a program has */
        for (; done < n && !(status = push_one(m, level, site, v[done])); done++) {}
        while (status && done-- > 0) rvm__trail_pop(m, level);
        return status;
    }
    status = push_one(m, level, site, v[0]);
    if (status || n == 1) return status;
    rvm__trail_stack *t = rvm__trail_present(m, level);
    status = push_cells(m, t, v + 1, n - 1, &done);
    if (!status) status = link_all(m, &t->links[site], site, n - 1);
    if (!status) return RVM_OK;
    drop_cells(m, t, done);
    rvm__trail_pop(m, level);
    return status;
}

/* Chunks that hold so many cells from the top are in memory, and the one below those, which pops stand on next. */
static rvm_status reach(rvm_machine *m, const rvm__trail_stack *t, size_t n) {
    size_t there = t->n;
    for (rvm__trail_chunk *c = t->top ? t->top->below : NULL; c; there += c->cap, c = c->below) {
        const rvm_status status = c->cells ? RVM_OK : rvm__spill_in(m, c);
        if (status || there >= n) return status;
    }
    return RVM_OK;
}

rvm_status rvm__trail_reach(rvm_machine *m, uint32_t level, size_t n) {
    const rvm__trail_stack *t = rvm__trail_present(m, level);
    return t && m->trail.spill ? reach(m, t, n) : RVM_OK;
}

rvm_status rvm__trail_pop_run(rvm_machine *m, uint32_t level, uint32_t site, rvm_value *v, size_t n) {
    rvm__trail_stack *t = rvm__trail_present(m, level);
    if (!t || !n || t->last != site || m->trail.ones[site] || m->trail.broken) return RVM_ERR_USAGE;
    rvm_status status = rvm__trail_reach(m, level, n + RVM__ENTRY_CELLS);
    if (status) return status;
    rvm__trail_link *l = &t->links[site];
    rvm__link_spot s = rvm__link_top(l);
    if (rvm__link_down_all(l, &s, site, n - 1) < n - 1) return RVM_ERR_USAGE;
    rvm__trail_note_peak(m);
    t->last = rvm__link_down(l, &s);
    rvm__link_leave(m, l, &s);
    for (size_t left = n; left;) {
        const size_t now = t->n < left ? t->n : left;
        memcpy(v + left - now, t->cells + t->n - now, now * sizeof *v);
        rvm__cells_drop(m, t, (uint32_t)now);
        left -= now;
        if (m->trail.broken && left) return m->trail.broken;
    }
    return RVM_OK;
}
