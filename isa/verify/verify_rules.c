/* verify_rules.c: what must not change.
 *
 *   lengths             anywhere
 *   loops               index, ends and step, inside the body; parallel blocks likewise
 *   compute do undo     inside `do`: registers that compute used and that are present at `do`, arrays likewise (their
 *                       appearing and disappearing), and elements that compute used under the same indices. Where compute
 *                       only adds to an i64 or a fix, do may, too: those sums commute exactly
 *   compute do forget   inside `do`: arrays that compute used, with all that they are part of, since no release would find
 *                       that other indices named the same element. Inside `compute`: all that it did not make
 *
 * Code is read in the order of the text, since bodies and parts nest. While regions are open, everything that is used goes
 * on a log. At `do` the entries since its compute are locked as far as they are still the same place, at `undo` unlocked.
 * Registers, arrays and elements are numbered in one row, so that one set of tables serves them: a thing. An element is a
 * thing by its array and index slots.
 */
#include "verify.h"
#include "elision.h"
#include "program.h"
#include "support.h"
#include <string.h>
#include <xxhash.h>

#define LOCKED (UINT32_C(1) << 31) /* in the log */
#define ADDED  (UINT32_C(1) << 30) /* and compute only added to it */
#define FROZEN (UINT32_C(1) << 29) /* what is part of it, too */

typedef struct region {
    uint32_t compute, start, end; /* of its compute part in the log; end once in `do` */
} region;

typedef struct rules {
    rvm__verifier *v;
    uint32_t *loops, *bound_at;  /* by register: open loops that it bounds, the outermost of them */
    uint32_t *locks;             /* by thing: regions in whose do we are and whose compute used it */
    uint32_t *adds;              /* of these, whose compute only added to it, exactly */
    uint32_t *frozen;            /* by array: regions that forget, in whose do we are and whose compute used part of it */
    uint32_t *roots;             /* by array: what it was part of at its last use in a region */
    uint32_t *logged, *used;     /* by thing: its last index in the log + 1; pc + 1 of the last use */
    uint32_t *other;             /* by thing: pc + 1 of the last use but for exact sums */
    uint32_t *changed, *present; /* by register and array: pc + 1 of the last change; of the last do where present */
    uint8_t *appeared;           /* the last change was that it appeared */
    uint32_t *elements;          /* by element: the first place that is it */
    uint32_t *table;             /* elements + 1, hashed */
    uint32_t *log, nlog, cap_log, nelements, table_size;
    region open[RVM__MAX_NEST];
    uint32_t depth;
} rules;

static uint32_t array_thing(const rules *w, uint32_t array) {
    return w->v->f->nregs + array;
}

static uint32_t first_element(const rules *w) {
    return w->v->f->nregs + w->v->f->narrays;
}

/* ---- elements ---- */

static uint64_t element_hash(const rules *w, const rvm_place *q) {
    uint16_t key[1 + RVM_MAX_DIMS] = {q->slot};
    memcpy(key + 1, q->idx, q->nidx * sizeof *key);
    return XXH3_64bits_withSeed(key, sizeof key, (uintptr_t)w->table); /* a seed that no file can know */
}

static bool element_equal(const rvm_place *a, const rvm_place *b) {
    return a->slot == b->slot && !memcmp(a->idx, b->idx, a->nidx * sizeof *a->idx);
}

static uint32_t element_thing(rules *w, const rvm_place *q) {
    const rvm_place *places = w->v->f->places;
    uint32_t mask = w->table_size - 1, at = (uint32_t)element_hash(w, q) & mask;
    while (w->table[at] && !element_equal(places + w->elements[w->table[at] - 1], q)) at = (at + 1) & mask;
    if (!w->table[at]) {
        w->elements[w->nelements] = (uint32_t)(q - places);
        w->table[at] = ++w->nelements;
    }
    return first_element(w) + w->table[at] - 1;
}

/* ---- uses ---- */

