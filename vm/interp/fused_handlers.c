/* fused_handlers.c: the handlers of register instructions that cannot fail, alone and two at a time (FUSIBLE in handlers.h).
 */
#include "rules.h"

FORCE_INLINE void apply(const rvm__xinsn *x, rvm_value *r, const rule *by) {
    int overflow = 0;
    rvm_value *y = r + x->p[0].slot;
    *y = by->value(*y, r[x->p[1].slot], (rvm_value){0}, (rvm_value){0}, &overflow);
}
FORCE_INLINE void run_i64_add(const rvm__xinsn *x, rvm_value *r) {
    apply(x, r, &rule_i64_add);
}
FORCE_INLINE void run_i64_sub(const rvm__xinsn *x, rvm_value *r) {
    apply(x, r, &rule_i64_sub);
}
FORCE_INLINE void run_xor(const rvm__xinsn *x, rvm_value *r) {
    apply(x, r, &rule_i64_xor);
}
FORCE_INLINE void run_swap(const rvm__xinsn *x, rvm_value *r) {
    const int64_t y = r[x->p[0].slot].i;
    r[x->p[0].slot].i = r[x->p[1].slot].i;
    r[x->p[1].slot].i = y;
}

#define ALONE(a, first, ia)                                                                                                 \
    HANDLER(0, alone_##a) {                                                                                                 \
        run_##first(x, r);                                                                                                  \
        NEXT;                                                                                                               \
    }
#define PAIR(a, first, ia, b, second, ib)                                                                                   \
    HANDLER(0, fused_##a##b) {                                                                                              \
        run_##first(x, r);                                                                                                  \
        x = beside(x, step);                                                                                                \
        run_##second(x, r);                                                                                                 \
        NEXT;                                                                                                               \
    }
FUSIBLE(ALONE)
FUSED(PAIR)
SAME_HANDLER(0, r_xor, alone_3)
SAME_HANDLER(0, r_swap, alone_4)
