/* inspect.c: where a machine stands, and what is present there. */
#include <string.h>

#include "fresh.h"
#include "machine.h"
#include "names.h"
#include "native.h"
#include "out_of_line.h"
#include "program.h"

uint32_t rvm_machine_frames(const rvm_machine *m) {
    return !m || m->run.where == UNBOUND ? 0 : m->store.nframes;
}

/* The instruction that a run in `course` would execute next in a frame, and the frame's direction then. For a caller: its
 * call. */
static uint32_t next_of(const rvm_machine *m, uint32_t frame, int course, int *direction) {
    const rvm__frame *f = &m->store.frames[m->store.nframes - 1 - frame];
    const uint32_t ncode = m->p->functions[f->fn].ncode;
    *direction = course;
    if (m->run.where == AT_START) return course > 0 ? 1 : 0;
    if (m->run.where == AT_END) return course > 0 ? ncode - 1 : ncode - 2;
    int d = m->run.course == course ? m->run.dir : -m->run.dir;
    for (uint32_t k = 0; k < frame; k++)
        if (m->store.frames[m->store.nframes - 1 - k].against) d = -d;
    *direction = d;
    if (frame) return m->store.frames[m->store.nframes - frame].call_pc;
    const uint32_t pc = (uint32_t)(m->run.pc - m->codes[f->fn].x);
    return m->run.course == course ? pc : (uint32_t)((int64_t)pc + d);
}

bool rvm_machine_location(const rvm_machine *m, uint32_t frame, int direction, rvm_location *out) {
    if (!out || frame >= rvm_machine_frames(m)) return false;
    memset(out, 0, sizeof *out);
    out->fn = m->store.frames[m->store.nframes - 1 - frame].fn;
    out->pc = next_of(m, frame, direction < 0 ? -1 : 1, &out->direction);
    out->function = m->p->functions[out->fn].name;
    rvm_program_position(m->p, out->fn, out->pc, &out->file, &out->line, &out->column);
    return true;
}

/* Trips done of a counted loop, in the direction of the counter. */
static double trips_done(const rvm__xinsn *x, const rvm_value *r, bool rises) {
    const double at = (double)r[x->to.i].i, lo = (double)r[x->to.lo].i, last = (double)r[x->to.last].i;
    const double done = rises ? at - lo : last - at, all = last - lo + (double)r[x->to.step].i;
    return done / all;
}

/* Of the outermost counted loop of that frame, from the bottom, that goes on and has these flags. 0: none. */
static double share_of(const rvm_machine *m, uint32_t frame, unsigned flags) {
    const rvm__frame *f = &m->store.frames[frame];
    int direction;
    const uint32_t pc = next_of(m, m->store.nframes - 1 - frame, m->run.course, &direction);
    RVM__EACH_INSN_IN(x, &m->p->functions[f->fn], 0, pc) {
        const bool reversed = x.in->flags & RVM_FLAG_REVERSED;
        if (x.in->op != RVM_OP_for || x.in->target < pc || (x.in->flags & flags) != flags) continue;
        return trips_done(&m->codes[f->fn].x[x.pc], m->store.slots + f->slots, (direction > 0) != reversed);
    }
    return 0;
}

/* What native code has told, or 0. */
static double told(const rvm__native *n) {
    return n->swept.all ? (double)n->swept.done / (double)n->swept.all : 0;
}

static bool tells(const rvm_function *f) {
    RVM__EACH_INSN(x, f)
        if (x.in->flags & RVM_FLAG_TELLS) return true;
    return false;
}

/* By the trips of the outermost function that tells them. Frames of native code stand nowhere. */
static double swept_share(const rvm_machine *m) {
    const rvm__native *n = m->jit.inside_native ? m->jit.native : NULL;
    const uint32_t frames = n ? (uint32_t)n->frame : m->store.nframes;
    for (uint32_t k = 0; k < frames; k++)
        if (tells(&m->p->functions[m->store.frames[k].fn])) return share_of(m, k, RVM_FLAG_TELLS);
    return n ? told(n) : 0;
}