static rvm_status use(rules *w, uint32_t pc, uint32_t thing, bool adds) {
    w->used[thing] = pc + 1;
    if (!adds) w->other[thing] = pc + 1;
    if (w->logged[thing] > w->open[w->depth - 1].start) return RVM_OK;
    if (w->nlog >= FROZEN) return RVM__REJECT(w->v, pc, "too complex: too many uses in regions");
    if (!rvm__grow(&w->v->p->al, (void **)&w->log, &w->cap_log, w->nlog + 1, sizeof *w->log))
        return rvm__verify_no_memory(w->v);
    w->log[w->nlog++] = thing;
    w->logged[thing] = w->nlog;
    return RVM_OK;
}

static rvm_status use_slot(rules *w, uint32_t pc, uint16_t slot, bool adds) {
    return rvm__is_const(w->v->f, slot) ? RVM_OK : use(w, pc, slot, adds);
}

/* adds: it is an i64 or a fix, and only added to. */
static rvm_status use_place(rules *w, uint32_t pc, const rvm_place *q, bool adds) {
    const bool array = q->kind == RVM_PLACE_ARRAY || q->kind == RVM_PLACE_ELEM;
    if (array) w->roots[q->slot] = rvm__root_of(w->v->f, q);
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_SLOT: return use_slot(w, pc, q->slot, adds);
    case RVM_PLACE_RANGE: RVM__TRY(use_slot(w, pc, q->slot, false)); return use_slot(w, pc, q->idx[0], false);
    case RVM_PLACE_ARRAY: return use(w, pc, array_thing(w, q->slot), false);
    case RVM_PLACE_ELEM:
        for (int k = 0; k < q->nidx; k++) RVM__TRY(use_slot(w, pc, q->idx[k], false));
        RVM__TRY(use(w, pc, array_thing(w, q->slot), false));
        return use(w, pc, element_thing(w, q), adds);
    case RVM_PLACE_KIND_COUNT: break;
    }
    return RVM_OK;
}

/* ---- changes ---- */

static rvm_status check_register(rules *w, uint32_t pc, const rvm_place *q) {
    rvm__verifier *v = w->v;
    if (v->is_length[q->slot]) return RVM__REJECT(v, pc, "'%s' is a length, which cannot change", RVM__NAME(v, pc, q));
    if (!w->loops[q->slot]) return RVM_OK;
    return RVM__REJECT(v, pc, "'%s' is the index, an end or the step of the loop at line %u and cannot change inside it",
                       RVM__NAME(v, pc, q), v->f->positions[w->bound_at[q->slot]].line);
}

static rvm_status check_lock(rules *w, uint32_t pc, const rvm_place *q, uint32_t thing, bool adds) {
    if (w->locks[thing] == (adds ? w->adds[thing] : 0)) return RVM_OK;
    return RVM__REJECT(w->v, pc, "'%s' changes in the do part of a region whose compute part uses it",
                       RVM__NAME(w->v, pc, q));
}

static rvm_status check_frozen(rules *w, uint32_t pc, const rvm_place *q) {
    const uint32_t root = rvm__root_of(w->v->f, q);
    if (!w->frozen[root]) return RVM_OK;
    return RVM__REJECT(w->v, pc, "'%s' changes in the do part of a region that forgets, and its compute part uses '%s'",
                       RVM__NAME(w->v, pc, q), RVM__ARRAY_NAME(w->v, pc, root));
}

/* A register changes, or an array appears or disappears. */
static rvm_status change(rules *w, uint32_t pc, const rvm_place *q, bool appears, bool adds) {
    const bool array = q->kind == RVM_PLACE_ARRAY;
    const uint32_t thing = array ? array_thing(w, q->slot) : q->slot;
    if (!array) RVM__TRY(check_register(w, pc, q));
    RVM__TRY(check_lock(w, pc, q, thing, adds));
    w->changed[thing] = pc + 1;
    w->appeared[thing] = appears;
    return RVM_OK;
}

/* Elements change, one or some of an array, which is found when it runs. */
static rvm_status change_elements(rules *w, uint32_t pc, const rvm_place *q, bool adds) {
    RVM__TRY(check_frozen(w, pc, q));
    return q->kind == RVM_PLACE_ELEM ? check_lock(w, pc, q, element_thing(w, q), adds) : RVM_OK;
}

