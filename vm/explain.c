/* explain.c: the message of a failure. The machine stands on the instruction that failed, which has changed nothing; so its
 * operands can be looked at again. */
#include <string.h>

#include "out_of_line.h"
#include "run.h"

typedef struct scene {
    rvm_machine *m;
    const rvm_function *f;
    const rvm_insn *in;
    const rvm_place *places;
    const rvm_value *slots;
    const rvm__array *arrays;
    uint32_t fn, pc;
    const char *going;
    char text[200];
} scene;

static scene scene_of(rvm_machine *m) {
    const rvm__frame *top = &m->frames[m->nframes - 1];
    scene s = {.m = m, .fn = top->fn, .f = &m->p->functions[top->fn], .going = m->dir > 0 ? "forward" : "backward"};
    s.pc = (uint32_t)(m->pc - m->codes[top->fn].x);
    s.in = &s.f->code[s.pc];
    s.places = rvm__places(s.f, s.in);
    s.slots = m->slots + top->slots;
    s.arrays = m->arrays + top->arrays;
    return s;
}

static const char *name_of(scene *s, const rvm_place *q) {
    rvm__place_text(s->f, q, s->pc, s->text, sizeof s->text);
    return s->text;
}

/* An element's value, or a slot's; NULL out of bounds, with the dimension. */
static const rvm_value *look_up(const scene *s, const rvm_place *q, int *bad_dim) {
    if (q->kind == RVM_PLACE_SLOT) return &s->slots[q->slot];
    const rvm__array *a = &s->arrays[q->slot];
    const char *p = a->data;
    for (int d = 0; d < q->nidx; d++) {
        const int64_t i = s->slots[q->idx[d]].i;
        *bad_dim = d;
        if ((uint64_t)i >= (uint64_t)a->dim[d]) return NULL;
        p += i * a->stride[d];
    }
    return (const rvm_value *)(const void *)p;
}

static void value_text(rvm_type t, rvm_value v, char *text, size_t size) {
    switch (t) {
    case RVM_I64: snprintf(text, size, "%lld", (long long)v.i); break;
    case RVM_F64: snprintf(text, size, "%.17g", v.f); break;
    case RVM_FIX: snprintf(text, size, "%.17g", rvm__fix_real(v.i)); break;
    case RVM_TYPE_COUNT: break;
    }
}

#define SAY(...) return rvm__fail_at(err, status, s->m->p, s->fn, s->pc, __VA_ARGS__)

static rvm_status explain_index(scene *s, rvm_status status, rvm_error *err) {
    for (int k = 0; k < s->in->nplaces; k++) {
        const rvm_place *q = &s->places[k];
        int d = 0;
        if (q->kind != RVM_PLACE_ELEM || look_up(s, q, &d)) continue;
        SAY("index %lld in dimension %d of `%s` is out of bounds: the length is %lld", (long long)s->slots[q->idx[d]].i,
            d + 1, name_of(s, q), (long long)s->arrays[q->slot].dim[d]);
    }
    SAY("out of bounds: %s", s->m->detail[0] ? s->m->detail : "an index of an argument changed during the call");
}

/* f of an update, where every operand can be read. */
static bool recompute(const scene *s, rvm_value *y, rvm_value *f) {
    const rvm_row_info *row = &rvm__row_info[s->in->row];
    const rvm_value *v[4];
    int d, overflow = 0;
    for (int k = 0; k < 4; k++)
        if (!(v[k] = look_up(s, &s->places[k <= row->arity ? k : row->arity], &d))) return false;
    const rvm_type t = rvm__place_type(s->f, &s->places[row->sig == RVM_SIG_SEL ? 2 : 1]);
    const rvm__kernel *k = &rvm__kernels[rvm__kernel_index((rvm_row)s->in->row, rvm__place_type(s->f, &s->places[0]), t)];
    if (row->sig == RVM_SIG_QUOT && v[2]->i == 0) return false;
    *y = *v[0];
    *f = k->f(*v[1], *v[2], *v[3], &overflow);
    return true;
}

static rvm_status explain_release(scene *s, rvm_status status, rvm_error *err) {
    rvm_value y, f;
    if (!rvm__op_is_update((rvm_op)s->in->op) || !recompute(s, &y, &f))
        SAY("array `%s` does not disappear as its value, going %s: %s", name_of(s, &s->places[0]), s->going, s->m->detail);
    const rvm_type t = rvm__place_type(s->f, &s->places[0]);
    char has[40], must[40];
    value_text(t, y, has, sizeof has);
    value_text(t, f, must, sizeof must);
    SAY("ancilla `%s` is %s but must disappear as %s, going %s", name_of(s, &s->places[0]), has, must, s->going);
}

