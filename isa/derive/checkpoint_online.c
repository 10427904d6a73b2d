/* checkpoint_online.c: snapshots of a loop whose end is not known. See outline.h.
 *
 * With s states at a time, and b(s, r) = (s + r)! / (s! r!), there is a least r so that state i of those kept, from 0, has
 * the next at most b(s - i, r - 1) trips behind it: as many as the states that are free by then can sweep with r - 1 runs
 * of each trip. A state is kept after so many trips. Where none is free, one goes whose neighbours are within what the one
 * before it may reach, the last of these; where there is none r rises. So the way back, whose length is known by then, is
 * that of revolve between each two states, and nearly as short as if the length had been known (docs/derivatives.md).
 *
 * States are on the trail, the last on top: that which goes is reached through those above it, which wait in places of
 * calls. What goes is discarded, onto trail 1, as by adjoints. */
#include "outline.h"

enum { MOST_KEPT = 256 }; /* as many calls of evict in one another */

/* ---- once a program ---- */

static rvm_place zero(rvm__outline *o) {
    const rvm_place none = rvm__write_integer(&o->w, 0);
    return rvm__write_let(&o->w, RVM_ROW_id, none, none);
}

/* In a part that is forgotten: what a register holds is lost, and it is 0 again. */
static void clear(rvm__outline *o, rvm_place q) {
    rvm__write_drop(&o->w, q);
}

/* b += b(s, r), r >= 0. */
static void write_power(rvm__outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'power");
    const rvm_place b = rvm__write_param(w, "b", RVM_I64, 0), s = rvm__write_param(w, "s", RVM_I64, 0);
    const rvm_place r = rvm__write_param(w, "r", RVM_I64, 0), one = rvm__write_integer(w, 1);
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    const uint32_t around = rvm__write_compute(w);
    const rvm_place to = rvm__write_let(w, RVM_ROW_id, one, one), end = rvm__write_let(w, RVM_ROW_add, r, one);
    const rvm_place k = rvm__write_register(w, RVM_I64);
    const uint32_t at = rvm__write_for(w, k, one, end, one);
    const uint32_t mark = w->nlets;
    const rvm_place sum = rvm__write_let(w, RVM_ROW_add, s, k), product = zero(o);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_mul, 0, product, to, sum);
    clear(o, to);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_idiv, 0, to, product, k);
    clear(o, product);
    rvm__write_unwind(w, mark);
    rvm__write_next(w, at);
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, b, to);
    rvm__write_forget(w, around);
    rvm__outline_end(o, &o->power);
}

static rvm_place element(rvm_place array, rvm_place index) {
    rvm_place q = {.kind = RVM_PLACE_ELEM, .slot = array.slot, .nidx = 1};
    q.idx[0] = index.slot;
    return q;
}

/* e += what the states around state j are too far apart by: at[j + 1] - at[j - 1] - b(s - j + 1, r - 1). */
static void write_excess(rvm__outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'excess");
    const rvm_place e = rvm__write_param(w, "e", RVM_I64, 0), at = rvm__write_param(w, "at", RVM_I64, 1);
    const rvm_place j = rvm__write_param(w, "j", RVM_I64, 0), s = rvm__write_param(w, "s", RVM_I64, 0);
    const rvm_place r = rvm__write_param(w, "r", RVM_I64, 0), one = rvm__write_integer(w, 1);
    const rvm_place length = rvm__write_register(w, RVM_I64);
    if (!w->status) w->g.params[1].dim[0] = length.slot;
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    const uint32_t around = rvm__write_compute(w);
    const rvm_place behind = rvm__write_let(w, RVM_ROW_add, j, one), before = rvm__write_let(w, RVM_ROW_sub, j, one);
    const rvm_place free = rvm__write_let(w, RVM_ROW_sub, s, before), runs = rvm__write_let(w, RVM_ROW_sub, r, one);
    const rvm_place b = zero(o);
    rvm__write_call(w, RVM_OP_call, o->power, 3, (rvm_place[]){b, free, runs});
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, e, element(at, behind), element(at, before));
    RVM__WRITE(w, RVM_OP_sub, RVM_ROW_id, 0, e, b);
    rvm__write_forget(w, around);
    rvm__outline_end(o, &o->excess);
}

