/* moves.c: drop, undrop, shed, recall, stow, unstow: places, or arrays element by element, to the trail or the stack and
 * back.
 *
 * A lane is one place of the instruction, or one array. All is looked at before anything changes. */
#include <string.h>

#include "memory.h"
#include "out_of_line.h"
#include "overlap.h"
#include "cell_runs.h"
#include "trail.h"
#include "sites.h"

typedef struct moving {
    rvm_machine *m;
    const rvm__xinsn *x;
    uint32_t fn;
    const rvm_function *f;
    const rvm_place *places;
    bool stack;                          /* else the trail */
    uint32_t level, site, nlanes, first; /* first: place of the instruction that the first lane is */
    uint64_t positions;                  /* in the entry: a bit for each lane */
    size_t count;                        /* entries */
    rvm__lane lanes[RVM_MAX_ENTRY];
} moving;

uint32_t rvm__set_site(const rvm_machine *m, const rvm__xinsn *x) {
    const uint32_t fn = m->store.frames[m->store.nframes - 1].fn;
    const rvm_function *f = &m->p->functions[fn];
    const rvm_insn *in = &f->code[x - m->codes[fn].x];
    return rvm__trail_site(m, rvm__insn_site(f, in));
}

/* ---- lanes ---- */

static bool find_lane(const moving *w, const rvm_place *q, bool shadows, rvm__lane *out) {
    const rvm_machine *m = w->m;
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const bool active = shadows && rvm__is_active(m->p, &m->bound.activity, w->fn, q);
    *out = (rvm__lane){.type = (uint8_t)rvm__place_type(w->f, q)};
    if (q->kind == RVM_PLACE_SLOT) {
        const size_t at = top->slots + q->slot;
        out->fresh = true;
        out->value = (char *)&m->store.slots[at];
        out->shadow = active ? (char *)&m->store.shadows[at] : NULL;
        out->held = m->store.magnitudes && rvm__is_floating((rvm_type)out->type) ? &m->store.magnitudes[at] : NULL;
        return true;
    }
    const rvm__array *a = &m->store.arrays[top->arrays + q->slot];
    const rvm_value *slots = m->store.slots + top->slots;
    out->held = a->magnitude;
    if (q->kind == RVM_PLACE_ARRAY) {
        out->array = a;
        out->value = a->data;
        out->shadow = active ? a->shadow : NULL;
        return true;
    }
    out->value = (char *)rvm__element_at(a, q, slots, false);
    out->shadow = active && out->value ? (char *)rvm__element_at(a, q, slots, true) : NULL;
    return out->value != NULL;
}

static rvm__extent extent_of(const rvm__lane *l) {
    rvm__extent e = {.data = l->value};
    for (int d = 0; l->array && d < l->array->ndim; d++) {
        e.dim[e.ndim] = l->array->dim[d];
        e.stride[e.ndim++] = l->array->stride[d];
    }
    return e;
}

static rvm_status check_apart(const moving *w) {
    for (uint32_t k = 1; w->x->flags & X_ALIAS && w->count && k < w->nlanes; k++)
        for (uint32_t i = 0; i < k; i++) {
            const rvm__extent a = extent_of(&w->lanes[i]), b = extent_of(&w->lanes[k]);
            if (rvm__overlap(&a, &b)) return RVM_ERR_ALIAS;
        }
    return RVM_OK;
}

static size_t elements(const rvm__array *a) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->dim[d];
    return n;
}

static rvm_status check_shapes(const moving *w) {
    const rvm__array *first = w->lanes[0].array;
    for (uint32_t k = 1; first && k < w->nlanes; k++)
        for (int d = 0; d < first->ndim; d++) {
            if (w->lanes[k].array->dim[d] == first->dim[d]) continue;
            snprintf(w->m->detail, sizeof w->m->detail,
                     "arrays that go onto the trail together have the lengths %lld and %lld", (long long)first->dim[d],
                     (long long)w->lanes[k].array->dim[d]);
            return RVM_ERR_SHAPE;
        }
    return RVM_OK;
}

