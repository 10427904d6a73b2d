/* symmetric.c: entries stand once, and both their rows hold links to them, in no order; an entry leaves its rows in constant
 * time, the last of a row taking its place. To add one row to another, the entries of the latter are first marked by their
 * other rows, so that each addition finds its entry at once; where the row is much longer than what is added, each entry is
 * looked for in the shorter row that it would stand in. */
#include "symmetric.h"

#include "memory.h"

enum { NONE = -1 };

/* ---- tables ---- */

static size_t home(const rvm__table *t, uint64_t key) {
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (t->cap - 1);
}

static rvm__cell_of *find(const rvm__table *t, uint64_t key) {
    if (!t->cap) return NULL;
    for (size_t k = home(t, key); t->cells[k].key; k = (k + 1) & (t->cap - 1))
        if (t->cells[k].key == key) return &t->cells[k];
    return NULL;
}

static void place(rvm__table *t, uint64_t key, uint32_t number) {
    size_t k = home(t, key);
    while (t->cells[k].key) k = (k + 1) & (t->cap - 1);
    t->cells[k] = (rvm__cell_of){key, number};
}

/* Key is not in the table. */
static bool insert(rvm_machine *m, rvm__table *t, uint64_t key, uint32_t number) {
    if (2 * (t->n + 1) > t->cap) {
        rvm__table larger = {.cap = t->cap ? 2 * t->cap : 64, .n = t->n};
        larger.cells = rvm__zeroed(m, larger.cap * sizeof *larger.cells);
        if (!larger.cells) return false;
        for (size_t k = 0; k < t->cap; k++)
            if (t->cells[k].key) place(&larger, t->cells[k].key, t->cells[k].number);
        rvm__resize(m, t->cells, t->cap * sizeof *t->cells, 0);
        *t = larger;
    }
    t->n++;
    place(t, key, number);
    return true;
}

/* What stands behind the hole and would be looked for from before it moves up. */
static void erase(rvm__table *t, uint64_t key) {
    rvm__cell_of *c = find(t, key);
    if (!c) return;
    const size_t mask = t->cap - 1;
    size_t hole = (size_t)(c - t->cells);
    for (size_t k = (hole + 1) & mask; t->cells[k].key; k = (k + 1) & mask)
        if (((k - home(t, t->cells[k].key)) & mask) >= ((k - hole) & mask)) {
            t->cells[hole] = t->cells[k];
            hole = k;
        }
    t->cells[hole].key = 0;
    t->n--;
}

/* ---- rows and entries ---- */

void rvm__sym_init(rvm__sym *s, rvm_machine *m) {
    *s = (rvm__sym){.m = m};
}

void rvm__sym_free(rvm__sym *s) {
    if (!s->m) return;
    for (uint32_t k = 0; k < s->nrows; k++)
        rvm__resize(s->m, s->rows[k].links, s->rows[k].cap * sizeof *s->rows[k].links, 0);
    rvm__resize(s->m, s->rows, s->cap_rows * sizeof *s->rows, 0);
    rvm__resize(s->m, s->marks, s->cap_marks * sizeof *s->marks, 0);
    rvm__resize(s->m, s->entries, s->cap_entries * sizeof *s->entries, 0);
    rvm__resize(s->m, s->row_of.cells, s->row_of.cap * sizeof *s->row_of.cells, 0);
    *s = (rvm__sym){0};
}

static int64_t number_of(const rvm__sym *s, rvm__key key) {
    const rvm__cell_of *c = find(&s->row_of, key);
    return c ? (int64_t)c->number : NONE;
}

rvm__sym_row *rvm__sym_row_of(const rvm__sym *s, rvm__key key) {
    const int64_t r = number_of(s, key);
    return r < 0 ? NULL : &s->rows[r];
}

/* The number of the row, which is made where there is none; NONE when out of memory. */
static int64_t row_number(rvm__sym *s, rvm__key key) {
    const int64_t found = number_of(s, key);
    if (found >= 0) return found;
    uint32_t r = s->free_row;
    if (!r) {
        if (!rvm__reserve(s->m, (void **)&s->rows, &s->cap_rows, (size_t)s->nrows + 1, sizeof *s->rows) ||
            !rvm__reserve(s->m, (void **)&s->marks, &s->cap_marks, (size_t)s->nrows + 1, sizeof *s->marks))
            return NONE;
        r = ++s->nrows;
        s->rows[r - 1].n = 0;
    }
    rvm__sym_row *row = &s->rows[r - 1];
    const uint32_t next = s->free_row ? row->n : 0;
    if (!insert(s->m, &s->row_of, key, r - 1)) return NONE;
    s->free_row = next;
    row->n = 0;
    row->key = key;
    row->label = -1;
    return r - 1;
}

static void free_row(rvm__sym *s, uint32_t r) {
    rvm__sym_row *row = &s->rows[r];
    erase(&s->row_of, row->key);
    row->key = 0;
    row->n = s->free_row;
    s->free_row = r + 1;
}

static bool push_link(rvm__sym *s, uint32_t r, uint32_t other, uint32_t e, uint32_t *at) {
    rvm__sym_row *row = &s->rows[r];
    if (row->n == row->cap) {
        const uint32_t cap = row->cap ? 2 * row->cap : 4;
        rvm__link *p = rvm__resize(s->m, row->links, row->cap * sizeof *p, cap * sizeof *p);
        if (!p) return false;
        row->links = p;
        row->cap = cap;
    }
    *at = row->n;
    row->links[row->n++] = (rvm__link){other, e};
    return true;
}

