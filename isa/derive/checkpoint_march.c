/* checkpoint_march.c: snapshots of a loop, and marches from them. See outline.h. */
#include "outline.h"

/* ---- which state is kept next ---- */

static void set(rvm__writer *w, rvm_place y, rvm_place x) {
    RVM__WRITE(w, RVM_OP_set, RVM_ROW_id, 0, y, x, rvm__write_integer(w, w->site++));
}

/* In a part that is forgotten: k += the steps to the next state kept, of s, where l are left and s > 1. With b(s, r) = (s +
 * r)! / (s! r!) and the least r for which b(s, r) >= l: as many as leave no more than b(s - 1, r), and at least b(s, r - 2).
 */
static void split_many(rvm__writer *w, rvm_place k, rvm_place l, rvm_place s) {
    const rvm_place one = rvm__write_integer(w, 1), zero = rvm__write_integer(w, 0);
    const uint32_t around = rvm__write_compute(w);
    const rvm_place b = rvm__write_let(w, RVM_ROW_id, one, zero), b1 = rvm__write_let(w, RVM_ROW_id, zero, zero);
    const rvm_place b2 = rvm__write_let(w, RVM_ROW_id, zero, zero), r = rvm__write_let(w, RVM_ROW_id, zero, zero);
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
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, k, steps);
    rvm__write_forget(w, around);
}

/* Once a program. */
static void write_split(rvm__outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'split");
    const rvm_place k = rvm__write_param(w, "k", RVM_I64, 0), l = rvm__write_param(w, "l", RVM_I64, 0);
    const rvm_place s = rvm__write_param(w, "s", RVM_I64, 0), one = rvm__write_integer(w, 1);
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    const rvm_place last = rvm__write_let(w, RVM_ROW_le, s, one), many = rvm__write_let(w, RVM_ROW_gt, s, one);
    uint32_t at = rvm__write_if(w, last);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, k, l, one);
    rvm__write_next(w, at);
    at = rvm__write_if(w, many);
    split_many(w, k, l, s);
    rvm__write_next(w, at);
    rvm__write_unwind(w, 0);
    rvm__outline_end(o, &o->split);
}

/* Once a program: which state the loop ended in front of. */
static void write_mark(rvm__outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'mark");
    const rvm_place pos = rvm__write_param(w, "pos", RVM_I64, 0), left = rvm__write_param(w, "left", RVM_I64, 0);
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    rvm__write_drop(w, pos);
    rvm__write_drop(w, left);
    rvm__outline_end(o, &o->made.mark);
}

/* Once a program: whether what is on the trail is that of the loop as it was. */
static void write_note(rvm__outline *o) {
    rvm__write_begin(&o->w, "checkpoint'note");
    const rvm_place k = rvm__write_param(&o->w, "k", RVM_I64, 0);
    rvm__write(&o->w, RVM_OP_start, 0, 0, 0, NULL);
    rvm__write_drop(&o->w, k);
    rvm__outline_end(o, &o->made.note);
}

void rvm__write_once(rvm__outline *o) {
    write_split(o);
    write_mark(o);
    write_note(o);
}

void rvm__outline_note(rvm__outline *o) {
    rvm__writer *w = &o->w;
    if (!o->loop->turns) return;
    const rvm_place zero = rvm__write_integer(w, 0), k = rvm__write_let(w, RVM_ROW_id, zero, zero);
    rvm__write_call(w, RVM_OP_call, o->made.note, 1, &k);
    rvm__write_unwind(w, w->nlets - 1);
}

/* ---- states ---- */

/* Instruction by instruction, for the places that make a state, or those and what trips only add to. */
void rvm__outline_all(rvm__outline *o, rvm_op op, const rvm_place *y, const rvm_place *x, bool states) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++) {
        const bool takes = states ? rvm__outline_is_state(o, k) : o->loop->places[k].use != RVM__LOOP_READS;
        if (takes) rvm__write_each(&o->w, op, y[k], x[k], o->dims[k]);
    }
}

static void write_keep(rvm__outline *o) {
    static const char *const names[] = {"pos'", "left'"};
    rvm_place more[2];
    rvm__outline_begin(o, "'keep", names, 2, more);
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (rvm__outline_is_state(o, k)) rvm__write_drop(&o->w, o->own[k]);
    rvm__write_drop(&o->w, more[0]);
    rvm__write_drop(&o->w, more[1]);
    rvm__outline_end(o, &o->keep);
}

