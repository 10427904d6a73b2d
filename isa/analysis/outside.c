/* outside.c: accesses outside of parallel blocks, over the call graph: facts of a function are which of its parameters, and
 * whether it is called in a block. */
#include "outside.h"

#include <string.h>

#include "accesses.h"
#include "program.h"
#include "solver.h"
#include "support.h"

typedef uint8_t facts[RVM_MAX_PARAMS];
typedef struct about {
    facts of;
    uint8_t in_block; /* it is called in one */
} about;
struct rvm__outside {
    const rvm_program *p;
    about functions[];
};

static int parameter_of(const rvm_function *f, uint16_t array) {
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k].ndim && f->params[k].index == array) return (int)k;
    return -1;
}

/* Whether an argument for that parameter is accessed so. */
static bool passes(const rvm__outside *o, const rvm_insn *in, const rvm_param *param) {
    if (!param || rvm__pair_of(in->op) != RVM_PAIR_call) return true;
    const rvm_function *g = &o->p->functions[in->target];
    return o->functions[in->target].of[param - g->params];
}

static bool is_access(const rvm__outside *o, const rvm__accesses *a) {
    const enum rvm_pair pair = rvm__pair_of(a->in->op);
    return a->array && !a->toggles && pair != RVM_PAIR_view && pair != RVM_PAIR_like && passes(o, a->in, a->param);
}

/* Whether the instruction is in a block; *inside: where the outermost one around ends, or 0. */
static bool is_inside(const rvm_insn *in, uint32_t pc, uint32_t *inside) {
    if (in->op == RVM_OP_par && !*inside) *inside = in->target;
    if (pc == *inside) *inside = 0;
    return *inside;
}

static bool visit(void *userdata, uint32_t fn) {
    rvm__outside *o = userdata;
    const rvm_function *f = &o->p->functions[fn];
    uint32_t inside = 0;
    bool grew = false;
    RVM__EACH_INSN(x, f) {
        if (is_inside(x.in, x.pc, &inside)) continue;
        RVM__EACH_ACCESS(a, o->p, f, x.in) {
            const int k = is_access(o, &a) ? parameter_of(f, rvm__root_of(f, a.q)) : -1;
            if (k >= 0) grew |= rvm__join8(&o->functions[fn].of[k], 1);
        }
    }
    return grew;
}

static bool visit_callees(void *userdata, uint32_t fn) {
    rvm__outside *o = userdata;
    uint32_t inside = 0;
    bool grew = false;
    RVM__EACH_INSN(x, &o->p->functions[fn]) {
        const bool in_block = is_inside(x.in, x.pc, &inside) || o->functions[fn].in_block;
        if (!in_block) continue;
        RVM__EACH_CALLEE(g, o->p, x.in) grew |= rvm__join8(&o->functions[g].in_block, 1);
    }
    return grew;
}

static size_t size_of(const rvm_program *p) {
    return sizeof(rvm__outside) + p->nfunctions * sizeof(about);
}

bool rvm__outside_new(const rvm_program *p, rvm__outside **out) {
    rvm__outside *o = *out = rvm__realloc(&p->al, NULL, 0, size_of(p));
    if (!o) return false;
    memset(o, 0, size_of(p));
    o->p = p;
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, visit, o);
    rvm__solve_calls(&p->calls, RVM__CALLERS_FIRST, visit_callees, o);
    return true;
}

void rvm__outside_free(rvm__outside *o) {
    if (!o) return;
    const rvm_program *p = o->p;
    rvm__realloc(&p->al, o, size_of(p), 0);
}

void rvm__outside_params(const rvm__outside *o, uint32_t fn, uint8_t of[RVM_MAX_PARAMS]) {
    memcpy(of, o->functions[fn].of, sizeof(facts));
}

/* Whether nothing looks at the array between what stands at pc and where it disappears. */
static bool dies(const rvm_function *f, uint32_t pc, uint16_t array) {
    for (uint32_t at = pc + 1; at < f->ncode; at++) {
        const rvm_insn *in = &f->code[at];
        const rvm_place *q = rvm__places(f, in);
        const enum rvm_pair pair = rvm__pair_of(in->op);
        if ((in->op == RVM_OP_del || in->op == RVM_OP_unlike) && q->slot == array) return true;
        if (pair != RVM_PAIR_new && pair != RVM_PAIR_like && pair != RVM_PAIR_drop && pair != RVM_PAIR_recall) return false;
        for (uint32_t k = 0; k < in->nplaces; k++)
            if (q[k].kind == RVM_PLACE_ARRAY && q[k].slot == array) return false;
    }
    return false;
}

bool rvm__erases_array(const rvm__outside *o, uint32_t fn, uint32_t pc, uint16_t array) {
    const rvm_function *f = &o->p->functions[fn];
    const rvm_insn *in = &f->code[pc];
    const rvm_place *q = rvm__places(f, in);
    const uint32_t first = in->op == RVM_OP_drop ? rvm__positions_at(RVM_OP_drop) + 1 : in->nplaces;
    return in->nplaces == first + 1 && q[first].kind == RVM_PLACE_ARRAY && q[first].slot == array && dies(f, pc, array);
}

bool rvm__outside_array(const rvm__outside *o, uint32_t fn, uint16_t array, bool erased) {
    const rvm_function *f = &o->p->functions[fn];
    uint32_t inside = 0;
    RVM__EACH_INSN(x, f) {
        if (is_inside(x.in, x.pc, &inside) || (erased && rvm__erases_array(o, fn, x.pc, array))) continue;
        RVM__EACH_ACCESS(a, o->p, f, x.in)
            if (is_access(o, &a) && rvm__root_of(f, a.q) == array) return true;
    }
    return false;
}

bool rvm__inside_block(const rvm__outside *o, uint32_t fn, uint32_t pc) {
    uint32_t inside = 0;
    if (o->functions[fn].in_block) return true;
    RVM__EACH_INSN(x, &o->p->functions[fn]) {
        if (x.pc == pc) return inside && pc != inside;
        is_inside(x.in, x.pc, &inside);
    }
    return false;
}