/* Sums of these are exact, in whatever order. */
static bool is_exact(const rules *w, const rvm_place *q) {
    const rvm_type t = rvm__place_type(w->v->f, q);
    return t == RVM_I64 || t == RVM_FIX;
}

static rvm_status check_outside(rules *w, uint32_t pc, const rvm_insn *in) {
    RVM__EACH_CHANGE(a, w->v->p, w->v->f, in)
        if (a.bits & RVM__BITS_ACC && (!a.array || a.toggles)) RVM__TRY(change(w, pc, a.q, a.appears, false));
    return RVM_OK;
}

/* In a region. */
static rvm_status check_inside(rules *w, uint32_t pc, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, w->v->p, w->v->f, in) {
        const bool adds = a.bits == RVM__BITS_ACC && is_exact(w, a.q);
        if (a.bits & RVM__BITS_ACC)
            RVM__TRY(a.array && !a.toggles ? change_elements(w, pc, a.q, adds) : change(w, pc, a.q, a.appears, adds));
        RVM__TRY(use_place(w, pc, a.q, adds));
    }
    return RVM_OK;
}

/* ---- loops ---- */

static void bound(rules *w, uint32_t pc, const rvm_insn *in, bool opens) {
    const rvm_place *q = rvm__places(w->v->f, in);
    for (uint32_t k = 0; k < in->nplaces; k++) {
        if (!rvm__is_register(w->v->f, q + k)) continue;
        if (opens && !w->loops[q[k].slot]++) w->bound_at[q[k].slot] = pc;
        if (!opens) w->loops[q[k].slot]--;
    }
}

/* ---- regions ---- */

static bool is_present(const rules *w, uint32_t pc, uint32_t thing) {
    const rvm__verifier *v = w->v;
    bool fixed = thing < v->f->nregs ? rvm__is_fixed(v, thing) : thing - v->f->nregs < rvm__array_params(v);
    return fixed || w->present[thing] == pc + 1;
}

/* Present at the `do` at pc, and since the use at `used` what it was. */
static bool is_same(const rules *w, uint32_t pc, const region *r, uint32_t thing, uint32_t used) {
    if (!is_present(w, pc, thing)) return false;
    return w->changed[thing] <= r->compute || (w->appeared[thing] && w->changed[thing] < used);
}

static bool is_same_element(const rules *w, uint32_t pc, const region *r, uint32_t thing) {
    const rvm_place *q = w->v->f->places + w->elements[thing - first_element(w)];
    for (int k = 0; k < q->nidx; k++)
        if (!rvm__is_const(w->v->f, q->idx[k]) && !is_same(w, pc, r, q->idx[k], w->used[thing])) return false;
    return is_same(w, pc, r, array_thing(w, q->slot), w->used[thing]);
}

static void mark_present(const rules *w, uint32_t pc) {
    const uint32_t *s = w->v->words + w->v->snapshot[w->v->at->code + pc];
    for (uint32_t k = 0; k < s[0]; k++) w->present[s[2 + k]] = pc + 1;
    for (uint32_t k = 0; k < s[1]; k++) w->present[array_thing(w, s[2 + s[0] + k] & UINT16_MAX)] = pc + 1;
}

static void lock_things(rules *w, uint32_t pc, const region *r) {
    for (uint32_t k = r->start; k < r->end; k++) {
        uint32_t thing = w->log[k];
        if (thing < first_element(w) ? !is_present(w, pc, thing) : !is_same_element(w, pc, r, thing)) continue;
        const bool adds = w->other[thing] <= r->compute;
        w->locks[thing]++;
        w->adds[thing] += adds;
        w->log[k] |= adds ? LOCKED | ADDED : LOCKED;
    }
}

/* Arrays that the compute part used, or part of them. */
static rvm_status freeze(rules *w, uint32_t pc, const region *r) {
    const uint32_t nregs = w->v->f->nregs;
    for (uint32_t k = r->start; k < r->end; k++) {
        const uint32_t thing = w->log[k] & ~(LOCKED | ADDED);
        if (thing < nregs || thing >= first_element(w)) continue;
        const uint32_t root = w->roots[thing - nregs];
        if (!is_present(w, pc, array_thing(w, root))) continue;
        if (!rvm__grow(&w->v->p->al, (void **)&w->log, &w->cap_log, w->nlog + 1, sizeof *w->log))
            return rvm__verify_no_memory(w->v);
        w->log[w->nlog++] = array_thing(w, root) | FROZEN;
        w->frozen[root]++;
    }
    return RVM_OK;
}

