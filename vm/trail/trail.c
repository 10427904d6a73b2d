/* trail.c: the stacks of the trail. See trail.h. */
#include "cell_runs.h"
#include "copy.h"
#include "sites.h"

#include <string.h>
#include <sys/mman.h>

#include "memory.h"
#include "support.h"

enum { FIRST_CHUNK = 64, USUAL_CHUNK = 8192, CELL = RVM__TRAIL_CELL, WORD = RVM__TRAIL_WORD };
/* Of a long trail a chunk is an eighth of what is there: few allocations, and pages that the system may make large. */
enum { SHARE = 8, LARGEST_CHUNK = 1 << 22 };

static uint8_t *bytes_of(rvm__trail_chunk *c) {
    return (uint8_t *)(c->cells + c->cap);
}

/* ---- sites ---- */

bool rvm__trail_init(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    const size_t most = rvm__sites_most(m->p);
    tr->now = &tr->none;
    for (uint32_t fn = 0; fn < m->p->nfunctions; fn++)
        RVM__EACH_INSN(x, &m->p->functions[fn]) tr->forgets |= x.in->flags & RVM_FLAG_FORGETS;
    if (!most) return true;
    if (!(tr->sites = rvm__resize(m, NULL, 0, most * sizeof *tr->sites))) return false;
    tr->nsites = rvm__sites_collect(m->p, tr->sites);
    void *fitted = rvm__resize(m, tr->sites, most * sizeof *tr->sites, tr->nsites * sizeof *tr->sites);
    if (fitted)
        tr->sites = fitted;
    else
        tr->nsites = (uint32_t)most; /* as large as it is */
    if (!fitted || !(tr->flags = rvm__resize(m, NULL, 0, tr->nsites))) return false;
    rvm__sites_flags(m->p, tr->sites, tr->nsites, tr->flags);
    return true;
}

uint64_t rvm__site_bits(const rvm_machine *m, uint32_t site) {
    return m->trail.flags[site] ? 1 : 64;
}

uint32_t rvm__trail_site(const rvm_machine *m, int64_t site) {
    return rvm__sites_find(m->trail.sites, m->trail.nsites, site);
}

/* ---- chunks ---- */

static void free_chunk(rvm_machine *m, rvm__trail_chunk *c) {
    if (!c) return;
    if (c->cells)
        m->trail.granted -= (size_t)c->cap * CELL;
    else
        rvm__spill_forget(m, c->file);
    rvm__resize(m, c->cells, c->cells ? (size_t)c->cap * CELL : 0, 0);
    rvm__resize(m, c, sizeof *c, 0);
}