/* Of instruction x of function fn; the lanes are still to be found. */
static void begin(moving *w, rvm_machine *m, uint32_t fn, const rvm__xinsn *x) {
    w->m = m;
    w->x = x;
    w->fn = fn;
    w->f = &m->p->functions[fn];
    const rvm_insn *in = &w->f->code[x - m->codes[fn].x];
    w->stack = rvm__op_on_stack((rvm_op)in->op);
    const uint32_t first = rvm__positions_at((rvm_op)in->op) + 1;
    w->places = rvm__places(w->f, in) + first;
    w->nlanes = in->nplaces - first;
    w->first = first;
    w->positions = (uint64_t)w->f->consts[w->places[-1].slot - w->f->nregs].i;
    w->level = x->trail.level;
    w->site = x->trail.site; /* of no meaning on the stack */
    m->detail[0] = 0;
    m->detail_place = first;
}

static rvm_status check_lanes(moving *w) {
    w->count = w->lanes[0].array ? elements(w->lanes[0].array) : 1;
    rvm_status status = check_shapes(w);
    return status ? status : check_apart(w);
}

static rvm_status begin_here(moving *w, rvm_machine *m, const rvm__xinsn *x, bool shadows) {
    begin(w, m, m->store.frames[m->store.nframes - 1].fn, x);
    for (uint32_t k = 0; k < w->nlanes; k++)
        if (!find_lane(w, &w->places[k], shadows, &w->lanes[k])) return RVM_ERR_INDEX;
    return check_lanes(w);
}

/* Where element e of a lane stands. */
static rvm_value *at(const rvm__lane *l, size_t e, bool shadow) {
    char *p = shadow ? l->shadow : l->value;
    const rvm__array *a = l->array;
    for (int d = a ? a->ndim - 1 : -1; d >= 0; d--) {
        const size_t n = (size_t)a->dim[d];
        p += (int64_t)(d ? e % n : e) * (shadow ? a->shadow_stride : a->stride)[d];
        e /= n;
    }
    return (rvm_value *)(void *)p;
}

static void hold(const rvm__lane *l, double y) {
    if (l->held && (l->fresh || fabs(y) > *l->held)) *l->held = fabs(y);
}

/* ---- one entry after another: from the top of the trail, or of the stack ---- */

typedef struct top_down {
    rvm__trail_cursor trail;
    uint32_t stack;
} top_down;

static top_down begin_down(const moving *w) {
    return (top_down){w->stack ? (rvm__trail_cursor){0} : rvm__trail_begin(w->m, w->level), w->m->store.nstack};
}

/* For all entries of the instruction; false: out of memory. */
static bool begin_all_down(const moving *w, top_down *d) {
    *d = begin_down(w);
    return w->stack || w->count == 1 || rvm__trail_walk(w->m, w->level, &d->trail);
}

static bool next_down(const moving *w, top_down *d, rvm__trail_entry *entry) {
    if (!w->stack) return rvm__trail_next(&d->trail, entry);
    return rvm__stack_entry(w->m, (rvm_type)w->lanes[0].type, &d->stack, entry);
}

/* ---- shadows that a sweep discards: of the places, in order, then the extra shadows of the entries ---- */

/* What the sweep discards of places that a value comes back into, from the redo log and onto it. */
static void pop_discarded(const moving *w, size_t from) {
    for (size_t e = from; e < w->count; e++)
        for (uint32_t k = w->nlanes; k-- > 0;)
            if (w->lanes[k].shadow) *at(&w->lanes[k], e, true) = rvm__redo_pop(w->m);
}

