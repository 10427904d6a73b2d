/* run_to.c: to a position or a stop, in either leg: first by fuel, in the interpreter's full speed, then step by step. */
#include "fresh.h"
#include "run.h"
#include "stops.h"
#include "support.h"

/* How far a run may go on beyond what fuel allows: polls come where control jumps, and where regions turn it may be
 * overdrawn (interp.inc, JUMPS_FIRST). */
static uint64_t overdraft(const rvm_machine *m) {
    uint64_t most = 0;
    for (uint32_t fn = 0; fn < m->p->nfunctions; fn++)
        if (m->p->functions[fn].ncode > most) most = m->p->functions[fn].ncode;
    return 4096 + 2 * most + 64;
}

/* One part of the way, within a leg. */
typedef struct part {
    int course;
    bool sweep;
    uint64_t distance; /* in positions; UINT64_MAX: to the end */
} part;

static bool is_at_end_of(const rvm_machine *m, const part *p) {
    return m->run.where == (p->course > 0 ? AT_END : AT_START);
}

static rvm_status go(rvm_machine *m, const part *p, rvm_error *err) {
    if (p->sweep) return rvm_machine_sweep(m, err);
    return p->course > 0 ? rvm_machine_forward(m, err) : rvm_machine_backward(m, err);
}

static rvm_status go_some(rvm_machine *m, const part *p, uint64_t steps, uint64_t far, rvm_error *err) {
    m->run.steps = steps;
    m->run.far = far;
    const rvm_status status = go(m, p, err);
    m->run.steps = m->run.far = 0;
    return status;
}

static uint64_t apart(int64_t a, int64_t b) {
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Polls, and the last of some steps, come before the instruction at which a stop applies. */
static bool stops_here(rvm_machine *m) {
    rvm__stops *s = m->run.stops;
    if (!s || s->arrived || m->run.where != INSIDE) return false;
    return (m->run.watching && rvm__watch(m, m->run.pc)) || rvm__stops_at(m, m->run.pc);
}

static bool is_ended(const rvm_machine *m, const part *p, const rvm__stops *s) {
    return s->arrived || is_at_end_of(m, p);
}

/* From an end of the leg to the instruction next to it, which is one position and no instruction. */
static rvm_status step_in(rvm_machine *m, const part *p, rvm_error *err) {
    rvm_status status = p->course > 0 ? rvm__refuse_after_sweep(m, err) : RVM_OK;
    return status ? status : rvm__step_in(m, p->course, err);
}

static rvm_status go_to_end(rvm_machine *m, const part *p, rvm_error *err) {
    const rvm_status status = go_some(m, p, m->run.watching ? UINT64_MAX : 0, 0, err);
    return stops_here(m) && status == RVM_ERR_FUEL ? RVM_OK : status;
}

static rvm_status go_part(rvm_machine *m, const part *p, const rvm__stops *s, rvm_error *err) {
    const uint64_t margin = overdraft(m);
    const int64_t from = rvm_machine_position(m).at;
    const bool begins = p->sweep && !m->run.sweep_begun;
    rvm_status status = RVM_OK;
    if (rvm__at_far_end(m) && !begins) {
        status = step_in(m, p, err);
        if (status || stops_here(m)) return status;
    }
    if (p->distance == UINT64_MAX) return go_to_end(m, p, err);
    uint64_t left = p->distance - apart(from, begins ? from : rvm_machine_position(m).at);
    if (!m->run.watching && left > margin) {
        status = go_some(m, p, 0, left - margin, err);
        if (stops_here(m) && status == RVM_ERR_FUEL) return RVM_OK;
        if (status || is_ended(m, p, s)) return status;
        left = p->distance - apart(begins ? 0 : from, rvm_machine_position(m).at);
    }
    status = left ? go_some(m, p, left, 0, err) : RVM_OK;
    return stops_here(m) && status == RVM_ERR_FUEL ? RVM_OK : status;
}

/* Where no instruction is left but the one of the near end, the run is at that end. */
static rvm_status step_out(rvm_machine *m, const part *p, rvm_error *err) {
    const bool near_end = m->run.where == INSIDE && !rvm_machine_position(m).at && p->distance != UINT64_MAX;
    return near_end ? go_some(m, p, 1, 0, err) : RVM_OK;
}

/* Going back from within a compute part that is forgotten leads to before it. */
static bool unwinds(rvm_machine *m, const part *p) {
    if (m->run.where != INSIDE || !m->trail.nforgetting || m->run.course == p->course) return false;
    if ((m->run.one_way && m->run.one_way != p->course) || rvm__keeps_course(m)) return false; /* which is refused */
    rvm__forget_unwind(m, p->course);
    return true;
}

/* Which way is next; false: it is there. */
static bool next_part(const rvm_machine *m, rvm_run_position to, part *p) {
    const rvm_run_position here = rvm_machine_position(m);
    const bool at_end = m->run.where == AT_END;
    *p = (part){.distance = UINT64_MAX};
    if (here.swept != to.swept && !(to.swept && at_end)) {
        p->course = 1; /* through the end of the run, out of either leg */
        if (to.swept || !m->run.sweep_begun) return true;
        p->distance = (uint64_t)here.at;
        return true;
    }
    const int64_t at = here.swept == to.swept ? here.at : 0;
    if (at == to.at) return false;
    p->sweep = to.swept && to.at > at;
    p->course = to.swept ? (to.at > at ? -1 : 1) : (to.at > at ? 1 : -1);
    if (to.at != INT64_MIN && to.at != INT64_MAX) p->distance = apart(at, to.at);
    return !(to.swept && at_end && to.at < 0);
}

rvm_status rvm_machine_run_to(rvm_machine *m, const rvm_goal *goal, rvm_arrival *out, rvm_error *err) {
    RVM__NEEDS(m);
    RVM__NEEDS(goal);
    if (goal->nstops) RVM__NEEDS(goal->stops);
    if (goal->nwatches) RVM__NEEDS(goal->watches);
    rvm_arrival how = {.reached = RVM_REACHED_POSITION};
    rvm__fresh_show(m);
    rvm_status status = rvm__check_bound(m, err);
    part p;
    while (!status && next_part(m, goal->to, &p)) {
        rvm__stops s;
        const bool crosses = rvm_machine_position(m).swept != goal->to.swept;
        if ((how.reached = RVM_REACHED_END, is_at_end_of(m, &p))) break;
        if (unwinds(m, &p)) continue;
        status = rvm__stops_set(m, &s, goal, p.course, err);
        if (!status) status = go_part(m, &p, &s, err);
        rvm__stops_clear(m);
        if (!status && !s.arrived) status = step_out(m, &p, err);
        if (s.arrived) how = s.arrival;
        if (s.arrived || (!crosses && p.distance == UINT64_MAX)) break;
        how.reached = RVM_REACHED_POSITION;
    }
    how.end = m->run.where == AT_END ? 1 : m->run.where == AT_START ? -1 : 0;
    if (!status && out) *out = how;
    return status;
}