/* One state further down; below the first comes the last again, with a larger r. */
static void look_further(rvm__outline *o, rvm_place j, rvm_place r, rvm_place s) {
    rvm__writer *w = &o->w;
    const rvm_place one = rvm__write_integer(w, 1), none = rvm__write_integer(w, 0);
    RVM__WRITE(w, RVM_OP_sub, RVM_ROW_id, 0, j, one);
    const uint32_t mark = w->nlets;
    const rvm_place out = zero(o);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_eq, 0, out, j, none);
    const rvm_place last = rvm__write_let(w, RVM_ROW_sub, s, one);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, r, out);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_mul, 0, j, out, last);
    clear(o, out);
    rvm__write_unwind(w, mark);
}

/* Of s + 1 states kept: i += the one to go, more += by how much r rises. */
static void write_choose(rvm__outline *o) {
    rvm__writer *w = &o->w;
    rvm__write_begin(w, "checkpoint'choose");
    const rvm_place i = rvm__write_param(w, "i", RVM_I64, 0), more = rvm__write_param(w, "more", RVM_I64, 0);
    const rvm_place at = rvm__write_param(w, "at", RVM_I64, 1), s = rvm__write_param(w, "s", RVM_I64, 0);
    const rvm_place r = rvm__write_param(w, "r", RVM_I64, 0), one = rvm__write_integer(w, 1);
    const rvm_place none = rvm__write_integer(w, 0), length = rvm__write_register(w, RVM_I64);
    if (!w->status) w->g.params[2].dim[0] = length.slot;
    rvm__write(w, RVM_OP_start, 0, 0, 0, NULL);
    const uint32_t around = rvm__write_compute(w);
    const rvm_place j = rvm__write_let(w, RVM_ROW_sub, s, one), runs = rvm__write_let(w, RVM_ROW_id, r, r);
    const rvm_place e = zero(o), tries = zero(o);
    rvm__write_call(w, RVM_OP_call, o->excess, 5, (rvm_place[]){e, at, j, s, runs});
    rvm__written_loop loop = {{RVM_ROW_eq, {{0}, tries, none}}, {RVM_ROW_gt, {{0}, e, none}}, 0, 0};
    rvm__write_from(w, &loop);
    look_further(o, j, runs, s);
    clear(o, e);
    rvm__write_call(w, RVM_OP_call, o->excess, 5, (rvm_place[]){e, at, j, s, runs});
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, tries, one);
    rvm__write_again(w, &loop);
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, i, j);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, more, runs, r);
    rvm__write_forget(w, around);
    rvm__outline_end(o, &o->choose);
}

void rvm__write_once_online(rvm__outline *o) {
    write_power(o);
    write_excess(o);
    write_choose(o);
}

/* ---- a state goes ---- */

static void discard(rvm__outline *o, rvm_place q) {
    rvm__writer *w = &o->w;
    const rvm_place one = rvm__write_integer(w, 1);
    RVM__WRITE(w, RVM_OP_drop, 0, 0, one, rvm__write_integer(w, w->site++), one, q);
}

static void discard_state(rvm__outline *o, const rvm_place *q) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (rvm__outline_is_state(o, k)) discard(o, q[k]);
}

/* X'evict(places, deep): the state below so many others; those may keep one more each. */
static void write_evict(rvm__outline *o) {
    static const char *const names[] = {"deep'"};
    rvm__writer *w = &o->w;
    rvm_place deep;
    rvm__outline_begin(o, "'evict", names, 1, &deep);
    o->evict = w->fn;
    const rvm_place one = rvm__write_integer(w, 1), none = rvm__write_integer(w, 0);
    rvm__outline_make_state(o, o->first);
    const rvm_place more[2] = {zero(o), zero(o)};
    rvm__outline_call(o, RVM_OP_uncall, o->keep, o->first, more, 2);
    const rvm_place above = rvm__write_let(w, RVM_ROW_gt, deep, none), is = rvm__write_let(w, RVM_ROW_le, deep, none);
    uint32_t at = rvm__write_if(w, above);
    const rvm_place next = rvm__write_let(w, RVM_ROW_sub, deep, one);
    rvm__outline_call(o, RVM_OP_call, o->evict, o->own, &next, 1);
    rvm__write_unwind(w, w->nlets - 1);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, more[1], one);
    rvm__outline_call(o, RVM_OP_call, o->keep, o->first, more, 2);
    rvm__write_next(w, at);
    at = rvm__write_if(w, is);
    discard_state(o, o->first);
    discard(o, more[0]);
    discard(o, more[1]);
    rvm__write_next(w, at);
    rvm__write_unwind(w, 0);
    rvm__outline_unmake_state(o, o->first);
    rvm__outline_end(o, &o->evict);
}

