/* trail.c: the stacks of the trail. See trail.h. */
#include "chunks.h"
#include "copy.h"
#include "kinds.h"
#include "sites.h"

#include <string.h>

#include "memory.h"

/* ---- the machine's ---- */

bool rvm__trail_init(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    tr->none.last = tr->redo.last = RVM__TRAIL_BOTTOM;
    tr->now = &tr->none;
    for (uint32_t fn = 0; fn < m->p->nfunctions; fn++)
        RVM__EACH_INSN(x, &m->p->functions[fn]) tr->forgets |= x.in->flags & RVM_FLAG_FORGETS;
    return rvm__kinds_init(m);
}

uint64_t rvm__site_bits(const rvm_machine *m, uint32_t site) {
    return m->trail.ones[site] ? 1 : 64;
}

uint32_t rvm__trail_site(const rvm_machine *m, int64_t site) {
    return rvm__sites_find(m->trail.sites, m->trail.nsites, site);
}

static void release(rvm_machine *m, rvm__trail_stack *t) {
    rvm__cells_clear(m, t);
    for (uint32_t kind = 0; kind < t->nlinks; kind++) rvm__link_free(m, &t->links[kind]);
    rvm__resize(m, t->links, t->nlinks * sizeof *t->links, 0);
    m->trail.linked -= t->links != NULL;
    *t = (rvm__trail_stack){.last = RVM__TRAIL_BOTTOM};
}

/* ---- depth ---- */

static size_t depth(const rvm_machine *m, uint32_t level) {
    return (size_t)m->trail.deep + m->trail.segments[level];
}

bool rvm__trail_discards(const rvm_machine *m, uint32_t level) {
    const rvm__trail *tr = &m->trail;
    if (!((tr->discards | tr->forgotten) >> level & 1)) return false;
    if (!tr->nforgetting) return depth(m, level) == 0;
    const rvm__forgetting *part = &tr->forgetting[tr->nforgetting - 1];
    return part->discards >> level & 1 && tr->deep == part->deep && tr->segments[level] == part->segments[level];
}

rvm__trail_stack *rvm__trail_present(const rvm_machine *m, uint32_t level) {
    const rvm__trail *tr = &m->trail;
    const size_t d = depth(m, level);
    return d < tr->nstacks[level] && !rvm__trail_discards(m, level) ? &tr->stacks[level][d] : NULL;
}

static void refresh(rvm_machine *m) {
    rvm__trail_stack *t = rvm__trail_present(m, 0);
    m->trail.now = t ? t : &m->trail.none;
}

void rvm__trail_deeper(rvm_machine *m, int by) {
    if (m->exact.native) rvm__exact_close(m);
    m->trail.deep += (uint32_t)by;
    refresh(m);
    if (m->exact.native) rvm__exact_open(m);
}

void rvm__trail_segment(rvm_machine *m, uint32_t level, int by) {
    if (m->exact.native) rvm__exact_close(m);
    for (uint32_t k = 0; k <= level; k++) m->trail.segments[k] += (uint32_t)by;
    refresh(m);
    if (m->exact.native) rvm__exact_open(m);
}

void rvm__trail_clear(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    for (int level = 0; level < RVM_MAX_ORDER && (tr->linked || tr->granted || tr->spill); level++)
        for (size_t d = 0; d < tr->nstacks[level]; d++) release(m, &tr->stacks[level][d]);
    if (tr->granted) release(m, &tr->redo);
    rvm__kinds_clear(m);
    tr->held = tr->words = tr->redo_zeros = 0;
    tr->deep = 0;
    tr->nforgetting = 0;
    tr->forgotten = 0;
    tr->broken = RVM_OK;
    memset(tr->segments, 0, sizeof tr->segments);
    refresh(m);
}

void rvm__trail_free(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    rvm__trail_clear(m);
    rvm__cells_end(m);
    rvm__spill_end(m);
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        rvm__resize(m, tr->stacks[level], tr->nstacks[level] * sizeof *tr->stacks[level], 0);
    rvm__resize(m, tr->spots, tr->cap_spots * sizeof *tr->spots, 0);
    rvm__resize(m, tr->forgetting, tr->cap_forgetting * sizeof *tr->forgetting, 0);
    rvm__kinds_free(m);
}

/* ---- statistics ---- */

uint64_t rvm__trail_bytes(const rvm_machine *m) {
    return m->trail.held * RVM__TRAIL_CELL;
}

