/* directions.c: tangents along several directions, or gradients of several results: one after the other, or natively several
 * at once, by a program that is a parallel block over them (isa/derive/columns.h), so that they go in lanes, in threads and
 * on a device.
 *
 * What the function changes, and shadows, each direction has for itself: element by element, so that what lanes read
 * together stands together. Nothing of the caller's is changed, so where the block fails its directions are run one by one,
 * which says why. */
#include <string.h>

#include "asked.h"
#include "builder.h"
#include "program.h"

#include "cells.h"
#include "fresh.h"
#include "memory.h"
#include "native.h"
#include "run.h"

enum { LEAST = 8, MOST = 520, MOST_THERE = 1 << 16 }; /* directions at once */
enum { SMALL = 1 << 16 }; /* cells of all arguments, with which blocks of a direction do not fill a device */
enum { FEW_CELLS = 1 << 16, MOST_CELLS = 1 << 21 }; /* of all of them: within a cache, but for the least; 16 MB */

typedef struct block {
    rvm__asked q;
    const rvm__directions *x;
    rvm_machine *counts; /* whose statistics tell what ran */
    rvm__derived *d;
    int64_t width; /* directions at once; 0: not chosen yet, */
    bool off;      /* or never */
    rvm_value *cells;
    size_t ncells;
} block;

static rvm_transform kind_of(const block *b) {
    return b->q.ask == ASK_TANGENT ? RVM_TANGENT_OF : RVM_GRADIENT_OF;
}

static rvm_mode mode_of(const block *b) {
    return b->q.ask == ASK_TANGENT ? RVM_TANGENT : RVM_GRADIENT;
}

/* Limits are of one run; what the modes offer and programs do not. */
static bool may(const rvm_machine *m) {
    const rvm_options *o = &m->o;
    return m->jit.engine && !o->fuel && !o->memory && !o->trail_limit && !o->checkpoints && !o->exact && !o->keep_shadows &&
           !o->activity && !m->profile;
}

/* Of a direction. */
static int64_t own_cells(const block *b) {
    int64_t n = 0;
    for (uint32_t k = 0; k < b->q.n; k++)
        n += rvm__cells(&b->q.args[k]) * (rvm__asked_value(&b->q, k) + (b->d->active[k] != 0));
    return n;
}

/* Where a direction has blocks of its own that are large, it is better off alone. */
static bool is_small(const block *b) {
    int64_t n = 0;
    for (uint32_t k = 0; k < b->q.n; k++) n += rvm__cells(&b->q.args[k]);
    return !b->d->blocks || n <= SMALL;
}

/* So that blocks are about equal, a device has enough to do. 0: there is no room, or one by one is better. */
static int64_t width_of(const block *b, int64_t left) {
    const bool device = b->q.m->jit.device && !b->q.m->jit.device_least;
    const int64_t own = own_cells(b), cells = device ? MOST_CELLS : FEW_CELLS, limit = device ? MOST_THERE : MOST;
    const int64_t room = cells / (own + !own) / LEAST * LEAST;
    const int64_t most = room < LEAST ? LEAST : room < limit ? room : limit, blocks = (left + most - 1) / most;
    return own > MOST_CELLS / LEAST || !is_small(b) ? 0 : (left + blocks - 1) / blocks;
}

/* An argument with a last dimension of so many directions. */
static rvm_arg with_directions(const rvm_arg *a, int64_t width, rvm_value *cells) {
    rvm_arg to = *a;
    int64_t stride = 1;
    to.active = to.fresh = to.fresh_shadow = false;
    to.data = cells;
    to.shape[to.ndim++] = width;
    for (int d = to.ndim - 1; d >= 0; stride *= to.shape[d--]) to.stride[d] = stride;
    return to;
}

static bool lay_out(block *b) {
    rvm__derived *d = b->d;
    b->ncells = (size_t)(own_cells(b) * b->width);
    rvm_value *at = b->cells = rvm__room(b->q.m, RVM__DIRECTIONS, b->ncells * sizeof *at + sizeof *at);
    if (!at) return false;
    memset(at, 0, b->ncells * sizeof *at);
    d->nargs = 0;
    for (uint32_t k = 0; k < b->q.n; k++) {
        const rvm_arg *a = &b->q.args[k];
        const int64_t n = rvm__cells(a) * b->width;
        d->args[d->nargs] = *a;
        d->args[d->nargs].active = d->args[d->nargs].fresh_shadow = false;
        if (rvm__asked_value(&b->q, k)) d->args[d->nargs] = with_directions(a, b->width, at), at += n;
        d->nargs++;
        if (d->active[k]) d->args[d->nargs++] = with_directions(a, b->width, at), at += n;
    }
    return true;
}

/* One direction's cells of an argument, between it and the block's. */
static void move_cells(block *b, rvm_arg *a, bool shadow, int64_t direction, rvm_value **at, bool back) {
    const int64_t n = rvm__cells(a);
    rvm_value *cells = *at + direction, *one = b->q.m->store.kept[RVM__DIRECTION];
    *at += n * b->width;
    if (!back) rvm__fresh_take(a, shadow, one);
    for (int64_t i = 0; i < n; i++) *(back ? &one[i] : &cells[i * b->width]) = *(back ? &cells[i * b->width] : &one[i]);
    if (back) rvm__cells_give(a, shadow, one);
}

static void move(block *b, int64_t direction, bool back) {
    rvm_value *at = b->cells;
    for (uint32_t n = 0; n < b->q.n; n++) {
        rvm_arg *a = &b->q.args[n];
        if (rvm__asked_value(&b->q, n)) move_cells(b, a, false, direction, &at, back);
        if (!b->d->active[n]) continue;
        if (a->active)
            move_cells(b, a, true, direction, &at, back);
        else
            at += rvm__cells(a) * b->width;
    }
}