/* The way there is taken for a tenth of all. Where one loop follows another it does not fall. */
static double marching_share(const rvm_machine *m) {
    const double before = *m->run.shown, there = 0.1, back = swept_share(m);
    const double done = back > 0 ? there + (1 - there) * back : 0;
    return done > before ? done : before;
}

double rvm__outermost_share(const rvm_machine *m) {
    if (m->p->noutlined) return marching_share(m);
    return m->jit.inside_native ? 0 : share_of(m, 0, 0);
}

static void fill_scalar(const rvm_machine *m, const rvm__frame *f, uint16_t slot, rvm_variable *out) {
    out->type = (rvm_type)m->p->functions[f->fn].reg_type[slot];
    out->value.i = m->store.slots[f->slots + slot].i;
    if (m->bound.mode == RVM_PRIMAL) return;
    out->shadow.i = m->store.shadows[f->slots + slot].i;
    out->shadowed = rvm__is_ever_active(m->p, &m->bound.activity, f->fn, false, slot);
}

static bool fill_array(const rvm_machine *m, const rvm__frame *f, uint16_t index, rvm_variable *out) {
    const rvm__array *a = &m->store.arrays[f->arrays + index];
    out->type = (rvm_type)a->type;
    out->ndim = a->ndim;
    out->data = a->data;
    out->shadow_data = a->shadow;
    for (int d = 0; d < a->ndim; d++) {
        out->shape[d] = a->dim[d];
        out->stride[d] = a->stride[d] / (int64_t)sizeof(rvm_value);
        out->shadow_stride[d] = a->shadow_stride[d] / (int64_t)sizeof(rvm_value);
    }
    out->shadowed = a->shadow != NULL;
    return a->present;
}

uint32_t rvm__stands_at(const rvm_machine *m, uint32_t frame) {
    int direction;
    const uint32_t next = next_of(m, frame, m->run.course, &direction);
    return direction < 0 && !frame ? next + 1 : next;
}

bool rvm_machine_variable(const rvm_machine *m, uint32_t frame, uint32_t k, rvm_variable *out) {
    if (!out || frame >= rvm_machine_frames(m)) return false;
    rvm__fresh_show(m);
    const rvm__frame *fr = &m->store.frames[m->store.nframes - 1 - frame];
    const rvm_function *f = &m->p->functions[fr->fn];
    const uint32_t gap = rvm__stands_at(m, frame);
    for (uint32_t n = 0; n < f->nsymbols; n++) {
        const rvm_symbol *s = &f->symbols[n];
        if (gap < s->from || gap > s->to) continue; /* wider than what is named, and at hand */
        const rvm__reach_of_name r = rvm__named(m->p, f, s);
        if (gap < r.first || gap > r.last) continue;
        if (s->is_array && !m->store.arrays[fr->arrays + s->index].present) continue;
        if (k-- > 0) continue;
        memset(out, 0, sizeof *out);
        out->name = s->name;
        if (s->is_array)
            fill_array(m, fr, s->index, out);
        else
            fill_scalar(m, fr, s->index, out);
        return true;
    }
    return false;
}

bool rvm_machine_place(const rvm_machine *m, uint32_t frame, uint32_t variable, rvm_variable *out) {
    if (!out || frame >= rvm_machine_frames(m)) return false;
    rvm__fresh_show(m);
    const rvm__frame *fr = &m->store.frames[m->store.nframes - 1 - frame];
    const rvm_function *f = &m->p->functions[fr->fn];
    if (variable >= f->nregs + f->narrays) return false;
    memset(out, 0, sizeof *out);
    if (variable >= f->nregs) return fill_array(m, fr, (uint16_t)(variable - f->nregs), out);
    fill_scalar(m, fr, (uint16_t)variable, out);
    return true;
}