void rvm__trail_note_peak(rvm_machine *m) {
    if (m->trail.held > m->trail.peak) m->trail.peak = m->trail.held;
}

static uint64_t flags_held(const rvm__trail *tr) {
    uint64_t n = 0;
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        for (size_t d = 0; d < tr->nstacks[level]; d++) n += tr->stacks[level][d].flags;
    return n;
}

void rvm__trail_stats(const rvm_machine *m, rvm_stats *out) {
    const rvm__trail *tr = &m->trail;
    out->trail_cells = tr->held - tr->words + flags_held(tr);
    out->trail_peak = (tr->held > tr->peak ? tr->held : tr->peak) * RVM__TRAIL_CELL;
    out->bits_trail = tr->erased[RVM__ERASED_VALUES];
    out->bits_shadows = tr->erased[RVM__ERASED_GRADIENTS];
    out->bits_forgotten = tr->erased[RVM__ERASED_PLACES];
}

/* ---- pushing ---- */

bool rvm__trail_stacks(rvm_machine *m, uint32_t level, size_t n) {
    rvm__trail *tr = &m->trail;
    size_t k = tr->nstacks[level];
    if (!rvm__reserve(m, (void **)&tr->stacks[level], &tr->nstacks[level], n, sizeof **tr->stacks)) return false;
    for (; k < tr->nstacks[level]; k++) tr->stacks[level][k].last = RVM__TRAIL_BOTTOM;
    return true;
}

bool rvm__trail_links(rvm_machine *m, rvm__trail_stack *t, uint32_t n) {
    if (n <= t->nlinks) return true;
    const uint32_t want = n > m->trail.nstatic ? n + n / 8 : m->trail.nstatic;
    void *p = rvm__resize(m, t->links, t->nlinks * sizeof *t->links, want * sizeof *t->links);
    if (!p) return false;
    m->trail.linked += !t->links;
    t->links = p;
    for (; t->nlinks < want; t->nlinks++) rvm__link_init(&t->links[t->nlinks]);
    return true;
}

static rvm_status stack_for(rvm_machine *m, uint32_t level, rvm__trail_stack **t) {
    if ((*t = rvm__trail_present(m, level))) return RVM_OK;
    if (!rvm__trail_stacks(m, level, depth(m, level) + 1)) return RVM_ERR_MEMORY;
    refresh(m);
    *t = rvm__trail_present(m, level);
    return RVM_OK;
}

void rvm__entry_insert(rvm__trail_entry *entry, uint32_t index, rvm_value v) {
    uint32_t k = entry->n;
    if (index && !v.u) return;
    for (; k > 0 && entry->index[k - 1] > index; k--) {
        entry->value[k] = entry->value[k - 1];
        entry->index[k] = entry->index[k - 1];
    }
    entry->value[k] = v;
    entry->index[k] = (uint8_t)index;
    entry->n++;
}

static void drop_cells(rvm_machine *m, rvm__trail_stack *t, uint32_t n) {
    for (; n && t->n; n--) rvm__cells_drop(m, t, 1); /* fewer where one below cannot be read */
}

/* The cells of an entry; all or none. */
static rvm_status put_cells(rvm_machine *m, rvm__trail_stack *t, const rvm__trail_entry *entry, bool masked) {
    rvm_value cells[RVM__ENTRY_CELLS + 2];
    uint64_t mask[2] = {0, 0};
    uint32_t n = 0, done = 0;
    rvm_status status = RVM_OK;
    for (uint32_t k = entry->n; k-- > 1;) {
        cells[n++] = entry->value[k];
        mask[entry->index[k] / 64] |= UINT64_C(1) << entry->index[k] % 64;
    }
    for (int k = 0; masked && k < 2; k++) cells[n++].u = mask[k];
    cells[n++] = entry->value[0];
    while (done < n && !(status = rvm__cells_put(m, t, cells[done]))) done++;
    if (status) drop_cells(m, t, done);
    return status;
}