/* ---- marches ---- */

/* In the part that is forgotten: trips until there is none, at most so many. ran: their number; goes: whether there is
 * another. */
static void run_rounds(rvm__outline *o, rvm_place from, rvm_place most, rvm_place ran, rvm_place goes) {
    rvm__writer *w = &o->w;
    const rvm_place none = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    const rvm_place end = rvm__write_let(w, RVM_ROW_id, most, most);
    rvm__written_loop loop = {{RVM_ROW_eq, {{0}, ran, none}}, {RVM_ROW_lt, {{0}, ran, end}}, 0, 0};
    rvm__write_from(w, &loop);
    const rvm_place i = rvm__write_let(w, RVM_ROW_add, from, ran);
    rvm__outline_call(o, RVM_OP_call, o->run, o->to, &i, 1);
    rvm__write_unwind(w, w->nlets - 1);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, ran, one);
    clear(o, goes);
    rvm__outline_call(o, RVM_OP_call, o->test, o->to, &goes, 1);
    clear(o, end);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_mul, 0, end, goes, most);
    rvm__write_again(w, &loop);
}

/* X'walk(places, pos, goes, left, most): a state is kept, and marches go on from it. */
static void write_walk(rvm__outline *o) {
    static const char *const names[] = {"pos'", "goes'", "left'", "most'"};
    rvm__writer *w = &o->w;
    rvm_place more[4];
    rvm__outline_begin(o, "'walk", names, 4, more);
    const rvm_place one = rvm__write_integer(w, 1), none = rvm__write_integer(w, 0);
    rvm__outline_make_state(o, o->first);
    rvm__outline_all(o, RVM_OP_swap, o->own, o->first, true);
    const rvm_place pos = zero(o), left = zero(o);
    RVM__WRITE(w, RVM_OP_swap, 0, 0, more[0], pos);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, left, more[2]);
    const uint32_t around = rvm__write_compute(w);
    rvm__outline_copy(o);
    const rvm_place ran = zero(o), goes = rvm__write_let(w, RVM_ROW_id, one, none);
    run_rounds(o, pos, more[3], ran, goes);
    rvm__write(w, RVM_OP_do, 0, 0, 0, NULL);
    rvm__outline_all(o, RVM_OP_add, o->own, o->to, false);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_add, 0, more[0], pos, ran);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_sub, 0, more[1], goes, one);
    rvm__write_forget(w, around);
    rvm__outline_call(o, RVM_OP_call, o->keep, o->first, (rvm_place[]){pos, left}, 2);
    rvm__write_unwind(w, 0);
    rvm__outline_unmake_state(o, o->first);
    rvm__outline_end(o, &o->walk);
}

/* ---- the loop ---- */

typedef struct online {
    rvm_place n, goes, r, held, states, at; /* at: the trips before each state that is kept */
} online;

/* Where all states are kept, and another is to be, one goes. */
static void make_room(rvm__outline *o, const online *l) {
    rvm__writer *w = &o->w;
    const rvm_place one = rvm__write_integer(w, 1);
    const uint32_t mark = w->nlets;
    const rvm_place full = zero(o), i = zero(o), more = zero(o);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_ge, 0, full, l->held, l->states);
    const uint32_t then = rvm__write_if(w, full), inner = w->nlets;
    rvm__write_call(w, RVM_OP_call, o->choose, 5, (rvm_place[]){i, more, l->at, l->states, l->r});
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, l->r, more);
    const rvm_place last = rvm__write_let(w, RVM_ROW_sub, l->states, one), deep = rvm__write_let(w, RVM_ROW_sub, last, i);
    rvm__outline_call(o, RVM_OP_call, o->evict, o->own, &deep, 1);
    const rvm_place k = rvm__write_register(w, RVM_I64);
    const uint32_t at = rvm__write_for(w, k, i, l->states, one);
    const rvm_place next = rvm__write_let(w, RVM_ROW_add, k, one);
    RVM__WRITE(w, RVM_OP_swap, 0, 0, element(l->at, k), element(l->at, next));
    rvm__write_unwind(w, w->nlets - 1);
    rvm__write_next(w, at);
    rvm__write_unwind(w, inner);
    discard(o, element(l->at, l->states));
    RVM__WRITE(w, RVM_OP_sub, RVM_ROW_id, 0, l->held, one);
    discard(o, i);
    discard(o, more);
    rvm__write_next(w, then);
    discard(o, full);
    rvm__write_unwind(w, mark);
}

