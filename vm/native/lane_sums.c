/* lane_sums.c: additions that a group of lanes has kept until it is done (native.h), made.
 *
 * To elements that gain chunk by chunk what each lane adds is summed by itself, then all lanes by the tree
 * (docs/semantics.md, section 9): a table has each element's eight sums. To others lanes add one after the other. No element
 * is of both kinds. */
#include <string.h>

#include "memory.h"
#include "native.h"

enum { LANES = RVM__NATIVE_LANES, ALL = (1 << LANES) - 1, FEW = 4 };
_Static_assert((int)LANES == (int)RVM__PARTS, "a group's instances are its lanes");

/* Entries, one after the other, in two pieces. */
typedef struct pieces {
    char *p[2];
    uint64_t size[2];
} pieces;

typedef struct entry {
    char *where, *what;
    uint64_t tells;
    bool own; /* each lane has an address of its own */
} entry;

/* The entry at p; behind it. */
static char *read_entry(char *p, entry *e) {
    memcpy(&e->tells, p, sizeof e->tells);
    e->own = e->tells & RVM__NATIVE_OWN;
    e->where = p + sizeof e->tells;
    e->what = e->where + (e->own ? LANES : 1) * sizeof(double *);
    return e->what + LANES * sizeof(double);
}

static double *place_of(const entry *e, unsigned lane) {
    double *to;
    memcpy(&to, e->where + e->own * lane * sizeof to, sizeof to);
    return to;
}

static double value_of(const entry *e, unsigned lane) {
    double v;
    memcpy(&v, e->what + lane * sizeof v, sizeof v);
    return v;
}

static bool adds(const entry *e, unsigned lane) {
    return e->tells >> lane & 1;
}

#define EACH_ENTRY(e, of)                                                                                                   \
    for (int piece_ = 0; piece_ < 2; piece_++)                                                                              \
        for (char *p_ = (of)->p[piece_], *end_ = p_ + (of)->size[piece_]; p_ != end_ && (p_ = read_entry(p_, (e)), true);)

/* ---- lane by lane ---- */

static void add_in_order(const pieces *of, bool down) {
    entry e;
    for (unsigned n = 0; n < LANES; n++) {
        const unsigned lane = down ? LANES - 1 - n : n;
        EACH_ENTRY(&e, of)
        if (!(e.tells & RVM__NATIVE_SUMMED) && adds(&e, lane)) *place_of(&e, lane) += value_of(&e, lane);
    }
}

/* ---- each lane by itself ---- */

typedef struct total {
    double *to, by_lane[LANES];
} total;

static void clear(total *t, double *to) {
    t->to = to;
    for (unsigned lane = 0; lane < LANES; lane++) t->by_lane[lane] = -0.0;
}

