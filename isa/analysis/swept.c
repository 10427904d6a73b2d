/* swept.c: from the instructions that add to shadows to all that is given to these by calls: a fixed point over the call
 * graph. */
#include "swept.h"
#include "accesses.h"
#include "solver.h"

size_t rvm__swept_size(const rvm_program *p) {
    size_t n = p->nfunctions * sizeof(size_t);
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) n += p->functions[fn].nregs + (size_t)p->functions[fn].narrays;
    return n;
}

typedef struct search {
    const rvm_program *p;
    rvm__swept s;
} search;

static uint8_t *mark_of(const search *w, uint32_t fn, const rvm_place *q) {
    const rvm_function *f = &w->p->functions[fn];
    uint8_t *marks = w->s.marks + w->s.at[fn];
    if (q->kind == RVM_PLACE_SLOT) return q->slot < f->nregs ? &marks[q->slot] : NULL;
    return q->kind == RVM_PLACE_RANGE ? NULL : &marks[f->nregs + rvm__root_of(f, q)];
}

static bool is_given(const search *w, uint32_t callee, uint32_t k) {
    const rvm_param *param = &w->p->functions[callee].params[k];
    return rvm__is_swept(w->p, &w->s, callee, param->ndim > 0, param->index);
}

static bool visit(void *userdata, uint32_t fn) {
    const search *w = userdata;
    const rvm_function *f = &w->p->functions[fn];
    bool grew = false;
    RVM__EACH_INSN(x, f) {
        if (rvm__is_of_shadows(x.in) && rvm__op_is_recorded(x.in->op)) {
            RVM__EACH_CHANGE(a, w->p, f, x.in) {
                uint8_t *mark = a.bits & RVM__BITS_ACC ? mark_of(w, fn, a.q) : NULL;
                grew |= mark && rvm__join8(mark, 1);
            }
            continue;
        }
        const uint32_t first = rvm__is_call(x.in) ? rvm__callee_of(w->p, x.in).first : 0;
        RVM__EACH_CALLEE(g, w->p, x.in)
            for (uint32_t k = 0; k < w->p->functions[g].nparams; k++) {
                uint8_t *mark = is_given(w, g, k) ? mark_of(w, fn, &x.q[first + k]) : NULL;
                grew |= mark && rvm__join8(mark, 1);
            }
    }
    return grew;
}

rvm__swept rvm__swept_find(const rvm_program *p, void *block) {
    search w = {p, {.at = block}};
    w.s.marks = (uint8_t *)(w.s.at + p->nfunctions);
    for (uint32_t fn = 0, at = 0; fn < p->nfunctions; fn++) {
        w.s.at[fn] = at;
        at += p->functions[fn].nregs + (uint32_t)p->functions[fn].narrays;
    }
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, visit, &w);
    return w.s;
}
