/* steps.c: how runs of the interpreter begin, end and go on (step.h). */
#include "places.h"

#include "profile.h"

#define SUSPENDED ((rvm_status)(RVM_ERR_INTERNAL + 1)) /* no status: the next handler is to be called */

rvm_status rvm__suspend(RVM__STATE) {
    rvm__at_frame *f = &m->run.frame;
    m->run.pc = (rvm__xinsn *)(uintptr_t)x;
    f->slots = r;
    f->step = step;
    f->table = table;
    f->credit = credit;
    return SUSPENDED;
}

rvm_status rvm__interpret(rvm__handler *first, RVM__STATE) {
    rvm_status status = first(STATE);
    while (status == SUSPENDED) {
        const rvm__at_frame *f = &m->run.frame;
        x = m->run.pc;
        status = f->table->at[x->handler](m, x, f->slots, f->step, f->table, f->credit);
    }
    return status;
}

rvm_status rvm__stop(rvm_machine *m, const rvm__xinsn *x, ptrdiff_t step, int64_t credit, rvm_status status) {
    if (m->profile) rvm__profile_count(m, m->run.frame.base, x, 1);
    save(m, x, step, left_at(x, step, credit));
    return status;
}

static rvm_status tracked_element(RVM__STATE) {
    rvm__track_at(m, x, &x->p[0], value_place(&x->p[0], r, &m->run.frame)->f);
    AFTER_CALL(RVM_OK);
}

rvm_status rvm__tracked(RVM__STATE) {
    const rvm__xplace *q = &x->p[0];
    if (unlikely(q->kind != XSLOT)) TAIL(tracked_element);
    track(m, x, q, r[q->slot].f);
    NEXT;
}
