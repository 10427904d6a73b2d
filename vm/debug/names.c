/* names.c: see names.h. */
#include "names.h"
#include "accesses.h"

/* Whether the instruction makes the register, or the array, appear or disappear. */
static bool toggles(const rvm_program *p, const rvm_function *f, uint32_t pc, const rvm_symbol *s) {
    bool any = false;
    RVM__EACH_ACCESS(a, p, f, &f->code[pc]) any |= (s->is_array ? a.array : a.reg) && a.toggles && a.q->slot == s->index;
    return any;
}

/* Whether it has appeared where its range begins: names of a derived function may range over where it has not. */
static bool is_there_before(const rvm_program *p, const rvm_function *f, const rvm_symbol *s) {
    for (uint32_t pc = s->from; pc-- > 0;)
        if (toggles(p, f, pc, s)) return !rvm__is_inverse(f->code[pc].op);
    return false;
}

rvm__reach_of_name rvm__named(const rvm_program *p, const rvm_function *f, const rvm_symbol *s) {
    rvm__reach_of_name r = {s->from ? s->from + 1 : 0, s->to ? s->to - 1 : 0};
    uint32_t first = s->from, last = s->to;
    if (!s->from) return r;
    while (first < s->to && !toggles(p, f, first, s)) first++;
    while (last > first && !toggles(p, f, last - 1, s)) last--;
    if (first >= last) return is_there_before(p, f, s) ? r : (rvm__reach_of_name){1, 0};
    if (first >= r.first) r.first = first + 1;
    if (last - 1 > first && rvm__is_inverse(f->code[last - 1].op)) r.last = last - 1;
    return r;
}