static rvm_status explain_domain(scene *s, rvm_status status, rvm_error *err) {
    rvm_value y = {0}, f = {0};
    char has[40];
    if (!rvm__op_is_update((rvm_op)s->in->op)) {
        int d;
        value_text(RVM_F64, *look_up(s, &s->places[0], &d), has, sizeof has);
        SAY("`%s` is %s, which has no inverse", name_of(s, &s->places[0]), has);
    }
    if (!recompute(s, &y, &f)) SAY("the divisor `%s` is 0", name_of(s, &s->places[2]));
    value_text(rvm__place_type(s->f, &s->places[0]), f, has, sizeof has);
    SAY("the factor of `%s` is %s: it must be finite and not 0", name_of(s, &s->places[0]), has);
}

static rvm_status explain_alias(scene *s, rvm_status status, rvm_error *err) {
    if (s->in->op == RVM_OP_view || s->in->op == RVM_OP_unview)
        SAY("the indices that made `%s` have changed", name_of(s, &s->places[0]));
    if (s->m->detail[0]) SAY("%s overlap", s->m->detail);
    char first[200];
    snprintf(first, sizeof first, "%s", name_of(s, &s->places[0]));
    SAY("`%s` is also another operand of this instruction: they must be different places", first);
}

static rvm_status explain_stack(scene *s, rvm_status status, rvm_error *err) {
    const rvm_machine *m = s->m;
    const rvm_type t = rvm__place_type(s->f, &s->places[0]);
    if (!m->nstack) SAY("the stack is empty: nothing to pop into `%s`", name_of(s, &s->places[0]));
    const rvm__cell *top = &m->stack[m->nstack - 1];
    if (top->type != t)
        SAY("the stack holds %s, `%s` is %s", rvm_type_name(top->type), name_of(s, &s->places[0]), rvm_type_name(t));
    char has[40], must[40];
    int d;
    const rvm_value *y = look_up(s, &s->places[0], &d);
    value_text(t, y ? *y : (rvm_value){0}, has, sizeof has);
    value_text(t, top->value, must, sizeof must);
    if ((s->in->op | 1) == RVM_OP_pop) SAY("`%s` is %s: it must be 0 to take a value", name_of(s, &s->places[0]), has);
    SAY("`%s` is %s, but the copy on the stack is %s", name_of(s, &s->places[0]), has, must);
}

static rvm_status explain_tangent(scene *s, rvm_status status, rvm_error *err) {
    SAY("`%s` disappears with a tangent that its value does not have: that its value agrees is an accident of the input",
        name_of(s, &s->places[0]));
}

rvm_status rvm__explain(rvm_machine *m, rvm_status status, rvm_error *err) {
    scene now = scene_of(m), *s = &now;
    char text[160];
    rvm_program_instruction_text(m->p, s->fn, s->pc, text, sizeof text);
    switch (status) {
    case RVM_ERR_INDEX: return explain_index(s, status, err);
    case RVM_ERR_RELEASE: return explain_release(s, status, err);
    case RVM_ERR_DOMAIN: return explain_domain(s, status, err);
    case RVM_ERR_ALIAS: return explain_alias(s, status, err);
    case RVM_ERR_STACK: return explain_stack(s, status, err);
    case RVM_ERR_TANGENT: return explain_tangent(s, status, err);
    case RVM_ERR_CONDITION:
        SAY("the condition here disagrees with the way control arrived, going %s: it is %lld", s->going,
            (long long)s->slots[s->places[0].slot].i);
    case RVM_ERR_TRAP: SAY("control arrives where it must not, going %s", s->going);
    case RVM_ERR_LOOP: SAY("the step of the loop is 0");
    case RVM_ERR_ASSERT: SAY("the assertion fails, going %s", s->going);
    case RVM_ERR_OVERFLOW: SAY("the result is outside the range of fix, -2^20 to 2^20, in `%s`", text);
    case RVM_ERR_SHAPE: SAY("shapes disagree: %s", m->detail);
    case RVM_ERR_DEPTH: SAY("calls are nested deeper than %u", m->o.depth);
    case RVM_ERR_FUEL: SAY("the limit of %llu instructions is reached", (unsigned long long)m->o.fuel);
    case RVM_ERR_CANCELLED: SAY("cancelled");
    case RVM_ERR_MEMORY:
        if (m->o.memory) SAY("out of memory: the limit is %zu bytes", m->o.memory);
        SAY("out of memory");
    default: break;
    }
    SAY("%s", rvm_status_text(status));
}
