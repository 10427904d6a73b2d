/* step.h: how the interpreter goes from one instruction to the next.
 *
 * A handler is a function that runs one instruction and ends by calling the handler of the next one, which the compiler
 * makes a jump: so the state of a run stays in the registers of arguments, and nothing grows on the C stack. Where it would
 * not (without optimisation, under sanitizers), a handler returns instead, and rvm__interpret calls the next.
 *
 *   m       the machine; m->run has what of the frame is seldom needed
 *   x       the instruction
 *   r       slots of the frame
 *   step    bytes to the next instruction: negative going down
 *   table   the handlers by number, chosen by direction, by whether a sweep is on, and by what is asked of each step
 *   credit  the address in code up to which the budget lasts: x may go on while it is not past that
 *
 * Straight code charges nothing: x comes nearer to `credit`, which moves along with x where control jumps. Going down it is
 * the complement of the budget that is left, seen from x, that tells: so one sign says for both directions whether it is
 * spent (is_spent). */
#ifndef RVM_STEP_H
#define RVM_STEP_H

#include "handlers.h"
#include "machine.h"
#include "out_of_line.h"

#define unlikely(c) __builtin_expect(!!(c), 0)
/* Inlined, so that each handler has what its form and its row leave of a rule; under sanitizers, where that takes minutes of
 * compiling, rules are called. */
#ifdef RVM_SANITIZED
#define FORCE_INLINE static inline __attribute__((unused))
#else
#define FORCE_INLINE static inline __attribute__((always_inline, unused))
#endif

/* A handler (step.h), at a level: 0 plain, 1 in a sweep, 2 with tangents, 3 forward again after a sweep. */
typedef struct rvm__table rvm__table;
#define RVM__STATE rvm_machine *m, const rvm__xinsn *x, rvm_value *r, ptrdiff_t step, const rvm__table *table, int64_t credit
typedef rvm_status rvm__handler(RVM__STATE);
struct rvm__table {
    rvm__handler *at[RVM__HANDLERS];
};
#define HANDLER_AT(level, name) rvm__##name##_at##level
#define HANDLER(level, name)    rvm_status HANDLER_AT(level, name)(RVM__STATE)
/* Under another name, too: of another pair. */
#define SAME_HANDLER(level, name, as)                                                                                       \
    rvm_status HANDLER_AT(level, name)(RVM__STATE) __attribute__((alias(NAME_OF(HANDLER_AT(level, as)))));