static rvm_status lock(rules *w, uint32_t pc, region *r) {
    mark_present(w, pc);
    r->end = w->nlog;
    lock_things(w, pc, r);
    if (rvm__forgets(w->v->f, r->compute)) RVM__TRY(freeze(w, pc, r));
    r->end = w->nlog;
    return RVM_OK;
}

static void unlock(rules *w, const region *r) {
    for (uint32_t k = r->start; k < r->end; k++) {
        const uint32_t entry = w->log[k], thing = entry & ~(LOCKED | ADDED | FROZEN);
        w->log[k] = thing;
        if (entry & FROZEN) w->frozen[thing - w->v->f->nregs]--;
        if (!(entry & LOCKED)) continue;
        w->locks[thing]--;
        w->adds[thing] -= !!(entry & ADDED);
    }
}

/* ---- functions ---- */

static rvm_status check_insn(rules *w, uint32_t pc, const rvm_insn *in) {
    if (in->op == RVM_OP_next || in->op == RVM_OP_endpar) bound(w, pc, in, false);
    RVM__TRY(w->depth ? check_inside(w, pc, in) : check_outside(w, pc, in));
    switch ((int)rvm__pair_of(in->op)) {
    case RVM_PAIR_for:
    case RVM_PAIR_par:
        if (!rvm__is_inverse(in->op)) bound(w, pc, in, true);
        break;
    case RVM_PAIR_compute: w->open[w->depth++] = (region){.compute = pc, .start = w->nlog}; break;
    case RVM_PAIR_do: return lock(w, pc, w->open + w->depth - 1);
    case RVM_PAIR_undo: unlock(w, w->open + --w->depth); break;
    }
    return RVM_OK;
}

static bool has_regions(const rvm_function *f) {
    return rvm__ops_in(f, RVM_OP_compute) > 0;
}

static uint32_t table_size(const rvm_function *f) {
    uint32_t size = 16;
    while (size < f->nplaces * 2) size *= 2;
    return size;
}

static rvm_status check_function(rules *w) {
    const rvm_function *f = w->v->f;
    bool regions = has_regions(f);
    size_t things = (size_t)f->nregs + f->narrays, all = things + (regions ? f->nplaces : 0);
    memset(w->loops, 0, f->nregs * sizeof *w->loops);
    memset(w->locks, 0, all * sizeof *w->locks);
    memset(w->logged, 0, all * sizeof *w->logged);
    memset(w->used, 0, all * sizeof *w->used);
    memset(w->other, 0, all * sizeof *w->other);
    memset(w->adds, 0, all * sizeof *w->adds);
    memset(w->frozen, 0, f->narrays * sizeof *w->frozen);
    memset(w->changed, 0, things * sizeof *w->changed);
    memset(w->present, 0, things * sizeof *w->present);
    w->nlog = w->nelements = w->depth = 0;
    w->table_size = table_size(f);
    if (regions) memset(w->table, 0, w->table_size * sizeof *w->table);
    RVM__EACH_INSN(x, f) RVM__TRY(check_insn(w, x.pc, x.in));
    return RVM_OK;
}

/* ---- the program ---- */

static rvm_status make(rules *w) {
    rvm__verifier *v = w->v;
    uint32_t places = 0, table = 0;
    for (uint32_t k = 0; k < v->p->nfunctions; k++) {
        const rvm_function *f = v->p->functions + k;
        if (f->nplaces < places || !has_regions(f)) continue;
        places = f->nplaces;
        table = table_size(f);
    }
    size_t things = (size_t)v->max_regs + v->max_arrays, all = things + places;
    uint32_t **each[] = {&w->locks,   &w->logged,  &w->used,     &w->other, &w->adds,   &w->loops, &w->bound_at,
                         &w->changed, &w->present, &w->elements, &w->table, &w->frozen, &w->roots};
    size_t size[] = {all,    all,    all,    all,   all,           v->max_regs,  v->max_regs,
                     things, things, places, table, v->max_arrays, v->max_arrays};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) *each[k] = rvm__verify_make(v, size[k], sizeof **each[k]);
    w->appeared = rvm__verify_make(v, things, sizeof *w->appeared);
    return rvm__verify_has_memory(v);
}

