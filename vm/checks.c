/* checks.c: whether a released real agrees with its value, the residues that agreeing leaves, and magnitudes held. */
#include "out_of_line.h"
#include "program.h"
#include "transform.h"

static uint32_t present_function(const rvm_machine *m) {
    return m->store.frames[m->store.nframes - 1].fn;
}

static rvm_function *function_of(const rvm_machine *m) {
    return &m->p->functions[present_function(m)];
}

static double tolerance_of(const rvm_machine *m, rvm_type t) {
    return m->o.tolerance * (t == RVM_F32 ? 1e4 : 1);
}

double rvm__tolerance_at(const rvm_machine *m, uint32_t fn, const rvm__xinsn *x) {
    const rvm_function *f = &m->p->functions[fn];
    const rvm_insn *in = &f->code[x - m->codes[fn].x];
    if (!(in->flags & RVM_FLAG_TOL)) return tolerance_of(m, (rvm_type)x->type);
    return f->consts[rvm__places(f, in)[in->nplaces - 1].slot - f->nregs].f;
}

double rvm__tolerance(const rvm_machine *m, const rvm__xinsn *x) {
    return rvm__tolerance_at(m, present_function(m), x);
}

static const rvm_place *pool_place(const rvm_machine *m, const rvm__xplace *q) {
    return &function_of(m)->places[q->i + ((uint32_t)q->j << 16)];
}

/* Where the largest magnitude of a place is kept: a register's own, or that of the whole local array; NULL: nowhere. */
static double *magnitude_of(const rvm_machine *m, const rvm__xplace *q) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    if (q->kind == XSLOT) return &m->store.magnitudes[top->slots + q->slot];
    return m->store.arrays[top->arrays + (q->kind == XELEM ? pool_place(m, q)->slot : q->slot)].magnitude;
}

/* The largest magnitude of the target that was tracked, or 0. */
static double tracked(const rvm_machine *m, const rvm__xinsn *x) {
    const double *held = x->flags & X_TRACK ? magnitude_of(m, &x->p[0]) : NULL;
    return held ? *held : 0;
}

/* With what it holds. */
static double magnitude(const rvm_machine *m, const rvm__xinsn *x, double y) {
    return fmax(1, fmax(tracked(m, x), fabs(y)));
}

/* Larger ones first; equal ones by where they were left, so that the list depends on no order of instances. */
static bool stands_before(const rvm_residue *a, const rvm_residue *b) {
    if (a->value != b->value) return a->value > b->value;
    return a->fn != b->fn ? a->fn < b->fn : a->pc < b->pc;
}

void rvm__record_residue_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, double residue) {
    const rvm_residue now = {residue, fn, (uint32_t)(x - m->codes[fn].x)};
    rvm_residue *list = m->stats.residues;
    int k = 0; /* this release's entry, or the smallest */
    while (k < RVM_RESIDUES - 1 && list[k].value > 0 && !(list[k].fn == fn && list[k].pc == now.pc)) k++;
    if (list[k].value > 0 && !stands_before(&now, &list[k])) return;
    list[k] = now;
    for (; k > 0 && stands_before(&now, &list[k - 1]); k--) {
        list[k] = list[k - 1];
        list[k - 1] = now;
    }
    m->residue_floor = list[RVM_RESIDUES - 1].value;
}

/* Going back over what overflowed or became NaN: what was lost is said at the start, or nobody wants to know. */
bool rvm__is_lost(const rvm_machine *m, uint32_t fn, double y, double held) {
    if (isfinite(y) && isfinite(held)) return false;
    if (!m->bound.compares && !m->bound.compared_elsewhere && m->o.tolerance < INFINITY) return false;
    return m->run.course < 0 || rvm__is_adjoint(m->p, fn);
}

double rvm__allowed(double tolerance, double magnitude) {
    return tolerance * (magnitude < INFINITY ? fmax(1, magnitude) : 1);
}

bool rvm__releases_bits(const rvm_machine *m, uint32_t fn, const rvm__xinsn *x) {
    return m->o.exact && !(m->exact.values_only && rvm__is_of_shadows(&m->p->functions[fn].code[x - m->codes[fn].x]));
}

bool rvm__agrees_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, double y, double f, double held) {
    if (rvm__releases_bits(m, fn, x)) return rvm__exact_same(y, f);
    const double residue = fabs(y - f), most = fmax(held, fabs(y));
    if (rvm__is_lost(m, fn, y, held)) return true;
    if (!(residue <= rvm__allowed(rvm__tolerance_at(m, fn, x), most))) return false;
    rvm__note_residue_at(m, fn, x, residue);
    return true;
}

bool rvm__agrees(rvm_machine *m, const rvm__xinsn *x, double y, double f) {
    return rvm__agrees_at(m, present_function(m), x, y, f, tracked(m, x));
}

/* A tangent is rounded with what the values are multiplied by, so the largest value held bounds its residue too. */
bool rvm__tangent_within(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected,
                         double held) {
    const bool fix = x->type == RVM_FIX; /* whose rotations give values back exactly, but round tangents */
    const double has = fix ? rvm__fix_real(shadow->i) : shadow->f, must = fix ? rvm__fix_real(expected.i) : expected.f;
    return rvm__is_lost(m, present_function(m), has, held) ||
           fabs(has - must) <= rvm__allowed(rvm__tolerance(m, x), fmax(held, fmax(fabs(has), fabs(must))));
}

bool rvm__tangent_agrees(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected) {
    return rvm__tangent_within(m, x, shadow, expected, magnitude(m, x, 0));
}

bool rvm__vanishes_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, rvm_type t, double y, const double *held) {
    if (m->o.exact) return ((rvm_value){.f = y}).u == 0;
    const double residue = fabs(y), most = fmax(held ? *held : 0, residue);
    if (rvm__is_lost(m, fn, y, most)) return true;
    if (!(residue <= rvm__allowed(tolerance_of(m, t), most))) return false;
    rvm__note_residue_at(m, fn, x, residue);
    return true;
}

bool rvm__tangent_vanishes(const rvm_machine *m, rvm_type t, rvm_value shadow) {
    const double has = t == RVM_FIX ? rvm__fix_real(shadow.i) : shadow.f;
    return rvm__is_lost(m, present_function(m), has, has) || fabs(has) <= rvm__allowed(tolerance_of(m, t), fabs(has));
}

rvm_status rvm__set_disagrees(rvm_machine *m, const rvm__xinsn *x, rvm_value was, rvm_value f) {
    char has[40], must[40];
    rvm__value_text((rvm_type)x->type, was, has, sizeof has);
    rvm__value_text((rvm_type)x->type, f, must, sizeof must);
    snprintf(m->detail, sizeof m->detail, "is %s, but what comes back from the trail makes %s", has, must);
    return RVM_ERR_RELEASE;
}

void rvm__track_at(rvm_machine *m, const rvm__xinsn *x, const rvm__xplace *q, double y) {
    double *held = magnitude_of(m, q);
    const bool fresh = q->kind == XSLOT && (x->flags & X_FRESH);
    if (held && (fresh || fabs(y) > *held)) *held = fabs(y);
}