/* One state more. With a single one there is no other, and all trips follow. */
static void keep_one(rvm__outline *o, const online *l) {
    rvm__writer *w = &o->w;
    const rvm_place one = rvm__write_integer(w, 1);
    const uint32_t mark = w->nlets;
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, element(l->at, l->held), l->n);
    make_room(o, l);
    const rvm_place left = rvm__write_let(w, RVM_ROW_sub, l->states, l->held);
    const rvm_place runs = rvm__write_let(w, RVM_ROW_sub, l->r, one);
    const rvm_place single = rvm__write_let(w, RVM_ROW_le, l->states, one);
    const rvm_place all = rvm__write_let(w, RVM_ROW_mul, single, rvm__write_integer(w, INT64_MAX - 1));
    const rvm_place b = zero(o);
    rvm__write_call(w, RVM_OP_call, o->power, 3, (rvm_place[]){b, left, runs});
    const rvm_place most = rvm__write_let(w, RVM_ROW_max, b, all);
    rvm__outline_call(o, RVM_OP_call, o->walk, o->own, (rvm_place[]){l->n, l->goes, left, most}, 4);
    rvm__write_unwind(w, w->nlets - 1);
    rvm__write_call(w, RVM_OP_uncall, o->power, 3, (rvm_place[]){b, left, runs});
    rvm__write_unwind(w, mark);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, l->held, one);
}

static void toggle_at(rvm__outline *o, rvm_op op, const online *l, rvm_place length) {
    RVM__WRITE(&o->w, op, RVM_ROW_id, 0, l->at, length, rvm__write_integer(&o->w, 0));
}

/* All trips; then how many there were, and how many states more could be kept, is on the trail. */
static void run_loop(rvm__outline *o, online *l) {
    rvm__writer *w = &o->w;
    const rvm_place none = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    const uint32_t mark = w->nlets;
    l->n = zero(o), l->goes = zero(o), l->held = zero(o);
    l->r = rvm__write_let(w, RVM_ROW_id, one, one);
    const rvm_place length = rvm__write_let(w, RVM_ROW_add, l->states, one);
    l->at = rvm__write_array(w, RVM_I64, 1);
    toggle_at(o, RVM_OP_new, l, length);
    rvm__outline_call(o, RVM_OP_call, o->test, o->own, &l->goes, 1);
    rvm__written_loop loop = {{RVM_ROW_eq, {{0}, l->n, none}}, {RVM_ROW_gt, {{0}, l->goes, none}}, 0, 0};
    rvm__write_from(w, &loop);
    keep_one(o, l);
    rvm__write_again(w, &loop);
    discard(o, l->at);
    toggle_at(o, RVM_OP_del, l, length);
    RVM__WRITE(w, RVM_OP_sub, RVM_ROW_id, 0, l->r, one);
    discard(o, l->r);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, l->r, one);
    rvm__write_call(w, RVM_OP_call, o->made.mark, 2, (rvm_place[]){l->n, l->held});
    rvm__write_unwind(w, mark);
}

void rvm__outline_online(rvm__outline *o) {
    rvm__writer *w = &o->w;
    online l;
    write_evict(o);
    write_walk(o);
    rvm__outline_begin(o, "", NULL, 0, NULL);
    rvm__outline_assert(o, rvm__outline_condition(o), true);
    const rvm_place none = rvm__write_integer(w, 0), cells = rvm__write_let(w, RVM_ROW_id, none, none);
    rvm__outline_cells(o, RVM_OP_add, cells);
    const uint32_t mark = w->nlets;
    l.states = rvm__write_let(w, RVM_ROW_min, rvm__outline_states(o, cells), rvm__write_integer(w, MOST_KEPT));
    run_loop(o, &l);
    rvm__write_unwind(w, mark);
    rvm__outline_cells(o, RVM_OP_sub, cells);
    rvm__write_unwind(w, 0);
    rvm__outline_call(o, RVM_OP_call, o->made.head, o->own, NULL, 0);
    rvm__outline_assert(o, rvm__outline_condition(o), false);
    rvm__outline_note(o);
    rvm__outline_end(o, &o->made.fn);
}
