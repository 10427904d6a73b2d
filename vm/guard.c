/* guard.c: the roles of elements in parallel blocks where the verifier could not prove them (RVM_FACT_GUARD).
 *
 * While such a block runs, a table of the interpreter sends every instruction here first, in what is called too. Each
 * element of the arrays around the block has a mark: which instance used it first, a second one, and how all of them use it.
 * The access that would give an element of several instances a role other than read or accumulate fails, before it is made.
 *
 * Marks lie in an open-addressed table by address. Those of a run of the block that is over count as empty, so that a block
 * costs nothing to begin again and allocates only while its table grows.
 *
 * Native code asks the same of each element that it is about to use, and tells which instance runs (jit/lower/guard.c).
 * Where it leaves the block at a side exit, the instance is in the frame that it writes.
 */
#include "memory.h"
#include "copied.h"
#include "out_of_line.h"
#include "accesses.h"

#include <string.h>

struct rvm__mark {
    uintptr_t at;
    int64_t first, second; /* instances; second where `several` */
    uint32_t run;
    uint8_t bits; /* rvm__access_bits of all of them */
    bool several;
};

typedef struct extent {
    uintptr_t from, to;
} extent;

struct rvm__guard {
    rvm__mark *marks;
    size_t cap, used; /* a power of two; marks of this run */
    uint32_t run;
    extent *extents; /* of the arrays around the block */
    size_t nextents, cap_extents;
    size_t index;     /* slot of the instance; IN_NATIVE: it is in no slot, */
    int64_t instance; /* but here */
    uint32_t fn, pc;  /* of the block */
};

#define IN_NATIVE SIZE_MAX

/* ---- marks ---- */

/* Neighbours among eight elements stay neighbours. */
static size_t place_in(const rvm__guard *g, uintptr_t at) {
    const uint64_t group = (uint64_t)(at / 64) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    size_t k = (size_t)(group * 8 + at / 8 % 8) & (g->cap - 1);
    while (g->marks[k].run == g->run && g->marks[k].at != at) k = (k + 1) & (g->cap - 1);
    return k;
}

static bool grow(rvm_machine *m, rvm__guard *g) {
    const rvm__guard old = *g;
    const size_t cap = old.cap ? 2 * old.cap : 256;
    rvm__mark *marks = rvm__zeroed(m, cap * sizeof *marks);
    if (!marks) return false;
    g->marks = marks;
    g->cap = cap;
    for (size_t k = 0; k < old.cap; k++)
        if (old.marks[k].run == g->run) marks[place_in(g, old.marks[k].at)] = old.marks[k];
    rvm__resize(m, old.marks, old.cap * sizeof *old.marks, 0);
    return true;
}

static bool is_guarded(const rvm__guard *g, uintptr_t at) {
    for (size_t k = 0; k < g->nextents; k++)
        if (at >= g->extents[k].from && at < g->extents[k].to) return true;
    return false;
}

/* Whether instance i may use the element; if not, *other is one that it conflicts with. */
static bool admits(rvm__mark *k, int64_t i, unsigned bits, int64_t *other) {
    const unsigned all = k->bits | bits;
    const bool alone = !k->several && k->first == i;
    *other = k->first != i ? k->first : k->second;
    if (!alone && all == RVM__BITS_OWN) return false;
    if (k->first != i) k->several = true, k->second = i;
    k->bits = (uint8_t)all;
    return true;
}

typedef struct meeting {
    const rvm__guard *block;
    int64_t instance, other;
} meeting;

static int64_t instance_of(const rvm_machine *m, const rvm__guard *g) {
    return g->index == IN_NATIVE ? g->instance : m->store.slots[g->index].i;
}

/* RACE: *at says where. */
static rvm_status mark(rvm_machine *m, rvm__guard *g, unsigned bits, uintptr_t at, meeting *w) {
    *w = (meeting){.block = g, .instance = instance_of(m, g)};
    if (!is_guarded(g, at)) return RVM_OK;
    rvm__mark *k = g->cap ? &g->marks[place_in(g, at)] : NULL;
    if (k && k->run == g->run) return admits(k, w->instance, bits, &w->other) ? RVM_OK : RVM_ERR_RACE;
    if (g->cap <= 2 * g->used) { /* going back needs none: all is marked already */
        if (!grow(m, g)) return RVM_ERR_MEMORY;
        k = &g->marks[place_in(g, at)];
    }
    *k = (rvm__mark){.at = at, .run = g->run, .first = w->instance, .bits = (uint8_t)bits};
    g->used++;
    return RVM_OK;
}

static rvm_status mark_element(rvm_machine *m, unsigned bits, const void *at, meeting *w) {
    rvm_status status = RVM_OK;
    for (uint32_t k = 0; k < m->store.nguards && !status; k++) status = mark(m, &m->store.guards[k], bits, (uintptr_t)at, w);
    return status;
}