static rvm_status push_discarded(const moving *w) {
    for (size_t e = w->count; e-- > 0;)
        for (uint32_t k = 0; k < w->nlanes; k++) {
            rvm_status status = w->lanes[k].shadow ? rvm__redo_push(w->m, *at(&w->lanes[k], e, true)) : RVM_OK;
            if (!status) continue;
            while (k-- > 0)
                if (w->lanes[k].shadow) rvm__redo_pop(w->m);
            pop_discarded(w, e + 1);
            return status;
        }
    return RVM_OK;
}

static rvm_status push_extra(const moving *w) {
    rvm__trail_entry entry;
    top_down d;
    if (w->m->o.keep_shadows && !begin_all_down(w, &d)) return RVM_ERR_MEMORY;
    for (size_t e = 0; w->m->o.keep_shadows && e < w->count; e++) {
        rvm_status status = next_down(w, &d, &entry) ? rvm__redo_push_extra(w->m, w->positions, &entry) : RVM_OK;
        if (!status) continue;
        while (e-- > 0) rvm__redo_pop_extra(w->m, &entry);
        return status;
    }
    return RVM_OK;
}

static rvm_status push_all(const moving *w, bool appear) {
    rvm_status status = appear ? RVM_OK : push_discarded(w);
    if (status || !(status = push_extra(w))) return status;
    if (!appear) pop_discarded(w, 0);
    return status;
}

/* ---- onto the trail ---- */

static void gather(const moving *w, size_t e, rvm__trail_entry *entry) {
    entry->site = w->site;
    entry->n = 0;
    uint64_t left = w->positions;
    for (uint32_t k = 0; k < w->nlanes; k++, left &= left - 1) {
        const uint32_t p = (uint32_t)__builtin_ctzll(left);
        rvm__entry_insert(entry, 2 * p, *at(&w->lanes[k], e, false));
        if (w->lanes[k].shadow) rvm__entry_insert(entry, 2 * p + 1, *at(&w->lanes[k], e, true));
    }
}

static void clear(const moving *w) {
    for (size_t e = 0; e < w->count; e++)
        for (uint32_t k = 0; k < w->nlanes; k++) {
            at(&w->lanes[k], e, false)->u = 0;
            if (w->lanes[k].shadow) at(&w->lanes[k], e, true)->u = 0;
            hold(&w->lanes[k], 0);
        }
}

/* `n` entries that were pushed are popped again; at level 3 their extra shadows go to the redo log again. */
static void take_off(const moving *w, size_t n, int level) {
    rvm__trail_entry entry;
    while (n-- > 0) {
        top_down d = begin_down(w);
        next_down(w, &d, &entry);
        if (level == 3) rvm__redo_push_extra(w->m, w->positions, &entry);
        w->stack ? (void)(w->m->store.nstack = d.stack) : rvm__trail_pop(w->m, w->level);
    }
}

/* One array without shadows whose elements stand side by side: what snapshots are made of. */
static bool is_run(const moving *w, int level) {
    const rvm__array *a = w->lanes[0].array;
    int64_t stride = sizeof(rvm_value);
    if (level || w->stack || w->nlanes != 1 || w->positions != 1 || !a || w->lanes[0].shadow || !w->count) return false;
    for (int d = a->ndim; d-- > 0; stride *= a->dim[d])
        if (a->stride[d] != stride) return false;
    return true;
}

/* All places, each an entry, and 0 then. */
static rvm_status put_away(const moving *w, int level, bool disappear) {
    rvm__trail_entry entry;
    if (is_run(w, level)) {
        rvm_value *v = at(&w->lanes[0], 0, false);
        const rvm_status run = rvm__trail_push_run(w->m, w->level, w->site, v, w->count);
        if (!run) memset(v, 0, w->count * sizeof *v);
        return run;
    }
    const uint64_t erased = w->m->trail.erased[0] + w->m->trail.erased[1];
    for (size_t e = 0; e < w->count; e++) {
        gather(w, e, &entry);
        if (level == 3) rvm__redo_pop_extra(w->m, &entry);
        rvm_status status =
            w->stack ? rvm__stack_push(w->m, (rvm_type)w->lanes[0].type, &entry) : rvm__trail_push(w->m, w->level, &entry);
        if (!status) continue;
        if (level == 3) rvm__redo_push_extra(w->m, w->positions, &entry);
        if (w->m->trail.erased[0] + w->m->trail.erased[1] == erased) take_off(w, e, level);
        return status;
    }
    clear(w);
    if (level == 3 && !disappear) pop_discarded(w, 0);
    return RVM_OK;
}

