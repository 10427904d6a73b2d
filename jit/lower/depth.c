/* depth.c: what trails keep where an instruction runs, as far as it is known before the program runs.
 *
 * A level of the trail may discard what goes onto it: with the trail off, and in compute parts that are forgotten. A compute
 * part that is taken back keeps all, a segment its levels; calls pass this on. So which levels discard is a function of
 * those that do where the function is entered, (x & and) | or, and each specialisation of a function knows. Two things
 * follow:
 *
 *   - What goes onto a level that discards is counted and gone.
 *   - The machine tracks a compute part or a segment only where something inside asks it how deep it is. All else that is
 *     around is written down for where the code is left (rvm__native_site). Inside of what is untracked all is.
 */
#include "emit.h"
#include "analysis.h"
#include "sites.h"
#include "solver.h"

#include <string.h>

/* Whether something goes onto a trail or comes from it. */
static bool is_on_trail(const rvm_insn *in) {
    return rvm__op_on_trail((rvm_op)in->op) && rvm__pair_of(in->op) != RVM_PAIR_segment;
}

/* What a compute part that begins there discards. */
static uint16_t forgets_at(const rvm__code *code, const rvm__cursor *x) {
    return x->in->op == RVM_OP_compute && rvm__forgets(x->f, x->pc) ? code->x[x->pc].to.i : 0;
}

/* ---- over the call graph ---- */

static bool join(rvm__summary *to, uint16_t levels, uint16_t asks, bool always) {
    bool grew = always && !to->always_asks;
    to->always_asks |= always;
    grew |= rvm__join16(&to->levels, levels);
    grew |= rvm__join16(&to->asks, asks);
    return grew;
}

/* What an instruction adds to the summary of its function, with that around it. */
static bool add_instruction(rvm__unit *u, uint32_t fn, const rvm_insn *in, rvm__discarding at) {
    rvm__summary *to = &u->summaries[fn];
    const uint16_t free = at.and &~at.or, kept = ~(at.and | at.or);
    if (is_on_trail(in)) {
        const uint16_t level = (uint16_t)(1u << rvm__insn_level(&u->p->functions[fn], in));
        return join(to, level, level & free, level & kept);
    }
    bool grew = false;
    RVM__EACH_CALLEE(g, u->p, in) {
        const rvm__summary *from = &u->summaries[g];
        grew |= join(to, from->levels, from->asks & free, from->always_asks || from->asks & kept);
    }
    return grew;
}

bool rvm__asks_depth(const rvm__summary *summary, uint16_t discards) {
    return summary->always_asks || summary->asks & ~discards;
}

static bool visit(void *userdata, uint32_t fn) {
    rvm__unit *u = userdata;
    rvm__trail_cover c = {.now.and = UINT16_MAX};
    bool grew = false;
    if (!u->summaries[fn].size) return false; /* not reached */
    RVM__EACH_INSN(x, &u->p->functions[fn]) {
        rvm__trail_pass(&c, &x, forgets_at(&u->m->codes[fn], &x));
        grew |= add_instruction(u, fn, x.in, c.now);
    }
    return grew;
}

void rvm__find_depths(rvm__unit *u) {
    rvm__solve_calls(&u->p->calls, RVM__CALLEES_FIRST, visit, u);
}

uint16_t rvm__discards_that_matter(const rvm__unit *u, uint32_t fn, uint16_t discards) {
    return u->summaries[fn].asks & discards;
}

/* ---- in a function ---- */

uint16_t rvm__discards_at(const rvm__emit *e, uint32_t pc) {
    return (e->discards & e->control.covered[pc].and) | e->control.covered[pc].or ;
}

bool rvm__is_discarded(const rvm__emit *e, unsigned level) {
    return rvm__discards_at(e, e->control.pc) >> level & 1;
}

bool rvm__is_forgotten(const rvm__emit *e, uint32_t pc) {
    return rvm__discards_at(e, pc) & ~e->u->w->discards;
}

enum rvm__trail_use rvm__trail_use(const rvm__emit *e, uint32_t pc) {
    const rvm_insn *in = &e->f->code[pc];
    const uint16_t discards = rvm__discards_at(e, pc);
    enum rvm__trail_use use = RVM__TRAIL_UNUSED;
    if (is_on_trail(in)) return discards >> rvm__insn_level(e->f, in) & 1 ? RVM__TRAIL_LOST : RVM__TRAIL_KEPT;
    RVM__EACH_CALLEE(g, e->u->p, in) {
        if (rvm__asks_depth(&e->u->summaries[g], discards)) return RVM__TRAIL_KEPT;
        if (e->u->summaries[g].levels) use = RVM__TRAIL_LOST;
    }
    return use;
}

bool rvm__is_tracked(const rvm__emit *e, uint32_t first, uint32_t last) {
    RVM__EACH_INSN_IN(x, e->f, first + 1, last)
        if (rvm__trail_use(e, x.pc) == RVM__TRAIL_KEPT) return true;
    return false;
}

/* What updates lose stands on a stack for each depth, too. */
static bool is_tracked(const rvm__emit *e, uint32_t first, uint32_t last) {
    return rvm__is_tracked(e, first, last) || (e->u->w->exact && rvm__records(e->u, e->fn, first, last));
}

bool rvm__is_part_tracked(const rvm__emit *e, uint32_t compute) {
    return is_tracked(e, compute, e->f->code[compute].target);
}

uint32_t rvm__untracked_segments(const rvm__emit *e, uint32_t pc, int dir) {
    return e->control.untracked[pc + (dir < 0)];
}

bool rvm__find_segments(rvm__emit *e) {
    const rvm_function *f = e->f;
    rvm__trail_cover c = {.now.and = UINT16_MAX};
    uint32_t open[sizeof c.outer / sizeof *c.outer], n = 0;
    e->control.covered = rvm__unit_alloc(e->u, f->ncode * sizeof *e->control.covered);
    e->control.tracked = rvm__unit_alloc(e->u, f->ncode);
    e->control.within = rvm__unit_alloc(e->u, f->ncode + 1);
    e->control.untracked = rvm__unit_alloc(e->u, f->ncode + 1);
    if (!e->control.covered || !e->control.tracked || !e->control.within || !e->control.untracked) return false;
    RVM__EACH_INSN(x, f) {
        rvm__trail_pass(&c, &x, forgets_at(e->code, &x));
        e->control.covered[x.pc] = c.now;
        e->control.within[x.pc] = (uint8_t)n;
        if (x.in->op == RVM_OP_segment) open[n++] = x.pc;
        if (x.in->op == RVM_OP_endsegment)
            e->control.tracked[x.pc] = e->control.tracked[open[n - 1]] = is_tracked(e, open[n - 1], x.pc), n--;
    }
    RVM__EACH_INSN(x, f) {
        const int by = e->control.tracked[x.pc] ? 0 : (x.in->op == RVM_OP_segment) - (x.in->op == RVM_OP_endsegment);
        e->control.untracked[x.pc + 1] = (uint8_t)(e->control.untracked[x.pc] + by);
    }
    return true;
}
