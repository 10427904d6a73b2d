/* copy.c: the trail, the stack and the records of an exact run, onto a tape and back, in the same machine or in one of the
 * same program. A stack of several chunks comes back in one. */
#include "copy.h"
#include "chunks.h"
#include "kinds.h"
#include "memory.h"
#include "trail.h"

/* ---- one stack of the trail ---- */

typedef struct counts {
    uint64_t cells, flags;
    uint32_t last, nlinks;
} counts;

static void put_stack(rvm__tape *tape, const rvm__trail_stack *t) {
    const counts n = {rvm__cells_below(t->top) + t->n, t->flags, t->last, t->nlinks};
    rvm__tape_put(tape, &n, sizeof n);
    rvm_value *cells = rvm__tape_piece(tape, n.cells * sizeof *cells);
    uint64_t at = n.cells;
    uint32_t used = t->n;
    for (const rvm__trail_chunk *c = cells ? t->top : NULL; c; c = c->below, used = c ? c->cap : 0) {
        at -= used;
        memcpy(cells + at, c->cells, used * sizeof *cells);
    }
    for (uint32_t k = 0; k < n.nlinks; k++) rvm__link_save(&t->links[k], tape);
}

static bool get_stack(rvm_machine *m, rvm__tape *tape, rvm__trail_stack *t) {
    counts n;
    rvm__tape_get(tape, &n, sizeof n);
    const rvm_value *cells = rvm__tape_piece(tape, n.cells * sizeof *cells);
    if ((n.nlinks && !rvm__trail_links(m, t, n.nlinks)) || !rvm__cells_fill(m, t, cells, n.cells)) return false;
    for (uint32_t k = 0; k < n.nlinks; k++)
        if (!rvm__link_load(m, &t->links[k], tape)) return false;
    t->flags = n.flags;
    t->last = n.last;
    return true;
}

/* ---- parts that are forgotten: where stacks stood, as numbers of cells ---- */

static void put_part(rvm__tape *tape, const rvm__forgetting *part) {
    uint64_t below[RVM_MAX_ORDER];
    for (int level = 0; level < RVM_MAX_ORDER; level++) below[level] = rvm__cells_below(part->top[level]) + part->n[level];
    rvm__tape_put(tape, part, sizeof *part);
    rvm__tape_put(tape, below, sizeof below);
}

static void get_part(const rvm__trail *tr, rvm__tape *tape, rvm__forgetting *part) {
    uint64_t below[RVM_MAX_ORDER];
    rvm__tape_get(tape, part, sizeof *part);
    rvm__tape_get(tape, below, sizeof below);
    for (int level = 0; level < RVM_MAX_ORDER; level++) {
        const size_t depth = (size_t)part->deep + part->segments[level];
        part->top[level] = below[level] ? tr->stacks[level][depth].top : NULL;
        part->n[level] = (uint32_t)below[level];
    }
}

/* ---- the trail ---- */

typedef struct depths {
    uint64_t stacks[RVM_MAX_ORDER], parts, zeros;
    uint32_t deep, segments[RVM_MAX_ORDER];
} depths;

void rvm__trail_put(const rvm_machine *m, rvm__tape *tape) {
    const rvm__trail *tr = &m->trail;
    depths d = {.parts = tr->nforgetting, .zeros = tr->redo_zeros, .deep = tr->deep};
    memcpy(d.stacks, tr->nstacks, sizeof d.stacks);
    memcpy(d.segments, tr->segments, sizeof d.segments);
    rvm__tape_put(tape, &d, sizeof d);
    rvm__kinds_save(tr, tape);
    for (int level = 0; level < RVM_MAX_ORDER; level++)
        for (size_t k = 0; k < tr->nstacks[level]; k++) put_stack(tape, &tr->stacks[level][k]);
    put_stack(tape, &tr->redo);
    for (size_t k = 0; k < tr->nforgetting; k++) put_part(tape, &tr->forgetting[k]);
}

bool rvm__trail_get(rvm_machine *m, rvm__tape *tape) {
    rvm__trail *tr = &m->trail;
    depths d;
    rvm__trail_clear(m);
    rvm__tape_get(tape, &d, sizeof d);
    bool good = rvm__kinds_load(m, tape) &&
                rvm__reserve(m, (void **)&tr->forgetting, &tr->cap_forgetting, d.parts, sizeof *tr->forgetting);
    for (int level = 0; level < RVM_MAX_ORDER; level++) {
        good = good && rvm__trail_stacks(m, (uint32_t)level, d.stacks[level]);
        for (size_t k = 0; good && k < d.stacks[level]; k++) good = get_stack(m, tape, &tr->stacks[level][k]);
    }
    good = good && get_stack(m, tape, &tr->redo);
    for (size_t k = 0; good && k < d.parts; k++) get_part(tr, tape, &tr->forgetting[k]);
    if (!good) return false;
    tr->redo_zeros = d.zeros;
    tr->nforgetting = d.parts;
    tr->forgotten = d.parts ? tr->forgetting[d.parts - 1].discards : 0;
    tr->deep = d.deep;
    memcpy(tr->segments, d.segments, sizeof d.segments);
    rvm__trail_deeper(m, 0);
    return true;
}

/* ---- records of an exact run ---- */

void rvm__exact_put(const rvm_machine *m, rvm__tape *tape) {
    const uint64_t depth = m->exact.nbits, held = m->exact.held;
    rvm__tape_put(tape, &depth, sizeof depth);
    rvm__tape_put(tape, &held, sizeof held);
    for (size_t k = 0; k < depth; k++) {
        const uint64_t n = m->exact.bits[k].n;
        rvm__tape_put(tape, &n, sizeof n);
        rvm__tape_put(tape, &m->exact.bits[k].coded, sizeof(uint64_t));
        rvm__tape_put(tape, m->exact.bits[k].words, (n + 63) / 64 * 8);
    }
}

static void *counted(void *userdata, void *p, size_t old_size, size_t new_size) {
    return rvm__resize(userdata, p, old_size, new_size);
}

bool rvm__exact_get(rvm_machine *m, rvm__tape *tape) {
    const rvm_allocator al = {counted, m};
    uint64_t depth, held, n;
    rvm__exact_clear(m);
    rvm__tape_get(tape, &depth, sizeof depth);
    rvm__tape_get(tape, &held, sizeof held);
    if (!rvm__reserve(m, (void **)&m->exact.bits, &m->exact.nbits, depth, sizeof *m->exact.bits)) return false;
    for (size_t k = 0; k < depth; k++) {
        rvm__bits *b = &m->exact.bits[k];
        rvm__tape_get(tape, &n, sizeof n);
        rvm__tape_get(tape, &b->coded, sizeof b->coded);
        if (n && !rvm__bits_reserve(&al, b, n)) return false;
        rvm__tape_get(tape, b->words, (n + 63) / 64 * 8);
        b->n = n;
    }
    m->exact.held = held;
    return true;
}
