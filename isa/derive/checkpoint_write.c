/* checkpoint_write.c: loops become functions, with those that their adjoints call. See checkpoint.h. */
#include "accesses.h"
#include "checkpoint.h"
#include "sites.h"
#include "transform.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT16_MAX };

typedef struct outline {
    rvm__writer w;
    const rvm_function *f; /* the loop's, as it was */
    const rvm__loop *loop;
    uint32_t states;
    char name[256];                 /* of the function that the loop becomes */
    uint16_t *reg, *array;          /* of f's, those of the function being written; NONE */
    uint16_t (*dims)[RVM_MAX_DIMS]; /* by place: lengths, slots of the function being written */
    rvm_place *own, *args;          /* by place: the parameter; arguments of a call */
    rvm__outlined made;
    uint32_t split, keep, march; /* functions */
} outline;

/* ---- parameters that all share ---- */

static rvm_place place_at(bool array, uint16_t slot) {
    return (rvm_place){.kind = array ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = slot};
}

static rvm_type type_of(const outline *o, const rvm__loop_place *q) {
    return (rvm_type)(q->array ? o->f->arrays[q->index].type : o->f->reg_type[q->index]);
}

static uint16_t slot_of(outline *o, uint16_t slot) {
    if (slot >= o->f->nregs) {
        const uint32_t k = slot - o->f->nregs;
        return rvm__write_constant(&o->w, (rvm_type)o->f->const_type[k], o->f->consts[k]).slot;
    }
    if (o->reg[slot] == NONE) o->reg[slot] = rvm__write_register(&o->w, (rvm_type)o->f->reg_type[slot]).slot;
    return o->reg[slot];
}

static bool is_length(const rvm_function *f, uint16_t slot) {
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] == slot) return true;
    return false;
}

/* The slot of f that is that length of the array, where it is one that never changes; else NONE. */
static uint16_t length_of(const outline *o, uint16_t array, int d) {
    for (uint32_t k = 0; k < o->f->nparams; k++)
        if (o->f->params[k].ndim && o->f->params[k].index == array) return o->f->params[k].dim[d];
    RVM__EACH_INSN_UP(x, o->f, o->loop->pc, 0) {
        if (!rvm__op_names_array((rvm_op)x.in->op) || x.q[0].slot != array) continue;
        if (x.in->op == RVM_OP_like) return length_of(o, x.q[1].slot, d);
        if (x.in->op != RVM_OP_new) continue;
        const uint16_t slot = x.q[1 + d].slot;
        return slot >= o->f->nregs || is_length(o->f, slot) ? slot : NONE;
    }
    return NONE;
}

/* A name that no parameter has so far. */
static void name_place(const outline *o, const rvm__loop_place *q, char *name, size_t size) {
    const char *is = rvm__symbol_at(o->f, q->array, q->index, o->loop->pc + 1);
    bool taken = !is || strlen(is) >= size;
    for (uint32_t k = 0; !taken && k < o->w.g.nparams; k++) taken = !strcmp(o->w.g.params[k].name, is);
    if (taken)
        snprintf(name, size, "place%u", o->w.g.nparams);
    else
        snprintf(name, size, "%s", is);
}

static void add_place(outline *o, uint32_t k) {
    char name[256];
    const rvm__loop_place *q = &o->loop->places[k];
    name_place(o, q, name, sizeof name);
    o->own[k] = rvm__write_param(&o->w, name, type_of(o, q), q->array ? o->f->arrays[q->index].ndim : 0);
    (q->array ? o->array : o->reg)[q->index] = o->own[k].slot;
}

/* Lengths have registers of their own, so that what is a parameter is none. */
static bool is_place(const outline *o, uint16_t slot) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (!o->loop->places[k].array && o->loop->places[k].index == slot) return true;
    return false;
}

static void add_lengths(outline *o, uint32_t k) {
    const rvm__loop_place *q = &o->loop->places[k];
    for (int d = 0; q->array && d < o->f->arrays[q->index].ndim; d++) {
        uint16_t slot = length_of(o, q->index, d);
        if (slot != NONE && is_place(o, slot)) slot = NONE;
        o->dims[k][d] = slot == NONE ? rvm__write_register(&o->w, RVM_I64).slot : slot_of(o, slot);
        if (!o->w.status) o->w.g.params[k].dim[d] = o->dims[k][d];
    }
}