static rvm_status check_functions(rules *w) {
    RVM__TRY(make(w));
    RVM__EACH_FUNCTION(w->v) RVM__TRY(check_function(w));
    return RVM_OK;
}

/* ---- compute parts that are forgotten ---- */

static bool any_forgets(const rvm_program *p) {
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn])
            if (x.in->flags & RVM_FLAG_FORGETS) return true;
    return false;
}

/* Whether what is there at `do` beyond what is there at `compute` is what the text says of it. */
static bool is_as_made(const rvm__verifier *v, uint32_t compute, uint16_t *room) {
    const rvm__made made = rvm__made_find(v->f, compute, room);
    const uint32_t *at = v->words + v->snapshot[v->at->code + v->f->code[compute].target];
    const uint32_t *before = v->words + v->snapshot[v->at->code + compute];
    if (at[0] != before[0] + made.nregs || at[1] != before[1] + made.narrays) return false;
    for (uint32_t k = 0; k < made.narrays; k++)
        if ((at[2 + at[0] + at[1] - 1 - k] & UINT16_MAX) != made.arrays[k]) return false;
    for (uint32_t k = 0; k < made.nregs; k++) {
        uint32_t at_do = 0;
        while (at_do < at[0] && at[2 + at_do] != made.regs[k]) at_do++;
        if (at_do == at[0]) return false;
    }
    return true;
}

static rvm_status check_made(rvm__verifier *v, uint16_t *room) {
    RVM__EACH_INSN(x, v->f) {
        if (!(x.in->flags & RVM_FLAG_FORGETS) || is_as_made(v, x.in->target, room)) continue;
        return RVM__REJECT(v, x.in->target,
                           "what this compute part makes, which is forgotten, does not appear in the order of the text");
    }
    return RVM_OK;
}

static rvm_status check_forgotten(rvm__verifier *v, const rvm__reach *reach) {
    rvm__keeping k = {0};
    if (!rvm__elision_find(v->p, reach, v->fn, true, NULL, &k)) return rvm__verify_no_memory(v);
    const uint32_t line = v->f->positions[k.compute].line;
    switch (k.why) {
    case RVM__FORGETTABLE: return RVM_OK;
    case RVM__JUMPS:
        return RVM__REJECT(v, k.pc, "%s cannot stand in the compute part at line %u, which is forgotten",
                           rvm__op_info[v->f->code[k.pc].op].name, line);
    case RVM__MOVES_STACK:
        return RVM__REJECT(v, k.pc, "the compute part at line %u is forgotten, so it cannot use the stack", line);
    case RVM__CHANGES_OLDER: break;
    }
    return RVM__REJECT(v, k.pc,
                       "the compute part at line %u is forgotten, so it may change only what it made: what changes here was "
                       "there before; change it in the do part, or end the region by undo",
                       line);
}

static rvm_status check_all_forgotten(rvm__verifier *v) {
    const rvm_function largest = {.nregs = v->max_regs, .narrays = v->max_arrays};
    rvm__reach *reach = rvm__verify_make(v, v->p->nfunctions, sizeof *reach);
    uint16_t *room = rvm__verify_make(v, rvm__made_most(&largest), sizeof *room);
    if (!reach || !room || !rvm__reach_find(v->p, reach)) return rvm__verify_no_memory(v);
    RVM__EACH_FUNCTION(v) {
        RVM__TRY(check_forgotten(v, reach));
        RVM__TRY(check_made(v, room));
    }
    return RVM_OK;
}

rvm_status rvm__verify_rules(rvm__verifier *v) {
    rules w = {.v = v};
    rvm_status s = check_functions(&w);
    if (!s && any_forgets(v->p)) s = check_all_forgotten(v);
    rvm__realloc(&v->p->al, w.log, w.cap_log * sizeof *w.log, 0);
    return s;
}
