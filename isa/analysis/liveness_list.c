/* liveness_list.c: see liveness_list.h. Code with jmp and cf is not taken apart: the order of the text need not be that of
 * control there. */
#include "liveness_list.h"
#include "accesses.h"
#include "flowgraph.h"
#include "support.h"

#include <string.h>

enum { MOST_NODES = 1 << 20, WORK = 64, NO_DIM = 255 };

/* ---- the list ---- */

typedef struct maker {
    rvm__list *l;
    uint32_t *last;    /* by instruction: its latest node */
    uint32_t segments; /* around */
} maker;

/* The other end of a pair is linked when its second node is made, which is the one further on in the list's direction. */
static void link_pair(maker *m, uint32_t at) {
    rvm__node *d = &m->l->nodes[at];
    const rvm_insn *in = rvm__node_insn(m->l, d);
    if (rvm__op_target((rvm_op)in->op) != 'L') return;
    if (d->down ? in->target < d->pc : in->target > d->pc) return;
    d->partner = m->last[in->target];
    m->l->nodes[d->partner].partner = at;
}

/* The instruction that the walk is at; false: out of memory. */
static bool add(maker *m, const rvm__walk *w) {
    rvm__list *l = m->l;
    const rvm_insn *in = &l->f->code[w->pc];
    l->too_large |= l->n == MOST_NODES || rvm__pair_of(in->op) == RVM_PAIR_jmp;
    if (l->too_large) return true;
    if (!rvm__grow(&l->p->al, (void **)&l->nodes, &l->cap, l->n + 1, sizeof *l->nodes)) return false;
    const rvm_op op = w->down ? rvm__op_inverse((rvm_op)in->op) : (rvm_op)in->op;
    m->segments += op == RVM_OP_segment;
    l->nodes[l->n] = (rvm__node){.pc = w->pc,
                                 .partner = RVM__NO_NODE,
                                 .set = RVM__NO_NODE,
                                 .op = (uint8_t)op,
                                 .down = w->down,
                                 .inner = w->depth + m->segments > 0};
    m->segments -= op == RVM_OP_endsegment;
    m->last[w->pc] = l->n;
    link_pair(m, l->n++);
    return true;
}

bool rvm__list_make(rvm__list *l, const rvm_program *p, uint32_t fn, bool backward, const uint8_t *elided) {
    const rvm_function *f = &p->functions[fn];
    const size_t nlast = (f->ncode + 1) * sizeof(uint32_t);
    maker m = {.l = l};
    rvm__walk w = rvm__walk_begin(f, backward, elided);
    *l = (rvm__list){.p = p, .f = f};
    m.last = rvm__realloc(&p->al, NULL, 0, nlast);
    bool ok = m.last;
    while (ok && !l->too_large && rvm__walk_next(&w)) ok = add(&m, &w);
    l->work = (uint64_t)WORK * l->n + 1;
    rvm__realloc(&p->al, m.last, m.last ? nlast : 0, 0);
    return ok;
}

void rvm__list_free(rvm__list *l) {
    if (l->p) rvm__realloc(&l->p->al, l->nodes, l->cap * sizeof *l->nodes, 0);
}

/* ---- slices ----
 * In a loop of index i, a register that always appears as i + c is at offset c from i, and so is what it indexes. */

enum { NO_OFFSET = INT32_MIN, MOST_OFFSET = 1 << 20 };

/* How an array's name stands for its root: the offsets that dimensions of the root are fixed to, and the root's dimensions
 * that its own are. */
typedef struct part {
    int32_t fixed[RVM_MAX_DIMS];
    uint8_t own[RVM_MAX_DIMS];
} part;

typedef struct span { /* of the offsets along one dimension at which an array is read, and changed */
    int32_t first_read, last_read, first_change, last_change;
} span;
typedef struct accesses {
    span along[RVM_MAX_DIMS];
    uint8_t dims; /* those that every access has at an offset */
} accesses;

typedef struct slicing {
    const rvm__list *l;
    part *parts;      /* by array: in the loop */
    accesses *of;     /* by array */
    int32_t *offsets; /* by register */
    uint64_t *work;   /* left for looking at code again; at 0 nothing more is found */
    uint8_t *varies;  /* by register: changes in place */
} slicing;

static const part unknown_part = {{NO_OFFSET, NO_OFFSET, NO_OFFSET, NO_OFFSET}, {NO_DIM, NO_DIM, NO_DIM, NO_DIM}};
static const part whole_part = {{NO_OFFSET, NO_OFFSET, NO_OFFSET, NO_OFFSET}, {0, 1, 2, 3}};
static const span no_span = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN};
_Static_assert(RVM_MAX_DIMS == 4, "the parts above have an entry for each dimension");

