/* change_handlers.c: handlers of changes in place (isa/table/inplace.def). Of values alone, hot rows and few shapes are
 * inlined where that calls nothing, and run by another handler where it does; all else is out of line (changes.c). */
#include "change_functions.h"
#include "places.h"

/* ---- swap is frequent ---- */

FORCE_INLINE void exchange(rvm_value *p, rvm_value *q) {
    const rvm_value both = *p;
    *p = *q;
    *q = both;
}

/* Of place k: of an element only where the handler may call. */
FORCE_INLINE void keep_magnitude(rvm_machine *m, const rvm__xinsn *x, int k, double y, bool calls) {
    if (calls || x->p[k].kind == XSLOT) track(m, x, &x->p[k], y);
}

/* calls: it may. Otherwise INTERNAL, and nothing has changed. */
FORCE_INLINE rvm_status swap(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, bool calls, bool shadows) {
    const rvm__at_frame *f = &m->run.frame;
    const enum form form = calls ? PLACES : LEAF;
    rvm_value *y = any_place(&x->p[0], form, r, f), *z = any_place(&x->p[1], form, r, f);
    if (unlikely(!y || !z)) return RVM_ERR_INDEX;
    if (unlikely(x->flags & X_ALIAS) && y == z) return RVM_ERR_ALIAS;
    if (!calls && unlikely(x->flags & X_TRACK) && x->p[0].kind + x->p[1].kind != 2 * XSLOT) return RVM_ERR_INTERNAL;
    if (shadows) exchange(any_shadow(&x->p[0], form, r, f), any_shadow(&x->p[1], form, r, f));
    exchange(y, z);
    if (x->flags & X_TRACK) keep_magnitude(m, x, 0, y->f, calls), keep_magnitude(m, x, 1, z->f, calls);
    return RVM_OK;
}

#define SWAP(level)                                                                                                         \
    OUTLINED HANDLER(level, any_swap) {                                                                                     \
        const rvm_status status = swap(m, x, r, true, level > 0);                                                           \
        AFTER_CALL(status);                                                                                                 \
    }                                                                                                                       \
    HANDLER(level, g_swap) {                                                                                                \
        if (unlikely(swap(m, x, r, false, level > 0))) TAIL(HANDLER_AT(level, any_swap));                                   \
        NEXT;                                                                                                               \
    }
#define SWAP_SHADOWED(level)                                                                                                \
    SWAP(level)                                                                                                             \
    HANDLER(level, r_swap) {                                                                                                \
        rvm_value *sh = m->run.frame.shadows;                                                                               \
        exchange(r + x->p[0].slot, r + x->p[1].slot);                                                                       \
        exchange(sh + x->p[0].slot, sh + x->p[1].slot);                                                                     \
        NEXT;                                                                                                               \
    }
SWAP(0)
SWAP_SHADOWED(1)
SWAP_SHADOWED(2)
SWAP_SHADOWED(3)

/* ---- any other, by its row's function ---- */

/* Values alone, without a condition. With constant numbers of places and operands, nothing is counted. calls: as for swap.
 */
FORCE_INLINE rvm_status change(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, bool calls, int places, int operands,
                               rvm__change function) {
    rvm_value v[RVM_MAX_CHANGED] = {{0}}, a[RVM_MAX_CHANGE_OPERANDS] = {{0}}, *at[RVM_MAX_CHANGED + RVM_MAX_CHANGE_OPERANDS];
    int overflow = 0;
    for (int k = 0; k < places + operands; k++)
        if (unlikely(!(at[k] = any_place(&x->p[k], calls ? PLACES : LEAF, r, &m->run.frame)))) return RVM_ERR_INDEX;
    if (unlikely(x->flags & X_ALIAS) && coincide(at, places, places + operands)) return RVM_ERR_ALIAS;
    for (int k = 0; k < places && !calls; k++)
        if (unlikely(x->flags & X_TRACK) && x->p[k].kind != XSLOT) return RVM_ERR_INTERNAL;
    for (int k = 0; k < places; k++) v[k] = *at[k];
    for (int k = 0; k < operands; k++) a[k] = *at[places + k];
    if (unlikely(!function(v, a, &overflow))) return RVM_ERR_DOMAIN;
    if (unlikely(overflow) && !(x->flags & X_UNCHECKED)) return RVM_ERR_OVERFLOW;
    for (int k = 0; k < places; k++) {
        *at[k] = v[k];
        if (unlikely(x->flags & X_TRACK)) keep_magnitude(m, x, k, v[k].f, calls);
    }
    return RVM_OK;
}

#define BY_CALL(level, name, ...)                                                                                           \
    HANDLER(level, name) {                                                                                                  \
        const rvm_status status = __VA_ARGS__;                                                                              \
        AFTER_CALL(status);                                                                                                 \
    }
#define OUT_OF_LINE(level, back) rvm__change_in_place(m, x, r, level, back)
#define TO_AND_BACK(level, name)                                                                                            \
    BY_CALL(level, name, OUT_OF_LINE(level, false)) BY_CALL(level, name##_back, OUT_OF_LINE(level, true))
#define SHAPED_TO(name, places, n, back)                                                                                    \
    BY_CALL(0, name,                                                                                                        \
            unlikely(m->o.exact) ? OUT_OF_LINE(0, back)                                                                     \
                                 : change(m, x, r, true, places, n, m->math->changes[x->kernel][back][x->type]))
#define SHAPED(name, places, n) SHAPED_TO(name, places, n, false) SHAPED_TO(name##_back, places, n, true)
TO_AND_BACK(0, change)
SHAPED(change_1, 1, 0)
SHAPED(change_2, 2, 0)
SHAPED(change_21, 2, 1)

#define HOT_TO(function, places, n)                                                                                         \
    OUTLINED BY_CALL(0, any_##function, change(m, x, r, true, places, n, function)) HANDLER(0, function) {                  \
        const rvm_status status = change(m, x, r, false, places, n, function);                                              \
        if (unlikely(status)) TAIL(HANDLER_AT(0, any_##function));                                                          \
        NEXT;                                                                                                               \
    }
#define HOT_CHANGE(T, row, places, n) HOT_TO(T##_##row##_forward, places, n) HOT_TO(T##_##row##_back, places, n)
HOT_CHANGES(HOT_CHANGE)

#define HOT_SHADOWED_1(T, row, places, n)                                                                                   \
    BY_CALL(1, T##_##row##_forward, OUT_OF_LINE(1, false)) BY_CALL(1, T##_##row##_back, OUT_OF_LINE(1, true))
#define HOT_SHADOWED_2(T, row, places, n)                                                                                   \
    BY_CALL(2, T##_##row##_forward, OUT_OF_LINE(2, false)) BY_CALL(2, T##_##row##_back, OUT_OF_LINE(2, true))
#define HOT_SHADOWED_3(T, row, places, n)                                                                                   \
    BY_CALL(3, T##_##row##_forward, OUT_OF_LINE(3, false)) BY_CALL(3, T##_##row##_back, OUT_OF_LINE(3, true))
#define SHADOWED(level)                                                                                                     \
    TO_AND_BACK(level, change)                                                                                              \
    TO_AND_BACK(level, change_1)                                                                                            \
    TO_AND_BACK(level, change_2)                                                                                            \
    TO_AND_BACK(level, change_21)                                                                                           \
    HOT_CHANGES(HOT_SHADOWED_##level)
SHADOWED(1)
SHADOWED(2)
SHADOWED(3)
