/* guard.c: the roles of elements in parallel blocks where the verifier could not prove them (RVM_FACT_GUARD).
 *
 * While such a block runs, a table of the interpreter sends every instruction here first, in what is called too. Each
 * element of an array that instances use in more than one way has a mark: which instance used it first, and how all of them
 * use it. The access that would give an element of several instances a role other than read or accumulate fails, before it
 * is made. Instances come one after the other, and go back as they came, so that none comes back to an element after
 * others have used it.
 *
 * Marks lie in the order of the elements. Those of a run of the block that is over count as empty, so that a block costs
 * nothing to begin again.
 *
 * Native code asks the same of each element that it is about to use, and tells which instance runs (jit/lower/guard.c).
 * Where it leaves the block at a side exit, the instance is in the frame that it writes.
 */
#include "memory.h"
#include "copied.h"
#include "out_of_line.h"
#include "accesses.h"

#include <string.h>

/* An array around the block, that is part of no other. */
typedef struct extent {
    uintptr_t from, to;
    size_t first; /* its marks */
    bool dense;   /* else: */
    int ndim;     /* dimensions by their strides, the largest first */
    int64_t dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS];
} extent;

/* A mark: a run, an instance as it counts from the lower bound, and rvm__access_bits; 0: none. */
enum { MARK_BITS = RVM__MARK_BITS, RUN_AT = RVM__MARK_RUN, MOST_RUNS = UINT16_MAX };
#define MARK_INSTANCE (((UINT64_C(1) << RUN_AT) - 1) >> MARK_BITS)

struct rvm__guard {
    uint64_t *marks;
    size_t cap, n;
    uint64_t run;
    extent *extents;
    size_t nextents, cap_extents;
    int64_t lo;
    size_t index;     /* slot of the instance; IN_NATIVE: it is in no slot, */
    int64_t instance; /* but here */
    uint32_t fn, pc;  /* of the block */
};
#define IN_NATIVE SIZE_MAX

/* ---- marks ---- */

/* What the address is that far behind the first element; false: no element. */
static bool number_of(const extent *e, uintptr_t offset, size_t *n) {
    *n = 0;
    for (int d = 0; d < e->ndim; d++) {
        const uintptr_t k = offset / (uintptr_t)e->stride[d];
        if (k >= (uintptr_t)e->dim[d]) return false;
        offset -= k * (uintptr_t)e->stride[d];
        *n = *n * (size_t)e->dim[d] + k;
    }
    return !offset;
}

/* NULL: it is no element of these arrays. */
static uint64_t *mark_of(const rvm__guard *g, uintptr_t at) {
    size_t n;
    for (const extent *e = g->extents; e < g->extents + g->nextents; e++) {
        if (at < e->from || at >= e->to) continue;
        if (e->dense) return &g->marks[e->first + (at - e->from) / sizeof(rvm_value)];
        if (number_of(e, at - e->from, &n)) return &g->marks[e->first + n];
    }
    return NULL;
}

typedef struct meeting {
    const rvm__guard *block;
    int64_t instance, other;
} meeting;

static int64_t instance_of(const rvm_machine *m, const rvm__guard *g) {
    return g->index == IN_NATIVE ? g->instance : m->store.slots[g->index].i;
}

/* Marks it; false: *w says which instances would meet there. */
static bool mark(const rvm_machine *m, rvm__guard *g, unsigned bits, uintptr_t at, meeting *w) {
    uint64_t *mark = mark_of(g, at);
    if (!mark) return true;
    const int64_t i = instance_of(m, g);
    const uint64_t k = ((uint64_t)i - (uint64_t)g->lo) & MARK_INSTANCE, old = *mark;
    if (old >> RUN_AT != g->run) {
        *mark = g->run << RUN_AT | k << MARK_BITS | bits;
        return true;
    }
    const uint64_t first = old >> MARK_BITS & MARK_INSTANCE;
    if (first != k && ((old | bits) & RVM__BITS_OWN) == RVM__BITS_OWN) {
        *w = (meeting){g, i, (int64_t)((uint64_t)g->lo + first)};
        return false;
    }
    *mark = old | bits;
    return true;
}

static bool mark_element(rvm_machine *m, unsigned bits, const void *at, meeting *w) {
    for (uint32_t k = 0; k < m->store.nguards; k++)
        if (!mark(m, &m->store.guards[k], bits, (uintptr_t)at, w)) return false;
    return true;
}

/* Every element, from dimension d on. */
static bool mark_elements(rvm_machine *m, unsigned bits, const rvm__array *a, int d, const char *p, meeting *w) {
    if (d >= a->ndim || d >= RVM_MAX_DIMS) return mark_element(m, bits, p, w);
    for (int64_t k = 0; k < a->dim[d]; k++)
        if (!mark_elements(m, bits, a, d + 1, p + k * a->stride[d], w)) return false;
    return true;
}

/* ---- what an instruction uses ---- */

