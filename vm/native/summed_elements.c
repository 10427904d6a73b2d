/* summed_elements.c: what native code has the machine do with elements that instances of a block add into (aside.h). */
#include "native.h"

/* Elements that a block adds into, as the interpreter has it (vm/interp/blocks.c): all of the arrays that stand there, cut
 * to what lies between their bounds; how many. False: too many. */
static bool cut_asides(rvm__native_aside *list, uint64_t n, size_t *all) {
    *all = 0;
    for (uint64_t k = 0; k < n; k++) {
        rvm__aside_within(&list[k].of, list[k].lo, list[k].hi);
        if (__builtin_add_overflow(*all, (size_t)list[k].of.n, all)) return false;
    }
    return true;
}

bool rvm__native_aside_room(rvm_machine *m, rvm__native_aside *list, uint64_t n) {
    size_t all;
    return cut_asides(list, n, &all) && rvm__aside_reserve(m, all);
}

static size_t all_of(const rvm__native_aside *list, uint64_t n) {
    size_t all = 0;
    for (uint64_t k = 0; k < n; k++) all += (size_t)list[k].of.n;
    return all;
}

static void pass_asides(rvm_machine *m, const rvm__native_aside *list, uint64_t n, enum rvm__aside_step step,
                        uint64_t next) {
    rvm__aside_pass_all(m, &list->of, sizeof *list, n, step, next);
}

/* whole: the arrays are to be cut first. next: the instance that is to run, by number. */
void rvm__native_aside_step(rvm_machine *m, rvm__native_aside *list, uint64_t n, int64_t step, int32_t whole,
                            uint64_t next) {
    size_t all;
    if (whole) cut_asides(list, n, &all);
    if (step == RVM__ASIDE_BEGIN) rvm__aside_enter(m, SHARED_VALUE, all_of(list, n));
    pass_asides(m, list, n, (enum rvm__aside_step)step, next);
    if (step == RVM__ASIDE_END) rvm__aside_leave(m);
}

/* From instance k to the next one. */
void rvm__native_aside_turn(rvm_machine *m, rvm__native_aside *list, uint64_t n, uint64_t k, int32_t whole, uint64_t next) {
    rvm__native_aside_step(m, list, n, rvm__aside_turn(k, next), whole, next);
}

/* Of a chunk, whose first instance that runs by itself comes next, or another one. False: out of memory. */
bool rvm__native_aside_open(rvm_machine *w, rvm__native_aside *list, uint64_t n, uint64_t next) {
    if (!rvm__aside_any(w)) {
        if (!rvm__native_aside_room(w, list, n)) return false;
        rvm__aside_enter(w, SHARED_VALUE, all_of(list, n));
    }
    pass_asides(w, list, n, RVM__ASIDE_OPEN, next);
    return true;
}

/* A chunk of which instances may have run by themselves is done. */
void rvm__native_aside_hand(rvm_machine *w, rvm__native_aside *list, uint64_t n) {
    if (!rvm__aside_any(w)) return;
    pass_asides(w, list, n, RVM__ASIDE_CLOSE, 0);
    rvm__aside_leave(w);
}
