/* slots.c: drop, undrop, shed, recall, stow, unstow: places, or arrays element by element, to the trail or the stack and
 * back.
 *
 * A lane is one place of the instruction, or one array. All is looked at before anything changes. */
#include <string.h>

#include "memory.h"
#include "out_of_line.h"
#include "overlap.h"
#include "trail.h"

typedef struct lane {
    char *value, *shadow; /* shadow NULL: none, or none that counts in this run */
    const rvm__array *array;
    double *held; /* the largest magnitude of an f64, where that is kept */
    uint8_t type;
} lane;

typedef struct moving {
    rvm_machine *m;
    const rvm__xinsn *x;
    const rvm_function *f;
    const rvm__frame *top;
    const rvm_place *places;
    uint32_t level, site, nlanes, first; /* first: place of the instruction that the first lane is */
    uint64_t positions;                  /* in the slot: a bit for each lane */
    size_t count;                        /* slots */
    lane lanes[RVM_MAX_SLOT];
} moving;

uint32_t rvm__set_site(const rvm_machine *m, const rvm__xinsn *x) {
    const uint32_t fn = m->frames[m->nframes - 1].fn;
    const rvm_function *f = &m->p->functions[fn];
    const rvm_insn *in = &f->code[x - m->codes[fn].x];
    return rvm__trail_site(m, rvm__insn_site(f, in));
}

/* Not in trail.c: gcc 12, with both in view, takes rvm__trail_next for not writing `index`. */
rvm_status rvm__trail_top_value(rvm_machine *m, const rvm__xinsn *x, uint32_t site, rvm_value *value, rvm_value *shadow) {
    rvm__slot slot;
    rvm__trail_cursor c = rvm__trail_begin(m, 0);
    slot.value[1].u = slot.index[1] = 0;
    m->detail_place = 0;
    if (!rvm__trail_next(&c, &slot)) return rvm__trail_wrong(m, 0, NULL);
    if (slot.site != site) return rvm__trail_wrong(m, 0, &slot);
    *value = slot.value[0];
    shadow->u = slot.n > 1 && slot.index[1] == 1 ? slot.value[1].u : 0;
    for (uint32_t k = 1; k < slot.n; k++) { /* as fits below: only the value has a place */
        const rvm_type type = (rvm_type)x->type;
        if (m->mode != RVM_PRIMAL && (slot.index[k] == 1 || (m->sweeping && slot.index[k] & 1))) continue;
        if (!rvm__is_floating(type) || !rvm__vanishes(m, x, type, slot.value[k].f, NULL)) return rvm__trail_more(m);
    }
    return RVM_OK;
}

/* ---- lanes ---- */