/* ---- back from it ---- */

/* The lane of an index in an entry, or nlanes. */
static uint32_t lane_of(const moving *w, uint32_t index) {
    const uint64_t bit = UINT64_C(1) << index / 2;
    return w->positions & bit ? (uint32_t)__builtin_popcountll(w->positions & (bit - 1)) : w->nlanes;
}

/* The entry has no more than there are places for; a shadow of a place that has none in this run is left. */
static bool fits(const moving *w, const rvm__trail_entry *entry, int level) {
    for (uint32_t k = 1; w->m->bound.mode == RVM_PRIMAL && k < entry->n; k++) {
        const uint32_t place = lane_of(w, entry->index[k]);
        if (entry->index[k] & 1 && place < w->nlanes && !w->lanes[place].shadow) return false;
    }
    return rvm__extra_fits(w->m, w->fn, w->x, (rvm_type)w->lanes[0].type, w->positions, entry, level);
}

/* Nothing may stand where the entry goes: 0, as in `unlet`; in tangent mode, without a tangent. */
static rvm_status check_empty(const moving *w, size_t e, int level) {
    for (uint32_t k = 0; k < w->nlanes; k++) {
        const rvm__lane *l = &w->lanes[k];
        const rvm_value y = *at(l, e, false);
        const bool floats = rvm__is_floating((rvm_type)l->type);
        if (w->x->flags & X_UNCHECKED) continue;
        if (floats ? y.u != 0 && !rvm__vanishes_at(w->m, w->fn, w->x, (rvm_type)l->type, y.f, l->held) : y.i != 0) {
            snprintf(w->m->detail, sizeof w->m->detail, "it is %.17g, and must be 0 to take a value back from the trail",
                     floats               ? y.f
                     : l->type == RVM_FIX ? rvm__fix_real(y.i)
                                          : (double)y.i);
            w->m->detail_place = k + w->first;
            return RVM_ERR_TRAIL;
        }
        if (level != 2 || !l->shadow || !at(l, e, true)->u) continue;
        if (!rvm__tangent_vanishes(w->m, (rvm_type)l->type, *at(l, e, true))) return RVM_ERR_TANGENT;
    }
    return RVM_OK;
}

static rvm_status no_entry(const moving *w, const rvm__trail_entry *found) {
    return w->stack ? RVM_ERR_STACK : rvm__trail_wrong(w->m, w->level, found);
}

static rvm_status check_slots(const moving *w, int level, bool appear) {
    rvm__trail_entry entry;
    top_down d;
    if (!begin_all_down(w, &d)) return RVM_ERR_MEMORY;
    for (size_t e = w->count; e-- > 0;) {
        const bool more = next_down(w, &d, &entry);
        if (!more || (!w->stack && entry.site != w->site)) return no_entry(w, more ? &entry : NULL);
        if (!fits(w, &entry, level)) return rvm__extra_fails(w->m, w->stack);
        rvm_status status = appear ? RVM_OK : check_empty(w, e, level);
        if (status) return status == RVM_ERR_TRAIL && w->stack ? RVM_ERR_STACK : status;
    }
    return RVM_OK;
}

