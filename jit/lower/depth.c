/* depth.c: how deep the trails are where an instruction runs, as far as it is known before the program runs.
 *
 * A level of the trail is deep inside a compute part, and inside a segment of its own or of a higher level; calls pass this
 * on. So what is deep are the lowest levels, and each specialisation of a function knows which. Two things follow:
 *
 *   - With the trail off, what goes onto a level that discards, and is not deep, is counted and gone.
 *   - The machine tracks a compute part or a segment only where something inside asks it how deep it is. All else that is
 *     around is written down for where the code is left (rvm__native_site). Inside of what is untracked all is.
 */
#include "emit.h"
#include "sites.h"
#include "solver.h"

#include <string.h>

/* Whether something goes onto a trail or comes from it. */
static bool is_on_trail(const rvm_insn *in) {
    return rvm__op_on_trail((rvm_op)in->op) && rvm__pair_of(in->op) != RVM_PAIR_segment;
}

static bool is_kept(uint16_t discards, uint16_t deep, unsigned level) {
    return !((discards & ~deep) >> level & 1);
}

/* ---- over the call graph ---- */

static bool join(rvm__summary *to, uint16_t levels, unsigned tracked_from) {
    const bool sooner = tracked_from < to->tracked_from;
    if (sooner) to->tracked_from = (uint8_t)tracked_from;
    return rvm__join16(&to->levels, levels) || sooner;
}

/* What an instruction adds to the summary of its function, where these levels are deep around it. */
static bool add_instruction(rvm__unit *u, uint32_t fn, const rvm_insn *in, uint16_t deep) {
    rvm__summary *to = &u->summaries[fn];
    const unsigned level = is_on_trail(in) ? rvm__insn_level(&u->p->functions[fn], in) : 0;
    if (is_on_trail(in)) return join(to, (uint16_t)(1u << level), is_kept(u->w->discards, deep, level) ? 0 : level + 1);
    bool grew = false;
    RVM__EACH_CALLEE(g, u->p, in) {
        const rvm__summary *from = &u->summaries[g];
        grew |= join(to, from->levels, rvm__asks_depth(from, deep) ? 0 : from->tracked_from);
    }
    return grew;
}

bool rvm__asks_depth(const rvm__summary *summary, uint16_t deep) {
    return (unsigned)__builtin_popcount(deep) >= summary->tracked_from;
}

static bool visit(void *userdata, uint32_t fn) {
    rvm__unit *u = userdata;
    rvm__trail_cover cover = {0};
    bool grew = false;
    RVM__EACH_INSN(x, &u->p->functions[fn]) {
        rvm__trail_pass(x.f, x.in, &cover);
        grew |= add_instruction(u, fn, x.in, cover.levels);
    }
    return grew;
}

void rvm__find_depths(rvm__unit *u) {
    for (uint32_t fn = 0; fn < u->p->nfunctions; fn++) u->summaries[fn].tracked_from = RVM__NEVER_TRACKED;
    rvm__solve_calls(&u->p->calls, RVM__CALLEES_FIRST, visit, u);
}

uint16_t rvm__deep_specialisation(const rvm__unit *u, uint32_t fn, uint16_t deep) {
    const uint16_t matters = u->w->discards & u->summaries[fn].levels & deep;
    return matters ? (uint16_t)((2u << (31 - __builtin_clz(matters))) - 1) : 0;
}

/* ---- in a function ---- */

uint16_t rvm__deep_at(const rvm__emit *e, uint32_t pc) {
    return e->deep | e->control.covered[pc];
}

bool rvm__is_discarded(const rvm__emit *e, unsigned level) {
    return !is_kept(e->u->w->discards, rvm__deep_at(e, e->control.pc), level);
}

enum rvm__trail_use rvm__trail_use(const rvm__emit *e, uint32_t pc) {
    const rvm_insn *in = &e->f->code[pc];
    const uint16_t deep = rvm__deep_at(e, pc);
    enum rvm__trail_use use = RVM__TRAIL_UNUSED;
    if (is_on_trail(in))
        return is_kept(e->u->w->discards, deep, rvm__insn_level(e->f, in)) ? RVM__TRAIL_KEPT : RVM__TRAIL_LOST;
    RVM__EACH_CALLEE(g, e->u->p, in) {
        if (rvm__asks_depth(&e->u->summaries[g], deep)) return RVM__TRAIL_KEPT;
        if (e->u->summaries[g].levels) use = RVM__TRAIL_LOST;
    }
    return use;
}

bool rvm__is_tracked(const rvm__emit *e, uint32_t first, uint32_t last) {
    RVM__EACH_INSN_IN(x, e->f, first + 1, last)
        if (rvm__trail_use(e, x.pc) == RVM__TRAIL_KEPT) return true;
    return false;
}

uint32_t rvm__untracked_segments(const rvm__emit *e, uint32_t pc, int dir) {
    return e->control.untracked[pc + (dir < 0)];
}

bool rvm__find_segments(rvm__emit *e) {
    const rvm_function *f = e->f;
    rvm__trail_cover cover = {0};
    uint32_t open[sizeof cover.outer / sizeof *cover.outer], n = 0;
    e->control.covered = rvm__unit_alloc(e->u, f->ncode * sizeof *e->control.covered);
    e->control.tracked = rvm__unit_alloc(e->u, f->ncode);
    e->control.untracked = rvm__unit_alloc(e->u, f->ncode + 1);
    if (!e->control.covered || !e->control.tracked || !e->control.untracked) return false;
    RVM__EACH_INSN(x, f) {
        rvm__trail_pass(f, x.in, &cover);
        e->control.covered[x.pc] = cover.levels;
        if (x.in->op == RVM_OP_segment) open[n++] = x.pc;
        if (x.in->op == RVM_OP_endsegment)
            e->control.tracked[x.pc] = e->control.tracked[open[n - 1]] = rvm__is_tracked(e, open[n - 1], x.pc), n--;
    }
    RVM__EACH_INSN(x, f) {
        const int by = e->control.tracked[x.pc] ? 0 : (x.in->op == RVM_OP_segment) - (x.in->op == RVM_OP_endsegment);
        e->control.untracked[x.pc + 1] = (uint8_t)(e->control.untracked[x.pc] + by);
    }
    return true;
}
