/* run.c: runs of a bound call, and whole calls: moved (move.c), and compared where they end (rerun.c). */
#include "fresh.h"
#include "rerun.h"
#include "run.h"
#include "support.h"

/* Forward again after a sweep: with option keep_shadows, where the sweep was not left. */
rvm_status rvm__refuse_after_sweep(const rvm_machine *m, rvm_error *err) {
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

static rvm_status move(rvm_machine *m, int course, bool sweep, uint64_t *count, rvm_error *err) {
    const enum rvm__where from = m->run.where;
    rvm_status status = rvm__move(m, course, sweep, count, err);
    if (status || m->run.where == INSIDE || m->run.where == from) return status;
    if (m->bound.compares) status = rvm__compare_inputs(m, err);
    if (m->run.where == (m->run.began_at_start ? AT_START : AT_END)) rvm__fresh_at_origin(m);
    return status;
}

rvm_status rvm_machine_forward(rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(m);
    rvm_status status = rvm__refuse_after_sweep(m, err);
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
    rvm_status status = rvm__check_bound(m, err);
    if (!status && course > 0) status = rvm__refuse_after_sweep(m, err);
    if (status) return status;
    if (course < 0) leave_sweep(m);
    m->run.steps = 1;
    status = move(m, course, false, course > 0 ? &m->stats.forward : &m->stats.backward, err);
    m->run.steps = 0;
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
