/* chunks.c: see chunks.h. */
#include "chunks.h"

#include <string.h>
#include <sys/mman.h>

#include "memory.h"
#include "support.h"

enum { FIRST_CHUNK = 64, USUAL_CHUNK = 8192, CELL = RVM__TRAIL_CELL };
/* Of a long trail a chunk is an eighth of what is there: few allocations, and pages that the system may make large. */
enum { SHARE = 8, LARGEST_CHUNK = 1 << 22 };

static void free_chunk(rvm_machine *m, rvm__trail_chunk *c) {
    if (!c) return;
    if (c->cells)
        m->trail.granted -= (size_t)c->cap * CELL;
    else
        rvm__spill_forget(m, c->file);
    rvm__resize(m, c->cells, c->cells ? (size_t)c->size * CELL : 0, 0);
    rvm__resize(m, c, sizeof *c, 0);
}

/* Pages of 2 MiB where the system has them: the first touch of a page is most of what a value of a long trail costs. */
static void advise(const rvm_machine *m, void *cells, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 1u << 21, begin = ((uintptr_t)cells + page - 1) & -page, end = ((uintptr_t)cells + bytes) & -page;
    if (m->al.alloc == rvm__libc_allocator.alloc && begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
}

/* Its memory stays for a chunk to come, since the system clears what it hands out anew, which takes longer than to fill it.
 * Not under a limit: what fits does not depend on runs before. */
static void leave_chunk(rvm_machine *m, rvm__trail_chunk *c) {
    rvm__trail *tr = &m->trail;
    const bool limited = m->o.trail_limit || m->o.memory;
    const size_t bytes = c ? (size_t)c->cap * CELL : 0;
    if (!c || !c->cells || c->cap != c->size || limited || bytes > RVM_TRAIL_LEFT - tr->left_bytes) {
        free_chunk(m, c);
        return;
    }
    tr->granted -= bytes;
    tr->left_bytes += bytes;
    c->below = tr->left;
    tr->left = c;
}

/* The one that was left last; NULL: none. */
static rvm__trail_chunk *take_left(rvm_machine *m) {
    rvm__trail_chunk *c = m->trail.left;
    if (!c) return NULL;
    m->trail.left = c->below;
    m->trail.left_bytes -= (size_t)c->cap * CELL;
    m->trail.granted += (size_t)c->cap * CELL;
    return c;
}

void rvm__cells_end(rvm_machine *m) {
    for (rvm__trail_chunk *c; (c = take_left(m));) free_chunk(m, c);
}

static rvm__trail_chunk *new_chunk(rvm_machine *m, size_t cap) {
    rvm__trail_chunk *c = rvm__resize(m, NULL, 0, sizeof *c);
    if (!c) return NULL;
    *c = (rvm__trail_chunk){.cap = (uint32_t)cap, .size = (uint32_t)cap, .cells = rvm__resize(m, NULL, 0, cap * CELL)};
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
    t->cap = c ? c->cap : 0;
    t->n = n;
}

uint64_t rvm__cells_below(const rvm__trail_chunk *c) {
    uint64_t n = 0;
    for (c = c ? c->below : NULL; c; c = c->below) n += c->cap;
    return n;
}

/* ---- the limit ---- */

typedef void visit(rvm_machine *m, rvm__trail_stack *t);

static void each_stack(rvm_machine *m, visit *f) {
    rvm__trail *tr = &m->trail;
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        for (size_t d = 0; d < tr->nstacks[level]; d++) f(m, &tr->stacks[level][d]);
}

/* What is kept for the next push. */
static void free_spare(rvm_machine *m, rvm__trail_stack *t) {
    free_chunk(m, t->spare);
    t->spare = NULL;
    if (!t->top || t->n || t->top->below) return;
    free_chunk(m, t->top);
    stand_on(t, NULL, 0);
}

/* As many of `want` units of 8 bytes as the limit leaves; 0: none. */
static size_t granted(rvm_machine *m, size_t want) {
    if (!m->o.trail_limit) return want;
    if (m->trail.granted + want * CELL > m->o.trail_limit) each_stack(m, free_spare);
    const size_t granted = m->trail.granted, limit = m->o.trail_limit; /* files may bring back more */
    size_t left = granted < limit ? (limit - granted) / CELL : 0;
    if (m->o.checkpoint_dir && left < FIRST_CHUNK) left = FIRST_CHUNK; /* what stands on top is in no file */
    return left < want ? left : want;
}

/* Cells on top that are free: they may be words instead. */
static void give_up_free(rvm_machine *m, rvm__trail_stack *t) {
    const uint32_t unused = t->cap - t->n;
    if (!t->top || !t->top->cells || t->cap != t->top->cap) return;
    t->cap = t->top->cap = t->n;
    m->trail.granted -= (size_t)unused * CELL;
}

bool rvm__words_granted(rvm_machine *m, size_t n) {
    if (granted(m, n) == n) return true;
    each_stack(m, give_up_free);
    return granted(m, n) == n;
}

void rvm__words_count(rvm_machine *m, int64_t by) {
    m->trail.words += (uint64_t)by;
    m->trail.held += (uint64_t)by;
    m->trail.granted += (size_t)by * CELL;
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

/* ---- up ---- */

/* Cells of the chunk to come. Those that may go to files are all of the usual size. */
static size_t next_cap(const rvm_machine *m, const rvm__trail_stack *t) {
    if (!t->top || t->top->cap < FIRST_CHUNK) return FIRST_CHUNK;
    const size_t twice = 2 * (size_t)t->top->cap, share = m->trail.held / SHARE;
    const size_t most = m->o.checkpoint_dir || share < USUAL_CHUNK ? USUAL_CHUNK : rvm__least(share, LARGEST_CHUNK);
    return rvm__least(twice, most);
}

rvm_status rvm__cells_room(rvm_machine *m, rvm__trail_stack *t) {
    rvm__trail_chunk *c = t->spare ? t->spare : take_left(m);
    if (!c) {
        const size_t want = next_cap(m, t);
        size_t cap = granted(m, want);
        if (cap < want && m->o.checkpoint_dir) {
            const rvm_status status = spill(m, t);
            if (status && status != RVM_ERR_LIMIT) return status;
            cap = granted(m, want);
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

rvm_status rvm__cells_put(rvm_machine *m, rvm__trail_stack *t, rvm_value v) {
    const rvm_status status = t->n == t->cap ? rvm__cells_room(m, t) : RVM_OK;
    if (status) return status;
    t->cells[t->n++] = v;
    m->trail.held++;
    return RVM_OK;
}

bool rvm__cells_fill(rvm_machine *m, rvm__trail_stack *t, const rvm_value *cells, uint64_t n) {
    rvm__trail_chunk *c = n && n <= UINT32_MAX ? new_chunk(m, n) : NULL;
    if (n && !c) return false;
    stand_on(t, c, (uint32_t)n);
    if (c) memcpy(t->cells, cells, n * sizeof *cells);
    m->trail.held += n;
    return true;
}

/* ---- down ---- */

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
    leave_chunk(m, t->spare);
    t->spare = t->top;
    t->spare->below = NULL;
    go_below(m, t, below);
}

void rvm__cells_drop(rvm_machine *m, rvm__trail_stack *t, uint32_t n) {
    m->trail.held -= n;
    t->n -= n;
    if (!t->n) leave_top(m, t);
}

void rvm__cells_clear(rvm_machine *m, rvm__trail_stack *t) {
    leave_chunk(m, t->spare);
    t->spare = NULL;
    while (t->top) {
        rvm__trail_chunk *below = t->top->below;
        leave_chunk(m, t->top);
        t->top = below;
    }
    stand_on(t, NULL, 0);
}