static void spread(const moving *w, size_t e, const rvm__trail_entry *entry, int level) {
    for (uint32_t k = 0; k < w->nlanes; k++) {
        const rvm__lane *l = &w->lanes[k];
        at(l, e, false)->u = 0;
        if (!l->shadow) continue;
        w->m->stats.shadows_dropped += level == 1;
        at(l, e, true)->u = 0;
    }
    for (uint32_t k = 0; k < entry->n; k++) {
        const uint32_t index = k ? entry->index[k] : 0;
        const uint32_t place = lane_of(w, index);
        const rvm__lane *l = &w->lanes[place];
        if (place == w->nlanes || (index & 1 && !l->shadow)) continue;
        *at(l, e, index & 1) = entry->value[k];
    }
    for (uint32_t k = 0; k < w->nlanes; k++) hold(&w->lanes[k], at(&w->lanes[k], e, false)->f);
}

/* USAGE: to be looked at one by one. */
static rvm_status take_run(const moving *w) {
    const rvm__lane *l = &w->lanes[0];
    rvm_value *v = at(l, 0, false);
    uint64_t bits = 0;
    for (size_t e = 0; e < w->count; e++) bits |= v[e].u;
    if (bits && !(w->x->flags & X_UNCHECKED)) return RVM_ERR_USAGE;
    const rvm_status status = rvm__trail_pop_run(w->m, w->level, w->site, v, w->count);
    for (size_t e = 0; l->held && !status && e < w->count; e++) hold(l, v[e].f);
    return status;
}

static rvm_status take(const moving *w, int level, bool appear) {
    rvm__trail_entry entry;
    rvm_status status = is_run(w, level) ? take_run(w) : RVM_ERR_USAGE;
    if (status != RVM_ERR_USAGE) return status;
    if (!w->stack) status = rvm__trail_reach(w->m, w->level, 2 * w->count * w->nlanes + RVM__ENTRY_CELLS);
    if (status && status != RVM_ERR_USAGE) return status;
    status = check_slots(w, level, appear);
    if (!status && level == 1) status = push_all(w, appear);
    if (status) return status;
    for (size_t e = w->count; e-- > 0;) {
        top_down d = begin_down(w);
        next_down(w, &d, &entry);
        spread(w, e, &entry, level);
        w->stack ? (void)(w->m->store.nstack = d.stack) : rvm__trail_pop(w->m, w->level);
    }
    return RVM_OK;
}

/* ---- the instructions ---- */

/* level 0: without shadows. */
static rvm_status move_here(rvm_machine *m, const rvm__xinsn *x, int level, bool back) {
    moving w;
    rvm_status status = begin_here(&w, m, x, level > 0);
    return status ? status : (back ? take : put_away)(&w, level, x->trail.appear);
}

rvm_status rvm__drop(rvm_machine *m, const rvm__xinsn *x, int level) {
    return move_here(m, x, level, false);
}

rvm_status rvm__stow(rvm_machine *m, const rvm__xinsn *x, int level) {
    return move_here(m, x, level, false);
}

rvm_status rvm__undrop(rvm_machine *m, const rvm__xinsn *x, int level) {
    return move_here(m, x, level, true);
}

rvm_status rvm__unstow(rvm_machine *m, const rvm__xinsn *x, int level) {
    return move_here(m, x, level, true);
}

bool rvm__move_one(rvm_machine *m, const rvm__xinsn *x, const rvm__lane *l, bool back) {
    rvm_value *y = (rvm_value *)(void *)l->value;
    const rvm_value *top;
    if (!back) {
        if (rvm__trail_push_plain(m, x->trail.level, x->trail.site, *y)) return false;
        y->u = 0;
    } else {
        if (y->u && !x->trail.appear && !(x->flags & X_UNCHECKED)) return false;
        if (!(top = rvm__trail_top(m, x->trail.level, x->trail.site))) return false;
        *y = *top;
        rvm__trail_pop(m, x->trail.level);
    }
    hold(l, y->f);
    return true;
}

rvm_status rvm__move_lanes(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, const rvm__lane *lanes, bool back) {
    moving w;
    begin(&w, m, fn, x);
    memcpy(w.lanes, lanes, w.nlanes * sizeof *lanes);
    rvm_status status = check_lanes(&w);
    return status ? status : (back ? take : put_away)(&w, 0, x->trail.appear);
}
