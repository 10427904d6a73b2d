/* redo.c: the redo log, shadows that a sweep discards, in cells: one that is not 0 stands as it is, of zeros
 *
 *     | how many | 0 |
 *
 * but for those on top, which are counted apart. */
#include "chunks.h"

#include "memory.h"

/* Zeros on top go into cells. */
static rvm_status put_zeros(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    if (!tr->redo_zeros) return RVM_OK;
    rvm_status status = rvm__cells_put(m, &tr->redo, (rvm_value){.u = tr->redo_zeros});
    if (status) return status;
    if ((status = rvm__cells_put(m, &tr->redo, (rvm_value){0})))
        rvm__cells_drop(m, &tr->redo, 1);
    else
        tr->redo_zeros = 0;
    return status;
}

static rvm_value take_cell(rvm_machine *m) {
    rvm__trail_stack *t = &m->trail.redo;
    const rvm_value top = t->cells[t->n - 1];
    rvm__cells_drop(m, t, 1);
    return top;
}

/* Zeros in cells on top come out of them. */
static void take_zeros(rvm_machine *m) {
    rvm__trail_stack *t = &m->trail.redo;
    if (!t->n || t->cells[t->n - 1].u) return;
    take_cell(m);
    m->trail.redo_zeros = take_cell(m).u;
}

rvm_status rvm__redo_push(rvm_machine *m, rvm_value shadow) {
    rvm__trail *tr = &m->trail;
    if (!m->o.keep_shadows) return RVM_OK;
    if (!shadow.u) {
        tr->redo_zeros++;
        return RVM_OK;
    }
    rvm_status status = put_zeros(m);
    if (!status && (status = rvm__cells_put(m, &tr->redo, shadow))) take_zeros(m);
    return status;
}

rvm_value rvm__redo_pop(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    if (tr->redo_zeros) {
        tr->redo_zeros--;
        return (rvm_value){0};
    }
    if (!tr->redo.n) return (rvm_value){0};
    rvm__trail_note_peak(m);
    const rvm_value shadow = take_cell(m);
    take_zeros(m);
    return shadow;
}