static bool find_lane(const moving *w, const rvm_place *q, bool shadows, lane *out) {
    const rvm_machine *m = w->m;
    const bool active = shadows && rvm__is_active(m->p, &m->activity, w->top->fn, q);
    *out = (lane){.type = (uint8_t)rvm__place_type(w->f, q)};
    if (q->kind == RVM_PLACE_SLOT) {
        const size_t at = w->top->slots + q->slot;
        out->value = (char *)&m->slots[at];
        out->shadow = active ? (char *)&m->shadows[at] : NULL;
        out->held = m->magnitudes && rvm__is_floating((rvm_type)out->type) ? &m->magnitudes[at] : NULL;
        return true;
    }
    const rvm__array *a = &m->arrays[w->top->arrays + q->slot];
    const rvm_value *slots = m->slots + w->top->slots;
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

static rvm__extent extent_of(const lane *l) {
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

static rvm_status begin(moving *w, rvm_machine *m, const rvm__xinsn *x, bool shadows) {
    w->m = m;
    w->x = x;
    w->top = &m->frames[m->nframes - 1];
    w->f = &m->p->functions[w->top->fn];
    const rvm_insn *in = &w->f->code[x - m->codes[w->top->fn].x];
    const uint32_t first = (uint32_t)strcspn(rvm__op_info[in->op].operands, "m") + 1;
    w->places = rvm__places(w->f, in) + first;
    w->nlanes = in->nplaces - first;
    w->first = first;
    w->positions = (uint64_t)w->f->consts[w->places[-1].slot - w->f->nregs].i;
    w->level = x->trail.level;
    w->site = x->trail.site; /* of no meaning on the stack */
    m->detail[0] = 0;
    m->detail_place = first;
    for (uint32_t k = 0; k < w->nlanes; k++)
        if (!find_lane(w, &w->places[k], shadows, &w->lanes[k])) return RVM_ERR_INDEX;
    w->count = w->lanes[0].array ? elements(w->lanes[0].array) : 1;
    rvm_status status = check_shapes(w);
    return status ? status : check_apart(w);
}

/* Where element e of a lane stands. */
static rvm_value *at(const lane *l, size_t e, bool shadow) {
    char *p = shadow ? l->shadow : l->value;
    const rvm__array *a = l->array;
    for (int d = a ? a->ndim - 1 : -1; d >= 0; d--) {
        const size_t n = (size_t)a->dim[d];
        p += (int64_t)(d ? e % n : e) * (shadow ? a->shadow_stride : a->stride)[d];
        e /= n;
    }
    return (rvm_value *)(void *)p;
}

static void hold(const lane *l, double y) {
    if (l->held && (!l->array || fabs(y) > *l->held)) *l->held = fabs(y);
}

/* ---- shadows that a sweep discards ---- */

/* What the sweep discards of places that a value comes back into; unkeep takes it back. */
static void unkeep(const moving *w, size_t from) {
    for (size_t e = from; e < w->count; e++)
        for (uint32_t k = w->nlanes; k-- > 0;)
            if (w->lanes[k].shadow) *at(&w->lanes[k], e, true) = rvm__kept(w->m);
}

static rvm_status keep(const moving *w) {
    for (size_t e = w->count; e-- > 0;)
        for (uint32_t k = 0; k < w->nlanes; k++) {
            rvm_status status = w->lanes[k].shadow ? rvm__keep(w->m, *at(&w->lanes[k], e, true)) : RVM_OK;
            if (!status) continue;
            while (k-- > 0)
                if (w->lanes[k].shadow) rvm__kept(w->m);
            unkeep(w, e + 1);
            return status;
        }
    return RVM_OK;
}

/* ---- onto the trail ---- */

static void put(rvm__slot *slot, uint32_t index, rvm_value v) {
    if (index && !v.u) return;
    slot->value[slot->n] = v;
    slot->index[slot->n++] = (uint8_t)index;
}

static void gather(const moving *w, size_t e, rvm__slot *slot) {
    slot->site = w->site;
    slot->n = 0;
    uint64_t left = w->positions;
    for (uint32_t k = 0; k < w->nlanes; k++, left &= left - 1) {
        const uint32_t p = (uint32_t)__builtin_ctzll(left);
        put(slot, 2 * p, *at(&w->lanes[k], e, false));
        if (w->lanes[k].shadow) put(slot, 2 * p + 1, *at(&w->lanes[k], e, true));
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

rvm_status rvm__drop(rvm_machine *m, const rvm__xinsn *x, int level) {
    moving w;
    rvm__slot slot;
    rvm_status status = begin(&w, m, x, level > 0);
    const uint64_t erased = m->trail.erased;
    if (status) return status;
    for (size_t e = 0; e < w.count && !status; e++) {
        gather(&w, e, &slot);
        status = rvm__trail_push(m, w.level, &slot);
        if (!status) continue;
        while (e-- > 0 && m->trail.erased == erased) rvm__trail_pop(m, w.level);
        return status;
    }
    clear(&w);
    if (level == 3 && !x->trail.appear) unkeep(&w, 0);
    return RVM_OK;
}

/* ---- back from it ---- */

/* The lane of an index in a slot, or nlanes. */
static uint32_t lane_of(const moving *w, uint32_t index) {
    const uint64_t bit = UINT64_C(1) << index / 2;
    return w->positions & bit ? (uint32_t)__builtin_popcountll(w->positions & (bit - 1)) : w->nlanes;
}

/* What a derivative leaves in a place that it has emptied, and rounding keeps from being 0. */
static bool is_residue(const moving *w, rvm_value v) {
    const rvm_type type = (rvm_type)w->lanes[0].type; /* that of its shadows, too */
    return rvm__is_floating(type) && rvm__vanishes(w->m, w->x, type, v.f, NULL);
}

/* The bit of a position that the latest transform added: that of the last of the places' own shadows; 0: none. */
static uint32_t latest_bit(const moving *w) {
    uint32_t all = 0;
    for (uint64_t left = w->positions; left; left &= left - 1) all |= (uint32_t)__builtin_ctzll(left);
    return all ? 1u << (31 - __builtin_clz(all)) : 0;
}

/* A value that no place takes may be lost where it is the derivative by one that was 0 by not being there: what the latest
 * adjoint, the program's or the sweep's, left beside a position that is not taken. Else it is 0, but for rounding. */
static bool may_be_lost(const moving *w, uint32_t index, rvm_value v, int level) {
    if (index & 1 && level == 1) return true;
    return (index / 2 & latest_bit(w)) || is_residue(w, v);
}

/* The slot has no more than there are places for; a shadow of a place that has none in this run is left. */
static bool fits(const moving *w, const rvm__slot *slot, int level) {
    for (uint32_t k = 1; k < slot->n; k++) {
        const uint32_t place = lane_of(w, slot->index[k]);
        if (place == w->nlanes) {
            if (!may_be_lost(w, slot->index[k], slot->value[k], level)) return false;
            continue;
        }
        if (slot->index[k] & 1 && !w->lanes[place].shadow && w->m->mode == RVM_PRIMAL) return false;
    }
    return true;
}

/* Nothing may stand where the slot goes: 0, as in `unlet`; in tangent mode, without a tangent. */
static rvm_status check_empty(const moving *w, size_t e, int level) {
    for (uint32_t k = 0; k < w->nlanes; k++) {
        const lane *l = &w->lanes[k];
        const rvm_value y = *at(l, e, false);
        const bool floats = rvm__is_floating((rvm_type)l->type);
        if (w->x->flags & X_UNCHECKED) continue;
        if (floats ? y.f != 0 && !rvm__vanishes(w->m, w->x, (rvm_type)l->type, y.f, l->held) : y.i != 0) {
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

static rvm_status check_slots(const moving *w, int level, bool appear) {
    rvm__slot slot;
    rvm__trail_cursor c = rvm__trail_begin(w->m, w->level);
    for (size_t e = w->count; e-- > 0;) {
        const bool more = rvm__trail_next(&c, &slot);
        if (!more || slot.site != w->site) return rvm__trail_wrong(w->m, w->level, more ? &slot : NULL);
        if (!fits(w, &slot, level)) return rvm__trail_more(w->m);
        rvm_status status = appear ? RVM_OK : check_empty(w, e, level);
        if (status) return status;
    }
    return RVM_OK;
}

static void spread(const moving *w, size_t e, const rvm__slot *slot, int level) {
    for (uint32_t k = 0; k < w->nlanes; k++) {
        const lane *l = &w->lanes[k];
        at(l, e, false)->u = 0;
        if (!l->shadow) continue;
        w->m->stats.shadows_dropped += level == 1 && at(l, e, true)->u << 1 != 0;
        at(l, e, true)->u = 0;
    }
    for (uint32_t k = 0; k < slot->n; k++) {
        const uint32_t index = k ? slot->index[k] : 0;
        const uint32_t place = lane_of(w, index);
        const lane *l = &w->lanes[place];
        if (place == w->nlanes || (index & 1 && !l->shadow)) continue;
        *at(l, e, index & 1) = slot->value[k];
    }
    for (uint32_t k = 0; k < w->nlanes; k++) hold(&w->lanes[k], at(&w->lanes[k], e, false)->f);
}

rvm_status rvm__undrop(rvm_machine *m, const rvm__xinsn *x, int level) {
    moving w;
    rvm__slot slot;
    const bool appear = x->trail.appear;
    rvm_status status = begin(&w, m, x, level > 0);
    if (!status) status = check_slots(&w, level, appear);
    if (!status && level == 1 && !appear) status = keep(&w);
    if (status) return status;
    for (size_t e = w.count; e-- > 0;) {
        rvm__trail_cursor c = rvm__trail_begin(m, w.level);
        rvm__trail_next(&c, &slot);
        spread(&w, e, &slot, level);
        rvm__trail_pop(m, w.level);
    }
    return RVM_OK;
}

/* ---- the same with the stack ---- */

static bool push_cell(rvm_machine *m, rvm__cell cell) {
    size_t cap = m->cap_stack;
    if (!rvm__reserve(m, (void **)&m->stack, &cap, (size_t)m->nstack + 1, sizeof *m->stack)) return false;
    m->cap_stack = (uint32_t)cap;
    m->stack[m->nstack++] = cell;
    return true;
}

/* What is not the value lies below it; the value's own shadow is in its cell, as that of push is. */
static bool push_slot(const moving *w, const rvm__slot *slot) {
    const uint8_t type = w->lanes[0].type;
    rvm__cell top = {.value = slot->value[0], .type = type};
    for (uint32_t k = 1; k < slot->n; k++) {
        if (slot->index[k] == 1)
            top.shadow = slot->value[k];
        else if (push_cell(w->m, (rvm__cell){.value = slot->value[k], .type = type, .index = slot->index[k]}))
            top.extra++;
        else
            return false;
    }
    return push_cell(w->m, top);
}

rvm_status rvm__stow(rvm_machine *m, const rvm__xinsn *x, int level) {
    moving w;
    rvm__slot slot;
    const uint32_t before = m->nstack;
    rvm_status status = begin(&w, m, x, level > 0);
    for (size_t e = 0; e < w.count && !status; e++) {
        gather(&w, e, &slot);
        if (!push_slot(&w, &slot)) status = RVM_ERR_MEMORY;
    }
    if (status)
        m->nstack = before;
    else
        clear(&w);
    if (!status && level == 3) unkeep(&w, 0);
    return status;
}

/* The slot whose value is cell n - 1; false: none, or of another type. n: cells below it. */
static bool slot_below(const moving *w, uint32_t *n, rvm__slot *slot) {
    const rvm__cell *top = *n ? &w->m->stack[*n - 1] : NULL;
    if (!top || top->type != w->lanes[0].type) return false;
    slot->value[0] = top->value;
    slot->n = 1;
    if (top->shadow.u) put(slot, 1, top->shadow);
    *n -= 1u + top->extra;
    for (uint32_t k = *n; k + 1 < *n + 1u + top->extra; k++) put(slot, w->m->stack[k].index, w->m->stack[k].value);
    return true;
}

static rvm_status check_stack(const moving *w, int level) {
    uint32_t n = w->m->nstack;
    rvm__slot slot;
    for (size_t e = w->count; e-- > 0;) {
        if (!slot_below(w, &n, &slot)) return RVM_ERR_STACK;
        if (!fits(w, &slot, level)) {
            snprintf(w->m->detail, sizeof w->m->detail, "the stack holds a value with shadows that nothing takes here");
            return RVM_ERR_STACK;
        }
        rvm_status status = check_empty(w, e, level);
        if (status) return status == RVM_ERR_TRAIL ? RVM_ERR_STACK : status;
    }
    return RVM_OK;
}

rvm_status rvm__unstow(rvm_machine *m, const rvm__xinsn *x, int level) {
    moving w;
    rvm__slot slot;
    rvm_status status = begin(&w, m, x, level > 0);
    if (!status) status = check_stack(&w, level);
    if (!status && level == 1) status = keep(&w);
    for (size_t e = w.count; e-- > 0 && !status;)
        if (slot_below(&w, &m->nstack, &slot)) spread(&w, e, &slot, level);
    return status;
}
