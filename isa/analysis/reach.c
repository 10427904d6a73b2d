/* reach.c: what functions and all that they call do with trails and the stack, and whether they have blocks. See reach.h. */
#include "reach.h"
#include "solver.h"
#include "support.h"

#include <string.h>

static int64_t constant_at(const rvm_function *f, const rvm_insn *in, int place) {
    const uint16_t slot = rvm__places(f, in)[place].slot;
    return slot >= f->nregs && slot < f->nregs + f->nconsts ? f->consts[slot - f->nregs].i : 0;
}

/* The order that an instruction shows: one more than its level of trails, and one more than the transforms that positions
 * in a slot, doubled by each, come from. */
static unsigned order_shown(const rvm_function *f, const rvm_insn *in) {
    const char *operands = rvm__op_info[in->op].operands, *m = operands ? strchr(operands, 'm') : NULL;
    unsigned order = 1;
    if (operands && *operands == 'l') order = (unsigned)rvm__least((uint64_t)constant_at(f, in, 0), UINT8_MAX - 1) + 1;
    if (!m) return order;
    const int64_t mask = constant_at(f, in, (int)(m - operands));
    while (1 << (order - 1) < RVM_MAX_ENTRY && (uint64_t)mask >> (1 << (order - 1))) order++;
    return order;
}

static void join(rvm__reach *to, const rvm__reach *from) {
    to->ready &= from->ready;
    to->trail |= from->trail;
    to->stack |= from->stack;
    to->blocks |= from->blocks;
    to->marked |= from->marked;
    to->outlined |= from->outlined;
    to->order = (uint8_t)rvm__most(to->order, from->order);
}

typedef struct reaching {
    const rvm_program *p;
    rvm__reach *reach;
} reaching;

/* Through a function value: whatever it may be. */
static void join_callees(const reaching *w, rvm__reach *to, const rvm_insn *in) {
    static const rvm__reach none = {.order = 1};
    uint32_t at = 0, callee;
    while (rvm__next_callee_types(w->p, in, &at, &callee)) join(to, callee < w->p->nfunctions ? &w->reach[callee] : &none);
    if (rvm__op_target((rvm_op)in->op) == 'S' && !w->p->variants[in->target].full) join(to, &none);
}

static bool visit(void *userdata, uint32_t fn) {
    const reaching *w = userdata;
    rvm__reach *at = &w->reach[fn];
    const rvm__reach old = *at;
    RVM__EACH_INSN(x, &w->p->functions[fn]) {
        at->stack |= rvm__op_on_stack((rvm_op)x.in->op);
        at->trail |= rvm__op_on_trail((rvm_op)x.in->op);
        at->blocks |= x.in->op == RVM_OP_par;
        at->marked |= (x.in->flags & RVM_FLAG_SWEPT) != 0;
        at->order = (uint8_t)rvm__most(at->order, order_shown(x.f, x.in));
        if (rvm__is_call(x.in)) join_callees(w, at, x.in);
    }
    return memcmp(&old, at, sizeof old) != 0;
}

bool rvm__reach_find(const rvm_program *p, rvm__reach *reach) {
    reaching w = {p, reach};
    rvm__callgraph calls = {0};
    if (!rvm__callgraph_make(p, true, &calls)) return false;
    for (uint32_t k = 0; k < p->nfunctions; k++) reach[k] = (rvm__reach){.ready = p->functions[k].ncode > 0, .order = 1};
    for (uint32_t k = 0; k < p->noutlined; k++) reach[p->outlined[k].fn].outlined = true;
    rvm__solve_calls(&calls, RVM__CALLEES_FIRST, visit, &w);
    rvm__callgraph_free(&p->al, &calls);
    return true;
}
