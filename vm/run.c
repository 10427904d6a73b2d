/* run.c: moving a bound machine. See machine.h for what pc, dir and course mean between instructions. */
#include "hessian.h"
#include "native.h"
#include "out_of_line.h"
#include "restore.h"
#include "run.h"
#include "program.h"
#include "support.h"

/* Turn the run so that it goes on towards the end (1) or the start (-1). */
static void set_course(rvm_machine *m, int course) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    if (m->run.where != INSIDE) { /* step in from an end */
        m->run.dir = course;
        m->exact.restoring = (course < 0) == m->run.began_at_start;
        m->run.pc = course > 0 ? m->codes[m->bound.entry].x + 1 : m->codes[m->bound.entry].x + f->ncode - 2;
        m->run.where = INSIDE;
    } else if (m->run.course != course) {
        m->run.dir = -m->run.dir;
        m->exact.restoring = !m->exact.restoring;
        m->run.pc += m->run.dir;
    }
    m->run.course = course;
}

static rvm_status run(rvm_machine *m) {
    if (m->jit.engine) {
        bool ran;
        const rvm_status status = rvm__native_run(m, &ran);
        if (ran) return status;
    }
    switch (m->bound.mode) {
    case RVM_PRIMAL: return rvm__run_primal(m);
    case RVM_GRADIENT:
        if (m->run.sweep_begun && m->run.course > 0) return rvm__run_unsweep(m);
        return m->hessian && m->run.sweep_begun ? rvm__run_hessian(m) : rvm__run_gradient(m);
    case RVM_TANGENT: return rvm__run_tangent(m);
    }
    return RVM_ERR_USAGE;
}

static rvm_status counted_run(rvm_machine *m, uint64_t *count) {
    rvm__run_begins(m);
    rvm_status status = run(m);
    *count += rvm__run_count(m);
    if (m->jit.engine && m->bound.mode == RVM_PRIMAL)
        m->jit.engine->ran(m->jit.engine, m, rvm__run_count(m) - m->run.counted);
    return status;
}

static rvm_status check_bound(const rvm_machine *m, rvm_error *err) {
    if (m->run.where == UNBOUND) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no call is bound");
    return RVM_OK;
}

/* Forward again after a sweep: with option keep_shadows, where the sweep was not left. */
static rvm_status refuse_after_sweep(const rvm_machine *m, rvm_error *err) {
    if (!m->run.sweep_begun || m->run.where == UNBOUND) return RVM_OK;
    if (m->o.keep_shadows && m->hessian == NULL && !m->run.sweep_left) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                     "the backward sweep has dropped shadows: forward again is not possible");
}

/* The way back from within a sweep that cannot go on: values only. */
static void leave_sweep(rvm_machine *m) {
    m->run.sweep_left = m->run.sweep_begun;
    if (m->run.sweep_left) m->run.sweeping = false;
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

static rvm_status move(rvm_machine *m, int course, bool sweep, uint64_t *count, rvm_error *err) {
    rvm_status status = check_bound(m, err);
    if (!status) status = refuse_turning(m, course, err);
    if (status) return status;
    if (m->run.where == (course > 0 ? AT_END : AT_START)) return RVM_OK;
    set_course(m, course);
    if (sweep && !m->run.sweep_begun) m->run.sweep_begun = m->run.sweeping = true;
    m->stats.ran |= m->bound.mode == RVM_TANGENT ? RVM_RAN_TANGENTS : m->run.sweep_begun ? RVM_RAN_SWEEP : RVM_RAN_FUNCTION;
    status = counted_run(m, count);
    if (status) return rvm__explain(m, status, err);
    rvm__write_back(m);
    if (m->run.where != INSIDE) m->run.one_way = 0;
    if (m->run.where == AT_END) m->run.sweep_begun = m->run.sweeping = false; /* taken back */
    return m->run.where == INSIDE ? RVM_OK : rvm__compare_inputs(m, err);
}

rvm_status rvm_machine_forward(rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(m);
    rvm_status status = refuse_after_sweep(m, err);
    return status ? status : move(m, 1, false, &m->stats.forward, err);
}

rvm_status rvm_machine_backward(rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(m);
    leave_sweep(m);
    return move(m, -1, false, &m->stats.backward, err);
}

rvm_status rvm_machine_sweep(rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(m);
    if (m->run.where != UNBOUND && m->bound.mode != RVM_GRADIENT)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "a sweep needs a call bound in gradient mode");
    if (m->run.where == INSIDE && m->run.sweep_left)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "the backward sweep was left: it cannot go on");
    if (m->run.where == INSIDE && !m->run.sweep_begun)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "a sweep starts at the end of the run: go forward first");
    return move(m, -1, true, &m->stats.swept, err);
}

rvm_status rvm_machine_step(rvm_machine *m, int direction, bool *done, rvm_error *err) {
    const int course = direction < 0 ? -1 : 1;
    const enum rvm__where end = course > 0 ? AT_END : AT_START;
    RVM__NEEDS(m);
    rvm_status status = check_bound(m, err);
    if (!status && course > 0) status = refuse_after_sweep(m, err);
    if (status) return status;
    if (course < 0) leave_sweep(m);
    m->run.single = true;
    status = move(m, course, false, course > 0 ? &m->stats.forward : &m->stats.backward, err);
    m->run.single = false;
    if (done) *done = m->run.where == end;
    return status;
}

/* ---- whole runs; those of derivatives are in derived.c ---- */

rvm_status rvm_call(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    rvm_status status = rvm_machine_bind(m, fn, args, nargs, RVM_PRIMAL, false, err);
    return status ? status : rvm_machine_forward(m, err);
}

rvm_status rvm_uncall(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err) {
    rvm_status status = rvm_machine_bind(m, fn, args, nargs, RVM_PRIMAL, true, err);
    return status ? status : rvm_machine_backward(m, err);
}
