/* move.c: moving a bound call. See machine.h for what pc, dir and course mean between instructions. */
#include "native.h"
#include "out_of_line.h"
#include "profile.h"
#include "program.h"
#include "run.h"
#include "support.h"

/* Turn the run so that it goes on towards the end (1) or the start (-1). */
static void set_course(rvm_machine *m, int course) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    if (m->run.where != INSIDE) { /* step in from an end */
        m->run.dir = course;
        m->exact.restoring = (course < 0) == m->run.began_at_start;
        m->run.pc = course > 0 ? m->codes[m->bound.entry].x + 1 : m->codes[m->bound.entry].x + f->ncode - 2;
        m->run.where = INSIDE;
    } else if (m->run.course != course && m->trail.nforgetting) {
        rvm__forget_unwind(m, course);
    } else if (m->run.course != course) {
        m->run.dir = -m->run.dir;
        m->exact.restoring = !m->exact.restoring;
        m->run.pc += m->run.dir;
    }
    m->run.course = course;
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
    if (m->o.activity && !m->run.single) return rvm__profile_steps(m, interpret);
    if (m->jit.engine) {
        bool ran;
        const rvm_status status = rvm__native_run(m, &ran);
        if (ran) return status;
    }
    return interpret(m);
}

static rvm_status counted_run(rvm_machine *m, uint64_t *count) {
    rvm__run_begins(m);
    if (m->profile) rvm__profile_sample(m);
    rvm_status status = run(m);
    if (m->profile) rvm__profile_sample(m);
    *count += rvm__run_count(m);
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
    if (!m->run.one_way || m->run.one_way == course || m->run.where != INSIDE) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                     "the run cannot turn back here: native code that is unchecked and keeps no trail has left out what "
                     "going back would take back");
}

rvm_status rvm__move(rvm_machine *m, int course, bool sweep, uint64_t *count, rvm_error *err) {
    rvm_status status = rvm__check_bound(m, err);
    if (!status) status = refuse_turning(m, course, err);
    if (status) return status;
    if (m->run.where == (course > 0 ? AT_END : AT_START)) return RVM_OK;
    if (m->profile && (status = rvm__profile_enter(m))) return rvm__no_memory(m, err);
    set_course(m, course);
    if (sweep && !m->run.sweep_begun) {
        rvm__take_seeds(m);
        m->run.sweep_begun = m->run.sweeping = true;
    }
    m->stats.ran |= m->bound.mode == RVM_TANGENT ? RVM_RAN_TANGENTS : m->run.sweep_begun ? RVM_RAN_SWEEP : RVM_RAN_FUNCTION;
    status = counted_run(m, count);
    if (status) return rvm__explain(m, status, err);
    rvm__write_back(m);
    if (m->run.where != INSIDE) m->run.one_way = 0;
    if (m->run.where == AT_END) m->run.sweep_begun = m->run.sweeping = false; /* taken back */
    return RVM_OK;
}