/* Pages of 2 MiB where the system has them: the first touch of a page is most of what a value of a long trail costs. */
static void advise(const rvm_machine *m, void *cells, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 1u << 21, begin = ((uintptr_t)cells + page - 1) & -page, end = ((uintptr_t)cells + bytes) & -page;
    if (m->al.alloc == rvm__libc_allocator.alloc && begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
}

static rvm__trail_chunk *new_chunk(rvm_machine *m, size_t cap) {
    rvm__trail_chunk *c = rvm__resize(m, NULL, 0, sizeof *c);
    if (!c) return NULL;
    *c = (rvm__trail_chunk){.cap = (uint32_t)cap, .cells = rvm__resize(m, NULL, 0, cap * CELL)};
    if (c->cells) {
        m->trail.granted += cap * CELL;
        advise(m, c->cells, cap * CELL);
        return c;
    }
    rvm__resize(m, c, sizeof *c, 0);
    return NULL;
}

static void stand_on(rvm__trail_stack *t, rvm__trail_chunk *c, uint32_t n) {
    t->top = c;
    t->cells = c ? c->cells : NULL;
    t->bytes = c ? bytes_of(c) : NULL;
    t->cap = c ? c->cap : 0;
    t->n = n;
}

/* Free what is kept for the next push, of every stack. */
static void free_spares(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        for (size_t d = 0; d < tr->nstacks[level]; d++) {
            rvm__trail_stack *t = &tr->stacks[level][d];
            free_chunk(m, t->spare);
            t->spare = NULL;
            if (!t->top || t->n || t->top->below) continue;
            free_chunk(m, t->top);
            stand_on(t, NULL, 0);
        }
}

/* As many of `want` units of `size` bytes as the limit leaves; 0: none. */
static size_t granted(rvm_machine *m, size_t want, size_t size) {
    if (!m->o.trail_limit) return want;
    if (m->trail.granted + want * size > m->o.trail_limit) free_spares(m);
    const size_t granted = m->trail.granted, limit = m->o.trail_limit; /* files may bring back more */
    size_t left = granted < limit ? (limit - granted) / size : 0;
    if (m->o.checkpoint_dir && left < FIRST_CHUNK) left = FIRST_CHUNK; /* what stands on top is in no file */
    return left < want ? left : want;
}

/* Chunks of this stack, or else of another, go to a file. */
static rvm_status spill(rvm_machine *m, rvm__trail_stack *t) {
    rvm__trail *tr = &m->trail;
    rvm_status status = rvm__spill_out(m, t);
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        for (size_t d = 0; d < tr->nstacks[level] && status == RVM_ERR_LIMIT; d++)
            status = rvm__spill_out(m, &tr->stacks[level][d]);
    return status;
}

/* Cells of the chunk to come. Those that may go to files are all of the usual size. */
static size_t next_cap(const rvm_machine *m, const rvm__trail_stack *t) {
    if (!t->top) return FIRST_CHUNK;
    const size_t twice = 2 * (size_t)t->top->cap, share = m->trail.cells / SHARE;
    const size_t most = m->o.checkpoint_dir || share < USUAL_CHUNK ? USUAL_CHUNK
                        : share < LARGEST_CHUNK                    ? share
                                                                   : LARGEST_CHUNK;
    return twice < most ? twice : most;
}

/* Room for a cell on a full stack. */
static rvm_status more_room(rvm_machine *m, rvm__trail_stack *t) {
    rvm__trail_chunk *c = t->spare;
    if (!c) {
        const size_t want = next_cap(m, t);
        size_t cap = granted(m, want, CELL);
        if (cap < want && m->o.checkpoint_dir) {
            const rvm_status status = spill(m, t);
            if (status && status != RVM_ERR_LIMIT) return status;
            cap = granted(m, want, CELL);
        }
        if (!cap) return RVM_ERR_LIMIT;
        while (!(c = new_chunk(m, cap)) && cap > FIRST_CHUNK) cap /= 2;
        if (!c) return RVM_ERR_MEMORY;
    }
    t->spare = NULL;
    c->below = t->top;
    stand_on(t, c, 0);
    return RVM_OK;
}

static rvm_status more_words(rvm_machine *m, rvm__trail_stack *t) {
    if (t->nwords < t->cap_words) return RVM_OK;
    const size_t more = granted(m, t->cap_words + 64, WORD);
    if (!more) return RVM_ERR_LIMIT;
    void *p = rvm__resize(m, t->words, t->cap_words * WORD, (t->cap_words + more) * WORD);
    if (!p) return RVM_ERR_MEMORY;
    t->words = p;
    t->cap_words += more;
    m->trail.granted += more * WORD;
    return RVM_OK;
}

static rvm_status put_cell(rvm_machine *m, rvm__trail_stack *t, rvm_value v, uint8_t byte) {
    if (t->n == t->cap) {
        rvm_status status = more_room(m, t);
        if (status) return status;
    }
    t->cells[t->n] = v;
    t->bytes[t->n++] = byte;
    m->trail.cells++;
    return RVM_OK;
}

/* Entries lie across chunks, so that there are always two. */
static void go_below(rvm_machine *m, rvm__trail_stack *t, rvm__trail_chunk *c) {
    for (rvm__trail_chunk *at = c; at; at = at == c ? c->below : NULL) {
        if (at->cells || !(m->trail.broken = rvm__spill_in(m, at))) continue;
        stand_on(t, c, 0);
        t->cap = 0;
        return;
    }
    stand_on(t, c, c->cap);
}

/* The top is empty. */
static void leave_top(rvm_machine *m, rvm__trail_stack *t) {
    rvm__trail_chunk *below = t->top->below;
    if (!below) return;
    free_chunk(m, t->spare);
    t->spare = t->top;
    t->spare->below = NULL;
    go_below(m, t, below);
}

static void drop_cell(rvm_machine *m, rvm__trail_stack *t) {
    m->trail.cells--;
    if (!--t->n) leave_top(m, t);
}

static void release_words(rvm_machine *m, rvm__trail_stack *t) {
    m->trail.granted -= t->cap_words * WORD;
    rvm__resize(m, t->words, t->cap_words * WORD, 0);
    t->words = NULL;
    t->nwords = t->cap_words = 0;
    t->last = 0;
}

static void release(rvm_machine *m, rvm__trail_stack *t) {
    free_chunk(m, t->spare);
    t->spare = NULL;
    while (t->top) {
        rvm__trail_chunk *below = t->top->below;
        free_chunk(m, t->top);
        t->top = below;
    }
    stand_on(t, NULL, 0);
    release_words(m, t);
}

bool rvm__trail_fill(rvm_machine *m, rvm__trail_stack *t, const rvm_value *cells, const uint8_t *bytes, uint64_t ncells,
                     const uint32_t *words, uint64_t nwords, uint32_t last) {
    rvm__trail_chunk *c = ncells && ncells <= UINT32_MAX ? new_chunk(m, ncells) : NULL;
    if (ncells && !c) return false;
    stand_on(t, c, (uint32_t)ncells);
    m->trail.cells += ncells;
    t->last = last;
    if (c) {
        memcpy(t->cells, cells, ncells * sizeof *cells);
        memcpy(t->bytes, bytes, ncells);
    }
    if (!nwords) return true;
    if (!(t->words = rvm__resize(m, NULL, 0, nwords * WORD))) return false;
    memcpy(t->words, words, nwords * WORD);
    t->nwords = t->cap_words = nwords;
    m->trail.granted += nwords * WORD;
    m->trail.words += nwords;
    return true;
}

/* ---- depth ---- */

static size_t depth(const rvm_machine *m, uint32_t level) {
    return (size_t)m->trail.deep + m->trail.segments[level];
}

static bool is_discarding(const rvm_machine *m, uint32_t level) {
    const rvm__trail *tr = &m->trail;
    if (!((tr->discards | tr->forgotten) >> level & 1)) return false;
    if (!tr->nforgetting) return depth(m, level) == 0;
    const rvm__forgetting *part = &tr->forgetting[tr->nforgetting - 1];
    return part->discards >> level & 1 && tr->deep == part->deep && tr->segments[level] == part->segments[level];
}

/* The stack at the present depth; NULL where nothing is kept or none has been used. */
static rvm__trail_stack *present(const rvm_machine *m, uint32_t level) {
    const rvm__trail *tr = &m->trail;
    const size_t d = depth(m, level);
    return d < tr->nstacks[level] && !is_discarding(m, level) ? &tr->stacks[level][d] : NULL;
}

static void refresh(rvm_machine *m) {
    rvm__trail_stack *t = present(m, 0);
    m->trail.now = t ? t : &m->trail.none;
}

void rvm__trail_deeper(rvm_machine *m, int by) {
    m->trail.deep += (uint32_t)by;
    refresh(m);
}

void rvm__trail_segment(rvm_machine *m, uint32_t level, int by) {
    for (uint32_t k = 0; k <= level; k++) m->trail.segments[k] += (uint32_t)by;
    refresh(m);
}

void rvm__trail_clear(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    for (int level = 0; level < RVM_MAX_ORDER && (tr->granted || tr->spill); level++)
        for (size_t d = 0; d < tr->nstacks[level]; d++) release(m, &tr->stacks[level][d]);
    if (tr->granted) release(m, &tr->redo);
    tr->cells = tr->words = 0;
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
    rvm__spill_end(m);
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        rvm__resize(m, tr->stacks[level], tr->nstacks[level] * sizeof *tr->stacks[level], 0);
    for (size_t k = 0; k < tr->nbefore; k++)
        rvm__resize(m, tr->before[k].last, tr->before[k].cap * sizeof *tr->before->last, 0);
    rvm__resize(m, tr->before, tr->nbefore * sizeof *tr->before, 0);
    rvm__resize(m, tr->forgetting, tr->cap_forgetting * sizeof *tr->forgetting, 0);
    rvm__resize(m, tr->sites, tr->nsites * sizeof *tr->sites, 0);
    rvm__resize(m, tr->flags, tr->flags ? tr->nsites : 0, 0);
}

/* ---- statistics ---- */

uint64_t rvm__trail_bytes(const rvm_machine *m) {
    return m->trail.cells * CELL + m->trail.words * WORD;
}

static void note_peak(rvm_machine *m) {
    if (rvm__trail_bytes(m) > m->trail.peak) m->trail.peak = rvm__trail_bytes(m);
}

void rvm__trail_stats(const rvm_machine *m, rvm_stats *out) {
    const uint64_t held = rvm__trail_bytes(m);
    out->trail_cells = m->trail.cells;
    out->trail_peak = held > m->trail.peak ? held : m->trail.peak;
    out->bits_trail = m->trail.erased[RVM__ERASED_VALUES];
    out->bits_shadows = m->trail.erased[RVM__ERASED_GRADIENTS];
    out->bits_forgotten = m->trail.erased[RVM__ERASED_PLACES];
}

/* ---- pushing ---- */

static rvm_status stack_for(rvm_machine *m, uint32_t level, rvm__trail_stack **t) {
    if ((*t = present(m, level))) return RVM_OK;
    if (!rvm__reserve(m, (void **)&m->trail.stacks[level], &m->trail.nstacks[level], depth(m, level) + 1, sizeof **t))
        return RVM_ERR_MEMORY;
    refresh(m);
    *t = present(m, level);
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

/* The byte of a chained entry; the words have room for TRAIL_WORD. */
static rvm_status chain(rvm_machine *m, rvm__trail_stack *t, uint32_t site, uint8_t *byte) {
    rvm__trail *tr = &m->trail;
    if (!rvm__reserve(m, (void **)&tr->before, &tr->nbefore, tr->nsites, sizeof *tr->before)) return RVM_ERR_MEMORY;
    rvm__trail_before *b = &tr->before[site];
    size_t k = 0;
    while (k < b->n && b->last[k] != t->last) k++;
    *byte = (uint8_t)(TRAIL_PLAIN + k);
    if (*byte == TRAIL_WORD) return more_words(m, t);
    if (k < b->n) return RVM_OK;
    if (!rvm__reserve(m, (void **)&b->last, &b->cap, b->n + 1, sizeof *b->last)) return RVM_ERR_MEMORY;
    b->last[b->n++] = t->last;
    return RVM_OK;
}

rvm_status rvm__trail_push(rvm_machine *m, uint32_t level, const rvm__trail_entry *entry) {
    rvm__trail_stack *t;
    uint32_t left = entry->n;
    uint8_t byte = (uint8_t)entry->site;
    const bool chained = entry->n > 1 || entry->site >= TRAIL_PLAIN;
    if (is_discarding(m, level)) {
        m->trail.erased[level > 0] += rvm__site_bits(m, entry->site) + 64 * (uint64_t)(entry->n - 1);
        return RVM_OK;
    }
    rvm_status status = stack_for(m, level, &t);
    if (!status && chained) status = chain(m, t, entry->site, &byte);
    if (status) return status;
    while (left > 1 && !(status = put_cell(m, t, entry->value[left - 1], TRAIL_EXTRA | entry->index[left - 1]))) left--;
    if (!status) status = put_cell(m, t, entry->value[0], byte);
    if (status) {
        for (; left < entry->n; left++) drop_cell(m, t);
        return status;
    }
    if (!chained) return RVM_OK;
    if (byte == TRAIL_WORD) {
        t->words[t->nwords++] = t->last;
        m->trail.words++;
    }
    t->last = entry->site + 1;
    return RVM_OK;
}

rvm_status rvm__trail_push_plain(rvm_machine *m, uint32_t level, uint32_t site, rvm_value value) {
    rvm__trail_stack *t = present(m, level);
    if (!t || t->n == t->cap || site >= TRAIL_PLAIN)
        return rvm__trail_push(m, level, &(rvm__trail_entry){site, 1, {value}, {0}});
    t->cells[t->n] = value;
    t->bytes[t->n++] = (uint8_t)site;
    m->trail.cells++;
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

/* What was last before the entry with this byte, which was chained when `last` was. */
static uint32_t last_before(const rvm__trail_before *before, uint32_t last, uint8_t byte, const uint32_t *words,
                            size_t *nwords) {
    return byte == TRAIL_WORD ? words[--*nwords] : before[last - 1].last[byte - TRAIL_PLAIN];
}

rvm__trail_cursor rvm__trail_begin(const rvm_machine *m, uint32_t level) {
    const rvm__trail_stack *t = present(m, level);
    if (!t) return (rvm__trail_cursor){0};
    return (rvm__trail_cursor){m->trail.before, t->words, t->top, t->n, t->last, t->nwords};
}

/* Stand on the next cell down. */
static bool go_down(rvm__trail_cursor *c) {
    while (c->chunk && !c->n) {
        c->chunk = c->chunk->below && c->chunk->below->cells ? c->chunk->below : NULL;
        c->n = c->chunk ? c->chunk->cap : 0;
    }
    c->n -= c->chunk != NULL;
    return c->chunk != NULL;
}

bool rvm__trail_next(rvm__trail_cursor *c, rvm__trail_entry *entry) {
    if (!go_down(c)) return false;
    const uint8_t byte = bytes_of(c->chunk)[c->n];
    entry->value[0] = c->chunk->cells[c->n];
    entry->n = 1;
    entry->site = byte < TRAIL_PLAIN ? byte : c->last - 1;
    if (byte < TRAIL_PLAIN) return true;
    c->last = last_before(c->before, c->last, byte, c->words, &c->nwords);
    for (rvm__trail_cursor next = *c; go_down(&next) && bytes_of(next.chunk)[next.n] >= TRAIL_EXTRA; *c = next) {
        entry->value[entry->n] = next.chunk->cells[next.n];
        entry->index[entry->n++] = bytes_of(next.chunk)[next.n] & ~TRAIL_EXTRA;
    }
    return true;
}

const rvm_value *rvm__trail_top(const rvm_machine *m, uint32_t level, uint32_t site) {
    const rvm__trail_stack *t = present(m, level);
    if (!t || !t->n) return NULL;
    const rvm_value *top = &t->cells[t->n - 1];
    if (site < TRAIL_PLAIN && t->bytes[t->n - 1] == site) return top;
    rvm__trail_entry entry;
    rvm__trail_cursor c = rvm__trail_begin(m, level);
    return rvm__trail_next(&c, &entry) && entry.n == 1 && entry.site == site ? top : NULL;
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
    else if (is_discarding(m, level))
        snprintf(m->detail, sizeof m->detail, "%s: what was overwritten has been discarded",
                 m->trail.nforgetting ? "what this compute part overwrites is forgotten" : "the trail is off");
    else
        snprintf(m->detail, sizeof m->detail,
                 "the trail is exhausted: what comes back must have gone forward in the same run");
    return RVM_ERR_TRAIL;
}

void rvm__trail_pop(rvm_machine *m, uint32_t level) {
    rvm__trail_stack *t = present(m, level);
    const uint8_t byte = t->bytes[t->n - 1];
    note_peak(m);
    drop_cell(m, t);
    if (byte < TRAIL_PLAIN) return;
    t->last = last_before(m->trail.before, t->last, byte, t->words, &t->nwords);
    m->trail.words -= byte == TRAIL_WORD;
    while (t->n && t->bytes[t->n - 1] >= TRAIL_EXTRA) drop_cell(m, t);
}

/* ---- many at once ---- */

/* The byte of an entry of that site above one of the same; false: there is none. */
static bool run_byte(const rvm_machine *m, uint32_t site, uint8_t *byte) {
    *byte = (uint8_t)site;
    if (site < TRAIL_PLAIN) return true;
    if (site >= m->trail.nbefore) return false;
    const rvm__trail_before *b = &m->trail.before[site];
    size_t k = 0;
    while (k < b->n && b->last[k] != site + 1) k++;
    *byte = (uint8_t)(TRAIL_PLAIN + k);
    return k < b->n && TRAIL_PLAIN + k < TRAIL_WORD;
}

static rvm_status push_same(rvm_machine *m, rvm__trail_stack *t, uint8_t byte, const rvm_value *v, size_t n, size_t *done) {
    rvm_status status = RVM_OK;
    while (*done < n) {
        if (t->n == t->cap && (status = more_room(m, t))) return status;
        const size_t room = t->cap - t->n, now = room < n - *done ? room : n - *done;
        memcpy(t->cells + t->n, v + *done, now * sizeof *v);
        memset(t->bytes + t->n, byte, now);
        t->n += (uint32_t)now;
        m->trail.cells += now;
        *done += now;
    }
    return RVM_OK;
}

rvm_status rvm__trail_push_run(rvm_machine *m, uint32_t level, uint32_t site, const rvm_value *v, size_t n) {
    size_t done = 0;
    uint8_t byte;
    rvm_status status = RVM_OK;
    if (is_discarding(m, level)) {
        m->trail.erased[level > 0] += n * rvm__site_bits(m, site);
        return RVM_OK;
    }
    for (; done < n && !status && (done < 2 || !run_byte(m, site, &byte)); done += !status)
        status = rvm__trail_push(m, level, &(rvm__trail_entry){site, 1, {v[done]}, {0}});
    if (!status && done < n) status = push_same(m, present(m, level), byte, v, n, &done);
    while (status && done-- > 0) rvm__trail_pop(m, level);
    return status;
}

/* Chunks that hold so many cells from the top are in memory, and the one below those, which pops stand on next. */
static rvm_status reach(rvm_machine *m, rvm__trail_stack *t, size_t n) {
    size_t there = t->n;
    for (rvm__trail_chunk *c = t->top ? t->top->below : NULL; c; there += c->cap, c = c->below) {
        const rvm_status status = c->cells ? RVM_OK : rvm__spill_in(m, c);
        if (status || there >= n) return status;
    }
    return RVM_OK;
}

rvm_status rvm__trail_reach(rvm_machine *m, uint32_t level, size_t n) {
    rvm__trail_stack *t = present(m, level);
    return t && m->trail.spill ? reach(m, t, n) : RVM_OK;
}

static bool all_bytes(const uint8_t *bytes, size_t n, uint8_t byte) {
    uint8_t differ = 0;
    for (size_t k = 0; k < n; k++) differ |= bytes[k] ^ byte;
    return !differ;
}

/* Whether the upper n cells are entries of the site, above another. */
static bool is_run(const rvm__trail_stack *t, size_t n, uint8_t byte) {
    size_t here = t->n;
    for (rvm__trail_chunk *c = t->top; n && c; c = c->below, here = c ? c->cap : 0) {
        const size_t now = here < n ? here : n;
        if (!all_bytes(bytes_of(c) + here - now, now, byte)) return false;
        n -= now;
    }
    return !n;
}

rvm_status rvm__trail_pop_run(rvm_machine *m, uint32_t level, uint32_t site, rvm_value *v, size_t n) {
    rvm__trail_stack *t = present(m, level);
    uint8_t byte;
    if (!t || !n || !run_byte(m, site, &byte) || (site >= TRAIL_PLAIN && t->last != site + 1)) return RVM_ERR_USAGE;
    rvm_status status = rvm__trail_reach(m, level, n + RVM__ENTRY_CELLS);
    if (status) return status;
    if (!is_run(t, n - 1, byte)) return RVM_ERR_USAGE;
    rvm__trail_cursor first = {m->trail.before, t->words, t->top, t->n, t->last, t->nwords};
    rvm__trail_entry entry;
    size_t above = n - 1; /* down to the one pushed first */
    for (; above > first.n; first.n = first.chunk->cap) above -= first.n, first.chunk = first.chunk->below;
    first.n -= (uint32_t)above;
    if (!rvm__trail_next(&first, &entry) || entry.n != 1 || entry.site != site) return RVM_ERR_USAGE;
    note_peak(m);
    for (size_t left = n - 1; left;) {
        const size_t now = t->n < left ? t->n : left;
        memcpy(v + 1 + left - now, t->cells + t->n - now, now * sizeof *v);
        t->n -= (uint32_t)now;
        m->trail.cells -= now;
        left -= now;
        if (!t->n) leave_top(m, t);
        if (m->trail.broken) return m->trail.broken;
    }
    v[0] = entry.value[0];
    rvm__trail_pop(m, level);
    return RVM_OK;
}

/* ---- shadows that a sweep discards ---- */

rvm_status rvm__redo_push(rvm_machine *m, rvm_value shadow) {
    rvm__trail_stack *t = &m->trail.redo;
    if (!m->o.keep_shadows) return RVM_OK;
    if (shadow.u || !t->n || t->bytes[t->n - 1] == UINT8_MAX) return put_cell(m, t, shadow, 0);
    t->bytes[t->n - 1]++;
    return RVM_OK;
}

rvm_value rvm__redo_pop(rvm_machine *m) {
    rvm__trail_stack *t = &m->trail.redo;
    if (!t->n) return (rvm_value){0};
    if (t->bytes[t->n - 1]) {
        t->bytes[t->n - 1]--;
        return (rvm_value){0};
    }
    const rvm_value shadow = t->cells[t->n - 1];
    note_peak(m);
    drop_cell(m, t);
    return shadow;
}
