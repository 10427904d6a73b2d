/* checks.c: whether a released real agrees with its value, the residues that agreeing leaves, and magnitudes held. */
#include "out_of_line.h"

static rvm_function *function_of(const rvm_machine *m) {
    return &m->p->functions[m->frames[m->nframes - 1].fn];
}

static uint32_t index_of(const rvm_machine *m, const rvm__xinsn *x) {
    return (uint32_t)(x - m->codes[m->frames[m->nframes - 1].fn].x);
}

double rvm__tolerance(const rvm_machine *m, const rvm__xinsn *x) {
    const rvm_function *f = function_of(m);
    const rvm_insn *in = &f->code[index_of(m, x)];
    if (!(in->flags & RVM_FLAG_TOL)) return m->o.tolerance;
    return f->consts[rvm__places(f, in)[in->nplaces - 1].slot - f->nregs].f;
}

/* The largest magnitude that the target held: what was tracked, and what it holds. */
static double magnitude(const rvm_machine *m, const rvm__xinsn *x, double y) {
    double held = fabs(y);
    if (x->flags & X_TRACK) held = fmax(held, m->magnitudes[m->frames[m->nframes - 1].slots + x->p[0].slot]);
    return fmax(1, held);
}

void rvm__record_residue(rvm_machine *m, const rvm__xinsn *x, double residue) {
    const uint32_t fn = m->frames[m->nframes - 1].fn, pc = index_of(m, x);
    rvm_residue *list = m->stats.residues;
    int k = 0; /* this release's entry, or the smallest */
    while (k < RVM_RESIDUES - 1 && list[k].value > 0 && !(list[k].fn == fn && list[k].pc == pc)) k++;
    if (list[k].value > 0 && list[k].fn == fn && list[k].pc == pc && list[k].value >= residue) return;
    list[k] = (rvm_residue){residue, fn, pc};
    for (; k > 0 && list[k - 1].value < residue; k--) {
        list[k] = list[k - 1];
        list[k - 1] = (rvm_residue){residue, fn, pc};
    }
    m->residue_floor = list[RVM_RESIDUES - 1].value;
}

bool rvm__agrees(rvm_machine *m, const rvm__xinsn *x, const rvm__array *ar, double y, double f) {
    (void)ar;
    /* Going back over what overflowed or became NaN: whether an argument was lost is said at the start. */
    if (!isfinite(y) && m->course < 0 && m->began_at_start && m->may_be_lost) return true;
    const double residue = fabs(y - f);
    if (!(residue <= rvm__tolerance(m, x) * magnitude(m, x, y))) return false;
    if (residue > m->residue_floor) rvm__record_residue(m, x, residue);
    return true;
}

bool rvm__tangent_agrees(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected) {
    if (x->type == RVM_FIX) return shadow->i == expected.i;
    const double scale = fmax(1, fmax(fabs(shadow->f), fabs(expected.f)));
    return fabs(shadow->f - expected.f) <= rvm__tolerance(m, x) * scale;
}

static void raise_to(double *held, double y, bool fresh) {
    const double a = fabs(y);
    if (fresh || a > *held) *held = a;
}

static void track_place(rvm_machine *m, const rvm__xinsn *x, const rvm__xplace *q, const rvm__array *ar, double y) {
    if (q->kind == XSLOT)
        raise_to(&m->magnitudes[m->frames[m->nframes - 1].slots + q->slot], y, x->flags & X_FRESH);
    else if (q->kind == XELEM) {
        const rvm_place *place = &function_of(m)->places[q->i + ((uint32_t)q->j << 16)];
        if (ar[place->slot].magnitude) raise_to(ar[place->slot].magnitude, y, false);
    } else if (ar[q->slot].magnitude)
        raise_to(ar[q->slot].magnitude, y, false);
}

void rvm__track(rvm_machine *m, const rvm__xinsn *x, const rvm__array *ar, double y) {
    track_place(m, x, &x->p[0], ar, y);
}

/* Of swap, rot and hadamard the places come first, of cswap behind the condition. */
void rvm__track_pair(rvm_machine *m, const rvm__xinsn *x, const rvm__array *ar, double y, double z) {
    const rvm__xplace *q = x->p + x->arity;
    track_place(m, x, q, ar, y);
    track_place(m, x, q + 1, ar, z);
}

rvm_value *rvm__element(const rvm_machine *m, const rvm__xplace *q) {
    const rvm__frame *frame = &m->frames[m->nframes - 1];
    const rvm_place *place = &m->p->functions[frame->fn].places[q->i + ((uint32_t)q->j << 16)];
    const rvm__array *a = &m->arrays[frame->arrays + place->slot];
    char *p = a->data;
    for (int d = 0; d < place->nidx; d++) {
        const int64_t i = m->slots[frame->slots + place->idx[d]].i;
        if ((uint64_t)i >= (uint64_t)a->dim[d]) return NULL;
        p += i * a->stride[d];
    }
    return (rvm_value *)(void *)p;
}

rvm_value *rvm__element_shadow(const rvm_machine *m, const rvm__xplace *q) {
    const rvm__frame *frame = &m->frames[m->nframes - 1];
    const rvm_place *place = &m->p->functions[frame->fn].places[q->i + ((uint32_t)q->j << 16)];
    const rvm__array *a = &m->arrays[frame->arrays + place->slot];
    char *p = a->shadow;
    for (int d = 0; d < place->nidx; d++) p += m->slots[frame->slots + place->idx[d]].i * a->shadow_stride[d];
    return (rvm_value *)(void *)p;
}
