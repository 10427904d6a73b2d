/* liveness.c: dead instructions (isa/analysis/liveness.h) are left out, and nobody notices. */
#include "harness.h"
#include "builder.h"

#include "liveness.h"
#include "transform.h"

/* An instruction that does nothing stands for it: it asserts a constant, unchecked. Places that would appear hold what they
 * held before. */
static void leave_out(rvm_function *f, rvm_insn *in) {
    in->op = RVM_OP_assert;
    in->row = in->facts = 0;
    in->flags = RVM_FLAG_UNCHECKED;
    in->nplaces = 1;
    f->places[in->places] = (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)f->nregs};
}

/* Ways in which the run passes the instruction and it is dead, and is needed. */
static void count_ways(const rvm__liveness *liveness, uint32_t fn, uint32_t pc, unsigned ways[2]) {
    ways[0] = ways[1] = 0;
    for (int way = 0; way < 4; way++) {
        const enum rvm__liveness_answer a = rvm__liveness_at(liveness, fn, way & 1, pc, way & 2);
        ways[0] += a == RVM__DEAD;
        ways[1] += a == RVM__NEEDED;
    }
}

/* Whether an instruction is dead in one way and needed in another: then it stays in both, and may look at what was left out.
 */
static bool is_mixed(const rvm_program *p, const rvm__liveness *liveness, uint32_t fn) {
    unsigned ways[2];
    for (uint32_t pc = 0; pc < p->functions[fn].ncode; pc++) {
        count_ways(liveness, fn, pc, ways);
        if (ways[0] && ways[1]) return true;
    }
    return false;
}

static void leave_out_all(rvm_program *p, const rvm__liveness *liveness) {
    unsigned ways[2];
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) {
        rvm_function *f = &p->functions[fn];
        if (!f->nconsts || is_mixed(p, liveness, fn)) continue;
        for (uint32_t pc = 0; pc < f->ncode; pc++) {
            count_ways(liveness, fn, pc, ways);
            if (ways[0]) leave_out(f, &f->code[pc]);
        }
    }
}

/* Whether nothing that was pushed outside of a compute part is ever taken back. */
static bool only_pushes(const rvm_program *p) {
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        for (uint32_t pc = 0; pc < p->functions[fn].ncode; pc++) {
            const rvm_insn *in = &p->functions[fn].code[pc];
            const bool appears = rvm__pair_of(in->op) == RVM_PAIR_recall;
            if (rvm__is_call(in) ? rvm__is_inverse(in->op)
                                 : rvm__op_on_trail((rvm_op)in->op) && rvm__is_inverse(in->op) != appears)
                return false;
        }
    return true;
}

bool check_dead(const subject *s, args *out) {
    rvm_program *q = NULL;
    rvm_machine *m = NULL;
    rvm__liveness *liveness = NULL;
    rvm_error e = {0};
    rvm_options o = s->options;
    o.unchecked = true;
    const rvm__liveness_run run = {.fn = (uint32_t)s->fn,
                                   .backward = s->inverse,
                                   .whole = true,
                                   .unchecked = true,
                                   .trust = true,
                                   .discarded = !s->inverse && only_pushes(s->program) ? UINT32_MAX : 0};
    if (o.exact) return true; /* where each update counts */
    args a = args_copy(s->in);
    rvm_status st = rvm__program_copy(s->program, NULL, &q, &e);
    if (!st) st = rvm__verify(q, &e);
    if (!st) st = rvm__liveness_new(q, &run, &liveness);
    bool good = report_ok(s->rep, "dead", st, &e);
    if (good) leave_out_all(q, liveness);
    good = good && report_ok(s->rep, "dead: machine", rvm_machine_new(q, &o, &m, &e), &e);
    if (good) st = s->inverse ? rvm_uncall(m, s->fn, a.a, a.n, &e) : rvm_call(m, s->fn, a.a, a.n, &e);
    good = good && report_ok(s->rep, "without dead instructions", st, &e);
    good = good && args_agree(s->rep, "without dead instructions", s->program, s->fn, out, &a, COMPARE_BITS, 0);
    rvm_machine_free(m);
    rvm__liveness_free(liveness);
    rvm_program_free(q);
    args_free(&a);
    return good;
}