/* The function NAME'suffix: what all share, then so many i64, whose places come back in `more`. */
static void begin(outline *o, const char *suffix, const char *const *names, uint32_t n, rvm_place *more) {
    char name[300];
    snprintf(name, sizeof name, "%s%s", o->name, suffix);
    memset(o->reg, 0xff, (o->f->nregs + 1u) * sizeof *o->reg);
    memset(o->array, 0xff, (o->f->narrays + 1u) * sizeof *o->array);
    rvm__write_begin(&o->w, name);
    for (uint32_t k = 0; k < o->loop->nplaces; k++) add_place(o, k);
    for (uint32_t k = 0; k < n; k++) more[k] = rvm__write_param(&o->w, names[k], RVM_I64, 0);
    for (uint32_t k = 0; k < o->loop->nplaces; k++) add_lengths(o, k);
    rvm__write(&o->w, RVM_OP_start, 0, 0, 0, NULL);
}

static void end(outline *o) {
    rvm__write_end(&o->w);
}

/* The places, or others in their stead, and up to three more. */
static void call(outline *o, rvm_op op, uint32_t fn, const rvm_place *places, const rvm_place *more, uint32_t n) {
    memcpy(o->args, places, o->loop->nplaces * sizeof *o->args);
    if (n) memcpy(o->args + o->loop->nplaces, more, n * sizeof *more);
    rvm__write_call(&o->w, op, fn, o->loop->nplaces + n, o->args);
}

/* ---- what loops do with their bounds ---- */

static rvm_place bound(outline *o, int k) {
    const rvm_place *q = rvm__places(o->f, &o->f->code[o->loop->pc]);
    return place_at(false, slot_of(o, q[k].slot));
}

enum { LO = 1, HI, BY };

/* The index of a trip, by its number. */
static rvm_place index_of(outline *o, rvm_place number) {
    const rvm_place way = rvm__write_let(&o->w, RVM_ROW_mul, number, bound(o, BY));
    return rvm__write_let(&o->w, RVM_ROW_add, bound(o, LO), way);
}

/* ---- the body ---- */

static rvm_place map_place(outline *o, const rvm_place *q) {
    rvm_place to = *q;
    if (q->kind == RVM_PLACE_SLOT || q->kind == RVM_PLACE_RANGE)
        to.slot = slot_of(o, q->slot);
    else {
        uint16_t *array = &o->array[q->slot];
        const rvm_array_decl *a = &o->f->arrays[q->slot];
        if (*array == NONE) *array = rvm__write_array(&o->w, (rvm_type)a->type, a->ndim).slot;
        to.slot = *array;
    }
    for (uint32_t k = 0; k < rvm__nindices(q); k++) to.idx[k] = slot_of(o, q->idx[k]);
    return to;
}

static void copy_body(outline *o) {
    rvm_place places[UINT8_MAX];
    const uint32_t first = o->loop->pc;
    RVM__EACH_INSN_IN(x, o->f, first + 1, o->loop->end) {
        const bool moves = rvm__op_target((rvm_op)x.in->op) == 'L';
        for (uint32_t k = 0; k < x.in->nplaces; k++) places[k] = map_place(o, &x.q[k]);
        o->w.at = o->f->positions[x.pc];
        const uint32_t at = rvm__write(&o->w, (rvm_op)x.in->op, (rvm_row)x.in->row, x.in->flags, x.in->nplaces, places);
        if (!o->w.status) o->w.g.code[at].target = moves ? x.in->target - first : x.in->target;
    }
    o->w.at = o->f->positions[first];
}

/* Names of the loop's places. */
static void copy_symbols(outline *o) {
    const uint32_t lo = o->loop->pc + 1, hi = o->loop->end;
    for (uint32_t k = 0; k < o->f->nsymbols && !o->w.status; k++) {
        const rvm_symbol *s = &o->f->symbols[k];
        const uint32_t from = (uint32_t)rvm__most(s->from, lo), to = (uint32_t)rvm__least(s->to, hi);
        const uint16_t index = (s->is_array ? o->array : o->reg)[s->index];
        const rvm_symbol copy = {.is_array = s->is_array, .index = index, .from = from - lo + 1, .to = to - lo + 1};
        if (from >= to || index == NONE) continue;
        if (rvm__function_add_symbol(o->w.p, &o->w.g, &copy, s->name, strlen(s->name)) < 0) o->w.status = RVM_ERR_MEMORY;
    }
}

static void write_step(outline *o) {
    static const char *const names[] = {"i'"};
    rvm_place i;
    begin(o, "'step", names, 1, &i);
    o->reg[rvm__places(o->f, &o->f->code[o->loop->pc])[0].slot] = i.slot;
    copy_body(o);
    copy_symbols(o);
    o->made.step = o->w.fn;
    end(o);
}

