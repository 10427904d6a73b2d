/* outside.c: accesses outside of parallel blocks, over the call graph: a fact of a function is which of its parameters. */
#include "outside.h"

#include <string.h>

#include "accesses.h"
#include "program.h"
#include "solver.h"
#include "support.h"

typedef uint8_t facts[RVM_MAX_PARAMS];
typedef struct search {
    const rvm_program *p;
    facts *of; /* by function */
} search;

static int parameter_of(const rvm_function *f, uint16_t array) {
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k].ndim && f->params[k].index == array) return (int)k;
    return -1;
}

/* Whether an argument for that parameter is accessed so. */
static bool passes(const search *s, const rvm_insn *in, const rvm_param *param) {
    if (!param || rvm__pair_of(in->op) != RVM_PAIR_call) return true;
    const rvm_function *g = &s->p->functions[in->target];
    return s->of[in->target][param - g->params];
}

static bool is_access(const search *s, const rvm__accesses *a) {
    const enum rvm_pair pair = rvm__pair_of(a->in->op);
    return a->array && !a->toggles && pair != RVM_PAIR_view && pair != RVM_PAIR_like && passes(s, a->in, a->param);
}

static bool visit(void *userdata, uint32_t fn) {
    search *s = userdata;
    const rvm_function *f = &s->p->functions[fn];
    uint32_t inside = 0;
    bool grew = false;
    RVM__EACH_INSN(x, f) {
        if (x.in->op == RVM_OP_par && !inside) inside = x.in->target;
        if (x.pc == inside) inside = 0;
        if (inside) continue;
        RVM__EACH_ACCESS(a, s->p, f, x.in) {
            const int k = is_access(s, &a) ? parameter_of(f, rvm__root_of(f, a.q)) : -1;
            if (k >= 0) grew |= rvm__join8(&s->of[fn][k], 1);
        }
    }
    return grew;
}

bool rvm__outside_find(const rvm_program *p, uint32_t fn, uint8_t of[RVM_MAX_PARAMS]) {
    const size_t size = p->nfunctions * sizeof(facts);
    search s = {.p = p, .of = rvm__realloc(&p->al, NULL, 0, size)};
    if (!s.of) return false;
    memset(s.of, 0, size);
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, visit, &s);
    memcpy(of, s.of[fn], sizeof(facts));
    rvm__realloc(&p->al, s.of, size, 0);
    return true;
}
