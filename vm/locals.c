/* locals.c: which arrays may be local. Only those keep the magnitude that their release needs; arrays that the caller lends
 * are never released. What is local goes from callers to callees. A copy for some lengths may be entered where the function
 * is that it is a copy of, by callers that are no copies. */
#include "memory.h"
#include "prepare.h"
#include "solver.h"

typedef struct marks {
    const rvm_program *p;
    uint8_t *of;  /* by array that is no view, functions one after the other */
    size_t *from; /* first of each function */
} marks;

static uint8_t *mark_of(const marks *k, uint32_t fn, uint16_t array) {
    return &k->of[k->from[fn] + array];
}

static bool mark_params(const marks *k, uint32_t fn, uint32_t callee, const rvm_place *args) {
    const rvm_function *g = &k->p->functions[callee];
    bool grew = false;
    for (uint32_t n = 0; n < g->nparams; n++)
        if (g->params[n].ndim)
            grew |= rvm__join8(mark_of(k, callee, g->params[n].index),
                               *mark_of(k, fn, rvm__root_of(&k->p->functions[fn], &args[n])));
    return grew;
}

static bool visit(void *userdata, uint32_t fn) {
    const marks *k = userdata;
    bool grew = false;
    RVM__EACH_INSN(x, &k->p->functions[fn]) {
        if (x.in->op == RVM_OP_new || x.in->op == RVM_OP_like) grew |= rvm__join8(mark_of(k, fn, x.q[0].slot), 1);
        RVM__EACH_CALLEE(g, k->p, x.in) grew |= mark_params(k, fn, g, x.q + rvm__callee_of(k->p, x.in).first);
    }
    return grew;
}

static bool mark_copies(const marks *k) {
    bool grew = false;
    for (uint32_t fn = k->p->first_copy; k->p->copied && fn < k->p->nfunctions; fn++) {
        const rvm_function *f = &k->p->functions[fn];
        const uint32_t of = k->p->copied[fn - k->p->first_copy];
        for (uint32_t n = 0; n < f->nparams; n++)
            if (f->params[n].ndim)
                grew |= rvm__join8(mark_of(k, fn, f->params[n].index), *mark_of(k, of, f->params[n].index));
    }
    return grew;
}

uint8_t *rvm__local_arrays(rvm_machine *m) {
    const uint32_t n = m->p->nfunctions;
    marks k = {.p = m->p};
    size_t total = 1;
    for (uint32_t fn = 0; fn < n; fn++) total += m->p->functions[fn].narrays;
    k.from = rvm__scratch(m, SCRATCH_FROM, (n + 1) * sizeof *k.from);
    k.of = rvm__scratch(m, SCRATCH_LOCAL, total);
    if (!k.from || !k.of) return NULL;
    for (uint32_t fn = 0; fn < n; fn++) k.from[fn + 1] = k.from[fn] + m->p->functions[fn].narrays;
    rvm__solve_calls(&m->p->calls, RVM__CALLERS_FIRST, visit, &k);
    if (mark_copies(&k)) rvm__solve_calls(&m->p->calls, RVM__CALLERS_FIRST, visit, &k);
    return k.of;
}