/* ---- how many trips, and whether snapshots take less than the trail ---- */

static rvm_place trips(outline *o) {
    rvm__writer *w = &o->w;
    const rvm_place by = bound(o, BY), zero = rvm__write_integer(w, 0);
    const rvm_place up = rvm__write_let(w, RVM_ROW_gt, by, zero), down = rvm__write_let(w, RVM_ROW_lt, by, zero);
    const rvm_place sign = rvm__write_let(w, RVM_ROW_sub, up, down);
    const rvm_place way = rvm__write_let(w, RVM_ROW_sub, bound(o, HI), bound(o, LO));
    const rvm_place more = rvm__write_let(w, RVM_ROW_add, way, by);
    const rvm_place whole = rvm__write_let(w, RVM_ROW_sub, more, sign);
    return rvm__write_let(w, RVM_ROW_max, rvm__write_let(w, RVM_ROW_idiv, whole, by), zero);
}

static bool is_state(const outline *o, uint32_t k) {
    return o->loop->places[k].use == RVM__LOOP_CHANGES;
}

/* Adds the cells of a state to the register, or takes them away. */
static void add_cells(outline *o, rvm_op op, rvm_place to) {
    rvm__writer *w = &o->w;
    const uint32_t mark = w->nlets;
    for (uint32_t k = 0; k < o->loop->nplaces; k++) {
        if (!is_state(o, k)) continue;
        rvm_place cells = rvm__write_integer(w, 1);
        const int ndim = o->loop->places[k].array ? o->f->arrays[o->loop->places[k].index].ndim : 0;
        for (int d = 0; d < ndim; d++) cells = rvm__write_let(w, RVM_ROW_mul, cells, place_at(false, o->dims[k][d]));
        RVM__WRITE(w, op, RVM_ROW_id, 0, to, cells);
        rvm__write_unwind(w, mark);
    }
}

static void write_worth(outline *o, rvm_place n, rvm_place to) {
    rvm__writer *w = &o->w;
    const rvm_place zero = rvm__write_integer(w, 0);
    if (!o->loop->cells) {
        RVM__WRITE(w, RVM_OP_add, RVM_ROW_gt, 0, to, n, zero);
        return;
    }
    const uint32_t mark = w->nlets;
    const rvm_place state = rvm__write_register(w, RVM_I64);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, state, zero);
    add_cells(o, RVM_OP_add, state);
    const rvm_place all = rvm__write_let(w, RVM_ROW_mul, state, rvm__write_integer(w, o->states));
    const rvm_place trail = rvm__write_let(w, RVM_ROW_mul, n, rvm__write_integer(w, o->loop->cells));
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_lt, 0, to, all, trail);
    rvm__write_unwind(w, mark);
    add_cells(o, RVM_OP_sub, state);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, state, zero);
}

static void write_count(outline *o) {
    static const char *const names[] = {"n'", "w'"};
    rvm_place more[2];
    begin(o, "'count", names, 2, more);
    const rvm_place n = trips(o);
    RVM__WRITE(&o->w, RVM_OP_add, RVM_ROW_id, 0, more[0], n);
    write_worth(o, n, more[1]);
    rvm__write_unwind(&o->w, 0);
    o->made.count = o->w.fn;
    end(o);
}

/* ---- which state is kept next ---- */

/* The way of two loops over one number, which is 1 or 0: if it is 1. */
static uint32_t write_if(rvm__writer *w, rvm_place c) {
    return rvm__write_for(w, rvm__write_register(w, RVM_I64), rvm__write_integer(w, 0), c, rvm__write_integer(w, 1));
}

static void set(rvm__writer *w, rvm_place y, rvm_place x) {
    RVM__WRITE(w, RVM_OP_set, RVM_ROW_id, 0, y, x, rvm__write_integer(w, w->site++));
}

/* In a part that is forgotten: k += the steps to the next state kept, of s, where l are left and s > 1. With b(s, r) = (s +
 * r)! / (s! r!) and the least r for which b(s, r) >= l: as many as leave no more than b(s - 1, r), and at least b(s, r - 2).
 */
