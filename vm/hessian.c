/* hessian.c: what each instruction does to the Hessian in a backward sweep.
 *
 * With x the places before an instruction and x' = F(x) those after it, w = dL/dx' and H' the Hessian of L in x':
 *
 *     H = J' H' J  +  sum over outputs i of w_i * (second partials of F_i)
 *
 * The machine does values and adjoints, one instruction at a time; here the places and w are noted before it does, and H is
 * brought over after it has, when the operands' values are those that F read. J is a few shears and a scaling where the
 * target stays, and in general: every output under a temporary name, sheared into each input, then dropped. Second partials
 * come from the rows and families (second.h). Instructions that touch no shadow touch no row of H.
 */
#include "hessian.h"
#include "builder.h"

#include "out_of_line.h"
#include "reals.h"
#include "second.h"

#include <string.h>

typedef struct site {
    rvm_machine *m;
    rvm__sym *h;
    const rvm_function *f;
    const rvm_insn *in;
    const rvm_place *places;
    const rvm__xinsn *x;
    const rvm__frame *frame;
    rvm_op op; /* as run forward */
} site;

static site site_of(rvm_machine *m) {
    site s = {.m = m, .h = &m->hessian->h, .x = m->run.pc, .frame = &m->store.frames[m->store.nframes - 1]};
    s.f = &m->p->functions[s.frame->fn];
    s.in = &s.f->code[m->run.pc - m->codes[s.frame->fn].x];
    s.places = rvm__places(s.f, s.in);
    s.op = m->run.dir < 0 ? (rvm_op)s.in->op : rvm__op_inverse((rvm_op)s.in->op);
    return s;
}

static rvm_value *cell_of(const site *s, int k, bool shadow) {
    const rvm_place *q = &s->places[k];
    rvm_value *slots = s->m->store.slots + s->frame->slots;
    if (q->kind == RVM_PLACE_SLOT) return (shadow ? s->m->store.shadows + s->frame->slots : slots) + q->slot;
    return rvm__element_at(&s->m->store.arrays[s->frame->arrays + q->slot], q, slots, shadow);
}

/* 0 where an index is out of bounds, which the machine will find. */
static rvm__key key_of(const site *s, int k) {
    if (s->places[k].kind == RVM_PLACE_SLOT) return rvm__slot_key(s->frame->slots + s->places[k].slot);
    return rvm__element_key(cell_of(s, k, true));
}

static double value_of(const site *s, int k) {
    return rvm__real_of(rvm__place_type(s->f, &s->places[k]), *cell_of(s, k, false));
}

static double shadow_of(const site *s, int k) {
    return rvm__real_of(rvm__place_type(s->f, &s->places[k]), *cell_of(s, k, true));
}

static bool is_active(const site *s, int k) {
    return s->x->active >> k & 1;
}

/* v to both H[a, b] and H[b, a]: twice to the diagonal where two operands are one place. */
static bool add_pair(rvm__sym *h, rvm__key a, rvm__key b, double v) {
    return rvm__sym_add(h, a, b, a == b ? 2 * v : v);
}

/* ---- updates: y' = g(y, f(a, b, c)) ---- */

typedef struct update {
    rvm__key key[4]; /* of the target and the operands; 0: not active */
    double w;
} update;

static bool note_update(const site *s, update *u) {
    for (int k = 0; k <= rvm__row_info[s->in->row].arity; k++) {
        u->key[k] = is_active(s, k) ? key_of(s, k) : 0;
        if (is_active(s, k) && !u->key[k]) return false;
    }
    u->w = shadow_of(s, 0);
    return true;
}

static bool second_order(rvm__sym *h, const update *u, const rvm__second *f, const rvm__family_second *g, int arity) {
    if (h->structural) return true; /* adjoints are 0, or NaN where a partial is infinite */
    bool good = rvm__sym_add(h, u->key[0], u->key[0], u->w * g->yy);
    for (int j = 0; j < arity && good; j++) {
        if (!u->key[j + 1]) continue;
        good = rvm__sym_add(h, u->key[0], u->key[j + 1], u->w * g->yf * f->d[j]) &&
               rvm__sym_add(h, u->key[j + 1], u->key[j + 1], u->w * (g->ff * f->d[j] * f->d[j] + g->f * f->dd[j][j]));
        for (int k = 0; k < j && good; k++)
            if (u->key[k + 1])
                good = add_pair(h, u->key[j + 1], u->key[k + 1], u->w * (g->ff * f->d[j] * f->d[k] + g->f * f->dd[j][k]));
    }
    return good;
}