static rvm_status refuse(rvm_machine *m, const rvm_function *f, uint32_t pc, const rvm_place *q, const meeting *w) {
    char name[64];
    rvm__place_text(f, q, pc, m->store.slots + m->store.frames[m->store.nframes - 1].slots, name, sizeof name);
    rvm__drop_part(name);
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
        bool good = true;
        meeting w;
        if (!rvm__is_guarded_access(&a)) continue;
        const rvm__array *array = &m->store.arrays[top->arrays + a.q->slot];
        if (a.q->kind == RVM_PLACE_ELEM) { /* out of bounds: the instruction will say so */
            const rvm_value *at = rvm__element_at(array, a.q, m->store.slots + top->slots, false);
            if (at) good = mark_element(m, a.bits, at, &w);
        } else
            good = mark_elements(m, a.bits, array, 0, array->data, &w);
        if (!good) return refuse(m, f, pc, a.q, &w);
    }
    return RVM_OK;
}

bool rvm__guard_admits(rvm_machine *m, const rvm_value *at, uint32_t bits) {
    meeting w;
    return mark_element(m, bits, at, &w);
}

bool rvm__guard_admits_all(rvm_machine *m, const rvm__array *a, uint32_t bits) {
    meeting w;
    return mark_elements(m, bits, a, 0, a->data, &w);
}

/* ---- blocks ---- */

/* Dimensions by their strides, but for those that lead nowhere. */
static void sort_dimensions(extent *e, const rvm__array *a) {
    int64_t gap = sizeof(rvm_value);
    e->ndim = 0;
    for (int d = 0; d < a->ndim; d++) {
        int at = e->ndim;
        if (a->dim[d] == 1 || !a->stride[d]) continue;
        for (; at > 0 && e->stride[at - 1] < a->stride[d]; at--) {
            e->dim[at] = e->dim[at - 1];
            e->stride[at] = e->stride[at - 1];
        }
        e->dim[at] = a->dim[d];
        e->stride[at] = a->stride[d];
        e->ndim++;
    }
    e->dense = true;
    for (int d = e->ndim; d-- > 0; gap *= e->dim[d]) e->dense = e->dense && e->stride[d] == gap;
}

static bool add_extent(rvm_machine *m, rvm__guard *g, const rvm__array *a) {
    void *list = g->extents;
    const bool good = rvm__reserve(m, &list, &g->cap_extents, g->nextents + 1, sizeof *g->extents);
    g->extents = list;
    if (!good) return false;
    extent e = {.from = (uintptr_t)a->data, .to = (uintptr_t)a->data + sizeof(rvm_value), .first = g->n};
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) {
        if (a->dim[d] == 0) return true;
        e.to += (uintptr_t)((a->dim[d] - 1) * a->stride[d]);
        n *= (size_t)a->dim[d];
    }
    sort_dimensions(&e, a);
    g->extents[g->nextents++] = e;
    g->n += n;
    return true;
}

/* Marks for all extents, of no run that is not over. */
static bool have_marks(rvm_machine *m, rvm__guard *g) {
    if (g->n <= g->cap) return true;
    uint64_t *marks = rvm__zeroed(m, g->n * sizeof *marks);
    if (!marks) return false;
    rvm__resize(m, g->marks, g->cap * sizeof *g->marks, 0);
    g->marks = marks;
    g->cap = g->n;
    return true;
}

/* The arrays around the block whose elements, or those of what is part of them, the body uses in more than one way. */
static bool find_extents(rvm_machine *m, rvm__guard *g, const rvm_function *f, const rvm__array *arrays) {
    enum { INNER = 4 };
    uint8_t *how = rvm__scratch(m, SCRATCH_BLOCK, f->narrays);
    if (!how) return false;
    RVM__EACH_INSN_IN(x, f, g->pc + 1, f->code[g->pc].target)
        RVM__EACH_ACCESS(a, m->p, f, x.in)
            if (a.array) how[a.toggles ? a.q->slot : rvm__root_of(f, a.q)] |= a.toggles ? INNER : a.bits;
    for (uint32_t k = 0; k < f->narrays; k++)
        if (how[k] == RVM__BITS_OWN && !add_extent(m, g, &arrays[k])) return false;
    return have_marks(m, g);
}

/* Marks so far are of a run that is over. */
static void begin_run(rvm__guard *g) {
    if (g->run++ < MOST_RUNS) return;
    if (g->cap) memset(g->marks, 0, g->cap * sizeof *g->marks); /* came around: older marks would count */
    g->run = 1;
}

/* The one above those that are open, without marks; NULL: out of memory. */
static rvm__guard *next_guard(rvm_machine *m) {
    void *list = m->store.guards;
    const bool good = rvm__reserve(m, &list, &m->store.cap_guards, (size_t)m->store.nguards + 1, sizeof *m->store.guards);
    m->store.guards = list;
    if (!good) return NULL;
    rvm__guard *g = &m->store.guards[m->store.nguards];
    begin_run(g);
    g->n = g->nextents = 0;
    return g;
}