static bool new_entry(rvm__sym *s, uint32_t a, uint32_t b, double v) {
    uint32_t e = s->free_entry;
    if (v == 0 && !s->structural) return true;
    if (!e) {
        if (!rvm__reserve(s->m, (void **)&s->entries, &s->cap_entries, (size_t)s->nentries + 1, sizeof *s->entries))
            return false;
        e = ++s->nentries;
    } else
        s->free_entry = s->entries[e - 1].at[0];
    rvm__entry *entry = &s->entries[--e];
    *entry = (rvm__entry){.end = {a, b}, .value = v};
    if (++s->live > s->live_peak) s->live_peak = s->live;
    return push_link(s, a, b, e, &entry->at[0]) && (a == b || push_link(s, b, a, e, &entry->at[1]));
}

/* The entry of two rows, from the shorter of them; or NULL. */
static rvm__entry *look_up(const rvm__sym *s, uint32_t a, uint32_t b) {
    if (s->rows[a].n > s->rows[b].n) {
        const uint32_t shorter = b;
        b = a;
        a = shorter;
    }
    const rvm__sym_row *row = &s->rows[a];
    for (uint32_t k = 0; k < row->n; k++)
        if (row->links[k].other == b) return &s->entries[row->links[k].entry];
    return NULL;
}

static bool add(rvm__sym *s, uint32_t a, uint32_t b, double v) {
    rvm__entry *e = look_up(s, a, b);
    s->updates++;
    if (e) e->value += v;
    return e || new_entry(s, a, b, v);
}

static void remove_link(rvm__sym *s, uint32_t r, uint32_t at) {
    rvm__sym_row *row = &s->rows[r];
    const rvm__link moved = row->links[--row->n];
    row->links[at] = moved;
    rvm__entry *entry = &s->entries[moved.entry];
    entry->at[entry->end[0] == r ? 0 : 1] = at;
}

/* Marks the entries of a row by their other rows. */
static void mark(rvm__sym *s, uint32_t r) {
    const rvm__sym_row *row = &s->rows[r];
    s->now++;
    for (uint32_t k = 0; k < row->n; k++) s->marks[row->links[k].other] = (rvm__row_mark){s->now, row->links[k].entry};
}

/* ---- the operations ---- */

bool rvm__sym_add(rvm__sym *s, rvm__key a, rvm__key b, double v) {
    if (v == 0) return true;
    const int64_t p = row_number(s, a), q = p < 0 ? NONE : row_number(s, b);
    return q >= 0 && add(s, (uint32_t)p, (uint32_t)q, v);
}

/* To the entry of a row and another, which is looked for, or marked. */
static bool add_to(rvm__sym *s, uint32_t to, uint32_t other, double v, bool singly) {
    if (singly) return add(s, to, other, v);
    s->updates++;
    if (s->marks[other].when != s->now) return new_entry(s, to, other, v);
    s->entries[s->marks[other].entry].value += v;
    return true;
}

/* Whether looking for each entry by itself is less work than marking the row they go to. */
static bool is_long(const rvm__sym *s, uint32_t to, uint32_t from) {
    const rvm__sym_row *row = &s->rows[from];
    const uint32_t most = s->rows[to].n / 4;
    uint32_t work = 0;
    for (uint32_t k = 0; k < row->n && work < most; k++) work += 1 + s->rows[row->links[k].other].n;
    return work < most;
}

bool rvm__sym_shear(rvm__sym *s, rvm__key y, rvm__key a, double c) {
    const int64_t found = number_of(s, y);
    if (found < 0 || (c == 0 && !s->structural) || !s->rows[found].n) return true;
    const int64_t goal = row_number(s, a);
    if (goal < 0) return false;
    const uint32_t from = (uint32_t)found, to = (uint32_t)goal;
    const bool singly = is_long(s, to, from);
    double yy = 0, ya = 0;
    bool has_yy = false, good = true;
    if (!singly) mark(s, to);
    for (uint32_t k = 0, n = s->rows[from].n; k < n && good; k++) {
        const rvm__link l = s->rows[from].links[k];
        const double v = s->entries[l.entry].value;
        if (l.other == from)
            yy = v, has_yy = true;
        else if (l.other == to)
            ya = v;
        else
            good = add_to(s, to, l.other, c * v, singly);
    }
    const double aa = 2 * c * ya + c * c * yy;
    return good && (aa == 0 || add_to(s, to, to, aa, singly)) && (!has_yy || add_to(s, to, from, c * yy, singly));
}

void rvm__sym_scale(rvm__sym *s, rvm__key y, double c) {
    const int64_t r = number_of(s, y);
    if (c == 0) {
        rvm__sym_drop(s, y);
        return;
    }
    for (uint32_t k = 0; r >= 0 && c != 1 && k < s->rows[r].n; k++) {
        const rvm__link l = s->rows[r].links[k];
        s->entries[l.entry].value *= l.other == r ? c * c : c;
        s->updates++;
    }
}

void rvm__sym_drop(rvm__sym *s, rvm__key y) {
    const int64_t r = number_of(s, y);
    if (r < 0) return;
    for (uint32_t k = 0; k < s->rows[r].n; k++) {
        const rvm__link l = s->rows[r].links[k];
        rvm__entry *e = &s->entries[l.entry];
        if (l.other != r) remove_link(s, l.other, e->at[e->end[0] == l.other ? 0 : 1]);
        e->at[0] = s->free_entry;
        s->free_entry = l.entry + 1;
        s->live--;
    }
    free_row(s, (uint32_t)r);
}

bool rvm__sym_rename(rvm__sym *s, rvm__key from, rvm__key to) {
    if (from == to) return true;
    rvm__sym_drop(s, to);
    const int64_t r = number_of(s, from);
    if (r < 0) return true;
    erase(&s->row_of, from);
    s->rows[r].key = to;
    return insert(s->m, &s->row_of, to, (uint32_t)r);
}
