/* growth.c: which update makes what is off grow on the way back. Two machines that stand at the same place of the same run
 * go back in lockstep; behind each update of a real, what they hold there is compared, as before it.
 *
 * Growth is summed by instruction as a logarithm: a factor at every turn of a loop tells more than one large jump.
 */

#include "memory.h"
#include "out_of_line.h"
#include "program.h"
#include "support.h"

typedef struct grown {
    double sum;
    uint64_t times;
} grown;

typedef struct lockstep {
    rvm_machine *m, *reference;
    grown *growth; /* by instruction of the program */
    size_t *first; /* by function, of its instructions there */
    void *block;
    size_t bytes;
} lockstep;

/* The instruction that going back executes next. */
static const rvm_insn *next_back(const rvm_machine *m, uint32_t *fn, uint32_t *pc) {
    *fn = m->store.frames[m->store.nframes - 1].fn;
    const rvm_function *f = &m->p->functions[*fn];
    *pc = m->run.where != INSIDE ? f->ncode - 2
          : m->run.course < 0    ? (uint32_t)(m->run.pc - m->codes[*fn].x)
                                 : (uint32_t)(m->run.pc - m->codes[*fn].x - m->run.dir);
    return &f->code[*pc];
}

/* What place k of an update holds; NULL: no real. */
static const double *held(const rvm_machine *m, const rvm_insn *in, int k) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const rvm_place *q = &rvm__places(f, in)[k];
    if (!rvm__is_floating(rvm__place_type(f, q))) return NULL;
    const rvm_value *v = q->kind == RVM_PLACE_SLOT ? m->store.slots + top->slots + q->slot
                                                   : rvm__element_at(&m->store.arrays[top->arrays + q->slot], q,
                                                                     m->store.slots + top->slots, false);
    return v ? &v->f : NULL;
}

/* How far apart the machines are in place k; 0: not at all, or it is no real. */
static double apart(const lockstep *l, const rvm_insn *in, int k) {
    const double *has = held(l->m, in, k), *must = held(l->reference, in, k);
    return has && must ? fabs(*has - *must) : 0;
}

/* The most that an update starts from: what it only hands on does not count as its growth. */
static double most_apart(const lockstep *l, const rvm_insn *in) {
    double most = 0;
    for (int k = rvm__pair_of(in->op) == RVM_PAIR_let; k <= rvm__row_info[in->row].arity; k++)
        most = fmax(most, apart(l, in, k));
    return most;
}

/* One instruction; false: they do not stand at the same place any more, or one cannot go on. */
static bool step(lockstep *l, bool *done) {
    uint32_t fn, pc, other_fn, other_pc;
    bool other_done;
    rvm_error ignored;
    const rvm_insn *in = next_back(l->m, &fn, &pc);
    next_back(l->reference, &other_fn, &other_pc);
    if (fn != other_fn || pc != other_pc || l->m->store.nframes != l->reference->store.nframes) return false;
    const bool counts = rvm__op_is_update((rvm_op)in->op) && !rvm__op_sets((rvm_op)in->op);
    const double before = counts ? most_apart(l, in) : 0;
    if (rvm_machine_step(l->m, -1, done, &ignored) || rvm_machine_step(l->reference, -1, &other_done, &ignored))
        return false;
    const double after = counts ? apart(l, in, 0) : 0;
    grown *g = &l->growth[l->first[fn] + pc];
    if (before > 0 && after > before && isfinite(after)) g->sum += log(after / before), g->times++;
    return *done == other_done;
}

static rvm_status begin(lockstep *l, rvm_error *err) {
    const rvm_program *p = l->m->p;
    size_t n = 0;
    for (uint32_t k = 0; k < p->nfunctions; k++) n += p->functions[k].ncode;
    l->bytes = n * sizeof *l->growth + p->nfunctions * sizeof *l->first;
    l->block = rvm__zeroed(l->m, l->bytes);
    if (!l->block) return rvm__no_memory(l->m, err);
    l->growth = l->block;
    l->first = (size_t *)(void *)(l->growth + n);
    for (uint32_t k = 1; k < p->nfunctions; k++) l->first[k] = l->first[k - 1] + p->functions[k - 1].ncode;
    return RVM_OK;
}

static void take_largest(const lockstep *l, rvm_growth *out) {
    const rvm_program *p = l->m->p;
    double most = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn]) {
            const grown *g = &l->growth[l->first[fn] + x.pc];
            if (g->sum <= most) continue;
            most = g->sum;
            *out = (rvm_growth){.fn = fn,
                                .pc = x.pc,
                                .factor = exp(most / (double)g->times),
                                .times = g->times,
                                .function = p->functions[fn].name};
        }
    if (most == 0) return;
    const rvm_function *f = &p->functions[out->fn];
    rvm__place_text(f, rvm__places(f, &f->code[out->pc]), out->pc, NULL, out->place, sizeof out->place);
    rvm_program_position(p, out->fn, out->pc, &out->file, &out->line, &out->column);
}

rvm_status rvm_machine_growth(rvm_machine *m, rvm_machine *reference, uint64_t most, rvm_growth *out, rvm_error *err) {
    lockstep l = {.m = m, .reference = reference};
    bool done = false;
    RVM__NEEDS(m, reference, out);
    *out = (rvm_growth){.fn = 0};
    if (m->p != reference->p || m->run.where == UNBOUND || reference->run.where == UNBOUND)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "two machines of one program are needed, with calls bound");
    rvm_status status = begin(&l, err);
    if (status) return status;
    for (uint64_t k = 0; k < most && !done && step(&l, &done); k++) continue;
    take_largest(&l, out);
    rvm__resize(m, l.block, l.bytes, 0);
    return RVM_OK;
}