static void set(block *b, int64_t first) {
    for (int64_t k = 0; k < b->width; k++) {
        b->x->set(b->x->of, first + k);
        move(b, k, false);
    }
}

/* Not OK: what a gradient's tangent has to give back did not come back. */
static rvm_status get(block *b, int64_t first) {
    rvm_status status = RVM_OK;
    for (int64_t k = 0; k < b->width && !status; k++) {
        move(b, k, true);
        status = rvm__asked_compare(&b->q, NULL);
        if (!status) b->x->get(b->x->of, first + k);
    }
    return status;
}

/* Room for one direction of the largest argument. */
static bool make_room(const block *b) {
    int64_t most = 1;
    for (uint32_t k = 0; k < b->q.n; k++)
        if (rvm__cells(&b->q.args[k]) > most) most = rvm__cells(&b->q.args[k]);
    return rvm__room(b->q.m, RVM__DIRECTION, (size_t)most * sizeof(rvm_value));
}

/* Whether it is time to ask for native code of the block. */
static bool is_time(block *b) {
    rvm_machine *m = b->q.m;
    const rvm__engine *e = m->jit.engine;
    rvm__derived *d = b->d = rvm__asked_find(&b->q, kind_of(b), RVM__COLUMNS);
    b->off = !d || d->refused || (d->why.code && !d->machine);
    if (b->off || d->ran < e->patience || d->ran < d->asks) return false;
    b->off = rvm__derived_ready(m, d, NULL) != RVM_OK || d->levels; /* which instances would take from a trail */
    return !b->off && !d->machine->jit.engine->awaits(d->machine->jit.engine);
}

/* Whether the block is bound, and there is native code for it. */
static bool is_there(block *b, int64_t left) {
    rvm__derived *d = b->d;
    if (!b->width) b->width = width_of(b, left);
    b->off = b->width < LEAST || rvm__check_arguments(b->q.m, b->q.fn, b->q.args, b->q.n, mode_of(b), NULL) ||
             !make_room(b) || !lay_out(b) || rvm__bring_home(b->q.m, b->q.args, b->q.n) ||
             !rvm__asked_save(&b->q, RVM__INPUTS) ||
             rvm_machine_bind(d->machine, d->fn, d->args, d->nargs, RVM_PRIMAL, false, NULL);
    if (b->off) return false;
    const bool there = rvm__derived_is_native(d);
    if (!there) rvm__unbind(d->machine);
    return there;
}

static void count(const block *b) {
    rvm_machine *m = b->q.m;
    if (b->q.ask == ASK_TANGENT)
        rvm__derived_count(m, b->d->machine, RVM_RAN_TANGENT, &m->stats.forward);
    else
        rvm__derived_count(m, b->d->machine, RVM_RAN_GRADIENT, &m->stats.swept);
    if (b->counts != m) rvm__derived_count(b->counts, m, RVM_RAN_GRADIENT_TANGENT, &b->counts->stats.forward);
    m->jit.engine->derived(m->jit.engine, b->d->machine, (uint32_t)b->q.fn, NULL, false);
}

/* Directions from k on, as many as there are in a block; those before are done anew where fewer are left. 0: none. */
static int64_t run_block(block *b, int64_t k, rvm_status *status, rvm_error *err) {
    const int64_t left = b->x->n - k;
    rvm_error why;
    if (b->off || left < (b->width ? 1 : LEAST) || !is_time(b)) return 0;
    b->x->set(b->x->of, k); /* what is only read is the same for all */
    if (!is_there(b, left)) return 0;
    const int64_t first = left < b->width ? b->x->n - b->width : k;
    set(b, first);
    const uint64_t before = b->d->machine->jit.there;
    rvm_status ran = rvm_machine_forward(b->d->machine, &why);
    if (!ran && b->d->blocks && b->d->machine->jit.there == before) {
        b->d->refused = true; /* by the device, which may take its own blocks: one by one, as it will be from now on */
        ran = RVM_ERR_UNSUPPORTED;
    }
    count(b);
    rvm__unbind(b->d->machine);
    if (ran == RVM_ERR_CANCELLED) {
        *status = ran;
        if (err) *err = why;
    }
    if (!ran) ran = get(b, first);
    b->off = ran != RVM_OK;
    return ran ? 0 : first + b->width - k;
}

static uint64_t instructions(const rvm_machine *m) {
    return m->stats.forward + m->stats.swept;
}

/* Counts for the block what one direction took. */
static rvm_status run_one(block *b, int64_t k, rvm_error *err) {
    const uint64_t before = instructions(b->counts);
    b->x->set(b->x->of, k);
    const rvm_status status = b->x->run(b->x->of, err);
    if (!status) b->x->get(b->x->of, k);
    rvm__derived *d = b->off ? NULL : rvm__asked_find(&b->q, kind_of(b), RVM__COLUMNS);
    if (d) d->ran += instructions(b->counts) - before;
    return status;
}

rvm_status rvm__each_direction(rvm_machine *m, rvm_machine *counts, rvm_mode mode, int64_t fn, rvm_arg *args, uint32_t nargs,
                               const rvm__directions *x, rvm_error *err) {
    block b = {.q = {.m = m, .ask = mode == RVM_TANGENT ? ASK_TANGENT : ASK_GRADIENT, .fn = fn, .args = args, .n = nargs},
               .x = x,
               .counts = counts,
               .off = !may(m) || x->n < LEAST};
    rvm_status status = RVM_OK;
    for (int64_t k = 0, done; k < x->n && !status; k += done) {
        done = run_block(&b, k, &status, err);
        if (!done && !status) done = 1, status = run_one(&b, k, err);
    }
    return status;
}