static void split_many(rvm__writer *w, rvm_place k, rvm_place l, rvm_place s) {
    const rvm_place one = rvm__write_integer(w, 1), zero = rvm__write_integer(w, 0);
    rvm__write(w, RVM_OP_compute, 0, 0, 0, NULL);
    const rvm_place b = rvm__write_let(w, RVM_ROW_add, one, zero), b1 = rvm__write_let(w, RVM_ROW_add, zero, zero);
    const rvm_place b2 = rvm__write_let(w, RVM_ROW_add, zero, zero), r = rvm__write_let(w, RVM_ROW_add, zero, zero);
    rvm__written_loop loop = {{RVM_ROW_eq, {{0}, r, zero}}, {RVM_ROW_lt, {{0}, b, l}}, 0, 0};
    rvm__write_from(w, &loop);
    set(w, b2, b1);
    set(w, b1, b);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, r, one);
    const uint32_t mark = w->nlets;
    const rvm_place more = rvm__write_let(w, RVM_ROW_add, s, r), product = rvm__write_let(w, RVM_ROW_mul, b, more);
    set(w, b, product);
    w->nlets = mark; /* what they hold is forgotten */
    rvm__write_drop(w, product);
    rvm__write_drop(w, more);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, product, zero);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, more, zero);
    const rvm_place quotient = rvm__write_let(w, RVM_ROW_idiv, b, r);
    RVM__WRITE(w, RVM_OP_swap, 0, 0, b, quotient);
    rvm__write_drop(w, quotient);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, quotient, zero);
    w->nlets = mark;
    rvm__write_again(w, &loop);
    const rvm_place over = rvm__write_let(w, RVM_ROW_sub, l, b), least = rvm__write_let(w, RVM_ROW_add, over, b1);
    const rvm_place most = rvm__write_let(w, RVM_ROW_max, b2, least), steps = rvm__write_let(w, RVM_ROW_max, most, one);
    w->nlets = 0;
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, k, steps);
    rvm__write(w, RVM_OP_undo, 0, RVM_FLAG_FORGETS, 0, NULL);
}

/* Once a program. */
static void write_split(outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'split");
    const rvm_place k = rvm__write_param(w, "k", RVM_I64, 0), l = rvm__write_param(w, "l", RVM_I64, 0);
    const rvm_place s = rvm__write_param(w, "s", RVM_I64, 0), one = rvm__write_integer(w, 1);
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    const rvm_place last = rvm__write_let(w, RVM_ROW_le, s, one), many = rvm__write_let(w, RVM_ROW_gt, s, one);
    uint32_t at = write_if(w, last);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, k, l, one);
    rvm__write_next(w, at);
    at = write_if(w, many);
    const rvm__let outer[2] = {w->lets[0], w->lets[1]};
    w->nlets = 0;
    split_many(w, k, l, s);
    memcpy(w->lets, outer, sizeof outer);
    w->nlets = 2;
    rvm__write_next(w, at);
    rvm__write_unwind(w, 0);
    o->split = w->fn;
    end(o);
}

/* Once a program: which state the loop ended in front of. */
static void write_mark(outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'mark");
    const rvm_place pos = rvm__write_param(w, "pos", RVM_I64, 0), left = rvm__write_param(w, "left", RVM_I64, 0);
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    rvm__write_drop(w, pos);
    rvm__write_drop(w, left);
    o->made.mark = w->fn;
    end(o);
}

/* ---- states ---- */

static void write_keep(outline *o) {
    static const char *const names[] = {"pos'", "left'"};
    rvm_place more[2];
    begin(o, "'keep", names, 2, more);
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (is_state(o, k)) rvm__write_drop(&o->w, o->own[k]);
    rvm__write_drop(&o->w, more[0]);
    rvm__write_drop(&o->w, more[1]);
    o->keep = o->w.fn;
    end(o);
}

/* A local one like place k appears, of nothing, or disappears. */
static void toggle_like(outline *o, rvm_op of_array, uint32_t k, rvm_place q) {
    rvm__writer *w = &o->w;
    rvm_place places[RVM_MAX_DIMS + 2] = {q};
    const rvm_type type = type_of(o, &o->loop->places[k]);
    const int ndim = o->loop->places[k].array ? o->f->arrays[o->loop->places[k].index].ndim : 0;
    for (int d = 0; d < ndim; d++) places[1 + d] = place_at(false, o->dims[k][d]);
    places[1 + ndim] = rvm__write_nothing(w, type);
    const rvm_op of_register = rvm__is_inverse(of_array) ? RVM_OP_unlet : RVM_OP_let;
    rvm__write(w, ndim ? of_array : of_register, RVM_ROW_id, RVM_FLAG_UNCHECKED, 2 + (uint32_t)ndim, places);
}

static rvm_place make_like(outline *o, uint32_t k) {
    const rvm__loop_place *q = &o->loop->places[k];
    const rvm_place to = q->array ? rvm__write_array(&o->w, type_of(o, q), o->f->arrays[q->index].ndim)
                                  : rvm__write_register(&o->w, type_of(o, q));
    toggle_like(o, RVM_OP_new, k, to);
    return to;
}