rvm_status rvm__trail_push(rvm_machine *m, uint32_t level, const rvm__trail_entry *entry) {
    rvm__trail_stack *t;
    uint32_t kind, number;
    if (rvm__trail_discards(m, level)) {
        m->trail.erased[level > 0] += rvm__site_bits(m, entry->site) + 64 * (uint64_t)(entry->n - 1);
        return RVM_OK;
    }
    rvm_status status = stack_for(m, level, &t);
    if (status) return status;
    if (!rvm__kind_of(m, entry, &kind) || !rvm__trail_links(m, t, kind + 1)) return RVM_ERR_MEMORY;
    const uint8_t what = m->trail.kinds[kind].what;
    const bool flag = what == RVM__TRAIL_ZERO || what == RVM__TRAIL_ONE, masked = what == RVM__TRAIL_MASKED;
    if (!flag && (status = put_cells(m, t, entry, masked))) return status;
    if ((status = rvm__link_reserve(m, &t->links[kind], t->last, &number))) {
        drop_cells(m, t, flag ? 0 : entry->n + 2u * masked);
        return status;
    }
    rvm__link_put(m, &t->links[kind], number);
    t->flags += flag;
    t->last = kind;
    return RVM_OK;
}

rvm_status rvm__trail_push_plain(rvm_machine *m, uint32_t level, uint32_t site, rvm_value value) {
    rvm__trail_stack *t = rvm__trail_present(m, level);
    if (!t || t->n == t->cap || m->trail.ones[site] || !rvm__trail_on(t, site))
        return rvm__trail_push(m, level, &(rvm__trail_entry){site, 1, {value}, {0}});
    t->cells[t->n++] = value;
    m->trail.held++;
    return RVM_OK;
}

rvm_status rvm__trail_push_value(rvm_machine *m, uint32_t site, rvm_value value, rvm_value shadow) {
    rvm__trail_entry entry;
    entry.site = site;
    entry.n = shadow.u ? 2 : 1;
    entry.value[0] = value;
    entry.value[1] = shadow;
    entry.index[1] = 1;
    return rvm__trail_push(m, 0, &entry);
}

/* ---- taking back ---- */

rvm__trail_cursor rvm__trail_begin(const rvm_machine *m, uint32_t level) {
    const rvm__trail_stack *t = rvm__trail_present(m, level);
    if (!t) return (rvm__trail_cursor){.kind = RVM__TRAIL_BOTTOM};
    return (rvm__trail_cursor){.trail = &m->trail, .stack = t, .chunk = t->top, .n = t->n, .kind = t->last};
}

rvm__trail_cursor rvm__trail_walk_by(const rvm_machine *m, uint32_t level, rvm__link_spot *spots, uint32_t walk) {
    rvm__trail_cursor c = rvm__trail_begin(m, level);
    c.spots = spots;
    c.walk = walk;
    return c;
}

bool rvm__trail_walk(rvm_machine *m, uint32_t level, rvm__trail_cursor *c) {
    rvm__trail *tr = &m->trail;
    if (!rvm__reserve(m, (void **)&tr->spots, &tr->cap_spots, tr->nkinds, sizeof *tr->spots)) return false;
    if (!++tr->walks) {
        memset(tr->spots, 0, tr->cap_spots * sizeof *tr->spots);
        tr->walks = 1;
    }
    *c = rvm__trail_walk_by(m, level, tr->spots, tr->walks);
    return true;
}

/* The cell beneath the last one; false: it cannot be read. */
static bool next_cell(rvm__trail_cursor *c, rvm_value *v) {
    while (c->chunk && !c->n) {
        c->chunk = c->chunk->below && c->chunk->below->cells ? c->chunk->below : NULL;
        c->n = c->chunk ? c->chunk->cap : 0;
    }
    if (!c->chunk || !c->chunk->cells) return false;
    *v = c->chunk->cells[--c->n];
    return true;
}

static uint32_t kind_below(const rvm__trail_cursor *c) {
    const rvm__trail_link *l = &c->stack->links[c->kind];
    rvm__link_spot *s = &c->spots[c->kind];
    if (s->walk != c->walk) *s = rvm__link_top(l);
    s->walk = c->walk;
    return rvm__link_down(l, s);
}

static bool masked_cells(rvm__trail_cursor *c, rvm__trail_entry *entry) {
    rvm_value high, low;
    bool good = next_cell(c, &high) && next_cell(c, &low);
    for (unsigned k = 0; k < RVM__ENTRY_CELLS && good; k++) {
        if (!((k < 64 ? low.u : high.u) >> k % 64 & 1)) continue;
        entry->index[entry->n] = (uint8_t)k;
        good = next_cell(c, &entry->value[entry->n++]);
    }
    return good;
}