static bool bring_update(const site *s, const update *u) {
    const int arity = rvm__row_info[s->in->row].arity;
    const bool present = rvm__sym_row_of(s->h, u->key[0]) != NULL;
    double x[3] = {0};
    rvm__second f;
    if (u->w == 0 && !present) return true;
    for (int k = 0; k < arity; k++) x[k] = value_of(s, k + 1);
    if (!rvm__row_second(s->m->math, (rvm_row)s->in->row, x, &f)) return true;
    const rvm__family_second g = rvm__family_partials(s->op, value_of(s, 0), f.f);
    bool good = true;
    for (int k = 0; k < arity && good; k++)
        if (u->key[k + 1]) good = rvm__sym_shear(s->h, u->key[0], u->key[k + 1], g.f * f.d[k]);
    rvm__sym_scale(s->h, u->key[0], g.y);
    return good && (u->w == 0 || second_order(s->h, u, &f, &g, arity));
}

/* ---- changes in place ---- */

typedef struct change {
    const rvm_change_info *info;
    int first, inputs; /* its places, then its operands */
    rvm__key key[RVM__CHANGE_INPUTS];
    double w[RVM_MAX_CHANGED];
    rvm__change_jet f[RVM_MAX_CHANGED];
} change;

static double second_partial(const change *c, int j, int k) {
    double sum = 0;
    for (int i = 0; i < c->info->places; i++)
        if (c->f[i].dd[j][k] != 0) sum += c->w[i] * c->f[i].dd[j][k];
    return sum;
}

/* What was moved has its row under another name; else every input takes its share of a row. */
static bool bring_place(rvm__sym *h, const change *c, int i) {
    const rvm__key from = rvm__temporary_key(i);
    bool good = true;
    for (int k = 0; k < c->inputs && good; k++) {
        const bool moves = c->info->shadows == RVM_SHADOWS_MOVE;
        if (!c->key[k] || (c->f[i].d[k] == 0 && (moves || !h->structural))) continue;
        if (moves) return rvm__sym_rename(h, from, c->key[k]);
        good = rvm__sym_shear(h, from, c->key[k], c->f[i].d[k]);
    }
    rvm__sym_drop(h, from);
    return good;
}

static bool bring_change(rvm__sym *h, const change *c) {
    bool good = true;
    for (int i = 0; i < c->info->places && good; i++) good = rvm__sym_rename(h, c->key[i], rvm__temporary_key(i));
    for (int i = 0; i < c->info->places && good; i++) good = bring_place(h, c, i);
    if (h->structural) return good;
    for (int j = 0; j < c->inputs && good; j++)
        for (int k = 0; k <= j && good; k++)
            if (c->key[j] && c->key[k]) good = rvm__sym_add(h, c->key[j], c->key[k], second_partial(c, j, k));
    return good;
}

static bool note_change(const site *s, change *c) {
    for (int k = 0; k < c->inputs; k++) {
        const int place = c->first + k;
        c->key[k] = is_active(s, place) ? key_of(s, place) : 0;
        if (is_active(s, place) && !c->key[k]) return false;
        if (k < c->info->places) c->w[k] = shadow_of(s, place);
    }
    return true;
}

/* ---- what a compute part borrows, in exact runs: rows are set aside, and added again, with the shadows ---- */

static const rvm__key ON_RECORD = UINT64_C(1) << 63; /* in keys of what has no address */

/* Of place k of the last instruction that set something aside. */
static rvm__key aside_key(const site *s, int k) {
    const rvm__key at = ON_RECORD | ON_RECORD >> 1 | (rvm__key)rvm__exact_depth(s->m) << 43;
    return at | (rvm__key)(rvm__borrowed_bits(s->m) << 3) | (rvm__key)k;
}