static void finish(const total *t) {
    const double *v = t->by_lane;
    *t->to += ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* How many elements there may be. */
static uint64_t most_elements(const pieces *of) {
    uint64_t n = 0;
    entry e;
    EACH_ENTRY(&e, of) n += e.tells & RVM__NATIVE_SUMMED ? (e.own ? LANES : 1) : 0;
    return n;
}

typedef struct table {
    total *totals;
    uint32_t *by_hash; /* 1 + a total; 0: none */
    uint64_t n, cap;   /* cap: of by_hash, a power of 2 */
} table;

static total *total_of(table *t, double *to) {
    uint64_t at = ((uint64_t)(uintptr_t)to >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    for (at = at >> 32 & (t->cap - 1); t->by_hash[at]; at = (at + 1) & (t->cap - 1))
        if (t->totals[t->by_hash[at] - 1].to == to) return &t->totals[t->by_hash[at] - 1];
    clear(&t->totals[t->n], to);
    t->by_hash[at] = (uint32_t)++t->n;
    return &t->totals[t->n - 1];
}

static void add_by_table(const pieces *of, table *t) {
    entry e;
    memset(t->by_hash, 0, t->cap * sizeof *t->by_hash);
    EACH_ENTRY(&e, of) {
        if (!(e.tells & RVM__NATIVE_SUMMED) || !(e.tells & ALL)) continue;
        total *all = e.own ? NULL : total_of(t, place_of(&e, 0));
        for (unsigned lane = 0; lane < LANES; lane++)
            if (adds(&e, lane)) (all ? all : total_of(t, place_of(&e, lane)))->by_lane[lane] += value_of(&e, lane);
    }
    for (uint64_t k = 0; k < t->n; k++) finish(&t->totals[k]);
}

/* What all entries add there; their masks no longer have it then. */
static void add_one(const pieces *of, double *to) {
    total t;
    entry e;
    clear(&t, to);
    EACH_ENTRY(&e, of) {
        const uint64_t before = e.tells;
        for (unsigned lane = 0; lane < LANES && before & RVM__NATIVE_SUMMED; lane++) {
            if (!adds(&e, lane) || place_of(&e, lane) != to) continue;
            t.by_lane[lane] += value_of(&e, lane);
            e.tells &= ~(UINT64_C(1) << lane);
        }
        if (e.tells != before) memcpy(e.where - sizeof e.tells, &e.tells, sizeof e.tells);
    }
    finish(&t);
}

/* Where there is no memory for a table: element by element. */
static void add_one_by_one(const pieces *of) {
    entry e;
    EACH_ENTRY(&e, of)
    for (unsigned lane = 0; lane < LANES && e.tells & RVM__NATIVE_SUMMED; lane++)
        if (adds(&e, lane)) {
            add_one(of, place_of(&e, lane));
            memcpy(&e.tells, e.where - sizeof e.tells, sizeof e.tells);
        }
}

static void add_apart(rvm_machine *m, const pieces *of) {
    const uint64_t n = most_elements(of);
    table t = {.n = 0, .cap = 16};
    if (!n) return;
    while (t.cap < 2 * n) t.cap *= 2;
    const size_t bytes = n * sizeof *t.totals + t.cap * sizeof *t.by_hash;
    void **room = &m->store.scratch[SCRATCH_TOTALS];
    if (n > UINT32_MAX || m->o.memory || !rvm__reserve(m, room, &m->store.cap_scratch[SCRATCH_TOTALS], bytes, 1)) {
        add_one_by_one(of);
        return;
    }
    t.totals = *room;
    t.by_hash = (uint32_t *)(void *)(t.totals + n);
    add_by_table(of, &t);
}

/* ---- where all lanes add to the same few elements, over and over ---- */

typedef struct common {
    uint64_t tells;
    double *to;
    double v[LANES];
} common;

/* After how many entries, all of that kind, addresses come again in the same order; 0: they do not, or it is no such log. */
static size_t period_of(const common *c, uint64_t size, uint64_t tells) {
    const size_t n = size / sizeof *c;
    size_t period = n;
    if (size % sizeof *c) return 0;
    for (size_t k = 0; k < n; k++) {
        if (c[k].tells != tells) return 0;
        if (period == n && k && c[k].to == c->to) period = k;
        if (k >= period && c[k].to != c[k - period].to) return 0;
    }
    return period && n % period == 0 ? period : 0;
}

static bool ascend(const common *c, size_t n) {
    for (size_t k = 1; k < n; k++)
        if (c[k].to <= c[k - 1].to) return false;
    return true;
}

static bool descend(const common *c, size_t n) {
    for (size_t k = 1; k < n; k++)
        if (c[k].to >= c[k - 1].to) return false;
    return true;
}

/* Of many, as far as that is seen at once. */
static bool are_different(const common *c, size_t n) {
    bool differ = true;
    if (n > FEW) return ascend(c, n) || descend(c, n);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < k; i++) differ &= c[k].to != c[i].to;
    return differ;
}

static void add_few_apart(const common *c, size_t n, size_t period) {
    for (size_t k = 0; k < period; k++) {
        total t;
        clear(&t, c[k].to);
        for (size_t i = k; i < n; i += period)
            for (unsigned lane = 0; lane < LANES; lane++) t.by_lane[lane] += c[i].v[lane];
        finish(&t);
    }
}

/* Sums stay in registers: period is constant where this goes. */
static inline void add_few(const common *c, size_t n, size_t period, bool down) {
    double sum[FEW];
    for (size_t k = 0; k < period; k++) sum[k] = *c[k].to;
    for (size_t l = 0; l < LANES; l++)
        for (size_t i = 0, lane = down ? LANES - 1 - l : l; i < n; i += period)
            for (size_t k = 0; k < period; k++) sum[k] += c[i + k].v[lane];
    for (size_t k = 0; k < period; k++) *c[k].to = sum[k];
}

static void add_few_in_order(const common *c, size_t n, size_t period, bool down) {
    switch (period) {
    case 1: add_few(c, n, 1, down); break;
    case 2: add_few(c, n, 2, down); break;
    case 3: add_few(c, n, 3, down); break;
    default: add_few(c, n, 4, down);
    }
}

/* False: it is no such log. */
static bool add_periods(const pieces *of, bool down) {
    const common *c = (const common *)(const void *)of->p[1];
    const uint64_t tells = of->size[0] || of->size[1] < sizeof *c ? 0 : c->tells;
    if ((tells & ALL) != ALL || tells & RVM__NATIVE_OWN) return false;
    const size_t period = period_of(c, of->size[1], tells), n = of->size[1] / sizeof *c;
    const bool summed = tells & RVM__NATIVE_SUMMED;
    if (!period || (period > FEW && !summed) || !are_different(c, period)) return false;
    if (summed)
        add_few_apart(c, n, period);
    else
        add_few_in_order(c, n, period, down);
    return true;
}

void rvm__native_add_kept(rvm_machine *m, uint64_t kept, uint64_t down, char *log, uint64_t size) {
    pieces all = {.p = {m->store.scratch[SCRATCH_LATER], log}, .size = {kept, size}};
    if (kept && rvm__native_keep_additions(m, kept, log, size))
        all = (pieces){.p = {log, m->store.scratch[SCRATCH_LATER]}, .size = {0, kept + size}};
    if (add_periods(&all, down)) return;
    add_in_order(&all, down);
    add_apart(m, &all);
}
