/* writer.c: see writer.h. */
#include "writer.h"

#include <string.h>

static void fail(rvm__writer *w, rvm_status s) {
    if (!w->status) w->status = s;
}

/* ---- functions ---- */

void rvm__write_begin(rvm__writer *w, const char *name) {
    const size_t length = strlen(name);
    if (w->status) return;
    const bool there = rvm__program_find(w->p, name, length) >= 0 || !rvm__is_word(name, length);
    const int64_t fn = there ? -1 : rvm__program_add_function(w->p, name, length);
    if (fn < 0) {
        fail(w, there ? RVM_ERR_UNSUPPORTED : RVM_ERR_MEMORY);
        return;
    }
    w->fn = (uint32_t)fn;
    w->g = w->p->functions[fn];
    w->nlets = 0;
}

rvm_place rvm__write_param(rvm__writer *w, const char *name, rvm_type type, int ndim) {
    const rvm_place q = ndim ? rvm__write_array(w, type, ndim) : rvm__write_register(w, type);
    const rvm_param param = {.type = (uint8_t)type, .ndim = (uint8_t)ndim, .index = q.slot};
    if (!w->status && rvm__function_add_param(w->p, &w->g, &param, name, strlen(name)) < 0)
        fail(w, w->g.nparams >= RVM_MAX_PARAMS ? RVM_ERR_UNSUPPORTED : RVM_ERR_MEMORY);
    return q;
}

rvm_status rvm__write_end(rvm__writer *w) {
    rvm__write(w, RVM_OP_halt, 0, 0, 0, NULL);
    if (!w->status) rvm__function_finish(&w->g);
    if (w->g.name) w->p->functions[w->fn] = w->g; /* what it holds goes with the program */
    memset(&w->g, 0, sizeof w->g);
    return w->status;
}

/* ---- places ---- */

static rvm_place added(rvm__writer *w, rvm_place_kind kind, int64_t number) {
    if (number < 0) fail(w, RVM_ERR_MEMORY);
    return (rvm_place){.kind = (uint8_t)kind, .slot = (uint16_t)(number < 0 ? 0 : number)};
}

rvm_place rvm__write_register(rvm__writer *w, rvm_type type) {
    return added(w, RVM_PLACE_SLOT, w->status ? -1 : rvm__function_add_register(w->p, &w->g, type));
}

rvm_place rvm__write_array(rvm__writer *w, rvm_type type, int ndim) {
    return added(w, RVM_PLACE_ARRAY, w->status ? -1 : rvm__function_add_array(w->p, &w->g, type, ndim));
}

rvm_place rvm__write_constant(rvm__writer *w, rvm_type type, rvm_value v) {
    rvm_place q = added(w, RVM_PLACE_SLOT, w->status ? -1 : rvm__function_add_const(w->p, &w->g, type, v));
    q.slot = (uint16_t)(q.slot + RVM_BUILD_CONST);
    return q;
}

rvm_place rvm__write_integer(rvm__writer *w, int64_t k) {
    return rvm__write_constant(w, RVM_I64, (rvm_value){.i = k});
}

uint16_t rvm__write_length(rvm__writer *w, const rvm_function *f, uint16_t slot, uint16_t *reg) {
    if (slot >= f->nregs) return rvm__write_integer(w, f->consts[slot - f->nregs].i).slot;
    if (reg[slot] == RVM__NO_LENGTH) reg[slot] = rvm__write_register(w, RVM_I64).slot;
    return reg[slot];
}

rvm_place rvm__write_nothing(rvm__writer *w, rvm_type type) {
    return rvm__write_constant(w, type, rvm__sum_start(type));
}

/* ---- instructions ---- */

uint32_t rvm__write(rvm__writer *w, rvm_op op, rvm_row row, uint8_t flags, uint32_t n, const rvm_place *places) {
    const int64_t at = w->status ? -1 : rvm__function_emit(w->p, &w->g, op, row, flags, 0, places, n, w->at);
    if (at < 0) fail(w, n > UINT8_MAX ? RVM_ERR_UNSUPPORTED : RVM_ERR_MEMORY);
    return at < 0 ? 0 : (uint32_t)at;
}

static void set_target(rvm__writer *w, uint32_t at, uint32_t target) {
    if (!w->status) w->g.code[at].target = target;
}

static void pair(rvm__writer *w, uint32_t a, uint32_t b) {
    set_target(w, a, b);
    set_target(w, b, a);
}

void rvm__write_call(rvm__writer *w, rvm_op op, uint32_t fn, uint32_t n, const rvm_place *places) {
    set_target(w, rvm__write(w, op, 0, 0, n, places), fn);
}

void rvm__write_drop(rvm__writer *w, rvm_place q) {
    const rvm_place zero = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    RVM__WRITE(w, RVM_OP_drop, 0, 0, zero, rvm__write_integer(w, w->site++), one, q);
}