/* In the part that is forgotten: the places that the trips change, copied; what they only add to begins as nothing. */
static void copy_state(outline *o, const rvm_place *first, rvm_place *to) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++) {
        to[k] = o->own[k];
        if (o->loop->places[k].use == RVM__LOOP_READS) continue;
        to[k] = make_like(o, k);
        if (is_state(o, k)) rvm__write_each(&o->w, RVM_OP_add, to[k], first[k], o->dims[k]);
    }
}

/* There, too: the trips from number `from` on, `count` of them. */
static void run_trips(outline *o, const rvm_place *places, rvm_place from, rvm_place count) {
    rvm__writer *w = &o->w;
    const rvm_place lo = index_of(o, from), way = rvm__write_let(w, RVM_ROW_mul, count, bound(o, BY));
    const rvm_place hi = rvm__write_let(w, RVM_ROW_add, lo, way), i = rvm__write_register(w, RVM_I64);
    const uint32_t at = rvm__write_for(w, i, lo, hi, bound(o, BY));
    call(o, RVM_OP_call, o->made.step, places, &i, 1);
    rvm__write_next(w, at);
    w->nlets = 0;
}

/* The state moves to first, and back where `back`; pos and left likewise. */
static void swap_state(outline *o, const rvm_place *first, const rvm_place *more) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (is_state(o, k)) rvm__write_each(&o->w, RVM_OP_swap, o->own[k], first[k], o->dims[k]);
    for (uint32_t k = 0; k < 2; k++) {
        rvm__write_let(&o->w, RVM_ROW_add, rvm__write_integer(&o->w, 0), rvm__write_integer(&o->w, 0));
        RVM__WRITE(&o->w, RVM_OP_swap, 0, 0, more[k], o->w.lets[k].q[0]);
    }
}

static void gain_state(outline *o, const rvm_place *from) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (o->loop->places[k].use != RVM__LOOP_READS) rvm__write_each(&o->w, RVM_OP_add, o->own[k], from[k], o->dims[k]);
}

static void march_body(outline *o, rvm_place *first, rvm_place *to, const rvm_place *more) {
    rvm__writer *w = &o->w;
    swap_state(o, first, more);
    const rvm__let numbers[2] = {w->lets[0], w->lets[1]};
    const rvm_place was[2] = {numbers[0].q[0], numbers[1].q[0]};
    rvm__write(w, RVM_OP_compute, 0, 0, 0, NULL);
    w->nlets = 0;
    copy_state(o, first, to);
    const rvm_place count = rvm__write_let(w, RVM_ROW_add, rvm__write_integer(w, 0), rvm__write_integer(w, 0));
    const rvm_place rest = rvm__write_let(w, RVM_ROW_sub, more[2], was[0]);
    rvm__write_call(w, RVM_OP_call, o->split, 3, (rvm_place[]){count, rest, was[1]});
    run_trips(o, to, was[0], count);
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    gain_state(o, to);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_add, 0, more[0], was[0], count);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, more[1], was[1], rvm__write_integer(w, 1));
    rvm__write(w, RVM_OP_undo, 0, RVM_FLAG_FORGETS, 0, NULL);
    memcpy(w->lets, numbers, sizeof numbers);
    w->nlets = 2;
    call(o, RVM_OP_call, o->keep, first, was, 2);
    rvm__write_unwind(w, 0);
}

static void write_march(outline *o, rvm_place *first, rvm_place *to) {
    static const char *const names[] = {"pos'", "left'", "n'"};
    rvm_place more[3];
    begin(o, "'march", names, 3, more);
    for (uint32_t k = 0; k < o->loop->nplaces; k++) first[k] = is_state(o, k) ? make_like(o, k) : o->own[k];
    march_body(o, first, to, more);
    for (uint32_t k = o->loop->nplaces; k-- > 0;)
        if (is_state(o, k)) toggle_like(o, RVM_OP_del, k, first[k]);
    o->march = o->w.fn;
    end(o);
}

/* From state pos to the one before state n. */
static void march_on(outline *o, rvm_place first_left, const rvm_place *more) {
    rvm__writer *w = &o->w;
    const rvm_place one = rvm__write_integer(w, 1);
    const uint32_t mark = w->nlets;
    const rvm_place last = rvm__write_let(w, RVM_ROW_sub, more[2], one);
    rvm__written_loop loop = {{RVM_ROW_eq, {{0}, more[1], first_left}}, {RVM_ROW_lt, {{0}, more[0], last}}, 0, 0};
    rvm__write_from(w, &loop);
    call(o, RVM_OP_call, o->march, o->own, more, 3);
    rvm__write_again(w, &loop);
    rvm__write_unwind(w, mark);
}

