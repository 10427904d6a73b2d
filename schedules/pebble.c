/* pebble.c: the fewest moves of reversible pebbling on a chain. E. Knill, arXiv:math/9508218.
 *
 *     F(1, s) = 1,  F(n, s) = min over m of G(m) + H(n - m),  G(m) = F(m, s) + F(m, s - 1),  H(m) = F(m, s - 1)
 *
 * F rises with n in increments that never become smaller: by induction G and H do, too, and the least sum of two such takes
 * their increments in order of size. So the increments d of F(., s) are 2, then those of H and of G merged, where those of G
 * are d itself plus those of H; F(2^(s - 1), s) is the last there is. A table keeps runs of equal increments: for 10^4 steps
 * a few hundred in all.
 */
#include "schedule.h"

typedef struct run {
    uint64_t increment, sum; /* sum: of all increments up to the end of the run */
    uint32_t end;            /* increments up to there */
} run;

typedef struct row {
    run *runs;
    uint32_t n, cap;
} row;

struct rvm__pebble_table {
    const rvm_allocator *al;
    row *rows; /* by s, from 1 */
    uint32_t nrows;
};

static bool append(const rvm_allocator *al, row *r, uint64_t increment, uint32_t count) {
    const bool same = r->n && r->runs[r->n - 1].increment == increment;
    const run before = r->n ? r->runs[r->n - 1] : (run){0};
    if (!same && !rvm__grow(al, (void **)&r->runs, &r->cap, r->n + 1, sizeof *r->runs)) return false;
    r->runs[r->n - same] = (run){increment, before.sum + increment * count, before.end + count};
    r->n += !same;
    return true;
}

/* The run that holds increment k, from 0; n where the row is shorter. Binary search. */
static uint32_t find(const row *r, uint32_t k) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->runs[middle].end <= k)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where a merge stands in a row. */
typedef struct cursor {
    uint32_t run, taken;
} cursor;

static void advance(const row *r, cursor *c, uint32_t count) {
    c->taken += count;
    while (c->run < r->n && r->runs[c->run].end <= c->taken) c->run++;
}

static uint32_t left_in_run(const row *r, cursor c) {
    return r->runs[c.run].end - c.taken;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* d, as far as `most` increments, from those of the row before it. At equal increments those of H come first. */
static bool merge(const rvm_allocator *al, const row *h, row *d, uint32_t most) {
    cursor from_h = {0, 0}, g_in_h = {0, 0}, g_in_d = {0, 0};
    if (!append(al, d, 2, 1)) return false;
    for (uint32_t left = most - 1; left;) {
        const bool is_h = from_h.run < h->n, is_g = g_in_h.run < h->n;
        if (!is_h && !is_g) break;
        const uint64_t g = is_g ? d->runs[g_in_d.run].increment + h->runs[g_in_h.run].increment : 0;
        uint32_t count;
        if (is_h && (!is_g || h->runs[from_h.run].increment <= g)) {
            count = least(left, left_in_run(h, from_h));
            if (!append(al, d, h->runs[from_h.run].increment, count)) return false;
            advance(h, &from_h, count);
        } else {
            count = least(left, least(left_in_run(h, g_in_h), left_in_run(d, g_in_d)));
            if (!append(al, d, g, count)) return false;
            advance(h, &g_in_h, count);
            advance(d, &g_in_d, count);
        }
        left -= count;
    }
    return true;
}

rvm_status rvm__pebble_table_new(const rvm_allocator *al, uint32_t steps, uint32_t s, rvm__pebble_table **out,
                                 rvm_error *err) {
    rvm__pebble_table *t = rvm__realloc(al, NULL, 0, sizeof *t);
    if (!t) return rvm__fail_memory(err);
    *t = (rvm__pebble_table){.al = al, .nrows = least(s, steps) + 1};
    t->rows = rvm__realloc(al, NULL, 0, (size_t)t->nrows * sizeof *t->rows);
    if (!t->rows) goto fail;
    for (uint32_t k = 0; k < t->nrows; k++) t->rows[k] = (row){0};
    for (uint32_t k = 2; k < t->nrows; k++)
        if (!merge(al, &t->rows[k - 1], &t->rows[k], steps - 1)) goto fail;
    *out = t;
    return RVM_OK;
fail:
    rvm__pebble_table_free(t);
    return rvm__fail_memory(err);
}

void rvm__pebble_table_free(rvm__pebble_table *t) {
    if (!t) return;
    for (uint32_t k = 0; t->rows && k < t->nrows; k++)
        rvm__realloc(t->al, t->rows[k].runs, (size_t)t->rows[k].cap * sizeof(run), 0);
    rvm__realloc(t->al, t->rows, (size_t)t->nrows * sizeof(row), 0);
    rvm__realloc(t->al, t, sizeof *t, 0);
}

/* More states than steps are of no use. */
static const row *row_of(const rvm__pebble_table *t, uint32_t s) {
    return &t->rows[least(s, t->nrows - 1)];
}

uint64_t rvm__pebble_cost(const rvm__pebble_table *t, uint32_t steps, uint32_t s) {
    const row *r = row_of(t, s);
    if (steps == 1) return 1;
    const run *in = &r->runs[find(r, steps - 2)];
    return 1 + in->sum - in->increment * (in->end - (steps - 1));
}

/* Increments below v. */
static uint32_t count_below(const row *r, uint64_t v) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->runs[middle].increment < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? r->runs[low - 1].end : 0;
}

/* m - 1 is how many increments of G are among the first of the merge: it took all below the last one's size, then those of H
 * of this size. */
uint32_t rvm__pebble_split(const rvm__pebble_table *t, uint32_t steps, uint32_t s) {
    const row *d = row_of(t, s), *h = d - 1;
    if (steps == 2) return 1;
    const uint64_t last = d->runs[find(d, steps - 2)].increment;
    const uint32_t merged = steps - 2, first = last > 2;
    const uint32_t g_below = count_below(d, last) - first - count_below(h, last);
    return merged - least(count_below(h, last + 1), merged - g_below) + 1;
}

static rvm_status expand(rvm__maker *m, const void *table, rvm__task t) {
    if (t.len == 1) return rvm__add_move(m, t.back ? RVM_MOVE_UNCOMPUTE : RVM_MOVE_FORWARD, t.lo + 1);
    const uint32_t split = rvm__pebble_split(table, t.len, t.budget), less = t.budget - 1;
    rvm__task low = {.lo = t.lo, .len = split}, low_back = {.lo = t.lo, .len = split, .back = true};
    low.budget = t.back ? less : t.budget;
    low_back.budget = t.back ? t.budget : less;
    RVM__TRY(rvm__push_task(m, low_back));
    RVM__TRY(rvm__push_task(m, (rvm__task){.lo = t.lo + split, .len = t.len - split, .budget = less, .back = t.back}));
    return rvm__push_task(m, low);
}

rvm_status rvm__pebble_make(rvm__maker *m, const rvm__pebble_table *t, uint32_t steps, uint32_t s) {
    RVM__TRY(rvm__push_task(m, (rvm__task){.len = steps, .budget = least(s, steps)}));
    return rvm__expand_tasks(m, expand, t);
}
