/* transfer.h: what passes from a frame into that of what it calls: of functions (frames.c), and of derivatives that are
 * written by hand (rule_frames.c). Every call takes this way, so what is short stands here; the rest is in transfer.c. */
#ifndef RVM_TRANSFER_H
#define RVM_TRANSFER_H

#include "builder.h"
#include "memory.h"
#include "out_of_line.h"

#include <string.h>

/* From a caller's frame into that of what it calls, which stands above it. */
typedef struct rvm__transfer {
    rvm_machine *m;
    const rvm_program *p;
    const rvm_function *caller, *callee;
    const rvm_insn *in; /* the call */
    const rvm_place *args;
    const rvm_param *types; /* what the call says of them: the callee's parameters, or those of a function value's type */
    const rvm__frame *from; /* the caller's */
    size_t slots, arrays;   /* of the callee */
    uint32_t callee_fn, caller_fn;
    uint32_t pc;  /* of the call in the caller */
    bool shadows; /* copy shadows: tangent mode, or a sweep */
    bool shared;  /* arguments may overlap */
} rvm__transfer;

/* frame: number of the caller's; flags: of the prepared call. */
static inline rvm__transfer rvm__transfer_of(rvm_machine *m, uint32_t frame, const rvm_insn *in, uint32_t callee,
                                             uint8_t flags) {
    rvm__transfer t = {.m = m, .p = m->p, .from = &m->store.frames[frame], .shared = flags & X_ALIAS};
    const rvm_callee g =
        flags & X_BY_VALUE ? rvm__callee_of(m->p, in) : (rvm_callee){.params = m->p->functions[callee].params};
    t.caller_fn = t.from->fn;
    t.caller = &m->p->functions[t.caller_fn];
    t.in = in;
    t.args = rvm__places(t.caller, in) + g.first;
    t.types = g.params;
    t.callee_fn = callee;
    t.callee = &m->p->functions[callee];
    t.slots = t.from->slots + m->codes[t.caller_fn].slots;
    t.arrays = t.from->arrays + t.caller->narrays;
    t.shadows = rvm__is_shadowed(m);
    return t;
}
/* The function that a call names by a value, by the inline cache of its variant where that has it. FUNCTION. */
rvm_status rvm__callee_by_value(rvm_machine *m, const rvm_insn *in, uint32_t *callee);
/* Of the call x, in the innermost frame, with room for one frame more. FUNCTION, DEPTH, MEMORY. */
static inline rvm_status rvm__transfer_begin(rvm_machine *m, const rvm__xinsn *x, rvm__transfer *t) {
    const uint32_t frame = m->store.nframes - 1, fn = m->store.frames[frame].fn, pc = (uint32_t)(x - m->codes[fn].x);
    const rvm_insn *in = &m->p->functions[fn].code[pc];
    uint32_t callee = in->target;
    const rvm_status status = x->flags & X_BY_VALUE ? rvm__callee_by_value(m, in, &callee) : RVM_OK;
    m->detail[0] = 0;
    if (status) return status;
    if (m->store.nframes >= m->o.depth) return RVM_ERR_DEPTH;
    size_t cap = m->store.cap_frames;
    if (!rvm__reserve(m, (void **)&m->store.frames, &cap, (size_t)m->store.nframes + 1, sizeof *m->store.frames))
        return RVM_ERR_MEMORY;
    m->store.cap_frames = (uint32_t)cap;
    *t = rvm__transfer_of(m, frame, in, callee, x->flags);
    t->pc = pc;
    return RVM_OK;
}

/* The caller's element or slot; NULL where an index is out of bounds. */
static inline rvm_value *rvm__scalar_place(const rvm__transfer *t, const rvm_place *q, bool shadow) {
    const rvm_machine *m = t->m;
    rvm_value *slots = m->store.slots + t->from->slots;
    if (q->kind == RVM_PLACE_SLOT) return (shadow ? m->store.shadows + t->from->slots : slots) + q->slot;
    return rvm__element_at(&m->store.arrays[t->from->arrays + q->slot], q, slots, shadow);
}
static inline bool rvm__place_active(const rvm__transfer *t, const rvm_place *q) {
    return rvm__is_active(t->m->p, &t->m->bound.activity, t->caller_fn, q);
}
/* Whether the memory of arguments i and k overlaps, or that of their shadows. */
bool rvm__arguments_overlap(const rvm__transfer *t, uint32_t i, uint32_t k, bool shadows);
/* ALIAS where two overlap that must not. */
rvm_status rvm__check_shared(const rvm__transfer *t);
static inline rvm_status rvm__check_overlap(const rvm__transfer *t) {
    return t->shared ? rvm__check_shared(t) : RVM_OK;
}

/* The callee's constants, and its lengths as not yet set, once there is room for its frame. */
static inline void rvm__begin_frame(const rvm__transfer *t) {
    rvm_value *slots = t->m->store.slots + t->slots;
    const rvm_function *f = t->callee;
    if (f->nconsts) memcpy(slots + f->nregs, f->consts, f->nconsts * sizeof *slots);
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] < f->nregs) slots[f->params[k].dim[d]].i = -1;
}
/* A length that is not yet set takes the array's, any other must equal it: SHAPE. */
rvm_status rvm__length_differs(const rvm__transfer *t, const rvm_param *param, int d, int64_t is, int64_t must);
static inline rvm_status rvm__bind_lengths(const rvm__transfer *t, const rvm_param *param, const rvm__array *a) {
    rvm_value *slots = t->m->store.slots + t->slots;
    for (int d = 0; d < param->ndim; d++) {
        rvm_value *length = &slots[param->dim[d]];
        if (length->i < 0) length->i = a->dim[d];
        if (length->i != a->dim[d]) return rvm__length_differs(t, param, d, a->dim[d], length->i);
    }
    return RVM_OK;
}

/* A scalar goes back to its place: replaces it, or is added. */
static inline void rvm__give_back(rvm_value *place, rvm_value v, rvm_type type, bool add) {
    *place = add ? rvm__sum(type, *place, v) : v;
}
/* The largest magnitude that argument q's parameter held, for its place. */
static inline void rvm__give_magnitude(const rvm__transfer *t, const rvm_place *q, const rvm_param *param, rvm_value v) {
    if (!rvm__is_floating((rvm_type)param->type) || q->kind != RVM_PLACE_SLOT || !t->m->store.magnitudes) return;
    double *held = &t->m->store.magnitudes[t->from->slots + q->slot];
    *held = fmax(*held, fmax(fabs(v.f), t->m->store.magnitudes[t->slots + param->index]));
}

/* Shadows go on in the innermost frame, but for those of a sweep that was left. */
static inline void rvm__resume_shadows(rvm_machine *m) {
    m->run.by_rule = 0;
    m->run.sweeping = m->run.sweep_begun && !m->run.sweep_left;
}

#endif