static bool is_borrowed(const site *s, int target) {
    const bool floating = rvm__is_floating(rvm__place_type(s->f, &s->places[target]));
    if (!s->m->exact.borrowing || !floating || !rvm__op_is_recorded(s->op)) return false;
    return rvm__op_is_update(s->op) || rvm__change_info[rvm__change_of(s->op)].exact == RVM_EXACTLY_WHOLE;
}

static bool set_aside(const site *s, const rvm__key *key, int n) {
    bool good = true;
    for (int k = 0; k < n && good; k++) good = rvm__sym_rename(s->h, key[k], aside_key(s, k));
    return good;
}

/* at: as aside_key was for place 0, before the step. */
static bool add_again(const site *s, const rvm__key *key, int n, rvm__key at) {
    bool good = true;
    for (int k = 0; k < n && good; k++) {
        good = rvm__sym_shear(s->h, at | (rvm__key)k, key[k], 1);
        rvm__sym_drop(s->h, at | (rvm__key)k);
    }
    return good;
}

/* ---- arrays that appear, in one piece: their elements are all the value of `new` ---- */

static bool bring_elements(const site *s, const rvm__array *a) {
    const int value = s->in->nplaces - 1;
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->dim[d];
    for (size_t k = 0; k < n; k++) {
        const rvm__key element = rvm__element_key(a->shadow + k * sizeof(rvm_value));
        if (is_active(s, 1) && !rvm__sym_shear(s->h, element, key_of(s, value), 1)) return false;
        rvm__sym_drop(s->h, element);
    }
    return true;
}

/* ---- calls ---- */

bool rvm__hessian_pass(rvm_machine *m, rvm__key place, size_t slot, bool again, rvm_role role) {
    rvm__sym *h = &m->hessian->h;
    if (!place) return true;
    if (!again) return rvm__sym_rename(h, place, rvm__slot_key(slot));
    return role != RVM_ACC || rvm__sym_shear(h, place, rvm__slot_key(slot), 1);
}

bool rvm__hessian_return(rvm_machine *m, rvm__key place, size_t slot, bool again, rvm_role role) {
    rvm__sym *h = &m->hessian->h;
    const rvm__key key = rvm__slot_key(slot);
    if (place && !again) return rvm__sym_rename(h, key, place);
    if (place && role == RVM_READ && !rvm__sym_shear(h, key, place, 1)) return false;
    rvm__sym_drop(h, key);
    return true;
}

/* ---- the trail ---- */

enum { MOST_PLACES = 4 };

/* The shadow of element e, in row-major order. */
static const char *shadow_at(const rvm__array *a, size_t e) {
    const char *p = a->shadow;
    for (size_t d = a->ndim; d-- > 0; e /= (size_t)a->dim[d]) p += (int64_t)(e % (size_t)a->dim[d]) * a->shadow_stride[d];
    return p;
}

/* Whether a place, or an element of an array, has a row; dropping it if asked to. */
static bool has_row(const site *s, int k, bool drop) {
    const rvm_place *q = &s->places[k];
    const rvm__array *a = q->kind == RVM_PLACE_ARRAY ? &s->m->store.arrays[s->frame->arrays + q->slot] : NULL;
    size_t n = 1;
    bool has = false;
    if (rvm__place_type(s->f, q) == RVM_I64 || (a && !a->shadow)) return false;
    for (int d = 0; a && d < a->ndim; d++) n *= (size_t)a->dim[d];
    for (size_t e = 0; e < n; e++) {
        const rvm__key key = a ? rvm__element_key(shadow_at(a, e)) : key_of(s, k);
        has = has || (key && rvm__sym_row_of(s->h, key));
        if (drop && key) rvm__sym_drop(s->h, key);
    }
    return has;
}

/* A position in the entry that is on top of the trail, level 0: the address of its value's cell, or of a flag, which has
 * none, its number at its depth; and the number of the position, of which a key has room for four. 0: there is none. */
