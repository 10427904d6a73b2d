/* checkpoint_count.c: how many trips a counted loop has, how many states may be kept, and whether these take less than the
 * trail. See outline.h. */
#include "outline.h"

/* ---- how many trips, and whether snapshots take less than the trail ---- */

static rvm_place trips(rvm__outline *o) {
    rvm__writer *w = &o->w;
    const rvm_place by = rvm__outline_bound(o, RVM__BY), zero = rvm__write_integer(w, 0);
    const rvm_place up = rvm__write_let(w, RVM_ROW_gt, by, zero), down = rvm__write_let(w, RVM_ROW_lt, by, zero);
    const rvm_place sign = rvm__write_let(w, RVM_ROW_sub, up, down);
    const rvm_place way = rvm__write_let(w, RVM_ROW_sub, rvm__outline_bound(o, RVM__HI), rvm__outline_bound(o, RVM__LO));
    const rvm_place more = rvm__write_let(w, RVM_ROW_add, way, by);
    const rvm_place whole = rvm__write_let(w, RVM_ROW_sub, more, sign);
    return rvm__write_let(w, RVM_ROW_max, rvm__write_let(w, RVM_ROW_idiv, whole, by), zero);
}

void rvm__outline_cells(rvm__outline *o, rvm_op op, rvm_place to) {
    rvm__writer *w = &o->w;
    const uint32_t mark = w->nlets;
    for (uint32_t k = 0; k < o->loop->nplaces; k++) {
        if (!rvm__outline_is_state(o, k)) continue;
        rvm_place cells = rvm__write_integer(w, 1);
        const int ndim = rvm__outline_ndim(o, k);
        for (int d = 0; d < ndim; d++) cells = rvm__write_let(w, RVM_ROW_mul, cells, rvm__place_at(false, o->dims[k][d]));
        RVM__WRITE(w, op, RVM_ROW_id, 0, to, cells);
        rvm__write_unwind(w, mark);
    }
}

rvm_place rvm__outline_states(rvm__outline *o, rvm_place cells) {
    rvm__writer *w = &o->w;
    const rvm_place one = rvm__write_integer(w, 1);
    if (o->snapshots->states) return rvm__write_let(w, RVM_ROW_id, rvm__write_integer(w, o->snapshots->states), one);
    const rvm_place some = rvm__write_let(w, RVM_ROW_max, cells, one);
    const rvm_place fit = rvm__write_let(w, RVM_ROW_idiv, rvm__write_integer(w, o->snapshots->cells), some);
    return rvm__write_let(w, RVM_ROW_max, fit, one);
}

/* w += 1 where it is worth it: the trips leave more than so many states, as far as is known. */
static void write_worth(rvm__outline *o, rvm_place n, rvm_place all, rvm_place to) {
    rvm__writer *w = &o->w;
    if (!o->loop->cells) {
        RVM__WRITE(w, RVM_OP_add, RVM_ROW_gt, 0, to, n, rvm__write_integer(w, 1));
        return;
    }
    const rvm_place trail = rvm__write_let(w, RVM_ROW_mul, n, rvm__write_integer(w, o->loop->cells));
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_lt, 0, to, all, trail);
}

void rvm__outline_count(rvm__outline *o) {
    static const char *const names[] = {"n'", "w'", "s'"};
    rvm_place more[3];
    rvm__writer *w = &o->w;
    rvm__outline_begin(o, "'count", names, 3, more);
    const rvm_place n = trips(o), zero = rvm__write_integer(w, 0), cells = rvm__write_register(w, RVM_I64);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, cells, zero);
    rvm__outline_cells(o, RVM_OP_add, cells);
    const uint32_t mark = w->nlets;
    const rvm_place states = rvm__outline_states(o, cells);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, more[0], n);
    RVM__WRITE(w, RVM_OP_add, RVM_ROW_id, 0, more[2], states);
    write_worth(o, n, rvm__write_let(w, RVM_ROW_mul, cells, states), more[1]);
    rvm__write_unwind(w, mark);
    rvm__outline_cells(o, RVM_OP_sub, cells);
    RVM__WRITE(w, RVM_OP_unlet, RVM_ROW_id, 0, cells, zero);
    rvm__write_unwind(w, 0);
    rvm__outline_end(o, &o->made.count);
}