/* Every element, from dimension d on. */
static rvm_status mark_elements(rvm_machine *m, unsigned bits, const rvm__array *a, int d, const char *p, meeting *w) {
    if (d >= a->ndim || d >= RVM_MAX_DIMS) return mark_element(m, bits, p, w);
    rvm_status status = RVM_OK;
    for (int64_t k = 0; k < a->dim[d] && !status; k++) status = mark_elements(m, bits, a, d + 1, p + k * a->stride[d], w);
    return status;
}

/* ---- what an instruction uses ---- */

static rvm_status refuse(rvm_machine *m, const rvm_function *f, uint32_t pc, const rvm_place *q, const meeting *w) {
    char name[64];
    rvm__place_text(f, q, pc, m->store.slots + m->store.frames[m->store.nframes - 1].slots, name, sizeof name);
    snprintf(
        m->detail, sizeof m->detail,
        "instances %lld and %lld of the parallel block at line %u meet at `%s`: all may read it, all may add to it, or one "
        "alone may use it",
        (long long)w->instance, (long long)w->other, m->p->functions[w->block->fn].positions[w->block->pc].line, name);
    return RVM_ERR_RACE;
}

rvm_status rvm__guard_note(rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const uint32_t pc = (uint32_t)(x - m->codes[top->fn].x);
    RVM__EACH_ACCESS(a, m->p, f, &f->code[pc]) {
        rvm_status status = RVM_OK;
        meeting w;
        if (!rvm__is_guarded_access(&a)) continue;
        const rvm__array *array = &m->store.arrays[top->arrays + a.q->slot];
        if (a.q->kind == RVM_PLACE_ELEM) { /* out of bounds: the instruction will say so */
            const rvm_value *at = rvm__element_at(array, a.q, m->store.slots + top->slots, false);
            if (at) status = mark_element(m, a.bits, at, &w);
        } else
            status = mark_elements(m, a.bits, array, 0, array->data, &w);
        if (status) return status == RVM_ERR_RACE ? refuse(m, f, pc, a.q, &w) : status;
    }
    return RVM_OK;
}

bool rvm__guard_admits(rvm_machine *m, const rvm_value *at, uint32_t bits) {
    meeting w;
    return !mark_element(m, bits, at, &w);
}

bool rvm__guard_admits_all(rvm_machine *m, const rvm__array *a, uint32_t bits) {
    meeting w;
    return !mark_elements(m, bits, a, 0, a->data, &w);
}

/* ---- blocks ---- */

static bool add_extent(rvm_machine *m, rvm__guard *g, const rvm__array *a) {
    void *list = g->extents;
    const bool good = rvm__reserve(m, &list, &g->cap_extents, g->nextents + 1, sizeof *g->extents);
    g->extents = list;
    if (!good) return false;
    extent e = {(uintptr_t)a->data, (uintptr_t)a->data + sizeof(rvm_value)};
    for (int d = 0; d < a->ndim; d++) {
        if (a->dim[d] == 0) return true;
        e.to += (uintptr_t)((a->dim[d] - 1) * a->stride[d]);
    }
    g->extents[g->nextents++] = e;
    return true;
}

/* The arrays that the body uses and that do not appear in it. */
static bool find_extents(rvm_machine *m, rvm__guard *g, const rvm_function *f, const rvm__array *arrays) {
    enum { USED = 1, OWN = 2 };
    uint8_t *how = rvm__scratch(m, SCRATCH_BLOCK, f->narrays);
    if (!how) return false;
    RVM__EACH_INSN_IN(x, f, g->pc + 1, f->code[g->pc].target)
        RVM__EACH_ACCESS(a, m->p, f, x.in)
            if (a.array) how[a.q->slot] |= a.toggles ? OWN : USED;
    bool good = true;
    for (uint32_t k = 0; k < f->narrays && good; k++)
        if (how[k] == USED) good = add_extent(m, g, &arrays[k]);
    return good;
}

/* The one above those that are open, without marks; NULL: out of memory. */
static rvm__guard *next_guard(rvm_machine *m) {
    void *list = m->store.guards;
    const bool good = rvm__reserve(m, &list, &m->store.cap_guards, (size_t)m->store.nguards + 1, sizeof *m->store.guards);
    m->store.guards = list;
    if (!good) return NULL;
    rvm__guard *g = &m->store.guards[m->store.nguards];
    if (++g->run == 0) { /* came around: older marks would count */
        if (g->cap) memset(g->marks, 0, g->cap * sizeof *g->marks);
        g->run = 1;
    }
    g->used = g->nextents = 0;
    return g;
}

