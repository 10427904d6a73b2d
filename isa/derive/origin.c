/* origin.c: lists of what derived code comes from, in the order of the code. */
#include "origin.h"
#include "support.h"

#include <string.h>

void rvm__origins_free(rvm__origins *o) {
    for (uint32_t k = 0; k < o->n; k++) rvm__realloc(&o->al, o->list[k].of, o->list[k].cap * sizeof(rvm__origin), 0);
    rvm__realloc(&o->al, o->list, o->cap * sizeof *o->list, 0);
    o->list = NULL;
    o->n = o->cap = 0;
}

bool rvm__origin_note(rvm__origins *o, uint32_t fn, rvm__origin x) {
    if (!rvm__grow(&o->al, (void **)&o->list, &o->cap, fn + 1, sizeof *o->list)) return false;
    for (; o->n <= fn; o->n++) o->list[o->n] = (rvm__origin_list){0};
    rvm__origin_list *l = &o->list[fn];
    if (!rvm__grow(&o->al, (void **)&l->of, &l->cap, l->n + 1, sizeof *l->of)) return false;
    l->of[l->n++] = x;
    return true;
}

const rvm__origin_list *rvm__origins_of(const rvm__origins *o, uint32_t fn) {
    return o && fn < o->n && o->list[fn].n ? &o->list[fn] : NULL;
}

const rvm__origin *rvm__origin_at(const rvm__origin_list *l, uint32_t pc) {
    uint32_t lo = 0, hi = l ? l->n : 0; /* in order of `to` */
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        *(l->of[middle].to <= pc ? &lo : &hi) = middle + (l->of[middle].to <= pc);
    }
    return l && lo < l->n && l->of[lo].from <= pc ? &l->of[lo] : NULL;
}
