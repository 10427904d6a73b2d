/* loops.c: where the interpreter stands, seen from native code that may go on there (native.h). */
#include "native.h"
#include "out_of_line.h"
#include "program.h"

#include "loop.h"

#include <string.h>

/* The come-from of a jump back stands above it in the text, that of another below. */
bool rvm__begins_loop(const rvm_function *f, uint32_t pc) {
    const rvm_insn *in = &f->code[pc];
    const bool counted = in->op == RVM_OP_for || in->op == RVM_OP_par;
    return rvm__op_target((rvm_op)in->op) == 'L' && in->target > pc && (counted || rvm__is_inverse(in->op));
}

/* The interpreter polls behind that end, and in its shortest loops before the other. */
uint32_t rvm__loop_head(const rvm_function *f, uint32_t pc, int dir) {
    if (pc < 2 || pc + 2 >= f->ncode) return 0;
    const uint32_t before = pc - (uint32_t)dir, other = f->code[before].target, far = f->code[pc].target;
    const bool ends = other < before && rvm__begins_loop(f, other) && f->code[other].target == before;
    if (dir > 0 ? rvm__begins_loop(f, before) : ends) return before;
    return rvm__pair_of(f->code[pc].op) == RVM_PAIR_for && (dir > 0 ? far < pc : far > pc) ? far : 0;
}

static uint32_t loops_around(const rvm_function *f, uint32_t pc) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < pc; k++) n += rvm__begins_loop(f, k) && f->code[k].target > pc;
    return n;
}

bool rvm__stands_in_loop(const rvm_machine *m, rvm__native_place *at) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const uint32_t pc = (uint32_t)(m->run.pc - m->codes[top->fn].x), gap = rvm__gap(pc, m->run.dir);
    uint32_t parts = 0, loops = 0, segments = 0; /* around */
    *at = (rvm__native_place){.pc = pc, .dir = m->run.dir, .restoring = m->exact.restoring};
    if (!rvm__loop_head(f, pc, m->run.dir)) return false;
    for (uint32_t k = 0; k < gap; k++) {
        const uint32_t end = f->code[k].target;
        if (f->code[k].op == RVM_OP_compute && end >= gap) {
            const uint16_t hidden = m->codes[top->fn].x[k].to.hidden;
            const uint64_t bits = m->store.slots[top->slots + hidden].u;
            const uint32_t turns = bits & RVM__REGION_AGAIN;
            if (parts == 32) return false;
            if (!parts) at->restoring = !!(bits & RVM__REGION_RESTORES) != rvm__course_restores(m);
            at->turns |= turns << parts++;
            if (turns) at->dir = -at->dir;
        } else if (rvm__begins_loop(f, k) && end >= gap)
            loops++;
        segments += (f->code[k].op == RVM_OP_segment) - (f->code[k].op == RVM_OP_endsegment);
    }
    at->inside = rvm__exact_depth(m) > parts + segments;
    loops += parts - 1; /* without the one that turns */
    for (uint32_t k = m->store.nframes - 1; k > 0 && loops < RVM__MOST_AROUND; k--)
        loops += loops_around(&m->p->functions[m->store.frames[k - 1].fn], m->store.frames[k].call_pc);
    at->loops = loops < RVM__MOST_AROUND ? loops : RVM__MOST_AROUND;
    return true;
}

uint64_t rvm__rest_of_loop(const rvm_machine *m) {
    enum { MOST = 1 << 14 };
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const uint32_t pc = (uint32_t)(m->run.pc - m->codes[top->fn].x), head = rvm__loop_head(f, pc, m->run.dir);
    const rvm__xinsn *x = m->run.pc;
    if (!head || head == pc - (uint32_t)m->run.dir) return 0; /* it goes trip by trip */
    const rvm_value *r = m->store.slots + top->slots;
    const bool rises = (m->run.dir > 0) != !!(f->code[pc].flags & RVM_FLAG_REVERSED);
    const uint64_t left = loop_left(r[x->to.i].i, r[rises ? x->to.last : x->to.lo].i, r[x->to.step].i);
    return left < MOST / 2 ? 2 * left : MOST;
}

/* Nothing is to be deep around the frame, of trails that discard, and nothing to be forgotten. */
bool rvm__trails_fit(const rvm_machine *m, const rvm__native_place *at) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const rvm__xinsn *x = m->codes[top->fn].x;
    uint32_t deep = 0, segments[RVM_MAX_ORDER] = {0};
    if (m->trail.nforgetting) return false;
    if (!m->trail.discards) return true;
    for (uint32_t pc = 0; at->pc && pc < rvm__gap(at->pc, m->run.dir); pc++) {
        const rvm_op op = (rvm_op)f->code[pc].op;
        deep += (op == RVM_OP_compute) - (op == RVM_OP_do);
        for (uint32_t k = 0; rvm__pair_of(op) == RVM_PAIR_segment && k <= x[pc].trail.level; k++)
            segments[k] += rvm__is_inverse(op) ? -1u : 1u;
    }
    return deep == m->trail.deep && !memcmp(segments, m->trail.segments, sizeof segments);
}