bool rvm__trail_next(rvm__trail_cursor *c, rvm__trail_entry *entry) {
    if (c->begun) c->kind = c->spots ? kind_below(c) : RVM__TRAIL_BOTTOM;
    if (c->kind == RVM__TRAIL_BOTTOM) return false;
    const rvm__trail_kind *k = &c->trail->kinds[c->kind];
    c->begun = true;
    entry->site = k->site;
    entry->n = 1;
    entry->value[0].u = k->what == RVM__TRAIL_ONE;
    if (k->what == RVM__TRAIL_ZERO || k->what == RVM__TRAIL_ONE) return true;
    bool good = next_cell(c, &entry->value[0]);
    if (k->what == RVM__TRAIL_MASKED) return good && masked_cells(c, entry);
    for (uint32_t i = 0; i < k->extra && good; i++) {
        entry->index[entry->n] = k->index[i];
        good = next_cell(c, &entry->value[entry->n++]);
    }
    return good;
}

const rvm_value *rvm__trail_top(const rvm_machine *m, uint32_t level, uint32_t site) {
    static const rvm_value flags[2] = {{.u = 0}, {.u = 1}};
    const rvm__trail_stack *t = rvm__trail_present(m, level);
    const rvm__trail_kind *k = t && t->last != RVM__TRAIL_BOTTOM ? &m->trail.kinds[t->last] : NULL;
    if (!k || k->site != site) return NULL;
    if (k->what == RVM__TRAIL_ZERO || k->what == RVM__TRAIL_ONE) return &flags[k->what == RVM__TRAIL_ONE];
    return k->what == RVM__TRAIL_VALUES && !k->extra && t->n ? &t->cells[t->n - 1] : NULL;
}

const rvm_value *rvm__trail_top_cell(const rvm_machine *m) {
    const rvm__trail_stack *t = m->trail.now;
    if (t->last == RVM__TRAIL_BOTTOM || !t->n) return NULL;
    const uint8_t what = m->trail.kinds[t->last].what;
    return what == RVM__TRAIL_ZERO || what == RVM__TRAIL_ONE ? NULL : &t->cells[t->n - 1];
}

/* Where the program has the site, for a message. */
static uint32_t line_of(const rvm_program *p, uint32_t site) {
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn])
            if (rvm__insn_site(x.f, x.in) == site) return x.f->positions[x.pc].line;
    return 0;
}

rvm_status rvm__trail_wrong(rvm_machine *m, uint32_t level, const rvm__trail_entry *found) {
    if (m->trail.broken) return m->trail.broken; /* the reason is there */
    if (found)
        snprintf(m->detail, sizeof m->detail, "the trail holds what line %u left there",
                 line_of(m->p, m->trail.sites[found->site]));
    else if (rvm__trail_discards(m, level))
        snprintf(m->detail, sizeof m->detail, "%s: what was overwritten has been discarded",
                 m->trail.nforgetting ? "what this compute part overwrites is forgotten" : "the trail is off");
    else
        snprintf(m->detail, sizeof m->detail,
                 "the trail is exhausted: what comes back must have gone forward in the same run");
    return RVM_ERR_TRAIL;
}

/* Cells of the entry on top. */
static uint32_t cells_of(const rvm_machine *m, uint32_t level, const rvm__trail_kind *k) {
    if (k->what == RVM__TRAIL_ZERO || k->what == RVM__TRAIL_ONE) return 0;
    if (k->what == RVM__TRAIL_VALUES) return 1u + k->extra;
    rvm__trail_entry entry;
    rvm__trail_cursor c = rvm__trail_begin(m, level);
    return rvm__trail_next(&c, &entry) ? entry.n + 2 : 0;
}

void rvm__trail_pop(rvm_machine *m, uint32_t level) {
    rvm__trail_stack *t = rvm__trail_present(m, level);
    const uint32_t kind = t->last;
    rvm__trail_note_peak(m);
    if (kind < m->trail.nsites && !m->trail.ones[kind] && t->n > 1 && rvm__trail_comes_off(t, kind)) {
        rvm__trail_off(t);
        t->n--;
        m->trail.held--;
        return;
    }
    const uint32_t n = cells_of(m, level, &m->trail.kinds[kind]);
    drop_cells(m, t, n);
    t->flags -= !n;
    t->last = rvm__link_take(m, &t->links[t->last]);
}