static rvm__key cell_key(const site *s, int place) {
    const rvm__trail_stack *t = s->m->trail.now;
    const rvm_value *top = rvm__trail_top_cell(s->m);
    const rvm__key flag = t->flags ? ON_RECORD | (rvm__key)rvm__exact_depth(s->m) << 43 | (rvm__key)(t->flags << 3) : 0;
    const rvm__key entry = top ? (rvm__key)(uintptr_t)top : t->last != RVM__TRAIL_BOTTOM ? flag : 0;
    return entry && place < MOST_PLACES ? entry | 4 | (rvm__key)place : 0;
}

/* ---- one instruction ---- */

/* The machine runs one instruction of the sweep. */
static rvm_status machine_step(rvm_machine *m) {
    const uint64_t steps = m->run.steps;
    m->run.steps = 1;
    const rvm_status status = m->profile ? rvm__run_gradient_profiled(m) : rvm__run_gradient(m);
    m->run.steps = steps;
    return status;
}

#define GOOD(call) return (call) ? RVM_OK : RVM_ERR_MEMORY

static rvm_status step_update(const site *s) {
    update u;
    const bool noted = note_update(s, &u), borrowed = is_borrowed(s, 0);
    const rvm__key aside = borrowed ? aside_key(s, 0) : 0;
    const rvm_status status = machine_step(s->m);
    if (status || !noted) return status;
    if (borrowed && s->m->exact.borrowing == RVM__SETS_ASIDE) GOOD(set_aside(s, u.key, 1));
    GOOD(bring_update(s, &u) && (!borrowed || add_again(s, u.key, 1, aside)));
}

static rvm_status step_change(const site *s) {
    change c = {.info = &rvm__change_info[rvm__change_of(s->op)]};
    double x[RVM__CHANGE_INPUTS] = {0};
    c.first = c.info->conditional;
    c.inputs = c.info->places + c.info->operands;
    const bool taken = !c.first || cell_of(s, 0, false)->i != 0, noted = note_change(s, &c);
    const bool borrowed = is_borrowed(s, c.first);
    const rvm__key aside = borrowed ? aside_key(s, 0) : 0;
    const rvm_status status = machine_step(s->m);
    if (status || !taken || !noted) return status;
    if (borrowed && s->m->exact.borrowing == RVM__SETS_ASIDE) GOOD(set_aside(s, c.key, c.info->places));
    for (int k = 0; k < c.inputs; k++) x[k] = value_of(s, c.first + k);
    rvm__change_jets(s->m->math, s->op, x, c.f);
    GOOD(bring_change(s->h, &c) && (!borrowed || add_again(s, c.key, c.info->places, aside)));
}

static rvm_status step_stack(const site *s) {
    const rvm__key place = key_of(s, 0), top = rvm__cell_key(s->m->store.nstack - 1),
                   above = rvm__cell_key(s->m->store.nstack);
    const rvm_op op = s->op;
    const rvm_status status = machine_step(s->m);
    if (status || !place || op == RVM_OP_popc) return status;
    if (op == RVM_OP_push) rvm__sym_drop(s->h, place); /* what push leaves is 0 */
    if (op == RVM_OP_push) GOOD(rvm__sym_rename(s->h, top, place));
    if (op == RVM_OP_pop) GOOD(rvm__sym_rename(s->h, place, above));
    const bool good = rvm__sym_shear(s->h, top, place, 1);
    rvm__sym_drop(s->h, top);
    return good ? RVM_OK : RVM_ERR_MEMORY;
}

static rvm_status step_new(const site *s) {
    const rvm__array a = s->m->store.arrays[s->frame->arrays + s->places[0].slot];
    const rvm_status status = machine_step(s->m);
    if (status || rvm__is_inverse(s->op) || !a.shadow) return status;
    GOOD(bring_elements(s, &a));
}