static int32_t offset_of(const slicing *s, uint16_t slot) {
    return slot < s->l->f->nregs ? s->offsets[slot] : NO_OFFSET;
}

/* The offset of i + c and i - c, as what a register appears as. */
static int32_t offset_let(const slicing *s, const rvm_insn *in, const rvm_place *q, uint16_t index) {
    const rvm_function *f = s->l->f;
    if (rvm__pair_of(in->op) != RVM_PAIR_let || q[1].kind != RVM_PLACE_SLOT || q[1].slot != index) return NO_OFFSET;
    if (in->row == RVM_ROW_id) return 0;
    if ((in->row != RVM_ROW_add && in->row != RVM_ROW_sub) || q[2].kind != RVM_PLACE_SLOT || q[2].slot < f->nregs)
        return NO_OFFSET;
    const int64_t c = f->consts[q[2].slot - f->nregs].i;
    if (c > MOST_OFFSET || c < -MOST_OFFSET) return NO_OFFSET;
    return (int32_t)(in->row == RVM_ROW_add ? c : -c);
}

/* Registers that the instruction changes otherwise than by making them appear and disappear. */
static void note_varying(const slicing *s, const rvm__node *d) {
    RVM__EACH_ACCESS(a, s->l->p, s->l->f, rvm__node_insn(s->l, d))
        if (a.reg && !a.toggles && a.bits & RVM__BITS_ACC) s->varies[a.q->slot] = 1;
}

/* What appears or disappears is at no offset, but for what a let says. */
static void toggle_offsets(const slicing *s, const rvm__node *d, uint16_t index, bool forget) {
    const rvm_insn *in = rvm__node_insn(s->l, d);
    RVM__EACH_ACCESS(a, s->l->p, s->l->f, in) {
        if (!a.reg || !a.toggles) continue;
        const bool knows = !forget && d->op == RVM_OP_let && !s->varies[a.q->slot];
        s->offsets[a.q->slot] = knows ? offset_let(s, in, a.q, index) : NO_OFFSET;
    }
}

/* At a join, and where loops begin and end, what appears on the way is forgotten. */
static void pass_offsets(const slicing *s, uint32_t at, uint16_t index) {
    const rvm__node *d = &s->l->nodes[at];
    if (d->partner == RVM__NO_NODE) {
        toggle_offsets(s, d, index, false);
        return;
    }
    const uint32_t lo = at < d->partner ? at : d->partner, hi = at + d->partner - lo;
    *s->work -= hi - lo < *s->work ? hi - lo : *s->work;
    for (uint32_t k = lo; k <= hi; k++) toggle_offsets(s, &s->l->nodes[k], index, true);
}

/* A name that is its root is all of it. What was a view before the loop began is not looked into. */
static const part *part_of(const slicing *s, const rvm_place *q) {
    return q->slot == rvm__root_of(s->l->f, q) ? &whole_part : &s->parts[q->slot];
}

/* X = V[s1, ..]: indices fix dimensions, ranges shift them, and what follows stays. */
static part view_of(const slicing *s, const rvm_insn *in, const rvm_place *q) {
    const part *v = part_of(s, &q[1]);
    part x = unknown_part;
    memcpy(x.fixed, v->fixed, sizeof x.fixed);
    const int ndim = s->l->f->arrays[q[1].slot].ndim, given = in->nplaces - 2;
    for (int d = 0, to = 0; d < ndim; d++) {
        const bool index = d < given && q[2 + d].kind == RVM_PLACE_SLOT;
        if (index && v->own[d] != NO_DIM) x.fixed[v->own[d]] = offset_of(s, q[2 + d].slot);
        if (!index) x.own[to++] = d < given ? NO_DIM : v->own[d];
    }
    return x;
}

static void widen(span *x, int32_t at, unsigned access) {
    if (at < x->first_read) x->first_read = at; /* what is changed is taken as read, too */
    if (at > x->last_read) x->last_read = at;
    if (!(access & RVM__BITS_ACC)) return;
    if (at < x->first_change) x->first_change = at;
    if (at > x->last_change) x->last_change = at;
}

/* The place's part of its root. */
static part place_part(const slicing *s, const rvm_place *q) {
    part x = *part_of(s, q);
    for (int d = 0; q->kind == RVM_PLACE_ELEM && d < q->nidx; d++)
        if (x.own[d] != NO_DIM) x.fixed[x.own[d]] = offset_of(s, q->idx[d]);
    return x;
}