static void write_rewind(outline *o) {
    static const char *const names[] = {"pos'", "left'", "n'"};
    rvm_place more[3];
    rvm__writer *w = &o->w;
    begin(o, "'rewind", names, 3, more);
    call(o, RVM_OP_uncall, o->keep, o->own, more, 2);
    const rvm_place left = rvm__write_register(w, RVM_I64);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, left, more[1]);
    march_on(o, left, more);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, RVM_FLAG_UNCHECKED, left, more[1]);
    o->made.rewind = w->fn;
    end(o);
}

/* ---- the loop ---- */

/* Marches to the last trip, and the trip. */
static void run_marching(outline *o, rvm_place n) {
    rvm__writer *w = &o->w;
    const rvm_place zero = rvm__write_integer(w, 0), states = rvm__write_integer(w, o->states);
    const rvm_place more[3] = {rvm__write_register(w, RVM_I64), rvm__write_register(w, RVM_I64), n};
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, more[0], zero);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, more[1], states);
    march_on(o, states, more);
    rvm__write_call(w, RVM_OP_call, o->made.mark, 2, more);
    const rvm_place last = rvm__write_let(w, RVM_ROW_sub, n, rvm__write_integer(w, 1)), i = index_of(o, last);
    call(o, RVM_OP_call, o->made.step, o->own, &i, 1);
    rvm__write_unwind(w, 0);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, more[1], zero);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, more[0], zero);
}

static void run_plainly(outline *o) {
    const rvm_place i = rvm__write_register(&o->w, RVM_I64);
    const uint32_t at = rvm__write_for(&o->w, i, bound(o, LO), bound(o, HI), bound(o, BY));
    call(o, RVM_OP_call, o->made.step, o->own, &i, 1);
    rvm__write_next(&o->w, at);
}

static void write_loop(outline *o) {
    rvm__writer *w = &o->w;
    begin(o, "", NULL, 0, NULL);
    const rvm_place zero = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    const rvm_place more[2] = {rvm__write_register(w, RVM_I64), rvm__write_register(w, RVM_I64)};
    for (int k = 0; k < 2; k++) RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, more[k], zero);
    call(o, RVM_OP_call, o->made.count, o->own, more, 2);
    uint32_t at = write_if(w, more[1]);
    run_marching(o, more[0]);
    rvm__write_next(w, at);
    const rvm_place plainly = rvm__write_let(w, RVM_ROW_sub, one, more[1]);
    at = write_if(w, plainly);
    w->nlets = 0;
    run_plainly(o);
    rvm__write_next(w, at);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_sub, 0, plainly, one, more[1]);
    call(o, RVM_OP_uncall, o->made.count, o->own, more, 2);
    for (int k = 2; k-- > 0;) RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, more[k], zero);
    const rvm_place lo = bound(o, LO), hi = bound(o, HI), by = bound(o, BY);
    o->made.fn = w->fn;
    end(o);
    const uint32_t nregs = w->p->functions[o->made.fn].nregs;
    o->made.lo = lo.slot, o->made.hi = hi.slot, o->made.by = by.slot;
    uint16_t *slots[] = {&o->made.lo, &o->made.hi, &o->made.by};
    for (int k = 0; k < 3; k++)
        if (*slots[k] >= RVM_BUILD_CONST) *slots[k] = (uint16_t)(*slots[k] - RVM_BUILD_CONST + nregs);
}

/* ---- the call in its place ---- */

/* Where an instruction of f stands once those from `pc` to `end` are one. */
static uint32_t moved(const rvm__loop *l, uint32_t at) {
    return at <= l->pc ? at : at <= l->end ? l->pc + 1 : at - (l->end - l->pc);
}

static void move_symbols(outline *o, rvm_function *f) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        rvm_symbol s = f->symbols[k];
        s.from = moved(o->loop, s.from);
        s.to = moved(o->loop, s.to);
        if (s.from < s.to)
            f->symbols[kept++] = s;
        else
            rvm__strfree(&o->w.p->al, s.name);
    }
    f->nsymbols = kept;
    if (kept) qsort(f->symbols, kept, sizeof *f->symbols, rvm__symbol_compare);
}