/* By two handlers: for instructions with nothing but slots, which are frequent and leave little to be kept across calls. */
#define BY_SLOTS(level, name)                                                                                               \
    HANDLER(level, name) {                                                                                                  \
        if (all_slots(x)) TAIL(HANDLER_AT(level, name##_of_slots));                                                         \
        TAIL(HANDLER_AT(level, name##_of_any));                                                                             \
    }
#define NAME_OF(handler)  NAME_OF_(handler)
#define NAME_OF_(handler) #handler

#define HP(a, b)                                                                                                            \
    rvm__handler HANDLER_AT(0, a), HANDLER_AT(0, b), HANDLER_AT(1, a), HANDLER_AT(1, b), HANDLER_AT(2, a),                  \
        HANDLER_AT(2, b), HANDLER_AT(3, a), HANDLER_AT(3, b);
#define HS(a) rvm__handler HANDLER_AT(0, a), HANDLER_AT(1, a), HANDLER_AT(2, a), HANDLER_AT(3, a);
SHADOW_HANDLERS
#undef HP
#undef HS
#define HP(a, b) rvm__handler HANDLER_AT(0, a), HANDLER_AT(0, b);
#define HS(a)    rvm__handler HANDLER_AT(0, a);
PLAIN_HANDLERS
#undef HP
#undef HS
#define ALONE(a, A, ia)          rvm__handler HANDLER_AT(0, alone_##a);
#define PAIR(a, A, ia, b, B, ib) rvm__handler HANDLER_AT(0, fused_##a##b);
FUSIBLE(ALONE)
FUSED(PAIR)
#undef ALONE
#undef PAIR

#define STATE m, x, r, step, table, credit

/* RVM_SIBLING_CALLS: the build says that gcc makes jumps of calls at the end; clang has an attribute that demands it. */
#if defined(__has_attribute)
#if __has_attribute(musttail) && defined(__OPTIMIZE__) && !defined(RVM_SANITIZED)
#define MUSTTAIL __attribute__((musttail))
#endif
#endif
#if !defined(MUSTTAIL) && defined(RVM_SIBLING_CALLS) && defined(__OPTIMIZE__)
#define MUSTTAIL
#endif
/* TAIL: end by another handler for the same instruction; RUN_X: by that of the instruction that x is now. */
#ifdef MUSTTAIL
#define TAIL(handler) MUSTTAIL return (handler)(STATE)
#define RUN_X         TAIL(table->at[x->handler])
#else
#define TAIL(handler) return (handler)(STATE)
#define RUN_X         TAIL(rvm__suspend)
#endif
#define NEXT                                                                                                                \
    do {                                                                                                                    \
        x = beside(x, step);                                                                                                \
        RUN_X;                                                                                                              \
    } while (0)
/* The instruction has failed, and has changed nothing. */
#define FAIL(code) return (void)r, (void)table, rvm__stop(m, x, step, credit, code)
/* What the machine has need not be kept in registers: where they are few, or across a call. */
#define RELOAD_WAY (step = m->run.frame.step, table = m->run.frame.table)
#define RELOAD     (r = m->run.frame.slots, RELOAD_WAY)
#define AFTER_CALL(status)                                                                                                  \
    do {                                                                                                                    \
        RELOAD;                                                                                                             \
        if (unlikely(status)) FAIL(status);                                                                                 \
        NEXT;                                                                                                               \
    } while (0)
/* A handler that has a frame on the C stack, for one that has none and tails into it. */
#define OUTLINED static __attribute__((noinline))

enum { SIZE = (int)sizeof(rvm__xinsn) };

FORCE_INLINE const rvm__xinsn *beside(const rvm__xinsn *x, ptrdiff_t bytes) {
    return (const rvm__xinsn *)((const char *)x + bytes);
}
/* Credit wraps: a budget without limit ends beyond the last address. */
FORCE_INLINE int64_t moved(int64_t credit, ptrdiff_t bytes) {
    return (int64_t)((uint64_t)credit + (uint64_t)bytes);
}
/* Bytes of code that may still run, that at x the first; and the other way round. */
FORCE_INLINE int64_t left_at(const rvm__xinsn *x, ptrdiff_t step, int64_t credit) {
    return moved(credit, -(ptrdiff_t)(uintptr_t)x) ^ (step >> 63);
}
FORCE_INLINE int64_t credit_of(const rvm__xinsn *x, ptrdiff_t step, int64_t left) {
    return moved(left ^ (step >> 63), (ptrdiff_t)(uintptr_t)x);
}
FORCE_INLINE bool is_spent(const rvm__xinsn *x, ptrdiff_t step, int64_t credit) {
    return unlikely((moved(credit, -(ptrdiff_t)(uintptr_t)x) ^ step) < 0);
}

/* steps.c. stop: the run ends before x, with that status. interpret: from `first` on, which runs x, until it ends. */
rvm_status rvm__stop(rvm_machine *m, const rvm__xinsn *x, ptrdiff_t step, int64_t credit, rvm_status status);
rvm_status rvm__suspend(RVM__STATE);
rvm_status rvm__interpret(rvm__handler *first, RVM__STATE);
/* The target of x was given a value: keeps its largest magnitude, and goes on. */
rvm_status rvm__tracked(RVM__STATE);

/* Leaves where x stands for what is out of line. */
FORCE_INLINE void save(rvm_machine *m, const rvm__xinsn *x, ptrdiff_t step, int64_t left) {
    m->run.pc = (rvm__xinsn *)(uintptr_t)x;
    m->run.dir = step > 0 ? 1 : -1;
    m->run.budget = left;
}

#endif
