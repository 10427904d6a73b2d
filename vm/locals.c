/* locals.c: which arrays may be local. Only those keep the magnitude that their release needs; arrays that the caller lends
 * are never released. A fixed point over views and calls. */
#include "memory.h"
#include "prepare.h"
#include "builder.h"

typedef struct marks {
    const rvm_program *p;
    uint8_t *of;  /* by array, functions one after the other */
    size_t *from; /* first of each function */
    bool changed;
} marks;

static void mark(marks *k, uint32_t fn, uint16_t array, bool local) {
    uint8_t *at = &k->of[k->from[fn] + array];
    if (!local || *at) return;
    *at = 1;
    k->changed = true;
}

static void visit_call(marks *k, uint32_t fn, const rvm_insn *in, const rvm_place *args) {
    uint32_t at = 0, callee;
    while (rvm__next_callee(k->p, in, &at, &callee)) {
        const rvm_function *g = &k->p->functions[callee];
        for (uint32_t n = 0; n < g->nparams; n++)
            if (g->params[n].ndim) mark(k, callee, g->params[n].index, k->of[k->from[fn] + args[n].slot]);
    }
}

static void visit(marks *k, uint32_t fn) {
    const rvm_function *f = &k->p->functions[fn];
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const rvm_insn *in = &f->code[pc];
        const rvm_place *q = rvm__places(f, in);
        if (in->op == RVM_OP_new || in->op == RVM_OP_like) mark(k, fn, q[0].slot, true);
        if (in->op == RVM_OP_view) mark(k, fn, q[0].slot, k->of[k->from[fn] + q[1].slot]);
        if (rvm__is_call(in)) visit_call(k, fn, in, q + rvm__callee_of(k->p, in).first);
    }
}

uint8_t *rvm__local_arrays(rvm_machine *m) {
    const uint32_t n = m->p->nfunctions;
    marks k = {.p = m->p, .changed = true};
    size_t total = 1;
    for (uint32_t fn = 0; fn < n; fn++) total += m->p->functions[fn].narrays;
    k.from = rvm__scratch(m, SCRATCH_FROM, (n + 1) * sizeof *k.from);
    k.of = rvm__scratch(m, SCRATCH_LOCAL, total);
    if (!k.from || !k.of) return NULL;
    for (uint32_t fn = 0; fn < n; fn++) k.from[fn + 1] = k.from[fn] + m->p->functions[fn].narrays;
    while (k.changed) {
        k.changed = false;
        for (uint32_t fn = 0; fn < n; fn++) visit(&k, fn);
    }
    return k.of;
}