/* The arguments where the places of these instructions were, since a function has its places in the order of the text. */
static void move_places(outline *o, rvm_function *f) {
    const rvm__loop *l = o->loop;
    const uint32_t lo = f->code[l->pc].places, hi = f->code[l->end].places + f->code[l->end].nplaces;
    const uint32_t behind = f->nplaces - l->nplaces - hi, to = lo + l->nplaces;
    memmove(f->places + to, f->places + hi, behind * sizeof *f->places);
    memcpy(f->places + lo, o->args, l->nplaces * sizeof *f->places);
    f->nplaces = to + behind;
    for (uint32_t k = l->end + 1; k < f->ncode - 1; k++) f->code[k].places = f->code[k].places - hi + to;
    f->code[f->ncode - 1].places = lo;
}

static void put_call(outline *o) {
    rvm_function *f = &o->w.p->functions[o->loop->fn];
    const rvm__loop *l = o->loop;
    const uint32_t n = f->ncode, behind = n - (l->end + 1);
    if (o->w.status) return;
    for (uint32_t k = 0; k < l->nplaces; k++) o->args[k] = place_at(l->places[k].array, l->places[k].index);
    const rvm_position at = f->positions[l->pc];
    if (rvm__function_emit(o->w.p, f, RVM_OP_call, 0, 0, o->made.fn, o->args, l->nplaces, at) < 0) {
        o->w.status = RVM_ERR_MEMORY;
        return;
    }
    move_places(o, f);
    f->code[l->pc] = f->code[n];
    memmove(f->code + l->pc + 1, f->code + l->end + 1, behind * sizeof *f->code);
    memmove(f->positions + l->pc + 1, f->positions + l->end + 1, behind * sizeof *f->positions);
    f->ncode = l->pc + 1 + behind;
    for (uint32_t k = 0; k < f->ncode; k++)
        if (rvm__op_target((rvm_op)f->code[k].op) == 'L') f->code[k].target = moved(l, f->code[k].target);
    move_symbols(o, f);
}

static void note_outlined(outline *o) {
    rvm_program *p = o->w.p;
    if (o->w.status) return;
    if (rvm__grow(&p->al, (void **)&p->outlined, &p->cap_outlined, p->noutlined + 1, sizeof *p->outlined))
        p->outlined[p->noutlined++] = o->made;
    else
        o->w.status = RVM_ERR_MEMORY;
}

static void outline_one(outline *o, rvm_place *first, rvm_place *to) {
    o->w.at = o->f->positions[o->loop->pc];
    snprintf(o->name, sizeof o->name, "%.200s'loop%u", o->f->name, o->loop->pc);
    write_step(o);
    write_count(o);
    write_keep(o);
    write_march(o, first, to);
    write_rewind(o);
    write_loop(o);
    put_call(o);
    note_outlined(o);
}

/* Room for the loop's places. */
static bool make_room(outline *o, rvm__zone *z, rvm_place **first, rvm_place **to) {
    const size_t n = o->loop->nplaces + 3;
    o->reg = rvm__zone_make(z, o->f->nregs + 1u, sizeof *o->reg);
    o->array = rvm__zone_make(z, o->f->narrays + 1u, sizeof *o->array);
    o->dims = rvm__zone_make(z, n, sizeof *o->dims);
    o->own = rvm__zone_make(z, n, sizeof *o->own);
    o->args = rvm__zone_make(z, n, sizeof *o->args);
    *first = rvm__zone_make(z, n, sizeof **first);
    *to = rvm__zone_make(z, n, sizeof **to);
    return !z->failed;
}

static rvm_status too_many(const rvm_program *p, const rvm__loop *loop, rvm_status s, rvm_error *err) {
    if (s == RVM_ERR_MEMORY) return rvm__fail_memory(err);
    return rvm__fail_at(err, s, p, loop->fn, loop->pc, "this loop uses too much of what is there before it for snapshots");
}

rvm_status rvm__loops_outline(const rvm_program *p, const rvm__loops *loops, uint32_t states, rvm_program *copy,
                              rvm_error *err) {
    outline o = {.w = {.p = copy, .site = rvm__sites_next(p)}, .states = states};
    rvm__zone memory = {.al = &copy->al};
    rvm_place *first, *to;
    write_split(&o);
    write_mark(&o);
    for (uint32_t k = loops->n; k-- > 0 && !o.w.status;) { /* the last of a function first */
        o.loop = &loops->loops[k];
        if (o.loop->why) continue;
        o.f = &p->functions[o.loop->fn];
        if (make_room(&o, &memory, &first, &to))
            outline_one(&o, first, to);
        else
            o.w.status = RVM_ERR_MEMORY;
        if (o.w.status) too_many(p, o.loop, o.w.status, err);
    }
    rvm__zone_free(&memory);
    copy->verified = copy->roles_claimed = false;
    copy->id[0] = copy->id[1] = 0;
    return o.w.status;
}