/* A local one like place k appears, of nothing, or disappears. */
static void toggle_like(rvm__outline *o, rvm_op of_array, uint32_t k, rvm_place q) {
    rvm__writer *w = &o->w;
    rvm_place places[RVM_MAX_DIMS + 2] = {q};
    const int ndim = rvm__outline_ndim(o, k);
    for (int d = 0; d < ndim; d++) places[1 + d] = rvm__place_at(false, o->dims[k][d]);
    places[1 + ndim] = rvm__write_nothing(w, rvm__outline_type(o, k));
    const rvm_op of_register = rvm__is_inverse(of_array) ? RVM_OP_unlet : RVM_OP_let;
    rvm__write(w, ndim ? of_array : of_register, RVM_ROW_id, RVM_FLAG_UNCHECKED, 2 + (uint32_t)ndim, places);
}

static void make_like(rvm__outline *o, uint32_t k, rvm_place *q) {
    const int ndim = rvm__outline_ndim(o, k);
    *q = ndim ? rvm__write_array(&o->w, rvm__outline_type(o, k), ndim) : rvm__write_register(&o->w, rvm__outline_type(o, k));
    toggle_like(o, RVM_OP_new, k, *q);
}

static void unmake_like(rvm__outline *o, uint32_t k, rvm_place q) {
    toggle_like(o, RVM_OP_del, k, q);
}

void rvm__outline_make_state(rvm__outline *o, rvm_place *q) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++) {
        q[k] = o->own[k];
        if (rvm__outline_is_state(o, k)) make_like(o, k, &q[k]);
    }
}

void rvm__outline_unmake_state(rvm__outline *o, const rvm_place *q) {
    for (uint32_t k = o->loop->nplaces; k-- > 0;)
        if (rvm__outline_is_state(o, k)) unmake_like(o, k, q[k]);
}

void rvm__outline_copy(rvm__outline *o) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++) {
        o->to[k] = o->own[k];
        if (o->loop->places[k].use == RVM__LOOP_READS) continue;
        make_like(o, k, &o->to[k]);
        if (rvm__outline_is_state(o, k)) rvm__write_each(&o->w, RVM_OP_add, o->to[k], o->first[k], o->dims[k]);
    }
}

/* ---- marches ---- */

/* In the part that is forgotten: the trips from number `from` on, `count` of them. */
static void run_trips(rvm__outline *o, rvm_place from, rvm_place count) {
    rvm__writer *w = &o->w;
    const rvm_place by = rvm__outline_bound(o, RVM__BY), lo = rvm__outline_index(o, from);
    const rvm_place way = rvm__write_let(w, RVM_ROW_mul, count, by), hi = rvm__write_let(w, RVM_ROW_add, lo, way);
    const rvm_place i = rvm__write_register(w, RVM_I64);
    const uint32_t at = rvm__write_for(w, i, lo, hi, by);
    rvm__outline_call(o, RVM_OP_call, o->run, o->to, &i, 1);
    rvm__write_next(w, at);
}

/* What is in a register moves to one that appears, behind which it is 0. */
static rvm_place take_number(rvm__outline *o, rvm_place q) {
    const rvm_place zero = rvm__write_integer(&o->w, 0), was = rvm__write_let(&o->w, RVM_ROW_id, zero, zero);
    RVM__WRITE(&o->w, RVM_OP_swap, 0, 0, q, was);
    return was;
}

static void march_body(rvm__outline *o, const rvm_place *more) {
    rvm__writer *w = &o->w;
    rvm__outline_all(o, RVM_OP_swap, o->own, o->first, true);
    const rvm_place pos = take_number(o, more[0]), left = take_number(o, more[1]);
    const uint32_t mark = rvm__write_compute(w);
    rvm__outline_copy(o);
    const rvm_place zero = rvm__write_integer(w, 0), count = rvm__write_let(w, RVM_ROW_id, zero, zero);
    const rvm_place rest = rvm__write_let(w, RVM_ROW_sub, more[2], pos);
    rvm__write_call(w, RVM_OP_call, o->split, 3, (rvm_place[]){count, rest, left});
    run_trips(o, pos, count);
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    rvm__outline_all(o, RVM_OP_add, o->own, o->to, false);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_add, 0, more[0], pos, count);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, more[1], left, rvm__write_integer(w, 1));
    rvm__write_forget(w, mark);
    rvm__outline_call(o, RVM_OP_call, o->keep, o->first, (rvm_place[]){pos, left}, 2);
    rvm__write_unwind(w, 0);
}

static void write_march(rvm__outline *o) {
    static const char *const names[] = {"pos'", "left'", "n'"};
    rvm_place more[3];
    rvm__outline_begin(o, "'march", names, 3, more);
    rvm__outline_make_state(o, o->first);
    march_body(o, more);
    rvm__outline_unmake_state(o, o->first);
    rvm__outline_end(o, &o->march);
}

