/* trail_off.c: which levels of the trail a run may need, so that the others may be discarded.
 *
 * What compute parts and segments put on the trail they take back themselves. Outside of them a run takes entries where it
 * meets `undrop`, `recall` or `unset` in its own direction: a mask of levels for each function and direction, from callees
 * to callers. */

#include "memory.h"
#include "trail.h"
#include "sites.h"
#include "solver.h"

typedef struct walk {
    const rvm_program *p;
    uint16_t (*pops)[2]; /* by function: going up, going down */
} walk;

/* Levels that an instruction takes from, where the counter goes up or down. */
static uint16_t pops_of(const walk *w, const rvm_function *f, const rvm_insn *in, bool down) {
    const rvm_op op = down ? rvm__op_inverse((rvm_op)in->op) : (rvm_op)in->op;
    if (op == RVM_OP_unset || op == RVM_OP_undrop || op == RVM_OP_recall) return (uint16_t)(1u << rvm__insn_level(f, in));
    uint16_t levels = 0;
    RVM__EACH_CALLEE(g, w->p, in) levels |= w->pops[g][rvm__is_inverse(op)];
    return levels;
}

void rvm__trail_pass(rvm__trail_cover *c, const rvm__cursor *x, uint16_t forgets) {
    const rvm_op op = (rvm_op)x->in->op;
    if (op == RVM_OP_do || op == RVM_OP_endsegment) c->now = c->outer[--c->depth];
    if (op != RVM_OP_compute && op != RVM_OP_segment) return;
    c->outer[c->depth++] = c->now;
    const uint16_t others = op == RVM_OP_compute ? 0 : (uint16_t) ~((2u << rvm__insn_level(x->f, x->in)) - 1);
    c->now.and &= others;
    c->now.or = (c->now.or &others) | forgets;
}

static bool visit(void *userdata, uint32_t fn) {
    const walk *w = userdata;
    rvm__trail_cover cover = {.now.and = UINT16_MAX};
    bool grew = false;
    RVM__EACH_INSN(x, &w->p->functions[fn]) {
        rvm__trail_pass(&cover, &x, 0);
        for (int down = 0; down < 2; down++)
            grew |= rvm__join16(&w->pops[fn][down], pops_of(w, x.f, x.in, down) & cover.now.and);
    }
    return grew;
}

static bool find_all(rvm_machine *m) {
    walk w = {m->p, rvm__zeroed(m, m->p->nfunctions * sizeof *w.pops)};
    if (!w.pops) return false;
    rvm__solve_calls(&m->p->calls, RVM__CALLEES_FIRST, visit, &w);
    m->store.pops = w.pops;
    return true;
}

bool rvm__trail_pops_between(rvm_machine *m, uint32_t fn, uint32_t lo, uint32_t hi, uint16_t *levels) {
    rvm__trail_cover cover = {.now.and = UINT16_MAX};
    *levels = 0;
    if (!m->store.pops && !find_all(m)) return false;
    const walk w = {m->p, m->store.pops};
    RVM__EACH_INSN_IN(x, &m->p->functions[fn], lo, hi) {
        rvm__trail_pass(&cover, &x, 0);
        *levels |= pops_of(&w, x.f, x.in, false) & cover.now.and;
    }
    return true;
}

bool rvm__trail_pops(rvm_machine *m, uint32_t entry, int direction, uint16_t *levels) {
    if (!m->store.pops && !find_all(m)) return false;
    *levels = m->store.pops[entry][direction < 0];
    return true;
}