/* ---- what a function computes, and its gradient ---- */

static void add_like(rvm__writer *w, const rvm_param *q, const char *suffix) {
    char name[600];
    snprintf(name, sizeof name, "%.500s%s", q->name, suffix);
    rvm__write_param(w, name, (rvm_type)q->type, q->ndim);
}

static uint16_t value_slot(rvm__writer *w, const rvm_function *f, uint16_t slot, uint16_t *reg) {
    if (slot >= f->nregs) return rvm__write_integer(w, f->consts[slot - f->nregs].i).slot;
    if (reg[slot] == NONE) reg[slot] = rvm__write_register(w, RVM_I64).slot;
    return reg[slot];
}

typedef struct values {
    rvm__writer w;
    uint32_t of;
    uint16_t *reg;                                                                /* lengths of f */
    rvm_place plain[RVM_MAX_PARAMS], all[RVM_MAX_PARAMS], result[RVM_MAX_PARAMS]; /* result: by parameter of f */
    uint32_t nall;
} values;

static void values_params(values *v, const uint8_t *active) {
    const rvm_function *f = &v->w.p->functions[v->of]; /* moves when a function is added, which is done */
    uint32_t of[2 * RVM_MAX_PARAMS + 1];
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int copies = 0; copies <= (active[k] != 0) && n < RVM_MAX_PARAMS; copies++) {
            add_like(&v->w, &f->params[k], copies ? "'b" : "");
            of[n++] = k;
        }
    v->nall = n;
    for (uint32_t k = 0; k < f->nparams && n < RVM_MAX_PARAMS; k++)
        if (f->params[k].role != RVM_READ) add_like(&v->w, &f->params[k], "'value"), of[n++] = k;
    for (uint32_t i = 0; i < n && !v->w.status; i++) {
        rvm_param *q = &v->w.g.params[i];
        const rvm_place at = place_at(q->ndim > 0, q->index);
        for (int d = 0; d < q->ndim; d++) q->dim[d] = value_slot(&v->w, f, f->params[of[i]].dim[d], v->reg);
        if (i < v->nall) v->all[i] = at;
        if (i < v->nall && (!i || of[i] != of[i - 1])) v->plain[of[i]] = at;
        if (i >= v->nall) v->result[of[i]] = at;
    }
}

static void values_code(values *v, uint32_t adjoint) {
    const rvm_function *f = &v->w.p->functions[v->of];
    rvm__write(&v->w, RVM_OP_start, 0, 0, 0, NULL);
    rvm__write_call(&v->w, RVM_OP_call, v->of, f->nparams, v->plain);
    for (uint32_t k = 0, i = v->nall; k < f->nparams && !v->w.status; k++)
        if (f->params[k].role != RVM_READ)
            rvm__write_each(&v->w, RVM_OP_add, v->result[k], v->plain[k], v->w.g.params[i++].dim);
    rvm__write_call(&v->w, RVM_OP_call, adjoint, v->nall, v->all);
}

rvm_status rvm__values_declare(rvm_program *p, uint32_t fn, uint32_t adjoint, const uint8_t *active, uint32_t *out,
                               rvm_error *err) {
    rvm__zone memory = {.al = &p->al};
    values *v = rvm__zone_make(&memory, 1, sizeof *v);
    rvm_status s = v ? RVM_OK : RVM_ERR_MEMORY;
    if (v) v->reg = rvm__zone_make(&memory, p->functions[fn].nregs + 1u, sizeof *v->reg);
    if (v && v->reg) {
        char name[600];
        memset(v->reg, 0xff, (p->functions[fn].nregs + 1u) * sizeof *v->reg);
        v->w.p = p;
        v->of = fn;
        if (p->functions[fn].ncode) v->w.at = p->functions[fn].positions[0];
        snprintf(name, sizeof name, "%.500s'values", p->functions[fn].name);
        rvm__write_begin(&v->w, name);
        values_params(v, active);
        values_code(v, adjoint);
        s = rvm__write_end(&v->w);
        *out = v->w.fn;
    }
    rvm__zone_free(&memory);
    if (s == RVM_ERR_UNSUPPORTED)
        return rvm__fail(err, s, NULL, 0, 0, "'%s' has too many parameters for its value and its gradient at once",
                         p->functions[fn].name);
    return s ? rvm__fail_memory(err) : RVM_OK;
}