/* y' = f, whose operands may be y itself; y comes back from the entry. */
static rvm_status step_set(const site *s) {
    const int arity = rvm__row_info[s->in->row].arity;
    const rvm__family_second whole = {.f = 1};
    const rvm__key cell = cell_key(s, 0);
    update u;
    rvm__second f;
    double x[3] = {0};
    const bool noted = note_update(s, &u);
    const rvm_status status = machine_step(s->m);
    if (status || !noted) return status;
    const rvm__key y = u.key[0];
    if (s->op == RVM_OP_unset) GOOD(rvm__sym_rename(s->h, y, cell_key(s, 0)));
    bool good = rvm__sym_rename(s->h, y, rvm__temporary_key(0));
    u.key[0] = rvm__temporary_key(0);
    for (int k = 0; k < arity; k++) x[k] = value_of(s, k + 1);
    const bool smooth = rvm__row_second(s->m->math, (rvm_row)s->in->row, x, &f);
    for (int k = 0; k < arity && good && smooth; k++)
        if (u.key[k + 1]) good = rvm__sym_shear(s->h, u.key[0], u.key[k + 1], f.d[k]);
    rvm__sym_drop(s->h, u.key[0]);
    good = good && (!smooth || u.w == 0 || second_order(s->h, &u, &f, &whole, arity));
    if (cell) good = good && rvm__sym_shear(s->h, cell, y, 1); /* y may have been read, too */
    if (cell) rvm__sym_drop(s->h, cell);
    GOOD(good);
}

/* The places of an instruction that moves them as an entry: those behind its `m`, of which each bit is a position. */
typedef struct entry {
    int first, n;
    bool followed; /* level 0, no whole arrays, few positions: rows can go along */
    int at[MOST_PLACES];
    rvm__key key[MOST_PLACES];
} entry;

static entry entry_of(const site *s) {
    const int mask_at = (int)rvm__positions_at((rvm_op)s->in->op);
    entry t = {.first = mask_at + 1, .n = s->in->nplaces - mask_at - 1};
    uint64_t mask = cell_of(s, mask_at, false)->u;
    t.followed = rvm__pair_of(s->op) != RVM_PAIR_stow && cell_of(s, 0, false)->i == 0 && mask < 1 << MOST_PLACES;
    for (int k = 0; k < t.n && t.followed; k++, mask &= mask - 1) {
        t.followed = s->places[t.first + k].kind != RVM_PLACE_ARRAY && mask;
        if (!t.followed) break;
        t.at[k] = __builtin_ctzll(mask);
        t.key[k] = key_of(s, t.first + k);
    }
    return t;
}

/* Places come back from an entry: drop left 0 in them, and shed nothing. */
static rvm_status step_from_slot(const site *s) {
    const entry t = entry_of(s);
    rvm__key from[MOST_PLACES];
    for (int k = 0; k < t.n; k++) {
        if (s->op != RVM_OP_shed) has_row(s, t.first + k, true);
        if (t.followed) from[k] = cell_key(s, t.at[k]);
    }
    const rvm_status status = machine_step(s->m);
    bool good = true;
    for (int k = 0; !status && t.followed && good && k < t.n; k++)
        if (from[k] && t.key[k]) good = rvm__sym_rename(s->h, from[k], t.key[k]);
    return status || good ? status : RVM_ERR_MEMORY;
}

/* Places go into an entry. */
static rvm_status step_to_slot(const site *s) {
    const entry t = entry_of(s);
    bool any = false, good = true;
    for (int k = 0; k < t.n; k++) any = has_row(s, t.first + k, false) || any;
    if (any && !t.followed) return RVM_ERR_UNSUPPORTED;
    const rvm_status status = machine_step(s->m);
    for (int k = 0; !status && any && good && k < t.n; k++)
        if (t.key[k]) good = rvm__sym_rename(s->h, t.key[k], cell_key(s, t.at[k]));
    return status || good ? status : RVM_ERR_MEMORY;
}

static rvm_status step_slot(const site *s) {
    const bool back = s->op == RVM_OP_drop || s->op == RVM_OP_stow || s->op == RVM_OP_shed;
    return back ? step_from_slot(s) : step_to_slot(s);
}

/* Whether the instruction changes a place that is active. */
static bool changes_active(const site *s) {
    const char *operands = rvm__op_info[s->op].operands;
    return is_active(s, operands ? (int)strcspn(operands, "yp") : 0);
}