/* Whether both are elements, of different arrays or at different offsets. */
static bool are_apart(const slicing *s, const rvm_place *a, const rvm_place *b) {
    if (a->kind != RVM_PLACE_ELEM || b->kind != RVM_PLACE_ELEM) return a->kind != b->kind;
    const part x = place_part(s, a), y = place_part(s, b);
    bool apart = rvm__root_of(s->l->f, a) != rvm__root_of(s->l->f, b);
    for (int d = 0; d < RVM_MAX_DIMS; d++)
        apart |= x.fixed[d] != NO_OFFSET && y.fixed[d] != NO_OFFSET && x.fixed[d] != y.fixed[d];
    return apart;
}

/* Whether an update's target is apart from all its operands. */
static bool is_free(const slicing *s, const rvm_insn *in, const rvm_place *q) {
    bool apart = rvm__op_is_update((rvm_op)in->op);
    for (uint32_t k = 1; k < in->nplaces; k++) apart &= are_apart(s, &q[0], &q[k]);
    return apart;
}

static void note_access(const slicing *s, const rvm_place *q, unsigned access) {
    const part x = place_part(s, q);
    accesses *to = &s->of[rvm__root_of(s->l->f, q)];
    for (int d = 0; d < RVM_MAX_DIMS; d++) {
        if (x.fixed[d] == NO_OFFSET)
            to->dims &= (uint8_t) ~(1u << d);
        else
            widen(&to->along[d], x.fixed[d], access);
    }
}

static void scan(const slicing *s, uint32_t at, uint16_t index) {
    rvm__node *d = &s->l->nodes[at];
    const rvm_insn *in = rvm__node_insn(s->l, d);
    const rvm_place *q = rvm__places(s->l->f, in);
    if (d->op == RVM_OP_view) s->parts[q[0].slot] = view_of(s, in, q);
    d->apart |= is_free(s, in, q);
    RVM__EACH_ACCESS(a, s->l->p, s->l->f, in)
        if (a.array && !a.toggles && a.bits) note_access(s, a.q, a.bits);
    pass_offsets(s, at, index);
}

/* Which way the index of the loop goes: 1, -1, or 0 where only the run can tell. */
static int way_of(const rvm__list *l, const rvm__node *d) {
    const rvm_insn *in = rvm__node_insn(l, d);
    const rvm_place *q = rvm__places(l->f, in);
    int way = d->down != ((in->flags & RVM_FLAG_REVERSED) != 0) ? -1 : 1;
    if (rvm__pair_of(in->op) == RVM_PAIR_par) return way;
    if (q[3].slot < l->f->nregs) return 0;
    return l->f->consts[q[3].slot - l->f->nregs].i > 0 ? way : -way;
}

/* Whether no later trip reads what one has changed: what it reads, at the later i, lies beyond, or at all the same. */
static bool is_apart(const span *x, int way) {
    const bool same = x->first_read == x->last_read, none = x->first_change > x->last_change;
    return same || none || (way > 0 ? x->last_change <= x->first_read : way < 0 && x->last_read <= x->first_change);
}

size_t rvm__slices_work(const rvm_function *f) {
    return (size_t)f->narrays * (sizeof(part) + sizeof(accesses)) + (size_t)f->nregs * (sizeof(int32_t) + 1) + 1;
}

static slicing begin_slices(const rvm__list *l, void *work, uint16_t index) {
    const uint32_t n = l->f->narrays, nregs = l->f->nregs;
    slicing s = {.l = l, .parts = work};
    s.of = (accesses *)(s.parts + n);
    s.offsets = (int32_t *)(s.of + n);
    s.varies = (uint8_t *)(s.offsets + nregs);
    for (uint32_t k = 0; k < n; k++) {
        s.parts[k] = unknown_part;
        s.of[k] = (accesses){{no_span, no_span, no_span, no_span}, 15};
    }
    for (uint32_t k = 0; k < nregs; k++) s.offsets[k] = NO_OFFSET;
    memset(s.varies, 0, nregs);
    s.offsets[index] = 0;
    return s;
}

void rvm__slices_find(rvm__list *l, uint32_t loop, void *work, uint64_t *bits) {
    const uint32_t end = l->nodes[loop].partner;
    const uint16_t index = rvm__places(l->f, rvm__node_insn(l, &l->nodes[loop]))[0].slot;
    const int way = way_of(l, &l->nodes[loop]);
    slicing s = begin_slices(l, work, index);
    s.work = &l->work;
    for (uint32_t k = loop + 1; k < end; k++) note_varying(&s, &l->nodes[k]);
    for (uint32_t k = loop + 1; k < end && l->work; k++) scan(&s, k, index);
    if (!l->work) return;
    for (uint32_t k = 0; k < l->f->narrays; k++)
        for (int d = 0; d < RVM_MAX_DIMS; d++)
            if (s.of[k].dims >> d & 1 && is_apart(&s.of[k].along[d], way)) bits[k / 64] |= UINT64_C(1) << k % 64;
}
