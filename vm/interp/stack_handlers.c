/* stack_handlers.c: handlers of the stack, at each level of updates.h. */
#include "places.h"

static rvm_status onto_stack(rvm_machine *m, const rvm__xinsn *x, rvm_value value, rvm_value shadow, int level) {
    return level == 3 ? rvm__push_again(m, x, value, shadow) : rvm__push(m, (rvm_type)x->type, value, shadow);
}

/* copies: the place keeps what it has, and in a sweep nothing goes along. */
FORCE_INLINE rvm_status push(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, int level, bool copies) {
    rvm_value *y = value_place(&x->p[0], r, &m->run.frame);
    if (unlikely(!y)) return RVM_ERR_INDEX;
    rvm_value *y_ = level ? shadow_place(&x->p[0], r, &m->run.frame) : NULL;
    const rvm_value kept = level == 3 ? rvm__redo_pop(m) : (rvm_value){0};
    const bool along = copies ? level == 2 : level > 0;
    const rvm_status status = onto_stack(m, x, *y, along ? *y_ : kept, level);
    if (level == 3 && status) rvm__redo_push(m, kept);
    if (unlikely(status)) return status;
    if (copies) {
        if (level == 3) rvm__popc_gain(x, y_, &m->store.stack[m->store.nstack - 1], true);
        return RVM_OK;
    }
    y->i = 0;
    if (level) *y_ = kept;
    return RVM_OK;
}

/* The cell on top, whose rest may be lost; NULL: there is none such. */
FORCE_INLINE const rvm__cell *top_of(rvm_machine *m, const rvm__xinsn *x, int level) {
    const rvm__cell *top = rvm__top(m, (rvm_type)x->type);
    return top && unlikely(top->extra) && !rvm__pop_fits(m, x, level) ? NULL : top;
}

/* What a sweep discards. */
FORCE_INLINE rvm_status discard(rvm_machine *m, const rvm__xinsn *x, rvm_value shadow) {
    rvm_status status;
    if (unlikely(m->o.keep_shadows) && (status = rvm__pop_keep(m, x, shadow))) return status;
    m->stats.shadows_dropped += x->active & 1;
    return RVM_OK;
}

FORCE_INLINE bool tangent_agrees(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected) {
    return x->flags & X_UNCHECKED || rvm__tangent_agrees(m, x, shadow, expected);
}

FORCE_INLINE rvm_status pop(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, int level) {
    rvm_status status;
    rvm_value *y = value_place(&x->p[0], r, &m->run.frame);
    if (unlikely(!y)) return RVM_ERR_INDEX;
    rvm_value *y_ = level ? shadow_place(&x->p[0], r, &m->run.frame) : NULL;
    const rvm__cell *top = top_of(m, x, level);
    if (unlikely(!top) || (unlikely(y->i != 0) && !rvm__pop_empty(m, x, y))) return RVM_ERR_STACK;
    if (level == 2 && !tangent_agrees(m, x, y_, (rvm_value){0})) return RVM_ERR_TANGENT;
    if (level == 1 && (status = discard(m, x, *y_))) return status;
    *y = top->value;
    if (level) *y_ = top->shadow;
    if (unlikely(x->flags & X_TRACK)) track(m, x, &x->p[0], y->f);
    m->store.nstack -= 1u + top->extra;
    return RVM_OK;
}

/* The place agrees with what is popped; in a sweep it gains that shadow. */
FORCE_INLINE rvm_status popc(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, int level) {
    rvm_status status;
    rvm_value *y = value_place(&x->p[0], r, &m->run.frame);
    if (unlikely(!y)) return RVM_ERR_INDEX;
    rvm_value *y_ = level ? shadow_place(&x->p[0], r, &m->run.frame) : NULL;
    const rvm__cell *top = top_of(m, x, level);
    if (unlikely(!top) || !rvm__popc_agrees(m, x, y, top)) return RVM_ERR_STACK;
    if (level == 1 && (status = discard(m, x, top->shadow))) return status;
    if (level == 1) rvm__popc_gain(x, y_, top, false);
    if (level == 2 && !tangent_agrees(m, x, y_, top->shadow)) return RVM_ERR_TANGENT;
    m->store.nstack -= 1u + top->extra;
    return RVM_OK;
}

#define STACK_HANDLER(level, name, ...)                                                                                     \
    HANDLER(level, name) {                                                                                                  \
        const rvm_status status = __VA_ARGS__;                                                                              \
        AFTER_CALL(status);                                                                                                 \
    }
#define AT(level)                                                                                                           \
    STACK_HANDLER(level, push, push(m, x, r, level, false))                                                                 \
    STACK_HANDLER(level, pushc, push(m, x, r, level, true))                                                                 \
    STACK_HANDLER(level, pop, pop(m, x, r, level))                                                                          \
    STACK_HANDLER(level, popc, popc(m, x, r, level))
AT(0)
AT(1)
AT(2)
AT(3)