/* An instruction of the sweep with a part for shadows. */
static rvm_status step(rvm_machine *m) {
    const site s = site_of(m);
    const enum rvm_pair pair = rvm__pair_of(s.op);
    switch (rvm__class_of(s.op)) {
    case RVM_CLASS_UPDATE:
        if (changes_active(&s)) return pair == RVM_PAIR_set ? step_set(&s) : step_update(&s);
        break;
    case RVM_CLASS_IN_PLACE:
        if (changes_active(&s) && rvm__change_info[rvm__change_of(s.op)].shadows != RVM_SHADOWS_STAY) return step_change(&s);
        break;
    case RVM_CLASS_STACK:
        if (pair == RVM_PAIR_stow) return step_slot(&s);
        if (changes_active(&s)) return step_stack(&s);
        break;
    case RVM_CLASS_TRAIL:
        if (pair != RVM_PAIR_segment) return step_slot(&s);
        break;
    case RVM_CLASS_ARRAY:
        if (pair != RVM_PAIR_view) return step_new(&s);
        break;
    case RVM_CLASS_CONTROL:
    case RVM_CLASS_REGION:
    case RVM_CLASS_CALL: /* frames.c tells what goes in and out */
    case RVM_CLASS_CHECK: break;
    }
    return machine_step(m);
}

/* In place of rvm__run_gradient. */
static rvm_status run_hessian(rvm_machine *m) {
    rvm__hessian *h = m->hessian;
    rvm_status status = RVM_OK;
    while (m->run.where == INSIDE && !status) {
        status = m->run.sweeping ? step(m) : machine_step(m);
        h->steps++;
        h->gave_up = h->most && h->h.updates > h->most;
        if (h->gave_up && !status) status = RVM_ERR_UNSUPPORTED;
    }
    return status;
}

/* ---- for vm/derivatives/ ---- */

rvm_status rvm__hessian_sweep(rvm_machine *m, rvm__hessian *h, rvm_error *err) {
    m->hessian = h;
    m->run.sweep = run_hessian;
    const rvm_status status = rvm_machine_sweep(m, err);
    m->run.sweep = NULL;
    m->hessian = NULL;
    return status;
}

/* At either end of the function. */
static rvm__key key_of_param(const rvm_machine *m, uint32_t param, const rvm_scalar *element) {
    return element ? rvm__element_key(element) : rvm__slot_key(m->p->functions[m->bound.entry].params[param].index);
}

static void give_label(const rvm__hessian *h, rvm__key key, int64_t label) {
    rvm__sym_row *row = rvm__sym_row_of(&h->h, key);
    if (row) row->label = label;
}

void rvm__hessian_label(const rvm_machine *m, const rvm__hessian *h, uint32_t param, const rvm_scalar *element,
                        int64_t label) {
    give_label(h, key_of_param(m, param, element), label);
}

/* Temporaries that no instruction has. */
static rvm__key seed_key(int64_t number) {
    return rvm__temporary_key(RVM_MAX_CHANGED) + ((rvm__key)number << 3);
}

bool rvm__hessian_seed(const rvm_machine *m, rvm__hessian *h, uint32_t param, const rvm_scalar *element, int64_t number) {
    return rvm__sym_add(&h->h, seed_key(number), key_of_param(m, param, element), 1);
}

void rvm__hessian_label_seeds(const rvm__hessian *h, int64_t n) {
    for (int64_t k = 0; k < n; k++) give_label(h, seed_key(k), k);
}

void rvm__hessian_each(const rvm__hessian *h, void (*visit)(void *to, int64_t i, int64_t j, double v), void *to) {
    for (uint32_t r = 0; r < h->h.nrows; r++) {
        const rvm__sym_row *row = &h->h.rows[r];
        for (uint32_t k = 0; row->key && row->label >= 0 && k < row->n; k++) {
            const rvm__entry *e = &h->h.entries[row->links[k].entry];
            const rvm__sym_row *other = &h->h.rows[row->links[k].other];
            if (e->end[0] == r && other->label >= 0) visit(to, row->label, other->label, e->value);
        }
    }
}
