/* other_handlers.c: handlers of local arrays and views, which are out of line (arrays.c), of checks, and of stops. */
#include "patched.h"
#include "profile.h"
#include "step.h"

#define OUT_OF_LINE(name, function)                                                                                         \
    HANDLER(0, name) {                                                                                                      \
        save(m, x, step, left_at(x, step, credit));                                                                         \
        const rvm_status status = function(m, x);                                                                           \
        AFTER_CALL(status);                                                                                                 \
    }
OUT_OF_LINE(new, rvm__new)
OUT_OF_LINE(del, rvm__del)
OUT_OF_LINE(view, rvm__view)
OUT_OF_LINE(unview, rvm__unview)

HANDLER(0, addr) {
    r[x->to.i].i = x->to.jump;
    NEXT;
}
HANDLER(0, unaddr) {
    if (unlikely(r[x->to.i].i != x->to.jump) && !(x->flags & X_UNCHECKED)) FAIL(RVM_ERR_RELEASE);
    NEXT;
}

HANDLER(0, assert) {
    if (unlikely(r[x->to.c].i == 0)) FAIL(RVM_ERR_ASSERT);
    NEXT;
}
HANDLER(0, nop) {
    NEXT;
}
HANDLER(0, trap) {
    FAIL(RVM_ERR_TRAP);
}

/* A stop may be next to x, whose own handler stands elsewhere (debug/stops.h). */
HANDLER(0, patched) {
    save(m, x, step, left_at(x, step, credit));
    if (m->profile) {
        rvm__profile_count(m, m->run.frame.base, x, 1);
        m->run.frame.base = x;
    }
    if (rvm__stops_at(m, x)) return RVM_OK;
    RELOAD;
    const uint16_t own = rvm__own_handler(m, x);
    TAIL(table->at[m->profile && rvm__is_control(own) ? H_patched_again : own]);
}