static void toggle(rvm__writer *w, rvm_op op, const rvm__let *x) {
    rvm__write(w, op, x->row, 0, 1u + rvm__row_info[x->row].arity, x->q);
}

rvm_place rvm__write_let(rvm__writer *w, rvm_row row, rvm_place a, rvm_place b) {
    const rvm__let let = {row, {rvm__write_register(w, RVM_I64), a, b}};
    toggle(w, RVM_OP_let, &let);
    if (w->nlets == RVM__MOST_LETS)
        fail(w, RVM_ERR_UNSUPPORTED);
    else
        w->lets[w->nlets++] = let;
    return let.q[0];
}

void rvm__write_unwind(rvm__writer *w, uint32_t mark) {
    while (w->nlets > mark) toggle(w, RVM_OP_unlet, &w->lets[--w->nlets]);
}

/* ---- loops ---- */

uint32_t rvm__write_par(rvm__writer *w, rvm_place i, rvm_place lo, rvm_place hi) {
    return RVM__WRITE(w, RVM_OP_par, 0, 0, i, lo, hi);
}

/* The end of the loop or block at `at`, with its n places. */
static void end(rvm__writer *w, uint32_t at, rvm_op op, uint32_t n) {
    rvm_place q[4] = {{0}};
    if (!w->status) memcpy(q, w->g.places + w->g.code[at].places, n * sizeof *q);
    pair(w, at, rvm__write(w, op, 0, 0, n, q));
}

void rvm__write_endpar(rvm__writer *w, uint32_t at) {
    end(w, at, RVM_OP_endpar, 3);
}

uint32_t rvm__write_for(rvm__writer *w, rvm_place i, rvm_place lo, rvm_place hi, rvm_place by) {
    return RVM__WRITE(w, RVM_OP_for, 0, 0, i, lo, hi, by);
}

void rvm__write_next(rvm__writer *w, uint32_t at) {
    end(w, at, RVM_OP_next, 4);
}

uint32_t rvm__write_if(rvm__writer *w, rvm_place c) {
    return rvm__write_for(w, rvm__write_register(w, RVM_I64), rvm__write_integer(w, 0), c, rvm__write_integer(w, 1));
}

uint32_t rvm__write_compute(rvm__writer *w) {
    rvm__write(w, RVM_OP_compute, 0, 0, 0, NULL);
    return w->nlets;
}

void rvm__write_forget(rvm__writer *w, uint32_t mark) {
    rvm__write(w, RVM_OP_undo, 0, RVM_FLAG_FORGETS, 0, NULL);
    w->nlets = mark;
}

void rvm__write_from(rvm__writer *w, rvm__written_loop *loop) {
    const rvm_place c = rvm__write_register(w, RVM_I64);
    loop->first.q[0] = loop->goes.q[0] = c;
    toggle(w, RVM_OP_let, &loop->first);
    loop->head = RVM__WRITE(w, RVM_OP_cff, 0, 0, c);
    toggle(w, RVM_OP_unlet, &loop->first);
    toggle(w, RVM_OP_let, &loop->goes);
    loop->test = RVM__WRITE(w, RVM_OP_jf, 0, 0, c);
    toggle(w, RVM_OP_unlet, &loop->goes);
}

void rvm__write_again(rvm__writer *w, const rvm__written_loop *loop) {
    toggle(w, RVM_OP_let, &loop->first);
    pair(w, loop->head, RVM__WRITE(w, RVM_OP_jf, 0, 0, loop->first.q[0]));
    rvm__write(w, RVM_OP_trap, 0, 0, 0, NULL);
    pair(w, loop->test, RVM__WRITE(w, RVM_OP_cff, 0, 0, loop->goes.q[0]));
    toggle(w, RVM_OP_unlet, &loop->goes);
}

void rvm__write_each(rvm__writer *w, rvm_op op, rvm_place y, rvm_place x, const uint16_t *dims) {
    const rvm_place zero = rvm__write_integer(w, 0), one = rvm__write_integer(w, 1);
    uint32_t at[RVM_MAX_DIMS] = {0};
    const int ndim = y.kind == RVM_PLACE_ARRAY && !w->status ? w->g.arrays[y.slot].ndim : 0;
    for (int d = 0; d < ndim; d++) {
        const rvm_place i = rvm__write_register(w, RVM_I64);
        at[d] = rvm__write_for(w, i, zero, (rvm_place){.kind = RVM_PLACE_SLOT, .slot = dims[d]}, one);
        y.kind = x.kind = RVM_PLACE_ELEM;
        y.nidx = x.nidx = (uint8_t)ndim;
        y.idx[d] = x.idx[d] = i.slot;
    }
    RVM__WRITE(w, op, 0, 0, y, x); /* the first row is the identity */
    for (int d = ndim; d-- > 0;) rvm__write_next(w, at[d]);
}
_Static_assert(RVM_ROW_id == 0, "an update by what is there");
