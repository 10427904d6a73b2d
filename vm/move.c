/* move.c: moving a bound call. See machine.h for what pc, dir and course mean between instructions. */
#include "fresh.h"
#include "native.h"
#include "out_of_line.h"
#include "profile.h"
#include "program.h"
#include "run.h"
#include "support.h"

/* The far end is what the leg leads to: there its last instruction, `halt` or `start`, counts; that of the near end, where
 * the position is 0, does not. */
static bool is_far(const rvm_machine *m, enum rvm__where end) {
    return end == (m->run.sweep_begun || !m->run.began_at_start ? AT_START : AT_END);
}

bool rvm__at_far_end(const rvm_machine *m) {
    return m->run.where != INSIDE && is_far(m, m->run.where);
}

rvm_status rvm__step_in(rvm_machine *m, int course, rvm_error *err) {
    const rvm__progress before = m->run;
    const rvm_function *f = &m->p->functions[m->bound.entry];
    m->run.course = m->run.dir = course;
    if (is_far(m, m->run.where)) m->run.at[m->run.sweep_begun] += rvm__towards(m);
    m->exact.restoring = rvm__course_restores(m);
    m->run.pc = course > 0 ? m->codes[m->bound.entry].x + 1 : m->codes[m->bound.entry].x + f->ncode - 2;
    m->run.where = INSIDE;
    const rvm_status status = m->p->nrules ? rvm__enter_entry_rule(m) : RVM_OK;
    if (!status) return RVM_OK;
    rvm__explain(m, status, err);
    m->run = before;
    return status;
}

/* Turn the run so that it goes on towards the end (1) or the start (-1). */
static rvm_status set_course(rvm_machine *m, int course, rvm_error *err) {
    if (m->run.where != INSIDE) return rvm__step_in(m, course, err);
    if (m->run.course != course && m->trail.nforgetting) {
        rvm__forget_unwind(m, course);
    } else if (m->run.course != course) {
        m->run.dir = -m->run.dir;
        m->exact.restoring = !m->exact.restoring;
        m->run.pc += m->run.dir;
    }
    m->run.course = course;
    return RVM_OK;
}

static rvm_status interpret(rvm_machine *m) {
    switch (m->bound.mode) {
    case RVM_PRIMAL: return m->profile ? rvm__run_primal_profiled(m) : rvm__run_primal(m);
    case RVM_GRADIENT:
        if (m->run.sweep_begun && m->run.course > 0) return rvm__run_unsweep(m);
        if (m->run.sweep && m->run.sweep_begun) return m->run.sweep(m);
        return m->profile ? rvm__run_gradient_profiled(m) : rvm__run_gradient(m);
    case RVM_TANGENT: return rvm__run_tangent(m);
    }
    return RVM_ERR_USAGE;
}

static rvm_status run(rvm_machine *m) {
    if (m->o.activity && !m->run.steps) return rvm__profile_steps(m, interpret);
    if (m->jit.engine) {
        bool ran;
        const rvm_status status = rvm__native_run(m, &ran);
        if (ran) return status;
    }
    rvm_status lost = rvm__bring_home(m, m->bound.args, m->bound.nargs);
    if (!lost) lost = rvm__fresh_write(m, 0);
    return lost ? lost : interpret(m);
}

static void note_position(rvm_machine *m, uint64_t count) {
    int64_t *at = &m->run.at[m->run.sweep_begun];
    *at += rvm__towards(m) * (int64_t)count;
    if (m->run.where != INSIDE && !is_far(m, m->run.where)) *at -= rvm__towards(m);
    const bool forward = m->run.sweep_begun ? m->run.course < 0 : (m->run.course > 0) == m->run.began_at_start;
    m->run.went_back |= !forward;
}

/* Whether fuel ended the run only where it was to end. */
static bool is_far_enough(const rvm_machine *m) {
    const uint64_t count = rvm__run_count(m);
    return m->run.far && count >= m->run.far && !(m->o.fuel && count >= m->o.fuel);
}

static rvm_status counted_run(rvm_machine *m, uint64_t *count) {
    rvm__run_begins(m);
    if (m->profile) rvm__profile_sample(m);
    m->run.running = true;
    rvm_status status = run(m);
    m->run.running = false;
    if (m->profile) rvm__profile_sample(m);
    *count += rvm__run_count(m);
    note_position(m, rvm__run_count(m));
    if (status == RVM_ERR_FUEL && is_far_enough(m)) status = RVM_OK;
    if (m->jit.engine && m->bound.mode == RVM_PRIMAL)
        m->jit.engine->ran(m->jit.engine, m, rvm__run_count(m) - m->run.counted);
    return status;
}

rvm_status rvm__check_bound(const rvm_machine *m, rvm_error *err) {
    if (m->run.where == UNBOUND) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no call is bound");
    return RVM_OK;
}