/* From state pos to the one before state n. */
static void march_on(rvm__outline *o, rvm_place first_left, const rvm_place *more) {
    rvm__writer *w = &o->w;
    const uint32_t mark = w->nlets;
    const rvm_place last = rvm__write_let(w, RVM_ROW_sub, more[2], rvm__write_integer(w, 1));
    rvm__written_loop loop = {{RVM_ROW_eq, {{0}, more[1], first_left}}, {RVM_ROW_lt, {{0}, more[0], last}}, 0, 0};
    rvm__write_from(w, &loop);
    rvm__outline_call(o, RVM_OP_call, o->march, o->own, more, 3);
    rvm__write_again(w, &loop);
    rvm__write_unwind(w, mark);
}

static void write_rewind(rvm__outline *o) {
    static const char *const names[] = {"pos'", "left'", "n'"};
    rvm_place more[3];
    rvm__writer *w = &o->w;
    rvm__outline_begin(o, "'rewind", names, 3, more);
    rvm__outline_call(o, RVM_OP_uncall, o->keep, o->own, more, 2);
    const rvm_place left = rvm__write_register(w, RVM_I64);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, left, more[1]);
    march_on(o, left, more);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, RVM_FLAG_UNCHECKED, left, more[1]);
    rvm__outline_end(o, &o->made.rewind);
}

void rvm__outline_snapshots(rvm__outline *o) {
    write_keep(o);
    write_march(o);
    write_rewind(o);
}

/* ---- a counted loop ---- */

/* Marches to the last trip, and the trip. */
static void run_marching(rvm__outline *o, rvm_place n, rvm_place states) {
    rvm__writer *w = &o->w;
    const rvm_place zero = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    const rvm_place more[3] = {rvm__write_register(w, RVM_I64), rvm__write_register(w, RVM_I64), n};
    const uint32_t mark = w->nlets;
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, more[0], zero);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, more[1], states);
    march_on(o, states, more);
    rvm__write_call(w, RVM_OP_call, o->made.mark, 2, more);
    const rvm_place last = rvm__write_let(w, RVM_ROW_sub, n, one), i = rvm__outline_index(o, last);
    rvm__outline_call(o, RVM_OP_call, o->made.step, o->own, &i, 1);
    rvm__write_unwind(w, mark);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, more[1], zero);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, more[0], zero);
}

static void run_plainly(rvm__outline *o) {
    const rvm_place lo = rvm__outline_bound(o, RVM__LO), hi = rvm__outline_bound(o, RVM__HI);
    const rvm_place i = rvm__write_register(&o->w, RVM_I64);
    const uint32_t at = rvm__write_for(&o->w, i, lo, hi, rvm__outline_bound(o, RVM__BY));
    rvm__outline_call(o, RVM_OP_call, o->made.step, o->own, &i, 1);
    rvm__write_next(&o->w, at);
}

/* The bounds' slots, as they are once registers are all known. */
static void note_bounds(rvm__outline *o) {
    const rvm_place q[3] = {rvm__outline_bound(o, RVM__LO), rvm__outline_bound(o, RVM__HI), rvm__outline_bound(o, RVM__BY)};
    uint16_t *to[3] = {&o->made.lo, &o->made.hi, &o->made.by};
    for (int k = 0; k < 3; k++)
        *to[k] = (uint16_t)(q[k].slot >= RVM_BUILD_CONST ? q[k].slot - RVM_BUILD_CONST + o->w.g.nregs : q[k].slot);
}

void rvm__outline_counted(rvm__outline *o) {
    rvm__writer *w = &o->w;
    rvm_place more[3];
    rvm__outline_count(o);
    rvm__outline_begin(o, "", NULL, 0, NULL);
    const rvm_place zero = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    for (int k = 0; k < 3; k++) more[k] = rvm__write_let(w, RVM_ROW_id, zero, zero);
    rvm__outline_call(o, RVM_OP_call, o->made.count, o->own, more, 3);
    uint32_t at = rvm__write_if(w, more[1]);
    run_marching(o, more[0], more[2]);
    rvm__write_next(w, at);
    const rvm_place plainly = rvm__write_let(w, RVM_ROW_sub, one, more[1]);
    at = rvm__write_if(w, plainly);
    run_plainly(o);
    rvm__write_next(w, at);
    rvm__write_unwind(w, 3);
    rvm__outline_call(o, RVM_OP_uncall, o->made.count, o->own, more, 3);
    rvm__write_unwind(w, 0);
    rvm__outline_note(o);
    note_bounds(o);
    rvm__outline_end(o, &o->made.fn);
}
