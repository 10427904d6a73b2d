/* flowgraph.c: see flowgraph.h. */
#include "flowgraph.h"

bool rvm__edge_at(const rvm_function *f, uint32_t pc, bool behind, rvm__edge *to) {
    const rvm_insn *in = f->code + pc;
    const bool inverse = rvm__is_inverse(in->op);
    *to = (rvm__edge){in->target, in->target};
    switch ((int)rvm__pair_of(in->op)) {
    case RVM_PAIR_jmp: to->boundary += !inverse; return behind == inverse;
    case RVM_PAIR_for:
    case RVM_PAIR_par: to->boundary += inverse; return behind != inverse;
    case RVM_PAIR_jt:
    case RVM_PAIR_jf:
    case RVM_PAIR_do: return !behind;
    case RVM_PAIR_compute:
        to->pc = f->code[in->target].target;
        to->boundary = to->pc + 1;
        return !behind;
    case RVM_PAIR_undo:
        if (!behind) to->pc = to->boundary = f->code[in->target].target;
        return true;
    }
    return false;
}

rvm__walk rvm__walk_begin(const rvm_function *f, bool backward, const uint8_t *elided) {
    return (rvm__walk){.f = f, .elided = elided, .at = backward ? f->ncode : 0, .down = backward};
}

/* Past compute, do or undo: out of the compute part, or into it from either end. The counter turns at undo, and where it
 * leaves a part that it came into by turning. */
static void pass_region(rvm__walk *w, rvm_op op) {
    const rvm_insn *in = w->f->code + w->pc;
    const uint32_t compute = op == RVM_OP_do ? w->f->code[in->target].target : in->target;
    const bool behind = op == RVM_OP_undo && w->down;
    bool turns = op == RVM_OP_undo;
    if (op == (w->down ? RVM_OP_compute : RVM_OP_do)) {
        turns = w->turns[--w->depth];
    } else if (op == (w->down ? RVM_OP_do : RVM_OP_undo) && w->elided[compute]) {
        if (w->down) w->at = compute;
        return;
    } else
        w->turns[w->depth++] = turns;
    rvm__edge to;
    if (!turns || !rvm__edge_at(w->f, w->pc, behind, &to)) return;
    w->at = to.boundary + behind; /* past compute itself */
    w->down = !w->down;
}

bool rvm__walk_next(rvm__walk *w) {
    while (w->at != (w->down ? 0 : w->f->ncode)) {
        w->pc = w->down ? --w->at : w->at++;
        const rvm_op op = (rvm_op)w->f->code[w->pc].op;
        if (rvm__class_of(op) != RVM_CLASS_REGION) return true;
        pass_region(w, op);
    }
    return false;
}