/* Where native code left out what nobody would observe on the way that the run went. */
static rvm_status refuse_turning(const rvm_machine *m, int course, rvm_error *err) {
    if (m->jit.adrift)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                         "the run can go neither on nor back: it was ended within a group of instances of a parallel block, "
                         "of which some had changed what they share");
    if (m->run.course != course && rvm__keeps_course(m))
        return rvm__fail(
            err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
            "the run cannot turn back here: a derivative that is written by hand has changed shadows, of which exact "
            "runs keep no record");
    if (!m->run.one_way || m->run.one_way == course || m->run.where != INSIDE) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                     "the run cannot turn back here: native code that is unchecked and keeps no trail has left out what "
                     "going back would take back");
}

/* Why a mode does not go through a derivative by hand of what it runs; NULL: it does. *status: that, or MEMORY. */
static const char *against_rule(rvm_machine *m, const rvm_rule *rule, rvm_status *status) {
    const bool sweeps = rule->kind == RVM_ADJOINT;
    const rvm__code *code = &m->codes[rule->of];
    uint16_t moves = 0; /* levels of the trail from which a run of it, or one back, takes */
    if (!code->ready) return NULL;
    if (code->lacks_rule[sweeps]) return "does not serve all that is active here";
    if (code->rules[sweeps] != rule || !(sweeps || m->o.exact)) return NULL;
    if (m->hessian) return "has no second derivatives that a sweep could carry, as products with the Hessian do";
    if (sweeps && m->o.exact && m->o.keep_shadows) return "cannot be taken back in exact runs (keep_shadows)";
    const bool forward = m->o.exact && (sweeps || m->run.where == AT_START);
    if (!rvm__trail_pops(m, rule->fn, forward ? 1 : -1, &moves)) *status = RVM_ERR_MEMORY;
    if (!(moves & 1)) return NULL; /* its own gradients go elsewhere */
    return m->o.exact ? "takes from the trail what exact runs take back by the code of its function"
                      : "leaves something on the trail, from which the sweep takes";
}

/* The modes run derivatives by hand of what they call, but for these. */
rvm_status rvm__check_by_hand(rvm_machine *m, bool sweep, rvm_error *err) {
    const rvm_transform kind = sweep ? RVM_ADJOINT : RVM_TANGENT_OF;
    const char *name = m->p->functions[m->bound.entry].name;
    rvm_status status = RVM_OK;
    if (!m->p->nrules || m->run.where == INSIDE || (!sweep && m->bound.mode != RVM_TANGENT)) return RVM_OK;
    for (uint32_t k = 0; k < m->p->nrules && !status; k++) {
        const rvm_rule *rule = &m->p->rules[k];
        const char *why = rule->kind == kind ? against_rule(m, rule, &status) : NULL;
        if (why && !status)
            return rvm__fail_at(
                err, RVM_ERR_UNSUPPORTED, m->p, rule->fn, 0,
                "`%s`, written by hand, %s: a run by the steps of `%s` cannot go through it; the program `%s'%s` "
                "calls it",
                m->p->functions[rule->fn].name, why, name, name, sweep ? "grad" : "tan");
    }
    return status ? rvm__no_memory(m, err) : RVM_OK;
}

/* What takes back what was recorded just before, as a run that begins. */
static rvm_status refuse_marked(rvm_machine *m, int course, rvm_error *err) {
    const bool restoring = (course < 0) == m->run.began_at_start;
    const char *why = m->run.where == INSIDE ? NULL : rvm__exact_against(m, m->bound.entry, restoring, 0, course);
    if (!why) return RVM_OK;
    return rvm__fail_at(err, rvm__exact_refuse(m, why), m->p, m->bound.entry, 0, "%s", m->detail);
}

rvm_status rvm__move(rvm_machine *m, int course, bool sweep, uint64_t *count, rvm_error *err) {
    const bool there = m->run.where == (course > 0 ? AT_END : AT_START);
    rvm_status status = rvm__check_bound(m, err);
    if (!status) status = refuse_turning(m, course, err);
    if (!status) status = rvm__check_by_hand(m, sweep, err);
    if (!status && m->o.exact && !there) status = refuse_marked(m, course, err);
    if (status || there) return status;
    if (m->profile && rvm__profile_enter(m)) return rvm__no_memory(m, err);
    const bool begins = sweep && !m->run.sweep_begun;
    if (begins) {
        rvm__take_seeds(m);
        m->run.sweep_begun = m->run.sweeping = true;
        m->run.at[1] = 0;
    }
    status = set_course(m, course, err);
    if (status) {
        if (begins) m->run.sweep_begun = m->run.sweeping = false;
        return status;
    }
    m->stats.ran |= m->bound.mode == RVM_TANGENT ? RVM_RAN_TANGENTS : m->run.sweep_begun ? RVM_RAN_SWEEP : RVM_RAN_FUNCTION;
    status = counted_run(m, count);
    if (status) return rvm__explain(m, status, err);
    rvm__write_back(m);
    if (m->run.where != INSIDE) m->run.one_way = 0;
    if (m->run.where == AT_END) m->run.sweep_begun = m->run.sweeping = false; /* taken back */
    return RVM_OK;
}