rvm_status rvm__guard_open(rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    rvm__guard *g = next_guard(m);
    const uint32_t pc = (uint32_t)(x - m->codes[top->fn].x);
    if (!g) return RVM_ERR_MEMORY;
    g->index = top->slots + x->to.i;
    g->fn = top->fn;
    g->pc = f->code[pc].op == RVM_OP_par ? pc : f->code[pc].target;
    if (!find_extents(m, g, f, rvm__arrays_from(m, top->arrays))) return RVM_ERR_MEMORY;
    m->store.nguards++;
    return RVM_OK;
}

bool rvm__guard_begin(rvm_machine *m, uint32_t fn, uint32_t pc, const rvm__array *arrays, uint32_t n) {
    rvm__guard *g = next_guard(m);
    if (!g) return false;
    g->index = IN_NATIVE;
    g->fn = fn;
    g->pc = pc;
    for (uint32_t k = 0; k < n; k++)
        if (!add_extent(m, g, &arrays[k])) return false;
    m->store.nguards++;
    return true;
}

void rvm__guard_instance(rvm_machine *m, int64_t i) {
    m->store.guards[m->store.nguards - 1].instance = i;
}

void rvm__guard_settle(rvm_machine *m, uint32_t n, uint64_t slots) {
    for (uint32_t k = m->store.nguards; n && k-- > 0;) {
        rvm__guard *g = &m->store.guards[k];
        if (g->index != IN_NATIVE) continue;
        g->index = slots + m->codes[g->fn].x[g->pc].to.i;
        n--;
    }
}

/* None is open where native code for some lengths, for which the roles are proved, has left the block in its middle: then it
 * is the outermost that was, since native code runs only where none is. */
void rvm__guard_close(rvm_machine *m) {
    if (m->store.nguards) m->store.nguards--;
}

/* ---- onto a tape and back: the marks that count ---- */

typedef struct guard_counts {
    uint64_t index, marks, extents;
    uint32_t fn, pc;
} guard_counts;

void rvm__guards_put(const rvm_machine *m, rvm__tape *tape) {
    for (uint32_t k = 0; k < m->store.nguards; k++) {
        const rvm__guard *g = &m->store.guards[k];
        const guard_counts n = {g->index, g->used, g->nextents, g->fn, g->pc};
        rvm__tape_put(tape, &n, sizeof n);
        rvm__tape_put(tape, g->extents, g->nextents * sizeof *g->extents);
        for (size_t i = 0; i < g->cap; i++)
            if (g->marks[i].run == g->run) rvm__tape_put(tape, &g->marks[i], sizeof g->marks[i]);
    }
}

static uintptr_t shifted(const rvm__shifts *shifts, uintptr_t at) {
    return (uintptr_t)rvm__shifted(shifts, (char *)at);
}

static bool get_marks(rvm_machine *m, rvm__guard *g, rvm__tape *tape, uint64_t n, const rvm__shifts *shifts) {
    while (g->cap <= 2 * n)
        if (!grow(m, g)) return false;
    for (uint64_t k = 0; k < n; k++) {
        rvm__mark mark;
        rvm__tape_get(tape, &mark, sizeof mark);
        mark.at = shifted(shifts, mark.at);
        mark.run = g->run;
        g->marks[place_in(g, mark.at)] = mark;
    }
    g->used = n;
    return true;
}

bool rvm__guards_get(rvm_machine *m, rvm__tape *tape, uint32_t n, const rvm__shifts *shifts) {
    for (m->store.nguards = 0; m->store.nguards < n; m->store.nguards++) {
        guard_counts c;
        rvm__guard *g = next_guard(m);
        if (!g) return false;
        rvm__tape_get(tape, &c, sizeof c);
        if (!rvm__reserve(m, (void **)&g->extents, &g->cap_extents, c.extents, sizeof *g->extents)) return false;
        rvm__tape_get(tape, g->extents, c.extents * sizeof *g->extents);
        for (uint64_t k = 0; k < c.extents; k++) {
            const uintptr_t size = g->extents[k].to - g->extents[k].from;
            g->extents[k].from = shifted(shifts, g->extents[k].from);
            g->extents[k].to = g->extents[k].from + size;
        }
        g->nextents = c.extents;
        g->index = c.index, g->fn = c.fn, g->pc = c.pc;
        if (!get_marks(m, g, tape, c.marks, shifts)) return false;
    }
    return true;
}

void rvm__guards_free(rvm_machine *m) {
    for (size_t k = 0; k < m->store.cap_guards; k++) {
        rvm__resize(m, m->store.guards[k].marks, m->store.guards[k].cap * sizeof *m->store.guards[k].marks, 0);
        rvm__resize(m, m->store.guards[k].extents, m->store.guards[k].cap_extents * sizeof *m->store.guards[k].extents, 0);
    }
    rvm__resize(m, m->store.guards, m->store.cap_guards * sizeof *m->store.guards, 0);
}