rvm_status rvm__guard_open(rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    rvm__guard *g = next_guard(m);
    const uint32_t pc = (uint32_t)(x - m->codes[top->fn].x);
    if (!g) return RVM_ERR_MEMORY;
    g->lo = m->store.slots[top->slots + x->to.lo].i;
    g->index = top->slots + x->to.i;
    g->fn = top->fn;
    g->pc = f->code[pc].op == RVM_OP_par ? pc : f->code[pc].target;
    if (!find_extents(m, g, f, rvm__arrays_from(m, top->arrays))) return RVM_ERR_MEMORY;
    m->store.nguards++;
    return RVM_OK;
}

bool rvm__guard_begin(rvm_machine *m, uint32_t fn, uint32_t pc, int64_t lo, const rvm__array *arrays, uint32_t n) {
    rvm__guard *g = next_guard(m);
    if (!g) return false;
    g->lo = lo;
    g->index = IN_NATIVE;
    g->fn = fn;
    g->pc = pc;
    for (uint32_t k = 0; k < n; k++)
        if (!add_extent(m, g, &arrays[k])) return false;
    if (!have_marks(m, g)) return false;
    m->store.nguards++;
    return true;
}

uint64_t rvm__guard_tag(const rvm_machine *m) {
    return m->store.guards[m->store.nguards - 1].run << RUN_AT;
}

uint64_t *rvm__guard_marks(const rvm_machine *m, const void *first, uint64_t n) {
    const rvm__guard *g = &m->store.guards[m->store.nguards - 1];
    const uintptr_t at = (uintptr_t)first;
    for (const extent *e = g->extents; e < g->extents + g->nextents; e++) {
        if (at < e->from || at >= e->to) continue;
        return e->dense && e->from == at && e->to - e->from == n * sizeof(rvm_value) ? &g->marks[e->first] : NULL;
    }
    return NULL;
}

void rvm__guard_again(rvm_machine *m) {
    begin_run(&m->store.guards[m->store.nguards - 1]);
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
    int64_t lo;
    uint32_t fn, pc;
} guard_counts;

typedef struct kept_mark {
    uint64_t at, mark;
} kept_mark;

static uint64_t count_marks(const rvm__guard *g) {
    uint64_t n = 0;
    for (size_t k = 0; k < g->n; k++) n += g->marks[k] >> RUN_AT == g->run;
    return n;
}

void rvm__guards_put(const rvm_machine *m, rvm__tape *tape) {
    for (uint32_t k = 0; k < m->store.nguards; k++) {
        const rvm__guard *g = &m->store.guards[k];
        const guard_counts n = {g->index, count_marks(g), g->nextents, g->lo, g->fn, g->pc};
        rvm__tape_put(tape, &n, sizeof n);
        rvm__tape_put(tape, g->extents, g->nextents * sizeof *g->extents);
        for (size_t i = 0; i < g->n; i++) {
            if (g->marks[i] >> RUN_AT != g->run) continue;
            const kept_mark kept = {i, g->marks[i]};
            rvm__tape_put(tape, &kept, sizeof kept);
        }
    }
}

static void get_marks(rvm__guard *g, rvm__tape *tape, uint64_t n) {
    for (uint64_t k = 0; k < n; k++) {
        kept_mark kept;
        rvm__tape_get(tape, &kept, sizeof kept);
        g->marks[kept.at] = (kept.mark & ((UINT64_C(1) << RUN_AT) - 1)) | g->run << RUN_AT;
    }
}

static void get_extents(rvm__guard *g, rvm__tape *tape, const rvm__shifts *shifts) {
    rvm__tape_get(tape, g->extents, g->nextents * sizeof *g->extents);
    for (extent *e = g->extents; e < g->extents + g->nextents; e++) {
        const uintptr_t size = e->to - e->from;
        e->from = (uintptr_t)rvm__shifted(shifts, (char *)e->from);
        e->to = e->from + size;
        size_t n = 1;
        for (int d = 0; d < e->ndim; d++) n *= (size_t)e->dim[d];
        g->n = e->first + n;
    }
}

bool rvm__guards_get(rvm_machine *m, rvm__tape *tape, uint32_t n, const rvm__shifts *shifts) {
    for (m->store.nguards = 0; m->store.nguards < n; m->store.nguards++) {
        guard_counts c;
        rvm__guard *g = next_guard(m);
        if (!g) return false;
        rvm__tape_get(tape, &c, sizeof c);
        void *list = g->extents;
        const bool good = rvm__reserve(m, &list, &g->cap_extents, c.extents, sizeof *g->extents);
        g->extents = list;
        if (!good) return false;
        g->nextents = c.extents;
        get_extents(g, tape, shifts);
        g->index = c.index, g->lo = c.lo, g->fn = c.fn, g->pc = c.pc;
        if (!have_marks(m, g)) return false;
        get_marks(g, tape, c.marks);
    }
    return true;
}

void rvm__guards_free(rvm_machine *m) {
    for (size_t k = 0; k < m->store.cap_guards; k++) {
        rvm__guard *g = &m->store.guards[k];
        rvm__resize(m, g->marks, g->cap * sizeof *g->marks, 0);
        rvm__resize(m, g->extents, g->cap_extents * sizeof *g->extents, 0);
    }
    rvm__resize(m, m->store.guards, m->store.cap_guards * sizeof *m->store.guards, 0);
}
