/* reach.c: what functions and all that they call do with trails and the stack. See reach.h. */
#include "reach.h"
#include "builder.h"

#include <string.h>

static int64_t constant_at(const rvm_function *f, const rvm_insn *in, int place) {
    const uint16_t slot = rvm__places(f, in)[place].slot;
    return slot >= f->nregs && slot < f->nregs + f->nconsts ? f->consts[slot - f->nregs].i : 0;
}

/* The order that an instruction shows: one more than its level of trails, and one more than the transforms that positions
 * in a slot, doubled by each, come from. */
static int order_shown(const rvm_function *f, const rvm_insn *in) {
    const char *operands = rvm__op_info[in->op].operands, *m = operands ? strchr(operands, 'm') : NULL;
    int order = 1;
    if (operands && *operands == 'l') order = (int)constant_at(f, in, 0) + 1;
    if (!m) return order;
    const int64_t mask = constant_at(f, in, (int)(m - operands));
    while (1 << (order - 1) < RVM_MAX_ENTRY && (uint64_t)mask >> (1 << (order - 1))) order++;
    return order;
}

static rvm__reach reach_of_one(const rvm_function *f) {
    rvm__reach at = {.ready = f->ncode > 0, .order = 1};
    for (uint32_t pc = 0; pc < f->ncode; pc++) {
        const rvm_insn *in = &f->code[pc];
        at.stack |= rvm__op_on_stack((rvm_op)in->op);
        at.trail |= rvm__op_on_trail((rvm_op)in->op);
        const int order = order_shown(f, in);
        if (order > at.order) at.order = (uint8_t)order;
    }
    return at;
}

static bool join(rvm__reach *to, const rvm__reach *from) {
    const rvm__reach old = *to;
    to->ready &= from->ready;
    to->trail |= from->trail;
    to->stack |= from->stack;
    if (from->order > to->order) to->order = from->order;
    return old.ready != to->ready || old.trail != to->trail || old.stack != to->stack || old.order != to->order;
}

/* Through a function value: whatever it may be. */
static bool join_callees(const rvm_program *p, const rvm__reach *reach, rvm__reach *to, const rvm_insn *in) {
    static const rvm__reach none = {.order = 1};
    uint32_t at = 0, callee;
    bool changed = false;
    if (!rvm__is_call(in)) return false;
    while (rvm__next_callee_types(p, in, &at, &callee)) changed |= join(to, callee < p->nfunctions ? &reach[callee] : &none);
    if (rvm__op_target((rvm_op)in->op) == 'S' && !p->variants[in->target].full) changed |= join(to, &none);
    return changed;
}

void rvm__reach_find(const rvm_program *p, rvm__reach *reach) {
    for (uint32_t k = 0; k < p->nfunctions; k++) reach[k] = reach_of_one(&p->functions[k]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < p->nfunctions; k++) {
            const rvm_function *f = &p->functions[k];
            for (uint32_t pc = 0; pc < f->ncode; pc++) changed |= join_callees(p, reach, &reach[k], &f->code[pc]);
        }
    }
}
